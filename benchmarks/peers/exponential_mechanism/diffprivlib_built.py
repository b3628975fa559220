"""Building diffprivlib's exponential mechanism and drawing once."""

from diffprivlib.mechanisms import Exponential
from inputs import EPSILON, SENSITIVITY, mean_utility, scores


def prepare():
    """Return a run that builds and draws."""
    utilities = scores().tolist()

    def run():
        return Exponential(epsilon=EPSILON, sensitivity=SENSITIVITY, utility=utilities).randomise()

    return run


def answer(result):
    """Mean utility over 10,000 draws of a mechanism built anew."""
    mechanism = Exponential(epsilon=EPSILON, sensitivity=SENSITIVITY, utility=scores().tolist(), random_state=2)
    return mean_utility([mechanism.randomise() for _ in range(10_000)])
