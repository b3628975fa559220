"""The pytest plugin: theorems as tests of an implementation, and no green run in which nothing ran."""

import re
from importlib.metadata import entry_points

import pytest

pytest_plugins = ["pytester"]

INSTALLED = any(entry.name == "whp" for entry in entry_points(group="pytest11"))  # loaded by pytest itself, then
PLUGIN = () if INSTALLED else ("-p", "whp.proofs_checks.pytest_plugin")
OPTIONS = (*PLUGIN, "-p", "no:cacheprovider", "--import-mode=importlib")

TEST = """
import tiny_theorems as tiny
from whp.proofs_checks.pytest_plugin import parametrize_with_theorems

@parametrize_with_theorems({patterns}, subject={subject}, theorems=[{path!r}], {more})
def test_mine(theorem_check):
    theorem_check()
"""


@pytest.fixture
def outcome(pytester, tiny):
    """Run a test file of a user against the small theorems."""

    def run(patterns, subject, *options, more="", marks=""):
        text = TEST.format(patterns=patterns, subject=subject, path=tiny, more=more)
        pytester.makepyfile(test_mine=text.replace("@parametrize", f"{marks}\n@parametrize", 1))
        return pytester.runpytest_inprocess(*OPTIONS, *options)

    return run


def counts(result):
    (line,) = [line for line in result.outlines if line.startswith("whp: ")]
    return tuple(map(int, re.findall(r"\d+", line)))


def test_a_right_implementation_passes(outcome):
    result = outcome("'tiny.sums', 'tiny.coin'", "{'total': tiny.right_total, 'toss': tiny.toss}")
    result.assert_outcomes(passed=2)
    assert result.ret == 0 and counts(result) == (2, 2, 0, 0)
    assert "2 of 2 theorem checks ran, 0 skipped, 0 vacuous" in result.stdout.str()


def test_a_wrong_implementation_fails_with_instance_both_sides_control_and_replay(outcome, pytester):
    result = outcome("'tiny.sums'", "{'total': tiny.wrong_total}", "--whp-evidence", "kept")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "*tiny.sums: The statement sums.*",
            "*instance: Numbers(*",
            "*sum: * == * FAILS*",
            "*speaks against the subject*",
            "*replay: whp replay kept*",
        ]
    )
    assert list(pytester.path.glob("kept/*.json"))


@pytest.mark.parametrize("name", ["nan_total", "raising_total", "one_argument", "global_total", "sorting_total"])
def test_an_implementation_that_fails_is_a_failed_test(outcome, name):
    result = outcome("'tiny.sums'", f"{{'total': tiny.{name}}}")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*tiny.sums/sum: error:*"])


def test_an_expected_failure_is_no_failure_and_an_unexpected_pass_is_one(outcome):
    expected = "expected_failures={'tiny.sums': 'known'}"
    result = outcome("'tiny.sums'", "{'total': tiny.wrong_total}", more=expected)
    result.assert_outcomes(xfailed=1)
    assert result.ret == 0
    result = outcome("'tiny.sums'", "{'total': tiny.right_total}", more=expected)
    result.assert_outcomes(failed=1)
    assert "XPASS(strict)" in result.stdout.str()


def test_an_expected_failure_of_a_theorem_that_is_not_chosen_is_refused(outcome):
    result = outcome("'tiny.sums'", "{'total': tiny.right_total}", more="expected_failures={'tiny.coin': 'known'}")
    assert result.ret != 0 and "not chosen: tiny.coin" in result.stdout.str()


@pytest.mark.parametrize(
    ("patterns", "subject", "marks"),
    [
        ("'tiny.coin', 'tiny.arrays'", "{'total': tiny.right_total}", ""),  # no such slot
        (
            "'tiny.sums', 'tiny.coin'",
            "{'total': tiny.right_total, 'toss': tiny.toss}",
            "import pytest\n@pytest.mark.skip",
        ),
    ],
    ids=["not applicable", "skip mark"],
)
def test_a_run_in_which_nothing_ran_is_not_green(outcome, patterns, subject, marks):
    result = outcome(patterns, subject, marks=marks)
    result.assert_outcomes(skipped=2)
    assert "0 of 2 theorem checks ran, 2 skipped" in result.stdout.str() and result.ret == 1
    allowed = outcome(patterns, subject, "--whp-allow-none", marks=marks)
    assert allowed.ret == 0


def test_some_skipped_checks_are_counted_and_green(outcome):
    result = outcome("'tiny.sums', 'tiny.arrays'", "{'total': tiny.right_total}")
    result.assert_outcomes(passed=1, skipped=1)
    assert result.ret == 0 and counts(result) == (1, 2, 1, 0)


def test_a_theorem_that_is_false_for_the_reference_too_is_not_held_against_anybody(outcome):
    result = outcome(
        "'tiny.product', 'tiny.sums'", "{'multiply': __import__('operator').mul, 'total': tiny.right_total}"
    )
    result.assert_outcomes(passed=1, skipped=1)


def test_runs_without_theorems_are_left_alone(pytester):
    pytester.makepyfile("def test_nothing(): pass")
    result = pytester.runpytest_inprocess(*OPTIONS)
    assert result.ret == 0 and "whp:" not in result.stdout.str()


def test_budget_and_seed_are_options(outcome):
    result = outcome("'tiny.sums'", "{'total': tiny.right_total}", "--whp-budget", "vast")
    assert result.ret == 1 and "budget must be one of" in result.stdout.str()
    assert outcome("'tiny.sums'", "{'total': tiny.right_total}", "--whp-seed", "4").ret == 0


def test_the_subject_is_left_as_it_was(outcome):
    import tiny_theorems

    before = dict(vars(tiny_theorems.right_total)), tiny_theorems.right_total.__code__.co_code
    outcome("'tiny.sums'", "{'total': tiny.right_total}")
    assert (dict(vars(tiny_theorems.right_total)), tiny_theorems.right_total.__code__.co_code) == before


def test_verdicts_travel_from_the_workers_of_xdist(pytester, tiny, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", ":".join(map(str, __import__("sys").path)))
    text = TEST.format(
        patterns="'tiny.sums', 'tiny.coin', 'tiny.arrays'",
        subject="{'total': tiny.wrong_total, 'toss': tiny.toss}",
        path=tiny,
        more="",
    )
    pytester.makepyfile(test_mine=text)
    result = pytester.runpytest_subprocess(*OPTIONS, "-p", "xdist", "-n", "2")
    result.assert_outcomes(passed=1, failed=1, skipped=1)
    assert counts(result) == (2, 3, 1, 0)
    pytester.makepyfile(test_mine=text.replace("'tiny.sums', 'tiny.coin', ", ""))
    result = pytester.runpytest_subprocess(*OPTIONS, "-p", "xdist", "-n", "1")
    assert result.ret == 1 and counts(result) == (0, 1, 1, 0)
