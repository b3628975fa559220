r"""Claims of the form "the bad event happens with probability at most delta", decided from two integers.

The evidence is ``(n, k)``: ``n`` replicates, ``k`` of them bad. For a fixed alternative ``q > delta`` the
likelihood ratio

.. math:: L_q(n, k) = (q / \delta)^k \, ((1 - q) / (1 - \delta))^{n - k}

has one-step expectation ``p q / delta + (1 - p)(1 - q) / (1 - delta)`` when a replicate is bad with probability
``p``. That is 1 at ``p = delta`` and increases with ``p``, so ``L_q`` is a nonnegative supermartingale started at 1
for **every** ``p <= delta``, also when ``p`` changes from replicate to replicate in a way that depends on the past
only. Mixing over ``q`` keeps that. The mixture used here is uniform on ``(delta, 1]``:

.. math:: E_\delta(n, k) = \frac{1}{1 - \delta} \int_\delta^1 L_q(n, k) \, dq
          = \frac{1}{m - k} \sum_{j=0}^{k} \frac{\binom{m}{j}}{\binom{m}{k}} \Big( \frac{1 - \delta}{\delta}
          \Big)^{k - j}, \qquad m = n + 1.

By Ville's inequality ``P(E reaches 1 / alpha at any time) <= alpha``: the claim may be rejected as soon as
``E >= 1 / alpha``, however often one looks and whatever made one stop. The sum shows term by term that ``E``
decreases in ``delta``, increases in ``k`` and decreases in ``n``, so that rejection is a threshold on ``k`` and the
``delta`` refuted by given data form an interval starting at 0.

The truncation at ``delta`` is what makes the test valid below ``delta``. The untruncated Beta mixture tests the
two-sided ``p = delta``: under ``p = 0`` it rejects a true claim with certainty, sooner or later. At level 1e-6 with
``delta = 0.05`` the exact false-alarm rate up to ``n = 3000`` is 4.69e-7 (see
`whp.proofs_checks.engine.statistics.operating`).

References
----------
.. [1] J. Ville, Étude critique de la notion de collectif, Gauthier-Villars, 1939.
.. [2] H. Robbins, Statistical methods related to the law of the iterated logarithm, Ann. Math. Statist. 41, 1970
   (mixtures).
.. [3] S. Howard, A. Ramdas, J. McAuliffe, J. Sekhon, Time-uniform, nonparametric, nonasymptotic confidence
   sequences, Ann. Statist. 49, 2021.
"""

from __future__ import annotations

import math
from typing import overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from whp.proofs_checks.engine.statistics.arguments import count, log_threshold, probabilities

__all__ = [
    "confidence_interval",
    "log_e_value",
    "margin",
    "rejection_boundary",
    "replicates_needed",
]

_LARGEST_COUNT = 2**53  # every count is exact as a float64 up to here


@overload
def log_e_value(n: int, k: int, delta: float) -> float: ...


@overload
def log_e_value(n: ArrayLike, k: ArrayLike, delta: ArrayLike) -> NDArray[np.float64]: ...


def log_e_value(n: ArrayLike, k: ArrayLike, delta: ArrayLike) -> float | NDArray[np.float64]:
    """Log of the evidence against "bad with probability at most `delta`".

    Parameters
    ----------
    n, k : int or array_like of int
        Replicates and bad events among them, ``0 <= k <= n``.
    delta : float or array_like of float
        The claimed probability, in ``[0, 1]``. All three arguments are broadcast together.

    Returns
    -------
    float or ndarray
        ``log E``; the claim is refuted at level ``alpha`` once it reaches ``log(1 / alpha)``. ``inf`` when
        ``delta = 0`` and ``k > 0``. The absolute error is below 1e-11 for ``n`` up to 3000 and 1e-8 for ``n`` up to
        a million.

    Raises
    ------
    TypeError
        If a count is not an integer.
    ValueError
        If a count or `delta` lies outside its range.

    Examples
    --------
    >>> log_e_value(0, 0, 0.05)
    0.0
    >>> log_e_value(10, 1, 0.0)
    inf
    >>> bool(log_e_value(100, 30, 0.05) > math.log(1e10))
    True
    """
    trials, bad = _counts(n, k)
    claimed = probabilities(delta, "delta")
    trials, bad, claimed = np.broadcast_arrays(trials, bad, claimed)
    result = _log_tail_over_term(trials + 1.0, bad, claimed) - np.log(trials + 1.0 - bad)
    return float(result) if result.ndim == 0 else result


def rejection_boundary(n_max: int, delta: float, alpha: float) -> NDArray[np.int64]:
    """Least number of bad events that refutes the claim, for every number of replicates.

    Parameters
    ----------
    n_max : int
        Largest number of replicates.
    delta : float
        The claimed probability, in ``[0, 1]``.
    alpha : float
        Level of the test, in ``(0, 1)``.

    Returns
    -------
    ndarray of int, shape (n_max + 1,)
        Entry ``n`` is the least ``k`` with ``E(n, k) >= 1 / alpha``; ``n + 1`` where no count refutes. Never
        decreases in ``n``.

    Examples
    --------
    >>> rejection_boundary(5, 0.05, 1e-3).tolist()
    [1, 2, 3, 3, 4, 4]
    """
    n_max = count(n_max, "n_max")
    claimed = float(probabilities(delta, "delta"))
    threshold = log_threshold(alpha)
    n = np.arange(n_max + 1)
    low, high = np.full(n_max + 1, -1), n + 1  # low never refutes, high always does (or is n + 1)
    while np.any(high - low > 1):
        middle = (low + high) // 2
        open_ = high - low > 1
        refuted = np.zeros(n_max + 1, dtype=bool)
        refuted[open_] = log_e_value(n[open_], middle[open_], claimed) >= threshold
        high = np.where(open_ & refuted, middle, high)
        low = np.where(open_ & ~refuted, middle, low)
    return high.astype(np.int64)


def margin(n: int, k: int, alpha: float) -> float:
    """Largest claim that these data refute: a lower confidence bound for the probability of the bad event.

    Parameters
    ----------
    n, k : int
        Replicates and bad events among them.
    alpha : float
        Level, in ``(0, 1)``.

    Returns
    -------
    float
        Every claim ``delta <= margin`` is refuted at level `alpha`, valid at any stopping time; 0 when there was no
        bad event (then nothing is refuted). Compared with the claimed ``delta`` it says how far the claim is from
        being refuted.

    Examples
    --------
    >>> margin(1000, 0, 1e-10)
    0.0
    >>> 0.03 < margin(1000, 100, 1e-10) < 0.1
    True
    """
    _counts(n, k)
    threshold = log_threshold(alpha)
    if k == 0:
        return 0.0
    low, high = 0.0, 1.0  # delta = 0 is refuted by one bad event, delta = 1 never is
    while low < (middle := 0.5 * (low + high)) < high:
        if log_e_value(n, k, middle) >= threshold:
            low = middle
        else:
            high = middle
    return low


def confidence_interval(n: int, k: int, alpha: float) -> tuple[float, float]:
    """Confidence sequence for the probability of the bad event, at one moment.

    Parameters
    ----------
    n, k : int
        Replicates and bad events among them.
    alpha : float
        Level, in ``(0, 1)``; half of it is spent on either end.

    Returns
    -------
    low, high : float
        With probability at least ``1 - alpha`` the true probability lies strictly inside (or at 0 or 1) at all
        moments at once.

    Examples
    --------
    >>> confidence_interval(0, 0, 0.05)
    (0.0, 1.0)
    >>> low, high = confidence_interval(1000, 50, 0.001)
    >>> 0.02 < low < 0.05 < high < 0.09
    True
    """
    _counts(n, k)
    high = 1.0 - margin(n, n - k, alpha / 2)
    return margin(n, k, alpha / 2), min(1.0, math.nextafter(high, 2.0))  # rounded outwards


def replicates_needed(delta: float, alpha: float, p_true: float, power: float = 0.9) -> int:
    """Replicates after which a false claim is refuted with the wanted probability.

    Parameters
    ----------
    delta : float
        The claimed probability, in ``[0, 1)``.
    alpha : float
        Level of the test, in ``(0, 1)``.
    p_true : float
        The probability that the bad event really has, in ``(delta, 1]``.
    power : float
        Wanted probability of refutation when looking at the end only, in ``(0, 1)``; earlier looks can only add to
        it.

    Returns
    -------
    int
        A number of replicates ``n`` with ``P(Binomial(n, p_true) >= boundary(n)) >= power``; least up to the saw
        teeth that counts make. To ask how many replicates *establish* a claim with a true ``p_true < delta``, call
        with ``1 - delta`` and ``1 - p_true``.

    Raises
    ------
    ValueError
        If `p_true` does not exceed `delta` (a true claim is never refuted, whatever the number of replicates).

    Examples
    --------
    >>> replicates_needed(0.0, 1e-10, 1.0)
    1
    >>> replicates_needed(0.05, 1e-10, 0.5) < replicates_needed(0.05, 1e-10, 0.1)
    True
    """
    claimed, true = float(probabilities(delta, "delta")), float(probabilities(p_true, "p_true"))
    threshold = log_threshold(alpha)
    if not true > claimed:
        raise ValueError(f"p_true must exceed delta={claimed!r} for the claim to be refutable, got {true!r}")
    if not 0 < power < 1:
        raise ValueError(f"power must lie strictly between 0 and 1, got {power!r}")
    low, high = 0, 1
    while _power_at(high, claimed, threshold, true) < power:
        low, high = high, 2 * high
        if high > _LARGEST_COUNT:
            raise ValueError(f"more than 2**53 replicates are needed to tell p_true={true!r} from delta={claimed!r}")
    while high - low > 1:
        middle = (low + high) // 2
        if _power_at(middle, claimed, threshold, true) >= power:
            high = middle
        else:
            low = middle
    return high


def _power_at(n: int, delta: float, threshold: float, p_true: float) -> float:
    """``P(E(n, K) >= exp(threshold))`` for ``K ~ Binomial(n, p_true)``."""
    from scipy.special import betainc

    low, high = -1, n + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if log_e_value(n, middle, delta) >= threshold else (middle, high)
    if high > n:
        return 0.0
    return 1.0 if high == 0 else float(betainc(high, n - high + 1, p_true))


def _log_tail_over_term(m: NDArray[np.float64], k: NDArray[np.float64], p: NDArray[np.float64]) -> NDArray[np.float64]:
    """``log(P(B <= k) / P(B = k))`` for ``B ~ Binomial(m, p)`` and ``k < m``."""
    from scipy.special import betaincc, gammaln, xlog1py, xlogy

    tail = np.asarray(betaincc(k + 1, m - k, p))
    log_term = gammaln(m + 1) - gammaln(k + 1) - gammaln(m - k + 1) + xlogy(k, p) + xlog1py(m - k, -p)
    usable = tail > 1e-280
    result = np.asarray(np.log(np.where(usable, tail, 1.0)) - log_term)
    result[k == 0] = 0.0  # one term only
    usable |= k == 0
    if not usable.all():
        result[~usable] = _log_tail_series(m[~usable], k[~usable], p[~usable])
    return result


def _log_tail_series(m: NDArray[np.float64], k: NDArray[np.float64], p: NDArray[np.float64]) -> NDArray[np.float64]:
    """Deep in the left tail, where the tail underflows: its ratio to its last term, summed downwards."""
    odds = (1.0 - p) / p
    total, term, step = np.ones_like(m), np.ones_like(m), 0
    while np.any(term > 1e-18 * total):
        term = term * np.maximum(k - step, 0.0) / (m - k + step + 1) * odds
        total += term
        step += 1
    return np.log(total)


def _counts(n: ArrayLike, k: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Check replicates and bad events, and return them as (exact) floats."""
    trials, bad = np.asarray(n), np.asarray(k)
    for name, value in (("n", trials), ("k", bad)):
        if value.dtype.kind not in "iu":
            raise TypeError(f"{name} must be an integer or an array of integers, got {value.dtype} {value!r}")
    wrong = (bad < 0) | (bad > trials) | (trials > _LARGEST_COUNT)
    if np.any(wrong):
        trials, bad = np.broadcast_arrays(trials, bad)
        raise ValueError(f"counts must satisfy 0 <= k <= n <= 2**53, got n={trials[wrong][0]}, k={bad[wrong][0]}")
    return trials.astype(np.float64), bad.astype(np.float64)
