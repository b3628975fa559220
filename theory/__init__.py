"""What the papers claim: problem definitions, bounds and theorems as data."""

from whp.theory.core import (
    Assumption,
    Bound,
    Claim,
    Domain,
    Expected,
    Mathematics,
    Paper,
    Provenance,
    Slot,
    Symbol,
    Theorem,
    UnknownTheoremError,
    papers,
    theorem,
    theorems,
)

__all__ = [
    "Assumption",
    "Bound",
    "Claim",
    "Domain",
    "Expected",
    "Mathematics",
    "Paper",
    "Provenance",
    "Slot",
    "Symbol",
    "Theorem",
    "UnknownTheoremError",
    "papers",
    "theorem",
    "theorems",
]
