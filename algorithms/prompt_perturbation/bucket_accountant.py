"""What the bucketised mechanism may be said to guarantee."""

from __future__ import annotations

import math
from collections.abc import Sequence

from whp.algorithms.prompt_perturbation.validation import checked_bucket_count, checked_epsilon, checked_integer

__all__ = ["bucketised_guarantee", "data_free_guarantee", "equal_frequency_guarantee"]


def bucketised_guarantee(epsilon: float, bucket_sizes: Sequence[Sequence[int]]) -> float:
    """Loss that the equal-width mechanism certainly keeps, from the bucket sizes of every admissible input (T2).

    ``epsilon + ln(largest / smallest size) + ln(most / fewest non-empty buckets)``, over all inputs and contexts.

    Parameters
    ----------
    epsilon : float
        Nominal privacy parameter in nats.
    bucket_sizes : sequence of sequences of int
        Sizes of the non-empty buckets of each input. Sizes seen on one prompt are no guarantee for another.

    Returns
    -------
    float
        Nats.

    Examples
    --------
    >>> round(bucketised_guarantee(0.0, [(4, 1), (3, 1, 1)]), 6) == round(math.log(6), 6)
    True
    """
    level = checked_epsilon(epsilon)
    rows = _checked_sizes(bucket_sizes)
    largest, smallest = max(max(sizes) for sizes in rows), min(min(sizes) for sizes in rows)
    counts = [len(sizes) for sizes in rows]
    return level + math.log(largest / smallest) + math.log(max(counts) / min(counts))


def data_free_guarantee(epsilon: float, *, n_tokens: int, n_buckets: int) -> float:
    """Loss that the equal-width mechanism keeps on every vocabulary of a size, whatever the utilities.

    Parameters
    ----------
    epsilon : float
        Nominal privacy parameter in nats.
    n_tokens : int
        Number of candidate tokens ``N``.
    n_buckets : int
        Number of equal-width intervals ``N_b``.

    Returns
    -------
    float
        ``epsilon + ln(k (N - k + 1) / 2)`` with ``k = min(N_b, (N + 1) // 2)``; exactly 0 with one bucket or one token,
        where the output is uniform whatever the input.

    Examples
    --------
    >>> round(data_free_guarantee(0.0, n_tokens=30522, n_buckets=50), 6)
    13.543472
    """
    level, count = checked_epsilon(epsilon), checked_bucket_count(n_buckets)
    size = checked_integer("n_tokens", n_tokens, 1)
    if size == 1 or count == 1:
        return 0.0
    occupied = min(count, (size + 1) // 2)
    return level + math.log(occupied * (size - occupied + 1) / 2)


def equal_frequency_guarantee(epsilon: float, *, n_tokens: int, n_buckets: int) -> float:
    """Loss that the equal-frequency mechanism keeps (T3).

    Parameters
    ----------
    epsilon : float
        Nominal privacy parameter in nats.
    n_tokens : int
        Number of candidate tokens ``N``.
    n_buckets : int
        Number of groups.

    Returns
    -------
    float
        ``epsilon + ln(ceil(N / n_buckets) / floor(N / n_buckets))``; ``epsilon`` when there are as many groups as
        tokens or more.

    Examples
    --------
    >>> equal_frequency_guarantee(1.0, n_tokens=12, n_buckets=4)
    1.0
    """
    level, count = checked_epsilon(epsilon), checked_bucket_count(n_buckets)
    size = checked_integer("n_tokens", n_tokens, 1)
    groups = min(count, size)
    return level + math.log(-(-size // groups) / (size // groups))


def _checked_sizes(bucket_sizes: Sequence[Sequence[int]]) -> list[list[int]]:
    """Sizes of each input; all inputs have the same candidates, so that every row has the same total."""
    try:
        rows = [[checked_integer("bucket_sizes", size, 1) for size in sizes] for sizes in bucket_sizes]
    except TypeError:
        raise TypeError(f"bucket_sizes must list integers for each input, got {bucket_sizes!r}") from None
    if not rows or not all(rows):
        raise ValueError(f"bucket_sizes must list sizes >= 1 for at least one input, got {bucket_sizes!r}")
    if len({sum(sizes) for sizes in rows}) > 1:
        totals = sorted({sum(sizes) for sizes in rows})
        raise ValueError(f"bucket_sizes must add up to the same number of tokens for every input, got {totals}")
    return rows
