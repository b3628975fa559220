"""Subjects in other languages, and programs that misbehave."""

import os
import shutil
import stat
import sys
from pathlib import Path

import numpy as np
import pytest

from whp.proofs_checks.engine import replay, verify
from whp.proofs_checks.engine.files import write_all
from whp.proofs_checks.engine.isolation import SubjectCrashed, SubjectHung
from whp.proofs_checks.engine.ledger import Ledger
from whp.proofs_checks.engine.programs import Program
from whp.proofs_checks.engine.subjects import resolve

EXAMPLE = Path(__file__).parents[3] / "examples" / "json_subject"
PYTHON = f"{sys.executable} -u"
perl = pytest.mark.skipif(
    not shutil.which("perl") or os.system("perl -MJSON::PP -e1 2>/dev/null") != 0, reason="needs perl with JSON::PP"
)


def hold(command, **options):
    subject = {"radius": f"exec:{command}"}
    return verify("hoeffding", modules=["whp_textbook.hoeffding"], subject=subject, budget="quick", **options)


@pytest.fixture
def script(tmp_path):
    """Write a Python program that answers each line by an expression in `call`."""

    def write(expression, before=""):
        path = tmp_path / "program.py"
        loop = f"for line in sys.stdin:\n    call = json.loads(line)['call']\n    print({expression}, flush=True)\n"
        path.write_text(f"import json, math, os, sys, time\n{before}\n{loop}")
        return f"{PYTHON} {path}"

    return write


@pytest.mark.parametrize("command", [pytest.param(EXAMPLE / "radius.pl", marks=perl), f"{PYTHON} {EXAMPLE}/radius.py"])
def test_the_examples_keep_the_theorem(command):
    report = hold(command)
    assert report.theorems[0].subject.kind == "holds" and report.exit_status == 0


def test_a_wrong_program_is_refuted_and_the_evidence_replays(script, tmp_path):
    wrong = script("json.dumps({'value': math.sqrt(math.log(1 / call[1])) / call[0]})")
    report = hold(wrong, jobs=2)
    assert report.theorems[0].subject.kind == "refuted"
    assert report.theorems[0].checks[0].control.blames == "subject"
    paths = write_all(report, tmp_path / "evidence")
    assert replay(paths["hoeffding.T1/escape"]).reproduced


def test_a_program_that_ends_is_an_error_with_its_last_words(script):
    report = hold(script("1", before="sys.exit('no licence')"))
    assert report.theorems[0].subject.kind == "error"
    assert "ended with status 1: no licence" in report.theorems[0].subject.text


def test_a_program_that_ends_sometimes_is_started_again(script):
    program = Program(script("json.dumps({'value': call[0]}) if call[0] else os._exit(3)"))
    assert program(1) == 1
    with pytest.raises(SubjectCrashed, match="status 3"):
        program(0)
    assert program(2) == 2
    program.close()


def test_a_program_that_hangs_is_ended_and_its_block_given_up(script, monkeypatch):
    slow = Program(script("time.sleep(60)"), seconds=0.3)
    with pytest.raises(SubjectHung, match=r"did not answer within 0.3 seconds"):
        slow(1)
    monkeypatch.setattr("whp.proofs_checks.engine.subjects.program", lambda command: slow)
    report = hold("slow")
    assert report.theorems[0].subject.kind == "error" and "SubjectHung" in report.theorems[0].subject.text


@pytest.mark.parametrize("answer", ["'hello'", "'[1]'", "'{}'", "''"])
def test_an_answer_that_is_not_of_the_protocol_is_an_error(script, answer):
    program = Program(script(answer))
    with pytest.raises(SubjectCrashed, match="must answer"):
        program(1)
    program.close()


def test_a_reported_error_is_the_subjects_and_the_program_goes_on(script):
    program = Program(script("json.dumps({'error': 'too small'} if call[0] < 1 else {'value': call[0]})"))
    with pytest.raises(RuntimeError, match="too small"):
        program(0)
    assert program(7) == 7
    program.close()


def test_values_of_every_kind_come_back_unchanged(script):
    echo = Program(script("json.dumps({'value': call[0]})"))
    array = np.array([[1.0, np.inf], [0.1, -2.5]])
    assert np.array_equal(echo(array), array)
    for value in (True, None, 2**80, 0.1, "text", (1, [2, {"a": 3.5}])):
        assert echo(value) == value
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match="not the encoding of any value"):
        echo(rng)  # arrives as a seed, which is no value to return
    echo.close()


def test_what_a_program_says_on_one_line_may_be_long(script):
    program = Program(script("json.dumps({'value': [0.5] * call[0]})"))
    assert len(program(200_000)) == 200_000
    program.close()


def test_a_program_that_does_not_exist_or_may_not_run_is_refused_before_anything_runs(tmp_path):
    with pytest.raises(ValueError, match=r"no program '\./nothing'"):
        resolve("exec:./nothing")
    plain = tmp_path / "plain"
    plain.write_text("#!/bin/sh\n")
    plain.chmod(stat.S_IRUSR)
    with pytest.raises(ValueError, match="no program"):
        resolve(f"exec:{plain}")
    with pytest.raises(ValueError, match="needs a program"):
        resolve("exec:")


def test_the_ledger_never_answers_for_a_program(script, tmp_path):
    command = script("json.dumps({'value': 1.0})")
    with Ledger(tmp_path / "ledger") as ledger:
        ledger.begin({})
        hold(command, ledger=ledger, resume=True)
        first = ledger.campaigns()[0].shards
        ledger.begin({})
        hold(command, ledger=ledger, resume=True)
        assert ledger.reused == 0 and ledger.campaigns()[1].shards == first


def test_a_stateful_slot_refuses_a_program():
    report = verify("perceptron", modules=["whp_textbook.perceptron"], subject={"learner": "exec:cat"}, budget="quick")
    assert "factory of learners, which a program cannot serve" in report.theorems[0].subject.text
