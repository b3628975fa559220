"""Numbers of vertices and edge ends are whole numbers; nothing is cut to fit."""

import resource
from typing import Any

import pytest

from whp.theory.foundations.graphs import (
    Graph,
    all_graphs,
    complete_graph,
    cut_distribution,
    cut_size,
    cycle_graph,
    grid_graph,
    path_graph,
)


@pytest.mark.parametrize("wrong", [(2.7, ()), ("3", ()), (True, ()), (3, ((0, 1.9),)), (3, ("01",)), (3, ((0, None),))])
def test_what_is_no_whole_number_is_refused(wrong: Any) -> None:
    with pytest.raises(TypeError, match="must be an integer"):
        Graph(*wrong)


@pytest.mark.parametrize("edges", [(0, 1), ((0, 1, 2),), ((0,),)])
def test_edges_are_pairs(edges: Any) -> None:
    with pytest.raises(ValueError, match="pairs"):
        Graph(3, edges)


def test_named_graphs_refuse_negative_and_fractional_sizes() -> None:
    with pytest.raises(ValueError, match="rows"):
        grid_graph(-2, -3)
    for make in (complete_graph, path_graph, cycle_graph, lambda n: list(all_graphs(n))):
        with pytest.raises(ValueError, match="n must be at least"):
            make(-1)
        with pytest.raises(TypeError, match="n must be an integer"):
            make(2.5)  # type: ignore[arg-type]


@pytest.mark.parametrize("side", ["ab", (0, 7), (0, float("nan"))])
def test_sides_are_zero_or_one(side: Any) -> None:
    with pytest.raises(ValueError, match="0 and 1"):
        cut_size(path_graph(2), side)


def test_the_largest_cut_enumeration_takes_half_a_gibibyte_at_most() -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    counts = cut_distribution(path_graph(22))
    assert counts[:2] == (2, 42)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 2**17  # KiB: an eighth of 1 GiB at n = 22
