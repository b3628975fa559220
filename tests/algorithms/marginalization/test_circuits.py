"""The circuit type: exact, float64 and logarithmic evaluation, simplification, properties, derivatives."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whp.algorithms.marginalization.circuit_derivatives import (
    derivative_circuit,
    gradient_batch,
    gradient_exact,
    marginals_exact,
)
from whp.algorithms.marginalization.circuit_evaluation import evaluate_batch, evaluate_exact, evaluate_log_batch
from whp.algorithms.marginalization.circuit_properties import (
    certify_multilinear,
    expand_polynomial,
    is_decomposable,
    is_smooth,
)
from whp.algorithms.marginalization.circuit_simplification import (
    eliminate_dead_gates,
    fold_constants,
    share_equal_gates,
    simplify,
)
from whp.algorithms.marginalization.circuits import (
    ArithmeticCircuit,
    CircuitBuilder,
    GateCounts,
    NodeKind,
    as_fraction,
    network_inputs,
)

F = Fraction


def table_circuit(values: list[int]) -> ArithmeticCircuit:
    """Network polynomial of a table of ``2**n`` values, as a plain sum of products."""
    n = len(values).bit_length() - 1
    builder = CircuitBuilder(*network_inputs(n))
    terms = []
    for x, value in zip(itertools.product((0, 1), repeat=n), values, strict=True):
        literals = [builder.input(i if bit else n + i) for i, bit in enumerate(x)]
        terms.append(builder.product([builder.constant(value), *literals]))
    return builder.build(builder.total(terms))


@st.composite
def circuits(draw: st.DrawFn) -> ArithmeticCircuit:
    """Random circuits with repeated operands, constants and dead gates."""
    n = draw(st.integers(0, 3))
    builder = CircuitBuilder([f"x{i}" for i in range(n)])
    builder.constant(draw(st.integers(-2, 2)))
    builder.constant(draw(st.fractions(-2, 2, max_denominator=5)))
    for _ in range(draw(st.integers(1, 12))):
        kind = draw(st.sampled_from([NodeKind.ADD, NodeKind.SUBTRACT, NodeKind.MULTIPLY]))
        builder.gate(kind, *(draw(st.integers(0, len(builder) - 1)) for _ in range(2)))
    return builder.build(len(builder) - 1)


def point_for(circuit: ArithmeticCircuit) -> list[Fraction]:
    return [F(3 * i + 2, 2 * i + 5) * (-1) ** i for i in range(len(circuit.inputs))]


@given(circuits())
@settings(max_examples=150, deadline=None)
def test_simplification_keeps_the_polynomial_and_never_adds_gates(circuit: ArithmeticCircuit) -> None:
    value = evaluate_exact(circuit, point_for(circuit))
    for shorten in (eliminate_dead_gates, fold_constants, share_equal_gates, simplify):
        shorter = shorten(circuit)
        assert shorter.size <= circuit.size
        assert evaluate_exact(shorter, point_for(circuit)) == value
    assert simplify(simplify(circuit)).size == simplify(circuit).size


@given(circuits())
@settings(max_examples=150, deadline=None)
def test_float_and_logarithmic_values_agree_with_exact_ones(circuit: ArithmeticCircuit) -> None:
    point = point_for(circuit)
    exact = evaluate_exact(circuit, point)
    if abs(exact) > 10**200:
        return
    rows = np.array([[float(x) for x in point]] * 2)
    scale = max(1.0, float(evaluate_exact(circuit, [float(x) for x in point]).__abs__()))
    magnitude = max(scale, *(abs(float(v)) for v in magnitudes(circuit, point)))
    assert evaluate_batch(circuit, rows) == pytest.approx([float(exact)] * 2, abs=1e-11 * magnitude)
    sign, logarithm = evaluate_log_batch(circuit, rows)
    assert sign * np.exp(logarithm) == pytest.approx([float(exact)] * 2, abs=1e-11 * magnitude)


def magnitudes(circuit: ArithmeticCircuit, point: list[Fraction]) -> list[Fraction]:
    """Node values with subtraction replaced by addition of absolute values: the scale of rounding errors."""
    out: list[Fraction] = []
    for _, kind, left, right in circuit.walk():
        if kind == NodeKind.INPUT:
            out.append(abs(point[left]))
        elif kind == NodeKind.CONSTANT:
            out.append(abs(circuit.constants[left]))
        else:
            out.append(out[left] * out[right] if kind == NodeKind.MULTIPLY else out[left] + out[right])
    return out


@given(circuits())
@settings(max_examples=150, deadline=None)
def test_derivatives_match_the_expanded_polynomial_within_five_times_the_gates(circuit: ArithmeticCircuit) -> None:
    monomials = expand_polynomial(circuit)
    if monomials is None:
        return
    backward = derivative_circuit(circuit)
    assert backward.size <= 5 * circuit.size
    point = point_for(circuit)
    value, gradient = gradient_exact(circuit, point)
    assert value == sum((c * math.prod(point[i] ** e for i, e in m) for m, c in monomials.items()), F(0))
    for j in range(len(point)):
        slope = F(0)
        for monomial, coefficient in monomials.items():
            exponents = dict(monomial)
            if j in exponents:
                term = coefficient * exponents[j]
                for i, e in exponents.items():
                    term *= point[i] ** (e - (i == j))
                slope += term
        assert gradient[j] == slope


def test_single_marginals_of_a_table_are_its_restrictions() -> None:
    values = [3, -1, 4, 1, -5, 9, 2, 6]
    circuit = table_circuit(values)
    weights = [(F(1, 2), F(-3)), (F(0), F(2, 7)), (F(5), F(-5))]
    found = marginals_exact(circuit, weights)
    for i in range(3):
        assert found.ones[i] + found.zeros[i] == found.total
    for i, bit in itertools.product(range(3), (0, 1)):
        expected = F(0)
        for x, value in zip(itertools.product((0, 1), repeat=3), values, strict=True):
            if x[i] == bit:
                expected += value * math.prod(weights[j][0] if x[j] else weights[j][1] for j in range(3))
        assert (found.ones if bit else found.zeros)[i] == expected
    assert found.total_gates <= 5 * found.forward_gates
    values_, slopes = gradient_batch(circuit, np.ones((1, 6)))
    assert values_[0] == sum(values)
    assert slopes[0, 0] == sum(values[4:])


def test_gates_are_counted_by_kind_and_inputs_are_free() -> None:
    builder = CircuitBuilder(["x", "y"])
    node = builder.subtract(builder.multiply(0, 1), builder.constant(F(1, 3)))
    circuit = builder.build(builder.add(node, node))
    assert circuit.gate_counts == GateCounts(additions=1, subtractions=1, multiplications=1)
    assert circuit.size == builder.n_gates == 3
    assert circuit.n_nodes == 6
    assert circuit.depths.max() == 3


def test_values_beyond_float64_are_refused_in_float_and_fine_in_logarithms() -> None:
    builder = CircuitBuilder(["x"])
    node = 0
    for _ in range(12):
        node = builder.multiply(node, node)
    circuit = builder.build(node)
    with pytest.raises(OverflowError, match="evaluate_log_batch"):
        evaluate_batch(circuit, [[1.0], [-3.0]])
    sign, logarithm = evaluate_log_batch(circuit, [[-3.0], [0.0], [1e-300]])
    assert sign.tolist() == [1.0, 0.0, 1.0]
    assert logarithm == pytest.approx([4096 * math.log(3), -math.inf, 4096 * math.log(1e-300)], rel=1e-12)
    assert evaluate_exact(circuit, [-3]) == 3**4096


def test_exact_constants_of_any_size_reach_the_logarithm() -> None:
    builder = CircuitBuilder([])
    circuit = builder.build(builder.constant(F(-(10**5000), 7)))
    sign, logarithm = evaluate_log_batch(circuit, np.zeros((1, 0)))
    assert sign[0] == -1
    assert logarithm[0] == pytest.approx(5000 * math.log(10) - math.log(7), rel=1e-12)


def test_structural_properties() -> None:
    factorised = CircuitBuilder(*network_inputs(2))
    sums = [factorised.add(i, 2 + i) for i in range(2)]
    circuit = factorised.build(factorised.multiply(*sums))
    assert is_smooth(circuit)
    assert is_decomposable(circuit)
    assert certify_multilinear(circuit).method == "structural"
    ragged = CircuitBuilder(["x", "y"])
    assert not is_smooth(ragged.build(ragged.add(0, 1)))
    assert not is_decomposable(ragged.build(ragged.multiply(0, 0)))


def test_multilinear_output_of_gates_that_are_not() -> None:
    """(x + y)**2 - x**2 - y**2 = 2 x y: inner gates have squares, the output does not."""
    builder = CircuitBuilder(["x", "y"])
    total = builder.add(0, 1)
    square = builder.multiply(total, total)
    circuit = builder.build(builder.subtract(builder.subtract(square, builder.multiply(0, 0)), builder.multiply(1, 1)))
    certificate = certify_multilinear(circuit)
    assert (certificate.multilinear, certificate.method) == (True, "expansion")
    probable = certify_multilinear(circuit, np.random.default_rng(0), max_monomials=0)
    assert (probable.multilinear, probable.method) == (True, "probabilistic")
    assert 0 < probable.error_probability < F(1, 2**100)


def test_a_square_is_found_by_every_method() -> None:
    builder = CircuitBuilder(["x", "y"])
    circuit = builder.build(builder.multiply(builder.multiply(0, 1), 1))
    for limit in (2000, 0):
        certificate = certify_multilinear(circuit, np.random.default_rng(0), max_monomials=limit)
        assert not certificate.multilinear
        assert certificate.offending_input == "y"
        assert certificate.error_probability == 0
    with pytest.raises(ValueError, match="pass rng"):
        certify_multilinear(circuit, max_monomials=0)


def test_a_random_test_that_could_say_nothing_is_refused() -> None:
    builder = CircuitBuilder(["x"])
    node = 0
    for _ in range(60):
        node = builder.multiply(node, node)
    with pytest.raises(ValueError, match="too large for a test"):
        certify_multilinear(builder.build(node), np.random.default_rng(0), max_monomials=0)


def test_bad_circuits_and_values_are_refused() -> None:
    builder = CircuitBuilder(["x"])
    with pytest.raises(ValueError, match="operands"):
        builder.add(0, 5)
    with pytest.raises(ValueError, match="input must be"):
        builder.input(1)
    with pytest.raises(ValueError, match="gate"):
        builder.gate(NodeKind.INPUT, 0, 0)
    circuit = builder.build(builder.add(0, 0))
    with pytest.raises(ValueError, match="one number for each"):
        evaluate_exact(circuit, [1, 2])
    with pytest.raises(ValueError, match="shape"):
        evaluate_batch(circuit, [1.0])
    with pytest.raises(ValueError, match="finite"):
        evaluate_batch(circuit, [[math.nan]])
    with pytest.raises(ValueError, match="finite"):
        evaluate_exact(circuit, [math.inf])
    with pytest.raises(TypeError, match="fraction"):
        as_fraction("1")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="outputs"):
        builder.build()
    with pytest.raises(ValueError, match="choose one"):
        _ = builder.build(0, 0).output
    with pytest.raises(ValueError, match="earlier nodes"):
        ArithmeticCircuit(np.array([NodeKind.ADD], dtype=np.int8), np.array([0]), np.array([0]), (), (), (), (0,))


def test_empty_batches_and_several_outputs() -> None:
    builder = CircuitBuilder(["x"])
    circuit = builder.build(0, builder.multiply(0, 0))
    assert evaluate_batch(circuit, np.zeros((0, 1))).shape == (0, 2)
    assert evaluate_batch(circuit, [[3.0]]).tolist() == [[3.0, 9.0]]
    assert evaluate_log_batch(circuit, np.zeros((0, 1)))[0].shape == (0, 2)
