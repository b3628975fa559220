"""One check on one instance: re-decision of floats in its three modes, tightening, and whose fault a failure is."""

import math
from dataclasses import replace
from fractions import Fraction

import flint
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whp.proofs_checks.engine import Check, Generic, Instances, OutputAsData, Rounded, at_most, event, identity, sample
from whp.proofs_checks.engine.outcome import Variant, run_once
from whp.theory import Assumption, Claim, Paper, Slot, Theorem

PAPER = Paper("outcomes", "t", ("a",), "v")
SUM = Slot("sum", "(values)", "values: list", "their sum", ("values",))
THEOREM = Theorem(
    id="outcomes.T1", paper=PAPER, title="t", statement="s", claim=Claim("x", "<=", "y"), provenance="prior"
)
TENTHS = [0.1, 0.2, 0.3]  # 0.1 + 0.2 + 0.3 rounds to 0.6000000000000001, beyond the exact sum of these floats


def float_sum(values):
    return values[0] + values[1] + values[2]


def too_much(values):
    return values[0] + values[1] + values[2] + type(values[0])(2.0**-40)


def sum_bounded(instance, *, sum):
    values, bound = instance
    return at_most("sum", sum(values), bound)


def check(observe=sum_bounded, redecide=None, slots=None, **given):
    return Check(
        theorem="outcomes.T1",
        name="c",
        kind="slack",
        observe=observe,
        instances=Instances("any", examples=dict),
        slots={SUM: float_sum} if slots is None else slots,
        redecide=redecide or Rounded(),
        **given,
    )


def outcome(bound_check, instance, theorem=THEOREM, **subjects):
    filled = {s.name: subjects.get(s.name, d) for s, d in bound_check.slots.items()}
    return run_once(Variant.of(bound_check, theorem), instance, filled)


EXACT = sum(map(Fraction, TENTHS))  # of these floats; the float sum is an ulp above it


def test_a_violation_by_an_ulp_that_is_none_is_kept_when_the_subject_runs_on_fractions():
    assert float_sum(TENTHS) > EXACT
    found = outcome(check(redecide=Generic()), (TENTHS, EXACT))
    assert (found.status, found.redecided) == ("kept", True)
    assert outcome(check(redecide=Rounded()), (TENTHS, EXACT)).status == "violated"  # without a rounding model


def test_a_violation_below_an_ulp_that_is_real_is_refuted_when_the_subject_runs_on_fractions():
    found = outcome(check(redecide=Generic()), (TENTHS, EXACT - Fraction(1, 10**40)))
    assert (found.status, found.redecided) == ("violated", True)
    assert found.worst.slack == pytest.approx(-1e-40)
    assert outcome(check(redecide=Generic()), (TENTHS, EXACT), sum=too_much).status == "violated"


def test_outputs_as_data_recompute_both_sides_in_fractions():
    claims = check(lambda instance, *, sum: at_most("claim", 0.1 + 0.2, sum(instance)), OutputAsData(_claim_exactly))
    assert outcome(claims, [0.0], sum=lambda v: 0.3).status == "kept"  # 0.1 + 0.2 > 0.3 is the check's own rounding
    found = outcome(claims, [0.0], sum=lambda v: 0.29)
    assert (found.status, found.redecided) == ("violated", True)
    assert found.worst.right == Fraction(0.29) + Fraction(1, 10**15)


def test_outputs_are_given_back_in_order_and_not_asked_for_again():
    asked = []

    def ask(values):
        asked.append(values)
        return float(len(asked))

    def twice(instance, *, sum):
        return at_most("first", sum(instance), sum(instance) - Fraction(5, 2))

    found = outcome(check(twice, OutputAsData()), [1.0], sum=ask)
    assert found.status == "violated" and found.worst.left == Fraction(1) and len(asked) == 2


def _claim_exactly(instance, *, sum):
    return at_most("claim", Fraction(3, 10), sum(instance) + Fraction(1, 10**15))


def test_an_exact_re_decision_whose_sides_are_floats_again_refutes_nothing():
    def root(instance, *, sum):
        return at_most("root", math.sqrt(2.0) ** 2, 2)

    assert outcome(check(root, OutputAsData()), [1.0]).status == "inside rounding"
    assert outcome(check(root, Rounded()), [1.0]).status == "violated"

    def far(instance, *, sum):
        return at_most("root", math.sqrt(5.0) ** 2, 2, rounding=1e-9)

    assert outcome(check(far, OutputAsData()), [1.0]).status == "violated"


def test_a_rounding_model_separates_inside_from_beyond():
    def modelled(instance, *, sum):
        return at_most("sum", sum(instance), 0.6, rounding=1e-15)

    assert outcome(check(modelled), TENTHS).status == "inside rounding"
    assert outcome(check(modelled), TENTHS, sum=too_much).status == "violated"


def test_a_subject_that_cannot_run_on_fractions_leaves_it_inside_rounding():
    found = outcome(
        check(redecide=Generic()), (TENTHS, 0.6), sum=lambda v: float_sum([float.fromhex(x.hex()) for x in v])
    )
    assert found.status == "inside rounding" and "hex" in found.failure.message


def test_an_infinite_output_is_no_pass():
    for mode in (OutputAsData(), Generic(), Rounded()):
        assert outcome(check(redecide=mode), (TENTHS, 0.6), sum=lambda v: math.inf).status in ("violated", "error")


@pytest.mark.parametrize(
    ("subject", "kind"),
    [
        (lambda values: math.nan, "SubjectOutputError"),
        (lambda values: [1.0, math.nan], "SubjectOutputError"),
        (lambda values: 1 / 0, "ZeroDivisionError"),
        (lambda values: values.append(1), "SubjectCallError"),
    ],
)
def test_a_failure_of_the_subject_is_told_apart_from_one_of_the_check(subject, kind):
    found = outcome(check(), ([1.0, 2.0, 3.0], 9.0), sum=subject)
    assert (found.status, found.failure.kind, found.failure.of_subject) == ("error", kind, True)

    def broken(instance, *, sum):
        raise LookupError(f"lost {object()!r}")

    ours = outcome(check(broken), 1)
    assert (ours.failure.kind, ours.failure.of_subject) == ("LookupError", False)
    assert "0x..." in ours.failure.message


def test_an_instance_that_misses_an_assumption_is_vacuous_and_a_broken_assumption_is_an_error():
    never = replace(THEOREM, assumptions=(Assumption("never", "0 = 1", lambda i: False),))
    assert outcome(check(), (TENTHS, 0.0), theorem=never).status == "vacuous"
    broken = replace(THEOREM, assumptions=(Assumption("broken", "?", lambda i: 1 / 0),))
    assert outcome(check(), (TENTHS, 0.0), theorem=broken).failure.kind == "ZeroDivisionError"


@pytest.mark.parametrize(
    ("right", "tightened"),
    [
        (2, 1),
        (2.0, 1.0),
        (Fraction(1, 3), Fraction(1, 6)),
        (-2, -3),
        (-2.0, -3.0),
        (0, Fraction(-1, 2)),
        (0.0, -0.5),
        (math.inf, math.inf),
        (2**80, 2**79),
    ],
)
def test_tightening_moves_the_right_side_against_the_claim_whatever_its_sign(right, tightened):
    variant = Variant.of(check(lambda instance: at_most("c", 0, right), slots={}), THEOREM).tightened(0.5)
    assert variant.observe(None).clauses[0].right == tightened


def test_tightening_works_on_arrays_balls_and_identities():
    def sides(observation):
        variant = Variant.of(check(lambda instance: observation, slots={}), THEOREM).tightened(0.5)
        return [c.right for c in variant.observe(None).clauses]

    (floats,) = sides(at_most("c", 0, np.array([2.0, -2.0, 0.0])))
    assert floats.tolist() == [1.0, -3.0, -0.5]
    (exact,) = sides(at_most("c", 0, np.array([2, Fraction(1, 2)], dtype=object)))
    assert exact.tolist() == [1, Fraction(1, 4)]
    (ball,) = sides(at_most("c", 0, flint.arb(3)))
    assert ball == flint.arb(1.5)
    assert sides(identity("c", 1, 4)) == [6]
    assert sides(at_most("c", 0, 4) & identity("d", 1, 1)) == [2, 1]  # only the bound, when there is one


def test_tightening_moves_claimed_probabilities_and_means():
    def tightened(observation):
        return Variant.of(check(lambda instance: observation, slots={}), THEOREM).tightened(0.5).observe(None)

    assert tightened(event(True, probability=0.4)).probability == 0.2
    assert tightened(sample(0, low=-1, high=1, mean_at_most=0.0)).mean == -0.5
    assert tightened(sample(0, low=-1, high=1, mean_at_least=0.0)).mean == 0.5


@settings(max_examples=40)
@given(st.fractions(), st.fractions(Fraction(1, 100), Fraction(99, 100)))
def test_a_tightened_bound_is_below_the_bound(right, factor):
    variant = Variant.of(check(lambda instance: at_most("c", 0, right), slots={}), THEOREM).tightened(float(factor))
    assert variant.observe(None).clauses[0].right < right
