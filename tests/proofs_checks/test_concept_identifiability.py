"""Verdicts, mutants and proofs of concept identifiability."""

import pytest

from whp.proofs_checks.concept_identifiability import CHECKS, PROOFS
from whp.proofs_checks.concept_identifiability.proofs import core_holds_for_support, limits_hold_for_family
from whp.proofs_checks.engine import Kind, mutants, verify
from whp.theory.concept_identifiability import THEOREMS


@pytest.fixture(scope="module")
def report():
    return verify("concept_identifiability.*", budget="quick", jobs=1)


def test_every_statement_has_a_check_with_two_mutants():
    assert {c.theorem for c in CHECKS} == {t.id for t in THEOREMS}
    assert all(len(c.mutants) >= 2 for c in CHECKS)
    assert {p.theorem for p in PROOFS} == {t.id for t in THEOREMS if t.expected == "proved"}


def test_every_verdict_is_the_one_stood_for(report):
    verdicts = {t.theorem.id: t.statement.kind.value for t in report.theorems}
    assert {name: verdicts[name] for name in verdicts if verdicts[name] != "unavailable"} == {
        t.id: t.expected for t in THEOREMS if verdicts[t.id] != "unavailable"
    }
    assert report.exit_status == 0


def test_every_mutant_is_refuted():
    result = mutants("concept_identifiability.*", budget="quick", jobs=1)
    assert [f"{m.check.id}: {m.mutant}: {m.text}" for m in result.mutants if not m.killed] == []
    assert result.exit_status == 0


def identified_whatever_the_row(rows):
    return [(i,) for i, row in enumerate(rows) if any(row)]


def test_a_users_guarantee_that_promises_too_much_is_refuted():
    result = verify("concept_identifiability.D4", budget="quick", subject={"guarantee": identified_whatever_the_row})
    assert result.theorems[0].subject.kind is Kind.REFUTED and result.exit_status == 1


def test_the_proofs_would_notice_a_wrong_statement():
    assert core_holds_for_support((0b01, 0b10), (0b1, 0b0), 1)
    assert not core_holds_for_support((0b01, 0b01), (0b0, 0b1), 1)  # no permutation runs through it: singular
    assert limits_hold_for_family(0b0110, 2)
