"""The places of these checks that an implementation can take, and how its output is read."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from whp.theory.core import Slot

__all__ = [
    "ACCOUNTANT",
    "EXACT_MECHANISM",
    "MECHANISM",
    "SAMPLER",
    "ExactMechanism",
    "Mechanism",
    "Sampler",
    "Sizes",
    "is_distribution",
    "log_ratios",
]

ExactMechanism: TypeAlias = Callable[[tuple[int, ...], int, Fraction], Sequence[Fraction]]
Mechanism: TypeAlias = Callable[[NDArray[np.float64], float, float, int], NDArray[np.float64]]
Sizes: TypeAlias = Sequence[Sequence[int]]
Sampler: TypeAlias = Callable[[NDArray[np.float64], float, float, int, int, np.random.Generator], NDArray[np.int64]]

NORMALISATION = 1e-9  # error that a row of log probabilities may have in its total


def _is_exact_row(output: object, levels: Sequence[int], *_: object) -> None:
    row = output if isinstance(output, Sequence) else None
    if row is None or not all(isinstance(entry, (int, Fraction)) for entry in row):
        raise TypeError(f"expected a sequence of fractions, got {type(output).__name__}")
    if len(row) != len(levels):
        raise ValueError(f"expected {len(levels)} probabilities, got {len(row)}")


def _is_log_row(output: object, utilities: NDArray[np.float64], *_: object) -> None:
    if not isinstance(output, np.ndarray) or output.dtype != np.float64:
        raise TypeError(f"expected a float64 array of log probabilities, got {type(output).__name__}")
    if output.shape != utilities.shape:
        raise ValueError(f"expected {utilities.size} log probabilities, got shape {output.shape}")


def _is_number(output: object, *_: object) -> None:
    if not isinstance(output, numbers.Real):
        raise TypeError(f"expected a number of nats, got {type(output).__name__}")


def _is_draw(
    output: object, utilities: object, epsilon: object, delta: object, n: object, size: int, *_: object
) -> None:
    if not isinstance(output, np.ndarray) or not np.issubdtype(output.dtype, np.integer) or output.shape != (size,):
        raise TypeError(f"expected an integer array of shape ({size},), got {type(output).__name__}")


EXACT_MECHANISM = Slot(
    "exact_mechanism",
    "(levels, n_levels, base)",
    "levels: tuple of int, utility of each token in steps of 1/(n_levels - 1); n_levels: int, also the number of "
    "buckets; base: Fraction, exp(eps / (2 (n_levels - 1)))",
    "probabilities of the tokens as fractions, in the order of levels",
    ("levels", "n_levels", "base"),
    validate=_is_exact_row,
)

MECHANISM = Slot(
    "mechanism",
    "(utilities, epsilon, sensitivity, n_buckets)",
    "utilities: array (N,); epsilon: nominal parameter in nats; sensitivity: Delta; n_buckets: int, ignored by "
    "mechanisms without buckets",
    "log probabilities of the tokens, float64 array (N,), -inf where impossible",
    ("utilities", "epsilon", "sensitivity", "n_buckets"),
    validate=_is_log_row,
)

ACCOUNTANT = Slot(
    "accountant",
    "(epsilon, bucket_sizes)",
    "epsilon: nominal parameter in nats; bucket_sizes: for each input the sizes of its non-empty buckets",
    "guaranteed loss in nats",
    ("epsilon", "bucket_sizes"),
    validate=_is_number,
)

SAMPLER = Slot(
    "sampler",
    "(utilities, epsilon, sensitivity, n_buckets, n_draws, rng)",
    "as for mechanism; n_draws: int; rng: numpy Generator, the only source of randomness",
    "independent draws of token indices, integer array (n_draws,)",
    ("utilities", "epsilon", "sensitivity", "n_buckets", "n_draws", "rng"),
    validate=_is_draw,
)


def is_distribution(log_row: NDArray[np.float64]) -> bool:
    """Whether log probabilities are numbers below zero that sum to one."""
    if np.isnan(log_row).any() or (log_row > NORMALISATION).any():
        return False
    return bool(abs(np.exp(log_row).sum() - 1.0) <= NORMALISATION)


def log_ratios(first: NDArray[np.float64], second: NDArray[np.float64]) -> NDArray[np.float64]:
    """``ln(P[r|t] / P[r|t'])`` for every output; minus infinity where the first input cannot produce it."""
    ratios = np.full(first.shape, -np.inf)
    possible = first > -np.inf
    ratios[possible] = first[possible] - second[possible]
    return ratios


def as_probabilities(row: Sequence[Any]) -> tuple[Fraction, ...]:
    """Fractions of an exact row whose entries may be integers."""
    return tuple(Fraction(entry) for entry in row)
