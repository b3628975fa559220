"""Pages made from the registry: every theorem is in the catalogue, notes belong to refuted statements."""

import importlib
import sys
from pathlib import Path

import pytest

from whp.theory import theorem, theorems

DOCS = Path(__file__).parents[1] / "docs"


@pytest.fixture
def pages(tmp_path, monkeypatch):
    """The generator, writing to the test's folder."""
    monkeypatch.syspath_prepend(DOCS)
    sys.modules.pop("pages", None)
    module = importlib.import_module("pages")
    monkeypatch.setattr(module, "OUT", tmp_path)
    return module


def test_every_theorem_is_in_the_catalogue_once(pages, tmp_path):
    pages.catalogue()
    page = "".join(p.read_text() for p in (tmp_path / "catalogue").glob("*.md"))
    for t in theorems():
        assert page.count(f"(theorem-{t.id})=") == 1


def test_each_note_is_about_a_refuted_statement():
    for note in (DOCS / "findings").glob("*.md"):
        assert theorem(note.stem).expected == "refuted"


def test_a_finding_shows_reading_counterexample_correction_and_replay(pages, tmp_path, monkeypatch):
    chosen = [theorem("prompt_perturbation.T1"), theorem("prompt_perturbation.T2")]
    monkeypatch.setattr(pages, "theorems", lambda *patterns: chosen)
    pages.findings()
    page = (tmp_path / "findings.md").read_text()
    for part in ("As reported of", "UtilityGridPair(first=", "The ratio is 9/2", "(#theorem-prompt_perturbation.T2)"):
        assert part in page
    assert "$ whp replay .whp/evidence/prompt_perturbation.T1-grid--seed0.json" in page


def test_text_of_theorems_is_never_taken_for_markup(pages):
    assert pages.text("|a_b| <= *c* $d$ [e](f) `g`") == (
        r"\|a\_b\| \<= \*c\* \$d\$ \[e\]\(f\) \`g\`"
    )  # fmt: skip
