"""Gradient estimators that draw their own directions and samples, one estimate a replicate.

They share a shape convention: ``x`` is ``(d,)`` with an oracle without replicates, else ``(R, d)``; estimates have the
shape of ``x``.
"""

import numpy as np
from numpy.typing import NDArray

from whp.theory.performative_prediction.validation import finite_array, finite_number, positive_integer

from .estimators import guided_direction, one_point_estimate, two_point_estimate
from .oracle import DecisionOracle
from .same_sample_trap import same_sample_estimate

__all__ = [
    "gaussian_one_point",
    "gaussian_two_point",
    "guided_two_point",
    "mean_known_gradient",
    "shared_sample_two_point",
]

Array = NDArray[np.float64]


def _check(oracle: DecisionOracle, x: Array, batch: int, rng: np.random.Generator, radius: float = 1.0) -> None:
    """Refuse malformed arguments before anything is drawn."""
    if not isinstance(oracle, DecisionOracle):
        raise TypeError(f"oracle must be a DecisionOracle, got {type(oracle).__name__}")
    if not isinstance(rng, np.random.Generator):
        raise TypeError(f"rng must be a numpy.random.Generator, got {type(rng).__name__}")
    positive_integer("batch", batch)
    finite_number("radius", radius, above=0.0)
    finite_array("x", x, len(oracle.batch) + 1, (*oracle.batch, oracle.dimension))


def _guides(guide: Array, x: Array) -> Array:
    guides = np.asarray(guide, dtype=np.float64)
    if guides.shape not in (x.shape, x.shape[-1:]):
        raise ValueError(f"guide must have shape {x.shape} or {x.shape[-1:]}, got {guides.shape}")
    return np.broadcast_to(guides, x.shape)


def guided_two_point(
    oracle: DecisionOracle, x: Array, guide: Array, alpha: float, radius: float, batch: int, rng: np.random.Generator
) -> Array:
    """Guided two-point estimate with ``u = sqrt(alpha / d) z + sqrt(1 - alpha) s g`` from independent samples.

    Parameters
    ----------
    oracle : DecisionOracle
        Problem.
    x : numpy.ndarray, shape (d,) or (R, d)
        Decision (one a replicate).
    guide : numpy.ndarray, shape (d,) or (R, d)
        Unit guide, or zero.
    alpha : float
        Isotropic share.
    radius : float
        ``mu > 0``.
    batch : int
        Samples a side.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    numpy.ndarray
        Its mean is ``Sigma grad F_mu(x)``.

    Examples
    --------
    >>> from whp.theory.performative_prediction import LinearNoise
    >>> from whp.algorithms.performative_prediction import oracle_for
    >>> oracle = oracle_for(LinearNoise([[1.0]], [1.0], [[0.5]], noise=0.0), replicates=4000)
    >>> x, g = np.full((4000, 1), 2.0), np.ones((4000, 1))
    >>> bool(abs(guided_two_point(oracle, x, g, 0.5, 0.1, 1, np.random.default_rng(0)).mean() - 2.5) < 0.2)
    True
    """
    _check(oracle, x, batch, rng, radius)
    x = np.asarray(x, dtype=np.float64)
    guides = _guides(guide, x)
    u = guided_direction(guides, alpha, rng.standard_normal(x.shape), rng.standard_normal(x.shape[:-1]))
    plus, minus = x + radius * u, x - radius * u
    above = oracle.mean_loss(plus, oracle.draw(plus, batch, rng), batch)
    below = oracle.mean_loss(minus, oracle.draw(minus, batch, rng), batch)
    return two_point_estimate(above, below, radius, u)


def gaussian_two_point(oracle: DecisionOracle, x: Array, radius: float, batch: int, rng: np.random.Generator) -> Array:
    """Two-point estimate along ``u ~ N(0, I)``, independent samples on both sides.

    Parameters
    ----------
    oracle, x, radius, batch, rng
        As in `guided_two_point`.

    Returns
    -------
    numpy.ndarray
        Its mean is ``grad F_mu(x)``.
    """
    _check(oracle, x, batch, rng, radius)
    x = np.asarray(x, dtype=np.float64)
    u = rng.standard_normal(x.shape)
    plus, minus = x + radius * u, x - radius * u
    above = oracle.mean_loss(plus, oracle.draw(plus, batch, rng), batch)
    below = oracle.mean_loss(minus, oracle.draw(minus, batch, rng), batch)
    return two_point_estimate(above, below, radius, u)


def gaussian_one_point(
    oracle: DecisionOracle, x: Array, radius: float, batch: int, rng: np.random.Generator, control: float = 0.0
) -> Array:
    """One-point estimate along ``u ~ N(0, I)`` with a constant control.

    Parameters
    ----------
    oracle, x, radius, batch, rng
        As in `guided_two_point`.
    control : float, optional
        ``c``.

    Returns
    -------
    numpy.ndarray
        Its mean is ``grad F_mu(x)`` whatever the control.
    """
    _check(oracle, x, batch, rng, radius)
    x = np.asarray(x, dtype=np.float64)
    u = rng.standard_normal(x.shape)
    plus = x + radius * u
    return one_point_estimate(oracle.mean_loss(plus, oracle.draw(plus, batch, rng), batch), radius, u, control)


def shared_sample_two_point(
    oracle: DecisionOracle, x: Array, guide: Array, alpha: float, radius: float, batch: int, rng: np.random.Generator
) -> Array:
    """Two-point estimate that evaluates both sides on samples drawn at ``x``: the trap, for comparison only.

    Parameters
    ----------
    oracle, x, guide, alpha, radius, batch, rng
        As in `guided_two_point`.

    Returns
    -------
    numpy.ndarray
        Its mean is ``Sigma E grad_x f`` for losses quadratic in ``x``.
    """
    _check(oracle, x, batch, rng, radius)
    x = np.asarray(x, dtype=np.float64)
    guides = _guides(guide, x)
    u = guided_direction(guides, alpha, rng.standard_normal(x.shape), rng.standard_normal(x.shape[:-1]))
    return same_sample_estimate(oracle, x, radius, u, oracle.draw(x, batch, rng))


def mean_known_gradient(oracle: DecisionOracle, x: Array, count: int, rng: np.random.Generator) -> Array:
    """Mean partial gradient of the loss over fresh samples at ``x``: the guide before it is normalised.

    Parameters
    ----------
    oracle, x, rng
        As in `guided_two_point`.
    count : int
        Samples (a replicate).

    Returns
    -------
    numpy.ndarray
        Its mean is ``E_{D(x)} grad_x f(x, xi)``: the gradient of ``F`` only if the law does not respond.
    """
    _check(oracle, x, count, rng)
    x = np.asarray(x, dtype=np.float64)
    return oracle.mean_gradient(x, oracle.draw(x, count, rng), count)
