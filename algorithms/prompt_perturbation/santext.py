"""SANTEXT: tokens drawn by embedding distance, a metric guarantee."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from whp.algorithms.prompt_perturbation.token_distribution import TokenDistribution, log_normalised
from whp.algorithms.prompt_perturbation.validation import (
    checked_distances,
    checked_epsilon,
    checked_integer,
    checked_number,
)

__all__ = ["santext_mechanism", "santext_plus_mechanism"]


def santext_mechanism(distances: ArrayLike, epsilon: float) -> TokenDistribution:
    """Draw token ``r`` with probability proportional to ``exp(-epsilon d(t, r) / 2)``.

    The guarantee is metric: the loss between inputs ``t`` and ``t'`` is at most ``epsilon d(t, t')``, not ``epsilon``.
    The same nominal ``epsilon`` therefore means something else than for the exponential mechanism.

    Parameters
    ----------
    distances : array_like of shape (N,)
        Finite non-negative distances from the input token to every candidate.
    epsilon : float
        Privacy parameter per unit of distance, finite and non-negative.

    Returns
    -------
    TokenDistribution
        Log probabilities and a sampler.

    References
    ----------
    .. [1] Yue et al., "Differential privacy for text analytics via natural text sanitization" (2021).

    Examples
    --------
    >>> santext_mechanism([0.0, 2.0], 2.0).probabilities.round(6)
    array([0.880797, 0.119203])
    """
    lengths = checked_distances(distances)
    with np.errstate(over="ignore"):
        return TokenDistribution(log_normalised(-(lengths - lengths.min()) * (checked_epsilon(epsilon) / 2.0)))


def santext_plus_mechanism(
    distances: ArrayLike,
    epsilon: float,
    *,
    token: int,
    frequent: bool,
    replace_probability: float,
) -> TokenDistribution:
    """SANTEXT+: a rare token is replaced always, a frequent one only with ``replace_probability``.

    Parameters
    ----------
    distances : array_like of shape (N,)
        Distances from the input token to every candidate.
    epsilon : float
        Privacy parameter per unit of distance.
    token : int
        Row of the input token.
    frequent : bool
        Whether the token counts as frequent (not sensitive).
    replace_probability : float
        Probability ``p`` in ``[0, 1]`` that a frequent token is replaced; it is kept with probability ``1 - p``.

    Examples
    --------
    >>> santext_plus_mechanism([0, 0], 1.0, token=0, frequent=True, replace_probability=0.5).probabilities
    array([0.75, 0.25])
    """
    replaced = santext_mechanism(distances, epsilon)
    row = checked_integer("token", token, 0, replaced.log_probabilities.size - 1)
    chance = checked_number("replace_probability", replace_probability)
    if not 0.0 <= chance <= 1.0:
        raise ValueError(f"replace_probability must lie in [0, 1], got {replace_probability}")
    if not frequent:
        return replaced
    with np.errstate(divide="ignore"):
        log_row = replaced.log_probabilities + np.log(chance)
        log_row[row] = np.logaddexp(log_row[row], np.log1p(-chance))
    return TokenDistribution(log_row)
