"""The loss of a batch of pairs of views (NT-Xent), by definition, and the arrangement that minimises it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["PairBatch", "batch_loss", "simplex_batch"]


@dataclass(frozen=True, eq=False)
class PairBatch:
    """Embeddings of two views of each of ``M`` images, rows ``2 k`` and ``2 k + 1`` of image ``k``.

    Parameters
    ----------
    embeddings : array_like of shape (2 M, p)
        Finite, no row zero, ``M >= 2``.
    temperature : float
        ``t``, positive.

    Raises
    ------
    ValueError
        If shape or numbers are out of range.
    """

    embeddings: NDArray[np.float64]
    temperature: float

    def __init__(self, embeddings: ArrayLike, temperature: float) -> None:
        table = np.array(embeddings, dtype=np.float64)
        if table.ndim != 2 or len(table) < 4 or len(table) % 2:
            raise ValueError(f"embeddings must have shape (2 M, p) with M at least 2, got {table.shape}")
        if not np.isfinite(table).all() or not (np.abs(table).max(axis=1) > 0).all():
            raise ValueError("embeddings must be finite and no row zero")
        if not 0 < temperature < math.inf:
            raise ValueError(f"temperature must be positive and finite, got {temperature}")
        object.__setattr__(self, "embeddings", table)
        object.__setattr__(self, "temperature", float(temperature))

    @property
    def images(self) -> NDArray[Any]:
        """Image of each row."""
        return np.arange(len(self.embeddings)) // 2


def batch_loss(batch: PairBatch) -> float:
    """Mean over anchors of ``log(1 + sum_z exp((cos(x, z) - cos(x, x+)) / t))``, z the views of other images.

    Examples
    --------
    >>> round(batch_loss(PairBatch([[1, 0], [1, 0], [0, 1], [0, 1]], 1.0)), 6)  # log(1 + 2/e)
    0.551445
    """
    rows = batch.embeddings / np.linalg.norm(batch.embeddings, axis=1, keepdims=True)
    losses = []
    for x in range(len(rows)):
        own = float(rows[x] @ rows[x ^ 1])
        others = [float(rows[x] @ rows[z]) for z in range(len(rows)) if z // 2 != x // 2]
        exponents = [0.0, *((score - own) / batch.temperature for score in others)]
        top = max(exponents)
        losses.append(top + math.log(math.fsum(math.exp(e - top) for e in exponents)))
    return math.fsum(losses) / len(losses)


def simplex_batch(pairs: int, temperature: float) -> PairBatch:
    """Both views of each image at one corner of a regular simplex around zero.

    Examples
    --------
    >>> simplex_batch(2, 1.0).embeddings.tolist()
    [[0.5, -0.5], [0.5, -0.5], [-0.5, 0.5], [-0.5, 0.5]]
    """
    corners = np.eye(pairs) - 1.0 / pairs
    return PairBatch(np.repeat(corners, 2, axis=0), temperature)
