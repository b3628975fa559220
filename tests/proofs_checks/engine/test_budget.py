"""Budgets: whole blocks, multiples, seconds."""

from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whp.proofs_checks.engine.budget import Budget, seconds

PHASES = ("breadth", "structure", "replicates")


@given(st.floats(0.01, 5000), st.integers(1, 60), st.integers(0, 60), st.sampled_from(PHASES))
def test_more_budget_adds_whole_blocks_of_the_same_size(cost, times, more, phase):
    check = SimpleNamespace(cost=cost)
    size, count = Budget.parse(f"x{times}").blocks(phase, check)
    larger_size, larger_count = Budget.parse(f"x{times + more}").blocks(phase, check)
    assert (size, True) == (larger_size, larger_count >= count >= 1)


def test_named_budgets_grow():
    check = SimpleNamespace(cost=1.0)
    for phase in PHASES:
        totals = [
            size * n for size, n in (Budget.parse(b).blocks(phase, check) for b in ("quick", "standard", "thorough"))
        ]
        assert totals == sorted(totals) and len(set(totals)) == 3
    assert Budget.parse("x1").blocks("breadth", check) == Budget.parse("quick").blocks("breadth", check)


@pytest.mark.parametrize("text", ["", "x0", "x-1", "x1.5", "fast", "x99999999999"])
def test_an_unknown_budget_is_refused_with_the_known_ones(text):
    with pytest.raises(ValueError, match="quick, standard, thorough, xK or seconds"):
        Budget.parse(text)


def test_seconds_are_told_from_names():
    assert [seconds(t) for t in ("30s", "1.5m", "2h", "quick", "s", "3")] == [30, 90, 7200, None, None, None]
    with pytest.raises(ValueError, match="in seconds is for verifying"):
        Budget.parse("30s")
