"""Whatever a caller passes, the answer is a result or one sentence that names the argument."""

import numpy as np
import pytest

from whp.algorithms import plackett_luce_design as algorithms
from whp.algorithms.plackett_luce_design import Rankings
from whp.theory import plackett_luce_design as theory
from whp.theory.plackett_luce_design import Design, DesignProblem

X = np.random.default_rng(0).normal(size=(6, 2))
PROBLEM = DesignProblem(X, 3)
UNIFORM = Design.uniform(PROBLEM.subsets())
RANKINGS = Rankings.full([(0, 1, 2), (2, 1, 0), (1, 0, 2), (0, 2, 1)], n_items=3)


def rng():
    return np.random.default_rng(0)


ON_A_PROBLEM = {
    "frank_wolfe": algorithms.frank_wolfe,
    "away_step_frank_wolfe": algorithms.away_step_frank_wolfe,
    "randomized_frank_wolfe": lambda p: algorithms.randomized_frank_wolfe(p, n_sampled=2, rng=rng()),
    "column_generation_design": algorithms.column_generation_design,
    "multiplicative_design": algorithms.multiplicative_design,
    "interior_point_design": algorithms.interior_point_design,
    "cvxpy_design": algorithms.cvxpy_design,
    "fisher_optimal_design": lambda p: algorithms.fisher_optimal_design(p, [0.0, 0.0]),
    "certified_gap": lambda p: algorithms.certified_gap(p, UNIFORM),
    "leverage_upper_bound": lambda p: algorithms.leverage_upper_bound(p, UNIFORM),
    "ridge_gap": lambda p: algorithms.ridge_gap(p, UNIFORM, 0.1),
    "round_design": lambda p: algorithms.round_design(p, UNIFORM, 50),
    "reduce_support": lambda p: algorithms.reduce_support(p, UNIFORM),
    "extend_problem": lambda p: algorithms.extend_problem(p, [[0.0, 1.0]], UNIFORM),
    "select_questions": lambda p: algorithms.select_questions(p, 4, rng=rng()),
    "spanning_design": algorithms.spanning_design,
    "draw_subsets": lambda p: algorithms.draw_subsets(p, 2, rng()),
    "exact_oracle": algorithms.exact_oracle,
    "AllSubsets": algorithms.AllSubsets,
    "BestPair": algorithms.BestPair,
    "GreedySwap": algorithms.GreedySwap,
    "GramMemo": lambda p: algorithms.GramMemo(p, UNIFORM),
    "FactorMemo": lambda p: algorithms.FactorMemo(p, UNIFORM),
    "make_memo": lambda p: algorithms.make_memo(p, UNIFORM),
    "span_factors": lambda p: algorithms.span_factors(p, PROBLEM.subsets()),
    "fisher_factors": lambda p: algorithms.fisher_factors(p, PROBLEM.subsets(), [0.0, 0.0]),
    "information_matrix": lambda p: theory.information_matrix(p, UNIFORM),
    "leverages": lambda p: theory.leverages(p, UNIFORM),
}


@pytest.mark.parametrize("name", ON_A_PROBLEM)
@pytest.mark.parametrize("problem", [None, X], ids=["nothing", "features"])
def test_something_else_than_a_problem_is_refused(name, problem):
    with pytest.raises(TypeError, match="problem must be a DesignProblem, got"):
        ON_A_PROBLEM[name](problem)


ON_A_DESIGN = {
    "certified_gap": lambda d: algorithms.certified_gap(PROBLEM, d),
    "leverage_upper_bound": lambda d: algorithms.leverage_upper_bound(PROBLEM, d),
    "ridge_gap": lambda d: algorithms.ridge_gap(PROBLEM, d, 0.1),
    "capped_certificate": lambda d: algorithms.capped_certificate(PROBLEM, d, 0.6),
    "round_design": lambda d: algorithms.round_design(PROBLEM, d, 50),
    "reduce_support": lambda d: algorithms.reduce_support(PROBLEM, d),
    "extend_problem": lambda d: algorithms.extend_problem(PROBLEM, [[0.0, 1.0]], d),
    "best_of_step": lambda d: algorithms.best_of_step(PROBLEM, d, PROBLEM.subsets()),
    "make_memo": lambda d: algorithms.make_memo(PROBLEM, d),
    "start of frank_wolfe": lambda d: algorithms.frank_wolfe(PROBLEM, start=d),
    "information_matrix": lambda d: theory.information_matrix(PROBLEM, d),
}


@pytest.mark.parametrize("name", ON_A_DESIGN)
@pytest.mark.parametrize(
    "design",
    ["text", Design([[0, 1]], [1.0]), Design([[0, 1, 7]], [1.0])],
    ids=["text", "pairs", "an item that does not exist"],
)
def test_a_design_of_something_else_is_refused(name, design):
    with pytest.raises((TypeError, ValueError), match="design must"):
        ON_A_DESIGN[name](design)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda v: algorithms.frank_wolfe(PROBLEM, iterations=v), "iterations"),
        (lambda v: algorithms.randomized_frank_wolfe(PROBLEM, n_sampled=v, rng=rng()), "n_sampled"),
        (lambda v: algorithms.randomized_frank_wolfe(PROBLEM, n_sampled=2, rng=rng(), patience=v), "patience"),
        (lambda v: algorithms.column_generation_design(PROBLEM, rounds=v), "rounds"),
        (lambda v: algorithms.column_generation_design(PROBLEM, batch=v), "batch"),
        (lambda v: algorithms.multiplicative_design(PROBLEM, iterations=v), "iterations"),
        (lambda v: algorithms.fisher_optimal_design(PROBLEM, [0.0, 0.0], iterations=v), "iterations"),
        (lambda v: algorithms.GreedySwap(PROBLEM, v), "max_swaps"),
        (lambda v: algorithms.make_memo(PROBLEM, UNIFORM, v), "refresh_every"),
        (lambda v: algorithms.round_design(PROBLEM, UNIFORM, v), "n_questions"),
        (lambda v: algorithms.select_questions(PROBLEM, 4, rng=rng(), max_shows=v), "max_shows"),
        (lambda v: algorithms.select_questions(PROBLEM, 4, rng=rng(), n_sampled=v), "n_sampled"),
        (lambda v: algorithms.select_questions(PROBLEM, 4, rng=rng(), sweeps=v), "sweeps"),
        (lambda v: algorithms.fit_strengths(RANKINGS, max_iterations=v), "max_iterations"),
        (lambda v: algorithms.mm_strengths(RANKINGS, max_iterations=v), "max_iterations"),
        (lambda v: algorithms.fit_features(X[:3], RANKINGS, max_iterations=v), "max_iterations"),
        (lambda v: Rankings.full([(0, 1)], n_items=v), "n_items"),
        (lambda v: UNIFORM.draw(v, rng()), "n_questions"),
        (lambda v: theory.enumerate_subsets(5, v), "subset_size"),
        (lambda v: theory.hessian_lower_constant(v, 1.0), "subset_size"),
        (lambda v: theory.fisher_constant_at_zero(v), "subset_size"),
        (lambda v: theory.initial_gap_bound(v, 3, 2), "n_subsets"),
        (lambda v: theory.initial_gap_bound(10, 3, v), "dim"),
        (lambda v: theory.hitting_time_tail(v, 2, 0.3), "iterations"),
        (lambda v: theory.hitting_time_tail(10, v, 0.3), "successes_needed"),
        (lambda v: theory.estimation_error_bound(v, 10, 3), "dim"),
        (lambda v: theory.estimation_error_bound(2, v, 3), "n_questions"),
        (lambda v: theory.ranking_loss_bound(v, 10, 3, 0.1), "dim"),
    ],
)
@pytest.mark.parametrize("value", [-1, 1.5, True, "3", np.nan, np.inf])
def test_a_count_that_is_no_count_is_refused_by_name(call, message, value):
    with pytest.raises((TypeError, ValueError), match=f"{message} must be"):
        call(value)


@pytest.mark.parametrize("features", [X * 1e160, X * 1e-160], ids=["1e160", "1e-160"])
def test_an_information_matrix_beyond_the_range_of_floats_is_refused_but_the_design_is_found(features):
    problem = DesignProblem(features, 3)
    design = algorithms.column_generation_design(problem)
    unscaled = algorithms.column_generation_design(PROBLEM)
    scale = np.log(np.abs(features).max() / np.abs(X).max())
    assert design.log_det - 2 * problem.rank * scale == pytest.approx(unscaled.log_det, abs=1e-6)
    for call in (
        lambda: theory.information_matrix(problem, design.design),
        lambda: theory.subset_information(features, problem.subsets()),
        lambda: algorithms.fit_features(features, Rankings.full([(0, 1, 2), (2, 1, 0)], n_items=6), ridge=1.0),
    ):
        with pytest.raises(ValueError, match="features must differ by between"):
            call()


def test_multiplicative_weights_stop_at_a_start_that_zero_weights_keep_from_the_optimum():
    stuck = algorithms.multiplicative_design(PROBLEM, start=Design([[0, 1, 2]], [1.0]))
    assert stuck.iterations < 10
    assert stuck.status is algorithms.DesignStatus.ITERATION_LIMIT
    assert stuck.certified_gap > 1.0


def test_a_far_away_start_does_not_stall_the_fit():
    fit = algorithms.fit_strengths(RANKINGS)
    for start in ([1e3, -1e3, 0.0], [1e150, 0.0, 0.0], [1e308, -1e308, 0.0]):
        again = algorithms.fit_strengths(RANKINGS, start=start)
        assert again.status is algorithms.FitStatus.CONVERGED
        assert again.strengths == pytest.approx(fit.strengths, abs=1e-8)
    with pytest.raises(ValueError, match="start must be a finite vector"):
        algorithms.fit_strengths(RANKINGS, start=[np.nan, 0.0, 0.0])


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Rankings.top([[0]], [[0, 1.7]], 2), "item numbers"),
        (lambda: Rankings.top([["0"]], [[0, 1]], 2), "item numbers"),
        (lambda: Rankings.top([[0]], [[0, 0, 1]], 2), "shown must not repeat"),
        (lambda: Rankings.top([[0], [1]], [[0, 1]], 2), "equal length"),
        (lambda: Rankings.from_wins([[0, 1], [1, 0]], ties=[[0, -1], [-1, 0]]), "ties must be"),
        (lambda: Rankings(np.array([[0, 1]]), np.array([1.5]), np.ones(1), 2), "n_stages must hold integers"),
        (lambda: algorithms.luce_derivatives([-1, 1, 2], [0, 1, 2]), "weights must be"),
        (lambda: algorithms.luce_derivatives([1, 1, 2], [0, 0, 2]), "different items"),
        (lambda: algorithms.updated_gram(np.eye(3), [0, 1], 1), "step must lie between 0 and 1"),
        (lambda: algorithms.best_of_step(PROBLEM, UNIFORM, np.array([[0, 1, 9]])), "below n_items"),
        (lambda: algorithms.best_of_step(PROBLEM, UNIFORM, np.array([[0.0, 1.0, 2.0]])), "integers"),
        (lambda: algorithms.frank_wolfe(PROBLEM, oracle="x"), "oracle must have a method propose"),
        (lambda: algorithms.sample_rankings([0.0, 1.0], [[0, 1]], None), "rng must be a Generator"),
        (lambda: algorithms.identifiability([[0, 1]]), "rankings must be a Rankings"),
        (lambda: algorithms.separating_direction(X[:2], RANKINGS), "features must be finite with shape"),
        (lambda: algorithms.exact_step([2.0], 2, lowest=1.0), "lowest must be"),
        (lambda: algorithms.pair_step(np.inf, 2), "leverage must be"),
        (lambda: algorithms.capped_certificate(PROBLEM, UNIFORM, np.nan), "max_share must be"),
        (lambda: theory.prediction_error_bound(-1.0, 2, 10, 3), "max_leverage must be"),
        (lambda: theory.luce_negative_log_likelihood([0.0, 0.0], X, [0.5, 1]), "item numbers"),
        (lambda: DesignProblem(X + 1j, 3), "real numbers"),
    ],
)
def test_malformed_argument_is_refused_by_name(build, message):
    with pytest.raises((TypeError, ValueError), match=message):
        build()


def test_information_of_items_that_differ_by_hundreds_of_nats_is_finite():
    information = theory.fisher_information([1.0], [[0.0], [-350.0], [-699.0]])
    assert np.isfinite(information).all()
    assert np.isfinite(algorithms.fisher_factors(PROBLEM, PROBLEM.subsets(), [1e3, 1e3])).all()


def test_the_refusal_of_a_large_table_stays_a_sentence():
    chain = [(i, (i + 1) % 1000) for i in range(1000)]
    with pytest.raises(algorithms.NoFiniteMaximumError) as refusal:
        algorithms.fit_strengths(Rankings.full([*chain, (0, 1000)], n_items=1001))
    assert len(str(refusal.value)) < 300
    assert "1000 items" in str(refusal.value)
