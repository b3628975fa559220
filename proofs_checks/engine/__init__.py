"""The engine: decides checks and proofs, keeps their evidence; knows no paper.

This is the interface for authors of checks and for users of `verify`.
"""

from whp.proofs_checks.engine.check import (
    Check,
    ClaimedRate,
    Generic,
    Instances,
    Mutant,
    OutputAsData,
    Rounded,
    Vectorised,
)
from whp.proofs_checks.engine.evidence import (
    ContentHash,
    Evidence,
    Recipe,
    allow_namespace,
    content,
    materialise,
    recipe,
)
from whp.proofs_checks.engine.exact import exactify
from whp.proofs_checks.engine.hunt import Hunt, hunt
from whp.proofs_checks.engine.isolation import Limits
from whp.proofs_checks.engine.mutants import MutantsReport, mutants
from whp.proofs_checks.engine.observation import (
    Cost,
    Event,
    Sample,
    Slack,
    at_least,
    at_most,
    event,
    identity,
    requires,
    sample,
)
from whp.proofs_checks.engine.proofs import Proof, ProofResult, exhaustive, polynomial_identity, z3_valid
from whp.proofs_checks.engine.replay import Replay, replay
from whp.proofs_checks.engine.report import CheckReport, Report, TheoremReport
from whp.proofs_checks.engine.verdict import Kind, Verdict
from whp.proofs_checks.engine.verify import verify

__all__ = [
    "Check",
    "CheckReport",
    "ClaimedRate",
    "ContentHash",
    "Cost",
    "Event",
    "Evidence",
    "Generic",
    "Hunt",
    "Instances",
    "Kind",
    "Limits",
    "Mutant",
    "MutantsReport",
    "OutputAsData",
    "Proof",
    "ProofResult",
    "Recipe",
    "Replay",
    "Report",
    "Rounded",
    "Sample",
    "Slack",
    "TheoremReport",
    "Vectorised",
    "Verdict",
    "allow_namespace",
    "at_least",
    "at_most",
    "content",
    "event",
    "exactify",
    "exhaustive",
    "hunt",
    "identity",
    "materialise",
    "mutants",
    "polynomial_identity",
    "recipe",
    "replay",
    "requires",
    "sample",
    "verify",
    "z3_valid",
]
