"""The joint posterior of many variables as a product of small conditional tables.

Eliminating the variables one by one leaves, for each target, the table ``P(target | variables eliminated later,
evidence)``. Their product is the joint posterior, exactly, however many entries the full table would have.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from whp.algorithms.marginalization.elimination_orders import TreewidthError
from whp.algorithms.marginalization.elimination_plans import conditioned
from whp.theory.foundations.argument_checks import require_generator, whole_number
from whp.theory.foundations.bayesian_networks import BayesianNetwork, DiscreteMarkovNetwork, state_number

__all__ = ["ConditionalTable", "FactoredPosterior", "factorise"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ConditionalTable:
    """``P(variable | given, evidence)``.

    Attributes
    ----------
    variable : str
        The variable.
    given : tuple of str
        The targets it is conditioned on, in the order of the leading axes.
    table : ndarray, shape (states of given ..., states of variable)
        Rows sum to one; rows whose condition is impossible hold zeros.
    """

    variable: str
    given: tuple[str, ...]
    table: FloatArray


@dataclass(frozen=True, eq=False)
class FactoredPosterior:
    """A joint posterior as a product of conditional tables.

    Attributes
    ----------
    states : dict from str to tuple of str
        State names of the targets.
    conditionals : tuple of ConditionalTable
        In sampling order: each is conditioned on earlier variables only.
    """

    states: dict[str, tuple[str, ...]]
    conditionals: tuple[ConditionalTable, ...]

    @property
    def entries(self) -> int:
        """Entries of all tables together."""
        return sum(conditional.table.size for conditional in self.conditionals)

    def log_probability(self, assignment: Mapping[str, str | int]) -> float:
        """Natural logarithm of the posterior probability of an assignment to all targets.

        Raises
        ------
        ValueError
            If a target is missing, a state unknown, or another variable mentioned.
        """
        chosen = {name: state_number(name, self.states[name], assignment.get(name)) for name in self.states}
        unknown = [name for name in assignment if name not in self.states]
        if unknown:
            raise ValueError(f"the assignment must give states to the targets only, got {unknown}")
        with np.errstate(divide="ignore"):
            return float(
                sum(np.log(c.table[tuple(chosen[name] for name in (*c.given, c.variable))]) for c in self.conditionals)
            )

    def sample(self, size: int, rng: np.random.Generator) -> dict[str, NDArray[np.int64]]:
        """Draw exact samples from the joint posterior.

        Parameters
        ----------
        size : int
            Number of draws.
        rng : numpy.random.Generator
            Source of randomness.

        Returns
        -------
        dict from str to ndarray of int64, shape (size,)
            State numbers.
        """
        size = whole_number(size, "size", 0)
        require_generator(rng)
        draws: dict[str, NDArray[np.int64]] = {}
        for conditional in self.conditionals:
            rows = conditional.table[tuple(draws[name] for name in conditional.given)]
            cumulative = np.cumsum(rows, axis=-1)
            level = rng.random((size, 1)) * cumulative[..., -1:]
            last = (np.broadcast_to(rows, (size, rows.shape[-1])) > 0).cumsum(axis=-1).argmax(axis=-1)
            draws[conditional.variable] = np.minimum((level >= cumulative).sum(axis=-1), last)
        return draws


@dataclass(frozen=True, eq=False)
class _LogTable:
    scope: tuple[str, ...]
    logs: FloatArray


def factorise(
    network: BayesianNetwork | DiscreteMarkovNetwork,
    targets: Sequence[str],
    hard: Mapping[str, int],
    weights: Mapping[str, FloatArray],
    max_table_entries: int,
) -> FactoredPosterior | None:
    """Factorise the joint posterior of the targets; None if the evidence has probability zero.

    Parameters
    ----------
    network : BayesianNetwork or DiscreteMarkovNetwork
        The network.
    targets : sequence of str
        The variables of the joint.
    hard : mapping from str to int
        Observed states; the factors are cut down to them.
    weights : mapping from str to ndarray of shape (states,)
        Evidence weights, those of the observed variables included.
    max_table_entries : int
        Largest table to build.

    Raises
    ------
    TreewidthError
        If a larger table would be needed.
    """
    with np.errstate(divide="ignore"):
        pool = [_LogTable(factor.scope, np.log(factor.table)) for factor in conditioned(network.factors, hard)]
        pool += [_LogTable((name,), np.log(weight)) for name, weight in weights.items()]
    sizes = network.cardinalities
    mentioned = {name for table in pool for name in table.scope}
    pool += [_LogTable((name,), np.zeros(sizes[name])) for name in sizes if name not in mentioned]
    conditionals = []
    for group in ([name for name in sizes if name not in set(targets)], list(targets)):
        while group:
            variable = min(group, key=lambda name: _cost(pool, name, sizes))
            group.remove(variable)
            entries = _cost(pool, variable, sizes)
            if entries > max_table_entries:
                raise TreewidthError(
                    f"the factored posterior needs a table of {entries} entries, more than "
                    f"max_table_entries={max_table_entries}"
                )
            table, message, pool = _eliminated(pool, variable)
            if variable in targets:
                conditionals.append(_conditional(table, message, variable))
            pool.append(message)
    if not np.all(np.isfinite([table.logs for table in pool])):
        return None
    return FactoredPosterior({name: network.states[name] for name in targets}, tuple(reversed(conditionals)))


def _cost(pool: Sequence[_LogTable], variable: str, sizes: Mapping[str, int]) -> int:
    scope = {name for table in pool if variable in table.scope for name in table.scope}
    return prod(sizes[name] for name in scope)


def _eliminated(pool: Sequence[_LogTable], variable: str) -> tuple[_LogTable, _LogTable, list[_LogTable]]:
    bucket = [table for table in pool if variable in table.scope]
    rest = [table for table in pool if variable not in table.scope]
    scope = (*dict.fromkeys(name for table in bucket for name in table.scope if name != variable), variable)
    logs: FloatArray = np.zeros(())
    for table in bucket:
        order = sorted(range(len(table.scope)), key=lambda i: scope.index(table.scope[i]))
        shape = [table.logs.shape[table.scope.index(name)] if name in table.scope else 1 for name in scope]
        logs = logs + table.logs.transpose(order).reshape(shape)
    return _LogTable(scope, logs), _LogTable(scope[:-1], np.logaddexp.reduce(logs, axis=-1)), rest


def _conditional(table: _LogTable, message: _LogTable, variable: str) -> ConditionalTable:
    total = np.where(np.isfinite(message.logs), message.logs, 0.0)
    return ConditionalTable(variable, table.scope[:-1], np.exp(table.logs - total[..., None]))
