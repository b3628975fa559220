"""Checks of the mechanisms that Cape is compared with: T7."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whp.algorithms.prompt_perturbation import (
    custext_mechanism,
    random_neighbour_list_mechanism,
    santext_mechanism,
)
from whp.proofs_checks.engine import Check, Instances, Mutant, Slack, at_most, identity, requires
from whp.proofs_checks.prompt_perturbation.slots import is_log_row, log_ratios
from whp.theory.core import Slot
from whp.theory.prompt_perturbation import bounds, exponential_log_row

__all__ = ["CHECKS"]

Row = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Points:
    """Embedding vectors, the group of each token, and the nominal level.

    Parameters
    ----------
    vectors : ndarray of shape (N, m)
        One vector per token.
    groups : ndarray of int, shape (N,)
        Groups that partition the tokens.
    epsilon : float
        Nominal privacy parameter.
    """

    vectors: NDArray[np.float64]
    groups: NDArray[np.int64]
    epsilon: float

    @property
    def distances(self) -> NDArray[np.float64]:
        """All distances, shape (N, N)."""
        return np.asarray(np.linalg.norm(self.vectors[:, None, :] - self.vectors[None, :, :], axis=2))


# SANTEXT


def metric_claim(allowed: Callable[[float, NDArray[np.float64]], NDArray[np.float64]]) -> Callable[..., Slack]:
    """Check the rows, and the loss between every two inputs against a function of their distance."""

    def observe(instance: Points, *, santext: Callable[[NDArray[np.float64], float], Row]) -> Slack:
        distances = instance.distances
        rows = np.array([santext(row, instance.epsilon) for row in distances])
        losses = np.array([log_ratios(row, rows).max(axis=1) for row in rows])
        error = 1e-12 * (1.0 + instance.epsilon * float(distances.max()))
        apart = distances > 0
        formula = [exponential_log_row(-row, instance.epsilon, 1.0) for row in distances]
        slack = identity("row", np.exp(rows), np.exp(np.array(formula)), rounding=error)
        slack &= identity("loss at distance zero", losses[~apart], 0.0, rounding=error)
        right = allowed(instance.epsilon, distances)
        return slack & at_most("loss between two inputs", losses[apart], right[apart], rounding=error)

    return observe


def metric_budget(epsilon: float, distances: NDArray[np.float64]) -> NDArray[np.float64]:
    """``eps d(x, x')``."""
    return np.asarray(bounds.SANTEXT_BUDGET(epsilon=epsilon, distance=distances))


def plain_budget(epsilon: float, distances: NDArray[np.float64]) -> NDArray[np.float64]:
    """``eps`` between different inputs, as if the guarantee were not metric."""
    return np.full(distances.shape, epsilon)


def _santext(distances: NDArray[np.float64], epsilon: float) -> Row:
    return santext_mechanism(distances, epsilon).log_probabilities


def _santext_without_half(distances: NDArray[np.float64], epsilon: float) -> Row:
    """Forget the factor 1/2 that pays for the normaliser."""
    return santext_mechanism(distances, 2 * epsilon).log_probabilities


SANTEXT = Slot(
    "santext",
    "(distances, epsilon)",
    "distances: from the input to every token, array (N,); epsilon: per unit of distance",
    "log probabilities of the tokens, array (N,)",
    ("distances", "epsilon"),
    validate=is_log_row,
)


# CUSTEXT


def group_claim(whole_vocabulary: bool) -> Callable[..., Slack]:
    """Check the loss inside each group, and that outputs reveal the group; or eps over the whole vocabulary."""

    def observe(
        instance: Points, *, custext: Callable[[NDArray[np.float64], NDArray[np.int64], int, float], Row]
    ) -> Slack:
        distances, groups = instance.distances, instance.groups
        rows = np.array([custext(distances[token], groups, token, instance.epsilon) for token in range(groups.size)])
        losses = np.array([log_ratios(row, rows).max(axis=1) for row in rows])
        np.fill_diagonal(losses, 0.0)
        same = groups[:, None] == groups[None, :]
        right = bounds.CUSTEXT_BUDGET(epsilon=instance.epsilon)
        inside = np.where(same | whole_vocabulary, losses, 0.0)
        slack = at_most("loss inside a group", inside, right, rounding=1e-12 * (1.0 + instance.epsilon))
        return slack & requires("groups are revealed", bool(np.isinf(losses[~same]).all()))

    return observe


def _custext(distances: NDArray[np.float64], groups: NDArray[np.int64], token: int, epsilon: float) -> Row:
    return custext_mechanism(distances, groups, token, epsilon).log_probabilities


def _custext_with_full_exponent(
    distances: NDArray[np.float64], groups: NDArray[np.int64], token: int, epsilon: float
) -> Row:
    """Forget the factor 1/2, twice."""
    return custext_mechanism(distances, groups, token, 4 * epsilon).log_probabilities


CUSTEXT = Slot(
    "custext",
    "(distances, groups, token, epsilon)",
    "distances: from the input to every token, array (N,); groups: group of every token; token: the input's index",
    "log probabilities of the tokens, -inf outside the group, array (N,)",
    ("distances", "groups", "token", "epsilon"),
    validate=is_log_row,
)


# Random neighbour lists


def list_integrates_out(instance: Points, *, neighbour_list: Callable[..., Row]) -> Slack:
    """Compare the closed form with the mean over all lists, each list's mechanism computed on its own."""
    distances = instance.distances[0]
    mean_radius = float(distances.mean()) or 1.0

    def survival(radii: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.exp(-np.asarray(radii) / mean_radius)

    row = np.exp(neighbour_list(distances, instance.epsilon, survival))
    return identity("row", row, _mean_over_lists(distances, instance.epsilon, survival), rounding=1e-12)


def _mean_over_lists(distances: NDArray[np.float64], epsilon: float, survival: Callable[[Row], Row]) -> Row:
    radii = np.unique(distances)
    reached = survival(radii)
    reached[0] = 1.0
    chances = reached - np.append(reached[1:], 0.0)
    largest = radii[-1] if radii[-1] > 0 else 1.0
    mean = np.zeros(distances.size)
    for radius, chance in zip(radii, chances, strict=True):
        listed = distances <= radius
        mean[listed] += chance * np.exp(exponential_log_row(1.0 - distances[listed] / largest, epsilon, 1.0))
    return mean


def _neighbour_list(distances: NDArray[np.float64], epsilon: float, survival: Callable[[Row], Row]) -> Row:
    return random_neighbour_list_mechanism(distances, epsilon, radius_survival=survival).log_probabilities


def _whole_vocabulary_listed(distances: NDArray[np.float64], epsilon: float, survival: Callable[[Row], Row]) -> Row:
    """Forget the list."""
    return exponential_log_row(1.0 - distances / (distances.max() or 1.0), epsilon, 1.0)


def _likeliest_list(distances: NDArray[np.float64], epsilon: float, survival: Callable[[Row], Row]) -> Row:
    """Ignore the randomness of the list: always list the tokens that are reached with probability one half."""
    listed = (survival(distances) >= 0.5) | (distances == distances.min())
    row = np.full(distances.size, -np.inf)
    row[listed] = exponential_log_row(1.0 - distances[listed] / (distances.max() or 1.0), epsilon, 1.0)
    return row


NEIGHBOUR_LIST = Slot(
    "neighbour_list",
    "(distances, epsilon, survival)",
    "distances: from the input to every token, array (N,); survival: P[radius >= x] for an array of radii",
    "log probabilities of the tokens, array (N,)",
    ("distances", "epsilon", "survival"),
    validate=is_log_row,
)


def _draw(rng: np.random.Generator, size: int) -> list[Points]:
    drawn = []
    for _ in range(size):
        n_tokens = int(rng.integers(2, 13))
        vectors = rng.normal(size=(n_tokens, int(rng.integers(1, 5)))) * float(rng.choice([0.1, 1.0, 10.0]))
        if n_tokens > 3 and rng.random() < 0.3:
            vectors[-1] = vectors[0]  # duplicated tokens
        groups = rng.integers(0, max(n_tokens // 3, 2), size=n_tokens)
        drawn.append(Points(vectors, groups, float(rng.choice([0.1, 1.0, 8.0]))))
    return drawn


def _points() -> dict[str, Points]:
    line = np.arange(6.0)[:, None]
    crowd = np.concatenate([[0.0, 1.0], np.full(200, 2.0)])[:, None]
    return {
        "a line": Points(line, np.array([0, 0, 0, 1, 1, 1]), 1.0),
        "a crowd behind the second token": Points(crowd, np.arange(202) // 101, 1.0),
        "all points equal": Points(np.zeros((3, 2)), np.array([0, 0, 1]), 1.0),
    }


POINTS = Instances(
    "2 to 12 Gaussian points in 1 to 4 dimensions, random groups, eps from 0.1 to 8", examples=_points, draw=_draw
)

CHECKS: Sequence[Check] = (
    Check(
        theorem="prompt_perturbation.T7_santext",
        name="metric",
        kind="slack",
        observe=metric_claim(metric_budget),
        instances=POINTS,
        slots={SANTEXT: _santext},
        mutants=(
            Mutant("eps, not eps d", "loss between two inputs", observe=metric_claim(plain_budget)),
            Mutant("factor 1/2 forgotten", "loss between two inputs", {"santext": _santext_without_half}),
        ),
        cost=9.0,
    ),
    Check(
        theorem="prompt_perturbation.T7_custext",
        name="groups",
        kind="slack",
        observe=group_claim(False),
        instances=POINTS,
        slots={CUSTEXT: _custext},
        mutants=(
            Mutant("eps over the whole vocabulary", "loss inside a group", observe=group_claim(True)),
            Mutant("exponent quadrupled", "loss inside a group", {"custext": _custext_with_full_exponent}),
        ),
        cost=13.0,
    ),
    Check(
        theorem="prompt_perturbation.T7_list",
        name="mean_over_lists",
        kind="slack",
        observe=list_integrates_out,
        instances=POINTS,
        slots={NEIGHBOUR_LIST: _neighbour_list},
        mutants=(
            Mutant("list forgotten", "row", {"neighbour_list": _whole_vocabulary_listed}),
            Mutant("randomness of the list ignored", "row", {"neighbour_list": _likeliest_list}),
        ),
        cost=4.0,
    ),
)
