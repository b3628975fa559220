"""What a verification would run, and about how long it takes, from one timed block of each check."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from whp.proofs_checks.engine.blocks import run_block
from whp.proofs_checks.engine.budget import Budget, seconds
from whp.proofs_checks.engine.check import Check
from whp.proofs_checks.engine.plan import plan
from whp.proofs_checks.engine.registry import checks_of
from whp.theory.core.registry import load_papers

_PROBE = 16  # instances or replicates that are timed


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


def estimate(*patterns: str, budget: str, seed: int = 0, subject: Mapping[str, Any] | None = None) -> list[Estimate]:
    """Estimate the cost of every check that would run.

    Parameters
    ----------
    *patterns : str
        Ids or globs; every theorem without one.
    budget : str
        As in `verify`; seconds are resolved to the multiple of the quick budget that they would buy.
    seed : int
        Campaign seed.
    subject : mapping, optional
        Implementation by slot name; only checks with such a slot are counted.
    """
    limit = seconds(budget)
    checks = [c for t in load_papers().theorems(*patterns) for c in checks_of(t.id) if _runs(c, subject or {})]
    if limit is None:
        return [_estimate(c, Budget.parse(budget), seed, subject) for c in checks]
    rows = [_estimate(c, Budget.parse("x1"), seed, subject) for c in checks]
    times = int(limit / max(sum(r.seconds for r in rows), 1e-3))
    return rows if times < 2 else [_estimate(c, Budget.parse(f"x{times}"), seed, subject) for c in checks]


def _runs(check: Check, subject: Mapping[str, Any]) -> bool:
    available = check.unavailable is None or not check.unavailable()
    return available and (not subject or bool(set(subject) & {s.name for s in check.slots}))


def _estimate(check: Check, budget: Budget, seed: int, subject: Mapping[str, Any] | None) -> Estimate:
    mine = {k: v for k, v in (subject or {}).items() if k in {s.name for s in check.slots}}
    blocks = plan(check, budget, seed)
    total = 0.0
    for phase in dict.fromkeys(b.phase for b in blocks):
        sizes = [b.size for b in blocks if b.phase == phase]
        probe = replace(next(b for b in blocks if b.phase == phase), size=min(_PROBE, sizes[0]))
        run_block(probe, mine)  # imports and caches are paid once
        began = time.perf_counter()
        run_block(probe, mine)
        total += (time.perf_counter() - began) / probe.size * sum(sizes)
    return Estimate(check.id, check.kind, len(blocks), sum(b.size for b in blocks), total)
