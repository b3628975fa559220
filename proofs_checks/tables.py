"""What the command line prints: tables that fit 80 columns, live progress, counterexamples."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from itertools import groupby
from pathlib import Path
from typing import Any

from rich.console import Console, Group
from rich.panel import Panel
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from whp.proofs_checks.curves import Curve
from whp.proofs_checks.engine.check import Check
from whp.proofs_checks.engine.decide import smallest_violation
from whp.proofs_checks.engine.estimate import Estimate
from whp.proofs_checks.engine.evidence import Evidence
from whp.proofs_checks.engine.hunt import Hunt, Step
from whp.proofs_checks.engine.ledger import CampaignRow
from whp.proofs_checks.engine.mutants import MutantsReport
from whp.proofs_checks.engine.observation import Entry
from whp.proofs_checks.engine.proofs import Proof
from whp.proofs_checks.engine.replay import Replay
from whp.proofs_checks.engine.report import CheckReport, Report, TheoremReport
from whp.proofs_checks.engine.scheduling import Run
from whp.proofs_checks.engine.verdict import Kind
from whp.theory.core import Bound, Theorem

_STYLE = {
    Kind.PROVED: "bold green",
    Kind.HOLDS: "green",
    Kind.CONSISTENT: "green",
    Kind.REFUTED: "bold red",
    Kind.INCONSISTENT: "bold red",
    Kind.ERROR: "bold red",
    Kind.INCONCLUSIVE: "yellow",
    Kind.VACUOUS: "yellow",
    Kind.UNAVAILABLE: "dim",
    Kind.NOT_APPLICABLE: "dim",
}
_JUDGED = {
    "slack": "both sides of the claim, on each instance",
    "event": "probability of an event, by replicates",
    "sample": "expectation, by replicates",
    "rate": "growth rate, by a fit over sizes",
}
_LONGEST = 2000  # characters of an instance that are shown


def console() -> Console:
    """Console on standard output, 80 columns when it is not a terminal."""
    found = Console(highlight=False)
    return found if found.is_terminal else Console(highlight=False, width=80)


def _word(kind: Kind) -> Text:
    return Text(kind.value, style=_STYLE[kind])


@contextmanager
def progress(enabled: bool) -> Iterator[Callable[[Run, Evidence | None], None] | None]:
    """Live progress on standard error; None when it is switched off."""
    screen = Console(stderr=True)
    if not enabled or not screen.is_terminal:
        yield None
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed:.0f} of {task.total:.0f} blocks"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=screen, transient=True) as live:
        task = live.add_task("verifying", total=0)
        left: dict[int, int] = {}

        def advance(run: Run, evidence: Evidence | None) -> None:
            if evidence is None:
                left[id(run)] = len(run.blocks)
                live.update(task, total=(live.tasks[0].total or 0) + len(run.blocks))
                return
            done = left[id(run)] if run.finished else 1  # an early decision makes the other blocks needless
            left[id(run)] -= done
            live.update(task, advance=done, description=run.check.id)

        yield advance


def show_list(rows: Sequence[tuple[Theorem, int, int]]) -> None:
    """Print theorems with how many checks and proofs bind them."""
    for slug, group in groupby(rows, key=lambda row: row[0].paper.slug):
        listed = list(group)
        names = [t.id.partition(".")[2] for t, _, _ in listed]
        table = Table(box=None, pad_edge=False, expand=True)
        table.add_column("theorem", overflow="fold", width=min(32, max(map(len, ["theorem", *names]))))  # to be copied
        table.add_column("what it says", overflow="fold", ratio=1)
        for name, width in (("provenance", 10), ("expected", 12)):
            table.add_column(name, overflow="fold", width=width)
        for name, (t, _, _) in zip(names, listed, strict=True):
            table.add_row(name, t.title, t.provenance, Text(t.expected, style=_STYLE[Kind(t.expected)]))
        out = console()
        out.print(Text.assemble((slug, "bold"), f"  {listed[0][0].paper.title}"))
        checks, proofs = sum(row[1] for row in listed), sum(row[2] for row in listed)
        out.print(Text(f"{len(listed)} theorems, {checks} checks, {proofs} proofs", style="dim"))
        out.print(table)


def show_theorem(theorem: Theorem, checks: Sequence[Check], proofs: Sequence[Proof]) -> None:
    """Print everything about one theorem."""
    out = console()
    where = f", {theorem.locator}" if theorem.locator else ""
    out.print(Text(f"{theorem.id}  {theorem.title}", style="bold"))
    out.print(f"{theorem.paper.title}{where} ({theorem.paper.venue})", markup=False)
    lines = [("statement", theorem.statement), ("claim", theorem.claim.text)]
    lines += [(f"assumes {a.name}", a.statement) for a in theorem.assumptions]
    lines += [("provenance", theorem.provenance), ("expected", theorem.expected)]
    optional = [("reading", theorem.reading), ("not claimed", theorem.not_claimed), ("corrects", theorem.corrects)]
    lines += [(k, v) for k, v in optional if v]
    for c in checks:
        lines.append((f"check {c.name}", f"{c.kind}: {_JUDGED[c.kind]}; {c.instances.scope}"))
        lines += [("  slot", f"{s.name}{s.signature}: {s.arguments} -> {s.returns}") for s in c.slots]
        lines.append(("  mutants", ", ".join(m.name for m in c.mutants) or "none"))
    lines += [(f"proof {p.name}", p.scope) for p in proofs]
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="dim", no_wrap=False, max_width=20, overflow="fold")
    table.add_column(overflow="fold")
    for k, v in lines:
        table.add_row(k, Text(v))
    out.print(table)
    if theorem.bound is not None:
        for s in theorem.bound.symbols:
            out.print(f"  {s.name}: {s.meaning}, {s.domain}", markup=False)


def show_report(report: Report, paths: Mapping[str, Path]) -> None:
    """Print both columns of verdicts, counterexamples with their replay command, and what ran."""
    out = console()
    for slug, group in groupby(report.theorems, key=lambda t: t.theorem.paper.slug):
        out.print(_verdicts(slug, list(group), about_subject=bool(report.subjects)))
    for t in report.theorems:
        for c in t.checks:
            if c.verdict.kind in (Kind.REFUTED, Kind.ERROR):
                out.print(_failure(t, c))
                if c.check.id in paths:
                    out.print(Text(f"whp replay {paths[c.check.id]}", style="bold"), soft_wrap=True)  # to be copied
    _summary(out, report)


def _verdicts(slug: str, group: Sequence[TheoremReport], *, about_subject: bool) -> Table:
    table = Table(box=None, pad_edge=False, title=slug, title_justify="left", title_style="bold", expand=True)
    table.add_column("theorem", overflow="fold", width=16)
    table.add_column("statement", overflow="fold", width=12)
    table.add_column("subject", overflow="fold", width=12)
    table.add_column("established", overflow="fold", ratio=1)
    for t in group:
        about = t.subject if about_subject else t.statement
        name = t.theorem.id.partition(".")[2]
        table.add_row(name, _word(t.statement.kind), _word(t.subject.kind), Text(about.text))
    return table


def _failure(t: TheoremReport, c: CheckReport) -> Panel:
    parts: list[Any] = [Text(t.theorem.announcement), Text(f"\n{c.verdict.text}")]
    if c.evidence is not None and c.evidence.violations:
        shown = smallest_violation(c.evidence)
        parts.append(Text(f"smallest instance found: {_instance(shown.instance.decode())}"))
    elif c.evidence is not None and c.evidence.errors and c.evidence.errors[0].instance is not None:
        parts.append(Text(f"instance: {_instance(c.evidence.errors[0].instance.decode())}"))
        parts.append(Text(c.evidence.errors[0].traceback, style="dim"))
    if c.control is not None:
        parts.append(Text(f"control: {c.control.text}; this speaks against the {c.control.blames}"))
    expected = c.verdict.kind.value == t.theorem.expected and not c.subjects
    title = f"{c.check.id}: {c.verdict.kind}" + (" (as expected)" if expected else "")
    return Panel(Group(*parts), title=title, title_align="left", border_style="dim" if expected else "red")


def _instance(value: Any) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}... ({len(text)} characters)"


def _summary(out: Console, report: Report) -> None:
    counts = report.counts
    total = counts["ran"] + counts["skipped"]
    ran = f"{counts['ran']} of {total} checks ran, {counts['skipped']} skipped, {counts['vacuous']} vacuous"
    style = "" if counts["ran"] or report.proofs_run else "bold red"
    out.print(Text(f"{ran}; {report.proofs_run} proofs", style=style))
    out.print(Text(f"budget {report.budget}, seed {report.seed}, {report.seconds:.1f} s"))
    if report.level:
        out.print(Text(f"chance that any true random claim was refuted: below {report.level:.0e}"))
    if report.unexpected:
        names = ", ".join(t.theorem.id for t in report.unexpected)
        out.print(Text(f"not as expected: {names}", style="bold red"))
    elif report.exit_status == 0:
        kept = (
            "the subject kept every claim that was checked" if report.subjects else "every verdict is the expected one"
        )
        out.print(Text(kept, style="green"))


def show_mutants(report: MutantsReport) -> None:
    """Print every mutant and how it died."""
    out = console()
    table = Table(box=None, pad_edge=False)
    table.add_column("check", overflow="fold", max_width=30)
    table.add_column("mutant", overflow="fold", max_width=26)
    table.add_column("killed", no_wrap=True)
    table.add_column("how", overflow="fold")
    for m in report.mutants:
        table.add_row(
            m.check.id,
            m.mutant,
            Text("yes" if m.killed else "NO", style="green" if m.killed else "bold red"),
            Text(m.text),
        )
    out.print(table)
    alive = [m for m in report.mutants if not m.killed]
    out.print(f"{len(report.mutants) - len(alive)} of {len(report.mutants)} mutants killed")
    for name in report.too_few:
        out.print(Text(f"{name} registers fewer than two mutants", style="bold red"))
    for name in report.unavailable:
        out.print(Text(f"{name} did not run: an extra is missing", style="yellow"))


def show_replay(result: Replay) -> None:
    """Print the instance, both sides of every clause, and whether it came out as recorded."""
    out = console()
    out.print(
        Text(
            result.stored.check_id + (f", mutant {result.stored.mutant}" if result.stored.mutant else ""), style="bold"
        )
    )
    if result.instance is not None:
        out.print(Text(f"instance: {_instance(result.instance)}"))
    table = Table(box=None, pad_edge=False)
    for name in ("clause", "left", "", "right", "slack"):
        table.add_column(name, overflow="fold")
    for e in result.entries:
        style = "bold red" if e.violated else ""
        cells = (e.clause.name, _side(e.left), e.clause.relation, _side(e.right), f"{e.slack:.6g}")
        table.add_row(*(Text(c, style=style) for c in cells))
    if result.entries:
        out.print(table)
    word = "reproduced" if result.reproduced else "NOT reproduced"
    out.print(Text(f"{word}: {result.text}", style="green" if result.reproduced else "bold red"))


def _side(value: Any) -> str:
    text = str(value)
    if len(text) <= 40:
        return text
    try:
        return f"{float(value):.12g}"
    except (OverflowError, TypeError, ValueError):
        return f"{text[:37]}..."


def replay_json(result: Replay) -> dict[str, Any]:
    """Return JSON-able data of a replay."""

    def clause(e: Entry) -> dict[str, Any]:
        return {
            "clause": e.clause.name,
            "left": str(e.left),
            "relation": e.clause.relation,
            "right": str(e.right),
            "slack": e.slack,
            "violated": e.violated,
        }

    return {
        "check": result.stored.check_id,
        "status": result.status,
        "reproduced": result.reproduced,
        "text": result.text,
        "instance": repr(result.instance),
        "clauses": [clause(e) for e in result.entries],
    }


def show_bound(bound: Bound, data: Mapping[str, Any]) -> None:
    """Print a bound's value or its inverse."""
    out = console()
    at = ", ".join(f"{k} = {v}" for k, v in data["at"].items())
    unit = f" {bound.unit}" if bound.unit else ""
    if "solved" in data:
        out.print(Text(f"{data['solved']} = {data['value']}{unit and ''}  ({bound.name}; {at})"))
        return
    out.print(Text(f"{bound.name} = {data['value']!r}{unit}  ({at})"))
    out.print(Text(f"surely between {data['low']!r} and {data['high']!r}", style="dim"))


def show_curves(bound: Bound, curves: Sequence[Curve], solved: str | None) -> None:
    """Print a bound, or the symbol solved for, along a range: one column for each curve."""
    first = curves[0]
    differing = [k for k in first.at if len({c.at[k] for c in curves}) > 1]
    table = Table(box=None, pad_edge=False)
    table.add_column(first.axis.symbol, justify="right")
    for c in curves:
        about = ", ".join(f"{k} = {c.at[k]:.4g}" for k in differing) or (solved or bound.name)
        table.add_column(about, justify="right", overflow="fold")
    for i, x in enumerate(first.axis.values):
        table.add_row(_brief(x), *(_brief(c.values[i]) for c in curves))
    out = console()
    out.print(table)
    same = ", ".join(f"{k} = {v}" for k, v in first.at.items() if k not in differing)
    if differing or same:
        out.print(Text("; ".join(filter(None, [f"{solved or bound.name}" if differing else "", same])), style="dim"))


def _brief(value: float | int | None) -> str:
    if value is None:
        return "none"
    return str(value) if isinstance(value, int) else f"{value:.6g}"


def show_estimate(rows: Sequence[Estimate]) -> None:
    """Print what would run."""
    table = Table(box=None, pad_edge=False)
    for name in ("check", "kind", "blocks", "instances", "seconds"):
        table.add_column(name, overflow="fold", justify="left" if name in ("check", "kind") else "right")
    for r in rows:
        table.add_row(r.check, r.kind, str(r.blocks), str(r.instances), f"{r.seconds:.2f}")
    console().print(table)
    console().print(f"about {sum(r.seconds for r in rows):.1f} s on one process")


def show_campaigns(rows: Sequence[CampaignRow]) -> None:
    """Print the campaigns of a ledger."""
    table = Table(box=None, pad_edge=False)
    for name in ("no.", "started", "finished", "blocks", "asked for"):
        table.add_column(name, overflow="fold", justify="right" if name == "blocks" else "left")
    for r in rows:
        started = datetime.fromtimestamp(r.started).strftime("%Y-%m-%d %H:%M:%S")
        finished = "no" if r.finished is None else f"{r.finished - r.started:.0f} s later"
        asked = " ".join([*r.request.get("patterns", []), *r.request.get("subject", [])]) or "everything"
        about = f"{asked}, budget {r.request.get('budget')}, seed {r.request.get('seed')}"
        table.add_row(str(r.id), started, finished, str(r.shards), about)
    console().print(table)


def show_shards(found: Mapping[str, Evidence]) -> None:
    """Print what a campaign stored, by check."""
    table = Table(box=None, pad_edge=False)
    for name in ("check", "instances", "replicates", "violations", "errors"):
        table.add_column(name, overflow="fold", justify="left" if name == "check" else "right")
    for name, evidence in found.items():
        total = evidence.total
        table.add_row(name, *map(str, (total.instances, total.replicates, total.violations, total.errors)))
    console().print(table)


def show_step(check: Check, step: Step) -> None:
    """Print an improvement as it is found, on standard error."""
    Console(stderr=True, highlight=False).print(
        Text(f"{check.id}: {step.ratio:.9g} after {step.observations} observations ({step.source})", style="dim")
    )


def show_hunts(found: Sequence[Hunt]) -> None:
    """Print what each hunt came to."""
    out = console()
    for h in found:
        word = Text("violated", style="bold red") if h.violated else Text("not violated", style="green")
        out.print(Text.assemble(f"{h.check.id}: tightest {h.ratio:.9g} in {h.observations} observations, ", word))
        if h.instance is not None:
            out.print(Text(_instance(h.instance.decode())))


def hunt_json(found: Hunt) -> dict[str, Any]:
    """Return JSON-able data of a hunt."""
    return {
        "check": found.check.id,
        "ratio": found.ratio,
        "violated": found.violated,
        "observations": found.observations,
        "steps": [[s.observations, s.ratio, s.source] for s in found.steps],
        "instance": None if found.instance is None else found.instance.text,
    }
