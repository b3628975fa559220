"""What a whole prompt leaks: composition over positions, and the part that leaks through context."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from whp.algorithms.prompt_perturbation.validation import checked_integer, real_array
from whp.theory.prompt_perturbation.instances import Context

__all__ = ["ContextLeak", "PromptLoss", "account_prompt", "enumerate_context_leak"]

RowOfPosition: TypeAlias = Callable[[tuple[int, ...], tuple[int, ...], int], ArrayLike]

LARGEST_ENUMERATION = 4_000_000


@dataclass(frozen=True)
class PromptLoss:
    """Privacy loss bounds of one perturbed prompt.

    Attributes
    ----------
    one_token : float
        Largest loss between prompts that differ in one sensitive token.
    all_tokens : float
        Loss between prompts that differ in every sensitive token.
    most_exposed : int or None
        Position whose change costs most; None when no position is sensitive.
    released : tuple of int
        Positions copied unchanged: no bound covers what they say, nor their number and places.
    """

    one_token: float
    all_tokens: float
    most_exposed: int | None
    released: tuple[int, ...]


def account_prompt(
    position_losses: Sequence[float],
    *,
    context: Context,
    sensitive: Sequence[bool] | None = None,
    reach: int | None = None,
) -> PromptLoss:
    """Compose the losses of single positions into a loss for the prompt.

    Parameters
    ----------
    position_losses : sequence of float
        Loss of each position's channel under any change of its own token *and* of the context it is fed; ``inf`` is
        allowed. An empty prompt leaks nothing.
    context : {"own_token", "original_neighbours", "perturbed_prefix"}
        What the utilities look at. With the user's own neighbouring tokens, one changed token shows at every position
        that sees it; with the released prefix it shows only at its own.
    sensitive : sequence of bool, optional
        False for positions that are copied unchanged (stop words, punctuation). All sensitive by default.
    reach : int, optional
        How many positions to either side a context extends; the whole prompt by default.

    Returns
    -------
    PromptLoss
        Sums in nats.

    Examples
    --------
    >>> account_prompt([1.0, 1.0, 1.0], context="perturbed_prefix").one_token
    1.0
    >>> account_prompt([1.0, 1.0, 1.0], context="original_neighbours").one_token
    3.0
    """
    losses = real_array("position_losses", position_losses).tolist()
    if not isinstance(losses, list) or any(isinstance(loss, list) for loss in losses):
        raise ValueError(f"position_losses must be a sequence of numbers, got {position_losses!r}")
    flags = [True] * len(losses) if sensitive is None else list(sensitive)
    if not all(isinstance(flag, (bool, np.bool_)) for flag in flags):
        raise TypeError(f"sensitive must hold True or False for each position, got {sensitive!r}")
    if len(flags) != len(losses):
        raise ValueError(f"sensitive must have one flag for each of the {len(losses)} positions, got {len(flags)}")
    if any(math.isnan(loss) or loss < 0 for loss in losses):
        raise ValueError(f"position_losses must be >= 0, got {losses}")
    if context not in ("own_token", "original_neighbours", "perturbed_prefix"):
        raise ValueError(f"context must be own_token, original_neighbours or perturbed_prefix, got {context!r}")
    span = len(losses) if reach is None else checked_integer("reach", reach, 0)
    exposed = {
        changed: math.fsum(
            losses[seen]
            for seen in range(len(losses))
            if flags[seen] and (seen == changed or (context == "original_neighbours" and abs(seen - changed) <= span))
        )
        for changed in range(len(losses))
        if flags[changed]
    }
    return PromptLoss(
        one_token=max(exposed.values(), default=0.0),
        all_tokens=math.fsum(loss for loss, flag in zip(losses, flags, strict=True) if flag),
        most_exposed=max(exposed, key=lambda position: exposed[position]) if exposed else None,
        released=tuple(position for position, flag in enumerate(flags) if not flag),
    )


@dataclass(frozen=True)
class ContextLeak:
    """Exact losses of a small prompt mechanism, by enumeration of all prompts and outputs.

    Attributes
    ----------
    one_token_loss : float
        Largest joint loss between two prompts that differ in one token.
    all_token_loss : float
        Largest joint loss between any two prompts.
    position_loss : float
        Largest loss of a single position between prompts that differ in one token.
    worst_prompts : tuple
        Neighbouring prompts that attain ``one_token_loss``.
    worst_output : tuple of int
        Output that attains it.
    """

    one_token_loss: float
    all_token_loss: float
    position_loss: float
    worst_prompts: tuple[tuple[int, ...], tuple[int, ...]]
    worst_output: tuple[int, ...]


def enumerate_context_leak(row: RowOfPosition, *, n_tokens: int, length: int) -> ContextLeak:
    """Enumerate what a mechanism leaks about whole prompts.

    Parameters
    ----------
    row : callable
        ``row(prompt, released, position)`` returns the probabilities (shape ``(n_tokens,)``) of the output at
        ``position`` for the user's ``prompt`` when the outputs before it were ``released``.
    n_tokens : int
        Vocabulary size ``V``, at least one.
    length : int
        Number of positions ``n``, at least one; ``V ** (2 n)`` must not exceed four million.

    Returns
    -------
    ContextLeak
        Exact up to float rounding of sums of logarithms.

    Examples
    --------
    >>> def copy_or_flip(prompt, released, position):
    ...     return [0.75, 0.25] if prompt[position] == 0 else [0.25, 0.75]
    >>> leak = enumerate_context_leak(copy_or_flip, n_tokens=2, length=2)
    >>> round(leak.one_token_loss / math.log(3), 12), round(leak.all_token_loss / math.log(3), 12)
    (1.0, 2.0)
    """
    n_tokens, length = checked_integer("n_tokens", n_tokens, 1), checked_integer("length", length, 1)
    if length > LARGEST_ENUMERATION or 2 * length * math.log(n_tokens) > math.log(LARGEST_ENUMERATION):
        raise ValueError(f"n_tokens ** (2 length) must be at most {LARGEST_ENUMERATION}, got {n_tokens}**{2 * length}")
    strings = list(itertools.product(range(n_tokens), repeat=length))
    tables = [_position_tables(row, strings, n_tokens, position) for position in range(length)]
    joint = sum(table for table in tables)  # (n_strings, n_strings): log P[output | prompt]
    symbols = np.array(strings)
    changes = (symbols[:, None, :] != symbols[None, :, :]).sum(axis=2)
    worst, losses = _worst_by_pair(np.asarray(joint))
    neighbours = np.where(changes == 1, losses, 0.0)
    first, second = np.unravel_index(int(np.argmax(neighbours)), neighbours.shape)
    position_loss = max(float(np.where(changes == 1, _worst_by_pair(table)[1], 0.0).max()) for table in tables)
    return ContextLeak(
        one_token_loss=float(neighbours.max()),
        all_token_loss=float(losses.max()),
        position_loss=position_loss,
        worst_prompts=(strings[int(first)], strings[int(second)]),
        worst_output=strings[int(worst[first, second])],
    )


def _position_tables(
    row: RowOfPosition,
    strings: Sequence[tuple[int, ...]],
    n_tokens: int,
    position: int,
) -> NDArray[np.float64]:
    """Log probability of each output string's symbol at one position, for every prompt."""
    table = np.empty((len(strings), len(strings)))
    suffix = n_tokens ** (len(strings[0]) - position - 1)
    for prompt_index, prompt in enumerate(strings):
        for start in range(0, len(strings), n_tokens * suffix):  # outputs sharing the released prefix
            released = strings[start][:position]
            probabilities = real_array("row", row(prompt, released, position))
            positive = probabilities.shape == (n_tokens,) and bool((probabilities >= 0).all())
            if not positive or abs(probabilities.sum() - 1.0) > 1e-9:
                raise ValueError(f"row must return {n_tokens} probabilities that sum to 1, got {probabilities}")
            with np.errstate(divide="ignore"):
                table[prompt_index, start : start + n_tokens * suffix] = np.repeat(np.log(probabilities), suffix)
    return table


def _worst_by_pair(logs: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    n_prompts = logs.shape[0]
    worst, losses = np.zeros((n_prompts, n_prompts), dtype=np.int64), np.zeros((n_prompts, n_prompts))
    for first in range(n_prompts):
        with np.errstate(invalid="ignore"):
            gaps = logs[first] - logs
        gaps[:, logs[first] == -np.inf] = -np.inf
        worst[first] = gaps.argmax(axis=1)
        losses[first] = gaps.max(axis=1)
    return worst, losses
