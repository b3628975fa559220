"""Which classes to add so that concepts now identified only together come apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whp.theory.concept_identifiability import ClassConceptStructure

__all__ = ["ExtraClass", "choose_classes", "split_atoms"]


@dataclass(frozen=True)
class ExtraClass:
    """A class to add, by the concepts it must and must not have; others are free.

    Attributes
    ----------
    having, lacking : tuple of int
        Concepts.
    """

    having: tuple[int, ...]
    lacking: tuple[int, ...]

    def text(self, structure: ClassConceptStructure) -> str:
        """In words."""
        names = structure.concepts
        with_, without = (", ".join(names[i] for i in chosen) for chosen in (self.having, self.lacking))
        return f"add a class that has {with_} but not {without}"


def split_atoms(atoms: Sequence[Sequence[int]]) -> tuple[ExtraClass, ...]:
    """Return a smallest set of classes that tells all members of every atom from one another.

    Within an atom of m concepts every class separates those that have it from the rest, so that ``ceil(log2(m))``
    classes are needed; numbering the members in binary shows that they suffice, for all atoms at once.

    Parameters
    ----------
    atoms : sequence of sequence of int
        Disjoint sets of concepts with equal rows.

    Returns
    -------
    tuple of ExtraClass
        Empty when every atom has one member.

    Examples
    --------
    >>> len(split_atoms([(0, 1, 2), (3,), (4, 5)]))
    2
    """
    needed = max(((len(atom) - 1).bit_length() for atom in atoms), default=0)
    chosen = []
    for bit in range(needed):
        split = [(concept, number >> bit & 1) for atom in atoms if len(atom) > 1 for number, concept in enumerate(atom)]
        chosen.append(ExtraClass(tuple(c for c, has in split if has), tuple(c for c, has in split if not has)))
    return tuple(chosen)


def choose_classes(structure: ClassConceptStructure | Any, candidates: Any) -> tuple[int, ...] | None:
    """Choose among classes that can be collected, greedily, until all concepts have distinct, non-zero rows.

    Parameters
    ----------
    structure : ClassConceptStructure or matrix of 0 and 1, shape (n_concepts, n_classes)
        What there is.
    candidates : matrix of 0 and 1, shape (n_concepts, n_candidates)
        One column a class that could be added.

    Returns
    -------
    tuple of int or None
        Candidates in the order of their choice, each splitting the most pairs still equal, the first among equals;
        no set found this way is larger than ``1 + ln(number of pairs)`` times the smallest.  None when even all
        candidates together leave two rows equal or a row zero.

    Examples
    --------
    >>> choose_classes([[1], [1], [1]], [[1, 1, 0], [0, 1, 1], [0, 0, 0]])
    (0, 1)
    """
    M = structure if isinstance(structure, ClassConceptStructure) else ClassConceptStructure(structure)
    columns = ClassConceptStructure(candidates).matrix
    if columns.shape[0] != M.n_concepts:
        raise ValueError(f"candidates must have {M.n_concepts} rows, one a concept, got {columns.shape[0]}")
    with_zero = np.vstack([M.matrix, np.zeros(M.n_classes, dtype=bool)])  # a zero row must come apart from this one
    columns = np.vstack([columns, np.zeros(columns.shape[1], dtype=bool)])
    labels = np.unique(with_zero, axis=0, return_inverse=True)[1].ravel()
    chosen: list[int] = []
    while len(np.unique(labels)) < labels.size:
        gains = _pairs_split(labels, columns)
        best = int(np.argmax(gains))
        if gains[best] == 0:
            return None
        chosen.append(best)
        labels = np.unique(labels * 2 + columns[:, best], return_inverse=True)[1].ravel()
    return tuple(chosen)


def _pairs_split(labels: NDArray[np.int64], columns: NDArray[np.bool_]) -> NDArray[np.int64]:
    """For each column how many pairs of equal label it separates."""
    groups = np.eye(int(labels.max()) + 1, dtype=np.int64)[labels]  # (n, n_groups)
    having = groups.T @ columns.astype(np.int64)
    return np.asarray((having * (groups.sum(axis=0)[:, None] - having)).sum(axis=0))
