"""Building the row and drawing once."""

import numpy as np
from inputs import EPSILON, SENSITIVITY, mean_utility, scores

from whp.algorithms.prompt_perturbation import exponential_mechanism


def prepare():
    """Return a run that builds and draws."""
    utilities, rng = scores(), np.random.default_rng(1)
    return lambda: exponential_mechanism(utilities, EPSILON, sensitivity=SENSITIVITY).sample(rng)


def answer(result):
    """Mean utility over 100,000 draws of a row built anew."""
    row = exponential_mechanism(scores(), EPSILON, sensitivity=SENSITIVITY)
    return mean_utility(row.sample(np.random.default_rng(2), 100_000))
