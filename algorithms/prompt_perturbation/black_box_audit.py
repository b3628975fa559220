"""Audit of a mechanism that can only be sampled: a lower bound on its loss, with a confidence statement."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from whp.algorithms.prompt_perturbation.validation import checked_integer, checked_number, checked_rng

__all__ = ["BlackBoxAudit", "audit_black_box", "binomial_lower", "binomial_upper"]

Sampler: TypeAlias = Callable[[np.random.Generator, int], NDArray[np.int64]]


@dataclass(frozen=True)
class BlackBoxAudit:
    """Statistical lower bound on the privacy loss between two inputs.

    Attributes
    ----------
    loss_at_least : float
        With probability at least ``confidence`` the true loss is no smaller; never below zero.
    confidence : float
        Level of that statement.
    event : tuple of int
        Output tokens that form the event used.
    likelier_input : int
        0 or 1: which input makes the event more likely.
    likelier_count, rarer_count : int
        Occurrences of the event among the held-out draws of either input.
    n_draws : int
        Held-out draws per input.
    """

    loss_at_least: float
    confidence: float
    event: tuple[int, ...]
    likelier_input: int
    likelier_count: int
    rarer_count: int
    n_draws: int


def audit_black_box(
    first: Sampler,
    second: Sampler,
    *,
    n_outputs: int,
    n_draws: int,
    rng: np.random.Generator,
    confidence: float = 0.95,
) -> BlackBoxAudit:
    """Lower-bound the loss between two inputs from samples alone.

    One half of the draws chooses the output event with the largest estimated ratio; the other half, independent of that
    choice, bounds its two probabilities by Clopper-Pearson intervals at ``(1 - confidence) / 2`` each.

    Parameters
    ----------
    first, second : callable
        ``sampler(rng, size)`` returns ``size`` independent output indices for the respective input.
    n_outputs : int
        Outputs are ``0 .. n_outputs - 1``.
    n_draws : int
        Draws per input, at least two; half of them select, half of them decide.
    rng : numpy.random.Generator
        Source of randomness.
    confidence : float, default 0.95
        Strictly between 0 and 1.

    Returns
    -------
    BlackBoxAudit
        A bound of zero says nothing: it does not show that the mechanism is private.

    Raises
    ------
    ValueError
        If a parameter is out of range or a sampler returns the wrong shape or range.

    Examples
    --------
    >>> heads = lambda rng, size: rng.binomial(1, 0.75, size)
    >>> tails = lambda rng, size: rng.binomial(1, 0.25, size)
    >>> audit = audit_black_box(heads, tails, n_outputs=2, n_draws=20_000, rng=np.random.default_rng(0))
    >>> 1.0 < audit.loss_at_least < math.log(3)
    True
    """
    n_outputs, n_draws = checked_integer("n_outputs", n_outputs, 1), checked_integer("n_draws", n_draws, 2)
    checked_rng(rng)
    confidence = _strictly_inside("confidence", confidence)
    selecting, deciding = n_draws // 2, n_draws - n_draws // 2
    chosen_counts = [_counts(sampler, rng, selecting, n_outputs) for sampler in (first, second)]
    event, likelier = _worst_event(chosen_counts[0], chosen_counts[1])
    held_out = [int(_counts(sampler, rng, deciding, n_outputs)[event].sum()) for sampler in (first, second)]
    likelier_count, rarer_count = held_out[likelier], held_out[1 - likelier]
    tail = (1.0 - confidence) / 2.0
    lower = binomial_lower(likelier_count, deciding, tail)
    upper = binomial_upper(rarer_count, deciding, tail)
    bound = max(math.log(lower / upper), 0.0) if lower > 0.0 else 0.0
    events = tuple(int(output) for output in event)
    return BlackBoxAudit(bound, confidence, events, likelier, likelier_count, rarer_count, deciding)


def binomial_lower(successes: int, trials: int, tail: float) -> float:
    """Clopper-Pearson lower limit: below the true probability except with probability ``tail``.

    Examples
    --------
    >>> binomial_lower(0, 10, 0.05)
    0.0
    """
    from scipy.special import betaincinv

    successes, trials, tail = _checked_counts(successes, trials, tail)
    return float(betaincinv(successes, trials - successes + 1, tail)) if successes > 0 else 0.0


def binomial_upper(successes: int, trials: int, tail: float) -> float:
    """Clopper-Pearson upper limit: above the true probability except with probability ``tail``.

    Examples
    --------
    >>> round(binomial_upper(0, 10, 0.05), 6)
    0.258866
    """
    from scipy.special import betainccinv

    successes, trials, tail = _checked_counts(successes, trials, tail)
    return float(betainccinv(successes + 1, trials - successes, tail)) if successes < trials else 1.0


def _checked_counts(successes: int, trials: int, tail: float) -> tuple[int, int, float]:
    number = checked_integer("trials", trials, 0)
    return checked_integer("successes", successes, 0, number), number, _strictly_inside("tail", tail)


def _strictly_inside(name: str, value: float) -> float:
    number = checked_number(name, value)
    if not 0.0 < number < 1.0:
        raise ValueError(f"{name} must lie strictly between 0 and 1, got {value}")
    return number


def _counts(sampler: Sampler, rng: np.random.Generator, size: int, n_outputs: int) -> NDArray[np.int64]:
    outputs = np.asarray(sampler(rng, size))
    if outputs.shape != (size,) or not np.issubdtype(outputs.dtype, np.integer):
        raise ValueError(f"samplers must return {size} integers, got shape {outputs.shape} of {outputs.dtype}")
    if outputs.min() < 0 or outputs.max() >= n_outputs:
        raise ValueError(f"samplers must return outputs in 0..{n_outputs - 1}, got {outputs.min()}..{outputs.max()}")
    return np.bincount(outputs, minlength=n_outputs)


def _worst_event(first: NDArray[np.int64], second: NDArray[np.int64]) -> tuple[NDArray[np.int64], int]:
    """Best prefix of the outputs ranked by estimated ratio, over both directions, by a lower-bound score."""
    best_score, best_event, best_direction = -math.inf, np.array([0]), 0
    for direction, (numerator, denominator) in enumerate(((first, second), (second, first))):
        ranking = np.argsort(-(numerator + 0.5) / (denominator + 1.0), kind="stable")
        hits, misses = np.cumsum(numerator[ranking]), np.cumsum(denominator[ranking])
        prefixes = _scores(hits, misses)
        singles = _scores(numerator, denominator)
        if prefixes.max() >= max(singles.max(), best_score):
            best_score, best_direction = float(prefixes.max()), direction
            best_event = np.sort(ranking[: int(prefixes.argmax()) + 1])
        elif singles.max() > best_score:
            best_score, best_direction = float(singles.max()), direction
            best_event = np.array([int(singles.argmax())])
    return best_event, best_direction


def _scores(hits: NDArray[np.int64], misses: NDArray[np.int64]) -> NDArray[np.float64]:
    """Normal-approximate lower limit of the log ratio, three standard errors below; only selects, never decides."""
    estimate = np.log(hits + 0.5) - np.log(misses + 1.0)
    return np.asarray(estimate - 3.0 * np.sqrt(1.0 / (hits + 0.5) + 1.0 / (misses + 1.0)))
