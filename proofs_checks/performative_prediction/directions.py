"""Checks on the random directions: covariance, moments, rotations, reduction to two-point descent."""

import itertools
import math
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whp.algorithms.performative_prediction import guided_direction, two_point_estimate
from whp.proofs_checks.engine import Check, Instances, Mutant, at_most, identity
from whp.proofs_checks.engine.observation import Slack
from whp.theory.core import Slot
from whp.theory.performative_prediction import (
    EstimateCase,
    LinearNoise,
    MomentCase,
    direction_covariance,
    largest_eigenvalue,
    sixth_norm_moment,
    slope_energy,
)

__all__ = [
    "CHECKS",
    "DIRECTION",
    "draw_linear_cases",
    "norm_moment_by_pairings",
    "random_unit",
    "slope_moment_by_pairings",
]

Array = NDArray[np.float64]
ROUNDING = 1e-11  # a few dozen operations on numbers of size at most ten

DIRECTION = Slot(
    "direction",
    "(guide, alpha, isotropic, along)",
    "guide: unit vector or zero, shape (..., d); alpha: isotropic share in [0, 1]; isotropic: standard normal z, "
    "shape (..., d); "
    "along: standard normal s, shape (...)",
    "direction u, shape (..., d)",
    ("guide", "alpha", "isotropic", "along"),
)
SLOPE_MOMENT = Slot(
    "slope_moment",
    "(gradient, covariance)",
    "gradient: a, shape (d,); covariance: Sigma, shape (d, d), positive semidefinite of trace one",
    "float: E[(a'u)^2 |u|^2] for u ~ N(0, Sigma)",
    ("gradient", "covariance"),
)
NORM_MOMENT = Slot(
    "norm_moment",
    "(covariance)",
    "covariance: Sigma, shape (d, d)",
    "float: E|u|^6 for u ~ N(0, Sigma)",
    ("covariance",),
)


def random_unit(rng: np.random.Generator, d: int) -> Array:
    """Draw a uniformly distributed unit vector."""
    v = rng.standard_normal(d)
    return np.asarray(v / np.linalg.norm(v))


def draw_linear_cases(rng: np.random.Generator, size: int) -> list[EstimateCase]:
    """Estimates on the family with constant variance: d in 1..8, entries in [-2, 2], shares 0, 0.02, 0.5, 1."""
    cases = []
    for _ in range(size):
        d, k = int(rng.integers(1, 9)), int(rng.integers(1, 5))
        root = rng.uniform(-1, 1, (d, d))
        problem = LinearNoise(
            root + root.T, rng.uniform(-2, 2, k), rng.uniform(-2, 2, (k, d)), float(rng.choice([0.1, 0.5, 2.0]))
        )
        x = rng.uniform(-2, 2, d)
        gradient, guide = problem.gradient(x), random_unit(rng, d)
        kind = int(rng.integers(0, 3))
        if kind == 1:
            guide = gradient / np.linalg.norm(gradient)
        elif kind == 2 and d > 1:  # orthogonal to the gradient
            guide = guide - (guide @ gradient) / (gradient @ gradient) * gradient
            guide = guide / np.linalg.norm(guide)
        alpha = float(rng.choice([0.0, 0.02, 0.5, 1.0]))
        radius = float(10.0 ** rng.uniform(-1, 0.5))
        cases.append(EstimateCase(problem, x, guide, alpha, radius, int(rng.integers(1, 20)), random_unit(rng, d)))
    return cases


def covariance_by_superposition(case: EstimateCase, *, direction: Callable[..., Array]) -> Slack:
    """Feed the unit vectors of (z, s) in, one by one: for a linear map the outer products sum to the covariance."""
    d, alpha = case.guide.size, case.alpha
    z, s = np.vstack([np.eye(d), np.zeros(d)]), np.append(np.zeros(d), 1.0)  # (d + 1, d), (d + 1,)
    u = np.asarray(direction(np.broadcast_to(case.guide, z.shape), alpha, z, s))
    covariance = u.T @ u
    mixed = np.asarray(direction(case.guide, alpha, np.arange(1.0, d + 1), np.asarray(2.0)))
    square = (1 - alpha) ** 2 + 2 * alpha * (1 - alpha) / d + alpha**2 / d
    claimed = direction_covariance(case.guide, alpha)
    return (
        identity("covariance", covariance, claimed, rounding=ROUNDING)
        & identity("trace", float(np.trace(covariance)), 1.0, rounding=ROUNDING)
        & identity("trace of the square", float(np.trace(covariance @ covariance)), square, rounding=ROUNDING)
        & identity(
            "largest eigenvalue",
            float(np.linalg.eigvalsh(claimed)[-1]),
            float(largest_eigenvalue(alpha, d)),
            rounding=ROUNDING,
        )
        & identity("linear", mixed, np.append(np.arange(1.0, d + 1), 2.0) @ u, rounding=ROUNDING * d * d)
    )


def isotropic_part_not_divided(guide: Array, alpha: float, isotropic: Array, along: Array) -> Array:
    """Mutant: covariance ``alpha I`` in place of ``(alpha / d) I``."""
    d = guide.shape[-1]
    return guided_direction(guide, alpha, math.sqrt(d) * np.asarray(isotropic), along)


def guide_weighted_by_share(guide: Array, alpha: float, isotropic: Array, along: Array) -> Array:
    """Mutant: weight ``1 - alpha`` in place of its square root."""
    return guided_direction(guide, alpha, isotropic, math.sqrt(1.0 - alpha) * np.asarray(along))


def always_positive_along(guide: Array, alpha: float, isotropic: Array, along: Array) -> Array:
    """Mutant: ``|s|`` in place of ``s``, as if the guide were a one-sided direction."""
    return guided_direction(guide, alpha, isotropic, np.abs(along))


def signs_of_coordinates(guide: Array, alpha: float, isotropic: Array, along: Array) -> Array:
    """Mutant: ``sign(z)`` in place of ``z``: right covariance, but not equivariant."""
    return guided_direction(guide, alpha, np.sign(isotropic), along)


def pairings(indices: tuple[int, ...]) -> Iterable[list[tuple[int, int]]]:
    """All ways to pair positions, for Isserlis' theorem."""
    if not indices:
        yield []
        return
    first, rest = indices[0], indices[1:]
    for i, other in enumerate(rest):
        for more in pairings(rest[:i] + rest[i + 1 :]):
            yield [(first, other), *more]


_FOUR, _SIX = list(pairings((0, 1, 2, 3))), list(pairings((0, 1, 2, 3, 4, 5)))


def isserlis(sigma: Any, indices: tuple[int, ...]) -> Any:
    """``E[u_i u_j ...]`` for a centred Gaussian, as a sum over pairings."""
    total: Any = 0
    for matching in _FOUR if len(indices) == 4 else _SIX:
        product: Any = 1
        for a, b in matching:
            product = product * sigma[indices[a]][indices[b]]
        total = total + product
    return total


def slope_moment_by_pairings(a: Any, sigma: Any) -> Any:
    """``E[(a'u)^2 |u|^2]`` by summing fourth moments."""
    d = len(a)
    return sum(a[i] * a[j] * isserlis(sigma, (i, j, k, k)) for i in range(d) for j in range(d) for k in range(d))


def norm_moment_by_pairings(sigma: Any) -> Any:
    """``E|u|^6`` by summing sixth moments."""
    d = len(sigma)
    return sum(isserlis(sigma, (i, i, j, j, k, k)) for i, j, k in itertools.product(range(d), repeat=3))


def moments(case: MomentCase, *, slope_moment: Callable[..., float], norm_moment: Callable[..., float]) -> Slack:
    """Both sides: a closed form in floats, and Isserlis sums in fractions."""
    sigma, a = case.covariance, case.gradient
    exact, sixth = slope_moment_by_pairings(a, sigma), norm_moment_by_pairings(sigma)
    form = sum(a[i] * sigma[i][j] * a[j] for i in range(len(a)) for j in range(len(a)))
    floats = np.array([[float(v) for v in row] for row in sigma])
    scale = 1.0 + float(sum(v * v for v in a))
    return (
        identity(
            "slope energy",
            float(slope_moment(np.array([float(v) for v in a]), floats)),
            float(exact),
            rounding=1e-13 * scale,
        )
        & identity("sixth moment", float(norm_moment(floats)), float(sixth), rounding=1e-12)
        & at_most("slope energy bound", exact, 3 * form)
        & at_most("sixth moment bound", sixth, 15)
    )


def isotropic_sixth_moment(case: MomentCase) -> Slack:
    """The isotropic value, exactly, in the dimension of the case."""
    d = len(case.guide)
    sigma = [[Fraction(int(i == j), d) for j in range(d)] for i in range(d)]
    return identity("isotropic sixth moment", norm_moment_by_pairings(sigma), 1 + Fraction(6, d) + Fraction(8, d * d))


def isotropic_sixth_moment_wrong(case: MomentCase) -> Slack:
    """Mutant statement: the last term ``8 / d``."""
    d = len(case.guide)
    sigma = [[Fraction(int(i == j), d) for j in range(d)] for i in range(d)]
    return identity("isotropic sixth moment", norm_moment_by_pairings(sigma), 1 + Fraction(6, d) + Fraction(8, d))


def isotropic_sixth_moment_without_last(case: MomentCase) -> Slack:
    """Mutant statement: the last term dropped."""
    d = len(case.guide)
    sigma = [[Fraction(int(i == j), d) for j in range(d)] for i in range(d)]
    return identity("isotropic sixth moment", norm_moment_by_pairings(sigma), 1 + Fraction(6, d))


def only_first_term(gradient: Array, covariance: Array) -> float:
    """Mutant: ``a'Sigma a`` alone."""
    return float(gradient @ covariance @ gradient)


def without_third_trace(covariance: Array) -> float:
    """Mutant: ``8 tr Sigma^3`` dropped."""
    return 1.0 + 6.0 * float(np.trace(covariance @ covariance))


def rational_unit(parameters: tuple[Fraction, ...]) -> tuple[Fraction, ...]:
    """Rational unit vector by stereographic projection; one more coordinate than parameters."""
    square = sum((t * t for t in parameters), start=Fraction(0))
    return (*(2 * t / (1 + square) for t in parameters), (1 - square) / (1 + square))


def moment_case(ints: list[int], parameters: list[int], share: Fraction) -> MomentCase:
    """Moment case from small integers."""
    return MomentCase(tuple(Fraction(v) for v in ints), rational_unit(tuple(Fraction(p, 3) for p in parameters)), share)


def draw_moment_cases(rng: np.random.Generator, size: int) -> list[MomentCase]:
    """Dimensions 1..4, integer vectors in [-3, 3], rational unit guides, shares in sixths."""
    cases = []
    for _ in range(size):
        d = int(rng.integers(1, 5))
        share = Fraction(int(rng.integers(0, 7)), 6)
        cases.append(moment_case(rng.integers(-3, 4, d).tolist(), rng.integers(-6, 7, d - 1).tolist(), share))
    return cases


def moment_strategy() -> Any:
    """Hypothesis: the same family, with shrinking."""
    from hypothesis import strategies as st

    def build(d: int) -> Any:
        vector = st.lists(st.integers(-3, 3), min_size=d, max_size=d)
        parameters = st.lists(st.integers(-6, 6), min_size=d - 1, max_size=d - 1)
        return st.builds(moment_case, vector, parameters, st.integers(0, 6).map(lambda k: Fraction(k, 6)))

    return st.integers(1, 3).flatmap(build)


def moment_examples() -> dict[str, MomentCase]:
    """Rank one (equality), isotropic in three dimensions, and a mixture in two."""
    return {
        "one dimension": moment_case([2], [], Fraction(1, 2)),
        "rank one along the gradient": MomentCase(
            (Fraction(3), Fraction(4)), (Fraction(3, 5), Fraction(4, 5)), Fraction(0)
        ),
        "isotropic": moment_case([1, -2, 3], [1, 2], Fraction(1)),
        "half and half": MomentCase((Fraction(1), Fraction(-2)), (Fraction(-3, 5), Fraction(4, 5)), Fraction(1, 2)),
    }


def guided_step_is_two_point_step(case: EstimateCase, *, direction: Callable[..., Array]) -> Slack:
    """Compare the two steps under one ``z``, on the noiseless objective; the contrast vector serves as ``z``."""
    d, x, objective = case.x.size, case.x, case.problem.objective
    z, mu = 2.0 * case.contrast, case.radius
    two_point = two_point_estimate(objective(x + mu * z), objective(x - mu * z), mu, z)
    u = np.asarray(direction(case.guide, 1.0, z, np.asarray(0.7)))
    wide = mu * math.sqrt(d)
    guided = two_point_estimate(objective(x + wide * u), objective(x - wide * u), wide, u)
    size = 1.0 + float(np.abs(objective(x + mu * z)) + np.abs(objective(x - mu * z))) / mu * 2.0
    return identity("step", d * guided, two_point, rounding=1e-12 * size * d)


def rotated_direction(case: EstimateCase, *, direction: Callable[..., Array]) -> Slack:
    """Reflect guide and ``z`` by a Householder matrix; then turn the signs of guide and ``s`` together."""
    d = case.x.size
    q = np.eye(d) - 2.0 * np.outer(case.contrast, case.contrast) / (case.contrast @ case.contrast)
    z, s = case.x, np.asarray(-1.3)
    u = np.asarray(direction(case.guide, case.alpha, z, s))
    turned = np.asarray(direction(q @ case.guide, case.alpha, q @ z, s))
    flipped = np.asarray(direction(-case.guide, case.alpha, z, -s))
    return identity("rotation", turned, q @ u, rounding=ROUNDING) & identity("sign", flipped, u, rounding=ROUNDING)


_LINEAR_SCOPE = "d <= 8, entries in [-2, 2], shares 0, 0.02, 0.5, 1; guides random, along and across the gradient"
_LINEAR = Instances(scope=_LINEAR_SCOPE, draw=draw_linear_cases)
_MOMENTS = Instances(
    scope="dimensions 1..4, integer vectors in [-3, 3], rational unit guides, shares k/6",
    examples=moment_examples,
    draw=draw_moment_cases,
    strategy=moment_strategy,
)

CHECKS = (
    Check(
        theorem="performative_prediction.direction_covariance",
        name="superposition",
        kind="slack",
        observe=covariance_by_superposition,
        instances=_LINEAR,
        slots={DIRECTION: guided_direction},
        mutants=(
            Mutant("isotropic part not divided by d", "trace", {"direction": isotropic_part_not_divided}),
            Mutant("weight 1 - alpha, not its root", "trace", {"direction": guide_weighted_by_share}),
        ),
        cost=8,
    ),
    Check(
        theorem="performative_prediction.direction_moments",
        name="isserlis",
        kind="slack",
        observe=moments,
        instances=_MOMENTS,
        slots={SLOPE_MOMENT: slope_energy, NORM_MOMENT: sixth_norm_moment},
        mutants=(
            Mutant("a'Sigma a alone", "slope energy", {"slope_moment": only_first_term}),
            Mutant("third trace dropped", "sixth moment", {"norm_moment": without_third_trace}),
        ),
        cost=80,
    ),
    Check(
        theorem="performative_prediction.direction_moments",
        name="isotropic",
        kind="slack",
        observe=isotropic_sixth_moment,
        instances=_MOMENTS,
        mutants=(
            Mutant("8/d for 8/d^2", "isotropic sixth moment", observe=isotropic_sixth_moment_wrong),
            Mutant("last term dropped", "isotropic sixth moment", observe=isotropic_sixth_moment_without_last),
        ),
        cost=60,
    ),
    Check(
        theorem="performative_prediction.isotropic_reduction",
        name="same_z",
        kind="slack",
        observe=guided_step_is_two_point_step,
        instances=_LINEAR,
        slots={DIRECTION: guided_direction},
        mutants=(
            Mutant("isotropic part not divided by d", "step", {"direction": isotropic_part_not_divided}),
            Mutant("signs of coordinates", "step", {"direction": signs_of_coordinates}),
        ),
        cost=2,
    ),
    Check(
        theorem="performative_prediction.rotation",
        name="reflection",
        kind="slack",
        observe=rotated_direction,
        instances=_LINEAR,
        slots={DIRECTION: guided_direction},
        mutants=(
            Mutant("signs of coordinates", "rotation", {"direction": signs_of_coordinates}),
            Mutant("one-sided guide", "sign", {"direction": always_positive_along}),
        ),
        cost=2,
    ),
)
