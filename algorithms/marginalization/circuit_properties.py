"""Structural properties of circuits, and whether the output polynomial is multilinear.

Multilinearity of the *output* is what makes a circuit answer marginal queries; smoothness and decomposability of
the gates are sufficient structure that many model families have.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np

from whp.algorithms.marginalization.circuit_evaluation import evaluate_exact
from whp.algorithms.marginalization.circuits import ArithmeticCircuit, NodeKind

__all__ = [
    "MultilinearityCertificate",
    "certify_multilinear",
    "expand_polynomial",
    "formal_degrees",
    "is_decomposable",
    "is_smooth",
    "scopes",
]

#: A monomial: exponents of the inputs, as sorted (input, exponent) pairs.
Monomial = tuple[tuple[int, int], ...]
_RANDOM_BITS = 64


@dataclass(frozen=True)
class MultilinearityCertificate:
    """Whether an output polynomial has degree at most one in every input, and how that is known.

    Attributes
    ----------
    multilinear : bool
        The finding.
    method : {"structural", "expansion", "probabilistic"}
        ``structural``: the formal degrees already say so (a proof). ``expansion``: all monomials were computed (a
        proof). ``probabilistic``: second differences at random points; a negative finding is a proof, a positive one
        may be wrong with probability at most ``error_probability``.
    error_probability : Fraction
        Zero for proofs.
    offending_input : str or None
        An input of degree two or more, when the finding is negative.
    """

    multilinear: bool
    method: Literal["structural", "expansion", "probabilistic"]
    error_probability: Fraction
    offending_input: str | None = None


def scopes(circuit: ArithmeticCircuit) -> list[int]:
    """Variables each node depends on, as bit masks."""
    out: list[int] = []
    for _, kind, left, right in circuit.walk():
        if kind == NodeKind.INPUT:
            out.append(1 << circuit.input_variables[left])
        else:
            out.append(0 if kind == NodeKind.CONSTANT else out[left] | out[right])
    return out


def is_decomposable(circuit: ArithmeticCircuit) -> bool:
    """Whether every multiplication joins nodes over disjoint sets of variables.

    Examples
    --------
    >>> from whp.algorithms.marginalization.circuits import CircuitBuilder
    >>> builder = CircuitBuilder(["x"])
    >>> is_decomposable(builder.build(builder.multiply(0, 0)))
    False
    """
    scope = scopes(circuit)
    return not any(kind == NodeKind.MULTIPLY and scope[a] & scope[b] for _, kind, a, b in circuit.walk())


def is_smooth(circuit: ArithmeticCircuit) -> bool:
    """Whether every addition and subtraction joins nodes over the same set of variables."""
    scope = scopes(circuit)
    return all(scope[a] == scope[b] for _, kind, a, b in circuit.walk() if kind in (NodeKind.ADD, NodeKind.SUBTRACT))


def formal_degrees(circuit: ArithmeticCircuit) -> list[list[int]]:
    """Upper bounds on the degree of every node in every input: sums take the maximum, products the sum."""
    width = len(circuit.inputs)
    out: list[list[int]] = []
    for _, kind, left, right in circuit.walk():
        if kind == NodeKind.INPUT:
            out.append([int(i == left) for i in range(width)])
        elif kind == NodeKind.CONSTANT:
            out.append([0] * width)
        elif kind == NodeKind.MULTIPLY:
            out.append([a + b for a, b in zip(out[left], out[right], strict=True)])
        else:
            out.append([max(a, b) for a, b in zip(out[left], out[right], strict=True)])
    return out


def expand_polynomial(circuit: ArithmeticCircuit, max_monomials: int = 20_000) -> dict[Monomial, Fraction] | None:
    """All monomials of the output with their coefficients; None if an inner node has more than ``max_monomials``.

    Examples
    --------
    >>> from whp.algorithms.marginalization.circuits import CircuitBuilder
    >>> builder = CircuitBuilder(["x", "y"])
    >>> expand_polynomial(builder.build(builder.multiply(0, builder.add(0, 1))))
    {((0, 2),): Fraction(1, 1), ((0, 1), (1, 1)): Fraction(1, 1)}
    """
    out: list[dict[Monomial, Fraction]] = []
    for _, kind, left, right in circuit.walk():
        if kind == NodeKind.INPUT:
            node: dict[Monomial, Fraction] = {((left, 1),): Fraction(1)}
        elif kind == NodeKind.CONSTANT:
            node = {(): circuit.constants[left]} if circuit.constants[left] else {}
        elif kind == NodeKind.MULTIPLY:
            if len(out[left]) * len(out[right]) > 50 * max_monomials:
                return None
            node = _multiplied(out[left], out[right])
        else:
            node = _combined(out[left], out[right], -1 if kind == NodeKind.SUBTRACT else 1)
        if len(node) > max_monomials:
            return None
        out.append(node)
    return out[circuit.output]


def _combined(a: dict[Monomial, Fraction], b: dict[Monomial, Fraction], sign: int) -> dict[Monomial, Fraction]:
    total = dict(a)
    for monomial, coefficient in b.items():
        total[monomial] = total.get(monomial, Fraction(0)) + sign * coefficient
    return {monomial: coefficient for monomial, coefficient in total.items() if coefficient}


def _multiplied(a: dict[Monomial, Fraction], b: dict[Monomial, Fraction]) -> dict[Monomial, Fraction]:
    total: dict[Monomial, Fraction] = {}
    for one, x in a.items():
        for other, y in b.items():
            exponents = dict(one)
            for i, e in other:
                exponents[i] = exponents.get(i, 0) + e
            monomial = tuple(sorted(exponents.items()))
            total[monomial] = total.get(monomial, Fraction(0)) + x * y
    return {monomial: coefficient for monomial, coefficient in total.items() if coefficient}


def certify_multilinear(
    circuit: ArithmeticCircuit,
    rng: np.random.Generator | None = None,
    *,
    trials: int = 2,
    max_monomials: int = 2_000,
) -> MultilinearityCertificate:
    """Decide whether the output is multilinear in the inputs.

    Tries the formal degrees, then the expanded polynomial if it is small, then random second differences: for input
    ``i`` at a random point, ``p(0), p(1), p(t)`` must lie on a line. By Schwartz and Zippel a polynomial of degree
    ``D`` that is not affine in ``x_i`` passes one trial with probability at most ``(D + 1) / 2**64``.

    Parameters
    ----------
    circuit : ArithmeticCircuit
        A circuit with one output.
    rng : numpy.random.Generator, optional
        Needed only for the probabilistic method.
    trials : int, optional
        Independent random points per input.
    max_monomials : int, optional
        Limit of the expansion.

    Returns
    -------
    MultilinearityCertificate
        The finding, with its method named.

    Raises
    ------
    ValueError
        If only the probabilistic method remains and no generator is given, or the formal degree is so large that
        a trial says nothing.
    """
    formal = formal_degrees(circuit)[circuit.output]
    if all(degree <= 1 for degree in formal):
        return MultilinearityCertificate(True, "structural", Fraction(0))
    monomials = expand_polynomial(circuit, max_monomials)
    if monomials is not None:
        worst = next((i for monomial in monomials for i, exponent in monomial if exponent > 1), None)
        name = None if worst is None else circuit.inputs[worst]
        return MultilinearityCertificate(worst is None, "expansion", Fraction(0), name)
    if rng is None:
        raise ValueError("the circuit is too large to expand; pass rng for a probabilistic certificate")
    return _random_certificate(circuit, formal, rng, trials)


def _total_formal_degree(circuit: ArithmeticCircuit) -> int:
    out: list[int] = []
    for _, kind, left, right in circuit.walk():
        if kind == NodeKind.MULTIPLY:
            out.append(out[left] + out[right])
        else:
            out.append(int(kind == NodeKind.INPUT) if kind < NodeKind.ADD else max(out[left], out[right]))
    return out[circuit.output]


def _random_certificate(
    circuit: ArithmeticCircuit, formal: list[int], rng: np.random.Generator, trials: int
) -> MultilinearityCertificate:
    bound = Fraction(_total_formal_degree(circuit) + 1, 2**_RANDOM_BITS)
    if bound >= Fraction(1, 2**16):
        raise ValueError(
            f"the formal degree {_total_formal_degree(circuit)} is too large for a test with {_RANDOM_BITS}-bit points"
        )
    doubtful = [i for i, degree in enumerate(formal) if degree > 1]
    for _ in range(trials):
        point = [_random_integer(rng) for _ in circuit.inputs]
        for i in doubtful:
            t = _random_integer(rng)
            zero, one, far = (evaluate_exact(circuit, [*point[:i], x, *point[i + 1 :]]) for x in (0, 1, t))
            if far != zero + t * (one - zero):
                return MultilinearityCertificate(False, "probabilistic", Fraction(0), circuit.inputs[i])
    return MultilinearityCertificate(True, "probabilistic", min(Fraction(1), len(doubtful) * bound**trials))


def _random_integer(rng: np.random.Generator) -> int:
    return int.from_bytes(rng.bytes(_RANDOM_BITS // 8), "little")
