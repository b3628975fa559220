"""Checks that do next to nothing, so that what is measured is the engine."""

import numpy as np

from whp.proofs_checks.engine import Check, Instances, Vectorised, at_most, event, sample
from whp.theory import Claim, Paper, Slot, Theorem

PAPER = Paper("overhead", "Nothing to do", ("Nobody",), "Nowhere")
THEOREMS = (
    Theorem(
        id="overhead.T1",
        paper=PAPER,
        title="One is at most two",
        statement="1 <= 2",
        claim=Claim("1", "<=", "2"),
        provenance="prior",
    ),
)
ONE = Slot("one", "(x)", "x: a number", "1", ("x",))
FIXED = Instances("one number", examples=lambda: {"two": 2.0})

CHECKS = (
    Check(
        theorem="overhead.T1",
        name="slack",
        kind="slack",
        observe=lambda instance, *, one: at_most("one", one(instance), instance),
        instances=Instances("numbers", draw=lambda rng, size: (2 + rng.random(size)).tolist()),
        slots={ONE: lambda x: 1.0},
    ),
    Check(
        theorem="overhead.T1",
        name="slack on arrays",
        kind="slack",
        observe=lambda instance, *, one: at_most("one", one(instance), instance),
        instances=Instances("arrays", draw=lambda rng, size: list(2 + rng.random((size, 100)))),
        slots={ONE: lambda x: np.ones(100)},
    ),
    Check(
        theorem="overhead.T1",
        name="vectorised",
        kind="slack",
        observe=lambda instance: at_most("one", 1.0, instance),
        instances=Instances("numbers", examples=lambda: {"two": 2.0}),
        vectorised=Vectorised(
            lambda rng, size: 2 + rng.random(size),
            lambda batch: at_most("one", np.ones(len(batch)), batch),
            lambda batch, i: float(batch[i]),
        ),
    ),
    Check(
        theorem="overhead.T1",
        name="event",
        kind="event",
        observe=lambda instance, *, one, rng: event(one(instance) > 2, probability=0.1),
        instances=FIXED,
        slots={ONE: lambda x: 1.0},
    ),
    Check(
        theorem="overhead.T1",
        name="sample",
        kind="sample",
        observe=lambda instance, *, one, rng: sample(one(instance), low=0, high=2, mean_at_most=2),
        instances=FIXED,
        slots={ONE: lambda x: 1.0},
    ),
)
