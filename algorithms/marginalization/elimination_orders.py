"""Orders in which variables are summed out, and the price of an order before anything is allocated.

The order decides the largest table of exact elimination. Forests get an exact order (leaves first, layer by layer);
other graphs get the cheaper of networkx's minimum-degree and minimum-fill-in tree decompositions, and where those
are expensive also the greedy order that makes the smallest table next, which looks at cardinalities too.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import networkx as nx

__all__ = ["EliminationOrder", "TreewidthError", "elimination_order"]

#: Above this many variables only the faster minimum-degree heuristic is asked.
_FILL_IN_LIMIT = 400
#: Orders with larger tables than this are worth a greedy search for smaller ones.
_EXPENSIVE = 2**18


class TreewidthError(ValueError):
    """Exact elimination would need a table larger than the allowed number of entries."""


@dataclass(frozen=True)
class EliminationOrder:
    """An elimination order and what it costs.

    Attributes
    ----------
    variables : tuple of str
        The variables in the order in which they are summed out.
    width : int
        Variables in the largest table, minus one (the induced width of the order).
    largest_table : int
        Entries of the largest table that appears while one row is eliminated.
    total_entries : int
        Entries of all tables together: the number of multiplications, up to a small factor.
    heuristic : str
        ``"leaves first"``, ``"minimum degree"``, ``"minimum fill-in"`` or ``"smallest table"``.
    """

    variables: tuple[str, ...]
    width: int
    largest_table: int
    total_entries: int
    heuristic: str


def elimination_order(
    scopes: Iterable[Sequence[str]],
    cardinalities: Mapping[str, int],
    keep: Sequence[str] = (),
    max_table_entries: int = 2**26,
) -> EliminationOrder:
    """Choose an order that eliminates every variable except those kept.

    Parameters
    ----------
    scopes : iterable of sequences of str
        The variables of each factor.
    cardinalities : mapping from str to int
        Number of states of every variable.
    keep : sequence of str, optional
        Variables that stay, as one joint table.
    max_table_entries : int, optional
        Refuse orders that need a larger table.

    Returns
    -------
    EliminationOrder
        The cheaper of the heuristics' orders by ``total_entries``.

    Raises
    ------
    TreewidthError
        If the best order found needs a table of more than ``max_table_entries`` entries; the message gives the
        width, the entries and the memory.

    Examples
    --------
    >>> chain = [("a", "b"), ("b", "c"), ("c", "d")]
    >>> elimination_order(chain, dict.fromkeys("abcd", 2), keep=("d",)).width
    1
    """
    graph = _interaction_graph(scopes, cardinalities, keep)
    kept = set(keep)
    candidates = (
        [("leaves first", order)] if (order := _leaves_first(graph, kept)) is not None else _decomposed(graph, keep)
    )
    best = min(
        (_priced(graph, order, cardinalities, keep, name) for name, order in candidates), key=lambda o: o.total_entries
    )
    if best.largest_table > _EXPENSIVE and best.heuristic != "leaves first":
        greedy = _priced(
            graph, _smallest_table_first(graph, cardinalities, kept), cardinalities, keep, "smallest table"
        )
        best = min(best, greedy, key=lambda o: o.total_entries)
    if best.largest_table > max_table_entries:
        raise TreewidthError(
            f"exact elimination needs a table of {best.largest_table} entries "
            f"({_memory(8 * best.largest_table)} per query, width {best.width}, order by {best.heuristic}), "
            f"more than max_table_entries={max_table_entries}"
        )
    return best


def _memory(size: int) -> str:
    for unit, scale in (("EiB", 60), ("PiB", 50), ("TiB", 40), ("GiB", 30), ("MiB", 20)):
        if size >= 1 << scale:
            return f"{size / (1 << scale):.3g} {unit}"
    return f"{size} bytes"


def _interaction_graph(
    scopes: Iterable[Sequence[str]], cardinalities: Mapping[str, int], keep: Sequence[str]
) -> nx.Graph[Any]:
    import networkx as nx

    graph: nx.Graph[Any] = nx.Graph()
    graph.add_nodes_from(cardinalities)
    for scope in (*scopes, tuple(keep)):
        graph.add_edges_from((a, b) for i, a in enumerate(scope) for b in scope[i + 1 :])
    return graph


def _leaves_first(graph: nx.Graph[Any], kept: set[str]) -> list[str] | None:
    """Peel vertices of degree at most one, a layer at a time; None if vertices outside ``kept`` remain."""
    degree = dict(graph.degree())
    removed: set[str] = set()
    order: list[str] = []
    layer = [v for v in graph if degree[v] <= 1 and v not in kept]
    while layer:
        upcoming = []
        for v in layer:
            if v in removed:
                continue
            removed.add(v)
            order.append(v)
            for u in graph[v]:
                if u not in removed:
                    degree[u] -= 1
                    if degree[u] == 1 and u not in kept:
                        upcoming.append(u)
        layer = upcoming
    return order if len(order) + len(kept) == len(graph) else None


def _decomposed(graph: nx.Graph[Any], keep: Sequence[str]) -> list[tuple[str, list[str]]]:
    from networkx.algorithms.approximation import treewidth_min_degree, treewidth_min_fill_in

    orders = [("minimum degree", _order_from_bags(treewidth_min_degree(graph)[1], keep))]
    if len(graph) <= _FILL_IN_LIMIT:
        orders.append(("minimum fill-in", _order_from_bags(treewidth_min_fill_in(graph)[1], keep)))
    return orders


def _order_from_bags(tree: nx.Graph[Any], keep: Sequence[str]) -> list[str]:
    """Perfect order of a tree decomposition: fold leaf bags into their parents, towards a bag that holds ``keep``."""
    import networkx as nx

    kept = set(keep)
    order: list[str] = []
    done: set[str] = set(kept)
    for component in nx.connected_components(tree):
        root = next((bag for bag in component if kept and kept <= bag), next(iter(component)))
        parent = {root: frozenset[str]()}
        walk = [root]
        for bag in walk:
            for other in tree[bag]:
                if other not in parent:
                    parent[other] = bag
                    walk.append(other)
        for bag in reversed(walk):
            for v in sorted(bag - parent[bag], key=str):
                if v not in done:
                    done.add(v)
                    order.append(v)
    return order


def _smallest_table_first(graph: nx.Graph[Any], cardinalities: Mapping[str, int], kept: set[str]) -> list[str]:
    """Greedy order; sizes are kept in a heap and looked at again when a neighbourhood has changed."""
    neighbours = {v: set(graph[v]) for v in graph}

    def entries(v: str) -> int:
        return cardinalities[v] * prod(cardinalities[u] for u in neighbours[v])

    latest = {v: entries(v) for v in graph if v not in kept}
    heap = [(size, str(v), v) for v, size in latest.items()]
    heapq.heapify(heap)
    order: list[str] = []
    while heap:
        size, _, v = heapq.heappop(heap)
        if latest.get(v) != size:
            continue
        del latest[v]
        order.append(v)
        near = neighbours.pop(v)
        for u in near:
            neighbours[u] |= near
            neighbours[u] -= {u, v}
        for u in near & latest.keys():
            latest[u] = entries(u)
            heapq.heappush(heap, (latest[u], str(u), u))
    return order


def _priced(
    graph: nx.Graph[Any], order: Sequence[str], cardinalities: Mapping[str, int], keep: Sequence[str], name: str
) -> EliminationOrder:
    neighbours = {v: set(graph[v]) for v in graph}
    width, largest, total = len(keep) - 1, prod(cardinalities[v] for v in keep), 0
    for v in order:
        near = neighbours.pop(v)
        entries = cardinalities[v] * prod(cardinalities[u] for u in near)
        width, largest, total = max(width, len(near)), max(largest, entries), total + entries
        for u in near:
            neighbours[u] |= near
            neighbours[u] -= {u, v}
    return EliminationOrder(tuple(order), max(width, 0), largest, total, name)
