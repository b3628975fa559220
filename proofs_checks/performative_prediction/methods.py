"""Checks on whole methods: how many samples they draw, and who ends lower on pricing."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whp.algorithms.performative_prediction import (
    Budget,
    DecisionOracle,
    Geometric,
    GuidedHistoricalSamples,
    GuidedNewSamples,
    LinearCount,
    Method,
    OnePointDescent,
    TwoPointDescent,
    minimise,
    oracle_for,
)
from whp.proofs_checks.engine import Check, Instances, Mutant, event, identity, recipe
from whp.proofs_checks.engine.evidence import Recipe
from whp.proofs_checks.engine.observation import Event, Slack
from whp.theory.core import Slot
from whp.theory.performative_prediction import LinearNoise, LocationQuadratic, MultiproductPricing

from .means import breast_cancer_is_installed, strategic_patients

__all__ = ["CHECKS", "CountCase"]

Array = NDArray[np.float64]

_ARGUMENTS = (
    "oracle: DecisionOracle; start: shape (d,); side: m; guide: n; iterations: number of iterations; rng: Generator"
)


def _slot(name: str) -> Slot:
    return Slot(
        name,
        "(oracle, start, side, guide, iterations, rng)",
        _ARGUMENTS,
        "anything; what is judged is what it draws",
        ("oracle", "start", "side", "guide", "iterations", "rng"),
    )


NEW_SAMPLES, HISTORICAL, TWO_POINT, ONE_POINT = map(_slot, ("new_samples", "historical", "two_point", "one_point"))


def _decision(output: Any, oracle: Any, start: Array, rng: Any) -> None:
    """Refuse anything but a finite decision of the start's shape."""
    decision = np.asarray(output, dtype=np.float64)
    if decision.shape != np.shape(start) or not np.isfinite(decision).all():
        raise ValueError(f"a finite decision of shape {np.shape(start)} is declared, got {output!r}")


GUIDED_METHOD = Slot(
    "guided_method",
    "(oracle, start, rng)",
    "oracle: DecisionOracle; start: shape (d,); rng: Generator; the budget is 5000 samples",
    "last decision, shape (d,)",
    ("oracle", "start", "rng"),
    validate=_decision,
)
TWO_POINT_METHOD = Slot(
    "two_point_method",
    "(oracle, start, rng)",
    "as for guided_method",
    "last decision, shape (d,)",
    ("oracle", "start", "rng"),
    validate=_decision,
)


@dataclass(frozen=True, eq=False)
class CountCase:
    """A problem, batch sizes and a number of iterations.

    Parameters
    ----------
    problem : instance of a family
        Problem.
    side, guide, iterations : int
        ``m``, ``n`` and the number of iterations.
    seed : int
        Seed of the run.
    """

    problem: Any
    side: int
    guide: int
    iterations: int
    seed: int


def _run(method: Method, oracle: DecisionOracle, start: Array, iterations: int, rng: np.random.Generator) -> Any:
    return minimise(oracle, start, method, Budget(10**9, iterations=iterations), rng)


def run_new_samples(oracle: DecisionOracle, start: Array, side: int, guide: int, iterations: int, rng: Any) -> Any:
    """Reference subject: guided descent with new samples."""
    return _run(GuidedNewSamples(1e-3, 0.1, side, guide), oracle, start, iterations, rng)


def run_historical(oracle: DecisionOracle, start: Array, side: int, guide: int, iterations: int, rng: Any) -> Any:
    """Reference subject: guided descent with historical samples."""
    return _run(GuidedHistoricalSamples(1e-3, 0.1, side), oracle, start, iterations, rng)


def run_two_point(oracle: DecisionOracle, start: Array, side: int, guide: int, iterations: int, rng: Any) -> Any:
    """Reference subject: two-point descent."""
    return _run(TwoPointDescent(1e-3, 0.1, side), oracle, start, iterations, rng)


def run_one_point(oracle: DecisionOracle, start: Array, side: int, guide: int, iterations: int, rng: Any) -> Any:
    """Reference subject: one-point descent."""
    return _run(OnePointDescent(1e-6, 0.1, side), oracle, start, iterations, rng)


def historical_that_redraws(
    oracle: DecisionOracle, start: Array, side: int, guide: int, iterations: int, rng: Any
) -> Any:
    """Mutant: draws new samples for its guide."""
    return run_new_samples(oracle, start, side, guide, iterations, rng)


def guide_from_one_sample(
    oracle: DecisionOracle, start: Array, side: int, guide: int, iterations: int, rng: Any
) -> Any:
    """Mutant: one guide sample more than asked for."""
    return run_new_samples(oracle, start, side, guide + 1, iterations, rng)


def one_iteration_short(oracle: DecisionOracle, start: Array, side: int, guide: int, iterations: int, rng: Any) -> Any:
    """Mutant: one iteration more."""
    return run_two_point(oracle, start, side, guide, iterations + 1, rng)


def one_point_with_two(oracle: DecisionOracle, start: Array, side: int, guide: int, iterations: int, rng: Any) -> Any:
    """Mutant: a one-point method that looks at both sides."""
    return run_two_point(oracle, start, side, guide, iterations, rng)


def samples_drawn(case: CountCase, run: Callable[..., Any]) -> int:
    """Samples that a method draws from a sampler which counts them."""
    plain, drawn = oracle_for(case.problem), [0]
    draw = plain.sample
    assert draw is not None

    def counting(x: Array, count: int, rng: np.random.Generator) -> Any:
        drawn[0] += count
        return draw(x, count, rng)

    oracle = DecisionOracle(plain.dimension, plain.loss, counting, plain.loss_gradient)
    run(oracle, np.full(plain.dimension, 0.3), case.side, case.guide, case.iterations, np.random.default_rng(case.seed))
    return drawn[0]


def accounting(
    case: CountCase,
    *,
    new_samples: Callable[..., Any],
    historical: Callable[..., Any],
    two_point: Callable[..., Any],
    one_point: Callable[..., Any],
) -> Slack:
    """Samples drawn in a number of iterations, counted by the sampler."""
    m, n, k = case.side, case.guide, case.iterations
    return (
        identity("new samples", samples_drawn(case, new_samples), k * (n + 2 * m))
        & identity("historical samples", samples_drawn(case, historical), k * 2 * m)
        & identity("two-point", samples_drawn(case, two_point), k * 2 * m)
        & identity("one-point", samples_drawn(case, one_point), k * m)
    )


def draw_count_cases(rng: np.random.Generator, size: int) -> list[CountCase]:
    """Two families, batches up to 12, up to 5 iterations."""
    cases = []
    for i in range(size):
        d = int(rng.integers(1, 5))
        problem: Any = LocationQuadratic(rng.uniform(-1, 1, (d, d)), rng.uniform(-1, 1, d), 0.5)
        if i % 2:
            problem = LinearNoise(np.eye(d), [1.0], rng.uniform(-1, 1, (1, d)), 0.5)
        sizes = [int(v) for v in (rng.integers(1, 13), rng.integers(1, 13), rng.integers(1, 6), rng.integers(0, 2**31))]
        cases.append(CountCase(problem, *sizes))
    return cases


@recipe("performative_prediction.breast_cancer_counts")
def breast_cancer_counts(rng: np.random.Generator) -> CountCase:
    """The real table with strategic applicants."""
    return CountCase(strategic_patients(rng, 1.0).problem, 7, 5, 4, 0)


def count_examples() -> dict[str, Any]:
    """Single samples, and a real table."""
    smallest = LinearNoise([[1.0]], [1.0], [[0.0]], 0.0)
    cases: dict[str, Any] = {"single samples": CountCase(smallest, 1, 1, 1, 0)}
    if breast_cancer_is_installed():
        cases["breast cancer"] = Recipe("performative_prediction.breast_cancer_counts", {}, 0)
    return cases


_RADIUS, _BATCH, _BUDGET = Geometric(0.2, 0.95, floor=1e-4), LinearCount(30, 2), Budget(5000, "after_step")


def tuned_guided(oracle: DecisionOracle, start: Array, rng: np.random.Generator) -> Array:
    """Reference subject: guided descent with new samples at its tuned first step 0.01."""
    return minimise(oracle, start, GuidedNewSamples(Geometric(0.01, 0.95), _RADIUS, _BATCH), _BUDGET, rng).decision


def tuned_two_point(oracle: DecisionOracle, start: Array, rng: np.random.Generator) -> Array:
    """Reference subject: two-point descent at its tuned first step ``0.015 / sqrt(d)``."""
    method = TwoPointDescent(Geometric(0.015 / oracle.dimension**0.5, 0.95), _RADIUS, _BATCH)
    return minimise(oracle, start, method, _BUDGET, rng).decision


def random_guide(oracle: DecisionOracle, start: Array, rng: np.random.Generator) -> Array:
    """Mutant: a random unit guide under the same schedule, at its own tuned step."""
    noise = np.random.default_rng(rng.integers(0, 2**63))

    def anywhere(x: Array, xi: Array) -> Array:
        return np.broadcast_to(noise.standard_normal(x.size), (*xi.shape[:-1], x.size))

    blind = DecisionOracle(oracle.dimension, oracle.loss, oracle.sample, anywhere)
    return minimise(blind, start, GuidedNewSamples(Geometric(0.02, 0.95), _RADIUS, _BATCH), _BUDGET, rng).decision


def wrong_argument_guide(oracle: DecisionOracle, start: Array, rng: np.random.Generator) -> Array:
    """Mutant: the gradient in the sample (minus prices plus marginal costs) taken for that in the decision."""

    def in_the_sample(x: Array, xi: Array) -> Array:
        return np.broadcast_to(-x, (*xi.shape[:-1], x.size))

    blind = DecisionOracle(oracle.dimension, oracle.loss, oracle.sample, in_the_sample)
    return minimise(blind, start, GuidedNewSamples(Geometric(0.01, 0.95), _RADIUS, _BATCH), _BUDGET, rng).decision


def wins_on_pricing(
    shop: MultiproductPricing,
    *,
    guided_method: Callable[..., Array],
    two_point_method: Callable[..., Array],
    rng: np.random.Generator,
) -> Event:
    """One new instance a replicate (unit costs ``theta U[0.25, 0.5]``); exact objectives at the two last decisions."""
    costs = shop.reference_prices * rng.uniform(0.25, 0.5, shop.dimension)
    instance = MultiproductPricing(shop.reference_prices, costs, shop.buyers)
    oracle, start = oracle_for(instance), np.full(shop.dimension, 0.5)
    guided, two_point = (np.asarray(run(oracle, start, rng)) for run in (guided_method, two_point_method))
    lost = float(instance.objective(guided)) >= float(instance.objective(two_point))
    return event(lost, probability=0.5, name="guided method loses")


def shop_examples() -> dict[str, MultiproductPricing]:
    """Ten products in the paper's shape, with synthetic reference prices."""
    theta = np.array([0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.65, 0.8, 1.0])
    return {"ten products": MultiproductPricing(theta, 0.375 * theta)}


CHECKS = (
    Check(
        theorem="performative_prediction.sample_accounting",
        name="counted_draws",
        kind="slack",
        observe=accounting,
        instances=Instances(
            scope="two Gaussian families with d <= 4 and scikit-learn's breast-cancer table; m, n <= 12, up to 5 "
            "iterations",
            examples=count_examples,
            draw=draw_count_cases,
        ),
        slots={
            NEW_SAMPLES: run_new_samples,
            HISTORICAL: run_historical,
            TWO_POINT: run_two_point,
            ONE_POINT: run_one_point,
        },
        mutants=(
            Mutant("historical method redraws", "historical samples", {"historical": historical_that_redraws}),
            Mutant("one guide sample more", "new samples", {"new_samples": guide_from_one_sample}),
            Mutant("one iteration more", "two-point", {"two_point": one_iteration_short}),
            Mutant("one-point method looks twice", "one-point", {"one_point": one_point_with_two}),
        ),
        cost=12,
    ),
    Check(
        theorem="performative_prediction.guided_wins",
        name="pricing",
        kind="event",
        observe=wins_on_pricing,
        instances=Instances(
            scope="pricing with ten products and forty buyers, unit costs redrawn for every replicate, 5000 samples a "
            "method",
            examples=shop_examples,
        ),
        slots={GUIDED_METHOD: tuned_guided, TWO_POINT_METHOD: tuned_two_point},
        mutants=(
            Mutant("random guide", "guided method loses", {"guided_method": random_guide}),
            Mutant("guide from the wrong argument", "guided method loses", {"guided_method": wrong_argument_guide}),
        ),
        cost=64,
    ),
)
