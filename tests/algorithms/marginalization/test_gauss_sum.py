"""Gauss sums and plain marginals of quadratic forms."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whp.algorithms.marginalization import (
    EvenParityOracle,
    GaussSum,
    QuadraticFormOracle,
    UnsupportedQueryError,
    gauss_sum,
    hamming_sums_by_enumeration,
    pm_even_parity,
    pm_quadratic,
    quadratic_truth_table,
)
from whp.theory.foundations.graphs import Graph, complete_graph, cycle_graph, grid_graph, path_graph, petersen_graph
from whp.theory.marginalization import (
    Pattern,
    QuadraticForm,
    TruthTable,
    gauss_sum_by_definition,
    hamming_congruence,
    hamming_marginals,
)


def graph_form(graph: Graph) -> QuadraticForm:
    return QuadraticForm.from_terms(graph.n_vertices, graph.edges)


@st.composite
def quadratic_forms(draw: st.DrawFn, largest: int = 8) -> QuadraticForm:
    """Edge subset, linear bits and constant on up to ``largest`` variables."""
    n = draw(st.integers(0, largest))
    pairs = [pair for pair in itertools.combinations(range(n), 2) if draw(st.booleans())]
    linear = [(i,) for i in range(n) if draw(st.booleans())]
    return QuadraticForm.from_terms(n, pairs + linear, draw(st.integers(0, 1)))


@pytest.mark.parametrize(
    ("graph", "vector", "gauss"),
    [
        (complete_graph(3), (1, 3, -3, -1), 0),
        (path_graph(4), (1, 4, 0, 0, -1), 4),
        (cycle_graph(4), (1, 4, -2, 4, 1), 8),
        (complete_graph(4), (1, 4, -6, -4, 1), -4),
        (cycle_graph(5), (1, 5, 0, 0, -5, -1), 0),
        (grid_graph(3, 3), (1, 9, 12, 4, 6, -2, 12, 20, 1, 1), 64),
        (petersen_graph(), (1, 10, 15, 0, -50, 108, 50, 0, -15, 10, -1), 128),
    ],
)
def test_hamming_sums_and_gauss_sum_of_named_graphs(graph: Graph, vector: tuple[int, ...], gauss: int) -> None:
    form = graph_form(graph)
    assert hamming_sums_by_enumeration(form) == vector
    assert gauss_sum(form).value == sum(vector) == gauss
    assert hamming_congruence(form) == tuple(value % 4 for value in vector)


def test_gauss_sums_of_cycles_paths_complete_graphs_and_grids() -> None:
    assert [gauss_sum(graph_form(cycle_graph(n))).value for n in range(3, 13)] == [0, 8, 0, 16, 0, 32, 0, 64, 0, 128]
    paths = [2, 2, 4, 4, 8, 8, 16, 16, 32, 32, 64, 64]
    assert [gauss_sum(graph_form(path_graph(n))).value for n in range(1, 13)] == paths
    complete = [2, 2, 0, -4, -8, -8, 0, 16, 32, 32, 0, -64]
    assert [gauss_sum(graph_form(complete_graph(n))).value for n in range(1, 13)] == complete
    grids = [2, 8, 64, 1024, 32768, 2097152, 268435456, 68719476736]
    assert [gauss_sum(graph_form(grid_graph(r, r))).value for r in range(1, 9)] == grids


@given(quadratic_forms())
def test_gauss_sum_is_the_sum_over_all_assignments(form: QuadraticForm) -> None:
    result = gauss_sum(form)
    assert result.value == gauss_sum_by_definition(form)
    assert result.sign == 0 or form.n <= 2 * result.exponent <= 2 * form.n


@given(quadratic_forms(6), st.data())
def test_plain_marginals_are_sums_over_the_pattern(form: QuadraticForm, data: st.DataObject) -> None:
    q = Pattern("".join(data.draw(st.lists(st.sampled_from("01*"), min_size=form.n, max_size=form.n))))
    expected = gauss_sum_by_definition(form, q)
    assert pm_quadratic(form, q) == expected
    assert pm_even_parity(form, q) == sum(1 - form(x) for x in q.assignments())


@given(quadratic_forms(7))
def test_enumerated_tables_and_hamming_sums_agree_with_the_definition(form: QuadraticForm) -> None:
    table = TruthTable.from_function(form.n, lambda x: 1 - 2 * form(x))
    assert quadratic_truth_table(form) == table
    assert hamming_sums_by_enumeration(form) == hamming_marginals(table, Pattern.free(form.n))
    assert tuple(c % 4 for c in hamming_sums_by_enumeration(form)) == hamming_congruence(form)


def test_forms_wider_than_a_machine_word_factor_over_disjoint_parts() -> None:
    rng = np.random.default_rng(5)
    for sizes in [(63, 64, 65), (1, 128, 3), (70, 70, 70)]:
        parts = []
        for n in sizes:
            upper = np.triu(rng.integers(0, 2, (n, n)), 1)
            parts.append(QuadraticForm(upper, rng.integers(0, 2, n), int(rng.integers(2))))
        whole = np.zeros((sum(sizes), sum(sizes)), dtype=int)
        start = 0
        for part in parts:
            whole[start : start + part.n, start : start + part.n] = part.quadratic
            start += part.n
        order = rng.permutation(start)  # the sum does not depend on the names of the variables
        symmetric = (whole | whole.T)[np.ix_(order, order)]
        linear = np.concatenate([part.linear for part in parts])[order]
        joined = QuadraticForm(np.triu(symmetric, 1), linear, sum(part.constant for part in parts) % 2)
        product = 1
        for part in parts:
            product *= gauss_sum(part).value
        assert gauss_sum(joined).value == product


def test_a_wide_form_never_overflows() -> None:
    n = 3000
    empty = QuadraticForm(np.zeros((n, n), dtype=bool), np.zeros(n, dtype=bool), 1)
    assert gauss_sum(empty) == GaussSum(-1, n)
    assert gauss_sum(empty).value == -(2**n)


def test_degenerate_forms() -> None:
    assert gauss_sum(QuadraticForm.from_terms(0, [])).value == 1
    assert gauss_sum(QuadraticForm.from_terms(0, [], 1)).value == -1
    assert gauss_sum(QuadraticForm.from_terms(3, [(1,)])).value == 0
    assert gauss_sum(QuadraticForm.from_terms(2, [(0, 1), (0,), (1,)])).value == -2
    star = QuadraticForm.from_terms(6, [(0, i) for i in range(1, 6)])
    assert gauss_sum(star).value == 32
    assert pm_quadratic(star, "1*****") == 0
    assert pm_quadratic(star, "000000") == 1


def test_oracles_answer_plain_queries_only_and_know_their_sign() -> None:
    form = graph_form(path_graph(4))
    signed, boolean = QuadraticFormOracle(form), EvenParityOracle(form)
    assert (signed.count(), boolean.count()) == (4, 10)
    assert signed.evaluate((1, 1, 0, 0)) == -1
    assert boolean.evaluate((1, 1, 0, 0)) == 0
    assert boolean.marginal("11**") == 1 == pm_even_parity(form, "11**")
    assert (signed.is_nonnegative, boolean.is_nonnegative) == (False, True)
    assert QuadraticFormOracle(QuadraticForm.from_terms(3, [])).is_nonnegative
    assert not QuadraticFormOracle(QuadraticForm.from_terms(3, [], 1)).is_nonnegative
    with pytest.raises(UnsupportedQueryError, match="does not answer HM"):
        signed.hamming_marginal("****", 1)


def test_bad_patterns_and_tables_too_wide_are_refused() -> None:
    form = graph_form(path_graph(4))
    with pytest.raises(ValueError, match=r"length n=4, got 3"):
        pm_quadratic(form, "***")
    with pytest.raises(ValueError, match="'2' at position 0"):
        pm_quadratic(form, "2***")
    with pytest.raises(ValueError, match="largest n is 24"):
        hamming_sums_by_enumeration(graph_form(path_graph(25)))
