"""What a verification would run, and about how long it takes, from one timed block of each check."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass, replace
from typing import Any

from whp.proofs_checks.engine.blocks import plan, run_block
from whp.proofs_checks.engine.budget import Budget
from whp.proofs_checks.engine.registry import checks_of
from whp.theory.core.registry import load_papers

_PROBE = 4  # instances or replicates that are timed


@dataclass(frozen=True)
class Estimate:
    """Blocks, instances or replicates, and single-process seconds of one check at a budget."""

    check: str
    kind: str
    blocks: int
    instances: int
    seconds: float

    def to_json(self) -> dict[str, Any]:
        """Return JSON-able data."""
        return asdict(self)


def estimate(*patterns: str, budget: str, seed: int = 0) -> list[Estimate]:
    """Estimate the cost of every chosen check.

    Raises
    ------
    ValueError
        If the budget is unknown or given in seconds (then it is its own estimate).
    """
    size = Budget.parse(budget)
    rows = []
    for theorem in load_papers().theorems(*patterns):
        for check in checks_of(theorem.id):
            if check.unavailable is not None and check.unavailable():
                continue
            blocks = plan(check, size, seed)
            total = sum(b.size for b in blocks)
            seconds = 0.0
            for phase in dict.fromkeys(b.phase for b in blocks):
                mine = [b for b in blocks if b.phase == phase]
                probe = replace(mine[0], size=min(_PROBE, mine[0].size))
                began = time.perf_counter()
                run_block(probe)
                seconds += (time.perf_counter() - began) / probe.size * sum(b.size for b in mine)
            rows.append(Estimate(check.id, check.kind, len(blocks), total, seconds))
    return rows
