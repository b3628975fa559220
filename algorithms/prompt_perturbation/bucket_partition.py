"""Partition of the candidate tokens into buckets of utility, by equal widths or by equal counts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from whp.algorithms.prompt_perturbation.validation import checked_bucket_count, checked_vector

__all__ = ["BucketPartition", "equal_frequency_buckets", "equal_width_buckets"]


@dataclass(frozen=True, eq=False)
class BucketPartition:
    """Which of the ``B`` non-empty buckets each of the ``N`` tokens lies in.

    Attributes
    ----------
    members : ndarray of int64, shape (N,)
        Bucket of every token, ``0 .. B - 1`` in order of increasing utility.
    sizes : ndarray of int64, shape (B,)
        Number of tokens in each bucket; none is zero.
    mean_utilities : ndarray of shape (B,)
        Mean utility of each bucket.
    """

    members: NDArray[np.int64]
    sizes: NDArray[np.int64]
    mean_utilities: NDArray[np.float64]

    def __post_init__(self) -> None:
        if self.members.size == 0 or not self.sizes.all() or self.mean_utilities.shape != self.sizes.shape:
            raise ValueError("members, sizes and mean_utilities must describe non-empty buckets, one entry for each")
        if self.members.min() < 0 or not np.array_equal(np.bincount(self.members), self.sizes):
            raise ValueError(f"sizes must count the members of each bucket, got {self.sizes}")

    @property
    def n_tokens(self) -> int:
        """Number of tokens ``N``."""
        return int(self.members.size)

    @property
    def n_buckets(self) -> int:
        """Number of non-empty buckets ``B``."""
        return int(self.sizes.size)

    @cached_property
    def tokens_by_bucket(self) -> NDArray[np.int64]:
        """Token indices ordered by bucket, so that each bucket is one contiguous slice."""
        return np.argsort(self.members, kind="stable")

    @cached_property
    def offsets(self) -> NDArray[np.int64]:
        """Start of each bucket's slice in `tokens_by_bucket`."""
        return np.concatenate(([0], np.cumsum(self.sizes)[:-1]))


def equal_width_buckets(utilities: ArrayLike, n_buckets: int) -> BucketPartition:
    """Cut the range of utilities into ``n_buckets`` intervals of equal width and drop the empty ones.

    Parameters
    ----------
    utilities : array_like of shape (N,)
        Finite utilities.
    n_buckets : int
        Number of intervals, at least one. More intervals than tokens is allowed: the surplus is empty.

    Returns
    -------
    BucketPartition
        One bucket when all utilities are equal. The top edge belongs to the last bucket.

    Examples
    --------
    >>> equal_width_buckets([1.0, 0.0, 0.0, 0.5], 3).sizes
    array([2, 1, 1])
    """
    scores, count = checked_vector("utilities", utilities), checked_bucket_count(n_buckets)
    low, high = float(scores.min()), float(scores.max())
    if low == high:
        return BucketPartition(np.zeros(scores.size, dtype=np.int64), np.array([scores.size]), np.array([low]))
    heights = _heights(scores, low, high)  # (N,) in [0, 1]
    intervals = np.minimum((count * heights).astype(np.int64), count - 1)
    return _partition(scores, intervals, count)


def equal_frequency_buckets(utilities: ArrayLike, n_buckets: int) -> BucketPartition:
    """Cut the sorted tokens into ``min(n_buckets, N)`` groups whose sizes differ by at most one.

    Sizes depend on ``N`` and ``n_buckets`` alone: ties are broken by token index.

    Parameters
    ----------
    utilities : array_like of shape (N,)
        Finite utilities.
    n_buckets : int
        Number of groups, at least one; with more groups than tokens every token is its own group.

    Returns
    -------
    BucketPartition
        Groups in order of increasing utility.

    Examples
    --------
    >>> equal_frequency_buckets([0.3, 0.1, 0.2, 0.2], 2).members
    array([1, 0, 0, 1])
    """
    scores, count = checked_vector("utilities", utilities), checked_bucket_count(n_buckets)
    groups = min(count, scores.size)
    members = np.empty(scores.size, dtype=np.int64)
    members[np.argsort(scores, kind="stable")] = np.arange(scores.size) * groups // scores.size
    return _partition(scores, members, groups)


def _heights(scores: NDArray[np.float64], low: float, high: float) -> NDArray[np.float64]:
    span = high - low
    if np.isfinite(span):
        return (scores - low) / span
    return np.asarray((scores / 2 - low / 2) / (high / 2 - low / 2))  # the span alone overflows


def _partition(scores: NDArray[np.float64], intervals: NDArray[np.int64], count: int) -> BucketPartition:
    if count <= 4 * scores.size:
        all_sizes = np.bincount(intervals, minlength=count)
        used = np.flatnonzero(all_sizes)
        rank = np.empty(count, dtype=np.int64)
        rank[used] = np.arange(used.size)
        members, sizes = rank[intervals], all_sizes[used]
    else:
        _, members, sizes = np.unique(intervals, return_inverse=True, return_counts=True)
    # divided before summing: no overflow for utilities near the largest float
    means = np.bincount(members, weights=scores / sizes[members]).astype(np.float64)
    return BucketPartition(members, sizes, means)
