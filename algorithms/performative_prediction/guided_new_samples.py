"""Guided zeroth-order descent with new samples for the guide (GZO-NS, the paper's Algorithm 1)."""

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from .descent import Deployment, Plan, Run, Step
from .estimators import guided_direction, unit_guide
from .guide_diagnostics import AdaptiveShare, GuideTracker
from .schedules import ApproachOne, CountSchedule, Schedule, as_count, as_schedule

__all__ = ["GuidedNewSamples", "check_guide_options", "draw_guided_direction", "share_and_tracker"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class GuidedNewSamples:
    """GZO-NS: each iteration draws ``n_k`` samples for a guide and ``m_k`` at each of ``x +- mu u``.

    Parameters
    ----------
    step : float or callable
        ``beta_k``.
    radius : float or callable
        ``mu_k``.
    side_samples : int or callable
        ``m_k``.
    guide_samples : int or callable, optional
        ``n_k``; ``side_samples`` by default.
    isotropic_share : float, callable or AdaptiveShare, optional
        ``alpha_k`` in ``[0, 1]``; by default ``1 - 0.98^k`` as in the paper. A share that stays at zero can stall for
        ever (see the theorem on the zero-share trap).
    guide_tolerance : float, optional
        A mean gradient no longer than this gives no guide; the released scripts use ``1e-5``.
    without_guide : {"isotropic", "shrink"}, optional
        Direction when there is no guide: isotropic of trace one, or the paper's ``sqrt(alpha / d) z``, which does not
        move at all when ``alpha = 0``.

    Raises
    ------
    TypeError, ValueError
        If a parameter is malformed.

    Examples
    --------
    >>> from whp.algorithms.performative_prediction import Geometric, LinearCount
    >>> method = GuidedNewSamples(Geometric(0.01, 0.95), Geometric(0.2, 0.95, floor=1e-4), LinearCount(30, 2))
    >>> method.samples_a_step(10)
    150
    """

    step: float | Schedule
    radius: float | Schedule
    side_samples: int | CountSchedule
    guide_samples: int | CountSchedule | None = None
    isotropic_share: float | Schedule | AdaptiveShare = field(default_factory=ApproachOne)
    guide_tolerance: float = 0.0
    without_guide: Literal["isotropic", "shrink"] = "isotropic"

    def __post_init__(self) -> None:
        """Turn numbers into schedules and check them."""
        guide = self.side_samples if self.guide_samples is None else self.guide_samples
        object.__setattr__(self, "step", as_schedule("step", self.step))
        object.__setattr__(self, "radius", as_schedule("radius", self.radius))
        object.__setattr__(self, "side_samples", as_count("side_samples", self.side_samples))
        object.__setattr__(self, "guide_samples", as_count("guide_samples", guide))
        if not isinstance(self.isotropic_share, AdaptiveShare):
            share = as_schedule("isotropic_share", self.isotropic_share, 1.0, zero=True)
            object.__setattr__(self, "isotropic_share", share)
        check_guide_options(self.guide_tolerance, self.without_guide)

    def samples_a_step(self, iteration: int) -> int:
        """Samples ``n_k + 2 m_k`` of an iteration."""
        return self.guide_samples(iteration) + 2 * self.side_samples(iteration)  # type: ignore[operator, misc]

    def iterate(self, run: Run) -> Plan:
        """Run the method."""
        step, radius, sides, guides = self.step, self.radius, self.side_samples, self.guide_samples
        assert callable(step) and callable(radius) and callable(sides) and callable(guides)
        share, tracker = share_and_tracker(self.isotropic_share)
        oracle, isotropic = run.oracle, self.without_guide == "isotropic"
        while True:
            k = run.iteration
            m = sides(k)
            counts = run.allot(guides(k), m, m)
            if counts is None:
                return
            (seen,) = yield (Deployment(run.x, counts[0]),)
            known = oracle.mean_gradient(run.x, seen, counts[0])
            guide = unit_guide(known, self.guide_tolerance)
            alpha, mu, beta = share(k), radius(k), step(k)
            direction = draw_guided_direction(run, guide, alpha, isotropic)
            plus, minus, direction = run.sides(mu, direction)
            first, second = yield (Deployment(plus, counts[1]), Deployment(minus, counts[2]))
            above, below = oracle.mean_loss(plus, first, counts[1]), oracle.mean_loss(minus, second, counts[2])
            batch = 2.0 / (1.0 / counts[1] + 1.0 / counts[2])
            slope = (above - below) / (2.0 * mu)  # the estimate is slope * direction
            along = direction.dot(known) if known.ndim == 1 else np.vecdot(direction, known)
            run.move(Step(alpha, mu, batch, beta, 0.5 * (above + below), slope, direction, guide, along))
            if tracker is not None:
                tracker.update(slope, along)


def draw_guided_direction(run: Run, guide: Array, alpha: float, isotropic_without_guide: bool) -> Array:
    """Draw ``u`` for the current decision; replicates without a guide may fall back to isotropic directions."""
    z = run.normal.standard_normal(guide.shape)
    if guide.ndim == 1:
        s = run.along.standard_normal()
        if isotropic_without_guide and alpha < 1.0 and guide.dot(guide) == 0.0:
            alpha = 1.0
        z *= (alpha / guide.size) ** 0.5
        if alpha < 1.0:
            z += ((1.0 - alpha) ** 0.5 * s) * guide
        return z
    along = run.along.standard_normal(guide.shape[:-1])
    shares: Array = np.full(guide.shape[:-1], alpha)
    if isotropic_without_guide:
        shares[~guide.any(axis=-1)] = 1.0
    return guided_direction(guide, shares, z, along)


def share_and_tracker(share: float | Schedule | AdaptiveShare) -> tuple[Schedule, GuideTracker | None]:
    """Share as a function of the iteration, and the state behind it when it adapts."""
    if isinstance(share, AdaptiveShare):
        tracker = share.tracker()
        return lambda iteration: tracker.share, tracker
    assert callable(share)
    return share, None


def check_guide_options(tolerance: float, without_guide: str) -> None:
    """Check the two options about guides that are zero or nearly so."""
    if not 0.0 <= tolerance < np.inf:
        raise ValueError(f"guide_tolerance must be finite and at least 0, got {tolerance}")
    if without_guide not in ("isotropic", "shrink"):
        raise ValueError(f"without_guide must be 'isotropic' or 'shrink', got {without_guide!r}")
