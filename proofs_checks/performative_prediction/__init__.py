"""Checks and proofs of the statements on guided zeroth-order methods."""

from . import directions

CHECKS = (*directions.CHECKS,)
PROOFS = (*directions.PROOFS,)
