"""Rankings, likelihood, maximum-likelihood fits and what the answers identify."""

from itertools import permutations

import numpy as np
import pytest

from whp.algorithms.plackett_luce_design import (
    FitStatus,
    LuceStages,
    NoFiniteMaximumError,
    Rankings,
    adjacent_breaking,
    fit_features,
    fit_strengths,
    full_breaking,
    identifiability,
    log_likelihood,
    mm_strengths,
    sample_rankings,
    separating_direction,
    strengths_within_components,
    top_breaking,
    win_rates,
)
from whp.theory import plackett_luce_design as theory


def random_rankings(n_items, n_rankings, size, seed):
    rng = np.random.default_rng(seed)
    theta = rng.normal(size=n_items)
    subsets = np.array([rng.choice(n_items, size, replace=False) for _ in range(n_rankings)])
    return theta, Rankings.full(sample_rankings(theta, subsets, rng), n_items)


def mixed_rankings():
    return Rankings.top(
        [[0], [3, 1], [2, 4, 0], [4, 0]],
        [[0, 1, 2, 3], [1, 3], [0, 2, 4], [0, 1, 2, 3, 4]],
        n_items=5,
        weights=[1.0, 2.0, 1.0, 0.5],
    )


@pytest.mark.parametrize("scale", [1.0, 30.0, 400.0])
def test_likelihood_agrees_with_theory_in_both_arithmetics(scale):
    theta, data = random_rankings(8, 20, 4, 0)
    u = scale * theta
    direct = sum(theory.luce_negative_log_likelihood(u, np.eye(8), row) for row in data.items)
    gradient = sum(theory.luce_gradient(u, np.eye(8), row) for row in data.items)
    hessian = sum(theory.luce_hessian(u, np.eye(8), row) for row in data.items)
    stages = LuceStages(data, u)
    assert stages.value == pytest.approx(direct, rel=1e-12)
    assert np.allclose(stages.gradient(), gradient, atol=1e-12)
    assert np.allclose(stages.item_hessian(), hessian, atol=1e-12)
    assert np.allclose(stages.curvature_diagonal(), np.diag(hessian), atol=1e-12)
    v = np.random.default_rng(1).normal(size=8)
    assert np.allclose(stages.curvature_product(v), hessian @ v, atol=1e-11)
    x = np.random.default_rng(2).normal(size=(8, 3))
    assert np.allclose(stages.feature_hessian(x), x.T @ hessian @ x, atol=1e-11)


def test_partial_and_top_answers_sum_over_the_rankings_they_allow():
    u = np.array([0.3, -1.0, 0.7])
    data = Rankings.top([[2]], [[0, 1, 2]], 3)
    total = sum(theory.ranking_probability(np.exp(u), order) for order in permutations(range(3)) if order[0] == 2)
    assert np.exp(log_likelihood(data, u)) == pytest.approx(total)


def test_derivatives_of_mixed_answers_agree_with_differences():
    data, u, h = mixed_rankings(), np.array([0.1, -0.4, 0.8, 0.0, 0.5]), 1e-6
    for scale in (1.0, 500.0):
        stages = LuceStages(data, scale * u)
        numeric = [
            (LuceStages(data, scale * u + h * e).value - LuceStages(data, scale * u - h * e).value) / (2 * h)
            for e in np.eye(5)
        ]
        assert np.allclose(stages.gradient(), numeric, atol=1e-5)
        numeric = [
            (LuceStages(data, scale * u + h * e).gradient() - LuceStages(data, scale * u - h * e).gradient()) / (2 * h)
            for e in np.eye(5)
        ]
        assert np.allclose(stages.item_hessian(), numeric, atol=1e-5)
        for e in np.eye(5):
            assert np.allclose(stages.curvature_product(e), stages.item_hessian() @ e, atol=1e-9)


def test_gradient_sums_to_zero_and_constants_are_free():
    theta, data = random_rankings(10, 30, 3, 4)
    assert LuceStages(data, theta).gradient().sum() == pytest.approx(0, abs=1e-12)
    assert log_likelihood(data, theta) == pytest.approx(log_likelihood(data, theta + 1e3), rel=1e-9)


def test_newton_and_mm_find_the_same_maximum():
    _, data = random_rankings(30, 400, 4, 1)
    newton, mm = fit_strengths(data), mm_strengths(data)
    assert newton.status is FitStatus.CONVERGED and newton.gradient_norm <= 1e-8
    assert mm.status is FitStatus.CONVERGED
    assert np.allclose(newton.strengths, mm.strengths, atol=1e-7)
    assert newton.strengths.sum() == pytest.approx(0, abs=1e-9)


def test_newton_agrees_with_choix():
    choix = pytest.importorskip("choix")
    _, data = random_rankings(20, 300, 4, 2)
    theirs = choix.opt_rankings(20, [tuple(r) for r in data.items.tolist()], alpha=0.0)
    assert np.allclose(fit_strengths(data).strengths, theirs - theirs.mean(), atol=1e-5)


def test_newton_solves_a_long_chain_that_conjugate_gradients_cannot():
    n = 600
    pairs = [(i, i + 1) for i in range(n - 1)] * 2 + [(i + 1, i) for i in range(n - 1)]
    fit = fit_strengths(Rankings.full(pairs, n))
    assert fit.status is FitStatus.CONVERGED
    assert np.allclose(-np.diff(fit.strengths), np.log(2), atol=1e-6)


def test_skewed_match_ups_rank_the_stronger_item_first():
    wins = np.zeros((4, 4))  # A, B, C, W
    wins[0, 2], wins[2, 0], wins[0, 3], wins[3, 0] = 30, 60, 9, 1
    wins[1, 2], wins[2, 1], wins[1, 3], wins[3, 1] = 2, 8, 72, 18
    assert win_rates(wins)[:2].tolist() == [0.39, 0.74]
    strengths = fit_strengths(Rankings.from_wins(wins)).strengths
    assert np.round(strengths, 6).tolist() == [0.543715, -0.193301, 1.233651, -1.584064]
    assert round(strengths[0] - strengths[1], 6) == 0.737016


def test_ties_count_as_half_a_win():
    assert win_rates([[0, 2], [3, 0]], ties=[[0, 95], [95, 0]])[0] == 0.495


def test_nothing_but_ties_gives_equal_strengths():
    ties = np.array([[0, 4, 0], [4, 0, 4], [0, 4, 0]])
    fit = fit_strengths(Rankings.from_wins(np.zeros((3, 3)), ties))
    assert fit.strengths.tolist() == [0.0, 0.0, 0.0] and fit.identifiability.finite


def test_answers_without_a_finite_maximum_name_the_parts():
    data = Rankings.full([(0, 1)] * 3 + [(1, 2)] * 2 + [(2, 1)], n_items=5)
    message = r"parts \{0\}, \{1, 2\}, \{3\}, \{4\}; never compared: \[3, 4\]"
    with pytest.raises(NoFiniteMaximumError, match=message) as e:
        fit_strengths(data)
    assert e.value.report.components == ((0,), (1, 2), (3,), (4,))
    assert e.value.report.above == ((0, 1),)
    inside = strengths_within_components(data)[1, 2]
    assert inside[0] - inside[1] == pytest.approx(0.693147, abs=1e-6)
    ridge = fit_strengths(data, ridge=0.1)
    assert ridge.not_identified == (3, 4)
    assert ridge.order().tolist() == [0, 1, 2]


def test_a_chain_is_refused_without_ridge_and_unique_with_it():
    chain = Rankings.full([(0, 1), (1, 2), (2, 3)], n_items=4)
    with pytest.raises(NoFiniteMaximumError):
        fit_strengths(chain)
    with pytest.raises(NoFiniteMaximumError):
        mm_strengths(chain)
    expected = [1.959367, 0.547481, -0.547481, -1.959367]
    assert np.round(fit_strengths(chain, ridge=0.1).strengths, 6).tolist() == expected


def test_left_over_items_of_top_answers_are_beaten_by_the_last_choice():
    report = identifiability(Rankings.top([[0]], [[0, 1, 2]], 3))
    assert report.components == ((0,), (1,), (2,)) and set(report.above) == {(0, 1), (0, 2)}
    cycle = Rankings.top([[0], [1], [2]], [[0, 1, 2]] * 3, 3)
    assert identifiability(cycle).finite


def test_feature_fit_in_the_identity_features_is_the_strength_fit():
    _, data = random_rankings(12, 200, 4, 5)
    fit = fit_features(np.eye(12), data)
    assert fit.rank == 11 and fit.status is FitStatus.CONVERGED
    assert np.allclose(fit.theta, fit_strengths(data).strengths, atol=1e-7)


def test_feature_fit_meets_the_first_order_condition():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(40, 5))
    theta = rng.normal(size=5)
    subsets = np.array([rng.choice(40, 4, replace=False) for _ in range(500)])
    data = Rankings.full(sample_rankings(x @ theta, subsets, rng), 40)
    fit = fit_features(x, data)
    assert np.linalg.norm(x.T @ LuceStages(data, x @ fit.theta).gradient()) < 1e-7
    assert np.linalg.norm(fit.theta - theta) < 0.5
    errors = fit.standard_errors(np.eye(5))
    assert (np.abs(fit.theta - theta) < 5 * errors).all()


@pytest.mark.parametrize("radius", [0.01, 0.5, 1.0, 100.0])
def test_ball_fit_satisfies_the_optimality_conditions(radius):
    rng = np.random.default_rng(3)
    x = rng.normal(size=(20, 3))
    subsets = np.array([rng.choice(20, 3, replace=False) for _ in range(100)])
    data = Rankings.full(sample_rankings(x @ [1.0, -2.0, 0.5], subsets, rng), 20)
    fit = fit_features(x, data, radius=radius)
    gradient = x.T @ LuceStages(data, x @ fit.theta).gradient()
    assert np.linalg.norm(fit.theta) <= radius * (1 + 1e-12)
    assert fit.multiplier >= 0
    assert np.allclose(gradient, -fit.multiplier * fit.theta, atol=1e-6)
    assert (np.linalg.norm(fit.theta) == pytest.approx(radius)) == (fit.multiplier > 0)


def test_separable_answers_are_refused_with_a_direction():
    x = np.array([[0.0, 0.3], [1.0, -0.2], [2.0, 0.1]])
    data = Rankings.full([(2, 1, 0), (2, 0, 1), (1, 0)], n_items=3)
    with pytest.raises(NoFiniteMaximumError, match="separable") as error:
        fit_features(x[:, :1], Rankings.full([(2, 1, 0)], 3))
    assert error.value.direction[0] > 0
    direction = separating_direction(x[:, :1], data)
    assert direction is None
    assert np.isfinite(fit_features(x[:, :1], Rankings.full([(2, 1, 0)], 3), ridge=0.1).theta).all()
    assert fit_features(x[:, :1], Rankings.full([(2, 1, 0)], 3), radius=2.0).theta[0] == pytest.approx(2.0)


def test_quasi_separable_answers_are_refused():
    x = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    data = Rankings.full([(1, 0), (0, 1), (2, 0)], 3)  # the second coordinate never loses
    with pytest.raises(NoFiniteMaximumError):
        fit_features(x, data)


def test_unidentified_directions_are_reported_and_left_at_zero():
    x = np.array([[0.0, 1.0, 1.0], [1.0, 1.0, 1.0], [2.0, 1.0, 1.0]])
    fit = fit_features(x, Rankings.full([(0, 1), (1, 0), (2, 1), (1, 2)], 3))
    assert fit.rank == 1 and fit.theta[1:].tolist() == [0.0, 0.0]
    assert fit.standard_errors([[0.0, 1.0, 0.0]])[0] == np.inf


def test_large_offsets_do_not_change_the_fit():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(15, 3))
    subsets = np.array([rng.choice(15, 4, replace=False) for _ in range(200)])
    data = Rankings.full(sample_rankings(x @ [1.0, 0.0, -1.0], subsets, rng), 15)
    assert np.allclose(fit_features(x, data).theta, fit_features(x + 1e6, data).theta, atol=1e-6)


def test_rank_breaking_lists_the_pairs():
    data = Rankings.top([[2, 0]], [[0, 1, 2, 3]], 4)
    assert sorted(map(tuple, full_breaking(data).items.tolist())) == [(0, 1), (0, 3), (2, 0), (2, 1), (2, 3)]
    assert sorted(map(tuple, top_breaking(data).items.tolist())) == [(2, 0), (2, 1), (2, 3)]
    assert sorted(map(tuple, adjacent_breaking(data).items.tolist())) == [(0, 1), (2, 0)]


def test_full_breaking_is_consistent_and_adjacent_breaking_is_not():
    rng = np.random.default_rng(0)
    theta = np.array([1.5, 0.0, -1.5])
    data = Rankings.full(sample_rankings(theta, np.tile([0, 1, 2], (40_000, 1)), rng), 3)
    assert np.abs(fit_strengths(full_breaking(data)).strengths - theta).max() < 0.03
    assert np.abs(fit_strengths(top_breaking(data)).strengths - theta).max() < 0.03
    assert np.abs(fit_strengths(adjacent_breaking(data)).strengths - theta).max() > 0.1


def test_sampled_rankings_follow_the_model():
    rng = np.random.default_rng(0)
    draws = sample_rankings(np.log([1.0, 2.0, 3.0]), np.tile([0, 1, 2], (60_000, 1)), rng)
    for order, p in theory.ranking_distribution([1, 2, 3]).items():
        share = (draws == order).all(axis=1).mean()
        assert abs(share - p) < 5 * np.sqrt(p * (1 - p) / 60_000)


def test_sampling_ignores_the_global_generator():
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    sample_rankings([0.0, 1.0], [[0, 1]], np.random.default_rng(0))
    assert (np.random.get_state()[1] == before).all()  # noqa: NPY002


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Rankings.full([], 3), "at least one ranking"),
        (lambda: Rankings.full([(0,)], 3), "at least 2 items"),
        (lambda: Rankings.full([(0, 0)], 3), "must not repeat"),
        (lambda: Rankings.full([(0, 3)], 3), "between 0 and n_items-1=2, got 0..3"),
        (lambda: Rankings.full([(0, -1)], 3), "item numbers from 0"),
        (lambda: Rankings.full([(0, 1.5)], 3), "item numbers from 0"),
        (lambda: Rankings.full([(0, 1)], 3, weights=[0.0]), "weights must be positive"),
        (lambda: Rankings.full([(0, 1)], 3, weights=[np.nan]), "weights must be positive"),
        (lambda: Rankings.top([[5]], [[0, 1]], 6), "only shown ones"),
        (lambda: Rankings.top([[]], [[0, 1]], 6), "at least one item"),
        (lambda: Rankings.from_wins([[0, 1]]), "square"),
        (lambda: Rankings.from_wins([[1, 1], [0, 0]]), "zero diagonal"),
        (lambda: Rankings.from_wins([[0, 0], [0, 0]]), "at least one result"),
        (lambda: win_rates([[0, 1, 0], [0, 0, 0], [0, 0, 0]]), r"none of items \[2\]"),
        (lambda: sample_rankings([0.0, np.nan], [[0, 1]], np.random.default_rng(0)), "utilities must be"),
        (lambda: sample_rankings([0.0, 1.0], [[0, 2]], np.random.default_rng(0)), "between 0 and 1"),
        (lambda: fit_strengths(Rankings.full([(0, 1)], 2), ridge=-1.0), "ridge must be"),
        (lambda: fit_strengths(Rankings.full([(0, 1)], 2), ridge=np.nan), "ridge must be"),
        (lambda: fit_strengths(Rankings.full([(0, 1)], 2), ridge=1.0, tolerance=0.0), "tolerance must be"),
        (lambda: fit_features([[0.0]], Rankings.full([(0, 1)], 2)), "features must have shape"),
        (lambda: fit_features([[0.0], [np.inf]], Rankings.full([(0, 1)], 2)), "features must be finite"),
        (lambda: fit_features([[0.0], [1.0]], Rankings.full([(0, 1)], 2), radius=0.0), "radius must be"),
        (lambda: log_likelihood(Rankings.full([(0, 1)], 2), [0.0, np.inf]), "utilities must be finite"),
    ],
)
def test_bad_input_is_refused_by_name(build, message):
    with pytest.raises(ValueError, match=message):
        build()


@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e8])
def test_scale_of_the_features_only_scales_the_parameter(scale):
    x = np.array([[0.0], [1.0], [2.0]])
    data = Rankings.full([(1, 0), (0, 1), (2, 1), (1, 2), (2, 0)], 3)
    fit = fit_features(scale * x, data)
    assert fit.theta[0] * scale == pytest.approx(0.528048910, abs=1e-8) and fit.status is FitStatus.CONVERGED
    penalised = fit_features(scale * x, data, ridge=0.5 * scale**2)
    assert penalised.theta[0] * scale == pytest.approx(fit_features(x, data, ridge=0.5).theta[0], rel=1e-7)
    bounded = fit_features(scale * x, data, radius=0.1 / scale)
    assert bounded.theta[0] * scale == pytest.approx(0.1)


@pytest.mark.parametrize("weight", [1e-12, 1.0, 1e6])
def test_weight_of_the_answers_does_not_move_the_fit(weight):
    fit = fit_strengths(Rankings.from_wins([[0.0, 2.0 * weight], [weight, 0.0]]))
    assert fit.strengths[0] - fit.strengths[1] == pytest.approx(np.log(2), abs=1e-6)
    assert fit.status is not FitStatus.ITERATION_LIMIT


def test_equal_features_leave_nothing_to_learn():
    fit = fit_features(np.ones((3, 2)), Rankings.full([(0, 1), (1, 2)], 3))
    assert fit.rank == 0 and fit.theta.tolist() == [0.0, 0.0]
    assert fit.log_likelihood == pytest.approx(-2 * np.log(2))


def test_merged_rankings_have_the_same_likelihood():
    _, data = random_rankings(4, 300, 3, 8)
    merged = data.merged()
    assert len(merged) <= 24 < len(data) and merged.weights.sum() == 300
    u = np.arange(4.0)
    assert log_likelihood(merged, u) == pytest.approx(log_likelihood(data, u))


def test_repeated_items_are_not_sampled():
    with pytest.raises(ValueError, match=r"must not repeat an item, got \[1, 1\] in row 0"):
        sample_rankings([0.0, 1.0], [[1, 1]], np.random.default_rng(0))
