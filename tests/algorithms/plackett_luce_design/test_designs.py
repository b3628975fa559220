"""Designs: reference optima, certificates, agreement of the solvers, invariances and edge cases."""

import numpy as np
import pytest

from whp.algorithms.plackett_luce_design import (
    AllSubsets,
    BestPair,
    DesignStatus,
    FactorMemo,
    GramMemo,
    GreedySwap,
    UniformSample,
    away_step_frank_wolfe,
    certified_gap,
    certify,
    column_generation_design,
    cvxpy_design,
    draw_subsets,
    exact_step,
    fisher_optimal_design,
    frank_wolfe,
    interior_point_design,
    largest_leverage,
    leverage_upper_bound,
    log_det_change,
    multiplicative_design,
    pair_step,
    randomized_frank_wolfe,
    spanning_design,
)
from whp.theory.plackett_luce_design import (
    Design,
    DesignProblem,
    SingularDesignError,
    design_log_det,
    fisher_constant_at_zero,
    information_matrix,
    leverages,
)

SQUARE = [[0, 0], [1, 0], [0, 1], [1, 1]]
KITE = [[0, 0], [1, 0], [0, 2], [3, 1]]  # a, b, c, e


def features(n_items, dim, seed=1):
    x = np.random.default_rng(seed).normal(size=(n_items, dim))
    return x / np.linalg.norm(x, axis=1).max()


def test_kite_first_frank_wolfe_step_is_the_exact_one():
    problem = DesignProblem(KITE, 2)
    uniform = Design.uniform(problem.subsets())
    assert leverages(problem, uniform)[2] == pytest.approx(123 / 44)
    assert pair_step(123 / 44, 2) == pytest.approx(35 / 158)
    first = frank_wolfe(problem, start=uniform, iterations=1, tolerance=0.0)
    assert first.history.step == [pytest.approx(35 / 158, abs=1e-14)]
    assert np.exp(first.log_det) == pytest.approx(5043 / 632)
    assert first.log_det - design_log_det(problem, uniform) == pytest.approx(0.084436863239661715, abs=1e-13)
    assert np.allclose(information_matrix(problem, first.design), [[807 / 158, 105 / 158], [105 / 158, 521 / 316]])
    after = [1042 / 5043, 4304 / 1681, 2, 15634 / 5043, 5716 / 5043, 5042 / 1681]
    assert np.allclose(leverages(problem, first.design), after)


SOLVERS = [
    lambda p: away_step_frank_wolfe(p, tolerance=1e-9),
    lambda p: column_generation_design(p, tolerance=1e-9),
    lambda p: multiplicative_design(p, tolerance=1e-9),
    lambda p: interior_point_design(p, tolerance=1e-9),
]


@pytest.mark.parametrize("solve", SOLVERS)
def test_kite_optima_are_reached(solve):
    pairs = solve(DesignProblem(KITE, 2))
    assert pairs.objective == pytest.approx(-2.5463479315109643, abs=2e-9)
    assert pairs.status is DesignStatus.OPTIMAL and pairs.certified_gap <= 1e-9
    weights = pairs.design.as_dict()
    expected = {(0, 3): 125 / 288, (1, 2): 19 / 48, (2, 3): 49 / 288}
    assert all(weights[s] == pytest.approx(w, abs=2e-4) for s, w in expected.items())
    triples = solve(DesignProblem(KITE, 3))
    assert np.exp(triples.log_det) == pytest.approx(108, rel=1e-8)
    assert triples.design.as_dict()[0, 2, 3] == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("solve", SOLVERS)
@pytest.mark.parametrize("size", [2, 3])
def test_unit_square_optima_are_reached(solve, size):
    result = solve(DesignProblem(SQUARE, size))
    assert result.objective == pytest.approx(0.0 if size == 2 else -np.log(4), abs=1e-8)


@pytest.mark.parametrize(("n", "k", "d"), [(10, 3, 5), (12, 4, 3), (9, 2, 4), (8, 5, 2)])
def test_all_solvers_and_cvxpy_agree(n, k, d):
    problem = DesignProblem(features(n, d), k)
    objectives = [solve(problem).objective for solve in SOLVERS]
    assert np.ptp(objectives) < 1e-8
    reference = cvxpy_design(problem)
    assert reference.certified_gap < 1e-2
    assert objectives[0] <= reference.objective + 1e-9
    assert reference.objective - objectives[0] <= reference.certified_gap + 1e-9


@pytest.mark.parametrize(("n", "best"), [(12, 1.651748), (20, 2.827675)])
def test_peer_instances_have_their_known_optimum(n, best):
    d = {12: 4, 20: 5}[n]
    assert column_generation_design(DesignProblem(features(n, d), 3)).objective == pytest.approx(best, abs=1.1e-6)


@pytest.mark.parametrize(
    ("shape", "released"), [((10, 3, 5), 3.492581), ((20, 3, 5), 2.847242), ((20, 4, 5), -0.403336)]
)
def test_results_are_no_worse_than_those_of_the_released_code(shape, released):
    n, k, d = shape
    problem = DesignProblem(features(n, d), k)
    assert frank_wolfe(problem, iterations=200).objective <= released + 2e-2
    assert column_generation_design(problem, tolerance=1e-8).objective < released


def test_memo_stays_equal_to_the_matrix_recomputed():
    for memo_type in (GramMemo, FactorMemo):
        for n, k, d in ((30, 4, 6), (12, 2, 3), (9, 9, 3), (7, 3, 1), (25, 6, 2)):
            problem = DesignProblem(features(n, d), k)
            memo = memo_type(problem, spanning_design(problem), refresh_every=10**9)
            oracle, rng = UniformSample(problem, min(40, problem.n_subsets)), np.random.default_rng(0)
            for _ in range(150):
                subset, leverage = oracle.propose(memo, rng)
                if leverage > memo.dim * (1 + 1e-12):
                    values, vectors = memo.spectrum(subset)
                    memo.move(subset, exact_step(values.tolist(), memo.dim), values, vectors)
            subsets = problem.subsets()[:300]
            assert np.allclose(memo.leverages(subsets), leverages(problem, memo.design(), subsets), atol=1e-10)
            assert memo.log_det == pytest.approx(design_log_det(problem, memo.design()), abs=1e-10)
            assert memo.farthest_pair()[1] == pytest.approx(max(memo.distances(i).max() for i in range(n)), rel=1e-10)


def test_gram_and_factor_memo_take_the_same_path():
    problem = DesignProblem(features(40, 5), 4)
    results = [
        randomized_frank_wolfe(problem, n_sampled=50, rng=np.random.default_rng(7), iterations=120, memo=memo)
        for memo in (kind(problem, spanning_design(problem)) for kind in (GramMemo, FactorMemo))
    ]
    assert np.allclose(results[0].history.objective, results[1].history.objective, atol=1e-9)


def test_randomised_objective_never_rises_and_rejections_take_no_step():
    problem = DesignProblem(features(20, 5), 3)
    result = randomized_frank_wolfe(problem, n_sampled=10, rng=np.random.default_rng(0), iterations=300)
    objective = np.array(result.history.objective)
    assert (np.diff(objective) <= 1e-9).all()
    assert result.rejected == result.history.step.count(0.0) > 0


def test_randomised_run_is_a_function_of_the_generator():
    problem = DesignProblem(features(20, 5), 3)
    runs = [
        randomized_frank_wolfe(problem, n_sampled=10, rng=np.random.default_rng(5), iterations=50).design.as_dict()
        for _ in range(2)
    ]
    assert runs[0] == runs[1]


def test_design_stays_sparse():
    problem = DesignProblem(features(60, 6), 4)
    start = spanning_design(problem)
    result = randomized_frank_wolfe(problem, n_sampled=100, rng=np.random.default_rng(0), iterations=30)
    assert len(result.design.weights) <= 30 + len(start.weights)
    assert len(start.weights) == 2  # ceil(6 / 3)


def test_sampling_everything_is_the_deterministic_method():
    problem = DesignProblem(features(12, 3), 3)
    full = randomized_frank_wolfe(
        problem, n_sampled=problem.n_subsets, rng=np.random.default_rng(0), iterations=40, tolerance=0.0
    )
    exact = frank_wolfe(problem, iterations=40, tolerance=0.0)
    assert full.history.objective == exact.history.objective


def test_astronomically_many_subsets_are_no_obstacle():
    problem = DesignProblem(features(300, 8), 10)
    result = randomized_frank_wolfe(problem, n_sampled=200, rng=np.random.default_rng(0), iterations=100)
    assert result.max_leverage is None
    assert result.certified_gap > 0  # from pairs, loose but valid
    better = frank_wolfe(problem, oracle=GreedySwap(problem), iterations=100, tolerance=0.0)
    assert result.objective - better.objective <= result.certified_gap
    assert better.objective < result.objective


def test_pair_bound_is_never_below_the_largest_leverage():
    for seed in range(5):
        problem = DesignProblem(features(12, 3, seed), 4)
        design = spanning_design(problem)
        assert largest_leverage(problem, design) <= leverage_upper_bound(problem, design) * (1 + 1e-12)
        two = DesignProblem(features(12, 3, seed), 2)
        assert largest_leverage(two, spanning_design(two)) == pytest.approx(
            leverage_upper_bound(two, spanning_design(two))
        )


def test_certificate_is_exact_where_subsets_can_be_listed():
    for n, k in ((10, 2), (10, 3), (6, 6)):
        problem = DesignProblem(features(n, 4), k)
        design = spanning_design(problem)
        assert certify(problem, design)[0] == pytest.approx(leverages(problem, design).max())
        optimum = column_generation_design(problem, tolerance=1e-10)
        gap = optimum.log_det - design_log_det(problem, design)
        assert -1e-9 <= gap <= certified_gap(problem, design) + 1e-9


def test_greedy_swap_finds_the_maximum_on_most_small_instances():
    hits = 0
    for seed in range(20):
        problem = DesignProblem(features(14, 4, seed), 4)
        memo = GramMemo(problem, spanning_design(problem))
        rng = np.random.default_rng(0)
        subset, value = GreedySwap(problem).propose(memo, rng)
        assert value == pytest.approx(memo.leverages(subset[None])[0])
        best = AllSubsets(problem).propose(memo, rng)[1]
        assert value <= best * (1 + 1e-12)
        hits += value >= best * (1 - 1e-9)
    assert hits >= 15


def test_best_pair_is_the_exhaustive_maximum():
    problem = DesignProblem(features(40, 3), 2)
    memo = GramMemo(problem, spanning_design(problem))
    rng = np.random.default_rng(0)
    pair, value = BestPair(problem).propose(memo, rng)
    other, best = AllSubsets(problem).propose(memo, rng)
    assert pair.tolist() == other.tolist() and value == pytest.approx(best)


def test_exact_step_maximises_the_line():
    rng = np.random.default_rng(0)
    for _ in range(200):
        dim = int(rng.integers(1, 6))
        values = list(rng.exponential(3.0, size=int(rng.integers(1, 6))))
        if sum(sorted(values)[-dim:]) <= dim:
            continue
        step = exact_step(values, dim)
        best = log_det_change(values, dim, step)
        for other in np.linspace(0, 1, 101)[:-1]:
            assert log_det_change(values, dim, float(other)) <= best + 1e-12
    assert pair_step(7.0, 3) == pytest.approx(exact_step([7.0], 3))


def test_one_dimension_jumps_to_the_widest_subset():
    problem = DesignProblem([[0.0], [1.0], [5.0], [2.0]], 2)
    result = frank_wolfe(problem)
    assert result.design.as_dict() == {(0, 2): 1.0} and result.certified_gap <= 1e-15


def test_showing_every_item_leaves_one_question():
    problem = DesignProblem(features(6, 3), 6)
    result = frank_wolfe(problem)
    assert result.design.as_dict() == {(0, 1, 2, 3, 4, 5): 1.0}
    assert result.certified_gap == pytest.approx(0, abs=1e-12)


def test_two_items_only():
    result = randomized_frank_wolfe(
        DesignProblem([[0.0, 1.0], [1.0, 1.0]], 2), n_sampled=1, rng=np.random.default_rng(0), iterations=3
    )
    assert result.rank == 1 and result.design.as_dict() == {(0, 1): 1.0}


def test_duplicated_items_change_nothing():
    x = features(6, 3)
    plain = column_generation_design(DesignProblem(x, 2), tolerance=1e-9)
    doubled = column_generation_design(DesignProblem(np.concatenate([x, x]), 2), tolerance=1e-9)
    assert doubled.objective == pytest.approx(plain.objective, abs=1e-8)


def test_rank_deficient_features_are_solved_in_their_span():
    x = features(12, 2)
    lifted = x @ np.random.default_rng(0).normal(size=(2, 7))
    problem = DesignProblem(lifted, 3)
    result = away_step_frank_wolfe(problem)
    assert result.rank == 2 and result.certified_gap < 1e-8


def test_relabelling_and_affine_maps_change_no_leverage():
    rng = np.random.default_rng(0)
    x = features(9, 3)
    problem = DesignProblem(x, 3)
    design = column_generation_design(problem, tolerance=1e-9).design
    moved = DesignProblem(x @ rng.normal(size=(3, 3)) + rng.normal(size=3), 3)
    assert np.allclose(leverages(problem, design), leverages(moved, design))
    order = rng.permutation(9)
    renamed = DesignProblem(x[order], 3)
    back = np.argsort(order)
    moved_design = Design(np.sort(back[design.subsets], axis=1), design.weights)
    moved_subsets = np.sort(back[problem.subsets()])
    assert np.allclose(leverages(renamed, moved_design, moved_subsets), leverages(problem, design))


@pytest.mark.parametrize("scale", [1e-100, 1e-6, 1e6, 1e100])
def test_scale_of_the_features_does_not_matter(scale):
    plain = column_generation_design(DesignProblem(features(15, 3), 3), tolerance=1e-8)
    scaled = column_generation_design(DesignProblem(scale * features(15, 3), 3), tolerance=1e-8)
    assert scaled.log_det - 6 * np.log(scale) == pytest.approx(plain.log_det, abs=1e-7)


def test_badly_scaled_columns_do_not_matter():
    x = features(15, 3)
    plain = column_generation_design(DesignProblem(x, 3), tolerance=1e-8)
    skewed = column_generation_design(DesignProblem(x * [1e-5, 1.0, 1e5], 3), tolerance=1e-8)
    assert skewed.log_det == pytest.approx(plain.log_det, abs=1e-7)


def test_pairs_of_a_simplex_give_the_uniform_information():
    result = frank_wolfe(DesignProblem(np.eye(4), 4))
    assert result.design.as_dict() == {(0, 1, 2, 3): 1.0}


def test_fisher_optimal_design_at_zero_is_the_surrogate_design_and_differs_elsewhere():
    problem = DesignProblem(features(8, 2), 3)
    surrogate = column_generation_design(problem, tolerance=1e-9)
    at_zero = fisher_optimal_design(problem, [0.0, 0.0], tolerance=1e-8)
    shift = problem.rank * np.log(float(fisher_constant_at_zero(3)))
    assert at_zero.log_det == pytest.approx(surrogate.log_det + shift, abs=1e-7)
    theta = np.array([6.0, -3.0])
    local = fisher_optimal_design(problem, theta, tolerance=1e-8)
    from whp.algorithms.plackett_luce_design import fisher_factors

    factors = fisher_factors(problem, surrogate.design.subsets, theta)
    matrix = np.einsum("n,ncr,ncs->rs", surrogate.design.weights, factors, factors)
    assert local.log_det > np.linalg.slogdet(matrix)[1] + 0.01


def test_draws_are_distinct_subsets_and_uniform():
    problem = DesignProblem(features(6, 2), 3)
    rng = np.random.default_rng(0)
    counts = {}
    for _ in range(3000):
        rows = draw_subsets(problem, 5, rng)
        assert len({tuple(r) for r in rows.tolist()}) == 5
        for r in rows.tolist():
            counts[tuple(r)] = counts.get(tuple(r), 0) + 1
    assert len(counts) == 20
    assert max(abs(c - 750) for c in counts.values()) < 6 * np.sqrt(750)
    huge = DesignProblem(features(500, 2), 20)
    rows = draw_subsets(huge, 50, rng)
    assert (np.diff(rows, axis=1) > 0).all()
    wide = DesignProblem(features(60, 2), 50)
    assert (np.diff(draw_subsets(wide, 20, rng), axis=1) > 0).all()


def test_operation_counts_are_counted():
    problem = DesignProblem(features(30, 4), 4)
    memo = GramMemo(problem, spanning_design(problem), refresh_every=10**9)
    before = memo.counts.refresh_flops
    result = randomized_frank_wolfe(
        problem, n_sampled=25, rng=np.random.default_rng(0), iterations=40, memo=memo, certificate=False
    )
    steps = 40 - result.rejected
    assert result.counts.scored_subsets == 40 * 25
    assert result.counts.gathers == 40 * 25 * 10
    assert result.counts.eigen_flops == steps * 64
    assert result.counts.memo_flops == steps * (30 * 31 // 2 * 3 + 30 * 4 * 3)
    assert before > 0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda p: randomized_frank_wolfe(p, n_sampled=0, rng=np.random.default_rng(0)),
            "n_sampled must be at least 1",
        ),
        (lambda p: randomized_frank_wolfe(p, n_sampled=7, rng=np.random.default_rng(0)), "n_subsets=6, got 7"),
        (lambda p: frank_wolfe(p, iterations=-1), "iterations must be"),
        (lambda p: frank_wolfe(p, tolerance=np.nan), "tolerance must be"),
        (lambda p: randomized_frank_wolfe(p, n_sampled=1, rng=np.random.default_rng(0), patience=0), "patience"),
        (lambda p: frank_wolfe(p, start=Design([[0, 1, 2]], [1.0])), "subset_size=2 items a question, got 3"),
        (lambda p: frank_wolfe(p, start=Design([[0, 9]], [1.0])), "below n_items=4"),
        (lambda p: multiplicative_design(p, ridge=-1.0), "ridge must be"),
        (lambda p: GreedySwap(DesignProblem(SQUARE, 2, np.array([[0, 1], [0, 2]]))), "needs all subsets"),
        (lambda p: BestPair(DesignProblem(SQUARE, 3)), "needs subset_size=2"),
        (lambda p: cvxpy_design(p, max_share=0.3), "max_share must lie between K/N=0.5"),
        (lambda p: fisher_optimal_design(p, [1.0]), "theta must be a finite vector of length 2"),
        (lambda p: frank_wolfe(DesignProblem(features(400, 3), 8)), "few enough subsets for an exact oracle"),
        (lambda p: interior_point_design(DesignProblem(features(50, 3), 4)), "at most 5000 subsets"),
    ],
)
def test_bad_input_is_refused_by_name(call, message):
    with pytest.raises(ValueError, match=message):
        call(DesignProblem(SQUARE, 2))


def test_a_start_that_does_not_span_is_refused_with_its_rank():
    with pytest.raises(SingularDesignError, match="span the 2 dimensions in which the items differ, got rank 1"):
        frank_wolfe(DesignProblem(SQUARE, 2), start=Design([[0, 1]], [1.0]))


def test_foreign_starts_and_memos_are_refused():
    problem = DesignProblem(KITE, 2, np.array([[0, 1], [1, 2], [2, 3]]))
    with pytest.raises(ValueError, match="only subsets that may be asked"):
        multiplicative_design(problem, start=Design([[0, 3]], [1.0]))
    other = DesignProblem(KITE, 2)
    memo = GramMemo(other, spanning_design(other))
    with pytest.raises(ValueError, match="same problem object"):
        randomized_frank_wolfe(DesignProblem(KITE, 2), n_sampled=1, rng=np.random.default_rng(0), memo=memo)


def test_optimal_designs_of_column_generation_are_sparse():
    for n, k, d in ((20, 3, 5), (14, 4, 6), (30, 2, 8)):
        result = column_generation_design(DesignProblem(features(n, d), k), tolerance=1e-8)
        assert result.status is DesignStatus.OPTIMAL
        assert len(result.design.weights) <= d * (d + 1) // 2


def test_extreme_scales_are_solved():
    for scale in (1e-200, 1e200):
        assert column_generation_design(DesignProblem(scale * features(6, 3), 3)).certified_gap < 1e-6
