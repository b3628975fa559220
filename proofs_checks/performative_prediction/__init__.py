"""Checks and proofs of the statements on guided zeroth-order methods."""

from . import complexity, convergence, differences, directions, history, means, methods, regularity, second_moments
from .proofs import PROOFS

__all__ = ["CHECKS", "PROOFS"]

CHECKS = (
    *directions.CHECKS,
    *means.CHECKS,
    *second_moments.CHECKS,
    *differences.CHECKS,
    *convergence.CHECKS,
    *complexity.CHECKS,
    *regularity.CHECKS,
    *history.CHECKS,
    *methods.CHECKS,
)
