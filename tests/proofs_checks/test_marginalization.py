"""Statements on marginalization come out as we stand for, mutants are refuted, proofs fail where they should."""

from __future__ import annotations

from fractions import Fraction

import pytest

from whp.proofs_checks.engine import Kind, mutants, verify
from whp.proofs_checks.marginalization import CHECKS, PROOFS
from whp.proofs_checks.marginalization.instances import (
    cut_queries,
    davis_counts,
    davis_kernel,
    form_queries,
    karate_club,
    les_miserables,
)
from whp.proofs_checks.marginalization.proofs import Symbols, conjunction, graphs_up_to_isomorphism
from whp.theory.core.registry import theorems
from whp.theory.marginalization import THEOREMS, Weights

ON_CIRCUITS = {"T3", "T4", "T7", "T8"}  # tested beside, with the circuits
IDS = [theorem.id for theorem in THEOREMS if theorem.id.split(".")[1] not in ON_CIRCUITS]


@pytest.mark.parametrize("name", IDS)
def test_every_statement_has_the_verdict_we_stand_for(name: str) -> None:
    report = verify(name, budget="quick", seed=3)
    (found,) = report.theorems
    assert found.statement.kind.value == found.theorem.expected
    assert report.exit_status == 0


@pytest.mark.parametrize("name", IDS)
def test_every_mutant_is_refuted_by_the_clause_it_breaks(name: str) -> None:
    outcome = mutants(name, budget="quick", seed=3)
    assert [(m.check.id, m.mutant, m.text) for m in outcome.mutants if not m.killed] == []
    assert outcome.too_few == ()


def test_every_theorem_has_a_check_or_a_proof() -> None:
    bound = {check.theorem for check in CHECKS} | {proof.theorem for proof in PROOFS}
    assert bound == {theorem.id for theorem in THEOREMS}


def test_a_polynomial_that_only_agrees_on_the_cube_is_refuted_on_one_variable() -> None:
    report = verify(
        "marginalization.T2",
        subject={"multilinear_extension": "whp.proofs_checks.marginalization.multilinear:_squares_for_variables"},
        budget="quick",
    )
    assert report.theorems[0].subject.kind is Kind.REFUTED
    assert report.exit_status == 1


def test_statements_worked_out_here_carry_no_number_of_the_paper() -> None:
    for theorem in THEOREMS:
        assert theorem.locator == ""
        assert theorem.provenance in ("derived", "prior")
    assert len(theorems("marginalization.*")) == 14


def test_proofs_refute_what_is_false() -> None:
    system = Symbols(2)
    result = system.decide(
        system.network,
        lambda f, w, v: system.network(f, w, [1 - value for value in w]),  # w̄ = 1 - w is not assumed
        lambda f, w, v: [],
    )
    assert result.outcome == "refuted"
    point = result.counterexample
    values, w, v = system.split([point[name] for name in (*system.values, *system.w, *system.w_bar)])
    assert system.network(values, w, v) != system.network(values, w, [1 - value for value in w])
    joined = conjunction([("first", result)])
    assert joined.outcome == "refuted"
    assert joined.detail.startswith("first: ")
    assert conjunction([]).outcome == "inconclusive"


def test_there_are_as_many_graphs_up_to_isomorphism_as_known() -> None:
    sizes = [graph.n_vertices for graph in graphs_up_to_isomorphism(5)]
    assert [sizes.count(n) for n in range(6)] == [1, 1, 2, 4, 11, 34]


def test_real_instances_are_what_they_are_said_to_be() -> None:
    assert (karate_club().n_vertices, karate_club().n_edges) == (34, 78)
    assert (les_miserables().n_vertices, les_miserables().n_edges) == (77, 254)
    assert davis_counts(5).values.sum() == 18
    kernel = davis_kernel(5)
    assert all(kernel.matrix[i][j] == kernel.matrix[j][i] for i in range(5) for j in range(5))
    assert cut_queries()["Petersen"].graph.n_edges == 15
    assert all(query.pattern.n == query.form.n for query in form_queries().values())


def test_a_users_reduction_is_held_to_the_theorem(tmp_path, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "my_marginals.py").write_text(
        "from fractions import Fraction\n"
        "from whp.theory.marginalization import Weights\n"
        "def right(oracle, q):\n    return oracle.virtual_evidence(Weights.selecting(q))\n"
        "def half(oracle, q):\n    return oracle.virtual_evidence(Weights.selecting(q)) * Fraction(1, 2)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    assert verify("marginalization.T1", subject={"pm_from_vm": "my_marginals:right"}, budget="quick").exit_status == 0
    refused = verify("marginalization.T1", subject={"pm_from_vm": "my_marginals:half"}, budget="quick")
    assert refused.theorems[0].subject.kind is Kind.REFUTED


def test_the_reference_virtual_evidence_value() -> None:
    system = Symbols(3)
    weights = Weights.of([Fraction(1, 2), 3, Fraction(-2, 5)], [1, 2, Fraction(1, 3)])
    w, w_bar = zip(*weights.pairs, strict=True)
    assert system.network([1, 3, 2, 5, 2, 6, 3, 7], w, w_bar) == Fraction(-61, 6)
