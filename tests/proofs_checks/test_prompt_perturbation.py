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
from whp.proofs_checks.prompt_perturbation.mutated import scored_by_sum, without_bucket_size
from whp.proofs_checks.prompt_perturbation.privacy import corrected_nats, reported_nats
from whp.proofs_checks.prompt_perturbation.proofs import (
    corrected_bound_holds,
    holds_at_all_vertices,
    non_negative_from_one,
    small_vocabulary_keeps_the_claim,
)
from whp.proofs_checks.prompt_perturbation.slots import log_ratios
from whp.proofs_checks.prompt_perturbation.subjects import bucketised_row
from whp.theory.prompt_perturbation import (
    THEOREMS,
    UtilityGridPair,
    bucketised_grid_channel,
    likelihood_ratio,
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
