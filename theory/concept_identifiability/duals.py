"""Exact derivatives: fractions that carry their gradient."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

__all__ = ["Dual", "jacobian", "variables"]


@dataclass(frozen=True)
class Dual:
    """A value with its gradient; sums, products and quotients are differentiated exactly.

    Examples
    --------
    >>> x, y = variables((Fraction(2), Fraction(3)))
    >>> (x * y / (1 + x)).gradient
    (Fraction(1, 3), Fraction(2, 3))
    """

    value: Fraction
    gradient: tuple[Fraction, ...]

    def _lift(self, other: Dual | Fraction | int) -> Dual:
        return other if isinstance(other, Dual) else Dual(Fraction(other), (Fraction(0),) * len(self.gradient))

    def __add__(self, other: Dual | Fraction | int) -> Dual:
        o = self._lift(other)
        return Dual(self.value + o.value, tuple(a + b for a, b in zip(self.gradient, o.gradient, strict=True)))

    __radd__ = __add__

    def __neg__(self) -> Dual:
        return Dual(-self.value, tuple(-g for g in self.gradient))

    def __sub__(self, other: Dual | Fraction | int) -> Dual:
        return self + (-self._lift(other))

    def __rsub__(self, other: Fraction | int) -> Dual:
        return self._lift(other) - self

    def __mul__(self, other: Dual | Fraction | int) -> Dual:
        o = self._lift(other)
        pairs = zip(self.gradient, o.gradient, strict=True)
        return Dual(self.value * o.value, tuple(a * o.value + self.value * b for a, b in pairs))

    __rmul__ = __mul__

    def __truediv__(self, other: Dual | Fraction | int) -> Dual:
        o = self._lift(other)
        ratio = self.value / o.value
        pairs = zip(self.gradient, o.gradient, strict=True)
        return Dual(ratio, tuple((a - ratio * b) / o.value for a, b in pairs))

    def __rtruediv__(self, other: Fraction | int) -> Dual:
        return self._lift(other) / self


def variables(point: Sequence[Fraction]) -> tuple[Dual, ...]:
    """Coordinates of a point, each with a unit gradient."""
    n = len(point)
    return tuple(Dual(Fraction(v), tuple(Fraction(i == k) for k in range(n))) for i, v in enumerate(point))


def jacobian(outputs: Sequence[Dual]) -> tuple[tuple[Fraction, ...], ...]:
    """Matrix of first derivatives, one row an output."""
    return tuple(output.gradient for output in outputs)
