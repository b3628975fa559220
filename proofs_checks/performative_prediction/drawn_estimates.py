"""Estimates drawn for the checks: the slot, and the ways in which an estimator can be broken."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whp.algorithms.performative_prediction import (
    guided_two_point,
    oracle_for,
    two_point_estimate,
)
from whp.theory.core import Slot
from whp.theory.performative_prediction import (
    EstimateCase,
)

__all__ = [
    "ESTIMATOR",
    "INNER",
    "estimates_of",
    "half_the_divisor",
    "second_coordinate_guide",
    "single_sample",
    "undivided_isotropic_part",
    "without_guide",
]

Array = NDArray[np.float64]


INNER = 256  # estimates averaged in one replicate


ESTIMATOR = Slot(
    "estimator",
    "(oracle, x, guide, alpha, radius, batch, rng)",
    "oracle: DecisionOracle with R replicates; x, guide: shape (R, d); alpha: isotropic share; radius: mu; batch: "
    "samples a side; rng: Generator",
    "gradient estimates, shape (R, d), one a replicate",
    ("oracle", "x", "guide", "alpha", "radius", "batch", "rng"),
)


def estimates_of(
    case: EstimateCase, estimator: Callable[..., Array], rng: np.random.Generator, inner: int = INNER
) -> Array:
    """Draw independent estimates; shape (inner, d)."""
    shape = (inner, case.x.size)
    x, guide = np.broadcast_to(case.x, shape), np.broadcast_to(case.guide, shape)
    oracle = oracle_for(case.problem, inner)
    return np.asarray(estimator(oracle, x, guide, case.alpha, case.radius, case.batch, rng))


def half_the_divisor(oracle: Any, x: Array, guide: Array, alpha: float, radius: float, batch: int, rng: Any) -> Array:
    """Mutant: divide by ``mu`` instead of ``2 mu``."""
    return 2.0 * guided_two_point(oracle, x, guide, alpha, radius, batch, rng)


def undivided_isotropic_part(
    oracle: Any, x: Array, guide: Array, alpha: float, radius: float, batch: int, rng: Any
) -> Array:
    """Mutant: covariance ``alpha I`` instead of ``(alpha / d) I``."""
    u = math.sqrt(alpha) * rng.standard_normal(x.shape)
    u = u + math.sqrt(1.0 - alpha) * rng.standard_normal(x.shape[:-1])[..., None] * guide
    losses = []
    for point in (x + radius * u, x - radius * u):
        losses.append(oracle.mean_loss(point, oracle.draw(point, batch, rng), batch))
    return two_point_estimate(losses[0], losses[1], radius, u)


def without_guide(oracle: Any, x: Array, guide: Array, alpha: float, radius: float, batch: int, rng: Any) -> Array:
    """Mutant: isotropic directions whatever the share."""
    return guided_two_point(oracle, x, np.zeros_like(guide), 1.0, radius, batch, rng)


def second_coordinate_guide(
    oracle: Any, x: Array, guide: Array, alpha: float, radius: float, batch: int, rng: Any
) -> Array:
    """Mutant: the guide's coordinates shifted by one place."""
    return guided_two_point(oracle, x, np.roll(guide, 1, axis=-1), alpha, radius, batch, rng)


def single_sample(oracle: Any, x: Array, guide: Array, alpha: float, radius: float, batch: int, rng: Any) -> Array:
    """Mutant: one sample a side whatever the batch."""
    return guided_two_point(oracle, x, guide, alpha, radius, 1, rng)
