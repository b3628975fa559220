"""Exact line search between a design and one question, from the eigenvalues of a ``(K-1) x (K-1)`` matrix."""

from __future__ import annotations

from math import inf, log1p, sqrt

import numpy as np
from numpy.typing import NDArray

from whp.theory.plackett_luce_design.validation import real_number, whole_number

Array = NDArray[np.float64]

__all__ = ["contrast_basis", "exact_step", "log_det_change", "pair_step"]


def contrast_basis(size: int) -> Array:
    """Orthonormal contrasts times ``sqrt(K)``: columns ``c`` with ``M_S = X_S' c c' X_S``, shape ``(K, K - 1)``.

    Parameters
    ----------
    size : int
        ``K >= 2``.

    Returns
    -------
    (K, K - 1) ndarray

    Examples
    --------
    >>> contrast_basis(2).round(6).ravel().tolist()
    [1.0, -1.0]
    """
    whole_number("size", size, 2)
    basis = np.zeros((size, size - 1))
    for k in range(1, size):
        basis[:k, k - 1] = 1.0
        basis[k, k - 1] = -k
        basis[:, k - 1] *= sqrt(size / (k * (k + 1)))
    return basis


def _relevant(eigenvalues: list[float], dim: int) -> list[float]:
    if dim < 1 or not all(-inf < v < inf for v in eigenvalues):
        raise ValueError(f"eigenvalues must be finite and dim at least 1, got {list(eigenvalues)} and {dim}")
    values = sorted((max(v, 0.0) for v in eigenvalues), reverse=True)
    return values[:dim]


def log_det_change(eigenvalues: list[float], dim: int, step: float) -> float:
    """``log det((1-g) V + g M) - log det V`` for the eigenvalues of ``V^{-1/2} M V^{-1/2}``.

    Parameters
    ----------
    eigenvalues : list of float
        The non-zero eigenvalues; zeros may be listed too.
    dim : int
        Dimension of ``V``.
    step : float
        ``g < 1``, negative for a step away from ``M``; ``g = 1`` only when ``M`` has full rank.

    Returns
    -------
    float
        Minus infinity when the new matrix is singular.

    Examples
    --------
    >>> round(log_det_change([2.0], 1, 0.5), 6)  # log 1.5
    0.405465
    """
    if not -inf < step <= 1:
        raise ValueError(f"step must be a number of at most 1, got {step!r}")
    values = _relevant(eigenvalues, dim)
    rest = dim - len(values)
    if rest and step >= 1:
        return -inf
    total = rest * log1p(-step) if rest else 0.0
    for value in values:
        argument = step * (value - 1.0)
        if argument <= -1:
            return -inf
        total += log1p(argument)
    return total


def _slope(values: list[float], rest: int, step: float) -> tuple[float, float]:
    first = -rest / (1.0 - step) if rest else 0.0
    second = -rest / (1.0 - step) ** 2 if rest else 0.0
    for value in values:
        ratio = (value - 1.0) / (1.0 + step * (value - 1.0))
        first += ratio
        second -= ratio * ratio
    return first, second


def exact_step(eigenvalues: list[float], dim: int, lowest: float = 0.0) -> float:
    """Step that maximises `log_det_change` over ``[lowest, 1]``, by safeguarded Newton iterations.

    Parameters
    ----------
    eigenvalues : list of float
        Of ``V^{-1/2} M V^{-1/2}``.
    dim : int
        Dimension of ``V``.
    lowest : float
        Zero for a step towards ``M``; ``-w / (1 - w)`` to allow removing the weight ``w`` that ``M`` has.

    Returns
    -------
    float
        The maximiser; ``lowest`` or ``1`` when the optimum lies at an end.

    Examples
    --------
    >>> round(exact_step([123 / 44], 2) * 158, 9)
    35.0
    """
    if not -inf < lowest <= 0:
        raise ValueError(f"lowest must be zero or negative, got {lowest!r}")
    values = _relevant(eigenvalues, dim)
    rest = dim - len(values)
    low, high = lowest, 1.0
    smallest = min(values) if not rest else 0.0
    if smallest > 0 and _slope(values, 0, 1.0)[0] >= 0:
        return 1.0
    if values and max(values) > 1:  # away steps must keep 1 + g (lambda - 1) positive
        low = max(low, -1.0 / (max(values) - 1.0) * (1 - 1e-12))
    if _slope(values, rest, low)[0] <= 0:
        return low if low == lowest else max(low, lowest)
    step = 0.0 if low < 0 else low
    for _ in range(200):
        first, second = _slope(values, rest, step)
        if first > 0:
            low = step
        else:
            high = step
        proposal = step - first / second if second < 0 else low
        if not low < proposal < high:
            proposal = (low + high) / 2
        if abs(proposal - step) <= 1e-16 * max(abs(proposal), 1e-3) or high - low <= 1e-16:
            return proposal
        step = proposal
    return step


def pair_step(leverage: float, dim: int) -> float:
    """Fedorov-Wynn-Khachiyan step ``(lambda - d) / (d (lambda - 1))`` for one pair; zero when ``lambda <= d``.

    Parameters
    ----------
    leverage : float
        ``z' V^{-1} z``.
    dim : int
        Dimension of the span.

    Returns
    -------
    float

    Examples
    --------
    >>> round(pair_step(123 / 44, 2) * 158, 9)
    35.0
    """
    whole_number("dim", dim, 1)
    real_number("leverage", leverage, at_least=0)
    if leverage <= dim:
        return 0.0
    return (leverage - dim) / (dim * (leverage - 1.0))
