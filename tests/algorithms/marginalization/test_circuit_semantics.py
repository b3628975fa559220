"""Conversions between the polynomials of a binary function, and the categorical trap."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whp.algorithms.marginalization.circuit_evaluation import evaluate_exact
from whp.algorithms.marginalization.circuit_properties import expand_polynomial
from whp.algorithms.marginalization.circuit_semantics import (
    NotMultilinearError,
    extension_to_fourier,
    extension_to_network,
    fourier_to_extension,
    generating_to_network,
    network_to_extension,
    network_to_generating,
)
from whp.algorithms.marginalization.circuits import ArithmeticCircuit, CircuitBuilder, network_inputs
from whp.algorithms.marginalization.determinant_circuits import dpp_circuit

F = Fraction


def table_circuit(values: list[int]) -> ArithmeticCircuit:
    n = len(values).bit_length() - 1
    builder = CircuitBuilder(*network_inputs(n))
    terms = []
    for x, value in zip(itertools.product((0, 1), repeat=n), values, strict=True):
        literals = [builder.input(i if bit else n + i) for i, bit in enumerate(x)]
        terms.append(builder.product([builder.constant(value), *literals]))
    return builder.build(builder.total(terms))


def triangle() -> ArithmeticCircuit:
    """f = (-1)**(x1 x2 + x2 x3 + x1 x3)."""
    return table_circuit([(-1) ** (x * y + y * z + x * z) for x, y, z in itertools.product((0, 1), repeat=3)])


def coefficients(circuit: ArithmeticCircuit) -> dict[tuple[int, ...], Fraction]:
    expanded = expand_polynomial(circuit)
    assert expanded is not None
    return {tuple(i for i, _ in monomial): value for monomial, value in expanded.items()}


def test_reference_polynomials_of_the_triangle_form() -> None:
    network = triangle()
    extension = network_to_extension(network).circuit
    assert coefficients(extension) == {(): 1, (0, 1): -2, (0, 2): -2, (1, 2): -2, (0, 1, 2): 4}
    generating = network_to_generating(network).circuit
    assert coefficients(generating) == {
        (): 1,
        (0,): 1,
        (1,): 1,
        (2,): 1,
        (0, 1): -1,
        (0, 2): -1,
        (1, 2): -1,
        (0, 1, 2): -1,
    }
    fourier = extension_to_fourier(extension).circuit
    assert coefficients(fourier) == {(0,): F(1, 2), (1,): F(1, 2), (2,): F(1, 2), (0, 1, 2): F(-1, 2)}
    assert evaluate_exact(network, [F(1, 2), F(1, 3), F(1, 5), 1, 1, 1]) == F(5, 3)


@given(
    st.integers(0, 3).flatmap(lambda n: st.lists(st.integers(-3, 3), min_size=2**n, max_size=2**n)), st.integers(0, 99)
)
@settings(max_examples=25, deadline=None)
def test_round_trips_give_the_same_polynomial_within_the_stated_gates(values: list[int], seed: int) -> None:
    network = table_circuit(values)
    rng = np.random.default_rng(seed)
    extension, generating = network_to_extension(network), network_to_generating(network)
    fourier = extension_to_fourier(extension.circuit)
    back = fourier_to_extension(fourier.circuit)
    up_g, up_p = generating_to_network(generating.circuit, rng), extension_to_network(extension.circuit, rng)
    assert expand_polynomial(back.circuit) == expand_polynomial(extension.circuit)
    assert expand_polynomial(up_g.circuit) == expand_polynomial(up_p.circuit) == expand_polynomial(network)
    for conversion in (extension, generating, fourier, back, up_g, up_p):
        assert conversion.gates_added <= conversion.gate_bound
    n = len(network.inputs) // 2
    assert extension.gates_added == n
    assert generating.gates_added == 0
    assert fourier.gates_added == back.gates_added == 2 * n


def test_weights_that_the_formula_divides_by_may_be_zero() -> None:
    network = dpp_circuit([[2, 1, 0], [1, 2, 1], [0, 1, 3]])
    rng = np.random.default_rng(0)
    from_g = generating_to_network(network_to_generating(network).circuit, rng).circuit
    from_p = extension_to_network(network_to_extension(network).circuit, rng).circuit
    for weights in ([1, 2, 3, 0, 0, 0], [1, F(1, 2), -3, -1, F(-1, 2), 3], [0, 0, 0, 0, 0, 0]):
        assert evaluate_exact(from_g, weights) == evaluate_exact(from_p, weights) == evaluate_exact(network, weights)


def test_the_categorical_trap_is_refused_and_would_be_wrong() -> None:
    """A variable with values 0, 1, 2 encoded as z**0, z**1, z**2: g = 1 + 2 z + 3 z**2."""
    builder = CircuitBuilder(["z"])
    square = builder.multiply(0, 0)
    generating = builder.build(
        builder.total(
            [
                builder.constant(1),
                builder.multiply(builder.constant(2), 0),
                builder.multiply(builder.constant(3), square),
            ]
        )
    )
    with pytest.raises(NotMultilinearError, match="'z' has degree 2"):
        generating_to_network(generating, np.random.default_rng(0))
    w, wbar = F(1, 2), F(5)
    binary_formula = wbar * evaluate_exact(generating, [w / wbar])
    assert binary_formula != wbar + 2 * w + 3 * w**2 / wbar + 1  # no choice of weights for value 2 is reachable:
    assert binary_formula == wbar + 2 * w + 3 * w**2 / wbar  # value 2 is tied to w**2 / wbar


def test_equal_on_the_cube_is_not_enough() -> None:
    """x**2 equals x on {0, 1} but its value at 1/2 is not the mean."""
    builder = CircuitBuilder(["x"])
    with pytest.raises(NotMultilinearError, match="multilinear extension"):
        extension_to_network(builder.build(builder.multiply(0, 0)), np.random.default_rng(0))


def test_odd_numbers_of_inputs_are_not_a_network_polynomial() -> None:
    builder = CircuitBuilder(["w"])
    with pytest.raises(ValueError, match="w_i and wbar_i"):
        network_to_extension(builder.build(0))
