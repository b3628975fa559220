"""Constants and bounds of the paper and of its derived statements.

Closed forms are `Bound` objects (evaluate, enclose, invert, typeset); functions add the cases that are no formula.
"""

from __future__ import annotations

from fractions import Fraction
from math import inf, log, log1p
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from whp.theory.core import Bound, Domain, Symbol
from whp.theory.plackett_luce_design.validation import real_number, whole_number

Array = NDArray[np.float64]

__all__ = [
    "CERTIFIED_GAP",
    "CRUDE_CONSTANT",
    "ESTIMATION_ERROR",
    "FRANK_WOLFE_GAP",
    "HESSIAN_CONSTANT",
    "INITIAL_GAP",
    "MEAN_PAIR_LEVERAGE",
    "PROGRESS",
    "RANDOMISED_ITERATIONS",
    "RANKING_LOSS",
    "certified_gap_bound",
    "crude_hessian_constant",
    "estimation_error_bound",
    "expected_failure_iterations",
    "fisher_constant_at_zero",
    "frank_wolfe_gap_after",
    "frank_wolfe_iterations",
    "frank_wolfe_progress",
    "hessian_constant_of_box",
    "hessian_lower_constant",
    "hitting_time_tail",
    "initial_gap_bound",
    "mean_pair_leverage_bound",
    "misordered_pairs_bound",
    "omega",
    "prediction_error_bound",
    "questions_for_ranking_loss",
    "ranking_loss_bound",
]

_SIZE = Symbol("subset_size", Domain.integers(2), "items in a question", latex="K")
_BOX = Symbol("utility_bound", Domain.reals(0, 300), "utilities lie in [-B, B]", "decreasing", latex="B")
_DIM = Symbol("dim", Domain.reals(0, open="low"), "dimension of the span", latex="d")
_LEVERAGE = Symbol("max_leverage", Domain.reals(0, open="low"), "largest leverage over all subsets", latex="L")
_QUESTIONS = Symbol("n_questions", Domain.integers(1), "questions asked", "decreasing", latex="T")


def _kappa(m: Any, subset_size: Any, utility_bound: Any) -> Any:
    low, high = m.exp(-utility_bound), m.exp(utility_bound)
    inner = 2 + (subset_size - 2) * high * high
    outer = low + (subset_size - 1) * high
    return m.minimum(1 / (inner * inner), 1 / (outer * outer))


HESSIAN_CONSTANT = Bound("kappa_K(B)", _kappa, (_SIZE, _BOX))
"""``min{1/(2+(K-2)e^{2B})^2, 1/(e^{-B}+(K-1)e^B)^2}``, T2a."""

CRUDE_CONSTANT = Bound(
    "exp(-4B) / K^2", lambda m, subset_size, utility_bound: m.exp(-4 * utility_bound) / subset_size**2, (_SIZE, _BOX)
)
"""The constant usual in this line of work, T2b."""

CERTIFIED_GAP = Bound(
    "d log(L / d)", lambda m, max_leverage, dim: dim * m.log(max_leverage / dim), (_LEVERAGE, _DIM), "nats"
)
"""Distance from the optimum certified by the largest leverage, T3."""

FRANK_WOLFE_GAP = Bound("L - d", lambda m, max_leverage, dim: max_leverage - dim, (_LEVERAGE, _DIM), "nats")
"""The gradient gap, never below `CERTIFIED_GAP`, T3."""

PROGRESS = Bound(
    "omega(G / (G + d))",
    lambda m, gap, dim: gap / (gap + dim) - m.log1p(gap / (gap + dim)),
    (Symbol("gap", Domain.reals(0), "Frank-Wolfe gap L - d", "increasing", latex="G"), _DIM),
    "nats",
)
"""Least decrease of one exact step, T5."""

INITIAL_GAP = Bound(
    "d log(n_S min(K - 1, d) / d)",
    lambda m, n_subsets, subset_size, dim: m.maximum(0, dim * m.log(n_subsets * m.minimum(subset_size - 1, dim) / dim)),
    (Symbol("n_subsets", Domain.integers(1), "subsets that may be asked", latex="n_S"), _SIZE, _DIM),
    "nats",
)
"""Primal gap of the uniform design, T5."""

RANDOMISED_ITERATIONS = Bound(
    "T_det n_S / R",
    lambda m, steps, n_sampled, n_subsets: steps * n_subsets / n_sampled,
    (
        Symbol("steps", Domain.integers(0), "iterations of the exact method that suffice", latex="T_{det}"),
        Symbol("n_sampled", Domain.integers(1), "subsets sampled per iteration", "decreasing", latex="R"),
        Symbol("n_subsets", Domain.integers(1), "subsets that may be asked", latex="n_S"),
    ),
)
"""Mean number of randomised iterations, T6."""

ESTIMATION_ERROR = Bound(
    "d / (4 kappa^2 T delta)",
    lambda m, dim, n_questions, subset_size, utility_bound, failure: (
        dim / (4 * _kappa(m, subset_size, utility_bound) ** 2 * n_questions * failure)
    ),
    (
        _DIM,
        _QUESTIONS,
        _SIZE,
        Symbol("utility_bound", Domain.reals(0, 300), "utilities lie in [-B, B]", "increasing", latex="B"),
        Symbol(
            "failure", Domain.reals(0, 1, open="low"), "failure probability; 1 for the mean", "decreasing", r"\delta"
        ),
    ),
)
"""Squared error of the estimate in the norm of the mean information, T7b."""

RANKING_LOSS = Bound(
    "d^2 / (2 K (K-1) kappa^2 T Delta^2)",
    lambda m, dim, n_questions, subset_size, utility_bound, smallest_gap: (
        dim**2
        / (2 * subset_size * (subset_size - 1) * _kappa(m, subset_size, utility_bound) ** 2 * n_questions)
        / smallest_gap**2
    ),
    (
        _DIM,
        _QUESTIONS,
        _SIZE,
        Symbol("utility_bound", Domain.reals(0, 300), "utilities lie in [-B, B]", "increasing", latex="B"),
        Symbol("smallest_gap", Domain.reals(0, open="low"), "least utility difference", "decreasing", r"\Delta"),
    ),
)
"""Expected share of misordered pairs after the questions of an optimal design, T7f."""

MEAN_PAIR_LEVERAGE = Bound(
    "d / C(K, 2)", lambda m, dim, subset_size: 2 * dim / (subset_size * (subset_size - 1)), (_DIM, _SIZE)
)
"""Mean over all pairs of ``z' V^{-1} z`` at an optimal design, T7d."""


def _check_size(subset_size: int) -> None:
    whole_number("subset_size", subset_size, 2)


def _positive(name: str, value: float, *, zero: bool = False) -> None:
    if zero:
        real_number(name, value, at_least=0)
    else:
        real_number(name, value, above=0)


def hessian_lower_constant(subset_size: int, utility_bound: float) -> float:
    """``kappa_K(B)``: the Hessian of any ranking is at least ``kappa M_S`` when utilities lie in ``[-B, B]``.

    Parameters
    ----------
    subset_size : int
        ``K >= 2``.
    utility_bound : float
        ``B >= 0``.

    Returns
    -------
    float
        ``min{1/(2+(K-2)e^{2B})^2, 1/(e^{-B}+(K-1)e^{B})^2}``, the least value of ``p_j p_j'`` at the first stage.

    References
    ----------
    .. [1] Derived in brief `plackett_luce_design`, T2(a).

    Examples
    --------
    >>> round(hessian_lower_constant(2, 1.0), 12)
    0.104993585404
    """
    _check_size(subset_size)
    _positive("utility_bound", utility_bound, zero=True)
    if utility_bound > 300:
        return 0.0
    return float(HESSIAN_CONSTANT(subset_size=subset_size, utility_bound=utility_bound))


def hessian_constant_of_box(subset_size: int, box: Any) -> Any:
    """``kappa_K(log box)`` for weights in ``[1/box, box]``, in the arithmetic of `box`.

    Examples
    --------
    >>> hessian_constant_of_box(3, Fraction(2))
    Fraction(1, 36)
    """
    _check_size(subset_size)
    if not box >= 1:
        raise ValueError(f"box must be at least 1, got {box!r}")
    inner, outer = 2 + (subset_size - 2) * box * box, 1 / box + (subset_size - 1) * box
    return min(1 / (inner * inner), 1 / (outer * outer))


def crude_hessian_constant(subset_size: int, utility_bound: float) -> float:
    """``e^{-4B} / K^2``, the constant usual in this line of work; never above `hessian_lower_constant`.

    Examples
    --------
    >>> round(crude_hessian_constant(2, 1.0), 12)
    0.004578909722
    """
    _check_size(subset_size)
    _positive("utility_bound", utility_bound, zero=True)
    if utility_bound > 300:
        return 0.0
    return float(CRUDE_CONSTANT(subset_size=subset_size, utility_bound=utility_bound))


def fisher_constant_at_zero(subset_size: int) -> Fraction:
    """``c_K = (K - H_K) / (K (K - 1))``: the Fisher information of one ranking at ``theta = 0`` is ``c_K M_S``.

    Examples
    --------
    >>> fisher_constant_at_zero(3)
    Fraction(7, 36)
    """
    _check_size(subset_size)
    harmonic = sum((Fraction(1, k) for k in range(1, subset_size + 1)), Fraction(0))
    return (subset_size - harmonic) / (subset_size * (subset_size - 1))


def omega(s: float) -> float:
    """``s - log(1 + s)``, the decrease function of self-concordant barriers.

    Examples
    --------
    >>> omega(0.0)
    0.0
    """
    _positive("s", s, zero=True)
    return _omega(s)


def _omega(s: float) -> float:
    # the series avoids cancellation, which below 1e-4 costs more digits than the truncated fourth term
    return s * s / 2 - s**3 / 3 + s**4 / 4 if s < 1e-4 else s - log1p(s)


def certified_gap_bound(max_leverage: float, dim: float) -> float:
    """``d log(L / d)``: how far a design with largest leverage ``L`` is from the optimum, in nats.

    Parameters
    ----------
    max_leverage : float
        ``L``, the largest ``tr(M_S V^{-1})`` over *all* subsets; a sampled maximum certifies nothing.
    dim : float
        Dimension of the span.

    Returns
    -------
    float
        At most the Frank-Wolfe gap ``L - d``.

    Examples
    --------
    >>> certified_gap_bound(2.0, 2)
    0.0
    """
    _positive("dim", dim)
    if not dim * (1 - 1e-9) <= max_leverage < inf:
        raise ValueError(f"max_leverage must be at least dim={dim} and finite, got {max_leverage!r}")
    return dim * log1p(max(max_leverage - dim, 0.0) / dim)


def frank_wolfe_progress(gap: float, dim: float) -> float:
    """``omega(G / (G + d))``: least decrease of one exact Frank-Wolfe step with exact line search.

    Examples
    --------
    >>> round(frank_wolfe_progress(2.0, 2.0), 9)
    0.094534892
    """
    _positive("gap", gap, zero=True)
    _positive("dim", dim)
    return _progress(gap, dim)


def _progress(gap: float, dim: float) -> float:
    return _omega(gap / (gap + dim))


def frank_wolfe_gap_after(initial_gap: float, dim: float, steps: int) -> float:
    """Primal gap guaranteed after so many exact steps, by iterating ``gap - omega(gap / (gap + d))``.

    Examples
    --------
    >>> frank_wolfe_gap_after(1.0, 2.0, 0)
    1.0
    """
    _positive("initial_gap", initial_gap, zero=True)
    _positive("dim", dim)
    whole_number("steps", steps, 0)
    gap = float(initial_gap)
    for _ in range(steps):
        gap = max(gap - _progress(gap, dim), 0.0)
    return gap


def frank_wolfe_iterations(initial_gap: float, dim: float, accuracy: float) -> int:
    """``T_det``: exact steps that suffice to bring the primal gap from `initial_gap` to `accuracy`.

    Parameters
    ----------
    initial_gap, accuracy : float
        Primal gaps in nats.
    dim : float
        Dimension of the span.

    Returns
    -------
    int
        Number of steps of the scalar recursion; of order ``d log(gap) + d^2 / accuracy``.

    Raises
    ------
    ValueError
        If the answer would exceed 50 million.

    Examples
    --------
    >>> frank_wolfe_iterations(1.0, 2.0, 0.5)
    17
    """
    _positive("initial_gap", initial_gap, zero=True)
    _positive("accuracy", accuracy)
    _positive("dim", dim)
    # one step loses at least accuracy^2 / (2 (accuracy + d)^2) (2/3), so this refuses before looping
    if initial_gap > accuracy and initial_gap / frank_wolfe_progress(accuracy, dim) > 1e14:
        raise ValueError(f"accuracy must be large enough for 50 million steps, got {accuracy!r}")
    gap, steps = float(initial_gap), 0
    while gap > accuracy:
        gap -= _progress(gap, dim)
        steps += 1
        if steps > 50_000_000:
            raise ValueError(f"accuracy must be large enough for 50 million steps, got {accuracy!r}")
    return steps


def initial_gap_bound(n_subsets: int, subset_size: int, dim: int) -> float:
    """``d log(n_S min(K - 1, d) / d)``: primal gap of the uniform design over all subsets.

    Examples
    --------
    >>> initial_gap_bound(1, 3, 2)
    0.0
    """
    _check_size(subset_size)
    whole_number("n_subsets", n_subsets, 1)
    whole_number("dim", dim, 1)
    # the logarithm of the whole number, which may be too large for a float
    return max(dim * (log(n_subsets) + log(min(subset_size - 1, dim) / dim)), 0.0)


def hitting_time_tail(iterations: int, successes_needed: int, success_probability: float) -> float:
    """``P(Bin(t, p) < T_det)``: bound on the chance that the randomised method needs more than ``t`` iterations.

    Parameters
    ----------
    iterations : int
        ``t``.
    successes_needed : int
        ``T_det`` from `frank_wolfe_iterations`.
    success_probability : float
        ``p = R / n_S``, the chance that the best subset is among the ``R`` sampled ones.

    Returns
    -------
    float
        Probability.

    Examples
    --------
    >>> hitting_time_tail(2, 1, 0.5)
    0.25
    """
    from scipy.stats import binom

    whole_number("iterations", iterations, 0)
    whole_number("successes_needed", successes_needed, 0)
    real_number("success_probability", success_probability, above=0, at_most=1)
    if successes_needed == 0:
        return 0.0
    return float(binom.cdf(successes_needed - 1, iterations, success_probability))


def expected_failure_iterations(successes_needed: int, n_sampled: int, n_subsets: int) -> float:
    """``T_det n_S / R``: bound on the mean number of randomised iterations.

    Examples
    --------
    >>> expected_failure_iterations(10, 7, 56)
    80.0
    """
    whole_number("successes_needed", successes_needed, 0)
    whole_number("n_subsets", n_subsets, 1)
    whole_number("n_sampled", n_sampled, 1, n_subsets)
    return float(RANDOMISED_ITERATIONS(steps=successes_needed, n_sampled=n_sampled, n_subsets=n_subsets))


def estimation_error_bound(
    dim: int, n_questions: int, subset_size: int, failure: float = 1.0, utility_bound: float = 1.0
) -> float:
    """``d / (4 kappa^2 T delta)``: bound on ``||estimate - truth||^2`` in the norm of the design's mean information.

    With ``failure=1`` it bounds the expectation, otherwise it holds with probability ``1 - failure`` (Markov).

    Examples
    --------
    >>> round(estimation_error_bound(2, 100, 2), 6)
    0.45357
    """
    whole_number("dim", dim, 1)
    whole_number("n_questions", n_questions, 1)
    real_number("failure", failure, above=0, at_most=1)
    _check_size(subset_size)
    _positive("utility_bound", utility_bound, zero=True)
    if utility_bound > 100:
        return inf
    return float(
        ESTIMATION_ERROR(
            dim=dim,
            n_questions=n_questions,
            subset_size=subset_size,
            utility_bound=utility_bound,
            failure=failure,
        )
    )


def prediction_error_bound(
    max_leverage: float, dim: int, n_questions: int, subset_size: int, failure: float = 1.0, utility_bound: float = 1.0
) -> float:
    """``L d / (4 kappa^2 T delta)``: bound on the largest sum of squared pair errors within one subset.

    Examples
    --------
    >>> round(prediction_error_bound(2.0, 2, 100, 2), 6)
    0.90714
    """
    _positive("max_leverage", max_leverage)
    return max_leverage * estimation_error_bound(dim, n_questions, subset_size, failure, utility_bound)


def ranking_loss_bound(
    dim: int, n_questions: int, subset_size: int, smallest_gap: float, utility_bound: float = 1.0
) -> float:
    """``d^2 / (2 K (K - 1) kappa^2 T Delta^2)``: bound on the expected share of misordered pairs.

    Holds for the questions of a D-optimal design over all subsets.

    Examples
    --------
    >>> round(ranking_loss_bound(2, 100, 2, 1.0), 6)
    0.90714
    """
    _positive("smallest_gap", smallest_gap)
    _check_size(subset_size)
    whole_number("dim", dim, 1)
    whole_number("n_questions", n_questions, 1)
    _positive("utility_bound", utility_bound, zero=True)
    if utility_bound > 100:
        return inf
    return float(
        RANKING_LOSS(
            dim=dim,
            n_questions=n_questions,
            subset_size=subset_size,
            utility_bound=utility_bound,
            smallest_gap=smallest_gap,
        )
    )


def questions_for_ranking_loss(
    loss: float, dim: int, subset_size: int, smallest_gap: float, utility_bound: float = 1.0
) -> int:
    """Questions after which `ranking_loss_bound` is at most `loss`.

    Examples
    --------
    >>> questions_for_ranking_loss(0.05, 2, 2, 1.0)
    1815
    """
    real_number("loss", loss, above=0, at_most=1)
    _check_size(subset_size)
    whole_number("dim", dim, 1)
    _positive("smallest_gap", smallest_gap)
    _positive("utility_bound", utility_bound, zero=True)
    return int(
        RANKING_LOSS.solve(
            "n_questions",
            at_most=loss,
            dim=dim,
            subset_size=subset_size,
            utility_bound=utility_bound,
            smallest_gap=smallest_gap,
        )
    )


def mean_pair_leverage_bound(dim: float, subset_size: int) -> float:
    """``d / C(K, 2)``: bound on the mean over all pairs of ``z' V^{-1} z`` at an optimal design.

    Examples
    --------
    >>> mean_pair_leverage_bound(6, 3)
    2.0
    """
    _check_size(subset_size)
    _positive("dim", dim)
    return float(MEAN_PAIR_LEVERAGE(dim=dim, subset_size=subset_size))


def misordered_pairs_bound(true_differences: ArrayLike, difference_errors: ArrayLike) -> float:
    """``sum (error / difference)^2`` over pairs: bound on the number of misordered pairs, T7(e).

    Examples
    --------
    >>> misordered_pairs_bound([1.0, 2.0], [1.0, 1.0])
    1.25
    """
    truth = np.asarray(true_differences, dtype=float)
    error = np.asarray(difference_errors, dtype=float)
    if truth.shape != error.shape or not (np.isfinite(truth).all() and np.isfinite(error).all()):
        raise ValueError(f"true_differences and difference_errors must be finite and of equal shape, got {truth.shape}")
    if (truth == 0).any():
        raise ValueError("true_differences must not be zero: a tie has no right order")
    with np.errstate(over="ignore"):  # beyond the largest float the bound is infinite, which is true
        return float(((error / truth) ** 2).sum())
