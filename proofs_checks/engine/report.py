"""The result of a verification: two columns of verdicts per theorem, counts of what ran, an exit status."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from typing import Any

from whp.proofs_checks.engine.check import Check
from whp.proofs_checks.engine.control import Control
from whp.proofs_checks.engine.evidence import Evidence
from whp.proofs_checks.engine.isolation import Limits
from whp.proofs_checks.engine.proofs import ProofResult
from whp.proofs_checks.engine.statistics.levels import REFUTATION_LEVEL, campaign_level
from whp.proofs_checks.engine.verdict import PASSES, Kind, Verdict
from whp.theory.core import Theorem

_NOT_RUN = frozenset({Kind.NOT_APPLICABLE, Kind.UNAVAILABLE})


@dataclass(frozen=True)
class CheckReport:
    """One check: its verdict and the evidence behind it."""

    check: Check
    verdict: Verdict
    evidence: Evidence | None = None
    control: Control | None = None
    subjects: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class TheoremReport:
    """One theorem: what is known of the statement, how the subject behaved, and the parts these came from."""

    theorem: Theorem
    statement: Verdict
    subject: Verdict
    checks: tuple[CheckReport, ...] = ()
    proofs: tuple[tuple[str, ProofResult], ...] = ()

    @property
    def blames_itself(self) -> bool:
        """Whether a subject broke it only where the reference breaks it too."""
        broken = [c for c in self.checks if c.verdict.kind not in PASSES | _NOT_RUN]
        return bool(broken) and all(c.control is not None and c.control.blames == "theorem" for c in broken)


@dataclass(frozen=True)
class Report:
    """Everything one call of `verify` decided.

    Attributes
    ----------
    theorems : tuple of TheoremReport
        In the order asked for.
    budget : str
        Name of the budget; ``xK`` where seconds were asked for.
    seed : int
        Campaign seed.
    seconds : float
        Wall-clock time, for people; no verdict depends on it.
    subjects : mapping
        The user's subjects by slot; empty when the statements themselves were decided.
    modules : tuple of str
        Outside modules that were loaded.
    limits : Limits, optional
        What one observation was allowed.
    """

    theorems: tuple[TheoremReport, ...]
    budget: str
    seed: int
    seconds: float
    subjects: Mapping[str, str] = field(default_factory=dict)
    modules: tuple[str, ...] = ()
    limits: Limits | None = None

    @property
    def counts(self) -> dict[str, int]:
        """How many checks ran, were skipped (no slot, missing extra) and were vacuous."""
        kinds = Counter(c.verdict.kind for t in self.theorems for c in t.checks)
        skipped = sum(kinds[k] for k in _NOT_RUN)
        return {"ran": sum(kinds.values()) - skipped, "skipped": skipped, "vacuous": kinds[Kind.VACUOUS]}

    @property
    def proofs_run(self) -> int:
        """How many proofs were run."""
        return sum(len(t.proofs) for t in self.theorems)

    def as_expected(self, theorem: TheoremReport) -> bool:
        """Whether a theorem's verdict is the one whp stands for (for a subject: that it was not found at fault)."""
        if self.subjects:
            return theorem.subject.kind in PASSES | _NOT_RUN or theorem.blames_itself
        return theorem.statement.kind.value == theorem.theorem.expected

    @property
    def unexpected(self) -> tuple[TheoremReport, ...]:
        """Theorems whose verdict is not the expected one; a missing extra is not counted against them."""
        return tuple(t for t in self.theorems if not self.as_expected(t) and t.statement.kind is not Kind.UNAVAILABLE)

    @property
    def exit_status(self) -> int:
        """0 when every verdict is the expected one, 1 when some is not, 2 when nothing ran."""
        if self.counts["ran"] + self.proofs_run == 0:
            return 2
        return 1 if self.unexpected else 0

    @property
    def level(self) -> float:
        """Chance that any of the random claims that ran is refuted although it is true."""
        ran = [
            c for t in self.theorems for c in t.checks if c.evidence is not None and c.check.kind in ("event", "sample")
        ]
        return campaign_level(len(ran), REFUTATION_LEVEL) if ran else 0.0

    def to_json(self) -> dict[str, Any]:
        """Return JSON-able data; stable keys."""
        return {
            "budget": self.budget,
            "seed": self.seed,
            "seconds": round(self.seconds, 3),
            "subjects": dict(self.subjects),
            "counts": {**self.counts, "proofs": self.proofs_run},
            "level": self.level,
            "exit_status": self.exit_status,
            "theorems": [self._theorem_json(t) for t in self.theorems],
        }

    def _theorem_json(self, t: TheoremReport) -> dict[str, Any]:
        return {
            "id": t.theorem.id,
            "title": t.theorem.title,
            "provenance": t.theorem.provenance,
            "expected": t.theorem.expected,
            "as_expected": self.as_expected(t),
            "statement": verdict_json(t.statement),
            "subject": verdict_json(t.subject),
            "checks": [
                {
                    "name": c.check.name,
                    **verdict_json(c.verdict),
                    "control": None if c.control is None else {"blames": c.control.blames, "text": c.control.text},
                }
                for c in t.checks
            ],
            "proofs": [{"name": n, "outcome": r.outcome, "scope": r.scope, "detail": r.detail} for n, r in t.proofs],
        }

    def _repr_html_(self) -> str:
        head = "<tr><th>theorem</th><th>statement</th><th>subject</th><th>established</th></tr>"
        body = "".join(
            f"<tr><td>{escape(t.theorem.id)}</td><td>{t.statement.kind}</td><td>{t.subject.kind}</td>"
            f"<td>{escape((t.subject if self.subjects else t.statement).text)}</td></tr>"
            for t in self.theorems
        )
        return f"<table>{head}{body}</table>"


def verdict_json(verdict: Verdict) -> dict[str, Any]:
    """Return JSON-able data of a verdict."""
    return {
        "verdict": verdict.kind.value,
        "text": verdict.text,
        "scope": verdict.scope,
        "details": dict(verdict.details),
    }
