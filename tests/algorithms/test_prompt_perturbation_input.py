"""Input that is no input: every refusal is a sentence that names the argument, and nothing hangs or answers nan."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import whp.algorithms.prompt_perturbation as prompt
from whp.theory.prompt_perturbation import TokenEmbedding

EMBEDDING = TokenEmbedding(("pain", "ache", "car", "red"), np.array([[0.0], [0.1], [9.0], [3.0]]))
DISTANCES = prompt.TokenDistances(EMBEDDING)
BIGRAMS = prompt.BigramModel(EMBEDDING, {("pain", "ache"): 3.0})
PARAMETERS = prompt.CapeParameters(1.0, context="own_token")
UTILITIES = [0.0, 1.0, 0.3, 0.2]

Call = Callable[..., Any]

NUMBERS: dict[str, tuple[str, Call]] = {
    "exponential": ("epsilon", lambda x: prompt.exponential_mechanism(UTILITIES, x, sensitivity=1.0)),
    "sensitivity": ("sensitivity", lambda x: prompt.exponential_mechanism(UTILITIES, 1.0, sensitivity=x)),
    "bucketised": ("epsilon", lambda x: prompt.bucketised_mechanism(UTILITIES, x, sensitivity=1.0, n_buckets=2)),
    "santext": ("epsilon", lambda x: prompt.santext_mechanism(UTILITIES, x)),
    "santext+": (
        "replace_probability",
        lambda x: prompt.santext_plus_mechanism(UTILITIES, 1.0, token=0, frequent=True, replace_probability=x),
    ),
    "custext": ("epsilon", lambda x: prompt.custext_mechanism(UTILITIES, [0, 0, 1, 1], 0, x)),
    "radius": ("scale", lambda x: prompt.laplace_radius_survival(x, 3)),
    "clip": ("clip", lambda x: prompt.hybrid_utility(UTILITIES, UTILITIES, clip=x)),
    "logit_power": ("logit_power", lambda x: prompt.hybrid_utility(UTILITIES, UTILITIES, logit_power=x)),
    "parameters": ("distance_power", lambda x: prompt.CapeParameters(1.0, context="own_token", distance_power=x)),
    "smoothing": ("smoothing", lambda x: prompt.BigramModel(EMBEDDING, {}, x)),
    "counts": ("counts", lambda x: prompt.BigramModel(EMBEDDING, {("pain", "ache"): x})),
    "confidence": ("tail", lambda x: prompt.binomial_lower(3, 10, x)),
    "largest": ("largest", lambda x: prompt.calibrated_epsilon(lambda e: e / 2, 1.0, largest=x)),
    "tolerance": ("tolerance", lambda x: prompt.calibrated_epsilon(lambda e: e / 2, 1.0, tolerance=x)),
    "guarantee": ("epsilon", lambda x: prompt.data_free_guarantee(x, n_tokens=5, n_buckets=2)),
    "largest_logit": (
        "largest_logit",
        lambda x: prompt.hybrid_utility_sensitivity(adjacency="shared_context", largest_logit=x),
    ),
    "lower": ("lower", lambda x: prompt.sum_sensitivity(x, 1.0, neighbours="replace_one")),
    "float sum": ("lower", lambda x: prompt.float_sum_sensitivity(x, 1.0, n_records=3, neighbours="replace_one")),
    "rate": ("rate", prompt.PoissonBatches),
}


@pytest.mark.parametrize("bad", ["1", True, None, 1j, [1.0], math.nan, -math.inf, 10**400], ids=repr)
@pytest.mark.parametrize("case", NUMBERS)
def test_numbers_are_finite_numbers(case: str, bad: object) -> None:
    name, call = NUMBERS[case]
    with pytest.raises((TypeError, ValueError), match=name):
        call(bad)


INTEGERS: dict[str, tuple[str, Call]] = {
    "buckets": ("n_buckets", lambda x: prompt.equal_width_buckets(UTILITIES, x)),
    "groups": ("n_buckets", lambda x: prompt.equal_frequency_buckets(UTILITIES, x)),
    "vocabulary": ("n_tokens", lambda x: prompt.data_free_guarantee(1.0, n_tokens=x, n_buckets=2)),
    "vocabulary, T3": ("n_tokens", lambda x: prompt.equal_frequency_guarantee(1.0, n_tokens=x, n_buckets=2)),
    "sizes": ("bucket_sizes", lambda x: prompt.bucketised_guarantee(1.0, [(x, 2)])),
    "dimension": ("dimension", lambda x: prompt.coordinate_laplace_radius_survival(1.0, x)),
    "nearest": ("k", lambda x: DISTANCES.nearest(0, x)),
    "group_size": ("group_size", lambda x: prompt.custext_groups(DISTANCES, x, range(4))),
    "order": ("order", lambda x: prompt.custext_groups(DISTANCES, 2, [0, 1, 2, x])),
    "attack": ("k", lambda x: prompt.nearest_neighbour_attack(["pain"], ["car"], DISTANCES, x)),
    "attack without tokens": ("k", lambda x: prompt.nearest_neighbour_attack([], [], DISTANCES, x)),
    "masked": ("k", lambda x: prompt.masked_token_attack(["pain"], ["car"], BIGRAMS, x)),
    "positions": ("positions", lambda x: prompt.masked_token_attack(["pain"], ["car"], BIGRAMS, 1, [x])),
    "draws": ("size", lambda x: prompt.santext_mechanism(UTILITIES, 1.0).sample(np.random.default_rng(0), x)),
    "trials": ("trials", lambda x: prompt.binomial_upper(0, x, 0.05)),
    "successes": ("successes", lambda x: prompt.binomial_lower(x, 10, 0.05)),
    "length": ("length", lambda x: prompt.enumerate_context_leak(lambda *_: [0.5, 0.5], n_tokens=2, length=x)),
    "records": ("n_records", lambda x: prompt.mean_sensitivity(0.0, 1.0, n_records=x, neighbours="replace_one")),
    "batch": ("size", lambda x: prompt.FixedSizeBatches(x, 10)),
    "levels": ("levels", lambda x: prompt.exact_exponential_row((x, 0), 3, Fraction(2))),
    "inputs": ("inputs", lambda x: prompt.audit_log_rows([[0.0]], [x])),
}


@pytest.mark.parametrize("bad", ["1", True, None, math.nan, 2.5, 1.0, -1], ids=repr)
@pytest.mark.parametrize("case", INTEGERS)
def test_counts_and_rows_are_integers(case: str, bad: object) -> None:
    name, call = INTEGERS[case]
    if case == "draws" and bad is None:
        return  # one draw
    with pytest.raises((TypeError, ValueError), match=name):
        call(bad)


VECTORS: dict[str, tuple[str, Call]] = {
    "exponential": ("utilities", lambda x: prompt.exponential_mechanism(x, 1.0, sensitivity=1.0)),
    "measure": (
        "base_measure",
        lambda x: prompt.exponential_mechanism([0.0, 1.0], 1.0, sensitivity=1.0, base_measure=x),
    ),
    "buckets": ("utilities", lambda x: prompt.equal_width_buckets(x, 2)),
    "distances": ("distances", prompt.closeness),
    "santext": ("distances", lambda x: prompt.santext_mechanism(x, 1.0)),
    "list": (
        "distances",
        lambda x: prompt.random_neighbour_list_mechanism(x, 1.0, radius_survival=lambda r: np.exp(-r)),
    ),
    "logits": ("logits", lambda x: prompt.scaled_logits(x, clip=1.0)),
    "prior": ("prior", lambda x: prompt.audit_log_rows(np.log([[0.5, 0.5], [0.5, 0.5]]), (0, 1), x)),
    "rows": ("log_rows", prompt.pairwise_losses),
    "log_row": ("log_", lambda x: prompt.nearest_neighbour_success(x, "pain", DISTANCES, 1)),
    "distribution": ("log_probabilities", prompt.TokenDistribution),
    "losses": ("position_losses", lambda x: prompt.account_prompt(x, context="own_token")),
}


@pytest.mark.parametrize(
    "bad",
    ["ab", ["a", "b"], [1j, 2.0], np.array([1j, 2.0]), [1.0, [2.0, 3.0]], {1: 2}, [math.nan, 1.0], 5.0],
    ids=repr,
)
@pytest.mark.parametrize("case", VECTORS)
def test_vectors_are_real_numbers(case: str, bad: object) -> None:
    name, call = VECTORS[case]
    with pytest.raises((TypeError, ValueError), match=name):
        call(bad)


@pytest.mark.parametrize("rng", [None, 0, np.random], ids=repr)
def test_randomness_comes_from_a_generator_alone(rng: Any) -> None:
    sampler = lambda generator, size: np.zeros(size, dtype=np.int64)  # noqa: E731
    for call in (
        lambda: prompt.bucketised_mechanism(UTILITIES, 1.0, sensitivity=1.0, n_buckets=2).sample(rng),
        lambda: prompt.santext_mechanism(UTILITIES, 1.0).sample(rng, 3),
        lambda: prompt.draw_exactly([Fraction(1)], rng),
        lambda: prompt.perturb_prompt([], DISTANCES, PARAMETERS, rng),
        lambda: prompt.audit_black_box(sampler, sampler, n_outputs=1, n_draws=2, rng=rng),
    ):
        with pytest.raises(TypeError, match="rng must be a Generator"):
            call()


def test_objects_of_another_class_are_named() -> None:
    rng, wrong = np.random.default_rng(0), EMBEDDING
    for name, call in (
        ("distances", lambda: prompt.perturb_prompt(["pain"], wrong, PARAMETERS, rng)),  # type: ignore[arg-type]
        ("parameters", lambda: prompt.cape_log_row(DISTANCES, "pain", 1.0)),  # type: ignore[arg-type]
        ("model", lambda: prompt.masked_token_attack([], [], wrong, 1)),  # type: ignore[arg-type]
        ("embedding", lambda: prompt.TokenDistances([[0.0]])),  # type: ignore[arg-type]
        ("channel", lambda: prompt.audit_channel([[1.0]])),  # type: ignore[arg-type]
        ("partition", lambda: prompt.mechanism_over_buckets([1], 1.0, sensitivity=1.0)),  # type: ignore[arg-type]
    ):
        with pytest.raises(TypeError, match=f"{name} must be a "):
            call()


@pytest.mark.parametrize("bad", ["pain", [1], [None], None], ids=repr)
def test_prompts_are_sequences_of_strings(bad: Any) -> None:
    for call in (
        lambda: prompt.sensitive_positions(bad),
        lambda: prompt.perturb_prompt(bad, DISTANCES, PARAMETERS, np.random.default_rng(0)),
        lambda: prompt.nearest_neighbour_attack(bad, bad, DISTANCES, 1),
        lambda: prompt.masked_token_attack(bad, bad, BIGRAMS, 1),
    ):
        with pytest.raises(TypeError, match="must be a sequence of"):
            call()
    with pytest.raises(TypeError, match="retained must be a collection of tokens, got 'the'"):
        prompt.sensitive_positions(["he"], "the")


def test_distributions_and_partitions_are_what_they_say() -> None:
    for logs in (np.log([0.5, 0.2]), [-math.inf, -math.inf], [3.0, 3.0]):
        with pytest.raises(ValueError, match="exponentials that sum to 1"):
            prompt.TokenDistribution(np.array(logs))
    with pytest.raises(ValueError, match="sizes must count the members"):
        prompt.BucketPartition(np.array([0, 1]), np.array([7, 7]), np.array([0.0, 1.0]))
    with pytest.raises(ValueError, match="same number of tokens for every input"):
        prompt.bucketised_guarantee(1.0, [(1, 2), (9, 9)])


def test_negative_chances_that_sum_to_one_are_refused() -> None:
    with pytest.raises(ValueError, match="row must return 2 probabilities"):
        prompt.enumerate_context_leak(lambda *_: [1.5, -0.5], n_tokens=2, length=1)


def test_calibration_ends_at_the_last_bit_and_refuses_nan_losses() -> None:
    found = prompt.calibrated_epsilon(lambda epsilon: epsilon / 3, 1.0, tolerance=1e-300)
    assert found / 3 <= 1.0 < math.nextafter(math.nextafter(found, 9.0), 9.0) / 3
    with pytest.raises(ValueError, match="loss_at must be numbers"):
        prompt.calibrated_epsilon(lambda epsilon: math.nan, 1.0)


def test_huge_enumerations_and_exponents_are_refused_at_once() -> None:
    with pytest.raises(ValueError, match="n_tokens"):
        prompt.enumerate_context_leak(lambda *_: [1.0], n_tokens=2, length=10**30)
    for text in ("1e999999999", "1e-999999999"):
        with pytest.raises(ValueError, match="exponent"):
            prompt.PrivacyBudget(text)


def test_numpy_numbers_are_amounts() -> None:
    budget = prompt.PrivacyBudget(np.int64(1))
    assert budget.spend(np.float32(0.1)) == Fraction(9, 10)


@pytest.mark.parametrize("epsilon", [50.0, 200.0, 1e4])
def test_a_keep_rate_that_rounds_to_one_forces_no_more_than_the_loss(epsilon: float) -> None:
    rows = [prompt.exponential_mechanism(row, epsilon, sensitivity=1.0).log_probabilities for row in np.eye(4)]
    audit = prompt.audit_log_rows(rows, range(4))
    assert audit.keep_rate <= 1.0
    assert audit.keep_rate_loss == pytest.approx(audit.loss, rel=1e-12)


def test_one_row_for_each_audited_input() -> None:
    rows = np.log([[0.5, 0.5], [0.5, 0.5]])
    with pytest.raises(ValueError, match="one row for each of the 1 inputs, got more"):
        prompt.audit_log_rows(rows, (0,))
    with pytest.raises(ValueError, match="one row for each of the 2 inputs, got 1"):
        prompt.audit_log_rows(rows[:1], (0, 1))
