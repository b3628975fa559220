"""Running blocks on an executor, whatever order they come back in, and surviving a broken pool.

A check-run is decided by the shortest prefix of its blocks that decides it; blocks beyond are dropped, so neither the
number of workers nor their speed changes a verdict or a byte of evidence.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from dataclasses import dataclass, field
from typing import Any, Protocol

from whp.proofs_checks.engine.blocks import Block, run_block, shrinking_block
from whp.proofs_checks.engine.check import Check
from whp.proofs_checks.engine.decide import decided
from whp.proofs_checks.engine.evidence import Evidence, EvidenceBuilder, Location, merge
from whp.proofs_checks.engine.statistics.levels import BlockPrefix

_STRIKES = 2  # a block that was running in this many broken pools is run alone, and then quarantined


@dataclass
class Run:
    """One check, itself or as a mutant, with certain subjects, on its planned blocks."""

    check: Check
    blocks: Sequence[Block]
    fixed: int = 0
    subjects: Mapping[str, Any] | None = None
    prefix: BlockPrefix[Evidence, str] = field(init=False)
    next: int = 0

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
    for run in runs:
        while not run.finished:
            if not desk.known(run, run.next):
                desk.take(run, run.next, run_block(run.blocks[run.next], run.subjects))
            run.next += 1


class Pool:
    """Blocks on a ``concurrent.futures.Executor``.

    Parameters
    ----------
    executor : Executor
        Any; it is the caller's to shut down.
    rebuild : callable, optional
        Makes a new executor when this one breaks; without it a broken executor ends the campaign.
    in_flight : int
        How many blocks wait or run at once.
    """

    def __init__(self, executor: Executor, rebuild: Callable[[], Executor] | None = None, in_flight: int = 8) -> None:
        self.executor, self._rebuild, self._in_flight = executor, rebuild, in_flight
        self._desk = Desk()
        self._futures: dict[Future[Evidence], tuple[Run, int]] = {}
        self._again: deque[tuple[Run, int]] = deque()
        self._suspects: deque[tuple[Run, int]] = deque()
        self._strikes: dict[tuple[int, int], int] = {}

    def run(self, runs: Sequence[Run], desk: Desk | None = None) -> None:
        """Run every block that is needed to decide or complete each run."""
        self._desk = desk or Desk()
        queue = deque(r for r in runs if not r.finished)
        while queue or self._futures or self._again or self._suspects:
            self._fill(queue)
            if not self._futures:
                continue
            done, _ = wait(self._futures, return_when=FIRST_COMPLETED)
            broken = False
            for future in done:
                broken = self._take(future) or broken
            if broken:
                self._recover()

    def _fill(self, queue: deque[Run]) -> None:
        """Submit what was lost first, then the runs in turn, so that all of them show results early."""
        if self._suspects:
            if not self._futures:  # alone, so that a break names the culprit
                self._submit(*self._suspects.popleft())
            return
        while len(self._futures) < self._in_flight:
            if self._again:
                self._submit(*self._again.popleft())
                continue
            while queue and (queue[0].finished or queue[0].next >= len(queue[0].blocks)):
                queue.popleft()
            if not queue:
                return
            run = queue[0]
            queue.rotate(-1)
            run.next += 1
            if not self._desk.known(run, run.next - 1):
                self._submit(run, run.next - 1)

    def _submit(self, run: Run, index: int) -> None:
        if run.finished:
            return
        try:
            self._futures[self.executor.submit(run_block, run.blocks[index], run.subjects)] = (run, index)
        except BrokenExecutor:
            self._again.append((run, index))
            self._recover()

    def _take(self, future: Future[Evidence]) -> bool:
        """Take one result in; true when the executor broke."""
        run, index = self._futures.pop(future)
        if future.cancelled():
            if not run.finished:
                self._again.append((run, index))
            return False
        try:
            evidence = future.result()
        except BrokenExecutor:
            self._struck(run, index)
            return True
        self._desk.take(run, index, evidence)
        if run.finished:
            for waiting in [f for f, (r, _) in self._futures.items() if r is run]:
                waiting.cancel()
        return False

    def _struck(self, run: Run, index: int) -> None:
        key = (id(run), index)
        self._strikes[key] = self._strikes.get(key, 0) + 1
        if self._strikes[key] < _STRIKES:
            self._suspects.append((run, index))
        else:
            self._desk.take(run, index, _quarantined(run, index))

    def _recover(self) -> None:
        if self._rebuild is None:
            raise BrokenExecutor(
                "the executor broke and cannot be rebuilt; what was computed is in the evidence so far"
            )
        lost = list(self._futures.items())
        self._futures.clear()
        for future, (run, index) in lost:
            if future.done() and not future.cancelled() and future.exception() is None:
                self._desk.take(run, index, future.result())
            else:
                self._struck(run, index)
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
