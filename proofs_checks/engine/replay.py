"""Replaying a stored refutation: the recorded instance, the same subject, both sides again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from whp.proofs_checks.engine.blocks import run_block
from whp.proofs_checks.engine.budget import Budget
from whp.proofs_checks.engine.check import Check
from whp.proofs_checks.engine.decide import refuted_keys, smallest_violation
from whp.proofs_checks.engine.environment import fingerprint
from whp.proofs_checks.engine.evidence import Encoded, Evidence, Location, materialise, merge
from whp.proofs_checks.engine.files import EvidenceFile, fingerprint_of, read
from whp.proofs_checks.engine.form import Form
from whp.proofs_checks.engine.isolation import Isolated, SubjectFailure
from whp.proofs_checks.engine.observation import Entry
from whp.proofs_checks.engine.outcome import Outcome, describe, run_once
from whp.proofs_checks.engine.plan import plan
from whp.proofs_checks.engine.registry import find_check
from whp.proofs_checks.engine.streams import stream
from whp.proofs_checks.engine.subjects import fill_slots, resolve
from whp.theory.core.registry import load_papers


@dataclass(frozen=True)
class Replay:
    """What running a stored counterexample (or the tightest instance) again showed.

    Attributes
    ----------
    stored : EvidenceFile
        The file.
    instance : object
        The instance that was run again, as recorded.
    status : str
        What it showed now: ``violated``, ``kept``, ...
    entries : tuple of Entry
        Both sides of every clause.
    reproduced : bool
        Whether now and then agree.
    text : str
        One sentence.
    """

    stored: EvidenceFile
    instance: Any
    status: str
    entries: tuple[Entry, ...]
    reproduced: bool
    text: str


def replay(path: str | Path, subject: Mapping[str, Any] | None = None) -> Replay:
    """Run again what an evidence file holds.

    A violation is replayed on its stored instance; a refuted random claim by its counted replicates, from their seeds;
    without a violation the tightest (or worst) instance is run.

    Parameters
    ----------
    path : str or Path
        An evidence file.
    subject : mapping, optional
        The implementation by slot name, where it cannot be imported by the recorded name (a lambda, say), or another
        one to be tried on the same instance.

    Raises
    ------
    ValueError
        If the file is not evidence, or nothing in it can be run again.
    """
    stored = read(Path(path))
    for name in stored.modules:
        load_papers().add_module(name)
    check = find_check(stored.check_id)
    subjects = dict(subject) if subject is not None else {k: _subject(k, v) for k, v in stored.subjects.items()}
    again = _replay_instance if check.kind == "slack" else _replay_counts
    result = again(stored, check, subjects)
    return replace(result, text="; ".join([result.text, *_changes(stored, subject is None)]))


def _changes(stored: EvidenceFile, recorded_subject: bool) -> list[str]:
    """What is not as it was when the evidence was made."""
    changed = [
        f"the source of subject {k!r} has changed since"
        for k, v in stored.subjects.items()
        if recorded_subject and stored.fingerprints.get(k) not in (None, fingerprint_of(v))
    ]
    before = stored.environment.get("fingerprint")
    return changed + ([] if before in (None, fingerprint()) else ["the sources of whp have changed since"])


def _subject(slot: str, reference: str) -> Any:
    if reference.startswith("("):
        raise ValueError(
            f"the subject {reference} of slot {slot!r} cannot be imported; replay(path, subject=...) in Python"
        )
    return resolve(reference)


def _replay_instance(stored: EvidenceFile, check: Check, subjects: dict[str, Any]) -> Replay:
    encoded, where, expected = _chosen(stored.evidence)
    instance = encoded.decode()
    form = Form.of(check, stored.mutant)
    rng = stream(stored.evidence.campaign_seed, check.id, where.phase, where.block, where.index)
    filled = {**fill_slots(check, subjects), **form.subjects}

    def run(built: Any) -> Outcome:
        return run_once(form.variant, built, filled, rng if form.variant.wants_rng else None)

    try:
        outcome = (run if stored.limits is None else Isolated(run, stored.limits))(materialise(instance))
    except SubjectFailure as error:
        outcome = Outcome("error", failure=describe(error))
    text = f"{outcome.status} now, {expected} then"
    if outcome.failure is not None:
        text += f" ({outcome.failure.message})"
    return Replay(stored, instance, outcome.status, outcome.entries, outcome.status == expected, text)


def _chosen(evidence: Evidence) -> tuple[Encoded, Location, str]:
    if evidence.violations:
        shown = smallest_violation(evidence)
        return shown.instance, shown.location, "violated"
    for e in evidence.errors:
        if e.instance is not None:
            return e.instance, e.location, "error"
    extremes = [c.tightness or c.worst_slack for c in evidence.clauses.values()]
    for extreme in extremes:
        if extreme is not None and extreme.instance is not None:
            return extreme.instance, extreme.location, "kept"
    raise ValueError(f"the evidence of {evidence.theorem}/{evidence.check} holds no instance to run again")


def _replay_counts(stored: EvidenceFile, check: Check, subjects: dict[str, Any]) -> Replay:
    """Repeat the blocks of the recorded run, by count."""
    seed = stored.evidence.campaign_seed
    budget = Budget.parse(stored.evidence.budget)
    blocks = plan(check, budget, seed, mutant=stored.mutant, limits=stored.limits)
    wanted, fixed = stored.evidence.total.replicates, len(Form.of(check, stored.mutant).fixed(seed))
    repeated: Evidence | None = None
    for block in blocks:
        part = run_block(block, subjects)
        repeated = part if repeated is None else merge(repeated, part)
        if repeated.total.replicates >= wanted:
            break
    if repeated is None:
        raise ValueError(f"{stored.check_id} has no blocks to run again")
    same = repeated.canonical_bytes() == stored.evidence.canonical_bytes()
    refuted = refuted_keys(repeated, fixed)
    status = "violated" if refuted else "kept"
    text = f"{wanted} replicates run again: {'identical' if same else 'different'} counts; {status} now"
    instance = None
    if refuted:
        counts = repeated.events.get(refuted[0]) or repeated.means[refuted[0]]
        instance = counts.instance.decode()
    return Replay(stored, instance, status, (), same, text)
