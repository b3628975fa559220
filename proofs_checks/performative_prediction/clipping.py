"""Claims on means of unbounded estimates, made bounded without becoming false.

A replicate is the mean ``V`` of ``R`` inner draws whose variance is at most ``variance``; let ``e = sqrt(variance /
R)``. For the claim ``E V <= mean`` it is clipped from above at ``mean + 10 e``, which only lowers its mean, and from
below at ``mean - 2.5 e``, which raises it by at most ``e (sqrt(2.5^2 + 1) - 2.5) / 2 < e / 10`` (Scarf's bound on a
mean excess), which is added to the claim. Claims from below are the mirror image.
"""

import math
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from whp.proofs_checks.engine.observation import Sample, sample

__all__ = ["clipped_mean"]

_NEAR, _FAR = 2.5, 10.0
_EXCESS = (math.sqrt(_NEAR**2 + 1.0) - _NEAR) / 2.0


def clipped_mean(
    draws: NDArray[np.float64],
    mean: float,
    variance: float,
    name: str,
    side: Literal["at most", "at least"] = "at most",
) -> Sample:
    """One replicate of the claim that the mean of the draws is at most (at least) ``mean``."""
    error = math.sqrt(variance / draws.size)
    if side == "at most":
        low, high = mean - _NEAR * error, mean + _FAR * error
        return sample(
            float(np.clip(draws.mean(), low, high)), low=low, high=high, mean_at_most=mean + _EXCESS * error, name=name
        )
    low, high = mean - _FAR * error, mean + _NEAR * error
    return sample(
        float(np.clip(draws.mean(), low, high)), low=low, high=high, mean_at_least=mean - _EXCESS * error, name=name
    )
