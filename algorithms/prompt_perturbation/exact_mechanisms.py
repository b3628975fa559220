"""Rows of the mechanisms in exact fractions, for utilities on a grid and a rational privacy level."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

from whp.theory.prompt_perturbation.arguments import checked_integer, checked_rational

__all__ = ["exact_bucketised_row", "exact_exponential_row", "exact_redrawing_row"]


def exact_exponential_row(levels: Sequence[int], n_levels: int, base: Fraction) -> tuple[Fraction, ...]:
    """Exponential mechanism at sensitivity one, utilities ``level / (n_levels - 1)``, as fractions.

    Parameters
    ----------
    levels : sequence of int
        Level of every token in ``0 .. n_levels - 1``.
    n_levels : int
        Number of grid points.
    base : Fraction
        ``exp(epsilon / (2 (n_levels - 1)))``, at least one.

    Examples
    --------
    >>> exact_exponential_row((2, 1, 0), 3, Fraction(2))
    (Fraction(4, 7), Fraction(2, 7), Fraction(1, 7))
    """
    _check(levels, n_levels, base)
    powers = {level: base**level for level in set(levels)}
    total = sum((count * powers[level] for level, count in Counter(levels).items()), Fraction(0))
    return tuple(powers[level] / total for level in levels)


def exact_bucketised_row(levels: Sequence[int], n_levels: int, base: Fraction) -> tuple[Fraction, ...]:
    """Equal-width bucketised mechanism with ``n_levels`` buckets on the grid, empty buckets dropped, as fractions.

    Parameters
    ----------
    levels : sequence of int
        Level of every token; the lowest and highest level must occur, or all levels be equal, so that buckets are
        levels.
    n_levels : int
        Number of grid points and of buckets.
    base : Fraction
        ``exp(epsilon / (2 (n_levels - 1)))``, at least one.

    Raises
    ------
    ValueError
        If the range of levels is smaller than the grid, which would move the bucket edges.

    Examples
    --------
    >>> exact_bucketised_row((2, 2, 1, 0, 0, 0), 3, Fraction(2))[::2]
    (Fraction(2, 7), Fraction(2, 7), Fraction(1, 21))
    """
    sizes = _occupied(levels, n_levels, base)
    total = sum((base**level for level in sizes), Fraction(0))
    return tuple(base**level / total / sizes[level] for level in levels)


def exact_redrawing_row(levels: Sequence[int], n_levels: int, base: Fraction) -> tuple[Fraction, ...]:
    """Equal-width buckets on the grid, all ``n_levels`` of them candidates, drawn again after hitting an empty one.

    Parameters
    ----------
    levels, n_levels, base
        As for `exact_bucketised_row`.

    Examples
    --------
    >>> exact_redrawing_row((2, 0, 0), 3, Fraction(2)) == exact_bucketised_row((2, 0, 0), 3, Fraction(2))
    True
    """
    sizes = _occupied(levels, n_levels, base)
    all_buckets = sum((base**level for level in range(n_levels)), Fraction(0))
    hit = {level: base**level / all_buckets for level in sizes}
    accepted = sum(hit.values(), Fraction(0))  # one round ends with this probability
    return tuple(hit[level] / accepted / sizes[level] for level in levels)


def _occupied(levels: Sequence[int], n_levels: int, base: Fraction) -> Counter[int]:
    _check(levels, n_levels, base)
    low, high = min(levels), max(levels)
    if low != high and (low, high) != (0, n_levels - 1):
        raise ValueError(f"levels must reach 0 and {n_levels - 1} (or be all equal), got the range {low}..{high}")
    return Counter(levels)


def _check(levels: Sequence[int], n_levels: int, base: Fraction) -> None:
    most = checked_integer("n_levels", n_levels, 1) - 1
    if not levels:
        raise ValueError("levels must hold at least one token, got none")
    for level in levels:
        checked_integer("levels", level, 0, most)
    if checked_rational("base", base) < 1:
        raise ValueError(f"base must be at least 1 (epsilon >= 0), got {base}")
