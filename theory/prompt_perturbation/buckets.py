"""Bucketed utilities: which token lies in which bucket, and the sizes the guarantees speak of."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from numbers import Rational

from whp.theory.prompt_perturbation.arguments import checked_integer, shortened
from whp.theory.prompt_perturbation.channel import Number

__all__ = [
    "bucket_means",
    "bucket_sizes",
    "count_ratio",
    "equal_frequency_labels",
    "equal_width_labels",
    "own_size_ratio",
    "pooled_size_ratio",
]


def equal_width_labels(utilities: Sequence[Number], n_buckets: int) -> tuple[int, ...]:
    """Bucket of each token when the range of utilities is cut into equal widths.

    Parameters
    ----------
    utilities : sequence of Fraction or float
        One finite utility per token; fractions are bucketed exactly.
    n_buckets : int
        Number of buckets the range is cut into, at least one. It may exceed the number of tokens.

    Returns
    -------
    tuple of int
        ``floor(n_buckets (u - lo) / (hi - lo))``, the top edge clipped into the last bucket; all zero when every
        utility is equal. Labels of empty buckets do not occur.

    Examples
    --------
    >>> equal_width_labels((0.0, 0.5, 1.0), 3)
    (0, 1, 2)
    >>> equal_width_labels((0.25, 0.25), 7)
    (0, 0)
    """
    last = checked_integer("n_buckets", n_buckets, 1) - 1
    _check_finite(utilities)
    low, high = min(utilities), max(utilities)
    if high == low:
        return (0,) * len(utilities)
    if high - low == math.inf:  # the span alone overflows
        return equal_width_labels([u / 2 for u in utilities], n_buckets)
    return tuple(min(math.floor(n_buckets * ((u - low) / (high - low))), last) for u in utilities)


def equal_frequency_labels(utilities: Sequence[Number], n_buckets: int) -> tuple[int, ...]:
    """Bucket of each token when the sorted tokens are cut into groups of (nearly) equal size.

    Ties are broken by token index, so that group sizes never depend on the utilities. With more buckets than tokens
    every token is its own group.

    Parameters
    ----------
    utilities : sequence of Fraction or float
        One finite utility per token.
    n_buckets : int
        Number of groups, at least one.

    Returns
    -------
    tuple of int
        The ``i``-th smallest of ``N`` tokens gets label ``floor(i n / N)`` with ``n = min(n_buckets, N)``.

    Examples
    --------
    >>> equal_frequency_labels((0.3, 0.1, 0.2, 0.2), 2)
    (1, 0, 0, 1)
    """
    _check_finite(utilities)
    n_tokens = len(utilities)
    groups = min(checked_integer("n_buckets", n_buckets, 1), n_tokens)
    labels = [0] * n_tokens
    for rank, token in enumerate(sorted(range(n_tokens), key=lambda index: (utilities[index], index))):
        labels[token] = rank * groups // n_tokens
    return tuple(labels)


def _check_finite(utilities: Sequence[Number]) -> None:
    if not utilities or not all(isinstance(u, Rational) or math.isfinite(u) for u in utilities):
        raise ValueError(f"utilities must be at least one finite number, got {shortened(utilities)}")


def bucket_sizes(labels: Sequence[int]) -> dict[int, int]:
    """Count the tokens in every non-empty bucket.

    Examples
    --------
    >>> bucket_sizes((2, 0, 0))
    {0: 2, 2: 1}
    """
    return {label: list(labels).count(label) for label in sorted(set(labels))}


def bucket_means(utilities: Sequence[Number], labels: Sequence[int]) -> dict[int, Number]:
    """Mean utility ``mean(b)`` of every non-empty bucket.

    Examples
    --------
    >>> bucket_means((0.0, 1.0, 0.5), (0, 1, 1))
    {0: 0.0, 1: 0.75}
    """
    if len(utilities) != len(labels):
        raise ValueError(f"utilities and labels must have equal length, got {len(utilities)} and {len(labels)}")
    groups: dict[int, list[Number]] = {label: [] for label in sorted(set(labels))}
    for utility, label in zip(utilities, labels, strict=True):
        groups[label].append(utility)
    return {label: _mean(group) for label, group in groups.items()}


def _mean(values: Sequence[Number]) -> Number:
    total = sum(values, Fraction(0)) if isinstance(values[0], Fraction) else math.fsum(values)
    return total / len(values)


def pooled_size_ratio(*labellings: Sequence[int]) -> Fraction:
    """Largest over smallest non-empty bucket, all inputs pooled: the ``max |b_i| / |b_j|`` of the reported theorem.

    Examples
    --------
    >>> pooled_size_ratio((1, 0, 0, 0, 0), (0, 0, 0, 1, 2))
    Fraction(4, 1)
    """
    _check_some(labellings)
    sizes = [size for labels in labellings for size in bucket_sizes(labels).values()]
    return Fraction(max(sizes), min(sizes))


def own_size_ratio(*labellings: Sequence[int]) -> Fraction:
    """Largest ratio of two bucket sizes of the *same* input.

    Examples
    --------
    >>> own_size_ratio((0, 0, 1, 1), (0, 0, 0, 1))
    Fraction(3, 1)
    """
    _check_some(labellings)
    return max(pooled_size_ratio(labels) for labels in labellings)


def count_ratio(*labellings: Sequence[int]) -> Fraction:
    """Largest over smallest number of non-empty buckets.

    Examples
    --------
    >>> count_ratio((1, 0, 0), (0, 1, 2))
    Fraction(3, 2)
    """
    _check_some(labellings)
    counts = [len(set(labels)) for labels in labellings]
    return Fraction(max(counts), min(counts))


def _check_some(labellings: Sequence[Sequence[int]]) -> None:
    if not labellings or not all(len(labels) for labels in labellings):
        raise ValueError(f"labellings must hold at least one token of at least one input, got {labellings}")
