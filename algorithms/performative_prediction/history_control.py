"""One-point descent with a control built from earlier samples (ZO-OGVR, the predecessor's method)."""

from collections import deque
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .descent import Deployment, Plan, Run, Step
from .history_weights import inverse_weights, water_filling_weights
from .schedules import CountSchedule, Schedule, as_count, as_schedule

__all__ = ["HistoryControlDescent"]

Array = NDArray[np.float64]


class _Stored(NamedTuple):
    decision: Array
    samples: Any
    size: int


@dataclass(frozen=True)
class HistoryControlDescent:
    """ZO-OGVR: control ``c_k = sum_i a_i mean_j f(x_k, xi_ij)`` over the last iterations' samples.

    Parameters
    ----------
    step, radius : float or callable
        ``beta_k`` and ``mu_k``.
    side_samples : int or callable
        ``m_k``.
    window : int, optional
        Iterations kept (10 in the paper).
    first_control_samples : int, optional
        Samples for the first control (20 in the paper).
    bias_scale : float, optional
        Weight of the squared distance against ``1 / m_i``; 0.1 in the paper.
    weighting : {"inverse", "water_filling"}, optional
        ``"inverse"`` is the published ``a_i`` proportional to ``1 / b_i``, ``b_i = 0.1 r_i^2 + 1 / m_i``; it minimises
        a bound that is false. ``"water_filling"`` minimises the repaired bound.

    Raises
    ------
    TypeError, ValueError
        If a parameter is malformed.

    Examples
    --------
    >>> HistoryControlDescent(step=0.001, radius=0.2, side_samples=30).samples_a_step(1)
    30
    """

    step: float | Schedule
    radius: float | Schedule
    side_samples: int | CountSchedule
    window: int = 10
    first_control_samples: int = 20
    bias_scale: float = 0.1
    weighting: Literal["inverse", "water_filling"] = "inverse"

    def __post_init__(self) -> None:
        """Turn numbers into schedules and check them."""
        object.__setattr__(self, "step", as_schedule("step", self.step))
        object.__setattr__(self, "radius", as_schedule("radius", self.radius))
        object.__setattr__(self, "side_samples", as_count("side_samples", self.side_samples))
        as_count("window", self.window)
        as_count("first_control_samples", self.first_control_samples)
        as_schedule("bias_scale", self.bias_scale, zero=True)
        if self.weighting not in ("inverse", "water_filling"):
            raise ValueError(f"weighting must be 'inverse' or 'water_filling', got {self.weighting!r}")

    def samples_a_step(self, iteration: int) -> int:
        """Samples of an iteration: ``m_k``, and at the first also those of the first control."""
        return self.side_samples(iteration) + (self.first_control_samples if iteration == 0 else 0)  # type: ignore[operator]

    def iterate(self, run: Run) -> Plan:
        """Run the method."""
        step, radius, sides = self.step, self.radius, self.side_samples
        assert callable(step) and callable(radius) and callable(sides)
        first = run.allot(self.first_control_samples, sides(0))
        if first is None:
            return
        (seen,) = yield (Deployment(run.x, first[0]),)
        control = run.oracle.mean_loss(run.x, seen, first[0])
        stored: deque[_Stored] = deque(maxlen=self.window)
        while True:
            k = run.iteration
            counts = run.allot(sides(k))
            if counts is None:
                return
            mu, beta = radius(k), step(k)
            plus, _, direction = run.sides(mu, run.normal.standard_normal(run.x.shape))
            (seen,) = yield (Deployment(plus, counts[0]),)
            loss = run.oracle.mean_loss(plus, seen, counts[0])
            stored.append(_Stored(plus, seen, counts[0]))
            taken = Step(1.0, mu, counts[0], beta, loss, (loss - control) / mu, direction, None, None)
            run.move(taken)
            control = self._control(run, stored)

    def _control(self, run: Run, stored: deque[_Stored]) -> Any:
        """Weighted mean of the stored samples' losses at the current decision."""
        losses = np.stack([run.oracle.mean_loss(run.x, s.samples, s.size) for s in stored], axis=-1)
        distance2 = np.stack([np.vecdot(run.x - s.decision, run.x - s.decision) for s in stored], axis=-1)
        variances = np.array([1.0 / s.size for s in stored])
        biases = self.bias_scale * distance2
        if self.weighting == "inverse":
            weights = inverse_weights(biases + variances)
        else:
            rows = [water_filling_weights(b, variances) for b in biases.reshape(-1, len(stored))]
            weights = np.array(rows).reshape(biases.shape)
        return np.vecdot(losses, weights)
