"""How far from optimal: the largest leverage over all subsets, or a bound on it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from whp.theory.plackett_luce_design import (
    MAX_LISTED_SUBSETS,
    Design,
    DesignProblem,
    certified_gap_bound,
    information_matrix,
    leverages,
    span_information,
)
from whp.theory.plackett_luce_design.validation import real_number, require

Array = NDArray[np.float64]

__all__ = ["certified_gap", "certify", "largest_leverage", "leverage_upper_bound", "ridge_gap"]

_MAX_ITEMS = 10_000


def _whitened(problem: DesignProblem, design: Design) -> Array:
    require("design", design, Design)
    leverages(problem, design, design.subsets[:1])  # refuses a design that does not span
    root = np.linalg.cholesky(span_information(problem, design))
    return np.linalg.solve(root, problem.coordinates.T).T


def _pair_distances(whitened: Array, start: int = 0, count: int | None = None) -> Array:
    """Squared distances of a block of rows to all rows."""
    squares = np.einsum("ij,ij->i", whitened, whitened)
    rows = slice(start, len(whitened) if count is None else start + count)
    distances = squares[rows, None] + squares[None, :] - 2.0 * whitened[rows] @ whitened.T
    return np.asarray(np.maximum(distances, 0.0))


def largest_leverage(problem: DesignProblem, design: Design) -> float | None:
    """Largest leverage over every subset that may be asked, or ``None`` when that is unaffordable.

    Parameters
    ----------
    problem : DesignProblem
        Items and subset size.
    design : Design
        Must span.

    Returns
    -------
    float or None
        Exact for pairs, for candidate lists, for ``K = N`` and wherever the subsets can be listed.

    Raises
    ------
    SingularDesignError
        If the design does not span.
    """
    require("problem", problem, DesignProblem)
    if problem.candidates is not None:
        return float(leverages(problem, design).max())
    if problem.subset_size == 2 and problem.n_items <= _MAX_ITEMS:
        y = _whitened(problem, design)
        return max(float(_pair_distances(y, start, 1000).max()) for start in range(0, len(y), 1000))
    if problem.n_subsets > MAX_LISTED_SUBSETS:
        return None
    if problem.n_items > 4000:
        return float(leverages(problem, design).max())
    distances = _pair_distances(_whitened(problem, design)).ravel()
    best, size, table = 0.0, problem.subset_size, problem.subsets()
    for start in range(0, len(table), 500_000):
        rows = table[start : start + 500_000]
        total = np.zeros(len(rows))
        for a in range(size):
            for b in range(a + 1, size):
                total += distances[rows[:, a] * problem.n_items + rows[:, b]]
        best = max(best, float(total.max()))
    return best


def leverage_upper_bound(problem: DesignProblem, design: Design) -> float | None:
    """Bound the largest leverage from pairs alone, for subsets too many to list.

    The leverage of ``S`` is half the sum over its members of their squared distances to the others, hence at most
    ``K / 2`` times the largest sum of ``K - 1`` distances from one item.

    Parameters
    ----------
    problem : DesignProblem
        Items and subset size, without candidates.
    design : Design
        Must span.

    Returns
    -------
    float or None
        ``None`` beyond 10000 items.

    Examples
    --------
    >>> square = DesignProblem([[0, 0], [1, 0], [0, 1], [1, 1]], subset_size=3)
    >>> round(leverage_upper_bound(square, Design.uniform(square.subsets())), 9)
    2.25
    """
    require("problem", problem, DesignProblem)
    if problem.n_items > _MAX_ITEMS:
        return None
    y, others, best = _whitened(problem, design), problem.subset_size - 1, 0.0
    for start in range(0, len(y), 1000):
        d = _pair_distances(y, start, 1000)
        top = np.partition(d, -others, axis=1)[:, -others:]
        best = max(best, float(top.sum(axis=1).max()))
    return problem.subset_size / 2 * best


def certify(problem: DesignProblem, design: Design) -> tuple[float | None, float | None]:
    """Largest leverage (if affordable) and the best certified gap available.

    Parameters
    ----------
    problem : DesignProblem
        Items and subset size.
    design : Design
        Must span.

    Returns
    -------
    max_leverage : float or None
        Exact largest leverage.
    gap : float or None
        ``rank log(L / rank)`` with the exact leverage, else with `leverage_upper_bound`, which is valid but loose.
    """
    largest = largest_leverage(problem, design)
    bound = largest
    if bound is None:
        bound = leverage_upper_bound(problem, design)
    if bound is None:
        return None, None
    return largest, certified_gap_bound(max(bound, float(problem.rank)), problem.rank)


def certified_gap(problem: DesignProblem, design: Design) -> float:
    """Upper bound, in nats, on how far a design is from D-optimal.

    Parameters
    ----------
    problem : DesignProblem
        Items and subset size.
    design : Design
        Weights over subsets; its information matrix must be invertible on the span.

    Returns
    -------
    float
        ``log det V* - log det V(design)`` is at most this; zero at an optimum.

    Raises
    ------
    SingularDesignError
        If the design does not span.
    ValueError
        If there are too many items for a certificate.

    Examples
    --------
    >>> square = DesignProblem([[0, 0], [1, 0], [0, 1], [1, 1]], subset_size=3)
    >>> round(certified_gap(square, Design.uniform(square.subsets())), 9)
    0.0
    """
    gap = certify(problem, design)[1]
    if gap is None:
        raise ValueError(f"problem must have at most {_MAX_ITEMS} items for a certificate, got {problem.n_items}")
    return gap


def ridge_gap(problem: DesignProblem, design: Design, ridge: float) -> float:
    """Certified distance, in nats, of a design from the maximum of ``log det(V + ridge I)`` over listed subsets.

    Parameters
    ----------
    problem : DesignProblem
        Its subsets must be few enough to list.
    design : Design
        Need not span.
    ridge : float
        Positive.

    Returns
    -------
    float
        ``d log(1 + (L - t) / d)`` with ``t = sum_S w_S lev_S``, leverages taken in ``(V + ridge I)^{-1}``.

    Raises
    ------
    ValueError
        If the ridge is not positive.

    Examples
    --------
    >>> square = DesignProblem([[0, 0], [1, 0], [0, 1], [1, 1]], subset_size=2)
    >>> round(ridge_gap(square, Design([[0, 3], [1, 2]], [0.5, 0.5]), 0.1), 9)
    0.0
    """
    real_number("ridge", ridge, above=0)
    matrix = information_matrix(problem, design) + ridge * np.eye(problem.dim)
    inverse = np.linalg.inv(matrix)
    centred = problem.features - problem.features.mean(axis=0)
    largest, total = 0.0, 0.0
    for rows, weights in ((problem.subsets(), None), (design.subsets, design.weights)):
        groups = centred[rows] - centred[rows].mean(axis=1, keepdims=True)
        values = problem.subset_size * np.einsum("nkr,rs,nks->n", groups, inverse, groups, optimize=True)
        if weights is None:
            largest = float(values.max())
        else:
            total = float(weights @ values)
    return float(problem.dim * np.log1p(max(largest - total, 0.0) / problem.dim))
