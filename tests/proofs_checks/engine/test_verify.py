"""Verdicts in two columns, expected ones, exit statuses, budgets in seconds."""

import sys
from dataclasses import replace
from types import SimpleNamespace

import pytest

from whp.proofs_checks.engine import Kind, Proof, ProofResult, Verdict, verify
from whp.proofs_checks.engine.decide import decided, verdict
from whp.proofs_checks.engine.evidence import Encoded, EvidenceBuilder, Location
from whp.proofs_checks.engine.registry import find_check
from whp.proofs_checks.engine.report import CheckReport
from whp.proofs_checks.engine.statistics.levels import (
    REFUTATION_LEVEL,
    campaign_level,
    false_alarm_chance,
    per_check_level,
)
from whp.proofs_checks.engine.verdict import worst
from whp.proofs_checks.engine.verify import _statement

MODULE = sys.modules["whp.proofs_checks.engine.verify"]  # the package has a function of this name


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("sums", Kind.HOLDS),
        ("product", Kind.REFUTED),
        ("coin", Kind.HOLDS),
        ("learner", Kind.HOLDS),
        ("growth", Kind.CONSISTENT),
        ("arrays", Kind.HOLDS),
        ("proved", Kind.PROVED),
        ("open", Kind.HOLDS),
        ("bare", Kind.NOT_APPLICABLE),
        ("extra", Kind.UNAVAILABLE),
        ("faulty", Kind.ERROR),
        ("never", Kind.VACUOUS),
    ],
)
def test_each_kind_of_claim_gets_its_verdict(run, name, kind):
    report = run(name)
    assert report.theorems[0].statement.kind is kind
    assert report.to_json()["theorems"][0]["statement"]["verdict"] == kind.value


@pytest.mark.parametrize(
    ("names", "status"),
    [
        (["sums", "product", "growth", "proved", "never"], 0),
        (["doubted"], 1),  # expected to be refuted, and holds
        (["sums", "doubted"], 1),
        (["faulty"], 1),
        (["bare"], 2),  # nothing ran
        (["extra"], 2),
        (["bare", "extra"], 2),
        (["sums", "extra"], 0),  # a missing extra is not held against anybody
        (["sums", "bare"], 1),
    ],
)
def test_the_exit_status_says_whether_every_verdict_is_the_expected_one(run, names, status):
    assert run(*names).exit_status == status


def test_a_refutation_comes_with_the_smallest_instance_and_where_it_was_met(run):
    report = run("product")
    (check,) = report.theorems[0].checks
    (violation,) = {v.instance.text: v for v in check.evidence.violations}.values()
    x, y = violation.instance.decode()
    assert sorted((x, y)) == [2, 3] and violation.location.phase == "structured"
    assert "fails by 1" in check.verdict.text


def test_counts_say_what_ran_was_skipped_and_was_vacuous(run):
    assert run("sums", "extra", "never", "bare").counts == {"ran": 2, "skipped": 1, "vacuous": 1}
    assert run("proved").proofs_run == 2


def test_the_level_of_a_campaign_is_spent_on_random_claims_only(run):
    assert run("sums").level == 0
    assert run("sums", "coin", "learner").level == pytest.approx(2e-10)


def test_two_thousand_true_claims_stay_under_one_in_a_million():
    assert false_alarm_chance(2877, 1e-4) == pytest.approx(0.25, abs=5e-4)  # each claim with a level of its own
    assert f"{per_check_level(1e-6, 2877):.2e}" == "3.48e-10"
    assert per_check_level(1e-6, 2877) >= REFUTATION_LEVEL
    assert campaign_level(2877 + 2877) == pytest.approx(2 * campaign_level(2877))  # a re-run is spent on top
    assert campaign_level(2 * 2877) < 1e-6


def test_a_theorem_that_is_false_for_the_reference_too_is_not_held_against_a_subject(run):
    report = run("product", subject={"multiply": "operator:mul"})
    assert report.theorems[0].subject.kind is Kind.REFUTED
    assert report.theorems[0].checks[0].control.blames == "theorem"
    assert report.exit_status == 0
    wrong = run("doubted", subject={"multiply": "operator:pow"})
    assert wrong.exit_status == 0  # 1 ** y is at most y + 1, by luck


def test_both_columns_show_in_a_notebook(run):
    html = run("sums", "product")._repr_html_()
    assert "tiny.sums" in html and "refuted" in html


def test_seconds_buy_a_multiple_of_the_quick_budget(run, monkeypatch):
    report = run("sums", budget="0.01s")
    assert report.budget == "x1" and report.exit_status == 0
    times = iter([0.0, 0.0, 1.0, 1.0] + [1.0] * 100)
    monkeypatch.setattr(MODULE, "time", SimpleNamespace(perf_counter=lambda: next(times)))
    assert run("coin", budget="4s").budget == "x3"


def test_proofs_run_once_even_when_a_pilot_resolves_seconds(tiny, monkeypatch):
    ran = []
    proof = Proof("tiny.proved", "counted", "all", lambda: ran.append(1) or ProofResult("proved", "done"))
    monkeypatch.setattr(MODULE, "proofs_of", lambda id: (proof,))
    assert verify("tiny.proved", budget="2s", modules=[tiny]).theorems[0].statement.kind is Kind.PROVED
    assert ran == [1]


def statement(checks, proofs):
    check = find_check("tiny.sums/sum")
    reports = [CheckReport(check, Verdict(kind, f"checked {kind}", "some")) for kind in checks]
    return _statement(reports, [ProofResult(outcome, f"{outcome} it", "all") for outcome in proofs])


@pytest.mark.parametrize(
    ("checks", "proofs", "kind"),
    [
        ([Kind.HOLDS], ["proved"], Kind.PROVED),
        ([Kind.HOLDS], ["proved", "unavailable"], Kind.PROVED),
        ([Kind.HOLDS], ["proved", "inconclusive"], Kind.PROVED),
        ([], ["proved"], Kind.PROVED),
        ([Kind.INCONCLUSIVE], ["proved"], Kind.PROVED),
        ([Kind.REFUTED], ["proved"], Kind.REFUTED),
        ([Kind.HOLDS], ["proved", "refuted"], Kind.REFUTED),
        ([Kind.HOLDS], ["error"], Kind.ERROR),
        ([Kind.VACUOUS], ["proved"], Kind.VACUOUS),
        ([Kind.HOLDS], ["inconclusive"], Kind.HOLDS),
        ([Kind.HOLDS], ["unavailable"], Kind.UNAVAILABLE),
        ([], ["inconclusive"], Kind.INCONCLUSIVE),
        ([], [], Kind.NOT_APPLICABLE),
        ([Kind.HOLDS, Kind.UNAVAILABLE], [], Kind.UNAVAILABLE),
    ],
)
def test_checks_and_proofs_together(tiny, checks, proofs, kind):
    assert statement(checks, proofs).kind is kind


def test_a_proof_is_printed_with_its_scope_and_an_open_one_is_mentioned(tiny):
    assert statement([Kind.HOLDS], ["proved"]).text == "for all. Beyond: checked holds"
    assert "a proof is inconclusive: inconclusive it" in statement([Kind.HOLDS], ["inconclusive"]).text


def test_the_most_alarming_verdict_speaks_for_all():
    kinds = [Kind.HOLDS, Kind.CONSISTENT, Kind.ERROR]
    assert worst([Verdict(k, k.value) for k in kinds], "").kind is Kind.ERROR
    both = worst([Verdict(k, k.value) for k in kinds[:2]], "")
    assert both.kind is Kind.CONSISTENT and "holds" in both.text and "consistent" in both.text
    assert worst([], "none").text == "none"


def builder(name="sums/sum"):
    theorem, check = f"tiny.{name}".split("/")
    return EvidenceBuilder(theorem, check, 0, "x1")


def test_errors_without_violations_are_an_error_and_with_them_a_refutation(tiny):
    check = find_check("tiny.sums/sum")
    made = builder()
    made.count("sampled", instances=7)
    made.failure(Location("sampled", 0, 1), "KeyError", "gone", "", 3)
    assert verdict(check, made.build(), 0, "some").text == "KeyError on 1 of 7 runs: gone"
    assert decided(check, made.build(), 0) is None
    made.violation(Location("sampled", 0, 2), "sum", -1, 4)
    assert verdict(check, made.build(), 0, "some").kind is Kind.REFUTED
    assert decided(check, made.build(), 0) == "refuted"


def test_nothing_run_is_an_error(tiny):
    assert verdict(find_check("tiny.sums/sum"), builder().build(), 0, "none").kind is Kind.ERROR


def test_one_instance_inside_rounding_makes_an_inequality_inconclusive(tiny):
    made = builder()
    made.count("sampled", instances=9, inside_rounding=1)
    made.slack("sum", Location("sampled", 0, 0), -1e-12, 1.0, 1.0, instance=1)
    found = verdict(find_check("tiny.sums/sum"), made.build(), 0, "some")
    assert found.kind is Kind.INCONCLUSIVE and "1 of 9 instances" in found.text


def test_numbers_beyond_float64_are_shown_as_infinite_and_break_nothing(tiny):
    made = builder()
    made.count("sampled", instances=1)
    made.slack("sum", Location("sampled", 0, 0), -(10**400), 10**400, 0, instance=1)
    made.violation(Location("sampled", 0, 0), "sum", -(10**400), 1)
    assert "fails by inf" in verdict(find_check("tiny.sums/sum"), made.build(), 0, "some").text


def test_too_few_replicates_to_refute_anything_are_inconclusive(tiny):
    check = find_check("tiny.coin/heads")
    made = builder("coin/heads")
    made.count("replicates", instances=1, replicates=4)
    made.event("rare: heads", 1, 0.1, 4, 0)
    found = verdict(check, made.build(), 2, "coins")
    assert found.kind is Kind.INCONCLUSIVE and "are needed" in found.text


@pytest.mark.parametrize(("claimed", "kind"), [(1.0, Kind.VACUOUS), (0.0, Kind.HOLDS)])
def test_claimed_probabilities_of_one_and_zero(tiny, claimed, kind):
    made = builder("coin/heads")
    made.count("replicates", instances=1, replicates=4000)
    made.event("rare: heads", 1, claimed, 4000, 0)
    assert verdict(find_check("tiny.coin/heads"), made.build(), 1, "coins").kind is kind


def test_a_cost_of_zero_is_no_rate_and_breaks_nothing(run):
    report = run("growth", subject={"count": "tiny_theorems:no_cost"})
    assert report.theorems[0].subject.kind is Kind.ERROR and "positive mean" in report.theorems[0].subject.text
    assert report.exit_status == 1


def test_a_quadratic_cost_is_inconsistent_with_a_linear_claim(run):
    report = run("growth", subject={"count": "tiny_theorems:quadratic"})
    assert report.theorems[0].subject.kind is Kind.INCONSISTENT
    assert "exponent 2.000" in report.theorems[0].subject.text


def test_evidence_is_a_function_of_the_seed(run):
    def texts(seed):
        return [c.evidence.canonical_bytes() for t in run("sums", "coin", seed=seed).theorems for c in t.checks]

    assert texts(1) == texts(1) and texts(1) != texts(2)


def test_instances_are_kept_as_data(run):
    (check,) = run("sums").theorems[0].checks
    worst_slack = check.evidence.clauses["sum"].worst_slack
    assert isinstance(worst_slack.instance, Encoded)
    assert replace(worst_slack).instance.decode() is not None
