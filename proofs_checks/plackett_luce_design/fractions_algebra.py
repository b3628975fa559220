"""Rational linear algebra of the judging side: written apart from the solvers, so that they share no fault."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def pair_sum(x: Array, subset: Sequence[int]) -> Array:
    """``sum_{i<j in S} (x_i - x_j)(x_i - x_j)'``."""
    d = x.shape[1]
    total = np.array([[Fraction(0)] * d for _ in range(d)], dtype=object)
    for i, j in combinations(subset, 2):
        z = x[i] - x[j]
        total = total + np.array([[a * b for b in z] for a in z], dtype=object)
    return total


def echelon(matrix: Array) -> tuple[Array, list[int], Fraction]:
    """Row echelon form, pivot columns and determinant (of square matrices) over the fractions."""
    a = [[Fraction(v) for v in row] for row in matrix.tolist()]
    pivots: list[int] = []
    determinant, row = Fraction(1), 0
    for column in range(len(a[0])):
        pivot = next((r for r in range(row, len(a)) if a[r][column] != 0), None)
        if pivot is None:
            determinant = Fraction(0)
            continue
        if pivot != row:
            a[row], a[pivot] = a[pivot], a[row]
            determinant = -determinant
        determinant *= a[row][column]
        for r in range(row + 1, len(a)):
            factor = a[r][column] / a[row][column]
            if factor:
                a[r] = [u - factor * v for u, v in zip(a[r], a[row], strict=True)]
        pivots.append(column)
        row += 1
        if row == len(a):
            break
    return np.array(a, dtype=object), pivots, determinant if row == len(a) else Fraction(0)


def rank(matrix: Array) -> int:
    """Exact rank."""
    return len(echelon(matrix)[1])


def determinant(matrix: Array) -> Fraction:
    """Exact determinant."""
    return echelon(matrix)[2]


def inverse(matrix: Array) -> Array:
    """Exact inverse by cofactors (matrices here have at most a few rows)."""
    n, full = len(matrix), determinant(matrix)
    result = np.empty((n, n), dtype=object)
    for i in range(n):
        for j in range(n):
            minor = np.delete(np.delete(matrix, j, axis=0), i, axis=1)
            result[i, j] = (-1) ** (i + j) * (determinant(minor) if n > 1 else Fraction(1)) / full
    return result


def gram_matrix(x: Array, information: Array) -> Array:
    """``X V^{-1} X'``."""
    return np.asarray(x @ inverse(information) @ x.T)


def leverage(gram: Array, subset: Sequence[int]) -> Fraction:
    """``sum_{i<j in S} z' V^{-1} z``, pair by pair."""
    return sum((gram[i, i] + gram[j, j] - 2 * gram[i, j] for i, j in combinations(subset, 2)), Fraction(0))


@dataclass(frozen=True)
class Dual:
    """A number with its derivative: ``value + slope * epsilon``."""

    value: Any
    slope: Any

    def __add__(self, other: Any) -> Dual:
        o = _dual(other)
        return Dual(self.value + o.value, self.slope + o.slope)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Dual:
        o = _dual(other)
        return Dual(self.value - o.value, self.slope - o.slope)

    def __mul__(self, other: Any) -> Dual:
        o = _dual(other)
        return Dual(self.value * o.value, self.value * o.slope + self.slope * o.value)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Dual:
        o = _dual(other)
        return Dual(self.value / o.value, (self.slope * o.value - self.value * o.slope) / (o.value * o.value))

    def __gt__(self, other: Any) -> bool:
        return bool(self.value > _dual(other).value)

    def __eq__(self, other: object) -> bool:
        return bool(self.value == _dual(other).value)

    def __hash__(self) -> int:
        return hash(self.value)


def _dual(value: Any) -> Dual:
    return value if isinstance(value, Dual) else Dual(value, 0)
