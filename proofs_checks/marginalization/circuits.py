"""Checks on arithmetic circuits: conversions (T3), division-free determinants (T4), derivatives (T8)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from whp.algorithms.marginalization import circuit_derivatives, circuit_semantics, determinant_circuits
from whp.algorithms.marginalization.circuits import ArithmeticCircuit, CircuitBuilder, NodeKind
from whp.proofs_checks.engine import Check, Instances, Mutant, Slack, at_most, identity, requires
from whp.proofs_checks.marginalization.brute_force_oracle import refuses
from whp.proofs_checks.marginalization.determinants import KERNELS
from whp.proofs_checks.marginalization.gate_lists import (
    OPERATIONS,
    GateList,
    GateWriter,
    network_gates,
    shared_network_gates,
    substituted,
)
from whp.proofs_checks.marginalization.instances import (
    REFERENCE_KERNEL,
    TRIANGLE_TABLE,
    KernelQuery,
    davis_counts,
)
from whp.theory.core import Slot
from whp.theory.marginalization import (
    DPPKernel,
    Scalar,
    TruthTable,
    Weights,
    fourier_polynomial,
    generating_polynomial,
    multilinear_extension,
    network_polynomial,
    principal_minor,
)
from whp.theory.marginalization.theorems import BACKWARD_OPERATIONS

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy


@dataclass(frozen=True)
class CircuitCase:
    """A function on binary vectors with a point ``(w, w̄)`` for each of its variables."""

    table: TruthTable
    weights: Weights

    @property
    def point(self) -> list[Scalar]:
        """``w_1..w_n, w̄_1..w̄_n``."""
        return [w for w, _ in self.weights.pairs] + [w_bar for _, w_bar in self.weights.pairs]


@dataclass(frozen=True)
class GateCase:
    """Any circuit with a point; its output need not be multilinear."""

    gates: GateList
    point: tuple[Fraction, ...]


def circuit_cases() -> Mapping[str, CircuitCase]:
    """Reference functions, extreme ones and a real one."""
    determinantal = TruthTable.from_function(3, lambda x: principal_minor(REFERENCE_KERNEL, x))
    third, half = Fraction(1, 3), Fraction(1, 2)
    return {
        "triangle form": CircuitCase(TRIANGLE_TABLE, Weights.of([half, third, Fraction(1, 5)])),
        "determinantal": CircuitCase(determinantal, Weights.of([half, 3, Fraction(-2, 5)], [1, 2, third])),
        "no variable": CircuitCase(TruthTable(0, [7]), Weights(())),
        "zero function": CircuitCase(TruthTable(2, [0] * 4), Weights.of([1, 2])),
        "w̄ = 0 and w + w̄ = 0": CircuitCase(TruthTable(2, [3, -1, 4, 1]), Weights.of([5, 2], [0, -2])),
        "Davis attendance": CircuitCase(davis_counts(3), Weights.of([2, half, -1], [1, 3, third])),
    }


def draw_circuit_cases(rng: np.random.Generator, size: int) -> list[CircuitCase]:
    """Integer tables on 1 to 3 variables with values in [-3, 3], weights in sixths."""
    found = []
    for _ in range(size):
        n = int(rng.integers(1, 4))
        pairs = [(Fraction(int(a), 3), Fraction(int(b), 2)) for a, b in rng.integers(-6, 7, size=(n, 2))]
        found.append(CircuitCase(TruthTable(n, rng.integers(-3, 4, size=2**n)), Weights(tuple(pairs))))
    return found


def structured_circuit_cases() -> SearchStrategy[CircuitCase]:
    """Tables of small integers on 0 to 2 variables, weights among them that the formulas divide by."""
    from hypothesis import strategies as st

    weight = st.sampled_from([Fraction(k, 2) for k in range(-3, 4)])

    @st.composite
    def cases(draw: Any) -> CircuitCase:
        n = draw(st.integers(0, 2))
        values = draw(st.lists(st.integers(-2, 2), min_size=2**n, max_size=2**n))
        pairs = draw(st.lists(st.tuples(weight, weight), min_size=n, max_size=n))
        return CircuitCase(TruthTable(n, values), Weights(tuple(pairs)))

    return cases()


FUNCTIONS = Instances(
    scope="integer tables on n <= 3 variables, w̄ = 0 and w + w̄ = 0 among the weights; Davis attendance, 3 events",
    examples=circuit_cases,
    draw=draw_circuit_cases,
    strategy=structured_circuit_cases,
)


# T3: conversions


CONVERT = Slot(
    "convert",
    "(circuit, source, target)",
    "circuit: GateList of the source; source, target: one of 'N', 'p', 'g', 'F'",
    "a circuit of the target: GateList or object with kinds, left, right, constants, inputs, outputs",
    ("circuit", "source", "target"),
)


def _gate_allowance(size: int, n: int, source: str, target: str) -> int:
    """Gates that a conversion may add: O(n) down from N, O(n^2) a gate up to N."""
    if target == "N":
        return (n + 1) ** 2 * (size + 3 * n) + 3 * n
    return {"Np": n, "Ng": 0, "pF": 2 * n, "Fp": 2 * n}[source + target]


def conversions_keep_the_function(instance: CircuitCase, *, convert: Any) -> Slack:
    """Every conversion between circuits of N, p, g and F, at the point and at its gate allowance."""
    table, n = instance.table, instance.table.n
    network = shared_network_gates(table)
    given = {"N": network} | {kind: substituted(network, kind) for kind in "pgF"}
    ones, point = [w for w, _ in instance.weights.pairs], instance.point
    expected = {
        "N": network_polynomial(table, instance.weights),
        "p": multilinear_extension(table, ones),
        "g": generating_polynomial(table, ones),
        "F": fourier_polynomial(table, ones),
    }
    clauses = Slack(())
    for source, target in ("Np", "Ng", "pF", "Fp", "gN", "pN"):
        answer = GateList.read(convert(given[source], source, target))
        where = point if target == "N" else ones
        allowed = _gate_allowance(given[source].size, n, source, target)
        clauses &= identity(f"{target} from {source}", answer.value(where), expected[target])
        clauses &= at_most("gates added", answer.size - given[source].size, allowed)
        clauses &= requires("division-free", answer.division_free)
    return clauses & requires("refuses degree two", refuses(convert, _three_valued(table), "g", "N"))


def _three_valued(table: TruthTable) -> GateList:
    """``1 + 2 z + c z²``: one variable of three values encoded by powers of z."""
    last = 1 + abs(int(table.values.tolist()[0]))
    writer = GateWriter(1, [1, 2, last])
    square = writer.gate("*", writer.constant(last), writer.gate("*", 0, 0))
    linear = writer.gate("+", writer.constant(1), writer.gate("*", writer.constant(2), 0))
    return writer.finish(writer.gate("+", linear, square))


def as_circuit(gates: GateList) -> ArithmeticCircuit:
    """The solver's own circuit type."""
    builder = CircuitBuilder([f"v{i}" for i in range(gates.n_inputs)])
    place = [*range(gates.n_inputs), *(builder.constant(c) for c in gates.constants)]
    for operation, a, b in gates.gates:
        kind = NodeKind(NodeKind.ADD + OPERATIONS.index(operation))
        place.append(builder.gate(kind, place[a], place[b]))
    return builder.build(*(place[output] for output in gates.outputs))


def _rng() -> np.random.Generator:
    return np.random.default_rng(20250612)  # chooses points of expansion only


def _convert(circuit: GateList, source: str, target: str) -> ArithmeticCircuit:
    given = as_circuit(circuit)
    down = {
        "Np": circuit_semantics.network_to_extension,
        "Ng": circuit_semantics.network_to_generating,
        "pF": circuit_semantics.extension_to_fourier,
        "Fp": circuit_semantics.fourier_to_extension,
    }
    up = {"gN": circuit_semantics.generating_to_network, "pN": circuit_semantics.extension_to_network}
    if source + target in down:
        return down[source + target](given).circuit
    return up[source + target](given, _rng()).circuit


def _without_the_bars(circuit: GateList, source: str, target: str) -> Any:
    """``g(w)`` offered as N: forgets ``Π w̄`` and the ratios."""
    if source + target != "gN":
        return _convert(circuit, source, target)
    _convert(circuit, source, target)  # refuses what the solver refuses
    n = circuit.n_inputs
    shift = [*range(n), *range(2 * n, 2 * n + len(circuit.constants) + circuit.size)]
    gates = tuple((operation, shift[a], shift[b]) for operation, a, b in circuit.gates)
    return GateList(2 * n, circuit.constants, gates, tuple(shift[o] for o in circuit.outputs))


def _bars_of_one(circuit: GateList, source: str, target: str) -> Any:
    """``N(x, 1)`` in place of ``N(x, 1 - x)``."""
    return _convert(circuit, source, "g" if source + target == "Np" else target)


def _halves_without_sign(circuit: GateList, source: str, target: str) -> Any:
    """``p((1+s)/2)`` in place of ``p((1-s)/2)``."""
    if source + target != "pF":
        return _convert(circuit, source, target)
    n = circuit.n_inputs
    writer = GateWriter(n, [*circuit.constants, 1, Fraction(1, 2)])
    one, half = writer.constant(1), writer.constant(Fraction(1, 2))
    place = [writer.gate("*", half, writer.gate("+", one, i)) for i in range(n)]
    place += [writer.constant(c) for c in circuit.constants]
    for operation, a, b in circuit.gates:
        place.append(writer.gate(operation, place[a], place[b]))
    return writer.finish(place[circuit.outputs[0]])


def _binary_formula_for_any_degree(circuit: GateList, source: str, target: str) -> Any:
    """Homogenises without looking at the degree: a three-valued variable goes through."""
    return circuit if circuit.n_inputs == 1 and source + target == "gN" else _convert(circuit, source, target)


# T4: the determinant as a circuit

DPP_CIRCUIT = Slot(
    "dpp_circuit",
    "(kernel)",
    "kernel: DPPKernel",
    "a division-free circuit of N in w_1..w_n, w̄_1..w̄_n",
    ("kernel",),
)


def determinant_circuit(instance: KernelQuery, *, dpp_circuit: Any) -> Slack:
    """A division-free circuit of at most ``n^4 + 4 n^2`` gates equals the sum over principal minors."""
    kernel, weights = instance.kernel, instance.weights
    n = kernel.n
    circuit = GateList.read(dpp_circuit(kernel))
    point = [w for w, _ in weights.pairs] + [w_bar for _, w_bar in weights.pairs]
    table = TruthTable.from_function(n, lambda x: principal_minor(kernel, x))
    return (
        identity("N", circuit.value(point), network_polynomial(table, weights))
        & at_most("gates", circuit.size, n**4 + 4 * n**2)
        & requires("division-free", circuit.division_free)
    )


def _dpp_circuit(kernel: DPPKernel) -> ArithmeticCircuit:
    rows = np.empty((kernel.n, kernel.n), dtype=object)
    for i, row in enumerate(kernel.matrix):
        rows[i] = list(row)
    return determinant_circuits.dpp_circuit(rows)


def _weights_on_columns_without_bars(kernel: DPPKernel) -> ArithmeticCircuit:
    """``det(I + diag(w) L)``: the bars are replaced by ones."""
    circuit = GateList.read(_dpp_circuit(kernel))
    n = kernel.n
    writer = GateWriter(2 * n, [*circuit.constants, 1])
    place = [*range(n), *[writer.constant(1)] * n, *(writer.constant(c) for c in circuit.constants)]
    for operation, a, b in circuit.gates:
        place.append(writer.gate(operation, place[a], place[b]))
    return as_circuit(writer.finish(place[circuit.outputs[0]]))


def _three_copies(kernel: DPPKernel) -> ArithmeticCircuit:
    """``N + N - N``: right, but nothing is shared."""
    circuit = _dpp_circuit(kernel)
    builder = CircuitBuilder(circuit.inputs)
    one, two, three = (builder.graft(circuit, range(len(circuit.inputs)))[0] for _ in range(3))
    return builder.build(builder.subtract(builder.add(one, two), three))


# T8: derivatives and single marginals

ALL_DERIVATIVES = Slot(
    "all_derivatives",
    "(circuit)",
    "circuit: GateList with one output",
    "a circuit whose outputs are the value and the derivative in each input, in order",
    ("circuit",),
)
SINGLE_MARGINALS = Slot(
    "single_marginals",
    "(circuit, weights)",
    "circuit: GateList of N; weights: Weights",
    "(ones, zeros): N restricted to x_i = 1 and to x_i = 0, for each i, exact",
    ("circuit", "weights"),
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


def marginals_are_restrictions(instance: CircuitCase, *, single_marginals: Any) -> Slack:
    """``w_i ∂N/∂w_i`` is N restricted to ``x_i = 1``, and both restrictions add up to N, on two circuits of N."""
    table, weights = instance.table, instance.weights
    expected = {bit: [_restricted(table, weights, i, bit) for i in range(table.n)] for bit in (0, 1)}
    total = network_polynomial(table, weights)
    clauses = Slack(())
    for circuit in (network_gates(table), shared_network_gates(table)):
        ones, zeros = single_marginals(circuit, weights)
        clauses &= identity("restriction to 1", list(ones), expected[1])
        clauses &= identity("restriction to 0", list(zeros), expected[0])
        clauses &= identity("sum", [a + b for a, b in zip(ones, zeros, strict=True)], [total] * table.n)
    return clauses


def _restricted(table: TruthTable, weights: Weights, i: int, bit: int) -> Scalar:
    pairs = list(weights.pairs)
    w, w_bar = pairs[i]
    pairs[i] = (w, 0) if bit else (0, w_bar)
    return network_polynomial(table, Weights(tuple(pairs)))


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


def _single_marginals(circuit: GateList, weights: Weights) -> tuple[Sequence[Scalar], Sequence[Scalar]]:
    found = circuit_derivatives.marginals_exact(as_circuit(circuit), weights.pairs)
    return found.ones, found.zeros


def _gradient_without_the_weights(circuit: GateList, weights: Weights) -> tuple[Sequence[Scalar], Sequence[Scalar]]:
    point = [w for w, _ in weights.pairs] + [w_bar for _, w_bar in weights.pairs]
    _, gradient = circuit_derivatives.gradient_exact(as_circuit(circuit), point)
    n = len(weights.pairs)
    return gradient[:n], gradient[n:]


def _zeros_without_their_factor(circuit: GateList, weights: Weights) -> tuple[Sequence[Scalar], Sequence[Scalar]]:
    """``∂N/∂w̄_i`` in place of ``w̄_i ∂N/∂w̄_i``."""
    ones, _ = _single_marginals(circuit, weights)
    return ones, _gradient_without_the_weights(circuit, weights)[1]


CHECKS = (
    Check(
        theorem="marginalization.T3",
        name="circuits",
        kind="slack",
        observe=conversions_keep_the_function,
        instances=FUNCTIONS,
        slots={CONVERT: _convert},
        mutants=(
            Mutant("forgets Π w̄", "N from g", {"convert": _without_the_bars}),
            Mutant("w̄ = 1 for p", "p from N", {"convert": _bars_of_one}),
            Mutant("p((1+s)/2)", "F from p", {"convert": _halves_without_sign}),
            Mutant("three-valued variable", "refuses degree two", {"convert": _binary_formula_for_any_degree}),
        ),
        cost=100,
    ),
    Check(
        theorem="marginalization.T4",
        name="circuit",
        kind="slack",
        observe=determinant_circuit,
        instances=KERNELS,
        slots={DPP_CIRCUIT: _dpp_circuit},
        mutants=(
            Mutant("w̄ = 1", "N", {"dpp_circuit": _weights_on_columns_without_bars}),
            Mutant("three copies", "gates", {"dpp_circuit": _three_copies}),
        ),
        cost=8,
    ),
    Check(
        theorem="marginalization.T8",
        name="derivatives",
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
    Check(
        theorem="marginalization.T8",
        name="marginals",
        kind="slack",
        observe=marginals_are_restrictions,
        instances=FUNCTIONS,
        slots={SINGLE_MARGINALS: _single_marginals},
        mutants=(
            Mutant("gradient without factors", "restriction to 1", {"single_marginals": _gradient_without_the_weights}),
            Mutant("no factor w̄", "restriction to 0", {"single_marginals": _zeros_without_their_factor}),
        ),
        cost=10,
    ),
)
