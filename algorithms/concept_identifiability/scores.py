"""How well estimated concepts agree with true ones: correlations centred by class, Amari and structural distance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from whp.algorithms.concept_identifiability.validation import checked_labels, checked_sample
from whp.theory.concept_identifiability import ClassConceptStructure

__all__ = [
    "MatchedCorrelation",
    "amari_distance",
    "block_r_squared",
    "matched_correlation",
    "matched_correlation_of",
    "structural_distance",
]


@dataclass(frozen=True)
class MatchedCorrelation:
    """Mean correlation coefficient (MCC) with its assignment.

    Attributes
    ----------
    mean : float
        Mean over the matched concepts, in [0, 1].
    per_concept : array (n_matched,)
        Absolute correlation of each true concept with the estimate it is matched to.
    assignment : array (n_matched,)
        Estimated coordinate of each true concept.
    centred : bool
        Whether correlations are within classes.
    """

    mean: float
    per_concept: NDArray[np.float64]
    assignment: NDArray[np.int64]
    centred: bool


def matched_correlation(
    z: Any, z_hat: Any, labels: Any | None = None, *, kind: Literal["pearson", "spearman"] = "pearson"
) -> MatchedCorrelation:
    """Match estimated to true concepts by the assignment with the largest total absolute correlation.

    Parameters
    ----------
    z : array_like, shape (n, n_concepts)
        True concepts.
    z_hat : array_like, shape (n, n_estimated), n_estimated >= n_concepts
        Estimated concepts.
    labels : array_like, shape (n,), optional
        Classes.  With them both codes are centred (ranked, for Spearman) within each class: differences between class
        means alone make pooled correlations high for codes that are independent within every class.
    kind : {"pearson", "spearman"}
        Spearman allows monotone maps between the codes.

    Returns
    -------
    MatchedCorrelation
        A constant coordinate has correlation zero with everything.

    Raises
    ------
    ValueError
        If the numbers of rows differ, or there are fewer estimated than true concepts.

    Examples
    --------
    >>> z = np.array([[1.0, 0.0], [2.0, 1.0], [3.0, 0.0], [4.0, -1.0]])
    >>> found = matched_correlation(z, -z[:, ::-1])
    >>> round(found.mean, 12), found.assignment.tolist()
    (1.0, [1, 0])
    """
    truth, estimate = checked_sample("z", z), checked_sample("z_hat", z_hat)
    if len(truth) != len(estimate):
        raise ValueError(f"z and z_hat must have the same number of rows, got {len(truth)} and {len(estimate)}")
    if kind not in ("pearson", "spearman"):
        raise ValueError(f"kind must be 'pearson' or 'spearman', got {kind!r}")
    numbers = checked_labels(labels, len(truth))[0] if labels is not None else np.zeros(len(truth), dtype=np.int64)
    left, right = (_within(code, numbers, kind) for code in (truth, estimate))
    return matched_correlation_of(left.T @ right, centred=labels is not None)


def matched_correlation_of(correlations: Any, *, centred: bool = False) -> MatchedCorrelation:
    """Match by a matrix of correlations, one row a true concept.

    Examples
    --------
    >>> round(matched_correlation_of([[0.8, -0.6], [0.6, 0.8]]).mean, 12)
    0.8
    """
    from scipy.optimize import linear_sum_assignment

    absolute = np.minimum(np.abs(np.asarray(correlations, dtype=np.float64)), 1.0)
    if absolute.ndim != 2 or absolute.size == 0 or not np.isfinite(absolute).all():
        raise ValueError(f"correlations must be a finite matrix, got shape {absolute.shape}")
    if absolute.shape[1] < absolute.shape[0]:
        raise ValueError(
            f"there must be as many estimated as true concepts, got {absolute.shape[1]} of {absolute.shape[0]}"
        )
    rows, columns = linear_sum_assignment(absolute, maximize=True)
    matched = absolute[rows, columns]
    return MatchedCorrelation(float(matched.mean()), matched, columns.astype(np.int64), centred)


def _within(code: NDArray[np.float64], numbers: NDArray[np.int64], kind: str) -> NDArray[np.float64]:
    """Unit columns, centred (and ranked) within classes; zero where a column is constant."""
    largest = np.abs(code).max(axis=0)
    scaled = code / np.where(largest > 0, largest, 1.0)
    out = np.empty_like(scaled)
    for k in np.unique(numbers):
        rows = scaled[numbers == k]
        if kind == "spearman":
            from scipy.stats import rankdata

            rows = np.asarray(rankdata(rows, axis=0), dtype=np.float64) / len(rows)
        out[numbers == k] = rows - rows.mean(axis=0)
    norms = np.linalg.norm(out, axis=0)
    varying = norms > 1e-12 * np.sqrt(len(out))
    return np.asarray(np.where(varying, out / np.where(varying, norms, 1.0), 0.0))


def amari_distance(unmixing: Any, mixing: Any) -> float:
    """Distance of ``unmixing @ mixing`` from a permutation with scales, in [0, 1]; zero iff it is one.

    Examples
    --------
    >>> amari_distance([[0, 2], [3, 0]], np.eye(2)), amari_distance([[1, 1], [1, -1]], np.eye(2))
    (0.0, 1.0)
    """
    gain = np.abs(np.asarray(unmixing, dtype=np.float64) @ np.asarray(mixing, dtype=np.float64))
    n = gain.shape[0]
    if gain.shape != (n, n):
        raise ValueError(f"unmixing @ mixing must be square, got shape {gain.shape}")
    if not np.isfinite(gain).all() or (gain.max(axis=0) == 0).any() or (gain.max(axis=1) == 0).any():
        raise ValueError("unmixing @ mixing must be finite without zero rows or columns")
    if n == 1:
        return 0.0
    rows = (gain.sum(axis=1) / gain.max(axis=1) - 1).sum()
    columns = (gain.sum(axis=0) / gain.max(axis=0) - 1).sum()
    return float((rows + columns) / (2 * n * (n - 1)))


def structural_distance(structure: Any, estimated: Any) -> int:
    """Number of differing entries after the best permutation of rows.

    Examples
    --------
    >>> structural_distance([[1, 0], [1, 1]], [[1, 1], [1, 0]]), structural_distance([[1, 0]], [[1, 1]])
    (0, 1)
    """
    from scipy.optimize import linear_sum_assignment

    one, other = (_entries(rows) for rows in (structure, estimated))
    if one.shape != other.shape:
        raise ValueError(f"structures must have the same shape, got {one.shape} and {other.shape}")
    differences = np.abs(one[:, None, :] - other[None, :, :]).sum(axis=2)
    rows, columns = linear_sum_assignment(differences)
    return int(differences[rows, columns].sum())


def _entries(structure: Any) -> NDArray[np.int64]:
    found = structure if isinstance(structure, ClassConceptStructure) else ClassConceptStructure(structure)
    return found.matrix.astype(np.int64)


def block_r_squared(source: Any, target: Any, *, folds: int = 5, n_features: int = 200, seed: int = 0) -> float:
    """Share of the variance of one code that another predicts, by cross-fitted kernel ridge regression.

    Parameters
    ----------
    source, target : array_like, shapes (n, p) and (n, q)
        What predicts and what is predicted.
    folds : int
        Folds of the cross-fitting, at least 2.
    n_features : int
        Random Fourier features of a Gaussian kernel of unit width on standardised sources.
    seed : int
        Draws the features and the folds.

    Returns
    -------
    float
        Mean over the target's coordinates of ``1 - residual / variance`` out of fold; at most 1, clipped at 0.
        Report it both ways: a function of z_B has R^2 near 1 from z_B, a twisted code has not.
    """
    x, y = checked_sample("source", source), checked_sample("target", target)
    if len(x) != len(y):
        raise ValueError(f"source and target must have the same number of rows, got {len(x)} and {len(y)}")
    if not 2 <= folds <= len(x):
        raise ValueError(f"folds must be between 2 and the {len(x)} rows, got {folds}")
    spread = x.std(axis=0)
    x = (x - x.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    rng = np.random.default_rng(seed)
    phases = x @ rng.normal(size=(x.shape[1], n_features)) * 0.7 + rng.uniform(0, 2 * np.pi, n_features)
    features = np.hstack([np.ones((len(x), 1)), x, np.cos(phases)])
    fold = rng.permutation(len(x)) % folds
    residual = np.empty_like(y)
    for k in range(folds):
        train = features[fold != k]
        gram = train.T @ train + 1e-2 * np.eye(features.shape[1])
        weights = np.linalg.solve(gram, train.T @ y[fold != k])
        residual[fold == k] = y[fold == k] - features[fold == k] @ weights
    variance = y.var(axis=0)
    if (variance == 0).any():
        raise ValueError(f"target must vary, coordinate {int(np.argmin(variance))} is constant")
    return float(np.clip(1 - (residual**2).mean(axis=0) / variance, 0.0, 1.0).mean())
