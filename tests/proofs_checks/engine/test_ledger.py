"""The ledger: what was committed is safe, and nothing is computed twice."""

import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from whp.proofs_checks.engine import Limits
from whp.proofs_checks.engine.ledger import SCHEMA, Ledger, LedgerError, block_key

NAMES = ("growth", "arrays", "product")
FAST = ("growth", "arrays")  # seven blocks


def evidence_of(report):
    return {c.check.id: c.evidence.canonical_bytes() for t in report.theorems for c in t.checks}


class Crash(BaseException):
    """The end of the process, as far as a test can stage it."""


class Fragile:
    """A connection that crashes at its n-th statement, before or after doing it."""

    def __init__(self, connection, crash_at, after):
        self._connection, self.left, self._after = connection, crash_at, after

    def execute(self, *arguments):
        self.left -= 1
        if self.left == 0 and not self._after:
            raise Crash
        cursor = self._connection.execute(*arguments)
        if self.left == 0:
            raise Crash
        return cursor

    def __getattr__(self, name):
        return getattr(self._connection, name)


def campaign(run, path, crash_at=0, after=False, names=NAMES, **given):
    """Run with a ledger that crashes at a statement; returns the report and how many statements there were."""
    with Ledger(path) as ledger:
        ledger._connection = fragile = Fragile(ledger._connection, crash_at, after)
        ledger.begin({"patterns": list(NAMES)})
        report = run(*names, ledger=ledger, resume=True, **given)
        ledger.finish()
        return report, crash_at - fragile.left, ledger.reused


@pytest.fixture
def undisturbed(run):
    return evidence_of(run(*NAMES))


def test_a_campaign_that_crashes_at_any_statement_resumes_to_the_same_evidence(run, tmp_path):
    undisturbed = evidence_of(run(*FAST))
    _, statements, reused = campaign(run, tmp_path / "whole.sqlite", names=FAST)
    assert reused == 0 and statements > 30
    for crash_at in range(1, statements + 1):
        for after in (False, True):
            path = tmp_path / f"{after}{crash_at}.sqlite"
            with pytest.raises(Crash):
                campaign(run, path, crash_at, after, FAST)
            report, _, _ = campaign(run, path, names=FAST)
            assert evidence_of(report) == undisturbed, (crash_at, after)


def test_a_resumed_campaign_computes_nothing_again(run, tmp_path, undisturbed, monkeypatch):
    campaign(run, tmp_path / "l.sqlite")
    monkeypatch.setattr("whp.proofs_checks.engine.scheduling.run_block", lambda *_: pytest.fail("computed again"))
    report, _, reused = campaign(run, tmp_path / "l.sqlite")
    assert evidence_of(report) == undisturbed and reused > 3


def test_without_resume_nothing_is_answered_from_the_ledger(run, tmp_path):
    campaign(run, tmp_path / "l.sqlite")
    with Ledger(tmp_path / "l.sqlite") as ledger:
        run(*NAMES, ledger=ledger)
        assert ledger.reused == 0


def test_workers_and_a_ledger_give_the_same(run, tmp_path, undisturbed):
    with Ledger(tmp_path / "l.sqlite") as ledger:
        assert evidence_of(run(*NAMES, ledger=ledger, jobs=2)) == undisturbed
    report, _, reused = campaign(run, tmp_path / "l.sqlite")
    assert evidence_of(report) == undisturbed and reused


def test_other_seeds_budgets_and_subjects_are_other_questions(run, tmp_path):
    with Ledger(tmp_path / "l.sqlite") as ledger:
        for given in (
            {},
            {"seed": 1},
            {"budget": "x2"},
            {"subject": {"total": "tiny_theorems:wrong_total"}},
            {"subject": {"total": "tiny_theorems:right_total"}},
        ):
            run("sums", ledger=ledger, resume=True, **given)
            assert ledger.reused == 0, given


def test_what_has_no_fingerprint_is_kept_but_never_answered_from(run, tmp_path):
    with Ledger(tmp_path / "l.sqlite") as ledger:
        for _ in range(2):
            run("sums", ledger=ledger, resume=True, subject={"total": lambda values, names: int(values.sum())})
        assert ledger.reused == 0
        assert sum(row.shards for row in ledger.campaigns()) > 0


def test_failures_that_depend_on_the_machine_are_not_answered_from(run, tmp_path):
    given = {"subject": {"total": "tiny_theorems:hanging_total"}, "limits": Limits(0.2, None)}
    with Ledger(tmp_path / "l.sqlite") as ledger:
        for _ in range(2):
            run("sums", ledger=ledger, resume=True, **given)
        stored = [e for row in ledger.campaigns() for _, e in ledger.shards(row.id)]
        assert any(e.errors for e in stored)
        hung = [e for e in stored if e.errors]
        assert len(hung) >= 1 and ledger.reused < len(stored)
        answering = ledger._connection.execute("SELECT evidence FROM shards WHERE answers = 1").fetchall()
        assert all("SubjectHung" not in text for (text,) in answering)


def test_a_changed_subject_is_another_question(tmp_path, tiny):
    import importlib

    from whp.proofs_checks.engine import ledger as module
    from whp.proofs_checks.engine.plan import Block

    file = tmp_path / "subject_of_ledger.py"
    block = Block("tiny.sums/sum", "sampled", 0, 0, 8, 0, "x1")
    sys.path.insert(0, str(tmp_path))
    try:
        keys = set()
        for body in ("return 0", "return 1"):
            file.write_text(f"def total(values, names):\n    {body}\n")
            importlib.invalidate_caches()
            module._named_fingerprint.cache_clear()
            keys.add(block_key(block, {"total": "subject_of_ledger:total"}))
        assert len(keys) == 2 and all(answers for _, answers in keys)
    finally:
        sys.path.remove(str(tmp_path))
        sys.modules.pop("subject_of_ledger", None)


def test_campaigns_are_listed_with_what_was_asked(run, tmp_path):
    path = tmp_path / "deep" / "folder" / "l.sqlite"
    campaign(run, path)
    with Ledger(path) as ledger:
        (row,) = ledger.campaigns()
        assert row.request == {"patterns": list(NAMES)} and row.finished is not None and row.shards > 3
        assert len(list(ledger.shards(row.id))) == row.shards


def test_a_ledger_used_without_a_campaign_begins_one(run, tmp_path):
    with Ledger(tmp_path / "l.sqlite") as ledger:
        run("sums", ledger=ledger)
        assert [row.shards > 0 for row in ledger.campaigns()] == [True]


def test_pruning_keeps_the_newest(run, tmp_path):
    with Ledger(tmp_path / "l.sqlite") as ledger:
        for seed in range(3):
            ledger.begin({})
            run("sums", ledger=ledger, seed=seed)
        first, _, last = ledger.campaigns()
        assert ledger.prune(2) == first.shards
        assert [r.id for r in ledger.campaigns()][-1] == last.id and len(ledger.campaigns()) == 2
        with pytest.raises(ValueError, match="at least 0"):
            ledger.prune(-1)


def test_files_that_are_no_ledger_are_refused_and_left_alone(tmp_path):
    foreign = tmp_path / "foreign.sqlite"
    with sqlite3.connect(foreign) as connection:
        connection.execute("CREATE TABLE t (x)")
    connection.close()
    text = tmp_path / "text.sqlite"
    text.write_text("not a database, " * 100)
    folder = tmp_path / "folder.sqlite"
    folder.mkdir()
    for path, words in (
        (foreign, "another program"),
        (text, "no ledger, or damaged"),
        (folder, "cannot be opened"),
        (text / "below" / "l.sqlite", "Not a directory|File exists"),
    ):
        before = path.read_bytes() if path.is_file() else None
        with pytest.raises(LedgerError, match=words) as raised:
            Ledger(path)
        assert str(path) in str(raised.value) and "\n" not in str(raised.value)
        assert before is None or path.read_bytes() == before


def test_a_newer_schema_is_refused(tmp_path):
    path = tmp_path / "l.sqlite"
    with Ledger(path) as ledger:
        ledger._connection.execute(f"PRAGMA user_version = {SCHEMA + 1}")
    with pytest.raises(LedgerError, match="upgrade whp"):
        Ledger(path)


def test_an_empty_file_becomes_a_ledger(tmp_path):
    (tmp_path / "l.sqlite").touch()
    with Ledger(tmp_path / "l.sqlite") as ledger:
        assert ledger.campaigns() == []


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_a_truncated_ledger_is_an_error_with_advice(run, tmp_path, share):
    path = tmp_path / "l.sqlite"
    campaign(run, path)
    with Ledger(path) as ledger:
        ledger._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    whole = path.read_bytes()
    path.write_bytes(whole[: int(len(whole) * share) // 512 * 512 + 100])
    with pytest.raises(LedgerError, match="damaged"), Ledger(path) as ledger:
        for row in ledger.campaigns():
            list(ledger.shards(row.id))
        campaign(run, path)
        ledger.prune(0)


def test_a_read_only_ledger_is_an_error_with_advice(run, tmp_path):
    with Ledger(tmp_path / "l.sqlite") as ledger:
        ledger._connection.execute("PRAGMA query_only = ON")
        with pytest.raises(LedgerError, match="read-only"):
            run("sums", ledger=ledger)


TWO = """
import sys
from pathlib import Path
from whp.proofs_checks.engine import verify
from whp.proofs_checks.engine.ledger import Ledger
if __name__ == "__main__":
    with Ledger(Path(sys.argv[1])) as ledger:
        ledger.begin({})
        given = {"seed": int(sys.argv[2]), "modules": [sys.argv[3]]}
        verify("tiny.growth", "tiny.coin", budget="x1", ledger=ledger, **given)
        ledger.finish()
"""


def test_campaigns_at_the_same_time_share_a_ledger(run, tmp_path, tiny):
    path = tmp_path / "l.sqlite"
    program = f"import sys; sys.path[:0] = {[str(Path(p).resolve()) for p in sys.path]!r}\n{TWO}"
    started = [
        subprocess.Popen([sys.executable, "-c", program, str(path), str(seed), tiny], stderr=subprocess.PIPE, text=True)
        for seed in (0, 1, 1)
    ]
    assert [(p.wait(), p.stderr.read()) for p in started] == [(0, "")] * 3
    with Ledger(path) as ledger:
        assert len(ledger.campaigns()) == 3 and all(r.finished for r in ledger.campaigns())
        for seed in (0, 1):
            before = ledger.reused
            again = run("growth", "coin", seed=seed, ledger=ledger, resume=True)
            assert evidence_of(again) == evidence_of(run("growth", "coin", seed=seed))
            assert ledger.reused > before
