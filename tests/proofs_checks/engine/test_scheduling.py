"""Blocks on executors: any order of arrival, broken pools, blocks that kill their workers."""

import os
import random
import subprocess
import sys
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor

import pytest

from whp.proofs_checks.engine import Kind
from whp.proofs_checks.engine.evidence import Evidence
from whp.proofs_checks.engine.scheduling import Desk, Pool, Run

NAMES = ("sums", "product", "coin", "learner", "growth", "arrays", "faulty")


def evidence_of(report):
    return {c.check.id: c.evidence.canonical_bytes() for t in report.theorems for c in t.checks if c.evidence}


class Adversary(Executor):
    """Completes what was submitted in an order of its own, one at a time, and only when there is no way round it."""

    def __init__(self, seed):
        self.rng, self.waiting = random.Random(seed), []

    def submit(self, fn, /, *args, **kwargs):
        future = Future()
        self.waiting.append((future, fn, args, kwargs))
        if len(self.waiting) >= 8 or self.rng.random() < 0.3:
            self.work(self.rng.randint(1, len(self.waiting)))
        return future

    def work(self, count):
        for _ in range(count):
            future, fn, args, kwargs = self.waiting.pop(self.rng.randrange(len(self.waiting)))
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(fn(*args, **kwargs))
                except Exception as error:
                    future.set_exception(error)


@pytest.fixture
def wait_on_the_adversary(monkeypatch):
    """Let the engine's wait make the adversary work, as time would."""
    from concurrent import futures

    def wait(pending, return_when=None):
        if not any(f.done() for f in pending) and Adversary.current.waiting:
            Adversary.current.work(1)
        return futures.wait(pending, timeout=5, return_when=return_when)

    monkeypatch.setattr("whp.proofs_checks.engine.scheduling.wait", wait)


@pytest.fixture(scope="module")
def undisturbed(tiny):
    from whp.proofs_checks.engine import verify

    return evidence_of(verify(*(f"tiny.{n}" for n in NAMES), budget="x1", modules=[tiny]))


@pytest.mark.parametrize("seed", range(4))
def test_evidence_does_not_depend_on_the_order_of_arrival(run, undisturbed, wait_on_the_adversary, seed):
    Adversary.current = Adversary(seed)
    assert evidence_of(run(*NAMES, executor=Adversary.current)) == undisturbed


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_evidence_does_not_depend_on_worker_processes(run, undisturbed, method):
    assert evidence_of(run(*NAMES, jobs=2, start_method=method)) == undisturbed


def test_evidence_does_not_depend_on_threads(run, undisturbed):
    with ThreadPoolExecutor(4) as threads:
        assert evidence_of(run(*NAMES, executor=threads)) == undisturbed


HASHED = """
import hashlib, sys
from whp.proofs_checks.engine import verify
if __name__ == "__main__":
    report = verify(*{names!r}, budget="x1", modules=[{tiny!r}])
    print([hashlib.sha256(c.evidence.canonical_bytes()).hexdigest() for t in report.theorems for c in t.checks])
"""


def test_evidence_does_not_depend_on_the_hash_seed(tiny, undisturbed):
    import hashlib

    script = HASHED.format(names=tuple(f"tiny.{n}" for n in NAMES), tiny=tiny)
    expected = str([hashlib.sha256(v).hexdigest() for v in undisturbed.values()])
    started = [
        subprocess.Popen(
            [sys.executable, "-c", script],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        )
        for seed in ("0", "1", "random")
    ]
    assert [process.communicate()[0].strip() for process in started] == [expected] * 3


def test_a_subject_that_kills_its_worker_is_quarantined_and_the_others_finish(run, tiny):
    report = run(
        "sums",
        "product",
        "coin",
        subject={"total": "tiny_theorems:exiting_total", "toss": "tiny_theorems:toss"},
        jobs=2,
    )
    kinds = {t.theorem.id: t.subject.kind for t in report.theorems}
    assert kinds["tiny.sums"] is Kind.ERROR and kinds["tiny.coin"] is Kind.HOLDS
    (check,) = report.theorems[0].checks
    assert check.evidence.errors[0].type == "WorkerKilled" and "killed its worker process 2 times" in check.verdict.text
    assert check.evidence.errors[0].instance is None


class Breaking(Executor):
    """Breaks after so many blocks, with everything that waits."""

    def __init__(self, lives):
        self.lives, self.broken = lives, False

    def submit(self, fn, /, *args, **kwargs):
        if self.broken:
            raise BrokenExecutor("broken before")
        future = Future()
        future.set_running_or_notify_cancel()
        if self.lives == 0:
            self.broken = True
            future.set_exception(BrokenExecutor("broken now"))
        else:
            self.lives -= 1
            future.set_result(fn(*args, **kwargs))
        return future

    def shutdown(self, wait=True, *, cancel_futures=False):
        self.broken = True


def pool_runs(tiny, names=("sums", "coin")):
    from whp.proofs_checks.engine.budget import Budget
    from whp.proofs_checks.engine.registry import checks_of
    from whp.proofs_checks.engine.verify import _Settings, make_run

    settings = _Settings(0, 1, None, None, (tiny,), Desk(), None)
    return [make_run(c, Budget.parse("x1"), 0, {}, settings) for n in names for c in checks_of(f"tiny.{n}")]


def test_a_broken_pool_is_rebuilt_and_nothing_is_lost_or_counted_twice(tiny, undisturbed):
    built = []

    def build():
        built.append(Breaking((2, 4, 10**6)[len(built)]))
        return built[-1]

    runs = pool_runs(tiny)
    Pool(build(), build, in_flight=3).run(runs)
    assert len(built) == 3
    assert {r.check.id: r.evidence.canonical_bytes() for r in runs} == {
        r.check.id: undisturbed[r.check.id] for r in runs
    }


def test_a_broken_executor_of_the_caller_ends_the_run_with_its_error(tiny):
    with pytest.raises(BrokenExecutor, match="broken"):
        Pool(Breaking(2)).run(pool_runs(tiny))


class Lazy(Executor):
    """Runs the first tasks and leaves the others for ever, cancelled or not."""

    def __init__(self, tasks):
        self.tasks = tasks

    def submit(self, fn, /, *args, **kwargs):
        future = Future()
        self.tasks -= 1
        if self.tasks >= 0:
            future.set_result(fn(*args, **kwargs))
        return future


def test_nobody_waits_for_blocks_that_are_no_longer_needed(tiny):
    (product,) = pool_runs(tiny, ["product"])
    Pool(Lazy(2), in_flight=6).run([product])
    assert product.prefix.state.blocks == 2


def test_a_run_stops_at_the_shortest_prefix_that_decides(tiny):
    (product,) = pool_runs(tiny, ["product"])
    with ThreadPoolExecutor(1) as worker:
        Pool(worker, in_flight=16).run([product])
    assert product.prefix.state.decision == "refuted" and product.prefix.state.blocks < len(product.blocks)


@pytest.mark.parametrize("jobs", [1, 2])
def test_progress_hears_of_every_run_before_it_starts_and_of_every_block_that_counts(run, jobs):
    heard = []
    run("sums", "coin", progress=lambda r, e: heard.append((r, e)), jobs=jobs)
    assert [e is None for _, e in heard[:2]] == [True, True]
    blocks = [r.check.id for r, e in heard if isinstance(e, Evidence)]
    assert sorted(blocks) == sorted(r.check.id for r, e in heard if e is None for _ in r.blocks)


def test_the_evidence_of_a_run_without_blocks_is_empty(tiny):
    (product,) = pool_runs(tiny, ["product"])
    empty = Run(product.check, [])
    assert empty.finished and empty.evidence.total.instances == 0
