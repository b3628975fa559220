"""Linear Gaussian models over the rationals: concepts with class-dependent scales, and all laws compared exactly."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from whp.theory.concept_identifiability.structure import ClassConceptStructure

__all__ = [
    "LinearGaussianModel",
    "Matrix",
    "candidate_maps",
    "covariances",
    "determinant",
    "estimated_structure",
    "identity_matrix",
    "inverse",
    "matches_all_laws",
    "product",
    "proportional_partners",
    "rank",
    "scales_respect_structure",
    "spans_every_class",
    "transpose",
]

Matrix: TypeAlias = tuple[tuple[Fraction, ...], ...]

# cosine and sine of five rational angles; the last exchanges the two axes
_ROTATIONS = tuple(
    (Fraction(a), Fraction(b))
    for a, b in (("3/5", "4/5"), ("4/5", "3/5"), ("5/13", "12/13"), ("-3/5", "4/5"), ("0", "1"))
)
_SHEARS = (Fraction(1), Fraction(-1), Fraction(1, 2))


@dataclass(frozen=True)
class LinearGaussianModel:
    """Independent zero-mean Gaussian concepts whose scales depend on class values.

    Parameters
    ----------
    structure : ClassConceptStructure
        Claimed dependence of the concepts on the class variables.
    contexts : tuple of tuple of int
        Observed values of the K class variables, one tuple a context.
    scales : tuple of tuple of Fraction
        Standard deviation of each concept in each context, shape (n_contexts, n_concepts), positive.

    Raises
    ------
    ValueError
        If the shapes disagree, a context repeats, or a scale is not positive.

    Examples
    --------
    >>> M = ClassConceptStructure([[1]])
    >>> LinearGaussianModel(M, ((0,), (1,)), ((1,), (2,))).variances[1]
    (Fraction(4, 1),)
    """

    structure: ClassConceptStructure
    contexts: tuple[tuple[int, ...], ...]
    scales: tuple[tuple[Fraction, ...], ...]

    def __post_init__(self) -> None:
        scales = tuple(tuple(Fraction(s) for s in row) for row in self.scales)
        object.__setattr__(self, "scales", scales)
        n, k = self.structure.n_concepts, self.structure.n_classes
        if not self.contexts or len(set(self.contexts)) != len(self.contexts):
            raise ValueError(f"contexts must be different and at least one, got {self.contexts}")
        if any(len(c) != k for c in self.contexts):
            raise ValueError(f"each context must give {k} class values, got {self.contexts}")
        if len(scales) != len(self.contexts) or any(len(row) != n for row in scales):
            raise ValueError(f"scales must have shape ({len(self.contexts)}, {n})")
        if min(min(row) for row in scales) <= 0:
            raise ValueError(f"scales must be positive, got {min(min(row) for row in scales)}")

    @property
    def variances(self) -> tuple[tuple[Fraction, ...], ...]:
        """Variance of each concept in each context."""
        return tuple(tuple(s * s for s in row) for row in self.scales)

    def neighbours(self, class_index: int) -> Iterator[tuple[int, int]]:
        """Pairs of contexts that differ in one class variable only."""
        for (a, first), (b, second) in itertools.combinations(enumerate(self.contexts), 2):
            if [j for j, (u, v) in enumerate(zip(first, second, strict=True)) if u != v] == [class_index]:
                yield a, b


# Linear algebra in fractions


def product(left: Sequence[Sequence[Fraction]], right: Sequence[Sequence[Fraction]]) -> Matrix:
    """Matrix product."""
    columns = list(zip(*right, strict=True))
    return tuple(tuple(sum((a * b for a, b in zip(row, c, strict=True)), Fraction(0)) for c in columns) for row in left)


def transpose(matrix: Sequence[Sequence[Fraction]]) -> Matrix:
    """Rows and columns exchanged."""
    return tuple(zip(*matrix, strict=True))


def identity_matrix(n: int) -> Matrix:
    """Ones on the diagonal."""
    return tuple(tuple(Fraction(i == k) for k in range(n)) for i in range(n))


def _reduced(matrix: Sequence[Sequence[Fraction]], columns: int) -> tuple[list[list[Fraction]], list[int], Fraction]:
    """Reduced row echelon form over the first columns, its pivots, and the product of the pivots with sign."""
    work = [[Fraction(v) for v in row] for row in matrix]
    pivots: list[int] = []
    scale = Fraction(1)
    for column in range(columns):
        top = len(pivots)
        found = next((r for r in range(top, len(work)) if work[r][column] != 0), None)
        if found is None:
            continue
        if found != top:
            work[top], work[found], scale = work[found], work[top], -scale
        pivot = work[top][column]
        scale *= pivot
        work[top] = [v / pivot for v in work[top]]
        for r, row in enumerate(work):
            if r != top and row[column] != 0:
                factor = row[column]
                work[r] = [v - factor * w for v, w in zip(row, work[top], strict=True)]
        pivots.append(column)
    return work, pivots, scale


def rank(matrix: Sequence[Sequence[Fraction]]) -> int:
    """Exact rank.

    Examples
    --------
    >>> rank([[1, 2], [2, 4]])
    1
    """
    return len(_reduced(matrix, len(matrix[0]))[1]) if matrix and matrix[0] else 0


def determinant(matrix: Sequence[Sequence[Fraction]]) -> Fraction:
    """Exact determinant."""
    _, pivots, scale = _reduced(matrix, len(matrix))
    return scale if len(pivots) == len(matrix) else Fraction(0)


def inverse(matrix: Sequence[Sequence[Fraction]]) -> Matrix:
    """Exact inverse.

    Raises
    ------
    ValueError
        If the matrix is singular.
    """
    n = len(matrix)
    work, pivots, _ = _reduced([[*row, *unit] for row, unit in zip(matrix, identity_matrix(n), strict=True)], n)
    if len(pivots) < n:
        raise ValueError(f"matrix must be invertible, got rank {len(pivots)} of {n}")
    return tuple(tuple(row[n:]) for row in work)


# Laws


def covariances(model: LinearGaussianModel, mixing: Sequence[Sequence[Fraction]]) -> tuple[Matrix, ...]:
    """Covariance of ``mixing @ z`` in every context."""
    across = transpose(mixing)
    return tuple(
        product([[a * v for a, v in zip(row, variances, strict=True)] for row in mixing], across)
        for variances in model.variances
    )


def matches_all_laws(model: LinearGaussianModel, transform: Sequence[Sequence[Fraction]]) -> bool:
    """Whether ``transform @ z`` has independent coordinates in every context: it is then an equivalent model."""
    return all(
        sum((a * b * v for a, b, v in zip(one, other, variances, strict=True)), Fraction(0)) == 0
        for one, other in itertools.combinations(transform, 2)
        for variances in model.variances
    )


def estimated_structure(
    model: LinearGaussianModel, transform: Sequence[Sequence[Fraction]] | None = None
) -> tuple[tuple[int, ...], ...]:
    """Which coordinate of ``transform @ z`` changes its variance with which class variable alone."""
    rows = identity_matrix(model.structure.n_concepts) if transform is None else transform
    moved = [
        [sum((a * a * v for a, v in zip(row, variances, strict=True)), Fraction(0)) for variances in model.variances]
        for row in rows
    ]
    return tuple(
        tuple(int(any(row[a] != row[b] for a, b in model.neighbours(j))) for j in range(model.structure.n_classes))
        for row in moved
    )


def scales_respect_structure(model: LinearGaussianModel) -> bool:
    """Whether each concept's scale depends on exactly the class variables that its row names."""
    for i in range(model.structure.n_concepts):
        own = sorted(model.structure.classes_of(i))
        seen: dict[tuple[int, ...], Fraction] = {}
        for context, row in zip(model.contexts, model.scales, strict=True):
            if seen.setdefault(tuple(context[j] for j in own), row[i]) != row[i]:
                return False
    return estimated_structure(model) == model.structure.rows


def spans_every_class(model: LinearGaussianModel) -> bool:
    """(span): differences of precisions along each class variable span the concepts of that class.

    The score difference of two contexts is ``z_i`` times the difference of precisions, so that its span at almost
    every z has the rank of the differences themselves.
    """
    for j in range(model.structure.n_classes):
        own = sorted(model.structure.concepts_of(j))
        differences = [
            [1 / model.variances[a][i] - 1 / model.variances[b][i] for i in own] for a, b in model.neighbours(j)
        ]
        if own and rank(differences) < len(own):
            return False
    return True


def proportional_partners(model: LinearGaussianModel, concept: int) -> tuple[int, ...]:
    """Other concepts whose variances are a constant multiple of this one's over all contexts."""
    own = [row[concept] for row in model.variances]
    return tuple(
        k
        for k in range(model.structure.n_concepts)
        if k != concept
        and all(row[k] * own[0] == model.variances[0][k] * v for row, v in zip(model.variances, own, strict=True))
    )


def candidate_maps(model: LinearGaussianModel) -> Iterator[Matrix]:
    """A finite family of maps, whether or not they match the laws.

    The identity, five rotations of each pair of concepts standardised in the first context, and shears of each ordered
    pair.  Signed permutations and scalings, which never change whether a map is an equivalent model, are left out.
    """
    n, scales = model.structure.n_concepts, model.scales[0]
    yield identity_matrix(n)
    for i, k in itertools.combinations(range(n), 2):
        for cosine, sine in _ROTATIONS:
            rows = [list(row) for row in identity_matrix(n)]
            rows[i][i] = rows[k][k] = cosine
            rows[i][k], rows[k][i] = -sine * scales[i] / scales[k], sine * scales[k] / scales[i]
            yield tuple(map(tuple, rows))
    for i, k in itertools.permutations(range(n), 2):
        for shear in _SHEARS:
            rows = [list(row) for row in identity_matrix(n)]
            rows[i][k] = shear
            yield tuple(map(tuple, rows))
