"""Unguided peers: two-point, one-point and residual-feedback descent."""

from dataclasses import dataclass
from typing import Literal

from .descent import Deployment, Plan, Run, Step
from .estimators import rademacher_direction
from .schedules import CountSchedule, Schedule, as_count, as_schedule

__all__ = ["OnePointDescent", "ResidualFeedbackDescent", "TwoPointDescent"]


@dataclass(frozen=True)
class TwoPointDescent:
    """ZO-TG: two-point descent along ``u ~ N(0, I)`` (the predecessor's Algorithm 2), or along random signs.

    Parameters
    ----------
    step, radius : float or callable
        ``beta_k`` and ``mu_k``.
    side_samples : int or callable
        ``m_k``.
    directions : {"gaussian", "rademacher"}, optional
        Law of ``u``; signs give simultaneous perturbation.

    Raises
    ------
    TypeError, ValueError
        If a parameter is malformed.

    Examples
    --------
    >>> TwoPointDescent(step=0.01, radius=0.2, side_samples=30).samples_a_step(0)
    60
    """

    step: float | Schedule
    radius: float | Schedule
    side_samples: int | CountSchedule
    directions: Literal["gaussian", "rademacher"] = "gaussian"

    def __post_init__(self) -> None:
        """Turn numbers into schedules and check them."""
        object.__setattr__(self, "step", as_schedule("step", self.step))
        object.__setattr__(self, "radius", as_schedule("radius", self.radius))
        object.__setattr__(self, "side_samples", as_count("side_samples", self.side_samples))
        if self.directions not in ("gaussian", "rademacher"):
            raise ValueError(f"directions must be 'gaussian' or 'rademacher', got {self.directions!r}")

    def samples_a_step(self, iteration: int) -> int:
        """Samples ``2 m_k`` of an iteration."""
        return 2 * self.side_samples(iteration)  # type: ignore[operator]

    def iterate(self, run: Run) -> Plan:
        """Run the method."""
        step, radius, sides = self.step, self.radius, self.side_samples
        assert callable(step) and callable(radius) and callable(sides)
        oracle, signs = run.oracle, self.directions == "rademacher"
        while True:
            k = run.iteration
            m = sides(k)
            counts = run.allot(m, m)
            if counts is None:
                return
            mu, beta = radius(k), step(k)
            shape = run.x.shape
            direction = rademacher_direction(shape, run.normal) if signs else run.normal.standard_normal(shape)
            plus, minus, direction = run.sides(mu, direction)
            first, second = yield (Deployment(plus, counts[0]), Deployment(minus, counts[1]))
            above, below = oracle.mean_loss(plus, first, counts[0]), oracle.mean_loss(minus, second, counts[1])
            batch = 2.0 / (1.0 / counts[0] + 1.0 / counts[1])
            slope = (above - below) / (2.0 * mu)
            taken = Step(1.0, mu, batch, beta, 0.5 * (above + below), slope, direction, None, None)
            run.move(taken)


@dataclass(frozen=True)
class OnePointDescent:
    """ZO-OG: one-point descent along ``u ~ N(0, I)`` with a constant control ``c``.

    Parameters
    ----------
    step, radius : float or callable
        ``beta_k`` and ``mu_k``.
    side_samples : int or callable
        ``m_k``.
    control : float, optional
        ``c``, zero in the paper's baseline.

    Raises
    ------
    TypeError, ValueError
        If a parameter is malformed.

    Examples
    --------
    >>> OnePointDescent(step=1e-5, radius=0.001, side_samples=30).samples_a_step(0)
    30
    """

    step: float | Schedule
    radius: float | Schedule
    side_samples: int | CountSchedule
    control: float = 0.0

    def __post_init__(self) -> None:
        """Turn numbers into schedules and check them."""
        object.__setattr__(self, "step", as_schedule("step", self.step))
        object.__setattr__(self, "radius", as_schedule("radius", self.radius))
        object.__setattr__(self, "side_samples", as_count("side_samples", self.side_samples))
        if not abs(float(self.control)) < float("inf"):
            raise ValueError(f"control must be finite, got {self.control}")

    def samples_a_step(self, iteration: int) -> int:
        """Samples ``m_k`` of an iteration."""
        return self.side_samples(iteration)  # type: ignore[operator]

    def iterate(self, run: Run) -> Plan:
        """Run the method."""
        step, radius, sides = self.step, self.radius, self.side_samples
        assert callable(step) and callable(radius) and callable(sides)
        while True:
            k = run.iteration
            counts = run.allot(sides(k))
            if counts is None:
                return
            mu, beta = radius(k), step(k)
            direction = run.normal.standard_normal(run.x.shape)
            plus, _, direction = run.sides(mu, direction)
            (seen,) = yield (Deployment(plus, counts[0]),)
            loss = run.oracle.mean_loss(plus, seen, counts[0])
            taken = Step(1.0, mu, counts[0], beta, loss, (loss - self.control) / mu, direction, None, None)
            run.move(taken)


@dataclass(frozen=True)
class ResidualFeedbackDescent:
    """One-point descent whose control is the previous iteration's observation.

    The first iteration has no predecessor: it draws one extra batch at the start.

    Parameters
    ----------
    step, radius : float or callable
        ``beta_k`` and ``mu_k``.
    side_samples : int or callable
        ``m_k``.

    Raises
    ------
    TypeError, ValueError
        If a parameter is malformed.

    References
    ----------
    .. [1] Zhang, Zhou, Ji, Zavlanos: A new one-point residual-feedback oracle for black-box learning and control,
       Automatica 136 (2022).

    Examples
    --------
    >>> ResidualFeedbackDescent(step=1e-3, radius=0.1, side_samples=30).samples_a_step(1)
    30
    """

    step: float | Schedule
    radius: float | Schedule
    side_samples: int | CountSchedule

    def __post_init__(self) -> None:
        """Turn numbers into schedules and check them."""
        object.__setattr__(self, "step", as_schedule("step", self.step))
        object.__setattr__(self, "radius", as_schedule("radius", self.radius))
        object.__setattr__(self, "side_samples", as_count("side_samples", self.side_samples))

    def samples_a_step(self, iteration: int) -> int:
        """Samples of an iteration: ``m_k``, and ``2 m_0`` at the first."""
        return self.side_samples(iteration) * (2 if iteration == 0 else 1)  # type: ignore[operator]

    def iterate(self, run: Run) -> Plan:
        """Run the method."""
        step, radius, sides = self.step, self.radius, self.side_samples
        assert callable(step) and callable(radius) and callable(sides)
        first = run.allot(sides(0), sides(0))
        if first is None:
            return
        (seen,) = yield (Deployment(run.x, first[0]),)
        previous = run.oracle.mean_loss(run.x, seen, first[0])
        while True:
            k = run.iteration
            counts = run.allot(sides(k))
            if counts is None:
                return
            mu, beta = radius(k), step(k)
            plus, _, direction = run.sides(mu, run.normal.standard_normal(run.x.shape))
            (seen,) = yield (Deployment(plus, counts[0]),)
            loss = run.oracle.mean_loss(plus, seen, counts[0])
            taken = Step(1.0, mu, counts[0], beta, loss, (loss - previous) / mu, direction, None, None)
            run.move(taken)
            previous = loss
