"""What the methods cost beyond the user's own functions, and how long the paper's comparison takes."""

import time

import numpy as np
import pytest

from whp.algorithms.performative_prediction import (
    Budget,
    DecisionOracle,
    Geometric,
    GuidedHistoricalSamples,
    GuidedNewSamples,
    LinearCount,
    OnePointDescent,
    ResidualFeedbackDescent,
    TwoPointDescent,
    minimise,
    pricing_oracle,
)
from whp.theory.performative_prediction import MultiproductPricing

DIMENSION, BATCH, STEPS = 100, 30, 2000


class StoredOracle:
    """User's functions that return stored arrays, so that next to nothing but the method's own work is left."""

    def __init__(self) -> None:
        rng = np.random.default_rng(0)
        self.calls = 0
        self.samples = rng.normal(size=(2 * BATCH + 1, 3))
        self.losses = rng.normal(size=2 * BATCH)
        self.gradients = rng.normal(size=(2 * BATCH, DIMENSION))
        self.oracle = DecisionOracle(DIMENSION, self.loss, self.sample, self.gradient)

    def loss(self, x, xi):  # noqa: D102
        return self.losses[: len(xi)]

    def sample(self, x, n, rng):  # noqa: D102
        self.calls += 1
        return self.samples[self.calls % 2 : n + self.calls % 2]  # not the same on both sides

    def gradient(self, x, xi):  # noqa: D102
        return self.gradients[: len(xi)]

    def seconds_a_step(self, samples: int, losses: int, gradients: int) -> float:
        """Processor time of the user's functions alone."""
        x = np.zeros(DIMENSION)
        start = time.process_time()
        for _ in range(STEPS):
            for _ in range(samples):
                xi = self.sample(x, BATCH, None)
            for _ in range(losses):
                self.loss(x, xi)
            for _ in range(gradients):
                self.gradient(x, xi)
        return (time.process_time() - start) / STEPS


# methods, with how often a step calls sampler, loss and gradient
METHODS = [
    (GuidedNewSamples(1e-6, 0.1, BATCH), (3, 2, 1)),
    (GuidedHistoricalSamples(1e-6, 0.1, BATCH), (2, 2, 1)),
    (TwoPointDescent(1e-6, 0.1, BATCH), (2, 2, 0)),
    (OnePointDescent(1e-6, 0.1, BATCH), (1, 1, 0)),
    (ResidualFeedbackDescent(1e-6, 0.1, BATCH), (1, 1, 0)),
]


@pytest.mark.parametrize(("method", "calls"), METHODS, ids=lambda v: type(v).__name__)
def test_overhead_a_step_is_below_20_microseconds_at_dimension_100(benchmark, method, calls) -> None:
    overheads = []

    def once() -> None:
        stored = StoredOracle()
        users = stored.seconds_a_step(*calls)
        budget, rng = Budget(10**9, iterations=STEPS), np.random.default_rng(0)
        start = time.process_time()
        minimise(stored.oracle, np.zeros(DIMENSION), method, budget, rng)
        overheads.append((time.process_time() - start) / STEPS - users)

    benchmark.pedantic(once, rounds=9)
    benchmark.extra_info["overhead in microseconds"] = min(overheads) * 1e6
    assert min(overheads) < 20e-6


def test_twenty_pricing_instances_at_the_papers_dimensions(benchmark) -> None:
    theta = np.array([0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.65, 0.8, 1.0])
    rng = np.random.default_rng(0)
    oracle = pricing_oracle([MultiproductPricing(theta, theta * rng.uniform(0.25, 0.5, 10)) for _ in range(20)])
    method = GuidedNewSamples(Geometric(0.01, 0.95), Geometric(0.2, 0.95, floor=1e-4), LinearCount(30, 2))
    budget = Budget(5000, "after_step")
    benchmark(lambda: minimise(oracle, np.full(10, 0.5), method, budget, np.random.default_rng(1)))
    assert benchmark.stats.stats.min < 1.0
