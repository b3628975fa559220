"""Checked arguments of the statistical procedures: counts, probabilities, levels."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["count", "level", "log_threshold", "positive_count", "probabilities"]


def count(value: int, name: str) -> int:
    """Return a nonnegative integer; the error names the argument.

    Examples
    --------
    >>> count(3, "runs")
    3
    """
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)):
        raise TypeError(f"{name} must be an integer, got {value!r}")
    if value < 0:
        raise ValueError(f"{name} must be at least 0, got {value!r}")
    return int(value)


def positive_count(value: int, name: str) -> int:
    """Return an integer of at least 1; the error names the argument."""
    if count(value, name) == 0:
        raise ValueError(f"{name} must be at least 1, got {value!r}")
    return int(value)


def probabilities(value: ArrayLike, name: str) -> NDArray[np.float64]:
    """Return probabilities as an array of floats; nan is refused."""
    array = np.asarray(value, dtype=np.float64)
    if not np.all((array >= 0) & (array <= 1)):
        raise ValueError(f"{name} must be a probability between 0 and 1, got {value!r}")
    return array


def level(value: float, name: str = "alpha") -> float:
    """Return a level strictly between 0 and 1."""
    if not 0 < value < 1:
        raise ValueError(f"{name} must lie strictly between 0 and 1, got {value!r}")
    return float(value)


def log_threshold(alpha: float) -> float:
    """Return ``log(1 / alpha)``, which the log of an e-value must reach.

    Examples
    --------
    >>> round(log_threshold(1e-10), 6)
    23.025851
    """
    return -math.log(level(alpha))
