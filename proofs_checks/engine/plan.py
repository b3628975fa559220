"""The blocks of a check-run, in the order in which they count.

A block carries no code: a worker finds the check by its id, so blocks can be run by any executor, on any machine that
has the same sources, and give the same evidence wherever they run.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import overload

from whp.proofs_checks.engine.budget import Budget
from whp.proofs_checks.engine.check import Check
from whp.proofs_checks.engine.form import Form
from whp.proofs_checks.engine.isolation import Limits
from whp.proofs_checks.engine.registry import find_check

_EXAMPLES_BLOCK = 4
_SHRINKING = 1_000_000  # index of the block that is run after a refutation, beyond those of any budget
_SHRINKING_EXAMPLES = 480
_RATE_REPLICATES = 3


@dataclass(frozen=True)
class Block:
    """One piece of a check-run.

    Parameters
    ----------
    check : str
        Id of the check.
    phase : str
        ``examples``, ``hunted``, ``sampled``, ``structured``, ``replicates`` or ``sizes``.
    index : int
        Number within the phase.
    first, size : int
        First instance (or the one fixed instance) and how many instances, examples or replicates.
    seed : int
        Campaign seed.
    budget : str
        Name of the budget, for the record.
    mutant : str
        Name of the mutant that is run in place of the check; ``tightened FACTOR`` for the automatic one.
    modules : tuple of str
        Outside modules that state the theorem, to be imported by a worker.
    limits : Limits, optional
        Per-observation limits in a child process.
    hunted : str
        The instance of a block of phase ``hunted``, encoded: the tightest that a hunt has met.
    """

    check: str
    phase: str
    index: int
    first: int
    size: int
    seed: int
    budget: str
    mutant: str = ""
    modules: tuple[str, ...] = ()
    limits: Limits | None = None
    hunted: str = ""

    @property
    def stream_names(self) -> tuple[str | int, ...]:
        """What the block's random stream is named after; mutants share the streams of their check."""
        return (self.check, self.phase, self.index)


@dataclass(frozen=True)
class _Part:
    """Consecutive blocks of one phase: ``count`` of them, of ``size`` each but for a shorter last one.

    With ``fixed`` instances every piece of replicates is taken for each of them in turn.
    """

    phase: str
    start: int
    total: int
    size: int
    fixed: int = 0

    @property
    def count(self) -> int:
        return -(-self.total // self.size) * max(self.fixed, 1)

    def block(self, template: Block, at: int) -> Block:
        piece, instance = divmod(at, max(self.fixed, 1))
        size = min(self.size, self.total - piece * self.size)
        first = instance if self.fixed else (piece * self.size if self.phase == "examples" else 0)
        return replace(template, phase=self.phase, index=self.start + at, first=first, size=size)


class Plan(Sequence[Block]):
    """Blocks of a check-run, each made when it is asked for: a plan of a million blocks takes no memory."""

    def __init__(self, template: Block, parts: Sequence[_Part], hunted: str = "") -> None:
        self._template, self._hunted = template, hunted
        self._parts = [p for p in parts if p.total]
        self._ends = list(accumulate(p.count for p in self._parts))

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    @overload
    def __getitem__(self, index: int) -> Block: ...

    @overload
    def __getitem__(self, index: slice) -> list[Block]: ...

    def __getitem__(self, index: int | slice) -> Block | list[Block]:
        """Make a block, or the blocks of a slice."""
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        at = index + len(self) if index < 0 else index
        if not 0 <= at < len(self):
            raise IndexError(f"block {index} of {len(self)}")
        which = bisect_right(self._ends, at)
        part = self._parts[which]
        block = part.block(self._template, at - (self._ends[which] - part.count))
        return replace(block, hunted=self._hunted) if part.phase == "hunted" else block


def plan(
    check: Check,
    budget: Budget,
    seed: int,
    *,
    mutant: str = "",
    modules: tuple[str, ...] = (),
    limits: Limits | None = None,
    hunted: str = "",
) -> Plan:
    """Blocks of a check-run in the order in which they count.

    Examples come first, then one block of structured search (so that a refutation has a shrunk instance), then breadth,
    then the rest of the structured search.  Random claims take their fixed instances in turn.
    """
    form = Form.of(check, mutant)
    template = Block(check.id, "", 0, 0, 0, seed, budget.name, mutant, modules, limits)
    if check.kind == "slack":
        search, searches = budget.blocks("structure", check) if form.instances.strategy is not None else (1, 0)
        drawn = form.vectorised is not None or form.instances.draw is not None
        breadth, draws = budget.blocks("breadth", check) if drawn else (1, 0)
        parts = [
            _Part("examples", 0, len(form.examples), _EXAMPLES_BLOCK),
            _Part("hunted", 0, int(bool(hunted)), 1),
            _Part("structured", 0, search * min(searches, 1), search),
            _Part("sampled", 0, breadth * draws, breadth),
            _Part("structured", 1, search * max(searches - 1, 0), search),
        ]
        return Plan(template, parts, hunted)
    fixed = len(form.fixed(seed))
    if check.kind == "rate":
        replicates = _RATE_REPLICATES if check.random else 1
        return Plan(template, [_Part("sizes", 0, replicates, replicates, fixed)] if fixed else [])
    size, count = budget.blocks("replicates", check)
    return Plan(template, [_Part("replicates", 0, size * count, size, fixed)] if fixed else [])


def shrinking_block(block: Block) -> Block | None:
    """One block of structured search after a refutation by a named or drawn instance; None without a strategy."""
    if Form.of(find_check(block.check), block.mutant).instances.strategy is None:
        return None
    return replace(block, phase="structured", index=_SHRINKING, first=0, size=_SHRINKING_EXAMPLES)
