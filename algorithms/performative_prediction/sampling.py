"""Samplers for the instances of `whp.theory.performative_prediction`, as oracles that also work on replicates."""

from collections.abc import Sequence
from functools import singledispatch
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whp.theory.performative_prediction import (
    DiscreteSoftmax,
    LinearNoise,
    LocationQuadratic,
    MultiproductPricing,
    StrategicClassification,
)

from .oracle import DecisionOracle

__all__ = ["oracle_for", "pricing_oracle", "sample_at"]

Array = NDArray[np.float64]


@singledispatch
def sample_at(problem: Any, x: Array, count: int, rng: np.random.Generator) -> Array:
    """Draw from the law ``D(x)`` of an instance.

    Parameters
    ----------
    problem : instance
        One of the families of the theory module.
    x : numpy.ndarray, shape (d,) or (R, d)
        Decision, or one a replicate.
    count : int
        Samples (a replicate).
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    numpy.ndarray, shape (count, k) or (R, count, k)

    Raises
    ------
    TypeError
        If the family is unknown.

    Examples
    --------
    >>> sample_at(LinearNoise([[1.0]], [1.0], [[2.0]], noise=0.0), np.array([3.0]), 2, np.random.default_rng(0))
    array([[6.],
           [6.]])
    """
    raise TypeError(f"problem must be an instance of a known family, got {type(problem).__name__}")


@sample_at.register
def _(problem: LocationQuadratic, x: Array, count: int, rng: np.random.Generator) -> Array:
    return _around(problem.law_mean(x), problem.noise, count, rng)


@sample_at.register
def _(problem: LinearNoise, x: Array, count: int, rng: np.random.Generator) -> Array:
    return _around(problem.law_mean(x), problem.noise, count, rng)


@sample_at.register
def _(problem: MultiproductPricing, x: Array, count: int, rng: np.random.Generator) -> Array:
    return _units_sold(problem.buyers, problem.probabilities(x), count, rng)


@sample_at.register
def _(problem: StrategicClassification, x: Array, count: int, rng: np.random.Generator) -> Array:
    rows = rng.integers(0, problem.features.shape[0], size=(*np.shape(x)[:-1], count))
    moved = problem.response(x, problem.features[rows])
    return np.concatenate([moved, problem.labels[rows][..., None]], axis=-1)


@sample_at.register
def _(problem: DiscreteSoftmax, x: Array, count: int, rng: np.random.Generator) -> Array:
    cumulative = np.cumsum(problem.probabilities(x), axis=-1)
    draws = rng.random((*np.shape(x)[:-1], count)) * cumulative[..., -1:]
    outcome = (draws[..., None] >= cumulative[..., None, :-1]).sum(axis=-1)
    return np.asarray(outcome[..., None], dtype=np.float64)


def _around(mean: Array, noise: float, count: int, rng: np.random.Generator) -> Array:
    """Gaussian samples around a mean; shapes ``(..., k) -> (..., count, k)``."""
    draws = rng.standard_normal((*mean.shape[:-1], count, mean.shape[-1]))
    draws *= noise
    draws += mean[..., None, :]
    return draws


def _units_sold(buyers: int, probabilities: Array, count: int, rng: np.random.Generator) -> Array:
    """Multinomial demand; shapes ``(..., n) -> (..., count, n)``."""
    nothing = np.maximum(1.0 - probabilities.sum(axis=-1, keepdims=True), 0.0)
    cells = np.concatenate([probabilities, nothing], axis=-1)
    cells = cells / cells.sum(axis=-1, keepdims=True)
    units = rng.multinomial(buyers, cells[..., None, :], size=(*cells.shape[:-1], count))
    return np.asarray(units[..., :-1], dtype=np.float64)


def oracle_for(problem: Any, replicates: int | None = None) -> DecisionOracle:
    """Oracle of an instance, optionally for independent replicates of it.

    Parameters
    ----------
    problem : instance
        One of the families of the theory module.
    replicates : int, optional
        ``R`` to run ``R`` replicates at once.

    Returns
    -------
    DecisionOracle

    Examples
    --------
    >>> oracle_for(LinearNoise([[1.0]], [1.0], [[2.0]], noise=1.0), replicates=5).batch
    (5,)
    """
    if sample_at.dispatch(type(problem)) is sample_at.dispatch(object):
        raise TypeError(f"problem must be an instance of a known family, got {type(problem).__name__}")

    def sample(x: Array, count: int, rng: np.random.Generator) -> Array:
        return sample_at(problem, x, count, rng)

    return DecisionOracle(problem.dimension, problem.loss, sample, problem.loss_gradient, replicates)


def pricing_oracle(problems: Sequence[MultiproductPricing]) -> DecisionOracle:
    """Oracle whose replicates are different pricing instances that share reference prices and numbers of buyers.

    Parameters
    ----------
    problems : sequence of MultiproductPricing
        Instances that differ in their unit costs only.

    Returns
    -------
    DecisionOracle

    Raises
    ------
    ValueError
        If there are none, or they differ in anything but the unit costs.

    Examples
    --------
    >>> shops = [MultiproductPricing([0.5, 1.0], [0.1, 0.2 + 0.1 * i]) for i in range(3)]
    >>> pricing_oracle(shops).batch
    (3,)
    """
    if not problems:
        raise ValueError("problems must hold at least one instance")
    for problem in problems:
        if not isinstance(problem, MultiproductPricing):
            raise TypeError(f"problems must hold MultiproductPricing instances, got {type(problem).__name__}")
    first = problems[0]
    for other in problems:
        same = (other.buyers, other.outside_weight, other.low_volume, other.high_volume) == (
            first.buyers,
            first.outside_weight,
            first.low_volume,
            first.high_volume,
        )
        if not same or not np.array_equal(other.reference_prices, first.reference_prices):
            raise ValueError("problems must differ in unit_costs only")
    unit_costs = np.stack([p.unit_costs for p in problems])  # (R, n)
    low, high = first.low_volume, first.high_volume

    def loss(x: Array, xi: Array) -> Array:
        steps = 2.0 * np.minimum(xi, low) + np.clip(xi - low, 0.0, high - low) + 3.0 * np.maximum(xi - high, 0.0)
        return np.asarray(np.einsum("rsn,rn->rs", steps, unit_costs) - np.einsum("rsn,rn->rs", xi, x))

    def sample(x: Array, count: int, rng: np.random.Generator) -> Array:
        return sample_at(first, x, count, rng)

    return DecisionOracle(first.dimension, loss, sample, first.loss_gradient, len(problems))
