"""Floats as the numbers they are: exact fractions, or balls that surely contain what is computed from them."""

from __future__ import annotations

import dataclasses
import enum
import functools
import importlib
import math
import sys
from collections.abc import Callable
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

_Leaf: TypeAlias = Callable[[Any, str], Any]


def exactify(value: Any, name: str = "value") -> Any:
    """Replace every float in a value by the Fraction it is.

    Parameters
    ----------
    value : object
        Numbers, arrays, lists, tuples, dicts, sets, dataclasses and networkx graphs, nested at will. Keys of dicts
        stay as they are.
    name : str
        How messages call the value.

    Returns
    -------
    object
        The same structure. Float arrays become object arrays of Fractions; integer and boolean arrays, which are exact
        already, are kept. Dataclasses are rebuilt field by field without their constructor, which might turn the
        fractions back into floats; cached properties are forgotten.

    Raises
    ------
    ValueError
        If a number is infinite or nan; the message says where.
    TypeError
        If a part is complex, or of a type that may hide floats.

    Examples
    --------
    >>> exactify((0.5, [3, -0.25]))
    (Fraction(1, 2), [3, Fraction(-1, 4)])
    >>> sum(exactify([0.1] * 10)) == 1
    False
    """
    return _transform(value, name, _fraction)


def as_ball(value: Any, bits: int, name: str = "value") -> Any:
    """Replace every number in a value by a python-flint ball.

    Parameters
    ----------
    value : object
        As for :func:`exactify`; complex numbers become complex balls, integers and Fractions balls too. Integer and
        boolean arrays are kept, since they serve as indices.
    bits : int
        Precision, at least 2; floats and integers are kept whole whatever it is, Fractions are enclosed.
    name : str
        How messages call the value.

    Returns
    -------
    object
        The same structure, arrays as object arrays. Arithmetic on balls uses ``flint.ctx.prec``, which the caller sets.

    Raises
    ------
    ValueError
        If a number is infinite or nan, or ``bits`` is below 2.
    TypeError
        If a part is of a type that may hide floats.
    """
    if isinstance(bits, bool) or not isinstance(bits, int) or bits < 2:
        raise ValueError(f"bits must be an int of at least 2, got {bits!r}.")
    flint: Any = importlib.import_module("flint")
    with flint.ctx.workprec(bits):
        return _transform(value, name, functools.partial(_ball, flint))


def _fraction(number: Any, path: str) -> Any:
    """Exact form of a scalar."""
    if isinstance(number, complex | np.complexfloating):
        raise TypeError(f"{path} is complex ({number!r}) and has no Fraction; split it into real and imaginary parts.")
    if isinstance(number, float | np.floating):
        _require_finite(number, path)
        return Fraction(*number.as_integer_ratio())
    return int(number) if isinstance(number, np.integer) else number


def _ball(flint: Any, number: Any, path: str) -> Any:
    """Ball around a scalar."""
    if isinstance(number, complex | np.complexfloating):
        return flint.acb(_ball(flint, number.real, path), _ball(flint, number.imag, path))
    exact = _fraction(number, path)
    if isinstance(exact, Fraction):
        power_of_two = exact.denominator & (exact.denominator - 1) == 0
        if power_of_two:
            return flint.arb((exact.numerator, 1 - exact.denominator.bit_length()))
        return flint.arb(flint.fmpq(exact.numerator, exact.denominator))
    return flint.arb(exact)


def _require_finite(number: Any, path: str) -> None:
    if not math.isfinite(number):
        raise ValueError(f"{path} must be finite to be exact, got {number!r}.")


def _transform(value: Any, path: str, leaf: _Leaf) -> Any:
    """Apply ``leaf`` to the numbers of a nested value and rebuild the rest around them."""
    if value is None or isinstance(value, bool | np.bool_ | str | bytes | enum.Enum):
        return value
    if isinstance(value, int | float | complex | Fraction | np.number):
        return leaf(value, path)
    if isinstance(value, np.ndarray):
        return _transform_array(value, path, leaf)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*_transform_each(value, path, leaf))
    if isinstance(value, list | tuple):
        return type(value)(_transform_each(value, path, leaf))
    if isinstance(value, set | frozenset):
        return type(value)(_transform(part, f"member of {path}", leaf) for part in value)
    if isinstance(value, dict):
        return {key: _transform(part, f"{path}[{key!r}]", leaf) for key, part in value.items()}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return _transform_dataclass(value, path, leaf)
    networkx: Any = sys.modules.get("networkx")
    if networkx is not None and isinstance(value, networkx.Graph):
        return _transform_graph(value, path, leaf)
    raise TypeError(f"{path} has type {type(value).__name__}, which may hide floats and has no exact form.")


def _transform_each(parts: list[Any] | tuple[Any, ...], path: str, leaf: _Leaf) -> list[Any]:
    return [_transform(part, f"{path}[{index}]", leaf) for index, part in enumerate(parts)]


def _transform_array(array: np.ndarray[Any, Any], path: str, leaf: _Leaf) -> np.ndarray[Any, Any]:
    if isinstance(array, np.ma.MaskedArray):
        raise TypeError(f"{path} is a masked array, which has no exact form; fill it first.")
    if array.dtype.kind in "biuSU":
        return array
    if array.dtype.kind not in "fcO":
        raise TypeError(f"{path} has dtype {array.dtype}, which has no exact form.")
    exact = np.empty(array.shape, dtype=object)
    for index in np.ndindex(array.shape):
        exact[index] = _transform(array[index], f"{path}{list(index)}", leaf)
    return exact


def _transform_dataclass(value: Any, path: str, leaf: _Leaf) -> Any:
    rebuilt = object.__new__(type(value))
    names = {field.name for field in dataclasses.fields(value)}
    for name in getattr(value, "__dict__", {}).keys() - names:
        if not isinstance(getattr(type(value), name, None), functools.cached_property):
            object.__setattr__(rebuilt, name, _transform(vars(value)[name], f"{path}.{name}", leaf))
    for field in dataclasses.fields(value):
        part = _transform(getattr(value, field.name), f"{path}.{field.name}", leaf)
        object.__setattr__(rebuilt, field.name, part)
    return rebuilt


def _transform_graph(graph: Any, path: str, leaf: _Leaf) -> Any:
    exact = graph.copy()
    tables = [("graph", exact.graph), *((f"nodes[{node!r}]", table) for node, table in exact.nodes(data=True))]
    tables += [(f"edges[{edge[:-1]!r}]", edge[-1]) for edge in exact.edges(data=True)]
    for where, table in tables:
        table.update(_transform(dict(table), f"{path}.{where}", leaf))
    return exact
