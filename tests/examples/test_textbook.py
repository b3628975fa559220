"""Three textbook theorems of an outside package: they hold, their mutants die, wrong learners are found out."""

import math
import sys
from pathlib import Path

import pytest

from whp.proofs_checks.engine import Kind, mutants, replay, verify
from whp.proofs_checks.engine.files import write_all

sys.path.insert(0, str(Path(__file__).parents[2] / "examples" / "textbook"))
NAMES = ("hoeffding", "perceptron", "ucb1")


@pytest.fixture(params=NAMES)
def module(request):
    return f"whp_textbook.{request.param}"


def decide(module, **given):
    return verify(module.split(".")[1], modules=[module], **{"budget": "quick", **given})


def test_each_holds_and_so_does_its_reference(module):
    report = decide(module)
    assert report.exit_status == 0
    assert (report.theorems[0].statement.kind, report.theorems[0].subject.kind) == (Kind.HOLDS, Kind.HOLDS)


def test_each_can_fail(module):
    report = mutants(module.split(".")[1], modules=[module], budget="quick")
    assert report.exit_status == 0, [m for m in report.mutants if not m.killed]
    assert len(report.mutants) == 3


def test_evidence_is_the_same_from_two_processes_and_replays(module, tmp_path):
    one, two = decide(module), decide(module, jobs=2)
    assert one.theorems[0].checks[0].evidence == two.theorems[0].checks[0].evidence
    (path,) = write_all(two, tmp_path).values()
    assert replay(path).reproduced


@pytest.mark.parametrize(
    ("module", "subject", "kind"),
    [
        ("whp_textbook.hoeffding", {"radius": lambda n, delta: math.sqrt(math.log(1 / delta) / (2 * n))}, Kind.HOLDS),
        ("whp_textbook.hoeffding", {"radius": lambda n, delta: 0.0}, Kind.REFUTED),
        ("whp_textbook.hoeffding", {"radius": lambda n, delta: [0.1]}, Kind.ERROR),
        ("whp_textbook.perceptron", {"learner": "whp_textbook.perceptron:Perceptron"}, Kind.HOLDS),
        ("whp_textbook.perceptron", {"learner": "whp_textbook.perceptron:WrongSign"}, Kind.REFUTED),
        ("whp_textbook.ucb1", {"learner": "whp_textbook.ucb1:Uniform"}, Kind.REFUTED),
    ],
)
def test_an_implementation_is_held_to_them(module, subject, kind):
    report = decide(module, subject=subject)
    assert report.theorems[0].subject.kind is kind, report.theorems[0].subject.text
    if kind is Kind.REFUTED:
        assert report.theorems[0].checks[0].control.blames == "subject"


def test_the_perceptron_bound_is_attained_by_orthonormal_examples():
    (check,) = decide("whp_textbook.perceptron").theorems[0].checks
    assert check.evidence.clauses["mistakes"].tightness.value == pytest.approx(1.0)


def test_hoeffding_answers_how_many_samples_are_needed():
    from whp_textbook.hoeffding import RADIUS

    assert RADIUS.solve("n", at_most=0.1, delta=0.05) == 150
    assert RADIUS(n=150, delta=0.05) <= 0.1 < RADIUS(n=149, delta=0.05)
