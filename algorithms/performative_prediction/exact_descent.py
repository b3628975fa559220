"""Reference points for families with exact formulas: descent on the true gradient, minimisers, stable points."""

import math
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from whp.theory.performative_prediction.validation import finite_number, positive_integer

from .projections import DecisionSet

__all__ = ["ExactResult", "exact_minimiser", "gradient_descent", "repeated_retraining"]

Array = NDArray[np.float64]


class ExactProblem(Protocol):
    """A family whose objective and gradients are known in closed form."""

    @property
    def dimension(self) -> int:
        """Dimension of the decision."""
        ...

    def objective(self, x: Array) -> Array:
        """Objective ``F``."""
        ...

    def gradient(self, x: Array) -> Array:
        """Gradient of ``F``."""
        ...

    def known_gradient(self, x: Array) -> Array:
        """Mean known-function gradient."""
        ...


@dataclass(frozen=True, eq=False)
class ExactResult:
    """Outcome of a deterministic iteration.

    Attributes
    ----------
    decision : numpy.ndarray, shape (d,)
        Last decision.
    residual : float
        Length of the last gradient step divided by the step size.
    iterations : int
        Iterations made.
    status : {"converged", "iterations", "diverged"}
        Why it ended.
    stable_step_limit : float
        After divergence: ``2 / L`` with the largest curvature met; else infinite.
    """

    decision: Array
    residual: float
    iterations: int
    status: Literal["converged", "iterations", "diverged"]
    stable_step_limit: float


def gradient_descent(
    problem: ExactProblem,
    start: ArrayLike,
    step: float,
    iterations: int = 10_000,
    tolerance: float = 1e-10,
    decision_set: DecisionSet | None = None,
) -> ExactResult:
    """Descent on the true gradient of ``F``: leads to a stationary point.

    Parameters
    ----------
    problem : ExactProblem
        Family with exact gradient.
    start : array_like, shape (d,)
        First decision.
    step : float
        Positive step size.
    iterations : int, optional
        Most iterations.
    tolerance : float, optional
        Stop when the gradient (mapping) is no longer than this.
    decision_set : DecisionSet, optional
        Projected onto after every step.

    Returns
    -------
    ExactResult

    Raises
    ------
    ValueError
        If an argument is malformed.

    Examples
    --------
    >>> from whp.theory.performative_prediction import LocationQuadratic
    >>> problem = LocationQuadratic([[0.5]], [0.0], 1.0, linear=[1.0])
    >>> gradient_descent(problem, [0.0], step=4.0).decision
    array([-4.])
    """
    if not callable(getattr(problem, "gradient", None)):
        raise TypeError(f"problem must have a method gradient(x), got {type(problem).__name__}")
    return _iterate(problem.gradient, problem.dimension, start, step, iterations, tolerance, decision_set)


def repeated_retraining(
    problem: ExactProblem,
    start: ArrayLike,
    step: float,
    iterations: int = 10_000,
    tolerance: float = 1e-10,
    decision_set: DecisionSet | None = None,
) -> ExactResult:
    """Repeated gradient steps on the data that the last decision produced: leads to a performatively stable point.

    That point is in general not stationary for ``F``; the same-sample two-point estimator ends there too.

    Parameters
    ----------
    problem, start, step, iterations, tolerance, decision_set
        As in `gradient_descent`.

    Returns
    -------
    ExactResult

    Raises
    ------
    ValueError
        If an argument is malformed.

    References
    ----------
    .. [1] Perdomo, Zrnic, Mendler-Duenner, Hardt: Performative prediction, ICML 2020.

    Examples
    --------
    >>> from whp.theory.performative_prediction import LocationQuadratic
    >>> problem = LocationQuadratic([[0.5]], [0.0], 1.0, linear=[1.0])
    >>> repeated_retraining(problem, [0.0], step=2.0).decision
    array([-2.])
    """
    if not callable(getattr(problem, "known_gradient", None)):
        raise TypeError(f"problem must have a method known_gradient(x), got {type(problem).__name__}")
    return _iterate(problem.known_gradient, problem.dimension, start, step, iterations, tolerance, decision_set)


def _iterate(
    field: Any,
    dimension: int,
    start: ArrayLike,
    step: float,
    iterations: int,
    tolerance: float,
    decision_set: DecisionSet | None,
) -> ExactResult:
    """Follow a vector field with a constant step."""
    if decision_set is not None and not callable(getattr(decision_set, "project", None)):
        raise TypeError(f"decision_set must have a method project(x), got {type(decision_set).__name__}")
    x = np.array(start, dtype=np.float64)
    if x.shape != (dimension,) or not np.isfinite(x).all():
        raise ValueError(f"start must be finite and of shape ({dimension},), got shape {x.shape}")
    if not (math.isfinite(step) and step > 0.0):
        raise ValueError(f"step must be positive and finite, got {step}")
    positive_integer("iterations", iterations)
    finite_number("tolerance", tolerance, at_least=0.0)
    if not float(np.abs(x).max()) < 1e150:
        raise ValueError(f"start must be below 1e150 in size, got {float(np.abs(x).max())}")
    far = 1e10 * (1.0 + float(np.abs(x).max()))
    curvature, slope = 0.0, field(x)
    residual = math.inf
    for k in range(iterations):
        target = x - step * slope
        target = target if decision_set is None else decision_set.project(target)
        moved = target - x
        length = float(np.linalg.norm(moved))
        residual = _gradient_mapping(x, slope, step, decision_set)
        if residual <= tolerance:
            return ExactResult(x, residual, k, "converged", math.inf)
        next_slope = field(target)
        curvature = max(curvature, float(moved @ (next_slope - slope)) / length**2 if length > 0 else 0.0)
        x, slope = target, next_slope
        if not float(np.abs(x).max()) <= far:
            return ExactResult(x, residual, k + 1, "diverged", 2.0 / curvature if curvature > 0 else math.inf)
    return ExactResult(x, residual, iterations, "iterations", math.inf)


def _gradient_mapping(x: Array, slope: Array, step: float, decision_set: DecisionSet | None) -> float:
    """Length of ``(x - project(x - s slope)) / s``, with ``s`` large enough for the difference not to be rounding."""
    length = float(np.linalg.norm(slope))
    if decision_set is None or length == 0.0:
        return length
    probe = max(step, 1e-6 * (1.0 + float(np.abs(x).max())) / length)
    return float(np.linalg.norm(x - decision_set.project(x - probe * slope))) / probe


def exact_minimiser(problem: ExactProblem, starts: ArrayLike, tolerance: float = 1e-8) -> Array:
    """Best local minimiser of ``F`` that BFGS finds from several starts.

    Parameters
    ----------
    problem : ExactProblem
        Family with exact objective and gradient.
    starts : array_like, shape (s, d)
        Starting decisions.
    tolerance : float, optional
        Gradient tolerance of BFGS.

    Returns
    -------
    numpy.ndarray, shape (d,)

    Raises
    ------
    ValueError
        If the starts are malformed.

    Examples
    --------
    >>> from whp.theory.performative_prediction import LinearNoise
    >>> exact_minimiser(LinearNoise([[2.0]], [1.0], [[1.0]], 0.0), [[3.0]]).round(6)
    array([-0.5])
    """
    from scipy import optimize

    minimize: Any = optimize.minimize

    points = np.atleast_2d(np.asarray(starts, dtype=np.float64))
    if points.shape[-1] != problem.dimension or points.ndim != 2 or not np.isfinite(points).all():
        raise ValueError(f"starts must be finite and of shape (s, {problem.dimension}), got {points.shape}")
    best: tuple[float, Array] = (math.inf, points[0])
    for point in points:
        found = minimize(
            lambda x: float(problem.objective(x)),
            point,
            jac=problem.gradient,
            method="BFGS",
            options={"gtol": tolerance},
        )
        if found.fun < best[0]:
            best = (float(found.fun), np.asarray(found.x))
    return best[1]
