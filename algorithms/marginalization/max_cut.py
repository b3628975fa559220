"""Cut distributions of a graph from an oracle for the edge-parity witness (T5b, T5c)."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from whp.algorithms.marginalization.interpolation import interpolate, require_distinct_nodes, solve_moments
from whp.algorithms.marginalization.oracle import Oracle
from whp.theory.foundations.graphs import Graph
from whp.theory.marginalization import CutWitness, Scalar, as_scalar

__all__ = ["InconsistentOracleError", "cut_distribution_from_hm", "cut_distribution_from_vm"]


class InconsistentOracleError(ArithmeticError):
    """The answers cannot come from the function the oracle is said to stand for."""


def _as_counts(values: Sequence[Fraction], what: str) -> tuple[int, ...]:
    for index, value in enumerate(values):
        if value.denominator != 1 or value < 0:
            raise InconsistentOracleError(f"{what} must be counts, but entry {index} came out as {value}")
    return tuple(int(value) for value in values)


def _ratio(w: Scalar) -> Fraction:
    """``ρ = (1-w)/(1+w)``."""
    w = as_scalar(w, "weights")
    if isinstance(w, float):
        raise TypeError(f"weights must be int or Fraction, got the float {w!r}: interpolation needs exact values")
    if w == -1:
        raise ValueError("weights must differ from -1, where (1-w)/(1+w) is undefined")
    return Fraction(1 - w) / Fraction(1 + w)


def cut_distribution_from_vm(
    oracle: Oracle, witness: CutWitness, graph: Graph, weights: Sequence[Scalar] | None = None
) -> tuple[int, ...]:
    """``D_c = #{x : cut(x) = c}`` for ``c = 0 .. |E|`` by ``|E| + 1`` VM queries.

    With ``ρ = (1-w)/(1+w)``, the answer over ``(1+w)^{|E|}`` is ``Σ_c D_c ρ^c``.

    Parameters
    ----------
    oracle : Oracle
        Answers VM, exactly, for the function of ``witness``.
    witness : CutWitness
        Layout of the variables; ``m`` must be the number of vertices.
    graph : Graph
        Parallel edges use further copies of their pair.
    weights : sequence of int or Fraction, optional
        ``|E| + 1`` values of ``w``, distinct and none -1; ``ρ = 0 .. |E|`` by default.

    Raises
    ------
    ValueError
        If a weight is -1 or repeated, or their number is not ``|E| + 1``.
    InconsistentOracleError
        If the decoded numbers are not counts of ``2^m`` assignments.

    Examples
    --------
    >>> from whp.algorithms.marginalization import CutWitnessOracle
    >>> from whp.theory.foundations.graphs import complete_graph
    >>> witness = CutWitness(3, 1)
    >>> cut_distribution_from_vm(CutWitnessOracle(witness), witness, complete_graph(3))
    (2, 0, 6, 0)
    """
    size = graph.n_edges
    chosen = [Fraction(1 - rho, 1 + rho) for rho in range(size + 1)] if weights is None else list(weights)
    if len(chosen) != size + 1:
        raise ValueError(f"weights must be |E|+1 = {size + 1} in number, got {len(chosen)}")
    ratios = [_ratio(w) for w in chosen]
    require_distinct_nodes(chosen, "weights")
    scaled = []
    for w in chosen:
        answer = _exact(oracle.virtual_evidence(witness.edge_weights(graph, w)))
        scaled.append(answer / (1 + Fraction(w)) ** size)
    counts = _as_counts(interpolate(ratios, scaled), "cut numbers")
    if sum(counts) != 2**graph.n_vertices:
        raise InconsistentOracleError(f"cut numbers must add to 2^m = {2**graph.n_vertices}, got {sum(counts)}")
    return counts


def _exact(answer: Scalar) -> Fraction:
    if isinstance(answer, float):
        raise TypeError(f"the oracle must answer with int or Fraction, got the float {answer!r}")
    return Fraction(answer)


def cut_distribution_from_hm(
    oracle: Oracle, witness: CutWitness, graph: Graph, points: Sequence[Scalar] | None = None
) -> dict[tuple[int, int], int]:
    """``N(a, c) = #{x : |x| = a, cut(x) = c}``, zero counts left out, from HM queries.

    For ``d = 1 .. |E|+1`` copies of each edge the generating function ``H_d(t)`` of the HM answers is read at the
    ``m + 1`` points ``t``, ``(m+1)(|E|+1)`` values in all; ``H_d(t)/(1+t)^{d|E|} = Σ_c A_c(t) ρ(t)^{dc}``.
    Knowing the polynomial ``H_d`` takes ``m + d|E| + 1`` HM queries, one for each ``k``.

    Parameters
    ----------
    oracle : Oracle
        Answers HM for the function of ``witness``.
    witness : CutWitness
        At least ``|E| + 1`` copies (and as many for each parallel edge); `CutWitness.full` always has them for simple
        graphs.
    graph : Graph
    points : sequence of int or Fraction, optional
        ``m + 1`` distinct values of ``t`` strictly between 0 and 1; ``1/2 .. 1/(m+2)`` by default.

    Raises
    ------
    ValueError
        If a point is outside (0, 1) or repeated, or the witness has too few copies.
    InconsistentOracleError
        If the decoded numbers are not counts of ``2^m`` assignments.

    Examples
    --------
    >>> from whp.algorithms.marginalization import CutWitnessOracle
    >>> from whp.theory.foundations.graphs import complete_graph
    >>> witness = CutWitness.full(3)
    >>> cut_distribution_from_hm(CutWitnessOracle(witness), witness, complete_graph(3))
    {(0, 0): 1, (1, 2): 3, (2, 2): 3, (3, 0): 1}
    """
    m, size = graph.n_vertices, graph.n_edges
    chosen = [Fraction(1, k) for k in range(2, m + 3)] if points is None else list(points)
    if len(chosen) != m + 1:
        raise ValueError(f"points must be m+1 = {m + 1} in number, got {len(chosen)}")
    for t in chosen:
        if isinstance(t, float):
            raise TypeError(f"points must be int or Fraction, got the float {t!r}: interpolation needs exact values")
        if not 0 < t < 1:
            raise ValueError(f"points must lie strictly between 0 and 1, got {t}")
    require_distinct_nodes(chosen, "points")
    polynomials = []
    for copies in range(1, size + 2):
        pattern = witness.edge_pattern(graph, copies)
        degree = m + copies * size
        polynomials.append([_exact(oracle.hamming_marginal(pattern, k)) for k in range(degree + 1)])
    columns = [_cut_parts(polynomials, Fraction(t), size) for t in chosen]  # A_c(t), one list per t
    table: dict[tuple[int, int], int] = {}
    for c in range(size + 1):
        counts = _as_counts(interpolate(chosen, [column[c] for column in columns]), f"numbers of cuts of size {c}")
        table.update({(a, c): count for a, count in enumerate(counts) if count})
    if sum(table.values()) != 2**m:
        raise InconsistentOracleError(f"cut numbers must add to 2^m = {2**m}, got {sum(table.values())}")
    return dict(sorted(table.items()))


def _cut_parts(polynomials: Sequence[Sequence[Fraction]], t: Fraction, size: int) -> tuple[Fraction, ...]:
    """``A_c(t)`` for ``c = 0 .. size`` from ``H_1(t), H_2(t), ...``."""
    rho = (1 - t) / (1 + t)
    moments = []
    for copies, coefficients in enumerate(polynomials, start=1):
        value = Fraction(0)
        for coefficient in reversed(coefficients):
            value = value * t + coefficient
        moments.append(value / (1 + t) ** (copies * size))
    nodes = [rho**c for c in range(size + 1)]
    shifted = solve_moments(nodes, moments)  # the first moment is d = 1, so this is A_c(t) ρ^c
    return tuple(value / node for value, node in zip(shifted, nodes, strict=True))
