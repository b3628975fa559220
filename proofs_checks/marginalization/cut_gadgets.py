"""Checks of T5b and T5c: the cut numbers of a graph from virtual evidence and from Hamming slices."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from whp.algorithms import marginalization as solvers
from whp.proofs_checks.engine import Check, Instances, Mutant, Slack, at_most, identity, requires
from whp.proofs_checks.marginalization.brute_force_oracle import WitnessOracle, refuses
from whp.proofs_checks.marginalization.instances import (
    CutQuery,
    cut_queries,
    draw_cut_queries,
    draw_slice_queries,
    slice_queries,
    structured_cut_queries,
    structured_slice_queries,
)
from whp.proofs_checks.marginalization.outputs import exact_numbers
from whp.theory.core import Slot
from whp.theory.foundations.graphs import Graph, cut_distribution, weighted_cut_distribution
from whp.theory.marginalization import (
    CutWitness,
    Query,
    hamming_cut_polynomial,
    virtual_cut_value,
    witness_hamming_polynomial,
    witness_network_polynomial,
)
from whp.theory.marginalization.theorems import CUT_QUERIES, HAMMING_CUT_QUERIES

CUTS = Instances(
    scope="graphs on at most 7 vertices and 10 edges, distinct weights; a karate-club neighbourhood, parallel edges;"
    " the Petersen graph",
    examples=cut_queries,
    draw=draw_cut_queries,
    strategy=structured_cut_queries,
)
SLICES = Instances(
    scope="graphs on at most 5 vertices and 6 edges, points of (0, 1); a karate-club neighbourhood",
    examples=slice_queries,
    draw=draw_slice_queries,
    strategy=structured_slice_queries,
)

CUT_FROM_VM = Slot(
    "cut_distribution_from_vm",
    "(oracle, witness, graph, weights)",
    "oracle: answers VM; witness: CutWitness; graph: Graph; weights: |E|+1 exact numbers",
    "D_c for c = 0..|E|, ints",
    ("oracle", "witness", "graph", "weights"),
    validate=exact_numbers,
)
SIGNED_VARIANT = Slot(
    "signed_variant",
    "(boolean)",
    "boolean: oracle of b = (1 + f)/2 that answers VM",
    "oracle of f = 2b - 1 with virtual_evidence(weights)",
    ("boolean",),
)
CUT_FROM_HM = Slot(
    "cut_distribution_from_hm",
    "(oracle, witness, graph, points)",
    "oracle: answers HM; witness: CutWitness; graph: Graph; points: m+1 exact numbers in (0, 1)",
    "{(a, c): N(a, c)} without zeros, ints",
    ("oracle", "witness", "graph", "points"),
    validate=exact_numbers,
)


def _witness(graph: Graph, copies: int) -> CutWitness:
    """Witness with enough copies for parallel edges."""
    parallel = max((graph.edges.count(edge) for edge in set(graph.edges)), default=1)
    return CutWitness(graph.n_vertices, copies * parallel)


def cut_numbers_from_virtual_evidence(instance: CutQuery, *, cut_distribution_from_vm: Any) -> Slack:
    """``D_c`` against enumeration, by |E| + 1 VM queries; the answers themselves against the closed form."""
    graph, witness = instance.graph, _witness(instance.graph, 1)
    oracle = WitnessOracle(witness)
    counts = cut_distribution_from_vm(oracle, witness, graph, instance.nodes)
    w = instance.nodes[0]
    answered = witness_network_polynomial(witness, witness.edge_weights(graph, w))
    expected = cut_distribution(graph)
    return (
        identity("VM answer", answered, virtual_cut_value(graph, w))
        & identity("entries", len(counts), len(expected))
        & identity("D_c", list(counts), list(expected))
        & at_most("queries", oracle.calls[Query.VM], int(CUT_QUERIES(edges=graph.n_edges)))
        & identity("other queries", oracle.calls[Query.HM], 0)
    )


def cut_numbers_from_the_boolean_variant(instance: CutQuery, *, signed_variant: Any) -> Slack:
    """``D_c`` through the 0/1-valued ``b = (1 + f)/2``, at one query for one."""
    graph, witness = instance.graph, _witness(instance.graph, 1)
    oracle = WitnessOracle(witness)
    boolean = solvers.FunctionOracle(
        witness.n,
        virtual_evidence=lambda w: (_everything(w) + Fraction(oracle.virtual_evidence(w))) / 2,
    )
    signed = signed_variant(boolean)
    answers = [signed.virtual_evidence(witness.edge_weights(graph, w)) for w in instance.nodes]
    expected = [virtual_cut_value(graph, w) for w in instance.nodes]
    return identity("VM of f", answers, expected) & at_most("queries", oracle.calls[Query.VM], len(instance.nodes))


def _everything(weights: Any) -> Fraction:
    product = Fraction(1)
    for w, w_bar in weights.pairs:
        product *= w + w_bar
    return product


def bad_weights_are_refused(instance: CutQuery, *, cut_distribution_from_vm: Any) -> Slack:
    """Repeated weights and the weight -1 raise ValueError."""
    graph = Graph(instance.graph.n_vertices + 2, (*instance.graph.edges, (0, instance.graph.n_vertices + 1)))
    witness = _witness(graph, 1)
    repeated = [Fraction(2)] * (graph.n_edges + 1)
    undefined = [Fraction(-1), *(Fraction(k) for k in range(2, graph.n_edges + 2))]
    arguments = (WitnessOracle(witness), witness, graph)
    return requires("repeated weights refused", refuses(cut_distribution_from_vm, *arguments, repeated)) & requires(
        "w = -1 refused", refuses(cut_distribution_from_vm, *arguments, undefined)
    )


def cut_numbers_from_slices(instance: CutQuery, *, cut_distribution_from_hm: Any) -> Slack:
    """``N(a, c)`` against enumeration, from HM queries only; the slices of one copy against the closed form."""
    graph, m = instance.graph, instance.graph.n_vertices
    witness = _witness(graph, graph.n_edges + 1)
    oracle = WitnessOracle(witness)
    table = cut_distribution_from_hm(oracle, witness, graph, instance.nodes)
    closed = hamming_cut_polynomial(graph, 1)
    slices = witness_hamming_polynomial(witness, witness.edge_pattern(graph, 1))
    expected = weighted_cut_distribution(graph)
    keys = sorted(set(table) | set(expected))
    return (
        identity("slices", list(slices[: len(closed)]), list(closed))
        & identity("N(a,c)", [table.get(key, 0) for key in keys], [expected.get(key, 0) for key in keys])
        & at_most("queries", oracle.calls[Query.HM], int(HAMMING_CUT_QUERIES(vertices=m, edges=graph.n_edges)))
        & identity("other queries", oracle.calls[Query.VM], 0)
    )


def slices_determine_the_cuts(instance: CutQuery) -> Slack:
    """The map from ``N(a,c)`` to the slices of d = 1..|E|+1 copies has full rank."""
    return _rank_is_full(instance.graph, instance.graph.n_edges + 1)


def one_copy_determines_the_cuts(instance: CutQuery) -> Slack:
    """The same with one copy of each edge only: the system is underdetermined."""
    return _rank_is_full(instance.graph, 1)


def half_the_copies_determine_the_cuts(instance: CutQuery) -> Slack:
    """The same with d up to |E|/2 only."""
    return _rank_is_full(instance.graph, max(1, instance.graph.n_edges // 2))


def _rank_is_full(graph: Graph, most_copies: int) -> Slack:
    from flint import fmpz_mat

    m, size = graph.n_vertices, graph.n_edges
    unknowns = [(a, c) for a in range(m + 1) for c in range(size + 1)]
    columns = []
    for a, c in unknowns:
        column: list[int] = []
        for copies in range(1, most_copies + 1):
            slices = [0] * (m + copies * size + 1)
            factor = _signed_binomials(copies * (size - c), copies * c)
            slices[a : a + len(factor)] = factor
            column += slices
        columns.append(column)
    rank = fmpz_mat(columns).rank()
    return identity("rank", int(rank), len(unknowns))


def _signed_binomials(even: int, odd: int) -> list[int]:
    factor = [1]
    for sign in [1] * even + [-1] * odd:
        factor = [a + sign * b for a, b in zip([*factor, 0], [0, *factor], strict=True)]
    return factor


# mutants


def _doubled_only(boolean: Any) -> Any:
    """``f = 2b``."""
    return solvers.FunctionOracle(boolean.n, virtual_evidence=lambda w: 2 * boolean.virtual_evidence(w))


def _minus_one(boolean: Any) -> Any:
    """``2 VM(b) - 1``, the constant 1 without its weight."""
    return solvers.FunctionOracle(boolean.n, virtual_evidence=lambda w: 2 * boolean.virtual_evidence(w) - 1)


def _decoded(oracle: Any, witness: CutWitness, graph: Graph, weights: Any, ratio: Any) -> tuple[Fraction, ...]:
    size = graph.n_edges
    scaled = [
        Fraction(oracle.virtual_evidence(witness.edge_weights(graph, w))) / (1 + Fraction(w)) ** size for w in weights
    ]
    return solvers.interpolate([ratio(Fraction(w)) for w in weights], scaled)


def _inverted_ratio(oracle: Any, witness: CutWitness, graph: Graph, weights: Any) -> tuple[Fraction, ...]:
    """``ρ = (1+w)/(1-w)``; the weight 1, where it is undefined, is replaced."""
    spare = max([*weights, Fraction(1)]) + 1
    usable = [spare if w == 1 else w for w in weights]
    return _decoded(oracle, witness, graph, usable, lambda w: (1 + w) / (1 - w))


def _each_cut_once(oracle: Any, witness: CutWitness, graph: Graph, weights: Any) -> tuple[Fraction, ...]:
    """Cuts counted once in place of twice."""
    return tuple(value / 2 for value in _decoded(oracle, witness, graph, weights, lambda w: (1 - w) / (1 + w)))


def _from_the_easy_point(oracle: Any, witness: CutWitness, graph: Graph, weights: Any) -> tuple[Fraction, ...]:
    """Everything from w = 1: D_0 is right, the rest is put on the largest cut."""
    size = graph.n_edges
    first = Fraction(oracle.virtual_evidence(witness.edge_weights(graph, Fraction(1)))) / 2**size
    return (first, *(Fraction(0),) * (size - 1), 2**graph.n_vertices - first)[: size + 1]


def _least_squares(oracle: Any, witness: CutWitness, graph: Graph, weights: Any) -> tuple[int, ...]:
    """Accepts repeated weights."""
    rho = np.array([float((1 - w) / (1 + w)) if w != -1 else 0.0 for w in weights])
    answers = [float(oracle.virtual_evidence(witness.edge_weights(graph, w))) for w in weights]
    scale = np.array([float(1 + w) if w != -1 else 1.0 for w in weights]) ** graph.n_edges
    system = np.vander(rho, graph.n_edges + 1, increasing=True)
    solution = np.linalg.lstsq(system, np.array(answers) / scale, rcond=None)[0]
    return tuple(round(float(value)) for value in solution)


def _skipping_minus_one(oracle: Any, witness: CutWitness, graph: Graph, weights: Any) -> tuple[int, ...]:
    """Replaces w = -1 silently."""
    spare = max(weights) + 1
    usable = [spare if w == -1 else w for w in weights]
    return solvers.cut_distribution_from_vm(oracle, witness, graph, usable)


def _one_copy(oracle: Any, witness: CutWitness, graph: Graph, points: Any) -> dict[tuple[int, int], Fraction]:
    """Decodes the slices of one copy: the table of smallest norm among the many that fit."""
    m, size = graph.n_vertices, graph.n_edges
    pattern = witness.edge_pattern(graph, 1)
    slices = [oracle.hamming_marginal(pattern, k) for k in range(m + size + 1)]
    keys = [(a, c) for a in range(m + 1) for c in range(size + 1)]
    columns = []
    for a, c in keys:
        column = [0.0] * (m + size + 1)
        column[a : a + size + 1] = [float(value) for value in _signed_binomials(size - c, c)]
        columns.append(column)
    solution = np.linalg.lstsq(np.array(columns).T, np.array(slices, dtype=float), rcond=None)[0]
    rounded = {key: Fraction(round(float(value) * 8), 8) for key, value in zip(keys, solution, strict=True)}
    return {key: value for key, value in rounded.items() if value}


def _every_slice_anew(oracle: Any, witness: CutWitness, graph: Graph, points: Any) -> dict[tuple[int, int], int]:
    """Right, but the slices are asked for again at every point."""
    for _ in points:
        solvers.cut_distribution_from_hm(oracle, witness, graph, points)
    return solvers.cut_distribution_from_hm(oracle, witness, graph, points)


def _shifted_copies(oracle: Any, witness: CutWitness, graph: Graph, points: Any) -> dict[tuple[int, int], Fraction]:
    """Takes the moments d = 1, 2, … for d = 0, 1, …: A_c ρ^c in place of A_c."""
    m, size = graph.n_vertices, graph.n_edges
    columns = []
    for t in points:
        rho = (1 - t) / (1 + t)
        moments = []
        for copies in range(1, size + 2):
            pattern = witness.edge_pattern(graph, copies)
            value = sum(oracle.hamming_marginal(pattern, k) * t**k for k in range(m + copies * size + 1))
            moments.append(value / (1 + t) ** (copies * size))
        columns.append(solvers.solve_moments([rho**c for c in range(size + 1)], moments))
    table: dict[tuple[int, int], Fraction] = {}
    for c in range(size + 1):
        for a, value in enumerate(solvers.interpolate(points, [column[c] for column in columns])):
            if value:
                table[a, c] = value
    return table


CHECKS = (
    Check(
        theorem="marginalization.T5b",
        name="cut_numbers",
        kind="slack",
        observe=cut_numbers_from_virtual_evidence,
        instances=CUTS,
        slots={CUT_FROM_VM: solvers.cut_distribution_from_vm},
        mutants=(
            Mutant("ρ = (1+w)/(1-w)", "D_c", {"cut_distribution_from_vm": _inverted_ratio}),
            Mutant("each cut once", "D_c", {"cut_distribution_from_vm": _each_cut_once}),
            Mutant("the easy point w = 1 only", "D_c", {"cut_distribution_from_vm": _from_the_easy_point}),
        ),
        cost=60,
    ),
    Check(
        theorem="marginalization.T5b",
        name="boolean_variant",
        kind="slack",
        observe=cut_numbers_from_the_boolean_variant,
        instances=CUTS,
        slots={SIGNED_VARIANT: solvers.SignedVariantOracle},
        mutants=(
            Mutant("2b", "VM of f", {"signed_variant": _doubled_only}),
            Mutant("2 VM(b) - 1", "VM of f", {"signed_variant": _minus_one}),
        ),
        cost=60,
    ),
    Check(
        theorem="marginalization.T5b",
        name="refusals",
        kind="slack",
        observe=bad_weights_are_refused,
        instances=Instances(scope="graphs on 2 to 7 vertices", strategy=structured_cut_queries),
        slots={CUT_FROM_VM: solvers.cut_distribution_from_vm},
        mutants=(
            Mutant("least squares", "repeated weights refused", {"cut_distribution_from_vm": _least_squares}),
            Mutant("replaces w = -1", "w = -1 refused", {"cut_distribution_from_vm": _skipping_minus_one}),
        ),
        cost=2,
    ),
    Check(
        theorem="marginalization.T5c",
        name="cut_numbers",
        kind="slack",
        observe=cut_numbers_from_slices,
        instances=SLICES,
        slots={CUT_FROM_HM: solvers.cut_distribution_from_hm},
        mutants=(
            Mutant("one copy of each edge", "N(a,c)", {"cut_distribution_from_hm": _one_copy}),
            Mutant("moments shifted", "N(a,c)", {"cut_distribution_from_hm": _shifted_copies}),
            Mutant("slices asked for at every point", "queries", {"cut_distribution_from_hm": _every_slice_anew}),
        ),
        cost=60,
    ),
    Check(
        theorem="marginalization.T5c",
        name="rank",
        kind="slack",
        observe=slices_determine_the_cuts,
        instances=Instances(scope="graphs on at most 4 vertices", strategy=structured_slice_queries),
        mutants=(
            Mutant("one copy of each edge", "rank", observe=one_copy_determines_the_cuts),
            Mutant("no more copies than edges / 2", "rank", observe=half_the_copies_determine_the_cuts),
        ),
        cost=10,
    ),
)
