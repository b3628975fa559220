"""The schedule of a guided run as the convergence theorem sees it."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .bounds import EXPLORED_GRADIENT, EXPLORED_GRADIENT_SHARP
from .directions import isotropic_share, largest_eigenvalue
from .validation import finite_number, positive_integer

__all__ = ["GuidedSchedule"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class GuidedSchedule:
    """Constant step, radius and batch, and an isotropic share that grows as ``1 - kappa^k (1 - alpha_0)``.

    Parameters
    ----------
    step : float
        ``beta > 0``.
    radius : float
        ``mu > 0``.
    batch : int
        ``m``, samples a side.
    iterations : int
        ``T + 1``.
    initial_share : float, optional
        ``alpha_0``.
    decay : float, optional
        ``kappa``; 0.98 in the paper, 1 keeps the share constant.

    Raises
    ------
    TypeError, ValueError
        If a field is out of range.

    Examples
    --------
    >>> schedule = GuidedSchedule(step=1 / 12, radius=0.1, batch=20, iterations=301)
    >>> round(schedule.bound(gap=1.0, smoothness=1.0, variance=0.0), 6)
    0.191968
    """

    step: float
    radius: float
    batch: int
    iterations: int
    initial_share: float = 0.0
    decay: float = 0.98

    def __post_init__(self) -> None:
        """Check the ranges."""
        finite_number("step", self.step, above=0.0)
        finite_number("radius", self.radius, above=0.0)
        positive_integer("batch", self.batch)
        positive_integer("iterations", self.iterations)
        isotropic_share(0, self.initial_share, self.decay)

    @property
    def shares(self) -> Array:
        """Isotropic shares ``alpha_0 .. alpha_T``; shape ``(iterations,)``."""
        return np.array([isotropic_share(k, self.initial_share, self.decay) for k in range(self.iterations)])

    def bound(self, gap: float, smoothness: float, variance: float) -> float:
        """`EXPLORED_GRADIENT` for this schedule."""
        return float(
            EXPLORED_GRADIENT(
                gap=gap,
                beta=self.step,
                steps=self.iterations,
                H=smoothness,
                sigma2=variance,
                mu2=self.radius**2,
                noise=1.0 / (self.radius**2 * self.batch),
            )
        )

    def sharp_bound(self, gap: float, smoothness: float, variance: float, dimension: int) -> float:
        """`EXPLORED_GRADIENT_SHARP` for this schedule."""
        return float(
            EXPLORED_GRADIENT_SHARP(
                gap=gap,
                beta=self.step,
                steps=self.iterations,
                H=smoothness,
                sigma2=variance,
                lambda_mu2=float(largest_eigenvalue(self.shares, dimension).mean()) * self.radius**2,
                mu2=self.radius**2,
                noise=1.0 / (self.radius**2 * self.batch),
            )
        )
