"""The reference on the instance where a subject failed: who is to blame."""

import pytest

from whp.proofs_checks.engine import Kind


def control(report):
    return report.theorems[0].checks[0].control


@pytest.mark.parametrize(
    ("name", "subject", "blames", "words"),
    [
        ("sums", {"total": "tiny_theorems:wrong_total"}, "subject", "keeps the claim on this instance"),
        ("product", {"multiply": "operator:mul"}, "theorem", "on this instance too"),
        ("coin", {"toss": "tiny_theorems:heads"}, "subject", "keeps the claim there over 256 replicates"),
        ("learner", {"learner": "tiny_theorems:Greedy"}, "subject", "keeps the claim there"),
    ],
)
def test_control_says_whether_the_code_or_the_theorem_is_to_blame(run, name, subject, blames, words):
    report = run(name, subject=subject)
    assert report.theorems[0].subject.kind is Kind.REFUTED
    assert (control(report).blames, words in control(report).text) == (blames, True)


def test_a_subject_that_kept_the_claim_or_failed_needs_no_control(run):
    assert control(run("sums", subject={"total": "tiny_theorems:right_total"})) is None
    assert control(run("sums", subject={"total": "tiny_theorems:nan_total"})) is None
    assert control(run("sums")) is None


def test_a_reference_that_cannot_be_judged_blames_nobody(run, monkeypatch):
    from whp.proofs_checks.engine.registry import find_check

    check = find_check("tiny.sums/sum")
    (slot,) = check.slots
    monkeypatch.setitem(check.slots, slot, lambda values, names: 1 / 0)
    found = control(run("sums", subject={"total": "tiny_theorems:wrong_total"}))
    assert found.blames == "unknown" and "division by zero" in found.text
