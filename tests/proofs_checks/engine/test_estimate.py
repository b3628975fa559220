"""What a run would cost."""

import pytest

from whp.proofs_checks.engine.estimate import estimate


def test_an_estimate_counts_what_would_run(tiny, run):
    (row,) = estimate("tiny.sums", budget="x2")
    report = run("sums", budget="x2")
    assert row.check == "tiny.sums/sum" and row.seconds > 0
    assert row.instances == report.theorems[0].checks[0].evidence.total.instances
    assert row.to_json()["kind"] == "slack"


def test_only_checks_with_the_slot_are_counted_and_missing_extras_are_not(tiny):
    rows = estimate("tiny.sums", "tiny.coin", "tiny.extra", budget="x1", subject={"toss": "tiny_theorems:toss"})
    assert [r.check for r in rows] == ["tiny.coin/heads"]


def test_seconds_are_resolved_to_what_they_buy(tiny):
    (small,), (large,) = estimate("tiny.coin", budget="x1"), estimate("tiny.coin", budget="3s")
    assert large.instances > small.instances and large.instances % small.instances == 0


def test_an_unknown_budget_is_refused(tiny):
    with pytest.raises(ValueError, match="budget must be"):
        estimate("tiny.coin", budget="vast")
