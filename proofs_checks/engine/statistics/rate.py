r"""Measured growth over geometric sizes: a report, never a proof or a refutation.

A claim "grows like ``size**a * log(size)**b``" says nothing at finite sizes, so the honest answer is a fitted
exponent with its interval and sizes, ``consistent`` or ``inconsistent`` with the claimed order. The declared power
``b`` of the logarithm is divided out, then a straight line is fitted by least squares,

.. math:: \log v_i - b \log\log s_i = \text{const} + a \log s_i + r_i .

Two uncertainties are told apart, and the interval is the wider of the two at either end:

- *scatter around the line*, the usual ``t`` interval with ``n_sizes - 2`` degrees of freedom: it covers curvature
  (an order that has not set in yet);
- *noise of the replicates* (when there are at least two per size), carried to the slope by the delta method,
  with the degrees of freedom of Welch and Satterthwaite.

Both are deterministic functions of the data: no resampling, hence no generator and nothing that a re-run could
change. Counts must be counted, never timed.

References
----------
.. [1] B. Welch, The generalization of "Student's" problem when several different population variances are involved,
   Biometrika 34, 1947.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from whp.proofs_checks.engine.statistics.mean import Side

__all__ = ["RateFit", "fit_rate"]


@dataclass(frozen=True, slots=True)
class RateFit:
    """A fitted power law with the logarithms divided out.

    Attributes
    ----------
    exponent : float
        Fitted exponent ``a``.
    low, high : float
        Its confidence interval.
    sizes : tuple of float
        Sizes measured at, increasing.
    residuals : tuple of float
        Deviations from the line, in natural logarithms, per size.
    r_squared : float
        Share of the variation of the logarithms that the line explains; 1 when there is none to explain.
    log_power : float
        Power ``b`` of the logarithm that was divided out.
    confidence : float
        Confidence of the interval.
    local_exponents : tuple of float
        Slopes between successive sizes: a drift shows that the order has not set in.
    """

    exponent: float
    low: float
    high: float
    sizes: tuple[float, ...]
    residuals: tuple[float, ...]
    r_squared: float
    log_power: float
    confidence: float
    local_exponents: tuple[float, ...]

    def consistent(self, claimed: float, side: Side = "at most", tolerance: float = 0.0) -> bool:
        """Whether the interval, widened by `tolerance`, reaches the claimed order.

        A wide interval is consistent with much: read it together with ``high - low``.

        Parameters
        ----------
        claimed : float
            Claimed exponent.
        side : {"at most", "at least", "equal"}
            Whether the claim is an upper bound, a lower bound or an order.
        tolerance : float
            Nonnegative allowance for finite sizes, in units of the exponent.

        Returns
        -------
        bool
            False when the data speak against the claimed order at these sizes.

        Examples
        --------
        >>> square = fit_rate([10, 20, 40, 80], [100, 400, 1600, 6400])
        >>> square.consistent(2.5), square.consistent(2, "equal", 0.01), square.consistent(1.5)
        (True, True, False)
        """
        if not (math.isfinite(claimed) and 0 <= tolerance < math.inf):
            raise ValueError(f"claimed must be finite and tolerance at least 0, got {claimed!r} and {tolerance!r}")
        not_above = self.low <= claimed + tolerance
        not_below = self.high >= claimed - tolerance
        match side:
            case "at most":
                return not_above
            case "at least":
                return not_below
            case "equal":
                return not_above and not_below
        raise ValueError(f"side must be 'at most', 'at least' or 'equal', got {side!r}")


def fit_rate(sizes: ArrayLike, values: ArrayLike, log_power: float = 0.0, confidence: float = 0.95) -> RateFit:
    """Fit ``value = const * size**exponent * log(size)**log_power``.

    Parameters
    ----------
    sizes : array_like, shape (n_rows,)
        Positive sizes, at least three distinct ones; above 1 if logarithms are divided out. Rows may come in any
        order and repeat a size as often as it was measured; the report does not depend on their order.
    values : array_like, shape (n_rows,) or (n_rows, n_replicates)
        What was measured in each row; the mean over all replicates of a size must be positive.
    log_power : float
        Declared power of the logarithm.
    confidence : float
        Confidence of the interval, in ``(0, 1)``.

    Returns
    -------
    RateFit
        Exponent, interval, sizes, residuals.

    Raises
    ------
    ValueError
        If the shapes do not match, a number is not finite, or a logarithm does not exist.

    Examples
    --------
    >>> fit = fit_rate([2**i for i in range(4, 10)], [2**i * i for i in range(4, 10)], log_power=1)
    >>> round(fit.exponent, 12), round(fit.r_squared, 12)
    (1.0, 1.0)
    """
    if not 0 < confidence < 1 or not math.isfinite(log_power):
        raise ValueError(
            f"confidence must lie between 0 and 1 and log_power be finite, got {confidence!r} and {log_power!r}"
        )
    size, replicates = _by_size(sizes, values)
    _check_logarithms(size, replicates, log_power)
    means = np.array([values_there.mean() for values_there in replicates])
    x = np.log(size)
    y = np.log(means) - (log_power * np.log(x) if log_power else 0.0)
    y -= y[0]  # a constant cost becomes exactly 0
    centred = x - x.mean()
    weights = centred / (centred @ centred)  # slope = weights @ y
    exponent = float(weights @ y)
    residuals = y - y.mean() - exponent * centred
    variation = float(np.sum((y - y.mean()) ** 2))
    half = max(
        _scatter_half_width(residuals, weights, confidence), _replicate_half_width(replicates, weights, confidence)
    )
    return RateFit(
        exponent=exponent,
        low=exponent - half,
        high=exponent + half,
        sizes=tuple(size.tolist()),
        residuals=tuple(residuals.tolist()),
        r_squared=max(0.0, 1.0 - float(residuals @ residuals) / variation) if variation > 0 else 1.0,
        log_power=float(log_power),
        confidence=float(confidence),
        local_exponents=tuple((np.diff(y) / np.diff(x)).tolist()),
    )


def _scatter_half_width(residuals: NDArray[np.float64], weights: NDArray[np.float64], confidence: float) -> float:
    """Half width of the ``t`` interval from the scatter around the line."""
    freedom = residuals.size - 2
    error = math.sqrt(float(residuals @ residuals) / freedom * float(weights @ weights))
    return _t_quantile(freedom, confidence) * error


def _replicate_half_width(
    replicates: Sequence[NDArray[np.float64]], weights: NDArray[np.float64], confidence: float
) -> float:
    """Half width from the noise of the replicates; 0 when a size has but one, or there is no noise."""
    numbers = np.array([there.size for there in replicates])
    if numbers.min() < 2:
        return 0.0
    # delta method: var(log mean) = var / (replicates * mean**2)
    relative = np.array([(there / there.mean()).var(ddof=1) for there in replicates])
    parts = weights**2 * relative / numbers
    variance = float(parts.sum())
    if variance == 0.0:
        return 0.0
    freedom = 1.0 / float(np.sum((parts / variance) ** 2 / (numbers - 1)))
    return _t_quantile(freedom, confidence) * math.sqrt(variance)


def _t_quantile(freedom: float, confidence: float) -> float:
    """Two-sided quantile of Student's distribution."""
    from scipy.special import stdtrit

    return float(stdtrit(freedom, 0.5 + confidence / 2))


def _by_size(sizes: ArrayLike, values: ArrayLike) -> tuple[NDArray[np.float64], list[NDArray[np.float64]]]:
    """Distinct sizes in increasing order, and the sorted replicates of each."""
    rows, measured = np.asarray(sizes, dtype=np.float64), np.asarray(values, dtype=np.float64)
    columns = measured[:, None] if measured.ndim == 1 else measured
    if rows.ndim != 1 or columns.ndim != 2 or columns.shape[0] != rows.size or columns.shape[1] == 0:
        raise ValueError(
            f"values must have shape (n,) or (n, replicates) for n={rows.size} sizes on one axis, got {measured.shape}"
        )
    size = np.unique(rows)
    return size, [np.sort(columns[rows == s].ravel()) for s in size]


def _check_logarithms(size: NDArray[np.float64], replicates: Sequence[NDArray[np.float64]], log_power: float) -> None:
    """Refuse sizes and values without a logarithm."""
    least = 1.0 if log_power else 0.0
    if size.size < 3 or not (np.isfinite(size).all() and size[0] > least):
        raise ValueError(f"sizes must hold at least three distinct finite numbers above {least:g}, got {size.tolist()}")
    for s, there in zip(size, replicates, strict=True):
        if not (np.isfinite(there).all() and there.mean() > 0):
            raise ValueError(
                f"values must be finite with a positive mean at every size, got mean {float(there.mean())!r} "
                f"at size {float(s)!r}"
            )
