"""Checks of arguments: one sentence, the name, the value, what is accepted."""

from __future__ import annotations

import math
from numbers import Integral, Rational, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["checked_integer", "checked_number", "checked_rational", "real_array", "shortened"]


def checked_number(name: str, value: Any) -> float:
    """Return a real number as a float, infinite where it is too large for one; text and booleans are refused.

    Examples
    --------
    >>> checked_number("target", 10**400)
    inf
    """
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a number, got {value!r}")
    try:
        return float(value)
    except OverflowError:
        return math.copysign(math.inf, 1 if value == abs(value) else -1)


def checked_integer(name: str, value: Any, least: int, most: int | None = None) -> int:
    """Return an integer between two limits, the ends included; booleans and floats are refused.

    Examples
    --------
    >>> checked_integer("k", np.int64(3), 1, 5)
    3
    """
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Integral):
        raise TypeError(f"{name} must be an integer, got {value!r}")
    number = int(value)
    if number < least or (most is not None and number > most):
        limits = f"at least {least}" if most is None else f"between {least} and {most}"
        raise ValueError(f"{name} must be {limits}, got {number}")
    return number


def checked_rational(name: str, value: Any) -> Rational:
    """Return an integer or fraction; floats are refused, for they would end exactness unseen.

    Examples
    --------
    >>> checked_rational("base", 2)
    2
    """
    if isinstance(value, bool) or not isinstance(value, Rational):
        raise TypeError(f"{name} must be a fraction, got {value!r}")
    return value


def real_array(name: str, values: Any) -> NDArray[np.float64]:
    """Return an array of real numbers as float64; text, complex numbers and ragged lists are refused.

    Examples
    --------
    >>> real_array("prior", [0, 1])
    array([0., 1.])
    """
    try:
        raw = np.asarray(values)
        if raw.dtype.kind not in "biufO":
            raise TypeError
        return np.asarray(raw, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise TypeError(f"{name} must be an array of real numbers, got {shortened(values)}") from None


def shortened(value: Any) -> str:
    """Text of a value, cut to what fits a message.

    Examples
    --------
    >>> len(shortened(list(range(100))))
    60
    """
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
