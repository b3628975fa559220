"""Checks and proofs of the statements on marginalization."""

from whp.proofs_checks.marginalization import (
    circuit_proofs,
    circuits,
    cut_gadgets,
    derivatives,
    determinants,
    hierarchy,
    lifts,
    multilinear,
    networks,
    proofs,
    quadratic_forms,
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
    *circuits.CHECKS,
    *networks.CHECKS,
    *derivatives.CHECKS,
    *sampling.CHECKS,
)

PROOFS = (*proofs.PROOFS, *circuit_proofs.PROOFS)
