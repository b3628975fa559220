"""What the page says, computed before it is laid out."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from markupsafe import Markup

from whp.proofs_checks.engine.decide import refuted_keys, smallest_violation
from whp.proofs_checks.engine.evidence import ClauseRecord, Encoded, Evidence, Location, Recipe
from whp.proofs_checks.engine.evidence.slack_histogram import SlackHistogram
from whp.proofs_checks.engine.mutants import MutantReport, MutantsReport
from whp.proofs_checks.engine.observation import Entry
from whp.proofs_checks.engine.report import CheckReport, Report, TheoremReport
from whp.proofs_checks.engine.verdict import Kind, Verdict
from whp.proofs_checks.html import figures
from whp.proofs_checks.html.figures import IntervalRow
from whp.proofs_checks.html.formulas import claim_markup, symbol_markup
from whp.proofs_checks.html.instances import Shown, show, show_encoded
from whp.proofs_checks.html.sides import both_sides, bound_at
from whp.theory.core import Bound, Theorem
from whp.theory.core.registry import load_papers

_SILENT = (Kind.UNAVAILABLE, Kind.NOT_APPLICABLE)
_CHEAP = 20.0  # checks up to this cost are run again on their tightest instance, to print both sides


@dataclass(frozen=True)
class Failure:
    """A counterexample, or the run on which the subject failed.

    Attributes
    ----------
    heading : str
        What is shown.
    where : str
        Where it was met.
    instance : Shown, optional
        The instance.
    entries : tuple of Entry
        Both sides of each clause.
    note : str
        Why there are no sides, or the failure's traceback.
    """

    heading: str
    where: str
    instance: Shown | None
    entries: tuple[Entry, ...] = ()
    note: str = ""


@dataclass(frozen=True)
class ClauseView:
    """One clause of a for-all claim.

    Attributes
    ----------
    name : str
        Of the clause.
    instances : int
        On how many it was evaluated.
    worst : float or Fraction, optional
        Smallest slack.
    ratio : float, optional
        Highest ratio of left to right side.
    figure : Markup
        Histogram of the relative slack.
    below : str
        What bars below zero mean, if there are any.
    tightest : Shown, optional
        The instance closest to the bound.
    entry : Entry, optional
        Both sides there.
    bound : float, optional
        The theorem's bound there, where the instance names its symbols.
    """

    name: str
    instances: int
    worst: object
    ratio: float | None
    figure: Markup
    below: str
    tightest: Shown | None
    entry: Entry | None
    bound: float | None


@dataclass(frozen=True)
class RateView:
    """One measured rate."""

    name: str
    exponent: float
    low: float
    high: float
    figure: Markup
    rows: tuple[tuple[int, str], ...]


@dataclass(frozen=True)
class CheckView:
    """One check as laid out; clauses that were equalities everywhere are told together, by number of instances."""

    report: CheckReport
    phases: tuple[tuple[str, object], ...]
    exact: tuple[tuple[int, tuple[str, ...]], ...]
    clauses: tuple[ClauseView, ...]
    intervals: tuple[IntervalRow, ...]
    figure: Markup
    rates: tuple[RateView, ...]
    margin: float | None
    failure: Failure | None
    replay: str
    mutants: tuple[MutantReport, ...]
    mutants_ran: bool


@dataclass(frozen=True)
class TheoremView:
    """One theorem as laid out.

    ``shown`` is the verdict of the column that the report is about, ``standing`` whether it is the expected one:
    ``"expected"``, ``"unexpected"``, or ``"not judged"`` where an extra is missing.
    """

    report: TheoremReport
    shown: Verdict
    standing: str
    claim: Markup
    symbols: tuple[tuple[Markup, str, str], ...]
    checks: tuple[CheckView, ...]
    counterexamples: Mapping[str, Shown]
    command: str

    @property
    def theorem(self) -> Theorem:
        """The statement."""
        return self.report.theorem

    @property
    def margin(self) -> float | None:
        """Power of the sharpest check."""
        return max((c.margin for c in self.checks if c.margin is not None), default=None)


def theorem_view(
    t: TheoremReport, result: Report, paths: Mapping[str, Path], mutants: MutantsReport | None
) -> TheoremView:
    """Compute everything that is said of one theorem."""
    bound = t.theorem.bound
    return TheoremView(
        t,
        t.subject if result.subjects else t.statement,
        "expected" if result.as_expected(t) else "unexpected" if t in result.unexpected else "not judged",
        claim_markup(t.theorem.claim),
        () if bound is None else tuple((symbol_markup(bound, s.name), s.meaning, str(s.domain)) for s in bound.symbols),
        tuple(_check_view(c, bound, result, paths.get(c.check.id), mutants) for c in t.checks),
        {name: show(r.counterexample) for name, r in t.proofs if r.counterexample is not None},
        _command(t.theorem.id, result),
    )


def _command(pattern: str, result: Report) -> str:
    """Command line that runs this theorem again."""
    words = ["whp", "verify", pattern, "--budget", result.budget, "--seed", str(result.seed)]
    for slot, reference in result.subjects.items():
        words += ["--subject", f"{slot}={reference}"]
    source = load_papers().sources.get(pattern.split(".")[0], "")
    for module in [m for m in result.modules if m == source] or result.modules:
        words += ["--theorems", module]
    return shlex.join(words)


def _check_view(
    c: CheckReport, bound: Bound | None, result: Report, path: Path | None, mutants: MutantsReport | None
) -> CheckView:
    evidence = c.evidence or Evidence.empty(c.check.theorem, c.check.name, result.seed, result.budget)
    rows = _interval_rows(c, evidence, bound)
    ratios = [float(r.tightness.value) for r in evidence.clauses.values() if r.tightness is not None]
    margin = c.verdict.details.get("margin", max(ratios, default=None))
    killed = () if mutants is None else tuple(m for m in mutants.mutants if m.check.id == c.check.id)
    return CheckView(
        report=c,
        phases=tuple(evidence.phases.items()),
        exact=_exact(evidence),
        clauses=tuple(
            _clause_view(name, c, evidence, bound, result.seed)
            for name, record in evidence.clauses.items()
            if not _is_exact(record)
        ),
        intervals=rows,
        figure=figures.intervals(rows) if rows else Markup(""),
        rates=_rate_views(c, evidence),
        margin=None if margin is None else float(margin),
        failure=_failure(c, evidence, result.seed),
        replay="" if path is None else shlex.join(["whp", "replay", str(path)]),
        mutants=killed,
        mutants_ran=mutants is not None,
    )


def _is_exact(record: ClauseRecord) -> bool:
    """Whether the slack is zero wherever it was looked at."""
    return {number for number, _ in record.relative_slack.counts} <= {0}


def _exact(evidence: Evidence) -> tuple[tuple[int, tuple[str, ...]], ...]:
    """Names of the exact clauses by number of instances."""
    found: dict[int, list[str]] = {}
    for name, record in evidence.clauses.items():
        if _is_exact(record) and record.relative_slack.total:
            found.setdefault(record.relative_slack.total, []).append(name)
    return tuple((instances, tuple(names)) for instances, names in found.items())


def _clause_view(name: str, c: CheckReport, evidence: Evidence, bound: Bound | None, seed: int) -> ClauseView:
    record = evidence.clauses[name]
    histogram: SlackHistogram = record.relative_slack
    tight, shown, entry, value = record.tightness, None, None, None
    if tight is not None and tight.instance is not None:
        shown = show_encoded(tight.instance)
        entry, value = _at_tightest(name, c, tight.instance, tight.location, bound, seed)
    return ClauseView(
        name,
        histogram.total,
        None if record.worst_slack is None else record.worst_slack.value,
        None if tight is None else float(tight.value),
        figures.slack_histogram(histogram, name, evidence.total.violations > 0),
        _below_zero(histogram, evidence),
        shown,
        entry,
        value,
    )


def _below_zero(histogram: SlackHistogram, evidence: Evidence) -> str:
    if all(number >= 0 for number, _ in histogram.counts):
        return ""
    if evidence.total.violations:
        return "Below zero, hatched, the clause fails as computed."
    return "Below zero, grey, it fails as computed by less than the rounding model allows."


def _at_tightest(
    name: str, c: CheckReport, instance: Encoded, where: Location, bound: Bound | None, seed: int
) -> tuple[Entry | None, float | None]:
    """Both sides and the bound at the tightest instance, where that is cheap to compute again."""
    try:
        decoded = instance.decode()
    except ValueError:
        return None, None
    if c.check.cost > _CHEAP or isinstance(decoded, Recipe):
        return None, bound_at(bound, decoded)
    entries, _ = both_sides(c.check, c.subjects, instance, where, seed)
    return next((e for e in entries if e.clause.name == name), None), bound_at(bound, decoded)


def _interval_rows(c: CheckReport, evidence: Evidence, bound: Bound | None) -> tuple[IntervalRow, ...]:
    """Fixed instances of a random claim: what was measured and what is claimed."""
    known: Any = c.verdict.details.get("instances", {})
    if not isinstance(known, Mapping):
        return ()
    rows = []
    for key, row in known.items():
        counts = evidence.events.get(key) or evidence.means.get(key)
        if counts is None:
            continue
        rows.append(_interval_row(key, row, evidence, bound_at(bound, _decoded(counts.instance))))
    return tuple(rows)


def _interval_row(key: str, row: Mapping[str, Any], evidence: Evidence, bound: float | None) -> IntervalRow:
    low, high = row["interval"]
    if key in evidence.events:
        relation, refutes, origin = "<=", row["margin"], 0.0
        measured = f"{evidence.events[key].events} of {row['replicates']}"
    else:
        counts = evidence.means[key]
        relation, refutes = counts.relation, row["refutes"]
        origin = float(counts.high if relation == ">=" else counts.low)
        measured = f"range {float(counts.low):g} to {float(counts.high):g}"
    return IntervalRow(key, measured, row["replicates"], relation, row["claimed"], low, high, refutes, origin, bound)


def _decoded(instance: Encoded) -> object:
    try:
        return instance.decode()
    except ValueError:
        return None


def _rate_views(c: CheckReport, evidence: Evidence) -> tuple[RateView, ...]:
    fits = c.verdict.details.get("fits", {})
    if c.check.rate is None:
        return ()
    return tuple(
        RateView(
            name,
            fits[name]["exponent"],
            fits[name]["low"],
            fits[name]["high"],
            figures.rate_fit(name, rows, c.check.rate, fits[name]),
            tuple((r.size, f"{float(r.value):.6g}") for r in rows),
        )
        for name, rows in evidence.rates.items()
        if name in fits
    )


def _failure(c: CheckReport, evidence: Evidence, seed: int) -> Failure | None:
    """The counterexample, the refuted fixed instance, or the subject's failure, whichever the verdict rests on."""
    if evidence.violations:
        v = smallest_violation(evidence)
        entries, note = both_sides(c.check, c.subjects, v.instance, v.location, seed)
        heading = f"Counterexample to ‘{v.clause}’" + (f" ({v.detail})" if v.detail else "")
        return Failure(heading, _where(v.location), show_encoded(v.instance), entries, note)
    if c.verdict.kind is Kind.ERROR and evidence.errors:
        first = evidence.errors[0]
        instance = None if first.instance is None else show_encoded(first.instance)
        note = f"{first.type}: {first.message}\n{first.traceback}".strip()
        return Failure("The run that failed", _where(first.location), instance, (), note)
    if c.verdict.kind is Kind.REFUTED:
        keys = refuted_keys(evidence, 0)
        counts = [evidence.events.get(k) or evidence.means.get(k) for k in keys[:1]]
        if counts and counts[0] is not None:
            where = "an instance that was fixed before any replicate"
            return Failure(f"Refuted on ‘{keys[0]}’", where, show_encoded(counts[0].instance))
    return None


def _where(location: Location) -> str:
    return f"met in phase {location.phase}, block {location.block}, instance {location.index}"


def tally(views: Sequence[TheoremView]) -> list[tuple[Kind, int]]:
    """Count verdicts: those that say something first, in the order of alarm."""
    order = sorted(Kind, key=lambda kind: (kind in _SILENT, kind.alarm))
    return [(kind, n) for kind in order if (n := sum(v.shown.kind is kind for v in views))]
