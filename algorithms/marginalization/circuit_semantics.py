"""Convert circuits between the polynomials that describe a function on binary vectors.

``N(w, wbar)`` network polynomial, ``p(x) = N(x, 1 - x)`` multilinear extension, ``g(z) = N(z, 1)`` generating
polynomial, ``F(s) = p((1 - s) / 2)`` Fourier polynomial. Going down from ``N`` is substitution; going up divides by
weights and removes the divisions again. All of it needs the output to be multilinear: for categorical variables with
three or more values encoded as ``z**0, z**1, z**2`` the conversion is refused, because there marginalization is
#P-hard.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from whp.algorithms.marginalization.circuit_properties import certify_multilinear
from whp.algorithms.marginalization.circuits import ArithmeticCircuit, CircuitBuilder, NodeKind, network_inputs
from whp.algorithms.marginalization.division_removal import strassen_divfree
from whp.algorithms.marginalization.real_ram import generic_point, trace_real_ram

__all__ = [
    "CircuitConversion",
    "NotMultilinearError",
    "extension_to_fourier",
    "extension_to_network",
    "fourier_to_extension",
    "generating_to_network",
    "network_to_extension",
    "network_to_generating",
]


class NotMultilinearError(ValueError):
    """The polynomial has degree two or more in a variable, so its values off the cube do not give marginals."""


@dataclass(frozen=True, eq=False)
class CircuitConversion:
    """A converted circuit and its price.

    Attributes
    ----------
    circuit : ArithmeticCircuit
        The new circuit.
    gates_added : int
        Its gates minus those of the original.
    gate_bound : int
        What the construction promises at most for ``gates_added``.
    """

    circuit: ArithmeticCircuit
    gates_added: int
    gate_bound: int


def network_to_extension(network: ArithmeticCircuit) -> CircuitConversion:
    """Substitute ``wbar_i = 1 - x_i``: ``n`` gates.

    Parameters
    ----------
    network : ArithmeticCircuit
        Inputs ``w_0..w_{n-1}, wbar_0..wbar_{n-1}``.
    """
    n = _n_of_network(network)
    builder = CircuitBuilder([f"x{i}" for i in range(n)])
    one = builder.constant(1)
    nodes = [*range(n), *(builder.subtract(one, i) for i in range(n))]
    return _converted(builder, network, nodes, n)


def network_to_generating(network: ArithmeticCircuit) -> CircuitConversion:
    """Substitute ``wbar_i = 1``: no gates.

    Parameters
    ----------
    network : ArithmeticCircuit
        Inputs ``w_0..w_{n-1}, wbar_0..wbar_{n-1}``.
    """
    n = _n_of_network(network)
    builder = CircuitBuilder([f"z{i}" for i in range(n)])
    return _converted(builder, network, [*range(n), *[builder.constant(1)] * n], 0)


def extension_to_fourier(extension: ArithmeticCircuit) -> CircuitConversion:
    """Substitute ``x_i = (1 - s_i) / 2``: ``2 n`` gates."""
    n = len(extension.inputs)
    builder = CircuitBuilder([f"s{i}" for i in range(n)])
    one, half = builder.constant(1), builder.constant(Fraction(1, 2))
    nodes = [builder.multiply(half, builder.subtract(one, i)) for i in range(n)]
    return _converted(builder, extension, nodes, 2 * n)


def fourier_to_extension(fourier: ArithmeticCircuit) -> CircuitConversion:
    """Substitute ``s_i = 1 - 2 x_i``: ``2 n`` gates."""
    n = len(fourier.inputs)
    builder = CircuitBuilder([f"x{i}" for i in range(n)])
    one, two = builder.constant(1), builder.constant(2)
    nodes = [builder.subtract(one, builder.multiply(two, i)) for i in range(n)]
    return _converted(builder, fourier, nodes, 2 * n)


def generating_to_network(generating: ArithmeticCircuit, rng: np.random.Generator) -> CircuitConversion:
    """``N(w, wbar) = prod_i wbar_i * g(w_1 / wbar_1, ...)`` with the divisions removed.

    Parameters
    ----------
    generating : ArithmeticCircuit
        Circuit of ``g`` in ``z_0..z_{n-1}``.
    rng : numpy.random.Generator
        Chooses the point of expansion.

    Returns
    -------
    CircuitConversion
        Valid for all weights, also where ``wbar_i = 0``.

    Raises
    ------
    NotMultilinearError
        If ``g`` has degree two or more in some ``z_i``.
    """

    def program(n: int, w: Sequence[Any]) -> Any:
        ratios = [w[i] / w[n + i] for i in range(n)]
        return _product_of(w[n:]) * _run_circuit(generating, ratios)

    return _raised(generating, program, rng, "generating polynomial")


def extension_to_network(extension: ArithmeticCircuit, rng: np.random.Generator) -> CircuitConversion:
    """``N(w, wbar) = prod_i (w_i + wbar_i) * p(w_1 / (w_1 + wbar_1), ...)`` with the divisions removed.

    Parameters
    ----------
    extension : ArithmeticCircuit
        Circuit of ``p`` in ``x_0..x_{n-1}``.
    rng : numpy.random.Generator
        Chooses the point of expansion.

    Returns
    -------
    CircuitConversion
        Valid for all weights, also where ``w_i + wbar_i = 0``.

    Raises
    ------
    NotMultilinearError
        If ``p`` has degree two or more in some ``x_i``, even if it agrees with the function on the cube.
    """

    def program(n: int, w: Sequence[Any]) -> Any:
        sums = [w[i] + w[n + i] for i in range(n)]
        return _product_of(sums) * _run_circuit(extension, [w[i] / sums[i] for i in range(n)])

    return _raised(extension, program, rng, "multilinear extension")


def _n_of_network(network: ArithmeticCircuit) -> int:
    n, odd = divmod(len(network.inputs), 2)
    if odd:
        raise ValueError(f"a network polynomial has inputs w_i and wbar_i, got {len(network.inputs)} inputs")
    return n


def _converted(
    builder: CircuitBuilder, circuit: ArithmeticCircuit, nodes: Sequence[int], bound: int
) -> CircuitConversion:
    result = builder.build(*builder.graft(circuit, nodes))
    return CircuitConversion(result, result.size - circuit.size, bound)


def _product_of(factors: Sequence[Any]) -> Any:
    result: Any = 1
    for factor in factors:
        result = factor if isinstance(result, int) else result * factor
    return result


def _run_circuit(circuit: ArithmeticCircuit, values: Sequence[Any]) -> Any:
    out: list[Any] = []
    for _, kind, left, right in circuit.walk():
        if kind == NodeKind.INPUT:
            out.append(values[left])
        elif kind == NodeKind.CONSTANT:
            out.append(circuit.constants[left])
        elif kind == NodeKind.MULTIPLY:
            out.append(out[left] * out[right])
        else:
            out.append(out[left] + out[right] if kind == NodeKind.ADD else out[left] - out[right])
    return out[circuit.output]


def _raised(
    circuit: ArithmeticCircuit, program: Callable[[int, Sequence[Any]], Any], rng: np.random.Generator, name: str
) -> CircuitConversion:
    certificate = certify_multilinear(circuit, rng)
    if not certificate.multilinear:
        raise NotMultilinearError(
            f"the {name} must be multilinear, but {certificate.offending_input!r} has degree 2 or more (as with a "
            "variable of three values encoded by powers)"
        )
    n = len(circuit.inputs)
    names, variables = network_inputs(n)
    trace = trace_real_ram(lambda w: program(n, w), generic_point(2 * n, rng), generic_point(2 * n, rng))
    result = strassen_divfree(trace, n, names, variables)
    # At most n divisions, n additions, a product of n + 1 factors and the circuit itself, each (n + 1)**2 gates.
    bound = (n + 1) ** 2 * (circuit.size + 3 * n) + 3 * n - circuit.size
    return CircuitConversion(result.simplified, result.simplified.size - circuit.size, bound)
