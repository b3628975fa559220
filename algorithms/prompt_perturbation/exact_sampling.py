"""Sampling from a row of exact probabilities without any floating-point rounding."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from whp.algorithms.prompt_perturbation.validation import checked_rng

__all__ = ["draw_exactly"]


def draw_exactly(row: Sequence[Fraction], rng: np.random.Generator) -> int:
    """Draw an index with exactly the given rational probabilities.

    A uniform integer below the common denominator is drawn by rejection from random bytes, so that the law is exact
    whenever the bytes are uniform.

    Parameters
    ----------
    row : sequence of Fraction
        Probabilities, non-negative, summing to exactly one.
    rng : numpy.random.Generator
        Source of random bytes.

    Returns
    -------
    int
        Index of the drawn entry.

    Raises
    ------
    ValueError
        If the row is empty, negative somewhere, or does not sum to one.

    Examples
    --------
    >>> draw_exactly([Fraction(0), Fraction(1)], np.random.default_rng(0))
    1
    """
    checked_rng(rng)
    try:
        probabilities = [Fraction(entry) for entry in row]
    except (TypeError, ValueError, OverflowError):
        raise TypeError(f"row must hold fractions, got {row!r}") from None
    if not probabilities or min(probabilities) < 0 or sum(probabilities) != 1:
        raise ValueError(f"row must hold probabilities >= 0 that sum to exactly 1, got sum {sum(probabilities)}")
    denominator = math.lcm(*(entry.denominator for entry in probabilities))
    ticket = _uniform_below(denominator, rng)
    for index, entry in enumerate(probabilities):
        ticket -= entry.numerator * (denominator // entry.denominator)
        if ticket < 0:
            return index
    raise AssertionError("unreachable: the ticket is below the sum of all numerators")


def _uniform_below(bound: int, rng: np.random.Generator) -> int:
    bits = (bound - 1).bit_length()
    n_bytes = (bits + 7) // 8
    while True:
        draw = int.from_bytes(rng.bytes(n_bytes), "big") >> (8 * n_bytes - bits) if bits else 0
        if draw < bound:
            return draw
