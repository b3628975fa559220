"""Unmixing from exact class covariances, in fractions."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from whp.theory.concept_identifiability import Matrix, determinant, inverse, product, transpose

__all__ = ["ExactUnmixing", "exact_unmixing"]


@dataclass(frozen=True)
class ExactUnmixing:
    """Unmixing rows with their variances, exactly.

    Attributes
    ----------
    unmixing : tuple of tuple of Fraction
        One row a source; ``unmixing @ x`` has independent sources in every class, up to sign, scale and order.
    variance_ratios : tuple of tuple of Fraction
        Variance of each source in each class over that in the first class.
    blocks : tuple of tuple of int
        Sources with equal ratios: their rows span the block, its members are not told apart.
    """

    unmixing: Matrix
    variance_ratios: Matrix
    blocks: tuple[tuple[int, ...], ...]

    @property
    def identified(self) -> tuple[int, ...]:
        """Sources identified up to sign and scale."""
        return tuple(block[0] for block in self.blocks if len(block) == 1)


def exact_unmixing(covariances: Sequence[Sequence[Sequence[Fraction]]]) -> ExactUnmixing:
    """Recover the unmixing of ``x = A z`` from class covariances ``A diag(v(c)) A^T``.

    Generalised eigenvectors of a combination of the covariances against the first: equal eigenvalues are told apart by
    the next covariance, so that only sources proportional over all classes stay together.

    Parameters
    ----------
    covariances : sequence of symmetric matrices of int or Fraction
        One a class, all jointly diagonalisable; the first positive definite.

    Returns
    -------
    ExactUnmixing
        Rows ordered by their variance ratios.

    Raises
    ------
    ValueError
        If a covariance is not square and symmetric, the first is singular, ratios are irrational, or the matrices are
        not jointly diagonalisable.

    Examples
    --------
    >>> found = exact_unmixing([[[5, 3], [3, 2]], [[25, 17], [17, 13]]])
    >>> [str(row[1]) for row in found.variance_ratios], found.identified
    (['4', '9'], (0, 1))
    """
    matrices = [tuple(tuple(Fraction(v) for v in row) for row in matrix) for matrix in covariances]
    _require_symmetric(matrices)
    n = len(matrices[0])
    if determinant(matrices[0]) == 0:
        raise ValueError("the first covariance must be invertible, got determinant 0")
    whitened = [product(inverse(matrices[0]), matrix) for matrix in matrices[1:]]  # A^-T diag(v(c)/v(1)) A^T
    spaces: list[tuple[tuple[Fraction, ...], list[tuple[Fraction, ...]]]] = [
        ((Fraction(1),), list(transpose(tuple(tuple(Fraction(i == k) for k in range(n)) for i in range(n)))))
    ]
    for operator in whitened:
        spaces = [
            ((*ratios, value), vectors) for ratios, basis in spaces for value, vectors in _eigenspaces(operator, basis)
        ]
    spaces.sort(key=lambda space: space[0])
    rows = tuple(tuple(vector) for _, basis in spaces for vector in basis)
    ratios = tuple(key for key, basis in spaces for _ in basis)
    ends = list(itertools.accumulate((len(basis) for _, basis in spaces), initial=0))
    return ExactUnmixing(rows, ratios, tuple(tuple(range(a, b)) for a, b in itertools.pairwise(ends)))


def _require_symmetric(matrices: Sequence[Matrix]) -> None:
    if not matrices:
        raise ValueError("covariances must be at least one, got none")
    n = len(matrices[0])
    for number, matrix in enumerate(matrices):
        if n == 0 or len(matrix) != n or any(len(row) != n for row in matrix) or matrix != transpose(matrix):
            raise ValueError(f"covariance {number} must be a symmetric {n} x {n} matrix")


def _eigenspaces(
    operator: Matrix, basis: list[tuple[Fraction, ...]]
) -> Iterator[tuple[Fraction, list[tuple[Fraction, ...]]]]:
    """Eigenvalues of an operator on an invariant subspace, with a basis of each eigenspace."""
    columns = transpose(basis)
    restricted = _coordinates(columns, transpose([_apply(operator, vector) for vector in basis]))
    found = 0
    for value in _rational_eigenvalues(restricted):
        shifted = [[v - value * (i == k) for k, v in enumerate(row)] for i, row in enumerate(restricted)]
        kernel = _null_space(shifted)
        found += len(kernel)
        yield (
            value,
            [
                tuple(
                    sum((c * b[i] for c, b in zip(vector, basis, strict=True)), Fraction(0))
                    for i in range(len(columns))
                )
                for vector in kernel
            ],
        )
    if found < len(basis):
        raise ValueError(
            "covariances must be jointly diagonalisable with rational variance ratios, "
            f"found {found} of {len(basis)} rational eigenvectors"
        )


def _apply(matrix: Matrix, vector: Sequence[Fraction]) -> tuple[Fraction, ...]:
    return tuple(sum((a * b for a, b in zip(row, vector, strict=True)), Fraction(0)) for row in matrix)


def _coordinates(columns: Matrix, images: Matrix) -> Matrix:
    """Coordinates of the images in the basis; refuses images outside its span."""
    across = transpose(columns)
    solved = product(inverse(product(across, columns)), product(across, images))
    if product(columns, solved) != tuple(tuple(row) for row in images):
        raise ValueError("covariances must be jointly diagonalisable, got a pair that is not")
    return solved


def _rational_eigenvalues(matrix: Matrix) -> list[Fraction]:
    """Rational roots of the characteristic polynomial, each once."""
    import flint

    entries = [[flint.fmpq(v.numerator, v.denominator) for v in row] for row in matrix]
    factors = flint.fmpq_mat(entries).charpoly().numer().factor()[1]
    linear = [factor for factor, _ in factors if factor.degree() == 1]
    return sorted(Fraction(-int(factor[0]), int(factor[1])) for factor in linear)


def _null_space(matrix: Sequence[Sequence[Fraction]]) -> list[tuple[Fraction, ...]]:
    """Basis of the kernel of a square matrix."""
    work = [list(row) for row in matrix]
    pivots: list[int] = []
    n = len(work)
    for column in range(n):
        top = len(pivots)
        found = next((r for r in range(top, n) if work[r][column] != 0), None)
        if found is None:
            continue
        work[top], work[found] = work[found], work[top]
        work[top] = [v / work[top][column] for v in work[top]]
        for r in range(n):
            if r != top and work[r][column] != 0:
                work[r] = [v - work[r][column] * w for v, w in zip(work[r], work[top], strict=True)]
        pivots.append(column)
    basis = []
    for free in (c for c in range(n) if c not in pivots):
        vector = [Fraction(0)] * n
        vector[free] = Fraction(1)
        for row, pivot in enumerate(pivots):
            vector[pivot] = -work[row][free]
        basis.append(tuple(vector))
    return basis
