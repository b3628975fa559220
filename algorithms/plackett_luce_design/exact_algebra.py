"""The formulas of one memoised iteration and of the likelihood in any arithmetic, exact fractions included.

Matrices are object or float arrays; nothing here takes a square root or a logarithm, so fractions stay fractions.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whp.theory.plackett_luce_design.validation import whole_number

Matrix = NDArray[Any]

__all__ = [
    "determinant_ratio",
    "leverage_from_gram",
    "luce_derivatives",
    "mean_leverage",
    "rational_step",
    "scatter_matrix",
    "solve_exactly",
    "updated_gram",
]


def luce_derivatives(weights: Sequence[Any], ranking: Sequence[int]) -> tuple[Any, list[Any], list[list[Any]]]:
    """Probability of a ranking, and gradient and Hessian of minus its logarithm in the log-weights.

    Parameters
    ----------
    weights : sequence of positive numbers
        One per item.
    ranking : sequence of int
        All items, best first.

    Returns
    -------
    probability : number
    gradient : list
        ``sum_k p_k(i) 1{i remains} - 1{i is ranked}``.
    hessian : list of list
        ``sum_k (diag(p_k) - p_k p_k')``.

    Examples
    --------
    >>> luce_derivatives([Fraction(1), Fraction(2), Fraction(4)], [2, 1, 0])[0]
    Fraction(8, 21)
    """
    n = len(weights)
    if n < 2 or any(not w > 0 for w in weights):
        raise ValueError(f"weights must be at least 2 positive numbers, got {list(weights)}")
    ranking = _members("ranking", ranking, n)
    if len(ranking) != n:
        raise ValueError(f"ranking must order all {n} items, got {ranking}")
    probability: Any = 1
    gradient: list[Any] = [0] * n
    hessian: list[list[Any]] = [[0] * n for _ in range(n)]
    for k, chosen in enumerate(ranking):
        remaining = ranking[k:]
        total = sum(weights[j] for j in remaining)
        share = {j: weights[j] / total for j in remaining}
        probability = probability * share[chosen]
        gradient[chosen] = gradient[chosen] - 1
        for i in remaining:
            gradient[i] = gradient[i] + share[i]
            hessian[i][i] = hessian[i][i] + share[i]
            for j in remaining:
                hessian[i][j] = hessian[i][j] - share[i] * share[j]
    return probability, gradient, hessian


def _members(name: str, items: Sequence[int], n_items: int) -> list[int]:
    """At least two distinct item numbers below ``n_items``."""
    members = [whole_number(name, i, 0, n_items - 1) for i in items]
    if len(members) < 2 or len(set(members)) < len(members):
        raise ValueError(f"{name} must name at least 2 different items, got {members}")
    return members


def _table(name: str, table: Matrix, *, square: bool = True) -> Matrix:
    """A two-dimensional array, square where wanted."""
    values = np.asarray(table)
    if values.ndim != 2 or values.shape[0] < 2 or (square and values.shape[0] != values.shape[1]):
        raise ValueError(
            f"{name} must be {'square' if square else 'two-dimensional'} for at least 2 items, got shape {values.shape}"
        )
    return values


def scatter_matrix(features: Matrix, subset: Sequence[int]) -> Matrix:
    """``K sum_{i in S} (x_i - mean)(x_i - mean)'``, equal to the sum over pairs of ``z z'``.

    Parameters
    ----------
    features : (n_items, d) array
        Item features.
    subset : sequence of int
        ``S``.

    Returns
    -------
    (d, d) array

    Examples
    --------
    >>> scatter_matrix(np.array([[Fraction(0)], [Fraction(1)], [Fraction(3)]]), [0, 1, 2])[0, 0]
    Fraction(14, 1)
    """
    features = _table("features", features, square=False)
    rows = features[_members("subset", subset, len(features))]
    centred = rows - rows.sum(axis=0) / len(rows)
    return np.asarray(len(rows) * (centred.T @ centred))


def leverage_from_gram(gram: Matrix, subset: Sequence[int]) -> Any:
    """``K sum_{i in S} G_ii - sum_{i,j in S} G_ij``.

    Parameters
    ----------
    gram : (n_items, n_items) array
        ``X V^{-1} X'``.
    subset : sequence of int
        ``S``.

    Returns
    -------
    number

    Examples
    --------
    >>> leverage_from_gram(np.array([[2, 0], [0, 3]]), [0, 1])
    5
    """
    gram = _table("gram", gram)
    subset = _members("subset", subset, len(gram))
    block = gram[np.ix_(subset, subset)]
    value = len(subset) * np.trace(block) - block.sum()
    return value.item() if isinstance(value, np.generic) else value


def determinant_ratio(gram: Matrix, subset: Sequence[int], step: Any, dim: int) -> Any:
    """``det((1-g) V + g M_S) / det V`` from the ``K x K`` block of the memo.

    Parameters
    ----------
    gram : (n_items, n_items) array
        ``X V^{-1} X'``.
    subset : sequence of int
        ``S``.
    step : number
        ``g < 1``.
    dim : int
        Dimension of ``V``.

    Returns
    -------
    number
        ``(1-g)^d det(I + g/(1-g) K * doubly centred block)``.

    Examples
    --------
    >>> determinant_ratio(np.array([[Fraction(2), 0], [0, Fraction(1)]]), [0, 1], Fraction(1, 2), 1)
    Fraction(2, 1)
    """
    gram = _table("gram", gram)
    subset = _members("subset", subset, len(gram))
    whole_number("dim", dim, 1)
    if not step < 1:
        raise ValueError(f"step must be below 1, got {step!r}")
    centred = len(subset) * _doubly_centred(gram[np.ix_(subset, subset)])
    size = len(subset)
    ratio = step / (1 - step)
    matrix = np.array([[ratio * centred[i, j] + (i == j) for j in range(size)] for i in range(size)], dtype=object)
    return (1 - step) ** dim * _determinant(matrix)


def updated_gram(gram: Matrix, subset: Sequence[int], step: Any) -> Matrix:
    """Memo after a step: ``(G - W C^{-1} W') / (1 - g)``.

    Parameters
    ----------
    gram : (n_items, n_items) array
        ``X V^{-1} X'``.
    subset : sequence of int
        ``S``.
    step : number
        ``0 < g < 1``.

    Returns
    -------
    (n_items, n_items) array
        ``X V'^{-1} X'`` up to a shift of the rows of ``X``.

    Examples
    --------
    >>> updated_gram(np.array([[Fraction(2), 0], [0, Fraction(0)]]), [0, 1], Fraction(1, 2))[0, 0]
    Fraction(4, 3)
    """
    gram = _table("gram", gram)
    subset = _members("subset", subset, len(gram))
    if not 0 < step < 1:
        raise ValueError(f"step must lie between 0 and 1, got {step!r}")
    columns, size = gram[:, subset], len(subset)
    centred = columns - columns.sum(axis=1, keepdims=True) / size  # W / sqrt(K)
    inner = size * _doubly_centred(gram[np.ix_(subset, subset)])
    for i in range(size):
        inner[i, i] = inner[i, i] + (1 - step) / step
    return np.asarray((gram - size * (centred @ solve_exactly(inner, centred.T))) / (1 - step))


def rational_step(leverage: Any, dim: int) -> Any:
    """Exact step for pairs, ``(lambda - d) / (d (lambda - 1))``, zero when ``lambda <= d``.

    Parameters
    ----------
    leverage : number
        ``z' V^{-1} z``.
    dim : int
        ``d``.

    Returns
    -------
    number

    Examples
    --------
    >>> rational_step(Fraction(123, 44), 2)
    Fraction(35, 158)
    """
    whole_number("dim", dim, 1)
    return (leverage - dim) / (dim * (leverage - 1)) if leverage > dim else leverage * 0


def mean_leverage(gram: Matrix, subset_size: int) -> Any:
    """Mean leverage over all ``K``-subsets from the pairs alone.

    Parameters
    ----------
    gram : (n_items, n_items) array
        ``X V^{-1} X'``.
    subset_size : int
        ``K``.

    Returns
    -------
    number
        ``C(K,2)/C(N,2) sum_{i<j} (G_ii + G_jj - 2 G_ij)``.

    Examples
    --------
    >>> mean_leverage(np.array([[Fraction(2), 0], [0, Fraction(3)]]), 2)
    Fraction(5, 1)
    """
    gram = _table("gram", gram)
    n = len(gram)
    whole_number("subset_size", subset_size, 2, n)
    pairs = n * np.trace(gram) - gram.sum()
    return pairs * subset_size * (subset_size - 1) / (n * (n - 1))


def _doubly_centred(block: Matrix) -> Matrix:
    size = len(block)
    rows = block.sum(axis=1, keepdims=True) / size
    return np.asarray(block - rows - rows.T + block.sum() / size**2)


def solve_exactly(matrix: Matrix, right: Matrix) -> Matrix:
    """Solve a linear system by elimination with the largest pivot, in the arithmetic of the entries.

    Parameters
    ----------
    matrix : (n, n) array
        Invertible.
    right : (n, m) array
        Right-hand sides.

    Returns
    -------
    (n, m) array

    Raises
    ------
    ValueError
        If the matrix is singular.

    Examples
    --------
    >>> solve_exactly(np.array([[Fraction(2)]]), np.array([[Fraction(1)]]))[0, 0]
    Fraction(1, 2)
    """
    left, right = np.asarray(matrix), np.asarray(right)
    if left.ndim != 2 or left.shape[0] != left.shape[1] or right.ndim != 2 or len(right) != len(left):
        raise ValueError(f"matrix and right must have shapes (n, n) and (n, m), got {left.shape} and {right.shape}")
    a = np.concatenate([left, right], axis=1).astype(object)
    n = len(matrix)
    for column in range(n):
        pivot = max(range(column, n), key=lambda r: abs(a[r, column]))
        if a[pivot, column] == 0:
            raise ValueError("matrix must be invertible, got a singular one")
        a[[column, pivot]] = a[[pivot, column]]
        a[column] = a[column] / a[column, column]
        for row in range(n):
            if row != column and a[row, column] != 0:
                a[row] = a[row] - a[row, column] * a[column]
    return np.asarray(a[:, n:])


def _determinant(matrix: Matrix) -> Any:
    a = matrix.astype(object).copy()
    n, value = len(a), Fraction(1)
    for column in range(n):
        pivot = max(range(column, n), key=lambda r: abs(a[r, column]))
        if a[pivot, column] == 0:
            return a[pivot, column] * 0
        if pivot != column:
            a[[column, pivot]] = a[[pivot, column]]
            value = -value
        value = value * a[column, column]
        for row in range(column + 1, n):
            a[row] = a[row] - a[row, column] / a[column, column] * a[column]
    return value
