"""Verdicts, mutants, proofs and counterexamples around contrastive learning under augmentation."""

from __future__ import annotations

import dataclasses
import json

import pytest

from whp.algorithms.contrastive_augmentation import ExactRisks, exact_risks
from whp.proofs_checks.contrastive_augmentation import CHECKS, PROOFS
from whp.proofs_checks.contrastive_augmentation.instances import TwoPoints, two_point_examples
from whp.proofs_checks.contrastive_augmentation.proofs import (
    dominance_on_the_line,
    keeps_crop_claims,
    nested_views_trade,
)
from whp.proofs_checks.contrastive_augmentation.transfer import by_sum, quantities
from whp.proofs_checks.engine import Kind, Report, hunt, mutants, verify
from whp.proofs_checks.engine.decide import smallest_violation
from whp.theory.contrastive_augmentation import (
    THEOREMS,
    AugmentedImages,
    ContrastiveProblem,
    LineImages,
    unsupervised_risk,
)


@pytest.fixture(scope="module")
def report() -> Report:
    return verify("contrastive_augmentation.*", budget="quick")


def test_every_theorem_gets_the_verdict_it_stands_for(report: Report) -> None:
    verdicts = {t.theorem.id: t.statement.kind.value for t in report.theorems}
    assert verdicts == {t.id: t.expected for t in THEOREMS}
    assert report.exit_status == 0


def test_every_check_has_mutants_and_every_mutant_is_refuted() -> None:
    result = mutants("contrastive_augmentation.*", budget="quick")
    assert [f"{m.check.id}: {m.mutant}: {m.text}" for m in result.mutants if not m.killed] == []
    assert result.too_few == () and len(result.mutants) >= 3 * len(CHECKS)
    assert result.exit_status == 0


def test_all_proofs_prove() -> None:
    assert {(p.theorem, p.name): p.run().outcome for p in PROOFS} == {(p.theorem, p.name): "proved" for p in PROOFS}


def test_the_proofs_would_notice_a_wrong_statement() -> None:
    assert not nested_views_trade((((0,), (3,)), ((0,),), ((1,),), ((1,),)))  # not nested
    away = AugmentedImages(((0,), (5,)), (0, 0), (((0,),), ((5,),)), (((2,),), ((2,),)))
    assert not dominance_on_the_line(away)  # the identity is missing
    assert not keeps_crop_claims(LineImages((0, 1), (2, 2), (0, 1)))  # no shared block


def test_the_plain_sum_is_refuted_by_a_family_and_shrinks(report: Report) -> None:
    check = next(c for t in report.theorems for c in t.checks if c.check.theorem.endswith("T1_sum"))
    assert check.evidence is not None
    fields = json.loads(smallest_violation(check.evidence).instance.text)
    assert fields["type"].endswith("OrthonormalFamily")


def test_hunting_finds_a_small_family_that_refutes_the_plain_sum() -> None:
    (found,) = hunt("contrastive_augmentation.T1_sum", observations=200)
    assert found.violated and found.ratio > 1


def test_random_problems_do_not_refute_the_plain_sum() -> None:
    import numpy as np

    from whp.proofs_checks.contrastive_augmentation.instances import draw_two_classes

    for problem in draw_two_classes(np.random.default_rng(0), 300):
        q = quantities(problem)
        assert q.mean_classifier <= q.unsupervised + by_sum(q) + q.error


@pytest.mark.parametrize("negatives", [1, 2, 3])
def test_the_binomial_risk_of_the_sampled_instance_is_its_risk(negatives: int) -> None:
    instance = TwoPoints(negatives, 0.7, 10)
    assert instance.risk == pytest.approx(float(unsupervised_risk(instance.problem())), abs=1e-14)
    assert {i.negatives for i in two_point_examples().values()} == {1, 64}


def in_half_precision(problem: ContrastiveProblem) -> ExactRisks:
    honest = exact_risks(problem)
    return dataclasses.replace(honest, unsupervised=honest.unsupervised * (1 + 1e-4))


def test_a_users_engine_is_held_to_the_definition() -> None:
    fair = verify("contrastive_augmentation.T2_one", budget="quick", subject={"risk_engine": exact_risks})
    rough = verify("contrastive_augmentation.T2_one", budget="quick", subject={"risk_engine": in_half_precision})
    assert fair.theorems[0].subject.kind is Kind.HOLDS and fair.exit_status == 0
    assert rough.theorems[0].subject.kind is Kind.REFUTED and rough.exit_status == 1
