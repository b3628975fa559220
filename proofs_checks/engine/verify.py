"""Verifying theorems: plan, run, decide, and compare with the verdicts whp stands for."""

from __future__ import annotations

import difflib
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from multiprocessing import get_context
from typing import Any

from whp.proofs_checks.engine.budget import Budget, seconds
from whp.proofs_checks.engine.check import Check
from whp.proofs_checks.engine.control import control_of
from whp.proofs_checks.engine.decide import verdict
from whp.proofs_checks.engine.evidence import Evidence, merge
from whp.proofs_checks.engine.form import Form
from whp.proofs_checks.engine.isolation import Limits, die_with
from whp.proofs_checks.engine.plan import plan
from whp.proofs_checks.engine.proofs import Proof, ProofResult
from whp.proofs_checks.engine.registry import checks_of, proofs_of
from whp.proofs_checks.engine.report import CheckReport, Report, TheoremReport
from whp.proofs_checks.engine.scheduling import Desk, Pool, Progress, Run, Store, run_here
from whp.proofs_checks.engine.subjects import SubjectError, check_signature, name_of, reference_to, resolve
from whp.proofs_checks.engine.verdict import Kind, Verdict, worst
from whp.theory.core import Theorem
from whp.theory.core.registry import load_papers


def verify(
    *patterns: str,
    subject: Mapping[str, Any] | None = None,
    budget: str = "standard",
    seed: int = 0,
    jobs: int = 1,
    executor: Executor | None = None,
    limits: Limits | None = None,
    modules: Sequence[str] = (),
    progress: Progress | None = None,
    start_method: str | None = None,
    ledger: Store | None = None,
    resume: bool = False,
) -> Report:
    """Decide theorems by their checks and proofs.

    Parameters
    ----------
    *patterns : str
        Ids or globs (``"marginalization.*"``); every theorem without one.
    subject : mapping, optional
        Your implementation by slot name: a callable or ``"module:function"``.  Only checks with these slots run, and
        the verdict is about the subject; the reference runs on the same instance as control.
    budget : str
        ``quick``, ``standard``, ``thorough``, ``xK``, or seconds such as ``30s``, which are resolved to an ``xK``.
    seed : int
        Campaign seed.
    jobs : int
        Worker processes; 1 runs in this process.  With an executor, how many workers it is kept busy for.
    executor : concurrent.futures.Executor, optional
        Runs the blocks instead; yours to shut down.  Threads give the same evidence but no speed.
    limits : Limits, optional
        Time and memory of one observation, enforced in a child process.
    modules : sequence of str
        Outside modules or ``.py`` files that state theorems, added to the registry.
    progress : callable, optional
        Called with each run and block's evidence as it arrives.
    start_method : {"fork", "spawn"}, optional
        Of the worker processes.
    ledger : Ledger, optional
        Where each block's evidence is committed as it arrives.
    resume : bool
        Whether to take from the ledger what the same sources and subjects already computed.

    Returns
    -------
    Report
        Two columns of verdicts per theorem, the evidence, and an exit status.

    Raises
    ------
    UnknownTheoremError
        If a pattern matches nothing.
    ValueError
        If no chosen check has a slot of the subject, the budget is unknown, or the seed is negative.
    """
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise ValueError(f"seed must be a nonnegative integer, got {seed!r}")
    if jobs < 1:
        raise ValueError(f"jobs must be at least 1, got {jobs!r}")
    for name in modules:
        load_papers().add_module(name)
    chosen = load_papers().theorems(*patterns)
    subjects = _subjects(subject or {}, jobs > 1 or executor is not None)
    settings = _Settings(seed, jobs, executor, limits, tuple(modules), Desk(ledger, resume, progress), start_method)
    within = seconds(budget)
    if within is None:
        return _verify(chosen, subjects, Budget.parse(budget), settings)
    return _verify_within(within, chosen, subjects, settings)


@dataclass(frozen=True)
class _Settings:
    seed: int
    jobs: int
    executor: Executor | None
    limits: Limits | None
    modules: tuple[str, ...]
    desk: Desk
    start_method: str | None
    proved: dict[Proof, ProofResult] = field(default_factory=dict)  # of the pilot, when the budget is in seconds


def _subjects(given: Mapping[str, Any], distributed: bool) -> dict[str, Any]:
    """Subjects ready to travel: importable ones by reference where workers need that."""
    ready: dict[str, Any] = {}
    for name, value in given.items():
        found = resolve(value) if isinstance(value, str) else value
        reference = value if isinstance(value, str) else reference_to(found)
        if distributed and reference is None:
            raise ValueError(
                f"subject {name!r} must be importable as module:function to run on several processes; "
                "run with jobs=1 or move it into a module"
            )
        ready[name] = reference if distributed or isinstance(value, str) else found
    return ready


def _verify_within(limit: float, chosen: Sequence[Theorem], subjects: Mapping[str, Any], settings: _Settings) -> Report:
    """Turn seconds into a multiple of the quick budget, by a timed pilot that is the answer when no more fits."""
    began = time.perf_counter()
    report = _verify(chosen, subjects, Budget.parse("x1"), settings)
    pilot = max(time.perf_counter() - began, 1e-3)
    times = int((limit - pilot) / pilot)
    return report if times < 2 else _verify(chosen, subjects, Budget.parse(f"x{times}"), settings)


def _verify(chosen: Sequence[Theorem], subjects: Mapping[str, Any], budget: Budget, settings: _Settings) -> Report:
    began = time.perf_counter()
    bound = [(t, c) for t in chosen for c in checks_of(t.id)]
    reports: dict[str, CheckReport] = {}
    runs: list[tuple[Check, Run]] = []
    for _, check in bound:
        early = _not_run(check, subjects)
        if early is not None:
            reports[check.id] = CheckReport(check, early)
        else:
            runs.append((check, make_run(check, budget, settings.seed, subjects, settings)))
    slots = {s.name for _, c in bound for s in c.slots}
    if unknown := sorted(set(subjects) - slots):
        near = difflib.get_close_matches(unknown[0], slots, 1)
        hint = f"; did you mean {near[0]!r}?" if near else f"; the slots here are {sorted(slots)}"
        raise ValueError(f"no chosen check has the slot {unknown[0]!r}{hint}")
    for check, run, evidence in _complete(runs, settings):
        judged = verdict(check, evidence, run.fixed, check.instances.scope)
        control = control_of(check, evidence, run.fixed, settings.seed) if subjects else None
        reports[check.id] = CheckReport(check, judged, evidence, control, _names(run.subjects or {}))
    theorems = tuple(
        _theorem(t, [reports[c.id] for _, c in bound if c.theorem == t.id], bool(subjects), settings.proved)
        for t in chosen
    )
    seconds_taken = time.perf_counter() - began
    return Report(
        theorems, budget.name, settings.seed, seconds_taken, _names(subjects), settings.modules, settings.limits
    )


def _complete(runs: Sequence[tuple[Check, Run]], settings: _Settings) -> Iterator[tuple[Check, Run, Evidence]]:
    """Run everything, then search for smaller instances where a refutation has none."""
    execute([r for _, r in runs], settings)
    shrinking = {id(run): more for _, run in runs if (more := run.shrinking) is not None}
    execute(list(shrinking.values()), settings)
    for check, run in runs:
        more = shrinking.get(id(run))
        yield check, run, run.evidence if more is None else merge(run.evidence, more.evidence)


def _names(subjects: Mapping[str, Any]) -> dict[str, str]:
    return {k: v if isinstance(v, str) else name_of(v) for k, v in subjects.items()}


def _not_run(check: Check, subjects: Mapping[str, Any]) -> Verdict | None:
    """Verdict of a check that cannot or need not run."""
    missing = check.unavailable() if check.unavailable is not None else ""
    if missing:
        return Verdict(Kind.UNAVAILABLE, f"needs {missing}", check.instances.scope)
    if not subjects:
        return None
    names = {s.name for s in check.slots}
    if not set(subjects) & names:
        return Verdict(Kind.NOT_APPLICABLE, "no slot for this subject", check.instances.scope)
    try:
        for name in set(subjects) & names:
            value = subjects[name]
            check_signature(check.slot(name), resolve(value) if isinstance(value, str) else value)
    except SubjectError as error:
        return Verdict(Kind.ERROR, str(error), check.instances.scope)
    return None


def make_run(
    check: Check, budget: Budget, seed: int, subjects: Mapping[str, Any], settings: Any, mutant: str = ""
) -> Run:
    """Plan one check-run."""
    mine = {k: v for k, v in subjects.items() if k in {s.name for s in check.slots}}
    store = settings.desk.store
    hunted = store.tightest(check.id) if store is not None and not mutant else ""
    blocks = plan(check, budget, seed, mutant=mutant, modules=settings.modules, limits=settings.limits, hunted=hunted)
    fixed = 0 if check.kind == "slack" else len(Form.of(check, mutant).fixed(seed))
    return Run(check, blocks, fixed, mine or None)


def execute(runs: Sequence[Run], settings: Any) -> None:
    """Run on the caller's executor, on worker processes of our own, or here."""
    if settings.executor is not None:
        Pool(settings.executor, in_flight=max(8, 2 * settings.jobs)).run(runs, settings.desk)
        return
    if settings.jobs == 1 or not runs:
        run_here(runs, settings.desk)
        return
    context = get_context(settings.start_method or ("fork" if os.name == "posix" else "spawn"))

    def build() -> Executor:
        return ProcessPoolExecutor(settings.jobs, mp_context=context, initializer=die_with, initargs=(os.getpid(),))

    pool = Pool(build(), build, 2 * settings.jobs)
    try:
        pool.run(runs, settings.desk)
    finally:
        pool.executor.shutdown(wait=True, cancel_futures=True)


def _theorem(
    theorem: Theorem, reports: Sequence[CheckReport], about_subject: bool, proved: dict[Proof, ProofResult]
) -> TheoremReport:
    """Two columns: what is known of the statement, and how the subject behaved."""
    proofs: list[tuple[str, ProofResult]] = []
    if about_subject:
        statement = Verdict(Kind.NOT_APPLICABLE, "this run is about the subject")
    else:
        mine = proofs_of(theorem.id)
        proved.update((p, p.run()) for p in mine if p not in proved)
        proofs = [(p.name, proved[p]) for p in mine]
        statement = _statement(reports, [r for _, r in proofs])
    slotted = [r.verdict for r in reports if r.check.slots]
    subject = worst(slotted, "no check of this theorem has a slot")
    return TheoremReport(theorem, statement, subject, tuple(reports), tuple(proofs))


def _statement(reports: Sequence[CheckReport], proofs: Sequence[ProofResult]) -> Verdict:
    """Combine checks and proofs: a proof stands unless something contradicts it; an open one takes nothing away."""
    proved = [Verdict(Kind.PROVED, r.detail, r.scope) for r in proofs if r.outcome == "proved"]
    others = [Verdict(Kind(r.outcome), r.detail, r.scope) for r in proofs if r.outcome != "proved"]
    searched = [r.verdict for r in reports]
    alarming = worst([*searched, *others], "no check and no proof")
    if alarming.kind in (Kind.REFUTED, Kind.ERROR, Kind.INCONSISTENT, Kind.VACUOUS):
        return alarming
    found = worst(searched, "no check")
    if proved:
        text = "; ".join(f"for {v.scope}" for v in proved) + (f". Beyond: {found.text}" if reports else "")
        return replace(proved[0], text=text, scope="; ".join(v.scope for v in proved), details=found.details)
    if not reports or any(v.kind is Kind.UNAVAILABLE for v in others):
        return alarming
    return replace(found, text="; ".join([found.text, *(f"a proof is {v.kind}: {v.text}" for v in others)]))
