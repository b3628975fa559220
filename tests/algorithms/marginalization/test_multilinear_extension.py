"""Queries as values of the multilinear extension, and conversions between the polynomials."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whp.algorithms.marginalization import (
    Semantics,
    convert_coefficients,
    evaluate_multilinear,
    fourier_coefficients,
    generating_coefficients,
    hm_from_multilinear,
    likelihood_coefficients,
    pm_from_multilinear,
    values_from_fourier,
    values_from_likelihood,
    ve_from_fourier,
    ve_from_generating,
    ve_from_multilinear,
)
from whp.theory.marginalization import (
    Pattern,
    TruthTable,
    Weights,
    fourier_polynomial,
    generating_polynomial,
    hamming_marginals,
    marginal,
    multilinear_extension,
    network_polynomial,
)

TRIANGLE = TruthTable(3, [1, 1, 1, -1, 1, -1, -1, -1])
ENTRIES = st.one_of(st.integers(-3, 3), st.fractions(-2, 2, max_denominator=6))
WEIGHT = st.one_of(st.sampled_from([0, 1, -1]), st.fractions(-3, 3, max_denominator=4))
PAIR = st.one_of(st.tuples(WEIGHT, WEIGHT), WEIGHT.map(lambda w: (w, -w)), st.just((0, 0)))


@st.composite
def table_weights(draw: st.DrawFn) -> tuple[TruthTable, Weights]:
    """A table and weights, with pairs that add to 0 and zero pairs among them."""
    n = draw(st.integers(0, 4))
    table = TruthTable(n, draw(st.lists(ENTRIES, min_size=2**n, max_size=2**n)))
    return table, Weights(tuple(draw(st.lists(PAIR, min_size=n, max_size=n))))


@given(table_weights())
def test_virtual_evidence_from_each_polynomial_also_where_divisors_vanish(inst: tuple[TruthTable, Weights]) -> None:
    table, weights = inst
    expected = network_polynomial(table, weights)
    assert ve_from_multilinear(lambda u: multilinear_extension(table, u), weights) == expected
    assert ve_from_generating(lambda z: generating_polynomial(table, z), weights) == expected
    assert ve_from_fourier(lambda s: fourier_polynomial(table, s), weights) == expected


def test_vanishing_sums_cost_one_evaluation_more_each_not_twice_as_many() -> None:
    n = 12
    calls = 0

    def constant_one(u: object) -> int:
        nonlocal calls
        calls += 1
        return 1

    assert ve_from_multilinear(constant_one, Weights.of([1] * n, [-1] * n)) == 0  # Π (w_i + w̄_i) = 0
    assert calls == n + 1


def test_float_weights_are_refused_only_where_a_divisor_vanishes() -> None:
    assert ve_from_multilinear(lambda u: 2 + 3 * u[0], Weights(((5.0, 7.0),))) == pytest.approx(39)
    with pytest.raises(TypeError, match="divisor vanishes"):
        ve_from_multilinear(lambda u: 2 + 3 * u[0], Weights(((5.0, -5.0),)))


@given(table_weights(), st.data())
def test_marginals_are_values_on_a_grid_and_along_lines(inst: tuple[TruthTable, Weights], data: st.DataObject) -> None:
    table, _ = inst
    q = Pattern("".join(data.draw(st.lists(st.sampled_from("01*"), min_size=table.n, max_size=table.n))))
    assert pm_from_multilinear(lambda u: multilinear_extension(table, u), q) == marginal(table, q)
    assert hm_from_multilinear(lambda u: multilinear_extension(table, u), q) == hamming_marginals(table, q)


def test_a_polynomial_that_only_agrees_on_the_cube_gives_wrong_marginals() -> None:
    assert pm_from_multilinear(lambda u: u[0], "*") == 1
    assert pm_from_multilinear(lambda u: u[0] ** 2, "*") == Fraction(1, 2)


def test_the_triangle_form_has_its_reference_coefficient_tables() -> None:
    assert likelihood_coefficients(TRIANGLE).values.tolist() == [1, 0, 0, -2, 0, -2, -2, 4]
    assert generating_coefficients(TRIANGLE).values.tolist() == [1, 1, 1, -1, 1, -1, -1, -1]
    half = Fraction(1, 2)
    assert fourier_coefficients(TRIANGLE).values.tolist() == [0, half, half, 0, half, 0, 0, -half]


@given(table_weights(), st.data())
def test_coefficient_tables_evaluate_to_their_polynomials(
    inst: tuple[TruthTable, Weights], data: st.DataObject
) -> None:
    table, _ = inst
    point = data.draw(st.lists(WEIGHT, min_size=table.n, max_size=table.n))
    assert evaluate_multilinear(likelihood_coefficients(table), point) == multilinear_extension(table, point)
    assert evaluate_multilinear(generating_coefficients(table), point) == generating_polynomial(table, point)
    assert evaluate_multilinear(fourier_coefficients(table), point) == fourier_polynomial(table, point)
    assert values_from_likelihood(likelihood_coefficients(table)) == table
    assert values_from_fourier(fourier_coefficients(table)) == table
    for source in Semantics:
        for target in Semantics:
            there = convert_coefficients(table, source, target)
            assert convert_coefficients(there, target, source) == table


def test_butterflies_are_exact_beyond_64_bits_and_fine_in_floats() -> None:
    table = TruthTable(3, [2**61] * 8)
    assert fourier_coefficients(table).values.tolist() == [2**61] + [0] * 7
    assert values_from_likelihood(table).values.tolist()[-1] == 2**64
    floats = TruthTable(2, [0.5, 0.25, 0.25, 0.0])
    assert fourier_coefficients(floats).values.tolist() == [0.25, 0.125, 0.125, 0.0]
    assert evaluate_multilinear(floats, [1.0, 1.0]) == 1.0


def test_butterflies_at_sixteen_variables_invert_one_another() -> None:
    table = TruthTable(16, np.random.default_rng(0).integers(-9, 10, size=2**16))
    assert values_from_likelihood(likelihood_coefficients(table)) == table
    point = [0, 1] * 8
    assert evaluate_multilinear(likelihood_coefficients(table), point) == table(*point)


def test_wrong_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match="n=3, got 2"):
        evaluate_multilinear(TRIANGLE, [1, 2])
