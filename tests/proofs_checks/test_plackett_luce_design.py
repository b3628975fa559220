"""The statements get the verdicts we stand for, every mutant is seen, and the judging side is right by itself."""

from fractions import Fraction

import numpy as np
import pytest

from whp.proofs_checks.engine import verify
from whp.proofs_checks.plackett_luce_design import CHECKS, PROOFS
from whp.proofs_checks.plackett_luce_design import fractions_algebra as exact
from whp.proofs_checks.plackett_luce_design.instances import named_designs, uniform_start
from whp.proofs_checks.plackett_luce_design.reference import best_log_det, rankings_gradient
from whp.theory import plackett_luce_design as theory

SLOW = {"T7n", "T7g", "T6b"}
QUICK = [t for t in theory.THEOREMS if t.id.split(".")[1] not in SLOW]


@pytest.mark.parametrize("theorem", QUICK, ids=lambda t: t.id.split(".")[1])
def test_statement_gets_the_expected_verdict(theorem):
    report = verify(theorem.id, budget="quick")
    assert report.theorems[0].statement.kind == theorem.expected, report.theorems[0].statement.text


def test_every_theorem_has_a_check_and_every_check_two_mutants():
    checked = {c.theorem for c in CHECKS}
    assert checked == {t.id for t in theory.THEOREMS}
    assert all(len(c.mutants) >= 2 for c in CHECKS)
    assert {p.theorem for p in PROOFS} == {t.id for t in theory.THEOREMS if t.expected == "proved"}


def test_derived_statements_carry_no_locator_of_the_paper():
    assert all(not t.locator for t in theory.THEOREMS)
    assert all(t.reading for t in theory.THEOREMS if t.provenance == "reported")


def test_a_users_lying_certificate_is_refuted():
    report = verify("plackett_luce_design.T3a", budget="quick", subject={"certificate": lambda problem, design: 0.0})
    assert report.theorems[0].subject.kind == "refuted"


def test_fraction_algebra_agrees_with_floats():
    rng = np.random.default_rng(0)
    for _ in range(20):
        raw = rng.integers(-4, 5, (3, 3))
        matrix = np.array([[Fraction(int(v)) for v in row] for row in raw], dtype=object)
        assert float(exact.determinant(matrix)) == pytest.approx(np.linalg.det(raw), abs=1e-9)
        assert exact.rank(matrix) == np.linalg.matrix_rank(raw)
        if exact.determinant(matrix):
            assert np.allclose((exact.inverse(matrix) @ raw).astype(float), np.eye(3))


def test_reference_optimum_of_the_kite_is_the_known_one():
    kite = ((0, 0), (1, 0), (0, 2), (3, 1))
    assert best_log_det(kite, 2) == pytest.approx(2.5463479315109643, abs=1e-8)
    assert np.exp(best_log_det(kite, 3)) == pytest.approx(108, rel=1e-8)


def test_vectorised_gradient_is_the_sum_of_single_ones():
    rng = np.random.default_rng(1)
    x, theta = rng.normal(size=(6, 2)), rng.normal(size=2)
    rankings = np.array([rng.permutation(6)[:4] for _ in range(10)])
    expected = sum(theory.luce_gradient(theta, x, row) for row in rankings)
    assert np.allclose(rankings_gradient(x, rankings, theta), expected)


def test_named_designs_span_where_they_should():
    from whp.proofs_checks.engine import materialise

    assert all(materialise(d).spans for d in named_designs().values())
    assert not uniform_start(((0, 0), (1, 1), (2, 2)), 2).spans
