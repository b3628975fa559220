"""Verdicts, mutants, counterexamples and proofs of prompt perturbation."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from whp.proofs_checks.engine import Kind, Report, mutants, verify
from whp.proofs_checks.engine.decide import smallest_violation
from whp.proofs_checks.prompt_perturbation import CHECKS, PROOFS
from whp.proofs_checks.prompt_perturbation.instances import bert_pair, data_packages, sphere_pair
from whp.proofs_checks.prompt_perturbation.mutated import one_group_too_many, scored_by_sum, without_bucket_size
from whp.proofs_checks.prompt_perturbation.privacy import corrected_nats, reported_nats
from whp.proofs_checks.prompt_perturbation.proofs import (
    corrected_bound_holds,
    holds_at_all_vertices,
    non_negative_from_one,
    small_vocabulary_keeps_the_claim,
)
from whp.proofs_checks.prompt_perturbation.slots import log_ratios
from whp.proofs_checks.prompt_perturbation.subjects import bucketised_row, bucketised_sampler
from whp.proofs_checks.tables import show_report
from whp.theory.prompt_perturbation import (
    THEOREMS,
    UtilityGridPair,
    bucketised_grid_channel,
    likelihood_ratio,
    pairwise_ratio,
    pooled_size_ratio,
    width_labels,
)

RNG = np.random.default_rng(0)


@pytest.fixture(scope="module")
def report() -> Report:
    return verify("prompt_perturbation.*", budget="quick")


def test_every_theorem_gets_the_verdict_it_stands_for(report: Report) -> None:
    verdicts = {t.theorem.id: t.statement.kind.value for t in report.theorems}
    assert verdicts == {t.id: t.expected for t in THEOREMS}
    assert report.exit_status == 0


def test_the_refutation_is_announced_as_reported_under_its_reading(
    report: Report, capsys: pytest.CaptureFixture[str]
) -> None:
    show_report(report, {})
    shown = " ".join(capsys.readouterr().out.replace("│", " ").split())
    assert "As reported (Theorem 4.1): With equal-width buckets" in shown
    assert "Under the reading: The paper's proof was not read" in shown


def test_the_reported_theorem_is_refuted_and_its_repairs_are_not(report: Report) -> None:
    kinds = {t.theorem.id.split(".")[1]: t.statement.kind for t in report.theorems}
    assert {kinds[name] for name in ("T1", "T1_redraw", "T1_own_sizes", "T1_one_prompt")} == {Kind.REFUTED}
    assert {kinds[name] for name in ("T2", "T3", "T1r", "T1_full", "T1_small")} == {Kind.PROVED}
    checks = {c.check.name: c.verdict.kind for t in report.theorems if t.theorem.id.endswith(".T2") for c in t.checks}
    assert set(checks.values()) <= {Kind.HOLDS, Kind.UNAVAILABLE}


def shown_counterexample(report: Report, theorem: str) -> UtilityGridPair:
    check = next(
        c
        for t in report.theorems
        if t.theorem.id == f"prompt_perturbation.{theorem}"
        for c in t.checks
        if c.check.name == "grid"
    )
    assert check.evidence is not None
    fields: dict[str, Any] = json.loads(smallest_violation(check.evidence).instance.text)["fields"]
    base = Fraction(*fields["base"]["ratio"])
    return UtilityGridPair(tuple(fields["first"]["items"]), tuple(fields["second"]["items"]), fields["levels"], base)


@pytest.mark.parametrize("theorem", ["T1", "T1_redraw", "T1_own_sizes"])
def test_the_counterexample_shown_has_five_tokens(report: Report, theorem: str) -> None:
    pair = shown_counterexample(report, theorem)
    assert pair.n_tokens == 5
    ratio = likelihood_ratio(bucketised_grid_channel(pair))
    assert ratio > pair.exp_epsilon * pooled_size_ratio(*width_labels(pair))


def test_every_check_has_mutants_and_every_mutant_is_refuted() -> None:
    result = mutants("prompt_perturbation.*", budget="quick")
    assert [f"{m.check.id}: {m.mutant}: {m.text}" for m in result.mutants if not m.killed] == []
    assert result.too_few == () and len(result.mutants) >= 3 * len(CHECKS) - 2
    assert result.exit_status == 0


def loss(pair: Any, mechanism: Callable[..., NDArray[np.float64]]) -> float:
    rows = [mechanism(u, pair.epsilon, pair.sensitivity, pair.n_buckets) for u in (pair.first, pair.second)]
    return float(max(log_ratios(*rows).max(), log_ratios(*rows[::-1]).max()))


def test_mutant_figures_on_the_sphere() -> None:
    at_one, at_six = sphere_pair(RNG, 1.0, 1.0), sphere_pair(RNG, 6.0, 1.0)
    assert loss(at_one, scored_by_sum) == pytest.approx(204.30, abs=0.01)
    assert loss(at_one, without_bucket_size) == pytest.approx(0.3387, abs=5e-5)
    assert loss(at_six, without_bucket_size) == pytest.approx(2.125, abs=1e-3)
    for pair, mass in ((at_one, 0.0012), (at_six, 0.0058)):
        row = without_bucket_size(pair.first, pair.epsilon, 1.0, 50)
        assert math.exp(row[0]) == pytest.approx(mass, abs=5e-5)


def test_claims_on_the_sphere_at_one() -> None:
    pair = sphere_pair(RNG, 1.0, 1.0)
    labels = width_labels(pair)
    assert loss(pair, bucketised_row) == pytest.approx(10.4383, abs=5e-5)
    assert reported_nats(1.0, *labels) == pytest.approx(8.0484, abs=5e-5)
    assert corrected_nats(1.0, *labels) == pytest.approx(8.0484 + math.log(25), abs=1e-4)


@pytest.mark.skipif(bool(data_packages()), reason="needs the extra 'data'")
def test_the_reported_claim_fails_on_bert_embeddings() -> None:
    pair = bert_pair(RNG, "music", "table", 50, 0.1)
    assert loss(pair, bucketised_row) > reported_nats(0.1, *width_labels(pair)) + 0.1
    pair = bert_pair(RNG, "good", "bad", 50, 6.0)
    assert loss(pair, bucketised_row) < reported_nats(6.0, *width_labels(pair))


def overflowing(utilities: NDArray[np.float64], epsilon: float, sensitivity: float, n: int) -> NDArray[np.float64]:
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        weights = np.exp(epsilon * 1e5 * utilities)
        return np.asarray(np.log(weights / weights.sum()))


def test_an_overflowing_subject_is_an_error_and_no_pass() -> None:
    result = verify("prompt_perturbation.T0", budget="quick", subject={"mechanism": overflowing})
    assert result.theorems[0].subject.kind in (Kind.ERROR, Kind.REFUTED)
    assert result.exit_status != 0


def test_a_users_private_mechanism_passes_and_a_leaky_one_is_refuted() -> None:
    fair = verify("prompt_perturbation.T2", budget="quick", subject={"mechanism": bucketised_row})
    leaky = verify("prompt_perturbation.T2", budget="quick", subject={"mechanism": scored_by_sum})
    assert fair.theorems[0].subject.kind is Kind.HOLDS and fair.exit_status == 0
    assert leaky.theorems[0].subject.kind is Kind.REFUTED and leaky.exit_status == 1


def test_all_proofs_prove() -> None:
    results = {(p.theorem, p.name): p.run() for p in PROOFS}
    assert {r.outcome for r in results.values()} == {"proved"}


def test_the_proofs_would_notice_a_wrong_statement() -> None:
    assert not small_vocabulary_keeps_the_claim(((1, 4), (1, 1, 3)))
    assert holds_at_all_vertices((2, 3), (0, 0, 3), (2,))
    assert not holds_at_all_vertices((2, 3), (0, 0, 2), (2,))  # T1: the ratio of counts forgotten
    assert not holds_at_all_vertices((3, 3), (0, 1), (1,))  # epsilon halved
    assert corrected_bound_holds((50, 1)) and corrected_bound_holds((1, 50))
    assert non_negative_from_one((1, -2, 1)) and not non_negative_from_one((3, -4, 1))


def all_zero(scores: NDArray[np.float64], *rest: object) -> NDArray[np.float64]:
    return np.zeros(scores.size)


def nothing_possible(scores: NDArray[np.float64], *rest: object) -> NDArray[np.float64]:
    return np.full(scores.size, -np.inf)


def half_of_a_row(scores: NDArray[np.float64], *rest: object) -> NDArray[np.float64]:
    return np.full(scores.size, -math.log(2 * scores.size))


LOG_ROW_SLOTS = {
    "mechanism": ("T0", "T0_utility", "T2", "T3", "T4_tokens", "T4_buckets", "T4_utility"),
    "santext": ("T7_santext",),
    "custext": ("T7_custext",),
    "neighbour_list": ("T7_list",),
}


@pytest.mark.parametrize("subject", [all_zero, nothing_possible, half_of_a_row])
def test_rows_that_are_no_distributions_pass_nowhere(subject: Callable[..., NDArray[np.float64]]) -> None:
    for slot, names in LOG_ROW_SLOTS.items():
        for name in names:
            result = verify(f"prompt_perturbation.{name}", budget="quick", subject={slot: subject})
            assert result.theorems[0].subject.kind is Kind.ERROR, (slot, name)


def test_exact_rows_that_sum_to_nothing_pass_nowhere() -> None:
    for name in ("T0", "T1r", "T2", "T4_tokens", "T4_buckets"):
        subject = {"exact_mechanism": lambda levels, n_levels, base: (Fraction(0),) * len(levels)}
        assert (
            verify(f"prompt_perturbation.{name}", budget="quick", subject=subject).theorems[0].subject.kind
            is Kind.ERROR
        )


def flattening(utilities: NDArray[np.float64], epsilon: float, sensitivity: float, n: int) -> NDArray[np.float64]:
    utilities.flags.writeable = True
    utilities[:] = 0.5
    return np.full(utilities.size, -math.log(utilities.size))


def test_a_subject_cannot_hide_its_utility_loss_by_flattening_the_utilities() -> None:
    result = verify("prompt_perturbation.T4_utility", budget="quick", subject={"mechanism": flattening})
    assert result.theorems[0].subject.kind is Kind.ERROR


def repeated(
    u: NDArray[np.float64], epsilon: float, sensitivity: float, n: int, n_draws: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    return np.repeat(bucketised_sampler(u, epsilon, sensitivity, n, 1, rng), n_draws)


def two_untold_tokens_swapped(
    u: NDArray[np.float64], epsilon: float, sensitivity: float, n: int, n_draws: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    draws = bucketised_sampler(u, epsilon, sensitivity, n, n_draws, rng)
    return np.where(draws == 1, 3 % u.size, draws)


def stranger(
    u: NDArray[np.float64], epsilon: float, sensitivity: float, n: int, n_draws: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    return bucketised_sampler(u, epsilon, sensitivity, n, n_draws, rng) + u.size


@pytest.mark.parametrize(
    ("sampler", "kind"), [(repeated, Kind.REFUTED), (two_untold_tokens_swapped, Kind.REFUTED), (stranger, Kind.ERROR)]
)
def test_dependent_misplaced_and_impossible_draws_are_noticed(sampler: Callable[..., Any], kind: Kind) -> None:
    result = verify("prompt_perturbation.S_row", budget="quick", subject={"sampler": sampler})
    assert result.theorems[0].subject.kind is kind


def constant_utility(logits: NDArray[np.float64], *rest: object) -> NDArray[np.float64]:
    return np.full(logits.size, 0.5)


@pytest.mark.parametrize(
    ("name", "subject"),
    [
        ("T3", {"mechanism": one_group_too_many}),
        ("T5", {"auditor": lambda channel: 0.0}),
        ("T6_sensitivity", {"utility": constant_utility}),
        ("T7_santext", {"santext": lambda distances, epsilon: np.full(distances.size, -math.log(distances.size))}),
    ],
)
def test_subjects_that_keep_a_bound_but_not_the_definition_are_refuted(name: str, subject: dict[str, Any]) -> None:
    result = verify(f"prompt_perturbation.{name}", budget="quick", subject=subject)
    assert result.theorems[0].subject.kind is Kind.REFUTED
    controls = [check.control for check in result.theorems[0].checks if check.control is not None]
    assert controls and {control.blames for control in controls} == {"subject"}


def test_the_reading_by_one_prompt_is_refuted_in_its_own_direction(report: Report) -> None:
    pair = shown_counterexample(report, "T1_one_prompt")
    rows, labels = bucketised_grid_channel(pair).rows, width_labels(pair)
    assert pairwise_ratio(rows[0], rows[1]) > pair.exp_epsilon * pooled_size_ratio(labels[0])
