"""The edge-parity witness of T5: plain marginals in polynomial time, the stronger queries by enumerating ``x``."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whp.algorithms.marginalization.gauss_sum import gauss_sum
from whp.algorithms.marginalization.oracle import Oracle
from whp.algorithms.marginalization.quadratic_form import pm_quadratic
from whp.theory.marginalization import CutWitness, Pattern, Query, Scalar, Weights

__all__ = ["CutWitnessOracle"]

MAX_ENUMERATED_X = 20


class CutWitnessOracle(Oracle):
    """``f(x, y) = (-1)^{Σ y_{ij,r} (x_i + x_j)}`` with all five queries.

    EV, CNT and PM take polynomial time. HM and VM sum the ``y`` in closed form but enumerate the ``2^m`` values of
    ``x``; a polynomial-time answer to either would make FP = #P, so do not expect better. They are refused above
    ``m = 20``.

    Parameters
    ----------
    witness : CutWitness

    Examples
    --------
    >>> oracle = CutWitnessOracle(CutWitness(3, 1))
    >>> oracle.count(), oracle.hamming_marginals("******")
    (16, (1, 6, 3, -4, 3, 6, 1))
    """

    answers = frozenset(Query)

    def __init__(self, witness: CutWitness) -> None:
        super().__init__(witness.n)
        self.witness = witness
        self.form = witness.form()
        self._last: tuple[Pattern, dict[int, int]] | None = None

    @property
    def is_nonnegative(self) -> bool:
        """False as soon as there is an edge variable."""
        return self.witness.m < 2

    def _evaluate(self, x: tuple[int, ...]) -> Scalar:
        return 1 - 2 * self.form(x)

    def _count(self) -> Scalar:
        return gauss_sum(self.form).value

    def _marginal(self, q: Pattern) -> Scalar:
        return pm_quadratic(self.form, q)

    def _vertex_bits(self, letters: str) -> NDArray[np.int64]:
        """Bits of every ``x`` that agrees with the letters; shape ``(assignments, m)``."""
        if self.witness.m > MAX_ENUMERATED_X:
            raise ValueError(
                f"HM and VM enumerate the 2^m values of x and take m <= {MAX_ENUMERATED_X}, got m={self.witness.m}"
            )
        index = np.arange(1 << self.witness.m, dtype=np.int64)
        bits = (index[:, np.newaxis] >> np.arange(self.witness.m - 1, -1, -1)) & 1
        kept = np.ones(len(index), dtype=np.bool_)
        for v, letter in enumerate(letters):
            if letter != "*":
                kept &= bits[:, v] == int(letter)
        return bits[kept]

    def _hamming_marginal(self, q: Pattern, k: int) -> Scalar:
        if self._last is None or self._last[0] != q:
            self._last = (q, self._hamming_polynomial(q))
        return self._last[1].get(k, 0)

    def _hamming_polynomial(self, q: Pattern) -> dict[int, int]:
        """Coefficients of ``Σ_x t^{|x|} sign(x) t^{ones} (1+t)^{even(x)} (1-t)^{odd(x)}``, zeros left out.

        ``even`` and ``odd`` count the summed-out ``y`` on pairs with equal and with different ends.
        """
        m, copies = self.witness.m, self.witness.copies
        bits = self._vertex_bits(q.letters[:m])
        ones, odd = bits.sum(axis=1), np.zeros(len(bits), dtype=np.int64)
        flips = np.zeros(len(bits), dtype=np.int64)
        stars = evidence_ones = 0
        for rank, (i, j) in enumerate(self.witness.pairs):
            letters = q.letters[m + rank * copies : m + (rank + 1) * copies]
            free, set_ones = letters.count("*"), letters.count("1")
            differs = bits[:, i] ^ bits[:, j]
            odd += free * differs
            flips += set_ones * differs
            stars += free
            evidence_ones += set_ones
        tally: Counter[tuple[int, int]] = Counter()
        keys, where = np.unique(ones * (stars + 1) + odd, return_inverse=True)
        signed = np.zeros(len(keys), dtype=np.int64)
        np.add.at(signed, where.reshape(-1), 1 - 2 * (flips % 2))
        for key, count in zip(keys.tolist(), signed.tolist(), strict=True):
            tally[key // (stars + 1), key % (stars + 1)] += count
        coefficients: Counter[int] = Counter()
        products = _binomial_products(stars, {cut for _, cut in tally})
        for (weight, cut), count in tally.items():
            for power, value in enumerate(products[cut]):
                coefficients[weight + evidence_ones + power] += count * value
        return {power: value for power, value in coefficients.items() if value}

    def _virtual_evidence(self, weights: Weights) -> Scalar:
        m, copies = self.witness.m, self.witness.copies
        bits = self._vertex_bits("*" * m)
        exact = weights.is_exact
        total: NDArray[Any] = np.ones(len(bits), dtype=object if exact else np.float64)
        denominator = 1
        for v, (w, w_bar) in enumerate(weights.pairs[:m]):
            (one, zero), scale = _integers((w, w_bar)) if exact else ((w, w_bar), 1)
            total = total * _select(bits[:, v], one, zero, exact)
            denominator *= scale
        for rank, (i, j) in enumerate(self.witness.pairs):
            block = weights.pairs[m + rank * copies : m + (rank + 1) * copies]
            # summing one y gives w̄ + w where the ends agree and w̄ - w where they differ
            products = (math.prod(w_bar - w for w, w_bar in block), math.prod(w_bar + w for w, w_bar in block))
            if products == (1, 1):
                continue
            (differ, agree), scale = _integers(products) if exact else (products, 1)
            total = total * _select(bits[:, i] ^ bits[:, j], differ, agree, exact)
            denominator *= scale
        if not exact:
            value = float(total.sum())
            if not math.isfinite(value):
                raise OverflowError("the weighted sum exceeds the range of floats; give exact weights")
            return value
        result = Fraction(int(total.sum()), denominator)
        return result.numerator if result.denominator == 1 else result


def _integers(pair: tuple[Scalar, Scalar]) -> tuple[tuple[int, int], int]:
    a, b = Fraction(pair[0]), Fraction(pair[1])
    common = math.lcm(a.denominator, b.denominator)
    return (int(a * common), int(b * common)), common


def _select(bits: NDArray[np.int64], one: Scalar, zero: Scalar, exact: bool) -> NDArray[Any]:
    values = np.empty(2, dtype=object if exact else np.float64)
    values[:] = [zero, one]
    return values[bits]


def _binomial_products(size: int, odds: set[int]) -> dict[int, tuple[int, ...]]:
    """Coefficients of ``(1+t)^{size-o} (1-t)^o`` for the wanted ``o``."""
    found: dict[int, tuple[int, ...]] = {}
    row = [math.comb(size, k) for k in range(size + 1)]
    for odd in range(max(odds, default=-1) + 1):
        if odd in odds:
            found[odd] = tuple(row)
        # next row: divide by (1+t), multiply by (1-t)
        quotient, carry = [], 0
        for value in row[:-1]:
            carry = value - carry
            quotient.append(carry)
        row = [a - b for a, b in zip([*quotient, 0], [0, *quotient], strict=True)]
    return found
