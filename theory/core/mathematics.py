"""The three mathematics in which one formula is read: numpy values, flint balls, sympy expressions."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, Protocol

import numpy as np


class Mathematics(Protocol):
    """The functions a bound's formula may use, whatever its values are."""

    @property
    def pi(self) -> Any:
        """The circle constant."""

    @property
    def infinity(self) -> Any:
        """Positive infinity."""

    def number(self, value: int | Fraction | str) -> Any:
        """Return an exact constant; write ``m.number(Fraction(1, 3))`` where a float literal would round."""

    def log(self, x: Any) -> Any:
        """Natural logarithm."""

    def log1p(self, x: Any) -> Any:
        """Natural logarithm of ``1 + x``."""

    def exp(self, x: Any) -> Any:
        """Exponential."""

    def expm1(self, x: Any) -> Any:
        """Exponential minus one."""

    def sqrt(self, x: Any) -> Any:
        """Square root."""

    def abs(self, x: Any) -> Any:
        """Absolute value."""

    def minimum(self, x: Any, y: Any) -> Any:
        """Return the smaller of two values."""

    def maximum(self, x: Any, y: Any) -> Any:
        """Return the larger of two values."""

    def floor(self, x: Any) -> Any:
        """Largest integer not above."""

    def ceil(self, x: Any) -> Any:
        """Smallest integer not below."""

    def comb(self, n: Any, k: Any) -> Any:
        """Binomial coefficient."""

    def factorial(self, n: Any) -> Any:
        """Factorial."""


class NumpyMathematics:
    """Vectorised float64 values."""

    pi = math.pi
    infinity = math.inf

    def number(self, value: int | Fraction | str) -> float:
        """Nearest double."""
        return float(Fraction(value))

    log = staticmethod(np.log)
    log1p = staticmethod(np.log1p)
    exp = staticmethod(np.exp)
    expm1 = staticmethod(np.expm1)
    sqrt = staticmethod(np.sqrt)
    abs = staticmethod(np.abs)
    minimum = staticmethod(np.minimum)
    maximum = staticmethod(np.maximum)
    floor = staticmethod(np.floor)
    ceil = staticmethod(np.ceil)

    def comb(self, n: Any, k: Any) -> Any:
        """Binomial coefficients, rounded once."""
        return np.vectorize(lambda a, b: float(math.comb(int(a), int(b))), otypes=[float])(n, k)[()]

    def factorial(self, n: Any) -> Any:
        """Factorials, rounded once."""
        return np.vectorize(lambda a: float(math.factorial(int(a))), otypes=[float])(n)[()]


class FlintMathematics:
    """Balls (midpoint and radius) that surely contain the value.  Works at the precision of ``flint.ctx``."""

    def __init__(self) -> None:
        import flint

        self._flint: Any = flint

    def ball(self, value: Any) -> Any:
        """Turn a number into a ball without rounding it first."""
        flint = self._flint
        if isinstance(value, flint.arb):
            return value
        if isinstance(value, bool | np.bool_):
            raise TypeError(f"a bound takes numbers, got the truth value {value!r}")
        if isinstance(value, int | np.integer):
            return flint.arb(int(value))
        exact = value if isinstance(value, Fraction) else Fraction(float(value))
        return flint.arb(flint.fmpq(exact.numerator, exact.denominator))

    @property
    def pi(self) -> Any:
        """Ball around pi."""
        return self._flint.arb.pi()

    @property
    def infinity(self) -> Any:
        """Positive infinity."""
        return self._flint.arb("inf")

    def number(self, value: int | Fraction | str) -> Any:
        """Ball around an exact constant."""
        return self.ball(Fraction(value))

    def log(self, x: Any) -> Any:
        """Natural logarithm."""
        return self.ball(x).log()

    def log1p(self, x: Any) -> Any:
        """Natural logarithm of ``1 + x``."""
        return self.ball(x).log1p()

    def exp(self, x: Any) -> Any:
        """Exponential."""
        return self.ball(x).exp()

    def expm1(self, x: Any) -> Any:
        """Exponential minus one."""
        return self.ball(x).expm1()

    def sqrt(self, x: Any) -> Any:
        """Square root."""
        return self.ball(x).sqrt()

    def abs(self, x: Any) -> Any:
        """Absolute value."""
        return abs(self.ball(x))

    def minimum(self, x: Any, y: Any) -> Any:
        """Return the smaller of two balls."""
        return self.ball(x).min(self.ball(y))

    def maximum(self, x: Any, y: Any) -> Any:
        """Return the larger of two balls."""
        return self.ball(x).max(self.ball(y))

    def floor(self, x: Any) -> Any:
        """Largest integer not above."""
        return self.ball(x).floor()

    def ceil(self, x: Any) -> Any:
        """Smallest integer not below."""
        return self.ball(x).ceil()

    def comb(self, n: Any, k: Any) -> Any:
        """Binomial coefficient of exact integers."""
        return self._flint.arb(math.comb(self._exact(n), self._exact(k)))

    def factorial(self, n: Any) -> Any:
        """Factorial of an exact integer."""
        return self._flint.arb(math.factorial(self._exact(n)))

    def _exact(self, value: Any) -> int:
        integer = self.ball(value).unique_fmpz()
        if integer is None:
            raise ValueError(f"expected an integer, got the ball {value}")
        return int(integer)


class SympyMathematics:
    """Symbolic expressions."""

    def __init__(self) -> None:
        import sympy

        self._sympy: Any = sympy

    @property
    def pi(self) -> Any:
        """The symbol pi."""
        return self._sympy.pi

    @property
    def infinity(self) -> Any:
        """Positive infinity."""
        return self._sympy.oo

    def number(self, value: int | Fraction | str) -> Any:
        """Exact rational."""
        exact = Fraction(value)
        return self._sympy.Rational(exact.numerator, exact.denominator)

    def log(self, x: Any) -> Any:
        """Natural logarithm."""
        return self._sympy.log(x)

    def log1p(self, x: Any) -> Any:
        """Natural logarithm of ``1 + x``."""
        return self._sympy.log(1 + x)

    def exp(self, x: Any) -> Any:
        """Exponential."""
        return self._sympy.exp(x)

    def expm1(self, x: Any) -> Any:
        """Exponential minus one."""
        return self._sympy.exp(x) - 1

    def sqrt(self, x: Any) -> Any:
        """Square root."""
        return self._sympy.sqrt(x)

    def abs(self, x: Any) -> Any:
        """Absolute value."""
        return self._sympy.Abs(x)

    def minimum(self, x: Any, y: Any) -> Any:
        """Return the smaller of two expressions."""
        return self._sympy.Min(x, y)

    def maximum(self, x: Any, y: Any) -> Any:
        """Return the larger of two expressions."""
        return self._sympy.Max(x, y)

    def floor(self, x: Any) -> Any:
        """Largest integer not above."""
        return self._sympy.floor(x)

    def ceil(self, x: Any) -> Any:
        """Smallest integer not below."""
        return self._sympy.ceiling(x)

    def comb(self, n: Any, k: Any) -> Any:
        """Binomial coefficient."""
        return self._sympy.binomial(n, k)

    def factorial(self, n: Any) -> Any:
        """Factorial."""
        return self._sympy.factorial(n)
