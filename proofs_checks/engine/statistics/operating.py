r"""Exact operating characteristics of the tests, by dynamic programming over counts.

The tests of `event` and `mean` depend on the data through counts alone, and counts of independent replicates form a
Markov chain. So the chance that a test *ever* rejects up to ``n_max`` is computed exactly (up to float rounding of
sums of positive terms), not simulated: carry the distribution of the counts, and at each look move the mass of the
rejecting states to "rejected".

Two facts are worth knowing. The rejecting states of the event test are ``k >= boundary(n)``, so its false-alarm
rate increases with the probability ``p`` of the bad event (coupling), and ``p = delta`` is the worst true case. And
looking after whole blocks only is looking at a subset of the moments, so it never increases the chance of
rejection, true claim or not; the level holds for every sequence of looks.

References
----------
.. [1] P. Armitage, C. McPherson, B. Rowe, Repeated significance tests on accumulating data, J. R. Stat. Soc. A 132,
   1969 (exact recursion for repeated tests on counts).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whp.proofs_checks.engine.statistics.arguments import count, log_threshold
from whp.proofs_checks.engine.statistics.arguments import probabilities as checked_probabilities
from whp.proofs_checks.engine.statistics.event import rejection_boundary
from whp.proofs_checks.engine.statistics.mean import GRID_STEPS, Side, log_e_values_of_counts

__all__ = ["OperatingCharacteristic", "event_characteristic", "false_alarm", "mean_characteristic", "power"]


@dataclass(frozen=True, slots=True)
class OperatingCharacteristic:
    """Distribution of the moment at which a test rejects.

    Attributes
    ----------
    looks : ndarray of int, shape (n_looks,)
        Numbers of replicates at which the test looks.
    rejected : ndarray, shape (n_looks,)
        Chance of having rejected by then.
    """

    looks: NDArray[np.int64]
    rejected: NDArray[np.float64]

    @property
    def probability(self) -> float:
        """Chance of ever rejecting: the false-alarm rate of a true claim, the power against a false one."""
        return float(self.rejected[-1])

    @property
    def expected_stopping_time(self) -> float:
        """Expected number of replicates when one stops at rejection, or at the last look."""
        survived = 1.0 - np.concatenate([[0.0], self.rejected[:-1]])
        return float(survived @ np.diff(self.looks, prepend=0))

    def replicates_for(self, probability: float) -> int | None:
        """First look by which the test has rejected with at least the given probability, None if there is none."""
        reached = np.flatnonzero(self.rejected >= probability)
        return int(self.looks[reached[0]]) if reached.size else None


def event_characteristic(
    delta: float, alpha: float, n_max: int, p: float, block: int | Sequence[int] = 1
) -> OperatingCharacteristic:
    """When the event test rejects, if replicates are bad independently with probability `p`.

    Parameters
    ----------
    delta : float
        The claimed probability, in ``[0, 1]``.
    alpha : float
        Nominal level, in ``(0, 1)``.
    n_max : int
        Largest number of replicates.
    p : float
        True probability of the bad event.
    block : int or sequence of int
        Block size, or the sizes of successive blocks; the test looks after whole blocks that end by `n_max`.

    Returns
    -------
    OperatingCharacteristic
        Exact chances of rejection.

    Examples
    --------
    >>> event_characteristic(0.0, 1e-10, 3, p=0.5).rejected.tolist()
    [0.5, 0.75, 0.875]
    """
    looks = _looks(n_max, block)
    true = float(checked_probabilities(p, "p"))
    boundary = rejection_boundary(int(looks[-1]), delta, alpha)
    alive, rejected, total, before = np.ones(1), np.zeros(looks.size), 0.0, 0
    for i, n in enumerate(looks):
        for _ in range(n - before):
            grown = np.zeros(alive.size + 1)
            grown[:-1] = alive * (1.0 - true)
            grown[1:] += alive * true
            alive = grown
        total += float(alive[boundary[n] :].sum())
        alive = alive[: boundary[n]]
        rejected[i], before = min(total, 1.0), n
    return OperatingCharacteristic(looks, rejected)


def false_alarm(
    delta: float, alpha: float, n_max: int, p: float | None = None, block: int | Sequence[int] = 1
) -> float:
    """Exact chance that the event test ever rejects a true claim.

    Parameters
    ----------
    delta, alpha, n_max, block
        As in `event_characteristic`.
    p : float, optional
        True probability of the bad event, at most `delta`; `delta` itself, the worst case, by default.

    Returns
    -------
    float
        At most `alpha`, whatever the other arguments.

    Examples
    --------
    >>> f"{false_alarm(0.05, 1e-6, 3000):.2e}"
    '4.69e-07'
    """
    true = delta if p is None else p
    if true > delta:
        raise ValueError(f"p must be at most delta={delta!r} for the claim to be true, got {true!r}")
    return event_characteristic(delta, alpha, n_max, true, block).probability


def power(delta: float, alpha: float, n_max: int, p: float, block: int | Sequence[int] = 1) -> float:
    """Exact chance that the event test refutes a false claim.

    Parameters
    ----------
    delta, alpha, n_max, block
        As in `event_characteristic`.
    p : float
        True probability of the bad event, above `delta`.

    Returns
    -------
    float
        Chance of refutation by `n_max`.

    Examples
    --------
    >>> power(0.05, 1e-10, 300, p=0.3) > 0.999
    True
    """
    if not p > delta:
        raise ValueError(f"p must exceed delta={delta!r} for the claim to be false, got {p!r}")
    return event_characteristic(delta, alpha, n_max, p, block).probability


def mean_characteristic(
    points: Sequence[float],
    probabilities: Sequence[float],
    low: float,
    high: float,
    mean: float,
    side: Side,
    alpha: float,
    n_max: int,
    block: int | Sequence[int] = 1,
    grid_steps: int = GRID_STEPS,
) -> OperatingCharacteristic:
    """When the mean test rejects, if samples are independent draws from a distribution on one, two or three points.

    Parameters
    ----------
    points, probabilities : sequence of float
        The distribution; points in ``[low, high]``, probabilities summing to 1.
    low, high : float
        The declared range.
    mean : float
        The claimed bound.
    side : {"at most", "at least", "equal"}
        Direction of the claim.
    alpha : float
        Nominal level, in ``(0, 1)``.
    n_max : int
        Largest number of samples; time grows like ``n_max**2`` for two points and ``n_max**3`` for three.
    block : int or sequence of int
        Block size, or the sizes of successive blocks.
    grid_steps : int
        Steps of the grid that samples are rounded to.

    Returns
    -------
    OperatingCharacteristic
        Exact chances of rejection.

    Examples
    --------
    >>> fair = mean_characteristic([0, 1], [0.5, 0.5], 0, 1, 0.5, "at most", 0.01, 200)
    >>> 0 < fair.probability < 0.01
    True
    """
    looks, threshold = _looks(n_max, block), log_threshold(alpha)
    weights = _distribution(points, probabilities)
    support = np.pad(np.asarray(points, dtype=np.float64), (0, 3 - len(points)), mode="edge")  # padding has weight 0
    alive = np.ones((1, 1))  # [k1, k2]: chance of these counts of points 1 and 2, not rejected so far
    rejected, total, before = np.zeros(looks.size), 0.0, 0
    for i, n in enumerate(looks):
        for _ in range(n - before):
            alive = _one_more(alive, weights)
        k1, k2 = np.nonzero(alive)
        counts = np.stack([n - k1 - k2, k1, k2], axis=-1)
        out = log_e_values_of_counts(support, counts, low, high, mean, side, grid_steps) >= threshold
        total += float(alive[k1[out], k2[out]].sum())
        alive[k1[out], k2[out]] = 0.0
        rejected[i], before = min(total, 1.0), n
    return OperatingCharacteristic(looks, rejected)


def _one_more(alive: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Distribution of the counts of points 1 and 2 after one more draw; an axis grows only if its point can occur."""
    rows, columns = alive.shape
    grown = np.zeros((rows + int(weights[1] > 0), columns + int(weights[2] > 0)))
    grown[:rows, :columns] = alive * weights[0]
    if weights[1] > 0:
        grown[1:, :columns] += alive * weights[1]
    if weights[2] > 0:
        grown[:rows, 1:] += alive * weights[2]
    return grown


def _distribution(points: Sequence[float], probabilities: Sequence[float]) -> NDArray[np.float64]:
    """Check a distribution on at most three points and pad it to three."""
    weights = checked_probabilities(probabilities, "probabilities")
    if not 1 <= len(points) <= 3 or weights.shape != (len(points),):
        raise ValueError(
            f"points must be one, two or three with a probability each, got {points!r} and {probabilities!r}"
        )
    if abs(float(weights.sum()) - 1.0) > 1e-12:
        raise ValueError(f"probabilities must sum to 1, got {float(weights.sum())!r}")
    return np.pad(weights, (0, 3 - weights.size))


def _looks(n_max: int, block: int | Sequence[int]) -> NDArray[np.int64]:
    """Return the ends of whole blocks, at least one and at most `n_max`."""
    n_max = count(n_max, "n_max")
    sizes = [block] * (n_max // block if block >= 1 else 0) if isinstance(block, int) else list(block)
    looks = np.cumsum(np.asarray(sizes, dtype=np.int64))
    looks = looks[looks <= n_max]
    if looks.size == 0 or min(sizes) < 1:
        raise ValueError(f"block must give at least one look at positive size within n_max={n_max}, got {block!r}")
    return looks
