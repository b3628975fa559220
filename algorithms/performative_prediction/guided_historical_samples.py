"""Guided zeroth-order descent whose guide comes from samples already drawn (GZO-HS, the paper's Algorithm 2)."""

from collections import deque
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from .descent import Deployment, Plan, Run, Step
from .estimators import unit_guide
from .guide_diagnostics import AdaptiveShare
from .guided_new_samples import check_guide_options, draw_guided_direction, share_and_tracker
from .schedules import ApproachOne, CountSchedule, Schedule, as_count, as_schedule

__all__ = ["GuidedHistoricalSamples"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class GuidedHistoricalSamples:
    """GZO-HS: the guide is the mean of ``grad_x f(x_k, xi)`` over stored samples of earlier iterations.

    The stored samples come from the law at earlier decisions, so the guide is biased; only the direction is affected,
    never the formula for the mean of the estimator.

    Parameters
    ----------
    step, radius : float or callable
        ``beta_k`` and ``mu_k``.
    side_samples : int or callable
        ``m_k``.
    isotropic_share : float, callable or AdaptiveShare, optional
        ``alpha_k``; by default ``1 - 0.98^k``.
    window : int, optional
        Iterations whose samples are kept.
    lag : int, optional
        0 uses the samples of the iteration just finished; 1 skips it, as the released script does.
    guide_tolerance : float, optional
        A mean gradient no longer than this gives no guide.
    without_guide : {"isotropic", "shrink"}, optional
        As in `GuidedNewSamples`. There is never a guide at the first iteration, where the released script therefore
        spends ``2 m_0`` samples without moving; ``"shrink"`` reproduces that.

    Raises
    ------
    TypeError, ValueError
        If a parameter is malformed.

    Examples
    --------
    >>> GuidedHistoricalSamples(step=0.01, radius=0.2, side_samples=30).samples_a_step(0)
    60
    """

    step: float | Schedule
    radius: float | Schedule
    side_samples: int | CountSchedule
    isotropic_share: float | Schedule | AdaptiveShare = field(default_factory=ApproachOne)
    window: int = 1
    lag: int = 0
    guide_tolerance: float = 0.0
    without_guide: Literal["isotropic", "shrink"] = "isotropic"

    def __post_init__(self) -> None:
        """Turn numbers into schedules and check them."""
        object.__setattr__(self, "step", as_schedule("step", self.step))
        object.__setattr__(self, "radius", as_schedule("radius", self.radius))
        object.__setattr__(self, "side_samples", as_count("side_samples", self.side_samples))
        if not isinstance(self.isotropic_share, AdaptiveShare):
            share = as_schedule("isotropic_share", self.isotropic_share, 1.0, zero=True)
            object.__setattr__(self, "isotropic_share", share)
        check_guide_options(self.guide_tolerance, self.without_guide)
        for name, least in (("window", 1), ("lag", 0)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
                raise TypeError(f"{name} must be an integer, got {type(value).__name__}")
            if value < least:
                raise ValueError(f"{name} must be at least {least}, got {value}")

    def samples_a_step(self, iteration: int) -> int:
        """Samples ``2 m_k`` of an iteration."""
        return 2 * self.side_samples(iteration)  # type: ignore[operator]

    def iterate(self, run: Run) -> Plan:
        """Run the method."""
        step, radius, sides = self.step, self.radius, self.side_samples
        assert callable(step) and callable(radius) and callable(sides)
        share, tracker = share_and_tracker(self.isotropic_share)
        oracle, isotropic = run.oracle, self.without_guide == "isotropic"
        stored: deque[tuple[Any, int]] = deque(maxlen=self.window + self.lag)
        while True:
            k = run.iteration
            m = sides(k)
            counts = run.allot(m, m)
            if counts is None:
                return
            known = self._known_gradient(run, stored)
            guide = unit_guide(known, self.guide_tolerance)
            alpha, mu, beta = share(k), radius(k), step(k)
            direction = draw_guided_direction(run, guide, alpha, isotropic)
            plus, minus, direction = run.sides(mu, direction)
            first, second = yield (Deployment(plus, counts[0]), Deployment(minus, counts[1]))
            stored.append((np.concatenate((first, second), axis=guide.ndim - 1), counts[0] + counts[1]))
            above, below = oracle.mean_loss(plus, first, counts[0]), oracle.mean_loss(minus, second, counts[1])
            batch = 2.0 / (1.0 / counts[0] + 1.0 / counts[1])
            slope = (above - below) / (2.0 * mu)  # the estimate is slope * direction
            along = direction.dot(known) if known.ndim == 1 else np.vecdot(direction, known)
            run.move(Step(alpha, mu, batch, beta, 0.5 * (above + below), slope, direction, guide, along))
            if tracker is not None:
                tracker.update(slope, along)

    def _known_gradient(self, run: Run, stored: deque[tuple[Any, int]]) -> Array:
        """Mean gradient at the current decision over the window of stored samples; zero when it is empty."""
        old = list(stored)[: len(stored) - self.lag] if self.lag else list(stored)
        if not old:
            return np.zeros(run.x.shape)
        means = [run.oracle.mean_gradient(run.x, samples, count) for samples, count in old]
        if len(old) == 1:
            return means[0]
        total = sum(count for _, count in old)
        return np.asarray(np.add.reduce([count / total * mean for mean, (_, count) in zip(means, old, strict=True)]))
