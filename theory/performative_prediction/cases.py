"""What the statements of this paper are about: an estimate at a decision, a run, a pair of points."""

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .discrete_families import JointQuadratic, LipschitzLocation
from .gaussian_families import LinearNoise
from .schedule import GuidedSchedule
from .validation import Stored, finite_array, finite_number, positive_integer

__all__ = ["CubicCase", "CurvatureCase", "EstimateCase", "MomentCase", "PairCase", "RunCase"]

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class EstimateCase:
    """A guided two-point estimate at one decision, seen along a contrast.

    Parameters
    ----------
    problem : instance of a family
        Problem.
    x : array_like, shape (d,)
        Decision.
    guide : array_like, shape (d,)
        Unit guide, or zero.
    alpha : float
        Isotropic share in ``[0, 1]``.
    radius : float
        ``mu > 0``.
    batch : int
        ``m``.
    contrast : array_like, shape (d,), optional
        Direction ``c`` in which the estimate is observed; the first unit vector by default.

    Raises
    ------
    TypeError, ValueError
        If a field is malformed.

    Examples
    --------
    >>> EstimateCase(LinearNoise([[1.0]], [1.0], [[0.5]], 0.0), [2.0], [1.0], 0.5, 0.1, 1).gradient
    array([2.5])
    """

    problem: Any
    x: Stored
    guide: Stored
    alpha: float
    radius: float
    batch: int
    contrast: Stored = field(default_factory=lambda: np.zeros(0))

    def __post_init__(self) -> None:
        """Check shapes and ranges."""
        d = self.problem.dimension
        guide = finite_array("guide", self.guide, 1, (d,))
        norm = float(np.linalg.norm(guide))
        if norm != 0.0 and abs(norm - 1.0) > 1e-9:
            raise ValueError(f"guide must be a unit vector or zero, got norm {norm:g}")
        contrast = np.eye(d)[0] if np.size(self.contrast) == 0 else self.contrast
        object.__setattr__(self, "x", finite_array("x", self.x, 1, (d,)))
        object.__setattr__(self, "guide", guide)
        object.__setattr__(self, "contrast", finite_array("contrast", contrast, 1, (d,)))
        finite_number("alpha", self.alpha, at_least=0.0, at_most=1.0)
        finite_number("radius", self.radius, above=0.0)
        positive_integer("batch", self.batch)

    @property
    def gradient(self) -> Array:
        """Gradient of ``F`` at the decision."""
        return np.asarray(self.problem.gradient(self.x))


@dataclass(frozen=True)
class MomentCase:
    """A rational vector, a rational unit guide and a rational share, for exact moments.

    Parameters
    ----------
    gradient, guide : tuple of Fraction
        Vectors of one length; the guide has norm one.
    alpha : Fraction
        Share in ``[0, 1]``.

    Raises
    ------
    ValueError
        If the lengths differ, the guide is not a unit vector or the share is outside its range.

    Examples
    --------
    >>> MomentCase((Fraction(1), Fraction(2)), (Fraction(3, 5), Fraction(4, 5)), Fraction(1, 2)).covariance[0][1]
    Fraction(6, 25)
    """

    gradient: tuple[Fraction, ...]
    guide: tuple[Fraction, ...]
    alpha: Fraction

    def __post_init__(self) -> None:
        """Check the ranges exactly."""
        if len(self.gradient) != len(self.guide) or not self.gradient:
            raise ValueError(
                f"gradient and guide must have one positive length, got {len(self.gradient)} and {len(self.guide)}"
            )
        if sum(g * g for g in self.guide) != 1:
            raise ValueError(f"guide must have norm exactly one, got squared norm {sum(g * g for g in self.guide)}")
        if not 0 <= self.alpha <= 1:
            raise ValueError(f"alpha must be in [0, 1], got {self.alpha}")

    @property
    def covariance(self) -> tuple[tuple[Fraction, ...], ...]:
        """``Sigma = (alpha / d) I + (1 - alpha) g g'``, exactly."""
        d = len(self.guide)
        return tuple(
            tuple(self.alpha / d * (i == j) + (1 - self.alpha) * self.guide[i] * self.guide[j] for j in range(d))
            for i in range(d)
        )


@dataclass(frozen=True, eq=False)
class RunCase:
    """A guided run on a family whose constants are all exact.

    Parameters
    ----------
    problem : LinearNoise
        Family (ii) of the checks: quadratic, with constant variance.
    start : array_like, shape (d,)
        First decision.
    schedule : GuidedSchedule
        Step, radius, batch, shares.

    Raises
    ------
    TypeError, ValueError
        If a field is malformed.
    """

    problem: LinearNoise
    start: Stored
    schedule: GuidedSchedule

    def __post_init__(self) -> None:
        """Check the shape of the start."""
        object.__setattr__(self, "start", finite_array("start", self.start, 1, (self.problem.dimension,)))

    @property
    def gap(self) -> float:
        """``F(x_0) - inf F``."""
        return float(self.problem.objective(self.start)) - self.problem.minimum()

    @property
    def bound(self) -> float:
        """Bound on the mean of ``E grad'Sigma_k grad``."""
        return self.schedule.bound(self.gap, self.problem.smoothness, self.problem.variance_bound)

    @property
    def sharp_bound(self) -> float:
        """The same, keeping the largest eigenvalue."""
        return self.schedule.sharp_bound(
            self.gap, self.problem.smoothness, self.problem.variance_bound, self.problem.dimension
        )


@dataclass(frozen=True, eq=False)
class PairCase:
    """Two decisions at which the objective of a Lipschitz location family is compared.

    Parameters
    ----------
    problem : LipschitzLocation
        Family.
    first, second : array_like, shape (d,)
        Decisions.

    Raises
    ------
    TypeError, ValueError
        If a field is malformed.
    """

    problem: LipschitzLocation
    first: Stored
    second: Stored

    def __post_init__(self) -> None:
        """Check the shapes."""
        d = self.problem.dimension
        object.__setattr__(self, "first", finite_array("first", self.first, 1, (d,)))
        object.__setattr__(self, "second", finite_array("second", self.second, 1, (d,)))


@dataclass(frozen=True, eq=False)
class CurvatureCase:
    """A quadratic location family and a direction in which the curvature of its objective is taken.

    Parameters
    ----------
    problem : JointQuadratic
        Family.
    direction : array_like, shape (d,)
        Direction ``v``.

    Raises
    ------
    TypeError, ValueError
        If a field is malformed.
    """

    problem: JointQuadratic
    direction: Stored

    def __post_init__(self) -> None:
        """Check the shape."""
        object.__setattr__(self, "direction", finite_array("direction", self.direction, 1, (self.problem.dimension,)))


@dataclass(frozen=True)
class CubicCase:
    """A separable cubic ``sum a_i x_i^3 + b_i x_i`` with rational coefficients, a point and a step.

    Parameters
    ----------
    cubic, linear, x : tuple of Fraction
        Coefficients and point, of one length.
    step : Fraction
        Positive step.

    Raises
    ------
    ValueError
        If the lengths differ or the step is not positive.

    Examples
    --------
    >>> CubicCase((Fraction(1),), (Fraction(0),), (Fraction(1),), Fraction(1, 10)).gradient
    (Fraction(3, 1),)
    """

    cubic: tuple[Fraction, ...]
    linear: tuple[Fraction, ...]
    x: tuple[Fraction, ...]
    step: Fraction

    def __post_init__(self) -> None:
        """Check the lengths."""
        if not len(self.cubic) == len(self.linear) == len(self.x) >= 1:
            raise ValueError("cubic, linear and x must have one positive length")
        if not self.step > 0:
            raise ValueError(f"step must be positive, got {self.step}")

    def value(self, x: Any) -> Any:
        """Value at a point, exactly for fractions."""
        return sum(a * v**3 + b * v for a, b, v in zip(self.cubic, self.linear, x, strict=True))

    @property
    def gradient(self) -> tuple[Fraction, ...]:
        """Gradient at the case's point."""
        return tuple(3 * a * v**2 + b for a, b, v in zip(self.cubic, self.linear, self.x, strict=True))
