"""Checks of T7 and T8, and of T3 and T4 where they speak of circuits.

Circuits that subjects return are evaluated and their gates counted here, not by the subject's own library.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from whp.algorithms.marginalization import circuit_derivatives, circuit_semantics, determinant_circuits
from whp.algorithms.marginalization.circuits import ArithmeticCircuit, CircuitBuilder, NodeKind, network_inputs
from whp.algorithms.marginalization.division_removal import strassen_divfree
from whp.algorithms.marginalization.real_ram import NotRealRamError, generic_point, record_path, trace_real_ram
from whp.proofs_checks.engine import Check, ClaimedRate, Cost, Instances, Mutant, Slack, at_most, identity, requires
from whp.proofs_checks.marginalization.brute_force_oracle import refuses
from whp.proofs_checks.marginalization.gate_lists import GateList
from whp.proofs_checks.marginalization.instances import (
    REFERENCE_KERNEL,
    KernelQuery,
    TableQuery,
    davis_kernel,
    draw_kernel_queries,
    draw_table_queries,
    kernel_queries,
    structured_kernel_queries,
    structured_table_queries,
    table_queries,
)
from whp.theory.core import Slot
from whp.theory.marginalization import (
    DPPKernel,
    Scalar,
    TruthTable,
    Weights,
    fourier_polynomial,
    generating_polynomial,
    marginal,
    multilinear_extension,
    network_polynomial,
    principal_minor,
)
from whp.theory.marginalization.theorems import BACKWARD_OPERATIONS, EXTRACTED_GATES

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

Number = Any


# the check's own reading of circuits


def values_of(circuit: ArithmeticCircuit, point: Sequence[Scalar]) -> list[Fraction]:
    """Exact values of the outputs."""
    return GateList.read(circuit).values(point)


def gates_of(circuit: ArithmeticCircuit) -> int:
    """Additions, subtractions and multiplications."""
    return GateList.read(circuit).size


def shannon_circuit(table: TruthTable) -> ArithmeticCircuit:
    """``N = w_1 N|_1 + w̄_1 N|_0`` expanded over all variables, with subtractions where values are negative."""
    n = table.n
    builder = CircuitBuilder(*network_inputs(n))

    def node(values: Sequence[Scalar], i: int) -> int:
        if i == n:
            return builder.constant(Fraction(values[0]))
        half = len(values) // 2
        zero = builder.multiply(builder.input(n + i), node(values[:half], i + 1))
        if i == n - 1 and values[half] < 0:
            return builder.subtract(zero, builder.multiply(builder.input(i), builder.constant(-Fraction(values[half]))))
        return builder.add(zero, builder.multiply(builder.input(i), node(values[half:], i + 1)))

    return builder.build(node(table.values.tolist(), 0))


def _flat(weights: Weights) -> list[Scalar]:
    return [w for w, _ in weights.pairs] + [w_bar for _, w_bar in weights.pairs]


# T7: programs


@dataclass(frozen=True)
class ProgramCase:
    """A real-RAM program for the multilinear extension of a table, by name, and points at which it is traced and tried.

    ``program`` is one of ``elimination`` (of the kernel, with pivot search and a lookup at 0/1 inputs), ``ratios``
    (generating polynomial at w/(1-w), table lookup where a coordinate is 1) and ``signs`` (two formulas, chosen by a
    comparison, both right).
    """

    program: str
    table: TruthTable
    kernel: DPPKernel
    seed: int


def _kernel_case(kernel: DPPKernel, seed: int) -> ProgramCase:
    table = TruthTable.from_function(kernel.n, lambda x: principal_minor(kernel, x))
    return ProgramCase("elimination", table, kernel, seed)


def program_of(case: ProgramCase) -> Callable[[Sequence[Number]], Number]:
    """The program itself: uses + - × ÷ and comparisons only."""
    return {"elimination": _elimination, "ratios": _ratios, "signs": _signs}[case.program](case)


def _lookup(table: TruthTable, w: Sequence[Number]) -> Number | None:
    """The tabulated value where every input is 0 or 1, found by comparisons."""
    index = 0
    for value in w:
        if value == 1:
            index = 2 * index + 1
        elif value == 0:
            index = 2 * index
        else:
            return None
    return Fraction(table.values[index])


def _elimination(case: ProgramCase) -> Callable[[Sequence[Number]], Number]:
    kernel, n = case.kernel.matrix, case.kernel.n

    def program(w: Sequence[Number]) -> Number:
        found = _lookup(case.table, w)
        if found is not None:
            return found
        rows = [[w[i] * Fraction(kernel[i][j]) + (1 - w[i] if i == j else 0) for j in range(n)] for i in range(n)]
        product: Number = Fraction(1)
        for k in range(n):
            pivot = next((i for i in range(k, n) if rows[i][k] != 0), None)
            if pivot is None:
                return Fraction(0)
            if pivot != k:
                rows[k], rows[pivot] = rows[pivot], rows[k]
                product = 0 - product
            product = product * rows[k][k]
            for i in range(k + 1, n):
                factor = rows[i][k] / rows[k][k]
                for j in range(k + 1, n):
                    rows[i][j] = rows[i][j] - factor * rows[k][j]
        return product

    return program


def _direct(table: TruthTable, w: Sequence[Number]) -> Number:
    """Fold the table one variable at a time, ``(1-w) f_0 + w f_1``."""
    values: list[Number] = [Fraction(value) for value in table.values.tolist()]
    for value in w:
        half = len(values) // 2
        values = [(1 - value) * a + value * b for a, b in zip(values[:half], values[half:], strict=True)]
    return values[0]


def _ratios(case: ProgramCase) -> Callable[[Sequence[Number]], Number]:
    def program(w: Sequence[Number]) -> Number:
        if any(value == 1 for value in w):
            return _direct(case.table, w)
        values: list[Number] = [Fraction(value) for value in case.table.values.tolist()]
        scale: Number = Fraction(1)
        for value in w:
            ratio, half = value / (1 - value), len(values) // 2
            values = [a + ratio * b for a, b in zip(values[:half], values[half:], strict=True)]
            scale = scale * (1 - value)
        return scale * values[0]

    return program


def _signs(case: ProgramCase) -> Callable[[Sequence[Number]], Number]:
    ratios = _ratios(case)

    def program(w: Sequence[Number]) -> Number:
        if len(w) and w[0] > 2:  # right there, but a constant
            return _direct(case.table, w) if w[0] != 3 else Fraction(multilinear_extension(case.table, [3] * len(w)))
        return ratios(w)

    return program


def _with_a_floor(case: ProgramCase) -> Callable[[Sequence[Number]], Number]:
    """The same program after one use of floor."""
    inner = program_of(case)

    def program(w: Sequence[Number]) -> Number:
        rounded = math.floor(w[0]) if len(w) else 0
        return inner(w) + 0 * rounded

    return program


class Counted:
    """A fraction that counts the operations done with it."""

    def __init__(self, value: Fraction, tally: list[int]) -> None:
        self.value = value
        self.tally = tally

    def _apply(self, other: Any, operate: Callable[[Fraction, Fraction], Fraction]) -> Counted:
        self.tally[0] += 1
        return Counted(operate(self.value, other.value if isinstance(other, Counted) else Fraction(other)), self.tally)

    def __add__(self, other: Any) -> Counted:
        return self._apply(other, lambda a, b: a + b)

    def __sub__(self, other: Any) -> Counted:
        return self._apply(other, lambda a, b: a - b)

    def __mul__(self, other: Any) -> Counted:
        return self._apply(other, lambda a, b: a * b)

    def __truediv__(self, other: Any) -> Counted:
        return self._apply(other, lambda a, b: a / b)

    def __rsub__(self, other: Any) -> Counted:
        return self._apply(other, lambda a, b: b - a)

    def __rtruediv__(self, other: Any) -> Counted:
        return self._apply(other, lambda a, b: b / a)

    __radd__, __rmul__ = __add__, __mul__

    def __eq__(self, other: object) -> bool:
        return bool(self.value == (other.value if isinstance(other, Counted) else other))

    def __gt__(self, other: Any) -> bool:
        return bool(self.value > (other.value if isinstance(other, Counted) else other))

    __hash__ = None  # type: ignore[assignment]


def operations_at(program: Callable[[Sequence[Number]], Number], point: Sequence[Fraction]) -> int:
    """Arithmetic operations on the path that the program takes at a point."""
    tally = [0]
    program([Counted(value, tally) for value in point])
    return tally[0]


def _points(case: ProgramCase) -> tuple[tuple[Fraction, ...], tuple[Fraction, ...]]:
    rng = np.random.default_rng(case.seed)
    return generic_point(case.table.n, rng), generic_point(case.table.n, rng)


EXTRACT = Slot(
    "extract_circuit",
    "(program, xi, second_xi)",
    "program: callable of a list of numbers; xi, second_xi: generic points, tuples of Fraction",
    "division-free ArithmeticCircuit for the multilinear polynomial the program computes",
    ("program", "xi", "second_xi"),
)


def programs_become_circuits(instance: ProgramCase, *, extract_circuit: Any) -> Slack:
    """The circuit computes p, off the cube too, within ``(n+1)^2 T + 2n`` gates."""
    table, n = instance.table, instance.table.n
    program = program_of(instance)
    xi, second = _points(instance)
    circuit = extract_circuit(program, xi, second)
    steps = operations_at(program, xi)
    rng = np.random.default_rng(instance.seed + 1)
    corners = list(itertools.product((0, 1, 2), repeat=n))[: 3**3]
    others = [[Fraction(int(a), int(b)) for a, b in rng.integers([-9, 1], [10, 8], size=(n, 2))] for _ in range(4)]
    points: list[Sequence[Scalar]] = [*corners, *others, [3] * n]
    values = [values_of(circuit, point)[0] for point in points]
    return identity("value", values, [multilinear_extension(table, point) for point in points]) & at_most(
        "gates", gates_of(circuit), int(EXTRACTED_GATES(n=n, steps=steps))
    )


def what_is_no_real_ram_is_refused(instance: ProgramCase, *, extract_circuit: Any) -> Slack:
    """A floor raises TypeError; the path at (1, …, 1), where these programs look their result up, raises ValueError."""
    n = instance.table.n
    xi, second = _points(instance)
    corner = [Fraction(1)] * n
    return requires(
        "floor refused", refuses(extract_circuit, _with_a_floor(instance), xi, second, error=TypeError)
    ) & requires("non-generic path refused", refuses(extract_circuit, program_of(instance), corner, second))


def program_cases() -> Mapping[str, ProgramCase]:
    """The worked example, a singular kernel, a real one, and tables."""
    singular = DPPKernel.of([[1, 1, 1]] * 3)
    triangle = TruthTable(3, [1, 1, 1, -1, 1, -1, -1, -1])
    return {
        "elimination, reference kernel": _kernel_case(REFERENCE_KERNEL, 0),
        "elimination, singular kernel": _kernel_case(singular, 1),
        "elimination, Davis co-attendance": _kernel_case(davis_kernel(3), 2),
        "ratios, triangle form": ProgramCase("ratios", triangle, DPPKernel(()), 3),
        "signs, triangle form": ProgramCase("signs", triangle, DPPKernel(()), 4),
    }


def draw_program_cases(rng: np.random.Generator, size: int) -> list[ProgramCase]:
    """Eliminations of integer kernels and table programs on 1 to 3 variables."""
    found = []
    for _ in range(size):
        n, seed = int(rng.integers(1, 4)), int(rng.integers(2**31))
        if rng.random() < 0.5:
            found.append(_kernel_case(DPPKernel.of(rng.integers(-3, 4, size=(n, n)).tolist()), seed))
        else:
            name = str(rng.choice(["ratios", "signs"]))
            found.append(ProgramCase(name, TruthTable(n, rng.integers(-4, 5, size=2**n)), DPPKernel(()), seed))
    return found


def structured_program_cases() -> SearchStrategy[ProgramCase]:
    """Table programs on 1 or 2 variables with small integers."""
    from hypothesis import strategies as st

    @st.composite
    def cases(draw: Any) -> ProgramCase:
        n = draw(st.integers(1, 2))
        values = draw(st.lists(st.integers(-2, 2), min_size=2**n, max_size=2**n))
        program = draw(st.sampled_from(["ratios", "signs"]))
        return ProgramCase(program, TruthTable(n, values), DPPKernel(()), draw(st.integers(0, 99)))

    return cases()


def _extracted(program: Any, xi: Any, second_xi: Any) -> ArithmeticCircuit:
    return strassen_divfree(trace_real_ram(program, xi, second_xi)).circuit


def _at_a_corner(program: Any, xi: Any, second_xi: Any) -> ArithmeticCircuit:
    """The path at (1, 1, 0, …), where programs look their result up."""
    corner = [Fraction(int(i < 2)) for i in range(len(xi))]
    return strassen_divfree(record_path(program, corner)).circuit


def _truncated_early(program: Any, xi: Any, second_xi: Any) -> ArithmeticCircuit:
    """Series cut off after ε^(n-1)."""
    return strassen_divfree(trace_real_ram(program, xi, second_xi), max(len(xi) - 1, 0)).circuit


class _Yes:
    """A traced number whose order tests always succeed."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    def _do(self, other: Any, operate: Callable[[Any, Any], Any]) -> _Yes:
        return _Yes(operate(self.inner, other.inner if isinstance(other, _Yes) else other))

    def __add__(self, other: Any) -> _Yes:
        return self._do(other, lambda a, b: a + b)

    def __sub__(self, other: Any) -> _Yes:
        return self._do(other, lambda a, b: a - b)

    def __mul__(self, other: Any) -> _Yes:
        return self._do(other, lambda a, b: a * b)

    def __truediv__(self, other: Any) -> _Yes:
        return self._do(other, lambda a, b: a / b)

    def __rsub__(self, other: Any) -> _Yes:
        return self._do(other, lambda a, b: b - a)

    def __rtruediv__(self, other: Any) -> _Yes:
        return self._do(other, lambda a, b: b / a)

    __radd__, __rmul__ = __add__, __mul__

    def __gt__(self, other: Any) -> bool:
        return True

    def __eq__(self, other: object) -> bool:
        return bool(self.inner == (other.inner if isinstance(other, _Yes) else other))

    def __ne__(self, other: object) -> bool:
        return False

    __hash__ = None  # type: ignore[assignment]


def _tests_taken_as_true(program: Any, xi: Any, second_xi: Any) -> ArithmeticCircuit:
    """``> 0`` and ``!= 0`` decided without looking."""

    def blind(w: Sequence[Any]) -> Any:
        result = program([_Yes(value) for value in w])
        return result.inner if isinstance(result, _Yes) else result

    return strassen_divfree(record_path(blind, xi)).circuit


def _every_series_in_full(program: Any, xi: Any, second_xi: Any) -> ArithmeticCircuit:
    """Right, but to three times the degree: too many gates."""
    trace = trace_real_ram(program, xi, second_xi)
    circuit = strassen_divfree(trace, 3 * len(xi) + 3).circuit
    builder = CircuitBuilder(circuit.inputs)
    (output,) = builder.graft(circuit, list(range(len(circuit.inputs))))
    zero = builder.constant(0)
    for _ in range((len(xi) + 1) ** 2 * (trace.n_operations + 2)):
        output = builder.add(output, zero)
    return builder.build(output)


def _floor_accepted(program: Any, xi: Any, second_xi: Any) -> ArithmeticCircuit:
    """Takes the value at xi where the program leaves the real RAM."""
    try:
        return _extracted(program, xi, second_xi)
    except NotRealRamError:
        builder = CircuitBuilder([f"w{i}" for i in range(len(xi))])
        return builder.build(builder.constant(Fraction(program(list(xi)))))


def _any_path(program: Any, xi: Any, second_xi: Any) -> ArithmeticCircuit:
    """The path at xi, generic or not."""
    return strassen_divfree(record_path(program, xi)).circuit


# T8


DERIVATIVES = Slot(
    "derivative_circuit",
    "(circuit)",
    "circuit: ArithmeticCircuit with one output",
    "ArithmeticCircuit whose outputs are the value and the derivative in each input",
    ("circuit",),
)
SINGLE_MARGINALS = Slot(
    "single_marginals",
    "(circuit, weights)",
    "circuit: ArithmeticCircuit for N; weights: list of pairs (w_i, w̄_i)",
    "object with total, ones and zeros",
    ("circuit", "weights"),
)


def derivatives_give_all_single_marginals(
    instance: TableQuery, *, derivative_circuit: Any, single_marginals: Any
) -> Slack:
    """Euler's identity, the restricted sums, and at most 5s gates."""
    table, weights, n = instance.table, instance.weights, instance.table.n
    circuit = shannon_circuit(table)
    backward = derivative_circuit(circuit)
    value, *gradient = values_of(backward, _flat(weights))
    total = network_polynomial(table, weights)
    restricted = [_restricted(table, weights, i) for i in range(n)]
    ones = [w * slope for (w, _), slope in zip(weights.pairs, gradient[:n], strict=True)]
    zeros = [w_bar * slope for (_, w_bar), slope in zip(weights.pairs, gradient[n:], strict=True)]
    answer = single_marginals(circuit, list(weights.pairs))
    return (
        identity("value", value, total)
        & identity("w ∂N/∂w + w̄ ∂N/∂w̄ = N", [a + b for a, b in zip(ones, zeros, strict=True)], [total] * n)
        & identity("w ∂N/∂w", ones, restricted)
        & identity("total", answer.total, total)
        & identity("single marginals", list(answer.ones), restricted)
        & identity("complements", list(answer.zeros), [total - part for part in restricted])
        & at_most("operations", gates_of(backward), int(BACKWARD_OPERATIONS(size=gates_of(circuit))))
    )


def _restricted(table: TruthTable, weights: Weights, i: int) -> Scalar:
    """``N`` over the points with ``x_i = 1``."""
    pairs = tuple((w, 0) if j == i else (w, w_bar) for j, (w, w_bar) in enumerate(weights.pairs))
    return network_polynomial(table, Weights(pairs))


def _forward_mode(circuit: ArithmeticCircuit) -> ArithmeticCircuit:
    """One pass for each input: right, with far more than 5s gates."""
    builder = CircuitBuilder(circuit.inputs, circuit.input_variables)
    outputs: list[int] = []
    for number in range(max(len(circuit.inputs), 1)):
        backward = circuit_derivatives.derivative_circuit(circuit)
        found = builder.graft(backward, list(range(len(circuit.inputs))))
        outputs = [found[0], *outputs[1:], found[1 + number]] if circuit.inputs else list(found)
    return builder.build(*outputs)


def _losing_signs(circuit: ArithmeticCircuit) -> ArithmeticCircuit:
    """Subtractions differentiated as additions."""
    kinds = np.where(circuit.kinds == NodeKind.SUBTRACT, NodeKind.ADD, circuit.kinds).astype(np.int8)
    positive = ArithmeticCircuit(
        kinds,
        circuit.left,
        circuit.right,
        circuit.constants,
        circuit.inputs,
        circuit.input_variables,
        circuit.outputs,
    )
    wrong = circuit_derivatives.derivative_circuit(positive)
    builder = CircuitBuilder(circuit.inputs, circuit.input_variables)
    places = list(range(len(circuit.inputs)))
    (value,) = builder.graft(circuit, places)
    return builder.build(value, *builder.graft(wrong, places)[1:])


def _bare_gradient(circuit: ArithmeticCircuit, weights: Any) -> Any:
    """``∂N/∂w_i`` without the factor ``w_i``."""
    flat = [w for w, _ in weights] + [w_bar for _, w_bar in weights]
    value, gradient = circuit_derivatives.gradient_exact(circuit, flat)
    n = len(weights)
    return circuit_derivatives.SingleMarginals(value, gradient[:n], gradient[n:], 0, 0)


def _exchanged(circuit: ArithmeticCircuit, weights: Any) -> Any:
    """Ones and zeros exchanged."""
    right = circuit_derivatives.marginals_exact(circuit, weights)
    return circuit_derivatives.SingleMarginals(right.total, right.zeros, right.ones, 0, 0)


# T3 and T4 as circuits


def _conversion_slot(name: str, source: str, target: str, *more: str) -> Slot:
    arguments = ", ".join(["circuit", *more])
    text = f"circuit: ArithmeticCircuit for {source}" + ("; rng: Generator" if more else "")
    return Slot(name, f"({arguments})", text, f"object with circuit for {target}", ("circuit", *more))


TO_EXTENSION = _conversion_slot("network_to_extension", "N", "p")
TO_GENERATING = _conversion_slot("network_to_generating", "N", "g")
TO_FOURIER = _conversion_slot("extension_to_fourier", "p", "F")
FROM_FOURIER = _conversion_slot("fourier_to_extension", "F", "p")
FROM_GENERATING = _conversion_slot("generating_to_network", "g", "N", "rng")
FROM_EXTENSION = _conversion_slot("extension_to_network", "p", "N", "rng")


def circuits_go_down(
    instance: TableQuery,
    *,
    network_to_extension: Any,
    network_to_generating: Any,
    extension_to_fourier: Any,
    fourier_to_extension: Any,
) -> Slack:
    """Substitutions: values, and at most n, 0, 2n, 2n gates more."""
    table, n = instance.table, instance.table.n
    point = [w for w, _ in instance.weights.pairs]
    network = shannon_circuit(table)
    p, g = network_to_extension(network).circuit, network_to_generating(network).circuit
    fourier = extension_to_fourier(p).circuit
    right = circuit_semantics.extension_to_fourier(p).circuit
    back = fourier_to_extension(right).circuit
    clauses = Slack(())
    for name, circuit, expected, before, more in (
        ("p from N", p, multilinear_extension(table, point), network, n),
        ("g from N", g, generating_polynomial(table, point), network, 0),
        ("F from p", fourier, fourier_polynomial(table, point), p, 2 * n),
        ("p from F", back, multilinear_extension(table, point), right, 2 * n),
    ):
        clauses &= identity(name, values_of(circuit, point)[0], expected)
        clauses &= at_most(f"gates of {name}", gates_of(circuit), gates_of(before) + more)
    return clauses


def circuits_come_back(instance: TableQuery, *, generating_to_network: Any, extension_to_network: Any) -> Slack:
    """N → g → N and N → p → N: values at all weights, gates within ``(n+1)^2 (s + 3n) + 3n``."""
    table, n = instance.table, instance.table.n
    rng = np.random.default_rng(table.n)
    network = shannon_circuit(table)
    expected = network_polynomial(table, instance.weights)
    clauses = Slack(())
    for name, down, up in (
        ("N from g", circuit_semantics.network_to_generating, generating_to_network),
        ("N from p", circuit_semantics.network_to_extension, extension_to_network),
    ):
        start = down(network).circuit
        circuit = up(start, rng).circuit
        clauses &= identity(name, values_of(circuit, _flat(instance.weights))[0], expected)
        bound = (n + 1) ** 2 * (gates_of(start) + 3 * n) + 3 * n
        clauses &= at_most(f"gates of {name}", gates_of(circuit), bound)
    squares = CircuitBuilder(["x0"])
    square = squares.build(squares.multiply(0, 0))  # equal to x on the cube; or the value 2 of a three-valued variable
    refused = [refuses(up, square, rng) for up in (generating_to_network, extension_to_network)]
    return clauses & requires("x² refused", all(refused))


def _without_the_product(circuit: ArithmeticCircuit, rng: Any) -> Any:
    """``g(w)``: the weights w̄ ignored."""
    right = circuit_semantics.generating_to_network(circuit, rng)
    n = len(circuit.inputs)
    builder = CircuitBuilder(*network_inputs(n))
    found = builder.graft(circuit, list(range(n)))
    return circuit_semantics.CircuitConversion(builder.build(*found), 0, right.gate_bound)


def _without_the_certificate(circuit: ArithmeticCircuit, rng: Any) -> Any:
    """``p`` with x = w: right where w + w̄ = 1, and no look at the degree."""
    if gates_of(circuit) == 1 and len(circuit.inputs) == 1:
        n = len(circuit.inputs)
        builder = CircuitBuilder(*network_inputs(n))
        found = builder.graft(circuit, list(range(n)))
        return circuit_semantics.CircuitConversion(builder.build(*found), 0, 0)
    return circuit_semantics.extension_to_network(circuit, rng)


def _half_angle_forgotten(circuit: ArithmeticCircuit) -> Any:
    """``F(s) = p(1 - s)``."""
    n = len(circuit.inputs)
    builder = CircuitBuilder([f"s{i}" for i in range(n)])
    one = builder.constant(1)
    found = builder.graft(circuit, [builder.subtract(one, i) for i in range(n)])
    return circuit_semantics.CircuitConversion(builder.build(*found), n, n)


def _one_for_the_complement(circuit: ArithmeticCircuit) -> Any:
    """``N(x, 1)`` for ``p``."""
    found = circuit_semantics.network_to_generating(circuit)
    return circuit_semantics.CircuitConversion(found.circuit, 0, 0)


DPP_CIRCUIT = Slot(
    "dpp_circuit", "(kernel)", "kernel: n × n nested list", "division-free ArithmeticCircuit for N", ("kernel",)
)


def determinant_circuits_compute_minor_sums(instance: KernelQuery, *, dpp_circuit: Any) -> Slack:
    """The circuit at the weights, and at those of a pattern."""
    kernel = instance.kernel
    table = TruthTable.from_function(kernel.n, lambda x: principal_minor(kernel, x))
    circuit = dpp_circuit(_rows(kernel))
    selected = Weights.selecting(instance.pattern)
    return identity(
        "N", values_of(circuit, _flat(instance.weights))[0], network_polynomial(table, instance.weights)
    ) & identity("PM", values_of(circuit, _flat(selected))[0], marginal(table, instance.pattern))


def determinant_circuit_size(instance: DPPKernel, *, dpp_circuit: Any) -> Cost:
    """Gates of the circuit."""
    return Cost(instance.n, gates_of(dpp_circuit(_rows(instance))), "gates")


def _rows(kernel: DPPKernel) -> Any:
    return np.array(kernel.matrix, dtype=object).reshape(kernel.n, kernel.n)


def full_kernels() -> Mapping[str, DPPKernel]:
    """Kernels without zeros, n = 4 to 20."""
    return {f"full kernel, n = {n}": _full_kernel(n) for n in (4, 6, 9, 13, 20)}


def small_full_kernels() -> Mapping[str, DPPKernel]:
    """Kernels without zeros, n = 5 to 8."""
    return {f"full kernel, n = {n}": _full_kernel(n) for n in (5, 6, 7, 8)}


def _full_kernel(n: int) -> DPPKernel:
    return DPPKernel.of([[2 + (3 * i + 5 * j) % 7 for j in range(n)] for i in range(n)])


def _by_leibniz(kernel: Any) -> ArithmeticCircuit:
    """A product for each permutation."""
    n = len(kernel)
    builder = CircuitBuilder(*network_inputs(n))
    entries = [[builder.multiply(builder.input(i), builder.constant(kernel[i][j])) for j in range(n)] for i in range(n)]
    for i in range(n):
        entries[i][i] = builder.add(entries[i][i], builder.input(n + i))
    total = builder.constant(0)
    for permutation in itertools.permutations(range(n)):
        product = builder.product([entries[i][j] for i, j in enumerate(permutation)])
        odd = sum(a > b for a, b in itertools.combinations(permutation, 2)) % 2
        total = builder.subtract(total, product) if odd else builder.add(total, product)
    return builder.build(total)


def _once_for_each_row(kernel: Any) -> ArithmeticCircuit:
    """The circuit n times over, averaged."""
    n = len(kernel)
    circuit = determinant_circuits.dpp_circuit(kernel)
    builder = CircuitBuilder(*network_inputs(n))
    parts = [builder.graft(circuit, list(range(2 * n)))[0] for _ in range(max(n, 1))]
    return builder.build(builder.multiply(builder.total(parts), builder.constant(Fraction(1, max(n, 1)))))


def _identity_for_the_weights(kernel: Any) -> ArithmeticCircuit:
    """``det(I + diag(w) L)``."""
    n = len(kernel)
    circuit = determinant_circuits.dpp_circuit(kernel)
    builder = CircuitBuilder(*network_inputs(n))
    one = builder.constant(1)
    return builder.build(*builder.graft(circuit, [*range(n), *[one] * n]))


def _diagonal_only(kernel: Any) -> ArithmeticCircuit:
    """The kernel's diagonal."""
    return determinant_circuits.dpp_circuit(np.array(kernel, dtype=object) * np.eye(len(kernel), dtype=int))


TABLES = Instances(
    scope="integer tables on n <= 5 and rational ones on n <= 4 variables, as Shannon expansions; Davis counts",
    examples=table_queries,
    draw=draw_table_queries,
    strategy=structured_table_queries,
)
SMALL_TABLES = Instances(
    scope="tables of integers and fractions on n <= 3 variables, weights with w + w̄ = 0 and w̄ = 0 among them",
    examples=lambda: {name: query for name, query in table_queries().items() if query.table.n <= 3},
    draw=lambda rng, size: _at_most_three(rng, size),
)


def _at_most_three(rng: np.random.Generator, size: int) -> list[TableQuery]:
    found: list[TableQuery] = []
    while len(found) < size:
        found += [query for query in draw_table_queries(rng, size) if query.table.n <= 3]
    return found[:size]


PROGRAMS = Instances(
    scope="Gaussian elimination of integer kernels with pivot search and lookup, table programs with divisions and"
    " branches, on 1 to 3 variables",
    examples=program_cases,
    draw=draw_program_cases,
    strategy=structured_program_cases,
)

CHECKS = (
    Check(
        theorem="marginalization.T3",
        name="circuits_down",
        kind="slack",
        observe=circuits_go_down,
        instances=TABLES,
        slots={
            TO_EXTENSION: circuit_semantics.network_to_extension,
            TO_GENERATING: circuit_semantics.network_to_generating,
            TO_FOURIER: circuit_semantics.extension_to_fourier,
            FROM_FOURIER: circuit_semantics.fourier_to_extension,
        },
        mutants=(
            Mutant("F(s) = p(1 - s)", "F from p", {"extension_to_fourier": _half_angle_forgotten}),
            Mutant("w̄ = 1 for p", "p from N", {"network_to_extension": _one_for_the_complement}),
        ),
        cost=40,
    ),
    Check(
        theorem="marginalization.T3",
        name="circuits_up",
        kind="slack",
        observe=circuits_come_back,
        instances=SMALL_TABLES,
        slots={
            FROM_GENERATING: circuit_semantics.generating_to_network,
            FROM_EXTENSION: circuit_semantics.extension_to_network,
        },
        mutants=(
            Mutant("forgets Π w̄", "N from g", {"generating_to_network": _without_the_product}),
            Mutant("no look at the degree", "x² refused", {"extension_to_network": _without_the_certificate}),
        ),
        cost=200,
    ),
    Check(
        theorem="marginalization.T4",
        name="circuit",
        kind="slack",
        observe=determinant_circuits_compute_minor_sums,
        instances=Instances(
            scope="integer kernels on n <= 4 items, any; Davis co-attendance on 5 events",
            examples=kernel_queries,
            draw=draw_kernel_queries,
            strategy=structured_kernel_queries,
        ),
        slots={DPP_CIRCUIT: determinant_circuits.dpp_circuit},
        mutants=(
            Mutant("det(I + diag(w) L)", "N", {"dpp_circuit": _identity_for_the_weights}),
            Mutant("diagonal only", "N", {"dpp_circuit": _diagonal_only}),
        ),
        cost=15,
    ),
    Check(
        theorem="marginalization.T4",
        name="circuit_size",
        kind="rate",
        observe=determinant_circuit_size,
        instances=Instances(scope="kernels without zeros, n = 4, 6, 9, 13, 20", examples=full_kernels),
        slots={DPP_CIRCUIT: determinant_circuits.dpp_circuit},
        rate=ClaimedRate(4.0, tolerance=0.2),
        mutants=(
            Mutant(
                "Leibniz",
                "gates",
                {"dpp_circuit": _by_leibniz},
                instances=Instances(scope="kernels without zeros, n = 5 to 8", examples=small_full_kernels),
            ),
            Mutant("n times over", "gates", {"dpp_circuit": _once_for_each_row}),
        ),
    ),
    Check(
        theorem="marginalization.T7",
        name="extraction",
        kind="slack",
        observe=programs_become_circuits,
        instances=PROGRAMS,
        slots={EXTRACT: _extracted},
        mutants=(
            Mutant("path at a 0/1 point", "value", {"extract_circuit": _at_a_corner}),
            Mutant("series cut at ε^(n-1)", "value", {"extract_circuit": _truncated_early}),
            Mutant("tests taken as true", "value", {"extract_circuit": _tests_taken_as_true}),
            Mutant("padded circuit", "gates", {"extract_circuit": _every_series_in_full}),
        ),
        cost=150,
    ),
    Check(
        theorem="marginalization.T7",
        name="refusals",
        kind="slack",
        observe=what_is_no_real_ram_is_refused,
        instances=PROGRAMS,
        slots={EXTRACT: _extracted},
        mutants=(
            Mutant("floor accepted", "floor refused", {"extract_circuit": _floor_accepted}),
            Mutant("any path accepted", "non-generic path refused", {"extract_circuit": _any_path}),
        ),
        cost=10,
    ),
    Check(
        theorem="marginalization.T8",
        name="derivatives",
        kind="slack",
        observe=derivatives_give_all_single_marginals,
        instances=TABLES,
        slots={
            DERIVATIVES: circuit_derivatives.derivative_circuit,
            SINGLE_MARGINALS: circuit_derivatives.marginals_exact,
        },
        mutants=(
            Mutant("gradient without w", "single marginals", {"single_marginals": _bare_gradient}),
            Mutant("ones and zeros exchanged", "single marginals", {"single_marginals": _exchanged}),
            Mutant("subtraction as addition", "w ∂N/∂w + w̄ ∂N/∂w̄ = N", {"derivative_circuit": _losing_signs}),
            Mutant("one pass for each input", "operations", {"derivative_circuit": _forward_mode}),
        ),
        cost=30,
    ),
)
