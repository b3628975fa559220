"""Check of T8 on any circuits, multilinear or not: the backward pass against dual numbers, and its gates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from whp.algorithms.marginalization import circuit_derivatives
from whp.algorithms.marginalization.circuits import ArithmeticCircuit, CircuitBuilder, NodeKind
from whp.proofs_checks.engine import Check, Instances, Mutant, Slack, at_most, identity
from whp.proofs_checks.marginalization.gate_lists import OPERATIONS, GateList, GateWriter, network_gates
from whp.proofs_checks.marginalization.instances import TRIANGLE_TABLE
from whp.theory.core import Slot
from whp.theory.marginalization.theorems import BACKWARD_OPERATIONS

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy


@dataclass(frozen=True)
class GateCase:
    """Any circuit with a point; its output need not be multilinear."""

    gates: GateList
    point: tuple[Fraction, ...]


ALL_DERIVATIVES = Slot(
    "all_derivatives",
    "(circuit)",
    "circuit: GateList with one output",
    "a circuit whose outputs are the value and the derivative in each input, in order",
    ("circuit",),
)


def derivatives_within_five_times_the_gates(instance: GateCase, *, all_derivatives: Any) -> Slack:
    """Value and all slopes against dual numbers, and the gates of the backward pass."""
    gates, point = instance.gates, instance.point
    backward = GateList.read(all_derivatives(gates))
    value, *slopes = backward.values(point)
    bound = BACKWARD_OPERATIONS(size=gates.size)
    return (
        identity("value", value, gates.value(point))
        & identity("derivatives", slopes, gates.slopes(point))
        & at_most("operations", backward.size, int(bound))
    )


def gate_cases() -> Mapping[str, GateCase]:
    """Powers, cancellation, unused inputs, an input or a constant as output, and reference network polynomials."""
    half = Fraction(1, 2)
    power = GateWriter(1, [])
    node = 0
    for _ in range(6):
        node = power.gate("*", node, node)
    cancelling = GateWriter(2, [3])
    difference = cancelling.gate("-", cancelling.gate("*", 0, 1), cancelling.gate("*", 1, 0))
    unused = GateWriter(3, [half])
    return {
        "x to the power 64": GateCase(power.finish(node), (Fraction(2),)),
        "x y - y x": GateCase(cancelling.finish(difference), (Fraction(5), Fraction(7))),
        "an input": GateCase(GateList(2, (), (), (1,)), (Fraction(1), Fraction(2))),
        "a constant": GateCase(GateList(1, (half,), (), (1,)), (Fraction(3),)),
        "unused inputs": GateCase(
            unused.finish(unused.gate("-", unused.constant(half), 1)), (half, Fraction(3), Fraction(5))
        ),
        "chain of products": _chain_of_products(12),
        "triangle form": GateCase(network_gates(TRIANGLE_TABLE), (half, Fraction(2), Fraction(3)) * 2),
    }


def _chain_of_products(length: int) -> GateCase:
    """``x_1 (x_2 + x_1 (x_2 + ...))``: nearly five times the gates are needed."""
    writer = GateWriter(2, [])
    node = 0
    for _ in range(length):
        node = writer.gate("*", node, node)
        node = writer.gate("*", node, 1)
    return GateCase(writer.finish(node), (Fraction(1), Fraction(-1)))


def draw_gate_cases(rng: np.random.Generator, size: int) -> list[GateCase]:
    """Random circuits of 1 to 12 gates over 1 to 4 inputs and two constants, at small rational points."""
    found = []
    for _ in range(size):
        n, length = int(rng.integers(1, 5)), int(rng.integers(1, 13))
        writer = GateWriter(n, [int(c) for c in rng.integers(-2, 3, size=2)])
        start = n + len(writer.constants)
        for k in range(length):
            a, b = (int(i) for i in rng.integers(0, start + k, size=2))
            writer.gate(OPERATIONS[int(rng.choice(3, p=(0.3, 0.25, 0.45)))], a, b)
        point = tuple(
            Fraction(int(a), int(b)) for a, b in zip(rng.integers(-3, 4, n), rng.integers(1, 4, n), strict=True)
        )
        found.append(GateCase(writer.finish(start + length - 1), point))
    return found


def structured_gate_cases() -> SearchStrategy[GateCase]:
    """Circuits of 0 to 8 gates over 1 to 3 inputs."""
    from hypothesis import strategies as st

    number = st.sampled_from([Fraction(k, d) for k in range(-3, 4) for d in (1, 2)])

    @st.composite
    def cases(draw: Any) -> GateCase:
        n = draw(st.integers(1, 3))
        writer = GateWriter(n, draw(st.lists(st.integers(-2, 2), max_size=2)))
        last = n - 1
        for _ in range(draw(st.integers(0, 8))):
            operands = st.integers(0, n + len(writer.constants) + len(writer.gates) - 1)
            last = writer.gate(draw(st.sampled_from(OPERATIONS)), draw(operands), draw(operands))
        return GateCase(writer.finish(last), tuple(draw(st.lists(number, min_size=n, max_size=n))))

    return cases()


CIRCUITS = Instances(
    scope="circuits of at most 12 gates over at most 4 inputs, network polynomials of reference functions, x^64",
    examples=gate_cases,
    draw=draw_gate_cases,
    strategy=structured_gate_cases,
)


def as_circuit(gates: GateList) -> ArithmeticCircuit:
    """The solver's own circuit type."""
    builder = CircuitBuilder([f"v{i}" for i in range(gates.n_inputs)])
    place = [*range(gates.n_inputs), *(builder.constant(c) for c in gates.constants)]
    for operation, a, b in gates.gates:
        kind = NodeKind(NodeKind.ADD + OPERATIONS.index(operation))
        place.append(builder.gate(kind, place[a], place[b]))
    return builder.build(*(place[output] for output in gates.outputs))


def _all_derivatives(circuit: GateList) -> ArithmeticCircuit:
    return circuit_derivatives.derivative_circuit(as_circuit(circuit))


def _sum_rule_for_differences(circuit: GateList) -> ArithmeticCircuit:
    """Subtractions differentiated as additions."""
    signless = tuple(("+" if operation == "-" else operation, a, b) for operation, a, b in circuit.gates)
    wrong = GateList(circuit.n_inputs, circuit.constants, signless, circuit.outputs)
    slopes = circuit_derivatives.derivative_circuit(as_circuit(wrong))
    right = as_circuit(circuit)
    builder = CircuitBuilder(right.inputs)
    values = builder.graft(right, range(len(right.inputs)))
    return builder.build(*values, *builder.graft(slopes, range(len(right.inputs)))[1:])


def _one_use_only(circuit: GateList) -> ArithmeticCircuit:
    """The uses of an input are not added up: an input used twice gets slope zero."""
    full = circuit_derivatives.derivative_circuit(as_circuit(circuit))
    builder = CircuitBuilder(full.inputs)
    outputs = list(builder.graft(full, range(len(full.inputs))))
    for number in range(circuit.n_inputs):
        if sum((number in (a, b)) for _, a, b in circuit.gates) > 1:
            outputs[1 + number] = builder.constant(0)
    return builder.build(*outputs)


def _one_input_at_a_time(circuit: GateList) -> ArithmeticCircuit:
    """A whole backward pass for each input: right, but too many gates."""
    full = circuit_derivatives.derivative_circuit(as_circuit(circuit))
    builder = CircuitBuilder(full.inputs)
    inputs = range(len(full.inputs))
    return builder.build(*(builder.graft(full, inputs)[k] for k in range(len(full.outputs))))


CHECKS = (
    Check(
        theorem="marginalization.T8",
        name="any_circuit",
        kind="slack",
        observe=derivatives_within_five_times_the_gates,
        instances=CIRCUITS,
        slots={ALL_DERIVATIVES: _all_derivatives},
        mutants=(
            Mutant("differences as sums", "derivatives", {"all_derivatives": _sum_rule_for_differences}),
            Mutant("one use of a node only", "derivatives", {"all_derivatives": _one_use_only}),
            Mutant("one input at a time", "operations", {"all_derivatives": _one_input_at_a_time}),
        ),
        cost=2,
    ),
)
