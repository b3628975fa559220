"""Exact false-alarm rates and power, against nominal levels and against enumeration."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from whp.proofs_checks.engine.statistics.event import log_e_value, rejection_boundary, replicates_needed
from whp.proofs_checks.engine.statistics.mean import Side, bin_samples
from whp.proofs_checks.engine.statistics.mean import log_e_value as log_e_value_of_mean
from whp.proofs_checks.engine.statistics.operating import (
    event_characteristic,
    false_alarm,
    mean_characteristic,
    power,
)


def test_false_alarm_rate_of_the_worked_example() -> None:
    # nominal 1e-6: the uniform mixture truncated at delta spends 47% of its level by n = 3000
    assert false_alarm(0.05, 1e-6, 3000) == pytest.approx(4.693364e-7, rel=1e-6)


@pytest.mark.parametrize("delta", [0.0, 1e-6, 1e-3, 0.05, 0.3, 0.5, 0.9, 0.999, 1.0])
@pytest.mark.parametrize("alpha", [0.3, 0.05, 1e-3, 1e-6, 1e-10])
def test_false_alarm_rate_stays_under_the_level(delta: float, alpha: float) -> None:
    rates = [false_alarm(delta, alpha, 400, p=factor * delta) for factor in (0.0, 0.5, 0.95, 1.0)]
    assert rates == sorted(rates)  # the worst true case is p = delta
    assert rates[-1] <= alpha


def test_no_bad_event_ever_means_no_alarm_ever() -> None:
    # the untruncated mixture, a test of p = delta, would have refuted the true claim here
    n, delta = 3000, 0.05
    two_sided = -math.log(n + 1) - n * math.log1p(-delta)
    assert two_sided > math.log(1e10)
    assert false_alarm(delta, 0.3, n, p=0.0) == 0


def test_agrees_with_enumeration_in_fractions() -> None:
    delta, p, alpha, n_max = 0.2, Fraction(1, 4), 0.1, 12
    boundary = rejection_boundary(n_max, delta, alpha)
    total = Fraction(0)
    for path in itertools.product((0, 1), repeat=n_max):
        counts = list(itertools.accumulate(path))
        if any(counts[n - 1] >= boundary[n] for n in range(1, n_max + 1)):
            total += p ** sum(path) * (1 - p) ** (n_max - sum(path))
    assert event_characteristic(delta, alpha, n_max, float(p)).probability == pytest.approx(float(total), rel=1e-12)


@pytest.mark.parametrize("p", [0.05, 0.08])
@pytest.mark.parametrize("alpha", [0.05, 1e-6])
def test_fewer_looks_never_reject_more(p: float, alpha: float) -> None:
    chances = [event_characteristic(0.05, alpha, 640, p, block).probability for block in (1, 2, 8, 64, 640)]
    assert chances == sorted(chances, reverse=True)
    assert event_characteristic(0.05, alpha, 640, p, [1, 7, 32, 600]).probability <= chances[0]


@pytest.mark.parametrize("blocks", [1, 13, [5, 1, 50, 100]])
def test_level_holds_for_any_blocks(blocks: int | list[int]) -> None:
    assert false_alarm(0.1, 0.05, 300, block=blocks) <= 0.05
    assert mean_characteristic([0, 1], [0.5, 0.5], 0, 1, 0.5, "at most", 0.05, 200, blocks).probability <= 0.05


def test_power_meets_what_replicates_needed_promises() -> None:
    n = replicates_needed(0.05, 1e-10, 0.2, power=0.9)
    assert 0.9 <= power(0.05, 1e-10, n, 0.2, block=n) <= 1
    assert power(0.05, 1e-10, n, 0.2) >= power(0.05, 1e-10, n, 0.2, block=n)
    reached = event_characteristic(0.05, 1e-10, n, 0.2).replicates_for(0.9)
    assert reached is not None
    assert reached <= n


def test_stopping_time_of_a_certain_violation() -> None:
    outcome = event_characteristic(0.0, 1e-10, 1000, p=0.25)
    assert outcome.expected_stopping_time == pytest.approx(4.0)
    assert outcome.replicates_for(0.25) == 1
    assert outcome.replicates_for(1.1) is None
    never = event_characteristic(1.0, 1e-10, 100, p=1.0, block=20)
    assert never.expected_stopping_time == 100
    assert never.probability == 0


def test_ten_thousand_check_runs_at_the_refutation_level_stay_under_one_in_a_million() -> None:
    worst = max(false_alarm(delta, 1e-10, 4096, block=256) for delta in (0.01, 0.05, 0.1, 0.5))
    assert 10_000 * worst <= 1e-6


def enumerate_mean(
    points: list[float], weights: list[float], claimed: float, side: Side, alpha: float, n_max: int
) -> float:
    total = 0.0
    for path in itertools.product(range(len(points)), repeat=n_max):
        for n in range(1, n_max + 1):
            histogram = bin_samples([points[i] for i in path[:n]], 0, 1)
            if log_e_value_of_mean(histogram, 0, 1, claimed, side) >= -math.log(alpha):
                total += math.prod(weights[i] for i in path)
                break
    return total


@pytest.mark.parametrize("side", ["at most", "at least", "equal"])
def test_mean_test_agrees_with_enumeration(side: Side) -> None:
    points, weights = [0.1, 0.5, 1.0], [0.2, 0.3, 0.5]
    exact = mean_characteristic(points, weights, 0, 1, 0.6, side, 0.6, 6).probability
    assert exact == pytest.approx(enumerate_mean(points, weights, 0.6, side, 0.6, 6), rel=1e-12)
    assert side == "at least" or exact > 0


@pytest.mark.parametrize("alpha", [0.2, 0.01, 1e-10])
@pytest.mark.parametrize(
    ("points", "weights"),
    [
        ([0.0, 1.0], [0.5, 0.5]),
        ([0.25, 1.0], [2 / 3, 1 / 3]),
        ([0.0, 0.5, 1.0], [0.3, 0.4, 0.3]),
        ([0.1, 0.45, 0.95], [0.2, 0.4, 0.4]),  # off the grid, true mean 0.58 against claims of 0.58
        ([0.5], [1.0]),
    ],
)
def test_mean_test_keeps_its_level(points: list[float], weights: list[float], alpha: float) -> None:
    true = float(np.dot(points, weights))
    n_max = 200 if len(points) < 3 else 40
    sides: tuple[Side, ...] = ("at most", "at least", "equal")
    for side in sides:
        assert mean_characteristic(points, weights, 0, 1, true, side, alpha, n_max).probability <= alpha
    below = mean_characteristic(points, weights, 0, 1, true + 0.1, "at most", alpha, n_max, block=5)
    assert below.probability <= alpha


def test_mean_test_has_power_and_it_grows_with_time() -> None:
    outcome = mean_characteristic([0, 1], [0.3, 0.7], 0, 1, 0.5, "at most", 1e-10, 600, block=100)
    assert (np.diff(outcome.rejected) >= 0).all()
    assert outcome.probability > 0.95


def test_unused_points_do_not_matter() -> None:
    two = mean_characteristic([0, 1], [0.5, 0.5], 0, 1, 0.4, "at most", 0.05, 60).rejected
    three = mean_characteristic([0, 1, 0.3], [0.5, 0.5, 0.0], 0, 1, 0.4, "at most", 0.05, 60).rejected
    assert (two == three).all()


def test_event_test_and_mean_test_agree_on_what_refutes_impossibility() -> None:
    event = event_characteristic(0.0, 1e-10, 50, p=0.1).rejected
    mean = mean_characteristic([0, 1], [0.9, 0.1], 0, 1, 0.0, "at most", 1e-10, 50).rejected
    assert event == pytest.approx(mean, rel=1e-12)
    assert log_e_value(50, 1, 0.0) == math.inf


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0.05, 0.01, 10, 0.06), r"p must be at most delta=0\.05"),
        ((0.05, 0.01, 10, -0.1), "p must be a probability"),
        ((0.05, 0.01, 10, 0.05, 11), "at least one look"),
        ((0.05, 0.01, 10, 0.05, 0), "at least one look"),
        ((0.05, 0.01, 0), "at least one look"),
        ((0.05, 0.01, 10, 0.05, [3, -1]), "at least one look"),
    ],
)
def test_meaningless_designs_are_refused(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        false_alarm(*arguments)


def test_distributions_must_be_distributions() -> None:
    with pytest.raises(ValueError, match="p must exceed delta"):
        power(0.05, 0.01, 10, 0.05)
    with pytest.raises(ValueError, match=r"must sum to 1, got 0\.9"):
        mean_characteristic([0, 1], [0.5, 0.4], 0, 1, 0.5, "at most", 0.05, 10)
    with pytest.raises(ValueError, match="one, two or three"):
        mean_characteristic([0, 0.2, 0.4, 1], [0.25] * 4, 0, 1, 0.5, "at most", 0.05, 10)
    with pytest.raises(ValueError, match="declared range"):
        mean_characteristic([0, 2], [0.5, 0.5], 0, 1, 0.5, "at most", 0.05, 10)


def test_power_is_a_probability() -> None:
    assert power(0.05, 1e-10, 4096, 0.5, block=256) == 1.0
