"""Run a program on real numbers that remember how they were computed.

A real RAM adds, subtracts, multiplies, divides and compares reals; it cannot round them or look at their digits. A
`TracedReal` carries its exact value at a point ``xi`` and the node that produced it. Running a program on traced
reals yields the straight-line program of the path taken at ``xi``; anything a real RAM cannot do raises
`NotRealRamError`.

The path is valid in a neighbourhood of ``xi``, and so determines the polynomial, only if no comparison is decided by an
equality that fails nearby. `trace_real_ram` therefore replays the program at a second point.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from numbers import Rational
from typing import Any, NoReturn

import numpy as np

from whp.algorithms.marginalization.circuits import as_fraction
from whp.theory.foundations.argument_checks import require_generator, whole_number

__all__ = [
    "Comparison",
    "NonGenericPathError",
    "NotRealRamError",
    "RealRamTrace",
    "TraceNode",
    "TraceOperation",
    "TracedReal",
    "generic_point",
    "record_path",
    "trace_real_ram",
]

#: A real-RAM program: takes the inputs, returns one number.
RealProgram = Callable[[Sequence[Any]], Any]


class NotRealRamError(TypeError):
    """The program did something a real RAM cannot do (rounding, remainders, bits, conversion, hashing)."""


class NonGenericPathError(ValueError):
    """The path at this point says nothing of its neighbourhood: an accidental equality or vanishing denominator."""


class TraceOperation(Enum):
    """What a node of a trace is."""

    INPUT = "input"
    CONSTANT = "constant"
    ADD = "+"
    SUBTRACT = "-"
    MULTIPLY = "*"
    DIVIDE = "/"


@dataclass(frozen=True)
class TraceNode:
    """One value of a trace.

    Attributes
    ----------
    operation : TraceOperation
        How it came about.
    left, right : int
        Operand nodes (the number of the input in ``left`` for inputs, otherwise -1 where unused).
    constant : Fraction or None
        The value of a constant.
    """

    operation: TraceOperation
    left: int = -1
    right: int = -1
    constant: Fraction | None = None


@dataclass(frozen=True)
class Comparison:
    """A comparison the program made: ``left operator right`` with its outcome."""

    left: int
    operator: str
    right: int
    outcome: bool


@dataclass(frozen=True)
class RealRamTrace:
    """The path a program took at a point, as a straight-line program.

    Attributes
    ----------
    xi : tuple of Fraction
        The point.
    nodes : tuple of TraceNode
        Inputs, constants and operations, operands first.
    values : tuple of Fraction
        Their exact values at ``xi``.
    comparisons : tuple of Comparison
        In the order in which they were made.
    output : int
        The node returned.
    """

    xi: tuple[Fraction, ...]
    nodes: tuple[TraceNode, ...]
    values: tuple[Fraction, ...]
    comparisons: tuple[Comparison, ...]
    output: int

    def count(self, operation: TraceOperation) -> int:
        """Number of nodes of one kind."""
        return sum(node.operation is operation for node in self.nodes)

    @property
    def n_operations(self) -> int:
        """Arithmetic operations on the path, ``T``; comparisons are not counted."""
        return sum(node.operation not in (TraceOperation.INPUT, TraceOperation.CONSTANT) for node in self.nodes)

    @property
    def value(self) -> Fraction:
        """The program's result at ``xi``."""
        return self.values[self.output]

    def replay(self, point: Sequence[Rational | float]) -> tuple[Fraction, ...]:
        """Values of all nodes of this straight-line program at another point.

        Raises
        ------
        NonGenericPathError
            If a denominator vanishes there.
        """
        if len(point) != len(self.xi):
            raise ValueError(f"point must have {len(self.xi)} coordinates like xi, got {len(point)}")
        values: list[Fraction] = []
        for number, node in enumerate(self.nodes):
            if node.operation is TraceOperation.INPUT:
                values.append(as_fraction(point[node.left]))
            elif node.constant is not None:
                values.append(node.constant)
            else:
                values.append(_applied(node.operation, values[node.left], values[node.right], number))
        return tuple(values)


def _applied(operation: TraceOperation, a: Fraction, b: Fraction, number: int) -> Fraction:
    if operation is TraceOperation.ADD:
        return a + b
    if operation is TraceOperation.SUBTRACT:
        return a - b
    if operation is TraceOperation.MULTIPLY:
        return a * b
    if b == 0:
        raise NonGenericPathError(f"operation {number} divides by a value that is 0 at this point; choose another xi")
    return a / b


class _Recorder:
    def __init__(self, xi: tuple[Fraction, ...]) -> None:
        self.nodes = [TraceNode(TraceOperation.INPUT, left=i) for i in range(len(xi))]
        self.values = list(xi)
        self.comparisons: list[Comparison] = []
        self._constants: dict[Fraction, int] = {}

    def lift(self, value: Any) -> TracedReal | None:
        """A traced real of the same run, a number as a constant, or None for anything else."""
        if isinstance(value, TracedReal):
            if value._recorder is not self:
                raise NotRealRamError("the program mixed numbers of two runs; keep no traced numbers between runs")
            return value
        try:
            constant = as_fraction(value)
        except TypeError:
            return None
        if constant not in self._constants:
            self._constants[constant] = self._append(TraceNode(TraceOperation.CONSTANT, constant=constant), constant)
        return TracedReal(self, self._constants[constant])

    def operate(self, operation: TraceOperation, left: int, right: int) -> TracedReal:
        value = _applied(operation, self.values[left], self.values[right], len(self.nodes))
        return TracedReal(self, self._append(TraceNode(operation, left, right), value))

    def compare(self, left: int, operator: str, right: int) -> bool:
        a, b = self.values[left], self.values[right]
        outcome = {"<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b, "==": a == b, "!=": a != b}[operator]
        self.comparisons.append(Comparison(left, operator, right, outcome))
        return outcome

    def _append(self, node: TraceNode, value: Fraction) -> int:
        self.nodes.append(node)
        self.values.append(value)
        return len(self.nodes) - 1


def _refused(name: str) -> Callable[..., NoReturn]:
    def refuse(self: TracedReal, *args: object, **kwargs: object) -> NoReturn:
        raise NotRealRamError(f"a real RAM has no {name}; the program used it on a traced number")

    return refuse


def _arithmetic(operation: TraceOperation) -> tuple[Callable[..., Any], Callable[..., Any]]:
    def forward(self: TracedReal, other: Any) -> Any:
        lifted = self._recorder.lift(other)
        return NotImplemented if lifted is None else self._recorder.operate(operation, self._node, lifted._node)

    def backward(self: TracedReal, other: Any) -> Any:
        lifted = self._recorder.lift(other)
        return NotImplemented if lifted is None else self._recorder.operate(operation, lifted._node, self._node)

    return forward, backward


def _comparing(operator: str) -> Callable[..., Any]:
    def compare(self: TracedReal, other: Any) -> Any:
        lifted = self._recorder.lift(other)
        return NotImplemented if lifted is None else self._recorder.compare(self._node, operator, lifted._node)

    return compare


class TracedReal:
    """A real number that records the operations done with it; made by `record_path` only.

    Supports ``+ - * /``, non-negative and negative integer powers (as repeated multiplication), ``abs`` and
    comparisons with numbers. Everything else raises `NotRealRamError`.
    """

    __slots__ = ("_node", "_recorder")
    __array_ufunc__ = None  # numpy scalars hand arithmetic over to the methods below

    def __init__(self, recorder: _Recorder, node: int) -> None:
        self._recorder = recorder
        self._node = node

    __add__, __radd__ = _arithmetic(TraceOperation.ADD)
    __sub__, __rsub__ = _arithmetic(TraceOperation.SUBTRACT)
    __mul__, __rmul__ = _arithmetic(TraceOperation.MULTIPLY)
    __truediv__, __rtruediv__ = _arithmetic(TraceOperation.DIVIDE)
    __lt__, __le__, __gt__, __ge__ = (_comparing(operator) for operator in ("<", "<=", ">", ">="))
    __eq__, __ne__ = _comparing("=="), _comparing("!=")

    def __neg__(self) -> Any:
        return 0 - self

    def __pos__(self) -> TracedReal:
        return self

    def __abs__(self) -> Any:
        return -self if self < 0 else self

    def __bool__(self) -> bool:
        return bool(self != 0)

    def __pow__(self, exponent: object) -> Any:
        if not isinstance(exponent, int):
            raise NotRealRamError(f"a real RAM has only whole powers; the program used the power {exponent!r}")
        if exponent < 0:
            return 1 / self**-exponent
        if exponent == 0:
            return self._recorder.lift(1)
        result: Any = self
        for _ in range(exponent - 1):
            result = result * self
        return result

    def __repr__(self) -> str:
        return f"TracedReal(node {self._node})"

    __floor__ = _refused("floor")
    __ceil__ = _refused("ceiling")
    __trunc__ = _refused("truncation")
    __round__ = _refused("rounding")
    __int__ = _refused("conversion to an integer")
    __index__ = _refused("use of a real as an index")
    __float__ = _refused("conversion to a float")
    __complex__ = _refused("conversion to a complex number")
    __floordiv__ = __rfloordiv__ = _refused("floor division")
    __mod__ = __rmod__ = _refused("remainder")
    __divmod__ = __rdivmod__ = _refused("division with remainder")
    __and__ = __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = _refused("bit operation")
    __lshift__ = __rlshift__ = __rshift__ = __rrshift__ = __invert__ = _refused("bit operation")
    __rpow__ = _refused("real exponent")
    __hash__ = _refused("hashing of reals")
    as_integer_ratio = _refused("numerator and denominator")
    is_integer = _refused("test for whole numbers")


def generic_point(n: int, rng: np.random.Generator, bits: int = 48) -> tuple[Fraction, ...]:
    """Random rational point with numerators and denominators of ``bits`` bits, strictly between 0 and 1.

    Parameters
    ----------
    n : int
        Number of coordinates.
    rng : numpy.random.Generator
        Source of randomness.
    bits : int, optional
        At least 40, so that an accidental zero of a polynomial of modest degree is very unlikely.
    """
    bits = whole_number(bits, "bits", 40)
    require_generator(rng)
    width = max(8, -(-bits // 8))
    point = []
    for _ in range(whole_number(n, "n", 0)):
        a, b = (int.from_bytes(rng.bytes(width), "little") % 2 ** (bits - 1) + 2 ** (bits - 1) for _ in range(2))
        point.append(Fraction(min(a, b), max(a, b) + 1))
    return tuple(point)


def record_path(program: RealProgram, xi: Sequence[Rational | float]) -> RealRamTrace:
    """Run a program at one point and record its path, without asking whether the path is generic.

    Parameters
    ----------
    program : callable
        Takes a list of numbers, returns one number; may use ``+ - * /``, comparisons, integer loops and indices.
    xi : sequence of rationals
        The point.

    Raises
    ------
    NotRealRamError
        If the program leaves the real RAM or returns something that is not a number.
    NonGenericPathError
        If it divides by zero at ``xi``.
    """
    point = tuple(as_fraction(x, f"xi[{i}]") for i, x in enumerate(xi))
    recorder = _Recorder(point)
    result = program([TracedReal(recorder, i) for i in range(len(point))])
    output = recorder.lift(result)
    if output is None:
        raise NotRealRamError(f"the program must return one number, got {type(result).__name__}")
    return RealRamTrace(point, tuple(recorder.nodes), tuple(recorder.values), tuple(recorder.comparisons), output._node)


def trace_real_ram(
    program: RealProgram, xi: Sequence[Rational | float], second_xi: Sequence[Rational | float]
) -> RealRamTrace:
    """Straight-line program of a real-RAM program at a generic point.

    Parameters
    ----------
    program : callable
        As in `record_path`.
    xi, second_xi : sequence of rationals
        Two independent points, best from `generic_point`.

    Returns
    -------
    RealRamTrace
        The path at ``xi``.

    Raises
    ------
    NotRealRamError
        If the program leaves the real RAM.
    NonGenericPathError
        If a comparison holds with equality at ``xi`` but not at the second point, if the two points take different
        paths or share a coordinate, or if a denominator vanishes.
    """
    trace = record_path(program, xi)
    if len(second_xi) != len(trace.xi):
        raise ValueError(f"second_xi must have {len(trace.xi)} coordinates like xi, got {len(second_xi)}")
    shared = [i for i, (a, b) in enumerate(zip(trace.xi, second_xi, strict=True)) if a == b]
    if shared:
        raise NonGenericPathError(
            f"xi and second_xi must differ in every coordinate, or nothing is tested there; equal at {shared}"
        )
    there = trace.replay(second_xi)
    for number, test in enumerate(trace.comparisons):
        if trace.values[test.left] == trace.values[test.right] and there[test.left] != there[test.right]:
            raise NonGenericPathError(
                f"comparison {number} ({test.operator}) holds with equality at xi but not at second_xi: the path at xi "
                "is special to that point; choose a generic xi"
            )
    second = record_path(program, second_xi)
    if second.nodes != trace.nodes or second.output != trace.output:
        differing = next(
            (i for i, (a, b) in enumerate(zip(trace.comparisons, second.comparisons, strict=False)) if a != b), None
        )
        raise NonGenericPathError(
            f"the program takes different paths at xi and second_xi (first at comparison {differing}); choose two "
            "points in the same region"
        )
    return trace
