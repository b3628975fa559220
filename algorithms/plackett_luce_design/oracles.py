"""Which question to move towards: exact and heuristic maximisers of the leverage over subsets."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from whp.algorithms.plackett_luce_design.memo import Memo
from whp.theory.plackett_luce_design import MAX_LISTED_SUBSETS, Design, DesignProblem
from whp.theory.plackett_luce_design.validation import require, whole_number

Array = NDArray[np.float64]
IntArray = NDArray[np.int64]

__all__ = [
    "AllSubsets",
    "BestPair",
    "GreedySwap",
    "LeverageOracle",
    "UniformSample",
    "draw_subsets",
    "exact_oracle",
]


class LeverageOracle(Protocol):
    """Proposes a subset of large leverage.

    Attributes
    ----------
    exact : bool
        Whether the proposal maximises the leverage over *all* subsets that may be asked; only then does its leverage
        certify a gap.
    """

    exact: bool

    def propose(self, memo: Memo, rng: np.random.Generator) -> tuple[IntArray, float]:
        """Return a subset (items ascending) and its leverage."""
        ...


def _check_sample(problem: DesignProblem, n_sampled: int) -> None:
    require("problem", problem, DesignProblem)
    whole_number("n_sampled", n_sampled, 1)
    if n_sampled > problem.n_subsets:
        raise ValueError(f"n_sampled must be between 1 and n_subsets={problem.n_subsets}, got {n_sampled}")


def checked_subsets(problem: DesignProblem, subsets: ArrayLike) -> IntArray:
    """Return subsets of the problem's items and size, items ascending.

    Parameters
    ----------
    problem : DesignProblem
        Items and subset size.
    subsets : (n, K) array_like of int
        What the caller passed.

    Returns
    -------
    (n, K) ndarray of int

    Raises
    ------
    ValueError
        If a subset has another size, repeats an item or names one that does not exist.
    TypeError
        If the items are not integers.

    Examples
    --------
    >>> checked_subsets(DesignProblem([[0.0], [1.0], [2.0]], subset_size=2), [[2, 0]]).tolist()
    [[0, 2]]
    """
    require("problem", problem, DesignProblem)
    rows = Design.uniform(subsets).subsets
    if rows.shape[1] != problem.subset_size or rows.max() >= problem.n_items:
        raise ValueError(
            f"subsets must hold subset_size={problem.subset_size} items below n_items={problem.n_items}, got rows of "
            f"{rows.shape[1]} up to item {rows.max()}"
        )
    return rows


def draw_subsets(problem: DesignProblem, n_sampled: int, rng: np.random.Generator) -> IntArray:
    """Draw subsets uniformly from those that may be asked.

    Where all subsets can be listed the draw is without repetition; otherwise subsets are independent and uniform
    (a repetition is then very unlikely and harmless).

    Parameters
    ----------
    problem : DesignProblem
        Items and subset size.
    n_sampled : int
        Number of subsets, at most the number of subsets that may be asked.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    (n_sampled, K) ndarray of int
        Items ascending in each row.

    Raises
    ------
    ValueError
        If ``n_sampled`` is not between 1 and the number of subsets.

    Examples
    --------
    >>> problem = DesignProblem([[0.0], [1.0], [2.0]], subset_size=2)
    >>> sorted(draw_subsets(problem, 3, np.random.default_rng(0)).tolist())
    [[0, 1], [0, 2], [1, 2]]
    """
    _check_sample(problem, n_sampled)
    require("rng", rng, np.random.Generator)
    if problem.candidates is not None or problem.n_subsets <= MAX_LISTED_SUBSETS:
        table = problem.subsets()
        return np.asarray(table[rng.choice(len(table), n_sampled, replace=False, shuffle=False)])
    n, size = problem.n_items, problem.subset_size
    rows = np.sort(rng.integers(0, n, (n_sampled, size)), axis=1)
    if 4 * size > n:  # rejection would be slow: rank random keys instead
        return np.sort(np.argsort(rng.random((n_sampled, n)), axis=1)[:, :size], axis=1)
    while True:
        repeated = np.flatnonzero((rows[:, 1:] == rows[:, :-1]).any(axis=1))
        if len(repeated) == 0:
            return np.asarray(rows)
        rows[repeated] = np.sort(rng.integers(0, n, (len(repeated), size)), axis=1)


class UniformSample:
    """Best of ``n_sampled`` subsets drawn afresh and uniformly at every call: the paper's randomised oracle.

    Parameters
    ----------
    problem : DesignProblem
        Items and subset size.
    n_sampled : int
        ``R``, subsets drawn per call.

    Raises
    ------
    ValueError
        If ``n_sampled`` is not between 1 and the number of subsets.
    """

    def __init__(self, problem: DesignProblem, n_sampled: int) -> None:
        _check_sample(problem, n_sampled)
        self.problem, self.n_sampled = problem, n_sampled
        listed = problem.candidates is not None or problem.n_subsets <= MAX_LISTED_SUBSETS
        self._table = problem.subsets() if listed else None
        self.exact = n_sampled == problem.n_subsets

    def propose(self, memo: Memo, rng: np.random.Generator) -> tuple[IntArray, float]:
        """Return the sampled subset of largest leverage."""
        if self._table is None:
            rows = draw_subsets(self.problem, self.n_sampled, rng)
        elif self.exact:
            rows = self._table
        else:
            rows = self._table[rng.choice(len(self._table), self.n_sampled, replace=False, shuffle=False)]
        values = memo.leverages(rows)
        best = int(values.argmax())
        return rows[best], float(values[best])


class AllSubsets:
    """Exact maximum by scoring every subset that may be asked, the first one on ties.

    Parameters
    ----------
    problem : DesignProblem
        Its subsets must be few enough to list.
    """

    exact = True

    def __init__(self, problem: DesignProblem) -> None:
        require("problem", problem, DesignProblem)
        self._table = problem.subsets()

    def propose(self, memo: Memo, rng: np.random.Generator) -> tuple[IntArray, float]:
        """Return the first subset of largest leverage."""
        values = memo.leverages(self._table)
        best = int(values.argmax())
        return self._table[best], float(values[best])


class BestPair:
    """Exact maximum for pairs (``K = 2``) in ``O(N^2)`` look-ups.

    Parameters
    ----------
    problem : DesignProblem
        With ``subset_size`` 2 and no candidate list.
    """

    exact = True

    def __init__(self, problem: DesignProblem) -> None:
        require("problem", problem, DesignProblem)
        if problem.subset_size != 2 or problem.candidates is not None:
            raise ValueError(f"BestPair needs subset_size=2 without candidates, got {problem.subset_size}")

    def propose(self, memo: Memo, rng: np.random.Generator) -> tuple[IntArray, float]:
        """Return the pair of largest leverage."""
        return memo.farthest_pair()


class GreedySwap:
    """Strong heuristic for ``K > 2``: farthest pair, greedy additions, then swaps of one item, ``O(N K)`` each.

    Parameters
    ----------
    problem : DesignProblem
        Without a candidate list.
    max_swaps : int
        Largest number of improving swaps.

    Notes
    -----
    The maximum is a maximum-dispersion problem and NP-hard in general; the result certifies nothing.
    """

    exact = False

    def __init__(self, problem: DesignProblem, max_swaps: int = 100) -> None:
        require("problem", problem, DesignProblem)
        if problem.candidates is not None:
            raise ValueError("GreedySwap needs all subsets to be allowed, got a candidate list; use AllSubsets")
        whole_number("max_swaps", max_swaps, 0)
        self.size, self.max_swaps = problem.subset_size, max_swaps

    def _start(self, memo: Memo, rng: np.random.Generator) -> list[int]:
        n = memo.problem.n_items
        if n <= 500:
            return [int(i) for i in memo.farthest_pair()[0]]
        first = int(memo.distances(int(rng.integers(n))).argmax())  # double sweep
        second = int(memo.distances(first).argmax())
        return [first, second if second != first else (first + 1) % n]

    def propose(self, memo: Memo, rng: np.random.Generator) -> tuple[IntArray, float]:
        """Return the local maximum found."""
        chosen = self._start(memo, rng)
        rows = [memo.distances(i) for i in chosen]
        sums = rows[0] + rows[1]
        while len(chosen) < self.size:
            masked = sums.copy()
            masked[chosen] = -np.inf
            new = int(masked.argmax())
            chosen.append(new)
            rows.append(memo.distances(new))
            sums = sums + rows[-1]
        for _ in range(self.max_swaps):
            gains = sums[None, :] - np.array(rows) - sums[chosen][:, None]  # (K, N)
            gains[:, chosen] = -np.inf
            out, new = (int(v) for v in np.unravel_index(int(gains.argmax()), gains.shape))
            if gains[out, new] <= 1e-12 * float(sums[chosen].sum()):
                break
            fresh = memo.distances(new)
            sums = sums - rows[out] + fresh
            chosen[out], rows[out] = new, fresh
        return np.array(sorted(chosen)), float(sums[chosen].sum() / 2)


def exact_oracle(problem: DesignProblem) -> LeverageOracle | None:
    """Return an exact oracle where one is affordable, else ``None``.

    Parameters
    ----------
    problem : DesignProblem
        Items and subset size.

    Returns
    -------
    LeverageOracle or None
        `BestPair` for pairs, `AllSubsets` when all subsets can be listed.
    """
    require("problem", problem, DesignProblem)
    if problem.subset_size == 2 and problem.candidates is None:
        return BestPair(problem)
    if problem.n_subsets <= MAX_LISTED_SUBSETS:
        return AllSubsets(problem)
    return None
