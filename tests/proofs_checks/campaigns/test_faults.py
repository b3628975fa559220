"""Ten kills at random moments: of workers, of the parent, of Dask workers; the evidence is that of a quiet run."""

import random
import signal
import threading
import time

import pytest

from whp.proofs_checks.engine import verify
from whp.proofs_checks.engine.budget import Budget
from whp.proofs_checks.engine.files import read
from whp.proofs_checks.engine.ledger import Ledger
from whp.proofs_checks.engine.plan import plan
from whp.proofs_checks.engine.registry import checks_of

psutil = pytest.importorskip("psutil", reason="finds the worker processes; comes with the extra cluster")

BUDGET = "x6"


@pytest.fixture(scope="module")
def quiet(sleepy):
    """Evidence of an undisturbed run in one process, by check, and its number of blocks."""
    report = verify("sleepy", modules=[str(sleepy)], budget=BUDGET)
    assert report.exit_status == 0
    evidence = {c.check.id: c.evidence.canonical_bytes() for t in report.theorems for c in t.checks}
    blocks = sum(len(plan(c, Budget.parse(BUDGET), 0)) for t in report.theorems for c in checks_of(t.theorem.id))
    return evidence, blocks


def stored(folder):
    return {f.check_id: f.evidence.canonical_bytes() for f in map(read, folder.glob("*.json"))}


def arguments(sleepy, tmp_path):
    folders = ("--ledger", tmp_path / "ledger", "--evidence", tmp_path / "evidence")
    return ("verify", "sleepy", "--theorems", sleepy, "--budget", BUDGET, *folders, "--resume")


def blocks_by_campaign(tmp_path):
    with Ledger(tmp_path / "ledger") as ledger:
        return [row.shards for row in ledger.campaigns()]


@pytest.mark.parametrize("seed", range(4))
def test_a_killed_worker_changes_nothing(seed, sleepy, quiet, whp, tmp_path, eventually):
    moment = random.Random(seed)
    process = whp(*arguments(sleepy, tmp_path), "--jobs", 2)
    eventually(lambda: psutil.Process(process.pid).children())
    time.sleep(moment.uniform(0.0, 0.4))
    victims = psutil.Process(process.pid).children() if process.poll() is None else []
    for victim in victims[:1]:
        victim.send_signal(signal.SIGKILL)
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 0, output + errors
    evidence, blocks = quiet
    assert stored(tmp_path / "evidence") == evidence
    assert blocks_by_campaign(tmp_path) == [blocks]


@pytest.mark.parametrize("seed", range(3))
def test_a_killed_campaign_resumes_and_repeats_nothing(seed, sleepy, quiet, whp, tmp_path, eventually):
    moment = random.Random(100 + seed)
    process = whp(*arguments(sleepy, tmp_path), "--jobs", 2)
    eventually(lambda: (tmp_path / "ledger").exists())
    time.sleep(moment.uniform(0.0, 0.4))
    workers = psutil.Process(process.pid).children(recursive=True) if process.poll() is None else []
    process.kill()
    process.communicate()
    eventually(lambda: not any(w.is_running() and w.status() != psutil.STATUS_ZOMBIE for w in workers))
    before = blocks_by_campaign(tmp_path)
    resumed = whp(*arguments(sleepy, tmp_path), "--jobs", 2)
    output, errors = resumed.communicate(timeout=60)
    assert resumed.returncode == 0, output + errors
    evidence, blocks = quiet
    assert stored(tmp_path / "evidence") == evidence
    assert blocks_by_campaign(tmp_path) == [*before, blocks - sum(before)]


@pytest.mark.parametrize("seed", range(3))
def test_a_killed_dask_worker_changes_nothing(seed, sleepy, quiet, whp, tmp_path, cluster, eventually):
    moment = random.Random(200 + seed)
    process = whp(*arguments(sleepy, tmp_path), "--cluster", cluster.address)
    eventually(lambda: (tmp_path / "ledger").exists() and sum(blocks_by_campaign(tmp_path)), 30)
    time.sleep(moment.uniform(0.0, 0.3))
    cluster.kill(cluster.workers[0])
    cluster.add_worker()
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 0, output + errors
    evidence, blocks = quiet
    assert stored(tmp_path / "evidence") == evidence
    assert blocks_by_campaign(tmp_path) == [blocks]


def test_a_lost_scheduler_ends_the_campaign_in_one_sentence_and_it_resumes(sleepy, quiet, tmp_path, cluster):
    from whp.proofs_checks.cluster import ClusterExecutor, ClusterLostError

    killer = threading.Timer(0.3, lambda: cluster.kill(cluster.scheduler))
    with Ledger(tmp_path / "ledger") as ledger:
        ledger.begin({"patterns": ["sleepy"]})
        with (
            ClusterExecutor(cluster.address, modules=[str(sleepy)], patience=1.5) as executor,
            pytest.raises(ClusterLostError, match="in the ledger: run the same command with --resume"),
        ):
            killer.start()
            verify("sleepy", modules=[str(sleepy)], budget=BUDGET, executor=executor, ledger=ledger)
        kept = ledger.campaigns()[0].shards
        assert kept
        ledger.begin({"patterns": ["sleepy"]})
        report = verify("sleepy", modules=[str(sleepy)], budget=BUDGET, jobs=2, ledger=ledger, resume=True)
    evidence = {c.check.id: c.evidence.canonical_bytes() for t in report.theorems for c in t.checks}
    assert evidence == quiet[0]


def test_two_campaigns_share_a_ledger_at_the_same_time(sleepy, quiet, whp, tmp_path):
    both = [whp(*arguments(sleepy, tmp_path)[:-1], "--jobs", 1, "--seed", seed) for seed in (0, 1)]
    for process in both:
        output, errors = process.communicate(timeout=60)
        assert process.returncode == 0, output + errors
    evidence, blocks = quiet
    found = stored(tmp_path / "evidence")
    assert len(list((tmp_path / "evidence").glob("*.json"))) == 4 and set(found) == set(evidence)
    assert blocks_by_campaign(tmp_path) == [blocks, blocks]
