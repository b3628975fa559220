"""Finding theorems: ids, globs, suggestions, outside modules, installed packages."""

import subprocess
import sys
from pathlib import Path

import pytest

from whp.theory.core import Registry, UnknownTheoremError
from whp.theory.core.registry import load_module

MODULE = """
from whp.theory import Claim, Paper, Theorem
PAPER = Paper({slug!r}, "t", ("a",), "v")
THEOREMS = tuple(
    Theorem(id=f"{slug}.{{n}}", paper=PAPER, title="t", statement="s", claim=Claim("x", "<=", "y"), provenance="prior")
    for n in {names!r}
)
"""


def write(folder: Path, file: str, slug: str, *names: str) -> str:
    path = folder / f"{file}.py"
    path.write_text(MODULE.format(slug=slug, names=names))
    return str(path)


@pytest.fixture
def registry(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "outside_one", raising=False)
    found = Registry()
    found.add_module(write(tmp_path, "outside_one", "outside_one", "T1", "T2", "lemma-3"))
    return found


def test_ids_and_globs_choose_theorems(registry):
    assert registry.theorem("outside_one.T1").id == "outside_one.T1"
    assert [t.id for t in registry.theorems("outside_one")] == [
        "outside_one.T1",
        "outside_one.T2",
        "outside_one.lemma-3",
    ]
    assert [t.id for t in registry.theorems("outside_one.T*", "outside_one.T1")] == ["outside_one.T1", "outside_one.T2"]
    assert [t.id for t in registry.theorems("*.lemma-3")] == ["outside_one.lemma-3"]
    assert {"outside_one.T1"} < {t.id for t in registry}


@pytest.mark.parametrize(
    ("wanted", "near"),
    [("outside_one.T9", "outside_one.T1"), ("outside_on.T1", "outside_one.T1"), ("outsideone", "outside_one")],
)
def test_an_unknown_id_suggests_the_nearest(registry, wanted, near):
    with pytest.raises(UnknownTheoremError, match="did you mean") as raised:
        registry.theorems(wanted)
    assert near in str(raised.value)
    with pytest.raises(UnknownTheoremError):
        registry.theorem("zzz.T1")


def test_nobody_takes_the_slug_of_another_source(registry, tmp_path):
    with pytest.raises(ValueError, match="already states"):
        registry.add_module(write(tmp_path, "outside_two", "outside_one", "T7"))
    if registry.sources.get("marginalization"):
        with pytest.raises(ValueError, match="already states"):
            registry.add_module(write(tmp_path, "outside_three", "marginalization", "X1"))


def test_a_module_states_a_paper_and_theorems(registry, tmp_path):
    for file, text, words in (
        ("no_paper", "THEOREMS = ()", "must define PAPER"),
        ("no_theorems", MODULE.format(slug="no_theorems", names=()).replace("THEOREMS", "OTHERS"), "must define"),
        ("twice", MODULE.format(slug="twice", names=("T1", "T1")), "states an id twice"),
    ):
        (tmp_path / f"{file}.py").write_text(text)
        with pytest.raises(ValueError, match=words):
            registry.add_module(str(tmp_path / f"{file}.py"))


@pytest.mark.parametrize(
    ("text", "words"),
    [("import no_such_module", "ModuleNotFoundError"), ("def broken(:", "SyntaxError"), ("1 / 0", "ZeroDivisionError")],
)
def test_a_file_that_cannot_be_imported_is_one_sentence(tmp_path, monkeypatch, text, words):
    monkeypatch.setattr(sys, "path", list(sys.path))
    path = tmp_path / f"broken_{words.lower()}.py"
    path.write_text(text)
    with pytest.raises(ValueError, match=words):
        load_module(str(path))


def test_files_and_names_that_do_not_exist_or_clash_are_refused(tmp_path):
    with pytest.raises(ValueError, match="no file"):
        load_module(str(tmp_path / "nothing.py"))
    with pytest.raises(ValueError, match="cannot import"):
        load_module("no.such.module")
    (tmp_path / "json.py").write_text("")
    with pytest.raises(ValueError, match="another module; rename the file"):
        load_module(str(tmp_path / "json.py"))


def test_a_paper_of_ours_that_cannot_be_imported_is_an_error_each_time(monkeypatch):
    found = Registry()
    monkeypatch.setattr(found, "_load_paper", lambda slug: (_ for _ in ()).throw(ImportError("broken paper")))
    for _ in range(2):
        with pytest.raises(ImportError, match="broken paper"):
            found.papers()


def install(folder: Path, name: str, module: str, text: str) -> None:
    """Lay out what an installer would: a module and its metadata with an entry point."""
    (folder / f"{module}.py").write_text(text)
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[whp.theorems]\n{module} = {module}\n")


def test_installed_packages_are_found_and_a_broken_one_is_left_out_and_reported(tmp_path):
    install(tmp_path, "good-one", "good_one", MODULE.format(slug="good_one", names=("T1",)))
    install(tmp_path, "bad-one", "bad_one", "import no_such_module\nraise SystemError")
    program = (
        "from whp.theory.core import load_papers\n"
        "r = load_papers()\n"
        "print([t.id for t in r.theorems('good_one')], dict(r.broken))"
    )
    paths = [str(Path(p).resolve()) for p in (tmp_path, *sys.path)]
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path[:0] = {paths!r}\n{program}"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "['good_one.T1']" in done.stdout
    assert "{'bad_one': \"ModuleNotFoundError: No module named 'no_such_module'\"}" in done.stdout
    listed = subprocess.run(
        [
            sys.executable,
            "-c",
            f"import sys; sys.path[:0] = {paths!r}; from whp.proofs_checks.cli import main; main(['list', 'good_one'])",
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert listed.returncode == 0 and "good_one" in listed.stdout and "T1" in listed.stdout
    assert listed.stderr.count("\n") == 1 and "'bad_one'" in listed.stderr and "left out" in listed.stderr
