"""What a subject did to its arguments: found out and undone, so that neither check nor other instances are spoilt."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from fractions import Fraction
from operator import is_
from typing import Any

import numpy as np

_LARGE = 2**20  # bytes from which an array is made read-only for the time being instead of being copied
_DEPTH = 6
_SCALARS = frozenset({int, float, bool, str, bytes, complex, Fraction, type(None), np.float64, np.int64})


class Snapshot:
    """The contents of every array, list, dict, set and graph in a value.

    Parameters
    ----------
    value : object
        Looked through lists, tuples, dicts, sets, fields of dataclasses and networkx graphs.

    Examples
    --------
    >>> numbers = [3, 1, 2]
    >>> before = Snapshot(numbers)
    >>> numbers.sort()
    >>> before.restore(), numbers
    (True, [3, 1, 2])
    """

    def __init__(self, value: Any) -> None:
        self._undo: list[Callable[[], bool]] = []
        self._look(value, _DEPTH)

    def restore(self) -> bool:
        """Put everything back as it was; says whether anything had changed."""
        return any([undo() for undo in self._undo])

    def _look(self, value: Any, depth: int) -> None:
        if depth == 0 or type(value) in _SCALARS:
            return
        if isinstance(value, np.ndarray):
            self._look_at_array(value)
        elif isinstance(value, list | tuple):
            if isinstance(value, list):
                self._undo.append(_undo_list(value))
            self._look_at_each(value, depth)
        elif isinstance(value, dict):
            self._undo.append(_undo_dict(value))
            self._look_at_each(value.values(), depth)
        elif isinstance(value, set):
            self._undo.append(_undo_set(value))
        elif dataclasses.is_dataclass(value) and not isinstance(value, type):
            self._look_at_each([getattr(value, f.name, None) for f in dataclasses.fields(value)], depth)
        elif type(value).__module__.startswith("networkx.classes"):
            self._look_at_each([getattr(value, name, None) for name in ("graph", "_node", "_adj", "_pred")], depth)

    def _look_at_each(self, parts: Any, depth: int) -> None:
        for part in parts:
            self._look(part, depth - 1)

    def _look_at_array(self, array: np.ndarray[Any, Any]) -> None:
        if array.nbytes <= _LARGE:  # read-only ones too: their owner can unlock them
            self._undo.append(_undo_array(array))
            return
        if not array.flags.writeable:
            return
        array.flags.writeable = False

        def unlock() -> bool:
            array.flags.writeable = True
            return False

        self._undo.append(unlock)


def _undo_list(value: list[Any]) -> Callable[[], bool]:
    saved = list(value)

    def undo() -> bool:
        if len(value) == len(saved) and all(map(is_, value, saved)):
            return False
        value[:] = saved
        return True

    return undo


def _undo_dict(value: dict[Any, Any]) -> Callable[[], bool]:
    saved = dict(value)

    def undo() -> bool:
        if len(value) == len(saved) and all(map(is_, value, saved)) and all(map(is_, value.values(), saved.values())):
            return False
        value.clear()
        value.update(saved)
        return True

    return undo


def _undo_set(value: set[Any]) -> Callable[[], bool]:
    saved = set(value)

    def undo() -> bool:
        if value == saved:
            return False
        value.clear()
        value.update(saved)
        return True

    return undo


def _undo_array(array: np.ndarray[Any, Any]) -> Callable[[], bool]:
    saved, shape, locked = array.copy(), array.shape, not array.flags.writeable

    def same() -> bool:
        if array.dtype == object:
            return all(map(is_, array.flat, saved.flat))
        return array.tobytes() == saved.tobytes()

    def undo() -> bool:
        if array.shape == shape and same():
            return False
        array.flags.writeable = True
        if array.shape != shape:
            array.shape = shape
        array[...] = saved
        array.flags.writeable = not locked
        return True

    return undo
