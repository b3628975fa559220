"""Determinantal point processes as circuits and as real-RAM programs.

For an ``n x n`` matrix ``L`` and ``f(x) = det L[S(x)]`` the network polynomial is ``N(w, wbar) = det(diag(wbar) +
diag(w) L)``. The algorithm of Samuelson and Berkowitz computes it without divisions in ``O(n**4)`` gates; Gaussian
elimination computes it in ``O(n**3)`` operations with divisions and pivot tests.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from whp.algorithms.marginalization.circuits import ArithmeticCircuit, CircuitBuilder, as_fraction, network_inputs
from whp.algorithms.marginalization.folding_arithmetic import Entry, FoldingArithmetic
from whp.theory.marginalization import DPPKernel

__all__ = ["dpp_circuit", "gaussian_elimination_program", "samuelson_berkowitz"]

Matrix = list[list[Fraction]]


def _exact_square(kernel: ArrayLike | DPPKernel) -> Matrix:
    raw = np.asarray(kernel.matrix if isinstance(kernel, DPPKernel) else kernel, dtype=object)
    if raw.size == 0 and raw.ndim == 1:
        return []
    if raw.ndim != 2 or raw.shape[0] != raw.shape[1]:
        raise ValueError(f"L must be a square matrix, got shape {raw.shape}")
    return [[as_fraction(raw[i, j], f"L[{i}, {j}]") for j in range(raw.shape[1])] for i in range(raw.shape[0])]


def samuelson_berkowitz(arithmetic: FoldingArithmetic, matrix: Sequence[Sequence[Entry]]) -> Entry:
    """Determinant of a matrix of circuit entries, without divisions.

    Builds the characteristic polynomials of the leading principal submatrices one from the other: each is a
    lower-triangular Toeplitz matrix times the one before.

    Parameters
    ----------
    arithmetic : FoldingArithmetic
        Receives the gates.
    matrix : sequence of rows
        Entries are nodes or rationals.

    Returns
    -------
    int or Fraction
        The entry of the determinant; 1 for the empty matrix.
    """
    n = len(matrix)
    polynomial: list[Entry] = [Fraction(1)]  # coefficients of det(t I - A_k), highest first
    for k in range(n):
        band = _toeplitz_band(arithmetic, matrix, k)
        polynomial = [
            arithmetic.total([arithmetic.multiply(band[i - j], polynomial[j]) for j in range(min(i, k) + 1)])
            for i in range(k + 2)
        ]
    constant = polynomial[-1]
    return constant if n % 2 == 0 else arithmetic.subtract(Fraction(0), constant)


def _toeplitz_band(arithmetic: FoldingArithmetic, matrix: Sequence[Sequence[Entry]], k: int) -> list[Entry]:
    """``1, -a, -R S, ..., -R M**(k-1) S`` for the leading block ``M``, row ``R``, column ``S`` and corner ``a``."""
    zero = Fraction(0)
    band: list[Entry] = [Fraction(1), arithmetic.subtract(zero, matrix[k][k])]
    column: list[Entry] = [matrix[i][k] for i in range(k)]
    for power in range(k):
        inner = arithmetic.total([arithmetic.multiply(matrix[k][j], column[j]) for j in range(k)])
        band.append(arithmetic.subtract(zero, inner))
        if power < k - 1:
            column = [
                arithmetic.total([arithmetic.multiply(matrix[i][j], column[j]) for j in range(k)]) for i in range(k)
            ]
    return band


def dpp_circuit(kernel: ArrayLike | DPPKernel) -> ArithmeticCircuit:
    """Division-free circuit for ``N(w, wbar) = det(diag(wbar) + diag(w) L)``.

    Parameters
    ----------
    kernel : array_like, shape (n, n), or DPPKernel
        The matrix ``L``; integers, fractions or floats (taken as exact). Neither symmetry nor positivity is needed.

    Returns
    -------
    ArithmeticCircuit
        Inputs ``w_0..w_{n-1}, wbar_0..wbar_{n-1}``; ``O(n**4)`` gates.

    Raises
    ------
    ValueError
        If the matrix is not square or not finite.

    Examples
    --------
    >>> from whp.algorithms.marginalization.circuit_evaluation import evaluate_exact
    >>> evaluate_exact(dpp_circuit([[2, 1, 0], [1, 2, 1], [0, 1, 3]]), [1] * 6)
    Fraction(29, 1)
    """
    exact = _exact_square(kernel)
    n = len(exact)
    builder = CircuitBuilder(*network_inputs(n))
    arithmetic = FoldingArithmetic(builder)
    matrix: list[list[Entry]] = []
    for i in range(n):
        row = [arithmetic.multiply(exact[i][j], builder.input(i)) for j in range(n)]
        row[i] = arithmetic.add(builder.input(n + i), row[i])
        matrix.append(row)
    return builder.build(arithmetic.node(samuelson_berkowitz(arithmetic, matrix)))


def gaussian_elimination_program(
    kernel: ArrayLike | DPPKernel, *, lookup: bool = True
) -> Callable[[Sequence[Any]], Any]:
    """Real-RAM program for ``p(w) = det(diag(1 - w) + diag(w) L)`` by Gaussian elimination with pivot search.

    Parameters
    ----------
    kernel : array_like, shape (n, n), or DPPKernel
        The matrix ``L``.
    lookup : bool, optional
        Begin with a table lookup for inputs that are all 0 or 1, as programs with special-cased inputs do: a path taken
        at such a point yields a constant and must not be mistaken for the polynomial.

    Returns
    -------
    callable
        Takes ``n`` numbers (or traced reals) and returns one.

    Examples
    --------
    >>> program = gaussian_elimination_program([[2, 1, 0], [1, 2, 1], [0, 1, 3]])
    >>> program([Fraction(1, 3), Fraction(3, 4), Fraction(2, 5)])
    Fraction(67, 20)
    """
    exact = _exact_square(kernel)
    n = len(exact)
    minors = (
        {mask: _determinant([[exact[i][j] for j in _ones(mask)] for i in _ones(mask)]) for mask in range(2**n)}
        if lookup and n <= 12
        else {}
    )

    def program(w: Sequence[Any]) -> Any:
        if minors and all(x == 0 or x == 1 for x in w):
            return minors[sum(1 << i for i in range(n) if w[i] == 1)]
        matrix = [[w[i] * exact[i][j] + ((1 - w[i]) if i == j else 0) for j in range(n)] for i in range(n)]
        return _determinant(matrix)

    return program


def _ones(mask: int) -> list[int]:
    return [i for i in range(mask.bit_length()) if mask >> i & 1]


def _determinant(matrix: Sequence[Sequence[Any]]) -> Any:
    """Gaussian elimination with the first nonzero pivot; the last pivot needs no test, and whole rows are updated."""
    rows = [list(row) for row in matrix]
    n = len(rows)
    result: Any = Fraction(1)
    for c in range(n):
        pivot = next((r for r in range(c, n) if rows[r][c] != 0), None) if c < n - 1 else c
        if pivot is None:
            return Fraction(0)
        if pivot != c:
            rows[c], rows[pivot] = rows[pivot], rows[c]
            result = -result
        result = result * rows[c][c]
        for r in range(c + 1, n):
            factor = rows[r][c] / rows[c][c]
            for j in range(n):
                rows[r][j] = rows[r][j] - factor * rows[c][j]
    return result
