"""Hoeffding's inequality: a sample mean is within a radius of the mean with probability at least 1 - delta."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from whp.proofs_checks.engine import Check, Event, Instances, Mutant, event
from whp.theory import Assumption, Bound, Claim, Domain, Paper, Slot, Symbol, Theorem

PAPER = Paper(
    "hoeffding",
    "Probability inequalities for sums of bounded random variables",
    ("Wassily Hoeffding",),
    "Journal of the American Statistical Association 58 (1963)",
)

RADIUS = Bound(
    "radius of the one-sided interval",
    lambda m, n, delta: m.sqrt(m.log(1 / delta) / (2 * n)),
    (
        Symbol("n", Domain.integers(1), "sample size", "decreasing"),
        Symbol("delta", Domain.reals(0, 1, open="both"), "failure probability", "decreasing"),
    ),
)


@dataclass(frozen=True)
class BernoulliMean:
    """``n`` independent draws from Bernoulli(``p``), and the allowed failure probability."""

    n: int
    p: float
    delta: float


THEOREMS = (
    Theorem(
        id="hoeffding.T1",
        paper=PAPER,
        title="One-sided deviation of a sample mean",
        locator="Theorem 1",
        statement="For independent X_i in [0, 1], P(mean(X) - E mean(X) > sqrt(log(1/delta) / (2 n))) <= delta.",
        assumptions=(Assumption("range", "0 <= X_i <= 1", lambda i: 0.0 <= i.p <= 1.0),),
        claim=Claim("mean(X) - E mean(X)", "<=", RADIUS),
        provenance="paper",
        not_claimed="Nothing about dependent or unbounded draws, and nothing sharp when the variance is small.",
    ),
)

Radius = Callable[[int, float], float]


def _is_number(output: object, *_: object) -> None:
    if not isinstance(output, float | int):
        raise TypeError(f"expected a float, got {type(output).__name__}")


RADIUS_SLOT = Slot(
    "radius",
    "(n, delta)",
    "n: sample size; delta: failure probability in (0, 1)",
    "half-width of the interval around the sample mean, a float",
    ("n", "delta"),
    validate=_is_number,
)


def reference_radius(n: int, delta: float) -> float:
    """Half-width of Hoeffding's interval."""
    return float(RADIUS(n=n, delta=delta))


def mean_escapes(instance: BernoulliMean, *, radius: Radius, rng: np.random.Generator) -> Event:
    """Draw one sample and see whether its mean escapes upwards."""
    mean = rng.binomial(instance.n, instance.p) / instance.n
    return event(mean - instance.p > radius(instance.n, instance.delta), probability=instance.delta, name="escape")


def _tightened(factor: float) -> Callable[..., Event]:
    """Shrink the radius: the bound that the data are asked to refute."""

    def observe(instance: BernoulliMean, *, radius: Radius, rng: np.random.Generator) -> Event:
        return mean_escapes(instance, radius=lambda n, delta: factor * radius(n, delta), rng=rng)

    return observe


def _problems() -> dict[str, Any]:
    return {
        "fair coin, 100 draws": BernoulliMean(100, 0.5, 0.05),
        "rare event, 400 draws": BernoulliMean(400, 0.02, 0.1),
    }


def _draw(rng: np.random.Generator, size: int) -> Sequence[BernoulliMean]:
    return [BernoulliMean(int(rng.integers(20, 200)), float(rng.uniform(0.2, 0.8)), 0.1) for _ in range(size)]


CHECKS = (
    Check(
        theorem="hoeffding.T1",
        name="escape",
        kind="event",
        observe=mean_escapes,
        instances=Instances("Bernoulli means, n from 20 to 400", examples=_problems, draw=_draw, fixed=2),
        slots={RADIUS_SLOT: reference_radius},
        tighten=_tightened,
        mutants=(
            Mutant("forgets the 2 n", "escape", {"radius": lambda n, delta: math.sqrt(math.log(1 / delta)) / n}),
            Mutant("one standard error", "escape", {"radius": lambda n, delta: 0.5 / math.sqrt(n)}),
        ),
    ),
)
