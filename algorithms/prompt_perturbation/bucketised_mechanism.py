"""Cape's bucketised mechanism: draw a bucket by its mean utility, then a token uniformly inside it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from whp.algorithms.prompt_perturbation.bucket_partition import (
    BucketPartition,
    equal_frequency_buckets,
    equal_width_buckets,
)
from whp.algorithms.prompt_perturbation.exponential_mechanism import exponential_mechanism
from whp.algorithms.prompt_perturbation.token_distribution import TokenDistribution
from whp.algorithms.prompt_perturbation.validation import checked_instance

__all__ = ["BucketisedDistribution", "bucketised_mechanism", "equal_frequency_mechanism", "mechanism_over_buckets"]


@dataclass(frozen=True, eq=False)
class BucketisedDistribution:
    """Distribution over ``N`` tokens that is uniform inside each of ``B`` buckets.

    Attributes
    ----------
    partition : BucketPartition
        Members, sizes and mean utilities of the non-empty buckets.
    over_buckets : TokenDistribution
        Distribution over the ``B`` buckets.
    """

    partition: BucketPartition
    over_buckets: TokenDistribution

    @cached_property
    def log_probabilities(self) -> NDArray[np.float64]:
        """Log probability of every token, shape (N,)."""
        per_token = self.over_buckets.log_probabilities - np.log(self.partition.sizes)
        return np.asarray(per_token[self.partition.members])

    @cached_property
    def probabilities(self) -> NDArray[np.float64]:
        """Probability of every token, shape (N,)."""
        return np.asarray((self.over_buckets.probabilities / self.partition.sizes)[self.partition.members])

    @overload
    def sample(self, rng: np.random.Generator) -> int: ...
    @overload
    def sample(self, rng: np.random.Generator, size: int) -> NDArray[np.int64]: ...

    def sample(self, rng: np.random.Generator, size: int | None = None) -> int | NDArray[np.int64]:
        """Draw token indices: a bucket in ``O(log B)``, then a member in ``O(1)``.

        Parameters
        ----------
        rng : numpy.random.Generator
            Source of randomness.
        size : int, optional
            Number of independent draws; one index (a plain ``int``) when omitted.
        """
        partition = self.partition
        if size is None:
            bucket = self.over_buckets.sample(rng)
            place = int(rng.random() * partition.sizes[bucket])
            return int(partition.tokens_by_bucket[partition.offsets[bucket] + place])
        buckets = self.over_buckets.sample(rng, size)
        places = (rng.random(size) * partition.sizes[buckets]).astype(np.int64)
        return np.asarray(partition.tokens_by_bucket[partition.offsets[buckets] + places])


def bucketised_mechanism(
    utilities: ArrayLike,
    epsilon: float,
    *,
    sensitivity: float,
    n_buckets: int,
) -> BucketisedDistribution:
    """Cape's mechanism with equal-width buckets.

    ``P[r] = exp(epsilon mean(b(r)) / (2 Delta)) / sum_b exp(epsilon mean(b) / (2 Delta)) / |b(r)|`` over the non-empty
    buckets. Its loss can exceed ``epsilon + ln max |b_i|/|b_j|``: also the ratio of non-empty bucket counts
    enters, see theorem T2.

    Parameters
    ----------
    utilities : array_like of shape (N,)
        Finite utilities of the candidate tokens for one input.
    epsilon : float
        Nominal privacy parameter in nats, finite and non-negative.
    sensitivity : float
        Bound ``Delta`` on ``|u(t, r) - u(t', r)|`` over inputs and contexts.
    n_buckets : int
        Number of equal-width intervals, at least one; with one the output is uniform.

    Returns
    -------
    BucketisedDistribution
        Exact row, buckets and sampler.

    References
    ----------
    .. [1] Wu, Dai, Wang, Yan, "Cape: Context-Aware Prompt Perturbation Mechanism with Differential Privacy" (2025).

    Examples
    --------
    >>> row = bucketised_mechanism([1, 1, 0.5, 0, 0, 0], 4 * np.log(2), sensitivity=1.0, n_buckets=3)
    >>> row.probabilities * 21
    array([6., 6., 6., 1., 1., 1.])
    """
    return mechanism_over_buckets(equal_width_buckets(utilities, n_buckets), epsilon, sensitivity=sensitivity)


def equal_frequency_mechanism(
    utilities: ArrayLike,
    epsilon: float,
    *,
    sensitivity: float,
    n_buckets: int,
) -> BucketisedDistribution:
    """Bucketised mechanism whose buckets hold (nearly) equally many tokens: the repair of theorem T3.

    Bucket counts and sizes do not depend on the input, so the loss is at most ``epsilon + ln(ceil/floor)`` with the
    sizes ``floor(N / n_buckets)`` and ``ceil(N / n_buckets)``, exactly ``epsilon`` when they agree.

    Parameters
    ----------
    utilities : array_like of shape (N,)
        Finite utilities of the candidate tokens for one input.
    epsilon : float
        Nominal privacy parameter in nats, finite and non-negative.
    sensitivity : float
        Bound ``Delta`` on ``|u(t, r) - u(t', r)|``, and on the range of utilities.
    n_buckets : int
        Number of groups, at least one.

    Returns
    -------
    BucketisedDistribution
        Exact row, buckets and sampler.

    Examples
    --------
    >>> equal_frequency_mechanism([0.0, 0.2, 0.9, 1.0], 0.0, sensitivity=1.0, n_buckets=2).probabilities
    array([0.25, 0.25, 0.25, 0.25])
    """
    return mechanism_over_buckets(equal_frequency_buckets(utilities, n_buckets), epsilon, sensitivity=sensitivity)


def mechanism_over_buckets(partition: BucketPartition, epsilon: float, *, sensitivity: float) -> BucketisedDistribution:
    """Bucketised mechanism over a partition made once, for several values of ``epsilon``.

    Parameters
    ----------
    partition : BucketPartition
        From `equal_width_buckets` or `equal_frequency_buckets`.
    epsilon : float
        Nominal privacy parameter in nats, finite and non-negative.
    sensitivity : float
        Bound ``Delta`` on ``|u(t, r) - u(t', r)|``.

    Examples
    --------
    >>> partition = equal_width_buckets([1.0, 0.0, 0.0], 2)
    >>> mechanism_over_buckets(partition, 0.0, sensitivity=1.0).probabilities
    array([0.5 , 0.25, 0.25])
    """
    checked_instance("partition", partition, BucketPartition)
    chosen = exponential_mechanism(partition.mean_utilities, epsilon, sensitivity=sensitivity)
    return BucketisedDistribution(partition, chosen)
