"""Check of the neural estimator on fixed mixtures (extra ``neural``)."""

from __future__ import annotations

import importlib.util
import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from whp.algorithms.concept_identifiability import covariance_unmixing, matched_correlation
from whp.proofs_checks.engine import Check, Instances, Mutant, Slack, at_least, requires
from whp.theory.core import Slot

__all__ = ["CHECKS", "NonlinearMixture"]

Array: TypeAlias = NDArray[np.float64]
Estimator: TypeAlias = Callable[[Array, Array, int], Array]

REACHED = 0.95


@dataclass(frozen=True)
class NonlinearMixture:
    """Concepts with levelled classes through a mild non-linear mixture, all drawn by a seed."""

    rows: tuple[tuple[int, ...], ...]
    seed: int
    rows_per_context: int = 120

    def sample(self) -> tuple[Array, Array, Array]:
        """Concepts, observations, and the class values of each row."""
        rng = np.random.default_rng(self.seed)
        structure = np.array(self.rows, dtype=float)
        n, classes = structure.shape
        contexts = np.array(list(itertools.product(range(3), repeat=classes)), dtype=float)
        c = np.repeat(contexts, self.rows_per_context, axis=0)
        slopes = structure * (0.25 + 0.2 * np.arange(n)[:, None] + 0.1 * np.arange(classes))
        z = rng.normal(size=(len(c), n)) * np.exp(c @ slopes.T) + (c - 1) @ structure.T
        rotated = (z / z.std(axis=0)) @ np.linalg.qr(rng.normal(size=(n, n)))[0].T
        bent = rotated + 0.4 * np.tanh(rotated @ rng.normal(size=(n, n)))
        return z, bent @ np.linalg.qr(rng.normal(size=(n, n)))[0].T, c


ESTIMATOR = Slot(
    "estimator",
    "(x, contexts, seed)",
    "x: array (n, m), observations; contexts: array (n, K), class values; seed: int, the only source of randomness",
    "estimated concepts, array (n, n_concepts)",
    ("x", "contexts", "seed"),
)


def flow(x: Array, contexts: Array, seed: int) -> Array:
    """Our flow, started from the linear unmixing."""
    from whp.algorithms.concept_identifiability.flow_estimator import flow_estimator

    labels = np.unique(contexts, axis=0, return_inverse=True)[1].ravel()
    start = covariance_unmixing(x, labels).unmixing
    found: Array = flow_estimator(x, contexts, seed, unmixing=start, steps=100, batch=128, couplings=2).sources
    return found


def classes_shuffled(x: Array, contexts: Array, seed: int) -> Array:
    """Start from covariances of shuffled classes, and fit those classes."""
    return flow(x, np.random.default_rng(seed).permutation(contexts), seed)


def observations_themselves(x: Array, contexts: Array, seed: int) -> Array:
    """Return the mixtures."""
    return x


def first_pair_rotated(x: Array, contexts: Array, seed: int) -> Array:
    """Rotate two standardised concepts of the flow by 45 degrees."""
    found = flow(x, contexts, seed)
    found = (found - found.mean(axis=0)) / found.std(axis=0)
    found[:, :2] = found[:, :2] @ np.array([[1.0, 1.0], [-1.0, 1.0]]) / np.sqrt(2)
    return np.asarray(found)


def concepts_are_found(instance: NonlinearMixture, *, estimator: Estimator) -> Slack:
    """Spearman's correlation within classes under the best assignment."""
    z, x, contexts = instance.sample()
    labels = np.unique(contexts, axis=0, return_inverse=True)[1].ravel()
    found = np.asarray(estimator(x, contexts, instance.seed), dtype=float)
    slack = requires("one value a concept", found.shape == z.shape)
    reached = matched_correlation(z, found, labels, kind="spearman").mean if found.shape == z.shape else 0.0
    return slack & at_least("centred correlation", reached, REACHED)


def _mixtures() -> dict[str, NonlinearMixture]:
    return {
        f"{name}, seed {seed}": NonlinearMixture(rows, seed)
        for name, rows in (("join", ((1, 0), (0, 1), (1, 1))), ("nested", ((1, 0), (1, 1))))
        for seed in range(2)
    }


def without_torch() -> str:
    """Name the missing extra."""
    return "" if importlib.util.find_spec("torch") else "torch (extra whp[neural])"


CHECKS: tuple[Check, ...] = (
    Check(
        theorem="concept_identifiability.estimator",
        name="mixtures",
        kind="slack",
        observe=concepts_are_found,
        instances=Instances(
            "four fixed non-linear mixtures of two or three concepts in nine contexts", examples=_mixtures
        ),
        slots={ESTIMATOR: flow},
        mutants=(
            Mutant("observations themselves", "centred correlation", {"estimator": observations_themselves}),
            Mutant("a pair rotated", "centred correlation", {"estimator": first_pair_rotated}),
            Mutant("classes shuffled", "centred correlation", {"estimator": classes_shuffled}),
        ),
        unavailable=without_torch,
        cost=1500.0,
    ),
)
