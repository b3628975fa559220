"""Observations: which entry of a clause is worst, and what counts as violated."""

import math
from fractions import Fraction

import flint
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whp.proofs_checks.engine.observation import (
    Clause,
    NotANumberError,
    at_least,
    at_most,
    identity,
    requires,
    sample,
    worst_entry,
)

finite = st.floats(allow_nan=False, allow_infinity=False)


def worst(slack):
    return worst_entry(slack.clauses[0])


@given(finite, finite)
def test_floats_are_compared_as_the_numbers_they_are(left, right):
    entry = worst(at_most("c", left, right))
    assert entry.violated == (Fraction(left) > Fraction(right))
    assert (entry.slack < 0) == entry.violated


@given(st.lists(st.tuples(finite, finite), min_size=1, max_size=6))
def test_an_array_is_violated_exactly_where_some_entry_is(pairs):
    left, right = (np.array(side) for side in zip(*pairs, strict=True))
    entry = worst(at_most("c", left, right))
    assert entry.violated == any(a > b for a, b in pairs)
    assert entry.left == left[entry.index] and entry.right == right[entry.index]


def test_large_integers_do_not_wrap_round_or_become_floats():
    big = 2**63 - 1
    assert worst(at_most("c", np.array([big]), np.array([-big]))).violated
    assert worst(identity("c", 2**80 + 1, 2**80)).slack == -1
    assert worst(identity("c", np.array([2**60 + 1]), np.array([2**60]))).violated
    assert worst(at_most("c", Fraction(1, 3) + Fraction(1, 10**400), Fraction(1, 3))).slack < 0


@pytest.mark.parametrize("rounding", [1e-9, 1.0])
def test_inside_its_rounding_model_nothing_is_violated(rounding):
    inside = worst(at_most("c", 1.0 + rounding / 2, 1.0, rounding=rounding))
    assert inside.inside_rounding and not inside.violated
    beyond = worst(at_most("c", 1.0 + 2 * rounding, 1.0, rounding=rounding))
    assert beyond.violated and not beyond.inside_rounding


def test_nan_is_neither_kept_nor_broken():
    for slack in (at_most("c", math.nan, 1), identity("c", np.array([1.0, math.nan]), 1.0), at_most("c", 1, math.nan)):
        with pytest.raises(NotANumberError, match="'c'"):
            worst(slack)


def test_equal_infinities_agree_and_others_do_not():
    assert not worst(identity("c", math.inf, math.inf)).violated
    assert worst(identity("c", math.inf, -math.inf)).violated
    assert worst(at_most("c", math.inf, 1e308)).violated
    assert not worst(at_most("c", np.array([-math.inf]), np.array([math.inf]))).violated


def test_balls_are_violated_only_when_they_surely_are():
    third = flint.arb(1) / 3
    assert worst(at_most("c", third, third)).inside_rounding
    assert worst(at_most("c", third + 1, third)).violated
    entry = worst(at_most("c", third, third + 1))
    assert not entry.violated and not entry.inside_rounding
    assert worst(identity("c", third, flint.arb(1) / 2)).violated


def test_balls_that_say_nothing_are_no_pass():
    nan, anything = flint.arb("nan"), flint.arb(0, "inf")
    for slack in (at_most("c", nan, 1), identity("c", nan, 1), identity("c", anything, 1)):
        with pytest.raises(NotANumberError):
            worst(slack)
    assert worst(at_most("c", anything, 1)).inside_rounding
    assert worst(identity("c", flint.arb("inf"), flint.arb("inf"))).slack == 0
    assert not worst(at_most("c", flint.arb(3), flint.arb("inf"))).violated
    assert worst(at_most("c", flint.arb("inf"), flint.arb(3))).violated


def test_balls_in_arrays_are_compared_entry_by_entry():
    sides = np.array([flint.arb(1), flint.arb(3)], dtype=object)
    entry = worst(at_most("c", sides, np.array([2, 2], dtype=object)))
    assert entry.violated and entry.index == (1,)


def test_shapes_that_do_not_broadcast_and_empty_arrays():
    with pytest.raises(ValueError):
        worst(at_most("c", np.zeros(2), np.zeros(3)))
    assert worst(at_most("c", np.zeros(0), np.zeros(0))).slack == 0


def test_at_least_exchanges_the_sides_and_requires_is_a_fact():
    assert at_least("c", 3, 2).clauses[0] == Clause("c", 2, 3)
    assert not worst(requires("fact", True)).violated and worst(requires("fact", False)).violated


def test_tightness_has_a_meaning_only_for_inequalities_with_positive_right_side():
    assert worst(at_most("c", 1, 2)).ratio == 0.5
    for slack in (identity("c", 1, 1), at_most("c", -2, -1), at_most("c", -1, 0), at_most("c", 1, math.inf)):
        assert math.isnan(worst(slack).ratio)


def test_a_sample_takes_exactly_one_claimed_mean():
    assert sample(0, low=0, high=1, mean_at_least=0.5).relation == ">="
    for given_means in ({}, {"mean": 0, "mean_at_most": 1}):
        with pytest.raises(ValueError, match="exactly one"):
            sample(0, low=0, high=1, **given_means)
