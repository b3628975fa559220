"""Checks on second moments of the estimators: exact values, and the bounds on them."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from whp.algorithms.performative_prediction import (
    guided_two_point,
    shared_sample_two_point,
)
from whp.proofs_checks.engine import Check, Instances, Mutant, at_most
from whp.proofs_checks.engine.observation import Sample, Slack
from whp.theory.performative_prediction import (
    GAUSSIAN_SECOND_MOMENT,
    GUIDED_SECOND_MOMENT,
    ISOTROPIC_SECOND_MOMENT,
    ONE_POINT_SECOND_MOMENT,
    EstimateCase,
    LinearNoise,
    direction_covariance,
    explored_gradient,
    guided_second_moment_on_quadratic,
)

from .clipping import clipped_mean
from .directions import draw_linear_cases
from .drawn_estimates import ESTIMATOR, INNER, estimates_of, single_sample, without_guide

__all__ = ["CHECKS"]

Array = NDArray[np.float64]


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


CHECKS = (
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
)
