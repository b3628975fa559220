"""Bounds: three readings of one formula, and its inverse."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whp.theory import Bound, Domain, Symbol

RADIUS = Bound(
    "radius",
    lambda m, n, delta: m.sqrt(m.log(2 / delta) / (2 * n)),
    (
        Symbol("n", Domain.integers(1), "sample size", "decreasing", "N"),
        Symbol("delta", Domain.reals(0, 1, open="both"), "failure probability", "decreasing", r"\delta"),
    ),
    unit="m",
)


def power(domain, exponent=2, monotone="increasing"):
    return Bound("power", lambda m, x: x**exponent, (Symbol("x", domain, "x", monotone),))


def test_the_three_readings_agree():
    value = RADIUS(n=100, delta=0.05)
    assert value == pytest.approx(0.135810, abs=1e-6)
    low, high = RADIUS.enclosure(n=100, delta=0.05)
    assert low < high and high - low < Fraction(1, 10**30)
    assert abs(float(low) - value) <= 2 * math.ulp(value)
    assert r"\delta" in RADIUS.latex() and "N" in RADIUS.latex()


def test_arrays_broadcast():
    values = RADIUS(n=np.array([[1], [4]]), delta=np.array([0.1, 0.2]))
    assert values.shape == (2, 2)
    assert values[1, 0] == RADIUS(n=4, delta=0.1)


def test_an_enclosure_takes_floats_as_the_fractions_they_are():
    double = Bound("double", lambda m, x: x + x, (Symbol("x", Domain.reals(), "x"),))
    low, high = double.enclosure(x=0.1)
    assert low <= 2 * Fraction(0.1) <= high
    assert low <= Fraction(2, 3) <= double.enclosure(x=Fraction(1, 3))[1]


@pytest.mark.parametrize(
    ("given_values", "words"),
    [
        ({"n": 0, "delta": 0.1}, ["n must be integer in [1, inf)", "sample size", "got 0"]),
        ({"n": 1.5, "delta": 0.1}, ["n must be integer", "1.5"]),
        ({"n": 1, "delta": 1}, ["delta must be real in (0, 1)", "got 1"]),
        ({"n": 1, "delta": math.nan}, ["delta must be", "nan"]),
        ({"n": math.inf, "delta": 0.1}, ["n must be", "inf"]),
        ({"n": "many", "delta": 0.1}, ["n must be", "'many'"]),
        ({"n": None, "delta": 0.1}, ["n must be", "None"]),
        ({"n": True, "delta": 0.1}, ["n must be", "True"]),
        ({"n": [1, None], "delta": 0.1}, ["n must be"]),
        ({"n": 1}, ["needs delta", "failure probability"]),
        ({"n": 1, "delt": 0.1}, ["no symbol 'delt'", "did you mean 'delta'"]),
    ],
)
def test_a_wrong_value_is_named_with_symbol_and_domain(given_values, words):
    with pytest.raises(ValueError) as raised:
        RADIUS(**given_values)
    assert all(w in str(raised.value) for w in words), raised.value


def test_overflow_and_division_by_zero_are_infinite_and_no_exception():
    assert power(Domain.reals())(x=1e200) == math.inf
    inverse = Bound("inverse", lambda m, x: 1 / x, (Symbol("x", Domain.reals(0), "x"),))
    assert inverse(x=0) == math.inf
    with pytest.raises(ValueError, match="beyond the range of float64"):
        power(Domain.reals())(x=10**400)
    low, high = power(Domain.reals()).enclosure(x=10**400, bits=4000)
    assert low == high == 10**800


def test_a_value_that_is_no_number_is_an_error():
    log = Bound("log", lambda m, x: m.log(x), (Symbol("x", Domain.reals(), "x"),))
    with pytest.raises(ValueError, match="not a number"):
        log(x=-1.0)
    with pytest.raises(ValueError, match="no finite enclosure"):
        log.enclosure(x=-1)


def test_a_formula_must_take_the_declared_symbols():
    with pytest.raises(ValueError, match="must take m and the symbols"):
        Bound("bad", lambda m, x: x, (Symbol("y", Domain.reals(), "y"),))
    with pytest.raises(ValueError, match="twice"):
        Bound("bad", lambda m, x: x, (Symbol("x", Domain.reals(), "x"),) * 2)


def test_the_sample_size_of_hoeffding_is_738():
    assert RADIUS.solve("n", at_most=0.05, delta=0.05) == 738
    assert RADIUS(n=738, delta=0.05) <= 0.05 < RADIUS(n=737, delta=0.05)


@given(
    st.integers(-30, 30),
    st.integers(1, 60),
    st.floats(-1e6, 1e6),
    st.sampled_from(["increasing", "decreasing"]),
    st.sampled_from(["at_most", "at_least"]),
)
def test_solving_over_integers_gives_the_extreme_one_that_meets_the_target(low, width, target, monotone, side):
    sign = 1 if monotone == "increasing" else -1
    domain = Domain.integers(low, low + width)
    cubic = Bound("cubic", lambda m, k: sign * (k**3 + 7 * k), (Symbol("k", domain, "k", monotone),))
    good = [
        k for k in range(low, low + width + 1) if (cubic(k=k) <= target if side == "at_most" else cubic(k=k) >= target)
    ]
    if not good:
        with pytest.raises(ValueError, match="is never"):
            cubic.solve("k", **{side: target})
        return
    larger_helps = (monotone == "decreasing") == (side == "at_most")
    assert cubic.solve("k", **{side: target}) == (min(good) if larger_helps else max(good))


@given(st.floats(1e-300, 1e300), st.sampled_from([(0.0, math.inf, "low"), (1e-9, 1e9, ""), (0.0, 1e9, "low")]))
def test_solving_over_reals_meets_the_target_and_no_float_beyond_does(target, interval):
    low, high, open_end = interval
    bound = Bound("line", lambda m, x: 3 * x, (Symbol("x", Domain.reals(low, high, open_end), "x", "increasing"),))
    if 3 * high <= target or (low > 0 and 3 * low > target):
        if low > 0 and 3 * low > target:
            with pytest.raises(ValueError, match="is never"):
                bound.solve("x", at_most=target)
        else:
            assert bound.solve("x", at_most=target) == high
        return
    x = bound.solve("x", at_most=target)
    assert 3 * x <= target < 3 * math.nextafter(x, math.inf)


def test_solving_refuses_what_it_cannot_do():
    with pytest.raises(ValueError, match="declares no monotonicity"):
        power(Domain.reals(0), monotone=None).solve("x", at_most=1)
    with pytest.raises(ValueError, match="exactly one of"):
        RADIUS.solve("n", delta=0.1)
    with pytest.raises(ValueError, match="must not be given"):
        RADIUS.solve("n", at_most=1, n=3, delta=0.1)
    with pytest.raises(ValueError, match="needs delta"):
        RADIUS.solve("n", at_most=1)
    with pytest.raises(ValueError, match="got nan"):
        RADIUS.solve("n", at_most=math.nan, delta=0.1)
    with pytest.raises(ValueError, match="is never at most -1"):
        RADIUS.solve("n", at_most=-1, delta=0.1)
    with pytest.raises(ValueError, match="whole domain"):
        power(Domain.reals(0, 1, open="low"), 1, "decreasing").solve("x", at_most=7)


def test_a_bound_that_stops_being_a_number_far_out_is_solved_near_by():
    bound = Bound("xe", lambda m, x: x * m.exp(-x), (Symbol("x", Domain.reals(2), "x", "decreasing"),))
    x = bound.solve("x", at_most=1e-3)
    assert bound(x=x) <= 1e-3 < bound(x=math.nextafter(x, 0))


@pytest.mark.parametrize(
    ("domain", "inside", "outside"),
    [
        (Domain.reals(0, 1, open="both"), [0.5, Fraction(1, 3), np.array([0.1, 0.9])], [0, 1, math.nan, "0.5", 1j]),
        (Domain.reals(0), [0, 1e308, 10**400], [-1e-300, math.inf, np.array([1.0, math.nan])]),
        (Domain.integers(1, 3), [1, 3.0, Fraction(2), np.array([1, 2])], [0, 4, 1.5, True, Fraction(3, 2), None]),
    ],
)
def test_a_domain_contains_numbers_and_nothing_else(domain, inside, outside):
    assert all(domain.contains(v) for v in inside)
    assert not any(domain.contains(v) for v in outside)


@pytest.mark.parametrize("ends", [(1, 0, ""), (0, 0, "low"), (math.nan, 1, "")])
def test_an_empty_domain_is_refused(ends):
    with pytest.raises(ValueError, match="must not be empty"):
        Domain.reals(*ends)


def test_notebooks_show_formula_and_domains():
    assert "sample size" in RADIUS._repr_html_() and "sqrt" in RADIUS._repr_html_()
