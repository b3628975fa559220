"""The mean test: rounding towards the claim, supermartingale, order-free histograms, power, edges."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whp.proofs_checks.engine.statistics.mean import (
    STAKES,
    Side,
    bin_samples,
    confidence_interval,
    log_e_value,
    margin,
    sample_mean,
    samples_needed,
)

unit_samples = st.lists(st.floats(0, 1), max_size=40)
SIDES: tuple[Side, ...] = ("at most", "at least", "equal")


def coin(heads: int, tails: int) -> np.ndarray:
    histogram = np.zeros(2049, dtype=np.int64)
    histogram[0], histogram[-1] = tails, heads
    return histogram


def test_grid_points_and_gaps_have_their_own_cells() -> None:
    histogram = bin_samples([0, 0.25, 0.25, 0.3, 0.5, 0.9, 1.0], 0, 1, grid_steps=4)
    assert histogram.tolist() == [1, 0, 2, 1, 1, 0, 0, 1, 1]
    assert histogram.dtype == np.int64


def test_neighbouring_floats_of_a_grid_point_are_told_apart() -> None:
    point = 3 / 8
    samples = [math.nextafter(point, 0), point, math.nextafter(point, 1)]
    assert np.flatnonzero(bin_samples(samples, 0, 1, grid_steps=8)).tolist() == [5, 6, 7]


@given(unit_samples, unit_samples)
def test_merging_is_adding(a: list[float], b: list[float]) -> None:
    both = bin_samples(a + b, 0, 1)
    assert (bin_samples(a, 0, 1) + bin_samples(b, 0, 1) == both).all()
    assert (bin_samples((a + b)[::-1], 0, 1) == both).all()
    assert both.sum() == len(a + b)


@given(st.lists(st.floats(-3, 7), min_size=1, max_size=40))
def test_bracket_of_the_mean_contains_it_and_is_one_step_wide(samples: list[float]) -> None:
    lower, upper = sample_mean(bin_samples(samples, -3, 7), -3, 7)
    assert lower - 1e-12 <= np.mean(samples) <= upper + 1e-12
    assert upper - lower <= 10 / 1024 + 1e-12


@pytest.mark.parametrize("bad", [-0.001, 1.001, math.nan, math.inf, -math.inf])
def test_samples_outside_the_declared_range_are_refused_by_value(bad: float) -> None:
    with pytest.raises(ValueError, match=rf"declared range \[0, 1\], got {bad!r} at position 2"):
        bin_samples([0.5, 1.0, bad, 0.0], 0, 1)


@pytest.mark.parametrize(("low", "high"), [(1, 1), (2, 1), (0, math.inf), (math.nan, 1), (-1.7e308, 1.7e308)])
def test_empty_or_infinite_ranges_are_refused(low: float, high: float) -> None:
    with pytest.raises(ValueError, match="low < high and a finite width"):
        bin_samples([], low, high)


def test_evidence_is_the_average_capital_of_the_gamblers() -> None:
    samples, claimed = [0.25, 0.75, 1.0, 0.5, 0.0, 0.75], 0.375
    capital = [math.prod(1 + c / claimed * (x - claimed) for x in samples) for c in STAKES]
    expected = math.log(np.mean(capital))
    assert log_e_value(bin_samples(samples, 0, 1), 0, 1, claimed, "at most") == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("side", SIDES)
def test_is_a_martingale_at_the_claimed_mean(side: Side) -> None:
    # three points on the grid with mean exactly 0.5: after any history, the expected capital does not change
    points, weights = [0.0, 0.25, 1.0], [0.3, 4 / 15, 13 / 30]
    assert np.dot(points, weights) == pytest.approx(0.5)
    for history in itertools.product(points, repeat=3):
        now = math.exp(log_e_value(bin_samples(history, 0, 1), 0, 1, 0.5, side))
        after = [math.exp(log_e_value(bin_samples([*history, x], 0, 1), 0, 1, 0.5, side)) for x in points]
        assert np.dot(weights, after) == pytest.approx(now, rel=1e-12)


@given(unit_samples, st.floats(0, 1))
def test_rounding_only_loses_evidence(samples: list[float], claimed: float) -> None:
    coarse = log_e_value(bin_samples(samples, 0, 1, grid_steps=16), 0, 1, claimed, "at most")
    fine = log_e_value(bin_samples(samples, 0, 1, grid_steps=1024), 0, 1, claimed, "at most")
    assert coarse <= fine + 1e-9
    assert log_e_value(bin_samples(np.floor(np.array(samples) * 16) / 16, 0, 1), 0, 1, claimed, "at most") == (
        pytest.approx(coarse, abs=1e-9) if math.isfinite(coarse) else coarse
    )


@given(unit_samples, st.floats(0, 1))
def test_sides_are_mirror_images(samples: list[float], claimed: float) -> None:
    histogram = bin_samples(samples, 0, 1)
    mirrored = log_e_value(histogram[::-1], -1, 0, -claimed, "at least")
    assert log_e_value(histogram, 0, 1, claimed, "at most") == pytest.approx(mirrored, abs=1e-9)


@given(unit_samples, st.floats(0, 1), st.floats(0, 1))
def test_evidence_decreases_in_the_claimed_upper_bound(samples: list[float], a: float, b: float) -> None:
    histogram = bin_samples(samples, 0, 1)
    weaker = log_e_value(histogram, 0, 1, max(a, b), "at most")
    assert log_e_value(histogram, 0, 1, min(a, b), "at most") >= weaker - 1e-9


@pytest.mark.parametrize("scale", [2.0**-1000, 1e-8, 2.0**1000])
def test_scale_of_the_range_does_not_matter(scale: float) -> None:
    samples = np.array([0.1, 0.9, 0.4, 1.0, 0.7])
    plain = log_e_value(bin_samples(samples, 0, 1), 0, 1, 0.3, "at most")
    scaled = log_e_value(bin_samples(samples * scale, 0, scale), 0, scale, 0.3 * scale, "at most")
    assert scaled == pytest.approx(plain, rel=1e-12)


def test_ranges_as_wide_or_narrow_as_floats_allow() -> None:
    wide = bin_samples([-0.8e308, 0.0, 0.8e308], -0.8e308, 0.8e308)
    assert wide[[0, 1024, 2048]].tolist() == [1, 1, 1]
    narrow = bin_samples([1.0, math.nextafter(1, 2)], 1.0, math.nextafter(1, 2))
    assert narrow.sum() == 2
    assert log_e_value(narrow, 1.0, math.nextafter(1, 2), 1.0, "at most") == math.inf


def test_losing_everything_on_one_stake_leaves_the_others() -> None:
    assert math.isfinite(log_e_value(coin(0, 10**9), 0, 1, 0.5, "at most"))
    assert log_e_value(coin(50, 1), 0, 1, 0.1, "at most") > 23.1


@pytest.mark.parametrize("side", SIDES)
def test_no_sample_is_no_evidence(side: Side) -> None:
    for claimed in (-1.0, 0.0, 0.5, 1.0, 2.0):
        assert log_e_value(coin(0, 0), 0, 1, claimed, side) == 0


def test_impossible_and_trivial_claims() -> None:
    assert log_e_value(coin(0, 1), 0, 1, -0.1, "at most") == math.inf
    assert log_e_value(coin(1, 0), 0, 1, 0.0, "at most") == math.inf
    assert log_e_value(coin(0, 1000), 0, 1, 0.0, "at most") == 0
    assert log_e_value(coin(1000, 0), 0, 1, 1.0, "at most") == 0
    assert log_e_value(coin(1000, 0), 0, 1, 5.0, "at most") < 0
    assert log_e_value(coin(1, 0), 0, 1, 1.5, "at least") == math.inf
    assert log_e_value(coin(1, 0), 0, 1, 1.5, "equal") == math.inf
    assert log_e_value(coin(1, 0), 0, 1, 1e-320, "at most") > 600


def test_large_deviations_are_met_within_dozens_of_samples() -> None:
    for sample, claimed, enough in ((coin(1, 0), 0.5, 42), (coin(9, 1), 0.5, 80), (coin(1, 0), 0.001, 5)):
        needed = samples_needed(sample, 0, 1, claimed, "at most", 1e-10)
        assert needed is not None
        assert needed <= enough


@pytest.mark.parametrize(("heads", "claimed"), [(0.51, 0.5), (0.105, 0.1), (0.0011, 0.001), (0.5001, 0.5)])
def test_tiny_deviations_cost_little_more_than_the_information_bound(heads: float, claimed: float) -> None:
    ones = round(heads * 10**6)
    needed = samples_needed(coin(ones, 10**6 - ones), 0, 1, claimed, "at most", 1e-10)
    divergence = heads * math.log(heads / claimed) + (1 - heads) * math.log((1 - heads) / (1 - claimed))
    assert needed is not None
    assert needed <= 1.25 * math.log(1e10) / divergence


def test_two_sided_claims_are_refuted_from_both_sides() -> None:
    for heads in (300, 700):
        assert log_e_value(coin(heads, 1000 - heads), 0, 1, 0.5, "equal") > math.log(1e10)
    assert log_e_value(coin(500, 500), 0, 1, 0.5, "equal") < 0


@given(unit_samples, st.sampled_from([0.3, 1e-3]))
def test_margins_are_the_last_refuted_claims(samples: list[float], alpha: float) -> None:
    histogram = bin_samples(samples, 0, 1)
    low, high = margin(histogram, 0, 1, alpha, "at most"), margin(histogram, 0, 1, alpha, "at least")
    threshold = -math.log(alpha)
    assert 0 <= low <= high <= 1
    assert low == 0 or log_e_value(histogram, 0, 1, low, "at most") >= threshold
    assert log_e_value(histogram, 0, 1, math.nextafter(low, 2), "at most") < threshold
    assert high == 1 or log_e_value(histogram, 0, 1, high, "at least") >= threshold
    assert log_e_value(histogram, 0, 1, math.nextafter(high, -1), "at least") < threshold


def test_interval_closes_in_on_the_mean() -> None:
    widths = []
    for n in (100, 10_000, 1_000_000):
        low, high = confidence_interval(coin(3 * n // 10, 7 * n // 10), 0, 1, 1e-3)
        assert low < 0.3 < high
        widths.append(high - low)
    assert widths[2] < 0.005 < widths[1] < 0.05 < widths[0]


def test_interval_spends_half_its_level_on_either_end() -> None:
    histogram = coin(40, 60)
    ends = margin(histogram, 0, 1, 0.005, "at most"), margin(histogram, 0, 1, 0.005, "at least")
    assert confidence_interval(histogram, 0, 1, 0.01) == ends


def test_samples_needed_is_where_the_evidence_crosses() -> None:
    n = samples_needed(coin(3, 2), 0, 1, 0.5, "at most", 1e-10)
    assert n is not None
    up = -(-n // 5)
    assert log_e_value(coin(3 * up, 2 * up), 0, 1, 0.5, "at most") >= math.log(1e10)
    assert log_e_value(coin(3 * (up - 1), 2 * (up - 1)), 0, 1, 0.5, "at most") < math.log(1e10)
    assert samples_needed(coin(1, 1), 0, 1, 0.5, "equal", 1e-10) is None
    assert samples_needed(bin_samples([0.5 + 1e-5], 0, 1), 0, 1, 0.5, "at most", 1e-10) is None  # below the resolution


@pytest.mark.parametrize(
    ("histogram", "error", "message"),
    [
        ([1.0, 0.0, 2.0], TypeError, "histogram must hold integers"),
        ([1, 2], ValueError, r"2 \* grid_steps \+ 1 cells"),
        ([[1, 2, 3]], ValueError, r"2 \* grid_steps \+ 1 cells"),
        ([1, -2, 3], ValueError, "nonnegative counts, got -2"),
    ],
)
def test_malformed_histograms_are_refused(histogram: list[float], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        log_e_value(histogram, 0, 1, 0.5, "at most")


def test_malformed_claims_are_refused() -> None:
    with pytest.raises(ValueError, match="mean must be finite, got nan"):
        log_e_value(coin(1, 1), 0, 1, math.nan, "at most")
    with pytest.raises(ValueError, match="side must be 'at most', 'at least' or 'equal', got '<='"):
        log_e_value(coin(1, 1), 0, 1, 0.5, "<=")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="side must be 'at most' or 'at least', got 'equal'"):
        margin(coin(1, 1), 0, 1, 0.5, "equal")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="at least one sample"):
        sample_mean(coin(0, 0), 0, 1)
