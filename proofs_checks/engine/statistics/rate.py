"""Measured growth rates over geometric sizes (signatures; body follows)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from numpy.typing import ArrayLike


@dataclass(frozen=True, slots=True)
class RateFit:
    """Exponent, interval, sizes, residuals, r_squared."""

    exponent: float
    low: float
    high: float
    sizes: tuple[float, ...]
    residuals: tuple[float, ...]
    r_squared: float

    def consistent(self, claimed: float, side: Literal["at most", "equal"], tolerance: float = 0.0) -> bool:
        """Whether the interval reaches the claim."""
        raise NotImplementedError


def fit_rate(sizes: ArrayLike, values: ArrayLike, log_power: float = 0.0, confidence: float = 0.95) -> RateFit:
    """Fit ``value ~ size**exponent * log(size)**log_power``; values (sizes,) or (sizes, replicates). No generator needed."""
    raise NotImplementedError
