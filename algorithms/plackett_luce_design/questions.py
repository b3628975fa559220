"""From a design to a list of questions: rounding, selection under a cap, new items."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from whp.algorithms.plackett_luce_design.explicit_designs import span_factors
from whp.algorithms.plackett_luce_design.oracles import draw_subsets
from whp.algorithms.plackett_luce_design.spanning import spanning_design
from whp.theory.plackett_luce_design import Design, DesignProblem, leverages, span_information
from whp.theory.plackett_luce_design.validation import require, whole_number

Array = NDArray[np.float64]
IntArray = NDArray[np.int64]

__all__ = ["Questions", "extend_problem", "reduce_support", "round_design", "select_questions"]


@dataclass(frozen=True, eq=False)
class Questions:
    """How often to ask which question.

    Parameters
    ----------
    subsets : (m, K) ndarray of int
        Distinct questions.
    counts : (m,) ndarray of int
        How often each is asked; sums to the budget.
    efficiency : float
        Lower bound on the D-efficiency relative to the design that was rounded (to the relaxed optimum where that was
        used), guaranteed.
    log_det : float
        ``log det`` of the mean information per question on the span.
    """

    subsets: IntArray
    counts: IntArray
    efficiency: float
    log_det: float

    def listed(self) -> IntArray:
        """Every question as often as it is asked, shape ``(budget, K)``."""
        return np.asarray(np.repeat(self.subsets, self.counts, axis=0))

    def item_counts(self, n_items: int) -> IntArray:
        """How often each item is shown."""
        return np.asarray(np.bincount(self.listed().ravel(), minlength=n_items))


def _check_budget(problem: DesignProblem, n_questions: int) -> None:
    require("problem", problem, DesignProblem)
    whole_number("n_questions", n_questions, 1)
    least = -(-problem.rank // (problem.subset_size - 1))
    if n_questions < least:
        raise ValueError(
            f"n_questions must be at least {least} to span {problem.rank} dimensions with subsets of "
            f"{problem.subset_size}, got {n_questions}"
        )


def _mean_log_det(problem: DesignProblem, subsets: IntArray, counts: IntArray) -> float:
    weights = np.sqrt(counts / counts.sum())[:, None, None]
    flat = (weights * span_factors(problem, subsets)).reshape(-1, problem.rank)
    singular = np.linalg.svd(flat, compute_uv=False)
    if len(singular) < problem.rank or singular[-1] <= singular[0] * max(flat.shape) * np.finfo(float).eps:
        return -np.inf
    return float(2 * np.log(singular).sum()) + problem.log_volume


def round_design(problem: DesignProblem, design: Design, n_questions: int) -> Questions:
    """Efficient apportionment of a budget to the questions of a design.

    Parameters
    ----------
    problem : DesignProblem
        Items and subset size.
    design : Design
        With at most ``n_questions`` questions of positive weight (see `reduce_support`).
    n_questions : int
        ``T``, the budget.

    Returns
    -------
    Questions
        ``efficiency = min_S n_S / (T w_S)``, at least ``1 - m / T`` for ``m`` questions: the mean information is at
        least that multiple of the design's, in the positive semidefinite order.

    Raises
    ------
    ValueError
        If the budget is smaller than the number of questions in the design or than needed to span.

    References
    ----------
    .. [1] Pukelsheim and Rieder (1992), Efficient rounding of approximate designs.

    Examples
    --------
    >>> square = DesignProblem([[0, 0], [1, 0], [0, 1], [1, 1]], subset_size=2)
    >>> round_design(square, Design([[0, 3], [1, 2]], [0.5, 0.5]), 5).counts.tolist()
    [3, 2]
    """
    _check_budget(problem, n_questions)
    span_information(problem, design)  # refuses a design of other items or sizes
    table = {s: w for s, w in design.as_dict().items() if w > 0}
    subsets = np.array(list(table), dtype=np.int64)
    w = np.array(list(table.values()))
    w = w / w.sum()
    m = len(w)
    if n_questions < m:
        raise ValueError(
            f"n_questions must be at least the {m} questions of the design, got {n_questions}; "
            "thin it with reduce_support or use select_questions"
        )
    counts = np.maximum(np.ceil((n_questions - m / 2) * w - 1e-12).astype(np.int64), 1)
    while counts.sum() < n_questions:
        counts[int((counts / w).argmin())] += 1
    while counts.sum() > n_questions:
        candidates = np.where(counts > 1, (counts - 1) / w, -np.inf)
        counts[int(candidates.argmax())] -= 1
    efficiency = float((counts / (n_questions * w)).min())
    return Questions(subsets, counts, min(efficiency, 1.0), _mean_log_det(problem, subsets, counts))


def reduce_support(problem: DesignProblem, design: Design) -> Design:
    """Same information matrix with at most ``r (r + 1) / 2 + 1`` questions (Caratheodory), one fewer at an optimum.

    Parameters
    ----------
    problem : DesignProblem
        Items and subset size, ``r = problem.rank``.
    design : Design
        Any design.

    Returns
    -------
    Design
        Its information matrix equals that of the given design up to rounding.

    Examples
    --------
    >>> square = DesignProblem([[0, 0], [1, 0], [0, 1], [1, 1]], subset_size=2)
    >>> len(reduce_support(square, Design.uniform(square.subsets())).weights) <= 4
    True
    """
    span_information(problem, design)  # refuses a design of other items or sizes
    table = {s: w for s, w in design.as_dict().items() if w > 0}
    subsets, w = np.array(list(table), dtype=np.int64), np.array(list(table.values()))
    factors = span_factors(problem, subsets)
    upper = np.triu_indices(problem.rank)
    vectors = np.einsum("ncr,ncs->nrs", factors, factors)[:, upper[0], upper[1]]
    scale = np.abs(vectors).max()
    vectors = vectors / scale  # (m, r(r+1)/2)
    if np.ptp(leverages(problem, design, subsets)) > 1e-7 * problem.rank:
        # at an optimum <M_S, V^-1> is the same for all questions, so the total weight needs no equation of its own
        vectors = np.concatenate([vectors, np.ones((len(w), 1))], axis=1)
    limit = vectors.shape[1]
    while len(w) > limit:
        block = vectors[: limit + 1]
        null = np.linalg.svd(block.T, full_matrices=True)[2][-1]
        if null.max() <= 0:
            null = -null
        positive = null > 1e-14 * np.abs(null).max()
        ratio = np.full(len(null), np.inf)
        ratio[positive] = w[: limit + 1][positive] / null[positive]
        w[: limit + 1] = np.maximum(w[: limit + 1] - ratio.min() * null, 0.0)
        w[int(ratio.argmin())] = 0.0
        keep = w > 0
        w, vectors, subsets = w[keep], vectors[keep], subsets[keep]
    return Design(subsets, w / w.sum())


def select_questions(
    problem: DesignProblem,
    n_questions: int,
    *,
    rng: np.random.Generator,
    max_shows: int | None = None,
    pool: ArrayLike | None = None,
    n_sampled: int = 2000,
    sweeps: int = 3,
) -> Questions:
    """Choose questions one by one for the largest gain in ``log det``, then exchange, under a cap on showing any item.

    Parameters
    ----------
    problem : DesignProblem
        Items and subset size.
    n_questions : int
        Budget.
    rng : numpy.random.Generator
        Draws the pool when there are more than ``n_sampled`` subsets.
    max_shows : int, optional
        No item is shown more often than this.
    pool : (n, K) array_like of int, optional
        Questions to choose from.
    n_sampled : int
        Size of the drawn pool.
    sweeps : int
        Rounds of exchanging each chosen question for a better one.

    Returns
    -------
    Questions
        ``efficiency`` is the guaranteed lower bound from the pool's largest leverage: ``exp(-gap / rank)`` against any
        design, capped or not, on the pool.

    Raises
    ------
    ValueError
        If the budget is too small to span, or the cap leaves too few showings or no spanning choice.

    Examples
    --------
    >>> square = DesignProblem([[0, 0], [1, 0], [0, 1], [1, 1]], subset_size=2)
    >>> chosen = select_questions(square, 4, rng=np.random.default_rng(0), max_shows=2)
    >>> chosen.item_counts(4).tolist()
    [2, 2, 2, 2]
    """
    require("rng", rng, np.random.Generator)
    whole_number("n_sampled", n_sampled, 1)
    whole_number("sweeps", sweeps, 0)
    _check_budget(problem, n_questions)
    _check_cap(problem, n_questions, max_shows)
    rows = _pool(problem, pool, n_sampled, rng)
    selection = _Selection(problem, rows, max_shows)
    for left in range(n_questions, 0, -1):
        selection.add(left)
    for _ in range(sweeps):
        if not selection.exchange():
            break
    return selection.questions()


def _check_cap(problem: DesignProblem, n_questions: int, max_shows: int | None) -> None:
    if max_shows is None:
        return
    whole_number("max_shows", max_shows, 1)
    needed, available = n_questions * problem.subset_size, problem.n_items * min(max_shows, n_questions)
    if needed > available:
        raise ValueError(
            f"max_shows must allow {needed} showings, got {max_shows}, which allows {problem.n_items} items "
            f"{available} showings"
        )


def _pool(problem: DesignProblem, pool: ArrayLike | None, n_sampled: int, rng: np.random.Generator) -> IntArray:
    if pool is not None:
        return DesignProblem(problem.features, problem.subset_size, np.asarray(pool)).subsets()
    if problem.n_subsets <= n_sampled:
        return problem.subsets()
    spanning = spanning_design(problem).subsets
    return np.unique(np.concatenate([spanning, draw_subsets(problem, n_sampled, rng)]), axis=0)


class _Selection:
    """Chosen questions, their information and how often each item is shown."""

    def __init__(self, problem: DesignProblem, pool: IntArray, max_shows: int | None) -> None:
        self.problem, self.pool, self.max_shows = problem, pool, max_shows
        self.factors = span_factors(problem, pool)
        self.chosen: list[int] = []
        self.shows = np.zeros(problem.n_items, dtype=np.int64)
        scale = float(np.einsum("ncr,ncr->n", self.factors, self.factors).max()) / problem.rank
        # a tiny multiple of the identity lets the first questions compete before they span
        self.matrix = 1e-8 * scale * np.eye(problem.rank)

    def _allowed(self, left: int) -> NDArray[np.bool_]:
        """Pool questions that respect the cap and leave the other ``left - 1`` questions feasible.

        ``b`` questions with item ``i`` in at most ``c_i`` of them exist exactly when ``sum_i min(c_i, b) >= K b``.
        """
        if self.max_shows is None:
            return np.ones(len(self.pool), dtype=bool)
        capacity = self.max_shows - self.shows
        spare = int(np.minimum(capacity, left - 1).sum()) - self.problem.subset_size * (left - 1)
        binding = (capacity <= left - 1)[self.pool].sum(axis=1)
        return np.asarray((capacity[self.pool] > 0).all(axis=1) & (binding <= spare))

    def _gains(self, matrix: Array) -> Array:
        inverse = np.linalg.inv(matrix)
        blocks = np.einsum("ncr,rs,nds->ncd", self.factors, inverse, self.factors, optimize=True)
        return np.asarray(np.linalg.slogdet(np.eye(blocks.shape[1]) + blocks)[1])

    def _change(self, index: int, sign: int) -> None:
        self.matrix = self.matrix + sign * self.factors[index].T @ self.factors[index]
        self.shows[self.pool[index]] += sign

    def add(self, left: int) -> None:
        """Add the best allowed question when ``left`` questions, this one included, are still to be chosen."""
        allowed = self._allowed(left)
        if not allowed.any():
            self._add_least_shown()
            return
        best = int(np.where(allowed, self._gains(self.matrix), -np.inf).argmax())
        self._change(best, 1)
        self.chosen.append(best)

    def _add_least_shown(self) -> None:
        """No pool question fits the cap: form one from the least shown items, which keeps the rest feasible."""
        if self.problem.candidates is not None:
            raise ValueError(f"max_shows must leave enough candidates, got {self.max_shows}")
        subset = np.sort(np.argsort(self.shows, kind="stable")[: self.problem.subset_size])
        self.pool = np.concatenate([self.pool, subset[None]])
        self.factors = np.concatenate([self.factors, span_factors(self.problem, subset[None])])
        self._change(len(self.pool) - 1, 1)
        self.chosen.append(len(self.pool) - 1)

    def exchange(self) -> bool:
        """Replace each chosen question by the best allowed one; report whether anything changed."""
        changed = False
        for position, old in enumerate(self.chosen):
            self._change(old, -1)
            gains = np.where(self._allowed(1), self._gains(self.matrix), -np.inf)
            new = int(gains.argmax())
            if gains[new] <= gains[old] + 1e-9:
                new = old
            changed |= new != old
            self._change(new, 1)
            self.chosen[position] = new
        return changed

    def questions(self) -> Questions:
        """Collect the choice with its guarantee."""
        indices, counts = np.unique(self.chosen, return_counts=True)
        subsets = self.pool[indices]
        log_det = _mean_log_det(self.problem, subsets, counts)
        if log_det == -np.inf:
            raise ValueError("max_shows or pool must leave questions that span the differences of the items")
        mean = np.einsum("n,ncr,ncs->rs", counts / counts.sum(), self.factors[indices], self.factors[indices])
        largest = float(
            np.einsum("ncr,rs,ncs->n", self.factors, np.linalg.inv(mean), self.factors, optimize=True).max()
        )
        return Questions(subsets, counts, min(self.problem.rank / largest, 1.0), log_det)


def extend_problem(problem: DesignProblem, new_features: ArrayLike, design: Design) -> tuple[DesignProblem, Design]:
    """Add items to a problem and carry a design over as a start for the enlarged one.

    Parameters
    ----------
    problem : DesignProblem
        The old problem, without candidates.
    new_features : (n_new, d) array_like
        Features of the new items; they get the next numbers.
    design : Design
        Design of the old problem.

    Returns
    -------
    problem : DesignProblem
        Old and new items.
    start : Design
        The old design, mixed with a few questions about the new directions when the new items bring any.

    Raises
    ------
    ValueError
        If the shapes do not fit or the old problem has a candidate list.

    Examples
    --------
    >>> old = DesignProblem([[0.0, 0.0], [1.0, 0.0]], subset_size=2)
    >>> new, start = extend_problem(old, [[0.0, 1.0]], Design([[0, 1]], [1.0]))
    >>> new.n_items, new.rank, len(start.weights) >= 2
    (3, 2, True)
    """
    span_information(problem, design)  # refuses a design of other items or sizes
    if problem.candidates is not None:
        raise ValueError("problem must allow all subsets to be extended, got a candidate list")
    fresh = np.atleast_2d(np.asarray(new_features, dtype=float))
    if fresh.ndim != 2 or fresh.shape[1] != problem.dim:
        raise ValueError(f"new_features must have {problem.dim} columns, got shape {fresh.shape}")
    bigger = DesignProblem(np.concatenate([problem.features, fresh]), problem.subset_size)
    if bigger.rank <= problem.rank:
        return bigger, design
    share = (bigger.rank - problem.rank) / bigger.rank
    spanning = spanning_design(bigger)
    rows = np.concatenate([design.subsets, spanning.subsets])
    weights = np.concatenate([(1 - share) * design.weights, share * spanning.weights])
    mixed = Design(rows, weights / weights.sum()).as_dict()
    return bigger, Design(np.array(list(mixed)), np.array(list(mixed.values())))
