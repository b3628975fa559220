"""The comparison with other libraries: what it times, what it refuses and whom it blames."""

import argparse
import importlib.util
import math
import sys
from pathlib import Path
from types import ModuleType

import pytest
from rich.console import Console

PEERS = Path(__file__).resolve().parents[2] / "benchmarks" / "peers"
QUICK = argparse.Namespace(rounds=1, repeats=1, seconds=1e-4, timeout=60.0)
WORK = "import numpy as np\nUNITS = {units}\ndef prepare():\n    return lambda: np.arange({length}) * 1.0\n"


@pytest.fixture(scope="module")
def run() -> ModuleType:
    spec = importlib.util.spec_from_file_location("peers_run", PEERS / "run.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def compare(run: ModuleType, folder: Path, ours: str, theirs: str, timeout: float = 60.0):
    (folder / "ours.py").write_text(ours)
    (folder / "theirs.py").write_text(theirs)
    case = run.Comparison("case", "work", folder, "ours.py", "theirs.py", "numpy", run.PROJECT, 1e-9, None, "")
    return run.compare(case, argparse.Namespace(**{**vars(QUICK), "timeout": timeout}), Console(quiet=True))


def test_equal_answers_give_a_ratio_per_unit_of_work(run: ModuleType, tmp_path: Path) -> None:
    outcome = compare(run, tmp_path, WORK.format(units=10**6, length=5), WORK.format(units=1, length=5))
    assert outcome.timing.difference == 0
    assert outcome.timing.ratio > 1000
    assert outcome.status == "faster"
    assert not outcome.failed


def test_unequal_answers_give_no_ratio_and_fail(run: ModuleType, tmp_path: Path) -> None:
    outcome = compare(run, tmp_path, WORK.format(units=1, length=5), WORK.format(units=1, length=6))
    assert (outcome.status, outcome.timing, outcome.failed) == ("unequal answers", None, True)


def test_a_broken_peer_is_missing_and_does_not_fail_us(run: ModuleType, tmp_path: Path) -> None:
    outcome = compare(run, tmp_path, WORK.format(units=1, length=5), "import a_library_that_is_not_here\n")
    assert (outcome.status, outcome.failed) == ("peer missing", False)
    assert outcome.reason == "ModuleNotFoundError: No module named 'a_library_that_is_not_here'"


def test_our_own_error_fails_us(run: ModuleType, tmp_path: Path) -> None:
    outcome = compare(run, tmp_path, "raise ValueError('ours')\n", WORK.format(units=1, length=5))
    assert (outcome.status, outcome.failed, outcome.reason) == ("ours failed", True, "ValueError: ours")


def test_a_peer_that_hangs_is_missing(run: ModuleType, tmp_path: Path) -> None:
    hanging = "import time\ndef prepare():\n    return lambda: time.sleep(60)\n"
    outcome = compare(run, tmp_path, WORK.format(units=1, length=5), hanging, timeout=6.0)
    assert (outcome.status, outcome.reason) == ("peer missing", "no result within 6 s")


@pytest.mark.parametrize(
    ("ours", "theirs", "expected"),
    [
        ([], [], 0.0),
        ([1.0, 2.0], [1.0, 2.5], 0.5),
        ([math.inf], [math.inf], 0.0),
        ([1.0], [math.nan], math.inf),
        ([math.nan], [math.nan], math.inf),
        ([1.0], [1.0, 1.0], math.inf),
    ],
)
def test_the_largest_difference(run: ModuleType, ours: list[float], theirs: list[float], expected: float) -> None:
    assert run.largest_difference(ours, theirs) == expected


def test_a_ratio_within_the_noise_is_a_tie_unless_there_is_a_goal(run: ModuleType) -> None:
    assert [run.judgement(ratio, None) for ratio in (0.5, 0.7, 1.4, 1.6)] == ["slower", "tie", "tie", "faster"]
    assert [run.judgement(ratio, 5.0) for ratio in (4.9, 5.0)] == ["below goal", "goal met"]


def test_every_comparison_has_its_scripts_and_its_environment(run: ModuleType) -> None:
    for case in run.comparisons(""):
        assert (case.folder / case.ours).is_file(), case
        assert (case.folder / case.theirs).is_file(), case
        assert case.environment == run.PROJECT or (PEERS / "environments" / f"{case.environment}.txt").is_file(), case
        assert "whp" not in (case.folder / case.theirs).read_text().split(), f"{case.theirs} runs where whp is not"
