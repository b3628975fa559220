"""Broken mechanisms and accountants, each with the mistake its name says."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from whp.algorithms.prompt_perturbation import (
    equal_width_buckets,
    exact_bucketised_row,
    exact_exponential_row,
    exponential_mechanism,
)
from whp.proofs_checks.prompt_perturbation.slots import ExactMechanism, Mechanism, Sizes
from whp.proofs_checks.prompt_perturbation.subjects import (
    bucketised_row,
    bucketised_sampler,
    equal_frequency_row,
    exponential_row,
)
from whp.theory.prompt_perturbation import bucketised_log_row

__all__ = [
    "halved_sensitivity",
    "halved_sensitivity_exactly",
    "never_the_best_token",
    "one_group_too_many",
    "one_sided_output_ban",
    "overflowing_exponential",
    "plain_epsilon",
    "reported_accountant",
    "scored_by_sum",
    "sizes_of_one_input",
    "top_edge_in_its_own_bucket",
    "unclipped_top_edge",
    "without_bucket_size",
    "without_bucket_size_exactly",
]

Levels = tuple[int, ...]


def halved_sensitivity(mechanism: Mechanism) -> Mechanism:
    """Divide by half the sensitivity."""

    def broken(u: NDArray[np.float64], epsilon: float, sensitivity: float, n: int) -> NDArray[np.float64]:
        return mechanism(u, epsilon, sensitivity / 2, n)

    return broken


def halved_sensitivity_exactly(mechanism: ExactMechanism) -> ExactMechanism:
    """Divide by half the sensitivity: weights are squared."""

    def broken(levels: Levels, n_levels: int, base: Fraction) -> tuple[Fraction, ...]:
        return tuple(mechanism(levels, n_levels, base**2))

    return broken


def scored_by_sum(u: NDArray[np.float64], epsilon: float, sensitivity: float, n: int) -> NDArray[np.float64]:
    """Score a bucket by the sum of its utilities instead of their mean."""
    partition = equal_width_buckets(u, n)
    sums = partition.mean_utilities * partition.sizes
    chosen = exponential_mechanism(sums, epsilon, sensitivity=sensitivity).log_probabilities
    return np.asarray((chosen - np.log(partition.sizes))[partition.members])


def without_bucket_size(u: NDArray[np.float64], epsilon: float, sensitivity: float, n: int) -> NDArray[np.float64]:
    """Forget the factor 1/|b|: tokens weighted by their bucket's mean utility."""
    partition = equal_width_buckets(u, n)
    scores = partition.mean_utilities[partition.members]
    return exponential_mechanism(scores, epsilon, sensitivity=sensitivity).log_probabilities


def without_bucket_size_exactly(levels: Levels, n_levels: int, base: Fraction) -> tuple[Fraction, ...]:
    """Forget the factor 1/|b|, in fractions."""
    return exact_exponential_row(levels, n_levels, base)


def top_edge_in_its_own_bucket(levels: Levels, n_levels: int, base: Fraction) -> tuple[Fraction, ...]:
    """Give the tokens on the top edge a bucket of index N_b, and the bucket N_b - 1 what lies below."""
    if len(set(levels)) == 1:
        return exact_bucketised_row(levels, n_levels, base)
    top = n_levels - 1
    weights = {level: base**level for level in set(levels)} | {top: base ** (top + 1)}
    sizes, total = Counter(levels), sum(weights.values(), Fraction(0))
    return tuple(weights[level] / total / sizes[level] for level in levels)


def unclipped_top_edge(u: NDArray[np.float64], epsilon: float, sensitivity: float, n: int) -> NDArray[np.float64]:
    """Leave the top edge unclipped: the best tokens land in a bucket of index N_b of their own."""
    span = float(np.ptp(u)) or 1.0
    labels = np.floor(n * ((u - u.min()) / span)).astype(int)
    return bucketised_log_row(u, labels.tolist(), epsilon, sensitivity)


def one_group_too_many(u: NDArray[np.float64], epsilon: float, sensitivity: float, n: int) -> NDArray[np.float64]:
    """Cut the sorted tokens into one group more than asked."""
    return equal_frequency_row(u, epsilon, sensitivity, n + 1)


def never_the_best_token(u: NDArray[np.float64], epsilon: float, sensitivity: float, n: int) -> NDArray[np.float64]:
    """Delete the most useful token (the original, for distance utilities) and renormalise."""
    row = bucketised_row(u, epsilon, sensitivity, n).copy()
    if row.size > 1:
        row[int(np.argmax(u))] = -np.inf
        row -= np.log(np.exp(row - row.max()).sum()) + row.max()
    return row


def one_sided_output_ban(u: NDArray[np.float64], epsilon: float, sensitivity: float, n: int) -> NDArray[np.float64]:
    """Ban the last token (a stop word, say) from the outputs of those inputs that find it useless."""
    row = bucketised_row(u, epsilon, sensitivity, n).copy()
    if row.size > 1 and u[-1] < u.mean():
        row[-1] = -np.inf
        row -= np.log(np.exp(row - row.max()).sum()) + row.max()
    return row


def overflowing_exponential(u: NDArray[np.float64], epsilon: float, sensitivity: float, n: int) -> NDArray[np.float64]:
    """Exponentiate without subtracting the maximum."""
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        weights = np.exp(epsilon * u / (2 * sensitivity))
        return np.asarray(np.log(weights / weights.sum()))


def plain_epsilon(epsilon: float, bucket_sizes: Sizes) -> float:
    """Ignore bucket sizes."""
    return epsilon


def reported_accountant(epsilon: float, bucket_sizes: Sizes) -> float:
    """Ignore that inputs have different numbers of non-empty buckets: the reported theorem."""
    sizes = [size for row in bucket_sizes for size in row]
    return epsilon + math.log(max(sizes) / min(sizes))


def sizes_of_one_input(epsilon: float, bucket_sizes: Sizes) -> float:
    """Observe sizes and count on one prompt only."""
    return epsilon + math.log(max(bucket_sizes[0]) / min(bucket_sizes[0]))


doubled_exponent = halved_sensitivity(exponential_row)
quartered_sensitivity = halved_sensitivity(halved_sensitivity(bucketised_row))
quartered_equal_frequency = halved_sensitivity(halved_sensitivity(equal_frequency_row))


def sampler_with_halved_sensitivity(
    u: NDArray[np.float64], epsilon: float, sensitivity: float, n: int, n_draws: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Draw with half the sensitivity."""
    return bucketised_sampler(u, epsilon, sensitivity / 2, n, n_draws, rng)


def most_useful_token(
    u: NDArray[np.float64], epsilon: float, sensitivity: float, n: int, n_draws: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Release the most useful token, always."""
    return np.full(n_draws, int(np.argmax(u)))
