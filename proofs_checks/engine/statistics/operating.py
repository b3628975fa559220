"""Exact operating characteristics by dynamic programming over counts (signatures; body follows)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whp.proofs_checks.engine.statistics.mean import Side


@dataclass(frozen=True, slots=True)
class OperatingCharacteristic:
    """looks (ints), rejected: cumulative rejection probability at each look; .probability, .expected_stopping_time."""

    looks: NDArray[np.int64]
    rejected: NDArray[np.float64]


def event_characteristic(
    delta: float, alpha: float, n_max: int, p: float, block: int = 1
) -> OperatingCharacteristic:
    """Distribution of the moment of refutation of the event test."""
    raise NotImplementedError


def false_alarm(delta: float, alpha: float, n_max: int, p: float | None = None, block: int = 1) -> float:
    """Exact chance that a true claim (``p <= delta``) is ever refuted up to n_max."""
    raise NotImplementedError


def power(delta: float, alpha: float, n_max: int, p: float, block: int = 1) -> float:
    """Exact chance that a false claim (``p > delta``) is refuted up to n_max."""
    raise NotImplementedError


def mean_characteristic(
    points: Sequence[float], probabilities: Sequence[float], low: float, high: float, mean: float, side: Side,
    alpha: float, n_max: int, block: int = 1,
) -> OperatingCharacteristic:
    """The same for the mean test under a distribution on two or three points."""
    raise NotImplementedError
