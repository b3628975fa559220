"""Frank-Wolfe for the D-optimal design: deterministic, randomised over all subsets, and with away steps."""

from __future__ import annotations

from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from whp.algorithms.plackett_luce_design.certificate import certify
from whp.algorithms.plackett_luce_design.memo import Memo, make_memo
from whp.algorithms.plackett_luce_design.oracles import (
    LeverageOracle,
    UniformSample,
    checked_subsets,
    draw_subsets,
    exact_oracle,
)
from whp.algorithms.plackett_luce_design.result import DesignResult, DesignStatus, History
from whp.algorithms.plackett_luce_design.spanning import spanning_design
from whp.algorithms.plackett_luce_design.step import exact_step, log_det_change
from whp.theory.plackett_luce_design import Design, DesignProblem, certified_gap_bound, design_log_det
from whp.theory.plackett_luce_design.validation import real_number, require, whole_number

Array = NDArray[np.float64]
IntArray = NDArray[np.int64]

__all__ = [
    "away_step_frank_wolfe",
    "best_of_step",
    "frank_wolfe",
    "frank_wolfe_step",
    "randomized_frank_wolfe",
    "randomized_step",
]


def _check(problem: DesignProblem, iterations: int, tolerance: float, patience: int | None) -> None:
    require("problem", problem, DesignProblem)
    whole_number("iterations", iterations, 0)
    real_number("tolerance", tolerance, at_least=0)
    if patience is not None:
        whole_number("patience", patience, 1)


def _generator(rng: np.random.Generator | None) -> np.random.Generator:
    """Generator for oracles that draw; those that do not never use it."""
    if rng is None:
        return np.random.default_rng(0)
    require("rng", rng, np.random.Generator)
    return rng


def _oracle(problem: DesignProblem, oracle: LeverageOracle | None) -> LeverageOracle:
    """Oracle to use: the given one, or an exact one where that is affordable."""
    if oracle is None:
        return _require_exact(problem)
    if not callable(getattr(oracle, "propose", None)):
        raise TypeError(f"oracle must have a method propose(memo, rng), got {type(oracle).__name__}")
    return oracle


def _towards(memo: Memo, subset: IntArray, leverage: float, lowest: float = 0.0) -> float:
    """Exact line search between the design and a subset; zero when there is no ascent."""
    if lowest == 0.0 and leverage <= memo.dim * (1 + 1e-13):
        return 0.0
    values, vectors = memo.spectrum(subset)
    spectrum = values.tolist()
    step = exact_step(spectrum, memo.dim, lowest)
    if step == 0.0 or log_det_change(spectrum, memo.dim, step) <= 0.0:
        return 0.0
    memo.move(subset, step, values, vectors)
    return step


class _Run:
    """State shared by the variants: the memo, the oracle and the record."""

    def __init__(self, memo: Memo, oracle: LeverageOracle, rng: np.random.Generator) -> None:
        self.memo, self.oracle, self.rng = memo, oracle, rng
        self.history = History()
        self.rejected = 0
        self.begun = perf_counter()

    def step(self, away: bool) -> float:
        """One iteration; returns the certified gap before it, or infinity when the oracle is not exact."""
        memo, dim = self.memo, self.memo.dim
        subset, leverage = self.oracle.propose(memo, self.rng)
        gap = certified_gap_bound(max(leverage, float(dim)), dim) if self.oracle.exact else np.inf
        taken = self._away(leverage) if away else 0.0
        if taken == 0.0:
            taken = _towards(memo, subset, leverage)
        self.rejected += taken == 0.0
        self.history.add(-memo.log_det, leverage, taken, perf_counter() - self.begun)
        return gap

    def _away(self, leverage: float) -> float:
        """Step away from the worst atom when that promises more than the proposal."""
        memo = self.memo
        atoms, weights = memo.atoms()
        values = memo.leverages(atoms)
        worst = int(values.argmin())
        if len(atoms) < 2 or memo.dim - values[worst] <= leverage - memo.dim:
            return 0.0
        weight = float(weights[worst])
        return _towards(memo, atoms[worst], float(values[worst]), lowest=-weight / (1.0 - weight))

    def stalled(self, patience: int | None, tolerance: float) -> bool:
        """Whether the objective improved by less than the tolerance over the patience window."""
        record = self.history.objective
        return patience is not None and len(record) > patience and record[-1 - patience] - record[-1] < tolerance


def _descend(
    run: _Run, iterations: int, tolerance: float, patience: int | None, away: bool, certificate: bool
) -> DesignResult:
    status, done = DesignStatus.ITERATION_LIMIT, 0
    while done < iterations:
        gap = run.step(away)
        done += 1
        if gap <= tolerance:
            status = DesignStatus.OPTIMAL
            break
        if run.stalled(patience, tolerance):
            status = DesignStatus.STALLED
            break
    run.memo.refresh()
    design = run.memo.design()
    problem = run.memo.problem
    largest, certified = certify(problem, design) if certificate else (None, None)
    if status is not DesignStatus.ITERATION_LIMIT and certified is not None and certified <= tolerance:
        status = DesignStatus.OPTIMAL
    return DesignResult(
        design=design,
        log_det=design_log_det(problem, design),
        rank=problem.rank,
        max_leverage=largest,
        certified_gap=certified,
        iterations=done,
        rejected=run.rejected,
        status=status,
        history=run.history,
        counts=run.memo.counts,
    )


def _require_exact(problem: DesignProblem) -> LeverageOracle:
    oracle = exact_oracle(problem)
    if oracle is None:
        raise ValueError(
            f"problem must have few enough subsets for an exact oracle, got {problem.n_subsets}; pass an oracle or use "
            "randomized_frank_wolfe"
        )
    return oracle


def frank_wolfe(
    problem: DesignProblem,
    *,
    iterations: int = 1000,
    tolerance: float = 1e-6,
    oracle: LeverageOracle | None = None,
    start: Design | None = None,
    rng: np.random.Generator | None = None,
) -> DesignResult:
    """Deterministic Frank-Wolfe with exact line search.

    Parameters
    ----------
    problem : DesignProblem
        Items and subset size.
    iterations : int
        Largest number of iterations.
    tolerance : float
        Stop when the certified gap, in nats, is at most this.
    oracle : LeverageOracle, optional
        Chooses the subset to move towards; an exact one when left out.
    start : Design, optional
        First design; a small spanning one when left out.
    rng : numpy.random.Generator, optional
        Needed only by oracles that draw.

    Returns
    -------
    DesignResult

    Raises
    ------
    ValueError
        If no exact oracle is affordable and none is given, or an option is out of range.
    SingularDesignError
        If the start does not span.

    References
    ----------
    .. [1] Fedorov (1972); Wynn (1970); Khachiyan (1996); Zhao and Freund (2023).

    Examples
    --------
    >>> square = DesignProblem([[0, 0], [1, 0], [0, 1], [1, 1]], subset_size=2)
    >>> result = frank_wolfe(square, iterations=200)
    >>> result.certified_gap < 0.02 and abs(result.objective) < 0.02
    True
    """
    _check(problem, iterations, tolerance, None)
    chosen = _oracle(problem, oracle)
    memo = make_memo(problem, spanning_design(problem) if start is None else start)
    run = _Run(memo, chosen, _generator(rng))
    return _descend(run, iterations, tolerance, None, away=False, certificate=True)


def away_step_frank_wolfe(
    problem: DesignProblem,
    *,
    iterations: int = 5000,
    tolerance: float = 1e-9,
    oracle: LeverageOracle | None = None,
    start: Design | None = None,
    rng: np.random.Generator | None = None,
) -> DesignResult:
    """Frank-Wolfe that may also move away from its worst atom; converges linearly, for high accuracy.

    Parameters
    ----------
    problem, iterations, tolerance, oracle, start, rng
        As in `frank_wolfe`.

    Returns
    -------
    DesignResult

    Examples
    --------
    >>> items = DesignProblem([[0, 0], [1, 0], [0, 2], [3, 1]], subset_size=2)
    >>> round(away_step_frank_wolfe(items).objective, 9)
    -2.546347932
    """
    _check(problem, iterations, tolerance, None)
    chosen = _oracle(problem, oracle)
    memo = make_memo(problem, spanning_design(problem) if start is None else start)
    run = _Run(memo, chosen, _generator(rng))
    return _descend(run, iterations, tolerance, None, away=True, certificate=True)


def randomized_frank_wolfe(
    problem: DesignProblem,
    *,
    n_sampled: int,
    rng: np.random.Generator,
    iterations: int = 1000,
    tolerance: float = 1e-6,
    patience: int | None = None,
    start: Design | None = None,
    memo: Memo | None = None,
    certificate: bool = True,
) -> DesignResult:
    """Randomised Frank-Wolfe over all subsets with a memo and low-rank updates: the paper's method.

    Each iteration draws ``n_sampled`` subsets, moves towards the best of them by exact line search, and rejects it when
    it is no descent direction, so the objective never rises. Work per iteration: ``R K^2`` look-ups, one ``K^3``
    eigenvalue problem and ``N^2 (K - 1)`` for the memo.

    Parameters
    ----------
    problem : DesignProblem
        Items and subset size; the number of subsets may be astronomically large.
    n_sampled : int
        ``R``, subsets drawn per iteration.
    rng : numpy.random.Generator
        Source of randomness.
    iterations : int
        Largest number of iterations.
    tolerance : float
        With ``patience``: stop when the objective improved by less than this over so many iterations.
    patience : int, optional
        Window of the stopping rule; no early stop when left out. ``n_subsets / n_sampled`` iterations see each subset
        about once.
    start : Design, optional
        First design; a small spanning one when left out.
    memo : Memo, optional
        Prepared memo (for example to force `GramMemo`); takes the place of `start`.
    certificate : bool
        Compute the certificate at the end; skip it where only the design is wanted.

    Returns
    -------
    DesignResult

    Raises
    ------
    ValueError
        If ``n_sampled`` is not between 1 and the number of subsets, or an option is out of range.
    SingularDesignError
        If the start does not span.

    References
    ----------
    .. [1] Thekumparampil, Hiranandani, Kalantari, Sabach, Kveton, Comparing Few to Rank Many, ICML 2025.

    Examples
    --------
    >>> square = DesignProblem([[0, 0], [1, 0], [0, 1], [1, 1]], subset_size=2)
    >>> result = randomized_frank_wolfe(square, n_sampled=3, rng=np.random.default_rng(0), iterations=400)
    >>> result.certified_gap < 0.05
    True
    """
    _check(problem, iterations, tolerance, patience)
    require("rng", rng, np.random.Generator)
    oracle = UniformSample(problem, n_sampled)
    if memo is not None:
        require("memo", memo, Memo)
    if memo is not None and memo.problem is not problem:
        raise ValueError("memo must have been made for the same problem object")
    if memo is None:
        memo = make_memo(problem, spanning_design(problem) if start is None else start)
    return _descend(_Run(memo, oracle, rng), iterations, tolerance, patience, away=False, certificate=certificate)


def best_of_step(problem: DesignProblem, design: Design, subsets: IntArray) -> Design:
    """Move towards the best of the given subsets by exact line search, or keep the design when none is an ascent.

    Parameters
    ----------
    problem : DesignProblem
        Items and subset size.
    design : Design
        Must span.
    subsets : (n, K) ndarray of int
        Subsets to choose from, items ascending.

    Returns
    -------
    Design

    Examples
    --------
    >>> square = DesignProblem([[0, 0], [1, 0], [0, 1], [1, 1]], subset_size=2)
    >>> start = Design([[0, 1], [0, 2]], [0.5, 0.5])
    >>> sorted(best_of_step(square, start, np.array([[0, 1], [1, 2]])).as_dict())
    [(0, 1), (0, 2), (1, 2)]
    """
    memo = make_memo(problem, design)
    subsets = checked_subsets(problem, subsets)
    values = memo.leverages(subsets)
    best = int(values.argmax())
    _towards(memo, subsets[best], float(values[best]))
    return memo.design()


def frank_wolfe_step(problem: DesignProblem, design: Design) -> Design:
    """One step of `frank_wolfe`: the best of all subsets, exact line search.

    Parameters
    ----------
    problem : DesignProblem
        Its subsets must be few enough to list.
    design : Design
        Must span.

    Returns
    -------
    Design

    Examples
    --------
    >>> kite = DesignProblem([[0, 0], [1, 0], [0, 2], [3, 1]], subset_size=2)
    >>> moved = frank_wolfe_step(kite, Design.uniform(kite.subsets()))
    >>> round((moved.as_dict()[0, 3] - 1 / 6) * 6 / 5 * 158, 9)  # step 35/158
    35.0
    """
    return best_of_step(problem, design, problem.subsets())


def randomized_step(problem: DesignProblem, design: Design, n_sampled: int, rng: np.random.Generator) -> Design:
    """One step of `randomized_frank_wolfe`: the best of freshly drawn subsets.

    Parameters
    ----------
    problem : DesignProblem
        Items and subset size.
    design : Design
        Must span.
    n_sampled : int
        Subsets drawn.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    Design

    Examples
    --------
    >>> line = DesignProblem([[0.0], [1.0], [5.0]], subset_size=2)
    >>> randomized_step(line, Design([[0, 1]], [1.0]), 3, np.random.default_rng(0)).as_dict()
    {(0, 2): 1.0}
    """
    return best_of_step(problem, design, draw_subsets(problem, n_sampled, rng))
