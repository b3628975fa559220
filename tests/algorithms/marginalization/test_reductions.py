"""Oracles on tables and the chain of reductions, with their query counts."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whp.algorithms.marginalization import (
    FunctionOracle,
    Oracle,
    TruthTableOracle,
    UnsupportedQueryError,
    ZeroWeightError,
    conditional_marginal,
    count_from_pm,
    ev_from_pm,
    hm_from_vm,
    hm_from_vm_on_stars,
    interpolate,
    interpolate_at_zero,
    pm_from_hm,
    pm_from_vm,
    solve_moments,
)
from whp.algorithms.marginalization.circuit_oracle import CircuitOracle, network_oracle
from whp.algorithms.marginalization.circuits import CircuitBuilder
from whp.algorithms.marginalization.determinant_circuits import dpp_circuit
from whp.theory.foundations.bayesian_networks import BayesianNetwork, DiscreteNode
from whp.theory.marginalization import (
    Pattern,
    Query,
    TruthTable,
    Weights,
    hamming_marginal,
    hamming_marginals,
    marginal,
    network_polynomial,
    total,
)

ENTRIES = st.one_of(st.integers(-3, 3), st.fractions(-2, 2, max_denominator=6))


@st.composite
def tables(draw: st.DrawFn, largest: int = 5) -> TruthTable:
    """Tables of small integers and fractions, all-zero ones among them."""
    n = draw(st.integers(0, largest))
    return TruthTable(n, draw(st.lists(ENTRIES, min_size=2**n, max_size=2**n)))


@st.composite
def table_patterns(draw: st.DrawFn) -> tuple[TruthTable, Pattern]:
    """A table and a pattern of its length."""
    table = draw(tables())
    letters = draw(st.lists(st.sampled_from("01*"), min_size=table.n, max_size=table.n))
    return table, Pattern("".join(letters))


@given(table_patterns())
def test_every_reduction_agrees_with_the_definition_at_its_stated_cost(instance: tuple[TruthTable, Pattern]) -> None:
    table, q = instance
    n = table.n
    expected, vector = marginal(table, q), hamming_marginals(table, q)

    def asked(oracle: Oracle) -> dict[Query, int]:
        return dict(oracle.calls)

    oracle = TruthTableOracle(table)
    assert pm_from_vm(oracle, q) == expected
    assert asked(oracle) == {Query.VM: 1}
    oracle = TruthTableOracle(table)
    assert pm_from_hm(oracle, q) == expected
    assert asked(oracle) == {Query.HM: n + 1}
    oracle = TruthTableOracle(table)
    assert hm_from_vm(oracle, q) == vector
    assert asked(oracle) == {Query.VM: n + 1}
    oracle = TruthTableOracle(table)
    assert hm_from_vm_on_stars(oracle, q) == vector
    assert asked(oracle) == {Query.VM: q.s + 1}
    oracle = TruthTableOracle(table)
    assert count_from_pm(oracle) == total(table)
    x = next(q.assignments())
    assert ev_from_pm(oracle, x) == table(*x)
    assert asked(oracle) == {Query.PM: 2}


@given(table_patterns(), st.data())
def test_table_queries_agree_with_the_definition(instance: tuple[TruthTable, Pattern], data: st.DataObject) -> None:
    table, q = instance
    oracle = TruthTableOracle(table)
    values = st.one_of(st.sampled_from([0, 1, -1]), st.fractions(-3, 3, max_denominator=5))
    pairs = data.draw(st.lists(st.tuples(values, values), min_size=table.n, max_size=table.n))
    weights = Weights(tuple(pairs))
    assert oracle.virtual_evidence(weights) == network_polynomial(table, weights)
    assert oracle.marginal(q) == marginal(table, q)
    assert oracle.hamming_marginals(q) == hamming_marginals(table, q)
    assert oracle.count() == total(table)
    for k in (-1, 0, table.n, table.n + 1):
        assert oracle.hamming_marginal(q, k) == hamming_marginal(table, q, k)


def test_full_evidence_query_is_the_value_and_conditionals_add_to_one() -> None:
    table = TruthTable(3, [1, 3, 2, 5, 2, 6, 3, 7])
    oracle = TruthTableOracle(table)
    for x in itertools.product((0, 1), repeat=3):
        assert oracle.marginal(Pattern.of(x)) == oracle.evaluate(x) == table(*x)
    assert sum(conditional_marginal(oracle, f"*{a}{b}", "1**") for a in (0, 1) for b in (0, 1)) == 1
    assert conditional_marginal(oracle, "0**", "1**") == 0


def test_nothing_can_be_conditioned_on_evidence_of_weight_zero() -> None:
    oracle = TruthTableOracle(TruthTable(2, [1, 2, 0, 0]))
    with pytest.raises(ZeroWeightError, match=r"evidence '1\*' has total weight 0"):
        conditional_marginal(oracle, "*1", "1*")
    assert conditional_marginal(oracle, "*1", "0*") == Fraction(2, 3)  # the oracle stays usable


def test_sums_that_leave_64_bits_stay_exact() -> None:
    table = TruthTable(4, [2**61] * 16)
    oracle = TruthTableOracle(table)
    assert oracle.count() == 2**65
    assert oracle.hamming_marginals("****") == tuple(2**61 * c for c in (1, 4, 6, 4, 1))
    huge = Weights.of([10**30] * 4, [-(10**30)] * 4)
    assert oracle.virtual_evidence(huge) == 0
    assert TruthTableOracle(TruthTable(1, [0, 0])).virtual_evidence(Weights.of([10**40])) == 0
    mixed = Weights(((0, 0), (10**40, 1), (1, 1), (1, 1)))
    assert oracle.virtual_evidence(mixed) == 0
    assert TruthTableOracle(TruthTable(1, [-(2**63), -(2**63)])).count() == -(2**64)


def test_a_table_over_twenty_variables_is_folded_quickly_and_exactly() -> None:
    values = np.arange(2**20) % 7 - 3
    oracle = TruthTableOracle(TruthTable(20, values))
    assert oracle.count() == int(values.sum())
    q = "1*0*" * 5
    assert sum(oracle.hamming_marginals(q)) == oracle.marginal(q)
    assert oracle.hamming_marginals(q)[:5] == (0,) * 5


def test_float_tables_answer_in_floats_and_never_in_nan() -> None:
    oracle = TruthTableOracle(TruthTable(2, [0.5, 0.25, 0.125, 0.125]))
    assert oracle.marginal("1*") == 0.25
    assert oracle.hamming_marginals("**") == (0.5, 0.375, 0.125)
    assert oracle.virtual_evidence(Weights.of([2.0, 1.0])) == 1.25
    big = TruthTableOracle(TruthTable(1, [1e308, 1e308]))
    with pytest.raises(OverflowError, match="exceeds the range of floats"):
        big.virtual_evidence(Weights.of([1e10], [-1e10]))
    with pytest.raises(OverflowError):
        big.count()


def test_interpolation_through_float_answers_is_refused() -> None:
    oracle = TruthTableOracle(TruthTable(2, [0.5, 0.25, 0.125, 0.125]))
    with pytest.raises(TypeError, match="amplify its rounding"):
        hm_from_vm(oracle, "**")
    with pytest.raises(TypeError, match="amplify its rounding"):
        hm_from_vm_on_stars(oracle, "1*")


def test_repeated_too_few_and_zero_nodes_are_refused_before_any_query() -> None:
    oracle = TruthTableOracle(TruthTable(2, [1, 2, 3, 4]))
    with pytest.raises(ValueError, match="distinct, got 1 at positions 0 and 2"):
        hm_from_vm(oracle, "**", nodes=[1, 2, 1])
    with pytest.raises(ValueError, match=r"n\+1 = 3 in number, got 2"):
        hm_from_vm(oracle, "**", nodes=[1, 2])
    with pytest.raises(ValueError, match="nonzero"):
        hm_from_vm_on_stars(oracle, "1*", nodes=[0, 1])
    with pytest.raises(ValueError, match=r"s\(q\)\+1 = 2"):
        hm_from_vm_on_stars(oracle, "1*", nodes=[1, 2, 3])
    assert not oracle.calls
    assert hm_from_vm(oracle, "**", nodes=[Fraction(1, 2), -1, 7]) == (1, 5, 4)


def test_hamming_marginals_over_forty_variables_from_a_product_oracle() -> None:
    n = 40  # N = Π (w_i + w̄_i): all ones
    oracle = FunctionOracle(n, virtual_evidence=lambda w: np.prod([a + b for a, b in w.pairs], dtype=object))
    vector = hm_from_vm(oracle, "*" * n)
    assert vector[:4] == (1, 40, 780, 9880)
    assert sum(vector) == 2**40


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda o: o.marginal("***"), ValueError, "length n=2, got 3"),
        (lambda o: o.marginal("1?"), ValueError, r"'\?' at position 1"),
        (lambda o: o.hamming_marginal("*", 1), ValueError, "length n=2, got 1"),
        (lambda o: o.hamming_marginal("**", 0.5), TypeError, "k must be an int"),
        (lambda o: o.evaluate((0, 2)), ValueError, "only 0 and 1"),
        (lambda o: o.evaluate((0,)), ValueError, "n=2 entries, got 1"),
        (lambda o: o.virtual_evidence(Weights.of([1])), ValueError, "n=2, got 1"),
        (lambda o: o.virtual_evidence([(1, 1), (1, 1)]), TypeError, "Weights object"),
        (lambda o: pm_from_vm(o, "*"), ValueError, "length n=2, got 1"),
        (lambda o: ev_from_pm(o, (1, 1, 1)), ValueError, "n=2 entries"),
        (lambda o: interpolate([0, 1], [1]), ValueError, "equally many"),
        (lambda o: interpolate([0, 0], [1, 1]), ValueError, "distinct"),
        (lambda o: interpolate_at_zero([1, 1], [1, 1]), ValueError, "distinct"),
        (lambda o: solve_moments([2, 2], [1, 1]), ValueError, "distinct"),
        (lambda o: solve_moments([2], [1, 1]), ValueError, "equally many"),
    ],
)
def test_malformed_queries_are_refused(call, error: type[Exception], message: str) -> None:  # type: ignore[no-untyped-def]
    oracle = TruthTableOracle(TruthTable(2, [1, 2, 3, 4]))
    with pytest.raises(error, match=message):
        call(oracle)
    assert not oracle.calls


def test_an_oracle_refuses_queries_it_does_not_answer() -> None:
    oracle = FunctionOracle(1, evaluate=lambda x: x[0], count=lambda: 1)
    assert (oracle.evaluate((1,)), oracle.count()) == (1, 1)
    with pytest.raises(UnsupportedQueryError, match="does not answer PM queries, only CNT, EV"):
        oracle.marginal("*")


@given(st.lists(st.fractions(-5, 5, max_denominator=7), max_size=6), st.data())
def test_interpolation_and_moments_recover_what_made_the_values(coefs: list[Fraction], data: st.DataObject) -> None:
    size = len(coefs)
    node = st.fractions(-4, 4, max_denominator=5)
    nodes = data.draw(st.lists(node, min_size=size, max_size=size, unique=True))
    values = [sum((c * t**k for k, c in enumerate(coefs)), Fraction(0)) for t in nodes]
    assert interpolate(nodes, values) == tuple(coefs)
    moments = [sum((c * t**d for c, t in zip(coefs, nodes, strict=True)), Fraction(0)) for d in range(size)]
    assert solve_moments(nodes, moments) == tuple(coefs)
    if size and 0 not in nodes:
        assert interpolate_at_zero(nodes, values) == coefs[0]


def test_circuits_and_networks_answer_every_query() -> None:
    table = TruthTable.from_function(3, lambda x: [1, 3, 2, 5, 2, 6, 3, 7][4 * x[0] + 2 * x[1] + x[2]])
    oracle = CircuitOracle(dpp_circuit([[2, 1, 0], [1, 2, 1], [0, 1, 3]]))
    for q in ("***", "*1*", "101", "0*1"):
        assert oracle.marginal(q) == marginal(table, Pattern(q))
        assert oracle.hamming_marginals(q) == hamming_marginals(table, Pattern(q))
    assert oracle.count() == 29
    assert oracle.evaluate((1, 0, 1)) == 6
    weights = Weights.of([Fraction(1, 2), 3, Fraction(-2, 5)], [1, 2, Fraction(1, 3)])
    assert oracle.virtual_evidence(weights) == Fraction(-61, 6)
    floats = Weights.of([0.5, 3.0, -0.4], [1.0, 2.0, 1 / 3])
    assert oracle.virtual_evidence(floats) == pytest.approx(-61 / 6)
    rain = DiscreteNode("rain", ("no", "yes"), (), [0.75, 0.25])
    wet = DiscreteNode("wet", ("no", "yes"), ("rain",), [[0.875, 0.125], [0.25, 0.75]])
    network = network_oracle(BayesianNetwork([rain, wet]))
    assert network.count() == 1
    assert network.marginal("*1") == Fraction(3, 4) / 8 + Fraction(3, 16)
    assert network.hamming_marginals("**") == (Fraction(21, 32), Fraction(3, 32) + Fraction(1, 16), Fraction(3, 16))
    with pytest.raises(ValueError, match="one output"):
        CircuitOracle(CircuitBuilder(["w0"]).build(0))
    with pytest.raises(ValueError, match="2 states"):
        network_oracle(BayesianNetwork([DiscreteNode("die", ("1", "2", "3"), (), [0.25, 0.25, 0.5])]))
