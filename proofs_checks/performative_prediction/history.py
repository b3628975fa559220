"""Checks on controls built from earlier samples, in exact arithmetic, and on the weights that they use."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whp.algorithms.performative_prediction import inverse_weights, water_filling_weights
from whp.proofs_checks.engine import Check, Instances, Mutant, at_most, identity, requires
from whp.proofs_checks.engine.observation import Slack
from whp.theory.core import Slot
from whp.theory.performative_prediction import (
    ControlHistory,
    history_error_as_printed,
    history_error_repaired,
    worst_case_history_error,
)

__all__ = ["CHECKS", "WeightCase"]

Array = NDArray[np.float64]

INVERSE = Slot(
    "weights",
    "(costs)",
    "costs: b > 0, shape (s,)",
    "weights on the simplex, shape (s,), that minimise sum b_i a_i^2",
    ("costs",),
)
FILLING = Slot(
    "weights",
    "(square_biases, variances)",
    "square_biases: B >= 0; variances: V > 0; both shape (s,)",
    "weights on the simplex, shape (s,), that minimise sum a_i B_i + sum a_i^2 V_i",
    ("square_biases", "variances"),
)


@dataclass(frozen=True, eq=False)
class WeightCase:
    """Squared biases and variances of stored iterations.

    Parameters
    ----------
    square_biases, variances : numpy.ndarray, shape (s,)
        ``B >= 0`` and ``V > 0``.
    """

    square_biases: Array
    variances: Array


def error_as_printed(history: ControlHistory) -> Slack:
    """Worst case of the error against the printed bound."""
    return at_most("E(F - c)^2", worst_case_history_error(history), history_error_as_printed(history))


def error_repaired(history: ControlHistory) -> Slack:
    """Worst case of the error against the repaired bound."""
    return at_most("E(F - c)^2", worst_case_history_error(history), history_error_repaired(history))


def error_with_unsquared_biases(history: ControlHistory) -> Slack:
    """Mutant statement: ``b_i`` in place of ``b_i^2``."""
    rows = zip(history.weights, history.biases, history.variances, strict=True)
    bound = sum((2 * a * b + 2 * a * a * v for a, b, v in rows), start=Fraction(0))
    return at_most("E(F - c)^2", worst_case_history_error(history), bound)


def error_without_noise(history: ControlHistory) -> Slack:
    """Mutant statement: no noise."""
    bound = sum((2 * a * b * b for a, b in zip(history.weights, history.biases, strict=True)), start=Fraction(0))
    return at_most("E(F - c)^2", worst_case_history_error(history), bound)


def printed_without_two(history: ControlHistory) -> Slack:
    """Mutant of the printed statement: without its factor 2."""
    return at_most("E(F - c)^2", worst_case_history_error(history), history_error_as_printed(history) / 2)


def printed_without_noise(history: ControlHistory) -> Slack:
    """Mutant of the printed statement: without noise."""
    bound = sum((2 * a * a * b * b for a, b in zip(history.weights, history.biases, strict=True)), start=Fraction(0))
    return at_most("E(F - c)^2", worst_case_history_error(history), bound)


def equal(s: int, bias: int = 1) -> ControlHistory:
    """``s`` equal weights at equal distances, no noise: left over right of the printed bound is ``s / 2``."""
    return ControlHistory((Fraction(1, s),) * s, (Fraction(bias),) * s, (Fraction(0),) * s)


def history_examples() -> dict[str, ControlHistory]:
    """Equal weights for s = 1, 2, 3, 10, and the whole weight on the last iteration."""
    cases = {f"{s} equal weights": equal(s) for s in (1, 2, 3, 10)}
    last = ControlHistory((Fraction(0), Fraction(1)), (Fraction(3), Fraction(2)), (Fraction(1), Fraction(1, 2)))
    return {**cases, "last iteration only": last}


def history_of(parts: list[int], biases: list[int], variances: list[int]) -> ControlHistory:
    """History from small integers; weights proportional to ``parts``."""
    total = sum(parts) or len(parts)
    shares = parts if sum(parts) else [1] * len(parts)
    return ControlHistory(
        tuple(Fraction(p, total) for p in shares),
        tuple(Fraction(b, 2) for b in biases),
        tuple(Fraction(v, 4) for v in variances),
    )


def draw_histories(rng: np.random.Generator, size: int) -> list[ControlHistory]:
    """One to ten stored iterations, rational weights, half-integer biases, quarter-integer variances."""
    cases = []
    for _ in range(size):
        s = int(rng.integers(1, 11))
        cases.append(history_of(*(rng.integers(0, 9, s).tolist() for _ in range(3))))
    return cases


def history_strategy() -> Any:
    """Hypothesis: the same family, with shrinking."""
    from hypothesis import strategies as st

    def build(s: int) -> Any:
        row = st.lists(st.integers(0, 8), min_size=s, max_size=s)
        return st.builds(history_of, row, row, row)

    return st.integers(1, 6).flatmap(build)


def inverse_optimality(case: WeightCase, *, weights: Callable[..., Array]) -> Slack:
    """On the simplex, and ``b_i a_i`` the same for all ``i``: the condition of Lagrange, which is sufficient here."""
    b = case.square_biases + case.variances
    a = np.asarray(weights(b))
    level = 1.0 / float((1.0 / b).sum())
    return (
        identity("sum", float(a.sum()), 1.0, rounding=1e-12)
        & requires("not negative", bool((a >= 0.0).all()))
        & identity("b_i a_i", b * a / level, np.ones(b.size), rounding=1e-11)
    )


def filling_optimality(case: WeightCase, *, weights: Callable[..., Array]) -> Slack:
    """On the simplex, and the weighted mean of the partial derivatives is their least (Karush-Kuhn-Tucker)."""
    a = np.asarray(weights(case.square_biases, case.variances))
    slopes = case.square_biases + 2.0 * a * case.variances
    scale = 1.0 + float(slopes.max())
    return (
        identity("sum", float(a.sum()), 1.0, rounding=1e-12)
        & requires("not negative", bool((a >= 0.0).all()))
        & identity("complementarity", float(a @ slopes), float(slopes.min()), rounding=1e-11 * scale)
    )


def weights_like_costs(costs: Array) -> Array:
    """Mutant: proportional to ``b``."""
    return np.asarray(costs / costs.sum())


def unnormalised_weights(costs: Array) -> Array:
    """Mutant: ``1 / b`` without normalisation."""
    return np.asarray(1.0 / costs)


def root_weights(costs: Array) -> Array:
    """Mutant: proportional to ``1 / sqrt(b)``."""
    return inverse_weights(np.sqrt(costs))


def published_weights(square_biases: Array, variances: Array) -> Array:
    """Mutant: the published weights, which minimise the false bound."""
    return inverse_weights(square_biases + variances)


def unclipped_filling(square_biases: Array, variances: Array) -> Array:
    """Mutant: the level of the equality-constrained problem, negative weights cut off and the rest rescaled."""
    level = (1.0 + float((square_biases / (2.0 * variances)).sum())) / float((1.0 / (2.0 * variances)).sum())
    a = np.maximum((level - square_biases) / (2.0 * variances), 0.0)
    return np.asarray(a / a.sum())


def last_only(square_biases: Array, variances: Array) -> Array:
    """Mutant: the whole weight on the smallest bias."""
    a = np.zeros(square_biases.size)
    a[int(np.argmin(square_biases))] = 1.0
    return a


def draw_weight_cases(rng: np.random.Generator, size: int) -> list[WeightCase]:
    """One to ten iterations, biases and variances over four orders of magnitude, some biases zero."""
    cases = []
    for _ in range(size):
        s = int(rng.integers(1, 11))
        bias = 10.0 ** rng.uniform(-3, 1, s) * (rng.random(s) > 0.1)
        cases.append(WeightCase(bias, 10.0 ** rng.uniform(-3, 1, s)))
    return cases


_HISTORIES = Instances(
    scope="1..10 stored iterations, rational weights, half-integer biases, quarter-integer variances",
    examples=history_examples,
    draw=draw_histories,
    strategy=history_strategy,
)
_WEIGHTS = Instances(
    scope="1..10 stored iterations, biases and variances from 1e-3 to 10, some biases zero", draw=draw_weight_cases
)

CHECKS = (
    Check(
        theorem="performative_prediction.history_control_as_printed",
        name="fractions",
        kind="slack",
        observe=error_as_printed,
        instances=_HISTORIES,
        mutants=(
            Mutant("without the factor 2", "E(F - c)^2", observe=printed_without_two),
            Mutant("without noise", "E(F - c)^2", observe=printed_without_noise),
        ),
    ),
    Check(
        theorem="performative_prediction.history_control",
        name="fractions",
        kind="slack",
        observe=error_repaired,
        instances=_HISTORIES,
        mutants=(
            Mutant("as printed", "E(F - c)^2", observe=error_as_printed),
            Mutant("biases not squared", "E(F - c)^2", observe=error_with_unsquared_biases),
            Mutant("no noise", "E(F - c)^2", observe=error_without_noise),
        ),
    ),
    Check(
        theorem="performative_prediction.inverse_weights",
        name="lagrange",
        kind="slack",
        observe=inverse_optimality,
        instances=_WEIGHTS,
        slots={INVERSE: inverse_weights},
        mutants=(
            Mutant("proportional to b", "b_i a_i", {"weights": weights_like_costs}),
            Mutant("not normalised", "", {"weights": unnormalised_weights}),
            Mutant("roots of the costs", "b_i a_i", {"weights": root_weights}),
        ),
    ),
    Check(
        theorem="performative_prediction.water_filling",
        name="karush_kuhn_tucker",
        kind="slack",
        observe=filling_optimality,
        instances=_WEIGHTS,
        slots={FILLING: water_filling_weights},
        mutants=(
            Mutant("published weights", "complementarity", {"weights": published_weights}),
            Mutant("negative weights cut off", "complementarity", {"weights": unclipped_filling}),
            Mutant("smallest bias only", "complementarity", {"weights": last_only}),
        ),
    ),
)
