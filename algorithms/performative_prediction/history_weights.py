"""Weights over stored iterations for a control variate built from their samples."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["inverse_weights", "water_filling_weights"]

Array = NDArray[np.float64]


def inverse_weights(costs: ArrayLike) -> Array:
    """Minimiser ``a_i = (1 / b_i) / sum_j (1 / b_j)`` of ``sum b_i a_i^2`` over the simplex (predecessor, Lemma 5).

    Zero costs share the whole weight equally, which is the limit of the formula.

    Parameters
    ----------
    costs : array_like, shape (..., s)
        ``b >= 0``.

    Returns
    -------
    numpy.ndarray, shape (..., s)

    Raises
    ------
    ValueError
        If there are no costs, or one is negative or not finite.

    Examples
    --------
    >>> inverse_weights([1.0, 3.0])
    array([0.75, 0.25])
    """
    b = np.asarray(costs, dtype=np.float64)
    if b.ndim == 0 or b.shape[-1] == 0:
        raise ValueError(f"costs must hold at least one number along the last axis, got shape {b.shape}")
    if not np.isfinite(b).all() or (b < 0.0).any():
        raise ValueError("costs must be finite and not negative")
    least = b.min(axis=-1, keepdims=True)
    ratio = np.where(b == least, 1.0, least / np.where(b > 0.0, b, 1.0))  # scaled against overflow of 1 / b
    return np.asarray(ratio / ratio.sum(axis=-1, keepdims=True))


def water_filling_weights(square_biases: ArrayLike, variances: ArrayLike) -> Array:
    """Minimiser of ``sum a_i B_i + sum a_i^2 V_i`` over the simplex, for the repaired error bound.

    The optimum is ``a_i = max(0, (nu - B_i) / (2 V_i))`` with the level ``nu`` that makes the sum one, found by
    sorting. Where variances are zero the smallest bias takes what the others leave.

    Parameters
    ----------
    square_biases, variances : array_like, shape (s,)
        ``B >= 0`` and ``V >= 0``.

    Returns
    -------
    numpy.ndarray, shape (s,)

    Raises
    ------
    ValueError
        If the shapes differ or a number is negative or not finite.

    Examples
    --------
    >>> water_filling_weights([0.0, 1.0], [1.0, 1.0])
    array([0.75, 0.25])
    """
    bias, variance = np.asarray(square_biases, dtype=np.float64), np.asarray(variances, dtype=np.float64)
    if bias.ndim != 1 or bias.size == 0 or bias.shape != variance.shape:
        raise ValueError(
            f"square_biases and variances must be vectors of one length, got {bias.shape} and {variance.shape}"
        )
    for name, values in (("square_biases", bias), ("variances", variance)):
        if not np.isfinite(values).all() or (values < 0.0).any():
            raise ValueError(f"{name} must be finite and not negative")
    scale = max(float(bias.max()), float(variance.max()))
    if scale == 0.0:
        return np.full(bias.size, 1.0 / bias.size)
    bias, variance = bias / scale, variance / scale
    order = np.argsort(bias, kind="stable")
    weights = np.zeros(bias.size)
    free = variance < 1e-300
    cap = bias[free].min() if free.any() else np.inf  # the level cannot rise above a bias that costs no variance
    inside = order[(bias[order] < cap) & ~free[order]]
    rate = 1.0 / (2.0 * variance[inside])
    used = np.cumsum(rate)
    level = (1.0 + np.cumsum(rate * bias[inside])) / used if inside.size else np.zeros(0)
    last = int(np.searchsorted(level < np.append(bias[inside][1:], np.inf), True)) if inside.size else 0
    nu = min(level[last], cap) if inside.size else cap
    weights[inside] = np.maximum(0.0, (nu - bias[inside]) * rate)
    rest = 1.0 - weights.sum()
    if free.any() and rest > 0.0:
        at_cap = free & (bias == cap)
        weights[at_cap] += rest / at_cap.sum()
    return np.asarray(weights / weights.sum())
