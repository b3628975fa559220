"""The numbers inside an instance as a vector, so that an optimiser can move them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

_DENOMINATOR = 10**6  # moved fractions are rounded to this, which keeps exact arithmetic quick


def vector(instance: Any) -> NDArray[np.float64]:
    """Every number of an instance, in order; truth values and text are left alone.

    Examples
    --------
    >>> vector({"a": [1, 2.5], "b": (Fraction(1, 4), "text", True)}).tolist()
    [1.0, 2.5, 0.25]
    """
    return np.array(list(_numbers(instance)), dtype=float)


def rebuild(instance: Any, values: NDArray[np.float64]) -> Any:
    """Put other numbers into the places of an instance's numbers; integers are rounded.

    Raises
    ------
    ValueError, TypeError
        If the instance's own constructor refuses the numbers.

    Examples
    --------
    >>> rebuild((1, [0.5]), np.array([2.4, 7.0]))
    (2, [7.0])
    """
    return _filled(instance, iter(values.tolist()))


def _numbers(value: Any) -> Iterator[float]:
    if isinstance(value, bool | np.bool_ | str | bytes | None):
        return
    if isinstance(value, int | float | Fraction | np.integer | np.floating):
        yield float(value)
    elif isinstance(value, np.ndarray):
        if value.dtype.kind in "iuf" or value.dtype == object:
            for part in value.ravel():
                yield from _numbers(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _numbers(part)
    elif isinstance(value, dict):
        for part in value.values():
            yield from _numbers(part)
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        for field in dataclasses.fields(value):
            if field.init:
                yield from _numbers(getattr(value, field.name))


def _filled(value: Any, values: Iterator[float]) -> Any:
    if isinstance(value, bool | np.bool_ | str | bytes | None):
        return value
    if isinstance(value, int | np.integer):
        return type(value)(round(next(values)))
    if isinstance(value, Fraction):
        return Fraction(next(values)).limit_denominator(_DENOMINATOR)
    if isinstance(value, float | np.floating):
        return type(value)(next(values))
    if isinstance(value, np.ndarray):
        return _filled_array(value, values)
    if isinstance(value, list | tuple):
        return type(value)([_filled(part, values) for part in value])
    if isinstance(value, dict):
        return {key: _filled(part, values) for key, part in value.items()}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = [f.name for f in dataclasses.fields(value) if f.init]
        return dataclasses.replace(value, **{name: _filled(getattr(value, name), values) for name in names})
    return value


def _filled_array(value: NDArray[Any], values: Iterator[float]) -> NDArray[Any]:
    if value.dtype.kind not in "iuf" and value.dtype != object:
        return value
    filled = np.empty(value.size, dtype=value.dtype)
    for i, part in enumerate(value.ravel()):
        filled[i] = _filled(part.item() if isinstance(part, np.generic) else part, values)
    return filled.reshape(value.shape)
