"""T1 and T2: the likelihood, its derivatives, and how its curvature compares with the design matrix."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import combinations, permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whp.algorithms import plackett_luce_design as algorithms
from whp.proofs_checks.engine import Check, Instances, Mutant, Sample, Slack, at_most, identity, sample
from whp.proofs_checks.plackett_luce_design.fractions_algebra import Dual
from whp.proofs_checks.plackett_luce_design.instances import (
    WeightedRanking,
    draw_rankings,
    ranking_strategy,
)
from whp.proofs_checks.plackett_luce_design.reference import multiplicative_optimum
from whp.theory import plackett_luce_design as theory
from whp.theory.core import Slot

Array = NDArray[Any]
Derivatives = Callable[[Sequence[Fraction], Sequence[int]], tuple[Any, list[Any], list[list[Any]]]]

DERIVATIVES = Slot(
    "luce_derivatives",
    "(weights, ranking)",
    "weights: positive fractions, one per shown item; ranking: all items, best first",
    "(probability, gradient (K,), Hessian (K, K)) of minus the log-likelihood in the log-weights, exact",
    ("weights", "ranking"),
)


def _rankings(output: Any, utilities: Array, subsets: Array, rng: Any) -> None:
    """Refuse anything but a ranking of each subset."""
    rows = np.asarray(output)
    if rows.shape != np.shape(subsets) or not np.array_equal(np.sort(rows, axis=1), np.sort(subsets, axis=1)):
        raise ValueError("a ranking of every subset is declared, got rows that are no reordering of the subsets")


SAMPLER = Slot(
    "ranking_sampler",
    "(utilities, subsets, rng)",
    "utilities: array (n_items,); subsets: integer array (n, K); rng: numpy generator",
    "integer array (n, K), each row a ranking of that subset, best first",
    ("utilities", "subsets", "rng"),
    validate=_rankings,
)
DESIGN_SOLVER = Slot(
    "design_solver",
    "(problem)",
    "problem: theory DesignProblem",
    "theory Design, as nearly D-optimal as it can",
    ("problem",),
)


def named_rankings() -> dict[str, WeightedRanking]:
    """Textbook weights and extreme ones."""
    whole = [Fraction(v) for v in (1, 2, 3)]
    return {
        "weights 1, 2, 3": WeightedRanking(tuple(whole), (2, 1, 0), (0, 1, 2)),
        "weights 1, 2, 4, best last": WeightedRanking((Fraction(1), Fraction(2), Fraction(4)), (0, 1, 2), (0, 1, 2)),
        "three equal items": WeightedRanking((Fraction(1),) * 3, (0, 1, 2), (0, 1, -1)),
        "two items": WeightedRanking((Fraction(1), Fraction(3)), (1, 0), (0, 1)),
        "one weight 10^5 times the rest": WeightedRanking(
            (Fraction(10**5), *[Fraction(1)] * 3), (1, 0, 2, 3), (1, 0, 2, 0)
        ),
        "a tie in values": WeightedRanking((Fraction(2), Fraction(5), Fraction(7)), (1, 2, 0), (1, 1, 1)),
    }


# T1


def derivatives_are_exact(instance: WeightedRanking, *, luce_derivatives: Derivatives) -> Slack:
    """Gradient and Hessian against derivatives by dual numbers of the defining product; moments by enumeration."""
    w, n = instance.weights, len(instance.weights)
    probability, gradient, hessian = luce_derivatives(w, instance.ranking)
    true_gradient, true_hessian = _derivatives_by_duals(w, instance.ranking)
    slack = identity("probability", probability, theory.ranking_probability(w, instance.ranking))
    slack &= identity("gradient", _table([gradient]), _table([true_gradient]))
    slack &= identity("hessian", _table(hessian), _table(true_hessian))
    total: Any = 0
    score: Any = np.array([Fraction(0)] * n, dtype=object)
    spread = information = np.array([[Fraction(0)] * n for _ in range(n)], dtype=object)
    for order in permutations(range(n)):
        p, g, h = luce_derivatives(w, order)
        vector = np.array(g, dtype=object)
        total, score = total + p, score + p * vector
        spread = spread + p * np.outer(vector, vector)
        information = information + p * np.array(h, dtype=object)
    slack &= identity("probabilities sum to one", total, Fraction(1))
    slack &= identity("score has mean zero", score, np.array([Fraction(0)] * n, dtype=object))
    return slack & identity("information identity", spread, information)


def _table(rows: Sequence[Sequence[Any]]) -> Array:
    return np.array([[Fraction(v) for v in row] for row in rows], dtype=object)


def _derivatives_by_duals(w: Sequence[Fraction], ranking: Sequence[int]) -> tuple[list[Any], list[list[Any]]]:
    """Derivatives of ``-log P`` in the log-weights, by dual numbers of dual numbers."""
    n = len(w)

    def slope(i: int, weights: Sequence[Any]) -> Any:
        lifted = [Dual(v, v if j == i else v * 0) for j, v in enumerate(weights)]
        p = theory.ranking_probability(lifted, ranking)
        return p.slope / p.value * -1

    gradient = [slope(i, w) for i in range(n)]
    hessian = [
        [slope(i, [Dual(v, v if m == j else Fraction(0)) for m, v in enumerate(w)]).slope for j in range(n)]
        for i in range(n)
    ]
    return gradient, hessian


def _forgets_removal(weights: Sequence[Fraction], ranking: Sequence[int]) -> Any:
    """Normalise over all items at every stage."""
    n, total = len(weights), sum(weights)
    share = [v / total for v in weights]
    probability = Fraction(1)
    for i in ranking:
        probability *= share[i]
    gradient = [n * share[i] - 1 for i in range(n)]
    return (
        probability,
        gradient,
        [[n * (share[i] * (i == j) - share[i] * share[j]) for j in range(n)] for i in range(n)],
    )


def _drops_a_stage(weights: Sequence[Fraction], ranking: Sequence[int]) -> Any:
    """Leave out the last stage with a choice."""
    probability, gradient, hessian = algorithms.luce_derivatives(weights, ranking)
    pair = list(ranking[-2:])
    sub = algorithms.luce_derivatives([weights[i] for i in pair], [0, 1])
    for a, i in enumerate(pair):
        gradient[i] -= sub[1][a]
        for b, j in enumerate(pair):
            hessian[i][j] -= sub[2][a][b]
    return probability / sub[0], gradient, hessian


def _half_hessian(weights: Sequence[Fraction], ranking: Sequence[int]) -> Any:
    """Counts only the first stage in the Hessian."""
    probability, gradient, _ = algorithms.luce_derivatives(weights, ranking)
    total = sum(weights)
    share = [v / total for v in weights]
    n = len(weights)
    return probability, gradient, [[share[i] * (i == j) - share[i] * share[j] for j in range(n)] for i in range(n)]


T1 = Check(
    theorem="plackett_luce_design.T1",
    name="derivatives",
    kind="slack",
    observe=derivatives_are_exact,
    instances=Instances(
        "rankings of 2 to 4 items, integer weights 1 to 30, all rankings enumerated",
        examples=named_rankings,
        draw=draw_rankings(4),
        strategy=ranking_strategy,
    ),
    slots={DERIVATIVES: algorithms.luce_derivatives},
    mutants=(
        Mutant("normalises over all items at every stage", "gradient", {"luce_derivatives": _forgets_removal}),
        Mutant("drops the last stage", "probabilities sum to one", {"luce_derivatives": _drops_a_stage}),
        Mutant("curvature of the first stage only", "hessian", {"luce_derivatives": _half_hessian}),
    ),
    cost=40.0,
)


def target_is_drawn(instance: WeightedRanking, *, ranking_sampler: Any, rng: np.random.Generator) -> Sample:
    """Whether one draw is the instance's ranking; its mean is the model's probability."""
    utilities = np.log([float(w) for w in instance.weights])
    drawn = ranking_sampler(utilities, np.arange(len(utilities))[None, :], rng)
    hit = tuple(int(i) for i in np.asarray(drawn)[0]) == instance.ranking
    p = float(theory.ranking_probability(instance.weights, instance.ranking))
    return sample(float(hit), low=0.0, high=1.0, mean=p, name="probability of the ranking")


def _rejects_at_the_end(utilities: Array, subsets: Array, rng: np.random.Generator) -> Array:
    """Draw K independent choices and start again when one repeats."""
    rows = []
    for subset in np.asarray(subsets):
        p = np.exp(utilities[subset] - utilities[subset].max())
        while True:
            drawn = rng.choice(subset, len(subset), p=p / p.sum())
            if len(set(drawn.tolist())) == len(subset):
                rows.append(drawn)
                break
    return np.array(rows)


def _worst_first(utilities: Array, subsets: Array, rng: np.random.Generator) -> Array:
    """Choose the worst item first, with probability falling in its weight."""
    return np.asarray(algorithms.sample_rankings(-np.asarray(utilities), subsets, rng)[:, ::-1])


def _normal_noise(utilities: Array, subsets: Array, rng: np.random.Generator) -> Array:
    """Thurstone's model: normal noise of the same variance."""
    u = np.asarray(utilities)[subsets] + rng.normal(0.0, np.pi / np.sqrt(6), np.shape(subsets))
    return np.take_along_axis(np.asarray(subsets), np.argsort(-u, axis=1), axis=1)


def _sampling_targets() -> dict[str, WeightedRanking]:
    return {
        "weights 1, 2, 3, best first": WeightedRanking((Fraction(1), Fraction(2), Fraction(3)), (2, 1, 0), (0, 0, 0)),
        "weights 1, 1, 8, best last": WeightedRanking((Fraction(1), Fraction(1), Fraction(8)), (0, 1, 2), (0, 0, 0)),
        "one heavy item of three, middle": WeightedRanking(
            (Fraction(1), Fraction(12), Fraction(1)), (1, 0, 2), (0,) * 3
        ),
    }


T1S = Check(
    theorem="plackett_luce_design.T1s",
    name="sampler",
    kind="sample",
    observe=target_is_drawn,
    instances=Instances("three named weight vectors of three items", examples=_sampling_targets),
    slots={SAMPLER: algorithms.sample_rankings},
    mutants=(
        Mutant("independent choices, repeats rejected at the end", "", {"ranking_sampler": _rejects_at_the_end}),
        Mutant("chooses the worst first", "", {"ranking_sampler": _worst_first}),
    ),
)

# T2


def _quadratic(matrix: Sequence[Sequence[Any]], values: Sequence[int]) -> Fraction:
    n = len(values)
    return sum((Fraction(matrix[i][j]) * values[i] * values[j] for i in range(n) for j in range(n)), Fraction(0))


def _pairs(values: Sequence[int]) -> Fraction:
    """``v' M_S v`` for one direction: the sum of squared differences of the values."""
    return sum((Fraction((a - b) ** 2) for a, b in combinations(values, 2)), Fraction(0))


def dominates_kappa(instance: WeightedRanking, *, luce_derivatives: Derivatives) -> Slack:
    """``v' H v >= kappa v' M_S v`` for one direction ``v``, exactly."""
    return _dominates(instance, luce_derivatives, theory.hessian_constant_of_box(len(instance.weights), instance.box))


def _dominates(instance: WeightedRanking, luce_derivatives: Derivatives, constant: Fraction) -> Slack:
    hessian = luce_derivatives(instance.weights, instance.ranking)[2]
    return at_most("lower sandwich", constant * _pairs(instance.values), _quadratic(hessian, instance.values))


def _with_one_over_k_squared(instance: WeightedRanking, *, luce_derivatives: Derivatives) -> Slack:
    return _dominates(instance, luce_derivatives, Fraction(1, len(instance.weights) ** 2))


def _with_half_the_box(instance: WeightedRanking, *, luce_derivatives: Derivatives) -> Slack:
    smaller = 1 + (instance.box - 1) / 3
    return _dominates(instance, luce_derivatives, theory.hessian_constant_of_box(len(instance.weights), smaller))


def _boxed() -> dict[str, WeightedRanking]:
    b = Fraction(5, 2)
    return {
        "two items at the corners": WeightedRanking((1 / b, b), (0, 1), (0, 1), b),
        "two small, two large": WeightedRanking((1 / b, 1 / b, b, b), (2, 3, 0, 1), (1, -1, 0, 0), b),
        "one small, three large": WeightedRanking((1 / b, b, b, b), (1, 0, 2, 3), (0, 1, 0, 0), b),
        "box of width zero": WeightedRanking((Fraction(1),) * 3, (0, 1, 2), (0, 1, -1), Fraction(1)),
    }


BOXED = Instances(
    "rankings of 2 to 5 items, rational weights in a box [1/b, b], b up to 11/4, at its corners and centre",
    examples=_boxed,
    draw=draw_rankings(5, boxed=True),
)

T2A = Check(
    theorem="plackett_luce_design.T2a",
    name="lower_sandwich",
    kind="slack",
    observe=dominates_kappa,
    instances=BOXED,
    slots={DERIVATIVES: algorithms.luce_derivatives},
    mutants=(
        Mutant("1/K^2 for kappa", "lower sandwich", observe=_with_one_over_k_squared),
        Mutant("a box three times too narrow", "lower sandwich", observe=_with_half_the_box),
        Mutant("drops the last stage", "lower sandwich", {"luce_derivatives": _drops_a_stage}),
    ),
    cost=4.0,
)


def dominates_crude(instance: WeightedRanking, *, luce_derivatives: Derivatives) -> Slack:
    """The usual constant, and that it is not above kappa."""
    k = len(instance.weights)
    crude = 1 / (instance.box**4 * k**2)
    kappa = theory.hessian_constant_of_box(k, instance.box)
    return _dominates(instance, luce_derivatives, crude) & at_most("not above kappa", crude, kappa)


def _crude_to_the_second_power(instance: WeightedRanking, *, luce_derivatives: Derivatives) -> Slack:
    k = len(instance.weights)
    constant = 1 / (instance.box * k**2)
    kappa = theory.hessian_constant_of_box(k, instance.box)
    return _dominates(instance, luce_derivatives, constant) & at_most("not above kappa", constant, kappa)


T2B = Check(
    theorem="plackett_luce_design.T2b",
    name="crude_constant",
    kind="slack",
    observe=dominates_crude,
    instances=BOXED,
    slots={DERIVATIVES: algorithms.luce_derivatives},
    mutants=(
        Mutant("e^{-B}/K^2", "not above kappa", observe=_crude_to_the_second_power),
        Mutant("drops the last stage", "lower sandwich", {"luce_derivatives": _drops_a_stage}),
    ),
    cost=4.0,
)


def stays_below(instance: WeightedRanking, *, luce_derivatives: Derivatives) -> Slack:
    """``(K-1)/4 M_S`` for the realised ranking, ``M_S / 4`` for the mean over all rankings, in one direction."""
    return _upper(instance, luce_derivatives, Fraction(len(instance.weights) - 1, 4), Fraction(1, 4))


def _upper(instance: WeightedRanking, luce_derivatives: Derivatives, realised: Fraction, mean: Fraction) -> Slack:
    w, v = instance.weights, instance.values
    one = _quadratic(luce_derivatives(w, instance.ranking)[2], v)
    average = Fraction(0)
    for order in permutations(range(len(w))):
        p, _, hessian = luce_derivatives(w, order)
        average += p * _quadratic(hessian, v)
    return at_most("realised", one, realised * _pairs(v)) & at_most("in expectation", average, mean * _pairs(v))


def _quarter_for_every_ranking(instance: WeightedRanking, *, luce_derivatives: Derivatives) -> Slack:
    return _upper(instance, luce_derivatives, Fraction(1, 4), Fraction(1, 4))


def _fifth_in_expectation(instance: WeightedRanking, *, luce_derivatives: Derivatives) -> Slack:
    return _upper(instance, luce_derivatives, Fraction(len(instance.weights) - 1, 4), Fraction(1, 5))


def _upper_examples() -> dict[str, WeightedRanking]:
    return named_rankings() | {
        "two equal items": WeightedRanking((Fraction(1), Fraction(1)), (0, 1), (0, 1)),
        "equal items, the pair that remains": WeightedRanking((Fraction(1),) * 3, (2, 0, 1), (1, -1, 0)),
    }


T2C = Check(
    theorem="plackett_luce_design.T2c",
    name="upper_sandwich",
    kind="slack",
    observe=stays_below,
    instances=Instances(
        "rankings of 2 to 4 items, integer weights 1 to 30, integer directions",
        examples=_upper_examples,
        draw=draw_rankings(4),
        strategy=ranking_strategy,
    ),
    slots={DERIVATIVES: algorithms.luce_derivatives},
    mutants=(
        Mutant("1/4 for a realised ranking", "realised", observe=_quarter_for_every_ranking),
        Mutant("1/5 in expectation", "in expectation", observe=_fifth_in_expectation),
        Mutant("normalises over all items", "realised", {"luce_derivatives": _forgets_removal}),
    ),
    cost=15.0,
)


def information_at_zero(instance: WeightedRanking, *, luce_derivatives: Derivatives) -> Slack:
    """Mean Hessian over all rankings of equal items against ``c_K M_S``, in one direction."""
    return _at_zero(instance, luce_derivatives, theory.fisher_constant_at_zero(len(instance.values)))


def _at_zero(instance: WeightedRanking, luce_derivatives: Derivatives, constant: Fraction) -> Slack:
    equal = [Fraction(1)] * len(instance.values)
    average = Fraction(0)
    for order in permutations(range(len(equal))):
        p, _, hessian = luce_derivatives(equal, order)
        average += p * _quadratic(hessian, instance.values)
    return identity("information at zero", average, constant * _pairs(instance.values))


def _pick_one_constant(instance: WeightedRanking, *, luce_derivatives: Derivatives) -> Slack:
    return _at_zero(instance, luce_derivatives, Fraction(1, len(instance.values) ** 2))


T2D = Check(
    theorem="plackett_luce_design.T2d",
    name="information_at_zero",
    kind="slack",
    observe=information_at_zero,
    instances=Instances(
        "equal items, 2 to 4 of them, integer directions", examples=named_rankings, draw=draw_rankings(4)
    ),
    slots={DERIVATIVES: algorithms.luce_derivatives},
    mutants=(
        Mutant("1/K^2, the pick-one constant", "information at zero", observe=_pick_one_constant),
        Mutant("curvature of the first stage only", "information at zero", {"luce_derivatives": _half_hessian}),
        Mutant("drops the last stage", "information at zero", {"luce_derivatives": _drops_a_stage}),
    ),
    cost=10.0,
)


def surrogate_is_fisher_optimal(instance: tuple[Any, ...], *, design_solver: Any) -> Slack:
    """Gain in log-determinant of the true Fisher information over the surrogate design."""
    features, size, theta = instance
    matrices, best = _fisher(features, size, theta)
    problem = theory.DesignProblem(np.array(features, dtype=float), size)
    design = design_solver(problem).as_dict()
    rows = list(combinations(range(len(features)), size))
    w = np.array([design.get(row, 0.0) for row in rows])
    v = np.einsum("n,nij->ij", w, matrices)
    return at_most("gain of the Fisher design", best - float(np.linalg.slogdet(v)[1]), 1e-3)


@lru_cache(maxsize=64)
def _fisher(features: tuple[tuple[float, ...], ...], size: int, theta: tuple[float, ...]) -> tuple[Array, float]:
    x = np.array(features, dtype=float)
    rows = list(combinations(range(len(x)), size))
    matrices = np.array([theory.fisher_information(theta, x[list(row)]) for row in rows])
    return matrices, multiplicative_optimum(matrices)[1]


def interior_point(problem: theory.DesignProblem) -> theory.Design:
    """Reference design to high accuracy."""
    return algorithms.interior_point_design(problem, tolerance=1e-10).design


def _uniform(problem: theory.DesignProblem) -> theory.Design:
    return theory.Design.uniform(problem.subsets())


def _spanning(problem: theory.DesignProblem) -> theory.Design:
    return algorithms.spanning_design(problem)


def _surrogates() -> dict[str, Any]:
    line = ((0.0,), (1.0,), (4.0,))
    return {
        "three items on a line, far apart in utility": (line, 2, (1.5,)),
        "unit square, steep utility": (((0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (1.0, 1.0)), 3, (4.0, 0.0)),
    }


T2X = Check(
    theorem="plackett_luce_design.T2x",
    name="surrogate_everywhere",
    kind="slack",
    observe=surrogate_is_fisher_optimal,
    instances=Instances("two named item sets with spread utilities", examples=_surrogates),
    slots={DESIGN_SOLVER: interior_point},
    mutants=(
        Mutant("uniform design", "gain of the Fisher design", {"design_solver": _uniform}),
        Mutant("a spanning design", "gain of the Fisher design", {"design_solver": _spanning}),
    ),
    cost=50.0,
)

CHECKS = (T1, T1S, T2A, T2B, T2C, T2D, T2X)

__all__ = ["CHECKS", "DESIGN_SOLVER", "SAMPLER", "interior_point"]
