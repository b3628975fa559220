"""Expectation of the log loss over K independent negatives: directly, over counts, or by one integral for any K.

With ``S = sum_k exp(g_k)`` and a positive score ``g+``, Frullani's integral turns the expectation of a logarithm into
that of a product over negatives, which are independent::

    E log(1 + exp(-g+) S) = integral over y of exp(-exp(y + g+)) (1 - (E exp(-exp(y + g)))^K) dy

The integrand is analytic in a strip and decays at both ends, where the trapezoid rule converges geometrically.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

__all__ = ["count_vectors", "integrated_log_loss", "softplus"]

_STEP = 0.25  # error exp(-pi^2 / step) = 7e-18
_LOWER = 42.0  # exp(-42) = 6e-19 of the peak is left out below
_UPPER = 4.2  # exp(-exp(4.2)) = 1e-29
_BLOCK = 2**16  # array entries worked on at once: what stays in cache
_MOST_NODES = 200_000

Floats = NDArray[np.float64]


def softplus(values: Floats) -> Floats:
    """``log(1 + exp(v))`` without overflow and with full relative precision for very negative ``v``.

    Examples
    --------
    >>> softplus(np.array([-100.0, 0.0, 1000.0]))
    array([3.72007598e-44, 6.93147181e-01, 1.00000000e+03])
    """
    tail = np.abs(values)
    np.negative(tail, out=tail)
    np.exp(tail, out=tail)
    np.log1p(tail, out=tail)
    tail += np.maximum(values, 0.0)
    return np.asarray(tail)


def count_vectors(kinds: int, total: int) -> NDArray[np.int64]:
    """All vectors of ``kinds`` nonnegative integers that sum to ``total``, one a row.

    Examples
    --------
    >>> count_vectors(2, 2).tolist()
    [[0, 2], [1, 1], [2, 0]]
    """
    if kinds < 1 or total < 0:
        raise ValueError(f"kinds must be at least 1 and total at least 0, got {kinds} and {total}")
    if kinds == 1:
        return np.array([[total]])
    parts = []
    for first in range(total + 1):
        rest = count_vectors(kinds - 1, total - first)
        parts.append(np.column_stack([np.full(len(rest), first), rest]))
    return np.concatenate(parts)


def integrated_log_loss(negatives: Floats, weights: Floats, positives: Floats, count: int) -> Floats:
    """``E log(1 + sum_k exp(g_k - g+))`` for one anchor, to about twelve digits.

    Parameters
    ----------
    negatives : ndarray of shape (M,)
        Scores a negative may have; minus infinity for one that is dropped.
    weights : ndarray of shape (M,)
        Their probabilities.
    positives : ndarray of shape (P,)
        Scores of the positives.
    count : int
        Number of negatives ``K``.

    Returns
    -------
    ndarray of shape (P,)
        The expected loss for each positive.

    Raises
    ------
    ValueError
        If a score is nan or plus infinity, a positive is not finite, there is no negative, or the scores spread so far
        that the integral would need more than 200000 nodes.

    Examples
    --------
    >>> loss = integrated_log_loss(np.array([0.0, 1.0]), np.array([0.5, 0.5]), np.array([1.0]), 255)
    >>> bool(abs(loss[0] - 5.16668098598646) < 1e-12)
    True
    """
    if np.isnan(negatives).any() or np.isposinf(negatives).any():
        raise ValueError("negatives must be finite, or minus infinity for one that is dropped")
    if len(positives) and not np.isfinite(positives).all():
        raise ValueError("positives must be finite")
    if count < 1:
        raise ValueError(f"count must be at least 1, got {count}")
    finite = np.isfinite(negatives)
    if not finite.any() or not len(positives):
        return np.zeros(len(positives))
    scores, mass = negatives[finite], weights[finite]
    top = float(scores.max())
    lower = min(-top - math.log(count), -float(positives.max())) - _LOWER
    upper = max(_UPPER - float(positives.min()), _UPPER - top)
    nodes = int((upper - lower) / _STEP) + 2
    if nodes > _MOST_NODES:
        raise ValueError(f"scores spread over {upper - lower:.3g}: too far for the integral; raise the temperature")
    grid = np.asarray(lower + _STEP * np.arange(nodes), dtype=np.float64)
    total = np.zeros(len(positives))
    block = max(1, _BLOCK // max(len(scores), len(positives)))
    for start in range(0, nodes, block):
        y = grid[start : start + block]
        with np.errstate(over="ignore", divide="ignore"):
            missing = _loss_of_mass(y, scores) @ mass  # 1 - E exp(-exp(y + g))
            none = -np.expm1(count * np.log1p(-np.minimum(missing, 1.0)))
            total += np.exp(-np.exp(y[:, None] + positives)).T @ none
    return total * _STEP


def _loss_of_mass(y: Floats, scores: Floats) -> Floats:
    """``1 - exp(-exp(y + g))``, one row a node; the inner exponential by a product where it stays inside float64."""
    top = float(scores.max())
    if max(abs(float(y[0]) + top), abs(float(y[-1]) + top), top - float(scores.min())) < 300:
        table = np.multiply.outer(-np.exp(y + top), np.exp(scores - top))
    else:
        table = y[:, None] + scores
        np.exp(table, out=table)
        np.negative(table, out=table)
    np.expm1(table, out=table)
    return np.negative(table, out=table)
