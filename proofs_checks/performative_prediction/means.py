"""Checks on what the estimators have as mean."""

import functools
import importlib.util
import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whp.algorithms.performative_prediction import (
    guided_two_point,
    mean_known_gradient,
    oracle_for,
    shared_sample_two_point,
)
from whp.proofs_checks.engine import Check, Instances, Mutant, identity, recipe
from whp.proofs_checks.engine.evidence import Recipe
from whp.proofs_checks.engine.observation import Sample, Slack
from whp.theory.core import Slot
from whp.theory.performative_prediction import (
    EstimateCase,
    LinearNoise,
    LocationQuadratic,
    MultiproductPricing,
    StrategicClassification,
    direction_covariance,
    guided_mean_on_quadratic,
    same_sample_mean,
)

from .clipping import clipped_mean
from .directions import random_unit
from .drawn_estimates import (
    ESTIMATOR,
    INNER,
    estimates_of,
    half_the_divisor,
    second_coordinate_guide,
    undivided_isotropic_part,
    without_guide,
)

__all__ = ["CHECKS", "breast_cancer_is_installed", "strategic_patients"]

Array = NDArray[np.float64]


KNOWN_GRADIENT = Slot(
    "known_gradient",
    "(oracle, x, count, rng)",
    "oracle: DecisionOracle with R replicates; x: shape (R, d); count: samples; rng: Generator",
    "mean partial gradient of the loss at samples drawn at x, shape (R, d)",
    ("oracle", "x", "count", "rng"),
)


def variance_on_quadratic(case: EstimateCase) -> float:
    """Bound on the second moment of the estimate along the contrast, for a quadratic objective.

    ``E (a'u)^2 (c'u)^2 = a'Sa c'Sc + 2 (a'Sc)^2`` plus the noise ``(v_+ + v_-)(c'u)^2 / (4 mu^2 m)``, where ``v`` is
    the variance of the loss: constant on one family, ``s^2 |r|^2 + d s^4 / 2`` on the other.
    """
    sigma, a, c = direction_covariance(case.guide, case.alpha), case.gradient, case.contrast
    along = float(c @ sigma @ c)
    signal = float(a @ sigma @ a) * along + 2.0 * float(a @ sigma @ c) ** 2
    spread = 0.0
    if isinstance(case.problem, LocationQuadratic):  # v_+ + v_- = 2 v(x) + 2 s^2 mu^2 |(I - A) u|^2
        spread = 6.0 * case.problem.noise**2 * case.radius**2 * case.problem.smoothness * along
    noise = (2.0 * float(case.problem.loss_variance(case.x)) * along + spread) / (4.0 * case.radius**2 * case.batch)
    return signal + noise


def mean_on_quadratic(case: EstimateCase, *, estimator: Callable[..., Array], rng: np.random.Generator) -> Sample:
    """Mean of the guided estimate along the contrast, against ``Sigma grad F``."""
    claimed = float(case.contrast @ guided_mean_on_quadratic(case.problem, case.x, case.guide, case.alpha))
    draws = estimates_of(case, estimator, rng) @ case.contrast
    return clipped_mean(draws, claimed, variance_on_quadratic(case), "mean of g")


def mean_of_shared(case: EstimateCase, *, estimator: Callable[..., Array], rng: np.random.Generator) -> Sample:
    """Mean of the same-sample estimate along the contrast, against ``Sigma E grad_x f``."""
    claimed = float(case.contrast @ same_sample_mean(case.problem, case.x, case.guide, case.alpha))
    draws = estimates_of(case, estimator, rng) @ case.contrast
    return clipped_mean(draws, claimed, variance_of_shared(case), "mean of g")


def variance_of_shared(case: EstimateCase) -> float:
    """Second moment of the same-sample estimate: its slope is ``u'(known gradient at the sample mean)``."""
    sigma, r, c = direction_covariance(case.guide, case.alpha), case.problem.known_gradient(case.x), case.contrast
    along = float(c @ sigma @ c)
    signal = float(r @ sigma @ r) * along + 2.0 * float(r @ sigma @ c) ** 2
    spread = float(np.trace(sigma)) * along + 2.0 * float(np.linalg.norm(sigma @ c)) ** 2
    return signal + float(case.problem.noise) ** 2 / case.batch * spread


@functools.lru_cache(maxsize=32)
def smoothed_along_guide(case: EstimateCase) -> tuple[float, float]:
    """Mean of ``g'guide`` for a share of zero, and a bound on its second moment, by quadrature in ``s``."""
    if isinstance(case.problem, StrategicClassification):  # piecewise smooth: a fine midpoint rule instead
        edges = np.linspace(-7.0, 7.0, 701)
        s = 0.5 * (edges[1:] + edges[:-1])
        weights = np.exp(-0.5 * s**2) * (edges[1] - edges[0]) / math.sqrt(2.0 * math.pi)
    else:
        s, weights = np.polynomial.hermite_e.hermegauss(48)
        weights = weights / math.sqrt(2.0 * math.pi)
    points = case.x + case.radius * s[:, None] * case.guide
    values = case.problem.objective(points)
    slopes = (values - values[::-1]) / (2.0 * case.radius)  # both rules are symmetric in s
    variances = np.array([float(case.problem.loss_variance(p)) for p in points])
    noise = float(weights @ (s**2 * (variances + variances[::-1]))) / (4.0 * case.radius**2 * case.batch)
    return float(weights @ (s * slopes)), float(weights @ (s * slopes) ** 2) + noise


def mean_along_guide(case: EstimateCase, *, estimator: Callable[..., Array], rng: np.random.Generator) -> Sample:
    """Non-quadratic objectives, share zero: ``E g = guide E[s F(x + mu s guide)] / mu`` by quadrature."""
    mean, variance = smoothed_along_guide(case)
    sign = float(np.sign(case.contrast @ case.guide))
    draws = estimates_of(case, estimator, rng, 2 * INNER) @ (sign * case.guide)
    return clipped_mean(draws, sign * mean, 1.05 * variance, "mean of g'guide")


def worked_example() -> LocationQuadratic:
    """An instance with rational answers: ``r = (-3/4, 3/2)``, ``grad F = (-3/8, 15/16)`` at ``(1, 1)``."""
    return LocationQuadratic([[0.5, 0.25], [0.0, 0.5]], [1.0, -1.0], 0.5)


def quadratic_examples() -> dict[str, EstimateCase]:
    """Worked example and the constant-variance family, observed from both sides along the exact mean."""
    cases = {}
    problem, x = worked_example(), np.ones(2)
    guide = problem.known_gradient(x) / np.linalg.norm(problem.known_gradient(x))
    mean = guided_mean_on_quadratic(problem, x, guide, 0.5)
    for sign, word in ((1.0, "above"), (-1.0, "below")):
        contrast = sign * mean / np.linalg.norm(mean)
        cases[f"worked example from {word}"] = EstimateCase(problem, x, guide, 0.5, 0.5, 8, contrast)
    rng = np.random.default_rng(11)
    linear = LinearNoise(np.diag([1.0, 2.0, 0.5, 1.0]), [1.0, -1.0], rng.uniform(-1, 1, (2, 4)), 0.3)
    x, guide = rng.uniform(-2, 2, 4), random_unit(rng, 4)
    mean = guided_mean_on_quadratic(linear, x, guide, 0.3)
    for sign, word in ((1.0, "above"), (-1.0, "below")):
        contrast = sign * mean / np.linalg.norm(mean)
        cases[f"linear noise from {word}"] = EstimateCase(linear, x, guide, 0.3, 1.0, 4, contrast)
    return cases


def shared_examples() -> dict[str, EstimateCase]:
    """Worked example at ``(1, 1)``, and a performatively stable point, where the mean is zero but ``grad F`` is not."""
    cases = {}
    problem, x = worked_example(), np.ones(2)
    guide = problem.known_gradient(x) / np.linalg.norm(problem.known_gradient(x))
    slanted = LocationQuadratic([[0.5]], [0.0], 0.5, linear=[1.0])
    for sign, word in ((1.0, "above"), (-1.0, "below")):
        cases[f"worked example from {word}"] = EstimateCase(problem, x, guide, 0.5, 0.5, 8, [0.0, sign])
        cases[f"stable point -2 from {word}"] = EstimateCase(slanted, [-2.0], [1.0], 0.5, 0.5, 8, [sign])
    return cases


def small_shop() -> MultiproductPricing:
    """Three products and ten buyers."""
    return MultiproductPricing([0.3, 0.6, 1.0], [0.1, 0.25, 0.35], buyers=10)


def _table_file() -> Path | None:
    """File of scikit-learn's breast-cancer table; read without importing scikit-learn, which touches global state."""
    spec = importlib.util.find_spec("sklearn")
    folders = [] if spec is None else list(spec.submodule_search_locations or [])
    files = [Path(f) / "datasets" / "data" / "breast_cancer.csv" for f in folders]
    return next((f for f in files if f.is_file()), None)


def breast_cancer_is_installed() -> bool:
    """Whether scikit-learn's table can be read."""
    return _table_file() is not None


@recipe("performative_prediction.breast_cancer")
def strategic_patients(rng: np.random.Generator, sign: float) -> EstimateCase:
    """Strategic classification on scikit-learn's breast-cancer table: four features, a bias, 200 rows."""
    rows = np.loadtxt(str(_table_file()), delimiter=",", skiprows=1)[:200]
    chosen = rows[:, :4]
    features = np.column_stack([(chosen - chosen.mean(axis=0)) / chosen.std(axis=0), np.ones(200)])
    problem = StrategicClassification(features, 2.0 * rows[:, -1] - 1.0, cost=2.0)
    guide = problem.known_gradient(np.full(5, 0.3))
    guide = guide / np.linalg.norm(guide)
    return EstimateCase(problem, np.full(5, 0.3), guide, 0.0, 0.5, 8, sign * guide)


def nonquadratic_examples() -> dict[str, Any]:
    """Pricing with exact binomial sums, and a real table with strategic applicants."""
    shop, x = small_shop(), np.array([0.1, 0.5, 1.0])
    guide = shop.known_gradient(x) / np.linalg.norm(shop.known_gradient(x))
    cases: dict[str, Any] = {}
    for sign, word in ((1.0, "above"), (-1.0, "below")):
        cases[f"pricing from {word}"] = EstimateCase(shop, x, guide, 0.0, 0.2, 8, sign * guide)
        if breast_cancer_is_installed():
            cases[f"breast cancer from {word}"] = Recipe("performative_prediction.breast_cancer", {"sign": sign}, 0)
    return cases


def skew_examples() -> dict[str, EstimateCase]:
    """The trap: exact guide, share zero (mean zero) and share one half, seen half-way between guide and ``grad F``."""
    trap, x = LocationQuadratic([[1.0, 1.0], [-1.0, 1.0]], [0.0, 0.0], 0.5), np.array([1.0, 2.0])
    guide = trap.known_gradient(x) / np.linalg.norm(trap.known_gradient(x))
    along = trap.gradient(x) / np.linalg.norm(trap.gradient(x))
    along = (along + guide) / np.linalg.norm(along + guide)
    return {
        f"share {alpha} from {word}": EstimateCase(trap, x, guide, alpha, 0.5, 16, sign * along)
        for alpha, (sign, word) in itertools.product((0.0, 0.5), ((1.0, "above"), (-1.0, "below")))
    }


def trap_mean(case: EstimateCase, *, estimator: Callable[..., Array], rng: np.random.Generator) -> Sample:
    """Mean along the contrast, claimed to be ``(alpha / d) grad F``: nothing at all for share zero."""
    claimed = case.alpha / case.x.size * float(case.contrast @ case.gradient)
    draws = estimates_of(case, estimator, rng) @ case.contrast
    return clipped_mean(draws, claimed, variance_on_quadratic(case), "mean of g")


def trap_orthogonality(case: EstimateCase) -> Slack:
    """``r'grad F = 0`` on integer instances, exactly."""
    return _orthogonality(case, lambda m: m.T)


def trap_orthogonality_without_transpose(case: EstimateCase) -> Slack:
    """Mutant statement: the gradient taken as ``(I - A)^2 x`` plus ``r``."""
    return _orthogonality(case, lambda m: m.T + np.eye(len(m), dtype=object))


def _orthogonality(case: EstimateCase, transpose: Callable[[Array], Array]) -> Slack:
    d = case.x.size
    m = np.array(
        [[Fraction(int(i == j)) - Fraction(float(case.problem.sensitivity[i, j])) for j in range(d)] for i in range(d)]
    )
    r = m @ np.array([Fraction(float(v)) for v in case.x])
    return identity("r'grad F", r @ (transpose(m) @ r), 0)


def draw_skew_cases(rng: np.random.Generator, size: int) -> list[EstimateCase]:
    """Integer skew matrices in dimensions 2..6, integer decisions."""
    cases = []
    for _ in range(size):
        d = int(rng.integers(2, 7))
        upper = np.triu(rng.integers(-3, 4, (d, d)), 1).astype(float)
        problem = LocationQuadratic(np.eye(d) - upper + upper.T, np.zeros(d), 1.0)
        cases.append(EstimateCase(problem, rng.integers(-5, 6, d), np.eye(d)[0], 0.0, 1.0, 1))
    return cases


def draw_unskewed_cases(rng: np.random.Generator, size: int) -> list[EstimateCase]:
    """Broken assumption: ``I - A`` with ones on its diagonal."""
    cases = []
    for case in draw_skew_cases(rng, size):
        problem = LocationQuadratic(case.problem.sensitivity - np.eye(case.x.size), np.zeros(case.x.size), 1.0)
        cases.append(EstimateCase(problem, case.x, case.guide, 0.0, 1.0, 1))
    return cases


def static_examples() -> dict[str, EstimateCase]:
    """No performativity: ``A = 0``."""
    problem, x = LocationQuadratic(np.zeros((3, 3)), [1.0, -1.0, 0.5], 0.7), np.array([0.5, 1.0, -2.0])
    along = problem.gradient(x) / np.linalg.norm(problem.gradient(x))
    return {
        f"from {word}": EstimateCase(problem, x, along, 0.0, 1.0, 4, s * along)
        for s, word in ((1.0, "above"), (-1.0, "below"))
    }


def moving_examples() -> dict[str, EstimateCase]:
    """Broken assumption: ``A = I / 2``."""
    problem, x = LocationQuadratic(0.5 * np.eye(3), [1.0, -1.0, 0.5], 0.7), np.array([0.5, 1.0, -2.0])
    along = problem.gradient(x) / np.linalg.norm(problem.gradient(x))
    return {
        f"from {word}": EstimateCase(problem, x, along, 0.0, 1.0, 4, s * along)
        for s, word in ((1.0, "above"), (-1.0, "below"))
    }


def known_gradient_is_gradient(
    case: EstimateCase, *, known_gradient: Callable[..., Array], rng: np.random.Generator
) -> Sample:
    """Mean of the known-function gradient along the contrast, against ``grad F``."""
    x = np.broadcast_to(case.x, (INNER, case.x.size))
    draws = np.asarray(known_gradient(oracle_for(case.problem, INNER), x, case.batch, rng)) @ case.contrast
    variance = case.problem.noise**2 * float(case.contrast @ case.contrast) / case.batch
    return clipped_mean(draws, float(case.contrast @ case.gradient), variance, "mean of grad_x f")


def in_the_sample_instead(oracle: Any, x: Array, count: int, rng: Any) -> Array:
    """Mutant: the gradient in the sample, ``-(x - xi)``, padded into the decision's place."""
    return -mean_known_gradient(oracle, x, count, rng)


_QUADRATIC = Instances(
    scope="a worked two-dimensional instance and one with constant variance, from both sides",
    examples=quadratic_examples,
)


CHECKS = (
    Check(
        theorem="performative_prediction.guided_mean",
        name="quadratic",
        kind="sample",
        observe=mean_on_quadratic,
        instances=_QUADRATIC,
        slots={ESTIMATOR: guided_two_point},
        mutants=(
            Mutant("both sides on one sample", "mean of g", {"estimator": shared_sample_two_point}),
            Mutant("divided by mu, not 2 mu", "mean of g", {"estimator": half_the_divisor}),
            Mutant("covariance alpha I", "mean of g", {"estimator": undivided_isotropic_part}),
            Mutant("guide ignored", "mean of g", {"estimator": without_guide}),
        ),
        cost=24,
    ),
    Check(
        theorem="performative_prediction.guided_mean",
        name="along_the_guide",
        kind="sample",
        observe=mean_along_guide,
        instances=Instances(
            scope="pricing with exact sums, and scikit-learn's breast-cancer table with strategic applicants; share "
            "0, from both sides",
            examples=nonquadratic_examples,
        ),
        slots={ESTIMATOR: guided_two_point},
        mutants=(
            Mutant("both sides on one sample", "mean of g'guide", {"estimator": shared_sample_two_point}),
            Mutant("divided by mu, not 2 mu", "mean of g'guide", {"estimator": half_the_divisor}),
        ),
        cost=80,
    ),
    Check(
        theorem="performative_prediction.same_sample_mean",
        name="quadratic",
        kind="sample",
        observe=mean_of_shared,
        instances=Instances(scope="two instances with exact answers, from both sides", examples=shared_examples),
        slots={ESTIMATOR: shared_sample_two_point},
        mutants=(
            Mutant("independent samples", "mean of g", {"estimator": guided_two_point}),
            Mutant("guide ignored", "mean of g", {"estimator": without_guide}),
        ),
        cost=20,
    ),
    Check(
        theorem="performative_prediction.zero_share_trap",
        name="orthogonality",
        kind="slack",
        observe=trap_orthogonality,
        instances=Instances(scope="integer skew matrices, d in 2..6, integer decisions", draw=draw_skew_cases),
        mutants=(
            Mutant("gradient without the transpose", "r'grad F", observe=trap_orthogonality_without_transpose),
            Mutant(
                "not skew",
                "r'grad F",
                instances=Instances(scope="I - A with ones on the diagonal", draw=draw_unskewed_cases),
                ignoring=("skew",),
            ),
        ),
        cost=6,
    ),
    Check(
        theorem="performative_prediction.zero_share_trap",
        name="drift",
        kind="sample",
        observe=trap_mean,
        instances=Instances(
            scope="the two-dimensional trap, shares 0 and 1/2, from both sides", examples=skew_examples
        ),
        slots={ESTIMATOR: guided_two_point},
        mutants=(
            Mutant("guide ignored", "mean of g", {"estimator": without_guide}),
            Mutant("guide shifted", "mean of g", {"estimator": second_coordinate_guide}),
        ),
        cost=24,
    ),
    Check(
        theorem="performative_prediction.no_performativity",
        name="known_gradient",
        kind="sample",
        observe=known_gradient_is_gradient,
        instances=Instances(
            scope="a three-dimensional location family with A = 0, from both sides", examples=static_examples
        ),
        slots={KNOWN_GRADIENT: mean_known_gradient},
        mutants=(
            Mutant("gradient in the sample", "mean of grad_x f", {"known_gradient": in_the_sample_instead}),
            Mutant(
                "law responds",
                "mean of grad_x f",
                instances=Instances(scope="the same with A = I/2", examples=moving_examples),
                ignoring=("A = 0",),
            ),
        ),
        cost=16,
    ),
)
