"""Checks on difference quotients: their bias on cubics, and what a constant added to the loss does."""

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whp.algorithms.performative_prediction import (
    gaussian_one_point,
    oracle_for,
    two_point_estimate,
)
from whp.proofs_checks.engine import Check, Instances, Mutant, identity
from whp.proofs_checks.engine.observation import Sample, Slack
from whp.theory.core import Slot
from whp.theory.performative_prediction import (
    CubicCase,
    EstimateCase,
    one_point_second_moment_shift,
)

from .clipping import clipped_mean
from .drawn_estimates import INNER

__all__ = ["CHECKS"]

Array = NDArray[np.float64]


ONE_POINT = Slot(
    "one_point",
    "(oracle, x, radius, batch, rng)",
    "oracle: DecisionOracle with R replicates; x: shape (R, d); radius: mu; batch: samples; rng: Generator",
    "gradient estimates without control, shape (R, d)",
    ("oracle", "x", "radius", "batch", "rng"),
)


def _estimate(output: Any, loss_plus: Any, loss_minus: Any, radius: Any, direction: Any) -> None:
    """Refuse anything but one number a coordinate."""
    values = np.asarray(output)
    if values.shape != np.shape(direction) or any(not isinstance(v, (int, float, Fraction)) for v in values.tolist()):
        raise ValueError(f"an estimate of shape {np.shape(direction)} is declared, got {output!r}")


DIFFERENCE = Slot(
    "difference",
    "(loss_plus, loss_minus, radius, direction)",
    "losses at x + mu u and x - mu u; radius: mu; direction: u, shape (d,)",
    "two-point estimate, shape (d,)",
    ("loss_plus", "loss_minus", "radius", "direction"),
    validate=_estimate,
)


def constant_shift_two_point(case: CubicCase, *, difference: Callable[..., Any]) -> Slack:
    """Two-point estimates of ``f`` and ``f + 7``, in fractions."""
    u = np.array([Fraction(1), *(Fraction(-1, k + 2) for k in range(len(case.x) - 1))], dtype=object)
    x = np.array(case.x, dtype=object)
    plus, minus = case.value(x + case.step * u), case.value(x - case.step * u)
    plain = difference(plus, minus, case.step, u)
    return identity("shifted estimate", np.asarray(difference(plus + 7, minus + 7, case.step, u)), np.asarray(plain))


def constant_shift_one_point(
    case: EstimateCase, *, one_point: Callable[..., Array], rng: np.random.Generator
) -> Sample:
    """Mean of ``|g|^2`` of the one-point estimate of a constant loss, from its exact value for a shift from zero."""
    d, constant = case.x.size, float(case.problem.values[0])
    claimed = one_point_second_moment_shift(0.0, constant, d, case.radius)
    g = np.asarray(
        one_point(oracle_for(case.problem, INNER), np.broadcast_to(case.x, (INNER, d)), case.radius, case.batch, rng)
    )
    scale = (constant / case.radius) ** 4
    return clipped_mean(np.einsum("ri,ri->r", g, g), claimed, scale * 2.0 * d, "mean of |g|^2", "at least")


def controlled_one_point(oracle: Any, x: Array, radius: float, batch: int, rng: Any) -> Array:
    """Mutant: a control equal to the constant removes the shift."""
    return gaussian_one_point(oracle, x, radius, batch, rng, control=3.0)


def normalised_one_point(oracle: Any, x: Array, radius: float, batch: int, rng: Any) -> Array:
    """Mutant: directions of unit length."""
    return gaussian_one_point(oracle, x, radius, batch, rng) / math.sqrt(x.shape[-1])


def constant_examples() -> dict[str, EstimateCase]:
    """A loss that is 3 whatever happens, in four dimensions."""
    from whp.theory.performative_prediction import DiscreteSoftmax

    problem = DiscreteSoftmax(np.ones((2, 4)), [0.0, 0.0], [3.0, 3.0])
    return {"constant 3": EstimateCase(problem, np.zeros(4), np.zeros(4), 1.0, 0.5, 2)}


def one_sided(loss_plus: Any, loss_minus: Any, radius: Any, direction: Any) -> Any:
    """Mutant: one side only."""
    return loss_plus / radius * direction


def averaged(loss_plus: Any, loss_minus: Any, radius: Any, direction: Any) -> Any:
    """Mutant: the sum of the sides in place of their difference."""
    return (loss_plus + loss_minus) / (2 * radius) * direction


def multiplied_by_step(loss_plus: Any, loss_minus: Any, radius: Any, direction: Any) -> Any:
    """Mutant: multiplied instead of divided by the step."""
    return (loss_plus - loss_minus) / 2 * radius * direction


def bias_over_signs(case: CubicCase, *, difference: Callable[..., Any]) -> Slack:
    """Average over all sign vectors, against gradient plus bias, in fractions."""
    return identity(
        "mean over signs", _over_signs(case, difference), np.array(_with_bias(case, Fraction(1, 6)), dtype=object)
    )


def bias_left_out(case: CubicCase, *, difference: Callable[..., Any]) -> Slack:
    """Mutant statement: unbiased."""
    return identity("mean over signs", _over_signs(case, difference), np.array(case.gradient, dtype=object))


def _over_signs(case: CubicCase, difference: Callable[..., Any]) -> Any:
    x = np.array(case.x, dtype=object)
    total = np.array([Fraction(0)] * len(x), dtype=object)
    for signs in itertools.product((1, -1), repeat=len(x)):
        u = np.array([Fraction(s) for s in signs], dtype=object)
        total = total + difference(case.value(x + case.step * u), case.value(x - case.step * u), case.step, u)
    return total / 2 ** len(x)


def _with_bias(case: CubicCase, factor: Fraction) -> list[Fraction]:
    return [g + case.step**2 * 6 * a * factor for g, a in zip(case.gradient, case.cubic, strict=True)]


def cubic_examples() -> dict[str, CubicCase]:
    """The linear function with answer ``(3, -2)`` and the cube at one with answer 3.01."""
    one = Fraction(1)
    return {
        "3 x1 - 2 x2": CubicCase((Fraction(0),) * 2, (Fraction(3), Fraction(-2)), (one, one), Fraction(1, 100)),
        "cube at one": CubicCase((one,), (Fraction(0),), (one,), Fraction(1, 10)),
    }


def draw_cubics(rng: np.random.Generator, size: int) -> list[CubicCase]:
    """One to four coordinates, small integer coefficients, rational points and steps."""
    cases = []
    for _ in range(size):
        d = int(rng.integers(1, 5))
        rows = [tuple(Fraction(int(v), 2) for v in rng.integers(-6, 7, d)) for _ in range(3)]
        cases.append(CubicCase(rows[0], rows[1], rows[2], Fraction(int(rng.integers(1, 9)), 10)))
    return cases


def cubic_strategy() -> Any:
    """Hypothesis: the same family, with shrinking."""
    from hypothesis import strategies as st

    def build(d: int) -> Any:
        row = st.lists(st.integers(-6, 6), min_size=d, max_size=d).map(lambda v: tuple(Fraction(k, 2) for k in v))
        return st.builds(CubicCase, row, row, row, st.integers(1, 8).map(lambda k: Fraction(k, 10)))

    return st.integers(1, 3).flatmap(build)


_CUBICS = Instances(
    scope="separable cubics in 1..4 dimensions with half-integer coefficients, rational points and steps",
    examples=cubic_examples,
    draw=draw_cubics,
    strategy=cubic_strategy,
)


CHECKS = (
    Check(
        theorem="performative_prediction.constant_shift",
        name="two_point",
        kind="slack",
        observe=constant_shift_two_point,
        instances=_CUBICS,
        slots={DIFFERENCE: two_point_estimate},
        mutants=(
            Mutant("one side only", "shifted estimate", {"difference": one_sided}),
            Mutant("sum of the sides", "shifted estimate", {"difference": averaged}),
        ),
    ),
    Check(
        theorem="performative_prediction.constant_shift",
        name="one_point",
        kind="sample",
        observe=constant_shift_one_point,
        instances=Instances(scope="the constant loss 3 in four dimensions", examples=constant_examples),
        slots={ONE_POINT: gaussian_one_point},
        mutants=(
            Mutant("control equal to the constant", "mean of |g|^2", {"one_point": controlled_one_point}),
            Mutant("directions of unit length", "mean of |g|^2", {"one_point": normalised_one_point}),
        ),
        cost=16,
    ),
    Check(
        theorem="performative_prediction.difference_bias",
        name="all_signs",
        kind="slack",
        observe=bias_over_signs,
        instances=_CUBICS,
        slots={DIFFERENCE: two_point_estimate},
        mutants=(
            Mutant("multiplied by the step", "mean over signs", {"difference": multiplied_by_step}),
            Mutant("no bias", "mean over signs", observe=bias_left_out),
        ),
        cost=6,
    ),
)
