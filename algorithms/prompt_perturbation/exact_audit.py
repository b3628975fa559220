"""Exact audit of a token channel: what it really leaks, however it was built."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from whp.algorithms.prompt_perturbation.validation import (
    checked_instance,
    checked_integer,
    checked_number,
    checked_positive,
    real_array,
)
from whp.theory.prompt_perturbation import Channel

__all__ = ["ChannelAudit", "audit_channel", "audit_log_rows", "calibrated_epsilon", "pairwise_losses"]

NORMALISATION_TOLERANCE = 1e-9


@dataclass(frozen=True)
class ChannelAudit:
    """What an adversary who knows the channel can learn from one output token.

    Attributes
    ----------
    loss : float
        Exact privacy loss in nats over the audited inputs, ``inf`` when supports differ.
    worst_inputs : tuple of int
        Audited inputs ``(t, t')`` that attain it.
    worst_output : int
        Output token that attains it.
    keep_rate : float
        Mean probability that an audited input is left unchanged.
    keep_rate_loss : float
        Lower bound on the loss that the keep rate alone forces (T5), ``ln(p (n - 1) / (1 - p))``, at least zero.
    bayes_recovery : float
        Success probability of the best attack under the prior.
    chance : float
        Success probability of guessing without the output.
    n_inputs, n_outputs : int
        Size of the audited channel.
    """

    loss: float
    worst_inputs: tuple[int, int]
    worst_output: int
    keep_rate: float
    keep_rate_loss: float
    bayes_recovery: float
    chance: float
    n_inputs: int
    n_outputs: int


def audit_log_rows(
    log_rows: Iterable[ArrayLike],
    inputs: Sequence[int],
    prior: ArrayLike | None = None,
) -> ChannelAudit:
    """Audit a channel given row by row as log probabilities; memory stays proportional to the number of outputs.

    Log probabilities are what makes the loss exact for large ``epsilon``: probabilities that underflow would look like
    impossible outputs and the loss like infinity.

    Parameters
    ----------
    log_rows : iterable of array_like of shape (N,)
        One row per audited input; a generator is consumed once.
    inputs : sequence of int
        Output index of each audited input, all different; the keep rate refers to them.
    prior : array_like of shape (n_inputs,), optional
        Adversary's belief over the audited inputs, uniform by default.

    Returns
    -------
    ChannelAudit
        The loss is over the audited inputs and *all* outputs. The first pair attaining it, in reading order, is
        reported.

    Raises
    ------
    ValueError
        If no row is given, lengths differ, a row is not normalised or contains NaN, or the prior is no distribution.

    Examples
    --------
    >>> audit = audit_log_rows(np.log([[0.75, 0.25], [0.25, 0.75]]), inputs=(0, 1))
    >>> round(audit.loss, 6), audit.worst_inputs, audit.worst_output, audit.bayes_recovery
    (1.098612, (0, 1), 0, 0.75)
    """
    tokens = [checked_integer("inputs", token, 0) for token in inputs]
    n_inputs = len(tokens)
    if len(set(tokens)) != n_inputs:
        raise ValueError(f"inputs must be distinct tokens, got {n_inputs - len(set(tokens))} repetitions")
    belief = _checked_prior(prior, n_inputs)
    extremes: _Extremes | None = None
    kept, left = np.empty(n_inputs), np.empty(n_inputs)  # log probability of the token itself, of all others
    for index, row in _one_for_each(log_rows, n_inputs):
        logs = real_array("log_rows", row)
        if extremes is None:
            extremes = _Extremes(logs.size)
        extremes.update(index, _checked_log_row(logs, extremes.n_outputs, index), float(belief[index]))
        token = checked_integer("inputs", tokens[index], 0, logs.size - 1)
        kept[index], left[index] = logs[token], _log_total(np.delete(logs, token))
    if extremes is None:
        raise ValueError("log_rows must hold at least one row, got none")
    loss, pair, output = extremes.worst()
    keep = min(float(np.exp(kept).mean()), 1.0)
    return ChannelAudit(
        loss=loss,
        worst_inputs=pair,
        worst_output=output,
        keep_rate=keep,
        keep_rate_loss=_keep_rate_loss(kept, left),
        bayes_recovery=min(float(np.sum(extremes.joint)), 1.0),
        chance=float(belief.max()),
        n_inputs=n_inputs,
        n_outputs=extremes.n_outputs,
    )


def audit_channel(channel: Channel, prior: ArrayLike | None = None) -> ChannelAudit:
    """Audit a channel given as a matrix of probabilities.

    Parameters
    ----------
    channel : Channel
        Exact or float rows, whose ``inputs`` name the outputs that equal them. The loss of an exact channel as a
        fraction is ``theory``'s ``likelihood_ratio``.
    prior : array_like of shape (n_inputs,), optional
        Adversary's belief over inputs, uniform by default.

    Examples
    --------
    >>> audit_channel(Channel([[1.0, 0.0], [0.0, 1.0]])).loss
    inf
    """
    if not checked_instance("channel", channel, Channel).inputs:
        raise ValueError("channel must name the output that equals each input, got none")
    return audit_log_rows((_logarithms(row) for row in channel.rows), channel.inputs, prior)


def pairwise_losses(log_rows: ArrayLike) -> NDArray[np.float64]:
    """Loss between every ordered pair of inputs: entry ``[t, s]`` is ``max_r ln(P[r | t] / P[r | s])``.

    Parameters
    ----------
    log_rows : array_like of shape (n_inputs, N)
        Log probabilities.

    Returns
    -------
    ndarray of shape (n_inputs, n_inputs)
        Zero on the diagonal, ``inf`` where the first input has an output the second cannot produce.

    Examples
    --------
    >>> pairwise_losses(np.log([[0.5, 0.5], [0.25, 0.75]])).round(6)
    array([[0.      , 0.693147],
           [0.405465, 0.      ]])
    """
    matrix = real_array("log_rows", log_rows)
    if matrix.ndim != 2 or 0 in matrix.shape:
        raise ValueError(f"log_rows must be a non-empty matrix, got shape {matrix.shape}")
    for index, row in enumerate(matrix):
        _checked_log_row(row, matrix.shape[1], index)
    losses = np.zeros((matrix.shape[0], matrix.shape[0]))
    difference = np.empty_like(matrix)
    for first, row in enumerate(matrix):
        with np.errstate(invalid="ignore"):
            np.subtract(row, matrix, out=difference)
        difference[:, row == -np.inf] = -np.inf  # outputs the first input cannot produce reveal nothing here
        losses[first] = difference.max(axis=1)
    np.fill_diagonal(losses, 0.0)
    return losses


def calibrated_epsilon(
    loss_at: Callable[[float], float],
    target: float,
    *,
    largest: float = 1e3,
    tolerance: float = 1e-6,
) -> float:
    """Largest nominal ``epsilon`` (up to ``tolerance``) at which the exact loss stays within a target.

    Mechanisms with different nominal notions are comparable only at equal exact loss.

    Parameters
    ----------
    loss_at : callable
        Exact loss as a function of the nominal ``epsilon``, taken to be non-decreasing.
    target : float
        Loss to stay within, in nats.
    largest : float, default 1000
        End of the search interval ``[0, largest]``.
    tolerance : float
        Width at which bisection stops.

    Returns
    -------
    float
        ``nan`` is never returned: if even ``epsilon = 0`` exceeds the target a ValueError says by how much.

    Examples
    --------
    >>> round(calibrated_epsilon(lambda epsilon: epsilon / 2, 1.0), 5)
    2.0
    """
    goal, width = checked_number("target", target), checked_positive("tolerance", tolerance)
    low, high = 0.0, checked_positive("largest", largest)

    def within(epsilon: float) -> bool:
        loss = checked_number("loss_at", loss_at(epsilon))
        if math.isnan(loss) or math.isnan(goal):
            raise ValueError(f"target and loss_at must be numbers, got {goal} and loss {loss} at epsilon = {epsilon}")
        return loss <= goal

    if not within(low):
        raise ValueError(f"target must be at least the loss at epsilon = 0, which is {loss_at(0.0)}, got {target}")
    if within(high):
        return high
    while high - low > width and low < (middle := (low + high) / 2) < high:  # at most to the last bit
        low, high = (middle, high) if within(middle) else (low, middle)
    return low


class _Extremes:
    """Running per-output maximum, minimum and best joint weight over the rows seen so far."""

    def __init__(self, n_outputs: int) -> None:
        self.n_outputs = n_outputs
        self.high, self.low = np.full(n_outputs, -np.inf), np.full(n_outputs, np.inf)
        self.high_input = np.zeros(n_outputs, dtype=np.int64)
        self.low_input = np.zeros(n_outputs, dtype=np.int64)
        self.joint = np.zeros(n_outputs)

    def update(self, row: int, logs: NDArray[np.float64], weight: float) -> None:
        above, below = logs > self.high, logs < self.low
        self.high[above], self.high_input[above] = logs[above], row
        self.low[below], self.low_input[below] = logs[below], row
        np.maximum(self.joint, weight * np.exp(logs), out=self.joint)

    def worst(self) -> tuple[float, tuple[int, int], int]:
        possible = self.high > -np.inf
        gaps = np.full(self.n_outputs, -np.inf)
        gaps[possible] = self.high[possible] - self.low[possible]
        output = int(np.argmax(gaps))
        pair = int(self.high_input[output]), int(self.low_input[output])
        return float(gaps[output]), pair, output


def _checked_log_row(logs: NDArray[np.float64], n_outputs: int, index: int) -> NDArray[np.float64]:
    if logs.shape != (n_outputs,):
        raise ValueError(f"row {index} must have {n_outputs} log probabilities, got shape {logs.shape}")
    total = float(np.exp(logs).sum()) if logs.size else 0.0
    if not abs(total - 1.0) <= NORMALISATION_TOLERANCE:
        raise ValueError(f"row {index} must hold log probabilities that sum to 1, got total {total}")
    return logs


def _checked_prior(prior: ArrayLike | None, n_inputs: int) -> NDArray[np.float64]:
    if prior is None:
        return np.full(n_inputs, 1.0 / n_inputs) if n_inputs else np.empty(0)
    belief = real_array("prior", prior)
    if belief.shape != (n_inputs,) or not (belief >= 0).all() or abs(belief.sum() - 1.0) > NORMALISATION_TOLERANCE:
        raise ValueError(f"prior must hold {n_inputs} probabilities that sum to 1, got {belief}")
    return belief


def _one_for_each(log_rows: Iterable[ArrayLike], n_inputs: int) -> Iterator[tuple[int, ArrayLike]]:
    index = -1
    for index, row in enumerate(log_rows):
        if index == n_inputs:
            raise ValueError(f"log_rows must hold one row for each of the {n_inputs} inputs, got more")
        yield index, row
    if index + 1 < n_inputs:
        raise ValueError(f"log_rows must hold one row for each of the {n_inputs} inputs, got {index + 1}")


def _keep_rate_loss(kept: NDArray[np.float64], left: NDArray[np.float64]) -> float:
    """``ln(p (n - 1) / (1 - p))`` from logarithms: ``1 - p`` of a float ``p`` near one would overstate it."""
    keep, leave = _log_total(kept), _log_total(left)
    if kept.size < 2 or keep == -math.inf:
        return 0.0
    return max(keep - leave + math.log(kept.size - 1), 0.0)


def _log_total(logs: NDArray[np.float64]) -> float:
    top = float(logs.max(initial=-math.inf))
    return top + math.log(float(np.exp(logs - top).sum())) if top > -math.inf else top


def _logarithms(row: Sequence[object] | NDArray[np.float64]) -> NDArray[np.float64]:
    if isinstance(row, np.ndarray):
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(row))
    return np.array([math.log(p.numerator) - math.log(p.denominator) if p else -math.inf for p in row])  # type: ignore[attr-defined]
