"""The separating functions at work: cuts from virtual evidence and from slices, pair lift, model counting."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whp.algorithms.marginalization import (
    BooleanVariantOracle,
    CutWitnessOracle,
    FormulaOracle,
    FunctionOracle,
    InconsistentOracleError,
    PairLiftOracle,
    QuadraticFormOracle,
    SignedVariantOracle,
    TruthTableOracle,
    UnsupportedQueryError,
    cut_distribution_from_hm,
    cut_distribution_from_vm,
    difference_of_counts,
    formula_truth_table,
    model_count_from_pm,
    quadratic_truth_table,
)
from whp.theory.foundations.graphs import (
    Graph,
    all_graphs,
    complete_graph,
    cut_distribution,
    cycle_graph,
    path_graph,
    petersen_graph,
    weighted_cut_distribution,
)
from whp.theory.marginalization import (
    CNF,
    CutWitness,
    Pattern,
    QuadraticForm,
    Query,
    TruthTable,
    Weights,
    hamming_cut_polynomial,
    hamming_marginals,
    marginal,
    network_polynomial,
    pair_lift,
    virtual_cut_value,
    witness_hamming_polynomial,
    witness_network_polynomial,
)

BULL = Graph(5, ((0, 1), (1, 2), (0, 2), (1, 3), (2, 4)))


@pytest.mark.parametrize("witness", [CutWitness(3, 1), CutWitness(3, 2), CutWitness(2, 4), CutWitness(1, 3)])
def test_the_witness_oracle_agrees_with_the_table_of_its_function(witness: CutWitness) -> None:
    oracle, table = CutWitnessOracle(witness), quadratic_truth_table(witness.form())
    rng = np.random.default_rng(witness.n)
    for _ in range(12):
        q = Pattern("".join(rng.choice(list("01**"), size=witness.n)))
        assert oracle.marginal(q) == marginal(table, q)
        assert oracle.hamming_marginals(q) == hamming_marginals(table, q) == witness_hamming_polynomial(witness, q)
        values = [Fraction(int(a), int(b)) for a, b in rng.integers([-4, 1], [5, 4], size=(2 * witness.n, 2))]
        weights = Weights.of(values[: witness.n], values[witness.n :])
        assert oracle.virtual_evidence(weights) == network_polynomial(table, weights)
        assert witness_network_polynomial(witness, weights) == network_polynomial(table, weights)
        floats = Weights.of([float(v) for v in values[: witness.n]], [float(v) for v in values[witness.n :]])
        expected = float(network_polynomial(table, weights))
        assert oracle.virtual_evidence(floats) == pytest.approx(expected, rel=1e-9, abs=1e-9)
    assert oracle.count() == oracle.marginal("*" * witness.n)


@pytest.mark.parametrize("graph", [complete_graph(3), cycle_graph(4), complete_graph(4), BULL, petersen_graph()])
def test_cut_distribution_from_virtual_evidence_with_one_call_per_node(graph: Graph) -> None:
    witness = CutWitness(graph.n_vertices, 1)
    oracle = CutWitnessOracle(witness)
    assert cut_distribution_from_vm(oracle, witness, graph) == cut_distribution(graph)
    assert dict(oracle.calls) == {Query.VM: graph.n_edges + 1}
    for w in (Fraction(1, 2), Fraction(1, 3), 1):
        assert oracle.virtual_evidence(witness.edge_weights(graph, w)) == virtual_cut_value(graph, w)


def test_cut_distribution_from_hamming_slices_of_the_triangle() -> None:
    graph, witness = complete_graph(3), CutWitness(3, 4)
    oracle = CutWitnessOracle(witness)
    expected = {(0, 0): 1, (1, 2): 3, (2, 2): 3, (3, 0): 1}
    points = [Fraction(1, k) for k in (2, 3, 4, 5)]
    assert cut_distribution_from_hm(oracle, witness, graph, points) == expected
    # H_d is known from m + d|E| + 1 slices, d = 1 .. |E|+1
    assert dict(oracle.calls) == {Query.HM: sum(3 + 3 * d + 1 for d in (1, 2, 3, 4))}
    for d in (1, 2):
        pattern = witness.edge_pattern(graph, d)
        expected_slices = hamming_cut_polynomial(graph, d)
        assert oracle.hamming_marginals(pattern)[: len(expected_slices)] == expected_slices


@pytest.mark.parametrize("graph", [BULL, complete_graph(4), cycle_graph(5), Graph(3, ()), Graph(4, ((1, 3),))])
def test_cut_distribution_from_hamming_slices(graph: Graph) -> None:
    witness = CutWitness(graph.n_vertices, graph.n_edges + 1)
    assert cut_distribution_from_hm(CutWitnessOracle(witness), witness, graph) == weighted_cut_distribution(graph)


def test_both_gadgets_on_every_graph_with_up_to_four_vertices() -> None:
    for n in range(5):
        for graph in all_graphs(n):
            witness = CutWitness(n, graph.n_edges + 1)
            oracle = CutWitnessOracle(witness)
            assert cut_distribution_from_vm(oracle, witness, graph) == cut_distribution(graph)
            assert cut_distribution_from_hm(oracle, witness, graph) == weighted_cut_distribution(graph)


def test_parallel_edges_take_further_copies() -> None:
    graph = Graph(3, ((0, 1), (0, 1), (1, 2)))
    witness = CutWitness(3, 8)
    oracle = CutWitnessOracle(witness)
    assert cut_distribution_from_vm(oracle, witness, graph) == cut_distribution(graph)
    assert cut_distribution_from_hm(oracle, witness, graph) == weighted_cut_distribution(graph)
    with pytest.raises(ValueError, match=r"1 copies of each pair, the graph needs 2 of \(0, 1\)"):
        cut_distribution_from_vm(CutWitnessOracle(CutWitness(3, 1)), CutWitness(3, 1), graph)


def test_a_weight_and_its_inverse_are_different_nodes() -> None:
    graph, witness = Graph(2, ((0, 1),)), CutWitness(2, 1)
    weights = [Fraction(2), Fraction(1, 2)]  # ratios -1/3 and 1/3
    assert cut_distribution_from_vm(CutWitnessOracle(witness), witness, graph, weights) == (2, 2)


def test_bad_nodes_are_refused() -> None:
    graph, witness = Graph(2, ((0, 1),)), CutWitness(2, 2)
    oracle = CutWitnessOracle(witness)
    with pytest.raises(ValueError, match=r"differ from -1"):
        cut_distribution_from_vm(oracle, witness, graph, [-1, 2])
    with pytest.raises(ValueError, match="distinct, got 2 at positions 0 and 1"):
        cut_distribution_from_vm(oracle, witness, graph, [2, Fraction(2)])
    with pytest.raises(ValueError, match=r"\|E\|\+1 = 2 in number, got 1"):
        cut_distribution_from_vm(oracle, witness, graph, [1])
    with pytest.raises(TypeError, match=r"float 0\.5"):
        cut_distribution_from_vm(oracle, witness, graph, [0.5, 2])
    for points, message in [
        ([0, Fraction(1, 2), Fraction(1, 3)], "strictly between"),
        ([Fraction(1, 2)] * 3, "distinct"),
    ]:
        with pytest.raises(ValueError, match=message):
            cut_distribution_from_hm(oracle, witness, graph, points)
    with pytest.raises(ValueError, match=r"m\+1 = 3"):
        cut_distribution_from_hm(oracle, witness, graph, [Fraction(1, 2)])
    assert not oracle.calls


def test_an_oracle_for_another_function_is_found_out() -> None:
    graph, witness = complete_graph(3), CutWitness(3, 4)
    ones = FunctionOracle(witness.n, virtual_evidence=lambda w: 1, hamming_marginal=lambda q, k: 1)
    with pytest.raises(InconsistentOracleError):
        cut_distribution_from_vm(ones, witness, graph)
    with pytest.raises(InconsistentOracleError):
        cut_distribution_from_hm(ones, witness, graph)
    floats = FunctionOracle(witness.n, virtual_evidence=lambda w: 1.0)
    with pytest.raises(TypeError, match=r"float 1\.0"):
        cut_distribution_from_vm(floats, witness, graph)


def test_enumeration_over_too_many_vertices_is_refused_but_plain_marginals_are_not() -> None:
    oracle = CutWitnessOracle(CutWitness(21, 1))
    assert oracle.marginal("*" * oracle.n) == oracle.count()
    with pytest.raises(ValueError, match="m <= 20, got m=21"):
        oracle.hamming_marginal("*" * oracle.n, 3)


@st.composite
def table_patterns(draw: st.DrawFn) -> tuple[TruthTable, Pattern]:
    """A table over n variables and a pattern over 2n."""
    n = draw(st.integers(0, 3))
    table = TruthTable(n, draw(st.lists(st.integers(-3, 3), min_size=2**n, max_size=2**n)))
    return table, Pattern("".join(draw(st.lists(st.sampled_from("01***"), min_size=2 * n, max_size=2 * n))))


@given(table_patterns(), st.data())
def test_lifted_queries_agree_with_the_lifted_table(inst: tuple[TruthTable, Pattern], data: st.DataObject) -> None:
    table, q = inst
    lifted, base = pair_lift(table), TruthTableOracle(table)
    oracle = PairLiftOracle(base)
    assert oracle.marginal(q) == marginal(lifted, q)
    base.calls.clear()
    vector = tuple(oracle.hamming_marginal(q, k) for k in range(2 * table.n + 1))
    assert vector == hamming_marginals(lifted, q)
    assert set(base.calls) <= {Query.PM}
    assert base.calls[Query.PM] <= 1
    values = data.draw(st.lists(st.integers(-3, 3), min_size=4 * table.n, max_size=4 * table.n))
    weights = Weights.of(values[: 2 * table.n], values[2 * table.n :])
    assert oracle.virtual_evidence(weights) == network_polynomial(lifted, weights)
    x = next(q.assignments())
    assert oracle.evaluate(x) == lifted(*x)
    assert oracle.count() == base.count()


def test_the_lift_of_a_plain_oracle_answers_slices_but_no_virtual_evidence() -> None:
    path = QuadraticForm.from_terms(4, path_graph(4).edges)
    base = QuadraticFormOracle(path)
    oracle = PairLiftOracle(base)
    assert oracle.hamming_marginals("*" * 8) == (0, 0, 0, 0, 4, 0, 0, 0, 0)
    assert base.calls[Query.PM] == 1
    assert oracle.hamming_marginal("1***" + "1***", 4) == 0
    assert base.calls[Query.PM] == 1  # clashing evidence asks nothing
    with pytest.raises(UnsupportedQueryError, match="VM"):
        oracle.virtual_evidence(Weights.of([1] * 8))


def test_models_are_counted_by_one_plain_marginal_while_the_full_count_is_constant() -> None:
    for phi, models in [
        (CNF(3, ((1, 2), (-1, 3))), 4),
        (CNF(2, ((1,), (-1,))), 0),
        (CNF(2, ()), 4),
        (CNF(0, ()), 1),
        (CNF(0, ((),)), 0),
    ]:
        free, table = FormulaOracle(phi), TruthTableOracle(formula_truth_table(phi))
        assert free.count() == table.count() == 2**phi.n
        assert model_count_from_pm(table) == models
        with pytest.raises(UnsupportedQueryError):
            model_count_from_pm(free)
    assert FormulaOracle(CNF(60, ((1, -60),))).count() == 2**60
    assert FormulaOracle(CNF(1, ((1,),))).is_nonnegative


def test_weighted_sums_are_differences_of_counts_over_a_denominator() -> None:
    table = TruthTable(2, [2, -3, 0, 5])
    weights = Weights(((Fraction(1, 2), Fraction(-2, 3)), (3, Fraction(1, 4))))
    split = difference_of_counts(table, weights)
    assert split.value == network_polynomial(table, weights)
    assert min(split.positive, split.negative) >= 0
    assert split.denominator == 24
    with pytest.raises(TypeError, match="floats"):
        difference_of_counts(table, Weights.of([0.5, 1]))
    with pytest.raises(TypeError, match="integer values"):
        difference_of_counts(TruthTable(1, [Fraction(1, 2), 1]), Weights.of([1]))


@pytest.mark.parametrize("graph", [complete_graph(3), BULL, Graph(3, ((0, 1),))])
def test_the_boolean_variant_and_its_uniform_distribution_solve_the_same_cuts(graph: Graph) -> None:
    witness = CutWitness(graph.n_vertices, graph.n_edges + 1)
    boolean = BooleanVariantOracle(CutWitnessOracle(witness))
    total = boolean.count()
    uniform = FunctionOracle(
        witness.n,
        hamming_marginal=lambda q, k: Fraction(boolean.hamming_marginal(q, k)) / total,
        virtual_evidence=lambda w: Fraction(boolean.virtual_evidence(w)) / total,
    )
    for signed in (SignedVariantOracle(boolean), SignedVariantOracle(uniform, total)):
        assert cut_distribution_from_vm(signed, witness, graph) == cut_distribution(graph)
        assert cut_distribution_from_hm(signed, witness, graph) == weighted_cut_distribution(graph)
        assert signed.base.calls[Query.VM] == graph.n_edges + 1


def test_the_boolean_variant_agrees_with_its_table() -> None:
    witness = CutWitness(3, 1)
    signed = CutWitnessOracle(witness)
    boolean = BooleanVariantOracle(signed)
    table = TruthTable(witness.n, (quadratic_truth_table(witness.form()).values + 1) // 2)
    back = SignedVariantOracle(boolean)
    for q in ("******", "1*0*1*", "110***"):
        assert boolean.marginal(q) == marginal(table, Pattern(q))
        assert boolean.hamming_marginals(q) == hamming_marginals(table, Pattern(q))
        assert back.marginal(q) == signed.marginal(q)
    weights = Weights.of([Fraction(1, 3), 2, -1, 1, Fraction(1, 2), 5], [1, 2, 3, 1, 0, 1])
    assert boolean.virtual_evidence(weights) == network_polynomial(table, weights)
    assert boolean.virtual_evidence(Weights.of([0.5] * 6)) == pytest.approx(
        float(network_polynomial(table, Weights.of([Fraction(1, 2)] * 6)))
    )
    assert (boolean.evaluate((1, 0, 0, 1, 0, 0)), back.evaluate((1, 0, 0, 1, 0, 0))) == (0, -1)
    assert back.count() == signed.count()
    with pytest.raises(ValueError, match="normaliser must be positive, got 0"):
        SignedVariantOracle(boolean, 0)
