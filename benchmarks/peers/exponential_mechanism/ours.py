"""A batch of draws from one row."""

import numpy as np
from inputs import EPSILON, SENSITIVITY, mean_utility, scores

from whp.algorithms.prompt_perturbation import exponential_mechanism

UNITS = 1000


def prepare():
    """Build the row; the timed run draws from it."""
    row = exponential_mechanism(scores(), EPSILON, sensitivity=SENSITIVITY)
    rng = np.random.default_rng(1)
    return lambda: (row, rng, row.sample(rng, UNITS))


def answer(result):
    """Mean utility over 100,000 further draws."""
    row, rng, _ = result
    return mean_utility(row.sample(rng, 100_000))
