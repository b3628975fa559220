"""Claims on the mean of a bounded random variable, decided from a histogram of integers (signatures; body follows)."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

Side = Literal["at most", "at least", "equal"]
GRID_STEPS = 1024


def bin_samples(values: ArrayLike, low: float, high: float, grid_steps: int = GRID_STEPS) -> NDArray[np.int64]:
    """Histogram with 2 * grid_steps + 1 cells: grid points (even) and the open gaps between them (odd); merge by adding."""
    raise NotImplementedError


def log_e_value(histogram: ArrayLike, low: float, high: float, mean: float, side: Side) -> float:
    """Log evidence against ``E[X] <= mean`` ("at most"), ``>=`` ("at least") or ``==`` ("equal")."""
    raise NotImplementedError


def margin(histogram: ArrayLike, low: float, high: float, alpha: float, side: Literal["at most", "at least"]) -> float:
    """Tightest mean these data refute ("at most": the largest, i.e. lower confidence bound; "at least": the smallest)."""
    raise NotImplementedError


def confidence_interval(histogram: ArrayLike, low: float, high: float, alpha: float) -> tuple[float, float]:
    """Time-uniform confidence interval for the mean."""
    raise NotImplementedError
