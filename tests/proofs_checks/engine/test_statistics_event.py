"""The event test: exact against fractions, a supermartingale for every true claim, monotone, right at the edges."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whp.proofs_checks.engine.statistics.event import (
    confidence_interval,
    log_e_value,
    margin,
    rejection_boundary,
    replicates_needed,
)


def exact_e_value(n: int, k: int, delta: Fraction) -> Fraction:
    """Integrate the likelihood ratio over q uniform on (delta, 1], expanding q**k (1 - q)**(n - k) in powers of q."""
    integral = sum(
        Fraction((-1) ** i * math.comb(n - k, i)) * (1 - delta ** (k + i + 1)) / Fraction(k + i + 1)
        for i in range(n - k + 1)
    ) + Fraction(0)
    return integral / (delta**k * (1 - delta) ** (n - k) * (1 - delta))


def log_fraction(x: Fraction) -> float:
    shift = x.numerator.bit_length() - x.denominator.bit_length()
    return math.log(float(x / Fraction(2) ** shift)) + shift * math.log(2)


counts = st.integers(0, 200).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n)))
probabilities = st.floats(0, 1)


@pytest.mark.parametrize("delta", [Fraction(1, 1000), Fraction(1, 20), Fraction(1, 2), Fraction(99, 100)])
@pytest.mark.parametrize(("n", "k"), [(0, 0), (1, 0), (1, 1), (12, 5), (60, 0), (60, 3), (60, 60), (250, 40)])
def test_equals_the_integral_over_the_mixture(n: int, k: int, delta: Fraction) -> None:
    assert log_e_value(n, k, float(delta)) == pytest.approx(log_fraction(exact_e_value(n, k, delta)), abs=1e-11)


@pytest.mark.parametrize(("n", "k"), [(0, 0), (7, 2), (30, 11), (30, 0)])
def test_is_an_exact_martingale_at_delta_and_a_supermartingale_below(n: int, k: int) -> None:
    delta = Fraction(1, 20)
    good, bad, now = exact_e_value(n + 1, k, delta), exact_e_value(n + 1, k + 1, delta), exact_e_value(n, k, delta)
    assert (1 - delta) * good + delta * bad == now
    for p in (Fraction(0), Fraction(1, 100), Fraction(49, 1000)):
        assert (1 - p) * good + p * bad < now


@given(counts, probabilities, probabilities)
def test_decreases_in_delta(nk: tuple[int, int], a: float, b: float) -> None:
    n, k = nk
    assert log_e_value(n, k, min(a, b)) >= log_e_value(n, k, max(a, b)) - 1e-9


@given(counts, probabilities)
def test_increases_with_bad_events_and_decreases_with_good_ones(nk: tuple[int, int], delta: float) -> None:
    n, k = nk
    assert log_e_value(n + 1, k + 1, delta) >= log_e_value(n + 1, k, delta) - 1e-9
    assert log_e_value(n + 1, k, delta) <= log_e_value(n, k, delta) + 1e-9


@given(st.integers(0, 10**9), probabilities)
def test_no_bad_event_is_never_evidence(n: int, delta: float) -> None:
    assert log_e_value(n, 0, delta) == pytest.approx(-math.log1p(n), abs=1e-9)


@pytest.mark.parametrize(("n", "k"), [(1, 1), (10, 1), (10**6, 1), (5, 5)])
def test_one_bad_event_refutes_impossibility(n: int, k: int) -> None:
    assert log_e_value(n, k, 0.0) == math.inf


def test_nothing_refutes_a_claim_of_probability_one() -> None:
    n = np.arange(500)
    assert (log_e_value(n, n, 1.0) <= 0).all()
    assert rejection_boundary(200, 1.0, 1e-3).tolist() == [n + 1 for n in range(201)]


def test_no_data_is_no_evidence_at_any_delta() -> None:
    zeros = np.zeros(5, dtype=int)
    assert (log_e_value(zeros, zeros, [0.0, 1e-300, 0.05, 0.5, 1.0]) == 0).all()


def test_deep_left_tail_is_summed_in_logarithms() -> None:
    # P(Binomial(3001, 0.99) <= 10) is about 1e-5970, far below the floats
    m, k, odds = 3001, 10, Fraction(1 - Fraction(0.99)) / Fraction(0.99)
    tail = sum(Fraction(math.comb(m, j), math.comb(m, k)) * odds ** (k - j) for j in range(k + 1))
    assert log_e_value(3000, 10, 0.99) == pytest.approx(log_fraction(Fraction(tail) / (m - k)), abs=1e-12)
    assert math.isfinite(log_e_value(10**9, 10**8, 0.5))


def test_arguments_broadcast_and_scalars_come_back_as_floats() -> None:
    table = log_e_value(np.array([[10], [20]]), np.array([0, 3, 5]), 0.1)
    assert table.shape == (2, 3)
    assert table[1, 2] == log_e_value(20, 5, 0.1)
    assert isinstance(log_e_value(np.int64(20), 5, 0.1), float)


@pytest.mark.parametrize("delta", [0.0, 1e-6, 0.05, 0.5, 0.97])
@pytest.mark.parametrize("alpha", [0.05, 1e-10])
def test_boundary_is_the_least_refuting_count(delta: float, alpha: float) -> None:
    boundary = rejection_boundary(60, delta, alpha)
    for n in range(61):
        evidence = log_e_value(np.full(n + 1, n), np.arange(n + 1), delta)
        refuting = np.flatnonzero(evidence >= -math.log(alpha))
        assert boundary[n] == (refuting[0] if refuting.size else n + 1)
    assert (np.diff(boundary) >= 0).all()


@given(counts, st.sampled_from([0.3, 1e-3, 1e-10]))
def test_margin_is_the_last_refuted_claim(nk: tuple[int, int], alpha: float) -> None:
    n, k = nk
    edge, threshold = margin(n, k, alpha), -math.log(alpha)
    assert 0 <= edge <= (k / n if n else 0)
    assert k == 0 or log_e_value(n, k, edge) >= threshold
    assert log_e_value(n, k, math.nextafter(edge, 1)) < threshold


def test_interval_shrinks_around_the_frequency() -> None:
    widths = []
    for n in (100, 1000, 10_000, 100_000):
        low, high = confidence_interval(n, n // 20, 1e-3)
        assert low < 0.05 < high
        widths.append(high - low)
    assert widths == sorted(widths, reverse=True)
    assert widths[-1] < 0.01


@given(counts)
def test_interval_is_symmetric_in_good_and_bad(nk: tuple[int, int]) -> None:
    n, k = nk
    low, high = confidence_interval(n, k, 0.01)
    mirrored = confidence_interval(n, n - k, 0.01)
    assert (1 - high, 1 - low) == pytest.approx(mirrored, abs=1e-12)


def test_replicates_needed_agrees_with_an_exact_binomial_tail() -> None:
    from scipy.stats import binom

    n = replicates_needed(0.05, 1e-10, 0.15, power=0.9)
    boundary = rejection_boundary(n, 0.05, 1e-10)
    assert binom.sf(boundary[n] - 1, n, 0.15) >= 0.9
    assert binom.sf(boundary[n - 1] - 1, n - 1, 0.15) < 0.9
    assert replicates_needed(0.0, 1e-10, 1e-6, power=0.5) == math.ceil(math.log(0.5) / math.log1p(-1e-6))


def test_replicates_to_establish_a_claim_are_those_that_refute_its_complement() -> None:
    n = replicates_needed(0.95, 1e-3, 1.0)  # no bad event seen, delta = 0.05
    assert confidence_interval(n, 0, 2e-3)[1] <= 0.05 < confidence_interval(n - 1, 0, 2e-3)[1]


@pytest.mark.parametrize(("n", "k"), [(5, 6), (5, -1), (2**53 + 1, 0)])
def test_impossible_counts_are_refused(n: int, k: int) -> None:
    with pytest.raises(ValueError, match=f"counts must satisfy.*n={n}, k={k}"):
        log_e_value(n, k, 0.05)


@pytest.mark.parametrize("count", [1.0, True, "3", None, []])
def test_counts_must_be_integers(count: object) -> None:
    with pytest.raises(TypeError, match="n must be an integer"):
        log_e_value(count, 0, 0.05)  # type: ignore[call-overload]


@pytest.mark.parametrize("delta", [-0.1, 1.1, math.nan, math.inf])
def test_delta_must_be_a_probability(delta: float) -> None:
    with pytest.raises(ValueError, match="delta must be a probability"):
        log_e_value(5, 1, delta)


@pytest.mark.parametrize("alpha", [0.0, 1.0, -1e-10, math.nan])
def test_level_must_lie_between_zero_and_one(alpha: float) -> None:
    with pytest.raises(ValueError, match="alpha must lie strictly between 0 and 1"):
        margin(5, 1, alpha)


@pytest.mark.parametrize("p_true", [0.05, 0.01])
def test_a_true_claim_needs_no_replicates_to_be_refuted_because_it_never_is(p_true: float) -> None:
    with pytest.raises(ValueError, match=r"p_true must exceed delta=0\.05"):
        replicates_needed(0.05, 1e-10, p_true)
