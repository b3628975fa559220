"""Reference subjects: our algorithms in the shape of the slots."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from whp.algorithms.prompt_perturbation import (
    bucketised_mechanism,
    equal_frequency_mechanism,
    exponential_mechanism,
)

__all__ = ["bucketised_row", "bucketised_sampler", "equal_frequency_row", "exponential_row"]


def exponential_row(
    utilities: NDArray[np.float64], epsilon: float, sensitivity: float, n_buckets: int
) -> NDArray[np.float64]:
    """Exponential mechanism; it has no buckets."""
    return exponential_mechanism(utilities, epsilon, sensitivity=sensitivity).log_probabilities


def bucketised_row(
    utilities: NDArray[np.float64], epsilon: float, sensitivity: float, n_buckets: int
) -> NDArray[np.float64]:
    """Cape's mechanism with equal-width buckets."""
    row = bucketised_mechanism(utilities, epsilon, sensitivity=sensitivity, n_buckets=n_buckets)
    return row.log_probabilities


def equal_frequency_row(
    utilities: NDArray[np.float64], epsilon: float, sensitivity: float, n_buckets: int
) -> NDArray[np.float64]:
    """Bucketised mechanism with equal-frequency groups."""
    row = equal_frequency_mechanism(utilities, epsilon, sensitivity=sensitivity, n_buckets=n_buckets)
    return row.log_probabilities


def bucketised_sampler(
    utilities: NDArray[np.float64],
    epsilon: float,
    sensitivity: float,
    n_buckets: int,
    n_draws: int,
    rng: np.random.Generator,
) -> NDArray[np.int64]:
    """Draws of Cape's mechanism."""
    row = bucketised_mechanism(utilities, epsilon, sensitivity=sensitivity, n_buckets=n_buckets)
    return row.sample(rng, n_draws)
