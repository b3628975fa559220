"""Single draws from one row."""

import numpy as np
from inputs import EPSILON, SENSITIVITY, mean_utility, scores

from whp.algorithms.prompt_perturbation import exponential_mechanism

UNITS = 1000


def prepare():
    """Build the row; the timed run draws from it, one call for each draw."""
    row = exponential_mechanism(scores(), EPSILON, sensitivity=SENSITIVITY)
    rng = np.random.default_rng(1)
    return lambda: (row, rng, [row.sample(rng) for _ in range(UNITS)])


def answer(result):
    """Mean utility over 100,000 further draws."""
    row, rng, _ = result
    return mean_utility([row.sample(rng) for _ in range(100_000)])
