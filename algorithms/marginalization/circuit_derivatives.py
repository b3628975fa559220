"""All partial derivatives of a circuit by one backward pass (Baur and Strassen), and what they say about marginals.

From a circuit of size ``s`` for the network polynomial ``N`` one obtains ``N`` and all ``dN/dw_i``, ``dN/dwbar_i``
with at most ``5 s`` gates. ``w_i dN/dw_i`` is the virtual-evidence sum restricted to ``x_i = 1`` (Darwiche).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from numbers import Rational

import numpy as np
from numpy.typing import ArrayLike, NDArray

from whp.algorithms.marginalization.circuit_evaluation import evaluate_batch, node_values_exact
from whp.algorithms.marginalization.circuits import ArithmeticCircuit, CircuitBuilder, NodeKind, as_fraction

__all__ = ["SingleMarginals", "derivative_circuit", "gradient_batch", "gradient_exact", "marginals_exact"]


def derivative_circuit(circuit: ArithmeticCircuit) -> ArithmeticCircuit:
    """Circuit whose outputs are the polynomial and all its partial derivatives.

    Parameters
    ----------
    circuit : ArithmeticCircuit
        A circuit with one output.

    Returns
    -------
    ArithmeticCircuit
        Outputs: the value, then the derivative in each input, in order; at most five times as many gates.

    Examples
    --------
    >>> builder = CircuitBuilder(["x", "y"])
    >>> derivative_circuit(builder.build(builder.multiply(0, 1))).size
    1
    """
    builder = CircuitBuilder(circuit.inputs, circuit.input_variables)
    place = _copied(builder, circuit)
    one, minus_one = builder.constant(1), builder.constant(-1)
    adjoint: list[int | None] = [None] * circuit.n_nodes
    adjoint[circuit.output] = one

    def accumulate(node: int, term: int) -> None:
        before = adjoint[node]
        adjoint[node] = term if before is None else builder.add(before, term)

    def scaled(weight: int, node: int) -> int:
        """``weight * place[node]`` without a gate when the weight is one."""
        return place[node] if weight == one else builder.multiply(weight, place[node])

    for node, kind, left, right in reversed(list(circuit.walk())):
        weight = adjoint[node]
        if weight is None or kind < NodeKind.ADD:
            continue
        if kind == NodeKind.MULTIPLY:
            accumulate(left, scaled(weight, right))
            accumulate(right, scaled(weight, left))
            continue
        accumulate(left, weight)
        if kind == NodeKind.ADD:
            accumulate(right, weight)
        else:
            before = adjoint[right]
            adjoint[right] = builder.multiply(minus_one, weight) if before is None else builder.subtract(before, weight)
    zero = builder.constant(0)
    gradient: list[int] = [zero] * len(circuit.inputs)
    for node, kind, left, _ in circuit.walk():
        found = adjoint[node]
        if kind == NodeKind.INPUT and found is not None:
            gradient[left] = found
    return builder.build(place[circuit.output], *gradient)


def _copied(builder: CircuitBuilder, circuit: ArithmeticCircuit) -> list[int]:
    place: list[int] = []
    for _, kind, left, right in circuit.walk():
        if kind == NodeKind.INPUT:
            place.append(left)
        elif kind == NodeKind.CONSTANT:
            place.append(builder.constant(circuit.constants[left]))
        else:
            place.append(builder.gate(NodeKind(kind), place[left], place[right]))
    return place


def gradient_exact(
    circuit: ArithmeticCircuit, values: Sequence[Rational | float]
) -> tuple[Fraction, tuple[Fraction, ...]]:
    """Exact value and all partial derivatives at a rational point.

    Parameters
    ----------
    circuit : ArithmeticCircuit
        A circuit with one output.
    values : sequence of rationals
        One value per input.

    Returns
    -------
    value : Fraction
    gradient : tuple of Fraction
        One per input.
    """
    backward = derivative_circuit(circuit)
    nodes = node_values_exact(backward, values)
    value, *gradient = (nodes[output] for output in backward.outputs)
    return value, tuple(gradient)


def gradient_batch(circuit: ArithmeticCircuit, values: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Values, shape (batch,), and gradients, shape (batch, inputs), in float64.

    Parameters and errors are those of `evaluate_batch`.
    """
    results = evaluate_batch(derivative_circuit(circuit), values)
    return results[:, 0], results[:, 1:]


@dataclass(frozen=True)
class SingleMarginals:
    """All single marginals of a network polynomial.

    Attributes
    ----------
    total : Fraction
        ``N(w, wbar)``.
    ones, zeros : tuple of Fraction
        ``N`` restricted to ``x_i = 1`` and to ``x_i = 0``; they add up to ``total`` for every ``i``.
    forward_gates, total_gates : int
        Gates of the circuit, and gates used for all marginals together with the value (products with the weights not
        counted).
    """

    total: Fraction
    ones: tuple[Fraction, ...]
    zeros: tuple[Fraction, ...]
    forward_gates: int
    total_gates: int


def marginals_exact(
    circuit: ArithmeticCircuit, weights: Sequence[tuple[Rational | float, Rational | float]]
) -> SingleMarginals:
    """Restrictions of a network polynomial to ``x_i = 1`` and ``x_i = 0``, for all ``i`` by one backward pass.

    Parameters
    ----------
    circuit : ArithmeticCircuit
        Circuit with inputs ``w_0..w_{n-1}, wbar_0..wbar_{n-1}``.
    weights : sequence of pairs
        ``(w_i, wbar_i)`` for each variable.

    Raises
    ------
    ValueError
        If the circuit does not have two inputs per variable.
    """
    n = len(weights)
    if len(circuit.inputs) != 2 * n:
        raise ValueError(f"weights must have one pair for each of {len(circuit.inputs) / 2:g} variables, got {n}")
    values = [as_fraction(w) for w, _ in weights] + [as_fraction(w) for _, w in weights]
    backward = derivative_circuit(circuit)
    nodes = node_values_exact(backward, values)
    total, *gradient = (nodes[output] for output in backward.outputs)
    products = [value * slope for value, slope in zip(values, gradient, strict=True)]
    return SingleMarginals(total, tuple(products[:n]), tuple(products[n:]), circuit.size, backward.size)
