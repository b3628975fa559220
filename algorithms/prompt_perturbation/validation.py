"""Checks of arguments shared by the mechanisms: one sentence, the name, the value, what is accepted."""

from __future__ import annotations

import math
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["checked_bucket_count", "checked_epsilon", "checked_positive", "checked_vector"]


def checked_epsilon(epsilon: Any) -> float:
    """Return ``epsilon`` as a float, refusing what is not finite and non-negative.

    Examples
    --------
    >>> checked_epsilon(1)
    1.0
    """
    value = _as_float("epsilon", epsilon)
    if not (math.isfinite(value) and value >= 0):
        raise ValueError(f"epsilon must be finite and >= 0, got {epsilon!r}")
    return value


def checked_positive(name: str, value: Any) -> float:
    """Return a finite positive number as a float.

    Examples
    --------
    >>> checked_positive("sensitivity", 2)
    2.0
    """
    number = _as_float(name, value)
    if not (math.isfinite(number) and number > 0):
        raise ValueError(f"{name} must be finite and > 0, got {value!r}")
    return number


def checked_bucket_count(n_buckets: Any) -> int:
    """Return the number of buckets as an int, at least one.

    Examples
    --------
    >>> checked_bucket_count(50)
    50
    """
    if isinstance(n_buckets, bool) or not isinstance(n_buckets, Integral):
        raise TypeError(f"n_buckets must be an integer, got {n_buckets!r}")
    count = int(n_buckets)
    if not 1 <= count < 2**53:
        raise ValueError(f"n_buckets must be at least 1 (and below 2**53), got {count}")
    return count


def checked_vector(name: str, values: ArrayLike) -> NDArray[np.float64]:
    """Return a non-empty float64 vector of finite numbers.

    Examples
    --------
    >>> checked_vector("utilities", [0, 1])
    array([0., 1.])
    """
    vector = np.asarray(values, dtype=np.float64)
    if vector.ndim != 1 or vector.size == 0:
        raise ValueError(f"{name} must be a non-empty vector, got shape {vector.shape}")
    if not np.isfinite(vector).all():
        where = int(np.argmax(~np.isfinite(vector)))
        raise ValueError(f"{name} must be finite, got {vector[where]} at index {where}")
    return vector


def _as_float(name: str, value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name} must be a number, got {value!r}") from error
