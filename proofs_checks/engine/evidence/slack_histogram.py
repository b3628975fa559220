"""Fixed bins for relative slack: signed, log-spaced, the same in every run, so that counts of shards add."""

from __future__ import annotations

import bisect
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

EDGES: tuple[float, ...] = tuple(float(f"{digit}e{power}") for power in range(-18, 4) for digit in (1, 2, 5))
"""Lower ends of the positive bins: 1, 2, 5 times each power of ten from 1e-18 to 1e3."""


@dataclass(frozen=True)
class SlackHistogram:
    """Counts of relative slack (slack over the larger side) in fixed bins.

    Bin 0 holds zero. Bin ``i > 0`` holds values from ``EDGES[i - 2]`` up to, not including, ``EDGES[i - 1]``; bin 1
    what is smaller and the last bin what is larger. Bin ``-i`` holds the negatives of bin ``i``.

    Parameters
    ----------
    counts : tuple of (bin, count)
        Sorted by bin; bins with no count are left out.
    """

    counts: tuple[tuple[int, int], ...] = ()

    def __post_init__(self) -> None:
        """Refuse impossible counts; sort them."""
        kept = tuple(sorted((int(number), int(count)) for number, count in self.counts if count))
        if any(count < 0 or abs(number) > len(EDGES) + 1 for number, count in kept):
            raise ValueError(f"counts must be nonnegative, in bins -{len(EDGES) + 1}..{len(EDGES) + 1}, got {kept!r}.")
        if len({number for number, _ in kept}) < len(kept):
            raise ValueError(f"counts must name each bin once, got {kept!r}.")
        object.__setattr__(self, "counts", kept)

    @classmethod
    def of(cls, relative_slack: Any) -> SlackHistogram:
        """Count an array of relative slacks.

        Examples
        --------
        >>> SlackHistogram.of([0.0, -0.3, 0.3, 0.4]).total
        4
        """
        bins, counts = np.unique(slack_bins(relative_slack), return_counts=True)
        return cls(tuple(zip(bins.tolist(), counts.tolist(), strict=True)))

    @property
    def total(self) -> int:
        """Number of values counted."""
        return sum(count for _, count in self.counts)

    def __add__(self, other: SlackHistogram) -> SlackHistogram:
        """Add the counts of another shard."""
        return SlackHistogram(tuple((Counter(dict(self.counts)) + Counter(dict(other.counts))).items()))


def slack_bins(relative_slack: Any) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Return the bin of each relative slack.

    Raises
    ------
    ValueError
        If one of them is nan.
    """
    values = np.asarray(relative_slack, dtype=np.float64).ravel()
    if np.isnan(values).any():
        raise ValueError("relative_slack must not hold nan.")
    magnitude = np.searchsorted(EDGES, np.abs(values), side="right") + 1
    return (np.sign(values) * magnitude).astype(np.int64)


def slack_bin(relative_slack: float) -> int:
    """Return the bin of one relative slack; the same as :func:`slack_bins`, without arrays."""
    if relative_slack == 0:
        return 0
    number = bisect.bisect_right(EDGES, abs(relative_slack)) + 1
    return number if relative_slack > 0 else -number


def bin_ranges(histogram: SlackHistogram) -> Iterable[tuple[float, float, int]]:
    """List lower end, upper end and count of each bin in use, in rising order."""
    ends = (0.0, *EDGES, float("inf"))
    for number, count in histogram.counts:
        if number == 0:
            yield 0.0, 0.0, count
        elif number > 0:
            yield ends[number - 1], ends[number], count
        else:
            yield -ends[-number], -ends[-number - 1], count
