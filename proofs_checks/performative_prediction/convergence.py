"""Checks on whole runs: what they explore and how stationary they get."""

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from whp.algorithms.performative_prediction import guided_trajectories
from whp.proofs_checks.engine import Check, Instances, Mutant, sample
from whp.proofs_checks.engine.observation import Sample
from whp.theory.core import Slot
from whp.theory.performative_prediction import (
    STATIONARITY,
    GuidedSchedule,
    LinearNoise,
    RunCase,
)

__all__ = ["CHECKS", "DESCENT", "RUNS", "frozen"]

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
    if not (decisions[0] == case.start).all():
        raise ValueError(f"the first decision must be the start {case.start} in every run, got {decisions[0, 0]}")
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
)
