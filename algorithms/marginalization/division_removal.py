"""Strassen's removal of divisions: from the path of a real-RAM program to a division-free circuit.

The straight-line program computes a polynomial of degree at most ``d``. Run it on power series in ``epsilon`` for
the input ``xi + epsilon * (w - xi)``, truncated after ``epsilon**d``; every denominator has a nonzero constant term,
a known rational, so division of series needs no division of unknowns. The coefficients add up to the polynomial at
``w``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from whp.algorithms.marginalization.circuit_simplification import simplify
from whp.algorithms.marginalization.circuits import ArithmeticCircuit, CircuitBuilder
from whp.algorithms.marginalization.folding_arithmetic import Entry, FoldingArithmetic
from whp.algorithms.marginalization.real_ram import RealRamTrace, TraceOperation
from whp.theory.foundations.argument_checks import whole_number

__all__ = ["DivisionFreeCircuit", "division_free_gate_bound", "strassen_divfree"]

Series = list[Entry]


@dataclass(frozen=True, eq=False)
class DivisionFreeCircuit:
    """Result of removing divisions.

    Attributes
    ----------
    circuit : ArithmeticCircuit
        As constructed, constants already folded.
    simplified : ArithmeticCircuit
        The same after sharing equal gates and dropping dead ones.
    unfolded_gates : int
        Gates of the same construction when every coefficient is a gate: ``d + 1`` for a sum, ``(d + 1)**2`` for a
        product or quotient, ``n + d`` for the shift and the final sum.
    gate_bound : int
        ``(d + 1)**2 * T + n + d``, the bound ``(n + 1)**2 * T + 2 n`` when ``d = n``; never below ``unfolded_gates``.
    """

    circuit: ArithmeticCircuit
    simplified: ArithmeticCircuit
    unfolded_gates: int
    gate_bound: int


def division_free_gate_bound(n_operations: int, n_inputs: int, degree: int) -> int:
    """Gates that suffice: ``(degree + 1)**2`` per operation, and ``n_inputs + degree`` for the shift and the final sum.

    Examples
    --------
    >>> division_free_gate_bound(45, 3, 3)
    726
    """
    return (degree + 1) ** 2 * n_operations + n_inputs + degree


def strassen_divfree(
    trace: RealRamTrace,
    degree: int | None = None,
    inputs: Sequence[str] | None = None,
    input_variables: Sequence[int] | None = None,
) -> DivisionFreeCircuit:
    """Division-free circuit for the polynomial a traced program computes.

    Parameters
    ----------
    trace : RealRamTrace
        A generic path, see `trace_real_ram`.
    degree : int, optional
        Bound on the total degree of the polynomial; by default the number of inputs, right for multilinear polynomials.
        Trusted, not tested: a path of higher degree, or one that computes no polynomial, is truncated there.
    inputs : sequence of str, optional
        Names of the inputs; by default ``w0, w1, ...``.
    input_variables : sequence of int, optional
        The variable of each input, as in `CircuitBuilder`.

    Returns
    -------
    DivisionFreeCircuit
        The circuit, simplified form and bound.
    """
    n = len(trace.xi)
    degree = n if degree is None else whole_number(degree, "degree", 0)
    builder = CircuitBuilder(inputs or [f"w{i}" for i in range(n)], input_variables)
    arithmetic = FoldingArithmetic(builder)
    series: list[Series] = []
    for node in trace.nodes:
        if node.operation is TraceOperation.INPUT:
            series.append(_shifted_input(arithmetic, node.left, trace.xi[node.left], degree))
        elif node.constant is not None:
            series.append(_padded([node.constant], degree))
        else:
            series.append(_OPERATIONS[node.operation](arithmetic, series[node.left], series[node.right]))
    total = arithmetic.node(arithmetic.total(series[trace.output]))
    circuit = builder.build(total)
    cheap = trace.count(TraceOperation.ADD) + trace.count(TraceOperation.SUBTRACT)
    dear = trace.count(TraceOperation.MULTIPLY) + trace.count(TraceOperation.DIVIDE)
    return DivisionFreeCircuit(
        circuit,
        simplify(circuit),
        (degree + 1) * cheap + (degree + 1) ** 2 * dear + n + degree,
        division_free_gate_bound(trace.n_operations, n, degree),
    )


def _padded(start: Series, degree: int) -> Series:
    return start[: degree + 1] + [Fraction(0)] * (degree + 1 - len(start))


def _shifted_input(arithmetic: FoldingArithmetic, number: int, xi: Fraction, degree: int) -> Series:
    if degree == 0:
        return [xi]
    return _padded([xi, arithmetic.subtract(arithmetic.builder.input(number), xi)], degree)


def _sum(arithmetic: FoldingArithmetic, a: Series, b: Series) -> Series:
    return [arithmetic.add(x, y) for x, y in zip(a, b, strict=True)]


def _difference(arithmetic: FoldingArithmetic, a: Series, b: Series) -> Series:
    return [arithmetic.subtract(x, y) for x, y in zip(a, b, strict=True)]


def _product(arithmetic: FoldingArithmetic, a: Series, b: Series) -> Series:
    return [arithmetic.total([arithmetic.multiply(a[j], b[k - j]) for j in range(k + 1)]) for k in range(len(a))]


def _quotient(arithmetic: FoldingArithmetic, a: Series, b: Series) -> Series:
    """``c`` with ``b * c = a``: ``c_k = (a_k - sum_{j=1..k} b_j c_{k-j}) / b_0``."""
    constant = b[0]
    assert isinstance(constant, Fraction)  # constant terms of all series are values at xi
    inverse = 1 / constant
    quotient: Series = []
    for k, coefficient in enumerate(a):
        rest = coefficient
        for j in range(1, k + 1):
            rest = arithmetic.subtract(rest, arithmetic.multiply(b[j], quotient[k - j]))
        quotient.append(arithmetic.multiply(rest, inverse))
    return quotient


_OPERATIONS = {
    TraceOperation.ADD: _sum,
    TraceOperation.SUBTRACT: _difference,
    TraceOperation.MULTIPLY: _product,
    TraceOperation.DIVIDE: _quotient,
}
