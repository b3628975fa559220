"""Proofs with a printed scope: exhaustive enumeration, polynomial identities, and formulas decided by z3."""

from __future__ import annotations

import importlib
import importlib.util
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal

import numpy as np

Outcome = Literal["proved", "refuted", "inconclusive", "unavailable", "error"]


@dataclass(frozen=True)
class ProofResult:
    """What a proof established.

    Parameters
    ----------
    outcome : {"proved", "refuted", "inconclusive", "unavailable", "error"}
        ``unavailable`` when an extra is missing; only ``proved`` is a pass.
    detail : str
        How far the decider came, in one sentence.
    scope : str
        For which instances; filled in by :meth:`Proof.run`.
    counterexample : object, optional
        An instance on which the statement fails, or on which the decider itself failed.
    """

    outcome: Outcome
    detail: str
    scope: str = ""
    counterexample: Any = None


@dataclass(frozen=True)
class Proof:
    """A decision of a theorem on a stated scope.

    Parameters
    ----------
    theorem : str
        Id of the theorem.
    name : str
        Name of the proof, unique within the theorem.
    scope : str
        For which instances it decides, as printed: ``"all real weights, n <= 3"``.
    decide : callable
        Returns the :class:`ProofResult`, usually that of one of the deciders of this module.

    Examples
    --------
    >>> square = lambda: exhaustive(range(100), lambda n: n * n >= n)
    >>> Proof("doctest.square", "small", "integers 0..99", square).run().outcome
    'proved'
    """

    theorem: str
    name: str
    scope: str
    decide: Callable[[], ProofResult]

    def __post_init__(self) -> None:
        """Refuse a proof without a scope."""
        if not self.scope.strip():
            raise ValueError(f"scope of proof {self.theorem}/{self.name} must say for which instances it decides.")

    def run(self) -> ProofResult:
        """Decide; an exception becomes the outcome ``error``."""
        try:
            result = self.decide()
        except Exception as error:
            result = ProofResult("error", f"{type(error).__name__}: {error}")
        if not isinstance(result, ProofResult):
            result = ProofResult("error", f"decide must return a ProofResult, got {type(result).__name__}.")
        return replace(result, scope=result.scope or self.scope)


def exhaustive(instances: Iterable[Any], predicate: Callable[[Any], bool], at_most: int | None = None) -> ProofResult:
    """Decide a predicate on every instance of a finite family.

    Parameters
    ----------
    instances : iterable
        The family, smallest first: the first failure is the counterexample.
    predicate : callable
        Whether the statement holds of an instance; must return a bool.
    at_most : int, optional
        Stop after so many instances; a family that is longer is then ``inconclusive``.

    Returns
    -------
    ProofResult
        ``inconclusive`` for an empty family, since nothing was decided; ``error`` with the instance where the
        predicate raises or returns something else.

    Examples
    --------
    >>> exhaustive(range(10), lambda n: n != 7).counterexample
    7
    """
    decided = 0
    for instance in instances:
        if at_most is not None and decided == at_most:
            return ProofResult("inconclusive", f"held on the first {decided} instances; the family is longer.")
        try:
            holds = predicate(instance)
        except Exception as error:
            return ProofResult("error", f"the predicate raised {type(error).__name__}: {error}", "", instance)
        if not isinstance(holds, bool | np.bool_):
            return ProofResult("error", f"the predicate must return a bool, got {holds!r}.", "", instance)
        if not holds:
            return ProofResult("refuted", f"fails on instance number {decided + 1}, held on {decided}.", "", instance)
        decided += 1
    if decided == 0:
        return ProofResult("inconclusive", "the family of instances is empty, so nothing was decided.")
    return ProofResult("proved", f"holds on all {decided} instances.")


def polynomial_identity(left: Any, right: Any, symbols: Sequence[Any], nonzero: Sequence[Any] = ()) -> ProofResult:
    """Decide whether two rational functions with rational coefficients are equal, by exact expansion.

    Parameters
    ----------
    left, right : sympy expression, or callable
        Built from symbols and exact numbers by addition, multiplication and integer powers; callables get the symbols.
    symbols : sequence of sympy symbols or str
        All symbols that occur.
    nonzero : sequence of sympy expression, or callable
        Polynomials assumed nonzero. Every irreducible factor of a denominator must divide one of them.

    Returns
    -------
    ProofResult
        ``proved`` for all values of the symbols in any field of characteristic zero where the declared polynomials do
        not vanish; ``refuted`` with a rational point; ``inconclusive`` when a denominator is not declared. sympy
        cancels ``x / x`` before it is seen here, so a denominator removed that way must be watched by the author.

    Raises
    ------
    ValueError
        If an expression holds a float, an undeclared symbol, or a function that is not rational, or if a denominator
        is zero.

    Examples
    --------
    >>> polynomial_identity(lambda a, b: (a + b) ** 2, lambda a, b: a**2 + 2 * a * b + b**2, ["a", "b"]).outcome
    'proved'
    >>> polynomial_identity(lambda a: a**3, lambda a: a, ["a"]).counterexample
    {'a': Fraction(2, 1)}
    """
    sympy: Any = importlib.import_module("sympy")
    names = [str(symbol) for symbol in symbols]
    generators = [sympy.Symbol(symbol) if isinstance(symbol, str) else symbol for symbol in symbols]
    expand = _RationalForm(generators, names)
    left_top, left_bottom = expand(left)
    right_top, right_bottom = expand(right)
    denominators = list(expand.denominators)
    declared = [_as_polynomial(expand, expression) for expression in nonzero]
    missing = _undeclared_factor(denominators, declared)
    if missing is not None:
        return ProofResult("inconclusive", f"the denominator {missing} is not declared nonzero.")
    difference = left_top * right_bottom - right_top * left_bottom
    if difference == 0:
        where = f", where {', '.join(f'{polynomial} != 0' for polynomial in declared)}" if declared else ""
        terms = max(len(left_top * right_bottom), 1)
        return ProofResult("proved", f"both sides expand to the same {terms} terms in {', '.join(names)}{where}.")
    point = _point_off(difference, [*denominators, *declared], names)
    if point is None:
        return ProofResult("inconclusive", f"the sides differ by {difference}, but no point was found where they do.")
    return ProofResult("refuted", f"the sides differ, by the numerator {_shorten(difference)}.", "", point)


def z3_valid(formula: Any, rlimit: int = 10_000_000) -> ProofResult:
    """Decide whether a formula holds for all values of its free constants, by z3.

    Parameters
    ----------
    formula : z3.BoolRef, or callable
        A callable gets the module ``z3`` and returns the formula, so that its author need not import it.
    rlimit : int
        Resource limit: counts z3's steps, not seconds, so that the outcome is the same on every machine.

    Returns
    -------
    ProofResult
        ``unavailable`` without z3 (extra ``smt``), ``inconclusive`` when z3 gives up. z3 defines ``x / 0``
        arbitrarily: state denominators as hypotheses.

    Raises
    ------
    ValueError
        If ``rlimit`` is not positive.
    """
    if isinstance(rlimit, bool) or not isinstance(rlimit, int) or not 0 < rlimit < 2**32:
        raise ValueError(f"rlimit must be an int between 1 and 2**32 - 1, got {rlimit!r}.")
    if importlib.util.find_spec("z3") is None:
        return ProofResult("unavailable", "z3 is not installed; it comes with the extra 'smt'.")
    z3: Any = importlib.import_module("z3")
    statement = formula(z3) if callable(formula) and not z3.is_expr(formula) else formula
    if not z3.is_bool(statement):
        raise ValueError(f"formula must be a z3 boolean expression, got {type(statement).__name__}.")
    solver = z3.Solver()
    solver.set("rlimit", rlimit)
    solver.add(z3.Not(statement))
    answer = solver.check()
    if answer == z3.unsat:
        return ProofResult("proved", f"z3 {z3.get_version_string()} finds the negation unsatisfiable.")
    if answer == z3.sat:
        model = solver.model()
        values = {str(constant): _z3_value(z3, model[constant]) for constant in model.decls()}
        return ProofResult("refuted", "z3 found a model of the negation.", "", dict(sorted(values.items())))
    reason = solver.reason_unknown()
    return ProofResult("inconclusive", f"z3 gave up within rlimit={rlimit} ({reason}); a larger rlimit may decide.")


class _RationalForm:
    """Expands sympy expressions into numerator and denominator over the rationals, and notes each denominator met."""

    def __init__(self, generators: Sequence[Any], names: Sequence[str]) -> None:
        self._flint: Any = importlib.import_module("flint")
        self._sympy: Any = importlib.import_module("sympy")
        if not names or len(set(names)) < len(names):
            raise ValueError(f"symbols must be distinct and at least one, got {list(names)}.")
        self._generators = list(generators)
        context = self._flint.fmpq_mpoly_ctx.get(tuple(names), self._flint.Ordering.degrevlex)
        self._variables = dict(zip(generators, context.gens(), strict=True))
        self.one = context.constant(1)
        self.denominators: list[Any] = []

    def __call__(self, expression: Any) -> tuple[Any, Any]:
        """Expand a sympy expression, or what a callable makes of the symbols."""
        is_expression = isinstance(expression, self._sympy.Basic)
        if callable(expression) and not is_expression:
            expression = expression(*self._generators)
        return self._expand(self._sympy.sympify(expression))

    def _expand(self, expression: Any) -> tuple[Any, Any]:
        if expression in self._variables:
            return self._variables[expression], self.one
        if expression.is_Rational:
            return self.one * self._flint.fmpq(int(expression.p), int(expression.q)), self.one
        if expression.is_Add or expression.is_Mul:
            parts = [self._expand(part) for part in expression.args]
            return self._sum(parts) if expression.is_Add else self._product(parts)
        if expression.is_Pow and expression.exp.is_Integer:
            return self._power(expression)
        what = "an undeclared symbol" if expression.is_Symbol else "not an exact rational expression"
        raise ValueError(f"{expression} is {what}; expressions use {[str(name) for name in self._generators]} only.")

    def _sum(self, parts: list[tuple[Any, Any]]) -> tuple[Any, Any]:
        top, bottom = parts[0]
        for other_top, other_bottom in parts[1:]:
            if bottom == other_bottom:
                top = top + other_top
            else:
                top, bottom = top * other_bottom + other_top * bottom, bottom * other_bottom
        return top, bottom

    def _product(self, parts: list[tuple[Any, Any]]) -> tuple[Any, Any]:
        top, bottom = self.one, self.one
        for other_top, other_bottom in parts:
            top, bottom = top * other_top, bottom * other_bottom
        return top, bottom

    def _power(self, expression: Any) -> tuple[Any, Any]:
        top, bottom = self._expand(expression.base)
        exponent = int(expression.exp)
        if exponent >= 0:
            return top**exponent, bottom**exponent
        if top == 0:
            raise ValueError(f"the denominator {expression.base} is identically zero.")
        self.denominators.append(top)
        return bottom**-exponent, top**-exponent


def _as_polynomial(expand: _RationalForm, expression: Any) -> Any:
    """Expand an expression that must have no denominator, and must not vanish identically."""
    before = len(expand.denominators)
    top, _ = expand(expression)
    if len(expand.denominators) > before or top == 0:
        raise ValueError(f"nonzero must hold polynomials that are not identically zero, got {expression}.")
    return top


def _undeclared_factor(denominators: Iterable[Any], declared: Sequence[Any]) -> Any:
    """Find an irreducible factor of a denominator that divides none of the declared polynomials."""
    for denominator in denominators:
        for factor, _ in denominator.factor()[1]:
            if not any(divmod(polynomial, factor)[1] == 0 for polynomial in declared):
                return factor
    return None


def _point_off(difference: Any, nonzero: Sequence[Any], names: Sequence[str]) -> dict[str, Fraction] | None:
    """Find a point where the difference and the given polynomials are all nonzero; small integers are tried first."""
    for values in _points(len(names)):
        if all(polynomial(*values) != 0 for polynomial in (difference, *nonzero)):
            return {name: Fraction(value) for name, value in zip(names, values, strict=True)}
    return None


def _points(dimension: int, tries: int = 2000) -> Iterator[tuple[int, ...]]:
    """Integer points from a small grid, then seeded ones of growing size."""
    yield from itertools.islice(itertools.product((0, 1, -1, 2, 3), repeat=dimension), tries)
    generator = np.random.default_rng(0)
    for attempt in range(tries):
        size = 10 + attempt * attempt
        yield tuple(int(value) for value in generator.integers(-size, size + 1, dimension))


def _shorten(value: Any, most: int = 200) -> str:
    text = str(value)
    return text if len(text) <= most else f"{text[: most - 3]}..."


def _z3_value(z3: Any, value: Any) -> Any:
    """Python form of a value in a model; text for what has none."""
    if z3.is_int_value(value):
        return value.as_long()
    if z3.is_rational_value(value):
        return Fraction(value.numerator_as_long(), value.denominator_as_long())
    if z3.is_true(value) or z3.is_false(value):
        return bool(z3.is_true(value))
    return str(value)
