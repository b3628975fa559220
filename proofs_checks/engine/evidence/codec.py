"""Values to JSON and back, over a closed set of types, exactly.

JSON's own ``null``, ``true``, numbers, strings and arrays stand for ``None``, ``bool``, small ``int`` and finite
``float``, ``str`` and ``list``. Everything else is an object whose key ``"!"`` names its type. Types are matched
exactly: a subclass (masked array, named tuple, ordered dict) is refused, since what it adds would be lost.
"""

from __future__ import annotations

import base64
import dataclasses
import enum
import importlib
import json
import math
import re
import sys
from collections.abc import Callable
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

from whp.proofs_checks.engine.evidence.graphs import graph_parts, rebuild_graph
from whp.proofs_checks.engine.evidence.recipes import ContentHash, Recipe

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"

MAX_BYTES = 2**20
"""Largest array, text or bytes object encoded as data."""

_TAG = "!"
_SAFE_INTEGER = 2**53  # beyond it other JSON readers round, and Python limits decimal digits
_NAMESPACES = {"whp.theory", "whp.proofs_checks"}
_DOTTED = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")


class DecodeError(ValueError):
    """The data are not the encoding of any value allowed here."""


def allow_namespace(prefix: str) -> None:
    """Let frozen dataclasses and enums of a package be encoded and decoded.

    Parameters
    ----------
    prefix : str
        Dotted name of the package or module; its submodules are included. ``whp.theory`` and ``whp.proofs_checks`` are
        always allowed.

    Raises
    ------
    ValueError
        If the prefix is not a dotted name.
    """
    if not isinstance(prefix, str) or not _DOTTED.fullmatch(prefix):
        raise ValueError(f"prefix must be a dotted module name, got {prefix!r}.")
    _NAMESPACES.add(prefix)


def encode(value: Any) -> Json:
    """Turn a value into JSON-able data.

    Parameters
    ----------
    value : object
        None, bool, int, float, complex, str, bytes, Fraction, numpy scalar or array, tuple, list, dict, set,
        frozenset, networkx graph, Recipe, ContentHash, and frozen dataclasses or enum members of an allowed namespace;
        nested at will.

    Returns
    -------
    Json
        Equal for equal values of equal types, apart from the memory layout of arrays, which is not kept.

    Raises
    ------
    TypeError
        If a part has another type; the message says where it is.
    ValueError
        If a part is larger than ``MAX_BYTES``, or contains itself.

    Examples
    --------
    >>> encode([1, 0.5, (2, "a")])
    [1, 0.5, {'!': 'tuple', 'items': [2, 'a']}]
    >>> decode(encode(Fraction(1, 3)))
    Fraction(1, 3)
    """
    try:
        return _encode(value, "value")
    except RecursionError:
        raise ValueError("value is nested too deeply, or contains itself, and cannot be encoded.") from None


def decode(data: Json) -> Any:
    """Turn the result of :func:`encode` back into the value.

    Dataclasses are built through their constructor, so a damaged instance is refused as its own class refuses it.

    Raises
    ------
    DecodeError
        If the data are malformed or name a type outside the allowed namespaces.
    """
    try:
        return _decode(data)
    except DecodeError:
        raise
    except RecursionError:
        raise DecodeError("data are nested too deeply to be decoded.") from None
    except (KeyError, IndexError, TypeError, ValueError, AttributeError, ImportError, OverflowError) as error:
        raise DecodeError(f"malformed data: {type(error).__name__}: {error}") from error


def dumps(value: Any) -> str:
    """Encode a value as canonical JSON text: ASCII, keys sorted, no spaces; equal values give equal text."""
    return canonical_text(encode(value))


def loads(text: str | bytes) -> Any:
    """Decode JSON text made by :func:`dumps`.

    Raises
    ------
    DecodeError
        If the text is not JSON, or not an encoding.
    """
    try:
        data = json.loads(text, parse_constant=_refuse_constant)
    except RecursionError:
        raise DecodeError("data are nested too deeply to be decoded.") from None
    except ValueError as error:
        raise DecodeError(f"text is not JSON: {error}") from error
    return decode(data)


def canonical_text(data: Json) -> str:
    """Write JSON-able data as canonical text."""
    return json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


# Encoding: exact type -> encoder(value, path)


def _encode(value: Any, path: str) -> Json:
    encoder = _ENCODERS.get(type(value))
    if encoder is not None:
        return encoder(value, path)
    if isinstance(value, enum.Enum):
        return _encode_enum(value, path)
    if isinstance(value, np.generic):
        return {_TAG: "scalar", "dtype": _dtype_name(value.dtype, path), "value": _encode(value.item(), path)}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return _encode_dataclass(value, path)
    networkx: Any = sys.modules.get("networkx")
    if networkx is not None and isinstance(value, networkx.Graph):
        parts = graph_parts(value, path)
        return {_TAG: "graph", **{key: _encode(part, f"{path}.{key}") for key, part in parts.items()}}
    raise TypeError(
        f"{path} has type {_type_name(type(value))}, which is not data; use plain values, arrays, a frozen dataclass "
        "of an allowed namespace, or a Recipe."
    )


def _encode_plain(value: Json, path: str) -> Json:
    return value


def _encode_int(value: int, path: str) -> Json:
    return value if abs(value) <= _SAFE_INTEGER else {_TAG: "int", "hex": hex(value)}


def _encode_float(value: float, path: str) -> Json:
    return value if math.isfinite(value) else {_TAG: "float", "value": repr(value)}


def _encode_complex(value: complex, path: str) -> Json:
    return {_TAG: "complex", "re": _encode_float(value.real, path), "im": _encode_float(value.imag, path)}


def _encode_str(value: str, path: str) -> Json:
    _refuse_size(len(value), path, "a string")
    if any("\ud800" <= letter <= "\udfff" for letter in value):  # JSON readers join lone surrogates into one letter
        return {_TAG: "str", "code_points": [ord(letter) for letter in value]}
    return value


def _encode_bytes(value: bytes, path: str) -> Json:
    _refuse_size(len(value), path, "a bytes object")
    return {_TAG: "bytes", "base64": base64.b64encode(value).decode("ascii")}


def _encode_fraction(value: Fraction, path: str) -> Json:
    return {_TAG: "fraction", "ratio": [_encode_int(value.numerator, path), _encode_int(value.denominator, path)]}


def _encode_array(value: np.ndarray[Any, Any], path: str) -> Json:
    _refuse_size(value.nbytes, path, f"an array of shape {value.shape}")
    dtype = _dtype_name(value.dtype, path)
    flat = [_encode(item, f"{path}.flat[{index}]") for index, item in enumerate(value.ravel().tolist())]
    return {_TAG: "array", "dtype": dtype, "shape": list(value.shape), "flat": flat}


def _encode_list(value: list[Any], path: str) -> Json:
    return [_encode(part, f"{path}[{index}]") for index, part in enumerate(value)]


def _encode_tuple(value: tuple[Any, ...], path: str) -> Json:
    return {_TAG: "tuple", "items": [_encode(part, f"{path}[{index}]") for index, part in enumerate(value)]}


def _encode_dict(value: dict[Any, Any], path: str) -> Json:
    items: list[Json] = [
        [_encode(key, f"key of {path}"), _encode(part, f"{path}[{key!r}]")] for key, part in value.items()
    ]
    return {_TAG: "dict", "items": items}


def _encode_set(value: set[Any] | frozenset[Any], path: str) -> Json:
    items = [_encode(part, f"member of {path}") for part in value]
    return {_TAG: type(value).__name__, "items": sorted(items, key=canonical_text)}


def _encode_recipe(value: Recipe, path: str) -> Json:
    items: list[Json] = [[key, _encode(part, f"{path}.{key}")] for key, part in value.parameters.items()]
    return {_TAG: "recipe", "name": value.name, "parameters": items, "seed": _encode_int(value.seed, path)}


def _encode_content(value: ContentHash, path: str) -> Json:
    return {_TAG: "content", "loader": value.loader, "sha256": value.sha256}


def _encode_enum(value: enum.Enum, path: str) -> Json:
    where = _address(type(value), path)
    if isinstance(value, enum.Flag):
        return {_TAG: "flag", "type": where, "value": _encode(value.value, path)}
    return {_TAG: "enum", "type": where, "name": value.name}


def _encode_dataclass(value: Any, path: str) -> Json:
    where = _address(type(value), path)
    _require_frozen(type(value))
    fields: dict[str, Json] = {
        field.name: _encode(getattr(value, field.name), f"{path}.{field.name}") for field in dataclasses.fields(value)
    }
    return {_TAG: "dataclass", "type": where, "fields": fields}


_ENCODERS: dict[type, Callable[[Any, str], Json]] = {
    type(None): _encode_plain,
    bool: _encode_plain,
    int: _encode_int,
    float: _encode_float,
    complex: _encode_complex,
    str: _encode_str,
    bytes: _encode_bytes,
    Fraction: _encode_fraction,
    np.ndarray: _encode_array,
    list: _encode_list,
    tuple: _encode_tuple,
    dict: _encode_dict,
    set: _encode_set,
    frozenset: _encode_set,
    Recipe: _encode_recipe,
    ContentHash: _encode_content,
}


# Decoding: tag -> decoder(object)


def _decode(data: Any) -> Any:
    if data is None or type(data) in (bool, int, str):
        return data
    if type(data) is float and math.isfinite(data):
        return data
    if type(data) is list:
        return [_decode(part) for part in data]
    if type(data) is dict and isinstance(data.get(_TAG), str):
        decoder = _DECODERS.get(data[_TAG])
        if decoder is not None:
            return decoder(data)
    raise DecodeError(f"malformed data: {repr(data)[:80]} is not the encoding of any value.")


def _decode_float(data: dict[str, Any]) -> float:
    return {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}[data["value"]]


def _decode_fraction(data: dict[str, Any]) -> Fraction:
    numerator, denominator = (_decode(part) for part in data["ratio"])
    if type(numerator) is not int or type(denominator) is not int or denominator < 1:
        raise DecodeError(f"malformed data: {data['ratio']!r} is not a ratio of integers.")
    return Fraction(numerator, denominator)


def _decode_array(data: dict[str, Any]) -> np.ndarray[Any, Any]:
    dtype, shape = _dtype(data["dtype"]), tuple(data["shape"])
    items = [_decode(part) for part in data["flat"]]
    if math.prod(shape) != len(items):
        raise DecodeError(f"malformed data: shape {shape} does not hold {len(items)} entries.")
    array = np.empty(len(items), dtype=dtype)
    for index, item in enumerate(items):
        array[index] = item
    return array.reshape(shape)


def _decode_enum(data: dict[str, Any]) -> enum.Enum:
    cls = _resolve(data["type"])
    if not issubclass(cls, enum.Enum):
        raise DecodeError(f"{data['type']} is not an enum.")
    return cls[data["name"]]


def _decode_flag(data: dict[str, Any]) -> enum.Flag:
    cls = _resolve(data["type"])
    if not issubclass(cls, enum.Flag):
        raise DecodeError(f"{data['type']} is not a flag enum.")
    return cls(_decode(data["value"]))


def _decode_dataclass(data: dict[str, Any]) -> Any:
    cls = _resolve(data["type"])
    if not dataclasses.is_dataclass(cls):
        raise DecodeError(f"{data['type']} is not a dataclass.")
    _require_frozen(cls)
    fields = dataclasses.fields(cls)
    if {field.name for field in fields} != set(data["fields"]):
        raise DecodeError(f"fields of {data['type']} are {[f.name for f in fields]}, got {sorted(data['fields'])}.")
    values = {name: _decode(part) for name, part in data["fields"].items()}
    built = cls(**{field.name: values[field.name] for field in fields if field.init})
    for name, part in data["fields"].items():  # a constructor that rescales may move the last bit of what it is given
        made = getattr(built, name)
        if canonical_text(_encode(made, name)) != canonical_text(part):
            if isinstance(made, np.ndarray) and isinstance(values[name], np.ndarray):
                values[name].setflags(write=made.flags.writeable)
            object.__setattr__(built, name, values[name])
    return built


def _decode_recipe(data: dict[str, Any]) -> Recipe:
    return Recipe(data["name"], {key: _decode(part) for key, part in data["parameters"]}, _decode(data["seed"]))


def _decode_graph(data: dict[str, Any]) -> Any:
    return rebuild_graph({key: _decode(part) for key, part in data.items() if key != _TAG})


_DECODERS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "int": lambda data: int(data["hex"], 16),
    "float": _decode_float,
    "complex": lambda data: complex(_decode(data["re"]), _decode(data["im"])),
    "str": lambda data: "".join(map(chr, data["code_points"])),
    "bytes": lambda data: base64.b64decode(data["base64"], validate=True),
    "fraction": _decode_fraction,
    "scalar": lambda data: np.array(_decode(data["value"]), dtype=_dtype(data["dtype"]))[()],
    "array": _decode_array,
    "tuple": lambda data: tuple(_decode(part) for part in data["items"]),
    "dict": lambda data: {_decode(key): _decode(part) for key, part in data["items"]},
    "set": lambda data: {_decode(part) for part in data["items"]},
    "frozenset": lambda data: frozenset(_decode(part) for part in data["items"]),
    "recipe": _decode_recipe,
    "content": lambda data: ContentHash(data["loader"], data["sha256"]),
    "enum": _decode_enum,
    "flag": _decode_flag,
    "dataclass": _decode_dataclass,
    "graph": _decode_graph,
}


# Names of types


def _dtype_name(dtype: np.dtype[Any], path: str) -> str:
    """Name a dtype whose values have an exact form on every machine."""
    portable = dtype.kind in "biuSUO" or (dtype.kind in "fc" and dtype.itemsize <= (8 if dtype.kind == "f" else 16))
    if not portable or dtype.names is not None:
        raise TypeError(f"{path} has dtype {dtype}, which is not data; use a plain number, string or object dtype.")
    return dtype.str


def _dtype(name: str) -> np.dtype[Any]:
    if not isinstance(name, str) or not re.fullmatch(r"[<>|]([biufcSU]\d+|O)", name):
        raise DecodeError(f"malformed data: {name!r} is not a dtype.")
    return np.dtype(name)


def _address(cls: type, path: str) -> str:
    """Write a class as ``module:qualname``, if it can be found again there."""
    module, qualname = cls.__module__, cls.__qualname__
    if not _allowed(module):
        raise TypeError(
            f"{path} has type {_type_name(cls)}, outside the allowed namespaces {sorted(_NAMESPACES)}; "
            "call allow_namespace with its package."
        )
    if "<" in qualname:
        raise TypeError(f"{path} has type {_type_name(cls)}, defined inside a function; move it to the module.")
    return f"{module}:{qualname}"


def _resolve(address: str) -> type:
    """Import a class of an allowed namespace; nothing else is ever imported or reached."""
    if not isinstance(address, str) or address.count(":") != 1:
        raise DecodeError(f"malformed data: {address!r} is not 'module:qualname'.")
    module, qualname = address.split(":")
    if not _DOTTED.fullmatch(module) or not _DOTTED.fullmatch(qualname) or not _allowed(module):
        raise DecodeError(f"type {address!r} is outside the allowed namespaces {sorted(_NAMESPACES)}.")
    found: Any = importlib.import_module(module)
    for part in qualname.split("."):
        found = vars(found).get(part)
        if found is None:
            raise DecodeError(f"type {address!r} does not exist.")
    if not isinstance(found, type) or (found.__module__, found.__qualname__) != (module, qualname):
        raise DecodeError(f"{address!r} is not a class defined there.")
    return found


def _allowed(module: str) -> bool:
    return any(module == prefix or module.startswith(f"{prefix}.") for prefix in _NAMESPACES)


def _require_frozen(cls: Any) -> None:
    if not cls.__dataclass_params__.frozen:
        raise TypeError(f"dataclass {_type_name(cls)} must be frozen to be data.")
    declared = set(cls.__dataclass_fields__) - {field.name for field in dataclasses.fields(cls)}
    init_only = [name for name in declared if "InitVar" in str(cls.__dataclass_fields__[name].type)]
    if init_only:
        raise TypeError(f"dataclass {_type_name(cls)} has init-only fields {init_only}, which evidence cannot keep.")


def _refuse_size(size: int, path: str, what: str) -> None:
    if size > MAX_BYTES:
        raise ValueError(
            f"{path} is {what} of {size} bytes, over the {MAX_BYTES} kept as data; use a Recipe or a ContentHash."
        )


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is not JSON")


def _type_name(cls: type) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"
