"""cattrs rules that turn evidence records into JSON-able data and back."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, TypeVar

import cattrs

from whp.proofs_checks.engine.evidence.codec import canonical_text, decode, encode
from whp.proofs_checks.engine.evidence.record import Encoded

_Record = TypeVar("_Record")


@functools.cache
def converter() -> cattrs.Converter:
    """Return the converter of evidence records; instances stay readable JSON inside them."""
    rules = cattrs.Converter(forbid_extra_keys=True)
    rules.register_unstructure_hook(Encoded, lambda value: json.loads(value.text))
    rules.register_structure_hook(Encoded, lambda data, _: Encoded(canonical_text(data)))
    for number in (int, float, Fraction, float | Fraction):
        rules.register_unstructure_hook(number, encode)
    rules.register_structure_hook(float | Fraction, lambda data, _: _number(data))
    rules.register_structure_hook(int, lambda data, _: _integer(data))
    rules.register_structure_hook(str, lambda data, _: _string(data))
    return rules


def structure(data: Mapping[str, Any], record: type[_Record]) -> _Record:
    """Read a record.

    Raises
    ------
    ValueError
        In one sentence, if the data are not such a record.
    """
    try:
        return converter().structure(data, record)
    except cattrs.BaseValidationError as error:
        raise ValueError(f"not a record of {record.__name__}: {'; '.join(cattrs.transform_error(error))}.") from error


def _number(data: Any) -> float | Fraction:
    value = decode(data)
    if isinstance(value, bool) or not isinstance(value, int | float | Fraction):
        raise ValueError(f"expected a number, got {data!r}")
    return Fraction(value) if isinstance(value, int) else value


def _integer(data: Any) -> int:
    value = decode(data)
    if type(value) is not int:
        raise ValueError(f"expected an integer, got {data!r}")
    return value


def _string(data: Any) -> str:
    if not isinstance(data, str):
        raise ValueError(f"expected a string, got {data!r}")
    return data
