"""A structure seen through an invertible matrix between concepts: which estimated concepts each class touches."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from whp.theory.concept_identifiability.linear_gaussian import Matrix, determinant, inverse, transpose
from whp.theory.concept_identifiability.structure import ClassConceptStructure

__all__ = ["TransformedStructure", "allowed_permutations", "respects_preorder", "touched"]


@dataclass(frozen=True)
class TransformedStructure:
    """A structure and a matrix ``T`` that takes score vectors of concepts to those of estimated concepts.

    Parameters
    ----------
    structure : ClassConceptStructure
        M.
    transform : tuple of tuple of int
        ``T = J^-T``, square, one row an estimated concept.

    Raises
    ------
    ValueError
        If T is not square of the size of the structure.
    """

    structure: ClassConceptStructure
    transform: tuple[tuple[int, ...], ...]

    def __post_init__(self) -> None:
        n = self.structure.n_concepts
        if len(self.transform) != n or any(len(row) != n for row in self.transform):
            raise ValueError(f"transform must be a {n} x {n} matrix")

    @property
    def invertible(self) -> bool:
        """Whether T has an inverse."""
        return determinant(self.exact) != 0

    @property
    def exact(self) -> Matrix:
        """T in fractions."""
        return tuple(tuple(Fraction(v) for v in row) for row in self.transform)

    @property
    def jacobian(self) -> Matrix:
        """``J = T^-T``."""
        return transpose(inverse(self.exact))


def touched(case: TransformedStructure) -> tuple[tuple[int, ...], ...]:
    """Estimated structure: entry (i, j) is 1 iff row i of T meets ``A_j``.

    Examples
    --------
    >>> touched(TransformedStructure(ClassConceptStructure([[1, 0], [0, 1]]), ((1, 0), (1, 1))))
    ((1, 0), (1, 1))
    """
    classes = [case.structure.concepts_of(j) for j in range(case.structure.n_classes)]
    return tuple(tuple(int(any(row[k] for k in own)) for own in classes) for row in case.transform)


def respects_preorder(case: TransformedStructure, permutation: tuple[int, ...]) -> bool:
    """Whether ``T[s(i), k] != 0`` implies that ``C(i)`` contains ``C(k)``."""
    rows = [case.structure.classes_of(i) for i in range(case.structure.n_concepts)]
    return all(
        case.transform[permutation[i]][k] == 0 or rows[k] <= rows[i]
        for i, k in itertools.product(range(len(rows)), repeat=2)
    )


def allowed_permutations(case: TransformedStructure) -> Iterator[tuple[int, ...]]:
    """Permutations s with ``A^_j = s(A_j)`` for every class."""
    estimated = touched(case)
    for permutation in itertools.permutations(range(len(estimated))):
        if all(estimated[permutation[i]] == row for i, row in enumerate(case.structure.rows)):
            yield permutation
