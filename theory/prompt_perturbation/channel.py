"""Token channels and the quantities that measure their privacy.

A channel is a row-stochastic matrix: entry ``[t, r]`` is the probability that input token ``t`` is replaced by output
token ``r``. Rows are kept either as exact fractions or as float64.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from whp.theory.prompt_perturbation.arguments import checked_integer, real_array

__all__ = [
    "Channel",
    "Number",
    "Rows",
    "bayes_recovery",
    "keep_rate",
    "likelihood_ratio",
    "pairwise_ratio",
    "privacy_loss",
]

Number: TypeAlias = Fraction | float
Rows: TypeAlias = tuple[tuple[Fraction, ...], ...] | NDArray[np.float64]

ROW_SUM_TOLERANCE = 1e-9


@dataclass(frozen=True, eq=False)
class Channel:
    """A row-stochastic matrix from input tokens to output tokens.

    Parameters
    ----------
    rows : sequence of rows, or ndarray of shape (n_inputs, n_outputs)
        When every entry is an ``int`` or ``Fraction`` the rows are kept as fractions and must sum to exactly one;
        otherwise they become float64 and must sum to one within ``1e-9``.
    inputs : tuple of int, optional
        Output index that equals each input token, all different. Defaults to ``0 .. n_inputs - 1``; empty when inputs
        are no outputs, and then there is no keep rate.

    Raises
    ------
    ValueError
        If the matrix is empty, ragged, has negative or non-finite entries, or a row does not sum to one.

    Examples
    --------
    >>> from fractions import Fraction
    >>> half = Fraction(1, 2)
    >>> Channel(((half, half), (half, half))).exact
    True
    """

    rows: Rows
    inputs: tuple[int, ...] = ()

    def __init__(self, rows: Sequence[Sequence[Any]] | NDArray[Any], inputs: Sequence[int] | None = None) -> None:
        checked = _exact_rows(rows) if _is_exact(rows) else _float_rows(rows)
        n_inputs, n_outputs = len(checked), len(checked[0])
        default = range(n_inputs) if n_inputs <= n_outputs else ()
        diagonal = tuple(checked_integer("inputs", index, 0) for index in (default if inputs is None else inputs))
        if diagonal and len(diagonal) != n_inputs:
            raise ValueError(f"inputs must name one output index for each of the {n_inputs} rows, got {len(diagonal)}")
        if len(set(diagonal)) != len(diagonal) or any(index >= n_outputs for index in diagonal):
            raise ValueError(f"inputs must be distinct indices in 0..{n_outputs - 1}, got {diagonal}")
        object.__setattr__(self, "rows", checked)
        object.__setattr__(self, "inputs", diagonal)

    @property
    def exact(self) -> bool:
        """Whether the entries are fractions."""
        return isinstance(self.rows, tuple)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of inputs and of outputs."""
        return len(self.rows), len(self.rows[0])

    def __eq__(self, other: object) -> bool:
        """Equal entries, equal labels."""
        if not isinstance(other, Channel):
            return NotImplemented
        if isinstance(self.rows, tuple) or isinstance(other.rows, tuple):
            same_rows = self.exact and other.exact and self.rows == other.rows
        else:
            same_rows = bool(np.array_equal(self.rows, other.rows))
        return same_rows and self.inputs == other.inputs

    __hash__ = None  # type: ignore[assignment]


def _is_exact(rows: Sequence[Sequence[Any]] | NDArray[Any]) -> bool:
    if isinstance(rows, np.ndarray) and rows.dtype != object:
        return False
    return all(isinstance(entry, (int, Fraction)) for row in rows for entry in row)


def _exact_rows(rows: Sequence[Sequence[Any]] | NDArray[Any]) -> tuple[tuple[Fraction, ...], ...]:
    exact = tuple(tuple(Fraction(entry) for entry in row) for row in rows)
    if not exact or not exact[0]:
        raise ValueError("rows must hold at least one input and one output, got an empty matrix")
    if len({len(row) for row in exact}) != 1:
        raise ValueError(f"rows must have equal length, got lengths {sorted({len(row) for row in exact})}")
    for index, row in enumerate(exact):
        if min(row) < 0 or sum(row) != 1:
            raise ValueError(f"row {index} must be non-negative and sum to 1, got sum {sum(row)} and least {min(row)}")
    return exact


def _float_rows(rows: Sequence[Sequence[Any]] | NDArray[Any]) -> NDArray[np.float64]:
    if not isinstance(rows, np.ndarray) and len({len(row) for row in rows}) > 1:
        raise ValueError(f"rows must form a rectangular matrix, got lengths {sorted({len(row) for row in rows})}")
    matrix = real_array("rows", rows).copy()
    if matrix.ndim != 2 or 0 in matrix.shape:
        raise ValueError(f"rows must form a non-empty matrix, got shape {matrix.shape}")
    if not np.isfinite(matrix).all() or matrix.min() < 0.0:
        raise ValueError("rows must hold finite probabilities >= 0, got a negative, infinite or NaN entry")
    worst = int(np.argmax(np.abs(matrix.sum(axis=1) - 1.0)))
    if abs(matrix[worst].sum() - 1.0) > ROW_SUM_TOLERANCE:
        raise ValueError(f"row {worst} must sum to 1, got {matrix[worst].sum()}")
    matrix.setflags(write=False)
    return matrix


def pairwise_ratio(first: Sequence[Number], second: Sequence[Number]) -> Number:
    """Largest ratio ``first[r] / second[r]`` over outputs ``r`` that ``first`` can produce.

    Parameters
    ----------
    first, second : sequences of Fraction or float
        Two rows of one channel.

    Returns
    -------
    Fraction or float
        ``math.inf`` when ``first`` produces an output that ``second`` cannot.

    Examples
    --------
    >>> from fractions import Fraction
    >>> pairwise_ratio((Fraction(1, 2), Fraction(1, 2)), (Fraction(1, 9), Fraction(8, 9)))
    Fraction(9, 2)
    """
    if len(first) != len(second):
        raise ValueError(f"first and second must have equal length, got {len(first)} and {len(second)}")
    if not all(0 <= p <= 1 for p in (*first, *second)) or not any(first):
        raise ValueError("first and second must hold probabilities in [0, 1], the first not all zero")
    supported = [(p, q) for p, q in zip(first, second, strict=True) if p > 0]
    if any(q == 0 for _, q in supported):
        return math.inf
    return max(p / q for p, q in supported)


def likelihood_ratio(channel: Channel) -> Number:
    """Largest ``P[r | t] / P[r | t']`` over inputs ``t, t'`` and outputs ``r``; a fraction for exact channels.

    Parameters
    ----------
    channel : Channel
        Any token channel.

    Returns
    -------
    Fraction or float
        At least one, ``math.inf`` when two inputs have different supports.

    Examples
    --------
    >>> from fractions import Fraction
    >>> third = Fraction(1, 3)
    >>> likelihood_ratio(Channel(((2 * third, third), (third, 2 * third))))
    Fraction(2, 1)
    """
    if channel.exact:
        columns = [column for column in zip(*channel.rows, strict=True) if max(column) > 0]
        return math.inf if any(min(column) == 0 for column in columns) else max(max(c) / min(c) for c in columns)
    matrix = np.asarray(channel.rows)
    high, low = matrix.max(axis=0), matrix.min(axis=0)
    if bool(((high > 0) & (low == 0)).any()):
        return math.inf
    return float((high[high > 0] / low[high > 0]).max())


def privacy_loss(channel: Channel) -> float:
    """Exact privacy loss in nats: the smallest ``epsilon`` for which the channel is ``epsilon``-LDP.

    Parameters
    ----------
    channel : Channel
        Any token channel.

    Returns
    -------
    float
        ``max ln(P[r | t] / P[r | t'])``, ``math.inf`` when supports differ.

    Examples
    --------
    >>> privacy_loss(Channel(((1, 0), (0, 1))))
    inf
    """
    ratio = likelihood_ratio(channel)
    return _log(ratio)


def _log(ratio: Number) -> float:
    if isinstance(ratio, Fraction):
        return math.log(ratio.numerator) - math.log(ratio.denominator)
    return math.log(ratio)


def keep_rate(channel: Channel) -> Number:
    """Average probability that a token is left unchanged, ``mean_t P[t | t]``.

    Parameters
    ----------
    channel : Channel
        Its ``inputs`` say which output equals which input.

    Returns
    -------
    Fraction or float
        Between 0 and 1.

    Raises
    ------
    ValueError
        If the channel does not say which outputs its inputs equal.

    Examples
    --------
    >>> keep_rate(Channel(((1, 0), (1, 0))))
    Fraction(1, 2)
    """
    if not channel.inputs:
        raise ValueError("channel must name the output that equals each input, got none")
    if isinstance(channel.rows, tuple):
        kept = (row[column] for row, column in zip(channel.rows, channel.inputs, strict=True))
        return sum(kept, Fraction(0)) / len(channel.inputs)
    return float(channel.rows[np.arange(len(channel.inputs)), list(channel.inputs)].mean())


def bayes_recovery(channel: Channel, prior: Sequence[Number] | None = None) -> Number:
    """Success probability of the best attack on one token: ``sum_r max_t prior(t) P[r | t]``.

    Parameters
    ----------
    channel : Channel
        Any token channel.
    prior : sequence of Fraction or float, optional
        What the adversary believes before seeing the output; uniform by default.

    Returns
    -------
    Fraction or float
        Between ``max(prior)`` and 1.

    Raises
    ------
    ValueError
        If the prior has the wrong length, a negative entry, or does not sum to one.

    Examples
    --------
    >>> bayes_recovery(Channel(((1, 0), (1, 0))))
    Fraction(1, 2)
    """
    n_inputs = channel.shape[0]
    weights: Sequence[Number] = [Fraction(1, n_inputs)] * n_inputs if prior is None else list(prior)
    if len(weights) != n_inputs or not _is_distribution(weights):
        raise ValueError(f"prior must hold {n_inputs} probabilities that sum to 1, got {list(weights)}")
    if channel.exact:
        columns = zip(*channel.rows, strict=True)
        return sum((max(w * p for w, p in zip(weights, column, strict=True)) for column in columns), Fraction(0))
    joint = np.asarray(channel.rows) * np.asarray([float(w) for w in weights])[:, None]
    return float(joint.max(axis=0).sum())


def _is_distribution(weights: Sequence[Number]) -> bool:
    values = real_array("prior", weights)
    return bool((values >= 0).all() and abs(values.sum() - 1.0) <= ROW_SUM_TOLERANCE)
