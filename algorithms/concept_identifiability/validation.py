"""Checks of arguments shared by the estimators: one sentence, the name, the value, what is accepted."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["checked_labels", "checked_matrices", "checked_sample"]


def checked_sample(name: str, values: Any) -> NDArray[np.float64]:
    """Return a finite float64 matrix with one row an observation, at least two rows.

    Examples
    --------
    >>> checked_sample("x", [[0, 1], [2, 3]]).shape
    (2, 2)
    """
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 2 or array.shape[0] < 2 or array.shape[1] < 1:
        raise ValueError(f"{name} must have shape (observations >= 2, coordinates >= 1), got {array.shape}")
    if not np.isfinite(array).all():
        row, column = (int(k) for k in np.argwhere(~np.isfinite(array))[0])
        raise ValueError(f"{name} must be finite, got {array[row, column]} at row {row}, column {column}")
    return array


def checked_labels(labels: Any, n_observations: int) -> tuple[NDArray[np.int64], tuple[Any, ...]]:
    """Return class numbers 0, 1, .. of observations, and the labels they stand for in sorted order.

    Examples
    --------
    >>> checked_labels(["b", "a", "b"], 3)
    (array([1, 0, 1]), ('a', 'b'))
    """
    array = np.asarray(labels)
    if array.ndim != 1 or array.shape[0] != n_observations:
        raise ValueError(f"labels must be one for each of {n_observations} observations, got shape {array.shape}")
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise ValueError("labels must not be nan or infinite")
    names, numbers = np.unique(array, return_inverse=True)
    return numbers.astype(np.int64), tuple(names.tolist())


def checked_matrices(matrices: Any) -> NDArray[np.float64]:
    """Return symmetric positive-definite matrices as one array (n_matrices, n, n)."""
    array = np.asarray(matrices, dtype=np.float64)
    if array.ndim != 3 or array.shape[0] < 1 or array.shape[1] != array.shape[2] or array.shape[1] < 1:
        raise ValueError(f"covariances must have shape (n_matrices, n, n), got {array.shape}")
    if not np.isfinite(array).all():
        raise ValueError("covariances must be finite")
    size = np.abs(array).max(axis=(1, 2), keepdims=True)
    if (np.abs(array - array.transpose(0, 2, 1)) > 1e-10 * size).any():
        raise ValueError("covariances must be symmetric")
    for number, matrix in enumerate(array):
        values = np.linalg.eigvalsh(matrix)
        if values[0] <= 1e-13 * max(values[-1], 0.0) or values[-1] <= 0:
            raise ValueError(
                f"covariance {number} must be positive definite, got eigenvalues {values[0]:g} to {values[-1]:g}"
            )
    return array
