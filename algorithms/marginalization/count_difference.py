"""Weighted sums as differences of two counts over a common denominator (T6c)."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from fractions import Fraction

from whp.theory.marginalization import TruthTable, Weights

__all__ = ["CountDifference", "difference_of_counts"]


@dataclass(frozen=True)
class CountDifference:
    """``(positive - negative) / denominator`` with two non-negative integers that count things.

    Attributes
    ----------
    positive, negative : int
        Numbers of choices of a point ``x`` of matching sign together with one unit from the magnitude of each factor:
        what a nondeterministic machine that guesses them would count.
    denominator : int
        Positive.
    """

    positive: int
    negative: int
    denominator: int

    @property
    def value(self) -> Fraction:
        """The weighted sum."""
        return Fraction(self.positive - self.negative, self.denominator)


def difference_of_counts(table: TruthTable, weights: Weights) -> CountDifference:
    """Write ``N(w, w̄)`` of an integer-valued function as a difference of two counts over a denominator.

    So every VM query (hence HM, PM, EV) is answered by two #P functions and one division: where FP = #P, all the
    query classes coincide.

    Parameters
    ----------
    table : TruthTable
        Integer values.
    weights : Weights
        Integers or fractions.

    Raises
    ------
    TypeError
        If a value is no integer or a weight is a float.

    Examples
    --------
    >>> difference_of_counts(TruthTable(1, [2, -3]), Weights(((Fraction(1, 2), 1),)))
    CountDifference(positive=4, negative=3, denominator=2)
    """
    if not weights.is_exact:
        raise TypeError("weights must be int or Fraction to clear their denominators, got floats among them")
    values = table.values.tolist()
    for value in values:
        if not isinstance(value, int):
            raise TypeError(f"the function must take integer values, got {value!r}")
    scaled, denominator = [], 1
    for w, w_bar in weights.pairs:
        a, b = Fraction(w), Fraction(w_bar)
        common = math.lcm(a.denominator, b.denominator)
        scaled.append((int(b * common), int(a * common)))
        denominator *= common
    positive = negative = 0
    for value, x in zip(values, itertools.product((0, 1), repeat=table.n), strict=True):
        product = value * math.prod(pair[bit] for pair, bit in zip(scaled, x, strict=True))
        positive += max(product, 0)
        negative += max(-product, 0)
    return CountDifference(positive, negative, denominator)
