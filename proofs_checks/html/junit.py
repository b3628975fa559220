"""Verdicts as JUnit XML, which build servers read: one test suite per paper, one test case per theorem."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from xml.etree import ElementTree

from whp.proofs_checks.engine.report import Report, TheoremReport
from whp.proofs_checks.engine.verdict import Kind
from whp.proofs_checks.html.printable import printable

_SKIPPED = (Kind.UNAVAILABLE, Kind.NOT_APPLICABLE)


def write_junit(result: Report, path: Path) -> Path:
    """Write verdicts as JUnit XML.

    A theorem passes when its verdict is the one whp stands for, or, for a user's subject, when nothing was found
    against the subject; a refuted statement that ought to be refuted is a pass. An ``error`` verdict is an error, a
    missing extra or slot is skipped, anything else is a failure. A report without theorems holds one failure, since
    nothing was shown.

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
    root = ElementTree.Element("testsuites", name="whp", time=f"{result.seconds:.3f}")
    for slug, group in groupby(result.theorems, key=lambda t: t.theorem.paper.slug):
        _add_suite(root, slug, list(group), result)
    if result.exit_status == 2:
        suite = ElementTree.SubElement(root, "testsuite", name="whp", tests="1", failures="1", errors="0", skipped="0")
        case = ElementTree.SubElement(suite, "testcase", classname="whp", name="something ran")
        ElementTree.SubElement(case, "failure", message="no check and no proof ran, so nothing was shown")
    for name in ("tests", "failures", "errors", "skipped"):
        root.set(name, str(sum(int(suite.get(name, "0")) for suite in root)))
    path.parent.mkdir(parents=True, exist_ok=True)
    ElementTree.indent(root)
    ElementTree.ElementTree(root).write(path, encoding="utf-8", xml_declaration=True)
    return path


def _add_suite(root: ElementTree.Element, slug: str, theorems: Sequence[TheoremReport], result: Report) -> None:
    suite = ElementTree.SubElement(root, "testsuite", name=slug)
    for t in theorems:
        case = ElementTree.SubElement(
            suite, "testcase", classname=slug, name=printable(f"{t.theorem.id} {t.theorem.title}")
        )
        verdict = t.subject if result.subjects else t.statement
        kind = _outcome(t, result)
        if kind is not None:
            ElementTree.SubElement(
                case, kind, message=printable(f"{verdict.kind}: {verdict.text}"), type=verdict.kind.value
            )
        ElementTree.SubElement(case, "system-out").text = printable("\n".join(_lines(t)))
    for plural, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(plural, str(len(suite.findall(f"testcase/{tag}"))))
    suite.set("tests", str(len(theorems)))


def _outcome(t: TheoremReport, result: Report) -> str | None:
    verdict = t.subject if result.subjects else t.statement
    if verdict.kind in _SKIPPED:
        return "skipped"
    if result.as_expected(t):
        return None
    return "error" if verdict.kind is Kind.ERROR else "failure"


def _lines(t: TheoremReport) -> list[str]:
    lines = [
        t.theorem.announcement,
        f"expected: {t.theorem.expected}",
        f"statement: {t.statement.kind}: {t.statement.text}",
    ]
    lines.append(f"subject: {t.subject.kind}: {t.subject.text}")
    lines += [f"check {c.check.name}: {c.verdict.kind}: {c.verdict.text}" for c in t.checks]
    lines += [f"control of {c.check.name}: {c.control.text}" for c in t.checks if c.control is not None]
    return lines + [f"proof {name}: {r.outcome}: {r.detail} ({r.scope})" for name, r in t.proofs]
