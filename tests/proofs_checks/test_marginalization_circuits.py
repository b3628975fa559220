"""Checks and proofs on circuits and real-RAM programs: verdicts, mutants, and the judges the checks use."""

import itertools
from fractions import Fraction

import pytest

from whp.algorithms.marginalization.circuits import ArithmeticCircuit, CircuitBuilder
from whp.proofs_checks.engine import mutants, verify
from whp.proofs_checks.marginalization.circuit_proofs import likelihood_monomials
from whp.proofs_checks.marginalization.circuits import operations_at, program_cases, program_of
from whp.proofs_checks.marginalization.derivatives import as_circuit
from whp.proofs_checks.marginalization.gate_lists import GateList, network_gates, shared_network_gates, substituted
from whp.proofs_checks.marginalization.instances import TRIANGLE_TABLE
from whp.theory.marginalization import TruthTable, multilinear_extension

F = Fraction
THEOREMS = ("marginalization.T7", "marginalization.T8")


@pytest.mark.parametrize("theorem", THEOREMS)
def test_statement_is_proved_on_its_scope_and_the_subject_holds(theorem: str) -> None:
    (report,) = verify(theorem, budget="quick").theorems
    assert report.statement.kind.value == "proved"
    assert {check.verdict.kind.value for check in report.checks} <= {"holds", "consistent"}


@pytest.mark.parametrize("theorem", THEOREMS)
def test_every_mutant_is_killed_by_its_clause(theorem: str) -> None:
    report = mutants(theorem, budget="quick")
    assert [one.mutant for one in report.mutants if not one.killed] == []
    assert not report.too_few


def test_a_circuit_without_the_right_polynomial_is_refuted() -> None:
    report = verify("marginalization.T7", budget="quick", subject={"extract_circuit": constant_three})
    assert report.theorems[0].subject.kind.value == "refuted"


def constant_three(program: object, xi: tuple[Fraction, ...], second_xi: tuple[Fraction, ...]) -> ArithmeticCircuit:
    builder = CircuitBuilder([f"w{i}" for i in range(len(xi))])
    return builder.build(builder.constant(3))


def test_gate_lists_of_a_table_are_its_network_polynomial() -> None:
    point = [F(1, 2), F(1, 3), F(1, 5), 1, 1, 1]
    plain, shared = network_gates(TRIANGLE_TABLE), shared_network_gates(TRIANGLE_TABLE)
    assert plain.value(point) == shared.value(point) == F(5, 3)
    assert plain.polynomial() == shared.polynomial()
    assert shared.size < plain.size
    assert GateList.read(as_circuit(plain)).values(point) == plain.values(point)


def test_slopes_by_dual_numbers_are_restrictions() -> None:
    table = TruthTable(2, [3, -1, 4, 1])
    gates = network_gates(table)
    slopes = gates.slopes([5, 2, F(1, 2), -2])
    assert slopes == [4 * -2 + 1 * 2, F(1, 2) * -1 + 5 * 1, 3 * -2 + -1 * 2, F(1, 2) * 3 + 5 * 4]


def test_extension_by_substitution_and_by_inclusion_and_exclusion_agree() -> None:
    extension = substituted(network_gates(TRIANGLE_TABLE), "p")
    assert extension.polynomial() == likelihood_monomials(TRIANGLE_TABLE)
    assert likelihood_monomials(TRIANGLE_TABLE) == {(): 1, (0, 1): -2, (0, 2): -2, (1, 2): -2, (0, 1, 2): 4}


def test_every_program_computes_the_multilinear_extension() -> None:
    for name, instance in program_cases().items():
        program = program_of(instance)
        n = instance.table.n
        for point in (*itertools.product((F(0), F(1)), repeat=n), (F(2, 3), F(7), F(-1, 5), F(4, 9))[:n]):
            assert program(list(point)) == multilinear_extension(instance.table, point), name


def test_operations_of_an_elimination_are_counted() -> None:
    instance = program_cases()["elimination, reference kernel"]
    point = (F(1, 3), F(3, 4), F(2, 5))
    products, sums, eliminated = 9 + 3, 3 + 3, 2 * (1 + 2 * 2) + (1 + 2)
    assert operations_at(program_of(instance), point) in range(products + sums + eliminated, 46)
