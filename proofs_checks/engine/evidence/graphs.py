"""networkx graphs as plain parts, with the order of nodes and neighbours kept.

The order decides what breadth-first searches and greedy heuristics return, so a replay needs it.
"""

from __future__ import annotations

import importlib
from collections import deque
from typing import Any

_KINDS = ("Graph", "DiGraph", "MultiGraph", "MultiDiGraph")


def graph_parts(graph: Any, path: str) -> dict[str, Any]:
    """Take a graph apart into kind, attributes, nodes and edges in an order that rebuilds it.

    Raises
    ------
    TypeError
        If the graph is of a class other than the four of networkx.
    """
    networkx: Any = importlib.import_module("networkx")

    kind = type(graph).__name__
    if kind not in _KINDS or type(graph) is not getattr(networkx, kind):
        raise TypeError(f"{path} is a graph of class {kind}, which is not data; convert it to a networkx.Graph.")
    edges: list[list[Any]] = []
    for tail, head in _insertion_order(graph):
        data = graph.get_edge_data(tail, head)
        if graph.is_multigraph():
            edges.extend([tail, head, key, attributes] for key, attributes in data.items())
        else:
            edges.append([tail, head, data])
    return {
        "kind": kind,
        "attributes": graph.graph,
        "nodes": [[node, attributes] for node, attributes in graph.nodes(data=True)],
        "edges": edges,
    }


def rebuild_graph(parts: dict[str, Any]) -> Any:
    """Put a graph together from the parts."""
    networkx: Any = importlib.import_module("networkx")

    if parts["kind"] not in _KINDS:
        raise ValueError(f"kind of graph must be one of {_KINDS}, got {parts['kind']!r}.")
    graph = getattr(networkx, parts["kind"])()
    graph.graph.update(parts["attributes"])
    for node, attributes in parts["nodes"]:
        graph.add_node(node)
        graph.nodes[node].update(attributes)
    for edge in parts["edges"]:
        tail, head, *key, attributes = edge
        graph.add_edge(tail, head, *key)
        graph.get_edge_data(tail, head, *key).update(attributes)
    return graph


def _insertion_order(graph: Any) -> list[tuple[Any, Any]]:
    """Order the adjacent pairs so that adding them in turn gives every node its neighbours in the present order.

    A pair is ready when it stands first in the queues of both its ends. Graphs built by networkx always have such an
    order; for one whose tables were edited by hand the remaining pairs follow in the order of ``graph.edges``.
    """
    directed = graph.is_directed()
    out = {node: deque(neighbours) for node, neighbours in graph.adj.items()}
    into = {node: deque(neighbours) for node, neighbours in graph.pred.items()} if directed else out
    order: list[tuple[Any, Any]] = []
    ready = list(reversed(out))
    while ready:
        tail = ready.pop()
        while out[tail] and into[out[tail][0]][0] == tail:
            head = out[tail].popleft()
            if directed or head != tail:
                into[head].popleft()
            order.append((tail, head))
            waiting = into[head][0] if into[head] else None
            if into[head] and waiting != tail:
                ready.append(waiting)
    placed = set(order) if directed else {frozenset(pair) for pair in order}
    for tail, head in dict.fromkeys((edge[0], edge[1]) for edge in graph.edges):
        if ((tail, head) if directed else frozenset((tail, head))) not in placed:
            order.append((tail, head))
    return order
