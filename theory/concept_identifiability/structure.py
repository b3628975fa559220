"""The class-concept structure M, its atoms, and what makes a concept distinguishable, as set algebra."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "ClassConceptStructure",
    "all_structures",
    "atoms",
    "difference_isolates",
    "differences_isolate_all",
    "no_row_contains",
    "pair_isolates",
    "row_is_distinct",
    "rows_are_distinct",
    "rows_are_incomparable",
    "structural_sparsity",
]

_SINGULAR = {"concepts": "concept", "classes": "class"}


@dataclass(frozen=True)
class ClassConceptStructure:
    """Which latent concept depends on which class: ``M[i, j] = 1`` iff concept i depends on class j.

    Parameters
    ----------
    rows : array_like of 0 and 1, shape (n_concepts, n_classes)
        One row a concept.  A zero row is a class-independent concept.
    concepts, classes : tuple of str, optional
        Names; numbered from 1 by default.

    Raises
    ------
    ValueError
        If there is no concept or no class, an entry is neither 0 nor 1, rows differ in length, or names repeat.

    Examples
    --------
    >>> M = ClassConceptStructure([[1, 0], [1, 0], [0, 1], [1, 1]])
    >>> M.classes_of(3), M.concepts_of(0)
    (frozenset({0, 1}), frozenset({0, 1, 3}))
    """

    rows: tuple[tuple[int, ...], ...]
    concepts: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        rows = _binary_rows(self.rows)
        object.__setattr__(self, "rows", rows)
        for name, count in (("concepts", len(rows)), ("classes", len(rows[0]))):
            given = getattr(self, name)
            names = tuple(str(v) for v in given) or tuple(f"{_SINGULAR[name]} {k + 1}" for k in range(count))
            if len(names) != count or len(set(names)) != count:
                raise ValueError(f"{name} must be {count} different names, got {list(names)}")
            object.__setattr__(self, name, names)

    @property
    def n_concepts(self) -> int:
        """Number of concepts, class-independent ones included."""
        return len(self.rows)

    @property
    def n_classes(self) -> int:
        """Number of class variables K."""
        return len(self.rows[0])

    @cached_property
    def matrix(self) -> NDArray[np.bool_]:
        """M as a Boolean array (n_concepts, n_classes)."""
        return np.array(self.rows, dtype=bool)

    @property
    def budget(self) -> int:
        """Number of ones, which a sparsest estimated structure does not exceed."""
        return sum(map(sum, self.rows))

    def classes_of(self, concept: int) -> frozenset[int]:
        """``C(i)``: classes that concept i depends on."""
        return frozenset(j for j, entry in enumerate(self.rows[concept]) if entry)

    def concepts_of(self, *classes: int) -> frozenset[int]:
        """``A_J``: concepts that depend on any of the classes."""
        return frozenset(i for i, row in enumerate(self.rows) if any(row[j] for j in classes))


def _binary_rows(rows: Any) -> tuple[tuple[int, ...], ...]:
    """Rows as tuples of the integers 0 and 1."""
    try:
        array = np.asarray(rows)
    except ValueError:
        raise ValueError("rows must all have the same length") from None
    if array.ndim != 2 or array.size == 0:
        raise ValueError(f"rows must be a matrix with at least one concept and one class, got shape {array.shape}")
    if array.dtype.kind not in "biuf":
        raise ValueError(f"rows must hold 0 and 1, got entries of type {array.dtype}")
    if not np.isin(array, (0, 1)).all():
        i, j = (int(k) for k in np.argwhere(~np.isin(array, (0, 1)))[0])
        raise ValueError(f"rows must hold 0 and 1, got {array[i, j]} at concept {i}, class {j}")
    return tuple(tuple(int(entry) for entry in row) for row in array)


def atoms(structure: ClassConceptStructure) -> tuple[tuple[int, ...], ...]:
    """Sets of concepts with the same classes, by first member; class-independent concepts form one of them.

    Examples
    --------
    >>> atoms(ClassConceptStructure([[1, 0], [0, 1], [1, 0]]))
    ((0, 2), (1,))
    """
    found: dict[tuple[int, ...], list[int]] = {}
    for i, row in enumerate(structure.rows):
        found.setdefault(row, []).append(i)
    return tuple(tuple(members) for members in found.values())


def no_row_contains(structure: ClassConceptStructure, concept: int) -> bool:
    """Whether the classes of a concept have no other concept in common: ``intersection of A_j over C(i) = {i}``.

    Examples
    --------
    >>> [no_row_contains(ClassConceptStructure([[1, 0], [1, 1]]), i) for i in (0, 1)]
    [False, True]
    """
    left = set(range(structure.n_concepts))
    for j in structure.classes_of(concept):
        left &= structure.concepts_of(j)
    return left == {concept}


def difference_isolates(structure: ClassConceptStructure, concept: int) -> bool:
    """Whether some class of the concept, less the classes without it, has the concept alone.

    ``A_k`` minus the union of ``A_j`` over j not in ``C(i)`` is ``{i}`` for some k in ``C(i)``.
    """
    own = structure.classes_of(concept)
    others = structure.concepts_of(*(j for j in range(structure.n_classes) if j not in own))
    return any(structure.concepts_of(k) - others == {concept} for k in own)


def row_is_distinct(structure: ClassConceptStructure, concept: int) -> bool:
    """Whether the concept depends on some class and no other concept has the same classes."""
    return any(structure.rows[concept]) and structure.rows.count(structure.rows[concept]) == 1


def pair_isolates(structure: ClassConceptStructure, concept: int) -> tuple[int, int] | None:
    """First pair of classes (j, l) with ``A_j - A_l = {i}``: one pairwise comparison isolates the concept."""
    for j in range(structure.n_classes):
        for other in range(structure.n_classes):
            if structure.concepts_of(j) - structure.concepts_of(other) == {concept}:
                return j, other
    return None


def rows_are_incomparable(structure: ClassConceptStructure) -> bool:
    """P_anti: no row is contained in another, nor zero (which matters for a single concept only)."""
    return all(any(row) and no_row_contains(structure, i) for i, row in enumerate(structure.rows))


def differences_isolate_all(structure: ClassConceptStructure) -> bool:
    """P_diff: set differences of classes isolate every concept."""
    return all(difference_isolates(structure, i) for i in range(structure.n_concepts))


def rows_are_distinct(structure: ClassConceptStructure) -> bool:
    """P_rows: all rows are different and none is zero."""
    return all(row_is_distinct(structure, i) for i in range(structure.n_concepts))


def structural_sparsity(support: Sequence[Sequence[int]], concepts: Iterable[int] | None = None) -> bool:
    """Whether each concept is alone in what some observed coordinates have in common.

    Parameters
    ----------
    support : matrix of 0 and 1, shape (n_observed, n_concepts)
        Which observed coordinate depends on which concept: the support of the Jacobian of the generating map.
    concepts : iterable of int, optional
        Only these.

    Returns
    -------
    bool
        The intersection condition on the transposed support.

    Examples
    --------
    >>> structural_sparsity([[1, 0], [1, 1], [0, 1]]), structural_sparsity([[1, 1], [0, 1]])
    (True, False)
    """
    transposed = ClassConceptStructure(tuple(zip(*_binary_rows(support), strict=True)))
    chosen = range(transposed.n_concepts) if concepts is None else concepts
    return all(no_row_contains(transposed, i) for i in chosen)


def all_structures(n_concepts: int, n_classes: int) -> Iterator[ClassConceptStructure]:
    """Every structure of a size, fewest ones first among the last rows."""
    rows = list(itertools.product((0, 1), repeat=n_classes))
    for chosen in itertools.product(rows, repeat=n_concepts):
        yield ClassConceptStructure(chosen)
