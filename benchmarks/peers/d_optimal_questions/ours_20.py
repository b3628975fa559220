"""Column generation to a certified gap."""

from inputs import features

from whp.algorithms.plackett_luce_design import column_generation_design
from whp.theory.plackett_luce_design import DesignProblem


def prepare():
    """Take the items; the timed run builds the problem and solves it."""
    x = features(20, 5)
    return lambda: column_generation_design(DesignProblem(x, 3), tolerance=1e-4)


def answer(result):
    """Objective; the gap must be certified."""
    assert result.certified_gap <= 1e-4
    return [result.objective]
