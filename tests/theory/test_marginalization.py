"""Setting and quantities of marginalization: reference numbers, well-formedness, bad input."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

from whp.theory.foundations.graphs import (
    Graph,
    all_graphs,
    complete_graph,
    component_count,
    cut_distribution,
    cut_size,
    cycle_graph,
    grid_graph,
    path_graph,
    petersen_graph,
    weighted_cut_distribution,
)
from whp.theory.marginalization import (
    CNF,
    CutWitness,
    DPPKernel,
    Pattern,
    QuadraticForm,
    TruthTable,
    Weights,
    as_scalar,
    determinant,
    formula_with_complement,
    fourier_polynomial,
    gauss_sum_by_definition,
    generating_polynomial,
    hamming_congruence,
    hamming_cut_polynomial,
    hamming_marginals,
    marginal,
    multilinear_extension,
    network_polynomial,
    pair_lift,
    principal_minor,
    total,
    virtual_cut_value,
)
from whp.theory.marginalization.theorems import (
    BACKWARD_OPERATIONS,
    CUT_QUERIES,
    ELIMINATION_WORDS,
    EXTRACTED_GATES,
    HAMMING_CUT_QUERIES,
    HAMMING_CUT_VALUES,
    HAMMING_QUERIES,
    SAMPLING_QUERIES,
)

HALF = Fraction(1, 2)
TRIANGLE = QuadraticForm.from_terms(3, [(0, 1), (1, 2), (0, 2)])
TRIANGLE_TABLE = TruthTable.from_function(3, lambda x: 1 - 2 * TRIANGLE(x))
DPP = DPPKernel.of([[2, 1, 0], [1, 2, 1], [0, 1, 3]])
DPP_TABLE = TruthTable.from_function(3, lambda x: principal_minor(DPP, x))
BULL = Graph(5, ((0, 1), (1, 2), (0, 2), (1, 3), (2, 4)))


def graph_form(graph: Graph) -> QuadraticForm:
    return QuadraticForm.from_terms(graph.n_vertices, graph.edges)


def test_the_polynomials_of_the_triangle_form_have_their_reference_coefficients() -> None:
    for x in itertools.product((0, 1, HALF, Fraction(-3, 7)), repeat=3):
        a, b, c = x
        assert multilinear_extension(TRIANGLE_TABLE, x) == 1 - 2 * (a * b + a * c + b * c) + 4 * a * b * c
        assert generating_polynomial(TRIANGLE_TABLE, x) == 1 + a + b + c - a * b - a * c - b * c - a * b * c
        assert fourier_polynomial(TRIANGLE_TABLE, x) == (a + b + c) / Fraction(2) - a * b * c / Fraction(2)
    assert generating_polynomial(TRIANGLE_TABLE, [HALF, Fraction(1, 3), Fraction(1, 5)]) == Fraction(5, 3)


def test_the_reference_determinantal_function() -> None:
    assert DPP_TABLE.values.tolist() == [1, 3, 2, 5, 2, 6, 3, 7]
    assert hamming_marginals(DPP_TABLE, Pattern("***")) == (1, 7, 14, 7)
    assert total(DPP_TABLE) == 29 == 8 * multilinear_extension(DPP_TABLE, [HALF] * 3)
    assert marginal(DPP_TABLE, Pattern("*1*")) == 17 == 4 * multilinear_extension(DPP_TABLE, [HALF, 1, HALF])
    point = [Fraction(1, 3), Fraction(3, 4), Fraction(2, 5)]
    assert multilinear_extension(DPP_TABLE, point) == Fraction(67, 20)
    weights = Weights.of([HALF, 3, Fraction(-2, 5)], [1, 2, Fraction(1, 3)])
    assert network_polynomial(DPP_TABLE, weights) == Fraction(-61, 6)


@pytest.mark.parametrize(
    ("graph", "vector"),
    [
        (complete_graph(3), [1, 3, -3, -1]),
        (path_graph(4), [1, 4, 0, 0, -1]),
        (cycle_graph(4), [1, 4, -2, 4, 1]),
        (complete_graph(4), [1, 4, -6, -4, 1]),
        (cycle_graph(5), [1, 5, 0, 0, -5, -1]),
        (grid_graph(3, 3), [1, 9, 12, 4, 6, -2, 12, 20, 1, 1]),
    ],
)
def test_the_congruence_mod_4_of_hamming_sums(graph: Graph, vector: list[int]) -> None:
    form = graph_form(graph)
    assert hamming_congruence(form) == tuple(value % 4 for value in vector)
    assert gauss_sum_by_definition(form) == sum(vector)


@pytest.mark.parametrize("constant", [0, 1])
def test_the_congruence_holds_with_linear_terms_and_either_constant(constant: int) -> None:
    form = QuadraticForm.from_terms(4, [(0, 1), (2, 3), (0,), (3,)], constant)
    table = TruthTable.from_function(4, lambda x: 1 - 2 * form(x))
    assert hamming_congruence(form) == tuple(int(c) % 4 for c in hamming_marginals(table, Pattern("****")))


def test_cut_distributions_have_their_reference_values() -> None:
    assert cut_distribution(complete_graph(3)) == (2, 0, 6, 0)
    assert cut_distribution(cycle_graph(4)) == (2, 0, 12, 0, 2)
    assert cut_distribution(complete_graph(4)) == (2, 0, 0, 8, 6, 0, 0)
    assert cut_distribution(BULL) == (2, 4, 8, 12, 6, 0)
    expected = (2, 0, 0, 20, 30, 72, 200, 240, 150, 120, 120, 60, 10, 0, 0, 0)
    assert cut_distribution(petersen_graph()) == expected
    assert weighted_cut_distribution(complete_graph(3)) == {(0, 0): 1, (1, 2): 3, (2, 2): 3, (3, 0): 1}


@pytest.mark.parametrize(
    ("graph", "values"),
    [
        (complete_graph(3), (9, Fraction(224, 27), 16)),
        (cycle_graph(4), (17, Fraction(1312, 81), 32)),
        (complete_graph(4), (27, Fraction(512, 27), 128)),
        (BULL, (36, Fraction(896, 27), 64)),
    ],
)
def test_virtual_evidence_on_the_cut_gadget_has_its_reference_values(
    graph: Graph, values: tuple[Fraction, ...]
) -> None:
    assert tuple(virtual_cut_value(graph, w) for w in (HALF, Fraction(1, 3), 1)) == values
    assert values[2] == 2**graph.n_edges * 2 ** component_count(graph)


def test_the_hamming_gadget_on_the_triangle_has_its_reference_coefficients() -> None:
    assert hamming_cut_polynomial(complete_graph(3), 1) == (1, 6, 3, -4, 3, 6, 1)
    assert hamming_cut_polynomial(complete_graph(3), 2) == (1, 9, 12, 12, 30, 30, 12, 12, 9, 1)


@pytest.mark.parametrize("graph", [complete_graph(3), Graph(3, ((0, 1),)), Graph(2, ())])
def test_gadget_values_are_those_of_the_witness_function(graph: Graph) -> None:
    witness = CutWitness(graph.n_vertices, 1)
    form = witness.form()
    table = TruthTable.from_function(witness.n, lambda x: 1 - 2 * form(x))
    for w in (HALF, -3, 1):
        assert network_polynomial(table, witness.edge_weights(graph, w)) == virtual_cut_value(graph, w)
    observed = hamming_marginals(table, witness.edge_pattern(graph, 1))
    expected = hamming_cut_polynomial(graph, 1)
    assert observed == expected + (0,) * (len(observed) - len(expected))


def test_the_pair_lift_of_the_triangle_form_has_zero_slices_and_that_of_the_path_has_four() -> None:
    lifted = pair_lift(TRIANGLE_TABLE)
    assert hamming_marginals(lifted, Pattern("*" * 6)) == (0,) * 7
    path = graph_form(path_graph(4))
    lifted_path = pair_lift(TruthTable.from_function(4, lambda x: 1 - 2 * path(x)))
    assert hamming_marginals(lifted_path, Pattern("*" * 8)) == (0, 0, 0, 0, 4, 0, 0, 0, 0)


def test_a_formula_with_its_complement_always_counts_to_the_number_of_assignments() -> None:
    for clauses in [(), ((),), ((1, 2), (-1,)), ((1,), (-1,))]:
        phi = CNF(2, clauses)
        points = list(itertools.product((0, 1), repeat=3))
        assert sum(formula_with_complement(phi, x) for x in points) == 4
        models = sum(phi(x) for x in itertools.product((0, 1), repeat=2))
        assert sum(formula_with_complement(phi, x) for x in points if x[2] == 0) == models


def test_no_variables_leave_one_value_and_the_empty_product_is_one() -> None:
    constant = TruthTable(0, [7])
    assert total(constant) == marginal(constant, Pattern("")) == network_polynomial(constant, Weights(())) == 7
    assert hamming_marginals(constant, Pattern("")) == (7,)
    assert determinant([]) == 1 == principal_minor(DPPKernel(()), ())
    assert gauss_sum_by_definition(QuadraticForm.from_terms(0, [], constant=1)) == -1
    assert hamming_congruence(QuadraticForm.from_terms(0, [])) == (1,)


def test_equal_monomials_cancel_and_squares_are_linear() -> None:
    assert QuadraticForm.from_terms(2, [(0, 1), (1, 0)]).terms == ()
    assert QuadraticForm.from_terms(2, [(1, 1)]).terms == ((1,),)
    assert QuadraticForm.from_terms(2, [(), ()], 1).constant == 1


def test_a_cubic_term_is_refused() -> None:
    with pytest.raises(ValueError, match=r"degree at most 2, got \(0, 1, 2\)"):
        QuadraticForm.from_terms(3, [(0, 1, 2)])


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Pattern("01x"), "'x' at position 2"),
        (lambda: Pattern.of([0, 2]), "'2' at position 1"),
        (lambda: TruthTable(2, [1, 2, 3]), "2\\^n = 4 entries"),
        (lambda: TruthTable(1, [1, float("nan")]), "finite"),
        (lambda: TruthTable(1, np.array([np.inf, 0.0])), "finite"),
        (lambda: TruthTable.from_function(25, lambda x: 0), "256 MiB"),
        (lambda: TruthTable.from_function(40, lambda x: 0), "8192 GiB"),
        (lambda: TruthTable(-1, []), "at least 0"),
        (lambda: Weights(((1, 2, 3),)), "pairs"),
        (lambda: Weights(((1, float("inf")),)), "finite"),
        (lambda: Weights.of([1, 2], [1]), "equal length"),
        (lambda: DPPKernel.of([[1, 2]]), "square"),
        (lambda: DPPKernel.of([[float("nan")]]), "finite"),
        (lambda: QuadraticForm(np.eye(2, dtype=int), np.zeros(2, dtype=int)), "diagonal"),
        (lambda: QuadraticForm([[0, 2], [0, 0]], [0, 0]), "bits"),
        (lambda: QuadraticForm([[0, 1], [0, 0]], [0, 0, 0]), "shape"),
        (lambda: QuadraticForm([[0]], [0], 2), "constant"),
        (lambda: CNF(1, ((2,),)), "literals"),
        (lambda: CutWitness(2, 0), "copies"),
        (lambda: CutWitness(2, 1).edge_pattern(Graph(2, ((0, 1),)), 2), "needs 2"),
        (lambda: CutWitness(2, 1).edge_weights(Graph(3, ()), 1), "m=2"),
        (lambda: Graph(2, ((0, 0),)), "loop"),
        (lambda: Graph(2, ((0, 2),)), "0..1"),
        (lambda: cycle_graph(2), "at least 3"),
        (lambda: cut_distribution(Graph(25, ())), "2\\^25"),
        (lambda: cut_size(Graph(2, ()), (0,)), "one entry per vertex"),
        (lambda: marginal(TruthTable(1, [1, 2]), Pattern("**")), "n=1, got 2"),
        (lambda: network_polynomial(TruthTable(1, [1, 2]), Weights(())), "n=1, got 0"),
        (lambda: TruthTable(1, [1, 2])(2), "only 0 and 1"),
    ],
)
def test_malformed_input_is_refused_in_one_sentence(build, message: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ValueError, match=message):
        build()


@pytest.mark.parametrize("value", ["1", None, 1j, [1]])
def test_values_that_are_no_numbers_are_refused(value: object) -> None:
    with pytest.raises(TypeError, match="int, Fraction or float"):
        as_scalar(value)


def test_numpy_numbers_are_read_as_python_numbers() -> None:
    assert type(as_scalar(np.int32(3))) is int
    assert type(as_scalar(np.float32(0.5))) is float
    assert as_scalar(np.bool_(True)) == 1
    assert TruthTable(1, [2**70, 1]).is_exact
    assert not TruthTable(1, [0.5, 1]).is_exact


def test_there_are_as_many_labelled_graphs_as_edge_subsets() -> None:
    assert [sum(1 for _ in all_graphs(n)) for n in range(5)] == [1, 1, 2, 8, 64]
    assert Graph(2, ((0, 1), (1, 0))).is_simple is False
    assert cut_distribution(Graph(2, ((0, 1), (1, 0)))) == (2, 0, 2)


def test_bounds_of_the_statements_evaluate_and_invert() -> None:
    assert EXTRACTED_GATES(n=3, steps=45) == 726
    assert EXTRACTED_GATES.solve("steps", at_most=726, n=3) == 45
    assert HAMMING_QUERIES(n=40) == 41
    assert CUT_QUERIES(edges=15) == 16
    assert SAMPLING_QUERIES(n=4) == 5
    assert HAMMING_CUT_VALUES(vertices=3, edges=3) == 16
    assert HAMMING_CUT_QUERIES(vertices=3, edges=3) == sum(3 + 3 * copies + 1 for copies in range(1, 5))
    assert BACKWARD_OPERATIONS.solve("size", at_most=1000) == 200
    assert ELIMINATION_WORDS(n=64) == 4097 / 2 * 127 / 64
