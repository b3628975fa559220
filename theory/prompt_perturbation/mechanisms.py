"""The mechanisms as the paper defines them: plain formulas for rows of a channel, exact or in the log domain."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from whp.theory.prompt_perturbation.arguments import shortened
from whp.theory.prompt_perturbation.buckets import bucket_means, bucket_sizes, equal_width_labels
from whp.theory.prompt_perturbation.channel import Channel, Number
from whp.theory.prompt_perturbation.instances import ContextualPrompt, UtilityGridPair

__all__ = [
    "bucketised_grid_channel",
    "bucketised_log_row",
    "bucketised_row",
    "contextual_prompt_channel",
    "exponential_grid_channel",
    "exponential_log_row",
    "exponential_row",
    "position_row",
    "prompts",
]

Labelling = Callable[[Sequence[Number], int], tuple[int, ...]]


def exponential_row(weights: Sequence[Fraction]) -> tuple[Fraction, ...]:
    """Exponential mechanism from exact weights: ``P[r] = w_r / sum w``.

    Examples
    --------
    >>> from fractions import Fraction
    >>> exponential_row((Fraction(4), Fraction(2), Fraction(1)))
    (Fraction(4, 7), Fraction(2, 7), Fraction(1, 7))
    """
    total = sum(weights, Fraction(0))
    if total <= 0 or min(weights) < 0:
        raise ValueError(f"weights must be >= 0 and not all zero, got {tuple(weights)}")
    return tuple(weight / total for weight in weights)


def bucketised_row(labels: Sequence[int], bucket_weights: Mapping[int, Fraction]) -> tuple[Fraction, ...]:
    """Bucketised mechanism from exact bucket weights: ``P[r] = (w_b / sum_b w_b) / |b|`` for ``r`` in ``b``.

    Empty buckets have no weight: they are dropped, which is the same law as drawing again after hitting one.

    Examples
    --------
    >>> from fractions import Fraction
    >>> bucketised_row((1, 0, 0), {0: Fraction(1), 1: Fraction(3)})
    (Fraction(3, 4), Fraction(1, 8), Fraction(1, 8))
    """
    sizes = bucket_sizes(labels)
    if any(bucket_weights.get(label, 0) <= 0 for label in sizes):
        raise ValueError(f"bucket_weights must be positive for every label that occurs, got {dict(bucket_weights)}")
    total = sum((bucket_weights[label] for label in sizes), Fraction(0))
    return tuple(bucket_weights[label] / total / sizes[label] for label in labels)


def exponential_grid_channel(pair: UtilityGridPair) -> Channel:
    """Exact channel of the exponential mechanism at sensitivity one for a grid pair.

    Examples
    --------
    >>> from fractions import Fraction
    >>> exponential_grid_channel(UtilityGridPair((2, 1, 0), (1, 2, 0), 3, Fraction(2))).rows[0]
    (Fraction(4, 7), Fraction(2, 7), Fraction(1, 7))
    """
    rows = [exponential_row([pair.base**level for level in levels]) for levels in (pair.first, pair.second)]
    return Channel(rows, inputs=())


def bucketised_grid_channel(pair: UtilityGridPair, labelling: Labelling = equal_width_labels) -> Channel:
    """Exact channel of the bucketised mechanism at sensitivity one for a grid pair.

    Parameters
    ----------
    pair : UtilityGridPair
        Two inputs; ``levels`` is the number of buckets.
    labelling : callable, optional
        Equal-width buckets by default.

    Raises
    ------
    ValueError
        If a bucket mean falls between grid points, so that its weight is no fraction. It cannot with equal widths when
        both inputs occupy the lowest and highest level.
    """
    rows = []
    for levels in (pair.first, pair.second):
        exact_levels = [Fraction(level) for level in levels]
        labels = labelling(exact_levels, pair.levels)
        means = bucket_means(exact_levels, labels)
        fractional = [mean for mean in means.values() if Fraction(mean).denominator != 1]
        if fractional:
            raise ValueError(f"bucket means must be grid levels to have rational weights, got {fractional[0]}")
        rows.append(bucketised_row(labels, {label: pair.base ** int(mean) for label, mean in means.items()}))
    return Channel(rows, inputs=())


def exponential_log_row(utilities: NDArray[np.float64], epsilon: float, sensitivity: float) -> NDArray[np.float64]:
    """Log probabilities of the exponential mechanism, ``epsilon u / (2 Delta) - log Z``.

    Examples
    --------
    >>> exponential_log_row(np.array([0.0, 0.0]), 1.0, 1.0)
    array([-0.69314718, -0.69314718])
    """
    if utilities.size == 0 or not np.isfinite(utilities).all():
        raise ValueError(f"utilities must be at least one finite number, got {shortened(utilities)}")
    if not (math.isfinite(epsilon) and epsilon >= 0 and math.isfinite(sensitivity) and sensitivity > 0):
        raise ValueError(f"epsilon must be >= 0, sensitivity > 0, both finite, got {epsilon} and {sensitivity}")
    return _normalised((utilities - utilities.max()) * (epsilon / (2.0 * sensitivity)))


def bucketised_log_row(
    utilities: NDArray[np.float64],
    labels: Sequence[int],
    epsilon: float,
    sensitivity: float,
) -> NDArray[np.float64]:
    """Log probabilities of the bucketised mechanism for given bucket labels.

    Examples
    --------
    >>> np.exp(bucketised_log_row(np.array([1.0, 0.0, 0.0]), (1, 0, 0), 0.0, 1.0))
    array([0.5 , 0.25, 0.25])
    """
    if len(labels) != utilities.size or not labels:
        raise ValueError(f"labels must name the bucket of each of {utilities.size} tokens, got {len(labels)}")
    used, members, sizes = np.unique(np.asarray(labels), return_inverse=True, return_counts=True)
    means = np.array([utilities[members == bucket].mean() for bucket in range(used.size)])
    per_bucket = exponential_log_row(means, epsilon, sensitivity) - np.log(sizes)
    return np.asarray(per_bucket[members], dtype=np.float64)


def _normalised(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(scores - np.log(np.exp(scores).sum()), dtype=np.float64)


def prompts(n_tokens: int, length: int) -> Iterator[tuple[int, ...]]:
    """All ``n_tokens ** length`` token strings, in lexicographic order.

    Examples
    --------
    >>> list(prompts(2, 2))
    [(0, 0), (0, 1), (1, 0), (1, 1)]
    """
    return itertools.product(range(n_tokens), repeat=length)


def position_row(
    problem: ContextualPrompt,
    prompt: Sequence[int],
    released: Sequence[int],
    position: int,
) -> tuple[Fraction, ...]:
    """Exact output distribution at one position, given the prompt and the outputs released so far.

    Parameters
    ----------
    problem : ContextualPrompt
        Utility levels and the kind of context they are fed.
    prompt : sequence of int
        The user's tokens.
    released : sequence of int
        Outputs at the positions before ``position``.
    position : int
        Which position to release next.
    """
    none = problem.n_tokens
    left = right = none
    if problem.context == "original_neighbours":
        left = prompt[position - 1] if position > 0 else none
        right = prompt[position + 1] if position + 1 < len(prompt) else none
    elif problem.context == "perturbed_prefix":
        left = released[position - 1] if position > 0 else none
    return exponential_row([problem.base**level for level in problem.levels[left][prompt[position]][right]])


def contextual_prompt_channel(problem: ContextualPrompt) -> Channel:
    """Exact channel from whole prompts to whole outputs, by enumeration of all ``V ** n`` strings on both sides.

    Parameters
    ----------
    problem : ContextualPrompt
        Small enough to enumerate: at most 4096 strings.

    Raises
    ------
    ValueError
        If there are more than 4096 strings.
    """
    if problem.n_tokens**problem.length > 4096:
        raise ValueError(f"enumeration needs V**n <= 4096 strings, got {problem.n_tokens}**{problem.length}")
    rows = []
    for prompt in prompts(problem.n_tokens, problem.length):
        row = []
        for output in prompts(problem.n_tokens, problem.length):
            probability = Fraction(1)
            for position, token in enumerate(output):
                probability *= position_row(problem, prompt, output, position)[token]
            row.append(probability)
        rows.append(row)
    return Channel(rows)
