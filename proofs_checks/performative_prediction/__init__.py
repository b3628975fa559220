"""Checks and proofs of the statements on guided zeroth-order methods."""

from . import convergence, directions, estimates, history, methods, regularity
from .proofs import PROOFS

__all__ = ["CHECKS", "PROOFS"]

CHECKS = (
    *directions.CHECKS,
    *estimates.CHECKS,
    *convergence.CHECKS,
    *regularity.CHECKS,
    *history.CHECKS,
    *methods.CHECKS,
)
