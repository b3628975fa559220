"""What the public functions of this paper demand of their arguments: types, whole numbers, numbers in a range."""

from __future__ import annotations

from math import inf, isfinite
from typing import Any

import numpy as np

__all__ = ["real_number", "require", "whole_number"]


def require(name: str, value: object, kind: type[Any]) -> None:
    """Refuse an argument that is not an instance of `kind`.

    Parameters
    ----------
    name : str
        Name of the argument, for the message.
    value : object
        What the caller passed.
    kind : type
        What is wanted.

    Raises
    ------
    TypeError
        If it is something else.

    Examples
    --------
    >>> require("rng", 3, np.random.Generator)
    Traceback (most recent call last):
    TypeError: rng must be a Generator, got int
    """
    if not isinstance(value, kind):
        raise TypeError(f"{name} must be a {kind.__name__}, got {type(value).__name__}")


def whole_number(name: str, value: Any, at_least: int, at_most: int | None = None) -> int:
    """Return a whole number inside its range.

    Parameters
    ----------
    name : str
        Name of the argument, for the message.
    value : int
        What the caller passed; a float, a truth value or a text is no whole number.
    at_least, at_most : int
        Closed ends of the range.

    Returns
    -------
    int

    Raises
    ------
    TypeError
        If it is not an integer.
    ValueError
        If it is outside the range.

    Examples
    --------
    >>> whole_number("rounds", 3, 1)
    3
    """
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise TypeError(f"{name} must be an integer, got {value!r}")
    if value < at_least or (at_most is not None and value > at_most):
        wanted = f"at least {at_least}" if at_most is None else f"between {at_least} and {at_most}"
        raise ValueError(f"{name} must be {wanted}, got {value}")
    return int(value)


def real_number(name: str, value: Any, at_least: float = -inf, above: float = -inf, at_most: float = inf) -> float:
    """Return a finite number inside its range.

    Parameters
    ----------
    name : str
        Name of the argument, for the message.
    value : float
        What the caller passed; a truth value, a text or an array is no number.
    at_least, above, at_most : float
        Closed lower, open lower and closed upper end of the range.

    Returns
    -------
    float

    Raises
    ------
    TypeError
        If it is not a real number.
    ValueError
        If it is not finite or outside the range.

    Examples
    --------
    >>> real_number("ridge", 0.5, at_least=0)
    0.5
    """
    if isinstance(value, (bool, str, bytes)) or np.ndim(value) != 0:
        raise TypeError(f"{name} must be a number, got {value!r}")
    try:
        number = float(value)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name} must be a number, got {value!r}") from error
    if not isfinite(number) or number < at_least or number <= above or number > at_most:
        ends = [f"at least {at_least:g}"] if at_least > -inf else []
        ends += [f"above {above:g}"] if above > -inf else []
        ends += [f"at most {at_most:g}"] if at_most < inf else []
        raise ValueError(f"{name} must be {' and '.join(['finite', *ends])}, got {value!r}")
    return number
