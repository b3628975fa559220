"""Draws of OpenDP's noisy max with Gumbel noise, the same law as the exponential mechanism."""

import opendp.prelude as dp
from inputs import EPSILON, SENSITIVITY, mean_utility, scores

UNITS = 100


def prepare():
    """Build the measurement; the timed run draws from it, which OpenDP does one at a time."""
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.linf_distance(T=float)
    # zero-concentrated divergence selects Gumbel noise: exactly the law of the exponential mechanism
    mechanism = dp.m.make_noisy_max(*space, dp.zero_concentrated_divergence(), scale=2 * SENSITIVITY / EPSILON)
    utilities = scores().tolist()
    return lambda: (mechanism, utilities, [mechanism(utilities) for _ in range(UNITS)])


def answer(result):
    """Mean utility over 5,000 further draws."""
    mechanism, utilities, _ = result
    return mean_utility([mechanism(utilities) for _ in range(5000)])
