"""Checks of utility and of the long tail: T0_utility and T4."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from whp.algorithms.prompt_perturbation import exact_bucketised_row, exact_exponential_row
from whp.proofs_checks.engine import Check, Instances, Mutant, Slack, at_least, at_most, requires
from whp.proofs_checks.prompt_perturbation import instances as given
from whp.proofs_checks.prompt_perturbation import mutated
from whp.proofs_checks.prompt_perturbation.privacy import GRID, REAL_SCOPE
from whp.proofs_checks.prompt_perturbation.slots import EXACT_MECHANISM, MECHANISM, ExactMechanism, Mechanism
from whp.proofs_checks.prompt_perturbation.subjects import bucketised_row, exponential_row
from whp.theory.prompt_perturbation import UtilityGridPair, UtilityPair, bounds, width_labels

__all__ = ["CHECKS"]

TAILS = np.array([0.5, 1.0, 2.0, 4.0])  # s in "with probability at most exp(-s)"
MASS_ROUNDING = 1e-12  # a sum of at most a few thousand probabilities


def tail_claim(allowed: Callable[[UtilityPair], NDArray[np.float64]]) -> Callable[..., Slack]:
    """Check the probability of falling short by ``allowed`` or more against ``exp(-s)``, for each of `TAILS`."""

    def observe(instance: UtilityPair, *, mechanism: Mechanism) -> Slack:
        utilities = instance.first
        row = mechanism(utilities, instance.epsilon, instance.sensitivity, instance.n_buckets)
        short = utilities.max() - utilities >= allowed(instance)[:, None]  # (tails, tokens)
        masses = np.where(short, np.exp(row), 0.0).sum(axis=1)
        return at_most("mass of the tail", masses, np.exp(-TAILS), rounding=MASS_ROUNDING)

    return observe


def exponential_shortfall(pair: UtilityPair) -> NDArray[np.float64]:
    """``(2 Delta / eps)(ln N + s)``."""
    size = max(pair.n_tokens, 2)
    return np.asarray(
        bounds.EXPONENTIAL_UTILITY_SHORTFALL(epsilon=pair.epsilon, Delta=pair.sensitivity, N=size, s=TAILS)
    )


def bucketised_shortfall(pair: UtilityPair) -> NDArray[np.float64]:
    """``2 w + (2 Delta / eps)(ln B + s)``."""
    count = len(set(width_labels(pair)[0]))
    return np.asarray(
        bounds.BUCKET_UTILITY_SHORTFALL(epsilon=pair.epsilon, Delta=pair.sensitivity, B=count, w=_width(pair), s=TAILS)
    )


def _width(pair: UtilityPair) -> float:
    return float(np.ptp(pair.first)) / pair.n_buckets


def smaller_exponential_shortfall(pair: UtilityPair) -> NDArray[np.float64]:
    """Allow 3 % less."""
    return 0.97 * exponential_shortfall(pair)


def shortfall_of_one_width(pair: UtilityPair) -> NDArray[np.float64]:
    """Pay for one bucket width instead of two."""
    return bucketised_shortfall(pair) - _width(pair)


def smaller_bucketised_shortfall(pair: UtilityPair) -> NDArray[np.float64]:
    """Allow 3 % less."""
    return 0.97 * bucketised_shortfall(pair)


def best_tokens(instance: UtilityPair, *, mechanism: Mechanism) -> Slack:
    """Cumulative probability of the k best tokens for every k below N."""
    utilities, n = instance.first, instance.n_tokens
    row = mechanism(utilities, instance.epsilon, instance.sensitivity, instance.n_buckets)
    order = np.argsort(-utilities, kind="stable")
    masses = np.cumsum(np.exp(row)[order])[:-1]
    right = bounds.EXPONENTIAL_TOP_MASS(epsilon=instance.epsilon, N=n, k=np.arange(1, n))
    return at_most("mass of the k best", masses, right, rounding=MASS_ROUNDING)


def best_tokens_exactly(instance: UtilityGridPair, *, exact_mechanism: ExactMechanism) -> Slack:
    """Cumulative probability of the k best tokens against ``k g / (k g + N - k)``, in fractions."""
    slack = Slack(())
    g, n = instance.base ** max(instance.levels - 1, 1), instance.n_tokens
    for levels in (instance.first, instance.second):
        row = exact_mechanism(levels, instance.levels, instance.base)
        best = np.argsort(-np.array(levels), kind="stable").tolist()
        mass = Fraction(0)
        for k, token in enumerate(best, start=1):
            mass += row[token]
            slack &= at_most("mass of the k best", mass, k * g / (k * g + n - k))
    return slack


def best_bucket_exactly(instance: UtilityGridPair, *, exact_mechanism: ExactMechanism) -> Slack:
    """Probability of the best bucket within ``[1/B, g / (g + B - 1)]``, in fractions."""
    slack = Slack(())
    g = instance.base ** max(instance.levels - 1, 1)
    for levels in (instance.first, instance.second):
        row = exact_mechanism(levels, instance.levels, instance.base)
        count, top = len(set(levels)), max(levels)
        mass = sum((Fraction(p) for p, level in zip(row, levels, strict=True) if level == top), Fraction(0))
        slack &= at_least("best bucket at least", mass, Fraction(1, count))
        slack &= at_most("best bucket at most", mass, g / (g + count - 1))
    return slack


def best_bucket(instance: UtilityPair, *, mechanism: Mechanism) -> Slack:
    """Probability of the best of two or more buckets, in floats."""
    labels = np.array(width_labels(instance)[0])
    count = len(set(labels.tolist()))
    if count < 2:
        return requires("one bucket", True)
    row = mechanism(instance.first, instance.epsilon, instance.sensitivity, instance.n_buckets)
    mass = float(np.exp(row[labels == labels.max()]).sum())
    lower = at_least("best bucket at least", mass, bounds.BUCKET_LEAST_MASS(B=count), rounding=MASS_ROUNDING)
    highest = bounds.BUCKET_TOP_MASS(epsilon=instance.epsilon, B=count)
    return lower & at_most("best bucket at most", mass, highest, rounding=MASS_ROUNDING)


def _threshold_pairs() -> dict[str, UtilityPair]:
    """All tokens but one exactly as far below the best as the bound forbids."""
    return {
        "ten tokens, nine at the threshold": _one_above(10, 1.0 - 0.1 * (math.log(10) + 1.0) - 1e-9, 20.0, 10),
        "two buckets, one at the threshold": _one_above(
            2, 0.0, 2.0 * (math.log(2) + 1.0) / (1.0 - 2e-4) + 1e-9, 10_000
        ),
        "1000 tokens, all but one just inside the threshold": _one_above(
            1000, 1.0 - _just_inside(1000, 30.0), 30.0, 100
        ),
        "500 buckets, all but one just inside the threshold": _crowded_bottom(500, 30.0, 10**6),
        "a best bucket of mostly worse tokens": _coarse_buckets(),
        "eps = 1e4": UtilityPair(np.array([0.9, 0.8, 1.0]), np.zeros(3), 1e4, 3),
    }


def _just_inside(count: int, epsilon: float) -> float:
    """Distance that the bound at the last of `TAILS` just allows: 1 % less of it would be too little."""
    return 0.99 * 2 / epsilon * (math.log(count) + float(TAILS[-1]))


def _crowded_bottom(count: int, epsilon: float, n_buckets: int) -> UtilityPair:
    """One token on top and ``count - 1`` tokens far below, in adjacent buckets of their own."""
    distance = _just_inside(count, epsilon)
    width = distance / n_buckets
    utilities = np.append(1.0 - distance + 1.5 * width * np.arange(count - 1), 1.0)
    return UtilityPair(utilities, utilities, epsilon, n_buckets)


def _coarse_buckets() -> UtilityPair:
    """Three buckets; the best has its mean at its lower edge, the next one has a fifth of its tokens there."""
    shares = ((1.0, 1), (0.667, 200), (0.666, 160), (0.3334, 40), (0.0, 1))
    utilities = np.concatenate([np.full(count, level) for level, count in shares])
    return UtilityPair(utilities, utilities, 60.0, 3)


def _one_good_token() -> dict[str, UtilityPair]:
    """One token at the top, 9999 at the bottom."""
    return {"one in ten thousand": _one_above(10_000, 0.0, 8.0, 100)}


def _one_above(n_tokens: int, below: float, epsilon: float, n_buckets: int) -> UtilityPair:
    utilities = np.append(np.full(n_tokens - 1, below), 1.0)
    return UtilityPair(utilities, utilities, epsilon, n_buckets)


def clipped_exponents(u: NDArray[np.float64], epsilon: float, sensitivity: float, n: int) -> NDArray[np.float64]:
    """Clip exponents at 700 instead of subtracting the maximum."""
    weights = np.exp(np.minimum(epsilon * u / (2 * sensitivity), 700.0))
    return np.asarray(np.log(weights / weights.sum()))


def doubled_sensitivity(mechanism: Mechanism) -> Mechanism:
    """Divide by twice the sensitivity: flatter weights."""

    def broken(u: NDArray[np.float64], epsilon: float, sensitivity: float, n: int) -> NDArray[np.float64]:
        return mechanism(u, epsilon, 2 * sensitivity, n)

    return broken


quartered_exponential = mutated.halved_sensitivity(mutated.halved_sensitivity(exponential_row))

MODERATE = Instances(
    "utilities in [0, 1] inside chosen buckets, 3 to 40 tokens, eps from 0.05 to 10, and the sphere embedding",
    examples=given.sphere_pairs,
    draw=given.draw_moderate_pairs,
)
UTILITIES = Instances(
    REAL_SCOPE + ", and utilities at the thresholds",
    examples=lambda: {**_threshold_pairs(), **given.embedding_pairs()},
    draw=given.draw_pattern_pairs,
)

CHECKS: Sequence[Check] = (
    Check(
        theorem="prompt_perturbation.T0_utility",
        name="tail",
        kind="slack",
        observe=tail_claim(exponential_shortfall),
        instances=UTILITIES,
        slots={MECHANISM: exponential_row},
        mutants=(
            Mutant("sensitivity doubled", "mass of the tail", {"mechanism": doubled_sensitivity(exponential_row)}),
            Mutant("exponents clipped", "mass of the tail", {"mechanism": clipped_exponents}),
            Mutant("3 % less", "mass of the tail", observe=tail_claim(smaller_exponential_shortfall)),
        ),
        cost=3.0,
    ),
    Check(
        theorem="prompt_perturbation.T4_tokens",
        name="grid",
        kind="slack",
        observe=best_tokens_exactly,
        instances=GRID,
        slots={EXACT_MECHANISM: exact_exponential_row},
        mutants=(
            Mutant(
                "sensitivity halved",
                "mass of the k best",
                {"exact_mechanism": mutated.halved_sensitivity_exactly(exact_exponential_row)},
            ),
            Mutant("buckets are measured", "mass of the k best", {"exact_mechanism": exact_bucketised_row}),
        ),
        cost=13.0,
    ),
    Check(
        theorem="prompt_perturbation.T4_tokens",
        name="real_utilities",
        kind="slack",
        observe=best_tokens,
        instances=MODERATE,
        slots={MECHANISM: exponential_row},
        mutants=(
            Mutant("sensitivity quartered", "mass of the k best", {"mechanism": quartered_exponential}),
            Mutant("buckets are measured", "mass of the k best", {"mechanism": bucketised_row}),
        ),
        cost=3.0,
    ),
    Check(
        theorem="prompt_perturbation.T4_buckets",
        name="grid",
        kind="slack",
        observe=best_bucket_exactly,
        instances=GRID,
        slots={EXACT_MECHANISM: exact_bucketised_row},
        mutants=(
            Mutant("forgets 1/|b|", "best bucket at least", {"exact_mechanism": mutated.without_bucket_size_exactly}),
            Mutant(
                "sensitivity halved",
                "best bucket at most",
                {"exact_mechanism": mutated.halved_sensitivity_exactly(exact_bucketised_row)},
            ),
        ),
        cost=5.0,
    ),
    Check(
        theorem="prompt_perturbation.T4_buckets",
        name="real_utilities",
        kind="slack",
        observe=best_bucket,
        instances=MODERATE,
        slots={MECHANISM: bucketised_row},
        mutants=(
            Mutant("forgets 1/|b|", "best bucket at least", {"mechanism": mutated.without_bucket_size}),
            Mutant("sensitivity quartered", "best bucket at most", {"mechanism": mutated.quartered_sensitivity}),
        ),
        cost=4.0,
    ),
    Check(
        theorem="prompt_perturbation.T4_utility",
        name="tail",
        kind="slack",
        observe=tail_claim(bucketised_shortfall),
        instances=UTILITIES,
        slots={MECHANISM: bucketised_row},
        mutants=(
            Mutant("one bucket width", "mass of the tail", observe=tail_claim(shortfall_of_one_width)),
            Mutant("3 % less", "mass of the tail", observe=tail_claim(smaller_bucketised_shortfall)),
            Mutant(
                "sensitivity quadrupled",
                "mass of the tail",
                {"mechanism": doubled_sensitivity(doubled_sensitivity(bucketised_row))},
            ),
            Mutant(
                "forgets 1/|b|",
                "mass of the tail",
                {"mechanism": mutated.without_bucket_size},
                instances=Instances("one good token among many bad ones", examples=_one_good_token),
            ),
        ),
        cost=4.0,
    ),
)
