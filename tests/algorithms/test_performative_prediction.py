"""Methods for decision-dependent problems: reference runs, accounting, limits, bad input."""

import itertools
import math
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import numpy as np
import pytest

from whp.algorithms.performative_prediction import (
    AdaptiveShare,
    ApproachOne,
    AskTell,
    Ball,
    Box,
    Budget,
    Constant,
    ConvexSet,
    DecisionOracle,
    Geometric,
    GuidedHistoricalSamples,
    GuidedNewSamples,
    HistoryControlDescent,
    LinearCount,
    OnePointDescent,
    OracleError,
    ResidualFeedbackDescent,
    Simplex,
    TwoPointDescent,
    balanced_radius,
    best_observed,
    certify,
    draw_output,
    exact_minimiser,
    explained_share,
    gaussian_one_point,
    gaussian_two_point,
    gradient_descent,
    guided_direction,
    guided_trajectories,
    guided_two_point,
    inspect_sampler,
    inverse_weights,
    minimise,
    oracle_for,
    plan_for_accuracy,
    pricing_oracle,
    repeated_retraining,
    sample_at,
    shared_sample_two_point,
    two_point_estimate,
    unit_guide,
    water_filling_weights,
)
from whp.theory.performative_prediction import (
    DiscreteSoftmax,
    GuidedSchedule,
    LinearNoise,
    LocationQuadratic,
    MultiproductPricing,
    StrategicClassification,
)

THETA = np.array([0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.65, 0.8, 1.0])
RADIUS, BATCH = Geometric(0.2, 0.95, floor=1e-4), LinearCount(30, 2)
PAPER_BUDGET = Budget(5000, "after_step")


def rng(seed=0):
    return np.random.default_rng(seed)


def noiseless(function, dimension=1):
    """Oracle of a deterministic function: the sample is the decision's effect itself."""
    return DecisionOracle(
        dimension,
        lambda x, xi: np.full(len(xi), float(function(x))),
        lambda x, n, generator: np.zeros((n, 1)),
        lambda x, xi: np.ones((len(xi), dimension)),
    )


def all_methods(step=1e-3, radius=0.1, m=4):
    return [
        GuidedNewSamples(step, radius, m),
        GuidedHistoricalSamples(step, radius, m),
        TwoPointDescent(step, radius, m),
        OnePointDescent(step, radius, m),
        HistoryControlDescent(step, radius, m, first_control_samples=3),
        ResidualFeedbackDescent(step, radius, m),
    ]


def names(method):
    return type(method).__name__


# trouble met by users of neighbouring libraries


def test_average_over_all_sign_vectors_is_the_gradient_of_a_linear_function():
    x, step = np.array([Fraction(5), Fraction(7)], dtype=object), Fraction(1, 100)
    total = np.zeros(2, dtype=object)
    for signs in itertools.product((1, -1), repeat=2):
        u = np.array([Fraction(s) for s in signs], dtype=object)
        plus, minus = x + step * u, x - step * u
        total += two_point_estimate(3 * plus[0] - 2 * plus[1], 3 * minus[0] - 2 * minus[1], step, u)
    assert (total / 4).tolist() == [3, -2]


def test_difference_quotient_of_the_cube_has_its_bias():
    assert two_point_estimate(1.1**3, 0.9**3, 0.1, np.ones(1))[0] == pytest.approx(3.01, rel=1e-14)


def test_recommendation_is_the_best_seen_at_any_scale():
    decisions, losses = [[1.0], [2.0], [3.0]], np.array([5e-18, 3e-18, 4e-18])
    for scale in (1.0, 1e18, 1e-290):
        assert best_observed(decisions, scale * losses).tolist() == [2.0]


def test_best_decision_of_a_run_has_the_smallest_observed_loss():
    result = minimise(noiseless(lambda x: 1e-18 * (x[0] - 1) ** 2), [3.0], TwoPointDescent(1e17, 0.1, 1), 200, rng())
    index = int(np.argmin(result.trace.losses))
    assert np.array_equal(result.best_decision, result.trace.decisions[index])


def test_constant_loss_with_nine_workers_uses_the_budget_exactly_and_ends():
    oracle = DecisionOracle(4, lambda x, xi: np.zeros(len(xi)), loss_gradient=lambda x, xi: np.zeros((len(xi), 4)))
    for method in all_methods(step=0.1, m=7):
        run, calls = AskTell(oracle, np.zeros(4), method, 1000, rng()), [0]

        def work(ticket, run=run):
            run.tell(ticket.number, np.zeros((ticket.samples, 1)))
            return ticket.samples

        with ThreadPoolExecutor(9) as pool:
            while not run.finished:
                tickets = list(itertools.islice(iter(lambda run=run: run.ask(at_most=1), None), 9))
                calls[0] += sum(pool.map(work, tickets))
        assert calls[0] == 1000
        assert run.ask() is None
        assert run.result().samples == 1000
        assert np.array_equal(run.result().decision, np.zeros(4))


def test_steep_parabola_diverges_loudly_and_names_the_limit():
    oracle = noiseless(lambda x: 500.0 * x[0] ** 2)
    method = TwoPointDescent(0.1, 0.01, 1, directions="rademacher")
    result = minimise(oracle, [1.0], method, 1000, rng())
    assert result.status == "diverged"
    assert abs(result.trace.decisions[2, 0] / result.trace.decisions[1, 0]) == pytest.approx(99.0, rel=1e-9)
    assert result.stable_step_limit == pytest.approx(0.002, rel=1e-6)
    one = TwoPointDescent(0.001, 0.01, 1, directions="rademacher")
    result = minimise(oracle, [1.0], one, Budget(1000, iterations=1), rng())
    assert result.decision[0] == pytest.approx(0.0, abs=1e-9)
    assert result.status == "iterations" and result.stable_step_limit == math.inf


def test_exact_descent_reports_divergence_with_its_limit():
    steep = LinearNoise([[1000.0]], [0.0], [[0.0]], 0.0)
    assert gradient_descent(steep, [1.0], 0.1).status == "diverged"
    assert gradient_descent(steep, [1.0], 0.1).stable_step_limit == pytest.approx(0.002)
    result = gradient_descent(steep, [1.0], 0.001)
    assert result.status == "converged" and result.decision[0] == 0.0 and result.iterations == 1


def test_divergence_of_one_replicate_stops_the_run():
    problem = LinearNoise(1000 * np.eye(2), [1.0], [[0.0, 0.0]], 0.1)
    result = minimise(oracle_for(problem, 3), np.ones(2), TwoPointDescent(0.5, 0.1, 2), 10_000, rng())
    assert result.status == "diverged" and np.isfinite(result.decision).all() and result.stable_step_limit < 0.01


# sample accounting


def test_paper_settings_stop_where_the_scripts_do():
    oracle = oracle_for(MultiproductPricing(THETA, 0.375 * THETA))
    start = np.full(10, 0.5)
    new = minimise(oracle, start, GuidedNewSamples(Geometric(0.01, 0.95), RADIUS, BATCH), PAPER_BUDGET, rng())
    assert (new.iterations, new.samples) == (29, 5046)
    for method in (
        GuidedHistoricalSamples(Geometric(0.01, 0.95), RADIUS, BATCH),
        TwoPointDescent(Geometric(0.003, 0.95), RADIUS, BATCH),
    ):
        result = minimise(oracle, start, method, PAPER_BUDGET, rng())
        assert (result.iterations, result.samples) == (38, 5092)


@pytest.mark.parametrize("method", all_methods(m=5), ids=names)
@pytest.mark.parametrize("samples", [20, 97, 100])
def test_exact_budget_is_used_up_and_never_exceeded(method, samples):
    drawn = [0]

    def sample(x, n, generator):
        assert n >= 1
        drawn[0] += n
        return generator.normal(size=(n, 2))

    oracle = DecisionOracle(2, lambda x, xi: xi @ x, sample, lambda x, xi: xi)
    result = minimise(oracle, [1.0, 1.0], method, samples, rng())
    assert drawn[0] == result.samples == samples
    assert result.trace.samples[-1] == samples


@pytest.mark.parametrize("method", all_methods(), ids=names)
def test_samples_a_step_is_what_is_drawn(method):
    oracle = oracle_for(LinearNoise(np.eye(2), [1.0], [[0.5, 0.5]], 0.1))
    result = minimise(oracle, [1.0, 1.0], method, Budget(10**6, iterations=4), rng())
    assert np.diff(result.trace.samples, prepend=0).tolist() == [method.samples_a_step(k) for k in range(4)]


def test_budget_too_small_for_one_step_is_refused():
    oracle = oracle_for(LinearNoise([[1.0]], [1.0], [[1.0]], 0.1))
    with pytest.raises(ValueError, match="budget of 2 samples does not pay one step of GuidedNewSamples"):
        minimise(oracle, [1.0], GuidedNewSamples(0.1, 0.1, 4), 2, rng())
    with pytest.raises(ValueError, match="does not pay one step"):
        AskTell(oracle, [1.0], TwoPointDescent(0.1, 0.1, 4), 1, rng())


def test_historical_guide_at_the_first_iteration():
    problem = LinearNoise(np.eye(3), [1.0], [[0.5, 0.5, 0.5]], 0.1)
    still = GuidedHistoricalSamples(0.1, 0.1, 4, without_guide="shrink")
    trace = minimise(oracle_for(problem), np.ones(3), still, Budget(1000, iterations=3), rng()).trace
    assert np.array_equal(trace.decisions[0], trace.decisions[1])  # alpha_0 = 0 and no guide: 8 samples and no move
    assert not np.array_equal(trace.decisions[1], trace.decisions[2])
    moving = GuidedHistoricalSamples(0.1, 0.1, 4)
    trace = minimise(oracle_for(problem), np.ones(3), moving, Budget(1000, iterations=3), rng()).trace
    assert not np.array_equal(trace.decisions[0], trace.decisions[1])
    late = GuidedHistoricalSamples(0.1, 0.1, 4, without_guide="shrink", lag=1)
    trace = minimise(oracle_for(problem), np.ones(3), late, Budget(1000, iterations=3), rng()).trace
    assert not trace.guides[1].any() and trace.guides[2].any()


def test_window_of_several_iterations_weighs_samples_equally():
    seen = []

    def gradient(x, xi):
        seen.append(len(xi))
        return np.ones((len(xi), 1))

    oracle = DecisionOracle(1, lambda x, xi: xi[:, 0], lambda x, n, g: g.normal(size=(n, 1)), gradient)
    method = GuidedHistoricalSamples(0.01, 0.1, LinearCount(1, 1), window=2)
    minimise(oracle, [0.0], method, Budget(10**6, iterations=4), rng())
    assert seen == [2, 2, 4, 4, 6]


# reductions


@pytest.mark.parametrize("d", [1, 4, 16])
def test_share_one_reproduces_two_point_descent_bit_for_bit(d):
    problem = LinearNoise(np.eye(d), [1.0], np.ones((1, d)), 0.0)
    root = math.sqrt(d)
    guided = GuidedNewSamples(0.01 * d, 0.125 * root, 1, isotropic_share=1.0)
    plain = TwoPointDescent(0.01, 0.125, 1)
    budget = Budget(10**6, iterations=20)
    left = minimise(oracle_for(problem), np.ones(d), guided, budget, rng(3)).trace.decisions
    right = minimise(oracle_for(problem), np.ones(d), plain, budget, rng(3)).trace.decisions
    assert np.array_equal(left, right)


def test_replicates_agree_with_the_single_run_in_law():
    problem = LinearNoise(np.diag([1.0, 2.0]), [1.0], [[0.5, -0.5]], 0.3)
    method = GuidedNewSamples(0.05, 0.2, 3, isotropic_share=ApproachOne(0.1, 0.9))
    budget = Budget(10**6, iterations=15)
    many = minimise(oracle_for(problem, 4000), np.ones(2), method, budget, rng(1)).decision
    single = np.array([minimise(oracle_for(problem), np.ones(2), method, budget, rng(s)).decision for s in range(400)])
    error = np.sqrt(many.var(axis=0) / 4000 + single.var(axis=0) / 400)
    assert np.all(np.abs(many.mean(axis=0) - single.mean(axis=0)) < 5 * error)


def test_equal_seeds_give_equal_runs_and_global_state_stays():
    oracle = oracle_for(LinearNoise(np.eye(2), [1.0], [[0.5, 0.5]], 0.3))
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    for method in all_methods():
        runs = [minimise(oracle, np.ones(2), method, 100, rng(7)).decision for _ in range(2)]
        assert np.array_equal(*runs)
    assert np.array_equal(before, np.random.get_state()[1])  # noqa: NPY002


def test_start_is_not_changed():
    start = np.ones(2)
    minimise(
        oracle_for(LinearNoise(np.eye(2), [1.0], [[0.5, 0.5]], 0.3)), start, TwoPointDescent(0.1, 0.1, 2), 100, rng()
    )
    assert np.array_equal(start, np.ones(2))


def test_scaling_the_loss_and_its_step_changes_nothing():
    problem = LinearNoise(np.eye(2), [1.0], [[0.5, -0.5]], 0.3)
    plain = oracle_for(problem)
    scale = 2.0**-900
    tiny = DecisionOracle(
        2, lambda x, xi: scale * plain.loss(x, xi), plain.sample, lambda x, xi: scale * plain.loss_gradient(x, xi)
    )
    left = minimise(plain, np.ones(2), GuidedNewSamples(0.1, 0.1, 4), 300, rng(2)).decision
    right = minimise(tiny, np.ones(2), GuidedNewSamples(0.1 / scale, 0.1, 4), 300, rng(2)).decision
    assert right == pytest.approx(left, rel=1e-12)


def test_two_point_estimates_ignore_a_constant_and_one_point_estimates_do_not():
    problem = LinearNoise(np.eye(2), [1.0], [[0.5, -0.5]], 0.3)
    plain = oracle_for(problem, 2000)
    lifted = DecisionOracle(2, lambda x, xi: plain.loss(x, xi) + 50.0, plain.sample, plain.loss_gradient, 2000)
    x, guide = np.ones((2000, 2)), np.tile([1.0, 0.0], (2000, 1))
    left = guided_two_point(plain, x, guide, 0.5, 0.5, 2, rng(1))
    assert guided_two_point(lifted, x, guide, 0.5, 0.5, 2, rng(1)) == pytest.approx(left, abs=1e-10)
    before, after = (np.square(gaussian_one_point(o, x, 0.5, 2, rng(1))).sum(axis=1).mean() for o in (plain, lifted))
    assert after - before > 0.8 * 50.0**2 * 2 / 0.5**2


# guides that are watched


def test_adaptive_share_rises_in_the_trap_and_stays_low_for_a_good_guide():
    trap = LocationQuadratic([[1, 1], [-1, 1]], [0, 0], 0.1)
    method = GuidedNewSamples(0.1, 0.5, 8, isotropic_share=AdaptiveShare())
    result = minimise(oracle_for(trap, 20), [1.0, 2.0], method, Budget(10**9, iterations=300), rng())
    assert result.trace.shares[20:].mean() > 0.6
    assert np.linalg.norm(result.decision, axis=1).mean() < 0.2
    good = LinearNoise(np.eye(8), [1.0], np.zeros((1, 8)), 0.01)
    result = minimise(oracle_for(good), np.ones(8), method, Budget(10**9, iterations=30), rng())
    assert result.trace.shares[5:20].mean() < 0.15
    history = GuidedHistoricalSamples(0.1, 0.5, 8, isotropic_share=AdaptiveShare())
    assert minimise(oracle_for(good), np.ones(8), history, Budget(10**9, iterations=30), rng()).trace.shares.min() < 0.1


def test_explained_share_of_a_recorded_run():
    good = LinearNoise(np.eye(8), [1.0], np.zeros((1, 8)), 0.0)
    method = GuidedNewSamples(0.01, 0.5, 2, isotropic_share=1.0)
    trace = minimise(oracle_for(good, 50), np.ones(8), method, Budget(10**9, iterations=20), rng()).trace
    assert trace.along.shape == (20, 50)
    assert explained_share(trace.slopes, trace.along)[-1] > 0.95
    assert explained_share(np.zeros(3), np.ones(3)).tolist() == [0.0, 0.0, 0.0]
    with pytest.raises(ValueError, match="share a shape"):
        explained_share([1.0], [1.0, 2.0])


# losses written in PyTorch


def test_torch_losses_agree_with_closed_forms():
    torch = pytest.importorskip("torch")
    from whp.algorithms.performative_prediction.neural_loss import torch_loss

    problem = LocationQuadratic([[0.5, 0.1], [0.0, 0.2]], [1.0, 0.0], 0.3)
    loss, gradient = torch_loss(lambda x, xi: torch.sum((x - xi) ** 2) / 2)
    for x in (np.array([0.3, -0.7]), np.array([[0.3, -0.7], [1.0, 2.0]])):
        xi = sample_at(problem, x, 6, rng())
        assert loss(x, xi) == pytest.approx(problem.loss(x, xi))
        assert gradient(x, xi) == pytest.approx(problem.loss_gradient(x, xi))


def test_network_loss_with_simulated_responses_goes_down():
    torch = pytest.importorskip("torch")
    from whp.algorithms.performative_prediction.neural_loss import torch_loss

    generator = torch.Generator().manual_seed(0)
    inner = torch.randn(3, 4, generator=generator, dtype=torch.float64)

    def network(x, xi):  # a known network whose last layer is the decision
        score = torch.tanh(xi[:3] @ inner) @ x
        return torch.nn.functional.softplus(-xi[3] * score)

    def respond(x, n, g):  # applicants shift their features towards what the last layer rewards
        features = g.normal(size=(n, 3)) + 0.2 * np.tanh(inner.numpy() @ x)
        labels = np.sign(features @ np.array([1.0, -1.0, 0.5]))
        return np.column_stack([features, labels])

    oracle = DecisionOracle(4, *(lambda pair: (pair[0], respond, pair[1]))(torch_loss(network)))
    result = minimise(oracle, np.zeros(4), GuidedNewSamples(2.0, 0.3, 40), 12_000, rng())
    late, early = result.trace.losses[-20:].mean(), result.trace.losses[:3].mean()
    assert late < early - 0.1


# what the estimators estimate


def test_zero_share_never_moves_in_the_trap():
    trap = LocationQuadratic([[1, 1], [-1, 1]], [0, 0], 0.0)
    method = GuidedNewSamples(0.05, 0.5, 1, isotropic_share=0.0)
    result = minimise(oracle_for(trap), [1.0, 2.0], method, 3000, rng())
    assert result.decision == pytest.approx([1.0, 2.0], abs=1e-9)
    free = GuidedNewSamples(0.05, 0.5, 1, isotropic_share=ApproachOne(0.0, 0.98))
    assert np.linalg.norm(minimise(oracle_for(trap), [1.0, 2.0], free, 3000, rng()).decision) < 1e-3


def test_isotropic_drift_in_the_trap_is_a_d_th_of_the_gradient():
    trap = LocationQuadratic([[1, 1], [-1, 1]], [0, 0], 0.1)
    x = np.tile([1.0, 2.0], (40_000, 1))
    g = guided_two_point(oracle_for(trap, 40_000), x, np.zeros_like(x), 1.0, 0.5, 4, rng())
    assert g.mean(axis=0) == pytest.approx([0.5, 1.0], abs=0.04)


def test_same_sample_estimates_drift_to_the_stable_point():
    problem = LocationQuadratic([[0.5]], [0.0], 0.1, linear=[1.0])
    oracle, x = oracle_for(problem, 500), np.zeros((500, 1))
    honest, shared, generator = x.copy(), x.copy(), rng()
    for _ in range(400):
        honest = honest - 0.1 * guided_two_point(oracle, honest, x, 1.0, 0.5, 2, generator)
        shared = shared - 0.1 * shared_sample_two_point(oracle, shared, x, 1.0, 0.5, 2, generator)
    assert honest.mean() == pytest.approx(-4.0, abs=0.1)
    assert shared.mean() == pytest.approx(-2.0, abs=0.1)
    assert gradient_descent(problem, [0.0], 1.0).decision == pytest.approx([-4.0])
    assert repeated_retraining(problem, [0.0], 1.0).decision == pytest.approx([-2.0])


def test_gaussian_two_point_mean_on_a_quadratic():
    problem = LinearNoise(np.diag([1.0, 3.0]), [1.0], [[0.5, -0.5]], 0.1)
    x = np.tile([1.0, -1.0], (40_000, 1))
    g = gaussian_two_point(oracle_for(problem, 40_000), x, 0.3, 2, rng())
    assert g.mean(axis=0) == pytest.approx(problem.gradient(x[0]), abs=0.1)


def test_constant_sampler_is_found_out():
    frozen = rng().normal(size=(50, 1))
    cached = DecisionOracle(1, lambda x, xi: (x - xi[:, 0]) ** 2, lambda x, n, g: frozen[:n])
    report = inspect_sampler(cached, [0.0], 0.5)
    assert report.repeats and not report.independent
    with pytest.raises(OracleError, match="same samples on both sides"):
        minimise(cached, [0.0], TwoPointDescent(0.1, 0.1, 8), 100, rng())
    honest = inspect_sampler(oracle_for(LocationQuadratic([[0.5]], [0.0], 1.0)), [0.0], 0.5)
    assert honest.independent and not honest.shared
    still = inspect_sampler(oracle_for(LocationQuadratic([[0.0]], [0.0], 1.0)), [0.0], 0.5)
    assert still.independent and still.shared


def test_deterministic_laws_are_not_mistaken_for_caches():
    result = minimise(
        oracle_for(LocationQuadratic([[0.0]], [1.0], 0.0)), [0.0], TwoPointDescent(0.1, 0.1, 8), 100, rng()
    )
    assert result.status == "budget"


def test_guide_of_tiny_huge_or_zero_gradients():
    assert unit_guide(np.array([3e-300, 4e-300])) == pytest.approx([0.6, 0.8])
    assert unit_guide(np.array([3e300, 4e300])) == pytest.approx([0.6, 0.8])
    assert np.array_equal(unit_guide(np.zeros(3)), np.zeros(3))
    assert np.array_equal(unit_guide(np.array([3e-6, 4e-6]), tolerance=1e-5), np.zeros(2))
    rows = unit_guide(np.array([[3.0, 4.0], [0.0, 0.0]]))
    assert rows == pytest.approx(np.array([[0.6, 0.8], [0.0, 0.0]]))


def test_direction_is_the_stated_combination():
    assert guided_direction(np.array([0.0, 1.0]), 0.5, np.array([2.0, 4.0]), 3.0) == pytest.approx(
        [1.0, 2.0 + 3.0 * math.sqrt(0.5)]
    )


# replication of the pricing table (20 synthetic instances, 5000 samples, exact objectives)


@pytest.fixture(scope="module")
def shops():
    generator = np.random.default_rng(0)
    return [MultiproductPricing(THETA, THETA * generator.uniform(0.25, 0.5, 10)) for _ in range(20)]


def final_values(shops, method):
    result = minimise(pricing_oracle(shops), np.full(10, 0.5), method, PAPER_BUDGET, rng(1))
    return np.array([float(s.objective(x)) for s, x in zip(shops, result.decision, strict=True)])


def test_guided_methods_reach_the_replicated_level(shops):
    for method in (
        GuidedNewSamples(Geometric(0.01, 0.95), RADIUS, BATCH),
        GuidedHistoricalSamples(Geometric(0.01, 0.95), RADIUS, BATCH),
    ):
        values = final_values(shops, method)
        assert -15.5 < values.mean() < -13.0 and values.std(ddof=1) < 2.0


def test_two_point_at_its_tuned_step_stays_behind(shops):
    guided = final_values(shops, GuidedNewSamples(Geometric(0.01, 0.95), RADIUS, BATCH))
    plain = final_values(shops, TwoPointDescent(Geometric(0.015 / math.sqrt(10), 0.95), RADIUS, BATCH))
    assert -13.5 < plain.mean() < -10.5
    wins = int((guided < plain).sum())
    assert sum(math.comb(20, k) for k in range(wins, 21)) / 2**20 < 0.01  # paired sign test


def test_one_point_is_far_behind(shops):
    assert final_values(shops, OnePointDescent(Geometric(1e-5, 0.95), 0.001, BATCH)).mean() > 0.0
    controlled = final_values(shops, HistoryControlDescent(Geometric(0.001, 0.95), RADIUS, BATCH))
    assert -8.0 < controlled.mean() < 0.0


def test_exact_minimiser_beats_every_method(shops):
    best = [float(s.objective(exact_minimiser(s, [np.full(10, 0.5), THETA]))) for s in shops[:3]]
    assert np.all(
        np.array(best) <= final_values(shops, GuidedNewSamples(Geometric(0.01, 0.95), RADIUS, BATCH))[:3] + 1e-6
    )


# certificates and plans


def test_certificate_bounds_what_was_explored():
    generator = np.random.default_rng(1)
    a, w = 0.3 * generator.normal(size=(6, 6)), generator.normal(size=6)
    problem = LinearNoise(np.eye(6), w, a, 0.5)
    gap = float(problem.objective(np.ones(6))) - problem.minimum()
    method = GuidedNewSamples(1 / 12, 0.1, 20, 1, without_guide="shrink")
    result = minimise(oracle_for(problem, 100), np.ones(6), method, Budget(10**9, iterations=301), rng(5))
    certificate = certify(result, problem.smoothness, problem.variance_bound, gap)
    schedule = GuidedSchedule(1 / 12, 0.1, 20, 301)
    assert certificate.explored == pytest.approx(schedule.sharp_bound(gap, 1.0, problem.variance_bound, 6), rel=1e-9)
    x, shares = result.trace.decisions[:-1], result.trace.shares[:, None]
    gradient, guide = problem.gradient(x), result.trace.guides
    q = shares / 6 * (gradient**2).sum(-1) + (1 - shares) * (gradient * guide).sum(-1) ** 2
    assert 0.26 < q.mean() < 0.32  # measured 0.291 with an exact guide
    assert q.mean() < certificate.explored
    output = draw_output(result, rng())
    assert output.shape == (100, 6)
    assert (problem.gradient(output) ** 2).sum(-1).mean() < certificate.squared_gradient


def test_certificate_refuses_what_the_theorem_does_not_cover():
    problem = LinearNoise([[1.0]], [1.0], [[0.5]], 0.1)
    long = minimise(oracle_for(problem), [1.0], GuidedNewSamples(0.5, 0.1, 2), 100, rng())
    with pytest.raises(ValueError, match=r"at most 1/\(12 H\)"):
        certify(long, 1.0, 0.1, 1.0)
    plain = minimise(oracle_for(problem), [1.0], TwoPointDescent(0.05, 0.1, 2), 100, rng())
    with pytest.raises(ValueError, match="guided"):
        certify(plain, 1.0, 0.1, 1.0)
    stuck = minimise(oracle_for(problem), [1.0], GuidedNewSamples(0.05, 0.1, 2, isotropic_share=0.0), 100, rng())
    assert certify(stuck, 1.0, 0.1, 1.0).squared_gradient == math.inf
    with pytest.raises(ValueError, match="every isotropic share is 0"):
        draw_output(stuck, rng())


def test_plan_meets_its_accuracy_when_run():
    problem = LinearNoise(np.eye(2), [1.0], [[0.5, -0.25]], 0.2)
    start = np.array([0.3, -0.2])
    gap = float(problem.objective(start)) - problem.minimum()
    plan = plan_for_accuracy(0.5, 2, 1.0, problem.variance_bound, gap, isotropic_share=1.0)
    method = GuidedNewSamples(plan.step, plan.radius, plan.batch, 1, isotropic_share=plan.isotropic_share)
    result = minimise(oracle_for(problem, 20), start, method, Budget(10**9, iterations=plan.iterations), rng())
    square = (problem.gradient(draw_output(result, rng())) ** 2).sum(-1)
    assert square.mean() < 0.25


def test_balanced_radius_minimises_bias_plus_noise():
    beta, h, variance, m = 0.05, 2.0, 3.0, 10
    mu = balanced_radius(beta, h, variance, m)
    cost = [3.25 * h**2 * r**2 + h * beta * variance / (r**2 * m) for r in (0.99 * mu, mu, 1.01 * mu)]
    assert cost[1] < min(cost[0], cost[2])


def test_plans_without_noise_need_single_samples():
    assert plan_for_accuracy(0.1, 3, 1.0, 0.0, 1.0).batch == 1
    assert plan_for_accuracy(10.0, 3, 1.0, 1.0, 0.0).iterations >= 1


# weights


def test_inverse_weights_beat_random_ones():
    generator = rng()
    b = generator.uniform(0.1, 5.0, 6)
    best = (b * inverse_weights(b) ** 2).sum()
    assert all(best <= (b * w**2).sum() for w in generator.dirichlet(np.ones(6), 500))
    assert inverse_weights([1e-320, 1.0]).sum() == pytest.approx(1.0)
    assert inverse_weights([0.0, 0.0, 3.0]).tolist() == [0.5, 0.5, 0.0]


@pytest.mark.parametrize("s", [1, 2, 5, 10])
def test_water_filling_agrees_with_cvxpy(s):
    import cvxpy

    generator = rng(s)
    bias, variance = generator.uniform(0, 2, s), generator.uniform(0.1, 2, s)
    a = cvxpy.Variable(s, nonneg=True)
    cvxpy.Problem(cvxpy.Minimize(bias @ a + cvxpy.sum(cvxpy.multiply(variance, a**2))), [cvxpy.sum(a) == 1]).solve()
    ours = water_filling_weights(bias, variance)
    assert ours == pytest.approx(a.value, abs=1e-4)
    assert bias @ ours + variance @ ours**2 <= bias @ a.value + variance @ a.value**2 + 1e-6


def test_water_filling_at_the_edges():
    assert water_filling_weights([3.0], [0.0]).tolist() == [1.0]
    assert water_filling_weights([0.0, 0.0], [0.0, 0.0]).tolist() == [0.5, 0.5]
    assert water_filling_weights([0.0, 5.0], [0.0, 1.0]).tolist() == [1.0, 0.0]
    assert water_filling_weights([0.0, 0.5], [1.0, 0.0]) == pytest.approx([0.25, 0.75])
    assert water_filling_weights(np.full(4, 1e300), np.full(4, 1e300)) == pytest.approx(np.full(4, 0.25))


# sets of decisions


def test_projections_are_nearest_points():
    generator = rng()
    points = 3 * generator.normal(size=(200, 4))
    sets = [Box(-1.0, [1.0, 2.0, 0.0, np.inf]), Ball(1.5, [1.0, 0.0, 0.0, 0.0]), Simplex(2.0)]
    for chosen in sets:
        inside = chosen.project(points)
        assert chosen.project(inside) == pytest.approx(inside, abs=1e-12)
        other = chosen.project(generator.normal(size=(200, 4)))
        gap = np.einsum("rd,rd->r", points - inside, other - inside)
        assert gap.max() < 1e-9  # the obtuse angle that characterises a projection
        assert chosen.project(points[0]) == pytest.approx(inside[0], abs=1e-12)
    assert Simplex(2.0).project(points).sum(axis=1) == pytest.approx(np.full(200, 2.0))


def test_convex_set_agrees_with_the_simplex():
    points = rng().normal(size=(5, 3))
    programme = ConvexSet(3, lambda y: [y >= 0, sum(y) == 1])
    assert programme.project(points) == pytest.approx(Simplex().project(points), abs=1e-4)
    empty = ConvexSet(1, lambda y: [y >= 1, y <= 0])
    with pytest.raises(ValueError, match="infeasible"):
        empty.project(np.zeros(1))


@pytest.mark.parametrize("extreme", [1e300, 1e-300])
def test_projections_at_extreme_scales(extreme):
    x = np.array([extreme, -extreme, 0.0])
    assert np.isfinite(Ball(1.0).project(x)).all() and np.isfinite(Simplex().project(x)).all()
    assert np.linalg.norm(Ball(1.0).project(x)) <= 1.0 + 1e-12


@pytest.mark.parametrize("method", all_methods(step=0.05), ids=names)
def test_decisions_stay_in_the_set_and_samplers_see_only_the_set(method):
    chosen = Box(0.0, 1.0)

    def sample(x, n, generator):
        assert np.all((x >= 0.0) & (x <= 1.0))
        return x + 0.1 * generator.normal(size=(n, 3))

    oracle = DecisionOracle(3, lambda x, xi: ((xi - 2.0) ** 2).sum(axis=1), sample, lambda x, xi: 0.0 * xi + x)
    result = minimise(oracle, np.full(3, 0.5), method, 400, rng(), chosen, deploy="feasible")
    assert np.all((result.trace.decisions >= 0.0) & (result.trace.decisions <= 1.0))


def test_constrained_run_finds_the_corner():
    problem = LinearNoise(0.01 * np.eye(3), [1.0], [[-1.0, -2.0, -3.0]], 0.1)
    result = minimise(
        oracle_for(problem),
        np.full(3, 1 / 3),
        GuidedNewSamples(0.1, 0.05, 10),
        20_000,
        rng(),
        Simplex(),
        deploy="feasible",
    )
    assert result.decision == pytest.approx([0.0, 0.0, 1.0], abs=0.05)


# families


@pytest.mark.parametrize(
    "problem",
    [
        LocationQuadratic([[0.5, 0.1], [0.0, 0.2]], [1.0, 0.0], 0.3),
        LinearNoise(np.eye(2), [1.0, 2.0], [[0.5, 0.1], [0.0, 0.2]], 0.3),
        MultiproductPricing([0.5, 1.0], [0.1, 0.3], buyers=5),
        DiscreteSoftmax([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]], np.zeros(3), [1.0, -1.0, 0.5], np.ones((3, 2))),
        StrategicClassification(np.column_stack([np.linspace(-2, 2, 30), np.ones(30)]), np.tile([1.0, -1.0], 15)),
    ],
    ids=lambda p: type(p).__name__,
)
def test_samplers_draw_from_the_law(problem):
    x = np.array([0.4, 0.7])
    xi = sample_at(problem, x, 40_000, rng())
    losses = problem.loss(x, xi)
    error = 5 * math.sqrt(float(problem.loss_variance(x)) / 40_000) + 1e-12
    assert losses.mean() == pytest.approx(float(problem.objective(x)), abs=error)
    known = problem.loss_gradient(x, xi).mean(axis=0)
    assert known == pytest.approx(problem.known_gradient(x), abs=0.1)
    stacked = sample_at(problem, np.tile(x, (3, 1)), 7, rng())
    assert stacked.shape == (3, 7, xi.shape[-1])
    assert problem.loss(np.tile(x, (3, 1)), stacked).shape == (3, 7)


def test_unknown_families_are_refused():
    with pytest.raises(TypeError, match="known family"):
        oracle_for(3.0)
    with pytest.raises(ValueError, match="unit_costs only"):
        pricing_oracle([MultiproductPricing([1.0], [0.1]), MultiproductPricing([0.9], [0.1])])
    with pytest.raises(ValueError, match="at least one"):
        pricing_oracle([])


# bad oracles


def oracle_with(sample=None, loss=None, gradient=None):
    return DecisionOracle(
        2,
        loss or (lambda x, xi: xi.sum(axis=1)),
        sample or (lambda x, n, g: g.normal(size=(n, 2))),
        gradient or (lambda x, xi: np.ones((len(xi), 2))),
    )


@pytest.mark.parametrize(
    ("oracle", "word"),
    [
        (
            oracle_with(sample=lambda x, n, g: np.zeros((n + 1, 2))),
            r"sample must return an array of shape \(4, \.\.\.\), got \(5, 2\)",
        ),
        (oracle_with(sample=lambda x, n, g: np.full((n, 2), np.nan)), "sample must return finite numbers, got nan"),
        (oracle_with(sample=lambda x, n, g: np.full((n, 2), np.inf)), "sample must return finite numbers, got inf"),
        (oracle_with(sample=lambda x, n, g: 3.0), "sample must return an array of shape"),
        (oracle_with(sample=lambda x, n, g: np.array([["a", "b"]] * n)), "sample must return an array of numbers"),
        (oracle_with(loss=lambda x, xi: xi), r"loss must return an array of shape \(4,\), got \(4, 2\)"),
        (oracle_with(loss=lambda x, xi: 0.0), "loss must return an array of shape"),
        (oracle_with(loss=lambda x, xi: np.full(len(xi), np.nan)), "loss must return finite numbers"),
        (oracle_with(gradient=lambda x, xi: np.ones(2)), r"loss_gradient must return an array of shape \(4, 2\)"),
        (oracle_with(gradient=lambda x, xi: np.full((len(xi), 2), np.inf)), "loss_gradient must return finite numbers"),
    ],
)
def test_misbehaving_oracles_are_named(oracle, word):
    with pytest.raises(OracleError, match=word):
        minimise(oracle, [0.0, 0.0], GuidedNewSamples(0.1, 0.1, 4), 100, rng())


def test_replicated_oracles_are_checked_row_by_row():
    def loss(x, xi):
        values = xi.sum(axis=2)
        values[1, 0] = np.nan
        return values

    oracle = DecisionOracle(2, loss, lambda x, n, g: g.normal(size=(3, n, 2)), replicates=3)
    with pytest.raises(OracleError, match="finite"):
        minimise(oracle, [0.0, 0.0], TwoPointDescent(0.1, 0.1, 4), 100, rng())
    flat = DecisionOracle(2, loss, lambda x, n, g: g.normal(size=(n, 2)), replicates=3)
    with pytest.raises(OracleError, match=r"\(3, 4, \.\.\.\)"):
        minimise(flat, [0.0, 0.0], TwoPointDescent(0.1, 0.1, 4), 100, rng())


def test_missing_parts_are_named():
    plain = DecisionOracle(1, lambda x, xi: xi[:, 0], lambda x, n, g: g.normal(size=(n, 1)))
    with pytest.raises(OracleError, match="loss_gradient"):
        minimise(plain, [0.0], GuidedNewSamples(0.1, 0.1, 4), 100, rng())
    with pytest.raises(OracleError, match="no sampler"):
        minimise(DecisionOracle(1, lambda x, xi: xi[:, 0]), [0.0], TwoPointDescent(0.1, 0.1, 4), 100, rng())


def test_huge_but_finite_samples_are_accepted():
    oracle = DecisionOracle(1, lambda x, xi: 0.0 * xi[:, 0], lambda x, n, g: np.full((n, 1), 1e200) * g.random((n, 1)))
    assert minimise(oracle, [0.0], TwoPointDescent(0.1, 0.1, 4), 100, rng()).status == "budget"


@pytest.mark.parametrize(
    ("call", "error", "word"),
    [
        (lambda: GuidedNewSamples(0.0, 0.1, 4), ValueError, "step"),
        (lambda: GuidedNewSamples(0.1, -0.1, 4), ValueError, "radius"),
        (lambda: GuidedNewSamples(0.1, 0.1, 0), ValueError, "side_samples"),
        (lambda: GuidedNewSamples(0.1, 0.1, 2.5), TypeError, "side_samples"),
        (lambda: GuidedNewSamples(0.1, 0.1, 4, isotropic_share=1.5), ValueError, "isotropic_share"),
        (lambda: GuidedNewSamples(0.1, 0.1, 4, without_guide="stop"), ValueError, "without_guide"),
        (lambda: GuidedNewSamples("fast", 0.1, 4), TypeError, "step"),
        (lambda: GuidedHistoricalSamples(0.1, 0.1, 4, window=0), ValueError, "window"),
        (lambda: GuidedHistoricalSamples(0.1, 0.1, 4, lag=-1), ValueError, "lag"),
        (lambda: TwoPointDescent(0.1, 0.1, 4, directions="sphere"), ValueError, "directions"),
        (lambda: OnePointDescent(0.1, 0.1, 4, control=float("nan")), ValueError, "control"),
        (lambda: HistoryControlDescent(0.1, 0.1, 4, weighting="equal"), ValueError, "weighting"),
        (lambda: Budget(0), ValueError, "samples"),
        (lambda: Budget(1.5), TypeError, "samples"),
        (lambda: Budget(10, "soft"), ValueError, "rule"),
        (lambda: Geometric(1.0, 1.5), ValueError, "ratio"),
        (lambda: Geometric(-1.0, 0.5), ValueError, "start"),
        (lambda: Geometric(1.0, 0.5, floor=2.0), ValueError, "floor"),
        (lambda: ApproachOne(1.5), ValueError, "start"),
        (lambda: LinearCount(1, -1), ValueError, "increment"),
        (lambda: AdaptiveShare(start=2.0), ValueError, "start"),
        (lambda: AdaptiveShare(floor=0.0), ValueError, "floor"),
        (lambda: AdaptiveShare(memory=1.0), ValueError, "memory"),
        (lambda: Box(1.0, 0.0), ValueError, "lower"),
        (lambda: Box(np.nan, 0.0), ValueError, "nan"),
        (lambda: Ball(0.0), ValueError, "radius"),
        (lambda: Ball(1.0, np.inf), ValueError, "centre"),
        (lambda: Simplex(-1.0), ValueError, "total"),
        (lambda: DecisionOracle(0, lambda x, xi: xi), ValueError, "dimension"),
        (lambda: DecisionOracle(1, 3), TypeError, "loss"),
        (lambda: DecisionOracle(1, lambda x, xi: xi, replicates=0), ValueError, "replicates"),
        (lambda: best_observed([], []), ValueError, "empty"),
        (lambda: best_observed([[1.0]], [np.nan]), ValueError, "nan"),
        (lambda: inverse_weights([-1.0]), ValueError, "negative"),
        (lambda: inverse_weights([]), ValueError, "at least one"),
        (lambda: water_filling_weights([1.0], [1.0, 2.0]), ValueError, "one length"),
        (lambda: balanced_radius(0.0, 1.0, 1.0, 1), ValueError, "step"),
        (lambda: plan_for_accuracy(0.0, 1, 1.0, 1.0, 1.0), ValueError, "epsilon"),
        (
            lambda: plan_for_accuracy(0.1, 1, 1.0, 1.0, 1.0, isotropic_share=ApproachOne(0.0, 1.0)),
            ValueError,
            "too little",
        ),
        (lambda: gradient_descent(LinearNoise([[1.0]], [1.0], [[1.0]], 0.0), [1.0, 2.0], 0.1), ValueError, "start"),
        (lambda: gradient_descent(LinearNoise([[1.0]], [1.0], [[1.0]], 0.0), [1.0], -0.1), ValueError, "step"),
        (lambda: exact_minimiser(LinearNoise([[1.0]], [1.0], [[1.0]], 0.0), [[np.nan]]), ValueError, "starts"),
        (lambda: ConvexSet(2, lambda y: [y >= 0]).project(np.zeros(3)), ValueError, "length 2"),
    ],
)
def test_bad_arguments_are_named(call, error, word):
    with pytest.raises(error, match=word):
        call()


@pytest.mark.parametrize(
    ("arguments", "error", "word"),
    [
        ({"start": [0.0, 1.0]}, ValueError, "start must have shape"),
        ({"start": [np.nan]}, ValueError, "start must be finite"),
        ({"rng": 3}, TypeError, "rng"),
        ({"deploy": "maybe"}, ValueError, "deploy"),
        ({"oracle": 3}, TypeError, "oracle"),
        ({"budget": -1}, ValueError, "samples"),
        ({"divergence_radius": 0.0}, ValueError, "divergence_radius"),
    ],
)
def test_bad_arguments_of_a_run_are_named(arguments, error, word):
    good = {
        "oracle": oracle_for(LinearNoise([[1.0]], [1.0], [[1.0]], 0.1)),
        "start": [0.0],
        "method": TwoPointDescent(0.1, 0.1, 4),
        "budget": 100,
        "rng": rng(),
    }
    with pytest.raises(error, match=word):
        minimise(**(good | arguments))


# ask and tell


def test_ask_and_tell_does_not_depend_on_how_a_stage_is_split():
    problem = LinearNoise(np.eye(2), [1.0], [[0.5, -0.5]], 0.0)
    finals = []
    for at_most in (None, 1, 3):
        run = AskTell(oracle_for(problem), np.ones(2), GuidedNewSamples(0.1, 0.1, 4), 240, rng(4))
        while not run.finished:
            tickets = list(iter(lambda run=run, at_most=at_most: run.ask(at_most), None))
            for ticket in reversed(tickets):
                run.tell(ticket.number, sample_at(problem, ticket.decision, ticket.samples, rng()))
        finals.append(run.result().decision)
    assert np.array_equal(finals[0], finals[1]) and np.array_equal(finals[0], finals[2])


def test_ask_and_tell_refuses_strange_tickets_and_keeps_them_open():
    run = AskTell(
        oracle_for(LinearNoise([[1.0]], [1.0], [[1.0]], 0.1)), [1.0], TwoPointDescent(0.1, 0.1, 2), 100, rng()
    )
    with pytest.raises(ValueError, match="no iteration"):
        run.result()
    first, second = run.ask(), run.ask()
    assert run.ask() is None and not run.finished
    with pytest.raises(KeyError, match="not outstanding"):
        run.tell(99, np.zeros((2, 1)))
    with pytest.raises(OracleError, match="finite"):
        run.tell(first.number, np.full((2, 1), np.nan))
    with pytest.raises(OracleError, match="shape"):
        run.tell(first.number, np.zeros((3, 1)))
    run.tell(first.number, np.zeros((2, 1)))
    run.tell(second.number, np.zeros((2, 1)))
    assert run.result().iterations == 1
    with pytest.raises(ValueError, match="at_most"):
        run.ask(0)
    with pytest.raises(ValueError, match="replicates"):
        AskTell(
            oracle_for(LinearNoise([[1.0]], [1.0], [[1.0]], 0.1), 3), [1.0], TwoPointDescent(0.1, 0.1, 2), 100, rng()
        )


def test_ask_and_tell_refuses_the_same_samples_on_both_sides():
    run = AskTell(
        oracle_for(LinearNoise([[1.0]], [1.0], [[1.0]], 0.1)), [1.0], TwoPointDescent(0.1, 0.1, 4), 100, rng()
    )
    cached = rng().normal(size=(4, 1))
    first, second = run.ask(), run.ask()
    run.tell(first.number, cached)
    with pytest.raises(OracleError, match="same samples on both sides"):
        run.tell(second.number, cached)


# traces


def test_trace_has_one_entry_an_iteration():
    oracle = oracle_for(LinearNoise(np.eye(2), [1.0], [[0.5, 0.5]], 0.1), 3)
    trace = minimise(oracle, np.ones(2), GuidedNewSamples(0.1, 0.1, 4), 120, rng()).trace
    assert trace.decisions.shape == (11, 3, 2) and trace.guides.shape == (10, 3, 2)
    assert trace.losses.shape == trace.slopes.shape == (10, 3)
    assert np.all(trace.batches == 4) and trace.shares[0] == 0.0
    slim = minimise(oracle, np.ones(2), GuidedNewSamples(0.1, 0.1, 4), 120, rng(), keep_decisions=False)
    assert slim.trace.decisions.shape == (2, 3, 2) and slim.trace.guides is None
    with pytest.raises(ValueError, match="keep_decisions"):
        _ = slim.best_decision


def test_guided_trajectories_start_at_the_start():
    problem = LinearNoise(np.eye(2), [1.0], [[0.5, 0.5]], 0.1)
    decisions = guided_trajectories(problem, [1.0, 2.0], GuidedSchedule(0.05, 0.1, 2, 7), 4, rng())
    assert decisions.shape == (8, 4, 2) and np.array_equal(decisions[0], np.tile([1.0, 2.0], (4, 1)))


def test_schedules_are_functions_of_the_iteration():
    assert Constant(3.0)(10) == 3.0
    assert [Geometric(1.0, 0.5, 0.3)(k) for k in range(4)] == [1.0, 0.5, 0.3, 0.3]
    assert [LinearCount(30, 2)(k) for k in (0, 28)] == [30, 86]
