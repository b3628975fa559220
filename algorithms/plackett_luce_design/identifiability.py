"""Whether a finite maximum-likelihood answer exists, and for which items."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from whp.algorithms.plackett_luce_design.rankings import Rankings
from whp.theory.plackett_luce_design.validation import require

Array = NDArray[np.float64]

__all__ = ["Identifiability", "NoFiniteMaximumError", "identifiability", "separating_direction"]


@dataclass(frozen=True)
class Identifiability:
    """Which strengths the answers determine.

    Parameters
    ----------
    components : tuple of tuples of int
        Strongly connected parts of the graph "i was chosen over j", by smallest item. Differences of strengths are
        determined inside a part only.
    never_compared : tuple of int
        Items that appear in no answer: nothing is known of them.
    above : tuple of pairs of int
        ``(a, b)``: some item of part ``a`` was chosen over some item of part ``b`` and never the other way round, so
        without a penalty the gap between the parts grows without bound.
    """

    components: tuple[tuple[int, ...], ...]
    never_compared: tuple[int, ...]
    above: tuple[tuple[int, int], ...] = field(default=())

    @property
    def finite(self) -> bool:
        """Whether the likelihood has a finite maximum, unique up to a constant."""
        return len(self.components) == 1

    def describe(self) -> str:
        """One sentence that lists the parts."""
        if self.finite:
            return "all items are connected by answers in both directions"
        shown = ", ".join(_abridged(part) for part in self.components[:12])
        more = f" and {len(self.components) - 12} more" if len(self.components) > 12 else ""
        alone = f"; never compared: {list(self.never_compared[:12])}" if self.never_compared else ""
        return f"the answers connect the items only within the parts {shown}{more}{alone}"


def _abridged(part: tuple[int, ...]) -> str:
    """Items of a part in braces, a long part by its first items and its size."""
    listed = ", ".join(map(str, part[:12]))
    return "{" + listed + "}" if len(part) <= 12 else "{" + listed + f", ... {len(part)} items" + "}"


class NoFiniteMaximumError(ValueError):
    """The likelihood has no finite unique maximum; ``report`` or ``direction`` says why."""

    def __init__(self, message: str, report: Identifiability | None = None, direction: Array | None = None) -> None:
        super().__init__(message)
        self.report = report
        self.direction = direction


def _edges(rankings: Rankings) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Edges winner to loser, enough for reachability: each choice to the next one, the last choice to all left over."""
    items, stages, lengths = rankings.items, rankings.n_stages, rankings.lengths
    winners, losers = [], []
    for k in range(items.shape[1] - 1):
        here = stages > k
        winners.append(items[here, k])
        losers.append(items[here, k + 1])
    for j in range(1, items.shape[1]):  # last choice against the later left-over items
        here = (stages < j) & (j < lengths)
        winners.append(items[here, stages[here] - 1])
        losers.append(items[here, j])
    return np.concatenate(winners), np.concatenate(losers)


def identifiability(rankings: Rankings) -> Identifiability:
    """Find the parts of the item set within which the answers determine strengths.

    Parameters
    ----------
    rankings : Rankings
        Observed answers.

    Returns
    -------
    Identifiability

    References
    ----------
    .. [1] Hunter (2004), MM algorithms for generalized Bradley-Terry models: strong connection is necessary and
       sufficient.

    Examples
    --------
    >>> identifiability(Rankings.full([(0, 1), (1, 2), (2, 1)], n_items=4)).components
    ((0,), (1, 2), (3,))
    """
    require("rankings", rankings, Rankings)
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    n = rankings.n_items
    winner, loser = _edges(rankings)
    graph = csr_array((np.ones(len(winner)), (winner, loser)), shape=(n, n))
    count, labels = connected_components(graph, directed=True, connection="strong")
    seen = np.zeros(n, dtype=bool)
    seen[rankings.items[rankings.items >= 0]] = True
    if count == 1:
        return Identifiability((tuple(range(n)),), ())
    order = np.argsort(labels, kind="stable")
    parts = sorted(tuple(map(int, part)) for part in np.split(order, np.cumsum(np.bincount(labels))[:-1]))
    number = np.empty(n, dtype=np.int64)
    for i, part in enumerate(parts):
        number[list(part)] = i
    between = number[winner] != number[loser]
    pairs = np.unique(np.stack([number[winner[between]], number[loser[between]]], axis=1), axis=0)
    above = tuple((int(a), int(b)) for a, b in pairs)
    return Identifiability(tuple(parts), tuple(map(int, np.flatnonzero(~seen))), above)


def separating_direction(features: Array, rankings: Rankings) -> Array | None:
    """Direction in which every answer agrees with the features and some strictly, if there is one.

    Along such a direction the likelihood grows for ever, so no finite maximum exists.

    Parameters
    ----------
    features : (n_items, d) ndarray
        Item features.
    rankings : Rankings
        Observed answers.

    Returns
    -------
    (d,) ndarray or None
        Unit vector, or ``None`` when the answers are not separable.

    Examples
    --------
    >>> separating_direction(np.array([[0.0], [1.0]]), Rankings.full([(1, 0)], 2))
    array([1.])
    """
    require("rankings", rankings, Rankings)
    features = np.asarray(features, dtype=float)
    if features.ndim != 2 or len(features) != rankings.n_items or not np.isfinite(features).all():
        raise ValueError(f"features must be finite with shape ({rankings.n_items}, d), got {features.shape}")
    features = features / max(float(np.abs(features).max(initial=0.0)), np.finfo(float).tiny)  # against overflow
    from scipy.optimize import linprog

    winner, loser = _edges(rankings)
    pairs = np.unique(np.stack([winner, loser], axis=1), axis=0)
    z = features[pairs[:, 0]] - features[pairs[:, 1]]
    z = z[np.abs(z).max(axis=1) > 0]
    scale = np.linalg.norm(z, axis=1)
    if len(z) == 0:
        return None
    z = z / scale[:, None]
    solution = linprog(-z.sum(axis=0), A_ub=-z, b_ub=np.zeros(len(z)), bounds=(-1, 1), method="highs")
    if solution.status != 0:
        raise ArithmeticError(f"the separability programme must be solvable, got {solution.message}")
    v = np.asarray(solution.x)
    margins = z @ v
    # the programme's optimum is either 0 (not separable) or, by scaling to the box, of order one
    if margins.max() <= 1e-7 or margins.min() < -1e-7:
        return None
    return np.asarray(v / np.linalg.norm(v))
