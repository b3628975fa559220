"""Draws from a function by its marginals."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import power_divergence

from whp.algorithms.marginalization import (
    DPPOracle,
    EvenParityOracle,
    FunctionOracle,
    QuadraticFormOracle,
    SignedFunctionError,
    TruthTableOracle,
    ZeroWeightError,
    ancestral_conditionals,
    draw,
    draw_under_weights,
    draw_with_hamming_weight,
)
from whp.theory.foundations.graphs import cycle_graph
from whp.theory.marginalization import DPPKernel, Pattern, QuadraticForm, Query, TruthTable, Weights, marginal

TABLE = TruthTable(3, [1, 3, 2, 5, 2, 6, 3, 7])
CYCLE = QuadraticForm.from_terms(5, cycle_graph(5).edges)


def test_conditionals_multiply_to_the_probability_with_n_plus_one_queries() -> None:
    for x in itertools.product((0, 1), repeat=3):
        oracle = TruthTableOracle(TABLE)
        product = Fraction(1)
        for conditional in ancestral_conditionals(oracle, x):
            product *= conditional
        assert product == Fraction(TABLE(*x), 29)
        assert dict(oracle.calls) == {Query.PM: 4}


def test_conditionals_after_a_prefix_of_weight_zero_are_zero() -> None:
    assert ancestral_conditionals(TruthTableOracle(TruthTable(2, [1, 2, 0, 0])), (1, 1)) == (0, 0)


def test_one_draw_takes_n_plus_one_queries() -> None:
    oracle = EvenParityOracle(CYCLE)
    assert draw(oracle, np.random.default_rng(0)).shape == (1, 5)
    assert oracle.calls[Query.PM] == 6


def frequencies(drawn: np.ndarray) -> np.ndarray:
    n = drawn.shape[1]
    return np.bincount(drawn @ (1 << np.arange(n - 1, -1, -1)), minlength=2**n)


@pytest.mark.parametrize(
    "oracle", [TruthTableOracle(TABLE), DPPOracle(DPPKernel.of([[2, 1, 0], [1, 2, 1], [0, 1, 3]]))]
)
def test_draws_follow_the_function(oracle: TruthTableOracle) -> None:
    counts = frequencies(draw(oracle, np.random.default_rng(11), size=29_000))
    expected = np.array(TABLE.values) * 1000
    assert power_divergence(counts, expected, lambda_="log-likelihood").pvalue > 1e-6


def test_draws_stay_on_the_support() -> None:
    drawn = draw(EvenParityOracle(CYCLE), np.random.default_rng(2), size=200)
    assert all(CYCLE(x) == 0 for x in drawn)
    one_point = TruthTableOracle(TruthTable(3, [0, 0, 0, 0, 0, 4, 0, 0]))
    assert draw(one_point, np.random.default_rng(3), size=5).tolist() == [[1, 0, 1]] * 5
    assert draw(TruthTableOracle(TruthTable(0, [2])), np.random.default_rng(3), size=2).shape == (2, 0)


def test_evidence_weight_and_virtual_evidence_condition_the_draws() -> None:
    rng = np.random.default_rng(7)
    oracle = TruthTableOracle(TABLE)
    with_evidence = draw(oracle, rng, size=17_000, evidence="*1*")
    assert (with_evidence[:, 1] == 1).all()
    expected = np.array([marginal(TABLE, Pattern(f"{a}1{b}")) for a in (0, 1) for b in (0, 1)]) * 1000
    counts = np.bincount(with_evidence[:, 0] * 2 + with_evidence[:, 2], minlength=4)
    assert power_divergence(counts, expected, lambda_="log-likelihood").pvalue > 1e-6
    slices = draw_with_hamming_weight(oracle, 2, rng, size=14_000)
    assert (slices.sum(axis=1) == 2).all()
    counts = frequencies(slices)[[3, 5, 6]]
    assert power_divergence(counts, [5000, 6000, 3000], lambda_="log-likelihood").pvalue > 1e-6
    soft = draw_under_weights(oracle, Weights(((2, 1), (0, 1), (1, 3))), rng, size=20_000)
    weight = np.array([1 * 3, 3 * 1, 2 * 2 * 3, 6 * 2 * 1])
    counts = frequencies(soft)[[0, 1, 4, 5]]
    assert counts.sum() == 20_000
    assert power_divergence(counts, weight / weight.sum() * 20_000, lambda_="log-likelihood").pvalue > 1e-6


def test_draws_are_a_function_of_the_generator() -> None:
    first, second = (draw(TruthTableOracle(TABLE), np.random.default_rng(4), size=50) for _ in range(2))
    assert np.array_equal(first, second)


def test_tiny_probabilities_are_compared_exactly() -> None:
    tiny = TruthTableOracle(TruthTable(1, [2**200, 1]))
    assert draw(tiny, np.random.default_rng(0), size=100).sum() == 0
    deep = TruthTableOracle(TruthTable(1, [1, 2**200]))
    assert draw(deep, np.random.default_rng(0), size=100).sum() == 100


def test_float_oracles_give_draws_too() -> None:
    rng = np.random.default_rng(1)
    factor = rng.standard_normal((6, 2))
    drawn = draw(DPPOracle(DPPKernel.of(factor @ factor.T)), rng, size=300)
    assert drawn.sum(axis=1).max() <= 2  # the kernel has rank 2
    small = TruthTableOracle(TruthTable(2, [1e-30, 0.0, 1.0, 1.0]))
    assert draw(small, rng, size=20)[:, 0].all()


def test_zero_functions_and_impossible_evidence_are_refused() -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(ZeroWeightError, match="total weight 0"):
        draw(TruthTableOracle(TruthTable(2, [0, 0, 0, 0])), rng)
    with pytest.raises(ZeroWeightError, match=r"'1\*'"):
        draw(TruthTableOracle(TruthTable(2, [1, 2, 0, 0])), rng, evidence="1*")
    with pytest.raises(ZeroWeightError):
        draw_with_hamming_weight(TruthTableOracle(TruthTable(2, [1, 0, 0, 0])), 2, rng)
    with pytest.raises(ZeroWeightError):
        ancestral_conditionals(TruthTableOracle(TruthTable(1, [0, 0])), (0,))


def test_signed_functions_are_refused_even_where_their_total_is_positive() -> None:
    rng = np.random.default_rng(0)
    signed = TruthTable(2, [2, -1, 1, 1])
    with pytest.raises(SignedFunctionError, match="signed"):
        draw(TruthTableOracle(signed), rng)
    with pytest.raises(SignedFunctionError):
        ancestral_conditionals(TruthTableOracle(signed), (1, 1))
    with pytest.raises(SignedFunctionError):
        draw(QuadraticFormOracle(CYCLE), rng)
    # an oracle that cannot tell its sign is found out on the way
    blind = FunctionOracle(2, marginal=lambda q: marginal(signed, q))
    with pytest.raises(SignedFunctionError, match=r"outside \[0, 1\]"):
        draw(blind, rng, size=50)
    negative = FunctionOracle(1, marginal=lambda q: -1)
    with pytest.raises(SignedFunctionError, match="negative total"):
        draw(negative, rng)
    with pytest.raises(SignedFunctionError, match="weights must not be negative"):
        draw_under_weights(TruthTableOracle(TABLE), Weights(((-1, 1), (1, 1), (1, 1))), rng)


def test_malformed_requests_are_refused() -> None:
    rng = np.random.default_rng(0)
    oracle = TruthTableOracle(TABLE)
    with pytest.raises(ValueError, match="size must be at least 0"):
        draw(oracle, rng, size=-1)
    with pytest.raises(ValueError, match="length n=3"):
        draw(oracle, rng, evidence="**")
    with pytest.raises(ValueError, match="n=3, got 1"):
        draw_under_weights(oracle, Weights.of([1]), rng)
