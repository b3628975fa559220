"""What the estimators of this paper have as mean and second moment, exactly, on the families that allow it."""

import math
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .directions import direction_covariance, slope_energy
from .validation import finite_array, finite_number, positive_integer

__all__ = [
    "QuadraticObjective",
    "central_difference_bias",
    "guided_mean_on_quadratic",
    "guided_second_moment_on_quadratic",
    "one_point_second_moment_shift",
    "same_sample_mean",
]

Array = NDArray[np.float64]


class QuadraticObjective(Protocol):
    """A family whose objective is quadratic, so that smoothing does not change its gradient."""

    def gradient(self, x: Array) -> Array:
        """Gradient of ``F``; shapes ``(..., d) -> (..., d)``."""
        ...

    def known_gradient(self, x: Array) -> Array:
        """Mean known-function gradient; shapes ``(..., d) -> (..., d)``."""
        ...


def guided_mean_on_quadratic(problem: QuadraticObjective, x: ArrayLike, guide: ArrayLike, alpha: float) -> Array:
    """Mean ``Sigma grad F(x)`` of the guided two-point estimator on a quadratic ``F``, for every radius.

    Parameters
    ----------
    problem : QuadraticObjective
        Family with quadratic objective.
    x, guide : array_like, shape (d,)
        Decision and unit guide (or zero).
    alpha : float
        Isotropic share.

    Returns
    -------
    numpy.ndarray, shape (d,)
    """
    point = finite_array("x", x, 1)
    return np.asarray(direction_covariance(guide, alpha) @ problem.gradient(point))


def same_sample_mean(problem: QuadraticObjective, x: ArrayLike, guide: ArrayLike, alpha: float) -> Array:
    """Mean ``Sigma E grad_x f`` of the two-point estimator that evaluates both sides on one sample drawn at ``x``.

    It vanishes at the performatively stable point instead of at a stationary point of ``F``.

    Parameters
    ----------
    problem : QuadraticObjective
        Family whose loss is quadratic in ``x``.
    x, guide : array_like, shape (d,)
        Decision and unit guide (or zero).
    alpha : float
        Isotropic share.

    Returns
    -------
    numpy.ndarray, shape (d,)
    """
    point = finite_array("x", x, 1)
    return np.asarray(direction_covariance(guide, alpha) @ problem.known_gradient(point))


def guided_second_moment_on_quadratic(
    gradient: ArrayLike, guide: ArrayLike, alpha: float, variance: float = 0.0, radius: float = 1.0, batch: int = 1
) -> float:
    """Second moment of the guided two-point estimator on a quadratic ``F`` with constant loss variance.

    On a quadratic the half difference is ``grad'u`` exactly, so ``E|g|^2 = E[(grad'u)^2 |u|^2] + tr(Sigma) sigma^2 /
    (2 mu^2 m)``.

    Parameters
    ----------
    gradient, guide : array_like, shape (d,)
        Gradient of ``F`` and unit guide (or zero).
    alpha : float
        Isotropic share.
    variance : float
        ``sigma^2``, the variance of ``f`` at every decision.
    radius : float
        ``mu > 0``.
    batch : int
        ``m``, samples a side.

    Returns
    -------
    float

    Examples
    --------
    >>> guided_second_moment_on_quadratic([1.0], [1.0], 0.0, variance=2.0, radius=1.0, batch=1)
    4.0
    """
    sigma = direction_covariance(guide, alpha)
    mu = finite_number("radius", radius, above=0.0)
    noise = finite_number("variance", variance, at_least=0.0) / (2.0 * mu**2 * positive_integer("batch", batch))
    return slope_energy(gradient, sigma) + float(np.trace(sigma)) * noise


def central_difference_bias(third_derivative: float, step: float) -> float:
    """Bias ``step^2 f''' / 6`` of the symmetric difference quotient of a cubic with unit directions.

    Parameters
    ----------
    third_derivative : float
        ``f'''``, constant.
    step : float
        Distance to either side.

    Returns
    -------
    float

    Examples
    --------
    >>> round(central_difference_bias(6.0, 0.1), 12)
    0.01
    """
    return finite_number("step", step) ** 2 * finite_number("third_derivative", third_derivative) / 6.0


def one_point_second_moment_shift(mean_value: float, constant: float, dimension: int, radius: float) -> float:
    """Growth of ``E|g|^2`` of the one-point estimator when ``constant`` is added to the loss, ``u ~ N(0, I_d)``.

    For a constant objective ``F`` it is ``((F + constant)^2 - F^2) d / mu^2``; two-point estimators do not change.

    Parameters
    ----------
    mean_value : float
        The constant value ``F``.
    constant : float
        What is added.
    dimension : int
        ``d``.
    radius : float
        ``mu > 0``.

    Returns
    -------
    float

    Examples
    --------
    >>> one_point_second_moment_shift(0.0, 2.0, dimension=3, radius=1.0)
    12.0
    """
    value = finite_number("mean_value", mean_value)
    shift = finite_number("constant", constant)
    mu = finite_number("radius", radius, above=0.0)
    return ((value + shift) ** 2 - value**2) * positive_integer("dimension", dimension) / math.pow(mu, 2)
