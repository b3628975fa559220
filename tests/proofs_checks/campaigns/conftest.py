"""A Dask cluster of real processes, and a theorem whose checks take their time."""

import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

SOURCES = Path(__file__).parents[3] / "src"
ENVIRONMENT = {
    **os.environ,
    "PYTHONPATH": os.pathsep.join(filter(None, [str(SOURCES), os.environ.get("PYTHONPATH")])),
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "5s",
}

SLEEPY = """
import time
from whp.proofs_checks.engine import Check, Instances, at_most, event
from whp.theory import Claim, Paper, Slot, Theorem

PAPER = Paper("sleepy", "Checks that take their time", ("Nobody",), "nowhere")
SQUARE = Slot("square", "(x)", "x: float", "its square", ("x",))
THEOREMS = tuple(
    Theorem(id=f"sleepy.T{i}", paper=PAPER, title=title, statement=title, claim=Claim("left", "<=", "right"),
            provenance="prior")
    for i, title in ((1, "The mean of squares is at least the squared mean"), (2, "A fair coin is seldom far off"))
)

def means(instance, *, square):
    time.sleep(0.003)
    middle = sum(instance) / len(instance)
    right = sum(map(square, instance)) / len(instance)
    return at_most("means", middle * middle, right, rounding=1e-12 * right)

def off(instance, *, rng):
    time.sleep(0.003)
    return event(abs(rng.binomial(instance, 0.5) - instance / 2) > instance**0.5, probability=0.27)

def draw(rng, size):
    return [rng.standard_normal(5).tolist() for _ in range(size)]

def square(x):
    return x * x

CHECKS = (
    Check(theorem="sleepy.T1", name="means", kind="slack", observe=means, cost=20.0, slots={SQUARE: square},
          instances=Instances("normal vectors in R^5", draw=draw, examples=lambda: {"equal": [1.0] * 5})),
    Check(theorem="sleepy.T2", name="off", kind="event", observe=off, cost=20.0,
          instances=Instances("100 throws", examples=lambda: {"100": 100})),
)
"""


@pytest.fixture(scope="session")
def sleepy(tmp_path_factory):
    """File that states the sleepy theorems."""
    path = tmp_path_factory.mktemp("theorems") / "sleepy.py"
    path.write_text(SLEEPY)
    return path


class Cluster:
    """A Dask scheduler and workers, each a process that can be killed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.address = f"tcp://127.0.0.1:{self.port}"
        self.workers: list[subprocess.Popen[bytes]] = []
        self.scheduler = self._start("scheduler", "--host", "127.0.0.1", "--port", str(self.port), "--no-show")

    def _start(self, kind: str, *options: str) -> "subprocess.Popen[bytes]":
        command = [sys.executable, "-m", f"distributed.cli.dask_{kind}", *options, "--no-dashboard"]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "stdin": subprocess.DEVNULL}
        return subprocess.Popen(command, cwd=self.folder, env=ENVIRONMENT, **quiet)

    def add_worker(self) -> None:
        options = ("--nthreads", "1", "--no-nanny", "--death-timeout", "30", "--local-directory", str(self.folder))
        self.workers.append(self._start("worker", self.address, *options))

    def kill(self, process: "subprocess.Popen[bytes]") -> None:
        process.kill()
        process.wait()
        if process in self.workers:
            self.workers.remove(process)

    def close(self) -> None:
        for process in [*self.workers, self.scheduler]:
            process.kill()
        for process in [*self.workers, self.scheduler]:
            process.wait()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """A scheduler and two workers of one thread each, in a folder of their own."""
    pytest.importorskip("distributed", reason="needs the extra cluster")
    made = Cluster(tmp_path_factory.mktemp("cluster"))
    made.add_worker()
    made.add_worker()
    yield made
    made.close()


@pytest.fixture
def whp(tmp_path):
    """Start the command line in a process of its own, with a ledger and evidence in the test's folder."""
    started = []

    def start(*arguments: object, path: Path | None = None) -> "subprocess.Popen[str]":
        command = [sys.executable, "-m", "whp.proofs_checks.cli", *map(str, arguments)]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "stdin": subprocess.DEVNULL}
        more = {} if path is None else {"PYTHONPATH": os.pathsep.join([str(path), ENVIRONMENT["PYTHONPATH"]])}
        process = subprocess.Popen(command, cwd=tmp_path, env={**ENVIRONMENT, **more}, text=True, **pipes)
        started.append(process)
        return process

    yield start
    for process in started:
        if process.poll() is None:
            process.kill()
        process.communicate()


@pytest.fixture
def eventually():
    """Wait until something is true, at most so many seconds."""

    def wait(condition, seconds=10.0):
        until = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < until, "waited in vain"
            time.sleep(0.02)

    return wait
