"""T3, T4 and T9: certificates, support, the algebra of one iteration, invariances."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whp.algorithms import plackett_luce_design as algorithms
from whp.proofs_checks.engine import Check, Instances, Mutant, Slack, at_least, at_most, identity, requires
from whp.proofs_checks.plackett_luce_design import fractions_algebra as exact
from whp.proofs_checks.plackett_luce_design.instances import (
    DesignedItems,
    design_strategy,
    draw_designs,
    named_designs,
    spanning_designs,
)
from whp.proofs_checks.plackett_luce_design.model_checks import DESIGN_SOLVER, interior_point
from whp.proofs_checks.plackett_luce_design.reference import (
    all_leverages,
    best_log_det,
    design_matrix_log_det,
    multiplicative_optimum,
    subset_matrices,
    weighted_log_det,
)
from whp.theory import plackett_luce_design as theory
from whp.theory.core import Slot

Array = NDArray[Any]

CERTIFICATE = Slot(
    "certificate",
    "(problem, design)",
    "problem: theory DesignProblem; design: theory Design that spans",
    "certified gap in nats, a float",
    ("problem", "design"),
)
REDUCER = Slot(
    "support_reducer",
    "(problem, design)",
    "problem: theory DesignProblem; design: theory Design",
    "theory Design with the same information matrix and few questions",
    ("problem", "design"),
)
RIDGE_CERTIFICATE = Slot(
    "ridge_certificate",
    "(problem, design, ridge)",
    "problem: theory DesignProblem; design: theory Design; ridge: positive float",
    "certified gap of log det(V + ridge I) in nats, a float",
    ("problem", "design", "ridge"),
)
SPANNING = Instances(
    "designs with rational weights on up to 7 integer items in 1 to 3 dimensions, 2 to 4 a question, all spanning",
    examples=named_designs,
    draw=spanning_designs(),
)
EXACT = Instances(
    "designs with rational weights on up to 6 integer items in 1 to 3 dimensions, 2 to 4 items a question",
    examples=named_designs,
    draw=draw_designs(),
    strategy=design_strategy,
)
_TOLERANCE = 1e-9  # nats by which the reference optimum may itself miss the optimum, part of the claim as checked


# T3


def gap_is_certified(instance: DesignedItems, *, certificate: Callable[..., float]) -> Slack:
    """Distance to a nearly optimal design, the subject's certificate, and the Frank-Wolfe gap, in this order."""
    problem, design = instance.problem, instance.design
    dim = len(instance.features[0])
    distance = best_log_det(instance.features, instance.subset_size) - design_matrix_log_det(problem, design)
    largest = float(all_leverages(problem, design).max())
    gap = float(certificate(problem, design))
    slack = at_most("gap bounds the distance", distance, gap + _TOLERANCE)
    slack &= at_most("at most the Frank-Wolfe gap", gap, (largest - dim) * (1 + 1e-9) + _TOLERANCE)
    return slack & at_least("largest leverage is at least d", largest + _TOLERANCE, float(dim))


def _gap_from(largest: float, dim: int) -> float:
    return dim * float(np.log(max(largest / dim, 1.0)))


def _sampled_certificate(problem: theory.DesignProblem, design: theory.Design) -> float:
    """Largest leverage over a quarter of the subsets only."""
    return _gap_from(float(all_leverages(problem, design)[::4].max()), problem.rank)


def _pairs_certificate(problem: theory.DesignProblem, design: theory.Design) -> float:
    """Largest leverage over pairs in place of subsets."""
    v = np.linalg.inv(theory.information_matrix(problem, design))
    matrices = subset_matrices(problem.features, 2)
    return _gap_from(float(np.einsum("nij,ji->n", matrices, v).max()), problem.rank)


def _lying_certificate(problem: theory.DesignProblem, design: theory.Design) -> float:
    return 0.0


def _loose_certificate(problem: theory.DesignProblem, design: theory.Design) -> float:
    return float(all_leverages(problem, design).max())


T3A = Check(
    theorem="plackett_luce_design.T3a",
    name="certificate",
    kind="slack",
    observe=gap_is_certified,
    instances=SPANNING,
    slots={CERTIFICATE: algorithms.certified_gap},
    mutants=(
        Mutant("maximum over a sample", "gap bounds the distance", {"certificate": _sampled_certificate}),
        Mutant("maximum over pairs", "gap bounds the distance", {"certificate": _pairs_certificate}),
        Mutant("lying certificate", "gap bounds the distance", {"certificate": _lying_certificate}),
        Mutant("L in place of L - d", "at most the Frank-Wolfe gap", {"certificate": _loose_certificate}),
    ),
    cost=40.0,
)


def optimum_is_equivalent(instance: DesignedItems, *, design_solver: Callable[..., theory.Design]) -> Slack:
    """Largest leverage d, leverage d on the support, and no better design, each to 10^-6."""
    problem = instance.problem
    design = design_solver(problem)
    values = all_leverages(problem, design)
    rows = list(combinations(range(problem.n_items), problem.subset_size))
    weights = np.array([design.as_dict().get(row, 0.0) for row in rows])
    best = best_log_det(instance.features, instance.subset_size)
    slack = at_most("largest leverage is d", float(values.max()) - problem.dim, 1e-6)
    slack &= at_most("support has leverage d", float((weights * np.abs(values - problem.dim)).max()), 1e-6)
    return slack & at_most("no better design", best - design_matrix_log_det(problem, design), 1e-6)


def _uniform(problem: theory.DesignProblem) -> theory.Design:
    return theory.Design.uniform(problem.subsets())


def _few_steps(problem: theory.DesignProblem) -> theory.Design:
    return algorithms.frank_wolfe(problem, iterations=5, tolerance=0.0).design


def _pairs_first(problem: theory.DesignProblem) -> theory.Design:
    """Optimise pairs and show each with arbitrary further items."""
    pairs = interior_point(theory.DesignProblem(problem.features, 2))
    table: dict[tuple[int, ...], float] = {}
    for pair, weight in pairs.as_dict().items():
        rest = [i for i in range(problem.n_items) if i not in pair][: problem.subset_size - 2]
        key = tuple(sorted([*pair, *rest]))
        table[key] = table.get(key, 0.0) + weight
    return theory.Design(np.array(list(table)), np.array(list(table.values())))


T3B = Check(
    theorem="plackett_luce_design.T3b",
    name="optimality",
    kind="slack",
    observe=optimum_is_equivalent,
    instances=SPANNING,
    slots={DESIGN_SOLVER: interior_point},
    mutants=(
        Mutant("uniform design", "largest leverage is d", {"design_solver": _uniform}),
        Mutant("stops after five steps", "largest leverage is d", {"design_solver": _few_steps}),
        Mutant("optimises pairs", "largest leverage is d", {"design_solver": _pairs_first}),
    ),
    cost=60.0,
)


def support_is_small(instance: DesignedItems, *, support_reducer: Callable[..., theory.Design]) -> Slack:
    """Same information matrix with few questions, for the given design and for a nearly optimal one."""
    problem = instance.problem
    limit = problem.dim * (problem.dim + 1) // 2
    slack = requires("information is unchanged", True)
    everything = theory.Design.uniform(problem.subsets())
    weights, _ = multiplicative_optimum(subset_matrices(problem.features, problem.subset_size))
    optimum = theory.Design(problem.subsets(), weights / weights.sum())
    exact_optimum = float(np.ptp(all_leverages(problem, optimum)[weights > 0])) <= 1e-8 * problem.dim
    for design, bound in (
        (instance.design, limit + 1),
        (everything, limit + 1),
        (optimum, limit + (not exact_optimum)),
    ):
        small = support_reducer(problem, design)
        before, after = (theory.information_matrix(problem, d) for d in (design, small))
        scale = float(np.abs(before).max())
        slack &= identity("information is unchanged", after, before, rounding=1e-9 * scale)
        slack &= at_most("number of questions", int((small.weights > 0).sum()), bound)
    return slack


def _keeps_heaviest(problem: theory.DesignProblem, design: theory.Design) -> theory.Design:
    order = np.argsort(-design.weights)[: problem.dim * (problem.dim + 1) // 2]
    return theory.Design(design.subsets[order], design.weights[order] / design.weights[order].sum())


def _keeps_all(problem: theory.DesignProblem, design: theory.Design) -> theory.Design:
    return design


T3C = Check(
    theorem="plackett_luce_design.T3c",
    name="support",
    kind="slack",
    observe=support_is_small,
    instances=SPANNING,
    slots={REDUCER: algorithms.reduce_support},
    mutants=(
        Mutant("keeps the heaviest questions", "information is unchanged", {"support_reducer": _keeps_heaviest}),
        Mutant("keeps every question", "number of questions", {"support_reducer": _keeps_all}),
    ),
    cost=60.0,
)


def ridge_gap_is_certified(instance: DesignedItems, *, ridge_certificate: Callable[..., float]) -> Slack:
    """Distance to a nearly optimal design of ``log det(V + ridge I)``, against the certificate; ridges 1 and 30."""
    problem, design = instance.problem, instance.design
    matrices = subset_matrices(problem.features, problem.subset_size)
    own = theory.subset_information(problem.features, design.subsets)
    slack = requires("ridge gap bounds the distance", True)
    for ridge in (1.0, 30.0):
        best = multiplicative_optimum(matrices, ridge, steps=1000)[1]
        distance = best - weighted_log_det(own, design.weights, ridge)
        inverse = np.linalg.inv(np.einsum("n,nij->ij", design.weights, own) + ridge * np.eye(problem.dim))
        largest = float(np.einsum("nij,ji->n", matrices, inverse).max())
        trace = float(design.weights @ np.einsum("nij,ji->n", own, inverse))
        gap = float(ridge_certificate(problem, design, ridge))
        slack &= at_most("ridge gap bounds the distance", distance, gap + _TOLERANCE)
        slack &= at_most("at most L - t", gap, (largest - trace) * (1 + 1e-9) + _TOLERANCE)
    return slack


def _without_trace(problem: theory.DesignProblem, design: theory.Design, ridge: float) -> float:
    """Use d where t belongs."""
    inverse = np.linalg.inv(theory.information_matrix(problem, design) + ridge * np.eye(problem.dim))
    matrices = subset_matrices(problem.features, problem.subset_size)
    return _gap_from(float(np.einsum("nij,ji->n", matrices, inverse).max()), problem.dim)


def _ignores_ridge(problem: theory.DesignProblem, design: theory.Design, ridge: float) -> float:
    return algorithms.certified_gap(problem, design)


T3R = Check(
    theorem="plackett_luce_design.T3r",
    name="ridge_certificate",
    kind="slack",
    observe=ridge_gap_is_certified,
    instances=SPANNING,
    slots={RIDGE_CERTIFICATE: algorithms.ridge_gap},
    mutants=(
        Mutant("d in place of t", "ridge gap bounds the distance", {"ridge_certificate": _without_trace}),
        Mutant("ignores the ridge", "at most L - t", {"ridge_certificate": _ignores_ridge}),
    ),
    cost=200.0,
)

# T4: exact in fractions

SCATTER = Slot("scatter_matrix", "(features, subset)", "fractions (N, d); items", "M_S, (d, d)", ("features", "subset"))
LEVERAGE = Slot("leverage", "(gram, subset)", "fractions (N, N); items", "tr(M_S V^-1)", ("gram", "subset"))
RATIO = Slot(
    "determinant_ratio",
    "(gram, subset, step, dim)",
    "fractions (N, N); items; g < 1; d",
    "det((1-g) V + g M_S) / det V",
    ("gram", "subset", "step", "dim"),
)
PAIR_STEP = Slot("pair_step", "(leverage, dim)", "fraction; d", "step in [0, 1)", ("leverage", "dim"))
UPDATE = Slot(
    "updated_gram",
    "(gram, subset, step)",
    "fractions (N, N); items; 0 < g < 1",
    "memo after the step",
    ("gram", "subset", "step"),
)
MEAN = Slot("mean_leverage", "(gram, subset_size)", "fractions (N, N); K", "mean leverage", ("gram", "subset_size"))


def scatter_is_pair_sum(instance: DesignedItems, *, scatter_matrix: Callable[..., Array]) -> Slack:
    """``K`` times the scatter around the mean equals the sum over pairs, of rank at most ``min(K-1, d)``."""
    x = instance.exact_features
    matrix, pairs = scatter_matrix(x, instance.subset), exact.pair_sum(x, instance.subset)
    slack = identity("scatter equals the sum over pairs", matrix, pairs)
    return slack & at_most("rank", exact.rank(pairs), min(instance.subset_size - 1, x.shape[1]))


def _scatter_without_size(features: Array, subset: Sequence[int]) -> Array:
    return algorithms.scatter_matrix(features, subset) / len(subset)


def _scatter_around_first(features: Array, subset: Sequence[int]) -> Array:
    z = features[list(subset)] - features[subset[0]]
    return np.asarray(len(subset) * (z.T @ z))


T4A = Check(
    theorem="plackett_luce_design.T4a",
    name="scatter",
    kind="slack",
    observe=scatter_is_pair_sum,
    instances=EXACT,
    slots={SCATTER: algorithms.scatter_matrix},
    mutants=(
        Mutant("forgets K", "scatter equals the sum over pairs", {"scatter_matrix": _scatter_without_size}),
        Mutant("centres at the first item", "", {"scatter_matrix": _scatter_around_first}),
    ),
    cost=5.0,
)


def leverage_by_look_up(instance: DesignedItems, *, leverage: Callable[..., Any]) -> Slack:
    """Look-up formula against the trace of ``M_S V^{-1}``."""
    x, gram = instance.exact_features, instance.gram
    trace = np.trace(exact.pair_sum(x, instance.subset) @ exact.inverse(instance.information))
    return identity("leverage", leverage(gram, instance.subset), trace)


def _leverage_one_factor_less(gram: Array, subset: Sequence[int]) -> Any:
    block = gram[np.ix_(list(subset), list(subset))]
    return (len(subset) - 1) * np.trace(block) - block.sum()


def _leverage_diagonal(gram: Array, subset: Sequence[int]) -> Any:
    return len(subset) * sum(gram[i, i] for i in subset)


T4B = Check(
    theorem="plackett_luce_design.T4b",
    name="look_up",
    kind="slack",
    observe=leverage_by_look_up,
    instances=EXACT,
    slots={LEVERAGE: algorithms.leverage_from_gram},
    mutants=(
        Mutant("K - 1 for K", "leverage", {"leverage": _leverage_one_factor_less}),
        Mutant("forgets the cross terms", "leverage", {"leverage": _leverage_diagonal}),
    ),
    cost=6.0,
)


def determinant_along_step(instance: DesignedItems, *, determinant_ratio: Callable[..., Any]) -> Slack:
    """``K x K`` formula against the ``d x d`` determinants."""
    x, v, g = instance.exact_features, instance.information, instance.step
    after = (1 - g) * v + g * exact.pair_sum(x, instance.subset)
    expected = exact.determinant(after) / exact.determinant(v)
    return identity("determinant ratio", determinant_ratio(instance.gram, instance.subset, g, x.shape[1]), expected)


def _ratio_without_shrinking(gram: Array, subset: Sequence[int], step: Fraction, dim: int) -> Any:
    return algorithms.determinant_ratio(gram, subset, step, dim) / (1 - step) ** dim


def _ratio_with_plain_step(gram: Array, subset: Sequence[int], step: Fraction, dim: int) -> Any:
    """``g`` where ``g/(1-g)`` belongs."""
    other = step / (1 + step)
    return algorithms.determinant_ratio(gram, subset, other, dim) / (1 - other) ** dim * (1 - step) ** dim


T4C = Check(
    theorem="plackett_luce_design.T4c",
    name="determinant",
    kind="slack",
    observe=determinant_along_step,
    instances=EXACT,
    slots={RATIO: algorithms.determinant_ratio},
    mutants=(
        Mutant("forgets (1-g)^d", "determinant ratio", {"determinant_ratio": _ratio_without_shrinking}),
        Mutant("g for g/(1-g)", "determinant ratio", {"determinant_ratio": _ratio_with_plain_step}),
    ),
    cost=10.0,
)


def pair_step_is_exact(instance: DesignedItems, *, pair_step: Callable[..., Fraction]) -> Slack:
    """Determinant at the step against a grid and its neighbours, for the leverage of a pair of the instance."""
    dim = len(instance.features[0])
    value = exact.leverage(instance.gram, instance.subset[:2])
    step = Fraction(pair_step(value, dim))

    def det(g: Fraction) -> Fraction:
        return (1 - g) ** (dim - 1) * (1 - g + g * value)

    others = [Fraction(i, 40) for i in range(40)] + [step * Fraction(999, 1000), step + Fraction(1 - step, 1000)]
    slack = requires("step lies in [0, 1)", 0 <= step < 1 or (step == 1 and dim == 1))
    return slack & at_most("no better step", np.array([det(g) for g in others], dtype=object), det(step))


def _step_with_smaller_dim(leverage: Fraction, dim: int) -> Any:
    """``d - 1`` for ``d`` in the numerator."""
    return (leverage - dim + 1) / (dim * (leverage - 1)) if leverage > dim else Fraction(0)


def _step_without_test(leverage: Fraction, dim: int) -> Any:
    """Steps even when there is no ascent."""
    return algorithms.rational_step(leverage, dim) if leverage > dim else Fraction(1, 100)


T4D = Check(
    theorem="plackett_luce_design.T4d",
    name="pair_step",
    kind="slack",
    observe=pair_step_is_exact,
    instances=EXACT,
    slots={PAIR_STEP: algorithms.rational_step},
    mutants=(
        Mutant("d - 1 for d", "no better step", {"pair_step": _step_with_smaller_dim}),
        Mutant("steps without ascent", "no better step", {"pair_step": _step_without_test}),
    ),
    cost=10.0,
)


def memo_update_is_exact(instance: DesignedItems, *, updated_gram: Callable[..., Array]) -> Slack:
    """Update formula against the memo computed afresh."""
    x, g = instance.exact_features, instance.step
    after = (1 - g) * instance.information + g * exact.pair_sum(x, instance.subset)
    return identity("memo", updated_gram(instance.gram, instance.subset, g), exact.gram_matrix(x, after))


def _update_without_scale(gram: Array, subset: Sequence[int], step: Fraction) -> Array:
    return np.asarray((1 - step) * algorithms.updated_gram(gram, subset, step))


def _update_not_centred(gram: Array, subset: Sequence[int], step: Fraction) -> Array:
    """Leave the inner block as it is (centring it by rows or by columns only would change nothing)."""
    size = len(subset)
    columns = gram[:, list(subset)]
    centred = columns - columns.sum(axis=1, keepdims=True) / size
    block = gram[np.ix_(list(subset), list(subset))]
    inner = np.asarray(size * block)
    for i in range(size):
        inner[i, i] = inner[i, i] + (1 - step) / step
    return np.asarray((gram - size * (centred @ algorithms.solve_exactly(inner, centred.T))) / (1 - step))


def _update_stale(gram: Array, subset: Sequence[int], step: Fraction) -> Array:
    return gram


T4E = Check(
    theorem="plackett_luce_design.T4e",
    name="update",
    kind="slack",
    observe=memo_update_is_exact,
    instances=EXACT,
    slots={UPDATE: algorithms.updated_gram},
    mutants=(
        Mutant("without 1/(1-g)", "memo", {"updated_gram": _update_without_scale}),
        Mutant("inner block not centred", "memo", {"updated_gram": _update_not_centred}),
        Mutant("stale memo", "memo", {"updated_gram": _update_stale}),
    ),
    cost=12.0,
)

MEMO = Slot(
    "memo",
    "(problem, design)",
    "problem: theory DesignProblem; design: theory Design that spans",
    "object with take(subset, step) and leverages(subsets), subsets with items ascending",
    ("problem", "design"),
)
_MOVES = 25


def memo_follows_the_design(instance: DesignedItems, *, memo: Callable[..., Any]) -> Slack:
    """Leverages from the memo after 25 steps against those of the design recomputed."""
    problem = instance.problem
    rows = problem.subsets()
    kept = memo(problem, instance.design)
    weights = np.zeros(len(rows))
    position = {tuple(row): i for i, row in enumerate(rows.tolist())}
    for subset, weight in instance.design.as_dict().items():
        weights[position[subset]] += weight
    step = float(instance.step) / 8
    for i in range(_MOVES):
        chosen = (7 * i + position[instance.subset]) % len(rows)
        kept.take(rows[chosen], step)
        weights = (1 - step) * weights
        weights[chosen] += step
    used = weights > 0
    expected = all_leverages(problem, theory.Design(rows[used], weights[used] / weights[used].sum()))
    rounding = 1e-9 * float(expected.max()) * _MOVES
    return identity("leverages from the memo", np.asarray(kept.leverages(rows)), expected, rounding=rounding)


def _gram_memo(problem: theory.DesignProblem, design: theory.Design) -> Any:
    return algorithms.GramMemo(problem, design, refresh_every=10**9)


def _factor_memo(problem: theory.DesignProblem, design: theory.Design) -> Any:
    return algorithms.FactorMemo(problem, design, refresh_every=10**9)


class _SkipsUpdates(algorithms.GramMemo):
    """Leaves the memo as it is at every tenth step."""

    def _update(self, subset: Any, step: float, values: Any, vectors: Any) -> None:
        if self._steps % 10:
            super()._update(subset, step, values, vectors)


class _ForgetsScale(algorithms.GramMemo):
    """Does not divide the memo by 1 - g."""

    def _update(self, subset: Any, step: float, values: Any, vectors: Any) -> None:
        super()._update(subset, step, values, vectors)
        self._scale *= 1.0 - step


def _memo_check(name: str, reference: Callable[..., Any]) -> Check:
    return Check(
        theorem="plackett_luce_design.T4e",
        name=name,
        kind="slack",
        observe=memo_follows_the_design,
        instances=SPANNING,
        slots={MEMO: reference},
        mutants=(
            Mutant("skips every tenth update", "leverages from the memo", {"memo": _SkipsUpdates}),
            Mutant("forgets the scale", "leverages from the memo", {"memo": _ForgetsScale}),
        ),
        cost=30.0,
    )


T4E_GRAM = _memo_check("gram_memo", _gram_memo)
T4E_FACTOR = _memo_check("factor_memo", _factor_memo)


def mean_by_double_counting(instance: DesignedItems, *, mean_leverage: Callable[..., Any]) -> Slack:
    """Mean over all subsets, enumerated, against the formula over pairs."""
    gram, n, k = instance.gram, len(instance.features), instance.subset_size
    total = sum((exact.leverage(gram, s) for s in combinations(range(n), k)), Fraction(0))
    return identity("mean leverage", mean_leverage(gram, k), total / comb(n, k))


def _mean_without_size(gram: Array, subset_size: int) -> Any:
    return algorithms.mean_leverage(gram, 2)


def _mean_with_diagonal(gram: Array, subset_size: int) -> Any:
    n = len(gram)
    return n * np.trace(gram) * subset_size * (subset_size - 1) / (n * (n - 1))


T4F = Check(
    theorem="plackett_luce_design.T4f",
    name="double_counting",
    kind="slack",
    observe=mean_by_double_counting,
    instances=EXACT,
    slots={MEAN: algorithms.mean_leverage},
    mutants=(
        Mutant("counts pairs only", "mean leverage", {"mean_leverage": _mean_without_size}),
        Mutant("forgets to centre", "mean leverage", {"mean_leverage": _mean_with_diagonal}),
    ),
    cost=15.0,
)

# T9

LEVERAGES = Slot(
    "leverages",
    "(problem, design, subsets)",
    "problem: theory DesignProblem; design: theory Design; subsets: integer array (n, K), ascending",
    "array (n,)",
    ("problem", "design", "subsets"),
)


def maps_leave_leverages(instance: DesignedItems, *, leverages: Callable[..., Array]) -> Slack:
    """Leverages before and after an affine map of the features and a relabelling of the items."""
    problem, design = instance.problem, instance.design
    rows, d, n = problem.subsets(), problem.dim, problem.n_items
    before, defined = np.asarray(leverages(problem, design, rows)), all_leverages(problem, design)
    rounding = 1e-9 * float(defined.max())  # never of the subject's own scale
    q = np.array([[2.0 if i == j else (1.0 if j == i + 1 else 0.0) for j in range(d)] for i in range(d)])
    moved = theory.DesignProblem(problem.features @ q + np.arange(1.0, d + 1), problem.subset_size)
    slack = identity("affine map", np.asarray(leverages(moved, design, rows)), before, rounding=rounding)
    shift = theory.design_log_det(moved, design) - theory.design_log_det(problem, design)
    slack &= identity("shift of the log-determinant", shift, 2 * d * float(np.log(2)), rounding=1e-9)
    order = np.roll(np.arange(n), 1)
    back = np.argsort(order)
    renamed = theory.DesignProblem(problem.features[order], problem.subset_size)
    relabelled = theory.Design(np.sort(back[design.subsets], axis=1), design.weights)
    after = np.asarray(leverages(renamed, relabelled, np.sort(back[rows], axis=1)))
    slack &= identity("relabelling", after, before, rounding=rounding)
    return slack & identity("tr(M_S V^-1)", before, defined, rounding=rounding)  # zeros would be invariant too


def _by_memo(problem: theory.DesignProblem, design: theory.Design, subsets: Array) -> Array:
    return algorithms.make_memo(problem, design).leverages(subsets)


def _without_centring(problem: theory.DesignProblem, design: theory.Design, subsets: Array) -> Array:
    inverse = np.linalg.inv(theory.information_matrix(problem, design))
    squares = np.einsum("ij,jk,ik->i", problem.features, inverse, problem.features)
    return np.asarray(problem.subset_size * squares[subsets].sum(axis=1))


def _with_ridge(problem: theory.DesignProblem, design: theory.Design, subsets: Array) -> Array:
    inverse = np.linalg.inv(theory.information_matrix(problem, design) + 0.1 * np.eye(problem.dim))
    return np.asarray(np.einsum("nij,ji->n", theory.subset_information(problem.features, subsets), inverse))


def _by_item_number(problem: theory.DesignProblem, design: theory.Design, subsets: Array) -> Array:
    return np.asarray(_by_memo(problem, design, subsets) * (1 + 0.01 * subsets[:, 0]))


T9 = Check(
    theorem="plackett_luce_design.T9",
    name="invariance",
    kind="slack",
    observe=maps_leave_leverages,
    instances=SPANNING,
    slots={LEVERAGES: _by_memo},
    mutants=(
        Mutant("forgets to centre", "affine map", {"leverages": _without_centring}),
        Mutant("adds a ridge", "affine map", {"leverages": _with_ridge}),
        Mutant("depends on the labels", "relabelling", {"leverages": _by_item_number}),
    ),
    cost=20.0,
)


def simplex_has_closed_form(instance: tuple[int, int], *, design_solver: Callable[..., theory.Design]) -> Slack:
    """``N`` simplex points: the optimum is ``(N-1) log(K(K-1)/(N-1))``, every leverage ``N - 1``."""
    n, k = instance
    problem = theory.DesignProblem(np.eye(n), k)
    design = design_solver(problem)
    expected = (n - 1) * float(np.log(k * (k - 1) / (n - 1)))
    slack = at_least("optimum of simplex points", theory.design_log_det(problem, design), expected - 1e-6)
    slack &= at_most("not above the optimum", theory.design_log_det(problem, design), expected + 1e-6)
    if k == n:
        slack &= identity("one question", len(design.weights), 1)
    return slack


def _chain_of_questions(problem: theory.DesignProblem) -> theory.Design:
    rows = algorithms.spanning_design(problem).subsets
    raw = np.arange(1.0, len(rows) + 1)
    return theory.Design(rows, raw / raw.sum())


def _front_loaded(problem: theory.DesignProblem) -> theory.Design:
    rows = problem.subsets()
    raw = 2.0 ** -np.arange(len(rows))
    return theory.Design(rows, raw / raw.sum())


T9S = Check(
    theorem="plackett_luce_design.T9",
    name="simplex",
    kind="slack",
    observe=simplex_has_closed_form,
    instances=Instances(
        "N simplex points, 3 <= N <= 6, all K",
        examples=lambda: {f"N={n}, K={k}": (n, k) for n in range(3, 7) for k in range(2, n + 1)},
    ),
    slots={DESIGN_SOLVER: interior_point},
    mutants=(
        Mutant("a chain of questions", "optimum of simplex points", {"design_solver": _chain_of_questions}),
        Mutant("front-loaded weights", "optimum of simplex points", {"design_solver": _front_loaded}),
    ),
    cost=50.0,
)

CHECKS = (T3A, T3B, T3C, T3R, T4A, T4B, T4C, T4D, T4E, T4E_GRAM, T4E_FACTOR, T4F, T9, T9S)
