"""Compile exact variable elimination into a short list of batched contractions.

A plan fixes, once, everything that does not depend on the evidence: the order, the products of conditional tables that
meet in a bucket, the axes of every message, and which eliminations have the same shape and depth, so that they run
as one stacked matrix product. At run time only the evidence weights flow through it (`batched_elimination`).

Every dynamic value is an array of shape ``(members, states of its scope ..., batch)``. One elimination computes
``message[A, L, R] = sum_v table[A, L, v] * product[A, v, R]`` where ``table`` collects the conditional tables of
the bucket, ``product`` the incoming messages, ``A`` the axes of both, ``L`` those of the table and ``R`` those of the
product alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from whp.algorithms.marginalization.elimination_orders import EliminationOrder, elimination_order
from whp.theory.foundations.bayesian_networks import DiscreteFactor

__all__ = ["Contraction", "EliminationPlan", "Operand", "WeightSlot", "compile_elimination", "conditioned"]

FloatArray = NDArray[np.float64]
#: Where a dynamic value lives: (slot, member).
Place = tuple[int, int]
#: Products of tables whose positive entries span more than e**300 are left to the logarithmic engine.
WIDEST_LOG_RANGE = 300.0


@dataclass(frozen=True)
class WeightSlot:
    """Evidence weights of the variables that share a cardinality, stacked in one array.

    Attributes
    ----------
    variables : tuple of str
        The members, in order.
    cardinality : int
        Their number of states.
    given : bool
        Whether weights arrive with the query; otherwise they are ones and serve to read off marginals.
    """

    variables: tuple[str, ...]
    cardinality: int
    given: bool


@dataclass(frozen=True)
class Operand:
    """One incoming message of each member of a contraction.

    Attributes
    ----------
    places : tuple of (slot, member)
        Where each member's message lives.
    slots : tuple of int
        The different slots among them.
    plain : bool
        Whether the messages enter the product as they are, without transposition or added axes.
    run : slice or None
        Set when the messages are consecutive members of one slot, which then needs no copy.
    axes : tuple of int
        Order in which the message's scope axes enter the product.
    positions : tuple of int
        The product axes they become.
    shape : tuple of int
        Shape of the message inside the product's axes (1 where it does not depend on an axis).
    """

    places: tuple[Place, ...]
    slots: tuple[int, ...]
    plain: bool
    run: slice | None
    axes: tuple[int, ...]
    positions: tuple[int, ...]
    shape: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Contraction:
    """Eliminations of equal shape at equal depth, run as one stacked matrix product.

    Attributes
    ----------
    variables : tuple of str
        The variable each member sums out; empty names for the closing product.
    out_scopes : tuple of tuple of str
        The variables its outgoing message depends on, in the order of its axes.
    table : ndarray or None, shape (members, a, l, k)
        Conditional tables of the bucket, largest entry scaled to one.
    log_table : ndarray or None
        Its logarithm, computed without underflow.
    operands : tuple of Operand
        The incoming messages.
    product_shape : tuple of int
        Axes ``A ..., v, R ...`` of the product of the messages.
    split : tuple of three int
        The sizes ``(a, k, r)`` those axes flatten to.
    out_shape : tuple of int
        Scope axes of the outgoing message.
    slot : int
        Where the outgoing messages go.
    log_smallest : float
        Logarithm of the smallest positive entry of ``table``.
    log_growth : float
        Bound on the logarithm by which a sum exceeds the largest entry of the product.
    """

    variables: tuple[str, ...]
    out_scopes: tuple[tuple[str, ...], ...]
    table: FloatArray | None
    log_table: FloatArray | None
    operands: tuple[Operand, ...]
    product_shape: tuple[int, ...]
    split: tuple[int, int, int]
    out_shape: tuple[int, ...]
    slot: int
    log_smallest: float
    log_growth: float


@dataclass(frozen=True, eq=False)
class EliminationPlan:
    """A compiled elimination; see the module's description.

    Attributes
    ----------
    targets : tuple of str
        Variables that stay, in this order, as axes of the result.
    weight_slots : tuple of WeightSlot
        The first slots of the value store.
    contractions : tuple of Contraction
        In an order in which every message is ready when needed; the last one gives the result.
    n_slots : int
        Size of the value store.
    spent_slots : tuple of tuple of int
        For each contraction, the slots nobody reads after it.
    log_constant : float
        Logarithm of the factor taken out of the tables.
    wide : bool
        Whether products of tables span more than ``e**300``, so that only the logarithmic engine is sound.
    order : EliminationOrder
        The elimination order and its price.
    entries_per_row : int
        Entries of all messages together, for one row of a batch.
    target_axes : tuple of int
        Order that brings the axes of the last message into the order of ``targets``.
    """

    targets: tuple[str, ...]
    weight_slots: tuple[WeightSlot, ...]
    contractions: tuple[Contraction, ...]
    n_slots: int
    spent_slots: tuple[tuple[int, ...], ...]
    log_constant: float
    wide: bool
    order: EliminationOrder
    entries_per_row: int
    target_axes: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class _Table:
    """A product of conditional tables, scaled to largest entry one, with the logarithm of what was taken out."""

    scope: tuple[str, ...]
    values: FloatArray
    logs: FloatArray
    log_scale: float
    span: float  # log(largest / smallest positive entry), an upper bound kept through products and sums


@dataclass(frozen=True)
class _Message:
    scope: tuple[str, ...]
    step: int  # index of the step that sends it, or -1 for evidence weights
    depth: int


@dataclass(frozen=True, eq=False)
class _Step:
    variable: str
    table: _Table | None
    incoming: tuple[_Message, ...]
    shared: tuple[str, ...]
    left: tuple[str, ...]
    right: tuple[str, ...]
    depth: int

    @property
    def out_scope(self) -> tuple[str, ...]:
        return self.shared + self.left + self.right


def compile_elimination(
    factors: Sequence[DiscreteFactor],
    cardinalities: Mapping[str, int],
    targets: Sequence[str] = (),
    weighted: Sequence[str] = (),
    tracked: Sequence[str] = (),
    max_table_entries: int = 2**26,
) -> EliminationPlan:
    """Compile the elimination of all variables but the targets.

    Parameters
    ----------
    factors : sequence of DiscreteFactor
        Their product is the (possibly unnormalised) distribution.
    cardinalities : mapping from str to int
        All variables with their number of states.
    targets : sequence of str, optional
        Variables to keep as one joint table.
    weighted : sequence of str, optional
        Variables that receive evidence weights with each query.
    tracked : sequence of str, optional
        Variables without evidence whose marginals the backward pass shall return.
    max_table_entries : int, optional
        Passed to `elimination_order`.

    Returns
    -------
    EliminationPlan
        Ready for `batched_elimination.run_forward`.

    Raises
    ------
    TreewidthError
        If a table would be too large.
    """
    order = elimination_order([f.scope for f in factors], cardinalities, targets, max_table_entries)
    builder = _PlanBuilder(factors, cardinalities, weighted, tracked)
    for variable in order.variables:
        builder.eliminate(variable)
    return builder.finish(tuple(targets), order)


def conditioned(factors: Sequence[DiscreteFactor], hard: Mapping[str, int]) -> list[DiscreteFactor]:
    """Factors cut down to observed states, which removes the observed variables from their scopes.

    Parameters
    ----------
    factors : sequence of DiscreteFactor
        The factors.
    hard : mapping from str to int
        State numbers of the observed variables.
    """
    return [
        DiscreteFactor(
            [name for name in factor.scope if name not in hard],
            factor.table[tuple(hard.get(name, slice(None)) for name in factor.scope)],
        )
        for factor in factors
    ]


class _PlanBuilder:
    """Symbolic run of bucket elimination that records steps instead of computing dynamic messages."""

    def __init__(
        self,
        factors: Sequence[DiscreteFactor],
        cardinalities: Mapping[str, int],
        weighted: Sequence[str],
        tracked: Sequence[str],
    ) -> None:
        self.cardinalities = cardinalities
        self.tables = [_as_table(factor) for factor in factors]
        self.weight_slots, self.weight_place = _weight_slots(cardinalities, weighted, tracked)
        self.messages = [_Message((name,), -1, 0) for name in self.weight_place]
        self.steps: list[_Step] = []
        self.log_constant = 0.0
        self.wide = False
        self._by_variable: dict[str, dict[int, _Table | _Message]] = {name: {} for name in cardinalities}
        self._loose: list[_Table | _Message] = []
        for table in self.tables:
            self._file(table)
        for message in self.messages:
            self._file(message)

    def _file(self, item: _Table | _Message) -> None:
        if not item.scope:
            self._loose.append(item)
        for name in item.scope:
            self._by_variable[name][id(item)] = item

    def _take(self, variable: str) -> tuple[_Table | None, tuple[_Message, ...]]:
        bucket = list(self._by_variable.pop(variable).values())
        for item in bucket:
            for name in item.scope:
                if name != variable:
                    del self._by_variable[name][id(item)]
        return self._split(bucket)

    def _split(self, bucket: Sequence[_Table | _Message]) -> tuple[_Table | None, tuple[_Message, ...]]:
        tables = [item for item in bucket if isinstance(item, _Table)]
        messages = tuple(item for item in bucket if isinstance(item, _Message))
        table = None
        for other in tables:
            table = other if table is None else _multiplied(table, other)
        if table is not None:
            self.wide |= table.span > WIDEST_LOG_RANGE
        return table, messages

    def eliminate(self, variable: str) -> None:
        table, messages = self._take(variable)
        if messages:
            self._file(self._record(variable, table, messages))
        elif table is not None:
            self._file(_summed(table, variable))
        else:  # a variable in no factor and without evidence: its sum is its number of states
            self.log_constant += float(np.log(self.cardinalities[variable]))

    def _record(self, variable: str, table: _Table | None, messages: tuple[_Message, ...]) -> _Message:
        table_scope = table.scope if table else ()
        product_scope = tuple(dict.fromkeys(name for message in messages for name in message.scope))
        shared = tuple(name for name in product_scope if name in table_scope and name != variable)
        left = tuple(name for name in table_scope if name not in product_scope and name != variable)
        right = tuple(name for name in product_scope if name not in table_scope and name != variable)
        depth = 1 + max(message.depth for message in messages)
        if table:
            self.log_constant += table.log_scale
        step = _Step(variable, table, messages, shared, left, right, depth)
        self.steps.append(step)
        return _Message(step.out_scope, len(self.steps) - 1, depth)

    def finish(self, targets: tuple[str, ...], order: EliminationOrder) -> EliminationPlan:
        """Add the closing product, group equal steps of equal depth, and lay the messages out in slots."""
        held = {key: item for items in self._by_variable.values() for key, item in items.items()}
        rest = [*self._loose, *held.values()]
        table, messages = self._split(rest)
        missing = tuple(t for t in targets if not any(t in item.scope for item in rest))
        for name in missing:  # a target in no factor is uniform before evidence
            flat = _as_table(DiscreteFactor((name,), np.ones(self.cardinalities[name])))
            table = flat if table is None else _multiplied(table, flat)
        if not messages:
            messages = (_Message((), -1, 0),)  # the empty product, so that every plan has a dynamic end
        self._record("", table, messages)
        contractions, n_slots = self._grouped()
        end = self.steps[-1].out_scope
        return EliminationPlan(
            targets=targets,
            weight_slots=self.weight_slots,
            contractions=contractions,
            n_slots=n_slots,
            spent_slots=_spent_slots(contractions),
            log_constant=self.log_constant,
            wide=self.wide,
            order=order,
            entries_per_row=sum(prod(c.product_shape) * len(c.variables) for c in contractions),
            target_axes=tuple(end.index(name) for name in targets),
        )

    def _grouped(self) -> tuple[tuple[Contraction, ...], int]:
        groups: dict[object, list[int]] = {}
        for index, step in enumerate(self.steps):
            groups.setdefault((step.depth, self._signature(step)), []).append(index)
        ordered = sorted(groups.values(), key=lambda members: (self.steps[members[0]].depth, members[0]))
        last = len(self.steps) - 1
        ordered.sort(key=lambda members: last in members)  # the closing product comes last whatever its depth
        self._line_up(ordered)
        places: dict[int, Place] = {}
        first_slot = len(self.weight_slots) + 1  # one more slot holds the empty product
        contractions = []
        for number, members in enumerate(ordered):
            slot = first_slot + number
            places.update({index: (slot, g) for g, index in enumerate(members)})
            contractions.append(self._contraction([self.steps[i] for i in members], places, slot))
        return tuple(contractions), first_slot + len(ordered)

    def _line_up(self, groups: list[list[int]]) -> None:
        """Order the members of each group, and the weights, as their readers want them: runs need no copy."""
        rank: dict[object, tuple[int, int, int]] = {}
        for number in reversed(range(len(groups))):
            members = groups[number]
            members.sort(key=lambda index: rank.get(index, (0, 0, 0)))
            for position, index in enumerate(members):
                for j, message in enumerate(self.steps[index].incoming):
                    rank[message.step if message.step >= 0 else message.scope] = (number, j, position)
        slots = []
        for slot, group in enumerate(self.weight_slots):
            names = tuple(sorted(group.variables, key=lambda name: rank.get((name,), (0, 0, 0))))
            self.weight_place.update({name: (slot, g) for g, name in enumerate(names)})
            slots.append(WeightSlot(names, group.cardinality, group.given))
        self.weight_slots = tuple(slots)

    def _product_axes(self, step: _Step) -> tuple[str, ...]:
        return (*step.shared, step.variable, *step.right)

    def _shape(self, names: Sequence[str]) -> tuple[int, ...]:
        return tuple(self.cardinalities[name] if name else 1 for name in names)

    def _signature(self, step: _Step) -> object:
        axes = self._product_axes(step)
        table_shape = step.table and self._shape((*step.shared, *step.left, step.variable))
        pattern = tuple(tuple(axes.index(name) for name in message.scope) for message in step.incoming)
        return step.variable == "", len(step.shared), table_shape, self._shape(axes), pattern

    def _place(self, message: _Message, places: Mapping[int, Place]) -> Place:
        if message.step >= 0:
            return places[message.step]
        return self.weight_place[message.scope[0]] if message.scope else (len(self.weight_slots), 0)

    def _contraction(self, steps: Sequence[_Step], places: Mapping[int, Place], slot: int) -> Contraction:
        first = steps[0]
        axes = self._product_axes(first)
        shape = self._shape(axes)
        a, k, r = (prod(self._shape(names)) for names in (first.shared, (first.variable,), first.right))
        operands = tuple(
            self._operand([step.incoming[j] for step in steps], message.scope, axes, shape, places)
            for j, message in enumerate(first.incoming)
        )
        tables = [self._laid_out(step) for step in steps if step.table]
        values = np.stack([table for table, _ in tables]) if tables else None
        logs = np.stack([table for _, table in tables]) if tables else None
        positive = values[values > 0] if values is not None else np.ones(1)
        return Contraction(
            variables=tuple(step.variable for step in steps),
            out_scopes=tuple(step.out_scope for step in steps),
            table=values,
            log_table=logs,
            operands=operands,
            product_shape=shape,
            split=(a, k, r),
            out_shape=self._shape(first.out_scope),
            slot=slot,
            log_smallest=float(np.log(positive.min())) if positive.size else 0.0,
            log_growth=float(np.log(k)) + 1.0,
        )

    def _laid_out(self, step: _Step) -> tuple[FloatArray, FloatArray]:
        table = step.table
        assert table is not None  # only called for steps that have one
        names = (*step.shared, *step.left, step.variable)
        a, left, k = (prod(self._shape(part)) for part in (step.shared, step.left, (step.variable,)))
        order = [table.scope.index(name) for name in names if name]
        return (
            np.ascontiguousarray(table.values.transpose(order)).reshape(a, left, k),
            np.ascontiguousarray(table.logs.transpose(order)).reshape(a, left, k),
        )

    def _operand(
        self,
        messages: Sequence[_Message],
        scope: tuple[str, ...],
        axes: tuple[str, ...],
        shape: tuple[int, ...],
        places: Mapping[int, Place],
    ) -> Operand:
        where = tuple(self._place(message, places) for message in messages)
        position = [axes.index(name) for name in scope]
        order = tuple(int(i) for i in np.argsort(position))
        inside = tuple(size if i in position else 1 for i, size in enumerate(shape))
        slots = tuple(sorted({slot for slot, _ in where}))
        plain = position == list(range(len(axes)))
        return Operand(where, slots, plain, _run_of(where), order, tuple(sorted(position)), inside)


def _spent_slots(contractions: Sequence[Contraction]) -> tuple[tuple[int, ...], ...]:
    last_reader = {slot: i for i, step in enumerate(contractions) for o in step.operands for slot, _ in o.places}
    return tuple(tuple(s for s, reader in last_reader.items() if reader == i) for i in range(len(contractions)))


def _run_of(places: Sequence[Place]) -> slice | None:
    slots = {slot for slot, _ in places}
    members = [member for _, member in places]
    if len(slots) == 1 and members == list(range(members[0], members[0] + len(members))):
        return slice(members[0], members[0] + len(members))
    return None


def _weight_slots(
    cardinalities: Mapping[str, int], weighted: Sequence[str], tracked: Sequence[str]
) -> tuple[tuple[WeightSlot, ...], dict[str, Place]]:
    slots: list[WeightSlot] = []
    place: dict[str, Place] = {}
    for given, names in ((True, weighted), (False, [name for name in tracked if name not in set(weighted)])):
        by_size: dict[int, list[str]] = {}
        for name in dict.fromkeys(names):
            by_size.setdefault(cardinalities[name], []).append(name)
        for size, members in by_size.items():
            place.update({name: (len(slots), g) for g, name in enumerate(members)})
            slots.append(WeightSlot(tuple(members), size, given))
    return tuple(slots), place


def _as_table(factor: DiscreteFactor) -> _Table:
    return _scaled(factor.scope, factor.table, _logs(factor.table), 0.0)


def _logs(values: FloatArray) -> FloatArray:
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(values))


def _scaled(scope: tuple[str, ...], values: FloatArray, logs: FloatArray, log_scale: float) -> _Table:
    """Divide by a power of two near the largest entry, which is exact, and note the span of the positive entries."""
    finite = logs[np.isfinite(logs)]
    if finite.size == 0:
        return _Table(scope, np.zeros_like(values), logs, log_scale, 0.0)
    top = float(finite.max())
    exponent = round(top / np.log(2.0))
    shift = exponent * float(np.log(2.0))
    return _Table(scope, np.ldexp(values, -exponent), logs - shift, log_scale + shift, top - float(finite.min()))


def _multiplied(one: _Table, other: _Table) -> _Table:
    scope = (*one.scope, *(name for name in other.scope if name not in one.scope))
    values = _aligned(one.values, one.scope, scope) * _aligned(other.values, other.scope, scope)
    logs = _aligned(one.logs, one.scope, scope) + _aligned(other.logs, other.scope, scope)
    product = _scaled(scope, values, logs, one.log_scale + other.log_scale)
    return _Table(scope, product.values, product.logs, product.log_scale, one.span + other.span)


def _summed(table: _Table, variable: str) -> _Table:
    axis = table.scope.index(variable)
    scope = tuple(name for name in table.scope if name != variable)
    total = _scaled(scope, table.values.sum(axis=axis), np.logaddexp.reduce(table.logs, axis=axis), table.log_scale)
    return _Table(scope, total.values, total.logs, total.log_scale, table.span)


def _aligned(values: FloatArray, scope: tuple[str, ...], target: tuple[str, ...]) -> FloatArray:
    order = sorted(range(len(scope)), key=lambda i: target.index(scope[i]))
    shape = [values.shape[scope.index(name)] if name in scope else 1 for name in target]
    return values.transpose(order).reshape(shape)
