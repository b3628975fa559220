"""Exact values of the Plackett-Luce model, the design objects and the constants."""

from fractions import Fraction
from itertools import combinations, permutations

import numpy as np
import pytest

from whp.theory import plackett_luce_design as theory

THREE = [Fraction(1), Fraction(2), Fraction(3)]
SQUARE = [[0, 0], [1, 0], [0, 1], [1, 1]]
KITE = [[0, 0], [1, 0], [0, 2], [3, 1]]  # a, b, c, e


@pytest.mark.parametrize(
    ("ranking", "probability"),
    [
        ((2, 1, 0), Fraction(1, 3)),
        ((2, 0, 1), Fraction(1, 6)),
        ((1, 2, 0), Fraction(1, 4)),
        ((1, 0, 2), Fraction(1, 12)),
        ((0, 2, 1), Fraction(1, 10)),
        ((0, 1, 2), Fraction(1, 15)),
    ],
)
def test_ranking_probabilities_of_weights_one_two_three(ranking, probability):
    assert theory.ranking_probability(THREE, ranking) == probability


def test_expected_pair_coefficients_of_weights_one_two_three():
    table = theory.pair_information(THREE)
    assert (table[0][1], table[0][2], table[1][2]) == (Fraction(1, 6), Fraction(7, 48), Fraction(31, 150))


def test_pair_information_is_the_mean_over_rankings():
    for weights in (THREE, [Fraction(w) for w in (5, 1, 7, 2)]):
        table = theory.pair_information(weights)
        mean = {}
        for ranking, p in theory.ranking_distribution(weights).items():
            for pair, value in theory.ranking_pair_coefficients(weights, ranking).items():
                mean[pair] = mean.get(pair, 0) + p * value
        assert all(table[i][j] == mean[i, j] for i, j in combinations(range(len(weights)), 2))


@pytest.mark.parametrize(
    ("ranking", "probability", "gradient"),
    [([2, 1, 0], Fraction(8, 21), -19 / 21), ([0, 1, 2], Fraction(1, 21), 44 / 21)],
)
def test_likelihood_derivatives_in_one_dimension(ranking, probability, gradient):
    x, theta = [[0.0], [1.0], [2.0]], [np.log(2.0)]
    assert theory.ranking_probability([Fraction(1), Fraction(2), Fraction(4)], ranking) == probability
    assert theory.luce_negative_log_likelihood(theta, x, ranking) == pytest.approx(-np.log(float(probability)))
    assert theory.luce_gradient(theta, x, ranking)[0] == pytest.approx(gradient, abs=1e-14)
    assert theory.luce_hessian(theta, x, ranking)[0, 0] == pytest.approx(332 / 441, abs=1e-14)


def test_fisher_constants_at_zero():
    expected = [Fraction(1, 4), Fraction(7, 36), Fraction(23, 144), Fraction(163, 1200), Fraction(71, 600)]
    assert [theory.fisher_constant_at_zero(k) for k in range(2, 7)] == expected
    for k, c in zip(range(2, 7), expected, strict=True):
        table = theory.pair_information([Fraction(1)] * k)
        assert all(table[i][j] == c for i, j in combinations(range(k), 2))


def test_one_full_ranking_of_three_is_worth_seven_quarters_of_a_choice():
    assert 9 * theory.fisher_constant_at_zero(3) == Fraction(7, 4)


@pytest.mark.parametrize(
    ("size", "sharp", "crude"),
    [
        (2, 0.10499358540350652, 0.004578909722183545),
        (3, 0.011343736558495073, 0.002035070987637131),
        (4, 0.0035523341546527597, 0.0011447274305458862),
        (5, 0.0017121762442192533, 0.0007326255555493671),
        (7, 0.0006593110094114006, 0.0003737885487496771),
    ],
)
def test_hessian_constants_at_unit_utilities(size, sharp, crude):
    assert theory.hessian_lower_constant(size, 1.0) == pytest.approx(sharp, rel=1e-14)
    assert theory.crude_hessian_constant(size, 1.0) == pytest.approx(crude, rel=1e-14)


def test_unit_square_uniform_design_of_triples_is_optimal():
    problem = theory.DesignProblem(SQUARE, 3)
    design = theory.Design.uniform(problem.subsets())
    assert np.allclose(theory.information_matrix(problem, design), 2 * np.eye(2))
    assert np.allclose(theory.leverages(problem, design), 2)
    assert theory.design_log_det(problem, design) == pytest.approx(np.log(4))


def test_unit_square_pairs_uniform_and_optimal():
    problem = theory.DesignProblem(SQUARE, 2)
    uniform = theory.Design.uniform(problem.subsets())
    assert np.allclose(theory.information_matrix(problem, uniform), 2 / 3 * np.eye(2))
    assert np.allclose(theory.leverages(problem, uniform), [1.5, 1.5, 3, 3, 1.5, 1.5])
    optimal = theory.Design([[0, 3], [1, 2]], [0.5, 0.5])
    assert np.allclose(theory.leverages(problem, optimal), [1, 1, 2, 2, 1, 1])
    assert theory.design_log_det(problem, optimal) == pytest.approx(0, abs=1e-14)


def test_kite_leverages_of_the_uniform_design():
    problem = theory.DesignProblem(KITE, 2)
    uniform = theory.Design.uniform(problem.subsets())
    assert np.allclose(theory.information_matrix(problem, uniform), np.diag([4, 11 / 6]))
    assert np.allclose(theory.leverages(problem, uniform), [1 / 4, 24 / 11, 123 / 44, 107 / 44, 17 / 11, 123 / 44])
    assert np.exp(theory.design_log_det(problem, uniform)) == pytest.approx(22 / 3)


def test_kite_optimum_of_pairs_and_triples():
    pairs = theory.DesignProblem(KITE, 2)
    optimum = theory.Design([[0, 3], [1, 2], [2, 3]], [125 / 288, 19 / 48, 49 / 288])
    assert theory.design_log_det(pairs, optimum) == pytest.approx(2.5463479315109643, abs=1e-13)
    assert np.allclose(theory.leverages(pairs, optimum), [6 / 35, 64 / 35, 2, 2, 8 / 7, 2])
    triples = theory.DesignProblem(KITE, 3)
    single = theory.Design([[0, 2, 3]], [1.0])
    assert np.exp(theory.design_log_det(triples, single)) == pytest.approx(108)
    assert np.allclose(theory.leverages(triples, single), [13 / 9, 10 / 9, 2, 16 / 9])


@pytest.mark.parametrize(("n", "k"), [(4, 2), (5, 3), (6, 4), (6, 6)])
def test_simplex_points_make_the_uniform_design_optimal(n, k):
    problem = theory.DesignProblem(np.eye(n), k)
    uniform = theory.Design.uniform(problem.subsets())
    assert problem.rank == n - 1
    assert np.allclose(theory.leverages(problem, uniform), n - 1)
    expected = k * (k - 1) / (n * (n - 1)) * (n * np.eye(n) - np.ones((n, n)))
    assert np.allclose(theory.information_matrix(problem, uniform), expected)
    back = problem.basis.T @ theory.span_information(problem, uniform) @ problem.basis
    assert np.allclose(back, expected)


def test_subset_information_is_the_sum_over_pairs_and_of_low_rank():
    x = np.random.default_rng(0).integers(-5, 6, (7, 4)).astype(float)
    subset = [0, 2, 5]
    total = sum(np.outer(x[i] - x[j], x[i] - x[j]) for i, j in combinations(subset, 2))
    assert np.allclose(theory.subset_information(x, [subset])[0], total)
    factor = theory.subset_factors(x, [subset])[0]
    assert np.allclose(factor.T @ factor, total)
    assert np.linalg.matrix_rank(total) == 2


def test_rank_is_found_at_every_scale():
    x = np.random.default_rng(0).normal(size=(9, 2)) @ np.random.default_rng(1).normal(size=(2, 5))
    for scale in (1e-150, 1e-8, 1.0, 1e8, 1e100):
        assert theory.DesignProblem(scale * x, 3).rank == 2
    shifted = theory.DesignProblem(x + 1e6, 3)
    assert shifted.rank == 2


def test_rank_with_candidates_counts_only_shown_differences():
    x = [[0.0, 0.0], [1.0, 0.0], [0.0, 7.0], [1.0, 7.0]]
    assert theory.DesignProblem(x, 2, np.array([[0, 1], [2, 3]])).rank == 1
    assert theory.DesignProblem(x, 2).rank == 2


def test_duplicates_are_listed():
    assert theory.DesignProblem([[1.0], [2.0], [1.0], [-0.0], [0.0]], 2).duplicates == [(0, 2), (3, 4)]


def test_ranking_loss_counts_misordered_pairs_and_halves_ties():
    assert theory.ranking_loss([3, 2, 1], [3, 2, 1]) == 0
    assert theory.ranking_loss([3, 2, 1], [1, 2, 3]) == 1
    assert theory.ranking_loss([2, 1], [0, 0]) == 0.5
    assert theory.ranking_loss([1, 1], [0, 5]) == 0


def test_certified_gap_is_between_zero_and_the_frank_wolfe_gap():
    for excess in (0.0, 1e-12, 0.1, 5.0, 1e6):
        assert 0 <= theory.certified_gap_bound(3 + excess, 3) <= (3 + excess) - 3


def test_progress_recursion_reaches_the_accuracy_it_promises():
    steps = theory.frank_wolfe_iterations(5.0, 3.0, 0.1)
    assert theory.frank_wolfe_gap_after(5.0, 3.0, steps) <= 0.1 < theory.frank_wolfe_gap_after(5.0, 3.0, steps - 1)


def test_hitting_time_mean_agrees_with_its_tail():
    tail = sum(theory.hitting_time_tail(t, 5, 0.125) for t in range(2000))
    assert tail == pytest.approx(5 / 0.125, rel=1e-9)
    assert theory.expected_failure_iterations(5, 7, 56) == 40


def test_question_budget_inverts_the_ranking_loss_bound():
    t = theory.questions_for_ranking_loss(0.05, 3, 4, 0.2)
    assert theory.ranking_loss_bound(3, t, 4, 0.2) <= 0.05 < theory.ranking_loss_bound(3, t - 1, 4, 0.2)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([[0.0], [1.0]], 3), "subset_size must be between 2 and n_items=2, got 3"),
        (([[0.0], [1.0]], 1), "subset_size must be between 2 and n_items=2, got 1"),
        (([[0.0], [np.nan]], 2), r"features must be finite, got features\[1, 0\]=nan"),
        (([[0.0], [np.inf]], 2), "features must be finite"),
        (([0.0, 1.0], 2), r"features must have two dimensions \(n_items, dim\), got shape \(2,\)"),
        (([[0.0]], 2), "at least 2 items"),
        (([[1.0, 2.0]] * 4, 2), "features must differ"),
        (([[0.0], [1.0]], 2, np.array([[0, 2]])), "candidates must name items between 0 and 1"),
        (([[0.0], [1.0]], 2, np.array([[1, 1]])), "must not repeat an item"),
        (([[0.0], [1.0], [2.0]], 2, np.array([[0, 1, 2]])), "candidates must have subset_size=2 columns, got 3"),
    ],
)
def test_ill_formed_problems_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        theory.DesignProblem(*arguments)


def test_ill_typed_problems_are_refused():
    with pytest.raises(TypeError, match=r"subset_size must be an integer, got 2\.5"):
        theory.DesignProblem([[0.0], [1.0]], 2.5)
    with pytest.raises(TypeError, match="features must be a rectangular array of numbers"):
        theory.DesignProblem([[0.0], ["a"]], 2)
    with pytest.raises(TypeError, match="candidates must hold item numbers"):
        theory.DesignProblem([[0.0], [1.0]], 2, np.array([[0.0, 1.0]]))


@pytest.mark.parametrize("weights", [[0.5, 0.6], [-0.1, 1.1], [np.nan, 1.0], [1.0]])
def test_ill_formed_designs_are_refused(weights):
    with pytest.raises(ValueError, match="weights must"):
        theory.Design([[0, 1], [1, 2]], weights)


def test_singular_designs_are_refused_with_their_rank():
    problem = theory.DesignProblem(SQUARE, 2)
    with pytest.raises(theory.SingularDesignError, match="2 dimensions in which the items differ, got rank 1"):
        theory.leverages(problem, theory.Design([[0, 1]], [1.0]))


@pytest.mark.parametrize("bad", [[0, 0], [0], [0, 5], [-1, 0]])
def test_ill_formed_rankings_are_refused(bad):
    with pytest.raises(ValueError, match="ranking must"):
        theory.ranking_probability([1.0, 2.0, 3.0], bad)


def test_extreme_weights_stay_exact_and_floats_stay_finite():
    weights = [Fraction(1), Fraction(10**5), Fraction(1)]
    assert sum(theory.ranking_distribution(weights).values()) == 1
    theta, x = [800.0], [[0.0], [1.0], [-1.0]]
    for ranking in permutations(range(3)):
        value = theory.luce_negative_log_likelihood(theta, x, ranking)
        assert np.isfinite(value) and np.isfinite(theory.luce_hessian(theta, x, ranking)).all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: theory.hessian_lower_constant(1, 1.0), "subset_size must be at least 2"),
        (lambda: theory.hessian_lower_constant(3, -1.0), "utility_bound must be finite and at least 0"),
        (lambda: theory.certified_gap_bound(1.0, 2), "max_leverage must be at least dim"),
        (lambda: theory.frank_wolfe_iterations(1.0, 2.0, 0.0), "accuracy must be finite and above 0"),
        (lambda: theory.frank_wolfe_iterations(1.0, 2.0, 1e-9), "accuracy must be large enough"),
        (lambda: theory.ranking_loss_bound(2, 10, 2, 0.0), "smallest_gap must be finite and above 0"),
        (lambda: theory.misordered_pairs_bound([0.0], [1.0]), "a tie has no right order"),
        (lambda: theory.expected_failure_iterations(1, 9, 8), "n_sampled must be between 1 and 8, got 9"),
    ],
)
def test_bounds_refuse_values_outside_their_domain(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_every_closed_form_agrees_with_its_function_on_its_whole_domain():
    for n_subsets, size, dim in ((1, 3, 2), (1, 2, 5), (56, 3, 3), (10, 4, 2), (1, 2, 1)):
        assert theory.INITIAL_GAP(n_subsets=n_subsets, subset_size=size, dim=dim) == pytest.approx(
            theory.initial_gap_bound(n_subsets, size, dim), abs=1e-12
        )
    for leverage, dim in ((0.5, 0.25), (3.0, 2.0)):
        gap = theory.CERTIFIED_GAP(max_leverage=leverage, dim=dim)
        assert gap == pytest.approx(theory.certified_gap_bound(leverage, dim))
        assert theory.FRANK_WOLFE_GAP(max_leverage=leverage, dim=dim) == pytest.approx(leverage - dim)
    assert theory.PROGRESS(gap=2.0, dim=3.0) == pytest.approx(theory.frank_wolfe_progress(2.0, 3.0))
    assert theory.RANDOMISED_ITERATIONS(steps=10, n_sampled=7, n_subsets=56) == 80.0
    assert theory.MEAN_PAIR_LEVERAGE(dim=6.0, subset_size=4) == 1.0
    kappa = theory.hessian_lower_constant(3, 0.5)
    for dim in (1, 2):
        assert theory.estimation_error_bound(dim, 7, 3, 0.2, 0.5) == pytest.approx(dim / (4 * kappa**2 * 7 * 0.2))
        loss = theory.ranking_loss_bound(dim, 7, 3, 0.3, 0.5)
        assert loss == pytest.approx(dim**2 / (2 * 3 * 2 * kappa**2 * 7 * 0.3**2))
        enough = theory.questions_for_ranking_loss(0.1, dim, 3, 0.3, 0.5)
        assert theory.ranking_loss_bound(dim, enough, 3, 0.3, 0.5) <= 0.1
        assert theory.ranking_loss_bound(dim, enough - 1, 3, 0.3, 0.5) > 0.1
