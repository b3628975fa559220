"""The exponential mechanism, in the log domain, with an optional base measure."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from whp.algorithms.prompt_perturbation.token_distribution import TokenDistribution, log_normalised
from whp.algorithms.prompt_perturbation.validation import checked_epsilon, checked_positive, real_array

__all__ = ["exponential_mechanism"]


def exponential_mechanism(
    utilities: ArrayLike,
    epsilon: float,
    *,
    sensitivity: float,
    base_measure: ArrayLike | None = None,
) -> TokenDistribution:
    """Draw token ``r`` with probability proportional to ``measure(r) exp(epsilon u(r) / (2 Delta))``.

    The log measure and the score are combined before shifting by the maximum, so that a candidate of measure zero
    never decides the shift. Adding a constant to all utilities changes nothing.

    Parameters
    ----------
    utilities : array_like of shape (N,)
        Utility of every candidate. ``-inf`` excludes a candidate at every ``epsilon``; ``+inf`` and NaN are refused.
    epsilon : float
        Privacy parameter in nats, finite and non-negative. At zero all admitted candidates follow the base measure.
    sensitivity : float
        Bound ``Delta`` on the change of one utility between neighbouring inputs. The guarantee is ``epsilon`` under
        the neighbour relation for which this bound holds.
    base_measure : array_like of shape (N,), optional
        Non-negative finite weights, not all zero; all ones by default. The guarantee supposes that they do not depend
        on the private input.

    Returns
    -------
    TokenDistribution
        Log probabilities and a sampler.

    Raises
    ------
    ValueError
        If a number is out of range or no candidate remains.

    References
    ----------
    .. [1] McSherry and Talwar, "Mechanism design via differential privacy" (2007).

    Examples
    --------
    >>> exponential_mechanism([0, -2000, -2001], 1.0, sensitivity=1.0, base_measure=[0, 1, 1]).probabilities.round(6)
    array([0.      , 0.622459, 0.377541])
    """
    scores = _checked_scores(utilities)
    half_epsilon = checked_epsilon(epsilon) / 2.0
    delta = checked_positive("sensitivity", sensitivity)
    log_measure = _log_measure(base_measure, scores.size)
    admitted = np.isfinite(scores) & np.isfinite(log_measure)
    if not admitted.any():
        raise ValueError("utilities and base_measure must admit at least one candidate, got none")
    log_weights = np.full(scores.size, -np.inf)
    with np.errstate(over="ignore"):  # a score of -inf is the right limit
        gaps = (scores[admitted] - scores[admitted].max()) / delta
        tilted = half_epsilon * gaps if half_epsilon > 0.0 else np.zeros_like(gaps)
    log_weights[admitted] = tilted + log_measure[admitted]
    return TokenDistribution(log_normalised(log_weights))


def _checked_scores(utilities: ArrayLike) -> NDArray[np.float64]:
    scores = real_array("utilities", utilities)
    if scores.ndim != 1 or scores.size == 0:
        raise ValueError(f"utilities must be a non-empty vector, got shape {scores.shape}")
    refused = np.isnan(scores) | (scores == np.inf)
    if refused.any():
        where = int(np.argmax(refused))
        raise ValueError(f"utilities must be finite or -inf, got {scores[where]} at index {where}")
    return scores


def _log_measure(base_measure: ArrayLike | None, n_candidates: int) -> NDArray[np.float64]:
    if base_measure is None:
        return np.zeros(n_candidates)
    measure = real_array("base_measure", base_measure)
    if measure.shape != (n_candidates,):
        raise ValueError(f"base_measure must have shape ({n_candidates},) like utilities, got {measure.shape}")
    if not (np.isfinite(measure).all() and (measure >= 0).all()):
        raise ValueError("base_measure must hold finite weights >= 0")
    if not measure.any():
        raise ValueError("base_measure must not be zero everywhere")
    with np.errstate(divide="ignore"):
        return np.log(measure)
