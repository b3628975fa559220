"""Attacks on perturbed sentences, with and without context."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from whp.algorithms.prompt_perturbation import (
    BigramModel,
    CapeParameters,
    TokenDistances,
    masked_token_attack,
    nearest_neighbour_attack,
    perturb_prompt,
)
from whp.theory.prompt_perturbation.instances import Context

__all__ = ["SENTENCES", "TextAttacks", "attack_sentences"]

SENTENCES = (
    "my doctor told me that the pain in my left shoulder comes from the heart",
    "please write a letter to the bank about the loan for our house in london",
    "the company will close its factory in france and move the work to china next year",
    "she lost her job last week and does not want her family to know",
    "our daughter was born in paris while my husband was in prison",
    "the new drug failed in the second trial and the price of the stock will fall",
    "he has taken money from the church for many years",
    "what should i say to my manager about the mistake in the annual report",
)
"""Sentences written for this experiment, in the manner of private prompts."""


@dataclass(frozen=True)
class TextAttacks:
    """Outcome of perturbing the sentences once per repetition and attacking what is released.

    Attributes
    ----------
    context : str
        What the utility was fed.
    epsilon : float
        Nominal level per token.
    kept : float
        Share of sensitive tokens released unchanged.
    nearest : float
        Success of the attack that guesses the 10 nearest tokens.
    masked : float
        Success of the bigram model's 10 best guesses from the released neighbours.
    tokens : int
        Sensitive tokens attacked.
    """

    context: str
    epsilon: float
    kept: float
    nearest: float
    masked: float
    tokens: int


def attack_sentences(
    distances: TokenDistances,
    model: BigramModel,
    epsilon: float,
    context: Context,
    rng: np.random.Generator,
    repetitions: int,
) -> TextAttacks:
    """Perturb all sentences and attack every sensitive token.

    Parameters
    ----------
    distances : TokenDistances
        Vocabulary.
    model : BigramModel
        Context model of the client and language model of the attacker.
    epsilon : float
        Nominal level per token.
    context : {"own_token", "original_neighbours", "perturbed_prefix"}
        What the utility is fed.
    rng : numpy.random.Generator
        Source of randomness.
    repetitions : int
        How often the sentences are perturbed.
    """

    def logits(left: str | None, right: str | None) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
        scores = model.scores(left, right)
        spread = float(scores.std()) or 1.0
        return np.asarray((scores - scores.mean()) / spread * 3.0)  # the scale that a clip of 10 is made for

    parameters = CapeParameters(epsilon, context=context)
    originals: list[str] = []
    outputs: list[str] = []
    masked: list[bool] = []
    for _ in range(repetitions):
        for sentence in SENTENCES:
            prompt = sentence.split()
            result = perturb_prompt(prompt, distances, parameters, rng, context_model=logits)
            positions = [position for position, sensitive in enumerate(result.sensitive) if sensitive]
            originals += [prompt[position] for position in positions]
            outputs += [result.tokens[position] for position in positions]
            masked += masked_token_attack(prompt, result.tokens, model, 10, positions).successes
    kept = sum(one == two for one, two in zip(originals, outputs, strict=True)) / len(originals)
    nearest = nearest_neighbour_attack(originals, outputs, distances, 10).rate
    return TextAttacks(context, epsilon, kept, nearest, sum(masked) / len(masked), len(originals))
