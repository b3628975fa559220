"""Checks on whole runs: what they explore, how stationary they get, and with how many samples."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whp.algorithms.performative_prediction import AccuracyPlan, guided_trajectories, plan_for_accuracy
from whp.proofs_checks.engine import Check, ClaimedRate, Cost, Instances, Mutant, at_most, identity, requires, sample
from whp.proofs_checks.engine.observation import Sample, Slack
from whp.theory.core import Slot
from whp.theory.performative_prediction import (
    EXPLORED_GRADIENT_SHARP,
    GUIDED_COMPLEXITY,
    PREVIOUS_BOUNDED_COMPLEXITY,
    STATIONARITY,
    TWO_POINT_COMPLEXITY,
    GuidedSchedule,
    LinearNoise,
    RunCase,
    largest_eigenvalue,
)

__all__ = ["CHECKS", "PlanCase", "RegimeCase"]

Array = NDArray[np.float64]
RUNS = 12  # runs averaged in one replicate

DESCENT = Slot(
    "descent",
    "(problem, start, schedule, replicates, rng)",
    "problem: instance of a family; start: shape (d,); schedule: GuidedSchedule; replicates: number of runs R; rng: "
    "Generator",
    "decisions x_0, x_1, ..., shape (iterations + 1, R, d); fewer rows only when the runs diverge",
    ("problem", "start", "schedule", "replicates", "rng"),
)
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


def explored(case: RunCase, decisions: Array) -> Array:
    """``q_k`` of every iteration and run, with the guide computed from theory; shape (iterations, R)."""
    x = decisions[: case.schedule.iterations]
    known, gradient = case.problem.known_gradient(x), case.problem.gradient(x)
    length = np.linalg.norm(known, axis=-1, keepdims=True)
    guide = known / np.where(length > 0.0, length, 1.0)
    alpha = case.schedule.shares[: len(x), None]
    along = np.einsum("kri,kri->kr", gradient, guide)
    return np.asarray(alpha / x.shape[-1] * np.einsum("kri,kri->kr", gradient, gradient) + (1.0 - alpha) * along**2)


def _runs(case: RunCase, descent: Callable[..., Array], rng: np.random.Generator) -> Array:
    decisions = np.asarray(descent(case.problem, case.start, case.schedule, RUNS, rng))
    if decisions.ndim != 3 or decisions.shape[1:] != (RUNS, case.start.size) or len(decisions) < 2:
        raise ValueError(
            f"decisions must have shape (iterations + 1, {RUNS}, {case.start.size}), got {decisions.shape}"
        )
    return decisions


def _mean_at_most(value: float, bound: float, name: str) -> Sample:
    """Clip from above at three times the bound, which only lowers the mean."""
    high = 3.0 * bound
    return sample(min(value, high) if math.isfinite(value) else high, low=0.0, high=high, mean_at_most=bound, name=name)


def explored_gradient(case: RunCase, *, descent: Callable[..., Array], rng: np.random.Generator) -> Sample:
    """Mean of ``q_k`` over iterations and runs against the bound."""
    return _mean_at_most(float(explored(case, _runs(case, descent, rng)).mean()), case.bound, "mean q")


def explored_gradient_sharp(case: RunCase, *, descent: Callable[..., Array], rng: np.random.Generator) -> Sample:
    """The same against the sharp bound."""
    return _mean_at_most(float(explored(case, _runs(case, descent, rng)).mean()), case.sharp_bound, "mean q")


def without_noise_term(case: RunCase, *, descent: Callable[..., Array], rng: np.random.Generator) -> Sample:
    """Mutant statement: no term for the noise."""
    bound = case.schedule.bound(case.gap, case.problem.smoothness, 0.0)
    return _mean_at_most(float(explored(case, _runs(case, descent, rng)).mean()), bound, "mean q")


def without_gap_term(case: RunCase, *, descent: Callable[..., Array], rng: np.random.Generator) -> Sample:
    """Mutant statement: no term for the start."""
    bound = case.schedule.bound(0.0, case.problem.smoothness, case.problem.variance_bound)
    return _mean_at_most(float(explored(case, _runs(case, descent, rng)).mean()), bound, "mean q")


def sharp_without_noise_term(case: RunCase, *, descent: Callable[..., Array], rng: np.random.Generator) -> Sample:
    """Mutant statement: the sharp bound without its noise."""
    d = case.problem.dimension
    bound = case.schedule.sharp_bound(case.gap, case.problem.smoothness, 0.0, d)
    return _mean_at_most(float(explored(case, _runs(case, descent, rng)).mean()), bound, "mean q")


def stationarity(case: RunCase, *, descent: Callable[..., Array], rng: np.random.Generator) -> Sample:
    """Squared gradient of the output drawn in proportion to the shares, averaged over that draw, against the bound."""
    schedule, d = case.schedule, case.problem.dimension
    x = _runs(case, descent, rng)[: schedule.iterations]
    shares = schedule.shares[: len(x)]
    square = (case.problem.gradient(x) ** 2).sum(axis=-1).mean(axis=1)
    value = float(shares @ square / shares.sum()) if shares.sum() > 0.0 else float(square.mean())
    bound = STATIONARITY(
        gap=case.gap,
        beta=schedule.step,
        steps=schedule.iterations,
        H=case.problem.smoothness,
        sigma2=case.problem.variance_bound,
        mu2=schedule.radius**2,
        noise=1.0 / (schedule.radius**2 * schedule.batch),
        d=d,
        alpha=float(schedule.shares.mean()),
    )
    return _mean_at_most(value, float(bound), "squared gradient")


def stationarity_without_share(case: RunCase, *, descent: Callable[..., Array], rng: np.random.Generator) -> Sample:
    """Mutant statement: ``d`` times the bound on ``q``, the mean share forgotten."""
    x = _runs(case, descent, rng)[: case.schedule.iterations]
    shares = case.schedule.shares[: len(x)]
    square = (case.problem.gradient(x) ** 2).sum(axis=-1).mean(axis=1)
    return _mean_at_most(float(shares @ square / shares.sum()), case.problem.dimension * case.bound, "squared gradient")


def ascent(
    problem: LinearNoise, start: Array, schedule: GuidedSchedule, replicates: int, rng: np.random.Generator
) -> Array:
    """Mutant: steps up the estimated gradient, by reflecting the path of each step."""
    x = np.broadcast_to(np.asarray(start, dtype=np.float64), (replicates, problem.dimension)).copy()
    decisions = [x]
    one = replace(schedule, iterations=1)
    for k in range(schedule.iterations):
        share = 1.0 - schedule.decay**k * (1.0 - schedule.initial_share)
        steps = [guided_trajectories(problem, row, replace(one, initial_share=share), 1, rng)[1, 0] for row in x]
        x = x - (np.array(steps) - x)
        decisions.append(x)
    return np.array(decisions)


def frozen(
    problem: LinearNoise, start: Array, schedule: GuidedSchedule, replicates: int, rng: np.random.Generator
) -> Array:
    """Mutant: never moves."""
    return np.broadcast_to(
        np.asarray(start, dtype=np.float64), (schedule.iterations + 1, replicates, problem.dimension)
    )


def overlong_steps(
    problem: LinearNoise, start: Array, schedule: GuidedSchedule, replicates: int, rng: np.random.Generator
) -> Array:
    """Mutant: steps longer by ``24 d``."""
    long = replace(schedule, step=24.0 * problem.dimension * schedule.step)
    return guided_trajectories(problem, start, long, replicates, rng)


def shrunken_radius(
    problem: LinearNoise, start: Array, schedule: GuidedSchedule, replicates: int, rng: np.random.Generator
) -> Array:
    """Mutant: a radius thirty times smaller than declared, as when it decays without a floor: the noise explodes."""
    return guided_trajectories(problem, start, replace(schedule, radius=schedule.radius / 30.0), replicates, rng)


def run_examples() -> dict[str, RunCase]:
    """Start, noise and both: each term of the bound dominates once."""
    rng = np.random.default_rng(1)
    a, w = 0.3 * rng.normal(size=(6, 6)), rng.normal(size=6)
    mixed = LinearNoise(np.eye(6), w, a, 0.5)
    far = LinearNoise(np.eye(3), [1.0], [[0.2, -0.1, 0.3]], 0.01)
    noisy = LinearNoise(np.eye(2), [1.0], [[0.5, -0.5]], 1.0)
    return {
        "start and noise": RunCase(mixed, np.ones(6), GuidedSchedule(1 / 12, 0.1, 20, 80)),
        "far start": RunCase(far, [4.0, -3.0, 5.0], GuidedSchedule(1 / 12, 0.05, 4, 80)),
        "noise only": RunCase(noisy, noisy.stationary_point(), GuidedSchedule(1 / 12, 0.05, 2, 40)),
    }


def output_examples() -> dict[str, RunCase]:
    """As `run_examples`, and a run whose guide points across the gradient at first, so that only the share explores."""
    crosswise = LinearNoise(np.diag([1.0, 0.001]), [1.0], [[0.3, -1.0]], 1e-4)
    schedule = GuidedSchedule(1 / 12, 0.01, 1, 150, initial_share=0.1, decay=1.0)
    return {**run_examples(), "guide across the gradient": RunCase(crosswise, [0.0, 1000.0], schedule)}


def overlong_examples() -> dict[str, RunCase]:
    """Broken assumption: a step of ``2 d / H``."""
    return {
        k: RunCase(c.problem, c.start, replace(c.schedule, step=2.0 * c.problem.dimension))
        for k, c in run_examples().items()
    }


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


_RUNS = Instances(
    scope="three runs on quadratics with constant variance, on which start, noise or both dominate",
    examples=run_examples,
)
_OUTPUTS = Instances(scope="the same, and a run whose guide points across the gradient", examples=output_examples)
_OVERLONG = Instances(scope="steps of 2 d / H", examples=overlong_examples)
_RUN_MUTANTS = (
    Mutant("steps up", "mean q", {"descent": ascent}),
    Mutant("never moves", "mean q", {"descent": frozen}),
    Mutant("steps 24 d times longer", "mean q", {"descent": overlong_steps}),
    Mutant("radius thirty times smaller", "mean q", {"descent": shrunken_radius}),
)


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
        theorem="performative_prediction.convergence",
        name="runs",
        kind="sample",
        observe=explored_gradient,
        instances=_RUNS,
        slots={DESCENT: guided_trajectories},
        mutants=(
            *_RUN_MUTANTS,
            Mutant("no term for the noise", "mean q", observe=without_noise_term),
            Mutant("no term for the start", "mean q", observe=without_gap_term),
            Mutant("step 2 d / H", "mean q", instances=_OVERLONG, ignoring=("step",)),
        ),
        cost=64,
    ),
    Check(
        theorem="performative_prediction.convergence_sharp",
        name="runs",
        kind="sample",
        observe=explored_gradient_sharp,
        instances=_RUNS,
        slots={DESCENT: guided_trajectories},
        mutants=(
            *_RUN_MUTANTS[1:],
            Mutant("no term for the noise", "mean q", observe=sharp_without_noise_term),
        ),
        cost=64,
    ),
    Check(
        theorem="performative_prediction.stationarity",
        name="runs",
        kind="sample",
        observe=stationarity,
        instances=_OUTPUTS,
        slots={DESCENT: guided_trajectories},
        mutants=(
            Mutant("steps 24 d times longer", "squared gradient", {"descent": overlong_steps}),
            Mutant("radius thirty times smaller", "squared gradient", {"descent": shrunken_radius}),
            Mutant("mean share forgotten", "squared gradient", observe=stationarity_without_share),
        ),
        cost=64,
    ),
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
