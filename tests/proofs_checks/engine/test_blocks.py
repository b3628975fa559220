"""Blocks: planned whole, run alone, the same wherever and whenever they run."""

from dataclasses import replace

import numpy as np
import pytest

from whp.proofs_checks.engine import Check, Instances, Limits, Mutant, Vectorised, at_most, identity
from whp.proofs_checks.engine.blocks import run_block
from whp.proofs_checks.engine.budget import Budget
from whp.proofs_checks.engine.form import Form
from whp.proofs_checks.engine.plan import plan
from whp.proofs_checks.engine.registry import find_check


@pytest.fixture
def check(tiny):
    return lambda name: find_check(f"tiny.{name}")


def planned(check, budget="x2", **given):
    return list(plan(check, Budget.parse(budget), 0, **given))


def test_examples_come_first_then_one_search_then_breadth(check):
    phases = [b.phase for b in planned(check("sums/sum"), "x8")]
    assert phases[:3] == ["examples", "examples", "structured"]
    assert phases.index("sampled") == 3 and phases[-1] == "structured"
    assert len({(b.phase, b.index) for b in planned(check("sums/sum"), "x8")}) == len(phases)


@pytest.mark.parametrize("name", ["sums/sum", "coin/heads", "learner/plays", "growth/operations", "arrays/square"])
def test_a_larger_budget_changes_no_earlier_block(check, name):
    small = {(b.phase, b.index): b for b in planned(check(name), "x2")}
    large = {(b.phase, b.index): b for b in planned(check(name), "x5")}
    assert small.keys() <= large.keys()
    for key, block in small.items():
        assert replace(large[key], budget="x2") == block
        if key[1] < 2:
            assert run_block(replace(large[key], budget="x2")).canonical_bytes() == run_block(block).canonical_bytes()


def test_plans_can_be_indexed_like_lists(check):
    found = plan(check("sums/sum"), Budget.parse("x3"), 0)
    listed = list(found)
    assert len(found) == len(listed) and found[-1] == listed[-1] and found[1:3] == listed[1:3]
    with pytest.raises(IndexError):
        found[len(listed)]


def test_blocks_do_not_depend_on_what_ran_before(check):
    blocks = planned(check("sums/sum")) + planned(check("coin/heads"))
    forwards = [run_block(b).canonical_bytes() for b in blocks]
    backwards = [run_block(b).canonical_bytes() for b in reversed(blocks)][::-1]
    assert forwards == backwards


def test_a_fault_of_the_check_is_an_error_in_its_evidence(check):
    raising, *_ = planned(check("faulty/raises"))
    evidence = run_block(raising)
    assert (evidence.errors[0].type, evidence.errors[0].instance.decode()) == ("ZeroDivisionError", 1)
    evidence = run_block(planned(check("faulty/no_data"))[0])
    assert evidence.errors[0].type == "TypeError" and evidence.errors[0].instance is None


def test_a_vectorised_check_gives_what_one_by_one_gives(check):
    square = check("arrays/square")
    block = next(b for b in planned(square) if b.phase == "sampled")
    in_arrays = run_block(block)
    one_by_one = run_block(replace(block, limits=Limits(20.0, None)))
    assert in_arrays.phases == one_by_one.phases
    assert in_arrays.clauses["x"].worst_slack.value == one_by_one.clauses["x"].worst_slack.value
    assert in_arrays.clauses["x"].relative_slack == one_by_one.clauses["x"].relative_slack


def test_mutants_of_a_vectorised_check_keep_its_breadth(check):
    square = check("arrays/square")
    form = Form.of(square, "without one")
    assert (form.vectorised is square.vectorised, form.in_arrays) == (True, False)
    blocks = planned(square, mutant="without one")
    assert [b.phase for b in blocks] == ["examples", "sampled", "sampled", "sampled", "sampled"]
    found = run_block(next(b for b in blocks if b.phase == "sampled"))
    assert found.total.violations > 20
    assert Form.of(square, "tightened 0.5").in_arrays is False
    with pytest.raises(ValueError, match="no mutant 'zzz'"):
        Form.of(square, "zzz")


def test_a_mutant_with_its_own_instances_does_not_draw_those_of_the_check(check):
    own = Instances("one", draw=lambda rng, size: [2.0] * size)
    broken = replace(check("arrays/square"), mutants=(Mutant("own", instances=own),))
    form = Form.of(broken, "own")
    assert form.vectorised is None and form.instances is own


def vectorised_run(monkeypatch, check, observe_one, observe_all, draw, size=8):
    """Evidence of one block of a vectorised check made up here."""
    made = replace(
        check("arrays/square"),
        observe=observe_one,
        vectorised=Vectorised(draw, observe_all, lambda batch, i: batch[i].item()),
    )
    for module in ("blocks", "form", "plan"):
        monkeypatch.setattr(f"whp.proofs_checks.engine.{module}.find_check", lambda id: made)
    block = next(b for b in planned(made) if b.phase == "sampled")
    return run_block(replace(block, size=size))


def test_vectorised_whole_numbers_beyond_floats_are_compared_exactly(monkeypatch, check):
    found = vectorised_run(
        monkeypatch,
        check,
        lambda n: identity("n", n, n + (n % 2)),
        lambda batch: identity("n", batch, batch + batch % 2),
        lambda rng, size: 2**60 + np.arange(size),
    )
    assert found.total.violations == 4


def test_a_vectorised_observation_that_raises_or_is_nan_is_found_one_by_one(monkeypatch, check):
    def raises_at_three(n):
        if n == 3:
            raise ArithmeticError("three")
        return at_most("n", n, 100.0)

    def all_raise(batch):
        raise ArithmeticError("somewhere")

    found = vectorised_run(monkeypatch, check, raises_at_three, all_raise, lambda rng, size: np.arange(float(size)))
    assert (found.total.instances, found.total.errors, found.errors[0].instance.decode()) == (8, 1, 3.0)
    nan = vectorised_run(
        monkeypatch,
        check,
        lambda n: at_most("n", float("nan") if n == 3 else n, 100.0),
        lambda batch: at_most("n", np.where(batch == 3, np.nan, batch), 100.0),
        lambda rng, size: np.arange(float(size)),
    )
    assert (nan.total.instances, nan.total.errors, nan.errors[0].type) == (8, 1, "NotANumberError")


def test_a_vectorised_batch_that_is_changed_is_put_back(monkeypatch, check):
    def spoils(batch):
        right = batch.copy()
        batch[:] = -1.0
        return at_most("n", batch, right)

    found = vectorised_run(
        monkeypatch, check, lambda n: at_most("n", n, 3.0), spoils, lambda rng, size: np.arange(float(size))
    )
    assert found.total.violations == 4  # 4, 5, 6 and 7, as drawn


def test_a_vectorised_bound_that_says_nothing_is_counted_as_vacuous(monkeypatch, check):
    found = vectorised_run(
        monkeypatch,
        check,
        lambda n: at_most("n", 0.5, n, trivial=4.0),
        lambda batch: at_most("n", np.full(len(batch), 0.5), batch, trivial=4.0),
        lambda rng, size: 1 + np.arange(float(size)),
    )
    assert (found.total.instances, found.total.vacuous) == (8, 5)


def test_claims_that_change_between_replicates_are_an_error(monkeypatch, check):
    from whp.proofs_checks.engine import event

    coin = check("coin/heads")
    made = replace(coin, observe=lambda instance, *, toss, rng: event(False, probability=0.5 + 0.1 * rng.random()))
    for module in ("blocks", "form", "plan"):
        monkeypatch.setattr(f"whp.proofs_checks.engine.{module}.find_check", lambda id: made)
    found = run_block(planned(made)[0])
    assert any("differs between replicates" in e.message or "differently" in e.message for e in found.errors)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"kind": "hope"}, "kind must be one of"),
        ({"cost": 0.0}, "cost must be positive"),
        ({"cost": float("inf")}, "cost must be positive"),
        ({"kind": "event"}, "must take rng"),
        ({"kind": "rate"}, "needs the claimed rate"),
    ],
)
def test_a_check_whose_parts_do_not_fit_is_refused(given, words):
    plain = {"kind": "slack", "observe": lambda instance: None, "instances": Instances("any", examples=dict)}
    with pytest.raises(ValueError, match=words):
        Check(theorem="tiny.sums", name="c", **{**plain, **given})


def test_instances_need_a_scope_and_a_source():
    with pytest.raises(ValueError, match="scope"):
        Instances("", examples=dict)
    with pytest.raises(ValueError, match="at least one of"):
        Instances("none")
