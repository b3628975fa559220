"""The estimators themselves, as pure functions of observed mean losses, radii and directions.

Shapes: losses ``(...)``, directions ``(..., d)``, estimates ``(..., d)``; a leading axis of replicates is optional.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = [
    "guided_direction",
    "one_point_estimate",
    "rademacher_direction",
    "residual_feedback_estimate",
    "two_point_estimate",
    "unit_guide",
]

Array = NDArray[np.float64]


def _finite(name: str, value: ArrayLike) -> Array:
    """Array of at least one axis without nan or infinity; fractions stay fractions."""
    array = np.asarray(value)
    if array.dtype != object:
        try:
            array = array.astype(np.float64, copy=False)
        except (TypeError, ValueError) as error:
            raise TypeError(f"{name} must be an array of numbers, got {value!r}") from error
        if not np.isfinite(array).all():
            raise ValueError(f"{name} must be finite, got {array[~np.isfinite(array)].flat[0]} among its entries")
    if array.ndim == 0 or array.size == 0:
        raise ValueError(f"{name} must be an array with at least one entry, got {value!r}")
    return array


def _arguments(radius: Any, direction: ArrayLike, **losses: Any) -> Array:
    """Check radius and losses, and return the direction as an array."""
    if isinstance(radius, (bool, str)) or (not np.isscalar(radius) and np.ndim(radius) != 0):
        raise TypeError(f"radius must be a number, got {radius!r}")
    if radius is None or not 0 < radius < math.inf:
        raise ValueError(f"radius must be positive and finite, got {radius!r}")
    for name, loss in losses.items():
        if loss is None or isinstance(loss, str):
            raise TypeError(f"{name} must be a number or an array of numbers, got {loss!r}")
        _finite(name, np.atleast_1d(loss))
    return _finite("direction", direction)


def unit_guide(vector: Array, tolerance: float = 0.0) -> Array:
    """Normalise a guide; rows of norm at most ``tolerance`` become zero, which means no guide.

    Parameters
    ----------
    vector : numpy.ndarray, shape (..., d)
        Mean known-function gradients. The scale of the loss does not matter.
    tolerance : float, optional
        The released scripts use ``1e-5``.

    Returns
    -------
    numpy.ndarray, shape (..., d)

    Examples
    --------
    >>> unit_guide(np.array([3e-200, 4e-200]))
    array([0.6, 0.8])
    """
    if type(vector) is not np.ndarray:
        vector = _finite("vector", vector)
    if not tolerance >= 0.0:
        raise ValueError(f"tolerance must be at least 0, got {tolerance}")
    if vector.ndim == 1:  # the common case, without the detour
        norm = math.sqrt(np.vdot(vector, vector))
        if 1e-140 < norm < 1e140 and norm > tolerance:
            return vector / norm
    top = np.abs(_finite("vector", vector)).max(axis=-1, keepdims=True)
    scaled = vector / np.where(top > 0.0, top, 1.0)  # squares of tiny or huge entries would leave the float range
    length = np.sqrt(np.square(scaled).sum(axis=-1, keepdims=True))
    keep = (top > 0.0) & (top * length > tolerance)
    return np.asarray(np.where(keep, scaled / np.where(keep, length, 1.0), 0.0))


def guided_direction(guide: Array, alpha: ArrayLike, isotropic: Array, along: ArrayLike) -> Array:
    """Direction ``u = sqrt(alpha / d) z + sqrt(1 - alpha) s g``.

    Parameters
    ----------
    guide : numpy.ndarray, shape (..., d)
        Unit guides ``g``, or zero rows.
    alpha : array_like, shape (...)
        Isotropic share.
    isotropic : numpy.ndarray, shape (..., d)
        Standard normal ``z``.
    along : array_like, shape (...)
        Standard normal ``s``.

    Returns
    -------
    numpy.ndarray, shape (..., d)

    Examples
    --------
    >>> guided_direction(np.array([1.0, 0.0]), 0.0, np.array([5.0, 5.0]), 2.0)
    array([2., 0.])
    """
    share = np.asarray(alpha, dtype=np.float64)
    if not ((share >= 0.0) & (share <= 1.0)).all():
        raise ValueError(f"alpha must lie in [0, 1], got {alpha!r}")
    guide, isotropic, along = _finite("guide", guide), _finite("isotropic", isotropic), np.asarray(along)
    if isotropic.shape != guide.shape or along.shape not in ((), guide.shape[:-1]):
        raise ValueError(
            f"isotropic must have the shape {guide.shape} of guide and along {guide.shape[:-1]}, got "
            f"{isotropic.shape} and {along.shape}"
        )
    weight = np.sqrt(1.0 - share) * np.asarray(along)
    return np.asarray(np.sqrt(share / guide.shape[-1])[..., None] * isotropic + weight[..., None] * guide)


def rademacher_direction(shape: tuple[int, ...], rng: np.random.Generator) -> Array:
    """Direction of independent signs (simultaneous perturbation).

    Parameters
    ----------
    shape : tuple of int
        ``(..., d)``.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    numpy.ndarray

    Examples
    --------
    >>> set(rademacher_direction((100,), np.random.default_rng(0))) == {-1.0, 1.0}
    True
    """
    if not isinstance(rng, np.random.Generator):
        raise TypeError(f"rng must be a numpy.random.Generator, got {type(rng).__name__}")
    return 2.0 * rng.integers(0, 2, size=shape).astype(np.float64) - 1.0


def two_point_estimate(loss_plus: Any, loss_minus: Any, radius: float, direction: Array) -> Array:
    """Two-point estimate ``(f_+ - f_-) / (2 mu) u``.

    Parameters
    ----------
    loss_plus, loss_minus : float or numpy.ndarray, shape (...)
        Mean losses at ``x + mu u`` and ``x - mu u``, from independent samples.
    radius : float
        ``mu > 0``.
    direction : numpy.ndarray, shape (..., d)
        ``u``.

    Returns
    -------
    numpy.ndarray, shape (..., d)

    Examples
    --------
    >>> two_point_estimate(3.0, 1.0, 0.5, np.array([1.0, -1.0]))
    array([ 2., -2.])
    """
    direction = _arguments(radius, direction, loss_plus=loss_plus, loss_minus=loss_minus)
    slope = (loss_plus - loss_minus) / (2 * radius)  # fractions stay fractions
    return np.asarray(slope * direction if direction.ndim == 1 else slope[..., None] * direction)


def one_point_estimate(loss: Any, radius: float, direction: Array, control: Any = 0.0) -> Array:
    """One-point estimate ``(f - c) / mu u``.

    Parameters
    ----------
    loss : float or numpy.ndarray, shape (...)
        Mean loss at ``x + mu u``.
    radius : float
        ``mu > 0``.
    direction : numpy.ndarray, shape (..., d)
        ``u``.
    control : float or numpy.ndarray, shape (...), optional
        Control ``c``, independent of ``u``.

    Returns
    -------
    numpy.ndarray, shape (..., d)

    Examples
    --------
    >>> one_point_estimate(3.0, 0.5, np.array([1.0, -1.0]), control=2.0)
    array([ 2., -2.])
    """
    direction = _arguments(radius, direction, loss=loss, control=control)
    slope = (loss - control) / radius
    return slope * direction if direction.ndim == 1 else np.asarray(slope)[..., None] * direction


def residual_feedback_estimate(loss: Any, previous_loss: Any, radius: float, direction: Array) -> Array:
    """Residual-feedback estimate ``(f_k - f_{k-1}) / mu u_k``: the last observation serves as control.

    Parameters
    ----------
    loss, previous_loss : float or numpy.ndarray, shape (...)
        Mean losses at this and at the previous perturbed decision.
    radius : float
        ``mu > 0``.
    direction : numpy.ndarray, shape (..., d)
        This iteration's ``u``.

    Returns
    -------
    numpy.ndarray, shape (..., d)

    References
    ----------
    .. [1] Zhang, Zhou, Ji, Zavlanos: A new one-point residual-feedback oracle for black-box learning and control,
       Automatica 136 (2022).

    Examples
    --------
    >>> residual_feedback_estimate(3.0, 2.0, 0.5, np.array([1.0]))
    array([2.])
    """
    return one_point_estimate(loss, radius, direction, control=previous_loss)
