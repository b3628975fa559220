"""What the checks on marginalization are run on: bundles, named instances, seeded draws, structured strategies."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from whp.theory.foundations.graphs import (
    Graph,
    complete_graph,
    cycle_graph,
    grid_graph,
    path_graph,
    petersen_graph,
)
from whp.theory.marginalization import DPPKernel, Pattern, QuadraticForm, Scalar, TruthTable, Weights, principal_minor

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

Rng = np.random.Generator


@dataclass(frozen=True)
class TableQuery:
    """A function with a pattern and weights of its length."""

    table: TruthTable
    pattern: Pattern
    weights: Weights


@dataclass(frozen=True)
class KernelQuery:
    """A kernel with a pattern and weights of its length."""

    kernel: DPPKernel
    pattern: Pattern
    weights: Weights


@dataclass(frozen=True)
class FormQuery:
    """A quadratic form with a pattern of its length."""

    form: QuadraticForm
    pattern: Pattern


@dataclass(frozen=True)
class CutQuery:
    """A graph with the weights, or points, that are asked."""

    graph: Graph
    nodes: tuple[Fraction, ...]


BULL = Graph(5, ((0, 1), (1, 2), (0, 2), (1, 3), (2, 4)))
TRIANGLE_FORM = QuadraticForm.from_terms(3, complete_graph(3).edges)
TRIANGLE_TABLE = TruthTable(3, [1, 1, 1, -1, 1, -1, -1, -1])
REFERENCE_KERNEL = DPPKernel.of([[2, 1, 0], [1, 2, 1], [0, 1, 3]])
HALF = Fraction(1, 2)


def graph_form(graph: Graph) -> QuadraticForm:
    """``Σ x_i x_j`` over the edges."""
    return QuadraticForm.from_terms(graph.n_vertices, graph.edges)


def named_graphs() -> dict[str, Graph]:
    """Small graphs of the reference numbers."""
    return {
        "no vertex": Graph(0, ()),
        "one edge": Graph(2, ((0, 1),)),
        "triangle": complete_graph(3),
        "path on four": path_graph(4),
        "cycle on four": cycle_graph(4),
        "complete on four": complete_graph(4),
        "bull": BULL,
        "isolated vertex": Graph(3, ((0, 1),)),
    }


def _networkx_graph(graph: Any) -> Graph:
    order = {vertex: position for position, vertex in enumerate(graph.nodes)}
    return Graph(len(order), tuple((order[a], order[b]) for a, b in graph.edges if a != b))


def karate_club() -> Graph:
    """Zachary's karate club, 34 members (from networkx)."""
    import networkx as nx

    return _networkx_graph(nx.karate_club_graph())


def les_miserables() -> Graph:
    """Co-appearances in Les Misérables, 77 characters (from networkx)."""
    import networkx as nx

    return _networkx_graph(nx.les_miserables_graph())


def karate_neighbourhood(member: int) -> Graph:
    """A member of the karate club with the neighbours and the ties among them."""
    import networkx as nx

    return _networkx_graph(nx.ego_graph(nx.karate_club_graph(), member))


def _davis_attendance() -> np.ndarray[Any, np.dtype[np.int64]]:
    """Women by events, 18 × 14, of the Davis Southern women study (from networkx)."""
    import networkx as nx

    graph = nx.davis_southern_women_graph()
    women, events = graph.graph["top"], graph.graph["bottom"]
    return np.array([[int(graph.has_edge(w, e)) for e in events] for w in women], dtype=np.int64)


def davis_counts(n_events: int) -> TruthTable:
    """How many of the 18 women attended exactly each subset of some central events."""
    attendance = _davis_attendance()[:, 4 : 4 + n_events]
    index = attendance @ (1 << np.arange(n_events - 1, -1, -1))
    return TruthTable(n_events, np.bincount(index, minlength=2**n_events))


def davis_kernel(n_events: int) -> DPPKernel:
    """Co-attendance matrix of some central events: an integer kernel, positive semidefinite."""
    attendance = _davis_attendance()[:, 4 : 4 + n_events]
    return DPPKernel.of((attendance.T @ attendance).tolist())


def table_queries() -> Mapping[str, TableQuery]:
    """Reference functions, extreme ones, and a real one."""
    third = Fraction(1, 3)
    determinantal = TruthTable.from_function(3, lambda x: principal_minor(REFERENCE_KERNEL, x))
    weights = Weights.of([HALF, 3, Fraction(-2, 5)], [1, 2, third])
    halves = Weights.of([HALF, third, Fraction(1, 5)])
    one_hot = TruthTable(2, [0, 0, 1, 0])
    return {
        "triangle form": TableQuery(TRIANGLE_TABLE, Pattern("1**"), halves),
        "determinantal function": TableQuery(determinantal, Pattern("*1*"), weights),
        "no variable": TableQuery(TruthTable(0, [7]), Pattern(""), Weights(())),
        "zero function": TableQuery(TruthTable(2, [0] * 4), Pattern("*1"), Weights.of([1, 2])),
        "one point, contradicted": TableQuery(one_hot, Pattern("0*"), Weights.of([1, -1], [-1, 1])),
        "Davis attendance": TableQuery(davis_counts(5), Pattern("1**0*"), Weights.of([2, 1, 3, HALF, -1])),
    }


def kernel_queries() -> Mapping[str, KernelQuery]:
    """Reference kernel, singular and non-symmetric ones, and a real one."""
    weights = Weights.of([HALF, 3, Fraction(-2, 5)], [1, 2, Fraction(1, 3)])
    ones = DPPKernel.of([[1, 1, 1]] * 3)
    return {
        "reference kernel": KernelQuery(REFERENCE_KERNEL, Pattern("*1*"), weights),
        "no item": KernelQuery(DPPKernel(()), Pattern(""), Weights(())),
        "rank one": KernelQuery(ones, Pattern("1**"), weights),
        "singular evidence block": KernelQuery(
            DPPKernel.of([[0, 1, 2], [3, 0, 1], [1, 1, 0]]), Pattern("1**"), weights
        ),
        "Davis co-attendance": KernelQuery(
            davis_kernel(5), Pattern("*1*0*"), Weights.of([1, -1, 2, HALF, 3], [1, 1, 0, 2, -2])
        ),
    }


def form_queries() -> Mapping[str, FormQuery]:
    """Forms of named graphs, each with stars only and with evidence."""
    found = {"constant one": FormQuery(QuadraticForm.from_terms(0, [], 1), Pattern(""))}
    named = named_graphs() | {"grid": grid_graph(3, 3), "complete on seven": complete_graph(7)}
    for name, graph in named.items():
        form = graph_form(graph)
        found[f"{name}, no evidence"] = FormQuery(form, Pattern.free(form.n))
        found[f"{name}, evidence"] = FormQuery(form, _evidence(form.n))
    return found


def _evidence(n: int) -> Pattern:
    return Pattern(("1**0" * n)[:n])


def real_form_queries() -> Mapping[str, FormQuery]:
    """Forms of real graphs, too wide for enumeration."""
    graphs = {"karate club": karate_club(), "Les Misérables": les_miserables(), "Petersen": petersen_graph()}
    return {
        f"{name}, {kind}": FormQuery(graph_form(graph), pattern(graph.n_vertices))
        for name, graph in graphs.items()
        for kind, pattern in (("no evidence", Pattern.free), ("evidence", _evidence))
    }


def ratio_nodes(size: int) -> tuple[Fraction, ...]:
    """``size + 1`` weights whose ratios are 0, 1, 2 and so on."""
    return tuple(Fraction(1 - rho, 1 + rho) for rho in range(size + 1))


def unit_points(m: int) -> tuple[Fraction, ...]:
    """``m + 1`` points of (0, 1)."""
    return tuple(Fraction(1, k) for k in range(2, m + 3))


def cut_queries() -> Mapping[str, CutQuery]:
    """Named graphs and real neighbourhoods, with the weights asked."""
    graphs = named_graphs() | {
        "parallel edges": Graph(3, ((0, 1), (0, 1), (1, 2))),
        "karate neighbourhood": karate_neighbourhood(5),
        "Petersen": petersen_graph(),
    }
    found = {name: CutQuery(graph, ratio_nodes(graph.n_edges)) for name, graph in graphs.items()}
    inverses = tuple(w for k in (2, 3, 4) for w in (Fraction(k), Fraction(1, k)))
    found["triangle, weights and inverses"] = CutQuery(complete_graph(3), inverses[:4])
    return found


def slice_queries() -> Mapping[str, CutQuery]:
    """Named graphs and a real neighbourhood, with the points of (0, 1) asked."""
    graphs = named_graphs() | {"karate neighbourhood": karate_neighbourhood(11)}
    return {name: CutQuery(graph, unit_points(graph.n_vertices)) for name, graph in graphs.items()}


# seeded draws


def _letters(rng: Rng, n: int) -> Pattern:
    return Pattern("".join(rng.choice(list("01**"), size=n)))


def _fraction(rng: Rng) -> Fraction:
    return Fraction(int(rng.integers(-6, 7)), int(rng.integers(1, 4)))


def _weights(rng: Rng, n: int) -> Weights:
    pairs: list[tuple[Scalar, Scalar]] = []
    for kind in rng.integers(0, 5, size=n):
        w = _fraction(rng)
        pairs.append((w, -w) if kind == 0 else (w, _fraction(rng)))
    return Weights(tuple(pairs))


def draw_table_queries(rng: Rng, size: int) -> list[TableQuery]:
    """Integer tables on 1 to 5 variables, values in [-5, 5], with random patterns and weights."""
    found = []
    for _ in range(size):
        n = int(rng.integers(1, 6))
        table = TruthTable(n, rng.integers(-5, 6, size=2**n))
        found.append(TableQuery(table, _letters(rng, n), _weights(rng, n)))
    return found


def draw_nonnegative_tables(rng: Rng, size: int) -> list[TableQuery]:
    """Counts on 1 to 4 variables, about a third of them zero."""
    found = []
    for _ in range(size):
        n = int(rng.integers(1, 5))
        values = rng.integers(1, 8, size=2**n) * (rng.random(2**n) < 0.65)
        found.append(TableQuery(TruthTable(n, values), _letters(rng, n), _weights(rng, n)))
    return found


def draw_kernel_queries(rng: Rng, size: int) -> list[KernelQuery]:
    """Integer kernels on 1 to 4 items: any, symmetric, and of low rank."""
    found = []
    for kind in rng.integers(0, 3, size=size):
        n = int(rng.integers(1, 5))
        matrix = rng.integers(-3, 4, size=(n, n))
        matrix = (matrix, matrix + matrix.T, matrix[:, :1] * matrix[:1, :])[kind]
        found.append(KernelQuery(DPPKernel.of(matrix.tolist()), _letters(rng, n), _weights(rng, n)))
    return found


def draw_form_queries(rng: Rng, size: int) -> list[FormQuery]:
    """Forms on 1 to 8 variables with coefficients of varying density."""
    found = []
    for _ in range(size):
        n = int(rng.integers(1, 9))
        density = rng.random()
        upper = np.triu(rng.random((n, n)) < density, 1)
        form = QuadraticForm(upper, rng.random(n) < 0.5, int(rng.integers(2)))
        found.append(FormQuery(form, _letters(rng, n)))
    return found


def draw_graph(rng: Rng, largest: int) -> Graph:
    """Random simple graph on 2 to ``largest`` vertices."""
    n = int(rng.integers(2, largest + 1))
    density = rng.random()
    return Graph(n, tuple(pair for pair in itertools.combinations(range(n), 2) if rng.random() < density))


def draw_cut_queries(rng: Rng, size: int) -> list[CutQuery]:
    """Random graphs on 2 to 7 vertices, at most 10 edges, with shuffled distinct weights."""
    found = []
    pool = [Fraction(a, b) for a in range(-9, 10) for b in (1, 2, 3) if Fraction(a, b) != -1]
    pool = sorted(set(pool))
    for _ in range(size):
        graph = draw_graph(rng, 7)
        graph = Graph(graph.n_vertices, graph.edges[:10])
        chosen = rng.choice(len(pool), size=graph.n_edges + 1, replace=False)
        found.append(CutQuery(graph, tuple(pool[int(k)] for k in chosen)))
    return found


def draw_slice_queries(rng: Rng, size: int) -> list[CutQuery]:
    """Random graphs on 2 to 5 vertices, at most 6 edges, with random points of (0, 1)."""
    found = []
    pool = sorted({Fraction(a, b) for b in range(2, 8) for a in range(1, b)})
    for _ in range(size):
        graph = draw_graph(rng, 5)
        graph = Graph(graph.n_vertices, graph.edges[:6])
        chosen = rng.choice(len(pool), size=graph.n_vertices + 1, replace=False)
        found.append(CutQuery(graph, tuple(pool[int(k)] for k in chosen)))
    return found


# structured strategies


def structured_table_queries() -> SearchStrategy[TableQuery]:
    """Tables of integers and fractions on 0 to 4 variables: zero, one-hot, constant and signed ones among them."""
    from hypothesis import strategies as st

    entry = st.one_of(st.integers(-3, 3), st.fractions(-2, 2, max_denominator=4))
    weight = st.one_of(st.sampled_from([0, 1, -1]), st.fractions(-3, 3, max_denominator=4))
    pair = st.one_of(st.tuples(weight, weight), weight.map(lambda w: (w, -w)))

    @st.composite
    def queries(draw: Any) -> TableQuery:
        n = draw(st.integers(0, 4))
        size = 2**n
        one_hot = st.integers(0, size - 1).map(lambda hot: [int(k == hot) for k in range(size)])
        constant = entry.map(lambda value: [value] * size)
        values = draw(st.one_of(st.lists(entry, min_size=size, max_size=size), one_hot, constant))
        letters = draw(st.lists(st.sampled_from("01*"), min_size=n, max_size=n))
        weights = draw(st.lists(pair, min_size=n, max_size=n))
        return TableQuery(TruthTable(n, values), Pattern("".join(letters)), Weights(tuple(weights)))

    return queries()


def structured_integer_tables() -> SearchStrategy[TableQuery]:
    """Tables of small integers on 0 to 2 variables with small fractional weights."""
    from hypothesis import strategies as st

    weight = st.fractions(-2, 2, max_denominator=3)

    @st.composite
    def queries(draw: Any) -> TableQuery:
        n = draw(st.integers(0, 2))
        values = draw(st.lists(st.integers(-3, 3), min_size=2**n, max_size=2**n))
        weights = draw(st.lists(st.tuples(weight, weight), min_size=n, max_size=n))
        return TableQuery(TruthTable(n, values), Pattern.free(n), Weights(tuple(weights)))

    return queries()


def structured_nonnegative_tables() -> SearchStrategy[TableQuery]:
    """Tables of counts on 0 to 3 variables, not all zero."""
    from hypothesis import strategies as st

    @st.composite
    def queries(draw: Any) -> TableQuery:
        n = draw(st.integers(0, 3))
        values = draw(st.lists(st.integers(0, 4), min_size=2**n, max_size=2**n).filter(any))
        return TableQuery(TruthTable(n, values), Pattern.free(n), Weights.of([1] * n))

    return queries()


def structured_kernel_queries() -> SearchStrategy[KernelQuery]:
    """Integer kernels on 0 to 3 items, singular and non-symmetric ones among them."""
    from hypothesis import strategies as st

    weight = st.one_of(st.sampled_from([0, 1, -1]), st.fractions(-3, 3, max_denominator=4))

    @st.composite
    def queries(draw: Any) -> KernelQuery:
        n = draw(st.integers(0, 3))
        rows = draw(st.lists(st.lists(st.integers(-2, 2), min_size=n, max_size=n), min_size=n, max_size=n))
        letters = draw(st.lists(st.sampled_from("01*"), min_size=n, max_size=n))
        weights = draw(st.lists(st.tuples(weight, weight), min_size=n, max_size=n))
        return KernelQuery(DPPKernel.of(rows), Pattern("".join(letters)), Weights(tuple(weights)))

    return queries()


def structured_form_queries() -> SearchStrategy[FormQuery]:
    """Edge subset, linear bits and constant on 0 to 6 variables, with a pattern."""
    from hypothesis import strategies as st

    @st.composite
    def queries(draw: Any) -> FormQuery:
        n = draw(st.integers(0, 6))
        pairs = [pair for pair in itertools.combinations(range(n), 2) if draw(st.booleans())]
        linear = [(i,) for i in range(n) if draw(st.booleans())]
        form = QuadraticForm.from_terms(n, [*pairs, *linear], draw(st.integers(0, 1)))
        return FormQuery(form, Pattern("".join(draw(st.lists(st.sampled_from("01*"), min_size=n, max_size=n)))))

    return queries()


def structured_graphs(largest: int) -> SearchStrategy[Graph]:
    """Graphs on 0 to ``largest`` vertices, isolated vertices and several components among them."""
    from hypothesis import strategies as st

    @st.composite
    def graphs(draw: Any) -> Graph:
        n = draw(st.integers(0, largest))
        return Graph(n, tuple(pair for pair in itertools.combinations(range(n), 2) if draw(st.booleans())))

    return graphs()


def structured_cut_queries() -> SearchStrategy[CutQuery]:
    """Graphs on up to 5 vertices with the default weights."""
    return structured_graphs(5).map(lambda graph: CutQuery(graph, ratio_nodes(graph.n_edges)))


def structured_slice_queries() -> SearchStrategy[CutQuery]:
    """Graphs on up to 4 vertices with the default points."""
    return structured_graphs(4).map(lambda graph: CutQuery(graph, unit_points(graph.n_vertices)))
