"""Checks of arguments shared by the algorithms: one sentence, the name, the value, what is accepted."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from whp.theory.prompt_perturbation.arguments import checked_integer, checked_number, real_array, shortened

__all__ = [
    "checked_bucket_count",
    "checked_distances",
    "checked_epsilon",
    "checked_instance",
    "checked_integer",
    "checked_non_negative",
    "checked_number",
    "checked_positive",
    "checked_rng",
    "checked_tokens",
    "checked_vector",
    "real_array",
]

T = TypeVar("T")


def checked_non_negative(name: str, value: Any) -> float:
    """Return a finite number of at least zero as a float.

    Examples
    --------
    >>> checked_non_negative("logit_power", 0)
    0.0
    """
    number = checked_number(name, value)
    if not (math.isfinite(number) and number >= 0):
        raise ValueError(f"{name} must be finite and >= 0, got {shortened(value)}")
    return number


def checked_epsilon(epsilon: Any) -> float:
    """Return ``epsilon`` as a float, refusing what is not finite and non-negative.

    Examples
    --------
    >>> checked_epsilon(1)
    1.0
    """
    return checked_non_negative("epsilon", epsilon)


def checked_positive(name: str, value: Any) -> float:
    """Return a finite positive number as a float.

    Examples
    --------
    >>> checked_positive("sensitivity", 2)
    2.0
    """
    number = checked_number(name, value)
    if not (math.isfinite(number) and number > 0):
        raise ValueError(f"{name} must be finite and > 0, got {shortened(value)}")
    return number


def checked_bucket_count(n_buckets: Any) -> int:
    """Return the number of buckets as an int, at least one.

    Examples
    --------
    >>> checked_bucket_count(50)
    50
    """
    return checked_integer("n_buckets", n_buckets, 1, 2**53 - 1)


def checked_vector(name: str, values: Any) -> NDArray[np.float64]:
    """Return a non-empty float64 vector of finite numbers.

    Examples
    --------
    >>> checked_vector("utilities", [0, 1])
    array([0., 1.])
    """
    vector = real_array(name, values)
    if vector.ndim != 1 or vector.size == 0:
        raise ValueError(f"{name} must be a non-empty vector, got shape {vector.shape}")
    if not np.isfinite(vector).all():
        where = int(np.argmax(~np.isfinite(vector)))
        raise ValueError(f"{name} must be finite, got {vector[where]} at index {where}")
    return vector


def checked_distances(values: Any) -> NDArray[np.float64]:
    """Return a non-empty float64 vector of finite distances, none of them negative.

    Examples
    --------
    >>> checked_distances([0, 2.5])
    array([0. , 2.5])
    """
    lengths = checked_vector("distances", values)
    if lengths.min() < 0:
        raise ValueError(f"distances must be >= 0, got {lengths.min()}")
    return lengths


def checked_tokens(name: str, tokens: Any) -> Sequence[str]:
    """Return a sequence of token strings; one long string is refused, for it would be taken letter by letter.

    Examples
    --------
    >>> checked_tokens("prompt", ["the", "patient"])
    ['the', 'patient']
    """
    if isinstance(tokens, str):
        raise TypeError(f"{name} must be a sequence of tokens, got the string {shortened(tokens)}; split it first")
    if not isinstance(tokens, Sequence) or not all(isinstance(token, str) for token in tokens):
        raise TypeError(f"{name} must be a sequence of strings, got {shortened(tokens)}")
    return tokens


def checked_rng(rng: Any) -> np.random.Generator:
    """Return the source of randomness, which must be a numpy Generator.

    Examples
    --------
    >>> isinstance(checked_rng(np.random.default_rng(0)), np.random.Generator)
    True
    """
    return checked_instance("rng", rng, np.random.Generator)


def checked_instance(name: str, value: Any, kind: type[T]) -> T:
    """Return an object of a class.

    Examples
    --------
    >>> checked_instance("reach", 2, int)
    2
    """
    if not isinstance(value, kind):
        raise TypeError(f"{name} must be a {kind.__name__}, got {shortened(value)}")
    return value
