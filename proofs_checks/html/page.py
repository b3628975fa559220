"""The HTML report: one self-contained file that asks nothing of the network."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path

from jinja2 import Environment as Templates
from jinja2 import FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from whp.proofs_checks.engine.environment import Environment
from whp.proofs_checks.engine.mutants import MutantsReport
from whp.proofs_checks.engine.report import Report
from whp.proofs_checks.engine.statistics.levels import HOLDS_LEVEL, REFUTATION_LEVEL
from whp.proofs_checks.engine.verdict import Kind
from whp.proofs_checks.html.formulas import mathematical, typographic
from whp.proofs_checks.html.numbers import number, plural, share, side
from whp.proofs_checks.html.printable import printable
from whp.proofs_checks.html.view import tally, theorem_view

MEANINGS = {
    Kind.PROVED: "true for every instance of the printed scope",
    Kind.HOLDS: "searched and not violated, as far as printed",
    Kind.CONSISTENT: "the measured growth agrees with the claimed order at these sizes",
    Kind.REFUTED: "a counterexample, or replicates that a true claim almost never shows",
    Kind.INCONSISTENT: "the measured growth disagrees with the claimed order at these sizes",
    Kind.INCONCLUSIVE: "the budget ended first, or a violation lies inside the rounding model",
    Kind.VACUOUS: "assumptions (almost) never met, or the bound says nothing",
    Kind.UNAVAILABLE: "an extra is missing; nothing was shown",
    Kind.NOT_APPLICABLE: "nothing here to judge",
    Kind.ERROR: "it raised, hung or exceeded its memory; never a pass",
}
"""What each verdict means, in the words of the legend."""


def write_report(result: Report, paths: Mapping[str, Path], path: Path, mutants: MutantsReport | None = None) -> Path:
    """Write a report as one HTML file, whole or not at all.

    Counterexamples, and the tightest instances of cheap checks, are run once more so that both sides can be printed;
    the verdicts are those of `result`.

    Parameters
    ----------
    result : Report
        What `verify` returned.
    paths : mapping of str to Path
        Evidence files by check id, as `write_all` returns them; they name the replay commands.
    path : Path
        Where the file is written; its folder is made.
    mutants : MutantsReport, optional
        What `mutants` returned, for the same theorems.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    OSError
        If the file cannot be written.
    """
    views = [theorem_view(t, result, paths, mutants) for t in result.theorems]
    ordered = sorted(views, key=lambda v: [t.theorem.paper.slug for t in result.theorems].index(v.theorem.paper.slug))
    papers = [(p, list(group)) for p, group in groupby(ordered, key=lambda v: v.theorem.paper)]
    page = (
        _templates()
        .get_template("report.html")
        .render(
            result=result,
            counts=result.counts,
            views=ordered,
            ids={v.theorem.id for v in ordered},
            papers=papers,
            tally=tally(ordered),
            mutants=mutants,
            environment=Environment.current(),
            written=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
            meanings=MEANINGS,
            levels=(REFUTATION_LEVEL, HOLDS_LEVEL),
            Kind=Kind,
        )
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(f".{os.getpid()}.partial")
    partial.write_text(printable(page), encoding="utf-8")
    os.replace(partial, path)
    return path


def _templates() -> Templates:
    templates = Templates(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters.update(
        number=number,
        share=share,
        side=side,
        mathematical=mathematical,
        breakable=_breakable,
        typographic=typographic,
        plural=plural,
    )
    return templates


def _breakable(name: str) -> Markup:
    """Let a long identifier break where its words end."""
    return Markup(re.sub(r"([._])", r"\1<wbr>", str(escape(name))))
