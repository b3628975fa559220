"""Whatever a caller, a schedule or a sampler returns, the answer is a result or one sentence that names it."""

import math

import numpy as np
import pytest

from whp.algorithms import performative_prediction as algorithms
from whp.algorithms.performative_prediction import (
    AskTell,
    Ball,
    Box,
    DecisionOracle,
    GuidedHistoricalSamples,
    GuidedNewSamples,
    HistoryControlDescent,
    OnePointDescent,
    OracleError,
    ResidualFeedbackDescent,
    Simplex,
    TwoPointDescent,
    gradient_descent,
    minimise,
    oracle_for,
    repeated_retraining,
)
from whp.theory import performative_prediction as theory
from whp.theory.performative_prediction import LinearNoise, MultiproductPricing

PROBLEM = LinearNoise([[1.0, 0.0], [0.0, 2.0]], [1.0, 0.5], [[0.5, 0.0], [0.0, 0.3]], noise=0.1)
ORACLE = oracle_for(PROBLEM)
METHODS = {
    "guided, new samples": GuidedNewSamples,
    "guided, historical samples": GuidedHistoricalSamples,
    "two-point": TwoPointDescent,
    "one-point": OnePointDescent,
    "residual feedback": ResidualFeedbackDescent,
    "history control": HistoryControlDescent,
}


def rng():
    return np.random.default_rng(0)


def run(method, oracle=ORACLE, start=(1.0, 1.0), **options):
    return minimise(oracle, start, method, 200, rng(), **options)


def oracle(**parts):
    return DecisionOracle(
        2, **({"loss": ORACLE.loss, "sample": ORACLE.sample, "loss_gradient": ORACLE.loss_gradient} | parts)
    )


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("value", [math.nan, math.inf, -1.0, 0.0, "a", None])
@pytest.mark.parametrize("argument", ["step", "radius"])
def test_a_schedule_is_held_to_the_range_of_its_argument_at_every_iteration(name, argument, value):
    options = {"step": 0.05, "radius": 0.1, argument: lambda k: 0.05 if k < 2 else value}
    with pytest.raises((TypeError, ValueError), match=f"{argument} must be .* at every iteration"):
        run(METHODS[name](side_samples=5, **options))


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("value", [0, -3, 1.5, True, None, math.nan])
def test_a_batch_schedule_gives_positive_integers(name, value):
    with pytest.raises((TypeError, ValueError), match=r"side_samples must be .* at every iteration"):
        run(METHODS[name](step=0.05, radius=0.1, side_samples=lambda k: 5 if k < 1 else value))


def test_an_isotropic_share_outside_the_unit_interval_is_refused_when_it_occurs():
    with pytest.raises(ValueError, match=r"isotropic_share must be .* at every iteration"):
        run(GuidedNewSamples(0.05, 0.1, 5, isotropic_share=lambda k: 1.5))


def test_a_sampler_cannot_move_the_decision_it_is_asked_about():
    def pushes(x, count, generator):
        x[0] = 99.0
        return np.zeros((count, 2))

    for method in (TwoPointDescent(0.05, 0.1, 5), GuidedNewSamples(0.05, 0.1, 5)):
        with pytest.raises(ValueError, match="read-only"):
            run(method, oracle(sample=pushes))


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"loss": lambda x, xi: np.full(len(xi), 1 + 1j)}, "loss must return real numbers"),
        ({"loss": lambda x, xi: ["a"] * len(xi)}, "loss must return an array of numbers"),
        ({"loss": lambda x, xi: np.ma.masked_array(np.zeros(len(xi)), mask=True)}, "masked array"),
        ({"loss_gradient": lambda x, xi: np.full((len(xi), 2), 1j)}, "loss_gradient must return real numbers"),
        ({"sample": lambda x, n, r: np.ma.masked_array(np.zeros((n, 2)), mask=True)}, "masked array"),
        ({"sample": lambda x, n, r: np.zeros((n, 2), complex)}, "array of numbers"),
    ],
)
def test_an_answer_of_the_oracle_that_is_no_real_number_is_refused(parts, message):
    with pytest.raises(OracleError, match=message):
        run(GuidedNewSamples(0.05, 0.1, 5), oracle(**parts))


def test_a_step_beyond_the_range_of_floats_is_reported_as_divergence_with_a_finite_decision():
    result = run(TwoPointDescent(step=1e308, radius=1e-3, side_samples=5))
    assert result.status == "diverged"
    assert np.isfinite(result.decision).all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: run(None), "method must have a method iterate"),
        (lambda: run(TwoPointDescent), "method must have a method iterate"),
        (lambda: run(TwoPointDescent(0.1, 0.1, 5), decision_set="x"), "decision_set must have a method project"),
        (lambda: run(TwoPointDescent(0.1, 0.1, 5), start=[1e160, 0.0]), "start must be below 1e150"),
        (lambda: run(TwoPointDescent(0.1, 0.1, 5), divergence_radius="x"), "divergence_radius must be a number"),
        (lambda: AskTell(None, [1.0], TwoPointDescent(0.1, 0.1, 5), 50, rng()), "oracle must be a DecisionOracle"),
        (lambda: AskTell(ORACLE, [1.0, 1.0], "x", 50, rng()), "method must have a method iterate"),
        (lambda: algorithms.two_point_estimate(1.0, 0.5, 0.0, np.ones(2)), "radius must be positive"),
        (lambda: algorithms.two_point_estimate(math.nan, 0.5, 0.1, np.ones(2)), "loss_plus must be finite"),
        (lambda: algorithms.one_point_estimate(1.0, 0.1, [math.nan, 1.0]), "direction must be finite"),
        (lambda: algorithms.unit_guide([math.nan, 1.0]), "vector must be finite"),
        (lambda: algorithms.guided_direction(np.ones(2), 2.0, np.ones(2), 1.0), r"alpha must lie in \[0, 1\]"),
        (lambda: algorithms.guided_direction(np.ones(2), 0.5, np.ones(3), 1.0), "isotropic must have the shape"),
        (lambda: algorithms.rademacher_direction((2,), None), "rng must be"),
        (lambda: algorithms.gaussian_two_point(ORACLE, np.ones(2), 0.1, 0, rng()), "batch must be at least 1"),
        (lambda: algorithms.gaussian_two_point(ORACLE, np.ones(3), 0.1, 2, rng()), "x must have shape"),
        (lambda: algorithms.mean_known_gradient(None, np.ones(2), 2, rng()), "oracle must be a DecisionOracle"),
        (lambda: algorithms.pricing_oracle([3]), "problems must hold MultiproductPricing"),
        (lambda: algorithms.Constant(math.nan), "value must be finite"),
        (lambda: Box(0.0, 1.0).project(np.array([math.nan])), "x must not hold nan"),
        (lambda: Ball(1.0).project([math.nan, 1.0]), "x must be a finite decision"),
        (lambda: Simplex().project([math.inf, 1.0]), "x must be a finite decision"),
        (lambda: algorithms.plan_for_accuracy(1e-150, 2, 1.0, 1.0, 1.0), "must lie between"),
        (lambda: gradient_descent(None, [1.0], 0.1), "problem must have a method gradient"),
        (lambda: gradient_descent(PROBLEM, [1.0, 1.0], 0.1, tolerance=math.nan), "tolerance must be"),
        (lambda: repeated_retraining(PROBLEM, [1.0, 1.0], 0.1, iterations=True), "iterations must be"),
        (lambda: theory.largest_eigenvalue(math.nan, 2), "alpha must lie"),
        (lambda: theory.isotropic_share(math.nan), "iteration must be an integer"),
        (lambda: MultiproductPricing([0.5, 1.0], [0.1, 0.2]).objective([math.nan, 1.0]), "finite prices"),
    ],
)
def test_malformed_argument_is_refused_by_name(call, message):
    with pytest.raises((TypeError, ValueError), match=message):
        call()


def test_a_step_too_small_to_move_is_not_taken_for_convergence():
    for decision_set in (None, Box(-5.0, 5.0)):
        stuck = gradient_descent(PROBLEM, [1.0, 1.0], step=1e-150, iterations=5, decision_set=decision_set)
        assert stuck.status == "iterations"
        assert stuck.residual == pytest.approx(float(np.linalg.norm(PROBLEM.gradient(np.ones(2)))), rel=1e-6)
