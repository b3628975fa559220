"""Reading what callers pass: whole numbers, real arrays, generators; refused by name, never cut or cast silently."""

from __future__ import annotations

import operator

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["real_array", "require_generator", "whole_number"]


def whole_number(value: object, name: str, at_least: int | None = None) -> int:
    """Read an integer of Python or numpy; 2.0, ``"2"`` and True are none.

    Parameters
    ----------
    value : object
        What the caller gave.
    name : str
        The argument, for the message.
    at_least : int, optional
        Smallest value accepted.

    Raises
    ------
    TypeError
        If it is no integer.
    ValueError
        If it is too small.

    Examples
    --------
    >>> whole_number(np.int64(3), "n")
    3
    >>> whole_number(2.5, "n")
    Traceback (most recent call last):
    ...
    TypeError: n must be an integer, got 2.5
    """
    if isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} must be an integer, got {value!r}")
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(f"{name} must be an integer, got {value!r}") from None
    if at_least is not None and number < at_least:
        raise ValueError(f"{name} must be at least {at_least}, got {number}")
    return number


def real_array(values: ArrayLike) -> NDArray[np.float64]:
    """Copy of real numbers as float64; complex numbers and texts are refused instead of cast.

    Raises
    ------
    TypeError
        If an entry is no real number.
    ValueError
        If the rows have different lengths.

    Examples
    --------
    >>> real_array([1, True])
    array([1., 1.])
    >>> real_array(["1"])
    Traceback (most recent call last):
    ...
    TypeError: real numbers are needed, got an array of <U1
    """
    array = np.array(values)
    if array.dtype.kind not in "biufO":
        raise TypeError(f"real numbers are needed, got an array of {array.dtype}")
    return array.astype(np.float64)


def require_generator(rng: object) -> None:
    """Refuse anything but a `numpy.random.Generator`.

    Examples
    --------
    >>> require_generator(7)
    Traceback (most recent call last):
    ...
    TypeError: rng must be a numpy.random.Generator, got int
    """
    if not isinstance(rng, np.random.Generator):
        raise TypeError(f"rng must be a numpy.random.Generator, got {type(rng).__name__}")
