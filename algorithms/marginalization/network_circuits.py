"""Compile discrete networks into arithmetic circuits by symbolic variable elimination.

The circuit's inputs are evidence weights, one per state of every variable; its output is the network polynomial ``sum_x
prod_factors(x) * prod_v weight[v, x_v]``, multilinear, smooth and (for a network) linear in each variable's block of
weights.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import product

from whp.algorithms.marginalization.circuits import ArithmeticCircuit, CircuitBuilder, network_inputs
from whp.algorithms.marginalization.elimination_orders import elimination_order
from whp.algorithms.marginalization.folding_arithmetic import Entry, FoldingArithmetic
from whp.theory.foundations.bayesian_networks import BayesianNetwork, DiscreteMarkovNetwork

__all__ = ["binary_network_circuit", "network_circuit"]

#: A symbolic table: its variables, and an entry for every combination of states.
_Table = tuple[tuple[str, ...], dict[tuple[int, ...], Entry]]


def network_circuit(
    network: BayesianNetwork | DiscreteMarkovNetwork, max_table_entries: int = 2**20
) -> ArithmeticCircuit:
    """Circuit of a network's polynomial in evidence weights, with exact rational parameters.

    Parameters
    ----------
    network : BayesianNetwork or DiscreteMarkovNetwork
        The network; its float64 parameters are taken as the dyadic rationals they are.
    max_table_entries : int, optional
        Largest table of the elimination order.

    Returns
    -------
    ArithmeticCircuit
        Input ``"v=state"`` for each variable and state, variables and states in declared order; the inputs of one
        variable share a number in ``input_variables``.

    Raises
    ------
    TreewidthError
        If elimination would need too large a table.
    """
    sizes = _cardinalities(network)
    names = [f"{name}={state}" for name, states in network.states.items() for state in states]
    owners = [i for i, states in enumerate(network.states.values()) for _ in states]
    builder = CircuitBuilder(names, owners)
    start = dict(zip(sizes, _offsets(list(sizes.values())), strict=True))
    weights = {name: [builder.input(start[name] + k) for k in range(size)] for name, size in sizes.items()}
    return _eliminated(network, builder, weights, max_table_entries)


def binary_network_circuit(
    network: BayesianNetwork | DiscreteMarkovNetwork, max_table_entries: int = 2**20
) -> ArithmeticCircuit:
    """Circuit of a binary network with inputs ``w_0.., wbar_0..`` in the order of its variables (state 1 is ``w``).

    Raises
    ------
    ValueError
        If a variable does not have exactly two states.
    TreewidthError
        If elimination would need too large a table.
    """
    for name, size in _cardinalities(network).items():
        if size != 2:
            raise ValueError(f"every variable must have 2 states, but {name!r} has {size}; use network_circuit")
    n = len(network.variables)
    builder = CircuitBuilder(*network_inputs(n))
    weights = {name: [builder.input(n + i), builder.input(i)] for i, name in enumerate(network.variables)}
    return _eliminated(network, builder, weights, max_table_entries)


def _cardinalities(network: BayesianNetwork | DiscreteMarkovNetwork) -> dict[str, int]:
    if not isinstance(network, BayesianNetwork | DiscreteMarkovNetwork):
        raise TypeError(f"network must be a BayesianNetwork or DiscreteMarkovNetwork, got {type(network).__name__}")
    return network.cardinalities


def _offsets(sizes: Sequence[int]) -> list[int]:
    return [sum(sizes[:i]) for i in range(len(sizes))]


def _eliminated(
    network: BayesianNetwork | DiscreteMarkovNetwork,
    builder: CircuitBuilder,
    weights: Mapping[str, Sequence[int]],
    max_table_entries: int,
) -> ArithmeticCircuit:
    sizes = network.cardinalities
    arithmetic = FoldingArithmetic(builder)
    order = elimination_order([f.scope for f in network.factors], sizes, (), max_table_entries)
    pool: list[_Table] = [
        (f.scope, {index: Fraction(float(f.table[index])) for index in product(*map(range, f.table.shape))})
        for f in network.factors
    ]
    pool += [((name,), {(k,): node for k, node in enumerate(nodes)}) for name, nodes in weights.items()]
    for variable in order.variables:
        bucket = [table for table in pool if variable in table[0]]
        pool = [table for table in pool if variable not in table[0]]
        pool.append(_summed(arithmetic, bucket, variable, sizes))
    result: Entry = Fraction(1)
    for _, entries in pool:
        result = arithmetic.multiply(result, entries[()])
    return builder.build(arithmetic.node(result))


def _summed(arithmetic: FoldingArithmetic, bucket: Sequence[_Table], variable: str, sizes: Mapping[str, int]) -> _Table:
    scope = tuple(dict.fromkeys(name for names, _ in bucket for name in names if name != variable))
    entries: dict[tuple[int, ...], Entry] = {}
    for states in product(*(range(sizes[name]) for name in scope)):
        chosen = dict(zip(scope, states, strict=True))
        terms: list[Entry] = []
        for state in range(sizes[variable]):
            chosen[variable] = state
            term: Entry = Fraction(1)
            for names, table in bucket:
                term = arithmetic.multiply(term, table[tuple(chosen[name] for name in names)])
            terms.append(term)
        entries[states] = arithmetic.total(terms)
    return scope, entries
