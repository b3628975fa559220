"""The estimators that are compared, each from a data set to estimated concepts."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from whp.algorithms.concept_identifiability import (
    covariance_unmixing,
    discriminant_components,
    fast_ica,
    whiten,
)
from whp.experiments.concept_identifiability.data import Dataset

__all__ = ["METHODS", "available_methods"]

Array = NDArray[np.float64]


def flow(data: Dataset, seed: int, steps: int) -> Array:
    """Gated flow started from the unmixing by covariances."""
    from whp.algorithms.concept_identifiability.flow_estimator import flow_estimator

    start = covariance_unmixing(data.x, data.labels).unmixing
    found: Array = flow_estimator(data.x, data.contexts, seed, unmixing=start, steps=steps).sources
    return found


def flow_without_classes(data: Dataset, seed: int, steps: int) -> Array:
    """Return the same flow with shuffled classes, started at random: what is left when the signal is removed."""
    from whp.algorithms.concept_identifiability.flow_estimator import flow_estimator

    shuffled = np.random.default_rng(seed).permutation(data.contexts)
    found: Array = flow_estimator(data.x, shuffled, seed, steps=steps).sources
    return found


def covariances(data: Dataset, seed: int, steps: int) -> Array:
    """Joint diagonalisation of class covariances."""
    return covariance_unmixing(data.x, data.labels).sources


def ica(data: Dataset, seed: int, steps: int) -> Array:
    """FastICA, which sees no classes."""
    return fast_ica(data.x, np.random.default_rng(seed)).sources


def discriminant(data: Dataset, seed: int, steps: int) -> Array:
    """Directions that separate class means."""
    return discriminant_components(data.x, data.labels)


def principal(data: Dataset, seed: int, steps: int) -> Array:
    """Principal components."""
    return whiten(data.x).white


METHODS: dict[str, Callable[[Dataset, int, int], Array]] = {
    "flow": flow,
    "covariances": covariances,
    "FastICA": ica,
    "discriminant": discriminant,
    "principal": principal,
    "flow, classes shuffled": flow_without_classes,
}


def available_methods(names: list[str]) -> list[str]:
    """Return those that can run here: the flows need torch (extra ``neural``)."""
    torch = importlib.util.find_spec("torch") is not None
    return [name for name in names if torch or not name.startswith("flow")]
