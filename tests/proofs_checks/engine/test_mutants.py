"""Every check is shown to be able to fail, cheaply."""

import sys
from dataclasses import replace

import pytest

from whp.proofs_checks.engine import Instances, Mutant, at_most, mutants, requires
from whp.proofs_checks.engine.registry import find_check


@pytest.fixture
def kill(tiny):
    def run(*names, **given):
        return mutants(*(f"tiny.{n}" for n in names), **{"budget": "x1", "modules": [tiny], **given})

    return run


def made(monkeypatch, **changes):
    """The vectorised check with parts replaced."""
    check = replace(find_check("tiny.arrays/square"), vectorised=None, **changes)
    monkeypatch.setattr(sys.modules["whp.proofs_checks.engine.mutants"], "checks_of", lambda id: (check,))
    for module in ("blocks", "form", "plan"):
        monkeypatch.setattr(sys.modules[f"whp.proofs_checks.engine.{module}"], "find_check", lambda id: check)
    return check


def test_mutants_die_by_the_clause_they_name(kill):
    report = kill("sums", "coin", "learner", "growth", "arrays")
    assert report.exit_status == 0
    named = {(m.check.id, m.mutant): m.clause for m in report.mutants if m.mutant != "bound tightened"}
    assert named["tiny.sums/sum", "lying certificate"] == "sum"
    assert named["tiny.coin/heads", "always heads"] == "heads"
    assert len([m for m in report.mutants if m.mutant == "bound tightened"]) == 4  # rates have no bound


def test_one_process_or_two_kill_alike(kill):
    assert kill("sums", "coin").to_json() == kill("sums", "coin", jobs=2).to_json()


def test_a_check_with_fewer_than_two_mutants_is_reported(kill):
    report = kill("product", "proved")
    assert report.too_few == ("tiny.product/below_sum", "tiny.proved/again") and report.exit_status == 1


def test_no_mutant_at_all_is_no_success(kill):
    assert kill("bare").exit_status == 2
    assert kill("extra").unavailable == ("tiny.extra/again",)


def test_a_mutant_that_raises_or_survives_is_not_killed(kill, monkeypatch):
    def raises(instance):
        raise ArithmeticError("no")

    made(
        monkeypatch,
        mutants=(
            Mutant("raises", observe=raises),
            Mutant("survives", observe=lambda i: at_most("x", 0, 1)),
        ),
    )
    report = kill("arrays")
    assert {m.mutant: m.killed for m in report.mutants} == {
        "raises": False,
        "survives": False,
        "bound tightened": True,
    }
    assert report.exit_status == 1


def two_clauses(instance):
    return at_most("much", 9, 1) & at_most("little", 2, 1)


def test_a_mutant_that_breaks_the_wrong_clause_is_not_killed_but_one_that_breaks_several_is(kill, monkeypatch):
    made(
        monkeypatch,
        mutants=(
            Mutant("wrong", "x", observe=lambda i: at_most("y", 1, 0)),
            Mutant("both", "little", observe=two_clauses),
        ),
    )
    killed = {m.mutant: (m.killed, m.text) for m in kill("arrays").mutants}
    assert killed["wrong"] == (False, "refuted by ['y'], not by 'x'")
    assert killed["both"][0] is True


@pytest.mark.parametrize(
    ("observe", "factor"),
    [
        (lambda i: at_most("x", i, 4), 0.749999),
        (lambda i: at_most("x", -8, -i), 0.5),
        (lambda i: at_most("x", -i, 0), 0.0),
        (lambda i: at_most("x", 0.0, 0.0), 0.999999),
        (lambda i: at_most("x", i, 4) & requires("fact", True), 0.749999),
    ],
    ids=["positive", "negative", "far below zero", "attained at zero", "beside a fact"],
)
def test_the_margin_is_the_factor_at_which_the_tightest_instance_fails(kill, monkeypatch, observe, factor):
    made(monkeypatch, observe=observe, instances=Instances("1 to 3", examples=lambda: {str(n): n for n in (1, 2, 3)}))
    (tightened,) = [m for m in kill("arrays").mutants if m.mutant == "bound tightened"]
    if factor == 0:
        assert not tightened.killed and "no power" in tightened.text
    elif observe(3).clauses[0].right == -3:
        assert not tightened.killed  # -8 is below even -3 * 1.99
    else:
        assert tightened.killed and tightened.text == f"refuted when the bound is multiplied by {factor:.6g}"


def test_tightening_observes_few_instances(kill, monkeypatch):
    calls = []

    def counted(instance):
        calls.append(instance)
        return at_most("x", float(instance), float(instance) ** 2 + 1)

    made(
        monkeypatch,
        observe=counted,
        mutants=(),
        instances=Instances("normal", draw=lambda rng, size: rng.normal(size=size).tolist()),
    )
    kill("arrays")
    assert len(calls) < 512 + 60


def test_a_budget_in_seconds_is_refused(kill):
    with pytest.raises(ValueError, match="in seconds is for verifying"):
        kill("sums", budget="3s")
