"""Arithmetic circuits as plain data, with the definitions that checks judge by: value, slopes, gates, polynomial.

A `GateList` can be written into evidence and knows nothing of any solver. What subjects return is read into one
(`GateList.read`), so that gates are counted and values computed here.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from whp.theory.marginalization import Scalar, TruthTable

#: Gates as texts, in the numbering of kinds that circuits use: input, constant, then these.
OPERATIONS = ("+", "-", "*")
Monomials = dict[tuple[int, ...], Fraction]


@dataclass(frozen=True)
class GateList:
    """A circuit: inputs ``0..n_inputs-1``, then constants, then gates, numbered in this order.

    Attributes
    ----------
    n_inputs : int
        Number of inputs.
    constants : tuple of Fraction
        The constants.
    gates : tuple of (str, int, int)
        Operation and operands of each gate; operands have smaller numbers.
    outputs : tuple of int
        Output nodes.
    """

    n_inputs: int
    constants: tuple[Fraction, ...]
    gates: tuple[tuple[str, int, int], ...]
    outputs: tuple[int, ...]

    @classmethod
    def read(cls, circuit: Any) -> GateList:
        """Read an object with ``kinds`` (0 input, 1 constant, 2 +, 3 -, 4 *), ``left``, ``right``, ``constants``,
        ``inputs`` and ``outputs``; inputs may stand anywhere."""  # noqa: D205, D209
        if isinstance(circuit, cls):
            return circuit
        kinds = [int(kind) for kind in circuit.kinds]
        left, right = [int(i) for i in circuit.left], [int(i) for i in circuit.right]
        n, constants = len(circuit.inputs), [Fraction(c) for c in circuit.constants]
        place, gates = [], []
        for kind, a, b in zip(kinds, left, right, strict=True):
            if kind == 0:
                place.append(a)
            elif kind == 1:
                place.append(n + a)
            else:
                gates.append((OPERATIONS[kind - 2], place[a], place[b]))
                place.append(n + len(constants) + len(gates) - 1)
        return cls(n, tuple(constants), tuple(gates), tuple(place[int(o)] for o in circuit.outputs))

    @property
    def size(self) -> int:
        """Number of gates."""
        return len(self.gates)

    @property
    def division_free(self) -> bool:
        """Whether all gates are additions, subtractions and multiplications."""
        return all(operation in OPERATIONS for operation, _, _ in self.gates)

    def _run(self, leaves: list[Any], combine: Any) -> list[Any]:
        for operation, a, b in self.gates:
            leaves.append(combine(operation, leaves[a], leaves[b]))
        return [leaves[output] for output in self.outputs]

    def values(self, point: Sequence[Scalar]) -> list[Fraction]:
        """Outputs at a rational point."""
        leaves = [*(Fraction(x) for x in point), *self.constants]

        def combine(operation: str, a: Fraction, b: Fraction) -> Fraction:
            return a * b if operation == "*" else a + b if operation == "+" else a - b

        return self._run(list(leaves), combine)

    def value(self, point: Sequence[Scalar]) -> Fraction:
        """First output at a rational point."""
        return self.values(point)[0]

    def slopes(self, point: Sequence[Scalar]) -> list[Fraction]:
        """All partial derivatives of the first output at a rational point, by dual numbers."""
        n = self.n_inputs
        leaves: list[Any] = [(Fraction(x), [Fraction(int(i == j)) for j in range(n)]) for i, x in enumerate(point)]
        leaves += [(c, [Fraction(0)] * n) for c in self.constants]

        def combine(operation: str, a: Any, b: Any) -> Any:
            (x, dx), (y, dy) = a, b
            if operation == "*":
                return x * y, [s * y + x * t for s, t in zip(dx, dy, strict=True)]
            sign = 1 if operation == "+" else -1
            return x + sign * y, [s + sign * t for s, t in zip(dx, dy, strict=True)]

        slopes: list[Fraction] = self._run(leaves, combine)[0][1]
        return slopes

    def polynomial(self) -> Monomials:
        """First output as monomials: sorted inputs with repetition, and their coefficients."""
        leaves: list[Monomials] = [{(i,): Fraction(1)} for i in range(self.n_inputs)]
        leaves += [{(): c} if c else {} for c in self.constants]

        def combine(operation: str, a: Monomials, b: Monomials) -> Monomials:
            if operation == "*":
                terms = [(tuple(sorted(m + k)), x * y) for (m, x), (k, y) in itertools.product(a.items(), b.items())]
            else:
                sign = 1 if operation == "+" else -1
                terms = [*a.items(), *((m, sign * x) for m, x in b.items())]
            total: Monomials = {}
            for monomial, coefficient in terms:
                total[monomial] = total.get(monomial, Fraction(0)) + coefficient
            return {monomial: coefficient for monomial, coefficient in total.items() if coefficient}

        found: Monomials = self._run(leaves, combine)[0]
        return found


class GateWriter:
    """Write a gate list step by step, without simplification."""

    def __init__(self, n_inputs: int, constants: Iterable[Scalar]) -> None:
        self.n_inputs = n_inputs
        self.constants = tuple(dict.fromkeys(Fraction(c) for c in constants))
        self.gates: list[tuple[str, int, int]] = []

    def constant(self, value: Scalar) -> int:
        """Node of a declared constant."""
        return self.n_inputs + self.constants.index(Fraction(value))

    def gate(self, operation: str, a: int, b: int) -> int:
        """Node of a new gate."""
        self.gates.append((operation, a, b))
        return self.n_inputs + len(self.constants) + len(self.gates) - 1

    def fold(self, operation: str, nodes: Sequence[int]) -> int:
        """Combine nodes from left to right."""
        result = nodes[0]
        for node in nodes[1:]:
            result = self.gate(operation, result, node)
        return result

    def finish(self, *outputs: int) -> GateList:
        """The finished list."""
        return GateList(self.n_inputs, self.constants, tuple(self.gates), outputs)


def network_gates(f: TruthTable) -> GateList:
    """``N(w, w̄)`` as a sum of products; inputs ``w_1..w_n, w̄_1..w̄_n``."""
    n = f.n
    values = [Fraction(value) for value in f.values.tolist()]
    writer = GateWriter(2 * n, values)
    terms = []
    for value, x in zip(values, itertools.product((0, 1), repeat=n), strict=True):
        literals = [i if bit else n + i for i, bit in enumerate(x)]
        terms.append(writer.fold("*", [writer.constant(value), *literals]))
    return writer.finish(writer.fold("+", terms))


def shared_network_gates(f: TruthTable) -> GateList:
    """``N(w, w̄)`` by eliminating one variable after the other: smaller, with nodes used more than once."""
    n = f.n
    values = [Fraction(value) for value in f.values.tolist()]
    writer = GateWriter(2 * n, values)
    row = [writer.constant(value) for value in values]
    for i in reversed(range(n)):
        row = [
            writer.gate("+", writer.gate("*", row[k], n + i), writer.gate("*", row[k + 1], i))
            for k in range(0, len(row), 2)
        ]
    return writer.finish(row[0])


def substituted(gates: GateList, kind: str) -> GateList:
    """The polynomial ``p(x) = N(x, 1-x)``, ``g(z) = N(z, 1)`` or ``F(s) = p((1-s)/2)`` of a network polynomial."""
    n = gates.n_inputs // 2
    half = Fraction(1, 2)
    writer = GateWriter(n, [*gates.constants, 1, half])
    one = writer.constant(1)
    ones = list(range(n))
    if kind == "F":
        ones = [writer.gate("*", writer.constant(half), writer.gate("-", one, i)) for i in range(n)]
    zeros = [one if kind == "g" else writer.gate("-", one, node) for node in ones]
    place = [*ones, *zeros, *(writer.constant(c) for c in gates.constants)]
    for operation, a, b in gates.gates:
        place.append(writer.gate(operation, place[a], place[b]))
    return writer.finish(place[gates.outputs[0]])
