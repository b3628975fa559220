"""Sets of allowed decisions and the projection onto each, for one decision or for a stack of them."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["Ball", "Box", "ConvexSet", "DecisionSet", "Simplex"]

Array = NDArray[np.float64]


def _finite_decision(x: ArrayLike) -> Array:
    decision = np.asarray(x, dtype=np.float64)
    if decision.ndim == 0 or decision.shape[-1] == 0 or not np.isfinite(decision).all():
        raise ValueError(f"x must be a finite decision with at least one entry, got {x!r}")
    return decision


class DecisionSet(Protocol):
    """A closed convex set of decisions."""

    def project(self, x: Array) -> Array:
        """Nearest point of the set; shapes ``(..., d) -> (..., d)``."""
        ...


@dataclass(frozen=True, eq=False)
class Box:
    """``lower <= x <= upper``, coordinate by coordinate; infinite ends are allowed.

    Parameters
    ----------
    lower, upper : array_like, shape () or (d,)
        Ends.

    Raises
    ------
    ValueError
        If an end is nan or ``lower > upper`` somewhere.

    Examples
    --------
    >>> Box(0.0, 1.0).project(np.array([-1.0, 0.5, 3.0]))
    array([0. , 0.5, 1. ])
    """

    lower: ArrayLike = -np.inf
    upper: ArrayLike = np.inf
    _ends: tuple[Array, Array] = field(init=False, repr=False, default=(np.zeros(0), np.zeros(0)))

    def __post_init__(self) -> None:
        """Check the ends."""
        low, high = np.asarray(self.lower, dtype=np.float64), np.asarray(self.upper, dtype=np.float64)
        if np.isnan(low).any() or np.isnan(high).any():
            raise ValueError("the ends of a box must not be nan")
        if np.any(low > high):
            raise ValueError(f"lower must not exceed upper, got lower {low} and upper {high}")
        object.__setattr__(self, "_ends", (low, high))

    def project(self, x: Array) -> Array:
        """Nearest point of the box; shapes ``(..., d) -> (..., d)``."""
        low, high = self._ends
        if np.isnan(x).any():
            raise ValueError("x must not hold nan")
        return np.minimum(np.maximum(x, low), high)


@dataclass(frozen=True, eq=False)
class Ball:
    """Euclidean ball.

    Parameters
    ----------
    radius : float
        Positive radius.
    centre : array_like, shape () or (d,), optional
        Centre, the origin by default.

    Raises
    ------
    ValueError
        If the radius is not positive or something is not finite.

    Examples
    --------
    >>> Ball(1.0).project(np.array([3.0, 4.0]))
    array([0.6, 0.8])
    """

    radius: float
    centre: ArrayLike = 0.0

    def __post_init__(self) -> None:
        """Check the radius."""
        if not (np.isfinite(self.radius) and self.radius > 0.0):
            raise ValueError(f"radius must be positive and finite, got {self.radius}")
        if not np.isfinite(np.asarray(self.centre, dtype=np.float64)).all():
            raise ValueError("centre must be finite")

    def project(self, x: Array) -> Array:
        """Nearest point of the ball; shapes ``(..., d) -> (..., d)``."""
        centre = np.asarray(self.centre, dtype=np.float64)
        offset = _finite_decision(x) - centre
        top = np.abs(offset).max(axis=-1, keepdims=True)
        scale = np.where(top > 0.0, top, 1.0)  # against overflow of the square
        norm = scale * np.sqrt(np.square(offset / scale).sum(axis=-1, keepdims=True))
        return np.asarray(
            np.where(norm > self.radius, centre + offset * (self.radius / np.maximum(norm, self.radius)), x)
        )


@dataclass(frozen=True)
class Simplex:
    """``x >= 0`` with ``sum x = total``.

    Parameters
    ----------
    total : float, optional
        Positive sum.

    Raises
    ------
    ValueError
        If the sum is not positive and finite.

    Examples
    --------
    >>> Simplex().project(np.array([0.5, 0.5, -1.0]))
    array([0.5, 0.5, 0. ])
    """

    total: float = 1.0

    def __post_init__(self) -> None:
        """Check the sum."""
        if not (np.isfinite(self.total) and self.total > 0.0):
            raise ValueError(f"total must be positive and finite, got {self.total}")

    def project(self, x: Array) -> Array:
        """Nearest point of the simplex by sorting; shapes ``(..., d) -> (..., d)``."""
        x = _finite_decision(x)
        x = x - x.max(axis=-1, keepdims=True)  # a shift along (1, ..., 1) does not change the projection
        descending = -np.sort(-x, axis=-1)
        excess = np.cumsum(descending, axis=-1) - self.total
        ranks = np.arange(1, x.shape[-1] + 1)
        kept = (descending * ranks > excess).sum(axis=-1, keepdims=True)
        level = np.take_along_axis(excess, kept - 1, axis=-1) / kept
        return np.asarray(np.maximum(x - level, 0.0))


@dataclass(frozen=True, eq=False)
class ConvexSet:
    """A set given by cvxpy constraints; every projection solves a quadratic programme.

    Parameters
    ----------
    dimension : int
        ``d``.
    constraints : callable
        Takes a ``cvxpy.Variable`` of shape ``(d,)`` and returns a list of constraints.

    Raises
    ------
    ValueError
        If the set is empty or the solver fails (when projecting).

    Examples
    --------
    >>> half = ConvexSet(2, lambda y: [y[0] + y[1] <= 1])
    >>> half.project(np.array([1.0, 1.0])).round(6)
    array([0.5, 0.5])
    """

    dimension: int
    constraints: Callable[[Any], list[Any]]
    _programme: list[Any] = field(init=False, repr=False, default_factory=list)

    def project(self, x: Array) -> Array:
        """Nearest point of the set; shapes ``(..., d) -> (..., d)``."""
        x = _finite_decision(x)
        if x.shape[-1] != self.dimension:
            raise ValueError(f"decisions must have length {self.dimension}, got {x.shape[-1]}")
        if x.ndim > 1:
            return np.stack([self.project(row) for row in x])
        import importlib

        cvxpy: Any = importlib.import_module("cvxpy")

        if not self._programme:
            point, target = cvxpy.Variable(self.dimension), cvxpy.Parameter(self.dimension)
            goal = cvxpy.Minimize(cvxpy.sum_squares(point - target))
            self._programme.extend([point, target, cvxpy.Problem(goal, self.constraints(point))])
        point, target, problem = self._programme
        target.value = x
        problem.solve()
        if problem.status not in ("optimal", "optimal_inaccurate"):
            raise ValueError(f"the decision set could not be projected onto: cvxpy reports it {problem.status}")
        return np.asarray(point.value, dtype=np.float64)
