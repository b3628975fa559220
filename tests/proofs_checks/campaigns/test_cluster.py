"""A campaign on a real scheduler and two workers; what happens when it cannot be reached; shards."""

import importlib
import os
import subprocess
import sys
import tracemalloc
from concurrent.futures import BrokenExecutor, ThreadPoolExecutor

import pytest

from whp.proofs_checks.cli import main
from whp.proofs_checks.cluster import ClusterError, ClusterExecutor, pack
from whp.proofs_checks.engine import verify
from whp.proofs_checks.engine.budget import Budget
from whp.proofs_checks.engine.files import read
from whp.proofs_checks.engine.plan import plan
from whp.proofs_checks.engine.registry import find_check
from whp.proofs_checks.engine.scheduling import Desk, Pool, Run, WorkerKilledError, run_here, run_shard
from whp.theory.core.registry import load_papers

WRONG = "def square(x):\n    return x * abs(x) / 2\n"
RIGHT = "def square(x):\n    return x * x\n"


@pytest.fixture
def means(sleepy):
    """The sleepy for-all check."""
    load_papers().add_module(str(sleepy))
    return find_check("sleepy.T1/means")


def evidence_of(report):
    return [c.evidence.canonical_bytes() for t in report.theorems for c in t.checks]


def test_files_of_a_user_reach_the_workers_and_the_evidence_is_that_of_one_process(sleepy, whp, tmp_path, cluster):
    """Workers run in another folder, without the theorem's file or the subject's on their path."""
    (tmp_path / "mine.py").write_text(WRONG)
    common = ("verify", "sleepy.T1", "--theorems", sleepy, "--subject", "square=mine.py:square", "--budget", "quick")
    runs = [
        whp(*common, "--evidence", tmp_path / n, "--ledger", tmp_path / f"{n}.sqlite", *options)
        for n, options in (("far", ("--cluster", cluster.address)), ("near", ("--jobs", 1)))
    ]
    for process in runs:
        output, errors = process.communicate(timeout=60)
        assert process.returncode == 1, output + errors
        assert "refuted" in output and "this speaks against" in output
    far, near = ([read(p).evidence.canonical_bytes() for p in (tmp_path / n).glob("*.json")] for n in ("far", "near"))
    assert far == near and len(far) == 1


def test_a_changed_file_is_not_answered_from_the_old_one(sleepy, tmp_path, cluster, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    verdicts = []
    for text in (WRONG, RIGHT):
        (tmp_path / "changing.py").write_text(text)
        importlib.invalidate_caches()
        sys.modules.pop("changing", None)
        subject = {"square": "changing:square"}
        with ClusterExecutor(cluster.address, modules=[str(sleepy)], subjects=subject) as executor:
            report = verify("sleepy.T1", modules=[str(sleepy)], subject=subject, budget="quick", executor=executor)
        verdicts.append(report.theorems[0].subject.kind.value)
    assert verdicts == ["refuted", "holds"]


def test_evidence_arrives_while_shards_run(sleepy, cluster):
    arrived = []
    with ClusterExecutor(cluster.address, modules=[str(sleepy)]) as executor:
        report = verify(
            "sleepy",
            modules=[str(sleepy)],
            budget="x2",
            executor=executor,
            progress=lambda run, evidence: arrived.append(run.finished),
        )
    assert arrived.count(False) > 2 and report.exit_status == 0
    assert evidence_of(report) == evidence_of(verify("sleepy", modules=[str(sleepy)], budget="x2"))


def test_workers_with_other_sources_are_refused(sleepy, cluster, monkeypatch):
    monkeypatch.setattr("whp.proofs_checks.cluster.fingerprint", lambda: "another")
    with (
        ClusterExecutor(cluster.address, modules=[str(sleepy)]) as executor,
        pytest.raises(ClusterError, match="other sources of whp"),
    ):
        verify("sleepy.T1", modules=[str(sleepy)], budget="quick", executor=executor)


def test_an_address_where_nothing_answers_is_one_line_and_status_2(sleepy, monkeypatch, tmp_path, capsys):
    pytest.importorskip("distributed", reason="needs the extra cluster")
    monkeypatch.setattr("whp.proofs_checks.cluster._CONNECT_SECONDS", 0.5)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as ended:
        main(["verify", "sleepy", "--theorems", str(sleepy), "--cluster", "tcp://127.0.0.1:1"])
    errors = capsys.readouterr().err
    assert ended.value.code == 2
    assert errors.startswith("whp: no Dask scheduler answers at tcp://127.0.0.1:1") and errors.count("\n") == 1


def test_without_the_extra_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ClusterError, match=r"pip install 'whp\[cluster\]'"):
        ClusterExecutor("tcp://127.0.0.1:1")


def test_a_cluster_without_workers_is_an_error_and_no_hang(cluster, monkeypatch):
    monkeypatch.setattr("whp.proofs_checks.cluster._workers", lambda client: 0)
    with pytest.raises(ClusterError, match="no worker for 1 s"):
        ClusterExecutor(cluster.address, patience=1)


def test_installed_modules_do_not_travel_and_the_same_sources_have_the_same_hash(sleepy):
    assert pack(["numpy", "json"]).names == ()
    assert pack([str(sleepy)]).names == ("sleepy",) and pack([str(sleepy)]) == pack([str(sleepy)])


class Killing(ThreadPoolExecutor):
    """Says that one block kills its worker; sends several blocks together."""

    shard_seconds, in_flight = 0.2, 2

    def __init__(self, culprit):
        super().__init__(1)
        self.culprit, self.sizes = culprit, []

    def submit(self, fn, blocks, subjects):
        self.sizes.append(len(blocks))

        def run():
            if any((b.phase, b.index) == self.culprit for b in blocks):
                raise WorkerKilledError("died")
            return fn(blocks, subjects)

        return super().submit(run)


def test_a_block_that_kills_its_workers_is_found_within_its_shard_and_quarantined(means):
    blocks = plan(means, Budget.parse("x4"), 0)
    run = Run(means, blocks)
    with Killing(("sampled", 3)) as executor:
        Pool(executor).run([run])
    assert max(executor.sizes) > 1
    assert [(e.type, e.location.block) for e in run.evidence.errors] == [("WorkerKilled", 3)]
    assert run.evidence.total.instances == 1 + 3 * 13 + 1  # a quarantined block settles the check


def test_a_broken_executor_that_cannot_be_rebuilt_keeps_what_was_done(means):
    class Breaking(ThreadPoolExecutor):
        def submit(self, fn, blocks, subjects):
            if blocks[0].index == 4:
                raise BrokenExecutor("gone")
            return super().submit(fn, blocks, subjects)

    run = Run(means, plan(means, Budget.parse("x4"), 0))
    with Breaking(1) as executor, pytest.raises(BrokenExecutor, match="gone"):
        Pool(executor).run([run], Desk())


def test_threads_of_one_process_give_the_evidence_of_one_thread(means):
    blocks = plan(means, Budget.parse("x2"), 0)
    alone, threaded = Run(means, blocks), Run(means, blocks)
    run_here([alone])
    with ThreadPoolExecutor(3) as executor:
        Pool(executor).run([threaded])
    assert threaded.evidence.canonical_bytes() == alone.evidence.canonical_bytes()


def test_a_plan_of_millions_of_blocks_takes_no_memory(means):
    tracemalloc.start()
    blocks = plan(means, Budget.parse("x9000000"), 0)
    size = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(blocks) > 10**7 and size < 10**6
    assert blocks[10**7].index == 10**7 - 1 and blocks[-1].phase == "sampled"
    with pytest.raises(IndexError, match="block"):
        blocks[len(blocks)]


def test_evidence_that_waits_for_an_earlier_block_is_bounded(means, monkeypatch):
    """While one block is slow the others do not run ahead without end."""
    monkeypatch.setattr("whp.proofs_checks.engine.scheduling._AHEAD", 6)
    run, ahead = Run(means, plan(means, Budget.parse("x3"), 0)), []

    class Slow(ThreadPoolExecutor):
        def submit(self, fn, blocks, subjects):
            ahead.append(run.next - run.prefix.state.blocks)
            return super().submit(fn, blocks, subjects)

    with Slow(2) as executor:
        Pool(executor, in_flight=4).run([run])
    assert run.finished and max(ahead) <= 7


def test_a_shard_says_how_long_it_took(means):
    evidence, seconds = run_shard(plan(means, Budget.parse("quick"), 0)[1:2], None)
    assert len(evidence) == 1 and seconds > 0.03


def test_importing_the_command_line_loads_no_dask():
    code = "import sys, whp.proofs_checks.cli, whp.proofs_checks.cluster; assert 'distributed' not in sys.modules"
    path = os.pathsep.join(p for p in sys.path if p)
    subprocess.run([sys.executable, "-c", code], check=True, env={**os.environ, "PYTHONPATH": path})
