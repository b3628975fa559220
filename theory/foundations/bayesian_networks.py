"""Discrete Bayesian networks and Markov networks, as definitions.

A Bayesian network over variables ``X_1..X_n`` is a directed acyclic graph with one conditional probability table per
variable; its distribution is ``P(x) = prod_v P(x_v | x_parents(v))``. A Markov network is any product of non-negative
factors. Both are what the virtual-evidence query
``N(weights) = sum_x prod_factors(x) * prod_v weights[v][x_v]`` is asked of.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from whp.theory.foundations.argument_checks import real_array, require_generator, whole_number

__all__ = [
    "BayesianNetwork",
    "DiscreteFactor",
    "DiscreteMarkovNetwork",
    "DiscreteNode",
    "row_sum_tolerance",
    "state_number",
]

FloatArray = NDArray[np.float64]


def row_sum_tolerance(row_length: int) -> float:
    """How far the float64 sum of a probability row of this length may stray from one.

    Normalising ``K`` numbers and adding them up again rounds ``2K`` times, each by at most ``2**-53`` relative to a sum
    that is at most one; the tolerance is twice that, ``2 * 2K * 2**-53``, and never below 16 roundings.

    Parameters
    ----------
    row_length : int
        Number of entries of the row, at least one.

    Returns
    -------
    float
        The tolerance, which grows linearly with the row length.

    Examples
    --------
    >>> abs(sum([1 / 7] * 7) - 1) <= row_sum_tolerance(7)
    True
    """
    return max(16, 4 * row_length) * 2.0**-53


def _frozen(values: ArrayLike, name: str) -> FloatArray:
    try:
        table = real_array(values)
    except (TypeError, ValueError) as error:
        raise ValueError(f"the table of {name!r} must be a rectangular array of numbers, got {values!r}") from error
    table.setflags(write=False)
    return table


def _names(values: Sequence[str], what: str) -> tuple[str, ...]:
    """Read a sequence of texts; one text is no sequence of names, and numbers would be confused with positions."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise TypeError(f"{what} must be a sequence of names, got {values!r}")
    names = tuple(values)
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"{what} must be texts, got {name!r}")
    return names


def _check_non_negative(table: FloatArray, name: str) -> None:
    bad = ~(np.isfinite(table) & (table >= 0))
    if bad.any():
        where = tuple(int(i) for i in np.argwhere(bad)[0])
        raise ValueError(
            f"the table of {name!r} must hold finite non-negative numbers, got {float(table[where])!r} at index {where}"
        )


@dataclass(frozen=True, eq=False)
class DiscreteNode:
    """One variable of a Bayesian network with its conditional probability table.

    Parameters
    ----------
    name : str
        The variable.
    states : sequence of str
        Names of its values, at least one, all different.
    parents : sequence of str
        Names of its parents, in the order of the leading axes of ``table``.
    table : array_like, shape (parent cardinalities ..., number of states)
        ``table[parent states ..., k] = P(variable = states[k] | parents)``. Every row sums to one within
        `row_sum_tolerance`.

    Raises
    ------
    ValueError
        If a row does not sum to one (naming the row and its sum), an entry is negative or not finite (naming it), the
        number of axes disagrees with the parents, or states repeat.
    TypeError
        If a name is no text.

    Examples
    --------
    >>> DiscreteNode("coin", ("tails", "heads"), (), [0.3, 0.7]).cardinality
    2
    """

    name: str
    states: tuple[str, ...]
    parents: tuple[str, ...]
    table: FloatArray

    def __init__(self, name: str, states: Sequence[str], parents: Sequence[str], table: ArrayLike) -> None:
        if not isinstance(name, str):
            raise TypeError(f"name must be a text, got {name!r}")
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "states", _names(states, f"states of {name!r}"))
        object.__setattr__(self, "parents", _names(parents, f"parents of {name!r}"))
        object.__setattr__(self, "table", _frozen(table, name))
        self._validate()

    def _validate(self) -> None:
        if not self.states or len(set(self.states)) != len(self.states):
            raise ValueError(f"states of {self.name!r} must be non-empty and all different, got {self.states!r}")
        if len({self.name, *self.parents}) != len(self.parents) + 1:
            raise ValueError(f"parents of {self.name!r} must be different from it and each other, got {self.parents!r}")
        if self.table.ndim != len(self.parents) + 1 or self.table.shape[-1] != len(self.states):
            raise ValueError(
                f"the table of {self.name!r} must have one axis for each of its {len(self.parents)} parents and a last "
                f"axis of length {len(self.states)}, got shape {self.table.shape}"
            )
        _check_non_negative(self.table, self.name)
        with np.errstate(over="ignore"):
            sums = self.table.sum(axis=-1)
        tolerance = row_sum_tolerance(self.cardinality)
        bad = np.abs(sums - 1.0) > tolerance
        if bad.any():
            row = tuple(int(i) for i in np.argwhere(bad)[0])
            place = f"row {row}" if row else "the only row"
            raise ValueError(
                f"{place} of the table of {self.name!r} must sum to 1 within {tolerance:.2g}, "
                f"got {self.table[row].tolist()} with sum {float(sums[row]):.17g}"
            )

    @property
    def cardinality(self) -> int:
        """Number of states."""
        return len(self.states)


@dataclass(frozen=True, eq=False)
class DiscreteFactor:
    """A non-negative function of some variables, as a table.

    Parameters
    ----------
    scope : sequence of str
        The variables, in the order of the axes.
    table : array_like
        One axis for each variable.
    """

    scope: tuple[str, ...]
    table: FloatArray

    def __init__(self, scope: Sequence[str], table: ArrayLike) -> None:
        object.__setattr__(self, "scope", _names(scope, "scope"))
        object.__setattr__(self, "table", _frozen(table, f"factor {self.scope}"))
        if self.table.ndim != len(self.scope) or len(set(self.scope)) != len(self.scope):
            raise ValueError(
                f"a factor needs one axis for each of its different variables, got scope {self.scope!r} and shape "
                f"{self.table.shape}"
            )
        _check_non_negative(self.table, f"factor {self.scope}")


def state_number(name: str, states: Sequence[str], state: object) -> int:
    """Position of a state given by its name or its number.

    Raises
    ------
    ValueError
        If there is no such state.

    Examples
    --------
    >>> state_number("coin", ("tails", "heads"), "heads"), state_number("coin", ("tails", "heads"), 0)
    (1, 0)
    """
    if isinstance(state, str):
        if state in states:
            return states.index(state)
    elif isinstance(state, int | np.integer) and not isinstance(state, bool) and 0 <= state < len(states):
        return int(state)
    raise ValueError(f"{name!r} has no state {state!r}; its states are {tuple(states)!r}, numbered from 0")


class _StateNames:
    """Lookup of states by name or number, shared by both kinds of network."""

    states: Mapping[str, tuple[str, ...]]

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables, in the order in which they were declared."""
        return tuple(self.states)

    @property
    def cardinalities(self) -> dict[str, int]:
        """Number of states of each variable."""
        return {name: len(states) for name, states in self.states.items()}

    def require(self, name: str) -> str:
        """Return the name of a variable, or raise.

        Raises
        ------
        ValueError
            If the network has no such variable; the message suggests near misses.
        """
        if name not in self.states:
            import difflib

            near = difflib.get_close_matches(str(name), self.states, n=3)
            hint = f"; did you mean {', '.join(map(repr, near))}?" if near else f" (it has {len(self.states)})"
            raise ValueError(f"the network has no variable {name!r}{hint}")
        return name

    def state_index(self, name: str, state: str | int) -> int:
        """Number of a state given by its name or its number.

        A text is looked up among the state names first; an integer is a position.

        Raises
        ------
        ValueError
            If the variable or the state does not exist.
        """
        return state_number(name, self.states[self.require(name)], state)


@dataclass(frozen=True, eq=False)
class BayesianNetwork(_StateNames):
    """A discrete Bayesian network.

    Parameters
    ----------
    nodes : iterable of DiscreteNode
        In any order; parents may come after children.

    Raises
    ------
    ValueError
        If a name repeats, a parent is missing, a table's leading axes disagree with the parents' cardinalities, or the
        graph has a directed cycle (named).

    Examples
    --------
    >>> rain = DiscreteNode("rain", ("no", "yes"), (), [0.8, 0.2])
    >>> wet = DiscreteNode("wet", ("no", "yes"), ("rain",), [[0.9, 0.1], [0.2, 0.8]])
    >>> network = BayesianNetwork([wet, rain])
    >>> network.topological_order
    ('rain', 'wet')
    >>> round(network.log_probability({"rain": "yes", "wet": "yes"}), 6) == round(float(np.log(0.16)), 6)
    True
    """

    nodes: tuple[DiscreteNode, ...]
    states: Mapping[str, tuple[str, ...]] = field(init=False)

    def __init__(self, nodes: Iterable[DiscreteNode]) -> None:
        object.__setattr__(self, "nodes", tuple(nodes))
        _require_all(self.nodes, DiscreteNode, "nodes")
        names = [node.name for node in self.nodes]
        if len(set(names)) != len(names):
            twice = sorted({name for name in names if names.count(name) > 1})
            raise ValueError(f"every variable needs exactly one table, got several for {twice}")
        object.__setattr__(self, "states", {node.name: node.states for node in self.nodes})
        for node in self.nodes:
            self._check_parents(node)
        _ = self.topological_order

    def _check_parents(self, node: DiscreteNode) -> None:
        missing = [parent for parent in node.parents if parent not in self.states]
        if missing:
            raise ValueError(f"{node.name!r} has parents {missing} that are not in the network")
        expected = (*(len(self.states[parent]) for parent in node.parents), node.cardinality)
        if node.table.shape != expected:
            raise ValueError(f"the table of {node.name!r} must have shape {expected}, got {node.table.shape}")

    def __getitem__(self, name: str) -> DiscreteNode:
        """Return the node of a variable."""
        return self._by_name[self.require(name)]

    @cached_property
    def _by_name(self) -> dict[str, DiscreteNode]:
        return {node.name: node for node in self.nodes}

    @cached_property
    def topological_order(self) -> tuple[str, ...]:
        """Variables with parents before children; ties in the declared order."""
        waiting = {node.name: len(node.parents) for node in self.nodes}
        children: dict[str, list[str]] = {node.name: [] for node in self.nodes}
        for node in self.nodes:
            for parent in node.parents:
                children[parent].append(node.name)
        order = [name for name, count in waiting.items() if count == 0]
        for name in order:
            for child in children[name]:
                waiting[child] -= 1
                if waiting[child] == 0:
                    order.append(child)
        if len(order) < len(self.nodes):
            cyclic = [name for name, count in waiting.items() if count > 0]
            raise ValueError(f"a Bayesian network must have no directed cycle, but {cyclic} lie on or behind one")
        return tuple(order)

    @cached_property
    def factors(self) -> tuple[DiscreteFactor, ...]:
        """The tables as factors, in the order of the nodes."""
        return tuple(DiscreteFactor((*node.parents, node.name), node.table) for node in self.nodes)

    def log_probability(self, assignment: Mapping[str, str | int]) -> float:
        """Natural logarithm of the probability of a full assignment; ``-inf`` if it is impossible.

        Raises
        ------
        ValueError
            If a variable is missing or a state unknown.
        """
        return _log_product(self.factors, _full_assignment(self, assignment))

    def sample(self, size: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Draw states by ancestral sampling.

        Parameters
        ----------
        size : int
            Number of draws, at least 0.
        rng : numpy.random.Generator
            Source of randomness.

        Returns
        -------
        ndarray of int64, shape (size, number of variables)
            State numbers; columns in the order of ``variables``.
        """
        size = whole_number(size, "size", 0)
        require_generator(rng)
        column = {name: i for i, name in enumerate(self.variables)}
        draws = np.zeros((size, len(column)), dtype=np.int64)
        for name in self.topological_order:
            node = self[name]
            rows = node.table[tuple(draws[:, column[parent]] for parent in node.parents)]  # (size, states) or (states,)
            cumulative = np.cumsum(rows, axis=-1)
            level = rng.random((size, 1)) * cumulative[..., -1:]
            draws[:, column[name]] = np.minimum((level >= cumulative).sum(axis=-1), node.cardinality - 1)
        return draws

    @property
    def n_parameters(self) -> int:
        """Number of free parameters: rows times (states - 1)."""
        return sum(prod(node.table.shape[:-1]) * (node.cardinality - 1) for node in self.nodes)


@dataclass(frozen=True, eq=False)
class DiscreteMarkovNetwork(_StateNames):
    """A product of non-negative factors over discrete variables; loops are allowed.

    Parameters
    ----------
    states : mapping from str to sequence of str
        The variables and the names of their values.
    factors : iterable of DiscreteFactor
        Their product is the unnormalised distribution.

    Raises
    ------
    ValueError
        If a factor mentions an unknown variable or its shape disagrees with the states.
    """

    states: Mapping[str, tuple[str, ...]]
    factors: tuple[DiscreteFactor, ...]

    def __init__(self, states: Mapping[str, Sequence[str]], factors: Iterable[DiscreteFactor]) -> None:
        object.__setattr__(self, "states", {n: _names(values, f"states of {n!r}") for n, values in states.items()})
        object.__setattr__(self, "factors", tuple(factors))
        _names(tuple(self.states), "states")
        _require_all(self.factors, DiscreteFactor, "factors")
        for name, values in self.states.items():
            if not values or len(set(values)) != len(values):
                raise ValueError(f"states of {name!r} must be non-empty and all different, got {values!r}")
        for factor in self.factors:
            expected = tuple(len(self.states[self.require(name)]) for name in factor.scope)
            if factor.table.shape != expected:
                raise ValueError(f"the factor over {factor.scope} must have shape {expected}, got {factor.table.shape}")

    def log_weight(self, assignment: Mapping[str, str | int]) -> float:
        """Natural logarithm of the product of factors at a full assignment, without the normalising constant."""
        return _log_product(self.factors, _full_assignment(self, assignment))


def _require_all(items: Iterable[object], kind: type, what: str) -> None:
    for item in items:
        if not isinstance(item, kind):
            raise TypeError(f"{what} must be {kind.__name__} objects, got {item!r}")


def _full_assignment(network: _StateNames, assignment: Mapping[str, Any]) -> dict[str, int]:
    if not isinstance(assignment, Mapping):
        raise TypeError(f"assignment must map variables to states, got {assignment!r}")
    missing = [name for name in network.states if name not in assignment]
    if missing:
        raise ValueError(f"the assignment must give every variable a state, but {missing} are missing")
    return {name: network.state_index(name, state) for name, state in assignment.items()}


def _log_product(factors: Iterable[DiscreteFactor], chosen: Mapping[str, int]) -> float:
    with np.errstate(divide="ignore"):
        terms = [float(np.log(factor.table[tuple(chosen[name] for name in factor.scope)])) for factor in factors]
    return float(sum(terms))
