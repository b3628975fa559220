"""The linear contrastive encoder in closed form, and the spectral contrastive loss that it minimises."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["LinearEncoder", "SingularViewsError", "fit_linear_encoder", "spectral_loss"]

Floats = NDArray[np.float64]


class SingularViewsError(ValueError):
    """The views span too few dimensions for the encoder that was asked for."""


@dataclass(frozen=True)
class LinearEncoder:
    """``f(x) = (x - offset) matrix``.

    Attributes
    ----------
    matrix : ndarray of shape (q, p)
        Columns scaled by the roots of their eigenvalues.
    eigenvalues : ndarray of shape (p,)
        Share of each direction's second moment that views of one image have in common, decreasing, in ``[0, 1]``.
    offset : ndarray of shape (q,)
        Mean of the views, or zero when the encoder was not centred.
    """

    matrix: Floats
    eigenvalues: Floats
    offset: Floats

    def __call__(self, views: ArrayLike) -> Floats:
        """Embeddings, one row for each view.

        Raises
        ------
        ValueError
            If the views have another number of pixels.
        """
        table = np.asarray(views, dtype=np.float64)
        if table.ndim != 2 or table.shape[1] != len(self.offset):
            raise ValueError(f"views must have shape (N, {len(self.offset)}), got {table.shape}")
        return np.asarray((table - self.offset) @ self.matrix)


def fit_linear_encoder(
    views: ArrayLike,
    images: ArrayLike,
    dimension: int,
    *,
    weights: ArrayLike | None = None,
    ridge: float = 1e-3,
    centred: bool = True,
) -> LinearEncoder:
    """Minimise the spectral contrastive loss over linear encoders.

    Top generalised eigenvectors of the second moment ``S_b`` of the images' mean views against ``S_t + ridge I``, that
    of the views. Without ridge they minimise the loss exactly; the ridge is in units of squared pixels.

    Parameters
    ----------
    views : array_like of shape (N, q)
        Pixels of the views.
    images : array_like of int, shape (N,)
        Image of each view.
    dimension : int
        ``p``.
    weights : array_like of shape (N,), optional
        Weight of each view, uniform by default.
    ridge : float
        Nonnegative; with zero, directions without any variation are left out.
    centred : bool
        Whether the mean of the views is subtracted first.

    Returns
    -------
    LinearEncoder
        Costs ``O(N q^2 + q^3)``.

    Raises
    ------
    SingularViewsError
        If the views span fewer than ``dimension`` directions; the message gives the rank.
    ValueError
        If a shape or a number is out of range.

    References
    ----------
    .. [1] HaoChen, Wei, Gaidon, Ma, "Provable guarantees for self-supervised deep learning with spectral contrastive
       loss" (2021).

    Examples
    --------
    >>> encoder = fit_linear_encoder([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]], [0, 0, 1, 1], 1, ridge=0.0)
    >>> abs(encoder.matrix.ravel()).round(6), encoder.eigenvalues.round(6)
    (array([1., 0.]), array([1.]))
    """
    table, groups, mass = _checked(views, images, weights)
    if dimension < 1:
        raise ValueError(f"dimension must be at least 1, got {dimension}")
    if not 0 <= ridge < np.inf:
        raise ValueError(f"ridge must be nonnegative and finite, got {ridge}")
    offset = mass @ table if centred else np.zeros(table.shape[1])
    total, between = _second_moments(table - offset, groups, mass)
    variances, directions = np.linalg.eigh(total)
    rank = int((variances > max(variances[-1], 0.0) * len(total) * 1e-14).sum())
    if rank < dimension:
        raise SingularViewsError(f"views must span at least dimension={dimension} directions, got rank {rank}")
    if ridge == 0:
        variances, directions = variances[-rank:], directions[:, -rank:]
    whitening = directions / np.sqrt(np.maximum(variances, 0.0) + ridge)
    shares, vectors = np.linalg.eigh(whitening.T @ between @ whitening)
    shares, vectors = shares[::-1][:dimension], vectors[:, ::-1][:, :dimension]
    shares = np.clip(shares, 0.0, 1.0)
    return LinearEncoder(whitening @ (vectors * np.sqrt(shares)), shares, offset)


def spectral_loss(embeddings: ArrayLike, images: ArrayLike, *, weights: ArrayLike | None = None) -> float:
    """``-2 E f(x).f(x+) + E (f(x).f(z))^2``, x and x+ views of one image, z any view.

    Parameters
    ----------
    embeddings : array_like of shape (N, p)
        ``f`` of every view.
    images : array_like of int, shape (N,)
        Image of each view.
    weights : array_like of shape (N,), optional
        Weight of each view, uniform by default.

    Returns
    -------
    float
        The loss, in ``O(N p^2)``.

    Examples
    --------
    >>> spectral_loss([[1.0], [1.0], [-1.0], [-1.0]], [0, 0, 1, 1])
    -1.0
    """
    total, between = _second_moments(*_checked(embeddings, images, weights))
    return float(-2 * np.trace(between) + (total**2).sum())


def _second_moments(table: Floats, groups: NDArray[np.intp], mass: Floats) -> tuple[Floats, Floats]:
    """``E x x^T`` of the views and of the mean views of their images."""
    total = (table * mass[:, None]).T @ table
    shares = np.bincount(groups, weights=mass)
    sums = np.zeros((len(shares), table.shape[1]))
    np.add.at(sums, groups, table * mass[:, None])
    means = sums / shares[:, None]
    return total, (means * shares[:, None]).T @ means


def _checked(views: ArrayLike, images: ArrayLike, weights: ArrayLike | None) -> tuple[Floats, NDArray[np.intp], Floats]:
    table = np.asarray(views, dtype=np.float64)
    if table.ndim != 2 or table.size == 0:
        raise ValueError(f"views must have shape (N, q) with at least one view and one pixel, got {table.shape}")
    if not np.isfinite(table).all():
        raise ValueError(f"views must be finite, got {table[~np.isfinite(table)][0]}")
    labels = np.asarray(images)
    if labels.shape != (len(table),):
        raise ValueError(f"images must have shape ({len(table)},), got {labels.shape}")
    mass = np.full(len(table), 1 / len(table)) if weights is None else np.asarray(weights, dtype=np.float64)
    if mass.shape != (len(table),) or not (mass > 0).all() or not np.isfinite(mass).all():
        raise ValueError(f"weights must be {len(table)} positive finite numbers")
    return table, np.unique(labels, return_inverse=True)[1], mass / mass.sum()
