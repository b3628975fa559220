"""Cape end to end: perturb every sensitive token of a prompt."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from whp.algorithms.prompt_perturbation.bucketised_mechanism import BucketisedDistribution, bucketised_mechanism
from whp.algorithms.prompt_perturbation.hybrid_utility import distance_utility, hybrid_utility
from whp.algorithms.prompt_perturbation.token_distances import TokenDistances
from whp.algorithms.prompt_perturbation.token_retention import FUNCTION_WORDS, PUNCTUATION, sensitive_positions
from whp.algorithms.prompt_perturbation.validation import (
    checked_bucket_count,
    checked_epsilon,
    checked_instance,
    checked_non_negative,
    checked_positive,
    checked_rng,
)
from whp.theory.prompt_perturbation.instances import Context

__all__ = ["CapeParameters", "PerturbedPrompt", "cape_log_row", "perturb_prompt"]

ContextModel: TypeAlias = Callable[[str | None, str | None], ArrayLike]


@dataclass(frozen=True)
class CapeParameters:
    """Parameters of Cape; the defaults are the paper's where they are known.

    Attributes
    ----------
    epsilon : float
        Nominal privacy parameter per token, in nats.
    context : {"own_token", "original_neighbours", "perturbed_prefix"}
        What the context model is fed. The paper's masked models see the original neighbours, so that one changed token
        shows at other positions too: see `account_prompt`.
    n_buckets : int
        Equal-width utility buckets.
    logit_power, distance_power : float
        Exponents of the hybrid utility.
    clip : float
        Bound on the logits; the paper's value is not known.
    """

    epsilon: float
    context: Context = field(kw_only=True)
    n_buckets: int = 50
    logit_power: float = 0.5
    distance_power: float = 1.0
    clip: float = 10.0

    def __post_init__(self) -> None:
        checked_epsilon(self.epsilon)
        checked_bucket_count(self.n_buckets)
        checked_non_negative("logit_power", self.logit_power)
        checked_non_negative("distance_power", self.distance_power)
        checked_positive("clip", self.clip)
        if self.context not in ("own_token", "original_neighbours", "perturbed_prefix"):
            raise ValueError(
                f"context must be own_token, original_neighbours or perturbed_prefix, got {self.context!r}"
            )


@dataclass(frozen=True)
class PerturbedPrompt:
    """What the server sees, and what the client should know about it.

    Attributes
    ----------
    tokens : tuple of str
        Released tokens.
    sensitive : tuple of bool
        False where the token was copied unchanged by rule.
    bucket_counts : tuple of int
        Non-empty buckets at each position, zero where copied.
    """

    tokens: tuple[str, ...]
    sensitive: tuple[bool, ...]
    bucket_counts: tuple[int, ...]


def cape_log_row(
    distances: TokenDistances,
    token: str,
    parameters: CapeParameters,
    logits: ArrayLike | None = None,
) -> NDArray[np.float64]:
    """Exact row of Cape's channel for one token, as log probabilities.

    Parameters
    ----------
    distances : TokenDistances
        Vocabulary and its distances.
    token : str
        The private token.
    parameters : CapeParameters
        Privacy parameter, buckets and utility.
    logits : array_like of shape (N,), optional
        Contextual logits of all candidates; without them the utility is distance-only.

    Examples
    --------
    >>> from whp.theory.prompt_perturbation import TokenEmbedding
    >>> line = TokenDistances(TokenEmbedding(("near", "nearer", "far"), [[0.0], [0.1], [9.0]]))
    >>> np.exp(cape_log_row(line, "near", CapeParameters(0.0, n_buckets=2, context="own_token")))
    array([0.25, 0.25, 0.5 ])
    """
    checked_instance("distances", distances, TokenDistances)
    checked_instance("parameters", parameters, CapeParameters)
    return _row(distances, token, parameters, logits).log_probabilities


def perturb_prompt(
    prompt: Sequence[str],
    distances: TokenDistances,
    parameters: CapeParameters,
    rng: np.random.Generator,
    *,
    context_model: ContextModel | None = None,
    retained: Collection[str] = FUNCTION_WORDS | PUNCTUATION,
) -> PerturbedPrompt:
    """Replace every sensitive token of a prompt by a draw from Cape's channel, left to right.

    Parameters
    ----------
    prompt : sequence of str
        Tokens; an empty prompt gives an empty result.
    distances : TokenDistances
        Vocabulary and its distances.
    parameters : CapeParameters
        Privacy parameter, buckets, utility and kind of context.
    rng : numpy.random.Generator
        Source of randomness.
    context_model : callable, optional
        ``context_model(left, right)`` returns logits of shape ``(N,)`` given the neighbouring tokens (None at an edge).
        Required unless ``parameters.context`` is "own_token".
    retained : collection of str
        Lower-case tokens that are copied unchanged; they need not be in the vocabulary.

    Returns
    -------
    PerturbedPrompt
        Released tokens.

    Raises
    ------
    UnknownTokenError
        If a sensitive token is not in the vocabulary.
    ValueError
        If a context model is needed and missing.

    Examples
    --------
    >>> from whp.theory.prompt_perturbation import TokenEmbedding
    >>> line = TokenDistances(TokenEmbedding(("pain", "ache", "car"), [[0.0], [0.1], [9.0]]))
    >>> parameters = CapeParameters(1e6, n_buckets=10**6, context="own_token")
    >>> perturb_prompt(["the", "ache"], line, parameters, np.random.default_rng(0)).tokens
    ('the', 'ache')
    """
    checked_instance("distances", distances, TokenDistances)
    checked_rng(rng)
    if checked_instance("parameters", parameters, CapeParameters).context != "own_token" and context_model is None:
        raise ValueError(f"context_model must be given for context {parameters.context!r}, got None")
    flags = sensitive_positions(prompt, retained)
    for token in itertools.compress(prompt, flags):
        distances.embedding.index(token)
    released: list[str] = []
    bucket_counts: list[int] = []
    for position, token in enumerate(prompt):
        if not flags[position]:
            released.append(token)
            bucket_counts.append(0)
            continue
        logits = _logits(prompt, released, position, parameters.context, context_model)
        row = _row(distances, token, parameters, logits)
        released.append(distances.embedding.tokens[row.sample(rng)])
        bucket_counts.append(row.partition.n_buckets)
    return PerturbedPrompt(tuple(released), flags, tuple(bucket_counts))


def _logits(
    prompt: Sequence[str],
    released: Sequence[str],
    position: int,
    context: Context,
    context_model: ContextModel | None,
) -> ArrayLike | None:
    if context == "own_token" or context_model is None:
        return None
    if context == "perturbed_prefix":
        return context_model(released[-1] if released else None, None)
    left = prompt[position - 1] if position > 0 else None
    right = prompt[position + 1] if position + 1 < len(prompt) else None
    return context_model(left, right)


def _row(
    distances: TokenDistances, token: str, parameters: CapeParameters, logits: ArrayLike | None
) -> BucketisedDistribution:
    utilities = _utilities(distances, token, parameters, logits)
    return bucketised_mechanism(utilities, parameters.epsilon, sensitivity=1.0, n_buckets=parameters.n_buckets)


def _utilities(
    distances: TokenDistances, token: str, parameters: CapeParameters, logits: ArrayLike | None
) -> NDArray[np.float64]:
    lengths = distances.row(token)
    if logits is None:
        return distance_utility(lengths, distance_power=parameters.distance_power)
    return hybrid_utility(
        logits,
        lengths,
        clip=parameters.clip,
        logit_power=parameters.logit_power,
        distance_power=parameters.distance_power,
    )
