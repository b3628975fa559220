"""Cape's hybrid utility: contextual logit times embedding closeness."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from whp.algorithms.prompt_perturbation.validation import (
    checked_distances,
    checked_non_negative,
    checked_positive,
    real_array,
)

__all__ = ["closeness", "distance_utility", "hybrid_utility", "scaled_logits"]


def scaled_logits(logits: ArrayLike, *, clip: float) -> NDArray[np.float64]:
    """Clip logits to ``[-clip, clip]`` and map them linearly onto ``[0, 1]``.

    The paper clips and takes a power; a power of a negative number is undefined, so the clipped logits are shifted
    first, as the public re-implementation does.

    Parameters
    ----------
    logits : array_like of shape (N,)
        Contextual logits; infinities are clipped, NaN is refused.
    clip : float
        Positive bound ``B``.

    Examples
    --------
    >>> scaled_logits([3.2, -4.0, 12.0, 0.0], clip=10.0)
    array([0.66, 0.3 , 1.  , 0.5 ])
    """
    bound = checked_positive("clip", clip)
    raw = real_array("logits", logits)
    if raw.ndim != 1 or raw.size == 0:
        raise ValueError(f"logits must be a non-empty vector, got shape {raw.shape}")
    if np.isnan(raw).any():
        raise ValueError(f"logits must not be NaN, got NaN at index {int(np.argmax(np.isnan(raw)))}")
    return np.asarray((np.clip(raw, -bound, bound) / bound + 1.0) / 2.0)


def closeness(distances: ArrayLike) -> NDArray[np.float64]:
    """Return the closeness ``exp(-dn)`` in ``[1/e, 1]``, ``dn`` being the distances min-max normalised over candidates.

    Parameters
    ----------
    distances : array_like of shape (N,)
        Finite non-negative distances from one input token. When all are equal every closeness is one.

    Examples
    --------
    >>> closeness([0.0, 1.0, 2.0, 5.0]).round(6)
    array([1.      , 0.818731, 0.67032 , 0.367879])
    """
    lengths = checked_distances(distances)
    low, span = lengths.min(), lengths.max() - lengths.min()
    return np.exp(-(lengths - low) / span) if span > 0 else np.ones_like(lengths)


def hybrid_utility(
    logits: ArrayLike,
    distances: ArrayLike,
    *,
    clip: float = 10.0,
    logit_power: float = 0.5,
    distance_power: float = 1.0,
) -> NDArray[np.float64]:
    """Hybrid utility ``u = L ** logit_power * D ** distance_power`` in ``[0, 1]``.

    Parameters
    ----------
    logits : array_like of shape (N,)
        Contextual logits of the candidates.
    distances : array_like of shape (N,)
        Embedding distances from the input token to the candidates.
    clip : float, default 10
        Bound on the logits. The paper's value is not known; 10 is that of the public re-implementation.
    logit_power, distance_power : float
        Non-negative exponents; zero switches a factor off.

    Returns
    -------
    ndarray of shape (N,)
        Utilities in ``[0, 1]``: sensitivity 1 under any change of token and context.

    Examples
    --------
    >>> hybrid_utility([3.2, -4, 12, 0], [0.0, 1.0, 2.0, 5.0])
    array([0.81240384, 0.4484373 , 0.67032005, 0.26013005])
    """
    for_logits = checked_non_negative("logit_power", logit_power)
    for_distances = checked_non_negative("distance_power", distance_power)
    likely, near = scaled_logits(logits, clip=clip), closeness(distances)
    if likely.shape != near.shape:
        raise ValueError(f"logits and distances must have equal length, got {likely.size} and {near.size}")
    return np.asarray(likely**for_logits * near**for_distances)


def distance_utility(distances: ArrayLike, *, distance_power: float = 1.0) -> NDArray[np.float64]:
    """Return the utility from distance alone, ``D ** distance_power``: the context-free ablation.

    Examples
    --------
    >>> distance_utility([0.0, 2.0]).round(6)
    array([1.      , 0.367879])
    """
    return np.asarray(closeness(distances) ** checked_non_negative("distance_power", distance_power))
