"""CUSTEXT: the exponential mechanism inside groups that partition the vocabulary."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from whp.algorithms.prompt_perturbation.exponential_mechanism import exponential_mechanism
from whp.algorithms.prompt_perturbation.token_distances import TokenDistances
from whp.algorithms.prompt_perturbation.token_distribution import TokenDistribution
from whp.algorithms.prompt_perturbation.validation import checked_distances, checked_instance, checked_integer

__all__ = ["custext_groups", "custext_mechanism"]


def custext_groups(distances: TokenDistances, group_size: int, order: Sequence[int]) -> NDArray[np.int64]:
    """Partition the vocabulary greedily: the next free token takes its nearest free tokens along.

    Parameters
    ----------
    distances : TokenDistances
        Vocabulary and its distances.
    group_size : int
        Tokens per group, at least one; the last group may be smaller.
    order : sequence of int
        Permutation of ``0 .. N - 1`` in which tokens found groups (the paper draws it at random).

    Returns
    -------
    ndarray of int64, shape (N,)
        Group number of every token.

    Examples
    --------
    >>> from whp.theory.prompt_perturbation import TokenEmbedding
    >>> line = TokenDistances(TokenEmbedding("abcd", [[0.0], [1.0], [10.0], [11.0]]))
    >>> custext_groups(line, 2, range(4))
    array([0, 0, 1, 1])
    """
    n_tokens = checked_instance("distances", distances, TokenDistances).embedding.n_tokens
    size = checked_integer("group_size", group_size, 1)
    founders = [checked_integer("order", founder, 0, n_tokens - 1) for founder in order]
    if sorted(founders) != list(range(n_tokens)):
        raise ValueError(f"order must be a permutation of 0..{n_tokens - 1}")
    groups = np.full(n_tokens, -1, dtype=np.int64)
    number = 0
    for founder in founders:
        if groups[founder] >= 0:
            continue
        lengths = np.where(groups < 0, distances.row(founder), np.inf)
        lengths[founder] = -1.0
        members = np.argsort(lengths, kind="stable")[:size]
        groups[members[np.isfinite(lengths[members])]] = number
        number += 1
    return groups


def custext_mechanism(
    distances: ArrayLike,
    groups: ArrayLike,
    token: int,
    epsilon: float,
) -> TokenDistribution:
    """Draw a token of the input's own group by the exponential mechanism, utility decreasing in distance.

    The loss is at most ``epsilon`` between two inputs of one group and infinite between groups: their outputs are
    disjoint, so the output reveals the group.

    Parameters
    ----------
    distances : array_like of shape (N,)
        Distances from the input token to every candidate.
    groups : array_like of int, shape (N,)
        Group number of every token, as from `custext_groups`.
    token : int
        Row of the input token.
    epsilon : float
        Privacy parameter in nats.

    Returns
    -------
    TokenDistribution
        ``-inf`` outside the group.

    References
    ----------
    .. [1] Chen et al., "A customized text sanitization mechanism with differential privacy" (2023).

    Examples
    --------
    >>> custext_mechanism([0.0, 1.0, 10.0], [0, 0, 1], 0, 2.0).probabilities.round(6)
    array([0.731059, 0.268941, 0.      ])
    """
    lengths, labels = checked_distances(distances), np.asarray(groups)
    if labels.shape != lengths.shape:
        raise ValueError(f"groups must have shape {lengths.shape} like distances, got {labels.shape}")
    if labels.dtype.kind not in "iu":
        raise TypeError(f"groups must be integers, got {labels.dtype}")
    inside = labels == labels[checked_integer("token", token, 0, lengths.size - 1)]
    low, high = lengths[inside].min(), lengths[inside].max()
    span = high - low if high > low else 1.0
    utilities = np.where(inside, 1.0 - (lengths - low) / span, -np.inf)
    return exponential_mechanism(utilities, epsilon, sensitivity=1.0)
