"""Every statement gets the verdict that is stood for, every mutant is refuted, and counterexamples are exact."""

from fractions import Fraction

import numpy as np
import pytest

from whp.proofs_checks.engine import mutants, verify
from whp.proofs_checks.performative_prediction import CHECKS, PROOFS
from whp.proofs_checks.performative_prediction.clipping import clipped_mean
from whp.theory.performative_prediction import (
    THEOREMS,
    ControlHistory,
    history_error_as_printed,
    worst_case_history_error,
)

IDS = [t.id for t in THEOREMS]


@pytest.fixture(scope="module")
def report():
    return verify("performative_prediction.*", budget="quick", jobs=1)


def test_every_statement_has_a_check_with_two_mutants():
    assert {c.theorem for c in CHECKS} == set(IDS)
    assert all(len(c.mutants) >= 2 for c in CHECKS)
    assert {p.theorem for p in PROOFS} == {t.id for t in THEOREMS if t.expected == "proved"}


def test_every_verdict_is_the_one_stood_for(report):
    assert report.exit_status == 0, [(t.theorem.id, t.statement.text) for t in report.unexpected]


@pytest.mark.parametrize(
    "name",
    [
        "guided_mean",
        "zero_share_trap",
        "second_moment_split",
        "history_control",
        "lipschitz",
        "water_filling",
        "difference_bias",
    ],
)
def test_mutants_are_refuted(name):
    result = mutants(f"performative_prediction.{name}", budget="standard", jobs=1)
    assert result.exit_status == 0, [(m.check.id, m.mutant, m.text) for m in result.mutants if not m.killed]


def test_equal_weights_over_three_iterations_refute_the_printed_control_bound():
    history = ControlHistory((Fraction(1, 3),) * 3, (Fraction(1),) * 3, (Fraction(0),) * 3)
    assert worst_case_history_error(history) == 1 > history_error_as_printed(history) == Fraction(2, 3)


def test_users_own_estimator_is_told_from_the_theorem():
    def half(oracle, x, guide, alpha, radius, batch, rng):
        from whp.algorithms.performative_prediction import guided_two_point

        return 0.5 * guided_two_point(oracle, x, guide, alpha, radius, batch, rng)

    result = verify("performative_prediction.guided_mean", subject={"estimator": half}, budget="standard", jobs=1)
    assert result.exit_status == 1


def test_clipping_keeps_true_claims_true():
    rng = np.random.default_rng(0)
    for side in ("at most", "at least"):
        samples = [clipped_mean(rng.standard_t(5, 16), 0.0, 5 / 3, "mean", side) for _ in range(2000)]
        mean = np.mean([s.value for s in samples])
        assert samples[0].low < samples[0].mean < samples[0].high
        assert (mean <= samples[0].mean) if side == "at most" else (mean >= samples[0].mean)
