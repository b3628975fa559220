"""The random directions of guided zeroth-order methods: covariance and moments in closed form.

A direction is ``u = sqrt(alpha / d) z + sqrt(1 - alpha) s g`` with ``z ~ N(0, I_d)``, ``s ~ N(0, 1)`` and a guide ``g``
that is a unit vector, or zero when there is none. Its covariance is ``Sigma = (alpha / d) I + (1 - alpha) g g'``.
"""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .validation import finite_array, finite_number, positive_integer

__all__ = [
    "direction_covariance",
    "explored_gradient",
    "isotropic_share",
    "largest_eigenvalue",
    "sixth_norm_moment",
    "sixth_norm_moment_isotropic",
    "slope_energy",
]

Array = NDArray[np.float64]


def direction_covariance(guide: ArrayLike, alpha: float) -> Array:
    """Covariance ``Sigma = (alpha / d) I + (1 - alpha) g g'`` of a direction.

    Parameters
    ----------
    guide : array_like, shape (d,)
        Unit vector ``g``, or zero for no guide.
    alpha : float
        Isotropic share in ``[0, 1]``.

    Returns
    -------
    numpy.ndarray, shape (d, d)
        Trace one with a unit guide, trace ``alpha`` without a guide.

    Raises
    ------
    ValueError
        If ``alpha`` is outside ``[0, 1]`` or the guide has a norm other than zero or one.

    Examples
    --------
    >>> direction_covariance([1.0, 0.0], 0.5)
    array([[0.75, 0.  ],
           [0.  , 0.25]])
    """
    g = finite_array("guide", guide, 1)
    share = finite_number("alpha", alpha, at_least=0.0, at_most=1.0)
    norm = float(np.linalg.norm(g))
    if norm > 0.0 and abs(norm - 1.0) > 1e-9:
        raise ValueError(f"guide must be a unit vector or zero, got norm {norm:g}")
    return np.asarray(share / g.size * np.eye(g.size) + (1.0 - share) * np.outer(g, g))


def largest_eigenvalue(alpha: ArrayLike, dimension: int) -> Array:
    """Largest eigenvalue ``1 - alpha + alpha / d`` of ``Sigma`` with a unit guide.

    Parameters
    ----------
    alpha : array_like
        Isotropic shares in ``[0, 1]``.
    dimension : int
        ``d``.

    Returns
    -------
    numpy.ndarray
        The eigenvalue for every share.

    Examples
    --------
    >>> float(largest_eigenvalue(1.0, 4))
    0.25
    """
    share = np.asarray(alpha, dtype=np.float64)
    if not ((share >= 0.0) & (share <= 1.0)).all():
        raise ValueError(f"alpha must lie in [0, 1], got {alpha!r}")
    return 1.0 - share + share / positive_integer("dimension", dimension)


def explored_gradient(gradient: ArrayLike, guide: ArrayLike, alpha: float) -> float:
    """Quadratic form ``q = grad' Sigma grad = (alpha / d) |grad|^2 + (1 - alpha) (g'grad)^2``.

    This is what one step of guided descent sees of the gradient; a guide orthogonal to it adds nothing.

    Parameters
    ----------
    gradient : array_like, shape (d,)
        Gradient of ``F``.
    guide : array_like, shape (d,)
        Unit vector, or zero.
    alpha : float
        Isotropic share.

    Returns
    -------
    float

    Examples
    --------
    >>> explored_gradient([1.0, 2.0], [1.0, 0.0], 0.5)
    1.75
    """
    a = finite_array("gradient", gradient, 1)
    g = finite_array("guide", guide, 1, a.shape)
    share = finite_number("alpha", alpha, at_least=0.0, at_most=1.0)
    return float(share / a.size * (a @ a) + (1.0 - share) * (a @ g) ** 2)


def slope_energy(gradient: ArrayLike, covariance: ArrayLike) -> float:
    """Exact moment ``E[(a'u)^2 |u|^2] = tr(Sigma) a'Sigma a + 2 a'Sigma^2 a`` for ``u ~ N(0, Sigma)``.

    Parameters
    ----------
    gradient : array_like, shape (d,)
        ``a``.
    covariance : array_like, shape (d, d)
        ``Sigma``, symmetric positive semidefinite.

    Returns
    -------
    float
        At most ``3 a'Sigma a`` when the trace is at most one.

    Examples
    --------
    >>> slope_energy([1.0], [[1.0]])
    3.0
    """
    a = finite_array("gradient", gradient, 1)
    sigma = finite_array("covariance", covariance, 2, (a.size, a.size))
    once = sigma @ a
    return float(np.trace(sigma) * (a @ once) + 2.0 * (once @ once))


def sixth_norm_moment(covariance: ArrayLike) -> float:
    """Exact moment ``E|u|^6 = t1^3 + 6 t1 t2 + 8 t3`` with ``t_j = tr(Sigma^j)``, for ``u ~ N(0, Sigma)``.

    Parameters
    ----------
    covariance : array_like, shape (d, d)
        ``Sigma``, symmetric positive semidefinite.

    Returns
    -------
    float
        At most 15 when the trace is at most one.

    Examples
    --------
    >>> sixth_norm_moment([[1.0]])
    15.0
    """
    sigma = finite_array("covariance", covariance, 2)
    square = sigma @ sigma
    t1, t2, t3 = float(np.trace(sigma)), float(np.trace(square)), float(np.trace(square @ sigma))
    return t1**3 + 6.0 * t1 * t2 + 8.0 * t3


def sixth_norm_moment_isotropic(dimension: int) -> float:
    """``E|u|^6 = 1 + 6 / d + 8 / d^2`` for ``u ~ N(0, I / d)``.

    Parameters
    ----------
    dimension : int
        ``d``.

    Returns
    -------
    float

    Examples
    --------
    >>> sixth_norm_moment_isotropic(2)
    6.0
    """
    d = positive_integer("dimension", dimension)
    return 1.0 + 6.0 / d + 8.0 / d**2


def isotropic_share(iteration: int, initial: float = 0.0, decay: float = 0.98) -> float:
    """Share ``alpha_k = 1 - kappa^k (1 - alpha_0)`` that solves ``alpha_{k+1} = 1 - kappa (1 - alpha_k)``.

    Parameters
    ----------
    iteration : int
        ``k >= 0``.
    initial : float
        ``alpha_0`` in ``[0, 1]``.
    decay : float
        ``kappa`` in ``[0, 1]``.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If a parameter is outside its range.

    Examples
    --------
    >>> round(isotropic_share(10), 8)
    0.18292719
    """
    if isinstance(iteration, bool) or not isinstance(iteration, (int, np.integer)):
        raise TypeError(f"iteration must be an integer, got {iteration!r}")
    if iteration < 0:
        raise ValueError(f"iteration must not be negative, got {iteration}")
    start = finite_number("initial", initial, at_least=0.0, at_most=1.0)
    kappa = finite_number("decay", decay, at_least=0.0, at_most=1.0)
    return 1.0 - math.pow(kappa, iteration) * (1.0 - start)
