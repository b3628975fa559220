"""Schedules of step size, smoothing radius, isotropic share and batch sizes."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

__all__ = [
    "ApproachOne",
    "Constant",
    "CountSchedule",
    "Geometric",
    "LinearCount",
    "Schedule",
    "as_count",
    "as_schedule",
]

Schedule: TypeAlias = Callable[[int], float]
CountSchedule: TypeAlias = Callable[[int], int]


@dataclass(frozen=True)
class Constant:
    """The same value at every iteration.

    Parameters
    ----------
    value : float
        The value.

    Examples
    --------
    >>> Constant(0.1)(7)
    0.1
    """

    value: float

    def __post_init__(self) -> None:
        """Check the value."""
        if not math.isfinite(self.value):
            raise ValueError(f"value must be finite, got {self.value}")

    def __call__(self, iteration: int) -> float:
        """Value at an iteration."""
        return self.value


@dataclass(frozen=True)
class Geometric:
    """``max(start * ratio^k, floor)``: the decaying steps and radii of the paper.

    Parameters
    ----------
    start : float
        Positive first value.
    ratio : float
        Factor in ``(0, 1]``.
    floor : float, optional
        Smallest value. A radius that decays to zero with a bounded batch makes the noise explode: give one a floor.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> Geometric(1.0, 0.5, floor=0.2)(10)
    0.2
    """

    start: float
    ratio: float
    floor: float = 0.0

    def __post_init__(self) -> None:
        """Check the ranges."""
        if not (math.isfinite(self.start) and self.start > 0.0):
            raise ValueError(f"start must be positive and finite, got {self.start}")
        if not 0.0 < self.ratio <= 1.0:
            raise ValueError(f"ratio must be in (0, 1], got {self.ratio}")
        if not 0.0 <= self.floor <= self.start:
            raise ValueError(f"floor must be between 0 and start={self.start}, got {self.floor}")

    def __call__(self, iteration: int) -> float:
        """Value at an iteration."""
        return max(self.start * self.ratio**iteration, self.floor)


@dataclass(frozen=True)
class ApproachOne:
    """Isotropic share ``1 - kappa^k (1 - alpha_0)``: the guide counts less and less.

    Parameters
    ----------
    start : float
        ``alpha_0`` in ``[0, 1]``.
    ratio : float
        ``kappa`` in ``[0, 1]``; 0.98 in the paper.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> round(ApproachOne(0.0, 0.98)(1), 12)
    0.02
    """

    start: float = 0.0
    ratio: float = 0.98

    def __post_init__(self) -> None:
        """Check the ranges."""
        for name in ("start", "ratio"):
            if not 0.0 <= getattr(self, name) <= 1.0:
                raise ValueError(f"{name} must be in [0, 1], got {getattr(self, name)}")

    def __call__(self, iteration: int) -> float:
        """Value at an iteration."""
        return 1.0 - self.ratio**iteration * (1.0 - self.start)


@dataclass(frozen=True)
class LinearCount:
    """Batch size ``base + increment k``; the paper's ``30 + 2 k``.

    Parameters
    ----------
    base : int
        Size at the first iteration, at least one.
    increment : int, optional
        Growth per iteration, not negative.

    Raises
    ------
    TypeError
        If a parameter is not an integer.
    ValueError
        If it is out of range.

    Examples
    --------
    >>> LinearCount(30, 2)(10)
    50
    """

    base: int
    increment: int = 0

    def __post_init__(self) -> None:
        """Check the ranges."""
        for name, least in (("base", 1), ("increment", 0)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
                raise TypeError(f"{name} must be an integer, got {type(value).__name__}")
            if value < least:
                raise ValueError(f"{name} must be at least {least}, got {value}")

    def __call__(self, iteration: int) -> int:
        """Size at an iteration."""
        return self.base + self.increment * iteration


@dataclass(frozen=True)
class _CheckedSchedule:
    """A function of the iteration whose every value must lie in the range of the argument it serves."""

    name: str
    function: Schedule
    at_most: float
    zero: bool

    def __call__(self, iteration: int) -> float:
        """Value at an iteration."""
        value = self.function(iteration)
        if type(value) is not float:
            if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
                raise TypeError(f"{self.name} must be a number at every iteration, got {value!r} at {iteration}")
            value = float(value)
        if 0.0 < value <= self.at_most and value < math.inf:
            return value
        if value == 0.0 and self.zero:
            return value
        limit = f" and at most {self.at_most:g}" if self.at_most < math.inf else ""
        least = "at least" if self.zero else "above"
        raise ValueError(f"{self.name} must be finite, {least} 0{limit} at every iteration, got {value} at {iteration}")


@dataclass(frozen=True)
class _CheckedCount:
    """A function of the iteration whose every value must be a positive integer."""

    name: str
    function: CountSchedule

    def __call__(self, iteration: int) -> int:
        """Value at an iteration."""
        value = self.function(iteration)
        if type(value) is int and value >= 1:
            return value
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
            raise TypeError(f"{self.name} must be an integer at every iteration, got {value!r} at {iteration}")
        if value < 1:
            raise ValueError(f"{self.name} must be at least 1 at every iteration, got {value} at {iteration}")
        return int(value)


def _stays_inside(value: object, at_most: float, zero: bool) -> bool:
    """Whether a schedule of this module is known to keep the range, so that its values need no check."""
    if isinstance(value, Geometric):
        return value.start <= at_most and (zero or value.floor > 0.0)
    return isinstance(value, ApproachOne) and at_most >= 1.0 and (zero or value.start > 0.0)


def as_schedule(name: str, value: float | Schedule, at_most: float = math.inf, zero: bool = False) -> Schedule:
    """Turn a number into a constant schedule, and check every value of a callable.

    Parameters
    ----------
    name : str
        Name of the argument, for the message.
    value : float or callable
        A number, or a function of the iteration.
    at_most : float, optional
        Largest number accepted.
    zero : bool, optional
        Whether zero is accepted.

    Returns
    -------
    callable

    Raises
    ------
    TypeError
        If ``value`` is neither.
    ValueError
        If the number is out of range.

    Examples
    --------
    >>> as_schedule("step", 0.5)(3)
    0.5
    """
    if isinstance(value, Constant):
        return as_schedule(name, value.value, at_most, zero)
    if isinstance(value, _CheckedSchedule) or _stays_inside(value, at_most, zero):
        return value  # type: ignore[return-value]
    if callable(value):
        return _CheckedSchedule(name, value, at_most, zero)
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise TypeError(f"{name} must be a number or a function of the iteration, got {type(value).__name__}")
    number = float(value)
    if not math.isfinite(number) or number < 0.0 or number > at_most or (number == 0.0 and not zero):
        limit = f" and at most {at_most:g}" if at_most < math.inf else ""
        raise ValueError(f"{name} must be {'at least' if zero else 'above'} 0{limit}, got {number}")
    return Constant(number)


def as_count(name: str, value: int | CountSchedule) -> CountSchedule:
    """Turn an integer into a constant batch size, and check every value of a callable.

    Parameters
    ----------
    name : str
        Name of the argument, for the message.
    value : int or callable
        A positive integer, or a function of the iteration.

    Returns
    -------
    callable

    Raises
    ------
    TypeError
        If ``value`` is neither.
    ValueError
        If the integer is below one.

    Examples
    --------
    >>> as_count("side_samples", 5)(3)
    5
    """
    if isinstance(value, (_CheckedCount, LinearCount)):
        return value
    if callable(value):
        return _CheckedCount(name, value)
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise TypeError(f"{name} must be an integer or a function of the iteration, got {type(value).__name__}")
    if value < 1:
        raise ValueError(f"{name} must be at least 1, got {value}")
    return LinearCount(int(value))
