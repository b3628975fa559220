"""Theorems of installed packages beside ours; a broken package is reported and left out."""

import json
import shutil
import tomllib
from pathlib import Path

import pytest

TEXTBOOK = Path(__file__).parents[3] / "examples" / "textbook"
MINE = ("hoeffding.T1", "perceptron.T1", "ucb1.T1")


def install(target, name, entry_points):
    """What `pip install --target` leaves behind, without a network."""
    information = target / f"{name.replace('-', '_')}-0.1.0.dist-info"
    information.mkdir(parents=True)
    (information / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 0.1.0\n")
    lines = (f"{key} = {value}\n" for key, value in entry_points.items())
    (information / "entry_points.txt").write_text("[whp.theorems]\n" + "".join(lines))


@pytest.fixture
def target(tmp_path):
    """A folder of installed packages, holding the textbook."""
    target = tmp_path / "site"
    project = tomllib.loads((TEXTBOOK / "pyproject.toml").read_text())["project"]
    install(target, project["name"], project["entry-points"]["whp.theorems"])
    shutil.copytree(TEXTBOOK / "whp_textbook", target / "whp_textbook")
    return target


@pytest.fixture
def ask(whp, target):
    """Run the command line where the packages are installed; returns status, JSON and standard error."""

    def run(*arguments):
        process = whp(*arguments, "--json", path=target)
        output, errors = process.communicate(timeout=120)
        return process.returncode, json.loads(output or "null"), errors

    return run


def test_an_installed_package_is_listed_verified_and_mutated_beside_ours(ask):
    status, listed, errors = ask("list")
    ids = [t["id"] for t in listed]
    assert status == 0 and not errors and set(MINE) < set(ids)
    ours = "marginalization.*" if any(i.startswith("marginalization.") for i in ids) else "prompt_perturbation.T1"
    assert any(i.startswith(ours.partition(".")[0]) for i in ids)

    status, verified, errors = ask("verify", "hoeffding", "perceptron", "ucb1", "--budget", "quick", "--jobs", 2)
    assert status == 0 and not errors
    assert {t["id"]: t["statement"]["verdict"] for t in verified["theorems"]} == dict.fromkeys(MINE, "holds")

    status, killed, errors = ask("mutants", "hoeffding", "--budget", "quick", "--jobs", 1)
    assert status == 0 and not errors and all(m["killed"] for m in killed["mutants"]) and len(killed["mutants"]) == 3


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("raise RuntimeError('half installed')", "RuntimeError: half installed"),
        ("PAPER = 3", "must define PAPER"),
        ("from whp_textbook.hoeffding import PAPER\nTHEOREMS = 5", "not iterable"),
        ("import nowhere", "No module named 'nowhere'"),
    ],
)
def test_a_broken_package_is_reported_and_left_out(ask, target, source, reason):
    install(target, "broken-theorems", {"broken": "broken_theorems"})
    (target / "broken_theorems.py").write_text(source)
    status, listed, errors = ask("list", "hoeffding.*")
    assert status == 0 and [t["id"] for t in listed] == ["hoeffding.T1"]
    assert errors.startswith("whp: the installed module 'broken_theorems' is left out: ") and reason in errors
    assert errors.count("\n") == 1


def test_a_package_whose_checks_do_not_import_is_reported_and_left_out(ask, target):
    install(target, "late", {"late": "late_theorems"})
    (target / "late_theorems.py").write_text(
        "from whp.theory import Paper, Theorem, Claim\n"
        "PAPER = Paper('late', 'Late', ('Nobody',), 'nowhere')\n"
        "THEOREMS = (Theorem(id='late.T1', paper=PAPER, title='t', statement='s', claim=Claim('a', '<=', 'b'),\n"
        "                    provenance='prior'),)\n"
        "CHECKS = (1, 2)\n"
    )
    status, listed, errors = ask("list")
    assert status == 0 and set(MINE) < {t["id"] for t in listed} and "late.T1" not in {t["id"] for t in listed}
    assert "'late_theorems' is left out: TypeError: CHECKS" in errors and errors.count("\n") == 1
    status, verified, _ = ask("verify", "hoeffding", "--budget", "quick", "--jobs", 1)
    assert status == 0 and verified["theorems"][0]["statement"]["verdict"] == "holds"


def test_a_package_cannot_state_theorems_of_our_papers(ask, target):
    install(target, "thief", {"aaa_thief": "thief_theorems"})
    (target / "thief_theorems.py").write_text(
        "from whp.theory import Paper, theorem\nfrom whp.theory.prompt_perturbation import PAPER\nTHEOREMS = ()\n"
    )
    status, listed, errors = ask("list", "prompt_perturbation.*")
    assert status == 0 and listed and all(t["checks"] + t["proofs"] for t in listed if t["id"].endswith(".T1"))
    assert "which whp.theory.prompt_perturbation already states" in errors
