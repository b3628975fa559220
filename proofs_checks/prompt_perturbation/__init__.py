"""Checks and proofs of Cape's theorems and of the mechanisms it is compared with."""

from whp.proofs_checks.prompt_perturbation import audit, baselines, long_tail, privacy, prompts
from whp.proofs_checks.prompt_perturbation.proofs import PROOFS

__all__ = ["CHECKS", "PROOFS"]

CHECKS = (*privacy.CHECKS, *long_tail.CHECKS, *audit.CHECKS, *prompts.CHECKS, *baselines.CHECKS)
