"""What the engine adds to each instance or replicate: one block of a check that does nothing, divided by its size."""

from pathlib import Path

import pytest

from whp.proofs_checks.engine.blocks import run_block
from whp.proofs_checks.engine.budget import Budget
from whp.proofs_checks.engine.plan import plan
from whp.proofs_checks.engine.registry import find_check
from whp.theory.core import load_papers

# Microseconds per instance, with room for a machine that is half as fast and busy.
MOST = {"slack": 150, "slack on arrays": 250, "vectorised": 20, "event": 200, "sample": 200}


@pytest.mark.parametrize("name", MOST)
def test_an_observation_costs_well_below_a_millisecond(benchmark, name) -> None:
    load_papers().add_module(str(Path(__file__).with_name("overhead_theorems.py")))
    check = find_check(f"overhead.T1/{name}")
    block = next(b for b in plan(check, Budget.parse("x1"), 0) if b.phase in ("sampled", "replicates"))
    run_block(block)
    benchmark.pedantic(lambda: run_block(block), rounds=15)
    microseconds = benchmark.stats.stats.min / block.size * 1e6
    benchmark.extra_info["microseconds per instance"] = microseconds
    assert microseconds <= MOST[name]
