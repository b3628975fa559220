"""Checks and proofs around augmentation and contrastive learning."""

from whp.proofs_checks.contrastive_augmentation import distances, encoders, supervised, transfer
from whp.proofs_checks.contrastive_augmentation.proofs import PROOFS

__all__ = ["CHECKS", "PROOFS"]

CHECKS = (*transfer.CHECKS, *supervised.CHECKS, *distances.CHECKS, *encoders.CHECKS)
