"""A few questions that span: sparse starting designs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from whp.theory.plackett_luce_design import Design, DesignProblem
from whp.theory.plackett_luce_design.validation import require

IntArray = NDArray[np.int64]

__all__ = ["spanning_design"]


def _independent_items(problem: DesignProblem) -> list[int]:
    """Affinely independent items, ``rank + 1`` of them, by pivoting on the farthest from the span so far."""
    y = problem.coordinates
    first = int(np.einsum("ij,ij->i", y, y).argmax())
    residual = y - y[first]
    chosen = [first]
    for _ in range(problem.rank):
        squares = np.einsum("ij,ij->i", residual, residual)
        squares[chosen] = -1.0
        new = int(squares.argmax())
        chosen.append(new)
        direction = residual[new] / np.linalg.norm(residual[new])
        for _ in range(2):  # twice, against loss of orthogonality
            residual = residual - np.outer(residual @ direction, direction)
    return chosen


def _chain(problem: DesignProblem) -> IntArray:
    """Overlapping subsets along independent items: ``ceil(rank / (K - 1))`` of them, filled up with far items."""
    items, size = _independent_items(problem), problem.subset_size
    rows = []
    for start in range(0, problem.rank, size - 1):
        group = items[start : start + size]
        if len(group) < size:
            y = problem.coordinates - problem.coordinates[group].mean(axis=0)
            far = [int(i) for i in np.argsort(-np.einsum("ij,ij->i", y, y), kind="stable") if int(i) not in group]
            group = group + far[: size - len(group)]
        rows.append(sorted(group))
    return np.array(rows, dtype=np.int64)


def _greedy_candidates(problem: DesignProblem) -> IntArray:
    """Candidates chosen one by one for the largest gain in log-determinant over a tiny multiple of the identity."""
    candidates = problem.subsets()
    groups = problem.coordinates[candidates]
    groups = np.sqrt(problem.subset_size) * (groups - groups.mean(axis=1, keepdims=True))
    residual, chosen = groups.copy(), []
    spanned = 0
    while spanned < problem.rank:
        best = int(np.einsum("nkr,nkr->n", residual, residual).argmax())
        _, singular, rows = np.linalg.svd(residual[best], full_matrices=False)
        basis = rows[singular > 1e-9 * singular[0]][: problem.rank - spanned]
        for _ in range(2):
            residual = residual - (residual @ basis.T) @ basis
        chosen.append(candidates[best])
        spanned += len(basis)
    return np.array(chosen)


def spanning_design(problem: DesignProblem) -> Design:
    """Uniform design over a small set of questions whose differences span.

    Parameters
    ----------
    problem : DesignProblem
        Items and subset size.

    Returns
    -------
    Design
        Over all subsets: exactly ``max(1, ceil(rank / (K - 1)))`` questions; at most ``rank`` with a candidate list.

    Examples
    --------
    >>> problem = DesignProblem([[0, 0], [1, 0], [0, 1], [1, 1]], subset_size=3)
    >>> len(spanning_design(problem).weights)
    1
    """
    require("problem", problem, DesignProblem)
    rows = _chain(problem) if problem.candidates is None else _greedy_candidates(problem)
    return Design.uniform(np.unique(rows, axis=0))
