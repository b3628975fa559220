"""Undirected graphs as edge lists, and their cuts."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whp.theory.foundations.argument_checks import whole_number

__all__ = [
    "Graph",
    "all_graphs",
    "complete_graph",
    "component_count",
    "cut_distribution",
    "cut_size",
    "cycle_graph",
    "grid_graph",
    "path_graph",
    "petersen_graph",
    "weighted_cut_distribution",
]

MAX_ENUMERATED_VERTICES = 24


@dataclass(frozen=True)
class Graph:
    """Undirected graph on vertices ``0 .. n_vertices - 1``; repeated edges are parallel edges.

    Parameters
    ----------
    n_vertices : int
        Number of vertices, at least 0; isolated vertices are allowed.
    edges : tuple of (int, int)
        Pairs of distinct vertices. Stored as ``(low, high)`` in the order given.

    Raises
    ------
    ValueError
        If a vertex is out of range, an edge is a loop or no pair.
    TypeError
        If a number is no integer.

    Examples
    --------
    >>> Graph(3, ((2, 0), (0, 1))).edges
    ((0, 2), (0, 1))
    """

    n_vertices: int
    edges: tuple[tuple[int, int], ...]

    def __post_init__(self) -> None:
        """Check ranges and sort the ends of each edge."""
        n = whole_number(self.n_vertices, "n_vertices", 0)
        ordered: list[tuple[int, int]] = []
        for edge in self.edges:
            i, j = _ends(edge)
            if i == j:
                raise ValueError(f"edges must join two distinct vertices, got the loop ({i}, {j})")
            if not (0 <= i < n and 0 <= j < n):
                raise ValueError(f"edge ends must lie in 0..{n - 1}, got ({i}, {j})")
            ordered.append((min(i, j), max(i, j)))
        object.__setattr__(self, "n_vertices", n)
        object.__setattr__(self, "edges", tuple(ordered))

    @classmethod
    def from_edges(cls, edges: Iterable[tuple[int, int]], n_vertices: int | None = None) -> Graph:
        """Graph with the given edges; by default just enough vertices to hold them.

        Examples
        --------
        >>> Graph.from_edges([(0, 1), (1, 2)]).n_vertices
        3
        """
        listed = tuple(_ends(edge) for edge in edges)
        if n_vertices is None:
            n_vertices = 1 + max((max(edge) for edge in listed), default=-1)
        return cls(n_vertices, listed)

    @property
    def n_edges(self) -> int:
        """Number of edges, parallel edges counted apart."""
        return len(self.edges)

    @property
    def is_simple(self) -> bool:
        """Whether no two edges are parallel."""
        return len(set(self.edges)) == len(self.edges)


def _ends(edge: Iterable[int]) -> tuple[int, int]:
    ends = tuple(edge) if isinstance(edge, Iterable) else ()
    if len(ends) != 2:
        raise ValueError(f"edges must be pairs of vertices, got {edge!r}")
    return whole_number(ends[0], "edge ends"), whole_number(ends[1], "edge ends")


def cut_size(graph: Graph, side: Iterable[int]) -> int:
    """Number of edges whose ends lie on different sides.

    Parameters
    ----------
    graph : Graph
    side : iterable of int
        0 or 1 for each vertex.

    Examples
    --------
    >>> cut_size(cycle_graph(4), (0, 1, 0, 1))
    4
    """
    x = tuple(side)
    if len(x) != graph.n_vertices:
        raise ValueError(f"side must have one entry per vertex, {graph.n_vertices} in all, got {len(x)}")
    for vertex, entry in enumerate(x):
        if isinstance(entry, str) or entry not in (0, 1):
            raise ValueError(f"side must hold only 0 and 1, got {entry!r} for vertex {vertex}")
    return sum(x[i] != x[j] for i, j in graph.edges)


def component_count(graph: Graph) -> int:
    """Number of connected components; an isolated vertex is one.

    Examples
    --------
    >>> component_count(Graph(4, ((0, 1),)))
    3
    """
    root = list(range(graph.n_vertices))

    def find(v: int) -> int:
        while root[v] != v:
            root[v] = root[root[v]]
            v = root[v]
        return v

    for i, j in graph.edges:
        root[find(i)] = find(j)
    return sum(find(v) == v for v in range(graph.n_vertices))


def _weights_and_cuts(graph: Graph) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Number of ones and cut size of every assignment, vertex 0 as the highest bit; 4 bytes an entry."""
    n = graph.n_vertices
    if n > MAX_ENUMERATED_VERTICES:
        raise ValueError(f"enumerating cuts needs n_vertices <= {MAX_ENUMERATED_VERTICES}, got {n} (2^{n} assignments)")
    index = np.arange(1 << n, dtype=np.int32)
    cuts = np.zeros(1 << n, dtype=np.int32)
    for i, j in graph.edges:
        cuts += ((index >> (n - 1 - i)) ^ (index >> (n - 1 - j))) & 1
    return np.bitwise_count(index).astype(np.int32), cuts


def cut_distribution(graph: Graph) -> tuple[int, ...]:
    """``D_c``, the number of assignments with ``cut(x) = c``, for ``c = 0 .. n_edges``, by enumeration.

    Every cut is counted twice, once for each naming of its sides.

    Examples
    --------
    >>> cut_distribution(complete_graph(3))
    (2, 0, 6, 0)
    """
    _, cuts = _weights_and_cuts(graph)
    return tuple(int(c) for c in np.bincount(cuts, minlength=graph.n_edges + 1))


def weighted_cut_distribution(graph: Graph) -> dict[tuple[int, int], int]:
    """``N(a, c)``, the number of assignments with ``a`` ones and cut size ``c``; zero counts left out.

    Examples
    --------
    >>> weighted_cut_distribution(complete_graph(3))
    {(0, 0): 1, (1, 2): 3, (2, 2): 3, (3, 0): 1}
    """
    ones, cuts = _weights_and_cuts(graph)
    width = graph.n_edges + 1
    counts = np.bincount(ones * np.int64(width) + cuts)
    return {(int(key) // width, int(key) % width): int(counts[key]) for key in np.flatnonzero(counts)}


def complete_graph(n: int) -> Graph:
    """Every pair of ``n`` vertices joined.

    Examples
    --------
    >>> complete_graph(4).n_edges
    6
    """
    size = whole_number(n, "n", 0)
    return Graph(size, tuple(itertools.combinations(range(size), 2)))


def path_graph(n: int) -> Graph:
    """Path on ``n`` vertices.

    Examples
    --------
    >>> path_graph(3).edges
    ((0, 1), (1, 2))
    """
    size = whole_number(n, "n", 0)
    return Graph(size, tuple((i, i + 1) for i in range(size - 1)))


def cycle_graph(n: int) -> Graph:
    """Cycle on ``n`` vertices, ``n`` at least 3.

    Examples
    --------
    >>> cycle_graph(3).edges
    ((0, 1), (1, 2), (0, 2))
    """
    size = whole_number(n, "n", 3)
    return Graph(size, tuple((i, (i + 1) % size) for i in range(size)))


def grid_graph(rows: int, columns: int) -> Graph:
    """Rectangular grid; vertex ``(r, c)`` has number ``r * columns + c``.

    Examples
    --------
    >>> grid_graph(2, 2).n_edges
    4
    """
    rows, columns = whole_number(rows, "rows", 0), whole_number(columns, "columns", 0)
    across = [(r * columns + c, r * columns + c + 1) for r in range(rows) for c in range(columns - 1)]
    down = [(r * columns + c, (r + 1) * columns + c) for r in range(rows - 1) for c in range(columns)]
    return Graph(rows * columns, tuple(across + down))


def petersen_graph() -> Graph:
    """The Petersen graph: outer pentagon, inner pentagram, five spokes.

    Examples
    --------
    >>> petersen_graph().n_edges
    15
    """
    outer = [(i, (i + 1) % 5) for i in range(5)]
    inner = [(5 + i, 5 + (i + 2) % 5) for i in range(5)]
    return Graph(10, tuple(outer + inner + [(i, i + 5) for i in range(5)]))


def all_graphs(n: int) -> Iterator[Graph]:
    """Every labelled simple graph on ``n`` vertices, ``2^(n(n-1)/2)`` of them.

    Examples
    --------
    >>> sum(1 for _ in all_graphs(3))
    8
    """
    pairs = tuple(itertools.combinations(range(whole_number(n, "n", 0)), 2))
    for mask in range(1 << len(pairs)):
        yield Graph(n, tuple(pair for k, pair in enumerate(pairs) if mask >> k & 1))
