"""A theorem whose checks keep a processor busy for a known time, in blocks of the usual size."""

import math

from whp.proofs_checks.engine import Check, Instances, at_most
from whp.theory import Claim, Paper, Theorem

PAPER = Paper("spinning", "Checks that keep a processor busy", ("Nobody",), "nowhere")
THEOREMS = (
    Theorem(id="spinning.T1", paper=PAPER, title="Sums of sines", statement="|sum sin(k x)| <= n",
            claim=Claim("|sum sin(k x)|", "<=", "n"), provenance="prior"),
)  # fmt: skip
TERMS = 20_000  # some milliseconds


def sines(instance):
    """Add sines one by one."""
    total = 0.0
    for k in range(TERMS):
        total += math.sin(k * instance)
    return at_most("sum", abs(total), float(TERMS), rounding=1e-9)


CHECKS = (
    Check(
        theorem="spinning.T1", name="sines", kind="slack", observe=sines, cost=20.0,
        instances=Instances("normal numbers", draw=lambda rng, size: rng.standard_normal(size).tolist()),
    ),
)  # fmt: skip
