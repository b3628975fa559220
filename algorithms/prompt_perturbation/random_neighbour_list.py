"""InferDPT's form (RANTEXT): the exponential mechanism on a list of neighbours whose radius is itself random."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from whp.algorithms.prompt_perturbation.token_distribution import TokenDistribution
from whp.algorithms.prompt_perturbation.validation import (
    checked_distances,
    checked_epsilon,
    checked_integer,
    checked_positive,
    real_array,
)

__all__ = ["coordinate_laplace_radius_survival", "laplace_radius_survival", "random_neighbour_list_mechanism"]

Survival = Callable[[NDArray[np.float64]], NDArray[np.float64]]


def random_neighbour_list_mechanism(
    distances: ArrayLike,
    epsilon: float,
    *,
    radius_survival: Survival,
) -> TokenDistribution:
    """Exact output distribution of "draw a radius, list the tokens within it, apply the exponential mechanism".

    The list of radius ``R`` holds every candidate at distance at most ``R``; its utilities are ``1 - d / d_max`` with
    sensitivity one. The randomness of the list is integrated out: with candidates sorted by distance,
    ``P[r] = w_r sum_{k >= rank(r)} P[list = first k] / (w_1 + .. + w_k)``.

    Parameters
    ----------
    distances : array_like of shape (N,)
        Distances from the input token to every candidate; the nearest candidates always belong to the list.
    epsilon : float
        Privacy parameter of the draw from the list, in nats. The loss of the whole is not ``epsilon``: audit it.
    radius_survival : callable
        ``P[R >= x]`` for an array of radii ``x``, non-increasing with values in [0, 1], see `laplace_radius_survival`.

    Returns
    -------
    TokenDistribution
        Log probabilities and a sampler.

    References
    ----------
    .. [1] Tong et al., "InferDPT: privacy-preserving inference for black-box large language models" (2024).

    Examples
    --------
    >>> never_further = lambda radii: (radii <= 1.0).astype(float)
    >>> random_neighbour_list_mechanism([0.0, 1.0, 4.0], 0.0, radius_survival=never_further).probabilities
    array([0.5, 0.5, 0. ])
    """
    lengths = checked_distances(distances)
    order = np.argsort(lengths, kind="stable")
    ranked = lengths[order]
    farthest = ranked[-1] if ranked[-1] > 0 else 1.0
    with np.errstate(over="ignore"):
        log_weights = -(ranked - ranked[0]) / farthest * (checked_epsilon(epsilon) / 2.0)
    reached = real_array("radius_survival", radius_survival(ranked))
    if reached.shape != ranked.shape or not np.all((reached >= 0) & (reached <= 1)):
        raise ValueError("radius_survival must return probabilities, one for each distance")
    reached = np.where(ranked == ranked[0], 1.0, reached)
    if np.any(np.diff(reached) > 0):
        raise ValueError("radius_survival must be non-increasing")
    list_probability = reached - np.append(reached[1:], 0.0)  # P[list = first k]; 0 inside a tie
    log_totals = np.logaddexp.accumulate(log_weights)
    with np.errstate(divide="ignore"):
        log_terms = np.log(list_probability) - log_totals
    log_tail = np.logaddexp.accumulate(log_terms[::-1])[::-1]
    log_row = np.empty_like(log_weights)
    log_row[order] = np.minimum(log_weights + log_tail, 0.0)
    return TokenDistribution(log_row)


def laplace_radius_survival(scale: float, dimension: int) -> Survival:
    """Survival function of the norm of metric Laplace noise, density proportional to ``exp(-|z| / scale)``.

    The norm of such noise in ``R^m`` follows a Gamma distribution with shape ``m``.

    Parameters
    ----------
    scale : float
        Positive length scale, ``1 / epsilon`` of the noise.
    dimension : int
        Dimension ``m >= 1`` of the embedding.

    Examples
    --------
    >>> laplace_radius_survival(1.0, 1)(np.array([0.0, 1.0])).round(6)
    array([1.      , 0.367879])
    """
    length = checked_positive("scale", scale)
    shape = checked_integer("dimension", dimension, 1)

    def survival(radii: NDArray[np.float64]) -> NDArray[np.float64]:
        from scipy.special import gammaincc

        return np.asarray(gammaincc(shape, np.maximum(radii, 0.0) / length), dtype=np.float64)

    return survival


def coordinate_laplace_radius_survival(scale: float, dimension: int) -> Survival:
    """Survival function of the norm of independent Laplace noise in each coordinate, as InferDPT adds it.

    The squared norm has mean ``2 m scale^2`` and variance ``20 m scale^4``; it is replaced by the Gamma variable of the
    same two moments. The output law of `random_neighbour_list_mechanism` is exact for that radius.

    Parameters
    ----------
    scale : float
        Positive scale of the noise in one coordinate.
    dimension : int
        Dimension ``m >= 1`` of the embedding.

    Examples
    --------
    >>> radius = coordinate_laplace_radius_survival(1.0, 384)
    >>> radius(np.array([0.0, 27.7, 60.0])).round(3)
    array([1.   , 0.488, 0.   ])
    """
    length = checked_positive("scale", scale)
    shape = checked_integer("dimension", dimension, 1)

    def survival(radii: NDArray[np.float64]) -> NDArray[np.float64]:
        from scipy.special import gammaincc

        return np.asarray(gammaincc(shape / 5, (np.maximum(radii, 0.0) / length) ** 2 / 10), dtype=np.float64)

    return survival
