"""Checks and proofs of the statements on marginalization."""

from whp.proofs_checks.marginalization import (
    circuit_proofs,
    circuits,
    cut_gadgets,
    determinants,
    hierarchy,
    lifts,
    multilinear,
    proofs,
    quadratic_forms,
    real_ram,
    sampling,
)

__all__ = ["CHECKS", "PROOFS"]

CHECKS = (
    *hierarchy.CHECKS,
    *multilinear.CHECKS,
    *determinants.CHECKS,
    *quadratic_forms.CHECKS,
    *cut_gadgets.CHECKS,
    *lifts.CHECKS,
    *sampling.CHECKS,
    *circuits.CHECKS,
    *real_ram.CHECKS,
)

PROOFS = (*proofs.PROOFS, *circuit_proofs.PROOFS)
