"""The polynomials of a truth table by butterflies, ``O(n 2^n)`` operations, and their conversions.

A coefficient table is indexed like a truth table: entry ``S`` (as bits, first variable highest) is the coefficient of
``Π_{i in S} z_i``. The network polynomial and the generating polynomial share one table, the values of ``f``.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whp.theory.marginalization import Scalar, TruthTable, as_scalar

__all__ = [
    "Semantics",
    "convert_coefficients",
    "evaluate_multilinear",
    "fourier_coefficients",
    "generating_coefficients",
    "likelihood_coefficients",
    "values_from_fourier",
    "values_from_likelihood",
]


class Semantics(enum.Enum):
    """Which polynomial a coefficient table belongs to."""

    NETWORK = "network polynomial N(w, w_bar)"
    LIKELIHOOD = "multilinear extension p(x) = N(x, 1 - x)"
    GENERATING = "generating polynomial g(z) = N(z, 1)"
    FOURIER = "Fourier polynomial F(s) = p((1 - s)/2)"


def _exact_copy(values: NDArray[Any]) -> NDArray[Any]:
    """Copy in which ``n`` levels of additions cannot overflow."""
    if values.dtype == np.int64:
        largest = max(abs(int(values.min())), abs(int(values.max())))
        return values.astype(np.int64 if largest * len(values) < 2**62 else object)
    return values.copy()


def _butterfly(table: TruthTable, step: Sequence[Sequence[int]]) -> NDArray[Any]:
    """Apply the 2x2 matrix ``step`` along every variable."""
    (a, b), (c, d) = step
    values = _exact_copy(table.values)
    for i in range(table.n):
        halves = values.reshape(2**i, 2, -1)
        zero, one = halves[:, 0].copy(), halves[:, 1].copy()
        with np.errstate(over="ignore", invalid="ignore"):  # an infinite entry is refused by the table
            halves[:, 0] = a * zero + b * one
            halves[:, 1] = c * zero + d * one
    return values


def _as_table(n: int, values: NDArray[Any]) -> TruthTable:
    return TruthTable(n, values if values.dtype != object else values.tolist())


def likelihood_coefficients(table: TruthTable) -> TruthTable:
    """Coefficients of the multilinear extension ``p`` (Möbius transform).

    Examples
    --------
    >>> likelihood_coefficients(TruthTable(2, [1, 1, 1, -1])).values.tolist()  # p = 1 - 2 x1 x2
    [1, 0, 0, -2]
    """
    return _as_table(table.n, _butterfly(table, ((1, 0), (-1, 1))))


def values_from_likelihood(coefficients: TruthTable) -> TruthTable:
    """Values of ``f`` from the coefficients of ``p`` (zeta transform), the inverse of `likelihood_coefficients`.

    Examples
    --------
    >>> values_from_likelihood(TruthTable(2, [1, 0, 0, -2])).values.tolist()
    [1, 1, 1, -1]
    """
    return _as_table(coefficients.n, _butterfly(coefficients, ((1, 0), (1, 1))))


def generating_coefficients(table: TruthTable) -> TruthTable:
    """Coefficients of the generating polynomial: the values themselves.

    Examples
    --------
    >>> generating_coefficients(TruthTable(1, [2, 3])).values.tolist()
    [2, 3]
    """
    return table


def fourier_coefficients(table: TruthTable) -> TruthTable:
    """Coefficients of ``F``: ``2^{-n} Σ_x f(x) (-1)^{Σ_{i in S} x_i}`` (Walsh–Hadamard transform).

    Fractions where the table is exact, floats where it is not.

    Examples
    --------
    >>> fourier_coefficients(TruthTable(1, [2, 4])).values.tolist()
    [3, -1]
    """
    sums = _butterfly(table, ((1, 1), (1, -1)))
    size = 2**table.n
    if not table.is_exact:
        return TruthTable(table.n, sums / size)
    return TruthTable(table.n, [_reduced(Fraction(value) / size) for value in sums.tolist()])


def values_from_fourier(coefficients: TruthTable) -> TruthTable:
    """Values of ``f`` from the coefficients of ``F``, the inverse of `fourier_coefficients`.

    Examples
    --------
    >>> values_from_fourier(TruthTable(1, [3, -1])).values.tolist()
    [2, 4]
    """
    sums = _butterfly(coefficients, ((1, 1), (1, -1)))
    return _as_table(coefficients.n, _reduced_array(sums))


def _reduced(value: Scalar) -> Scalar:
    return value.numerator if isinstance(value, Fraction) and value.denominator == 1 else value


def _reduced_array(values: NDArray[Any]) -> NDArray[Any]:
    if values.dtype == object:
        values[:] = [_reduced(value) for value in values]
    return values


def convert_coefficients(coefficients: TruthTable, source: Semantics, target: Semantics) -> TruthTable:
    """Turn the coefficient table of one polynomial into that of another (T3, at table level).

    Parameters
    ----------
    coefficients : TruthTable
        Coefficients under ``source``.
    source, target : Semantics

    Returns
    -------
    TruthTable
        Coefficients under ``target``; going there and back gives the same table, exactly on exact input.

    Examples
    --------
    >>> p = TruthTable(1, [2, 2])  # p(x) = 2 + 2x
    >>> convert_coefficients(p, Semantics.LIKELIHOOD, Semantics.GENERATING).values.tolist()
    [2, 4]
    """
    for name, semantics in (("source", source), ("target", target)):
        if not isinstance(semantics, Semantics):
            raise TypeError(f"{name} must be one of {', '.join(map(str, Semantics))}, got {semantics!r}")
    values = {
        Semantics.LIKELIHOOD: values_from_likelihood,
        Semantics.FOURIER: values_from_fourier,
        Semantics.NETWORK: generating_coefficients,
        Semantics.GENERATING: generating_coefficients,
    }[source](coefficients)
    return {
        Semantics.LIKELIHOOD: likelihood_coefficients,
        Semantics.FOURIER: fourier_coefficients,
        Semantics.NETWORK: generating_coefficients,
        Semantics.GENERATING: generating_coefficients,
    }[target](values)


def evaluate_multilinear(coefficients: TruthTable, point: Sequence[Scalar]) -> Scalar:
    """Value of ``Σ_S c_S Π_{i in S} z_i`` at ``point`` by Horner's rule in each variable.

    Parameters
    ----------
    coefficients : TruthTable
    point : sequence of Scalar, length n

    Examples
    --------
    >>> evaluate_multilinear(TruthTable(2, [1, 0, 0, -2]), [Fraction(1, 2), 3])
    Fraction(-2, 1)
    """
    if len(point) != coefficients.n:
        raise ValueError(f"point must have length n={coefficients.n}, got {len(point)}")
    numbers = [as_scalar(z, f"point[{i}]") for i, z in enumerate(point)]
    exact = coefficients.is_exact and not any(isinstance(z, float) for z in numbers)
    values: NDArray[Any] = coefficients.values.astype(object if exact else np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        for z in numbers:
            halves = values.reshape(2, -1)
            values = halves[0] + (z if exact else float(z)) * halves[1]
    if not exact and not np.isfinite(values[0]):
        raise OverflowError("the value exceeds the range of floats; give exact coefficients and an exact point")
    return as_scalar(values[0])
