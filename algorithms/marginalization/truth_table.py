"""Queries on a truth table by folding one variable at a time, ``O(2^n)`` additions a query."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whp.algorithms.marginalization.oracle import Oracle
from whp.theory.marginalization import Pattern, Query, Scalar, TruthTable, Weights

__all__ = ["TruthTableOracle"]

INT64_LIMIT = 2**62


class TruthTableOracle(Oracle):
    """All five queries on a table, exact for integers and fractions.

    Integers are summed in int64 where no intermediate can overflow, else as Python integers; fractions are brought to
    one denominator first.

    Parameters
    ----------
    table : TruthTable
        At most 24 variables.

    Examples
    --------
    >>> f = TruthTableOracle(TruthTable(2, [1, 2, 3, 4]))
    >>> f.count(), f.marginal("1*"), f.hamming_marginals("**"), f.virtual_evidence(Weights.of([2, 0]))
    (10, 7, (1, 5, 4), 7)
    """

    answers = frozenset(Query)

    def __init__(self, table: TruthTable) -> None:
        if not isinstance(table, TruthTable):
            raise TypeError(f"table must be a TruthTable, got {type(table).__name__}")
        super().__init__(table.n)
        self.table = table
        self._numerators, self._denominator = _common_denominator(table.values)
        magnitudes = np.abs(self._numerators.astype(object)) if self._numerators.dtype == object else self._numerators
        self._largest = max(abs(int(magnitudes.min())), abs(int(magnitudes.max()))) if table.is_exact else 0

    @property
    def is_nonnegative(self) -> bool:
        """Whether no value is negative."""
        return self.table.is_nonnegative

    def _evaluate(self, x: tuple[int, ...]) -> Scalar:
        return self.table(*x)

    def _count(self) -> Scalar:
        return self._marginal(Pattern.free(self.n))

    def _marginal(self, q: Pattern) -> Scalar:
        with np.errstate(over="ignore", invalid="ignore"):
            return self._finished(self._safe(self._restricted(q), 2**q.s).sum())

    def _hamming_marginals(self, q: Pattern) -> tuple[Scalar, ...]:
        # rows are powers of t; folding a variable adds its 1-half, shifted by one power
        rows = self._safe(self._restricted(q), 2**q.s)[np.newaxis, :]  # (powers, 2^stars left)
        for _ in range(q.s):
            halves = rows.reshape(rows.shape[0], 2, -1)
            folded = np.zeros((rows.shape[0] + 1, halves.shape[2]), dtype=rows.dtype)
            with np.errstate(over="ignore", invalid="ignore"):
                folded[:-1] += halves[:, 0]
                folded[1:] += halves[:, 1]
            rows = folded
        sums = [self._finished(value) for value in rows[:, 0]]
        below = [0] * len(q.ones)
        return tuple(below + sums + [0] * (self.n + 1 - len(below) - len(sums)))

    def _virtual_evidence(self, weights: Weights) -> Scalar:
        if not (weights.is_exact and self.table.is_exact):
            return self._virtual_evidence_in_floats(weights)
        scaled, denominator = _integer_weights(weights)
        folded = self._safe(self._numerators, math.prod(max(abs(a) + abs(b), 1) for a, b in scaled))
        for (w, w_bar), later in zip(scaled, range(self.n - 1, -1, -1), strict=True):
            halves = folded.reshape(2, 2**later)
            folded = w_bar * halves[0] + w * halves[1]
        total = self._finished(folded[0])
        return total if denominator == 1 else Fraction(total) / denominator

    def _virtual_evidence_in_floats(self, weights: Weights) -> float:
        folded = _as_floats(self.table.values)
        with np.errstate(over="ignore", invalid="ignore"):
            for w, w_bar in weights.pairs:
                halves = folded.reshape(2, -1)
                folded = float(w_bar) * halves[0] + float(w) * halves[1]
        return _finite(float(folded[0]))

    def _restricted(self, q: Pattern) -> NDArray[Any]:
        cube = self._numerators.reshape((2,) * self.n)
        picked = cube[tuple(slice(None) if letter == "*" else int(letter) for letter in q.letters)]
        return np.asarray(picked, dtype=self._numerators.dtype).reshape(-1)

    def _safe(self, array: NDArray[Any], growth: int) -> NDArray[Any]:
        """Array in a type in which sums up to ``growth`` times the largest value are exact."""
        if array.dtype == np.int64 and max(self._largest, 1) * growth >= INT64_LIMIT:
            return array.astype(object)
        return array

    def _finished(self, value: Any) -> Scalar:
        if not self.table.is_exact:
            return _finite(float(value))
        return int(value) if self._denominator == 1 else Fraction(int(value), self._denominator)


def _as_floats(values: NDArray[Any]) -> NDArray[np.float64]:
    try:
        return values.astype(np.float64)
    except OverflowError:
        raise OverflowError("the values exceed the range of floats; give exact weights") from None


def _finite(value: float) -> float:
    if not math.isfinite(value):
        raise OverflowError("the weighted sum exceeds the range of floats; give exact values and weights")
    return value


def _common_denominator(values: NDArray[Any]) -> tuple[NDArray[Any], int]:
    if values.dtype != object:
        return values, 1
    denominator = math.lcm(*(Fraction(value).denominator for value in values))
    numerators = np.empty(values.shape, dtype=object)
    numerators[:] = [int(value * denominator) for value in values]
    return numerators, denominator


def _integer_weights(weights: Weights) -> tuple[list[tuple[int, int]], int]:
    """Weights brought to integers pair by pair, and the product of the denominators."""
    scaled, product = [], 1
    for w, w_bar in weights.pairs:
        a, b = Fraction(w), Fraction(w_bar)
        common = math.lcm(a.denominator, b.denominator)
        scaled.append((int(a * common), int(b * common)))
        product *= common
    return scaled, product
