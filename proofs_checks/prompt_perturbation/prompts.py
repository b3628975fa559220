"""Checks of whole prompts: composition and context leaks (T6), and the sensitivity of the hybrid utility."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from whp.algorithms.prompt_perturbation import account_prompt, hybrid_utility
from whp.proofs_checks.engine import Check, Instances, Mutant, Slack, at_most, identity, requires
from whp.proofs_checks.prompt_perturbation.slots import is_number
from whp.theory.core import Slot
from whp.theory.prompt_perturbation import (
    ContextualPrompt,
    bounds,
    contextual_prompt_channel,
    pairwise_ratio,
    position_row,
    prompts,
)
from whp.theory.prompt_perturbation.instances import Context

__all__ = ["CHECKS"]

Ratios = dict[int, list[Fraction]]  # changed position -> for each position the largest ratio of its row

FLOAT_TOLERANCE = 1e-9  # nats


def seen_positions(problem: ContextualPrompt, changed: int) -> list[int]:
    """Positions whose rows a changed token reaches."""
    if problem.context != "original_neighbours":
        return [changed]
    return [i for i in range(problem.length) if abs(i - changed) <= 1]


def _neighbours(problem: ContextualPrompt, changed: int) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    pairs = []
    for prompt in prompts(problem.n_tokens, problem.length):
        for token in range(problem.n_tokens):
            if token != prompt[changed]:
                pairs.append((prompt, (*prompt[:changed], token, *prompt[changed + 1 :])))
    return pairs


def joint_ratio(problem: ContextualPrompt, changed: int) -> Fraction:
    """Largest ratio of output probabilities between prompts that differ at one position."""
    rows = contextual_prompt_channel(problem).rows
    index = {prompt: number for number, prompt in enumerate(prompts(problem.n_tokens, problem.length))}
    ratios = (pairwise_ratio(rows[index[one]], rows[index[two]]) for one, two in _neighbours(problem, changed))
    return Fraction(max(ratios, default=Fraction(1)))


def position_ratio(problem: ContextualPrompt, changed: int, position: int) -> Fraction:
    """Largest ratio of one position's row between such prompts, over everything released before it."""
    ratios = (
        pairwise_ratio(position_row(problem, one, released, position), position_row(problem, two, released, position))
        for one, two in _neighbours(problem, changed)
        for released in itertools.product(range(problem.n_tokens), repeat=position)
    )
    return Fraction(max(ratios, default=Fraction(1)))


def joint_loss_claim(reach: Callable[[ContextualPrompt, int], Sequence[int]]) -> Callable[..., Slack]:
    """Check that the joint ratio is at most the product over the positions reached, in fractions."""

    def observe(instance: ContextualPrompt) -> Slack:
        slack = Slack(())
        for changed in range(instance.length):
            joint = joint_ratio(instance, changed)
            right = math.prod(
                (position_ratio(instance, changed, position) for position in reach(instance, changed)),
                start=Fraction(1),
            )
            slack &= at_most("one token", joint, right)
            if instance.context != "original_neighbours":
                slack &= identity("own position only", joint, position_ratio(instance, changed, changed))
        return slack

    return observe


def accountant_covers_the_prompt(instance: ContextualPrompt, *, prompt_accountant: Callable[..., float]) -> Slack:
    """Exact one-token loss, less a float tolerance, against what the accountant promises from single positions.

    Nor may it exceed as many times the largest loss of a position as there are positions that see a changed token.
    """
    worst = [
        math.log(max(position_ratio(instance, changed, position) for changed in range(instance.length)))
        for position in range(instance.length)
    ]
    loss = math.log(max(joint_ratio(instance, changed) for changed in range(instance.length)))
    seen = max(len(seen_positions(instance, changed)) for changed in range(instance.length))
    slack = at_most("positions", loss - FLOAT_TOLERANCE, bounds.PROMPT_BUDGET(epsilon=max(worst), n=seen))
    return slack & at_most("promise", loss - FLOAT_TOLERANCE, float(prompt_accountant(worst, instance.context)))


def composed(position_losses: Sequence[float], context: Context) -> float:
    """Our accountant, contexts reaching one position to either side."""
    return account_prompt(position_losses, context=context, reach=1).one_token


def largest_position(position_losses: Sequence[float], context: Context) -> float:
    """Account a changed token at its own position only, whatever the context."""
    return max(position_losses)


def average_position(position_losses: Sequence[float], context: Context) -> float:
    """Average where one should add."""
    return sum(position_losses) / len(position_losses)


def own_position(problem: ContextualPrompt, changed: int) -> list[int]:
    """Only the changed position."""
    return [changed]


def no_position(problem: ContextualPrompt, changed: int) -> list[int]:
    """Nothing at all."""
    return []


def _table(n_tokens: int, level: Callable[[int, int, int, int], int]) -> tuple[Any, ...]:
    sides, tokens = range(n_tokens + 1), range(n_tokens)
    return tuple(
        tuple(tuple(tuple(level(left, own, right, r) for r in tokens) for right in sides) for own in tokens)
        for left in sides
    )


def _nested(levels: NDArray[np.int64]) -> tuple[Any, ...]:
    return _table(len(levels) - 1, lambda left, own, right, r: int(levels[left, own, right, r]))


def _successors(n_tokens: int, context: Context) -> ContextualPrompt:
    """Utility one for the own token at the start, for the successor of the left neighbour afterwards."""
    none = n_tokens
    table = _table(n_tokens, lambda left, own, _, r: int(r == own) if left == none else int(r == (left + 1) % n_tokens))
    return ContextualPrompt(2, table, Fraction(3), context)


def _examples() -> dict[str, ContextualPrompt]:
    return {f"successors of three tokens, {context}": _successors(3, context) for context in get_args(Context)} | {
        "successors of four tokens, original_neighbours": _successors(4, "original_neighbours")
    }


def _draw(rng: np.random.Generator, size: int) -> list[ContextualPrompt]:
    drawn = []
    for _ in range(size):
        n_tokens, length = ((2, 1), (2, 2), (3, 2), (2, 3))[int(rng.integers(4))]
        levels = rng.integers(0, 3, size=(n_tokens + 1, n_tokens, n_tokens + 1, n_tokens))
        table = _nested(levels)
        context = get_args(Context)[int(rng.integers(3))]
        drawn.append(ContextualPrompt(length, table, Fraction(int(rng.integers(2, 5)), 2), context))
    return drawn


PROMPT_ACCOUNTANT = Slot(
    "prompt_accountant",
    "(position_losses, context)",
    "position_losses: loss of each position under any one-token change, in nats; context: own_token, "
    "original_neighbours or perturbed_prefix, reaching one position to either side",
    "loss between prompts that differ in one token, in nats",
    ("position_losses", "context"),
    validate=is_number,
)

PROMPTS = Instances(
    "all prompts and outputs of 1 to 3 positions over 2 to 4 tokens, utilities on three levels",
    examples=_examples,
    draw=_draw,
)


# Sensitivity of the hybrid utility


@dataclass(frozen=True, eq=False)
class ContextChange:
    """Two inputs of the hybrid utility: logits and distances before and after.

    Parameters
    ----------
    logits, other_logits, distances, other_distances : ndarray of shape (N,)
        Contextual logits and embedding distances of the candidates.
    logit_power, distance_power : float
        Exponents.
    """

    logits: NDArray[np.float64]
    other_logits: NDArray[np.float64]
    distances: NDArray[np.float64]
    other_distances: NDArray[np.float64]
    logit_power: float
    distance_power: float


CLIP = 10.0


def utility_moves_at_most(
    any_change: Callable[[float, float], float], shared: Callable[[float, float], float]
) -> Callable[..., Slack]:
    """Check the utility against its formula, its range and both sensitivities."""

    def observe(instance: ContextChange, *, utility: Callable[..., NDArray[np.float64]]) -> Slack:
        powers = instance.logit_power, instance.distance_power
        before = utility(instance.logits, instance.distances, CLIP, *powers)
        after = utility(instance.other_logits, instance.other_distances, CLIP, *powers)
        same_context = utility(instance.logits, instance.other_distances, CLIP, *powers)
        formula = hybrid_formula(instance.logits, instance.distances, CLIP, *powers)
        slack = identity("formula", before, formula, rounding=1e-12)
        slack &= requires("utilities in [0, 1]", bool(min(before.min(), after.min()) >= 0))
        slack &= at_most("largest utility", max(float(before.max()), float(after.max())), 1.0, rounding=1e-12)
        slack &= at_most("any change", np.abs(before - after), any_change(*powers), rounding=1e-12)
        return slack & at_most("shared context", np.abs(before - same_context), shared(*powers), rounding=1e-12)

    return observe


def hybrid_formula(
    logits: NDArray[np.float64], distances: NDArray[np.float64], clip: float, logit_power: float, distance_power: float
) -> NDArray[np.float64]:
    """``((L + B) / 2B)^lamL exp(-lamD dn)``, logits clipped to ``[-B, B]``, distances min-max normalised."""
    span = float(np.ptp(distances))
    normalised = (distances - distances.min()) / span if span > 0 else np.zeros_like(distances)
    scaled = (np.minimum(np.maximum(logits, -clip), clip) + clip) / (2 * clip)
    return np.asarray(scaled**logit_power * np.exp(-distance_power * normalised))


def one(logit_power: float, distance_power: float) -> float:
    """Sensitivity under any change of token and context."""
    return 1.0


def shared_context(logit_power: float, distance_power: float) -> float:
    """Sensitivity when only the token changes."""
    return float(bounds.HYBRID_SENSITIVITY(L_max=1.0, lam_L=logit_power, lam_D=distance_power))


def half_of_shared(logit_power: float, distance_power: float) -> float:
    """Half of the shared-context sensitivity."""
    return shared_context(logit_power, distance_power) / 2


def unshifted_logits(
    logits: NDArray[np.float64], distances: NDArray[np.float64], clip: float, logit_power: float, distance_power: float
) -> NDArray[np.float64]:
    """Neither clip nor shift: powers of the magnitude of raw logits."""
    reference = hybrid_utility(logits, distances, clip=clip, logit_power=0.0, distance_power=distance_power)
    return np.asarray(np.abs(logits) ** logit_power * reference)


def _utility(
    logits: NDArray[np.float64], distances: NDArray[np.float64], clip: float, logit_power: float, distance_power: float
) -> NDArray[np.float64]:
    return hybrid_utility(logits, distances, clip=clip, logit_power=logit_power, distance_power=distance_power)


def _draw_changes(rng: np.random.Generator, size: int) -> list[ContextChange]:
    drawn = []
    for _ in range(size):
        n = int(rng.integers(2, 20))
        logits = rng.normal(scale=10.0, size=(2, n))
        distances = rng.exponential(size=(2, n))
        powers = rng.choice([0.25, 0.5, 1.0, 2.0], size=2)
        drawn.append(
            ContextChange(logits[0], logits[1], distances[0], distances[1], float(powers[0]), float(powers[1]))
        )
    return drawn


def _changes() -> dict[str, ContextChange]:
    near, far = np.array([0.0, 1.0, 5.0]), np.array([5.0, 1.0, 0.0])
    high, low = np.full(3, 9.99), np.full(3, -9.99)
    return {
        "near and likely against far and unlikely": ContextChange(high, low, near, far, 0.5, 1.0),
        "the same context": ContextChange(high, high, near, far, 0.5, 1.0),
        "logits far outside the clip": ContextChange(high * 100, low * 100, near, near, 0.5, 1.0),
    }


def _is_utility(output: object, logits: NDArray[np.float64], *_: object) -> None:
    if not isinstance(output, np.ndarray) or output.shape != logits.shape:
        raise TypeError(f"expected an array of {logits.size} utilities, got {type(output).__name__}")


UTILITY = Slot(
    "utility",
    "(logits, distances, clip, logit_power, distance_power)",
    "logits, distances: arrays (N,); clip: bound B on the logits; powers: exponents",
    "utilities in [0, 1], array (N,)",
    ("logits", "distances", "clip", "logit_power", "distance_power"),
    validate=_is_utility,
)

CHECKS: Sequence[Check] = (
    Check(
        theorem="prompt_perturbation.T6",
        name="joint_loss",
        kind="slack",
        observe=joint_loss_claim(seen_positions),
        instances=PROMPTS,
        mutants=(
            Mutant("neighbours' positions forgotten", "one token", observe=joint_loss_claim(own_position)),
            Mutant("claims that nothing leaks", "one token", observe=joint_loss_claim(no_position)),
        ),
        cost=60.0,
    ),
    Check(
        theorem="prompt_perturbation.T6",
        name="accountant",
        kind="slack",
        observe=accountant_covers_the_prompt,
        instances=PROMPTS,
        slots={PROMPT_ACCOUNTANT: composed},
        mutants=(
            Mutant("own position only", "promise", {"prompt_accountant": largest_position}),
            Mutant("averages", "promise", {"prompt_accountant": average_position}),
        ),
        cost=60.0,
    ),
    Check(
        theorem="prompt_perturbation.T6_sensitivity",
        name="hybrid_utility",
        kind="slack",
        observe=utility_moves_at_most(one, shared_context),
        instances=Instances(
            "logits of scale 10 clipped at 10, exponential distances, 2 to 19 tokens, powers 1/4 to 2",
            examples=_changes,
            draw=_draw_changes,
        ),
        slots={UTILITY: _utility},
        mutants=(
            Mutant(
                "shared sensitivity, changing context",
                "any change",
                observe=utility_moves_at_most(shared_context, shared_context),
            ),
            Mutant("half the shared sensitivity", "shared context", observe=utility_moves_at_most(one, half_of_shared)),
            Mutant("logits neither clipped nor shifted", "largest utility", {"utility": unshifted_logits}),
        ),
        cost=6.0,
    ),
)
