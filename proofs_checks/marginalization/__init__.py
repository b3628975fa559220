"""Checks and proofs of the statements on marginalization."""

from whp.proofs_checks.marginalization import (
    cut_gadgets,
    determinants,
    hierarchy,
    lifts,
    multilinear,
    quadratic_forms,
    sampling,
)
from whp.proofs_checks.marginalization.proofs import PROOFS

__all__ = ["CHECKS", "PROOFS"]

CHECKS = (
    *hierarchy.CHECKS,
    *multilinear.CHECKS,
    *determinants.CHECKS,
    *quadratic_forms.CHECKS,
    *cut_gadgets.CHECKS,
    *lifts.CHECKS,
    *sampling.CHECKS,
)
