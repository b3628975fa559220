"""The batch loss of SimCLR (NT-Xent), at any temperature and with a stated rule for zero vectors."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["ZeroNormError", "cosine_rows", "nt_xent"]


class ZeroNormError(ValueError):
    """An embedding of norm zero has no direction."""


def cosine_rows(
    embeddings: ArrayLike, *, zero_norm: Literal["refuse", "cosine zero"] = "refuse"
) -> NDArray[np.float64]:
    """Rows scaled to norm one, in float64 whatever the input.

    Parameters
    ----------
    embeddings : array_like of shape (N, p)
        Finite numbers of any floating type.
    zero_norm : {"refuse", "cosine zero"}
        What to do with a row of zeros: an error, or leave it, so that its cosine with everything is 0.

    Raises
    ------
    ZeroNormError
        If a row is zero and is refused; the message names the row.
    ValueError
        If the shape is wrong or a number is not finite.

    Examples
    --------
    >>> cosine_rows([[3.0, 4.0]])
    array([[0.6, 0.8]])
    """
    if zero_norm not in ("refuse", "cosine zero"):
        raise ValueError(f"zero_norm must be 'refuse' or 'cosine zero', got {zero_norm!r}")
    table = np.asarray(embeddings, dtype=np.float64)
    if table.ndim != 2 or table.shape[1] == 0:
        raise ValueError(f"embeddings must have shape (N, p), got {table.shape}")
    if not np.isfinite(table).all():
        raise ValueError(f"embeddings must be finite, got {table[~np.isfinite(table)][0]}")
    largest = np.abs(table).max(axis=1, keepdims=True)
    zero = largest[:, 0] == 0
    if zero.any() and zero_norm == "refuse":
        raise ZeroNormError(f"embedding {int(np.flatnonzero(zero)[0])} has norm zero, hence no cosine")
    scaled = table / np.where(largest > 0, largest, 1.0)  # neither overflow nor underflow in the squares
    norms = np.linalg.norm(scaled, axis=1, keepdims=True)
    return np.asarray(scaled / np.where(norms > 0, norms, 1.0))


def nt_xent(
    embeddings: ArrayLike,
    images: ArrayLike,
    temperature: float,
    *,
    zero_norm: Literal["refuse", "cosine zero"] = "refuse",
) -> float:
    """Mean over anchors of ``log(1 + sum_z exp((cos(x, z) - cos(x, x+)) / t))``, z the views of other images.

    Parameters
    ----------
    embeddings : array_like of shape (2 M, p)
        Two views of each of ``M`` images.
    images : array_like of int, shape (2 M,)
        Image of each view; each must occur twice.
    temperature : float
        ``t``, positive.
    zero_norm : {"refuse", "cosine zero"}
        Rule for embeddings of norm zero.

    Returns
    -------
    float
        The loss in nats. Negatives exclude the anchor's own image: this is not the risk with independent negatives
        of T1, and their difference is a matter of collisions.

    Raises
    ------
    ZeroNormError
        If an embedding is zero and is refused.
    ValueError
        If an image does not occur twice or the temperature is not positive.

    Examples
    --------
    >>> pairs = [[1, 0], [1, 0], [0, 1], [0, 1]]
    >>> f"{nt_xent(pairs, [0, 0, 1, 1], 0.01):.3g}", nt_xent(pairs, [0, 0, 1, 1], 0.001)
    ('7.44e-44', 0.0)
    """
    if not 0 < temperature < np.inf:
        raise ValueError(f"temperature must be positive and finite, got {temperature}")
    rows = cosine_rows(embeddings, zero_norm=zero_norm)
    labels = np.asarray(images)
    if labels.shape != (len(rows),):
        raise ValueError(f"images must have shape ({len(rows)},), got {labels.shape}")
    names, counts = np.unique(labels, return_counts=True)
    if not (counts == 2).all() or len(names) == 0:
        wrong = f"{counts[counts != 2][0]} of image {names[counts != 2][0]}" if len(names) else "no view"
        raise ValueError(f"each image must have two views, got {wrong}")
    scores = rows @ rows.T / temperature
    order = np.argsort(labels, kind="stable")
    partner = np.empty(len(rows), dtype=int)
    partner[order[::2]], partner[order[1::2]] = order[1::2], order[::2]
    own = scores[np.arange(len(rows)), partner]
    arguments = np.where(labels[:, None] == labels[None, :], -np.inf, scores - own[:, None])
    return float(np.logaddexp(0.0, np.logaddexp.reduce(arguments, axis=1)).mean())
