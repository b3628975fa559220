"""Comparing an estimated structure with a given one, and scores of one model with those of another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from whp.theory.concept_identifiability import ClassConceptStructure

__all__ = ["match_structures", "pull_back_scores"]


def match_structures(structure: Any, estimated: Any) -> tuple[int, ...] | None:
    """Permutation that takes one structure to another, when there is one.

    Parameters
    ----------
    structure, estimated : ClassConceptStructure or matrix of 0 and 1, shape (n_concepts, n_classes)
        M and the estimate.

    Returns
    -------
    tuple of int or None
        ``s`` with row ``s(i)`` of the estimate equal to row i, increasing inside atoms; None when there is none.

    Examples
    --------
    >>> match_structures([[1, 0], [1, 1]], [[1, 1], [1, 0]]), match_structures([[1]], [[0]])
    ((1, 0), None)
    """
    one, other = (
        m.rows if isinstance(m, ClassConceptStructure) else ClassConceptStructure(m).rows
        for m in (structure, estimated)
    )
    free: dict[tuple[int, ...], list[int]] = {}
    for number in reversed(range(len(other))):
        free.setdefault(other[number], []).append(number)
    if sorted(one) != sorted(other):
        return None
    return tuple(free[row].pop() for row in one)


def pull_back_scores(jacobian: Sequence[Sequence[Any]], estimated: Sequence[Sequence[Any]]) -> list[list[Any]]:
    """Score differences of the true concepts from those of estimated ones: ``J^T`` times each.

    Parameters
    ----------
    jacobian : matrix, shape (n_estimated, n)
        Derivatives of the estimated concepts by the true ones, at one point.
    estimated : matrix, shape (n_contexts, n_estimated)
        Score differences of the estimated model there; floats or fractions.

    Examples
    --------
    >>> pull_back_scores([[2, 0], [1, 1]], [[1, 3]])
    [[5, 3]]
    """
    columns = list(zip(*jacobian, strict=True))
    return [[sum(a * b for a, b in zip(column, row, strict=True)) for column in columns] for row in estimated]
