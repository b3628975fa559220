"""Centring and whitening with the rank stated: no direction is invented, whatever the scale of the data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whp.algorithms.concept_identifiability.validation import checked_sample

__all__ = ["Whitening", "whiten"]

RELATIVE_THRESHOLD = 1e-10
"""Eigenvalues of the covariance below this share of the largest count as zero; rounding leaves about 1e-16 of it."""


@dataclass(frozen=True)
class Whitening:
    """White coordinates of a sample.

    Attributes
    ----------
    white : array (n, rank)
        Uncorrelated with variance exactly one (mean square over the n observations).
    whitener : array (rank, m)
        ``white = (x - mean) @ whitener.T``.
    dewhitener : array (m, rank)
        ``x = mean + white @ dewhitener.T`` up to the directions left out.
    mean : array (m,)
        Sample mean.
    rank : int
        Directions kept.
    eigenvalues : array (m,)
        Of the covariance, decreasing.
    """

    white: NDArray[np.float64]
    whitener: NDArray[np.float64]
    dewhitener: NDArray[np.float64]
    mean: NDArray[np.float64]
    rank: int
    eigenvalues: NDArray[np.float64]


def whiten(x: Any, n_components: int | None = None) -> Whitening:
    """Whiten a sample, keeping only directions in which it varies.

    Parameters
    ----------
    x : array_like, shape (n, m)
        Observations in rows.
    n_components : int, optional
        Keep this many leading directions; at most the rank.

    Raises
    ------
    ValueError
        If x is constant, not finite, or more components are asked for than the rank.

    Examples
    --------
    >>> whiten([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]]).rank
    1
    """
    sample = checked_sample("x", x)
    largest = float(np.abs(sample).max())
    scale = largest if largest > 0 else 1.0
    scaled = sample / scale  # squares of very large or small data would leave the range of floats
    mean = scaled.mean(axis=0)
    centred = scaled - mean
    _, singular, directions = np.linalg.svd(centred, full_matrices=False)
    variances = singular**2 / sample.shape[0]
    noise = (np.finfo(float).eps * max(1.0, float(np.abs(mean).max()))) ** 2
    rank = int(np.count_nonzero(variances > max(RELATIVE_THRESHOLD * variances[0], 16 * noise)))
    if rank == 0:
        raise ValueError("x must vary, got a constant sample")
    kept = rank if n_components is None else n_components
    if not 1 <= kept <= rank:
        raise ValueError(f"n_components must be between 1 and the rank {rank}, got {n_components}")
    deviations = np.sqrt(variances[:kept])
    white = centred @ (directions[:kept] / deviations[:, None]).T
    eigenvalues = np.zeros(sample.shape[1])
    eigenvalues[: variances.size] = variances * scale**2
    return Whitening(
        white,
        directions[:kept] / deviations[:, None] / scale,
        (directions[:kept] * deviations[:, None]).T * scale,
        mean * scale,
        kept,
        eigenvalues,
    )
