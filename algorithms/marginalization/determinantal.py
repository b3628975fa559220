"""Queries on determinantal functions ``f(x) = det(L_S)`` by determinants (T4)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from whp.algorithms.marginalization.oracle import Oracle
from whp.algorithms.marginalization.reductions import hm_from_vm_on_stars
from whp.theory.marginalization import DPPKernel, Pattern, Query, Scalar, Weights

if TYPE_CHECKING:
    from flint import fmpq_mat

__all__ = ["DPPOracle", "exact_determinant"]

WELL_CONDITIONED = 1e10


def _flint_matrix(rows: Sequence[Sequence[Scalar]]) -> fmpq_mat:
    from flint import fmpq, fmpq_mat

    exact = [[Fraction(entry) for entry in row] for row in rows]
    return fmpq_mat(len(rows), len(rows), [fmpq(a.numerator, a.denominator) for row in exact for a in row])


def _from_flint(value: object) -> Scalar:
    fraction = Fraction(int(value.p), int(value.q))  # type: ignore[attr-defined]
    return fraction.numerator if fraction.denominator == 1 else fraction


def exact_determinant(rows: Sequence[Sequence[Scalar]]) -> Scalar:
    """Determinant over the rationals; floats count as the dyadic rationals they are, and the empty matrix gives 1.

    Examples
    --------
    >>> exact_determinant([[Fraction(1, 2), 1], [1, 4]])
    1
    """
    return _from_flint(_flint_matrix(rows).det()) if rows else 1


def _principal_minor_sums(rows: Sequence[Sequence[Scalar]]) -> list[Scalar]:
    """``e_k``, the sum of the ``k``-rowed principal minors, from the characteristic polynomial."""
    if not rows:
        return [1]
    coefficients = [_from_flint(c) for c in _flint_matrix(rows).charpoly().coeffs()]  # lowest power first
    return [(-1) ** k * value for k, value in enumerate(reversed(coefficients))]


class DPPOracle(Oracle):
    """All five queries on ``f(x) = det(L_S)`` for any square kernel.

    ``N(w, w̄) = det(diag(w̄) + diag(w) L)``; ``PM`` is the same determinant on the rows left by the evidence; ``HM``
    sums principal minors of a Schur complement. Exact kernels with exact weights give exact answers. Float kernels are
    computed in float64, with a fallback to exact arithmetic where the evidence block is close to singular.

    Parameters
    ----------
    kernel : DPPKernel

    Examples
    --------
    >>> oracle = DPPOracle(DPPKernel.of([[2, 1, 0], [1, 2, 1], [0, 1, 3]]))
    >>> oracle.count(), oracle.hamming_marginals("***"), oracle.marginal("*1*")
    (29, (1, 7, 14, 7), 17)
    """

    answers = frozenset(Query)

    def __init__(self, kernel: DPPKernel) -> None:
        if not isinstance(kernel, DPPKernel):
            raise TypeError(f"kernel must be a DPPKernel (see DPPKernel.of), got {type(kernel).__name__}")
        super().__init__(kernel.n)
        self.kernel = kernel
        self._exact = kernel.is_exact
        self._floats = (
            np.array(kernel.matrix, dtype=np.float64).reshape(kernel.n, kernel.n) if not self._exact else None
        )

    @property
    def is_nonnegative(self) -> bool | None:
        """Whether a symmetric kernel is positive semidefinite (up to rounding for floats); None if not symmetric."""
        rows = self.kernel.matrix
        if any(rows[i][j] != rows[j][i] for i in range(self.n) for j in range(i)):
            return None
        if self._floats is None:
            return all(value >= 0 for value in _principal_minor_sums(rows))
        eigenvalues = np.linalg.eigvalsh(self._floats) if self.n else np.zeros(1)
        return bool(eigenvalues[0] >= -self.n * np.finfo(float).eps * abs(eigenvalues).max())

    def log_virtual_evidence(self, weights: Weights) -> tuple[int, float]:
        """Sign and logarithm of ``|N(w, w̄)|`` in float64, for kernels whose determinant leaves the range of floats.

        Examples
        --------
        >>> oracle = DPPOracle(DPPKernel.of([[1e200, 0], [0, 1e200]]))
        >>> sign, log = oracle.log_virtual_evidence(Weights.of([1, 1], [0, 0]))
        >>> sign, round(log / math.log(10))
        (1, 400)
        """
        if weights.n != self.n:
            raise ValueError(f"weights must have one pair per variable, n={self.n}, got {weights.n}")
        self._register(Query.VM)
        sign, log = np.linalg.slogdet(self._weighted(weights))
        return int(sign), float(log)

    def _evaluate(self, x: tuple[int, ...]) -> Scalar:
        return self._marginal(Pattern.of(x))

    def _count(self) -> Scalar:
        return self._marginal(Pattern.free(self.n))

    def _marginal(self, q: Pattern) -> Scalar:
        kept = [i for i, letter in enumerate(q.letters) if letter != "0"]
        if self._floats is not None:
            block = self._floats[np.ix_(kept, kept)] + np.diag([float(q.letters[i] == "*") for i in kept])
            return _float_determinant(block)
        rows = [[self.kernel.matrix[i][j] + (i == j and q.letters[i] == "*") for j in kept] for i in kept]
        return exact_determinant(rows)

    def _virtual_evidence(self, weights: Weights) -> Scalar:
        if not (self._exact and weights.is_exact):
            return _float_determinant(self._weighted(weights))
        rows = [
            [w * entry + (w_bar if i == j else 0) for j, entry in enumerate(row)]
            for i, (row, (w, w_bar)) in enumerate(zip(self.kernel.matrix, weights.pairs, strict=True))
        ]
        return exact_determinant(rows)

    def _weighted(self, weights: Weights) -> NDArray[np.float64]:
        """``diag(w̄) + diag(w) L`` in floats."""
        matrix = np.array(self.kernel.matrix, dtype=np.float64).reshape(self.n, self.n)
        w, w_bar = np.array(weights.pairs, dtype=np.float64).reshape(self.n, 2).T
        weighted: NDArray[np.float64] = np.diag(w_bar) + w[:, np.newaxis] * matrix
        return weighted

    def _hamming_marginals(self, q: Pattern) -> tuple[Scalar, ...]:
        ones, stars = list(q.ones), list(q.stars)
        sums = self._float_minor_sums(ones, stars) if self._floats is not None else None
        if sums is None:
            sums = self._exact_minor_sums(ones, stars, q)
            if not self._exact:
                sums = [float(value) for value in sums]
        return tuple([0] * len(ones) + sums + [0] * (self.n - len(ones) - len(stars)))

    def _float_minor_sums(self, ones: list[int], stars: list[int]) -> list[Scalar] | None:
        """``Σ_{R ⊆ stars, |R|=k} det(L_{ones ∪ R})``, or None where the evidence block is close to singular."""
        assert self._floats is not None
        schur, scale = self._floats[np.ix_(stars, stars)], 1.0
        if ones:
            block = self._floats[np.ix_(ones, ones)]
            if not np.linalg.cond(block) < WELL_CONDITIONED:
                return None
            across = np.linalg.solve(block, self._floats[np.ix_(ones, stars)])
            schur = schur - self._floats[np.ix_(stars, ones)] @ across
            scale = _float_determinant(block)
        symmetric = np.array_equal(schur, schur.T)
        eigenvalues = np.linalg.eigvalsh(schur) if symmetric else np.linalg.eigvals(schur)
        sums = np.zeros(len(stars) + 1, dtype=eigenvalues.dtype)
        sums[0] = 1
        with np.errstate(over="ignore", invalid="ignore"):
            for value in eigenvalues:  # elementary symmetric functions
                sums[1:] = sums[1:] + value * sums[:-1]
            result = scale * np.real(sums)
        if not np.all(np.isfinite(result)):
            raise OverflowError("a Hamming marginal exceeds the range of floats; give the kernel exactly")
        return [float(value) for value in result]

    def _exact_minor_sums(self, ones: list[int], stars: list[int], q: Pattern) -> list[Scalar]:
        rows = self.kernel.matrix
        block = [[rows[i][j] for j in ones] for i in ones]
        scale = exact_determinant(block)
        if scale == 0:  # no Schur complement: read the polynomial in t off its values
            exact = DPPOracle(DPPKernel.of([[Fraction(entry) for entry in row] for row in rows]))
            return list(hm_from_vm_on_stars(exact, q))[len(ones) : len(ones) + len(stars) + 1]
        schur = _flint_matrix([[rows[i][j] for j in stars] for i in stars]) if stars else None
        if schur is not None and ones:
            schur = schur - _block(rows, stars, ones) * _block(rows, ones, ones).inv() * _block(rows, ones, stars)
        if schur is None:
            return [scale]
        size = len(stars)
        complement = [[_from_flint(schur[i, j]) for j in range(size)] for i in range(size)]
        return [scale * value for value in _principal_minor_sums(complement)]


def _block(rows: Sequence[Sequence[Scalar]], first: Sequence[int], second: Sequence[int]) -> fmpq_mat:
    from flint import fmpq, fmpq_mat

    entries = [Fraction(rows[i][j]) for i in first for j in second]
    return fmpq_mat(len(first), len(second), [fmpq(a.numerator, a.denominator) for a in entries])


def _float_determinant(matrix: NDArray[np.float64]) -> float:
    sign, log = np.linalg.slogdet(matrix)
    if sign == 0:
        return 0.0
    if log > math.log(np.finfo(float).max):
        raise OverflowError(
            f"the determinant is about 10^{log / math.log(10):.0f}, beyond floats;"
            " use log_virtual_evidence or give the kernel exactly"
        )
    return float(sign) * math.exp(log) if abs(log) > 600 else float(np.linalg.det(matrix))
