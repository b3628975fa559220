"""Evaluate arithmetic circuits: exactly, in float64 batches, or as signs and logarithms."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from numbers import Rational

import numpy as np
from numpy.typing import ArrayLike, NDArray

from whp.algorithms.marginalization.circuits import ArithmeticCircuit, NodeKind, as_fraction
from whp.theory.foundations.argument_checks import real_array

__all__ = ["evaluate_batch", "evaluate_exact", "evaluate_log_batch", "node_values_exact"]

FloatArray = NDArray[np.float64]
#: Nodes times rows of one chunk stay below this many float64 numbers.
_CHUNK_ENTRIES = 2**24


def node_values_exact(circuit: ArithmeticCircuit, values: Sequence[Rational | float]) -> list[Fraction]:
    """Exact value of every node.

    Parameters
    ----------
    circuit : ArithmeticCircuit
        The circuit.
    values : sequence of rationals
        One value per input; finite floats count as the dyadic rationals they are.

    Returns
    -------
    list of Fraction
        In node order.

    Raises
    ------
    ValueError
        If the number of values is wrong.
    """
    if len(values) != len(circuit.inputs):
        raise ValueError(f"values must give one number for each of {len(circuit.inputs)} inputs, got {len(values)}")
    given = [as_fraction(value, f"values[{i}]") for i, value in enumerate(values)]
    out: list[Fraction] = []
    for _, kind, left, right in circuit.walk():
        if kind == NodeKind.MULTIPLY:
            out.append(out[left] * out[right])
        elif kind == NodeKind.ADD:
            out.append(out[left] + out[right])
        elif kind == NodeKind.SUBTRACT:
            out.append(out[left] - out[right])
        else:
            out.append(given[left] if kind == NodeKind.INPUT else circuit.constants[left])
    return out


def evaluate_exact(circuit: ArithmeticCircuit, values: Sequence[Rational | float]) -> Fraction:
    """Exact value of the only output.

    Parameters are those of `node_values_exact`.

    Examples
    --------
    >>> from whp.algorithms.marginalization.circuits import CircuitBuilder
    >>> builder = CircuitBuilder(["x"])
    >>> evaluate_exact(builder.build(builder.multiply(0, builder.constant(Fraction(1, 3)))), [6])
    Fraction(2, 1)
    """
    output = circuit.output
    return node_values_exact(circuit, values)[output]


def evaluate_batch(circuit: ArithmeticCircuit, values: ArrayLike) -> FloatArray:
    """Outputs in float64 for a batch of inputs, layer by layer.

    Parameters
    ----------
    circuit : ArithmeticCircuit
        The circuit.
    values : array_like, shape (batch, inputs)
        Finite input values.

    Returns
    -------
    ndarray, shape (batch,), or (batch, outputs) if there are several
        Ordinary rounding applies: subtractions may cancel. Use `evaluate_exact` where digits matter and
        `evaluate_log_batch` where magnitudes leave float64.

    Raises
    ------
    ValueError
        If the shape is wrong or a value is not finite.
    OverflowError
        If an output overflows float64.
    """
    rows = _checked(circuit, values)
    parts = [_evaluate_chunk(circuit, part) for part in _chunked(circuit, rows)]
    result = np.concatenate(parts, axis=1) if parts else np.zeros((len(circuit.outputs), 0))
    if not np.all(np.isfinite(result)):
        row = int(np.argwhere(~np.isfinite(result))[0][1])
        raise OverflowError(f"the circuit overflows float64 in row {row}; evaluate_log_batch has no such limit")
    return result[0] if len(circuit.outputs) == 1 else np.ascontiguousarray(result.T)


def _checked(circuit: ArithmeticCircuit, values: ArrayLike) -> FloatArray:
    rows = real_array(values)
    if rows.ndim != 2 or rows.shape[1] != len(circuit.inputs):
        raise ValueError(f"values must have shape (batch, {len(circuit.inputs)}), got {rows.shape}")
    if not np.all(np.isfinite(rows)):
        row, column = (int(i) for i in np.argwhere(~np.isfinite(rows))[0])
        raise ValueError(
            f"values must be finite, got {rows[row, column]} in row {row} for input {circuit.inputs[column]!r}"
        )
    return rows


def _chunked(circuit: ArithmeticCircuit, rows: FloatArray) -> list[FloatArray]:
    size = max(1, _CHUNK_ENTRIES // max(1, circuit.n_nodes))
    return [rows[start : start + size] for start in range(0, len(rows), size)]


def _leaves(circuit: ArithmeticCircuit, rows: FloatArray) -> FloatArray:
    store = np.empty((circuit.n_nodes, len(rows)))
    inputs = np.flatnonzero(circuit.kinds == NodeKind.INPUT)
    constants = np.flatnonzero(circuit.kinds == NodeKind.CONSTANT)
    store[inputs] = rows.T[circuit.left[inputs]]
    if constants.size:
        store[constants] = np.array([_as_float(circuit.constants[i]) for i in circuit.left[constants]])[:, None]
    return store


def _as_float(constant: Fraction) -> float:
    try:
        return float(constant)
    except OverflowError:
        raise OverflowError("a constant exceeds float64; evaluate_log_batch has no such limit") from None


def _evaluate_chunk(circuit: ArithmeticCircuit, rows: FloatArray) -> FloatArray:
    store = _leaves(circuit, rows)
    operation = {NodeKind.ADD: np.add, NodeKind.SUBTRACT: np.subtract, NodeKind.MULTIPLY: np.multiply}
    with np.errstate(over="ignore", invalid="ignore"):
        for kind, nodes, left, right in circuit.layers:
            store[nodes] = operation[kind](store[left], store[right])
    return store[list(circuit.outputs)]


def evaluate_log_batch(circuit: ArithmeticCircuit, values: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Signs and natural logarithms of the outputs' magnitudes for a batch of inputs.

    Parameters
    ----------
    circuit : ArithmeticCircuit
        The circuit.
    values : array_like, shape (batch, inputs)
        Finite input values, of any sign.

    Returns
    -------
    sign : ndarray, shape (batch,), or (batch, outputs)
        -1, 0 or 1.
    logarithm : ndarray of the same shape
        ``-inf`` where the sign is 0.

    Raises
    ------
    ValueError
        If the shape is wrong or a value is not finite.
    """
    rows = _checked(circuit, values)
    parts = [_evaluate_log_chunk(circuit, part) for part in _chunked(circuit, rows)]
    signs = np.concatenate([part[0] for part in parts], axis=1) if parts else np.zeros((len(circuit.outputs), 0))
    logs = np.concatenate([part[1] for part in parts], axis=1) if parts else np.zeros((len(circuit.outputs), 0))
    if len(circuit.outputs) == 1:
        return signs[0], logs[0]
    return np.ascontiguousarray(signs.T), np.ascontiguousarray(logs.T)


def _log_constant(value: Fraction) -> float:
    """Natural logarithm of a positive fraction of any size."""
    shift = value.numerator.bit_length() - value.denominator.bit_length()
    scaled = value / 2**shift if shift >= 0 else value * 2**-shift
    return float(np.log(float(scaled)) + shift * np.log(2.0))


def _evaluate_log_chunk(circuit: ArithmeticCircuit, rows: FloatArray) -> tuple[FloatArray, FloatArray]:
    signs = np.zeros((circuit.n_nodes, len(rows)))
    logs = np.full((circuit.n_nodes, len(rows)), -np.inf)
    inputs = np.flatnonzero(circuit.kinds == NodeKind.INPUT)
    with np.errstate(divide="ignore"):
        signs[inputs], logs[inputs] = (
            np.sign(rows.T[circuit.left[inputs]]),
            np.log(np.abs(rows.T[circuit.left[inputs]])),
        )
    for node in np.flatnonzero(circuit.kinds == NodeKind.CONSTANT):
        value = circuit.constants[circuit.left[node]]
        if value:
            signs[node], logs[node] = (1.0 if value > 0 else -1.0), _log_constant(abs(value))
    for kind, nodes, left, right in circuit.layers:
        if kind == NodeKind.MULTIPLY:
            signs[nodes], logs[nodes] = signs[left] * signs[right], logs[left] + logs[right]
        else:
            flipped = -signs[right] if kind == NodeKind.SUBTRACT else signs[right]
            signs[nodes], logs[nodes] = _signed_sum(signs[left], logs[left], flipped, logs[right])
    outputs = list(circuit.outputs)
    return signs[outputs], logs[outputs]


def _signed_sum(
    sign_a: FloatArray, log_a: FloatArray, sign_b: FloatArray, log_b: FloatArray
) -> tuple[FloatArray, FloatArray]:
    top = np.maximum(log_a, log_b)
    base = np.where(np.isfinite(top), top, 0.0)
    total = sign_a * np.exp(log_a - base) + sign_b * np.exp(log_b - base)
    with np.errstate(divide="ignore"):
        return np.sign(total), np.log(np.abs(total)) + base
