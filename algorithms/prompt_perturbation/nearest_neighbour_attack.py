"""Embedding inversion: guess that the original is among the nearest neighbours of the output."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from whp.algorithms.prompt_perturbation.token_distances import TokenDistances
from whp.algorithms.prompt_perturbation.token_distribution import TokenDistribution
from whp.algorithms.prompt_perturbation.validation import checked_instance, checked_integer, checked_tokens, real_array

__all__ = ["AttackResult", "nearest_neighbour_attack", "nearest_neighbour_success"]


@dataclass(frozen=True)
class AttackResult:
    """Outcome of an attack on a perturbed text.

    Attributes
    ----------
    successes : tuple of bool
        Whether the attack found each original token.
    rate : float
        Share of successes.
    """

    successes: tuple[bool, ...]

    @property
    def rate(self) -> float:
        """Share of originals found; zero for an empty text."""
        return sum(self.successes) / len(self.successes) if self.successes else 0.0


def nearest_neighbour_attack(
    originals: Sequence[str],
    outputs: Sequence[str],
    distances: TokenDistances,
    k: int,
) -> AttackResult:
    """Attack released tokens: success when the original is among the ``k`` nearest tokens of the output.

    Parameters
    ----------
    originals, outputs : sequences of str
        Private tokens and what was released for them, equal length.
    distances : TokenDistances
        Vocabulary that the attacker searches; the output itself counts as its first neighbour.
    k : int
        Number of guesses.

    Examples
    --------
    >>> from whp.theory.prompt_perturbation import TokenEmbedding
    >>> line = TokenDistances(TokenEmbedding(("a", "b", "c"), [[0.0], [1.0], [9.0]]))
    >>> nearest_neighbour_attack(["a", "a"], ["b", "c"], line, k=2).rate
    0.5
    """
    if len(checked_tokens("originals", originals)) != len(checked_tokens("outputs", outputs)):
        raise ValueError(f"originals and outputs must have equal length, got {len(originals)} and {len(outputs)}")
    embedding = checked_instance("distances", distances, TokenDistances).embedding
    checked_integer("k", k, 1, embedding.n_tokens)
    found = [
        embedding.index(original) in distances.nearest(output, k)
        for original, output in zip(originals, outputs, strict=True)
    ]
    return AttackResult(tuple(bool(hit) for hit in found))


def nearest_neighbour_success(log_row: ArrayLike, token: int | str, distances: TokenDistances, k: int) -> float:
    """Exact success probability of the attack on one token whose channel row is known.

    Parameters
    ----------
    log_row : array_like of shape (N,)
        Log probabilities of the outputs for this token.
    token : int or str
        The private token.
    distances : TokenDistances
        Vocabulary that the attacker searches.
    k : int
        Number of guesses: ``r`` succeeds when fewer than ``k`` tokens are strictly nearer to ``r`` than ``token``, ties
        broken by index.

    Notes
    -----
    Costs one row of distances per output of non-negligible probability; outputs below ``1e-9`` are counted as
    failures, which bounds the error by ``N * 1e-9``.

    Examples
    --------
    >>> from whp.theory.prompt_perturbation import TokenEmbedding
    >>> line = TokenDistances(TokenEmbedding(("a", "b", "c"), [[0.0], [1.0], [9.0]]))
    >>> nearest_neighbour_success(np.log([0.5, 0.25, 0.25]), "a", line, k=2)
    0.75
    """
    index = checked_instance("distances", distances, TokenDistances).index(token)
    probabilities = TokenDistribution(real_array("log_row", log_row)).probabilities
    if probabilities.size != distances.embedding.n_tokens:
        raise ValueError(f"log_row must have {distances.embedding.n_tokens} entries, got {probabilities.size}")
    outputs = np.flatnonzero(probabilities >= 1e-9)
    return float(sum(probabilities[output] for output in outputs if index in distances.nearest(int(output), k)))
