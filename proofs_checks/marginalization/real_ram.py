"""Checks of T7: a real-RAM program for p becomes a division-free circuit; special paths and floor are refused."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from whp.algorithms.marginalization import division_removal, real_ram
from whp.algorithms.marginalization.circuits import ArithmeticCircuit, CircuitBuilder
from whp.proofs_checks.engine import Check, Instances, Mutant, Slack, at_most, identity, requires
from whp.proofs_checks.marginalization.brute_force_oracle import refuses
from whp.proofs_checks.marginalization.gate_lists import GateList
from whp.proofs_checks.marginalization.instances import REFERENCE_KERNEL, TRIANGLE_TABLE, davis_counts
from whp.theory.core import Slot
from whp.theory.marginalization import DPPKernel, TruthTable, multilinear_extension, principal_minor
from whp.theory.marginalization.theorems import EXTRACTED_GATES

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

Program = Callable[[Sequence[Any]], Any]
Point = tuple[Fraction, ...]


class CountedReal:
    """A rational that counts the operations done with it: what ``T`` is judged by."""

    __array_ufunc__ = None

    def __init__(self, value: Any, tally: list[int]) -> None:
        self.value, self.tally = Fraction(value), tally

    def _binary(self, other: Any, combine: Callable[[Fraction, Fraction], Fraction]) -> CountedReal:
        self.tally[0] += 1
        return CountedReal(combine(self.value, _plain(other)), self.tally)

    def __add__(self, other: Any) -> CountedReal:
        return self._binary(other, lambda a, b: a + b)

    def __sub__(self, other: Any) -> CountedReal:
        return self._binary(other, lambda a, b: a - b)

    def __mul__(self, other: Any) -> CountedReal:
        return self._binary(other, lambda a, b: a * b)

    def __truediv__(self, other: Any) -> CountedReal:
        return self._binary(other, lambda a, b: a / b)

    __radd__, __rmul__ = __add__, __mul__

    def __rsub__(self, other: Any) -> CountedReal:
        return self._binary(other, lambda a, b: b - a)

    def __rtruediv__(self, other: Any) -> CountedReal:
        return self._binary(other, lambda a, b: b / a)

    def __neg__(self) -> CountedReal:
        return 0 - self

    def __eq__(self, other: object) -> bool:
        return self.value == _plain(other)

    def __lt__(self, other: Any) -> bool:
        return self.value < _plain(other)

    def __gt__(self, other: Any) -> bool:
        return self.value > _plain(other)

    __hash__ = None  # type: ignore[assignment]


def _plain(number: Any) -> Fraction:
    return number.value if isinstance(number, CountedReal) else Fraction(number)


# programs


def elimination(table: TruthTable, kernel: DPPKernel) -> Program:
    """Gaussian elimination on ``diag(1-w) + diag(w) L``, after a lookup of inputs that are all 0 or 1."""
    n = kernel.n

    def program(w: Sequence[Any]) -> Any:
        if n and all(x == 0 or x == 1 for x in w):
            return table(*(int(x == 1) for x in w))
        rows = [[w[i] * kernel.matrix[i][j] + (1 - w[i] if i == j else 0) for j in range(n)] for i in range(n)]
        result: Any = Fraction(1)
        for c in range(n):
            pivot = next((r for r in range(c, n) if rows[r][c] != 0), None) if c < n - 1 else c
            if pivot is None:
                return Fraction(0)
            if pivot != c:
                rows[c], rows[pivot] = rows[pivot], rows[c]
                result = -result
            result = result * rows[c][c]
            for r in range(c + 1, n):
                factor = rows[r][c] / rows[c][c]
                rows[r] = [a - factor * b for a, b in zip(rows[r], rows[c], strict=True)]
        return result

    return program


def rescaled_sums(table: TruthTable) -> Program:
    """``p`` by eliminating variables, each step multiplied and divided by ``w_i + 2``; the order of a step depends on
    a comparison that does not matter."""  # noqa: D205, D209

    def program(w: Sequence[Any]) -> Any:
        row: list[Any] = [Fraction(value) for value in table.values.tolist()]
        for x in reversed(w):
            scale = x + 2
            if x > 5:
                row = [(x * (b * scale) + (1 - x) * (a * scale)) / scale for a, b in _pairs(row)]
            else:
                row = [((1 - x) * (a * scale) + x * (b * scale)) / scale for a, b in _pairs(row)]
        return row[0]

    return program


def _pairs(row: Sequence[Any]) -> list[tuple[Any, Any]]:
    return [(row[k], row[k + 1]) for k in range(0, len(row), 2)]


def interpolation(table: TruthTable) -> Program:
    """``p`` on the line through ``w`` and the point of halves, from values at other points: Lagrange's formula."""
    n = table.n

    def program(w: Sequence[Any]) -> Any:
        if n == 0:
            return Fraction(table())
        nodes = [Fraction(k) for k in range(2, n + 3)]
        total: Any = Fraction(0)
        for node in nodes:
            weight: Any = Fraction(1)
            for other in nodes:
                if other != node:
                    weight = weight * ((1 - other) / (node - other))
            total = total + weight * _extension(table, [x * node + (1 - node) / 2 for x in w])
        return total * (w[0] + 3) / (w[0] + 3)

    return program


def _extension(table: TruthTable, u: Sequence[Any]) -> Any:
    row: list[Any] = [Fraction(value) for value in table.values.tolist()]
    for x in reversed(u):
        row = [a + x * (b - a) for a, b in _pairs(row)]
    return row[0]


@dataclass(frozen=True)
class RamCase:
    """A program for the multilinear extension of a function, and two points to run it at.

    ``program`` is "elimination" (the function is then that of ``kernel``), "rescaled sums" or "interpolation".
    """

    program: str
    table: TruthTable
    kernel: DPPKernel | None
    xi: Point
    second_xi: Point

    def build(self) -> Program:
        """The program."""
        if self.program == "elimination":
            assert self.kernel is not None
            return elimination(self.table, self.kernel)
        return {"rescaled sums": rescaled_sums, "interpolation": interpolation}[self.program](self.table)


def case(program: str, function: TruthTable | DPPKernel, seed: int) -> RamCase:
    """A case at two points drawn from a seed."""
    rng = np.random.default_rng(seed)
    if isinstance(function, DPPKernel):
        kernel, table = function, TruthTable.from_function(function.n, _minors_of(function))
    else:
        kernel, table = None, function
    points = [tuple(_generic(rng) for _ in range(table.n)) for _ in range(2)]
    return RamCase(program, table, kernel, points[0], points[1])


def _minors_of(kernel: DPPKernel) -> Callable[[Sequence[int]], Any]:
    return lambda x: principal_minor(kernel, x)


def _generic(rng: np.random.Generator) -> Fraction:
    """Numerator and denominator of 48 bits."""
    a, b = (int(x) for x in rng.integers(2**47, 2**48, size=2))
    return Fraction(a, b)


def ram_cases() -> Mapping[str, RamCase]:
    """The worked example, extreme functions and a real one."""
    return {
        "worked example": case("elimination", REFERENCE_KERNEL, 1),
        "singular kernel": case("elimination", DPPKernel.of([[1, 1], [1, 1]]), 2),
        "zero diagonal": case("elimination", DPPKernel.of([[0, 2, 1], [3, 0, 1], [1, 1, 0]]), 3),
        "no variable": case("rescaled sums", TruthTable(0, [7]), 4),
        "zero function": case("rescaled sums", TruthTable(2, [0] * 4), 5),
        "triangle form": case("interpolation", TRIANGLE_TABLE, 6),
        "Davis attendance": case("rescaled sums", davis_counts(4), 7),
    }


def draw_ram_cases(rng: np.random.Generator, size: int) -> list[RamCase]:
    """Kernels and tables on 1 to 3 variables with entries in [-3, 3], each with a program and points."""
    found = []
    for _ in range(size):
        n, seed = int(rng.integers(1, 4)), int(rng.integers(2**31))
        kind = ("elimination", "rescaled sums", "interpolation")[int(rng.integers(3))]
        if kind == "elimination":
            found.append(case(kind, DPPKernel.of(rng.integers(-3, 4, size=(n, n)).tolist()), seed))
        else:
            found.append(case(kind, TruthTable(n, rng.integers(-3, 4, size=2**n)), seed))
    return found


def structured_ram_cases() -> SearchStrategy[RamCase]:
    """Small kernels and tables on 0 to 2 variables."""
    from hypothesis import strategies as st

    @st.composite
    def cases(draw: Any) -> RamCase:
        n, seed = draw(st.integers(0, 2)), draw(st.integers(0, 99))
        if draw(st.booleans()):
            rows = draw(st.lists(st.lists(st.integers(-2, 2), min_size=n, max_size=n), min_size=n, max_size=n))
            return case("elimination", DPPKernel.of(rows), seed)
        values = draw(st.lists(st.integers(-2, 2), min_size=2**n, max_size=2**n))
        return case(draw(st.sampled_from(["rescaled sums", "interpolation"])), TruthTable(n, values), seed)

    return cases()


PROGRAMS = Instances(
    scope="elimination with lookup on kernels, rescaled sums and interpolation on tables, n <= 3 (4 for Davis data)",
    examples=ram_cases,
    draw=draw_ram_cases,
    strategy=structured_ram_cases,
)

EXTRACT_CIRCUIT = Slot(
    "extract_circuit",
    "(program, xi, second_xi)",
    "program: callable of n numbers; xi, second_xi: n fractions each, independent points",
    "a division-free circuit of p in w_1..w_n; raises TypeError for floor and ValueError for special paths",
    ("program", "xi", "second_xi"),
)

GRID = (Fraction(0), Fraction(1), Fraction(2))
PROBE = (Fraction(1, 3), Fraction(3, 4), Fraction(2, 5), Fraction(-7, 3))


def circuits_from_programs(instance: RamCase, *, extract_circuit: Any) -> Slack:
    """The circuit equals p on {0, 1, 2}^n and at a generic point, within ``(n+1)^2 T + 2n`` gates."""
    table, n = instance.table, instance.table.n
    tally = [0]
    program = instance.build()
    program([CountedReal(x, tally) for x in instance.xi])
    circuit = GateList.read(extract_circuit(program, instance.xi, instance.second_xi))
    points = [*itertools.product(GRID, repeat=n), PROBE[:n]]
    return (
        identity("p", [circuit.value(u) for u in points], [multilinear_extension(table, u) for u in points])
        & at_most("gates", circuit.size, int(EXTRACTED_GATES(n=n, steps=tally[0])))
        & requires("division-free", circuit.division_free)
    )


def what_is_not_a_path_is_refused(instance: RamCase, *, extract_circuit: Any) -> Slack:
    """Programs that round, and paths that hold at one point only, are refused."""
    table, n = instance.table, instance.table.n
    program = instance.build()
    if n == 0:
        return requires("special path refused", True)
    xi, second = instance.xi, instance.second_xi
    corner = tuple(Fraction(int(i == 0)) for i in range(n))

    def with_lookup(w: Sequence[Any]) -> Any:
        """The same function, with one entry looked up in a table."""
        return table(*(int(x == 1) for x in w)) if all(x == 0 or x == 1 for x in w) else program(w)

    def with_floor(w: Sequence[Any]) -> Any:
        """The same function on the cube's inside, by a program that rounds."""
        return program(w) + math.floor(w[0] / 2) * 0

    def with_remainder(w: Sequence[Any]) -> Any:
        """The same again, by a remainder."""
        return program(w) + (w[0] % 1) * 0

    return (
        requires("special path refused", refuses(extract_circuit, with_lookup, corner, second))
        & requires("floor refused", refuses(extract_circuit, with_floor, xi, second, error=TypeError))
        & requires("remainder refused", refuses(extract_circuit, with_remainder, xi, second, error=TypeError))
    )


# reference subject and mutants


def _extract(program: Program, xi: Point, second_xi: Point) -> ArithmeticCircuit:
    return division_removal.strassen_divfree(real_ram.trace_real_ram(program, xi, second_xi)).circuit


def _path_at_a_corner(program: Program, xi: Point, second_xi: Point) -> ArithmeticCircuit:
    """The path is taken at a point of the cube, without a second point."""
    try:
        trace = real_ram.record_path(program, [Fraction(int(i < 2)) for i in range(len(xi))])
    except real_ram.NonGenericPathError:
        return _extract(program, xi, second_xi)
    return division_removal.strassen_divfree(trace).circuit


def _truncated_early(program: Program, xi: Point, second_xi: Point) -> ArithmeticCircuit:
    """Series cut after degree ``n - 1``."""
    trace = real_ram.trace_real_ram(program, xi, second_xi)
    return division_removal.strassen_divfree(trace, max(len(xi) - 1, 0)).circuit


def _without_sharing(program: Program, xi: Point, second_xi: Point) -> ArithmeticCircuit:
    """Right, but the circuit is written many times over."""
    circuit = _extract(program, xi, second_xi)
    builder = CircuitBuilder(circuit.inputs)
    inputs = range(len(circuit.inputs))
    node = builder.graft(circuit, inputs)[0]
    for _ in range(20):
        again = [builder.graft(circuit, inputs)[0] for _ in range(2)]
        node = builder.add(node, builder.subtract(again[0], again[1]))
    return builder.build(node)


def _one_point_only(program: Program, xi: Point, second_xi: Point) -> ArithmeticCircuit:
    """Does not look at a second point."""
    return division_removal.strassen_divfree(real_ram.record_path(program, xi)).circuit


def _floor_accepted(program: Program, xi: Point, second_xi: Point) -> ArithmeticCircuit:
    """Floor and remainder are taken at the point and treated as constants."""

    class Rounded(CountedReal):
        def __floor__(self) -> int:
            return math.floor(self.value)

        def __mod__(self, other: Any) -> Fraction:
            return self.value % _plain(other)

        def _binary(self, other: Any, combine: Callable[[Fraction, Fraction], Fraction]) -> CountedReal:
            return Rounded(combine(self.value, _plain(other)), self.tally)

    value = _plain(program([Rounded(x, [0]) for x in xi]))
    builder = CircuitBuilder([f"w{i}" for i in range(len(xi))])
    try:
        return _extract(program, xi, second_xi)
    except real_ram.NotRealRamError:
        return builder.build(builder.constant(value))


CHECKS = (
    Check(
        theorem="marginalization.T7",
        name="extraction",
        kind="slack",
        observe=circuits_from_programs,
        instances=PROGRAMS,
        slots={EXTRACT_CIRCUIT: _extract},
        mutants=(
            Mutant("path at a corner of the cube", "p", {"extract_circuit": _path_at_a_corner}),
            Mutant("series cut at n - 1", "p", {"extract_circuit": _truncated_early}),
            Mutant("nothing shared", "gates", {"extract_circuit": _without_sharing}),
        ),
        cost=100,
    ),
    Check(
        theorem="marginalization.T7",
        name="refusals",
        kind="slack",
        observe=what_is_not_a_path_is_refused,
        instances=PROGRAMS,
        slots={EXTRACT_CIRCUIT: _extract},
        mutants=(
            Mutant("one point only", "special path refused", {"extract_circuit": _one_point_only}),
            Mutant("floor accepted", "floor refused", {"extract_circuit": _floor_accepted}),
        ),
        cost=8,
    ),
)
