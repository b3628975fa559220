"""Mutual information of codes and factors, with the binning in the result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Information", "InformationGap", "mutual_information", "mutual_information_gap"]


@dataclass(frozen=True)
class Information:
    """Plug-in mutual information of two variables, in nats.

    Attributes
    ----------
    value : float
        ``0 <= value <= min(code_entropy, factor_entropy)``.
    code_entropy, factor_entropy : float
        Entropies of the binned variables.
    binning : str
        How the code was binned: ``"4 values"`` or ``"10 bins of equal frequency"``.
    informative : bool
        False when bins of the code hold fewer than two samples on average: the plug-in value then says nothing.
    """

    value: float
    code_entropy: float
    factor_entropy: float
    binning: str
    informative: bool


@dataclass(frozen=True)
class InformationGap:
    """Mutual information gap (MIG) of codes to factors.

    Attributes
    ----------
    value : float
        Mean over factors of (largest - second largest information) / entropy of the factor.
    information : tuple of tuple of Information
        One row a factor, one column a code.
    informative : bool
        Whether all informations are.
    """

    value: float
    information: tuple[tuple[Information, ...], ...]
    informative: bool


def mutual_information(code: Any, factor: Any, bins: int = 10) -> Information:
    """Mutual information of a code and a factor.

    Parameters
    ----------
    code : array_like, shape (n,)
        Real values: kept as they are when they have at most ``bins`` different ones, else put in ``bins`` bins of
        equal frequency, ties together.
    factor : array_like, shape (n,)
        Values of a discrete factor, of any type; binned like the code when real with more than ``bins`` values.
    bins : int
        Largest number of bins, at least 2.

    Raises
    ------
    ValueError
        If lengths differ, values are not finite, or the factor is constant.

    Examples
    --------
    >>> found = mutual_information([0.1, 0.1, 0.9, 0.9], [0, 0, 1, 1])
    >>> round(found.value, 12) == round(float(np.log(2)), 12), found.binning
    (True, '2 values')
    """
    if isinstance(bins, bool) or not isinstance(bins, int) or bins < 2:
        raise ValueError(f"bins must be an integer of at least 2, got {bins!r}")
    x, binning = _binned("code", code, bins)
    v, _ = _binned("factor", factor, bins)
    if x.size != v.size:
        raise ValueError(f"code and factor must have the same length, got {x.size} and {v.size}")
    if v.max() == 0:
        raise ValueError("factor must vary, got a constant one")
    table = np.zeros((int(x.max()) + 1, int(v.max()) + 1))
    np.add.at(table, (x, v), 1.0)
    joint = table / x.size
    own, other = _entropy(joint.sum(axis=1)), _entropy(joint.sum(axis=0))
    value = own + other - _entropy(joint.ravel())
    return Information(min(max(value, 0.0), own, other), own, other, binning, x.size >= 2 * table.shape[0])


def mutual_information_gap(codes: Any, factors: Any, bins: int = 10) -> InformationGap:
    """Mutual information gap of several codes, averaged over factors.

    Parameters
    ----------
    codes : array_like, shape (n, n_codes)
        Two codes or more.
    factors : array_like, shape (n, n_factors)
        Discrete factors, none constant.

    Examples
    --------
    >>> gap = mutual_information_gap([[0.1, 0], [0.1, 1], [0.9, 0], [0.9, 1]], [[0], [0], [1], [1]])
    >>> round(gap.value, 12), gap.information[0][1].value
    (1.0, 0.0)
    """
    code_columns, factor_columns = np.asarray(codes), np.asarray(factors)
    if code_columns.ndim != 2 or code_columns.shape[1] < 2:
        raise ValueError(f"codes must have shape (n, n_codes >= 2), got {code_columns.shape}")
    if factor_columns.ndim != 2 or factor_columns.shape[1] < 1:
        raise ValueError(f"factors must have shape (n, n_factors >= 1), got {factor_columns.shape}")
    table = tuple(tuple(mutual_information(c, v, bins) for c in code_columns.T) for v in factor_columns.T)
    gaps = []
    for row in table:
        best, second = sorted((cell.value for cell in row), reverse=True)[:2]
        gaps.append((best - second) / row[0].factor_entropy)
    return InformationGap(float(np.mean(gaps)), table, all(cell.informative for row in table for cell in row))


def _binned(name: str, values: Any, bins: int) -> tuple[NDArray[np.int64], str]:
    array = np.asarray(values)
    if array.ndim != 1 or array.size == 0:
        raise ValueError(f"{name} must be a non-empty vector, got shape {array.shape}")
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite, got {array[~np.isfinite(array)][0]}")
    distinct, numbers, counts = np.unique(array, return_inverse=True, return_counts=True)
    if len(distinct) <= bins or array.dtype.kind not in "biuf":
        return numbers.astype(np.int64), f"{len(distinct)} values"
    middle = np.cumsum(counts) - (counts + 1) / 2  # mean rank of each value: ties stay together
    labels = np.floor(bins * middle / array.size).astype(np.int64)
    occupied, labels = np.unique(labels, return_inverse=True)
    return labels[numbers].astype(np.int64), f"{len(occupied)} bins of equal frequency"


def _entropy(probabilities: NDArray[np.float64]) -> float:
    positive = probabilities[probabilities > 0]
    return float(-(positive * np.log(positive)).sum())
