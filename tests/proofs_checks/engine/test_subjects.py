"""Implementations in slots: found, watched, kept from spoiling anything."""

import random
import sys

import numpy as np
import pytest

from whp.proofs_checks.engine import Kind, Limits, materialise, verify
from whp.proofs_checks.engine.snapshot import Snapshot
from whp.proofs_checks.engine.subjects import SubjectError, check_signature, name_of, reference_to, resolve
from whp.theory import Slot


@pytest.fixture
def subjects(tiny):
    import tiny_theorems

    return tiny_theorems


def blamed(report):
    return report.theorems[0].subject


def test_a_right_subject_holds_and_a_wrong_one_is_refuted_with_the_blame(run, subjects):
    right = run("sums", subject={"total": subjects.right_total})
    assert blamed(right).kind is Kind.HOLDS and right.exit_status == 0
    wrong = run("sums", subject={"total": subjects.wrong_total})
    assert blamed(wrong).kind is Kind.REFUTED and wrong.exit_status == 1
    assert wrong.theorems[0].checks[0].control.blames == "subject"
    assert wrong.theorems[0].statement.kind is Kind.NOT_APPLICABLE


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("nan_total", "not a number"),
        ("raising_total", "KeyError: 'no total today'"),
        ("vector_total", "expected one number, got shape (1,)"),
        ("float_total", "expected an int, got float"),
        ("sorting_total", "changed its arguments"),
        ("popping_total", "changed its arguments"),
        ("global_total", "global random state"),
    ],
)
def test_a_subject_that_fails_is_an_error_with_its_reason(run, subjects, name, words):
    report = run("sums", subject={"total": getattr(subjects, name)})
    assert blamed(report).kind is Kind.ERROR and words in blamed(report).text
    assert report.exit_status == 1


def test_the_failing_instance_is_kept_and_shown_as_it_was_given(run, subjects):
    report = run("sums", subject={"total": subjects.sorting_total})
    kept = report.theorems[0].checks[0].evidence.errors[0].instance.decode()
    assert kept.values.tolist() != sorted(kept.values)
    assert subjects.named_numbers()["unsorted"].values.tolist() == [3, 1]
    assert blamed(run("sums")).kind is Kind.HOLDS


def test_a_wrong_signature_is_refused_before_anything_runs(run, subjects):
    report = run("sums", subject={"total": subjects.one_argument})
    assert blamed(report).kind is Kind.ERROR and "called as (values, names)" in blamed(report).text
    assert report.theorems[0].checks[0].evidence is None
    with pytest.raises(SubjectError, match="takes a callable"):
        check_signature(Slot("f", "(x)", "", "", ("x",)), 3)


@pytest.mark.parametrize(
    ("name", "kind"),
    [("hanging_total", "SubjectHung"), ("hungry_total", "SubjectOutOfMemory"), ("exiting_total", "SubjectCrashed")],
)
def test_limits_end_what_does_not_end_by_itself(run, subjects, name, kind):
    report = run("sums", subject={"total": getattr(subjects, name)}, limits=Limits(0.5, 2**29))
    assert blamed(report).kind is Kind.ERROR and kind in blamed(report).text
    (first, *_) = report.theorems[0].checks[0].evidence.errors
    assert len(materialise(first.instance.decode()).values) > 2


def test_limits_change_nothing_for_a_subject_that_keeps_them(run, subjects):
    with_limits = run("sums", subject={"total": subjects.right_total}, limits=Limits(10.0, 2**30))
    without = run("sums", subject={"total": subjects.right_total})
    assert evidence_bytes(with_limits) == evidence_bytes(without)


def evidence_bytes(report):
    return [c.evidence.canonical_bytes() for t in report.theorems for c in t.checks]


def test_a_lying_certificate_convinces_nobody(run, subjects):
    assert blamed(run("sums", subject={"total": subjects.lying_total})).kind is Kind.REFUTED


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("recycled", "returned the same object twice"),
        ("Sharer", "came out differently when it was run again"),
        ("Vandal", "changed the instance"),
    ],
)
def test_a_learner_that_is_not_made_afresh_is_an_error(run, subjects, name, words):
    subjects._ONLY.clear()
    subjects.Learner.memory.clear()
    report = run("learner", subject={"learner": getattr(subjects, name)})
    assert blamed(report).kind is Kind.ERROR and words in blamed(report).text


def test_a_factory_may_return_the_same_stateless_function(run, subjects):
    class Fixed:
        __slots__ = ()

        def play(self):
            return 0.5

    only = Fixed()
    assert blamed(run("learner", subject={"learner": lambda problem, rng: only})).kind is Kind.HOLDS


def test_a_random_claim_whose_subject_draws_from_the_global_generator_is_an_error(run, subjects):
    np.random.seed(3)  # noqa: NPY002
    report = run("coin", subject={"toss": subjects.global_toss})
    assert blamed(report).kind is Kind.ERROR


def test_verifying_leaves_the_global_generators_as_they_were(run, subjects):
    np.random.seed(5)  # noqa: NPY002
    random.seed(5)
    before = random.getstate(), np.random.get_state()[1].tolist()  # noqa: NPY002
    run("sums", "coin", "product", "arrays")
    run("sums", subject={"total": subjects.global_total})
    assert (random.getstate(), np.random.get_state()[1].tolist()) == before  # noqa: NPY002


def test_a_module_that_draws_while_it_is_imported_is_forgiven(run, tmp_path, monkeypatch):
    (tmp_path / "draws_on_import.py").write_text("import random\nSTART = random.getrandbits(24)\n")
    monkeypatch.syspath_prepend(tmp_path)

    def importing_total(values, names):
        import draws_on_import

        return int(values.sum()) + 0 * draws_on_import.START

    random.seed(9)
    before = random.getstate()
    first = run("sums", subject={"total": importing_total})
    assert blamed(first).kind is Kind.HOLDS and random.getstate() == before
    assert evidence_bytes(first) == evidence_bytes(run("sums", subject={"total": importing_total}))


def test_a_subject_of_two_slots_goes_where_its_slots_are(run, subjects):
    given = {"total": subjects.right_total, "toss": subjects.toss}
    report = run("sums", "coin", "growth", subject=given)
    kinds = {t.theorem.id: t.subject.kind for t in report.theorems}
    assert kinds == {"tiny.sums": Kind.HOLDS, "tiny.coin": Kind.HOLDS, "tiny.growth": Kind.NOT_APPLICABLE}
    assert [dict(c.subjects) for t in report.theorems[:2] for c in t.checks] == [
        {"total": "tiny_theorems:right_total"},
        {"toss": "tiny_theorems:toss"},
    ]
    assert report.counts == {"ran": 2, "skipped": 1, "vacuous": 0}


def test_an_unknown_slot_is_refused_with_the_nearest_even_beside_a_known_one(run, subjects):
    with pytest.raises(ValueError, match="no chosen check has the slot 'totl'; did you mean 'total'"):
        run("sums", subject={"total": subjects.right_total, "totl": subjects.right_total})
    with pytest.raises(ValueError, match=r"the slots here are \[\]"):
        run("arrays", subject={"zzz": subjects.right_total})


def test_a_subject_that_cannot_be_imported_stays_in_one_process(run):
    report = run("sums", subject={"total": lambda values, names: int(values.sum())})
    assert blamed(report).kind is Kind.HOLDS
    with pytest.raises(ValueError, match="must be importable as module:function"):
        run("sums", subject={"total": lambda values, names: 0}, jobs=2)


def test_references_lead_to_the_object_and_back(tiny, subjects):
    assert resolve("tiny_theorems:Learner.play") is subjects.Learner.play
    assert resolve(f"{tiny}:right_total") is subjects.right_total
    assert reference_to(subjects.right_total) == "tiny_theorems:right_total"
    assert reference_to(subjects.Learner(None, None).play) is None
    assert reference_to(lambda: 0) is None
    assert name_of(lambda: 0).startswith("(")
    for wrong, words in (
        ("tiny_theorems", "written module:function"),
        ("tiny_theorems:no", "has no 'no'"),
        ("no.mod:f", "cannot import"),
    ):
        with pytest.raises(ValueError, match=words):
            resolve(wrong)


def test_a_function_of_a_module_that_is_gone_has_no_reference(monkeypatch):
    def homeless():
        return 0

    homeless.__module__, homeless.__qualname__ = "no_such_module_anywhere", "homeless"
    assert reference_to(homeless) is None


def test_a_snapshot_finds_and_undoes_changes_of_every_container():
    import networkx as nx

    graph = nx.path_graph(3)
    big = np.zeros(2**18)
    value = ([1, 2], {"a": np.arange(3)}, {4}, graph, np.array([None, "x"], dtype=object), big)
    before = Snapshot(value)
    assert not before.restore()
    before = Snapshot(value)
    value[0].append(3)
    value[1]["a"][0] = 9
    value[1]["b"] = 1
    value[2].add(5)
    graph.add_edge(0, 2)
    value[4][0] = "y"
    with pytest.raises(ValueError, match="read-only"):
        big[0] = 1
    assert before.restore()
    assert value[0] == [1, 2] and value[1].keys() == {"a"} and value[1]["a"].tolist() == [0, 1, 2] and value[2] == {4}
    assert sorted(graph.edges) == [(0, 1), (1, 2)] and value[4].tolist() == [None, "x"]
    big[0] = 1


def test_a_snapshot_finds_a_read_only_array_that_its_owner_unlocked():
    array = np.arange(3.0)
    array.flags.writeable = False
    before = Snapshot(array)
    assert not before.restore()
    array.flags.writeable = True
    array[0] = 7.0
    assert before.restore()
    assert array.tolist() == [0.0, 1.0, 2.0] and not array.flags.writeable


def test_verify_refuses_what_is_no_budget_seed_or_number_of_jobs(run):
    for given, words in (
        ({"seed": -1}, "seed"),
        ({"seed": True}, "seed"),
        ({"jobs": 0}, "jobs"),
        ({"budget": "vast"}, "budget"),
    ):
        with pytest.raises(ValueError, match=words):
            run("sums", **given)


def test_the_module_of_a_subject_is_not_loaded_twice(run, subjects):
    run("sums", subject={"total": "tiny_theorems:right_total"})
    assert sys.modules["tiny_theorems"] is subjects
    assert verify("tiny.sums", subject={"total": "tiny_theorems:right_total"}, budget="x1").exit_status == 0
