"""Claims on means of unbounded estimates, made bounded without becoming false.

A replicate is the mean ``V`` of ``R`` inner draws whose variance is at most ``variance``. It is clipped to ``mean +- 10 e``
with ``e = sqrt(variance / R)``. Clipping moves the mean by at most ``E[|V - mean|; |V - mean| > 10 e] <= e / 10``, which is
added to the claim.
"""

import math
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from whp.proofs_checks.engine import Sample, sample

__all__ = ["clipped_mean"]

_WIDTH = 10.0


def clipped_mean(
    draws: NDArray[np.float64], mean: float, variance: float, name: str, side: Literal["at most", "at least"] = "at most"
) -> Sample:
    """One replicate of the claim that the mean of the draws is at most (at least) ``mean``."""
    error = math.sqrt(variance / draws.size)
    low, high = mean - _WIDTH * error, mean + _WIDTH * error
    value = float(np.clip(draws.mean(), low, high))
    if side == "at most":
        return sample(value, low=low, high=high, mean_at_most=mean + error / _WIDTH, name=name)
    return sample(value, low=low, high=high, mean_at_least=mean - error / _WIDTH, name=name)
