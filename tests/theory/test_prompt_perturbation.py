"""Exact reference numbers of the theory of prompt perturbation."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from whp.theory.prompt_perturbation import (
    Channel,
    ContextualPrompt,
    TokenEmbedding,
    UnknownTokenError,
    UtilityGridPair,
    UtilityPair,
    bayes_recovery,
    bounds,
    bucketised_grid_channel,
    bucketised_row,
    contextual_prompt_channel,
    count_ratio,
    equal_frequency_labels,
    equal_width_labels,
    exponential_grid_channel,
    exponential_row,
    formulas,
    keep_rate,
    likelihood_ratio,
    own_size_ratio,
    pooled_size_ratio,
    privacy_loss,
)

F = Fraction


def counterexample(base: Fraction) -> UtilityGridPair:
    return UtilityGridPair((2, 0, 0, 0, 0), (0, 0, 0, 1, 2), 3, base)


def reported_ratio(pair: UtilityGridPair) -> Fraction:
    return pair.exp_epsilon * pooled_size_ratio(pair.first, pair.second)


def test_the_minimal_counterexample_at_epsilon_zero_is_nine_halves_against_four() -> None:
    pair = counterexample(F(1))
    channel = bucketised_grid_channel(pair)
    assert channel.rows == (
        (F(1, 2), F(1, 8), F(1, 8), F(1, 8), F(1, 8)),
        (F(1, 9), F(1, 9), F(1, 9), F(1, 3), F(1, 3)),
    )
    assert likelihood_ratio(channel) == F(9, 2)
    assert reported_ratio(pair) == 4
    assert reported_ratio(pair) * count_ratio(pair.first, pair.second) == 6


def test_the_minimal_counterexample_at_g_21_20_exceeds_the_reported_claim_exactly() -> None:
    pair = counterexample(F(21, 20))
    assert likelihood_ratio(bucketised_grid_channel(pair)) == F(1668303, 336400)
    assert reported_ratio(pair) == F(194481, 40000)
    assert F(1668303, 336400) > F(194481, 40000)
    assert reported_ratio(pair) * count_ratio(pair.first, pair.second) == F(583443, 80000)
    assert pair.epsilon == pytest.approx(4 * math.log(1.05), abs=1e-15)


def test_the_worst_pattern_of_five_tokens_at_h_11_10() -> None:
    pair = UtilityGridPair((3, 0, 0, 1, 1), (0, 0, 1, 2, 3), 4, F(11, 10))
    assert likelihood_ratio(bucketised_grid_channel(pair)) == F(6177171, 1715500)
    assert reported_ratio(pair) == F(1771561, 500000)
    assert pair.epsilon == pytest.approx(0.5718610788259496, abs=1e-15)
    at_zero = UtilityGridPair(pair.first, pair.second, 4, F(1))
    assert likelihood_ratio(bucketised_grid_channel(at_zero)) == F(8, 3)
    assert reported_ratio(at_zero) == 2


def test_the_counterexample_stops_at_its_crossing() -> None:
    def excess(epsilon: float) -> float:
        g = math.exp(epsilon / 4)
        return 3 * g**2 * (1 + g + g * g) / (1 + g * g) - 4 * g**4

    from scipy.optimize import brentq

    assert brentq(excess, 0.1, 0.5, xtol=1e-15) == pytest.approx(0.23442250740717582, abs=1e-13)
    assert excess(0.1) + 4.420683672302591 == pytest.approx(4.730227278662063, abs=1e-13)
    assert excess(0.25) == pytest.approx(5.095853662645255 - 5.136101666750966, abs=1e-13)


def test_the_second_pattern_crosses_at_its_reference_epsilon() -> None:
    def excess(epsilon: float) -> float:
        h = math.exp(epsilon / 6)
        return 2 * h**3 * (1 + h + h**2 + h**3) / (1 + h + h**3) - 2 * h**6

    assert excess(0.605658905624967 - 1e-9) > 0 > excess(0.605658905624968 + 1e-9)


@pytest.mark.parametrize(("n_tokens", "worst"), [(2, F(1)), (3, F(1)), (4, F(1)), (5, F(4, 3)), (6, F(4, 3))])
def test_worst_excess_factor_over_all_size_patterns_at_epsilon_zero(n_tokens: int, worst: Fraction) -> None:
    # at epsilon = 0 only counts and sizes matter: loss factor (B' |b'|) / (B |b|) for one token lying in b and in b'
    sizes = [
        tuple(composition)
        for parts in range(1, n_tokens + 1)
        for composition in itertools.product(range(1, n_tokens + 1), repeat=parts)
        if sum(composition) == n_tokens
    ]
    excess = max(
        F(len(other) * larger, len(own) * smaller) / F(max(own + other), min(own + other))
        for own in sizes
        for other in sizes
        for smaller in own
        for larger in other
    )
    assert max(excess, F(1)) == worst


def test_bucketised_reference_row() -> None:
    utilities = (F(1), F(1), F(1, 2), F(0), F(0), F(0))
    labels = equal_width_labels(utilities, 3)
    assert labels == (2, 2, 1, 0, 0, 0)
    assert bucketised_row(labels, {0: F(1), 1: F(2), 2: F(4)}) == (F(2, 7),) * 3 + (F(1, 21),) * 3


def test_exponential_reference_rows_and_their_loss() -> None:
    rows = [exponential_row([F(2) ** level for level in levels]) for levels in ((2, 1, 0), (1, 2, 0), (0, 0, 2))]
    assert rows == [(F(4, 7), F(2, 7), F(1, 7)), (F(2, 7), F(4, 7), F(1, 7)), (F(1, 6), F(1, 6), F(2, 3))]
    channel = Channel(rows)
    assert likelihood_ratio(channel) == F(14, 3)
    assert privacy_loss(channel) == pytest.approx(1.540445040947149, abs=1e-15)


@pytest.mark.parametrize(
    ("n", "at_one", "at_six"),
    [
        (2, 0.5, 3.0),
        (3, 0.6636433185293906, 3.6228129622457415),
        (10, 0.8970033277758643, 4.832500191401202),
        (100, 0.9895912840208982, 5.8157805908293545),
        (30522, 0.9999658545883872, 5.999343758600398),
    ],
)
def test_sharp_loss_of_the_exponential_mechanism(n: int, at_one: float, at_six: float) -> None:
    assert formulas.exponential_loss(math, 1.0, n) == pytest.approx(at_one, abs=2e-15)
    assert formulas.exponential_loss(math, 6.0, n) == pytest.approx(at_six, abs=5e-15)


def test_sharp_loss_is_attained_by_the_swap_pair() -> None:
    for n in (2, 3, 7):
        pair = UtilityGridPair((1, *(0,) * (n - 1)), (0, *(1,) * (n - 1)), 2, F(3))
        g = F(3)
        assert likelihood_ratio(exponential_grid_channel(pair)) == g * (1 + (n - 1) * g) / (g + n - 1)


def test_top_mass_reference_numbers() -> None:
    assert bounds.EXPONENTIAL_TOP_MASS(epsilon=6.0, N=50000, k=10) == pytest.approx(0.004001831962302152, abs=1e-16)
    assert bounds.EXPONENTIAL_TOP_MASS(epsilon=6.0, N=30522, k=10) == pytest.approx(0.006539781691320485, abs=1e-16)
    for count, mass in ((50, 0.2907343246896908), (10, 0.6905678577030157), (2, 0.9525741268224333)):
        assert formulas.bucket_top_mass_at_most(math, 6.0, count) == pytest.approx(mass, abs=1e-15)


def test_keep_rate_and_audit_reference_numbers() -> None:
    for n, values in (
        (30522, (8.905474108235715e-05, 0.013045634446047602, 0.9752490680452858)),
        (50257, (5.4085776983331205e-05, 0.007963548012696029, 0.9598869876911269)),
    ):
        for epsilon, value in zip((1.0, 6.0, 14.0), values, strict=True):
            assert formulas.keep_rate_at_most(math, epsilon, n) == pytest.approx(value, rel=1e-13)
    for p, loss in ((0.0667, 7.687648510611234), (0.2019, 8.951708872698186), (0.6379, 10.892431364737671)):
        assert formulas.audited_loss(math, p, 30522) == pytest.approx(loss, abs=1e-13)


def test_data_free_extra_reference_numbers() -> None:
    expected = {
        (1000, 10): 8.508152446764088,
        (1000, 50): 10.07638988741359,
        (30522, 10): 11.935346013727806,
        (30522, 50): 13.543472149500513,
        (30522, 500): 15.83117995143444,
        (50257, 50): 14.04280548040096,
    }
    for (n, n_buckets), extra in expected.items():
        assert bounds.DATA_FREE_BUDGET(epsilon=0.0, N=n, N_b=n_buckets) == pytest.approx(extra, abs=1e-13)


def test_the_data_free_bound_is_the_worst_labelling_for_every_bucket_count() -> None:
    for n_tokens in range(2, 7):
        for n_buckets in range(2, n_tokens + 2):
            counted = {
                (labels.count(labels[0]), len(set(labels)))
                for labels in itertools.product(range(n_buckets), repeat=n_tokens)
                if len(set(labels)) == 1 or (min(labels) == 0 and max(labels) == n_buckets - 1)
            }
            worst = max(Fraction(size * count, 1) for size, count in counted) / min(a * b for a, b in counted)
            cap = math.exp(bounds.DATA_FREE_BUDGET(epsilon=0.0, N=n_tokens, N_b=n_buckets))
            assert cap == pytest.approx(float(worst), rel=1e-12)


def test_a_prompt_costs_its_positions() -> None:
    assert bounds.PROMPT_BUDGET(epsilon=1.5, n=2) == 3.0
    assert bounds.PROMPT_BUDGET(epsilon=1.5, n=0) == 0.0


def test_more_best_tokens_than_tokens_have_all_the_mass() -> None:
    assert bounds.EXPONENTIAL_TOP_MASS(epsilon=1.0, N=3, k=9) == 1.0


def test_shared_context_sensitivity_at_the_defaults() -> None:
    assert formulas.shared_context_sensitivity(math, 1.0, 0.5, 1.0) == pytest.approx(1 - math.exp(-1), abs=1e-15)


def test_keep_rate_and_bayes_recovery_of_the_identity_and_of_the_constant_channel() -> None:
    identity, constant = Channel(((1, 0), (0, 1))), Channel(((1, 0), (1, 0)))
    assert (keep_rate(identity), bayes_recovery(identity)) == (1, 1)
    assert (keep_rate(constant), bayes_recovery(constant)) == (F(1, 2), F(1, 2))
    assert bayes_recovery(constant, (F(1, 4), F(3, 4))) == F(3, 4)
    assert math.isinf(privacy_loss(identity)) and privacy_loss(constant) == 0


def test_float_and_exact_channels_agree() -> None:
    pair = counterexample(F(11, 10))
    exact = bucketised_grid_channel(pair)
    rounded = Channel(np.array([[float(p) for p in row] for row in exact.rows]), inputs=exact.inputs)
    assert privacy_loss(rounded) == pytest.approx(privacy_loss(exact), abs=1e-14)
    assert bayes_recovery(rounded) == pytest.approx(float(bayes_recovery(exact)), abs=1e-15)
    with pytest.raises(ValueError, match="must name the output"):
        keep_rate(rounded)
    assert rounded != exact and exact == bucketised_grid_channel(pair)


def test_equal_frequency_sizes_differ_by_at_most_one_whatever_the_ties() -> None:
    for n_tokens in range(1, 12):
        for n_buckets in range(1, 14):
            labels = equal_frequency_labels((0.5,) * n_tokens, n_buckets)
            sizes = [labels.count(label) for label in set(labels)]
            assert len(sizes) == min(n_buckets, n_tokens)
            assert max(sizes) - min(sizes) <= 1


def test_own_sizes_ignore_the_other_input() -> None:
    assert own_size_ratio((0, 0, 1, 1), (0, 1, 2, 3)) == 1
    assert pooled_size_ratio((0, 0, 1, 1), (0, 1, 2, 3)) == 2


def successor_prompt(n_tokens: int, context: str) -> ContextualPrompt:
    """Utility one for the own token at the first position, for the successor of the left neighbour at the others."""
    none = n_tokens

    def level(left: int, own: int, output: int) -> int:
        return int(output == own) if left == none else int(output == (left + 1) % n_tokens)

    table = tuple(
        tuple(
            tuple(tuple(level(left, own, output) for output in range(n_tokens)) for _ in range(n_tokens + 1))
            for own in range(n_tokens)
        )
        for left in range(n_tokens + 1)
    )
    return ContextualPrompt(2, table, F(3), context)  # type: ignore[arg-type]


def test_original_context_doubles_the_loss_of_one_token() -> None:
    def one_token_ratio(context: str) -> Fraction:
        channel = contextual_prompt_channel(successor_prompt(3, context))
        changed_first = [(a * 3 + c, b * 3 + c) for a in range(3) for b in range(3) for c in range(3) if a != b]
        return max(max(p / q for p, q in zip(channel.rows[i], channel.rows[j], strict=True)) for i, j in changed_first)

    assert one_token_ratio("own_token") == 3
    assert one_token_ratio("perturbed_prefix") == 3
    assert one_token_ratio("original_neighbours") == 9


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "empty"),
        ([[0.5, 0.6]], "sum to 1"),
        ([[F(1, 2), F(1, 3)]], "sum to 1"),
        ([[1.5, -0.5]], "negative"),
        ([[math.nan, 1.0]], "NaN"),
        ([[1.0], [0.5, 0.5]], "rectangular"),
    ],
)
def test_channels_refuse_what_is_not_stochastic(rows: list[list[float]], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Channel(rows)


def test_instances_refuse_malformed_input() -> None:
    with pytest.raises(ValueError, match="levels of tokens must be between 0 and 2, got 3"):
        UtilityGridPair((3,), (0,), 3, F(1))
    with pytest.raises(ValueError, match="base must be at least 1"):
        UtilityGridPair((0,), (0,), 1, F(1, 2))
    with pytest.raises(ValueError, match="one level per token"):
        UtilityGridPair((0,), (0, 0), 1, F(1))
    with pytest.raises(ValueError, match="epsilon must be finite and >= 0, got -1"):
        UtilityPair((0.0,), (0.0,), epsilon=-1.0, n_buckets=1)
    with pytest.raises(ValueError, match="first must be a non-empty vector of finite utilities"):
        UtilityPair((math.nan,), (0.0,), epsilon=1.0, n_buckets=1)
    with pytest.raises(ValueError, match="n_buckets must be at least 1, got 0"):
        UtilityPair((0.0,), (0.0,), epsilon=1.0, n_buckets=0)


def test_an_embedding_names_the_token_that_is_not_finite_and_the_nearest_known_one() -> None:
    with pytest.raises(ValueError, match="token 'b' \\(row 1\\) is not"):
        TokenEmbedding(("a", "b"), [[0.0], [math.inf]])
    with pytest.raises(ValueError, match="distinct"):
        TokenEmbedding(("a", "a"), [[0.0], [1.0]])
    with pytest.raises(UnknownTokenError, match="did you mean 'london'"):
        TokenEmbedding(("london",), [[0.0]]).index("londn")


def test_an_embedding_leaves_the_callers_array_writable() -> None:
    vectors = np.zeros((1, 2))
    TokenEmbedding(("a",), vectors)
    vectors[0, 0] = 1.0


def test_labels_of_a_range_that_overflows_are_those_of_half_the_range() -> None:
    assert equal_width_labels((-1e308, 0.0, 1e308), 3) == equal_width_labels((-0.5, 0.0, 0.5), 3) == (0, 1, 2)


@pytest.mark.parametrize("utilities", [(), (math.nan, 1.0), (math.inf, 0.0)])
def test_labels_need_finite_utilities(utilities: tuple[float, ...]) -> None:
    for labelling in (equal_width_labels, equal_frequency_labels):
        with pytest.raises(ValueError, match="utilities must be at least one finite number"):
            labelling(utilities, 2)
        with pytest.raises(ValueError, match="n_buckets must be at least 1, got 0"):
            labelling((0.0, 1.0), 0)


def test_a_prior_that_is_nan_is_refused() -> None:
    with pytest.raises(ValueError, match="prior must hold 2 probabilities"):
        bayes_recovery(Channel([[0.5, 0.5], [0.5, 0.5]]), [math.nan, math.nan])


@pytest.mark.parametrize("base", [math.nan, 1.5, "2", True])
def test_a_base_that_is_no_fraction_is_refused(base: object) -> None:
    with pytest.raises(TypeError, match="base must be a fraction"):
        UtilityGridPair((0, 1), (1, 0), 2, base)  # type: ignore[arg-type]


def test_utilities_of_a_pair_cannot_be_unlocked() -> None:
    pair = UtilityPair([0.0, 1.0], [1.0, 0.0], 1.0, 2)
    with pytest.raises(ValueError, match="WRITEABLE"):
        pair.first.flags.writeable = True


def test_embeddings_hold_strings_and_real_vectors() -> None:
    with pytest.raises(TypeError, match="tokens must be strings"):
        TokenEmbedding((1, 2), [[0.0], [1.0]])  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="vectors must be an array of real numbers"):
        TokenEmbedding(("a", "b"), np.array([[1j], [0]]))


def test_a_row_that_misses_one_by_a_millionth_is_no_distribution() -> None:
    with pytest.raises(ValueError, match="row 0 must sum to 1"):
        Channel([[0.5, 0.500001]])
