"""Running blocks on an executor, whatever order they come back in, and surviving a broken pool.

A check-run is decided by the shortest prefix of its blocks that decides it; blocks beyond are dropped, so neither the
number of workers nor their speed changes a verdict or a byte of evidence.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from dataclasses import dataclass, field
from typing import Any, Protocol

from whp.proofs_checks.engine.blocks import run_block
from whp.proofs_checks.engine.check import Check
from whp.proofs_checks.engine.decide import decided
from whp.proofs_checks.engine.evidence import Evidence, EvidenceBuilder, Location, merge
from whp.proofs_checks.engine.plan import Block, shrinking_block
from whp.proofs_checks.engine.statistics.levels import BlockPrefix

_STRIKES = 2  # a block that was running in this many broken pools is run alone, and then quarantined
_LARGEST_SHARD = 256  # blocks
_AHEAD = 4096  # blocks of one run whose evidence may wait for an earlier block: bounds the memory


class WorkerKilledError(Exception):
    """An executor that goes on by itself says that a shard killed the workers it ran on."""


@dataclass
class Run:
    """One check, itself or as a mutant, with certain subjects, on its planned blocks."""

    check: Check
    blocks: Sequence[Block]
    fixed: int = 0
    subjects: Mapping[str, Any] | None = None
    prefix: BlockPrefix[Evidence, str] = field(init=False)
    next: int = 0
    pace: dict[str, float] = field(default_factory=dict)
    """Seconds that a block of each phase last took."""

    def __post_init__(self) -> None:
        self.prefix = BlockPrefix(lambda evidence: decided(self.check, evidence, self.fixed), merge)

    @property
    def finished(self) -> bool:
        """Whether the evidence is complete or already decides."""
        return self.prefix.state.decision is not None or self.prefix.state.blocks == len(self.blocks)

    @property
    def shrinking(self) -> Run | None:
        """A run of one more block of structured search, when a refutation has no shrunk instance yet."""
        found = self.evidence.violations
        if not found or any(v.location.phase == "structured" for v in found):
            return None
        block = shrinking_block(self.blocks[0])
        return None if block is None else Run(self.check, [block], self.fixed, self.subjects)

    @property
    def evidence(self) -> Evidence:
        """Merged evidence of the deciding prefix."""
        first = self.blocks[0] if self.blocks else None
        empty = Evidence.empty(
            self.check.theorem, self.check.name, first.seed if first else 0, first.budget if first else ""
        )
        return empty if self.prefix.state.evidence is None else self.prefix.state.evidence


Progress = Callable[[Run, Evidence | None], None]
"""Called with each run before it starts (without evidence), then with the evidence of each of its blocks."""


class Store(Protocol):
    """Keeps the evidence of blocks and answers from it; see `Ledger`."""

    def find(self, block: Block, subjects: Mapping[str, Any] | None) -> Evidence | None:
        """Evidence stored for the very same block, or None."""

    def store(self, block: Block, subjects: Mapping[str, Any] | None, evidence: Evidence) -> None:
        """Commit evidence."""

    def tightest(self, check: str) -> str:
        """Encoded instance that a hunt left for a check; empty without one."""


@dataclass
class Desk:
    """What happens to a block's evidence when it arrives: stored first, then counted, then shown."""

    store: Store | None = None
    resume: bool = False
    progress: Progress | None = None

    def announce(self, runs: Sequence[Run]) -> None:
        """Show what is going to be run."""
        for run in runs:
            if self.progress is not None:
                self.progress(run, None)

    def known(self, run: Run, index: int) -> bool:
        """Take a block's evidence from the store; false when it must be run."""
        if self.store is None or not self.resume:
            return False
        evidence = self.store.find(run.blocks[index], run.subjects)
        if evidence is not None:
            self._count(run, index, evidence)
        return evidence is not None

    def take(self, run: Run, index: int, evidence: Evidence) -> None:
        """Store and count new evidence; nothing is stored that the decision no longer needs."""
        if run.finished:
            return
        if self.store is not None:
            self.store.store(run.blocks[index], run.subjects, evidence)
        self._count(run, index, evidence)

    def _count(self, run: Run, index: int, evidence: Evidence) -> None:
        run.prefix.add(index, evidence)
        if self.progress is not None:
            self.progress(run, evidence)


def run_here(runs: Sequence[Run], desk: Desk | None = None) -> None:
    """Run every block in this process, one after another."""
    desk = desk or Desk()
    desk.announce(runs)
    for run in runs:
        while not run.finished:
            if not desk.known(run, run.next):
                desk.take(run, run.next, run_block(run.blocks[run.next], run.subjects))
            run.next += 1


@dataclass(frozen=True)
class Shard:
    """Consecutive blocks of one run that travel together."""

    run: Run
    indices: tuple[int, ...]


def run_shard(blocks: Sequence[Block], subjects: Mapping[str, Any] | None) -> tuple[list[Evidence], float]:
    """Run blocks one after another; returns their evidence and how many seconds they took."""
    began = time.perf_counter()
    return [run_block(b, subjects) for b in blocks], time.perf_counter() - began


Result = tuple[list[Evidence], float]


class Pool:
    """Blocks on a ``concurrent.futures.Executor``.

    Parameters
    ----------
    executor : Executor
        Any; it is the caller's to shut down.  One for which a task is costly says so in an attribute
        ``shard_seconds``: so many seconds of blocks are then sent together.  An attribute ``in_flight`` overrides the
        parameter and may change while workers come and go.
    rebuild : callable, optional
        Makes a new executor when this one breaks; without it a broken executor ends the campaign.
    in_flight : int
        How many shards wait or run at once.
    """

    def __init__(self, executor: Executor, rebuild: Callable[[], Executor] | None = None, in_flight: int = 8) -> None:
        self.executor, self._rebuild, self._in_flight = executor, rebuild, in_flight
        self._desk = Desk()
        self._futures: dict[Future[Result], Shard] = {}
        self._again: deque[Shard] = deque()
        self._suspects: deque[Shard] = deque()
        self._strikes: dict[tuple[int, int], int] = {}

    def run(self, runs: Sequence[Run], desk: Desk | None = None) -> None:
        """Run every block that is needed to decide or complete each run."""
        self._desk = desk or Desk()
        self._desk.announce(runs)
        queue = deque(r for r in runs if not r.finished)
        while queue or self._futures or self._again or self._suspects:
            self._fill(queue)
            if not self._futures:
                continue
            done, _ = wait(self._futures, return_when=FIRST_COMPLETED)
            broken = [error for future in done if (error := self._take(future)) is not None]
            if broken:
                self._recover(broken[0])

    @property
    def _room(self) -> int:
        return int(getattr(self.executor, "in_flight", self._in_flight))

    def _fill(self, queue: deque[Run]) -> None:
        """Submit what was lost first, then the runs in turn, so that all of them show results early."""
        if self._suspects:
            if not self._futures:  # alone, so that a break names the culprit
                self._submit(self._suspects.popleft())
            return
        while len(self._futures) < self._room:
            if self._again:
                self._submit(self._again.popleft())
                continue
            run = self._next_run(queue)
            if run is None:
                return
            self._submit(self._cut(run))

    def _next_run(self, queue: deque[Run]) -> Run | None:
        """Take the next run that has blocks to give, in turn; None when there is none or all are far ahead."""
        for _ in range(len(queue)):
            run = queue.popleft()
            if run.finished or run.next >= len(run.blocks):
                continue
            queue.append(run)
            if run.next - run.prefix.state.blocks < _AHEAD:
                return run
        return None

    def _cut(self, run: Run) -> Shard:
        """Cut a shard of the right duration off a run, skipping what the ledger knows."""
        phase, indices = run.blocks[run.next].phase, list[int]()
        size = self._size(run, phase)
        while len(indices) < size and run.next < len(run.blocks) and not run.finished:
            if run.blocks[run.next].phase != phase:
                break
            run.next += 1
            if not self._desk.known(run, run.next - 1):
                indices.append(run.next - 1)
        return Shard(run, tuple(indices))

    def _size(self, run: Run, phase: str) -> int:
        seconds = float(getattr(self.executor, "shard_seconds", 0.0))
        if not seconds or phase not in run.pace:
            return 1
        share = -(-(len(run.blocks) - run.next) // self._room)  # the last shards end at about the same time
        return max(1, min(int(seconds / max(run.pace[phase], 1e-6)), share, _LARGEST_SHARD))

    def _submit(self, shard: Shard) -> None:
        run = shard.run
        if run.finished or not shard.indices:
            return
        try:
            future = self.executor.submit(run_shard, [run.blocks[i] for i in shard.indices], run.subjects)
        except BrokenExecutor as error:
            self._again.append(shard)
            self._recover(error)
        else:
            self._futures[future] = shard

    def _take(self, future: Future[Result]) -> BrokenExecutor | None:
        """Take one result in; returns the error when the executor broke."""
        shard = self._futures.pop(future)
        run = shard.run
        if future.cancelled():
            if not run.finished:
                self._again.append(shard)
            return None
        try:
            result = future.result()
        except BrokenExecutor as error:
            self._struck(shard)
            return error
        except WorkerKilledError:
            self._struck(shard)
            return None
        self._arrived(shard, result)
        if run.finished:
            for waiting in [f for f, s in self._futures.items() if s.run is run]:
                if waiting.cancel():
                    del self._futures[waiting]
        return None

    def _arrived(self, shard: Shard, result: Result) -> None:
        evidence, seconds = result
        shard.run.pace[shard.run.blocks[shard.indices[0]].phase] = seconds / len(evidence)
        for index, part in zip(shard.indices, evidence, strict=True):
            self._desk.take(shard.run, index, part)

    def _struck(self, shard: Shard) -> None:
        for index in shard.indices:
            key = (id(shard.run), index)
            self._strikes[key] = self._strikes.get(key, 0) + 1
            if self._strikes[key] < _STRIKES:
                self._suspects.append(Shard(shard.run, (index,)))
            else:
                self._desk.take(shard.run, index, _quarantined(shard.run, index))

    def _recover(self, error: BrokenExecutor) -> None:
        lost = list(self._futures.items())
        self._futures.clear()
        for future, shard in lost:
            if future.done() and not future.cancelled() and future.exception() is None:
                self._arrived(shard, future.result())
            else:
                self._struck(shard)
        if self._rebuild is None:
            raise error
        self.executor.shutdown(wait=False, cancel_futures=True)
        self.executor = self._rebuild()


def _quarantined(run: Run, index: int) -> Evidence:
    """Evidence that a block killed its worker twice, the second time while it ran alone."""
    block = run.blocks[index]
    builder = EvidenceBuilder(run.check.theorem, run.check.name, block.seed, block.budget)
    builder.count(block.phase, instances=1)
    message = f"block {block.phase} {block.index} killed its worker process {_STRIKES} times and is quarantined"
    builder.failure(Location(block.phase, block.index, 0), "WorkerKilled", message, "", None)
    return builder.build()
