"""D-optimal designs over subsets that can be listed: multiplicative, interior point, cvxpy and column generation."""

from __future__ import annotations

from importlib import import_module
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from whp.algorithms.plackett_luce_design.certificate import certify
from whp.algorithms.plackett_luce_design.factor_weights import (
    WeightsResult,
    interior_point_weights,
    multiplicative_weights,
)
from whp.algorithms.plackett_luce_design.memo import make_memo
from whp.algorithms.plackett_luce_design.oracles import AllSubsets, BestPair, GreedySwap, checked_subsets, exact_oracle
from whp.algorithms.plackett_luce_design.result import DesignResult, DesignStatus, History, OperationCounts
from whp.algorithms.plackett_luce_design.spanning import spanning_design
from whp.algorithms.plackett_luce_design.step import contrast_basis
from whp.theory.plackett_luce_design import (
    Design,
    DesignProblem,
    SingularDesignError,
    certified_gap_bound,
    design_log_det,
    leverages,
    pair_information,
)
from whp.theory.plackett_luce_design.validation import real_number, require, whole_number

Array = NDArray[np.float64]
IntArray = NDArray[np.int64]

__all__ = [
    "capped_certificate",
    "column_generation_design",
    "cvxpy_design",
    "fisher_factors",
    "fisher_optimal_design",
    "interior_point_design",
    "multiplicative_design",
    "span_factors",
]


def span_factors(problem: DesignProblem, subsets: IntArray, *, full_space: bool = False) -> Array:
    """Factors of ``K - 1`` rows a subset, in the coordinates of the span or of the original features.

    Parameters
    ----------
    problem : DesignProblem
        Items and subset size.
    subsets : (n, K) ndarray of int
        Subsets.
    full_space : bool
        Keep all feature columns, as a ridge needs.

    Returns
    -------
    (n, K - 1, rank or d) ndarray
    """
    subsets = checked_subsets(problem, subsets)
    points = problem.features - problem.features.mean(axis=0) if full_space else problem.coordinates
    return np.asarray(np.einsum("nkr,kc->ncr", points[subsets], contrast_basis(problem.subset_size)))


def _result(
    problem: DesignProblem, subsets: IntArray, fit: WeightsResult, tolerance: float, *, ridge: float = 0.0
) -> DesignResult:
    keep = fit.weights > 1e-12 * fit.weights.max()
    weights = fit.weights[keep] / fit.weights[keep].sum()
    history = History(objective=list(fit.objectives))
    return DesignResult(
        design=Design(subsets[keep], weights),
        log_det=fit.log_det if ridge else fit.log_det + problem.log_volume,
        rank=problem.rank,
        max_leverage=fit.max_leverage,
        certified_gap=fit.gap,
        iterations=fit.iterations,
        rejected=0,
        status=DesignStatus.OPTIMAL if fit.gap <= tolerance else DesignStatus.ITERATION_LIMIT,
        history=history,
        counts=OperationCounts(scored_subsets=len(subsets) * (fit.iterations + 1)),
    )


def multiplicative_design(
    problem: DesignProblem,
    *,
    ridge: float = 0.0,
    tolerance: float = 1e-3,
    iterations: int = 100_000,
    start: Design | None = None,
) -> DesignResult:
    """Multiplicative algorithm over all listed subsets.

    Parameters
    ----------
    problem : DesignProblem
        Its subsets must be few enough to list.
    ridge : float
        Maximise ``log det(V + ridge I)`` in the original coordinates instead of ``log det V`` on the span.
    tolerance : float
        Certified gap, in nats, at which to stop.
    iterations : int
        Largest number of iterations.
    start : Design, optional
        First weights; uniform when left out.

    Returns
    -------
    DesignResult
        With a ridge, ``log_det`` and ``max_leverage`` are those of ``V + ridge I``.

    Examples
    --------
    >>> square = DesignProblem([[0, 0], [1, 0], [0, 1], [1, 1]], subset_size=2)
    >>> round(multiplicative_design(square, tolerance=1e-9).objective, 6) + 0.0
    0.0
    """
    require("problem", problem, DesignProblem)
    subsets = problem.subsets()
    weights = None
    if start is not None:
        require("start", start, Design)
        table = start.as_dict()
        weights = np.array([table.get(tuple(s), 0.0) for s in subsets.tolist()])
        if weights.sum() < 1 - 1e-6 and len(np.unique(subsets, axis=0)) == len(subsets):
            raise ValueError("start must use only subsets that may be asked, got weight on others")
    factors = span_factors(problem, subsets, full_space=ridge > 0)
    fit = multiplicative_weights(factors, ridge=ridge, tolerance=tolerance, iterations=iterations, start=weights)
    return _result(problem, subsets, fit, tolerance, ridge=ridge)


def interior_point_design(
    problem: DesignProblem, *, ridge: float = 0.0, tolerance: float = 1e-9, iterations: int = 100
) -> DesignResult:
    """Interior point method over all listed subsets, for up to a few thousand, to high accuracy.

    Parameters
    ----------
    problem : DesignProblem
        With at most 5000 subsets.
    ridge : float
        Maximise ``log det(V + ridge I)`` in the original coordinates.
    tolerance : float
        Certified gap, in nats, at which to stop.
    iterations : int
        Largest number of iterations.

    Returns
    -------
    DesignResult

    Raises
    ------
    ValueError
        If there are more than 5000 subsets.

    Examples
    --------
    >>> items = DesignProblem([[0, 0], [1, 0], [0, 2], [3, 1]], subset_size=2)
    >>> round(interior_point_design(items).objective, 7)
    -2.5463479
    """
    require("problem", problem, DesignProblem)
    if problem.n_subsets > 5000:
        raise ValueError(
            f"problem must have at most 5000 subsets for an interior point method, got {problem.n_subsets}"
        )
    subsets = problem.subsets()
    factors = span_factors(problem, subsets, full_space=ridge > 0)
    fit = interior_point_weights(factors, ridge=ridge, tolerance=tolerance, iterations=iterations)
    return _result(problem, subsets, fit, tolerance, ridge=ridge)


def cvxpy_design(problem: DesignProblem, *, max_share: float | None = None, solver: str = "CLARABEL") -> DesignResult:
    """Solve the design problem with cvxpy's ``log_det``: slow and independent of our own solvers.

    Parameters
    ----------
    problem : DesignProblem
        Its subsets must be few enough to list.
    max_share : float, optional
        Largest probability with which any item may be shown in a question, at least ``K / N``.
    solver : str
        Name of a cvxpy solver.

    Returns
    -------
    DesignResult
        With `max_share`, the certificate is against the capped optimum.

    Raises
    ------
    ValueError
        If no design satisfies the cap.
    """
    require("problem", problem, DesignProblem)
    cp: Any = import_module("cvxpy")

    subsets = problem.subsets()
    factors = span_factors(problem, subsets)
    flat = np.einsum("ncr,ncs->rsn", factors, factors).reshape(problem.rank**2, -1)
    shown = np.zeros((problem.n_items, len(subsets)))
    shown[subsets.T, np.arange(len(subsets))] = 1.0
    weights = cp.Variable(len(subsets), nonneg=True)
    matrix = cp.reshape(flat @ weights, (problem.rank, problem.rank), order="C")
    constraints: list[Any] = [cp.sum(weights) == 1]
    if max_share is not None:
        _check_share(problem, max_share)
        constraints.append(shown @ weights <= max_share)
    program = cp.Problem(cp.Maximize(cp.log_det((matrix + matrix.T) / 2)), constraints)
    begun = perf_counter()
    program.solve(solver=solver)
    if weights.value is None:
        raise ValueError(f"max_share must leave a spanning design feasible, got {max_share} ({program.status})")
    w = np.maximum(np.asarray(weights.value), 0.0)
    w = np.where(w > 1e-9 * w.max(), w, 0.0)
    design = Design(subsets[w > 0], w[w > 0] / w.sum())
    largest, gap = certify(problem, design) if max_share is None else capped_certificate(problem, design, max_share)
    history = History([-design_log_det(problem, design)], [], [], [perf_counter() - begun])
    log_det, status = design_log_det(problem, design), DesignStatus.OPTIMAL
    return DesignResult(design, log_det, problem.rank, largest, gap, 1, 0, status, history, OperationCounts())


def _check_share(problem: DesignProblem, max_share: float) -> None:
    least = problem.subset_size / problem.n_items
    real_number("max_share", max_share)
    if not least * (1 - 1e-12) <= max_share <= 1:
        raise ValueError(f"max_share must lie between K/N={least:.6g} and 1, got {max_share!r}")


def capped_certificate(problem: DesignProblem, design: Design, max_share: float) -> tuple[float, float]:
    """Largest mean leverage of any design under the cap, and the gap in nats that it certifies.

    Parameters
    ----------
    problem : DesignProblem
        Its subsets must be few enough to list.
    design : Design
        Must span.
    max_share : float
        Cap on the probability of showing an item.

    Returns
    -------
    tuple of float
        ``max_q sum_S q_S lev_S`` over capped designs ``q``, and ``rank log(that / rank)``.
    """
    require("problem", problem, DesignProblem)
    _check_share(problem, max_share)
    from scipy.optimize import linprog
    from scipy.sparse import csr_array

    subsets = problem.subsets()
    values = leverages(problem, design, subsets)
    columns = np.repeat(np.arange(len(subsets)), problem.subset_size)
    shape = (problem.n_items, len(subsets))
    shown = csr_array((np.ones(subsets.size), (subsets.ravel(), columns)), shape=shape)
    solution = linprog(
        -values,
        A_ub=shown,
        b_ub=np.full(problem.n_items, max_share),
        A_eq=np.ones((1, len(subsets))),
        b_eq=np.ones(1),
        method="highs",
    )  # type: ignore[call-overload]  # the stubs do not know sparse constraints
    if solution.status != 0:
        raise ValueError(f"max_share must leave a design feasible, got {max_share} ({solution.message})")
    best = float(-solution.fun)
    return best, certified_gap_bound(max(best, float(problem.rank)), problem.rank)


def column_generation_design(
    problem: DesignProblem, *, tolerance: float = 1e-6, rounds: int = 200, batch: int = 50
) -> DesignResult:
    """Alternate between optimal weights on a few subsets and adding the subsets that violate optimality most.

    The fully corrective form of Frank-Wolfe: high accuracy in few rounds, for pairs of up to thousands of items and for
    any ``K`` where the subsets can be listed. With more subsets than that a greedy-swap search proposes them, and the
    gap is certified only as far as pairs allow.

    Parameters
    ----------
    problem : DesignProblem
        Items and subset size.
    tolerance : float
        Certified gap, in nats, at which to stop.
    rounds : int
        Largest number of rounds.
    batch : int
        Subsets added per round.

    Returns
    -------
    DesignResult

    Examples
    --------
    >>> items = DesignProblem([[0, 0], [1, 0], [0, 2], [3, 1]], subset_size=3)
    >>> round(float(np.exp(column_generation_design(items).log_det)), 6)  # det 108
    108.0
    """
    require("problem", problem, DesignProblem)
    real_number("tolerance", tolerance, at_least=0)
    whole_number("rounds", rounds, 1)
    whole_number("batch", batch, 1)
    begun, history, counts = perf_counter(), History(), OperationCounts()
    design, status, done = _first_design(problem, batch), DesignStatus.ITERATION_LIMIT, 0
    while done < rounds:
        done += 1
        memo = make_memo(problem, design)
        proposed, leverage, exact = _violators(problem, memo, batch)
        counts.scored_subsets += memo.counts.scored_subsets
        history.add(-memo.log_det, leverage, float(len(proposed)), perf_counter() - begun)
        gap = certified_gap_bound(max(leverage, float(problem.rank)), problem.rank)
        if gap <= tolerance:
            status = DesignStatus.OPTIMAL if exact else DesignStatus.STALLED
            break
        active = design.subsets[design.weights > 1e-10]
        columns = np.unique(np.concatenate([active, proposed]), axis=0)
        # rough weights suffice while new questions keep coming
        accuracy = tolerance / 10 if len(columns) == len(active) else max(tolerance / 10, gap / 100)
        fit = interior_point_weights(span_factors(problem, columns), tolerance=accuracy)
        if fit.log_det + problem.log_volume <= memo.log_det and len(columns) == len(active):
            status = DesignStatus.STALLED
            break
        keep = fit.weights > 1e-12 * fit.weights.max()
        design = Design(columns[keep], fit.weights[keep] / fit.weights[keep].sum())
    design = _without_dust(problem, design, tolerance)
    largest, certified = certify(problem, design)
    if certified is not None and certified <= tolerance:
        status = DesignStatus.OPTIMAL
    log_det = design_log_det(problem, design)
    return DesignResult(design, log_det, problem.rank, largest, certified, done, 0, status, history, counts)


def _first_design(problem: DesignProblem, batch: int) -> Design:
    """Good weights on the questions that the uniform design values most, where that is cheap to ask."""
    start = spanning_design(problem)
    if problem.n_subsets > 20_000:
        return start
    table = problem.subsets()
    values = leverages(problem, Design.uniform(table), table)
    columns = np.unique(np.concatenate([start.subsets, table[np.argsort(-values)[:batch]]]), axis=0)
    fit = interior_point_weights(span_factors(problem, columns), tolerance=1e-2)
    keep = fit.weights > 1e-3 * fit.weights.max()
    chosen = Design(columns[keep], fit.weights[keep] / fit.weights[keep].sum())
    try:
        design_log_det(problem, chosen)
    except SingularDesignError:
        return start
    return chosen


def _without_dust(problem: DesignProblem, design: Design, tolerance: float) -> Design:
    """Drop the tiny weights that an interior point leaves, unless that costs more than the tolerance."""
    for threshold in (1e-2, 1e-3, 1e-4, 1e-6):
        columns = design.subsets[design.weights > threshold * design.weights.max()]
        try:
            fit = interior_point_weights(span_factors(problem, columns), tolerance=tolerance / 10)
        except SingularDesignError:
            continue
        if fit.log_det + problem.log_volume >= design_log_det(problem, design) - tolerance / 10:
            keep = fit.weights > 1e-12 * fit.weights.max()
            return Design(columns[keep], fit.weights[keep] / fit.weights[keep].sum())
    return design


def _violators(problem: DesignProblem, memo: Any, batch: int) -> tuple[IntArray, float, bool]:
    """Subsets of largest leverage, the largest leverage found, and whether that is exact."""
    oracle = exact_oracle(problem)
    if isinstance(oracle, AllSubsets):
        table = problem.subsets()
        values = memo.leverages(table)
        count = min(batch, len(table))
        top = np.argpartition(-values, count - 1)[:count]
        top = top[values[top] > problem.rank * (1 - 1e-9)]
        return table[top], float(values.max()), True
    if isinstance(oracle, BestPair):
        return _best_pairs(memo, batch)
    generator = np.random.default_rng(len(memo.atoms()[0]))
    found = [GreedySwap(problem).propose(memo, generator) for _ in range(max(1, batch // 10))]
    return np.unique([f[0] for f in found], axis=0), max(f[1] for f in found), False


def _best_pairs(memo: Any, batch: int) -> tuple[IntArray, float, bool]:
    """For each item its farthest partner; the best ``batch`` of these pairs contain the farthest pair."""
    pairs, values = [], []
    for i in range(memo.problem.n_items):
        d = memo.distances(i)
        j = int(d.argmax())
        pairs.append((min(i, j), max(i, j)) if i != j else (0, 1))
        values.append(float(d[j]))
    order = np.argsort(-np.array(values))[: 2 * batch]
    return np.unique(np.array(pairs)[order], axis=0), max(values), True


def fisher_factors(problem: DesignProblem, subsets: IntArray, theta: ArrayLike) -> Array:
    """Factors of the true Plackett-Luce Fisher information of each question at ``theta``.

    Parameters
    ----------
    problem : DesignProblem
        Items and subset size, at most 16.
    subsets : (n, K) ndarray of int
        Questions.
    theta : (d,) array_like
        Parameter.

    Returns
    -------
    (n, K, rank) ndarray
        ``F_S`` with ``F_S' F_S`` the information of a full ranking of ``S``, in the coordinates of the span.
    """
    require("problem", problem, DesignProblem)
    subsets = checked_subsets(problem, subsets)
    parameter = np.asarray(theta, dtype=float)
    if parameter.shape != (problem.dim,) or not np.isfinite(parameter).all():
        raise ValueError(f"theta must be a finite vector of length {problem.dim}, got shape {parameter.shape}")
    utilities = problem.features @ parameter
    factors = np.empty((len(subsets), problem.subset_size, problem.rank))
    for row, subset in enumerate(subsets):
        u = utilities[subset]
        pairs = np.array(pair_information(list(np.exp(np.maximum(u - u.max(), -700.0)))), dtype=float)
        values, vectors = np.linalg.eigh(np.diag(pairs.sum(axis=1)) - pairs)
        root = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T
        factors[row] = root @ problem.coordinates[subset]
    return factors


def fisher_optimal_design(
    problem: DesignProblem, theta: ArrayLike, *, tolerance: float = 1e-6, iterations: int = 100_000
) -> DesignResult:
    """Locally D-optimal design for the true Fisher information at a guess of ``theta``, for a second stage.

    Parameters
    ----------
    problem : DesignProblem
        Its subsets must be few enough to list.
    theta : (d,) array_like
        Guess, for instance from pilot rankings; at zero the result is the ordinary design.
    tolerance : float
        Certified gap in nats.
    iterations : int
        Largest number of iterations of the multiplicative algorithm.

    Returns
    -------
    DesignResult
        ``log_det`` and certificate refer to the Fisher information.
    """
    real_number("tolerance", tolerance, at_least=0)
    whole_number("iterations", iterations, 0)
    require("problem", problem, DesignProblem)
    subsets = problem.subsets()
    factors = fisher_factors(problem, subsets, theta)
    if len(subsets) <= 1000:
        fit = interior_point_weights(factors, tolerance=tolerance)
    else:
        fit = multiplicative_weights(factors, tolerance=tolerance, iterations=iterations)
    return _result(problem, subsets, fit, tolerance)
