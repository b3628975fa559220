"""Subjects that lie about what they did or return: refuted or in error, and the control blames them."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest

from whp.algorithms import marginalization as solvers
from whp.proofs_checks.engine import Kind, verify
from whp.proofs_checks.marginalization import CHECKS
from whp.proofs_checks.marginalization.brute_force_oracle import BruteForceOracle
from whp.theory.marginalization import Pattern, QuadraticForm, Query, TruthTable

COUNTED = {
    "pm_from_vm": "T1",
    "hm_from_vm": "T1",
    "ev_from_pm": "T1",
    "cut_distribution_from_vm": "T5b",
    "cut_distribution_from_hm": "T5c",
    "model_count_from_pm": "T6b",
    "ancestral_conditionals": "T9",
}
REFERENCES = {slot.name: subject for check in CHECKS for slot, subject in check.slots.items()}


def kinds(theorem: str, slot: str, subject: Callable[..., Any]) -> dict[str, Kind]:
    """Verdicts on a subject, by check."""
    report = verify(f"marginalization.{theorem}", subject={slot: subject}, budget="quick")
    return {c.check.name: c.verdict.kind for c in report.theorems[0].checks if slot in c.subjects}


@pytest.mark.parametrize("slot", COUNTED)
def test_queries_asked_twice_are_counted_though_the_subject_clears_the_count(slot: str) -> None:
    def twice(oracle: Any, *more: Any) -> Any:
        REFERENCES[slot](oracle, *more)
        oracle.calls.clear()
        return REFERENCES[slot](oracle, *more)

    assert Kind.REFUTED in kinds(COUNTED[slot], slot, twice).values()


def test_an_oracle_under_test_shows_neither_its_function_nor_its_count() -> None:
    oracle = BruteForceOracle(TruthTable(1, [2, 3]))
    oracle.marginal("*")
    oracle.calls.clear()
    assert oracle.calls == {Query.PM: 1}
    assert not hasattr(oracle, "table")
    with pytest.raises(AttributeError, match="cannot be changed"):
        oracle.calls = {}  # type: ignore[misc, assignment]


@pytest.mark.parametrize(
    ("theorem", "slot"),
    [("T1", "pm_from_vm"), ("T2", "multilinear_extension"), ("T4", "dpp_marginal"), ("T5a", "pm_even_parity")],
)
def test_a_float_that_happens_to_fit_is_no_exact_answer(theorem: str, slot: str) -> None:
    found = kinds(theorem, slot, lambda *arguments: float(REFERENCES[slot](*arguments)))
    assert set(found.values()) == {Kind.ERROR}


def test_a_gauss_sum_with_the_right_cost_and_the_wrong_value_is_refuted() -> None:
    def doubled(form: Any) -> solvers.GaussSum:
        right = solvers.gauss_sum(form)
        return solvers.GaussSum(right.sign, right.exponent + 1, right.word_operations)

    assert kinds("T5a", "gauss_sum", doubled)["operations"] is Kind.REFUTED


def test_a_form_that_is_right_only_where_all_variables_are_one_is_refuted() -> None:
    def corner_only(n: int, terms: Any) -> QuadraticForm:
        if any(len(set(term)) > 2 for term in terms):
            raise ValueError("degree")
        return QuadraticForm.from_terms(n, [(0,)] * (len(list(terms)) % 2))

    assert kinds("T5a", "quadratic_form_from_terms", corner_only) == {"degree": Kind.REFUTED}


def test_draws_by_a_query_for_every_point_are_too_many() -> None:
    def by_all_points(oracle: Any, rng: Any) -> Any:
        points = list(itertools.product((0, 1), repeat=oracle.n))
        weights = [float(oracle.marginal(Pattern.of(x))) for x in points]
        if min(weights) < 0 or not sum(weights):
            raise ValueError("no distribution")
        return [points[rng.choice(len(points), p=[w / sum(weights) for w in weights])]]

    found = kinds("T9", "draw", by_all_points)
    assert found["draws"] is Kind.REFUTED
    assert found["frequencies"] in (Kind.HOLDS, Kind.CONSISTENT)


def test_control_blames_the_subject_and_not_the_check() -> None:
    report = verify(
        "marginalization.T6b", subject={"model_count_from_pm": lambda oracle: oracle.marginal("*" * oracle.n)}
    )
    (check,) = report.theorems[0].checks
    assert check.verdict.kind is Kind.REFUTED
    assert check.control is not None
    assert check.control.blames == "subject"


def test_printed_scopes_name_the_sizes_that_are_enumerated() -> None:
    from whp.proofs_checks.marginalization.proofs import MOST_VARIABLES, PROOFS

    symbolic = [proof.scope for proof in PROOFS if proof.name == "symbolic"]
    assert len(symbolic) == 3
    assert all(f"n <= {MOST_VARIABLES}" in scope for scope in symbolic)
