"""Values that are not data: rebuilt from a recipe, or fetched by the hash of their content."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

_Builder = TypeVar("_Builder", bound=Callable[..., Any])
_Fetcher = TypeVar("_Fetcher", bound=Callable[[str], bytes])
_BUILDERS: dict[str, Callable[..., Any]] = {}
_CONTENTS: dict[str, tuple[Callable[[str], bytes], Callable[[bytes], Any]]] = {}
_NAME = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")


@dataclass(frozen=True)
class Recipe:
    """How to build an instance that is too big, or not data at all: sampler, program, table, network.

    Parameters
    ----------
    name : str
        Name given to :func:`recipe`; ``slug.name`` lets :func:`materialise` import ``whp.proofs_checks.slug`` by
        itself.
    parameters : Mapping[str, object]
        Keyword arguments of the builder; must be encodable.
    seed : int
        Nonnegative seed of the generator handed to the builder.

    Examples
    --------
    >>> @recipe("doctest.walk")
    ... def walk(rng, steps):
    ...     return rng.integers(0, 2, steps).cumsum()
    >>> materialise(Recipe("doctest.walk", {"steps": 4}, seed=1)).shape
    (4,)
    """

    name: str
    parameters: Mapping[str, Any]
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse malformed names and seeds; sort the parameters."""
        if not isinstance(self.name, str) or not _NAME.fullmatch(self.name):
            raise ValueError(f"name of a Recipe must be dotted identifiers such as 'slug.table', got {self.name!r}.")
        if isinstance(self.seed, bool) or not isinstance(self.seed, int) or self.seed < 0:
            raise ValueError(f"seed of Recipe {self.name!r} must be a nonnegative int, got {self.seed!r}.")
        if not all(isinstance(key, str) for key in self.parameters):
            raise TypeError(f"parameters of Recipe {self.name!r} must have string keys, got {list(self.parameters)!r}.")
        object.__setattr__(self, "parameters", dict(sorted(self.parameters.items())))

    def build(self) -> Any:
        """Build the instance afresh."""
        builder = _look_up(_BUILDERS, self.name, "recipe")
        return builder(np.random.default_rng(np.random.SeedSequence(self.seed)), **self.parameters)


@dataclass(frozen=True)
class ContentHash:
    """A value kept outside the evidence and known by the SHA-256 of its bytes.

    Parameters
    ----------
    loader : str
        Name given to :func:`content`.
    sha256 : str
        64 lower-case hexadecimal digits.
    """

    loader: str
    sha256: str

    def __post_init__(self) -> None:
        """Refuse malformed names and hashes."""
        if not isinstance(self.loader, str) or not _NAME.fullmatch(self.loader):
            raise ValueError(f"loader of a ContentHash must be dotted identifiers, got {self.loader!r}.")
        if not isinstance(self.sha256, str) or not re.fullmatch(r"[0-9a-f]{64}", self.sha256):
            raise ValueError(f"sha256 must be 64 lower-case hexadecimal digits, got {self.sha256!r}.")

    @classmethod
    def of(cls, loader: str, data: bytes) -> ContentHash:
        """Return the hash that stands for ``data``."""
        return cls(loader, hashlib.sha256(data).hexdigest())

    def load(self) -> Any:
        """Fetch the bytes, compare their hash, and parse them.

        Raises
        ------
        ValueError
            If the bytes fetched do not have the recorded hash.
        """
        fetch, parse = _look_up(_CONTENTS, self.loader, "content loader")
        data = fetch(self.sha256)
        found = hashlib.sha256(data).hexdigest()
        if found != self.sha256:
            raise ValueError(f"loader {self.loader!r} fetched bytes with sha256 {found}, expected {self.sha256}.")
        return parse(data)


def recipe(name: str) -> Callable[[_Builder], _Builder]:
    """Register ``build(rng, **parameters)`` under a name that :class:`Recipe` values can carry.

    Raises
    ------
    ValueError
        If another function already holds the name.
    """

    def register(builder: _Builder) -> _Builder:
        Recipe(name, {})  # refuses a malformed name
        _refuse_another_holder(_BUILDERS.get(name), builder, name)
        _BUILDERS[name] = builder
        return builder

    return register


def content(name: str, parse: Callable[[bytes], Any]) -> Callable[[_Fetcher], _Fetcher]:
    """Register ``fetch(sha256) -> bytes`` and the parser of those bytes under a loader's name.

    Raises
    ------
    ValueError
        If another function already holds the name.
    """

    def register(fetch: _Fetcher) -> _Fetcher:
        ContentHash(name, "0" * 64)  # refuses a malformed name
        holder = _CONTENTS.get(name)
        _refuse_another_holder(holder[0] if holder else None, fetch, name)
        _CONTENTS[name] = (fetch, parse)
        return fetch

    return register


def materialise(value: Any) -> Any:
    """Build every :class:`Recipe` and load every :class:`ContentHash` in a value or in its lists, tuples and dicts.

    Anything else is returned as it is.
    """
    if isinstance(value, Recipe):
        return materialise(value.build())
    if isinstance(value, ContentHash):
        return value.load()
    if type(value) in (list, tuple):
        parts = [materialise(part) for part in value]
        unchanged = all(new is old for new, old in zip(parts, value, strict=True))
        return value if unchanged else type(value)(parts)
    if type(value) is dict:
        return {key: materialise(part) for key, part in value.items()}
    return value


def _look_up(registry: Mapping[str, Any], name: str, what: str) -> Any:
    """Find a registered function; the checks of the name's first part are imported when that may register it."""
    module = f"whp.proofs_checks.{name.split('.')[0]}"
    if name not in registry and "." in name and importlib.util.find_spec(module) is not None:
        importlib.import_module(module)
    if name not in registry:
        raise ValueError(f"no {what} is registered as {name!r}; import the module that registers it.")
    return registry[name]


def _refuse_another_holder(holder: Callable[..., Any] | None, new: Callable[..., Any], name: str) -> None:
    """Allow a reload of the same function, refuse a second function."""

    def place(function: Callable[..., Any]) -> tuple[str, str]:
        return function.__module__, function.__qualname__

    if holder is not None and place(holder) != place(new):
        raise ValueError(f"the name {name!r} is already registered by {':'.join(place(holder))}.")
