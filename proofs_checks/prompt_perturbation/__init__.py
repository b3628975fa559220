"""Checks and proofs of Cape's theorems and of the mechanisms it is compared with."""

from whp.proofs_checks.prompt_perturbation import privacy

CHECKS = (*privacy.CHECKS,)
PROOFS = ()
