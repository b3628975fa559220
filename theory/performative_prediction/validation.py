"""Well-formedness of the arrays and numbers that the instances of this paper hold."""

import math
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["Stored", "finite_array", "finite_number", "positive_integer"]

Stored: TypeAlias = Any
"""A field that takes anything array-like and holds a read-only float64 array."""


def finite_array(
    name: str, value: ArrayLike, ndim: int, shape: tuple[int | None, ...] | None = None
) -> NDArray[np.float64]:
    """Return ``value`` as a read-only float64 array of ``ndim`` axes.

    Parameters
    ----------
    name : str
        Name of the argument, for the message.
    value : array_like
        What the caller passed.
    ndim : int
        Number of axes wanted.
    shape : tuple of (int or None), optional
        Wanted length of each axis; ``None`` accepts any positive length.

    Returns
    -------
    numpy.ndarray
        A private, read-only copy.

    Raises
    ------
    TypeError
        If ``value`` is not numeric.
    ValueError
        If it has the wrong shape, is empty, or holds nan or infinity.

    Examples
    --------
    >>> finite_array("x", [1, 2], 1)
    array([1., 2.])
    """
    try:
        array = np.array(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name} must be an array of real numbers, got {type(value).__name__}") from error
    wanted = shape if shape is not None else (None,) * ndim
    if array.ndim != ndim or any(w is not None and w != have for w, have in zip(wanted, array.shape, strict=True)):
        text = "(" + ", ".join("any" if w is None else str(w) for w in wanted) + ")"
        raise ValueError(f"{name} must have shape {text}, got {array.shape}")
    if array.size == 0:
        raise ValueError(f"{name} must not be empty, got shape {array.shape}")
    if not np.all(np.isfinite(array)):
        raise ValueError(f"{name} must be finite, got {array[~np.isfinite(array)][0]} among its entries")
    array.flags.writeable = False
    return array


def finite_number(
    name: str, value: float, at_least: float = -math.inf, above: float = -math.inf, at_most: float = math.inf
) -> float:
    """Return ``value`` as a float inside the stated range.

    Parameters
    ----------
    name : str
        Name of the argument, for the message.
    value : float
        What the caller passed.
    at_least, above, at_most : float
        Closed lower, open lower and closed upper end of the range.

    Returns
    -------
    float

    Raises
    ------
    TypeError
        If ``value`` is not a real number.
    ValueError
        If it is not finite or outside the range.

    Examples
    --------
    >>> finite_number("alpha", 0.5, at_least=0.0, at_most=1.0)
    0.5
    """
    try:
        number = float(value)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name} must be a real number, got {type(value).__name__}") from error
    if not math.isfinite(number) or number < at_least or number <= above or number > at_most:
        ends = []
        if at_least > -math.inf:
            ends.append(f"at least {at_least:g}")
        if above > -math.inf:
            ends.append(f"above {above:g}")
        if at_most < math.inf:
            ends.append(f"at most {at_most:g}")
        wanted = "finite" + (" and " + " and ".join(ends) if ends else "")
        raise ValueError(f"{name} must be {wanted}, got {number}")
    return number


def positive_integer(name: str, value: int) -> int:
    """Return ``value`` as an integer of at least one.

    Parameters
    ----------
    name : str
        Name of the argument, for the message.
    value : int
        What the caller passed.

    Returns
    -------
    int

    Raises
    ------
    TypeError
        If ``value`` is not an integer.
    ValueError
        If it is below one.

    Examples
    --------
    >>> positive_integer("batch", 3)
    3
    """
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise TypeError(f"{name} must be an integer, got {type(value).__name__}")
    if value < 1:
        raise ValueError(f"{name} must be at least 1, got {value}")
    return int(value)
