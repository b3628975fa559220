"""Showing that every check can fail: its mutants, and its own bound tightened until the data refute it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from whp.proofs_checks.engine.budget import Budget
from whp.proofs_checks.engine.check import Check
from whp.proofs_checks.engine.decide import refuted_keys, tightness, verdict
from whp.proofs_checks.engine.evidence import Encoded, Evidence, Location, materialise
from whp.proofs_checks.engine.form import Form
from whp.proofs_checks.engine.outcome import Outcome, run_once
from whp.proofs_checks.engine.registry import checks_of
from whp.proofs_checks.engine.scheduling import Desk, Progress, Run
from whp.proofs_checks.engine.streams import stream
from whp.proofs_checks.engine.subjects import fill_slots
from whp.proofs_checks.engine.verdict import Kind, Verdict
from whp.proofs_checks.engine.verify import _Settings, execute, make_run
from whp.theory.core.registry import load_papers

LEAST_MUTANTS = 2
_PERTURBATION = 1e-6  # relative change of an identity's right side that a check must notice
_FACTORS = (0.99, 0.9, 0.75, 0.5, 0.25, 0.1, 0.01)


@dataclass(frozen=True)
class MutantReport:
    """One mutant of one check: whether it was killed, and by the clause that it was meant to break."""

    check: Check
    mutant: str
    killed: bool
    verdict: Verdict
    clause: str
    text: str


@dataclass(frozen=True)
class MutantsReport:
    """All mutants of the chosen checks."""

    mutants: tuple[MutantReport, ...]
    too_few: tuple[str, ...]
    unavailable: tuple[str, ...]

    @property
    def exit_status(self) -> int:
        """0 when every mutant was killed and every check has enough of them, 2 when there was none, else 1."""
        if not self.mutants:
            return 2
        return 0 if all(m.killed for m in self.mutants) and not self.too_few else 1

    def to_json(self) -> dict[str, Any]:
        """Return JSON-able data."""
        return {
            "exit_status": self.exit_status,
            "too_few": list(self.too_few),
            "unavailable": list(self.unavailable),
            "mutants": [
                {"check": m.check.id, "mutant": m.mutant, "killed": m.killed, "clause": m.clause, "text": m.text}
                for m in self.mutants
            ],
        }


def mutants(
    *patterns: str,
    budget: str = "standard",
    seed: int = 0,
    jobs: int = 1,
    modules: Sequence[str] = (),
    progress: Progress | None = None,
) -> MutantsReport:
    """Run every mutant of every chosen check, and each check with its bound tightened.

    A mutant is killed by a refutation (or an inconsistent rate) through the clause it names; one that raises is not.

    Parameters
    ----------
    *patterns : str
        Ids or globs; every theorem without one.
    budget, seed, jobs, modules, progress
        As in `verify`.
    """
    for name in modules:
        load_papers().add_module(name)
    settings = _Settings(seed, jobs, None, None, tuple(modules), Desk(progress=progress), None)
    size = Budget.parse(budget)
    checks = [c for t in load_papers().theorems(*patterns) for c in checks_of(t.id)]
    missing = {c.id: c.unavailable() for c in checks if c.unavailable is not None and c.unavailable()}
    ready = [c for c in checks if c.id not in missing]
    named = [(c, m.name, m.clause) for c in ready for m in c.mutants]
    runs = [make_run(c, size, seed, {}, settings, name) for c, name, _ in named]
    own = [make_run(c, size, seed, {}, settings) for c in ready]
    execute([*own, *runs], settings)
    reports = [_judge(c, name, clause, run) for (c, name, clause), run in zip(named, runs, strict=True)]
    reports += [_tightened(c, run, size, settings) for c, run in zip(ready, own, strict=True) if c.kind != "rate"]
    order = {c.id: i for i, c in enumerate(checks)}
    too_few = tuple(c.id for c in checks if len(c.mutants) < LEAST_MUTANTS)
    return MutantsReport(tuple(sorted(reports, key=lambda r: order[r.check.id])), too_few, tuple(missing))


def _judge(check: Check, name: str, clause: str, run: Run) -> MutantReport:
    judged = verdict(check, run.evidence, run.fixed, check.instances.scope)
    broken = _broken(check, name, run.evidence, run.fixed)
    dead = judged.kind in (Kind.REFUTED, Kind.INCONSISTENT)
    right = not clause or clause in broken
    text = judged.text if right or not dead else f"refuted by {broken}, not by '{clause}'"
    return MutantReport(check, name, dead and right, judged, clause or ", ".join(broken), text)


def _broken(check: Check, mutant: str, evidence: Evidence, fixed: int) -> list[str]:
    """Names of what was broken: every clause that fails on a kept instance, or names of events, means and costs."""
    if check.kind == "rate":
        return sorted(evidence.rates)
    form = Form.of(check, mutant)
    filled = {**fill_slots(check, {}), **form.subjects}
    names = {k.rsplit(": ", 1)[1] for k in refuted_keys(evidence, fixed)}
    for v in evidence.violations:
        outcome = _again(form, filled, evidence.campaign_seed, v.instance, v.location)
        names |= {v.clause} | {e.clause.name for e in outcome.entries if e.violated}
    return sorted(names)


def _again(form: Form, subjects: Mapping[str, Any], seed: int, instance: Encoded, where: Location) -> Outcome:
    """Run a stored instance once more."""
    names = (form.variant.check.id, where.phase, where.block, where.index)
    rng = stream(seed, *names) if form.variant.wants_rng else None
    return run_once(form.variant, materialise(instance.decode()), subjects, rng)


def _tightened(check: Check, own: Run, budget: Budget, settings: _Settings) -> MutantReport:
    """The automatic mutant: the factor nearest to 1 at which the data refute the bound is the check's margin."""
    name = "bound tightened"
    base = verdict(check, own.evidence, own.fixed, check.instances.scope)
    if base.kind is Kind.REFUTED:
        return MutantReport(check, name, True, base, "", "the claim itself is refuted")
    if base.kind is Kind.ERROR:
        return MutantReport(check, name, False, base, "", base.text)
    if check.kind == "slack":
        factor, clauses = _tightened_instance(check, own.evidence)
    elif check.tighten is not None:
        factor, clauses = _tightened_runs(check, budget, settings), ""
    else:
        factor, clauses = float(base.details.get("margin", 0.0)), ""  # the same counts against a sharper claim
    if factor <= 0:
        return MutantReport(
            check, name, False, base, "", "no tightening of the bound is refuted: the check has no power"
        )
    return MutantReport(check, name, True, base, clauses, f"refuted when the bound is multiplied by {factor:.6g}")


def _tightened_instance(check: Check, evidence: Evidence) -> tuple[float, str]:
    """Tighten the bound on the tightest and worst instances met: those fail first."""
    filled = fill_slots(check, {})
    met = [e for c in evidence.clauses.values() for e in (c.tightness, c.worst_slack) if e is not None]
    ratio = tightness(evidence)
    tight = [ratio * (1 - _PERTURBATION)] if ratio is not None and 0 < ratio <= 1 else []
    for factor in sorted({1 - _PERTURBATION, *tight, *_FACTORS}, reverse=True):
        form = Form.of(check, f"tightened {factor!r}")
        for extreme in met:
            assert extreme.instance is not None
            outcome = _again(form, filled, evidence.campaign_seed, extreme.instance, extreme.location)
            if outcome.status == "violated":
                return factor, ", ".join(sorted({e.clause.name for e in outcome.entries if e.violated}))
    return 0.0, ""


def _tightened_runs(check: Check, budget: Budget, settings: _Settings) -> float:
    """Largest of a few factors whose tightened claim is refuted, by bisection; 0 without one."""
    low, high = 0, len(_FACTORS)  # the factors from `high` on are refuted, those before `low` are not
    while low < high:
        middle = (low + high) // 2
        run = make_run(check, budget, settings.seed, {}, settings, f"tightened {_FACTORS[middle]!r}")
        execute([run], settings)
        refuted = verdict(check, run.evidence, run.fixed, check.instances.scope).kind is Kind.REFUTED
        low, high = (low, middle) if refuted else (middle + 1, high)
    return _FACTORS[low] if low < len(_FACTORS) else 0.0
