"""Observed rankings: full, top-k and partial, of question sets of mixed size, packed into arrays."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from whp.theory.plackett_luce_design.validation import require, whole_number

Array = NDArray[np.float64]
IntArray = NDArray[np.int64]

__all__ = ["Rankings", "sample_rankings", "win_rates"]


@dataclass(frozen=True, eq=False)
class Rankings:
    """Answers to ranking questions.

    Parameters
    ----------
    items : (n_rankings, width) ndarray of int
        Each row lists the shown items, the ranked ones first and best first; rows of fewer items end in ``-1``.
    n_stages : (n_rankings,) ndarray of int
        How many choices the row records: ``K - 1`` for a full ranking of ``K`` items, ``k`` for the best ``k`` only.
    weights : (n_rankings,) ndarray
        How often the row was observed; need not be whole.
    n_items : int
        Number of items that exist, shown or not.

    See Also
    --------
    Rankings.full : rankings of whole sets.
    Rankings.top : only the best few of each set are ordered.
    Rankings.from_wins : counts of wins and ties between pairs.
    """

    items: IntArray
    n_stages: IntArray
    weights: Array
    n_items: int

    def __post_init__(self) -> None:
        """Check the packing."""
        object.__setattr__(self, "n_items", whole_number("n_items", self.n_items, 2))
        items = np.asarray(self.items)
        if items.ndim != 2 or items.shape[0] == 0 or items.shape[1] < 2:
            raise ValueError(f"items must have shape (n_rankings, width >= 2) with at least one row, got {items.shape}")
        if not np.issubdtype(items.dtype, np.integer):
            raise TypeError(f"items must hold item numbers (integers), got dtype {items.dtype}")
        items = items.astype(np.int64)
        if items.max() >= self.n_items or items.min() < -1:
            raise ValueError(
                f"items must lie between 0 and n_items-1={self.n_items - 1}, got {items.min()}..{items.max()}"
            )
        real = items >= 0
        lengths = real.sum(axis=1)
        if (real[:, 1:] & ~real[:, :-1]).any() or lengths.min() < 2:
            raise ValueError("items must show at least 2 items in every row and pad with -1 at the end only")
        ordered = np.sort(np.where(real, items, -1 - np.arange(items.shape[1])), axis=1)
        repeated = np.flatnonzero((ordered[:, 1:] == ordered[:, :-1]).any(axis=1))
        if len(repeated):
            row = int(repeated[0])
            raise ValueError(
                f"items must not repeat within a ranking, got {items[row][real[row]].tolist()} in row {row}"
            )
        if not np.issubdtype(np.asarray(self.n_stages).dtype, np.integer):
            raise TypeError(f"n_stages must hold integers, got dtype {np.asarray(self.n_stages).dtype}")
        stages = np.asarray(self.n_stages, dtype=np.int64)
        if stages.shape != lengths.shape or (stages < 1).any() or (stages >= lengths).any():
            raise ValueError("n_stages must lie between 1 and the number of shown items minus 1 in every row")
        w = np.array(self.weights, dtype=float)
        if w.shape != lengths.shape or not np.isfinite(w).all() or (w <= 0).any():
            raise ValueError("weights must be positive and finite, one per ranking")
        if not np.isfinite(w.sum()):
            raise ValueError("weights must have a finite sum, got one beyond the largest float")
        for name, value in (("items", items), ("n_stages", stages), ("weights", w)):
            value.setflags(write=False)
            object.__setattr__(self, name, value)

    def __len__(self) -> int:
        """Number of rows."""
        return len(self.items)

    @property
    def lengths(self) -> IntArray:
        """Number of shown items in each row."""
        return np.asarray((self.items >= 0).sum(axis=1))

    def merged(self) -> Rankings:
        """Equal rows as one row with the sum of their weights, rows in lexicographic order."""
        keys = np.concatenate([self.items, self.n_stages[:, None]], axis=1)
        rows, place = np.unique(keys, axis=0, return_inverse=True)
        weights = np.bincount(place.ravel(), weights=self.weights, minlength=len(rows))
        return Rankings(rows[:, :-1], rows[:, -1], np.asarray(weights, dtype=float), self.n_items)

    @classmethod
    def full(
        cls, rankings: Iterable[Sequence[int]] | ArrayLike, n_items: int, weights: ArrayLike | None = None
    ) -> Rankings:
        """Pack full rankings, each a sequence of items, best first.

        Parameters
        ----------
        rankings : iterable of sequences of int, or (n, K) array
            Sizes may differ between rankings.
        n_items : int
            Number of items that exist.
        weights : (n,) array_like, optional
            Multiplicities; ones when left out.

        Returns
        -------
        Rankings

        Raises
        ------
        ValueError
            If a ranking has fewer than 2 items, repeats one or names one that does not exist.

        Examples
        --------
        >>> len(Rankings.full([(0, 1, 2), (2, 1)], n_items=3))
        2
        """
        items, lengths = _pack(rankings)
        w = np.ones(len(items)) if weights is None else np.asarray(weights, dtype=float)
        return cls(items, lengths - 1, w, n_items)

    @classmethod
    def top(
        cls,
        best: Iterable[Sequence[int]],
        shown: Iterable[Sequence[int]],
        n_items: int,
        weights: ArrayLike | None = None,
    ) -> Rankings:
        """Pack answers that order only the best few of each shown set.

        Parameters
        ----------
        best : iterable of sequences of int
            The ordered best items of each set, best first; one item means "pick the best".
        shown : iterable of sequences of int
            The sets shown.
        n_items : int
            Number of items that exist.
        weights : (n,) array_like, optional
            Multiplicities.

        Returns
        -------
        Rankings

        Examples
        --------
        >>> Rankings.top([[2]], [[0, 1, 2]], n_items=3).items.tolist()
        [[2, 0, 1]]
        """
        rows, stages = [], []
        best, shown = list(best), list(shown)
        if len(best) != len(shown):
            raise ValueError(f"best and shown must be of equal length, got {len(best)} and {len(shown)}")
        for row, (head, group) in enumerate(zip(best, shown, strict=True)):
            chosen = [_item(i, row) for i in head]
            offered = [_item(i, row) for i in group]
            if len(set(offered)) < len(offered):
                raise ValueError(f"shown must not repeat an item, got {offered} in row {row}")
            rest = [i for i in offered if i not in set(chosen)]
            if not chosen or not set(chosen) <= set(offered):
                raise ValueError(f"best must name at least one item and only shown ones, got {chosen} in row {row}")
            rows.append(chosen + rest)
            stages.append(min(len(chosen), len(chosen) + len(rest) - 1))
        items, _ = _pack(rows)
        w = np.ones(len(items)) if weights is None else np.asarray(weights, dtype=float)
        return cls(items, np.array(stages), w, n_items)

    @classmethod
    def from_wins(cls, wins: ArrayLike, ties: ArrayLike | None = None) -> Rankings:
        """Pack a table of pairwise results; a tie counts as half a win for either side.

        Parameters
        ----------
        wins : (n_items, n_items) array_like
            ``wins[i, j]``: how often ``i`` beat ``j``.
        ties : (n_items, n_items) array_like, optional
            Symmetric table: how often ``i`` and ``j`` tied.

        Returns
        -------
        Rankings
            One row per ordered pair with a positive count.

        Examples
        --------
        >>> Rankings.from_wins([[0, 2], [1, 0]]).weights.tolist()
        [2.0, 1.0]
        """
        table = _credited_wins(wins, ties)
        winner, loser = np.nonzero(table)
        if len(winner) == 0:
            raise ValueError("wins must hold at least one result, got an empty table")
        return cls(np.stack([winner, loser], axis=1), np.ones(len(winner), int), table[winner, loser], len(table))


def _pack(rankings: Iterable[Sequence[int]] | ArrayLike) -> tuple[IntArray, IntArray]:
    if isinstance(rankings, np.ndarray) and rankings.ndim == 2:
        return rankings, np.full(len(rankings), rankings.shape[1])
    rows = [list(r) for r in cast(Iterable[Sequence[int]], rankings)]
    if not rows:
        raise ValueError("rankings must hold at least one ranking, got none")
    lengths = np.array([len(r) for r in rows])
    items = np.full((len(rows), max(int(lengths.max()), 2)), -1, dtype=np.int64)
    for i, r in enumerate(rows):
        for j, item in enumerate(r):
            items[i, j] = _item(item, i)
    return items, lengths


def _item(item: object, row: int) -> int:
    if isinstance(item, bool) or not isinstance(item, (int, np.integer)) or item < 0:
        raise ValueError(f"rankings must hold item numbers from 0, got {item!r} in row {row}")
    return int(item)


def _credited_wins(wins: ArrayLike, ties: ArrayLike | None) -> Array:
    table = np.array(wins, dtype=float)
    if table.ndim != 2 or table.shape[0] != table.shape[1] or len(table) < 2:
        raise ValueError(f"wins must be a square table of at least 2 items, got shape {table.shape}")
    if ties is not None:
        draws = np.asarray(ties, dtype=float)
        if draws.shape != table.shape or not np.array_equal(draws, draws.T):
            raise ValueError(f"ties must be a symmetric table of the same shape as wins, got shape {draws.shape}")
        if not np.isfinite(draws).all() or (draws < 0).any() or np.diag(draws).any():
            raise ValueError("ties must be finite and not negative, with a zero diagonal")
        table = table + draws / 2
    if not np.isfinite(table).all() or (table < 0).any() or np.diag(table).any():
        raise ValueError("wins must be finite and not negative, with a zero diagonal")
    if table.max() > 1e300 / table.size:
        raise ValueError(f"wins and ties must add up to a float, got counts up to {table.max():.3g}")
    return table


def win_rates(wins: ArrayLike, ties: ArrayLike | None = None) -> Array:
    """Raw share of games won, ties counted as one half; it ignores whom an item met.

    Parameters
    ----------
    wins, ties : (n_items, n_items) array_like
        As in `Rankings.from_wins`.

    Returns
    -------
    (n_items,) ndarray
        Between 0 and 1.

    Raises
    ------
    ValueError
        If an item never played: it has no rate.

    Examples
    --------
    >>> win_rates([[0, 2], [3, 0]], ties=[[0, 95], [95, 0]]).tolist()
    [0.495, 0.505]
    """
    table = _credited_wins(wins, ties)
    games = (table + table.T).sum(axis=1)
    if not games.all():
        raise ValueError(
            f"wins must hold a game of every item, got none of items {np.flatnonzero(games == 0).tolist()}"
        )
    return np.asarray(table.sum(axis=1) / games)


def sample_rankings(utilities: ArrayLike, subsets: ArrayLike, rng: np.random.Generator) -> IntArray:
    """Draw a Plackett-Luce ranking of each subset by sorting utilities plus Gumbel noise.

    Parameters
    ----------
    utilities : (n_items,) array_like
        Log-weights of all items.
    subsets : (n, K) array_like of int
        The sets shown.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    (n, K) ndarray of int
        Each row a ranking of that subset, best first.

    Raises
    ------
    ValueError
        If a utility is not finite or a subset names a missing item.

    Examples
    --------
    >>> sample_rankings([0.0, 50.0], [[0, 1]], np.random.default_rng(0)).tolist()
    [[1, 0]]
    """
    require("rng", rng, np.random.Generator)
    u = np.asarray(utilities, dtype=float)
    rows = np.asarray(subsets)
    if u.ndim != 1 or not np.isfinite(u).all():
        raise ValueError(f"utilities must be a finite vector, got shape {u.shape}")
    if rows.ndim != 2 or not np.issubdtype(rows.dtype, np.integer):
        raise ValueError(f"subsets must be a table of item numbers, got shape {rows.shape} and dtype {rows.dtype}")
    if rows.size and (rows.min() < 0 or rows.max() >= len(u)):
        raise ValueError(f"subsets must name items between 0 and {len(u) - 1}, got {rows.min()}..{rows.max()}")
    ordered = np.sort(rows, axis=1)
    if (ordered[:, 1:] == ordered[:, :-1]).any():
        row = int(np.flatnonzero((ordered[:, 1:] == ordered[:, :-1]).any(axis=1))[0])
        raise ValueError(f"subsets must not repeat an item, got {rows[row].tolist()} in row {row}")
    order = np.argsort(-(u[rows] + rng.gumbel(size=rows.shape)), axis=1)
    return np.asarray(np.take_along_axis(rows, order, axis=1).astype(np.int64))
