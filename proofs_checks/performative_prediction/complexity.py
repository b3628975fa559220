"""Checks on numbers of samples: plans with explicit constants, their orders, and where one bound is the smaller."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whp.algorithms.performative_prediction import AccuracyPlan, guided_trajectories, plan_for_accuracy
from whp.proofs_checks.engine import Check, ClaimedRate, Cost, Instances, Mutant, at_most, identity, requires
from whp.proofs_checks.engine.observation import Slack
from whp.theory.core import Slot
from whp.theory.performative_prediction import (
    EXPLORED_GRADIENT_SHARP,
    GUIDED_COMPLEXITY,
    PREVIOUS_BOUNDED_COMPLEXITY,
    TWO_POINT_COMPLEXITY,
    GuidedSchedule,
    LinearNoise,
    largest_eigenvalue,
)

from .convergence import DESCENT, RUNS, frozen

__all__ = ["CHECKS", "PlanCase", "RateCase", "RegimeCase"]

Array = NDArray[np.float64]


PLANNER = Slot(
    "planner",
    "(epsilon, dimension, smoothness, variance, initial_gap, small_step)",
    "epsilon: wanted root mean square gradient; dimension: d; smoothness: H; variance: sigma^2; initial_gap: F(x_0) - "
    "inf F; "
    "small_step: step 1/(12 d H) rather than 1/(12 H)",
    "AccuracyPlan with step, radius, batch, iterations, isotropic_share, samples",
    ("epsilon", "dimension", "smoothness", "variance", "initial_gap", "small_step"),
)


@dataclass(frozen=True)
class PlanCase:
    """Constants for which a plan is asked.

    Parameters
    ----------
    epsilon, dimension, smoothness, variance, initial_gap, small_step
        As in the slot ``planner``.
    """

    epsilon: float
    dimension: int
    smoothness: float = 1.0
    variance: float = 1.0
    initial_gap: float = 1.0
    small_step: bool = True


@dataclass(frozen=True)
class RegimeCase:
    """Integers ``d``, ``G`` and the reciprocal of the accuracy.

    Parameters
    ----------
    dimension, largest_loss, inverse_epsilon : int
        Positive.
    """

    dimension: int
    largest_loss: int
    inverse_epsilon: int


def plan_of(case: PlanCase, planner: Callable[..., AccuracyPlan]) -> AccuracyPlan:
    """Ask the subject for a plan."""
    return planner(
        case.epsilon, case.dimension, case.smoothness, case.variance, case.initial_gap, small_step=case.small_step
    )


def plan_is_sufficient(case: PlanCase, *, planner: Callable[..., AccuracyPlan]) -> Slack:
    """The sharp bound, evaluated for the plan, is at most ``epsilon^2``; step and samples are what they should be."""
    plan = plan_of(case, planner)
    shares = np.array([plan.isotropic_share(k) for k in range(plan.iterations)])
    bound = EXPLORED_GRADIENT_SHARP(
        gap=case.initial_gap,
        beta=plan.step,
        steps=plan.iterations,
        H=case.smoothness,
        sigma2=case.variance,
        lambda_mu2=float(largest_eigenvalue(shares, case.dimension).mean()) * plan.radius**2,
        mu2=plan.radius**2,
        noise=1.0 / (plan.radius**2 * plan.batch),
    )
    square = case.dimension / float(shares.mean()) * float(bound)
    return (
        at_most("accuracy", square, case.epsilon**2 * (1.0 + 1e-9))
        & requires("step at most 1 / (12 H)", 12.0 * case.smoothness * plan.step <= 1.0 + 1e-12)
        & identity("samples", plan.samples, 2 * plan.batch * plan.iterations)
    )


def half_the_batch(*arguments: Any, **options: Any) -> AccuracyPlan:
    """Mutant: half the samples a side."""
    plan = plan_for_accuracy(*arguments, **options)
    return replace(plan, batch=max(1, plan.batch // 2), samples=2 * max(1, plan.batch // 2) * plan.iterations)


def half_the_iterations(*arguments: Any, **options: Any) -> AccuracyPlan:
    """Mutant: half the iterations."""
    plan = plan_for_accuracy(*arguments, **options)
    return replace(plan, iterations=plan.iterations // 2, samples=2 * plan.batch * (plan.iterations // 2))


def extra_dimensions(epsilon: float, dimension: int, *arguments: Any, **options: Any) -> AccuracyPlan:
    """Mutant: ``d^(5/2)`` times the samples, so that more than ``d^4`` are needed."""
    plan = plan_for_accuracy(epsilon, dimension, *arguments, **options)
    return replace(plan, samples=int(plan.samples * dimension**2.5))


def extra_accuracy(epsilon: float, dimension: int, *arguments: Any, **options: Any) -> AccuracyPlan:
    """Mutant: a batch that grows like ``1 / epsilon^5`` in place of ``1 / epsilon^4``."""
    plan = plan_for_accuracy(epsilon, dimension, *arguments, **options)
    return replace(plan, samples=int(plan.samples / epsilon))


def constant_step_planner(
    epsilon: float, dimension: int, smoothness: float, variance: float, initial_gap: float, small_step: bool = True
) -> AccuracyPlan:
    """Mutant: step ``1 / (12 H)`` where the small one was asked for, with the simple bound's radius and batch."""
    plan = plan_for_accuracy(epsilon, dimension, smoothness, variance, initial_gap, small_step=False)
    return replace(plan, samples=plan.samples * dimension)


def samples_in_dimension(case: PlanCase, *, planner: Callable[..., AccuracyPlan]) -> Cost:
    """Samples of the plan against ``d``."""
    return Cost(case.dimension, plan_of(case, planner).samples, "samples in d")


def samples_in_accuracy(case: PlanCase, *, planner: Callable[..., AccuracyPlan]) -> Cost:
    """Samples of the plan against ``1 / epsilon``."""
    return Cost(round(1.0 / case.epsilon), plan_of(case, planner).samples, "samples in 1/epsilon")


def dimensions(small_step: bool) -> Callable[[], dict[str, PlanCase]]:
    """Sizes ``d = 16, 32, ..., 1024``."""
    return lambda: {f"d={d}": PlanCase(0.2, d, small_step=small_step) for d in (16, 32, 64, 128, 256, 512, 1024)}


def accuracies(small_step: bool) -> Callable[[], dict[str, PlanCase]]:
    """Accuracies ``1/4, 1/8, ..., 1/128``."""
    return lambda: {f"epsilon=1/{k}": PlanCase(1.0 / k, 16, small_step=small_step) for k in (4, 8, 16, 32, 64, 128)}


def draw_plan_cases(rng: np.random.Generator, size: int) -> list[PlanCase]:
    """Constants over several orders of magnitude, sized so that a plan has at most some thousand iterations."""
    cases = []
    for _ in range(size):
        d = int(rng.integers(1, 6))
        smoothness, variance = (float(10.0 ** rng.uniform(-1, 1)) for _ in range(2))
        epsilon = float(10.0 ** rng.uniform(-1, 1))
        small = bool(rng.integers(0, 2))
        gap = float(rng.uniform(0.1, 1.0)) * 20.0 * epsilon**2 / (smoothness * d ** (2 if small else 1))
        cases.append(PlanCase(epsilon, d, smoothness, variance, gap, small))
    return cases


@dataclass(frozen=True)
class RateCase:
    """A plan to be run on a two-dimensional problem; size is its number of samples.

    Parameters
    ----------
    inverse_epsilon : float
        ``1 / epsilon``.
    """

    inverse_epsilon: float


def squared_gradient_against_samples(
    case: RateCase, *, descent: Callable[..., Array], rng: np.random.Generator
) -> Cost:
    """Run the plan of an accuracy; the mean of ``m`` losses is drawn in one go, since their noise is Gaussian."""
    problem, start = rate_problem(1.0), np.array([0.4, -0.3])
    gap = float(problem.objective(start)) - problem.minimum()
    plan = plan_for_accuracy(1.0 / case.inverse_epsilon, 2, problem.smoothness, problem.variance_bound, gap, 1.0)
    averaged = rate_problem(1.0 / math.sqrt(plan.batch))
    schedule = GuidedSchedule(plan.step, plan.radius, 1, plan.iterations, initial_share=1.0)
    x = np.asarray(descent(averaged, start, schedule, RUNS, rng))
    square = float((problem.gradient(x) ** 2).sum(axis=-1).mean())
    return Cost(plan.samples, 1.0 / square, "1 / squared gradient")


def rate_problem(noise: float) -> LinearNoise:
    """Two dimensions, unit curvature."""
    return LinearNoise(np.eye(2), [1.0], [[0.5, -0.25]], noise)


def no_descent_noise(
    problem: LinearNoise, start: Array, schedule: GuidedSchedule, replicates: int, rng: np.random.Generator
) -> Array:
    """Mutant: a fixed number of steps whatever the plan."""
    return guided_trajectories(problem, start, replace(schedule, iterations=400), replicates, rng)


def regime(case: RegimeCase) -> Slack:
    """Both orders evaluated exactly on integers, against ``G^3 > d``."""
    return _regime(case, case.largest_loss**3 > case.dimension)


def regime_square_root(case: RegimeCase) -> Slack:
    """Mutant statement: ``G > d^(1/2)``."""
    return _regime(case, case.largest_loss**2 > case.dimension)


def regime_not_strict(case: RegimeCase) -> Slack:
    """Mutant statement: ``G >= d^(1/3)``."""
    return _regime(case, case.largest_loss**3 >= case.dimension)


def _regime(case: RegimeCase, condition: bool) -> Slack:
    epsilon = math.pow(2.0, -case.inverse_epsilon)  # powers of two keep the quotients exact
    guided = GUIDED_COMPLEXITY.formula(None, d=case.dimension, epsilon=epsilon)
    previous = PREVIOUS_BOUNDED_COMPLEXITY.formula(None, d=case.dimension, epsilon=epsilon, G=case.largest_loss)
    return requires("equivalence", (guided < previous) == condition)


def regime_examples() -> dict[str, RegimeCase]:
    """Perfect cubes sit on the boundary."""
    return {
        "boundary d=27, G=3": RegimeCase(27, 3, 2),
        "just inside": RegimeCase(26, 3, 2),
        "just outside": RegimeCase(28, 3, 2),
    }


def draw_regimes(rng: np.random.Generator, size: int) -> list[RegimeCase]:
    """``d`` up to 4000, ``G`` up to 20."""
    return [
        RegimeCase(int(rng.integers(1, 4001)), int(rng.integers(1, 21)), int(rng.integers(0, 8))) for _ in range(size)
    ]


def two_point_product(case: PlanCase) -> Slack:
    """Iterations times samples an iteration, against the total; ``d`` a square, ``epsilon`` a power of two."""
    return _product(case, 4)


def two_point_product_mutant(case: PlanCase) -> Slack:
    """Mutant statement: ``d`` in place of ``d^2`` samples an iteration."""
    return _product(case, 2)


def two_point_total_without_root(case: PlanCase) -> Slack:
    """Mutant statement: a total of ``d^4 / epsilon^6``."""
    root, epsilon = math.isqrt(case.dimension), case.epsilon
    return identity(
        "total",
        (root**5 / epsilon**4) * (root**4 / epsilon**2),
        float(GUIDED_COMPLEXITY(d=case.dimension, epsilon=epsilon)),
    )


def _product(case: PlanCase, power: int) -> Slack:
    root, epsilon = math.isqrt(case.dimension), case.epsilon
    total = float(TWO_POINT_COMPLEXITY(d=case.dimension, epsilon=epsilon))
    return identity("total", (root**5 / epsilon**4) * (root**power / epsilon**2), total, rounding=1e-12 * total)


def draw_squares(rng: np.random.Generator, size: int) -> list[PlanCase]:
    """``d = 1, 4, 9, ..., 400``, ``epsilon = 1/2, ..., 1/32``."""
    return [PlanCase(2.0 ** -int(rng.integers(1, 6)), int(rng.integers(1, 21)) ** 2) for _ in range(size)]


def _rate(
    theorem: str,
    name: str,
    small: bool,
    by_dimension: bool,
    exponent: float,
    relation: Any,
    mutants: tuple[Mutant, ...],
) -> Check:
    examples = dimensions(small) if by_dimension else accuracies(small)
    scope = "plans for d = 16..1024, epsilon = 0.2" if by_dimension else "plans for epsilon = 1/4..1/128, d = 16"
    return Check(
        theorem=f"performative_prediction.{theorem}",
        name=name,
        kind="rate",
        observe=samples_in_dimension if by_dimension else samples_in_accuracy,
        instances=Instances(scope=scope, examples=examples),
        slots={PLANNER: plan_for_accuracy},
        rate=ClaimedRate(exponent, relation=relation),
        mutants=mutants,
        cost=20,
    )


_IN_D, _IN_E = "samples in d", "samples in 1/epsilon"


_MORE_D = Mutant("d^(5/2) times the samples", _IN_D, {"planner": extra_dimensions})


_MORE_E = Mutant("batch of order epsilon^-5", _IN_E, {"planner": extra_accuracy})


_CONSTANT_D = Mutant("constant step, one dimension more", _IN_D, {"planner": constant_step_planner})


def squared_accuracy(epsilon: float, *arguments: Any, **options: Any) -> AccuracyPlan:
    """Mutant: plans for the square of the accuracy."""
    return plan_for_accuracy(epsilon**1.5, *arguments, **options)


def many_dimensions(epsilon: float, dimension: int, *arguments: Any, **options: Any) -> AccuracyPlan:
    """Mutant: plans for ``d^(5/2)`` coordinates."""
    return plan_for_accuracy(epsilon, round(dimension**2.5), *arguments, **options)


_WRONG_E = Mutant("plans for epsilon^(3/2)", _IN_E, {"planner": squared_accuracy})


_WRONG_D = Mutant("plans for d^(5/2) coordinates", _IN_D, {"planner": many_dimensions})


CHECKS = (
    Check(
        theorem="performative_prediction.small_step_complexity",
        name="sufficient",
        kind="slack",
        observe=plan_is_sufficient,
        instances=Instances(
            scope="accuracies 0.1 to 10, H and sigma^2 0.1 to 10, d <= 5, both step sizes", draw=draw_plan_cases
        ),
        slots={PLANNER: plan_for_accuracy},
        mutants=(
            Mutant("half the batch", "accuracy", {"planner": half_the_batch}),
            Mutant("half the iterations", "accuracy", {"planner": half_the_iterations}),
        ),
        cost=20,
    ),
    _rate("guided_complexity", "in_dimension", False, True, 4.0, "at most", (_MORE_D, _WRONG_D)),
    _rate("guided_complexity", "in_accuracy", False, False, 6.0, "at most", (_MORE_E, _WRONG_E)),
    _rate("constant_step_complexity", "in_dimension", False, True, 3.0, "at most", (_MORE_D, _CONSTANT_D)),
    _rate("constant_step_complexity", "in_accuracy", False, False, 6.0, "at most", (_MORE_E, _WRONG_E)),
    _rate("small_step_complexity", "in_dimension", True, True, 2.0, "at most", (_CONSTANT_D, _WRONG_D)),
    _rate("small_step_complexity", "in_accuracy", True, False, 6.0, "at most", (_MORE_E, _WRONG_E)),
    Check(
        theorem="performative_prediction.measured_rate",
        name="squared_gradient",
        kind="rate",
        observe=squared_gradient_against_samples,
        instances=Instances(
            scope="plans for epsilon = 1, 0.71, 0.5, 0.35, 0.25 on a quadratic in two dimensions",
            examples=lambda: {f"1/epsilon={k:g}": RateCase(k) for k in (1.0, 1.41, 2.0, 2.83, 4.0)},
        ),
        slots={DESCENT: guided_trajectories},
        rate=ClaimedRate(1.0 / 3.0, relation="equal"),
        mutants=(
            Mutant("never moves", "1 / squared gradient", {"descent": frozen}),
            Mutant("400 steps whatever the plan", "1 / squared gradient", {"descent": no_descent_noise}),
        ),
        cost=1000,
    ),
    Check(
        theorem="performative_prediction.two_point_complexity",
        name="product_of_orders",
        kind="slack",
        observe=two_point_product,
        instances=Instances(scope="d = 1, 4, 9, ..., 400, epsilon = 1/2 .. 1/32", draw=draw_squares),
        mutants=(
            Mutant("d samples an iteration", "total", observe=two_point_product_mutant),
            Mutant("total d^4 / epsilon^6", "total", observe=two_point_total_without_root),
        ),
    ),
    Check(
        theorem="performative_prediction.regime",
        name="integers",
        kind="slack",
        observe=regime,
        instances=Instances(
            scope="integers d <= 4000, G <= 20, epsilon = 2^-k", examples=regime_examples, draw=draw_regimes
        ),
        mutants=(
            Mutant("square root for cube root", "equivalence", observe=regime_square_root),
            Mutant("boundary included", "equivalence", observe=regime_not_strict),
        ),
    ),
)
