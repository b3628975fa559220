"""From constants to schedules, and from a finished run to the stationarity it is guaranteed to have."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whp.theory.performative_prediction import largest_eigenvalue

from .descent import DescentResult
from .schedules import ApproachOne, Constant, Schedule, as_schedule

__all__ = ["AccuracyPlan", "StationarityCertificate", "balanced_radius", "certify", "draw_output", "plan_for_accuracy"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class StationarityCertificate:
    """What the convergence theorem guarantees for a run, in expectation over its randomness.

    Attributes
    ----------
    explored : float
        Bound on the ``beta``-weighted mean of ``E grad'Sigma_k grad``.
    squared_gradient : float
        Bound on ``E |grad F(x_hat)|^2`` for ``x_hat`` drawn by `draw_output`; infinite when every share is zero.
    start_part, smoothing_part, noise_part : float
        The three summands of ``explored``.
    """

    explored: float
    squared_gradient: float
    start_part: float
    smoothing_part: float
    noise_part: float


def certify(result: DescentResult, smoothness: float, variance: float, initial_gap: float) -> StationarityCertificate:
    """Evaluate the sharp convergence bound on what a guided run actually used.

    Parameters
    ----------
    result : DescentResult
        Unconstrained run of a guided method (one replicate or many: the bound is about the expectation).
    smoothness : float
        ``H`` of A4.
    variance : float
        ``sigma^2`` of A1.
    initial_gap : float
        ``F(x_0) - F*``, or an upper bound.

    Returns
    -------
    StationarityCertificate

    Raises
    ------
    ValueError
        If a constant is out of range, the method was unguided, or a step exceeds ``1 / (12 H)``.

    Examples
    --------
    >>> from whp.theory.performative_prediction import LinearNoise
    >>> from whp.algorithms.performative_prediction import GuidedNewSamples, minimise, oracle_for
    >>> problem = LinearNoise([[1.0]], [1.0], [[0.5]], noise=0.1)
    >>> run = minimise(oracle_for(problem), [1.0], GuidedNewSamples(1 / 12, 0.1, 20), 6000, np.random.default_rng(0))
    >>> bound = certify(run, 1.0, problem.variance_bound, float(problem.objective([1.0])) - problem.minimum())
    >>> bool(bound.explored < 0.6)
    True
    """
    for name, value in (("smoothness", smoothness), ("variance", variance), ("initial_gap", initial_gap)):
        if not (math.isfinite(value) and value >= 0.0):
            raise ValueError(f"{name} must be finite and at least 0, got {value}")
    trace = result.trace
    if trace.guides is None:
        raise ValueError("the certificate is about guided methods whose guides were kept, got a run without guides")
    if float(trace.steps.max()) * 12.0 * smoothness > 1.0 + 1e-12:
        raise ValueError(f"steps must be at most 1/(12 H)={1 / (12 * smoothness):g}, got {trace.steps.max():g}")
    beta, mu2 = trace.steps, trace.radii**2
    weight = float(beta.sum())
    # a replicate without a guide uses trace-one or smaller isotropic directions, whose eigenvalue is smaller still
    eigenvalue = largest_eigenvalue(trace.shares, result.decision.shape[-1])
    start = 4.0 * initial_gap / weight
    smoothing = float((beta * (2.0 * eigenvalue * smoothness**2 + 15.0 * smoothness**3 * beta) * mu2).sum()) / weight
    noise = float((beta**2 * smoothness * variance / (mu2 * trace.batches)).sum()) / weight
    explored = start + smoothing + noise
    share = float((beta * trace.shares).sum()) / weight
    gradient = explored * result.decision.shape[-1] / share if share > 0.0 else math.inf
    return StationarityCertificate(explored, gradient, start, smoothing, noise)


def draw_output(result: DescentResult, rng: np.random.Generator) -> Array:
    """Draw the decision that the theorem speaks about: ``x_k`` with probability proportional to ``alpha_k beta_k``.

    Parameters
    ----------
    result : DescentResult
        Run of a guided method, with its decisions.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    numpy.ndarray, shape (d,) or (R, d)

    Raises
    ------
    ValueError
        If every share is zero or the decisions were not kept.
    """
    weights = result.trace.shares * result.trace.steps
    if not weights.sum() > 0.0:
        raise ValueError("no output can be drawn: every isotropic share is 0")
    if len(result.trace.decisions) != len(weights) + 1:
        raise ValueError("draw_output needs the decisions: run with keep_decisions=True")
    batch = result.decision.shape[:-1]
    index = rng.choice(weights.size, size=batch, p=weights / weights.sum())
    return np.asarray(result.trace.decisions[index, *map(np.arange, batch)])


def balanced_radius(step: float, smoothness: float, variance: float, batch: int) -> float:
    """Radius that balances bias and noise in the convergence bound: ``mu^4 = beta sigma^2 / (3.25 H m)``.

    Parameters
    ----------
    step : float
        ``beta > 0``.
    smoothness : float
        ``H > 0``.
    variance : float
        ``sigma^2 > 0``.
    batch : int
        ``m``.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If an argument is not positive (without noise the best radius is as small as rounding allows).

    Examples
    --------
    >>> round(balanced_radius(3.25, 1.0, 16.0, 1), 12)
    2.0
    """
    for name, value in (("step", step), ("smoothness", smoothness), ("variance", variance), ("batch", batch)):
        if not (math.isfinite(value) and value > 0.0):
            raise ValueError(f"{name} must be positive and finite, got {value}")
    return float((step * variance / (3.25 * smoothness * batch)) ** 0.25)


@dataclass(frozen=True)
class AccuracyPlan:
    """Constant schedules under which the theorem guarantees ``E |grad F(x_hat)|^2 <= epsilon^2``.

    Attributes
    ----------
    step, radius : float
        ``beta`` and ``mu``.
    batch, iterations : int
        ``m`` and ``T + 1``.
    isotropic_share : callable
        ``alpha_k``.
    samples : int
        ``2 m (T + 1)``, without samples for guides.
    """

    step: float
    radius: float
    batch: int
    iterations: int
    isotropic_share: Schedule
    samples: int


def plan_for_accuracy(
    epsilon: float,
    dimension: int,
    smoothness: float,
    variance: float,
    initial_gap: float,
    isotropic_share: float | Schedule | None = None,
    small_step: bool = True,
) -> AccuracyPlan:
    """Schedules with explicit constants for a wanted accuracy.

    With ``small_step`` the step is ``1 / (12 d H)`` and the total is of order ``d^2 / epsilon^6``; without it the step
    is ``1 / (12 H)`` and the order is ``d^3 / epsilon^6``. Each of the three parts of the bound gets a third of
    ``epsilon^2``.

    Parameters
    ----------
    epsilon : float
        Wanted root mean square gradient, positive.
    dimension : int
        ``d``.
    smoothness : float
        ``H > 0``.
    variance : float
        ``sigma^2 >= 0``.
    initial_gap : float
        ``F(x_0) - F* >= 0``, or an upper bound.
    isotropic_share : float or callable, optional
        ``alpha_k``; by default ``1 - 0.98^k``.
    small_step : bool, optional
        Which of the two step sizes.

    Returns
    -------
    AccuracyPlan

    Raises
    ------
    ValueError
        If an argument is out of range.

    Examples
    --------
    >>> plan = plan_for_accuracy(0.5, dimension=4, smoothness=1.0, variance=1.0, initial_gap=1.0)
    >>> plan.iterations * plan.batch * 2 == plan.samples
    True
    """
    for name, value, least in (
        ("epsilon", epsilon, 0.0),
        ("smoothness", smoothness, 0.0),
        ("dimension", dimension, 0.5),
        ("variance", variance, -1e-300),
        ("initial_gap", initial_gap, -1e-300),
    ):
        if not (math.isfinite(value) and value > least):
            raise ValueError(f"{name} must be {'at least 0' if least < 0 else 'positive'} and finite, got {value}")
    shares: Schedule = ApproachOne()
    if isotropic_share is not None:
        shares = as_schedule("isotropic_share", isotropic_share, 1.0, zero=callable(isotropic_share))
    d, third = dimension, epsilon**2 / 3.0
    if not (1e-50 < epsilon < 1e50 and 1e-50 < smoothness < 1e50 and variance < 1e50 and initial_gap < 1e50):
        raise ValueError(
            "epsilon, smoothness, variance and initial_gap must lie between 1e-50 and 1e50 for a plan, got "
            f"{epsilon}, {smoothness}, {variance} and {initial_gap}"
        )
    step = 1.0 / (12.0 * smoothness * (d if small_step else 1))
    # the start part, d / mean share * 4 gap / (step T) <= epsilon^2 / 3: the shares sum to 4 d gap / (step third)
    iterations, total = _iterations_for(shares, 4.0 * d * initial_gap / (step * third))
    share = total / iterations
    eigenvalue = 1.0 - share + share / d
    room = third * share / d
    radius = math.sqrt(room / (2.0 * eigenvalue * smoothness**2 + 15.0 * smoothness**3 * step))
    batch = max(1, math.ceil(smoothness * step * variance / (radius**2 * room)))
    return AccuracyPlan(step, radius, batch, iterations, shares, 2 * batch * iterations)


def _iterations_for(shares: Schedule, wanted: float) -> tuple[int, float]:
    """Smallest number of iterations whose shares sum to at least ``wanted`` (and to something positive)."""
    total, count = 0.0, 0
    while total < wanted or total <= 0.0:
        share = shares(count)
        if not 0.0 <= share <= 1.0:
            raise ValueError(f"isotropic_share must stay in [0, 1], got {share} at iteration {count}")
        total += share
        count += 1
        if _steady(shares, share) or count == 10_000_000:
            if share <= 0.0:
                raise ValueError("isotropic_share sums to too little: no number of iterations is enough")
            rest = max(0, math.ceil((wanted - total) / share))
            return count + rest, total + rest * share
    return count, total


def _steady(shares: Schedule, share: float) -> bool:
    """Whether a schedule has stopped changing."""
    shares = getattr(shares, "function", shares)  # the schedule behind the check of its values
    if isinstance(shares, ApproachOne):
        return shares.ratio == 1.0 or share > 1.0 - 1e-9
    return isinstance(shares, Constant)
