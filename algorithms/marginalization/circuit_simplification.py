"""Shorten a circuit without changing what it computes: constant folding, shared gates, dead-code elimination."""

from __future__ import annotations

from fractions import Fraction

from whp.algorithms.marginalization.circuits import ArithmeticCircuit, CircuitBuilder, NodeKind

__all__ = ["eliminate_dead_gates", "fold_constants", "share_equal_gates", "simplify"]


def eliminate_dead_gates(circuit: ArithmeticCircuit) -> ArithmeticCircuit:
    """Drop gates and constants no output depends on.

    Examples
    --------
    >>> builder = CircuitBuilder(["x"])
    >>> _ = builder.multiply(0, 0)
    >>> eliminate_dead_gates(builder.build(builder.add(0, 0))).size
    1
    """
    alive = [False] * circuit.n_nodes
    for output in circuit.outputs:
        alive[output] = True
    for node, kind, left, right in reversed(list(circuit.walk())):
        if alive[node] and kind >= NodeKind.ADD:
            alive[left] = alive[right] = True
    builder = CircuitBuilder(circuit.inputs, circuit.input_variables)
    place = [-1] * circuit.n_nodes
    for node, kind, left, right in circuit.walk():
        if kind == NodeKind.INPUT:
            place[node] = left
        elif alive[node]:
            constant = kind == NodeKind.CONSTANT
            place[node] = (
                builder.constant(circuit.constants[left])
                if constant
                else builder.gate(NodeKind(kind), place[left], place[right])
            )
    return builder.build(*(place[output] for output in circuit.outputs))


def fold_constants(circuit: ArithmeticCircuit) -> ArithmeticCircuit:
    """Evaluate gates of constants and drop ``x + 0``, ``x - 0``, ``x * 1``, ``x * 0`` and ``x - x``, exactly."""
    builder = CircuitBuilder(circuit.inputs, circuit.input_variables)
    place: list[int] = []
    value: dict[int, Fraction] = {}  # new nodes that are constants

    def constant(number: Fraction) -> int:
        node = builder.constant(number)
        value[node] = number
        return node

    for _, kind, left, right in circuit.walk():
        if kind == NodeKind.INPUT:
            place.append(left)
        elif kind == NodeKind.CONSTANT:
            place.append(constant(circuit.constants[left]))
        else:
            a, b = place[left], place[right]
            folded = _folded(NodeKind(kind), a, b, value.get(a), value.get(b))
            if isinstance(folded, Fraction):
                place.append(constant(folded))
            else:
                place.append(builder.gate(NodeKind(kind), a, b) if folded is None else folded)
    return builder.build(*(place[output] for output in circuit.outputs))


def _folded(kind: NodeKind, a: int, b: int, x: Fraction | None, y: Fraction | None) -> Fraction | int | None:
    """A constant, an existing node, or None if the gate is needed."""
    if kind == NodeKind.MULTIPLY:
        if x is not None and y is not None:
            return x * y
        if x == 0 or y == 0:
            return Fraction(0)
        return b if x == 1 else a if y == 1 else None
    if kind == NodeKind.SUBTRACT:
        if x is not None and y is not None:
            return x - y
        if a == b:
            return Fraction(0)
        return a if y == 0 else None
    if x is not None and y is not None:
        return x + y
    return b if x == 0 else a if y == 0 else None


def share_equal_gates(circuit: ArithmeticCircuit) -> ArithmeticCircuit:
    """Merge gates with the same kind and operands; additions and multiplications in either order."""
    builder = CircuitBuilder(circuit.inputs, circuit.input_variables)
    place: list[int] = []
    known: dict[tuple[int, int, int], int] = {}
    for _, kind, left, right in circuit.walk():
        if kind == NodeKind.INPUT:
            place.append(left)
        elif kind == NodeKind.CONSTANT:
            place.append(builder.constant(circuit.constants[left]))
        else:
            a, b = place[left], place[right]
            key = (kind, a, b) if kind == NodeKind.SUBTRACT or a <= b else (kind, b, a)
            if key not in known:
                known[key] = builder.gate(NodeKind(kind), a, b)
            place.append(known[key])
    return builder.build(*(place[output] for output in circuit.outputs))


def simplify(circuit: ArithmeticCircuit) -> ArithmeticCircuit:
    """Fold constants, share equal gates and drop dead ones, until nothing changes."""
    while True:
        shorter = eliminate_dead_gates(share_equal_gates(fold_constants(circuit)))
        if shorter.size >= circuit.size:
            return shorter
        circuit = shorter
