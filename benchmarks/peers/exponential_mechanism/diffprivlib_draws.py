"""Draws of diffprivlib's exponential mechanism."""

from diffprivlib.mechanisms import Exponential
from inputs import EPSILON, SENSITIVITY, mean_utility, scores

UNITS = 200


def prepare():
    """Build the mechanism; the timed run draws from it, which diffprivlib does one at a time."""
    mechanism = Exponential(epsilon=EPSILON, sensitivity=SENSITIVITY, utility=scores().tolist(), random_state=0)
    return lambda: (mechanism, [mechanism.randomise() for _ in range(UNITS)])


def answer(result):
    """Mean utility over 10,000 further draws."""
    mechanism, _ = result
    return mean_utility([mechanism.randomise() for _ in range(10_000)])
