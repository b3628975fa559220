"""A bound: one formula, read as numbers, as rigorous balls and as symbols, and inverted where that makes sense."""

from __future__ import annotations

import contextlib
import difflib
import inspect
import math
import numbers
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from whp.theory.core.mathematics import FlintMathematics, NumpyMathematics, SympyMathematics

_MAX_DOUBLINGS = 1100  # beyond the range of float64: a bound that has not crossed its target by then never will


@dataclass(frozen=True)
class Domain:
    """An interval of reals or of integers.

    Examples
    --------
    >>> str(Domain.reals(0, 1, open="both")), str(Domain.integers(1))
    ('real in (0, 1)', 'integer in [1, inf)')
    """

    low: float = -math.inf
    high: float = math.inf
    open_low: bool = False
    open_high: bool = False
    integer: bool = False

    def __post_init__(self) -> None:
        if not self.low <= self.high or (self.low == self.high and (self.open_low or self.open_high)):
            raise ValueError(f"a domain must not be empty, got {self}")

    @classmethod
    def reals(
        cls, low: float = -math.inf, high: float = math.inf, open: Literal["", "low", "high", "both"] = ""
    ) -> Domain:
        """Real interval; ``open`` names the ends that are left out (infinite ends always are)."""
        return cls(low, high, open in ("low", "both") or low == -math.inf, open in ("high", "both") or high == math.inf)

    @classmethod
    def integers(cls, low: float = -math.inf, high: float = math.inf) -> Domain:
        """Integer interval, ends included."""
        return cls(low, high, low == -math.inf, high == math.inf, True)

    def contains(self, value: Any) -> bool:
        """Whether every entry of a number or array lies inside; nan never does."""
        if isinstance(value, int | Fraction) and not isinstance(value, bool):
            return self._contains_scalar(value)
        array = np.asarray(value)
        if array.dtype == object:
            return all(isinstance(v, numbers.Real) and self._contains_scalar(v) for v in array.ravel())
        if array.dtype.kind not in "iuf":
            return False
        above = array > self.low if self.open_low else array >= self.low
        below = array < self.high if self.open_high else array <= self.high
        whole = array == np.floor(array) if self.integer else True
        return bool(np.all(above & below & whole))

    def _contains_scalar(self, value: Any) -> bool:
        above = value > self.low if self.open_low else value >= self.low
        below = value < self.high if self.open_high else value <= self.high
        return bool(above and below and (not self.integer or value == math.floor(value)))

    def __str__(self) -> str:
        left, right = "(" if self.open_low else "[", ")" if self.open_high else "]"
        return f"{'integer' if self.integer else 'real'} in {left}{self.low:g}, {self.high:g}{right}"


@dataclass(frozen=True)
class Symbol:
    """A symbol of a bound's formula.

    Parameters
    ----------
    name : str
        The formula's argument name.
    domain : Domain
        Where it may lie.
    meaning : str
        What it is, with its unit.
    monotone : {"increasing", "decreasing"}, optional
        How the bound moves with it; declared only where inversion is offered.
    latex : str, optional
        How it is typeset; the name by default.
    """

    name: str
    domain: Domain
    meaning: str
    monotone: Literal["increasing", "decreasing"] | None = None
    latex: str = ""


@dataclass(frozen=True)
class Bound:
    """One formula with three readings.

    Parameters
    ----------
    name : str
        What the value is.
    formula : callable
        ``formula(m, **symbols)`` over a `Mathematics` ``m``; a plain function, without branches on values.
    symbols : tuple of Symbol
        Every argument of the formula after ``m``.
    unit : str
        Unit of the value.

    Examples
    --------
    >>> radius = Bound(
    ...     "deviation",
    ...     lambda m, n, delta: m.sqrt(m.log(2 / delta) / (2 * n)),
    ...     (Symbol("n", Domain.integers(1), "sample size", "decreasing"),
    ...      Symbol("delta", Domain.reals(0, 1, open="both"), "failure probability", "decreasing")),
    ... )
    >>> round(radius(n=100, delta=0.05), 6)
    0.13581
    >>> radius.solve("n", at_most=0.05, delta=0.05)
    738
    >>> radius.symbolic()
    sqrt(2)*sqrt(log(2/delta))/(2*sqrt(n))
    """

    name: str
    formula: Callable[..., Any]
    symbols: tuple[Symbol, ...]
    unit: str = ""

    def __post_init__(self) -> None:
        names = [s.name for s in self.symbols]
        if len(set(names)) != len(names):
            raise ValueError(f"bound {self.name!r} declares a symbol twice: {names}")
        try:
            inspect.signature(self.formula).bind(None, **dict.fromkeys(names))
        except TypeError as error:
            raise ValueError(
                f"the formula of bound {self.name!r} must take m and the symbols {names}: {error}"
            ) from None

    def symbol(self, name: str) -> Symbol:
        """Return the declared symbol of that name.

        Raises
        ------
        ValueError
            If the bound has no such symbol; names the nearest.
        """
        for s in self.symbols:
            if s.name == name:
                return s
        near = difflib.get_close_matches(name, [s.name for s in self.symbols], 1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        known = ", ".join(s.name for s in self.symbols)
        raise ValueError(f"bound {self.name!r} has no symbol {name!r} (it has {known}){hint}")

    def __call__(self, **values: Any) -> Any:
        """Value in float64, infinite where it is beyond that range; arrays broadcast.

        Raises
        ------
        ValueError
            If a symbol is unknown, missing or outside its domain, or the value is not a number.
        """
        self._validate(values)
        inputs = {k: _as_float(k, v) for k, v in values.items()}
        with np.errstate(all="ignore"):
            value = self.formula(NumpyMathematics(), **inputs)
        if np.any(np.isnan(value)):
            raise ValueError(f"bound {self.name!r} is not a number in float64 at {_show(values)}; try enclosure()")
        return float(value) if np.ndim(value) == 0 else np.asarray(value)

    def ball(self, bits: int = 128, **values: Any) -> Any:
        """Flint ball that surely contains the value at the exact inputs.

        Parameters
        ----------
        bits : int
            Working precision.
        **values : int, float, Fraction
            The symbols; floats are taken as the dyadic rationals they are.
        """
        import flint

        self._validate(values)
        m = FlintMathematics()
        with flint.ctx.workprec(bits):
            return m.ball(self.formula(m, **{k: m.ball(v) for k, v in values.items()}))

    def enclosure(self, bits: int = 128, **values: Any) -> tuple[Fraction, Fraction]:
        """Rational lower and upper end of an interval that surely contains the value.

        Raises
        ------
        ValueError
            If no finite interval is found at this precision.

        Examples
        --------
        >>> x = Symbol("x", Domain.reals(0, open="low"), "x")
        >>> low, high = Bound("log", lambda m, x: m.log(x), (x,)).enclosure(x=2)
        >>> low < high and float(high - low) < 1e-30
        True
        """
        import flint

        ball = self.ball(bits, **values)
        if not ball.is_finite():
            raise ValueError(f"bound {self.name!r} has no finite enclosure at {_show(values)} with {bits} bits")
        with flint.ctx.workprec(bits):
            low, high = ball.lower().fmpq(), ball.upper().fmpq()
        return Fraction(int(low.p), int(low.q)), Fraction(int(high.p), int(high.q))

    def symbolic(self) -> Any:
        """Sympy expression in symbols that carry the declared domains."""
        import sympy

        symbols = {s.name: _sympy_symbol(sympy, s) for s in self.symbols}
        return self.formula(SympyMathematics(), **symbols)

    def latex(self) -> str:
        """The formula in LaTeX."""
        import sympy

        names = {_sympy_symbol(sympy, s): s.latex for s in self.symbols if s.latex}
        return str(sympy.latex(self.symbolic(), symbol_names=names))

    def solve(self, unknown: str, *, at_most: float | None = None, at_least: float | None = None, **values: Any) -> Any:
        """Invert the bound: the extreme value of one symbol for which the bound meets a target.

        Parameters
        ----------
        unknown : str
            A symbol with declared monotonicity.
        at_most, at_least : float
            The target; exactly one of them.
        **values : float
            All other symbols, as scalars.

        Returns
        -------
        int or float
            The smallest value that meets the target when larger values help, else the largest.  The returned value
            itself meets the target in float64.

        Raises
        ------
        ValueError
            If monotonicity is not declared, or no value of the domain meets the target.
        """
        symbol = self.symbol(unknown)
        if symbol.monotone is None:
            raise ValueError(
                f"bound {self.name!r} declares no monotonicity in {unknown!r}, so it cannot be solved for it"
            )
        if (at_most is None) == (at_least is None):
            raise ValueError("give exactly one of at_most and at_least")
        if unknown in values:
            raise ValueError(f"{unknown!r} is solved for and must not be given, got {values[unknown]!r}")
        target = float(at_most if at_most is not None else at_least)  # type: ignore[arg-type]
        if math.isnan(target):
            raise ValueError("the target must be a number, got nan")

        self._validate(values, solved=unknown)

        def meets(x: float) -> bool:
            value = self(**values, **{unknown: x})
            return bool(value <= target) if at_most is not None else bool(value >= target)

        larger_helps = (symbol.monotone == "decreasing") == (at_most is not None)
        word = f"at most {target:g}" if at_most is not None else f"at least {target:g}"
        return _extreme(symbol.domain, meets, larger_helps, f"bound {self.name!r} is never {word} for any {unknown}")

    def _validate(self, values: Mapping[str, Any], solved: str = "") -> None:
        for name, value in values.items():
            symbol = self.symbol(name)
            if not symbol.domain.contains(value):
                raise ValueError(f"{name} must be {symbol.domain} ({symbol.meaning}), got {value!r}")
        for s in self.symbols:
            if s.name not in values and s.name != solved:
                raise ValueError(f"bound {self.name!r} needs {s.name} ({s.meaning}, {s.domain})")

    def _repr_html_(self) -> str:
        from html import escape

        rows = "".join(f"<li><b>{escape(s.name)}</b>: {escape(s.meaning)}, {s.domain}</li>" for s in self.symbols)
        return f"<p>{escape(self.name)}: ${self.latex()}$</p><ul>{rows}</ul>"


def _as_float(name: str, value: Any) -> Any:
    """Numpy numbers, so that overflow and division by zero are infinite, not exceptions."""
    try:
        return np.float64(value) if np.ndim(value) == 0 else np.asarray(value, dtype=float)
    except OverflowError:
        raise ValueError(f"{name} is beyond the range of float64; try enclosure()") from None


def _show(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{k}={v!r}" for k, v in values.items())


def _sympy_symbol(sympy: Any, symbol: Symbol) -> Any:
    d = symbol.domain
    positive = True if d.low > 0 or (d.low == 0 and d.open_low) else None
    nonnegative = True if d.low >= 0 else None
    return sympy.Symbol(symbol.name, real=True, positive=positive, nonnegative=nonnegative, integer=d.integer or None)


def _extreme(domain: Domain, meets: Callable[[float], bool], larger_helps: bool, refusal: str) -> float | int:
    """Extreme point of the half-line on which ``meets`` is true, by doubling and bisection."""
    sign = 1 if larger_helps else -1  # search runs towards the helpful side in the variable sign * x
    easy, hard = (domain.high, domain.low) if larger_helps else (domain.low, domain.high)
    hard_open = domain.open_low if larger_helps else domain.open_high
    easy_open = domain.open_high if larger_helps else domain.open_low
    step = 1.0
    start = hard if math.isfinite(hard) else (easy if math.isfinite(easy) else 0.0)
    if start == hard and not hard_open and meets(start):
        return int(start) if domain.integer else start
    good = _first_good(domain, meets, start, easy, sign, step, easy_open)
    if good is None:
        raise ValueError(refusal)
    bad = _first_bad(domain, meets, good, hard, sign, hard_open)
    if bad is None:
        raise ValueError(f"{refusal[: refusal.index(' is never')]} meets the target on its whole domain")
    return _bisect(domain, meets, bad, good)


def _first_good(
    domain: Domain, meets: Callable[[float], bool], start: float, easy: float, sign: int, step: float, easy_open: bool
) -> float | None:
    if math.isfinite(easy):
        candidates = [] if easy_open else [easy]
        width = abs(easy - start) or 1.0
        if domain.integer:
            candidates += [easy - sign]
        candidates += [easy - sign * width * 2.0**-k for k in range(1, _MAX_DOUBLINGS) if not domain.integer]
        candidates.sort(key=lambda x: sign * x, reverse=True)
    else:
        candidates = [start + sign * step * 2.0**k for k in range(-60 if not domain.integer else 0, 1024)]
    for x in candidates:
        if math.isfinite(x) and domain.contains(x):
            with contextlib.suppress(ValueError):  # not a number in float64, so far out
                if meets(x):
                    return x
    return None


def _first_bad(
    domain: Domain, meets: Callable[[float], bool], good: float, hard: float, sign: int, hard_open: bool
) -> float | None:
    if math.isfinite(hard) and not hard_open and domain.contains(hard):
        return hard
    for k in range(_MAX_DOUBLINGS):
        x = hard + (good - hard) * 2.0**-k if math.isfinite(hard) else good - sign * 2.0 ** min(k, 1023)
        if not math.isfinite(x) or not domain.contains(x):
            break
        if not meets(x):
            return x
    return None


def _bisect(domain: Domain, meets: Callable[[float], bool], bad: float, good: float) -> float | int:
    if domain.integer:
        fails, works = int(bad), int(good)
        while abs(works - fails) > 1:
            whole = (fails + works) // 2
            fails, works = (fails, whole) if meets(whole) else (whole, works)
        return works
    while True:
        middle = bad + (good - bad) / 2
        if middle in (bad, good):
            return good
        bad, good = (bad, middle) if meets(middle) else (middle, good)
