"""Masked-token inference: guess each original from the released tokens around it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from whp.algorithms.prompt_perturbation.bigram_model import BigramModel
from whp.algorithms.prompt_perturbation.nearest_neighbour_attack import AttackResult
from whp.algorithms.prompt_perturbation.validation import checked_instance, checked_integer, checked_tokens

__all__ = ["masked_token_attack"]


def masked_token_attack(
    originals: Sequence[str],
    outputs: Sequence[str],
    model: BigramModel,
    k: int,
    positions: Sequence[int] | None = None,
) -> AttackResult:
    """Mask each released position and look for the original among the model's ``k`` best guesses.

    Parameters
    ----------
    originals, outputs : sequences of str
        Private and released tokens, equal length.
    model : BigramModel
        The attacker's language model; it sees the released neighbours.
    k : int
        Number of guesses, between 1 and ``N``.
    positions : sequence of int, optional
        Positions attacked, all by default. Originals outside the vocabulary are never found.

    Returns
    -------
    AttackResult
        One success flag per attacked position.

    Examples
    --------
    >>> from whp.theory.prompt_perturbation import TokenEmbedding
    >>> vocabulary = TokenEmbedding(("new", "york", "jersey"), np.eye(3))
    >>> model = BigramModel(vocabulary, {("new", "york"): 6, ("new", "jersey"): 3})
    >>> masked_token_attack(["new", "york"], ["new", "jersey"], model, k=1, positions=[1]).rate
    1.0
    """
    if len(checked_tokens("originals", originals)) != len(checked_tokens("outputs", outputs)):
        raise ValueError(f"originals and outputs must have equal length, got {len(originals)} and {len(outputs)}")
    checked_integer("k", k, 1, checked_instance("model", model, BigramModel).vocabulary.n_tokens)
    attacked = [
        checked_integer("positions", position, 0, len(outputs) - 1)
        for position in (range(len(outputs)) if positions is None else positions)
    ]
    return AttackResult(tuple(_found(originals[position], outputs, position, model, k) for position in attacked))


def _found(original: str, outputs: Sequence[str], position: int, model: BigramModel, k: int) -> bool:
    if original not in model.vocabulary._positions:
        return False
    left = outputs[position - 1] if position > 0 else None
    right = outputs[position + 1] if position + 1 < len(outputs) else None
    scores = model.scores(left, right)
    index = model.vocabulary.index(original)
    better = np.count_nonzero(scores > scores[index]) + np.count_nonzero(scores[:index] == scores[index])
    return bool(better < k)
