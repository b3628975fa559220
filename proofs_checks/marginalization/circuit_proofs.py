"""Proofs of T7 and T8 on stated scopes: circuits are expanded into polynomials, so they hold for all real inputs."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from whp.algorithms.marginalization import circuit_derivatives, division_removal, real_ram
from whp.proofs_checks.engine import Proof, ProofResult, exhaustive
from whp.proofs_checks.marginalization.circuits import ProgramCase, operations_at, program_of
from whp.proofs_checks.marginalization.derivatives import as_circuit
from whp.proofs_checks.marginalization.gate_lists import OPERATIONS, GateList, GateWriter, Monomials
from whp.proofs_checks.marginalization.proofs import MOST_VARIABLES, Symbols, conjunction
from whp.theory.marginalization import DPPKernel, TruthTable, principal_minor
from whp.theory.marginalization.theorems import BACKWARD_OPERATIONS, EXTRACTED_GATES


def extracted_polynomials() -> ProofResult:
    """T7: the extracted circuit expands to p, within the bound on gates."""

    def holds(instance: ProgramCase) -> bool:
        n, program = instance.table.n, program_of(instance)
        rng = np.random.default_rng(instance.seed)
        xi, second = real_ram.generic_point(n, rng), real_ram.generic_point(n, rng)
        trace = real_ram.trace_real_ram(program, xi, second)
        circuit = GateList.read(division_removal.strassen_divfree(trace).circuit)
        few = circuit.size <= EXTRACTED_GATES(n=n, steps=operations_at(program, xi))
        return bool(few and circuit.division_free and circuit.polynomial() == likelihood_monomials(instance.table))

    return exhaustive(_small_programs(), holds)


def likelihood_monomials(table: TruthTable) -> Monomials:
    """``p`` as monomials: inclusion and exclusion over the points below each subset."""
    n, found = table.n, {}
    for subset in itertools.product((0, 1), repeat=n):
        below = itertools.product(*((0, 1) if bit else (0,) for bit in subset))
        coefficient = sum(((-1) ** (sum(subset) - sum(x)) * Fraction(table(*x)) for x in below), Fraction(0))
        if coefficient:
            found[tuple(i for i, bit in enumerate(subset) if bit)] = coefficient
    return found


def _small_programs() -> Iterator[ProgramCase]:
    for n in range(3):
        for values in itertools.product((0, 1), repeat=2**n):
            for program in ("ratios", "signs"):
                yield ProgramCase(program, TruthTable(n, values), DPPKernel(()), 1)
        for entries in itertools.product((-1, 0, 1), repeat=n * n):
            kernel = DPPKernel.of([list(entries[n * i : n * i + n]) for i in range(n)])
            yield ProgramCase("elimination", TruthTable.from_function(n, _minors_of(kernel)), kernel, 1)


def _minors_of(kernel: DPPKernel) -> Callable[[Sequence[int]], Any]:
    return lambda x: principal_minor(kernel, x)


def restrictions_for_all_functions() -> ProofResult:
    """T8: ``w_i ∂N/∂w_i`` is N restricted to ``x_i = 1``, likewise for ``w̄_i``, and they add up to N."""
    return conjunction(_restrictions())


def _restrictions() -> Iterator[tuple[str, ProofResult]]:
    import sympy

    def nothing(f: Any, w: Any, w_bar: Any) -> list[Any]:
        return []

    for n in range(1, MOST_VARIABLES + 1):
        system = Symbols(n)
        for i in range(n):

            def one(f: Any, w: Any, w_bar: Any, i: int = i, system: Symbols = system) -> Any:
                return w[i] * sympy.diff(system.network(f, w, w_bar), w[i])

            def zero(f: Any, w: Any, w_bar: Any, i: int = i, system: Symbols = system) -> Any:
                return w_bar[i] * sympy.diff(system.network(f, w, w_bar), w_bar[i])

            def at_one(f: Any, w: Any, w_bar: Any, i: int = i, system: Symbols = system) -> Any:
                return system.network(f, w, _with_zero(w_bar, i))

            def at_zero(f: Any, w: Any, w_bar: Any, i: int = i, system: Symbols = system) -> Any:
                return system.network(f, _with_zero(w, i), w_bar)

            def both(f: Any, w: Any, w_bar: Any, one: Any = one, zero: Any = zero) -> Any:
                return one(f, w, w_bar) + zero(f, w, w_bar)

            yield f"x_{i + 1} = 1, n = {n}", system.decide(one, at_one, nothing)
            yield f"x_{i + 1} = 0, n = {n}", system.decide(zero, at_zero, nothing)
            yield f"sum over x_{i + 1}, n = {n}", system.decide(both, system.network, nothing)


def _with_zero(weights: Sequence[Any], i: int) -> list[Any]:
    return [0 if j == i else weight for j, weight in enumerate(weights)]


def derivatives_of_all_small_circuits() -> ProofResult:
    """T8: the backward pass expands to the partial derivatives, within five times the gates."""

    def holds(gates: GateList) -> bool:
        backward = GateList.read(circuit_derivatives.derivative_circuit(as_circuit(gates)))
        value, *slopes = (replace(backward, outputs=(output,)).polynomial() for output in backward.outputs)
        whole = gates.polynomial()
        expected = [_differentiated(whole, i) for i in range(gates.n_inputs)]
        return bool(value == whole and slopes == expected and backward.size <= BACKWARD_OPERATIONS(size=gates.size))

    return exhaustive(_small_circuits(2, 2), holds)


def _differentiated(polynomial: Monomials, i: int) -> Monomials:
    found: Monomials = {}
    for monomial, coefficient in polynomial.items():
        if i in monomial:
            rest = list(monomial)
            rest.remove(i)
            found[tuple(rest)] = coefficient * monomial.count(i)
    return found


def _small_circuits(n_inputs: int, most_gates: int) -> Iterator[GateList]:
    """All circuits with the constant 2, fewest gates first, the last gate as output."""
    for length in range(most_gates + 1):
        nodes = [range(n_inputs + 1 + k) for k in range(length)]
        choices = [list(itertools.product(OPERATIONS, known, known)) for known in nodes]
        for gates in itertools.product(*choices):
            writer = GateWriter(n_inputs, [2])
            last = n_inputs - 1
            for operation, a, b in gates:
                last = writer.gate(operation, a, b)
            yield writer.finish(last)


PROOFS = (
    Proof(
        "marginalization.T7",
        "expansion",
        "three programs with divisions, comparisons and a lookup: all kernels with entries -1, 0, 1 and all 0/1 "
        "tables, n <= 2, all real w",
        extracted_polynomials,
    ),
    Proof(
        "marginalization.T8",
        "symbolic",
        f"restrictions and their sum: all functions and all weights, 1 <= n <= {MOST_VARIABLES}",
        restrictions_for_all_functions,
    ),
    Proof(
        "marginalization.T8",
        "expansion",
        "derivatives and operations: all circuits of at most 2 gates over 2 inputs and the constant 2, all real inputs",
        derivatives_of_all_small_circuits,
    ),
)
