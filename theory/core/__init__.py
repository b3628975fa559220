"""The vocabulary in which papers state their claims: papers, assumptions, bounds, slots, theorems."""

from whp.theory.core.assumption import Assumption
from whp.theory.core.bound import Bound, Domain, Symbol
from whp.theory.core.mathematics import Mathematics
from whp.theory.core.paper import Paper
from whp.theory.core.registry import (
    Registry,
    UnknownTheoremError,
    load_papers,
    papers,
    theorem,
    theorems,
)
from whp.theory.core.slot import Slot
from whp.theory.core.theorem import Claim, Expected, Provenance, Theorem

__all__ = [
    "Assumption",
    "Bound",
    "Claim",
    "Domain",
    "Expected",
    "Mathematics",
    "Paper",
    "Provenance",
    "Registry",
    "Slot",
    "Symbol",
    "Theorem",
    "UnknownTheoremError",
    "load_papers",
    "papers",
    "theorem",
    "theorems",
]
