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
    "is_log_row",
    "is_number",
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
    if min(row) < 0 or sum(row) != 1:
        raise ValueError(f"expected probabilities that sum to 1, got total {sum(row)} and least {min(row)}")


def is_log_row(output: object, scores: NDArray[np.float64], *_: object) -> None:
    """Refuse what is no row of log probabilities: one for each of ``scores``, their exponentials summing to one."""
    if not isinstance(output, np.ndarray) or output.dtype != np.float64:
        raise TypeError(f"expected a float64 array of log probabilities, got {type(output).__name__}")
    if output.shape != scores.shape:
        raise ValueError(f"expected {scores.size} log probabilities, got shape {output.shape}")
    with np.errstate(over="ignore"):
        total = float(np.exp(output).sum())
    if not abs(total - 1.0) <= NORMALISATION:
        raise ValueError(f"expected log probabilities whose exponentials sum to 1, got total {total}")


def is_number(output: object, *_: object) -> None:
    """Refuse what is no number of nats."""
    if not isinstance(output, numbers.Real) or isinstance(output, bool):
        raise TypeError(f"expected a number of nats, got {type(output).__name__}")


def _is_draw(
    output: object, utilities: NDArray[np.float64], epsilon: object, delta: object, n: object, size: int, *_: object
) -> None:
    if not isinstance(output, np.ndarray) or not np.issubdtype(output.dtype, np.integer) or output.shape != (size,):
        raise TypeError(f"expected an integer array of shape ({size},), got {type(output).__name__}")
    if size and not 0 <= output.min() <= output.max() < utilities.size:
        raise ValueError(f"expected tokens in 0..{utilities.size - 1}, got {output.min()}..{output.max()}")


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
    validate=is_log_row,
)

ACCOUNTANT = Slot(
    "accountant",
    "(epsilon, bucket_sizes)",
    "epsilon: nominal parameter in nats; bucket_sizes: for each input the sizes of its non-empty buckets",
    "guaranteed loss in nats",
    ("epsilon", "bucket_sizes"),
    validate=is_number,
)

SAMPLER = Slot(
    "sampler",
    "(utilities, epsilon, sensitivity, n_buckets, n_draws, rng)",
    "as for mechanism; n_draws: int; rng: numpy Generator, the only source of randomness",
    "independent draws of token indices, integer array (n_draws,)",
    ("utilities", "epsilon", "sensitivity", "n_buckets", "n_draws", "rng"),
    validate=_is_draw,
)


def log_ratios(first: NDArray[np.float64], second: NDArray[np.float64]) -> NDArray[np.float64]:
    """``ln(P[r|t] / P[r|t'])`` for every output; minus infinity where the first input cannot produce it.

    The second may be a matrix of rows, each compared with the first.
    """
    ratios = np.full(second.shape, -np.inf)
    possible = first > -np.inf
    ratios[..., possible] = first[possible] - second[..., possible]
    return ratios


def as_probabilities(row: Sequence[Any]) -> tuple[Fraction, ...]:
    """Fractions of an exact row whose entries may be integers."""
    return tuple(Fraction(entry) for entry in row)
