"""Checks on the estimators: what they have as mean and as second moment."""

import functools
import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whp.algorithms.performative_prediction import (
    gaussian_one_point,
    guided_two_point,
    mean_known_gradient,
    oracle_for,
    shared_sample_two_point,
    two_point_estimate,
)
from whp.proofs_checks.engine import Check, Instances, Mutant, at_most, identity, recipe
from whp.proofs_checks.engine.evidence import Recipe
from whp.proofs_checks.engine.observation import Sample, Slack
from whp.theory.core import Slot
from whp.theory.performative_prediction import (
    GAUSSIAN_SECOND_MOMENT,
    GUIDED_SECOND_MOMENT,
    ISOTROPIC_SECOND_MOMENT,
    ONE_POINT_SECOND_MOMENT,
    CubicCase,
    EstimateCase,
    LinearNoise,
    LocationQuadratic,
    MultiproductPricing,
    StrategicClassification,
    direction_covariance,
    explored_gradient,
    guided_mean_on_quadratic,
    guided_second_moment_on_quadratic,
    one_point_second_moment_shift,
    same_sample_mean,
)

from .clipping import clipped_mean
from .directions import draw_linear_cases, random_unit

__all__ = ["CHECKS"]

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
ONE_POINT = Slot(
    "one_point",
    "(oracle, x, radius, batch, rng)",
    "oracle: DecisionOracle with R replicates; x: shape (R, d); radius: mu; batch: samples; rng: Generator",
    "gradient estimates without control, shape (R, d)",
    ("oracle", "x", "radius", "batch", "rng"),
)
DIFFERENCE = Slot(
    "difference",
    "(loss_plus, loss_minus, radius, direction)",
    "losses at x + mu u and x - mu u; radius: mu; direction: u, shape (d,)",
    "two-point estimate, shape (d,)",
    ("loss_plus", "loss_minus", "radius", "direction"),
)
KNOWN_GRADIENT = Slot(
    "known_gradient",
    "(oracle, x, count, rng)",
    "oracle: DecisionOracle with R replicates; x: shape (R, d); count: samples; rng: Generator",
    "mean partial gradient of the loss at samples drawn at x, shape (R, d)",
    ("oracle", "x", "count", "rng"),
)


def estimates_of(
    case: EstimateCase, estimator: Callable[..., Array], rng: np.random.Generator, inner: int = INNER
) -> Array:
    """Draw independent estimates; shape (inner, d)."""
    shape = (inner, case.x.size)
    x, guide = np.broadcast_to(case.x, shape), np.broadcast_to(case.guide, shape)
    oracle = oracle_for(case.problem, inner)
    return np.asarray(estimator(oracle, x, guide, case.alpha, case.radius, case.batch, rng))


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


@recipe("performative_prediction.breast_cancer")
def strategic_patients(rng: np.random.Generator, sign: float) -> EstimateCase:
    """Strategic classification on scikit-learn's breast-cancer table: four features, a bias, 200 rows."""
    from sklearn.datasets import load_breast_cancer

    table = load_breast_cancer()
    chosen = table.data[:200, :4]
    features = np.column_stack([(chosen - chosen.mean(axis=0)) / chosen.std(axis=0), np.ones(200)])
    problem = StrategicClassification(features, 2.0 * table.target[:200] - 1.0, cost=2.0)
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


def second_moment(
    case: EstimateCase, estimator: Callable[..., Array], rng: np.random.Generator
) -> tuple[Array, float, float]:
    """Draws of ``|g|^2``, their exact mean on the constant-variance family, and a bound on their second moment.

    ``|g|^4 <= t^4|u|^4 + 6 t^2 v|u|^4 + 3 v^2|u|^4`` in mean over the noise, with ``t^2 <= |a|^2|u|^2``, and
    ``E|u|^4, |u|^6, |u|^8 <= 3, 15, 105`` at trace one.
    """
    variance = case.problem.variance_bound / (2.0 * case.radius**2 * case.batch)
    a2 = float(case.gradient @ case.gradient)
    fourth = 105.0 * a2**2 + 90.0 * a2 * variance + 9.0 * variance**2
    claimed = guided_second_moment_on_quadratic(
        case.gradient, case.guide, case.alpha, case.problem.variance_bound, case.radius, case.batch
    )
    g = estimates_of(case, estimator, rng, 4 * INNER)
    return np.einsum("ri,ri->r", g, g), claimed, fourth


def second_moment_above(case: EstimateCase, *, estimator: Callable[..., Array], rng: np.random.Generator) -> Sample:
    """``E|g|^2`` is at most the exact split."""
    draws, claimed, fourth = second_moment(case, estimator, rng)
    return clipped_mean(draws, claimed, fourth, "mean of |g|^2")


def second_moment_below(case: EstimateCase, *, estimator: Callable[..., Array], rng: np.random.Generator) -> Sample:
    """``E|g|^2`` is at least the exact split."""
    draws, claimed, fourth = second_moment(case, estimator, rng)
    return clipped_mean(draws, claimed, fourth, "mean of |g|^2", "at least")


def half_the_noise(case: EstimateCase, *, estimator: Callable[..., Array], rng: np.random.Generator) -> Sample:
    """Mutant statement: noise part ``sigma^2 / (4 mu^2 m)``."""
    draws, claimed, fourth = second_moment(case, estimator, rng)
    trace = float(np.trace(direction_covariance(case.guide, case.alpha)))
    noise = trace * case.problem.variance_bound / (4.0 * case.radius**2 * case.batch)
    return clipped_mean(draws, claimed - noise, fourth, "mean of |g|^2")


def unit_direction(case: EstimateCase, *, estimator: Callable[..., Array], rng: np.random.Generator) -> Sample:
    """Mutant statement: ``|u|^2`` dropped, as if directions had unit length."""
    draws, claimed, fourth = second_moment(case, estimator, rng)
    sigma, a = direction_covariance(case.guide, case.alpha), case.gradient
    return clipped_mean(draws, claimed - 2.0 * float(np.linalg.norm(sigma @ a)) ** 2, fourth, "mean of |g|^2")


def moment_examples() -> dict[str, EstimateCase]:
    """Noise and signal both visible: one dimension, and five with a guide along the gradient."""
    one = LinearNoise([[1.0]], [1.0], [[0.5]], 1.0)
    rng = np.random.default_rng(5)
    five = LinearNoise(np.eye(5), rng.normal(size=5), 0.3 * rng.normal(size=(5, 5)), 0.5)
    x = np.ones(5)
    guide = five.gradient(x) / np.linalg.norm(five.gradient(x))
    return {
        "one dimension": EstimateCase(one, [0.5], [1.0], 0.5, 0.5, 2),
        "five dimensions": EstimateCase(five, x, guide, 0.2, 0.3, 4),
    }


def bound_on_second_moment(case: EstimateCase) -> Slack:
    """Exact second moment on the constant-variance family against the bound."""
    return _bounded(case, explored_gradient(case.gradient, case.guide, case.alpha), case.problem.smoothness)


def bound_without_second_term(case: EstimateCase) -> Slack:
    """Mutant statement: ``q`` in place of ``6 q``."""
    return _bounded(case, explored_gradient(case.gradient, case.guide, case.alpha) / 6.0, case.problem.smoothness)


def bound_with_quarter_noise(case: EstimateCase) -> Slack:
    """Mutant statement: noise ``sigma^2 / (4 mu^2 m)``."""
    return _bounded(case, explored_gradient(case.gradient, case.guide, case.alpha), case.problem.smoothness, 0.5)


def _bounded(case: EstimateCase, q: float, smoothness: float, noise_share: float = 1.0) -> Slack:
    bound = GUIDED_SECOND_MOMENT(
        q=q, mu=case.radius, H=smoothness, sigma2=noise_share * case.problem.variance_bound, batch=case.batch
    )
    return at_most("E|g|^2", _exact_second_moment(case), bound, rounding=1e-12 * (1.0 + bound))


def _exact_second_moment(case: EstimateCase) -> float:
    return guided_second_moment_on_quadratic(
        case.gradient, case.guide, case.alpha, case.problem.variance_bound, case.radius, case.batch
    )


def isotropic_bound(case: EstimateCase) -> Slack:
    """Exact second moment for share one against the isotropic bound."""
    return _isotropic(case, 1.0, 1.0)


def isotropic_bound_without_two_over_d(case: EstimateCase) -> Slack:
    """Mutant statement: ``|grad|^2 / d`` without its factor ``2 (1 + 2/d)``."""
    return _isotropic(case, 0.5 / (1.0 + 2.0 / case.x.size), 1.0)


def isotropic_bound_with_quarter_noise(case: EstimateCase) -> Slack:
    """Mutant statement: noise ``sigma^2 / (4 mu^2 m)``."""
    return _isotropic(case, 1.0, 0.5)


def _isotropic(case: EstimateCase, gradient_share: float, noise_share: float) -> Slack:
    bound = ISOTROPIC_SECOND_MOMENT(
        gradient2=gradient_share * float(case.gradient @ case.gradient),
        d=case.x.size,
        mu=case.radius,
        H=case.problem.smoothness,
        sigma2=noise_share * case.problem.variance_bound,
        batch=case.batch,
    )
    return at_most("E|g|^2", _exact_second_moment(case), bound, rounding=1e-12 * (1.0 + bound))


def gaussian_bound(case: EstimateCase) -> Slack:
    """Exact ``(d + 2)|a|^2 + d sigma^2 / (2 mu^2 m)`` for ``u ~ N(0, I)`` against the predecessor's bound."""
    return _gaussian(case, 1.0, 1.0)


def gaussian_bound_with_less_gradient(case: EstimateCase) -> Slack:
    """Mutant statement: ``(d + 4)|grad|^2 / 2`` in place of ``6 (d + 4)|grad|^2``, and the rest without its slack."""
    return _gaussian(case, 1.0 / 12.0, 0.0)


def gaussian_bound_with_less_noise(case: EstimateCase) -> Slack:
    """Mutant statement: noise ``sigma^2 / (2 mu^2 m)`` without the dimension."""
    return _gaussian(case, 1.0, 1.0 / (3.0 * case.x.size))


def _gaussian(case: EstimateCase, gradient_share: float, noise_share: float) -> Slack:
    d, a2 = case.x.size, float(case.gradient @ case.gradient)
    noise = case.problem.variance_bound / (2.0 * case.radius**2 * case.batch)
    bound = GAUSSIAN_SECOND_MOMENT(
        gradient2=gradient_share * a2,
        d=d,
        mu=case.radius,
        H=case.problem.smoothness,
        sigma2=noise_share * case.problem.variance_bound,
        batch=case.batch,
    )
    return at_most("E|g|^2", (d + 2) * a2 + d * noise, bound, rounding=1e-12 * (1.0 + bound))


def one_point_bound(case: EstimateCase) -> Slack:
    """Exact second moment of the one-point estimate, with a control one below ``F``, against the bound."""
    return _one_point(case, 1.0, 1.0)


def one_point_bound_without_control(case: EstimateCase) -> Slack:
    """Mutant statement: no term for the control."""
    return _one_point(case, 0.0, 1.0)


def one_point_bound_with_less_noise(case: EstimateCase) -> Slack:
    """Mutant statement: a tenth of the noise."""
    return _one_point(case, 1.0, 0.1)


def _one_point(case: EstimateCase, control_share: float, noise_share: float) -> Slack:
    d, a2, p, mu = case.x.size, float(case.gradient @ case.gradient), case.problem.curvature, case.radius
    gap, trace = 1.0, float(np.trace(p))
    quartic = (d + 4) * (trace**2 + 2.0 * float(np.trace(p @ p)))  # E (u'Pu)^2 |u|^2
    signal = gap**2 * d / mu**2 + (d + 2) * a2 + mu**2 / 4.0 * quartic + gap * (d + 2) * trace
    noise = case.problem.variance_bound / (mu**2 * case.batch)
    bound = ONE_POINT_SECOND_MOMENT(
        gradient2=a2,
        d=d,
        mu=mu,
        H=case.problem.smoothness,
        sigma2=noise_share * case.problem.variance_bound,
        batch=case.batch,
        control2=control_share * gap**2,
    )
    return at_most("E|g|^2", signal + d * noise, bound, rounding=1e-12 * (1.0 + bound))


def constant_shift_two_point(case: CubicCase, *, difference: Callable[..., Any]) -> Slack:
    """Two-point estimates of ``f`` and ``f + 7``, in fractions."""
    u = np.array([Fraction(1), *(Fraction(-1, k + 2) for k in range(len(case.x) - 1))], dtype=object)
    x = np.array(case.x, dtype=object)
    plus, minus = case.value(x + case.step * u), case.value(x - case.step * u)
    plain = difference(plus, minus, case.step, u)
    return identity("shifted estimate", np.asarray(difference(plus + 7, minus + 7, case.step, u)), np.asarray(plain))


def constant_shift_one_point(
    case: EstimateCase, *, one_point: Callable[..., Array], rng: np.random.Generator
) -> Sample:
    """Mean of ``|g|^2`` of the one-point estimate of a constant loss, from its exact value for a shift from zero."""
    d, constant = case.x.size, float(case.problem.values[0])
    claimed = one_point_second_moment_shift(0.0, constant, d, case.radius)
    g = np.asarray(
        one_point(oracle_for(case.problem, INNER), np.broadcast_to(case.x, (INNER, d)), case.radius, case.batch, rng)
    )
    scale = (constant / case.radius) ** 4
    return clipped_mean(np.einsum("ri,ri->r", g, g), claimed, scale * 2.0 * d, "mean of |g|^2", "at least")


def controlled_one_point(oracle: Any, x: Array, radius: float, batch: int, rng: Any) -> Array:
    """Mutant: a control equal to the constant removes the shift."""
    return gaussian_one_point(oracle, x, radius, batch, rng, control=3.0)


def normalised_one_point(oracle: Any, x: Array, radius: float, batch: int, rng: Any) -> Array:
    """Mutant: directions of unit length."""
    return gaussian_one_point(oracle, x, radius, batch, rng) / math.sqrt(x.shape[-1])


def constant_examples() -> dict[str, EstimateCase]:
    """A loss that is 3 whatever happens, in four dimensions."""
    from whp.theory.performative_prediction import DiscreteSoftmax

    problem = DiscreteSoftmax(np.ones((2, 4)), [0.0, 0.0], [3.0, 3.0])
    return {"constant 3": EstimateCase(problem, np.zeros(4), np.zeros(4), 1.0, 0.5, 2)}


def one_sided(loss_plus: Any, loss_minus: Any, radius: Any, direction: Any) -> Any:
    """Mutant: one side only."""
    return loss_plus / radius * direction


def averaged(loss_plus: Any, loss_minus: Any, radius: Any, direction: Any) -> Any:
    """Mutant: the sum of the sides in place of their difference."""
    return (loss_plus + loss_minus) / (2 * radius) * direction


def multiplied_by_step(loss_plus: Any, loss_minus: Any, radius: Any, direction: Any) -> Any:
    """Mutant: multiplied instead of divided by the step."""
    return (loss_plus - loss_minus) / 2 * radius * direction


def bias_over_signs(case: CubicCase, *, difference: Callable[..., Any]) -> Slack:
    """Average over all sign vectors, against gradient plus bias, in fractions."""
    return identity(
        "mean over signs", _over_signs(case, difference), np.array(_with_bias(case, Fraction(1, 6)), dtype=object)
    )


def bias_left_out(case: CubicCase, *, difference: Callable[..., Any]) -> Slack:
    """Mutant statement: unbiased."""
    return identity("mean over signs", _over_signs(case, difference), np.array(case.gradient, dtype=object))


def _over_signs(case: CubicCase, difference: Callable[..., Any]) -> Any:
    x = np.array(case.x, dtype=object)
    total = np.array([Fraction(0)] * len(x), dtype=object)
    for signs in itertools.product((1, -1), repeat=len(x)):
        u = np.array([Fraction(s) for s in signs], dtype=object)
        total = total + difference(case.value(x + case.step * u), case.value(x - case.step * u), case.step, u)
    return total / 2 ** len(x)


def _with_bias(case: CubicCase, factor: Fraction) -> list[Fraction]:
    return [g + case.step**2 * 6 * a * factor for g, a in zip(case.gradient, case.cubic, strict=True)]


def cubic_examples() -> dict[str, CubicCase]:
    """The linear function with answer ``(3, -2)`` and the cube at one with answer 3.01."""
    one = Fraction(1)
    return {
        "3 x1 - 2 x2": CubicCase((Fraction(0),) * 2, (Fraction(3), Fraction(-2)), (one, one), Fraction(1, 100)),
        "cube at one": CubicCase((one,), (Fraction(0),), (one,), Fraction(1, 10)),
    }


def draw_cubics(rng: np.random.Generator, size: int) -> list[CubicCase]:
    """One to four coordinates, small integer coefficients, rational points and steps."""
    cases = []
    for _ in range(size):
        d = int(rng.integers(1, 5))
        rows = [tuple(Fraction(int(v), 2) for v in rng.integers(-6, 7, d)) for _ in range(3)]
        cases.append(CubicCase(rows[0], rows[1], rows[2], Fraction(int(rng.integers(1, 9)), 10)))
    return cases


def cubic_strategy() -> Any:
    """Hypothesis: the same family, with shrinking."""
    from hypothesis import strategies as st

    def build(d: int) -> Any:
        row = st.lists(st.integers(-6, 6), min_size=d, max_size=d).map(lambda v: tuple(Fraction(k, 2) for k in v))
        return st.builds(CubicCase, row, row, row, st.integers(1, 8).map(lambda k: Fraction(k, 10)))

    return st.integers(1, 3).flatmap(build)


_QUADRATIC = Instances(
    scope="a worked two-dimensional instance and one with constant variance, from both sides",
    examples=quadratic_examples,
)
_LINEAR_SCOPE = (
    "f = x'Px/2 + w'xi, xi ~ N(Ax, s^2 I), d <= 8, entries in [-2, 2], shares 0, 0.02, 0.5, 1, radii 0.1 to 3"
)


def draw_isotropic_cases(rng: np.random.Generator, size: int) -> list[EstimateCase]:
    """As `draw_linear_cases`, with share one."""
    return [EstimateCase(c.problem, c.x, c.guide, 1.0, c.radius, c.batch) for c in draw_linear_cases(rng, size)]


def gradient_dominated() -> dict[str, EstimateCase]:
    """No noise, hardly any curvature: only the gradient counts."""
    problem = LinearNoise(1e-3 * np.eye(2), [1.0], [[3.0, 4.0]], 0.0)
    return {"gradient only": EstimateCase(problem, np.zeros(2), [0.6, 0.8], 0.0, 0.01, 1)}


def noise_dominated() -> dict[str, EstimateCase]:
    """At the stationary point: only the noise counts."""
    problem = LinearNoise(1e-3 * np.eye(2), [1.0], [[0.0, 0.0]], 1.0)
    return {"noise only": EstimateCase(problem, np.zeros(2), [0.6, 0.8], 0.0, 0.01, 1)}


def extreme_cases() -> dict[str, EstimateCase]:
    """Both extremes, where the bounds are tightest."""
    return {**gradient_dominated(), **noise_dominated()}


def extreme_isotropic_cases() -> dict[str, EstimateCase]:
    """The same with share one."""
    return {k: EstimateCase(c.problem, c.x, c.guide, 1.0, c.radius, c.batch) for k, c in extreme_cases().items()}


_BOUNDED = Instances(scope=_LINEAR_SCOPE, examples=extreme_cases, draw=draw_linear_cases)
_CUBICS = Instances(
    scope="separable cubics in 1..4 dimensions with half-integer coefficients, rational points and steps",
    examples=cubic_examples,
    draw=draw_cubics,
    strategy=cubic_strategy,
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
    Check(
        theorem="performative_prediction.second_moment_split",
        name="from_above",
        kind="sample",
        observe=second_moment_above,
        instances=Instances(scope="two instances with constant variance", examples=moment_examples),
        slots={ESTIMATOR: guided_two_point},
        mutants=(
            Mutant("noise sigma^2 / (4 mu^2 m)", "mean of |g|^2", observe=half_the_noise),
            Mutant("|u|^2 dropped", "mean of |g|^2", observe=unit_direction),
            Mutant("one sample a side", "mean of |g|^2", {"estimator": single_sample}),
        ),
        cost=20,
    ),
    Check(
        theorem="performative_prediction.second_moment_split",
        name="from_below",
        kind="sample",
        observe=second_moment_below,
        instances=Instances(scope="two instances with constant variance", examples=moment_examples),
        slots={ESTIMATOR: guided_two_point},
        mutants=(
            Mutant("both sides on one sample", "mean of |g|^2", {"estimator": shared_sample_two_point}),
            Mutant("guide ignored", "mean of |g|^2", {"estimator": without_guide}),
        ),
        cost=20,
    ),
    Check(
        theorem="performative_prediction.second_moment_bound",
        name="constant_variance",
        kind="slack",
        observe=bound_on_second_moment,
        instances=_BOUNDED,
        mutants=(
            Mutant("q in place of 6 q", "E|g|^2", observe=bound_without_second_term),
            Mutant("noise sigma^2 / (4 mu^2 m)", "E|g|^2", observe=bound_with_quarter_noise),
        ),
        cost=4,
    ),
    Check(
        theorem="performative_prediction.isotropic_second_moment",
        name="constant_variance",
        kind="slack",
        observe=isotropic_bound,
        instances=Instances(
            scope=_LINEAR_SCOPE.replace("shares 0, 0.02, 0.5, 1", "share 1"),
            examples=extreme_isotropic_cases,
            draw=draw_isotropic_cases,
        ),
        mutants=(
            Mutant("factor 2 (1 + 2/d) dropped", "E|g|^2", observe=isotropic_bound_without_two_over_d),
            Mutant("noise sigma^2 / (4 mu^2 m)", "E|g|^2", observe=isotropic_bound_with_quarter_noise),
        ),
        cost=4,
    ),
    Check(
        theorem="performative_prediction.gaussian_second_moment",
        name="constant_variance",
        kind="slack",
        observe=gaussian_bound,
        instances=_BOUNDED,
        mutants=(
            Mutant("a twelfth of the gradient", "E|g|^2", observe=gaussian_bound_with_less_gradient),
            Mutant("noise without the dimension", "E|g|^2", observe=gaussian_bound_with_less_noise),
        ),
        cost=4,
    ),
    Check(
        theorem="performative_prediction.one_point_second_moment",
        name="constant_variance",
        kind="slack",
        observe=one_point_bound,
        instances=_BOUNDED,
        mutants=(
            Mutant("no term for the control", "E|g|^2", observe=one_point_bound_without_control),
            Mutant("a tenth of the noise", "E|g|^2", observe=one_point_bound_with_less_noise),
        ),
        cost=4,
    ),
    Check(
        theorem="performative_prediction.constant_shift",
        name="two_point",
        kind="slack",
        observe=constant_shift_two_point,
        instances=_CUBICS,
        slots={DIFFERENCE: two_point_estimate},
        mutants=(
            Mutant("one side only", "shifted estimate", {"difference": one_sided}),
            Mutant("sum of the sides", "shifted estimate", {"difference": averaged}),
        ),
    ),
    Check(
        theorem="performative_prediction.constant_shift",
        name="one_point",
        kind="sample",
        observe=constant_shift_one_point,
        instances=Instances(scope="the constant loss 3 in four dimensions", examples=constant_examples),
        slots={ONE_POINT: gaussian_one_point},
        mutants=(
            Mutant("control equal to the constant", "mean of |g|^2", {"one_point": controlled_one_point}),
            Mutant("directions of unit length", "mean of |g|^2", {"one_point": normalised_one_point}),
        ),
        cost=16,
    ),
    Check(
        theorem="performative_prediction.difference_bias",
        name="all_signs",
        kind="slack",
        observe=bias_over_signs,
        instances=_CUBICS,
        slots={DIFFERENCE: two_point_estimate},
        mutants=(
            Mutant("multiplied by the step", "mean over signs", {"difference": multiplied_by_step}),
            Mutant("no bias", "mean over signs", observe=bias_left_out),
        ),
        cost=6,
    ),
)
