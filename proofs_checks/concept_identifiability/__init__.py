"""Checks and proofs of the identification of latent concepts."""

from whp.proofs_checks.concept_identifiability import combinatorial, covariances, equivalence, estimator, laws
from whp.proofs_checks.concept_identifiability.proofs import PROOFS

__all__ = ["CHECKS", "PROOFS"]

CHECKS = (*combinatorial.CHECKS, *equivalence.CHECKS, *covariances.CHECKS, *laws.CHECKS, *estimator.CHECKS)
