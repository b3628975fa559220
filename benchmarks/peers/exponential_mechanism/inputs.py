"""Utilities of 1,000 candidates, and the statistic that both sides' draws are compared by."""

import numpy as np

EPSILON, SENSITIVITY = 1.0, 1.0


def scores() -> np.ndarray:
    """Utilities in [0, 1]."""
    return np.random.default_rng(0).uniform(size=1000)


def mean_utility(draws: object) -> float:
    """Mean utility of the drawn candidates: standard error 0.003 over 10,000 draws."""
    return float(scores()[np.asarray(draws, dtype=int)].mean())
