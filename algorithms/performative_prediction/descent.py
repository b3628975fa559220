"""Running a zeroth-order method: sample accounting, projection, record and result.

A method is a generator that asks for samples at decisions and receives them, so the same code serves `minimise`, which
calls the user's sampler, and `AskTell`, where the samples come from outside (a deployment that takes a day, say).
"""

import itertools
import math
import sys
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .budget import Budget
from .oracle import DecisionOracle, refuse_shared_samples
from .projections import DecisionSet

__all__ = [
    "Budget",
    "Deployment",
    "DescentResult",
    "DescentTrace",
    "Method",
    "Plan",
    "Run",
    "Step",
    "best_observed",
    "minimise",
]

Array = NDArray[np.float64]


class Deployment(NamedTuple):
    """Samples wanted at one decision (with replicates: at one decision a replicate)."""

    decision: Array
    samples: int


Plan: TypeAlias = Generator[tuple[Deployment, ...], tuple[Any, ...], None]


class Step(NamedTuple):
    """What one iteration used and saw; losses, slopes and products have one entry a replicate.

    Every estimate here is ``slope * direction``.
    """

    share: float
    radius: float
    batch: float
    step: float
    loss: Any
    slope: Any
    direction: Array
    guide: Array | None
    along: Any


class Run:
    """State of one run, shared between a method and its driver.

    Parameters
    ----------
    oracle : DecisionOracle
        The problem.
    start : array_like, shape (d,) or (R, d)
        First decision.
    budget : Budget
        Sample budget.
    rng : numpy.random.Generator
        Source of randomness; it is split into independent streams for directions and samples, so that two methods
        started with equal generators use equal directions.
    decision_set : DecisionSet, optional
        Projected onto after every step.
    deploy : {"free", "feasible"}
        Whether perturbed decisions ``x +- mu u`` may leave the set, or are projected as well.
    divergence_radius : float
        A run that moves farther than this times ``1 + |start|`` has diverged.
    keep_decisions : bool
        Whether the trace keeps every decision and guide.

    Raises
    ------
    TypeError, ValueError
        If an argument is malformed.
    """

    def __init__(
        self,
        oracle: DecisionOracle,
        start: ArrayLike,
        budget: Budget,
        rng: np.random.Generator,
        decision_set: DecisionSet | None = None,
        deploy: Literal["free", "feasible"] = "free",
        divergence_radius: float = 1e10,
        keep_decisions: bool = True,
    ) -> None:
        if not isinstance(rng, np.random.Generator):
            raise TypeError(f"rng must be a numpy.random.Generator, got {type(rng).__name__}")
        if deploy not in ("free", "feasible"):
            raise ValueError(f"deploy must be 'free' or 'feasible', got {deploy!r}")
        if isinstance(divergence_radius, bool) or not isinstance(
            divergence_radius, (int, float, np.integer, np.floating)
        ):
            raise TypeError(f"divergence_radius must be a number, got {divergence_radius!r}")
        if not divergence_radius > 0.0:
            raise ValueError(f"divergence_radius must be positive, got {divergence_radius}")
        if decision_set is not None and not callable(getattr(decision_set, "project", None)):
            raise TypeError(f"decision_set must have a method project(x), got {type(decision_set).__name__}")
        self.oracle = oracle
        self.budget = budget
        self.decision_set = decision_set
        self.deploy_inside = deploy == "feasible" and decision_set is not None
        self.x = self._first_decision(start)
        self.normal, self.along, self.sampling = rng.spawn(3)
        self.spent = 0
        self.iteration = 0
        self.diverged = False
        self.keep_decisions = keep_decisions
        self.decisions = [self.x]
        self.steps: list[Step] = []
        self.samples: list[int] = []
        far = float(divergence_radius) * (1.0 + float(np.abs(self.x).max()))
        if not float(np.abs(self.x).max()) < 1e150:
            raise ValueError(f"start must be below 1e150 in size, got {float(np.abs(self.x).max())}")
        self._far = min(far * far, sys.float_info.max)  # an infinite square is far whatever the radius

    def _first_decision(self, start: ArrayLike) -> Array:
        """Check the start and give every replicate its copy."""
        x = np.array(start, dtype=np.float64)
        shape = (*self.oracle.batch, self.oracle.dimension)
        if x.shape not in (shape, (self.oracle.dimension,)):
            raise ValueError(f"start must have shape ({self.oracle.dimension},) or {shape}, got {x.shape}")
        if not np.isfinite(x).all():
            raise ValueError(f"start must be finite, got {x[~np.isfinite(x)][0]} among its entries")
        x = np.array(np.broadcast_to(x, shape))
        return _sealed(x if self.decision_set is None else self._project(x))

    def _project(self, x: Array) -> Array:
        assert self.decision_set is not None
        inside = np.array(self.decision_set.project(x), dtype=np.float64)
        if inside.shape != x.shape:
            raise ValueError(f"decision_set.project must keep the shape {x.shape}, got {inside.shape}")
        if not math.isfinite(np.vdot(inside, inside)) and not np.isfinite(inside).all():
            raise ValueError(f"decision_set.project must return finite numbers, got {inside[~np.isfinite(inside)][0]}")
        return inside

    def allot(self, *wanted: int) -> tuple[int, ...] | None:
        """Samples for the next step, or ``None`` at the end of the run."""
        if self.diverged or (self.budget.iterations is not None and self.iteration >= self.budget.iterations):
            return None
        return self.budget.allot(wanted, self.spent)

    def sides(self, radius: float, direction: Array) -> tuple[Array, Array, Array]:
        """Decisions ``x + mu u`` and ``x - mu u``, and the direction really used when they are projected."""
        shift = radius * direction
        plus, minus = self.x + shift, self.x - shift
        if self.deploy_inside:
            plus, minus = self._project(plus), self._project(minus)
            direction = (plus - minus) / (2.0 * radius)
        plus.setflags(write=False)  # a sampler must not move what it is asked about
        minus.setflags(write=False)
        return plus, minus, direction

    def move(self, step: Step) -> None:
        """Take ``x <- project(x - beta g)`` with the estimate ``g = slope u``, and record the iteration."""
        length = step.step * step.slope
        x = self.x - (length * step.direction if self.x.ndim == 1 else length[..., None] * step.direction)
        square = x.dot(x) if x.ndim == 1 else np.vecdot(x, x).max()
        if not square <= self._far:  # true for nan as well
            self.diverged = True
            x = np.where(np.isfinite(x).all(axis=-1, keepdims=True), x, self.x)  # no step beyond the range of floats
        if self.decision_set is not None:
            x = self._project(x)
            self.diverged = bool(self.diverged and np.vecdot(x, x).max() > self._far)
        x.setflags(write=False)
        self.x = x
        self.iteration += 1
        self.steps.append(step)
        self.samples.append(self.spent)
        if self.keep_decisions:
            self.decisions.append(x)

    def result(self) -> "DescentResult":
        """Everything known about the run."""
        status: Literal["budget", "iterations", "diverged"] = "budget"
        if self.diverged:
            status = "diverged"
        elif self.budget.iterations is not None and self.iteration >= self.budget.iterations:
            status = "iterations"
        limit = _stable_step_limit(self.steps) if self.diverged else math.inf
        return DescentResult(self.x, status, self.iteration, self.spent, DescentTrace.of(self), limit)


@dataclass(frozen=True, eq=False)
class DescentTrace:
    """Record of a run of ``K`` iterations; arrays carry an axis of replicates after the first when there is one.

    Attributes
    ----------
    decisions : numpy.ndarray, shape (K + 1, ..., d)
        Every decision from the start to the end (only these two without ``keep_decisions``).
    samples : numpy.ndarray, shape (K,)
        Samples drawn until the end of each iteration.
    shares, radii, batches, steps : numpy.ndarray, shape (K,)
        Isotropic share, smoothing radius, samples a side (harmonic mean of the sides) and step size.
    losses, slopes : numpy.ndarray, shape (K, ...)
        Mean observed loss and observed directional slope.
    along : numpy.ndarray, shape (K, ...), or None
        Products ``u'v`` of directions and mean known-function gradients, for `explained_share`; ``None`` like
        ``guides``.
    guides : numpy.ndarray, shape (K, ..., d), or None
        Guides used; ``None`` for unguided methods or without ``keep_decisions``.
    """

    decisions: Array
    samples: NDArray[np.int64]
    shares: Array
    radii: Array
    batches: Array
    steps: Array
    losses: Array
    slopes: Array
    along: Array | None = None
    guides: Array | None = None

    @staticmethod
    def of(run: Run) -> "DescentTrace":
        """Collect the record of a run."""
        steps = run.steps
        guided = run.keep_decisions and bool(steps) and all(s.guide is not None for s in steps)
        guides = _stacked([s.guide for s in steps if s.guide is not None]) if guided else None
        return DescentTrace(
            decisions=_stacked(run.decisions if run.keep_decisions else [run.decisions[0], run.x]),
            samples=np.array(run.samples, dtype=np.int64),
            shares=np.array([s.share for s in steps]),
            radii=np.array([s.radius for s in steps]),
            batches=np.array([s.batch for s in steps]),
            steps=np.array([s.step for s in steps]),
            losses=np.array([s.loss for s in steps]),
            slopes=np.array([s.slope for s in steps]),
            along=None if guides is None else np.array([s.along for s in steps]),
            guides=guides,
        )


def _sealed(x: Array) -> Array:
    """Make a decision read-only, so that a sampler or a loss cannot move it."""
    x.flags.writeable = False
    return x


def _stacked(arrays: list[Array]) -> Array:
    """Stack arrays of one shape along a new first axis; much cheaper than ``numpy.stack`` for thousands of them."""
    return np.concatenate(arrays, axis=None).reshape(len(arrays), *arrays[0].shape)


@dataclass(frozen=True, eq=False)
class DescentResult:
    """Outcome of a run.

    Attributes
    ----------
    decision : numpy.ndarray, shape (d,) or (R, d)
        Last decision.
    status : {"budget", "iterations", "diverged"}
        Why the run ended.
    iterations, samples : int
        Iterations made and samples drawn (a replicate).
    trace : DescentTrace
        Record of the run.
    stable_step_limit : float
        After divergence: ``2 / L`` with the largest curvature ``L`` met along the steps; gradient descent with a larger
        step diverges, and zeroth-order steps have to be smaller still (``1 / (12 L)`` is always enough). Else infinite.
    """

    decision: Array
    status: Literal["budget", "iterations", "diverged"]
    iterations: int
    samples: int
    trace: DescentTrace
    stable_step_limit: float

    @property
    def best_decision(self) -> Array:
        """The recorded decision with the smallest observed loss (needs ``keep_decisions``)."""
        if len(self.trace.decisions) != self.iterations + 1:
            raise ValueError("best_decision needs the decisions: run with keep_decisions=True")
        return best_observed(self.trace.decisions[:-1], self.trace.losses)


def best_observed(decisions: ArrayLike, losses: ArrayLike) -> Array:
    """Decision with the smallest observed loss, whatever the scale of the losses; the first one among ties.

    Parameters
    ----------
    decisions : array_like, shape (K, ..., d)
        Decisions.
    losses : array_like, shape (K, ...)
        Their observed losses.

    Returns
    -------
    numpy.ndarray, shape (..., d)

    Raises
    ------
    ValueError
        If there is nothing to choose from, the shapes differ, or a loss is nan.

    Examples
    --------
    >>> best_observed([[1.0], [2.0], [3.0]], [5e-18, 3e-18, 4e-18])
    array([2.])
    """
    points, values = np.asarray(decisions, dtype=np.float64), np.asarray(losses, dtype=np.float64)
    if values.size == 0:
        raise ValueError("losses must not be empty")
    if points.shape[:-1] != values.shape:
        raise ValueError(f"decisions must have one row a loss, got shapes {points.shape} and {values.shape}")
    if np.isnan(values).any():
        raise ValueError("losses must not contain nan")
    winner = np.argmin(values, axis=0)
    return np.asarray(np.take_along_axis(points, winner[None, ..., None], axis=0)[0])


def _stable_step_limit(steps: list[Step]) -> float:
    """``2 / L`` for the largest curvature ``L`` along the last steps.

    On a quadratic ``F(x_{k+1}) - F(x_k) + beta slope^2 = beta^2 slope^2 |u|^2 L / 2``.
    """
    curvature = 0.0
    for before, after in itertools.pairwise(steps[-21:]):
        slope2 = np.square(before.slope)
        length2 = np.vecdot(before.direction, before.direction)
        rise = np.asarray(after.loss) - np.asarray(before.loss) + before.step * slope2
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            estimate = 2.0 * rise / (before.step**2 * slope2 * length2)
        finite = estimate[np.isfinite(estimate)]
        if finite.size:
            curvature = max(curvature, float(finite.max()))
    return 2.0 / curvature if curvature > 0.0 else math.inf


class Method(Protocol):
    """A zeroth-order method: it asks for samples and moves the decision of a `Run`."""

    def iterate(self, run: Run) -> Plan:
        """Generator that yields deployments, receives their samples, and returns at the end of the run."""
        ...


def check_method(method: object) -> None:
    """Refuse what is no zeroth-order method.

    Raises
    ------
    TypeError
        If there is no ``iterate``.
    """
    if isinstance(method, type) or not callable(getattr(method, "iterate", None)):
        raise TypeError(f"method must have a method iterate(run), for example GuidedNewSamples(...), got {method!r}")


def minimise(
    oracle: DecisionOracle,
    start: ArrayLike,
    method: Method,
    budget: Budget | int,
    rng: np.random.Generator,
    decision_set: DecisionSet | None = None,
    deploy: Literal["free", "feasible"] = "free",
    divergence_radius: float = 1e10,
    keep_decisions: bool = True,
) -> DescentResult:
    """Minimise ``F(x) = E f(x, xi)``, ``xi ~ D(x)``, from samples alone.

    Parameters
    ----------
    oracle : DecisionOracle
        Loss, sampler and (for guided methods) partial gradient of the loss.
    start : array_like, shape (d,) or (R, d)
        First decision.
    method : Method
        For example `GuidedNewSamples`.
    budget : Budget or int
        Samples (a replicate); an integer means the exact rule.
    rng : numpy.random.Generator
        Source of all randomness.
    decision_set : DecisionSet, optional
        Decisions are projected onto it after every step. The convergence theorem does not cover constraints.
    deploy : {"free", "feasible"}, optional
        ``"feasible"`` also projects the perturbed decisions, for samplers that fail outside the set.
    divergence_radius : float, optional
        A run farther than this times ``1 + max|start|`` from the origin is stopped as diverged.
    keep_decisions : bool, optional
        Keep every decision and guide in the trace.

    Returns
    -------
    DescentResult

    Raises
    ------
    TypeError, ValueError
        If an argument is malformed, the budget does not pay one step, or the oracle misbehaves (`OracleError`).

    Examples
    --------
    >>> from whp.theory.performative_prediction import LinearNoise
    >>> from whp.algorithms.performative_prediction import GuidedNewSamples, oracle_for
    >>> problem = LinearNoise([[1.0]], [1.0], [[0.5]], noise=0.1)
    >>> method = GuidedNewSamples(step=0.2, radius=0.1, side_samples=20)
    >>> result = minimise(oracle_for(problem), [1.0], method, 6000, np.random.default_rng(0))
    >>> result.samples, bool(abs(result.decision[0] + 0.5) < 0.1)
    (6000, True)
    """
    if not isinstance(oracle, DecisionOracle):
        raise TypeError(f"oracle must be a DecisionOracle, got {type(oracle).__name__}")
    limit = budget if isinstance(budget, Budget) else Budget(budget)
    check_method(method)
    run = Run(oracle, start, limit, rng, decision_set, deploy, divergence_radius, keep_decisions)
    plan = method.iterate(run)
    draw, sampling, inspected = oracle.draw, run.sampling, False
    try:
        request = next(plan)
        while True:
            samples = tuple([draw(x, count, sampling) for x, count in request])
            if not inspected and len(samples) == 2:
                refuse_shared_samples(samples)
                inspected = True
            for _, count in request:
                run.spent += count
            request = plan.send(samples)
    except StopIteration:
        pass
    if run.iteration == 0:
        raise ValueError(f"the budget of {limit.samples} samples does not pay one step of {type(method).__name__}")
    return run.result()
