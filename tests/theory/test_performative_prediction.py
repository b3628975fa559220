"""Reference numbers and edge cases of the theory of guided zeroth-order methods."""

from fractions import Fraction

import numpy as np
import pytest

from whp.theory.performative_prediction import (
    CONSTANT_STEP_COMPLEXITY,
    EXPLORED_GRADIENT,
    EXPLORED_GRADIENT_SHARP,
    GAUSSIAN_SECOND_MOMENT,
    GUIDED_COMPLEXITY,
    GUIDED_SECOND_MOMENT,
    ISOTROPIC_SECOND_MOMENT,
    NOISE_SECOND_MOMENT,
    ONE_POINT_SECOND_MOMENT,
    PAPER,
    PREVIOUS_BOUNDED_COMPLEXITY,
    STATIONARITY,
    THEOREMS,
    TWO_POINT_COMPLEXITY,
    ControlHistory,
    CubicCase,
    DiscreteSoftmax,
    EstimateCase,
    GuidedSchedule,
    JointQuadratic,
    LinearNoise,
    LipschitzLocation,
    LocationQuadratic,
    MomentCase,
    MultiproductPricing,
    RunCase,
    StrategicClassification,
    central_difference_bias,
    direction_covariance,
    explored_gradient,
    guided_mean_on_quadratic,
    guided_second_moment_on_quadratic,
    history_error_as_printed,
    history_error_repaired,
    isotropic_share,
    largest_eigenvalue,
    lipschitz_constant,
    lipschitz_constant_as_printed,
    same_sample_mean,
    sixth_norm_moment,
    sixth_norm_moment_isotropic,
    slope_energy,
    smoothness_from_blocks,
    smoothness_from_joint,
    wasserstein_of_location_family,
    worst_case_history_error,
)

THETA = np.array([0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.65, 0.8, 1.0])


def trap() -> LocationQuadratic:
    return LocationQuadratic([[1, 1], [-1, 1]], [0, 0], 0.5)


def worked() -> LocationQuadratic:
    return LocationQuadratic([[0.5, 0.25], [0.0, 0.5]], [1, -1], 0.0)


def shop() -> MultiproductPricing:
    return MultiproductPricing(THETA, 0.375 * THETA)


def numerical_gradient(function, x, step=1e-6):
    x = np.asarray(x, dtype=float)
    return np.array([(function(x + step * e) - function(x - step * e)) / (2 * step) for e in np.eye(x.size)])


# R1 .. R8


def test_guide_is_orthogonal_to_the_gradient_in_the_trap():
    x = np.array([1.0, 2.0])
    assert np.array_equal(trap().known_gradient(x), [-2.0, 1.0])
    assert np.array_equal(trap().gradient(x), [1.0, 2.0])
    assert trap().known_gradient(x) @ trap().gradient(x) == 0.0


def test_worked_example_has_its_rational_answers():
    x = np.ones(2)
    r, gradient = worked().known_gradient(x), worked().gradient(x)
    assert np.array_equal(r, [-3 / 4, 3 / 2])
    assert np.array_equal(gradient, [-3 / 8, 15 / 16])
    guide = r / np.linalg.norm(r)
    assert direction_covariance(guide, 0.5) == pytest.approx(np.array([[7 / 20, -1 / 5], [-1 / 5, 13 / 20]]), abs=1e-15)
    assert guided_mean_on_quadratic(worked(), x, guide, 0.5) == pytest.approx([-51 / 160, 219 / 320], abs=1e-15)
    assert explored_gradient(gradient, guide, 0.5) == pytest.approx(3897 / 5120, abs=1e-15)
    assert guided_second_moment_on_quadratic(gradient, guide, 0.5) == pytest.approx(19467 / 10240, abs=1e-14)
    assert same_sample_mean(worked(), x, guide, 0.5) == pytest.approx([-9 / 16, 9 / 8], abs=1e-15)
    assert worked().stable_point() == pytest.approx([1, -2], abs=1e-12)
    assert worked().stationary_point() == pytest.approx([1, -2], abs=1e-12)


def test_stationary_and_stable_points_differ_in_one_dimension():
    problem = LocationQuadratic([[0.5]], [0.0], 1.0, linear=[1.0])
    assert problem.stationary_point() == pytest.approx([-4.0])
    assert problem.stable_point() == pytest.approx([-2.0])


@pytest.mark.parametrize(("d", "value"), [(2, 6), (3, 35 / 9), (5, 63 / 25), (12, 14 / 9)])
def test_sixth_moment_of_isotropic_directions(d, value):
    assert sixth_norm_moment_isotropic(d) == pytest.approx(value, rel=1e-15)
    assert sixth_norm_moment(np.eye(d) / d) == pytest.approx(value, rel=1e-14)


def test_sixth_moment_of_a_rank_one_direction_is_fifteen():
    assert sixth_norm_moment(direction_covariance([0.6, 0.8], 0.0)) == pytest.approx(15.0, rel=1e-14)


@pytest.mark.parametrize(("s", "ratio"), [(1, Fraction(1, 2)), (2, 1), (3, Fraction(3, 2)), (10, 5)])
def test_printed_control_bound_is_off_by_half_the_number_of_iterations(s, ratio):
    history = ControlHistory((Fraction(1, s),) * s, (Fraction(2),) * s, (Fraction(0),) * s)
    assert worst_case_history_error(history) / history_error_as_printed(history) == ratio
    assert worst_case_history_error(history) / history_error_repaired(history) == Fraction(1, 2)


def test_pricing_objective_by_binomial_sums():
    assert float(shop().objective(np.full(10, 0.5))) == pytest.approx(3.3591914398687236, rel=1e-13)
    assert float(shop().objective(THETA)) == pytest.approx(-6.499758448769056, rel=1e-13)


def test_pricing_gradient_in_closed_form():
    x = np.full(10, 0.5)
    gradient, known, p = shop().gradient(x), shop().known_gradient(x), shop().probabilities(x)
    assert np.linalg.norm(gradient) == pytest.approx(29.769474784259632, rel=1e-13)
    assert gradient[0] == pytest.approx(0.0021446755996566013, rel=1e-10)
    assert gradient[-1] == pytest.approx(-25.63189213753159, rel=1e-13)
    assert p[0] == pytest.approx(3.228530140432417e-06, rel=1e-12)
    assert p[-1] == pytest.approx(0.33269300613054087, rel=1e-13)
    cosine = gradient @ known / np.linalg.norm(gradient) / np.linalg.norm(known)
    assert cosine == pytest.approx(0.8124566215855933, rel=1e-12)


def test_pricing_gradient_where_every_product_is_equally_likely():
    gradient, known = shop().gradient(THETA), shop().known_gradient(THETA)
    assert shop().probabilities(THETA) == pytest.approx(np.full(10, 1 / 11), rel=1e-14)
    assert np.linalg.norm(gradient) == pytest.approx(23.542892431095584, rel=1e-13)
    assert gradient[0] == pytest.approx(-16.759930378681744, rel=1e-12)
    assert gradient[-1] == pytest.approx(-0.9510799798585476, rel=1e-11)
    cosine = gradient @ known / np.linalg.norm(gradient) / np.linalg.norm(known)
    assert cosine == pytest.approx(0.7715875204623063, rel=1e-12)


def test_convergence_bound_of_the_reference_run():
    rng = np.random.default_rng(1)
    a, w = 0.3 * rng.normal(size=(6, 6)), rng.normal(size=6)
    case = RunCase(LinearNoise(np.eye(6), w, a, 0.5), np.ones(6), GuidedSchedule(1 / 12, 0.1, 20, 301))
    assert case.bound == pytest.approx(1.1338743083713223, rel=1e-12)
    assert case.sharp_bound < case.bound


def test_isotropic_share_schedule():
    assert isotropic_share(1) == pytest.approx(0.02, rel=1e-12)
    assert isotropic_share(10) == pytest.approx(0.18292719, abs=5e-9)
    assert isotropic_share(50) == pytest.approx(0.63583, abs=5e-6)
    share = 0.3
    for k in range(5):
        assert isotropic_share(k, 0.3, 0.9) == pytest.approx(share, rel=1e-14)
        share = 1 - 0.9 * (1 - share)


# bounds


def test_bounds_are_read_in_floats_balls_and_symbols():
    low, high = GUIDED_SECOND_MOMENT.enclosure(q=1, mu=Fraction(1, 2), H=2, sigma2=1, batch=3)
    assert low <= Fraction(6) + Fraction(15, 2) + Fraction(2, 3) <= high
    assert float(high - low) < 1e-30
    assert GUIDED_SECOND_MOMENT(q=1, mu=0.5, H=2, sigma2=1, batch=3) == pytest.approx(6 + 7.5 + 2 / 3)
    assert "mu" in GUIDED_SECOND_MOMENT.latex()


def test_derived_second_moment_is_sharper_than_the_predecessor_after_rescaling():
    # unnormalised directions: mu_previous = mu / sqrt(d) and g = g_previous / d
    for d in (1, 4, 30):
        ours = ISOTROPIC_SECOND_MOMENT(gradient2=2.0, d=d, mu=0.3, H=1.5, sigma2=1.0, batch=5)
        theirs = GAUSSIAN_SECOND_MOMENT(gradient2=2.0, d=d, mu=0.3 / d**0.5, H=1.5, sigma2=1.0, batch=5) / d**2
        assert ours < theirs


def test_number_of_iterations_from_the_bound():
    values = {"gap": 1.0, "beta": 1 / 12, "H": 1.0, "sigma2": 0.0, "mu2": 0.0, "noise": 0.0}
    steps = EXPLORED_GRADIENT.solve("steps", at_most=0.1, **values)
    assert steps == 480
    assert STATIONARITY(steps=steps, d=2, alpha=0.5, **values) == pytest.approx(0.4)


@pytest.mark.parametrize("d", [8, 27, 1000])
def test_complexities_cross_where_the_loss_is_the_cube_root_of_the_dimension(d):
    root = round(d ** (1 / 3))
    assert GUIDED_COMPLEXITY(d=d, epsilon=0.5) == PREVIOUS_BOUNDED_COMPLEXITY(d=d, epsilon=0.5, G=root)
    assert GUIDED_COMPLEXITY(d=d, epsilon=0.5) < PREVIOUS_BOUNDED_COMPLEXITY(d=d, epsilon=0.5, G=root + 1)
    assert (
        CONSTANT_STEP_COMPLEXITY(d=d, epsilon=0.5)
        < GUIDED_COMPLEXITY(d=d, epsilon=0.5)
        < TWO_POINT_COMPLEXITY(d=d, epsilon=0.5)
    )


@pytest.mark.parametrize("bad", [{"mu": 0.0}, {"batch": 0}, {"batch": 1.5}, {"sigma2": -1.0}, {"q": float("nan")}])
def test_bounds_refuse_values_outside_their_domain(bad):
    with pytest.raises(ValueError, match=next(iter(bad))):
        GUIDED_SECOND_MOMENT(**({"q": 1.0, "mu": 1.0, "H": 1.0, "sigma2": 1.0, "batch": 1} | bad))


# regularity


def test_printed_lipschitz_constant_fails_on_ten_x():
    assert lipschitz_constant_as_printed(10.0, 0.0, 0.0) == 0.0
    assert lipschitz_constant(10.0, 0.0, 0.0) == 10.0
    ramp = LipschitzLocation([[0.0]], [1.0], [[0.0]], 10.0, 0.0, [0.0], [0.0])
    assert float(ramp.objective([2.0]) - ramp.objective([1.0])) == 10.0


def test_smoothness_of_the_joint_quadratic_is_attained():
    pair = JointQuadratic([[0.5, 0.5], [0.5, 0.5]], [[1.0]])
    assert pair.objective_hessian() == pytest.approx(np.array([[2.0]]))
    assert smoothness_from_joint(pair.joint_smoothness, pair.wasserstein_constant) == pytest.approx(2.0)
    assert smoothness_from_blocks(1.0, 1.0) == 4.0
    assert pair.convex and pair.block_smoothness == pytest.approx(0.5)


def test_wasserstein_constant_is_computed_not_assumed():
    assert wasserstein_of_location_family([[0.0, 3.0], [0.0, 4.0]]) == pytest.approx(5.0)


# directions


def test_share_one_is_isotropic_and_one_dimension_ignores_the_share():
    assert np.array_equal(direction_covariance([1.0, 0.0, 0.0], 1.0), np.eye(3) / 3)
    for alpha in (0.0, 0.02, 0.5, 1.0):
        assert direction_covariance([-1.0], alpha) == pytest.approx(np.eye(1))


def test_sign_of_the_guide_never_matters():
    guide = np.array([0.6, -0.8])
    assert np.array_equal(direction_covariance(guide, 0.3), direction_covariance(-guide, 0.3))


def test_no_guide_leaves_the_isotropic_part():
    assert np.array_equal(direction_covariance([0.0, 0.0], 0.5), 0.25 * np.eye(2))
    assert float(largest_eigenvalue(0.0, 7)) == 1.0


def test_slope_energy_is_at_most_three_times_the_quadratic_form():
    a = np.array([3.0, 4.0])
    sigma = direction_covariance(a / 5, 0.0)
    assert slope_energy(a, sigma) == pytest.approx(3 * a @ sigma @ a)


def test_moment_case_is_exact():
    case = MomentCase((Fraction(1),), (Fraction(1),), Fraction(1, 3))
    assert case.covariance == ((Fraction(1),),)
    with pytest.raises(ValueError, match="norm exactly one"):
        MomentCase((Fraction(1),), (Fraction(1, 2),), Fraction(1, 3))


def test_bias_of_the_cube():
    assert central_difference_bias(6.0, 0.1) == pytest.approx(0.01)
    assert CubicCase((Fraction(1),), (Fraction(0),), (Fraction(1),), Fraction(1, 10)).gradient == (3,)


# families


@pytest.mark.parametrize("seed", range(3))
def test_gradients_of_all_families_agree_with_differences(seed):
    rng = np.random.default_rng(seed)
    families = [
        LocationQuadratic(rng.normal(size=(3, 3)), rng.normal(size=3), 0.5, rng.normal(size=3)),
        LinearNoise(np.diag([1.0, 2.0, 3.0]), rng.normal(size=2), rng.normal(size=(2, 3)), 0.5),
        MultiproductPricing([0.3, 0.6, 1.0], [0.1, 0.2, 0.4], buyers=12),
        DiscreteSoftmax(rng.normal(size=(4, 3)), rng.normal(size=4), rng.normal(size=4), rng.normal(size=(4, 3)), 0.7),
    ]
    x = rng.uniform(0.2, 1.0, 3)
    for family in families:
        assert family.gradient(x) == pytest.approx(numerical_gradient(family.objective, x), rel=1e-5, abs=1e-6)
        stacked = np.stack([x, 2 * x])
        assert family.gradient(stacked)[0] == pytest.approx(family.gradient(x), rel=1e-12)
        assert family.objective(stacked).shape == (2,)


def test_strategic_gradient_away_from_jumps():
    rng = np.random.default_rng(0)
    problem = StrategicClassification(
        np.column_stack([rng.normal(size=(40, 3)), np.ones(40)]), rng.choice([-1.0, 1.0], 40)
    )
    x = np.array([0.5, -0.2, 0.8, 0.1])
    assert problem.gradient(x) == pytest.approx(numerical_gradient(problem.objective, x, 1e-7), abs=1e-5)


def test_strategic_applicants_move_to_the_boundary_and_no_farther():
    features = np.array([[-0.5, 1.0], [-3.0, 1.0], [2.0, 1.0]])
    problem = StrategicClassification(features, [1, -1, 1], cost=2.0)
    x = np.array([2.0, 0.0])
    moved = problem.response(x, features)
    assert (moved @ x).tolist() == [0.0, -6.0, 4.0]
    assert problem.moves(x, features).tolist() == [True, False, False]
    assert np.array_equal(problem.response(np.zeros(2), features), features)


def test_loss_variances_agree_with_samples():
    shop3 = MultiproductPricing([0.3, 0.6, 1.0], [0.1, 0.2, 0.4], buyers=6)
    x, rng = np.array([0.4, 0.5, 0.9]), np.random.default_rng(0)
    p = shop3.probabilities(x)
    xi = rng.multinomial(6, np.append(p, 1 - p.sum()), size=200_000)[:, :-1]
    assert shop3.loss_variance(x) == pytest.approx(shop3.loss(x, xi).var(), rel=0.02)
    assert float(shop3.objective(x)) == pytest.approx(shop3.loss(x, xi).mean(), abs=0.01)
    problem = worked()
    assert float(
        LocationQuadratic(problem.sensitivity, problem.offset, 0.5).loss_variance(np.ones(2))
    ) == pytest.approx(0.25 * 2.8125 + 0.0625)


def test_pricing_is_finite_at_extreme_prices():
    for value in (-1e4, 0.0, 1e4, 1e300):
        x = np.full(10, value)
        assert np.isfinite(shop().objective(x))
        assert np.all(np.isfinite(shop().gradient(np.clip(x, -1e4, 1e4))))
    one = MultiproductPricing([1.0], [0.3], buyers=1)
    assert np.isfinite(one.objective([-50.0])) and one.loss_variance([-50.0]) >= 0.0
    assert float(shop().objective(np.full(10, 1e4))) == 0.0
    assert shop().loss_bound(0.0, 1.0) == pytest.approx(40 * (1 + 3 * 0.375))


def test_linear_noise_without_a_minimum_says_so():
    saddle = LinearNoise([[1.0, 0.0], [0.0, -1.0]], [1.0], [[0.0, 0.0]], 0.0)
    with pytest.raises(ValueError, match="unbounded below"):
        saddle.minimum()
    with pytest.raises(ValueError, match="no stationary point"):
        LinearNoise([[0.0]], [1.0], [[1.0]], 0.0).stationary_point()


def test_identity_sensitivity_makes_every_decision_stationary():
    problem = LocationQuadratic(np.eye(2), [1.0, 1.0], 0.5)
    assert np.array_equal(problem.gradient(np.array([3.0, -7.0])), [0.0, 0.0])
    with pytest.raises(ValueError, match="no performatively stable point"):
        problem.stable_point()


def test_degenerate_minimum_of_a_rank_deficient_curvature():
    flat = LinearNoise([[1.0, 0.0], [0.0, 0.0]], [1.0], [[2.0, 0.0]], 0.0)
    assert flat.stationary_point() == pytest.approx([-2.0, 0.0])
    assert flat.minimum() == pytest.approx(-2.0)


# bad input


@pytest.mark.parametrize(
    ("build", "error", "word"),
    [
        (lambda: LocationQuadratic([[1, 2]], [0], 1.0), ValueError, "sensitivity"),
        (lambda: LocationQuadratic([[1]], [np.nan], 1.0), ValueError, "offset"),
        (lambda: LocationQuadratic([[1]], [0], -1.0), ValueError, "noise"),
        (lambda: LocationQuadratic([["a"]], [0], 1.0), TypeError, "sensitivity"),
        (lambda: LocationQuadratic([[1.0]], [], 1.0), ValueError, "offset"),
        (lambda: LinearNoise([[1, 2], [0, 1]], [1], [[1, 1]], 1.0), ValueError, "symmetric"),
        (lambda: LinearNoise([[1]], [1], [[np.inf]], 1.0), ValueError, "sensitivity"),
        (lambda: MultiproductPricing([0.0], [1.0]), ValueError, "reference_prices"),
        (lambda: MultiproductPricing([1.0], [-1.0]), ValueError, "unit_costs"),
        (lambda: MultiproductPricing([1.0], [1.0], buyers=0), ValueError, "buyers"),
        (lambda: MultiproductPricing([1.0], [1.0], buyers=2.5), TypeError, "buyers"),
        (lambda: StrategicClassification([[1.0]], [0]), ValueError, "labels"),
        (lambda: StrategicClassification([[1.0]], [1], cost=0.0), ValueError, "cost"),
        (lambda: StrategicClassification([[1.0]], [1], bias_column=3), ValueError, "bias_column"),
        (lambda: DiscreteSoftmax([[1.0]], [0.0, 1.0], [1.0]), ValueError, "logit_offset"),
        (lambda: LipschitzLocation([[0.0]], [0.5], [[0.0]], 1, 1, [0.0], [0.0]), ValueError, "weights"),
        (lambda: JointQuadratic([[1.0]], [[1.0]]), ValueError, "hessian"),
        (lambda: ControlHistory((0.5, 0.6), (1, 1), (0, 0)), ValueError, "sum"),
        (lambda: ControlHistory((), (), ()), ValueError, "at least one"),
        (lambda: ControlHistory((1.0,), (1.0, 2.0), (0.0,)), ValueError, "biases"),
        (lambda: GuidedSchedule(0.0, 1.0, 1, 1), ValueError, "step"),
        (lambda: GuidedSchedule(1.0, 1.0, 1, 1, initial_share=2.0), ValueError, "initial"),
        (lambda: EstimateCase(worked(), [1.0, 1.0], [1.0, 1.0], 0.5, 1.0, 1), ValueError, "unit vector"),
        (lambda: direction_covariance([1.0, 0.0], 1.5), ValueError, "alpha"),
        (lambda: isotropic_share(-1), ValueError, "iteration"),
        (lambda: CubicCase((Fraction(1),), (), (), Fraction(1)), ValueError, "length"),
    ],
)
def test_bad_input_is_named(build, error, word):
    with pytest.raises(error, match=word):
        build()


def test_instances_are_read_only():
    with pytest.raises(ValueError, match="read-only"):
        trap().sensitivity[0, 0] = 3.0


# the statements as data


def test_statements_carry_their_provenance():
    by_name = {t.id.split(".")[1]: t for t in THEOREMS}
    assert len(by_name) == len(THEOREMS) == 34
    assert all(t.paper is PAPER for t in THEOREMS)
    assert by_name["lipschitz_as_printed"].expected == "refuted"
    assert by_name["history_control_as_printed"].expected == "refuted"
    assert by_name["lipschitz"].corrects == "performative_prediction.lipschitz_as_printed"
    assert by_name["guided_complexity"].provenance == "reported" and "inferred" in by_name["guided_complexity"].reading
    assert all(not t.locator for t in THEOREMS if t.provenance == "derived")


def test_every_constant_of_the_bounds_is_the_one_of_the_statement():
    g2, d, mu, h, s2, m, c2 = 1.7, 3, 0.3, 1.9, 0.7, 5, 1.3
    point = {"gradient2": g2, "d": d, "mu": mu, "H": h, "sigma2": s2, "batch": m}
    noise = s2 / (2 * mu**2 * m)
    assert NOISE_SECOND_MOMENT(mu=mu, sigma2=s2, batch=m) == pytest.approx(noise)
    isotropic = 2 * (1 + 2 / d) * g2 / d + mu**2 * h**2 / 2 * (1 + 6 / d + 8 / d**2) + noise
    assert ISOTROPIC_SECOND_MOMENT(**point) == pytest.approx(isotropic)
    lemma = 1.5 * mu**2 * h**2 * (d + 6) ** 3 + 6 * (d + 4) * g2
    assert GAUSSIAN_SECOND_MOMENT(**point) == pytest.approx(lemma + 3 * s2 * d / (2 * mu**2 * m))
    one_point = lemma + 3 * s2 * d / (mu**2 * m) + 3 * d * c2 / mu**2
    assert ONE_POINT_SECOND_MOMENT(**point, control2=c2) == pytest.approx(one_point)
    run = {"gap": 2.3, "beta": 0.07, "steps": 11, "H": h, "sigma2": s2, "mu2": 0.05, "noise": 0.9}
    shared = 4 * 2.3 / (0.07 * 11) + h * 0.07 * s2 * 0.9
    plain = shared + 3.25 * h**2 * 0.05
    assert EXPLORED_GRADIENT(**run) == pytest.approx(plain)
    assert STATIONARITY(**run, d=d, alpha=0.4) == pytest.approx(d / 0.4 * plain)
    sharp = shared + 2 * h**2 * 0.02 + 15 * h**3 * 0.07 * 0.05
    assert EXPLORED_GRADIENT_SHARP(**run, lambda_mu2=0.02) == pytest.approx(sharp)


def test_bounds_accept_every_value_of_their_domain():
    assert ISOTROPIC_SECOND_MOMENT(gradient2=0.5, d=2, mu=1.0, H=0.5, sigma2=0.5, batch=1) > 0
    assert smoothness_from_blocks(0.5, 0.5) == pytest.approx(0.5 * 1.5**2)
