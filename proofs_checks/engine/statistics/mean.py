r"""Claims on the mean of a random variable with a declared range, decided from a histogram of integers.

**The test.** Let ``Y`` lie in ``[low, high]`` and let ``E[Y] <= m`` be claimed. Put
``u = (Y - low) / (m - low) >= 0``, so that the claim reads ``E[u] <= 1``. For a fixed fraction ``c`` in ``(0, 1]``
the capital of a gambler who stakes the share ``c`` each time,

.. math:: K_c = \prod_t \big( 1 + c (u_t - 1) \big) = \prod_t \big( 1 + \lambda (Y_t - m) \big),
          \qquad \lambda = c / (m - low),

is nonnegative, starts at 1 and is a supermartingale whenever ``E[Y_t | past] <= m`` for every ``t`` (independent
replicates, or instances chosen from the past only). So is the average over a fixed grid of ``c``, here the 41 powers
``2**(-j / 2)``: a stake off by a quarter octave costs 4% of the growth rate (where the stake is small), the average
at most ``log 41`` in all, and any deviation is met, large or tiny. Ville's inequality then bounds by ``alpha`` the
chance of *ever* reaching ``1 / alpha`` under a true claim. Claims ``>=`` are the mirror image; a claim ``=``
averages both e-processes.

**Rounding keeps it valid.** Each sample is rounded *towards the claim* to a fixed grid of the range: down for
``<=``, up for ``>=``. Rounded down, ``Y <= X``, hence ``E[Y | past] <= E[X | past] <= m``: the argument above
applies to ``Y`` word for word. The price is resolution: a violation smaller than one grid step,
``(high - low) / grid_steps``, may go unseen.

**Why a histogram is enough.** ``log K_c = sum_b count_b log(1 + c (u_b - 1))`` depends on the samples through the
counts alone. The order within a block is irrelevant, merging blocks is integer addition (exactly associative and
commutative), and looking after any predictable sequence of blocks, such as every prefix of block indices, is
looking at a stopping time.

**Cells.** To serve both directions from one histogram, cell ``2 b`` counts samples *equal* to grid point ``b`` and
cell ``2 b + 1`` those strictly between ``b`` and ``b + 1``. Samples on the grid (0 and 1, the ends of the range)
are therefore not rounded at all.

**Intervals.** ``u`` decreases in ``m``, hence so do ``K_c`` and the average: the claims refuted by given data form
a half-line, found by bisection.

References
----------
.. [1] J. Ville, Étude critique de la notion de collectif, Gauthier-Villars, 1939.
.. [2] I. Waudby-Smith, A. Ramdas, Estimating means of bounded random variables by betting, J. R. Stat. Soc. B 86,
   2024.
.. [3] H. Robbins, Statistical methods related to the law of the iterated logarithm, Ann. Math. Statist. 41, 1970
   (mixtures).
"""

from __future__ import annotations

import math
from typing import Final, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from whp.proofs_checks.engine.statistics.arguments import level, log_threshold

__all__ = [
    "GRID_STEPS",
    "STAKES",
    "Side",
    "bin_samples",
    "confidence_interval",
    "log_e_value",
    "log_e_values_of_counts",
    "margin",
    "sample_mean",
    "samples_needed",
]

Side = Literal["at most", "at least", "equal"]
"""Direction of a claim: ``E[X] <= m``, ``E[X] >= m``, ``E[X] = m``."""

OneSide = Literal["at most", "at least"]

GRID_STEPS: Final = 1024
"""Default number of steps of the grid that samples are rounded to."""

STAKES: Final[NDArray[np.float64]] = 2.0 ** (-np.arange(41) / 2)
"""The fractions ``c`` of the capital staked; fixed, equally weighted."""
STAKES.setflags(write=False)


def bin_samples(values: ArrayLike, low: float, high: float, grid_steps: int = GRID_STEPS) -> NDArray[np.int64]:
    """Count samples in the cells of the grid.

    Parameters
    ----------
    values : array_like
        Samples; any shape, any order, empty allowed.
    low, high : float
        The declared range, ``low < high``.
    grid_steps : int
        Steps of the grid, at least 1.

    Returns
    -------
    ndarray of int, shape (2 * grid_steps + 1,)
        Counts at grid points (even cells) and strictly between them (odd cells). Histograms of the same range merge
        by addition.

    Raises
    ------
    ValueError
        If a sample is nan or lies outside the range: the declared range is part of the claim.

    Examples
    --------
    >>> bin_samples([0, 1, 1, 0.3], 0, 1, grid_steps=2).tolist()
    [1, 1, 0, 0, 2]
    """
    grid = _grid(low, high, grid_steps)
    samples = np.asarray(values, dtype=np.float64).ravel()
    outside = ~((samples >= low) & (samples <= high))
    if outside.any():
        position = int(np.argmax(outside))
        raise ValueError(
            f"values must lie in the declared range [{low!r}, {high!r}], got {float(samples[position])!r} "
            f"at position {position}"
        )
    first = np.searchsorted(grid, samples, side="left")  # least grid point that is not below the sample
    cells = np.where(grid[first] == samples, 2 * first, 2 * first - 1)
    return np.bincount(cells, minlength=2 * grid_steps + 1).astype(np.int64)


def sample_mean(histogram: ArrayLike, low: float, high: float) -> tuple[float, float]:
    """Bracket of the average of the samples: rounded down and rounded up.

    Parameters
    ----------
    histogram : array_like of int
        Counts as made by `bin_samples`, not all zero.
    low, high : float
        The declared range.

    Returns
    -------
    lower, upper : float
        They differ by at most one grid step, and agree when all samples are on the grid.

    Examples
    --------
    >>> sample_mean(bin_samples([0, 1, 1, 0.3], 0, 1, grid_steps=2), 0, 1)
    (0.5, 0.625)
    """
    down, up, counts = _occupied(histogram, low, high)
    if counts.size == 0:
        raise ValueError("histogram must hold at least one sample to have a mean, got none")
    weights = counts / counts.sum()
    return float(weights @ down), float(weights @ up)


def log_e_value(histogram: ArrayLike, low: float, high: float, mean: float, side: Side) -> float:
    """Log of the evidence against a claim on the mean.

    Parameters
    ----------
    histogram : array_like of int
        Counts as made by `bin_samples`.
    low, high : float
        The declared range.
    mean : float
        The claimed bound; outside the range it makes the claim either trivial or impossible.
    side : {"at most", "at least", "equal"}
        Direction of the claim.

    Returns
    -------
    float
        ``log E``; the claim is refuted at level ``alpha`` once it reaches ``log(1 / alpha)``. ``inf`` when the data
        are impossible under the claim.

    Examples
    --------
    >>> coin = bin_samples([1] * 70 + [0] * 30, 0, 1)
    >>> log_e_value(0 * coin, 0, 1, 0.5, "at most")
    0.0
    >>> log_e_value(coin, 0, 1, 0.2, "at most") > math.log(1e10)
    True
    >>> log_e_value(coin, 0, 1, 0.2, "at least") < 0
    True
    """
    down, up, counts = _occupied(histogram, low, high)
    return float(_log_evidence(down, up, counts, low, high, mean, side))


def log_e_values_of_counts(
    points: ArrayLike,
    counts: ArrayLike,
    low: float,
    high: float,
    mean: float,
    side: Side,
    grid_steps: int = GRID_STEPS,
) -> NDArray[np.float64]:
    """Log e-values of many samples that take the same few values, each sample given by how often it takes which.

    Parameters
    ----------
    points : array_like, shape (n_points,)
        Values in the declared range.
    counts : array_like of int, shape (..., n_points)
        How often each value occurs.
    low, high, mean, side
        As in `log_e_value`.
    grid_steps : int
        Steps of the grid that samples are rounded to.

    Returns
    -------
    ndarray, shape (...)
        What `log_e_value` says of each sample.

    Examples
    --------
    >>> log_e_values_of_counts([0, 1], [[0, 0], [30, 70]], 0, 1, 0.5, "at most").round(2).tolist()
    [0.0, 5.11]
    """
    grid = _grid(low, high, grid_steps)
    cells = np.array([int(np.argmax(bin_samples(x, low, high, grid_steps))) for x in np.asarray(points).ravel()])
    down, up = grid[cells // 2], grid[(cells + 1) // 2]
    return _log_evidence(down, up, np.asarray(counts, dtype=np.float64), low, high, mean, side)


def margin(histogram: ArrayLike, low: float, high: float, alpha: float, side: OneSide) -> float:
    """Tightest claim that these data refute: a one-sided confidence bound for the mean.

    Parameters
    ----------
    histogram : array_like of int
        Counts as made by `bin_samples`.
    low, high : float
        The declared range.
    alpha : float
        Level, in ``(0, 1)``.
    side : {"at most", "at least"}
        Direction of the claims tried.

    Returns
    -------
    float
        For "at most" the largest ``m`` such that ``E[X] <= m`` is refuted, or `low` if none in the range is; for
        "at least" the smallest, or `high`.

    Examples
    --------
    >>> coin = bin_samples([1] * 700 + [0] * 300, 0, 1)
    >>> 0.55 < margin(coin, 0, 1, 1e-10, "at most") < 0.7 < margin(coin, 0, 1, 1e-10, "at least") < 0.85
    True
    """
    down, up, counts = _occupied(histogram, low, high)
    threshold = log_threshold(alpha)
    if side not in get_args(OneSide):
        raise ValueError(f"side must be 'at most' or 'at least', got {side!r}")
    refuted, other = (float(low), float(high)) if side == "at most" else (float(high), float(low))
    while (middle := 0.5 * refuted + 0.5 * other) not in (refuted, other):
        if _log_evidence(down, up, counts, low, high, middle, side) >= threshold:
            refuted = middle
        else:
            other = middle
    return refuted


def confidence_interval(histogram: ArrayLike, low: float, high: float, alpha: float) -> tuple[float, float]:
    """Confidence sequence for the mean, at one moment.

    Parameters
    ----------
    histogram : array_like of int
        Counts as made by `bin_samples`.
    low, high : float
        The declared range.
    alpha : float
        Level, in ``(0, 1)``; half of it is spent on either end.

    Returns
    -------
    lower, upper : float
        With probability at least ``1 - alpha`` the mean lies between them at all moments at once.

    Examples
    --------
    >>> confidence_interval(bin_samples([], 0, 1), 0, 1, 0.05)
    (0.0, 1.0)
    """
    alpha = level(alpha) / 2
    return margin(histogram, low, high, alpha, "at most"), margin(histogram, low, high, alpha, "at least")


def samples_needed(histogram: ArrayLike, low: float, high: float, mean: float, side: Side, alpha: float) -> int | None:
    """Return how many samples would refute the claim if the histogram kept its proportions.

    Parameters
    ----------
    histogram : array_like of int
        Counts as made by `bin_samples`, not all zero.
    low, high : float
        The declared range.
    mean : float
        The claimed bound.
    side : {"at most", "at least", "equal"}
        Direction of the claim.
    alpha : float
        Level, in ``(0, 1)``.

    Returns
    -------
    int or None
        Total number of samples, those already drawn included in the count; None when evidence does not grow (the
        samples agree with the claim, or the deviation is below the resolution of the grid).

    Examples
    --------
    >>> samples_needed(bin_samples([1, 1, 0], 0, 1), 0, 1, 0.9, "at most", 1e-10) is None
    True
    >>> samples_needed(bin_samples([1, 1, 0], 0, 1), 0, 1, 0.6, "at most", 1e-10) > 1000
    True
    """
    down, up, counts = _occupied(histogram, low, high)
    threshold = log_threshold(alpha)
    if counts.size == 0:
        raise ValueError("histogram must hold at least one sample to be extrapolated, got none")
    shares = counts / counts.sum()
    refuted, start = 2**53, 0
    if not _log_evidence(down, up, refuted * shares, low, high, mean, side) >= threshold:
        return None
    while refuted - start > 1:  # log E is convex in the number of samples and starts at 0: it crosses once
        middle = (start + refuted) // 2
        if _log_evidence(down, up, middle * shares, low, high, mean, side) >= threshold:
            refuted = middle
        else:
            start = middle
    return refuted


def _log_evidence(
    down: NDArray[np.float64],
    up: NDArray[np.float64],
    counts: NDArray[np.float64],
    low: float,
    high: float,
    mean: float,
    side: Side,
) -> NDArray[np.float64]:
    """Log e-values of samples known as rounded down and up (points,), with counts (..., points)."""
    if not math.isfinite(mean):
        raise ValueError(f"mean must be finite, got {mean!r}")
    match side:
        case "at most":
            return _log_average_capital(down - low, mean - low, counts)
        case "at least":
            return _log_average_capital(high - up, high - mean, counts)
        case "equal":
            above = _log_average_capital(down - low, mean - low, counts)
            below = _log_average_capital(high - up, high - mean, counts)
            return np.asarray(np.logaddexp(above, below) - math.log(2))
    raise ValueError(f"side must be 'at most', 'at least' or 'equal', got {side!r}")


def _log_average_capital(heights: NDArray[np.float64], mean: float, counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Log of the average over stakes of the capital against "heights >= 0 have mean at most `mean`"."""
    if mean <= 0:  # refuted by any sample if the mean is negative, by any sample above 0 if it is 0
        fatal = counts[..., heights > 0] if mean == 0 else counts
        return np.where(fatal.sum(axis=-1) > 0, np.inf, 0.0)
    with np.errstate(divide="ignore", over="ignore"):
        ratios = np.minimum(heights / mean, 1e300)  # rounding down a huge ratio loses evidence only
        logs = np.log1p(np.multiply.outer(ratios - 1.0, STAKES))  # (points, stakes); -inf where all is staked and lost
    ruined = np.isneginf(logs)
    capital = counts @ np.where(ruined, 0.0, logs)  # (..., stakes)
    capital = np.where(counts @ ruined.astype(np.float64) > 0, -np.inf, capital)
    largest = capital.max(axis=-1)  # finite: a stake below 1 is never ruined
    return np.asarray(largest + np.log(np.exp(capital - largest[..., None]).mean(axis=-1)))


def _occupied(
    histogram: ArrayLike, low: float, high: float
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Nonempty cells: samples rounded down, rounded up, and their counts."""
    counts = np.asarray(histogram)
    if counts.dtype.kind not in "iu":
        raise TypeError(f"histogram must hold integers, got {counts.dtype}")
    if counts.ndim != 1 or counts.size < 3 or counts.size % 2 == 0:
        raise ValueError(f"histogram must have one axis of 2 * grid_steps + 1 cells, got shape {counts.shape}")
    if counts.min() < 0:
        raise ValueError(f"histogram must hold nonnegative counts, got {int(counts.min())}")
    grid = _grid(low, high, counts.size // 2)
    cells = np.flatnonzero(counts)
    return grid[cells // 2], grid[(cells + 1) // 2], counts[cells].astype(np.float64)


def _grid(low: float, high: float, grid_steps: int) -> NDArray[np.float64]:
    """Grid points (grid_steps + 1,), never decreasing, with the exact ends of the range."""
    if not (low < high and math.isfinite(high - low)):
        raise ValueError(f"the declared range must have low < high and a finite width, got low={low!r}, high={high!r}")
    if not grid_steps >= 1:
        raise ValueError(f"grid_steps must be at least 1, got {grid_steps!r}")
    share = np.arange(grid_steps + 1) / grid_steps
    grid = np.clip(low * (1.0 - share) + high * share, low, high)
    grid[-1] = high
    return np.asarray(np.maximum.accumulate(grid))
