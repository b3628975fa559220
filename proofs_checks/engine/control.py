"""The reference on the very instance where a subject failed: tells whether to blame the code or the theorem."""

from __future__ import annotations

from dataclasses import dataclass

from whp.proofs_checks.engine.blocks import run_block
from whp.proofs_checks.engine.check import Check
from whp.proofs_checks.engine.decide import decided, refuted_keys, smallest_violation
from whp.proofs_checks.engine.evidence import Evidence, materialise
from whp.proofs_checks.engine.form import Form
from whp.proofs_checks.engine.outcome import Outcome, Variant, run_once
from whp.proofs_checks.engine.plan import Block
from whp.proofs_checks.engine.streams import stream
from whp.proofs_checks.engine.subjects import fill_slots
from whp.theory.core.registry import load_papers


@dataclass(frozen=True)
class Control:
    """How the reference did where the subject failed.

    ``blames`` is ``"subject"`` when the reference kept the claim there, ``"theorem"`` when it broke it too, and
    ``"unknown"`` when the reference could not be judged.
    """

    blames: str
    text: str


def control_of(check: Check, evidence: Evidence, fixed: int, seed: int) -> Control | None:
    """Run the reference where the subject was refuted; None when it was not."""
    if decided(check, evidence, fixed) != "refuted":
        return None
    if check.kind == "slack":
        shown = smallest_violation(evidence)
        where = shown.location
        instance = materialise(shown.instance.decode())
        variant = Variant.of(check, load_papers().theorem(check.theorem))
        rng = stream(seed, check.id, where.phase, where.block, where.index) if variant.wants_rng else None
        return _judge(run_once(variant, instance, fill_slots(check, {}), rng))
    key = refuted_keys(evidence, fixed)[0]
    counts = evidence.events.get(key) or evidence.means[key]
    name = key.rsplit(": ", 1)[0]
    names = list(Form.of(check).fixed(seed))
    block = Block(check.id, "replicates", 0, names.index(name), counts.replicates, seed, "control")
    reference = run_block(block)
    if reference.errors:
        return Control("unknown", f"the reference failed there: {reference.errors[0].message}")
    if refuted_keys(reference, fixed):
        return Control("theorem", f"the reference breaks the claim there too ({key})")
    return Control("subject", f"the reference keeps the claim there over {counts.replicates} replicates")


def _judge(outcome: Outcome) -> Control:
    if outcome.status == "violated":
        return Control("theorem", "the reference breaks the claim on this instance too")
    if outcome.status == "error":
        message = outcome.failure.message if outcome.failure is not None else "no message"
        return Control("unknown", f"the reference failed on this instance: {message}")
    return Control("subject", "the reference keeps the claim on this instance")
