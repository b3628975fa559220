"""Arithmetic circuits: directed acyclic graphs of additions, subtractions and multiplications.

A circuit is stored as topologically ordered arrays. Its size is its number of gates; inputs and constants are free.
Each input belongs to a variable: in a circuit for the network polynomial ``N(w, wbar)`` of ``n`` binary variables,
inputs ``i`` and ``n + i`` are ``w_i`` and ``wbar_i`` and both belong to variable ``i``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from fractions import Fraction
from functools import cached_property
from numbers import Rational

import numpy as np
from numpy.typing import NDArray

from whp.theory.foundations.argument_checks import whole_number

__all__ = ["ArithmeticCircuit", "CircuitBuilder", "GateCounts", "NodeKind", "as_fraction", "network_inputs"]

IntArray = NDArray[np.int64]


class NodeKind(IntEnum):
    """What a node of a circuit is."""

    INPUT = 0
    CONSTANT = 1
    ADD = 2
    SUBTRACT = 3
    MULTIPLY = 4


@dataclass(frozen=True)
class GateCounts:
    """Number of gates of each kind.

    Examples
    --------
    >>> GateCounts(additions=1, subtractions=0, multiplications=2).total
    3
    """

    additions: int
    subtractions: int
    multiplications: int

    @property
    def total(self) -> int:
        """All gates."""
        return self.additions + self.subtractions + self.multiplications


@dataclass(frozen=True, eq=False)
class ArithmeticCircuit:
    """An arithmetic circuit over the rationals with one or more outputs.

    Build one with `CircuitBuilder`.

    Attributes
    ----------
    kinds : ndarray of int8, shape (nodes,)
        A `NodeKind` per node; operands come before the gates that use them.
    left, right : ndarray of int64, shape (nodes,)
        Operands of a gate; for an input ``left`` is its number, for a constant its place in ``constants``.
    constants : tuple of Fraction
        The rational constants.
    inputs : tuple of str
        Names of the inputs.
    input_variables : tuple of int
        The variable each input belongs to.
    outputs : tuple of int
        Output nodes.
    """

    kinds: NDArray[np.int8]
    left: IntArray
    right: IntArray
    constants: tuple[Fraction, ...]
    inputs: tuple[str, ...]
    input_variables: tuple[int, ...]
    outputs: tuple[int, ...]

    def __post_init__(self) -> None:
        n = len(self.kinds)
        gates = self.kinds >= NodeKind.ADD
        index = np.arange(n)
        well_ordered = (self.left >= 0) & (self.right >= 0) & (self.left < index) & (self.right < index)
        if not np.all(well_ordered[gates]):
            bad = int(np.flatnonzero(gates & ~well_ordered)[0])
            raise ValueError(f"gate {bad} must use earlier nodes, got operands {self.left[bad]} and {self.right[bad]}")
        if len(self.input_variables) != len(self.inputs):
            raise ValueError(
                f"every input needs a variable, got {len(self.input_variables)} for {len(self.inputs)} inputs"
            )
        if not self.outputs or not all(0 <= output < n for output in self.outputs):
            raise ValueError(f"outputs must be one or more nodes of the circuit, got {self.outputs}")

    @property
    def n_nodes(self) -> int:
        """Number of nodes, inputs and constants included."""
        return len(self.kinds)

    @property
    def n_variables(self) -> int:
        """Number of variables the inputs belong to."""
        return max(self.input_variables, default=-1) + 1

    @property
    def output(self) -> int:
        """The only output.

        Raises
        ------
        ValueError
            If there are several.
        """
        if len(self.outputs) != 1:
            raise ValueError(f"the circuit has {len(self.outputs)} outputs; choose one of {self.outputs[:8]}")
        return self.outputs[0]

    @cached_property
    def gate_counts(self) -> GateCounts:
        """Number of gates of each kind."""
        add, sub, mul = (
            int((self.kinds == kind).sum()) for kind in (NodeKind.ADD, NodeKind.SUBTRACT, NodeKind.MULTIPLY)
        )
        return GateCounts(add, sub, mul)

    @property
    def size(self) -> int:
        """Number of gates."""
        return self.gate_counts.total

    @cached_property
    def depths(self) -> IntArray:
        """Longest path from a leaf to each node, shape (nodes,)."""
        depth = [0] * self.n_nodes
        for node, kind, left, right in self.walk():
            if kind >= NodeKind.ADD:
                depth[node] = 1 + max(depth[left], depth[right])
        return np.array(depth, dtype=np.int64)

    @cached_property
    def layers(self) -> tuple[tuple[NodeKind, IntArray, IntArray, IntArray], ...]:
        """Gates of equal depth and kind: ``(kind, nodes, left operands, right operands)``, in a valid order."""
        gates = np.flatnonzero(self.kinds >= NodeKind.ADD)
        key = self.depths[gates] * 8 + self.kinds[gates]
        order = gates[np.argsort(key, kind="stable")]
        cuts = np.flatnonzero(np.diff(np.sort(key, kind="stable"))) + 1
        parts = [part for part in np.split(order, cuts) if part.size]
        return tuple((NodeKind(int(self.kinds[part[0]])), part, self.left[part], self.right[part]) for part in parts)

    def walk(self) -> Iterator[tuple[int, int, int, int]]:
        """All nodes in topological order as ``(node, kind, left, right)``."""
        return zip(range(self.n_nodes), self.kinds.tolist(), self.left.tolist(), self.right.tolist(), strict=True)


def as_fraction(value: Rational | float | np.generic, name: str = "constant") -> Fraction:
    """Exact rational value of an integer, fraction or finite float.

    Raises
    ------
    TypeError
        If the value is not a real number.
    ValueError
        If it is not finite.

    Examples
    --------
    >>> as_fraction(0.5)
    Fraction(1, 2)
    """
    if isinstance(value, Rational):
        return Fraction(value)
    if isinstance(value, np.integer | np.floating):
        value = value.item()
    if isinstance(value, int | float):
        if isinstance(value, float) and not np.isfinite(value):
            raise ValueError(f"{name} must be finite, got {value!r}")
        return Fraction(value)
    raise TypeError(f"{name} must be an integer, fraction or finite float, got {value!r}")


def network_inputs(n: int) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """Names and variables of the inputs ``w_0..w_{n-1}, wbar_0..wbar_{n-1}`` of a network polynomial.

    Examples
    --------
    >>> network_inputs(2)
    (('w0', 'w1', 'wbar0', 'wbar1'), (0, 1, 0, 1))
    """
    names = (*(f"w{i}" for i in range(n)), *(f"wbar{i}" for i in range(n)))
    return names, (*range(n), *range(n))


class CircuitBuilder:
    """Grow a circuit gate by gate; nothing is simplified, so gates are exactly what was asked for.

    Parameters
    ----------
    inputs : iterable of str
        Names of the inputs.
    input_variables : sequence of int, optional
        The variable each input belongs to; by default each input is its own variable.

    Examples
    --------
    >>> builder = CircuitBuilder(["x", "y"])
    >>> circuit = builder.build(builder.multiply(builder.input(0), builder.add(builder.input(1), builder.constant(2))))
    >>> circuit.size
    2
    """

    def __init__(self, inputs: Iterable[str], input_variables: Sequence[int] | None = None) -> None:
        if isinstance(inputs, str):
            raise TypeError(f"inputs must be a sequence of names, got the text {inputs!r}")
        self.inputs = tuple(inputs)
        if len(set(self.inputs)) < len(self.inputs):
            raise ValueError(f"names of inputs must be different, got {self.inputs}")
        owners = range(len(self.inputs)) if input_variables is None else input_variables
        self.input_variables = tuple(whole_number(v, "input_variables", 0) for v in owners)
        self._kinds: list[int] = [NodeKind.INPUT] * len(self.inputs)
        self._left: list[int] = list(range(len(self.inputs)))
        self._right: list[int] = [-1] * len(self.inputs)
        self._constants: dict[Fraction, int] = {}

    def __len__(self) -> int:
        """Return the number of nodes so far."""
        return len(self._kinds)

    @property
    def n_gates(self) -> int:
        """Number of gates so far."""
        return len(self._kinds) - len(self.inputs) - len(self._constants)

    def input(self, number: int) -> int:
        """Node of an input.

        Raises
        ------
        ValueError
            If there is no such input.
        """
        place = whole_number(number, "input")
        if not 0 <= place < len(self.inputs):
            raise ValueError(f"input must be between 0 and {len(self.inputs) - 1}, got {place}")
        return place

    def constant(self, value: Rational | float) -> int:
        """Node of a rational constant; equal constants share a node."""
        fraction = as_fraction(value)
        if fraction not in self._constants:
            self._constants[fraction] = self._append(NodeKind.CONSTANT, len(self._constants), -1)
        return self._constants[fraction]

    def add(self, left: int, right: int) -> int:
        """Gate ``left + right``."""
        return self._gate(NodeKind.ADD, left, right)

    def subtract(self, left: int, right: int) -> int:
        """Gate ``left - right``."""
        return self._gate(NodeKind.SUBTRACT, left, right)

    def multiply(self, left: int, right: int) -> int:
        """Gate ``left * right``."""
        return self._gate(NodeKind.MULTIPLY, left, right)

    def gate(self, kind: NodeKind, left: int, right: int) -> int:
        """Gate of a kind given as a value."""
        if kind not in (NodeKind.ADD, NodeKind.SUBTRACT, NodeKind.MULTIPLY):
            raise ValueError(f"kind must be a gate (ADD, SUBTRACT or MULTIPLY), got {kind!r}")
        return self._gate(kind, left, right)

    def total(self, nodes: Sequence[int]) -> int:
        """Sum of nodes by a balanced tree of ``len(nodes) - 1`` additions; the constant 0 if there are none."""
        return self._balanced(NodeKind.ADD, nodes, 0)

    def product(self, nodes: Sequence[int]) -> int:
        """Product of nodes by a balanced tree of multiplications; the constant 1 if there are none."""
        return self._balanced(NodeKind.MULTIPLY, nodes, 1)

    def graft(self, circuit: ArithmeticCircuit, inputs: Sequence[int]) -> tuple[int, ...]:
        """Copy a circuit's gates, with the given nodes in place of its inputs; returns its output nodes.

        Raises
        ------
        ValueError
            If the number of nodes is not the number of its inputs.
        """
        if len(inputs) != len(circuit.inputs):
            raise ValueError(f"inputs must give a node for each of {len(circuit.inputs)} inputs, got {len(inputs)}")
        place: list[int] = []
        for _, kind, left, right in circuit.walk():
            if kind == NodeKind.INPUT:
                place.append(inputs[left])
            elif kind == NodeKind.CONSTANT:
                place.append(self.constant(circuit.constants[left]))
            else:
                place.append(self._gate(NodeKind(kind), place[left], place[right]))
        return tuple(place[output] for output in circuit.outputs)

    def build(self, *outputs: int) -> ArithmeticCircuit:
        """The finished circuit with these output nodes."""
        return ArithmeticCircuit(
            np.array(self._kinds, dtype=np.int8),
            np.array(self._left, dtype=np.int64),
            np.array(self._right, dtype=np.int64),
            tuple(self._constants),
            self.inputs,
            self.input_variables,
            tuple(whole_number(output, "outputs") for output in outputs),
        )

    def _balanced(self, kind: NodeKind, nodes: Sequence[int], empty: int) -> int:
        if not nodes:
            return self.constant(empty)
        row = list(nodes)
        while len(row) > 1:
            paired = [self._gate(kind, row[i], row[i + 1]) for i in range(0, len(row) - 1, 2)]
            row = paired + row[len(row) - len(row) % 2 :]
        return row[0]

    def _gate(self, kind: NodeKind, left: int, right: int) -> int:
        left, right = whole_number(left, "operands"), whole_number(right, "operands")
        for operand in (left, right):
            if not 0 <= operand < len(self._kinds):
                raise ValueError(f"operands must be nodes between 0 and {len(self._kinds) - 1}, got {operand}")
        return self._append(kind, left, right)

    def _append(self, kind: NodeKind, left: int, right: int) -> int:
        self._kinds.append(kind)
        self._left.append(left)
        self._right.append(right)
        return len(self._kinds) - 1
