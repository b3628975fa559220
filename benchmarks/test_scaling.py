"""Two workers against one: how much of their time goes into checks, for the process pool and for Dask.

The efficiency is the time that blocks took, over workers times the time that the campaign took: 1 when the workers do
nothing else. The gain over one process is recorded beside it; it depends on what else the machine does.
"""

import os
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from whp.proofs_checks.engine import verify
from whp.proofs_checks.engine.ledger import Ledger

SPINNING = str(Path(__file__).parent / "spinning.py")
SECONDS = float(os.environ.get("WHP_BENCH_SECONDS", "60"))


class Counting:
    """An executor that adds up how long its shards took."""

    def __init__(self, executor):
        self._executor, self.busy = executor, 0.0
        for name in ("shard_seconds", "in_flight"):
            if hasattr(executor, name):
                setattr(self, name, getattr(executor, name))

    def submit(self, *call):
        """Pass a shard on."""
        future = self._executor.submit(*call)
        future.add_done_callback(self._count)
        return future

    def _count(self, future):
        if not future.cancelled() and future.exception() is None:
            self.busy += future.result()[1]


@pytest.fixture(scope="module")
def pace():
    """Processor seconds on one process for budget x1; what else the machine does hardly changes them."""
    verify("spinning", modules=[SPINNING], budget="x1")
    began = time.process_time()
    verify("spinning", modules=[SPINNING], budget="x20")
    return (time.process_time() - began) / 20


def measure(benchmark, executor, pace, folder):
    counting, times = Counting(executor), max(1, round(SECONDS / pace))
    with Ledger(folder / "ledger") as ledger:
        ledger.begin({})

        def campaign():
            report = verify("spinning", modules=[SPINNING], budget=f"x{times}", executor=counting, ledger=ledger)
            assert report.exit_status == 0

        benchmark.pedantic(campaign, rounds=1)
        blocks = ledger.campaigns()[0].shards
    took = benchmark.stats.stats.max
    efficiency = counting.busy / (2 * took)
    gain = times * pace / took
    load = os.getloadavg()[0]
    benchmark.extra_info.update(efficiency=efficiency, gain=gain, load=load, blocks=blocks, work=counting.busy)
    work = f"{blocks} blocks, {counting.busy:.0f} s of work"
    print(f"\nefficiency {efficiency:.3f}, gain {gain:.2f}, {work}, load {load:.1f}")
    return efficiency


def test_two_processes_spend_85_per_cent_of_their_time_in_checks(benchmark, pace, tmp_path):
    with ProcessPoolExecutor(2) as executor:
        assert measure(benchmark, executor, pace, tmp_path) >= 0.85


@contextmanager
def dask_cluster(folder):
    port = 20_000 + os.getpid() % 20_000
    address = f"tcp://127.0.0.1:{port}"
    scheduler = ("scheduler", "--host", "127.0.0.1", "--port", str(port), "--no-show")
    worker = ("worker", address, "--nthreads", "1", "--no-nanny", "--local-directory", str(folder))
    path = os.pathsep.join(p for p in sys.path if p)
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "env": {**os.environ, "PYTHONPATH": path}}
    started = [
        subprocess.Popen([sys.executable, "-m", f"distributed.cli.dask_{kind}", *rest, "--no-dashboard"], **quiet)
        for kind, *rest in (scheduler, worker, worker)
    ]
    try:
        yield address
    finally:
        for process in started:
            process.kill()
            process.wait()


def test_two_dask_workers_spend_80_per_cent_of_their_time_in_checks(benchmark, pace, tmp_path):
    pytest.importorskip("distributed", reason="needs the extra cluster")
    from whp.proofs_checks.cluster import ClusterExecutor

    with dask_cluster(tmp_path) as address:
        time.sleep(5)  # both workers are there
        with ClusterExecutor(address, modules=[SPINNING]) as executor:
            assert executor.in_flight == 4
            assert measure(benchmark, executor, pace, tmp_path) >= 0.8
