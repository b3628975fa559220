"""Levels of campaigns, and decisions that do not depend on the order in which blocks arrive."""

from __future__ import annotations

import math
from collections.abc import Iterator
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whp.proofs_checks.engine.statistics.event import log_e_value
from whp.proofs_checks.engine.statistics.levels import (
    HOLDS_LEVEL,
    REFUTATION_LEVEL,
    BlockPrefix,
    PrefixDecision,
    campaign_level,
    false_alarm_chance,
    log_mean_e_value,
    per_check_level,
    shortest_deciding_prefix,
    split_level,
)


def test_campaign_of_2877_claims() -> None:
    assert f"{false_alarm_chance(2877, 1e-4):.1%}" == "25.0%"
    assert f"{per_check_level(1e-6, 2877):.3g}" == "3.48e-10"
    assert campaign_level(2877) == pytest.approx(2.877e-7)
    assert campaign_level(2877, per_check_level(1e-6, 2877)) == pytest.approx(1e-6)


def test_ten_thousand_runs_at_the_refutation_level_stay_within_one_in_a_million() -> None:
    assert REFUTATION_LEVEL == 1e-10
    assert campaign_level(10_000) <= 1e-6
    assert REFUTATION_LEVEL < HOLDS_LEVEL < 1


def test_reruns_add_to_the_spent_level() -> None:
    assert campaign_level(2877 + 2877) == 2 * campaign_level(2877)
    assert campaign_level(0) == 0
    assert campaign_level(10**12) == 1


def test_false_alarm_chance_does_not_cancel() -> None:
    assert false_alarm_chance(1, 1e-300) == 1e-300
    assert false_alarm_chance(0, 0.5) == 0
    assert false_alarm_chance(10**7, 0.5) == 1


@given(st.lists(st.floats(-50, 900), min_size=1, max_size=8))
def test_average_of_e_values_is_never_weaker_than_splitting_the_level(logs: list[float]) -> None:
    threshold = -math.log(split_level(REFUTATION_LEVEL, len(logs)))
    if max(logs) >= threshold:
        assert log_mean_e_value(logs) >= -math.log(REFUTATION_LEVEL) - 1e-9


def test_average_of_e_values_at_the_infinities() -> None:
    assert log_mean_e_value([0.0, math.inf]) == math.inf
    assert log_mean_e_value([-math.inf, -math.inf]) == -math.inf
    with pytest.raises(ValueError, match="without nan"):
        log_mean_e_value([0.0, math.nan])
    with pytest.raises(ValueError, match="nonempty"):
        log_mean_e_value([])


def decide(evidence: tuple[int, int]) -> str | None:
    return "refuted" if log_e_value(*evidence, 0.05) >= math.log(1e10) else None


def add(a: tuple[int, int], b: tuple[int, int]) -> tuple[int, int]:
    return a[0] + b[0], a[1] + b[1]


shards = st.lists(
    st.integers(1, 64).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n))), min_size=1, max_size=12
)


@given(shards, st.randoms(use_true_random=False))
def test_any_order_of_arrival_gives_the_same_decision(blocks: list[tuple[int, int]], random: Random) -> None:
    expected = shortest_deciding_prefix(blocks, decide, add)
    arrival = list(enumerate(blocks))
    random.shuffle(arrival)
    prefix = BlockPrefix(decide, add)
    for index, block in arrival:
        prefix.add(index, block)
    assert prefix.state == expected == shortest_deciding_prefix(dict(arrival), decide, add)


@given(shards)
def test_the_prefix_is_the_shortest_that_decides(blocks: list[tuple[int, int]]) -> None:
    used = shortest_deciding_prefix(blocks, decide, add)
    merged = [(sum(n for n, _ in blocks[:i]), sum(k for _, k in blocks[:i])) for i in range(1, len(blocks) + 1)]
    deciding = [i for i, evidence in enumerate(merged, 1) if decide(evidence)]
    assert used.blocks == (deciding[0] if deciding else len(blocks))
    assert used.evidence == merged[used.blocks - 1]
    assert (used.decision == "refuted") == bool(deciding)


def test_blocks_beyond_a_gap_do_not_count() -> None:
    state = shortest_deciding_prefix({0: (64, 2), 2: (64, 64)}, decide, add)
    assert state == PrefixDecision(1, (64, 2), None)
    assert shortest_deciding_prefix({}, decide, add) == PrefixDecision(0, None, None)


def test_a_block_beyond_the_decision_changes_nothing() -> None:
    prefix = BlockPrefix(decide, add)
    decided = prefix.add(0, (64, 64))
    assert decided.decision == "refuted"
    assert prefix.add(1, (64, 0)) is decided
    assert prefix.add(0, (64, 64)) is decided


def test_blocks_are_read_only_as_far_as_needed() -> None:
    def endless() -> Iterator[tuple[int, int]]:
        while True:
            yield (64, 64)

    assert shortest_deciding_prefix(endless(), decide, add).blocks == 1


@pytest.mark.parametrize("index", [0, 2])
def test_a_block_may_not_be_merged_twice(index: int) -> None:
    prefix = BlockPrefix(decide, add)
    prefix.add(0, (10, 0))
    prefix.add(2, (10, 0))
    with pytest.raises(ValueError, match=f"block {index} was given twice"):
        prefix.add(index, (10, 0))


def test_levels_and_counts_out_of_range_are_refused() -> None:
    with pytest.raises(ValueError, match=r"^level must lie strictly between 0 and 1"):
        split_level(1.0, 2)
    with pytest.raises(ValueError, match="parts must be at least 1"):
        split_level(0.5, 0)
    with pytest.raises(TypeError, match="checks must be an integer"):
        per_check_level(0.5, 2.0)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="runs must be at least 0"):
        campaign_level(-1)
    with pytest.raises(TypeError, match="index must be an integer"):
        BlockPrefix(decide, add).add("0", (1, 0))  # type: ignore[arg-type]
