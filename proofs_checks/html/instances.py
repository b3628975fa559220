"""Instances as people read them: fields by name, fractions as fractions, arrays with their shape."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from whp.proofs_checks.engine.evidence import Encoded, Recipe

_FRACTION = re.compile(r"Fraction\((-?\d+), (\d+)\)")
_LONGEST = 1200
_WIDTH = 64


@dataclass(frozen=True)
class Shown:
    """An instance in words: what it is, and its fields.

    Attributes
    ----------
    kind : str
        Name of its type.
    fields : tuple of (str, str)
        Name and value, the name empty for a plain value.
    """

    kind: str
    fields: tuple[tuple[str, str], ...]

    @property
    def text(self) -> str:
        """Everything in plain text."""
        return "\n".join(f"{name} = {value}" if name else value for name, value in self.fields)


def show(value: Any) -> Shown:
    """Lay out an instance.

    Examples
    --------
    >>> show({"n": 3}).fields
    (('n', '3'),)
    """
    if isinstance(value, Recipe):
        fields = (
            ("recipe", value.name),
            *((k, _text(v)) for k, v in value.parameters.items()),
            ("seed", str(value.seed)),
        )
        return Shown("built from a recipe", fields)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return Shown(
            type(value).__name__, tuple((f.name, _text(getattr(value, f.name))) for f in dataclasses.fields(value))
        )
    if isinstance(value, Mapping) and value and all(isinstance(k, str) for k in value):
        return Shown("", tuple((k, _text(v)) for k, v in value.items()))
    return Shown(type(value).__name__ if isinstance(value, np.ndarray) else "", (("", _text(value)),))


def show_encoded(encoded: Encoded) -> Shown:
    """Lay out a recorded instance; one that cannot be rebuilt here is shown as it was recorded."""
    try:
        return show(encoded.decode())
    except ValueError as error:
        return Shown(f"as recorded ({error})", (("", _cut(encoded.text)),))


def _text(value: Any) -> str:
    if isinstance(value, np.ndarray):
        shape = "×".join(map(str, value.shape)) or "scalar"
        # few enough entries are shown whole; numpy abridges the rest
        body = np.array2string(value, threshold=120, max_line_width=_WIDTH, separator=", ")
        return _cut(_FRACTION.sub(_fraction, f"{body}  ({shape}, {value.dtype})"))
    if isinstance(value, str):
        return _cut(value)
    from rich.pretty import pretty_repr

    return _cut(_FRACTION.sub(_fraction, pretty_repr(value, max_width=_WIDTH, max_string=_LONGEST, max_length=60)))


def _fraction(found: re.Match[str]) -> str:
    top, bottom = found.groups()
    return top if bottom == "1" else f"{top}/{bottom}"


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} … ({len(text)} characters)"
