"""Checks and proofs of the statements on Plackett-Luce designs."""

from whp.proofs_checks.plackett_luce_design import algorithm_checks, design_checks, estimation_checks, model_checks
from whp.proofs_checks.plackett_luce_design.proofs import PROOFS

__all__ = ["CHECKS", "PROOFS"]

CHECKS = (*model_checks.CHECKS, *design_checks.CHECKS, *algorithm_checks.CHECKS, *estimation_checks.CHECKS)
