"""Rank breaking: turn rankings into pairwise answers, the cheap rivals of the full likelihood."""

from __future__ import annotations

import numpy as np

from whp.algorithms.plackett_luce_design.rankings import Rankings
from whp.theory.plackett_luce_design.validation import require

__all__ = ["adjacent_breaking", "full_breaking", "top_breaking"]


def _pairs(rankings: Rankings, positions: list[tuple[int, int]]) -> Rankings:
    winners, losers, weights = [], [], []
    for k, j in positions:
        here = (rankings.n_stages > k) & (rankings.items[:, j] >= 0)
        winners.append(rankings.items[here, k])
        losers.append(rankings.items[here, j])
        weights.append(rankings.weights[here])
    items = np.stack([np.concatenate(winners), np.concatenate(losers)], axis=1)
    return Rankings(items, np.ones(len(items), dtype=np.int64), np.concatenate(weights), rankings.n_items)


def full_breaking(rankings: Rankings) -> Rankings:
    """Every chosen item against every item it was preferred to, as if independent.

    Consistent under Plackett-Luce, but less efficient than the likelihood.

    Parameters
    ----------
    rankings : Rankings
        Observed answers.

    Returns
    -------
    Rankings
        Pairs.

    Examples
    --------
    >>> full_breaking(Rankings.full([(2, 0, 1)], 3)).items.tolist()
    [[2, 0], [2, 1], [0, 1]]
    """
    require("rankings", rankings, Rankings)
    width = rankings.items.shape[1]
    return _pairs(rankings, [(k, j) for k in range(width - 1) for j in range(k + 1, width)])


def top_breaking(rankings: Rankings) -> Rankings:
    """The best item against every other shown item; consistent.

    Parameters
    ----------
    rankings : Rankings
        Observed answers.

    Returns
    -------
    Rankings
        Pairs.

    Examples
    --------
    >>> top_breaking(Rankings.full([(2, 0, 1)], 3)).items.tolist()
    [[2, 0], [2, 1]]
    """
    require("rankings", rankings, Rankings)
    return _pairs(rankings, [(0, j) for j in range(1, rankings.items.shape[1])])


def adjacent_breaking(rankings: Rankings) -> Rankings:
    """Only neighbours in the ranking; *inconsistent* under Plackett-Luce, kept as a warning example.

    Parameters
    ----------
    rankings : Rankings
        Observed answers.

    Returns
    -------
    Rankings
        Pairs.

    Examples
    --------
    >>> adjacent_breaking(Rankings.full([(2, 0, 1)], 3)).items.tolist()
    [[2, 0], [0, 1]]
    """
    require("rankings", rankings, Rankings)
    return _pairs(rankings, [(k, k + 1) for k in range(rankings.items.shape[1] - 1)])
