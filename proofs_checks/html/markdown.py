"""Verdicts as Markdown, for a pull request or a notebook."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from whp.proofs_checks.engine.decide import smallest_violation
from whp.proofs_checks.engine.report import CheckReport, Report, TheoremReport
from whp.proofs_checks.engine.verdict import Kind
from whp.proofs_checks.html.instances import show_encoded
from whp.proofs_checks.html.numbers import number, plural
from whp.proofs_checks.html.printable import printable

_HEAD = "| theorem | provenance | statement | subject | as expected | established |"
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~$])")


def write_markdown(result: Report, path: Path) -> Path:
    """Write verdicts as Markdown: a summary, a table of theorems, and each counterexample.

    Parameters
    ----------
    result : Report
        What `verify` returned.
    path : Path
        Where the file is written; its folder is made.

    Returns
    -------
    Path
        The file.
    """
    lines = ["# whp report", "", summary(result), ""]
    if result.subjects:
        named = ", ".join(f"{_plain(slot)} = {_plain(value)}" for slot, value in result.subjects.items())
        lines += [f"Subject: {named}. The verdicts below are about it, not about the statements.", ""]
    lines += [_HEAD, "| --- | --- | --- | --- | --- | --- |"]
    lines += [_row(t, result) for t in result.theorems]
    for t in result.theorems:
        lines += [line for c in t.checks for line in _failure(t, c)]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(printable("\n".join(lines).rstrip() + "\n"), encoding="utf-8")
    return path


def summary(result: Report) -> str:
    """Say in a few sentences what ran and how it came out."""
    counts = result.counts
    total = counts["ran"] + counts["skipped"]
    ran = f"{counts['ran']} of {plural(total, 'check')} ran, {counts['skipped']} skipped, {counts['vacuous']} vacuous"
    parts = [f"{ran}; {plural(result.proofs_run, 'proof')}; budget {result.budget}, seed {result.seed}."]
    if result.level:
        parts.append(f"Chance that any true random claim was refuted: below {number(result.level)}.")
    if result.exit_status == 2:
        parts.append("**Nothing ran, so nothing was shown.**")
    elif result.unexpected:
        parts.append(f"**Not as expected: {', '.join(_plain(t.theorem.id) for t in result.unexpected)}.**")
    else:
        parts.append("Every verdict is the expected one.")
    return " ".join(parts)


def _row(t: TheoremReport, result: Report) -> str:
    about = t.subject if result.subjects else t.statement
    mark = "yes" if result.as_expected(t) else f"**no**: {t.theorem.expected}"
    cells = (
        f"{_plain(t.theorem.id)} {_plain(t.theorem.title)}",
        t.theorem.provenance,
        t.statement.kind.value,
        t.subject.kind.value,
        mark,
        _plain(about.text),
    )
    return f"| {' | '.join(cells)} |"


def _failure(t: TheoremReport, c: CheckReport) -> Sequence[str]:
    if c.verdict.kind not in (Kind.REFUTED, Kind.INCONSISTENT, Kind.ERROR) or c.evidence is None:
        return ()
    lines = [
        "",
        f"## {_plain(c.check.id)}: {c.verdict.kind}",
        "",
        _plain(t.theorem.announcement),
        "",
        _plain(c.verdict.text),
    ]
    if c.control is not None:
        lines += ["", f"Control: {_plain(c.control.text)}; this speaks against the {c.control.blames}."]
    recorded = None
    if c.evidence.violations:
        recorded = smallest_violation(c.evidence).instance
    elif c.evidence.errors:
        recorded = c.evidence.errors[0].instance
    if recorded is not None:
        shown = show_encoded(recorded)
        lines += ["", f"Instance{' ' + _plain(shown.kind) if shown.kind else ''}:", "", *_indented(shown.text)]
    return lines


def _indented(text: str) -> list[str]:
    """Code by indentation, which no text can close."""
    return [f"    {line}" for line in text.splitlines() or [""]]


def _plain(text: str) -> str:
    """Take away every meaning that Markdown or HTML would see in a text."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))
