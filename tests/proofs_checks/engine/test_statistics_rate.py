"""The rate report: exact power laws, logarithms divided out, honest intervals, clear refusals."""

from __future__ import annotations

import math

import numpy as np
import pytest

from whp.proofs_checks.engine.statistics.rate import fit_rate

SIZES = 2.0 ** np.arange(4, 12)


@pytest.mark.parametrize("exponent", [-0.5, 0.0, 1.0, 2.5])
@pytest.mark.parametrize("log_power", [0.0, 1.0, -2.0])
def test_exact_laws_are_recovered(exponent: float, log_power: float) -> None:
    fit = fit_rate(SIZES, 7 * SIZES**exponent * np.log(SIZES) ** log_power, log_power)
    assert fit.exponent == pytest.approx(exponent, abs=1e-12)
    assert fit.high - fit.low < 1e-10
    assert max(map(abs, fit.residuals)) < 1e-10
    assert fit.local_exponents == pytest.approx([exponent] * 7, abs=1e-10)
    assert fit.consistent(exponent, "equal", 1e-6)


def test_undeclared_logarithms_show_as_curvature() -> None:
    cost = SIZES * np.log(SIZES)
    plain, divided = fit_rate(SIZES, cost), fit_rate(SIZES, cost, log_power=1)
    assert not plain.consistent(1.0)
    assert divided.consistent(1.0, "equal", 1e-9)
    assert list(plain.local_exponents) == sorted(plain.local_exponents, reverse=True)
    assert plain.high - plain.low > 1000 * (divided.high - divided.low)


def test_sides_of_a_claimed_order() -> None:
    fit = fit_rate(SIZES, SIZES**2)
    assert [fit.consistent(claim, "at most") for claim in (1.9, 2.1)] == [False, True]
    assert [fit.consistent(claim, "at least") for claim in (1.9, 2.1)] == [True, False]
    assert [fit.consistent(claim, "equal") for claim in (1.9, 2.1)] == [False, False]
    assert fit.consistent(1.9, "equal", tolerance=0.11)


def test_interval_covers_the_true_exponent_under_noise() -> None:
    rng, covered, widths = np.random.default_rng(5), 0, []
    for _ in range(400):
        values = SIZES[:, None] ** 1.5 * rng.exponential(size=(SIZES.size, 50))
        fit = fit_rate(SIZES, values)
        covered += fit.low <= 1.5 <= fit.high
        widths.append(fit.high - fit.low)
    assert covered >= 0.95 * 400
    assert np.mean(widths) < 0.3


def test_noise_of_replicates_widens_an_accidentally_straight_line() -> None:
    spread = np.array([0.5, 1.5])
    noisy = fit_rate(SIZES, SIZES[:, None] * spread)
    assert noisy.exponent == pytest.approx(1)
    assert noisy.high - noisy.low > 0.1
    assert fit_rate(SIZES, SIZES).high - fit_rate(SIZES, SIZES).low < 1e-10


def test_unit_of_the_values_does_not_matter() -> None:
    values = SIZES * np.array([1.0, 1.1, 0.9, 1.0, 1.2, 0.8, 1.0, 1.1])
    small, large = fit_rate(SIZES, values * 1e-200), fit_rate(SIZES, values * 1e200)
    assert small.exponent == pytest.approx(large.exponent, abs=1e-12)
    assert small.high == pytest.approx(large.high, abs=1e-10)


def test_a_constant_cost_has_exponent_zero_and_nothing_to_explain() -> None:
    fit = fit_rate([10, 100, 1000], [5, 5, 5])
    assert (fit.exponent, fit.low, fit.high, fit.r_squared) == (0.0, 0.0, 0.0, 1.0)


def test_same_data_same_report() -> None:
    values = np.random.default_rng(0).exponential(size=(8, 5))
    assert fit_rate(SIZES, values) == fit_rate(SIZES, values)


@pytest.mark.parametrize(
    ("sizes", "values", "message"),
    [
        ([1, 2], [1, 2], "at least three distinct"),
        ([1, 2, 2], [1, 2, 3], "at least three distinct"),
        ([[1, 2, 4]], [1, 2, 3], "sizes on one axis"),
        ([], [], "at least three distinct"),
        ([0, 1, 2], [1, 2, 3], "above 0"),
        ([1, 2, math.inf], [1, 2, 3], "finite"),
        ([1, 2, 4], [1, 2], r"n=3 sizes on one axis, got \(2,\)"),
        ([1, 2, 4], [[], [], []], r"got \(3, 0\)"),
        ([1, 2, 4], [1, 0, 3], r"positive mean at every size, got mean 0\.0 at size 2\.0"),
        ([1, 2, 4], [1, 2, math.nan], r"got mean nan at size 4\.0"),
        ([1, 2, 4], [[1, 1], [1, -3], [1, 1]], r"got mean -1\.0 at size 2\.0"),
    ],
)
def test_measurements_without_a_rate_are_refused(sizes: list[float], values: list[float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        fit_rate(sizes, values)


def test_rows_may_repeat_sizes_in_any_order() -> None:
    rng = np.random.default_rng(1)
    values = SIZES[:, None] * rng.exponential(size=(SIZES.size, 6))
    rows, order = np.repeat(SIZES, 6), rng.permutation(6 * SIZES.size)
    assert fit_rate(rows[order], values.ravel()[order]) == fit_rate(SIZES, values)


def test_unequal_numbers_of_replicates_are_weighed_by_their_own_noise() -> None:
    fit = fit_rate([1, 1, 2, 2, 2, 4, 4], [1, 1.2, 2, 2.2, 2.4, 4.4, 4.4])
    assert fit.low < 1 < fit.high
    assert fit.sizes == (1, 2, 4)


def test_declarations_without_meaning_are_refused() -> None:
    with pytest.raises(ValueError, match="above 1"):
        fit_rate([1, 2, 4], [1, 2, 4], log_power=1)
    with pytest.raises(ValueError, match="confidence"):
        fit_rate([1, 2, 4], [1, 2, 4], confidence=1.0)
    with pytest.raises(ValueError, match="tolerance"):
        fit_rate([1, 2, 4], [1, 2, 4]).consistent(1, tolerance=-0.1)
    with pytest.raises(ValueError, match="side must be"):
        fit_rate([1, 2, 4], [1, 2, 4]).consistent(1, "<=")  # type: ignore[arg-type]
