"""Run a compiled elimination on batches of evidence weights: sums forward, marginals backward, maxima with traceback.

Two engines share the plan. The linear one multiplies float64 messages and keeps a bound on the range of their positive
entries; before that range could reach underflow it measures the messages and rescales every row by its largest
entry. A row whose own entries span more than ``e**300`` is handed to the logarithmic engine, which has no
range limits. So a sum of zero always means that the sum is exactly zero.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from whp.algorithms.marginalization.elimination_plans import Contraction, EliminationPlan, Operand

__all__ = ["LogForward", "log_partition", "most_probable_states", "single_marginals", "target_tables"]

FloatArray = NDArray[np.float64]
#: Measure and rescale before positive entries could leave [e**-650, e**650] (float64 ends near e**-708, e**709).
_SAFE = 650.0
_RESCALE = 200.0
#: Rows whose positive entries span more than this after a rescale go to the logarithmic engine.
_WIDE = 300.0
#: Messages of one chunk of a batch stay below this many float64 numbers.
_CHUNK_ENTRIES = 2**24


@dataclass(eq=False)
class LogForward:
    """Result of a forward pass.

    Attributes
    ----------
    table : ndarray, shape (target states ..., batch)
        Result over the targets, up to a positive factor per row.
    log_scale : ndarray, shape (batch,)
        Natural logarithm of that factor.
    """

    table: FloatArray
    log_scale: FloatArray


#: An array with bounds on the logarithms of its positive entries.
_Ranged = tuple[FloatArray, float, float]


@dataclass(eq=False)
class _Run:
    """State of one linear pass."""

    batch: int
    slots: list[FloatArray | None]
    low: list[float]  # lower bound on the logarithm of positive entries, per slot
    high: list[float]
    log_scale: FloatArray
    wide_rows: NDArray[np.bool_]


def log_partition(plan: EliminationPlan, weights: Mapping[str, FloatArray], batch: int) -> FloatArray:
    """Logarithms of ``N(weights)`` for each row of a batch.

    Parameters
    ----------
    plan : EliminationPlan
        Compiled without targets.
    weights : mapping from str to ndarray of shape (batch, states) or (states,)
        Non-negative finite weights of the plan's weighted variables.
    batch : int
        Number of rows.

    Returns
    -------
    ndarray, shape (batch,)
        ``-inf`` exactly where the sum is zero.
    """
    forward = target_tables(plan, weights, batch)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(forward.table) + forward.log_scale)


def target_tables(plan: EliminationPlan, weights: Mapping[str, FloatArray], batch: int) -> LogForward:
    """Joint weights of the plan's targets for each row, scaled per row.

    Parameters are those of `log_partition`; the plan may have targets.
    """
    pieces = [_target_tables_chunk(plan, part, size) for part, size in _chunks(plan, weights, batch)]
    if len(pieces) == 1:
        return pieces[0]
    return LogForward(
        np.concatenate([piece.table for piece in pieces], axis=-1),
        np.concatenate([piece.log_scale for piece in pieces]),
    )


def single_marginals(
    plan: EliminationPlan, weights: Mapping[str, FloatArray], batch: int
) -> tuple[FloatArray, dict[str, FloatArray]]:
    """All single marginals of the weighted and tracked variables by one forward and one backward pass.

    Returns
    -------
    log_partition : ndarray, shape (batch,)
        As `log_partition`.
    marginals : dict from str to ndarray of shape (batch, states)
        Rows sum to one; rows of zero total weight hold zeros.
    """
    totals, parts = [], []
    for part, size in _chunks(plan, weights, batch):
        total, marginals = _single_marginals_chunk(plan, part, size)
        totals.append(total)
        parts.append(marginals)
    return np.concatenate(totals), {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _chunks(
    plan: EliminationPlan, weights: Mapping[str, FloatArray], batch: int
) -> list[tuple[Mapping[str, FloatArray], int]]:
    size = max(1, min(batch, _CHUNK_ENTRIES // max(1, plan.entries_per_row)))
    if size >= batch:
        return [(weights, batch)]
    return [
        (
            {name: w if w.ndim == 1 else w[start : start + size] for name, w in weights.items()},
            min(size, batch - start),
        )
        for start in range(0, batch, size)
    ]


# ---- linear engine -------------------------------------------------------------------------------------------------


def _target_tables_chunk(plan: EliminationPlan, weights: Mapping[str, FloatArray], batch: int) -> LogForward:
    if plan.wide:
        return _log_target_tables(plan, weights, batch)
    run = _linear_forward(plan, weights, batch, keep=False)
    result = LogForward(_result(plan, run), run.log_scale + plan.log_constant)
    rows = np.flatnonzero(run.wide_rows)
    if rows.size:
        exact = _log_target_tables(plan, _rows_of(weights, rows), rows.size)
        result.table[..., rows] = exact.table
        result.log_scale[rows] = exact.log_scale
    return result


def _rows_of(weights: Mapping[str, FloatArray], rows: NDArray[np.intp]) -> dict[str, FloatArray]:
    return {name: w if w.ndim == 1 else w[rows] for name, w in weights.items()}


def _result(plan: EliminationPlan, run: _Run) -> FloatArray:
    last = run.slots[plan.contractions[-1].slot]
    assert last is not None
    axes = (*plan.target_axes, len(plan.target_axes))
    table = np.broadcast_to(last[0].transpose(axes), (*(last[0].shape[i] for i in plan.target_axes), run.batch))
    return np.array(table)


def _empty_run(plan: EliminationPlan, batch: int) -> _Run:
    n = plan.n_slots
    return _Run(batch, [None] * n, [0.0] * n, [0.0] * n, np.zeros(batch), np.zeros(batch, dtype=bool))


def _start(plan: EliminationPlan, weights: Mapping[str, FloatArray], batch: int) -> _Run:
    run = _empty_run(plan, batch)
    for slot, group in enumerate(plan.weight_slots):
        if group.given:
            run.slots[slot] = _stacked(group.variables, weights, batch)
            _watch(run, slot, np.inf, np.inf)
        else:
            run.slots[slot] = np.ones((len(group.variables), group.cardinality, 1))
    run.slots[len(plan.weight_slots)] = np.ones((1, 1))
    return run


def _stacked(names: tuple[str, ...], weights: Mapping[str, FloatArray], batch: int) -> FloatArray:
    """Weights of the members, shape (members, states, batch or 1), checked to be finite and non-negative."""
    arrays = [weights[name] for name in names]
    if all(array.ndim == 1 for array in arrays):
        full = np.stack(arrays)[:, :, None]
    else:
        full = np.empty((len(arrays), arrays[0].shape[-1], batch))
        for g, array in enumerate(arrays):
            full[g] = array[:, None] if array.ndim == 1 else array.T
    if not (full.min(initial=0.0) >= 0.0 and full.max(initial=0.0) < np.inf):
        g, state, row = (int(i) for i in np.argwhere(~(np.isfinite(full) & (full >= 0)))[0])
        raise ValueError(
            f"evidence weights must be finite and non-negative, got {float(full[g, state, row])!r} for state {state} "
            f"of {names[g]!r}" + (f" in row {row}" if full.shape[-1] > 1 else "")
        )
    return full


def _watch(run: _Run, slot: int, low: float, high: float) -> None:
    """Note the range of a new value; measure and rescale it when the bound is no longer comfortable."""
    if abs(low) <= _RESCALE and abs(high) <= _RESCALE:
        run.low[slot], run.high[slot] = low, high
        return
    value = run.slots[slot]
    assert value is not None
    smallest, largest = _positive_range(value)
    if smallest > -_RESCALE / 2 and largest < _RESCALE / 2:
        run.low[slot], run.high[slot] = smallest, largest
        return
    run.slots[slot], run.low[slot] = _rescaled(run, value)
    run.high[slot] = 0.0


def _positive_range(value: FloatArray) -> tuple[float, float]:
    largest = float(value.max(initial=0.0))
    if largest == 0.0:
        return 0.0, 0.0
    smallest = float(value.min())
    if smallest <= 0.0:
        # Bits of non-negative floats sort like the floats; subtracting one sends zero to the end.
        bits = np.min(value.view(np.uint64) - np.uint64(1)) + np.uint64(1)
        smallest = float(bits.view(np.float64))
    return float(np.log(smallest)), float(np.log(largest))


def _row_scales(value: FloatArray) -> FloatArray:
    """Largest entry over the scope axes, shape (members, batch); one where a row is all zero."""
    scale = value.max(axis=tuple(range(1, value.ndim - 1))) if value.ndim > 2 else value.copy()
    scale[scale == 0.0] = 1.0
    return scale


def _rescaled(run: _Run, value: FloatArray) -> tuple[FloatArray, float]:
    """Divide every row by its largest entry; rows whose entries span too much are marked and filled with ones."""
    scale = _row_scales(value)
    lifted = (scale.shape[0],) + (1,) * (value.ndim - 2) + (scale.shape[1],)
    scaled = value / scale.reshape(lifted)
    run.log_scale = run.log_scale + np.log(scale).sum(axis=0)
    # The division itself may underflow, so the range is bounded before it.
    if _positive_range(value)[0] - float(np.log(scale.max(initial=1.0))) < -_WIDE:
        lost = (value > 0) & (scaled < np.exp(-_WIDE))
        bad = lost.any(axis=tuple(range(value.ndim - 1)))  # (batch or 1,)
        run.wide_rows |= bad
        scaled = np.where(bad, 1.0, scaled)
    low, _ = _positive_range(scaled)
    return scaled, low


def _gathered(operand: Operand, slots: list[FloatArray | None]) -> FloatArray:
    """The operand of every member, shape (members, product axes ..., batch or 1)."""
    if operand.run is not None:
        source = slots[operand.places[0][0]]
        assert source is not None
        value = source[operand.run]
    else:
        parts = []
        for slot, member in operand.places:
            source = slots[slot]
            assert source is not None
            parts.append(source[member])
        width = max(part.shape[-1] for part in parts)
        value = np.empty((len(parts), *parts[0].shape[:-1], width))
        for g, part in enumerate(parts):
            value[g] = part
    if operand.plain:
        return value
    order = (0, *(axis + 1 for axis in operand.axes), len(operand.axes) + 1)
    return value.transpose(order).reshape(value.shape[0], *operand.shape, value.shape[-1])


def _product(run: _Run, step: Contraction) -> _Ranged:
    product: _Ranged = (_gathered(step.operands[0], run.slots), *_bounds(run, step.operands[0]))
    for operand in step.operands[1:]:
        product = _ranged_product(run, product, (_gathered(operand, run.slots), *_bounds(run, operand)))
    return product


def _bounds(run: _Run, operand: Operand) -> tuple[float, float]:
    if len(operand.slots) == 1:
        return run.low[operand.slots[0]], run.high[operand.slots[0]]
    return min(run.low[slot] for slot in operand.slots), max(run.high[slot] for slot in operand.slots)


def _linear_forward(plan: EliminationPlan, weights: Mapping[str, FloatArray], batch: int, *, keep: bool) -> _Run:
    run = _start(plan, weights, batch)
    for step, spent in zip(plan.contractions, plan.spent_slots, strict=True):
        product, low, high = _product(run, step)
        if not keep:
            for slot in spent:
                run.slots[slot] = None
        if low + step.log_smallest < -_SAFE:
            product, low = _rescaled(run, product)
            high = 0.0
        run.slots[step.slot] = _contracted(step, product)
        _watch(run, step.slot, low + step.log_smallest, high + step.log_growth)
    return run


def _contracted(step: Contraction, product: FloatArray) -> FloatArray:
    members, batch = product.shape[0], product.shape[-1]
    a, k, r = step.split
    if step.table is None:
        out = product.reshape(members, a, k, r * batch).sum(axis=2)
    else:
        # Three axes, not four: numpy's matmul leaves BLAS when it has two stacking axes.
        stacked = step.table.reshape(members * a, -1, k)
        out = np.matmul(stacked, product.reshape(members * a, k, r * batch))  # (members * a, l, r * batch)
    return np.asarray(out).reshape(members, *step.out_shape, batch)


def _single_marginals_chunk(
    plan: EliminationPlan, weights: Mapping[str, FloatArray], batch: int
) -> tuple[FloatArray, dict[str, FloatArray]]:
    if plan.wide:
        return _log_single_marginals(plan, weights, batch)
    run = _linear_forward(plan, weights, batch, keep=True)
    with np.errstate(divide="ignore"):
        total = np.log(_result(plan, run)) + run.log_scale + plan.log_constant
    marginals, wide = _linear_backward(plan, run)
    rows = np.flatnonzero(run.wide_rows | wide)
    if rows.size:
        total[rows], exact = _log_single_marginals(plan, _rows_of(weights, rows), rows.size)
        for name, value in exact.items():
            marginals[name][rows] = value
    return total, marginals


def _linear_backward(plan: EliminationPlan, run: _Run) -> tuple[dict[str, FloatArray], NDArray[np.bool_]]:
    """Adjoints of all messages, each scaled per row as convenient: a message is used once, so scales never mix."""
    adjoint = _empty_run(plan, run.batch)
    for slot in range(plan.n_slots):
        value = run.slots[slot]
        if value is not None:
            adjoint.slots[slot] = np.empty((*value.shape[:-1], run.batch))
    last = adjoint.slots[plan.contractions[-1].slot]
    assert last is not None
    last[...] = 1.0
    for step in reversed(plan.contractions):
        _push_back(run, adjoint, step)
    marginals: dict[str, FloatArray] = {}
    for slot, group in enumerate(plan.weight_slots):
        value, back = run.slots[slot], adjoint.slots[slot]
        assert value is not None and back is not None
        belief = value * back  # (members, states, batch); T8: w_i dN/dw_i, up to the row's scale
        totals = belief.sum(axis=1, keepdims=True)
        belief /= np.where(totals > 0, totals, 1.0)
        for g, name in enumerate(group.variables):
            marginals[name] = np.ascontiguousarray(belief[g].T)
    return marginals, adjoint.wide_rows


def _left_size(step: Contraction) -> int:
    """Entries of the axes that only the table has."""
    return 1 if step.table is None else step.table.shape[2]


def _push_back(run: _Run, adjoint: _Run, step: Contraction) -> None:
    out = adjoint.slots[step.slot]
    assert out is not None
    members, left = out.shape[0], _left_size(step)
    a, k, r = step.split
    if step.table is None:
        back = np.broadcast_to(out.reshape(members, a, 1, r * run.batch), (members, a, k, r * run.batch))
    else:
        turned = step.table.reshape(members * a, -1, k).transpose(0, 2, 1)
        back = np.matmul(turned, out.reshape(members * a, left, r * run.batch))
    back = back.reshape(members, *step.product_shape, run.batch)
    low = adjoint.low[step.slot] + step.log_smallest
    high = adjoint.high[step.slot] + float(np.log(left)) + 1.0
    for operand, (share, floor, top) in zip(
        reversed(step.operands), _left_out_products(run, adjoint, step, (back, low, high)), strict=True
    ):
        extra = tuple(i + 1 for i in range(len(operand.shape)) if i not in operand.positions)
        if extra:
            top += float(np.log(np.prod([step.product_shape[i - 1] for i in extra])))
            share = share.sum(axis=extra)
        if floor < -_RESCALE or top > _RESCALE:
            share, floor = _rescaled(adjoint, share)
            top = 0.0
        _scattered(adjoint, operand, share, floor, top)


def _left_out_products(run: _Run, adjoint: _Run, step: Contraction, back: _Ranged) -> Iterator[_Ranged]:
    """For each operand, last to first, the adjoint of the product times all other operands (prefixes and suffixes)."""
    factors = [(_gathered(operand, run.slots), *_bounds(run, operand)) for operand in step.operands]
    prefixes: list[_Ranged] = []
    for factor in factors[:-1]:
        prefixes.append(_ranged_product(adjoint, prefixes[-1], factor) if prefixes else factor)
    suffix = back
    for index in reversed(range(len(factors))):
        yield _ranged_product(adjoint, suffix, prefixes[index - 1]) if index else suffix
        if index:
            suffix = _ranged_product(adjoint, suffix, factors[index])


def _ranged_product(run: _Run, one: _Ranged, other: _Ranged) -> _Ranged:
    """Product of two arrays with known ranges, rescaled beforehand where the product could leave float64."""
    value, low, high = one
    factor, more_low, more_high = other
    if low + more_low < -_SAFE or high + more_high > _SAFE:
        value, low = _rescaled(run, value)
        high = 0.0
    if low + more_low < -_SAFE or high + more_high > _SAFE:
        factor, more_low = _rescaled(run, factor)
        more_high = 0.0
    return value * factor, low + more_low, high + more_high


def _scattered(adjoint: _Run, operand: Operand, share: FloatArray, floor: float, top: float) -> None:
    """Write the adjoints of an operand, shape (members, scope in product order ..., batch), where its messages live."""
    inverse = np.argsort(operand.axes)
    value = share.transpose(0, *(int(i) + 1 for i in inverse), share.ndim - 1)
    for g, (slot, member) in enumerate(operand.places):
        target = adjoint.slots[slot]
        assert target is not None
        target[member] = value[g]
        adjoint.low[slot] = min(adjoint.low[slot], floor)
        adjoint.high[slot] = max(adjoint.high[slot], top)


# ---- logarithmic engine --------------------------------------------------------------------------------------------


def _log_start(plan: EliminationPlan, weights: Mapping[str, FloatArray], batch: int) -> list[FloatArray | None]:
    slots: list[FloatArray | None] = [None] * plan.n_slots
    for slot, group in enumerate(plan.weight_slots):
        if group.given:
            with np.errstate(divide="ignore"):
                slots[slot] = np.log(_stacked(group.variables, weights, batch))
        else:
            slots[slot] = np.zeros((len(group.variables), group.cardinality, 1))
    slots[len(plan.weight_slots)] = np.zeros((1, 1))
    return slots


def _log_product(step: Contraction, slots: list[FloatArray | None]) -> FloatArray:
    value = _gathered(step.operands[0], slots)
    for operand in step.operands[1:]:
        value = value + _gathered(operand, slots)
    return value


def _log_terms(step: Contraction, product: FloatArray) -> FloatArray:
    """Logarithms of all summands of a contraction, shape (members, a, l, k, r * batch)."""
    a, k, r = step.split
    terms = product.reshape(product.shape[0], a, 1, k, r * product.shape[-1])
    return terms if step.log_table is None else step.log_table[..., None] + terms


def _log_sum(values: FloatArray, axis: int | tuple[int, ...]) -> FloatArray:
    top = values.max(axis=axis, keepdims=True)
    top = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.exp(values - top).sum(axis=axis)) + top.squeeze(axis))


def _log_forward(plan: EliminationPlan, weights: Mapping[str, FloatArray], batch: int) -> list[FloatArray | None]:
    slots = _log_start(plan, weights, batch)
    for step in plan.contractions:
        product = _log_product(step, slots)
        out = _log_sum(_log_terms(step, product), axis=3)
        slots[step.slot] = out.reshape(product.shape[0], *step.out_shape, product.shape[-1])
    return slots


def _log_result(plan: EliminationPlan, slots: list[FloatArray | None], batch: int) -> FloatArray:
    last = slots[plan.contractions[-1].slot]
    assert last is not None
    table = last[0].transpose(*plan.target_axes, len(plan.target_axes))
    return np.broadcast_to(table, (*table.shape[:-1], batch))


def _log_target_tables(plan: EliminationPlan, weights: Mapping[str, FloatArray], batch: int) -> LogForward:
    logs = _log_result(plan, _log_forward(plan, weights, batch), batch)
    top = logs.max(axis=tuple(range(logs.ndim - 1))) if logs.ndim > 1 else logs
    top = np.where(np.isfinite(top), top, 0.0)
    return LogForward(np.exp(logs - top), top + plan.log_constant)


def _log_single_marginals(
    plan: EliminationPlan, weights: Mapping[str, FloatArray], batch: int
) -> tuple[FloatArray, dict[str, FloatArray]]:
    slots = _log_forward(plan, weights, batch)
    total = _log_result(plan, slots, batch) + plan.log_constant
    back: list[FloatArray | None] = [None if v is None else np.empty((*v.shape[:-1], batch)) for v in slots]
    last = back[plan.contractions[-1].slot]
    assert last is not None
    last[...] = 0.0
    for step in reversed(plan.contractions):
        _log_push_back(step, slots, back, batch)
    marginals: dict[str, FloatArray] = {}
    for slot, group in enumerate(plan.weight_slots):
        value, adjoint = slots[slot], back[slot]
        assert value is not None and adjoint is not None
        belief = value + adjoint
        belief = np.exp(belief - np.maximum(belief.max(axis=1, keepdims=True), np.finfo(np.float64).min))
        belief /= np.maximum(belief.sum(axis=1, keepdims=True), np.finfo(np.float64).tiny)
        for g, name in enumerate(group.variables):
            marginals[name] = np.ascontiguousarray(belief[g].T)
    return total, marginals


def _log_push_back(
    step: Contraction, slots: list[FloatArray | None], back: list[FloatArray | None], batch: int
) -> None:
    out = back[step.slot]
    assert out is not None
    members = out.shape[0]
    a, k, r = step.split
    adjoint = out.reshape(members, a, _left_size(step), 1, r * batch)
    if step.log_table is None:
        flat = np.broadcast_to(adjoint[:, :, 0], (members, a, k, r * batch))
    else:
        flat = _log_sum(step.log_table[..., None] + adjoint, axis=2)
    whole = flat.reshape(members, *step.product_shape, batch)
    factors = [_gathered(operand, slots) for operand in step.operands]
    prefixes = list(accumulate(factors[:-1], np.add))
    suffix = whole
    for index in reversed(range(len(factors))):
        operand = step.operands[index]
        share = suffix + prefixes[index - 1] if index else suffix
        suffix = suffix + factors[index] if index else suffix
        extra = tuple(i + 1 for i in range(len(operand.shape)) if i not in operand.positions)
        share = _log_sum(share, axis=extra) if extra else share
        value = share.transpose(0, *(int(i) + 1 for i in np.argsort(operand.axes)), share.ndim - 1)
        for g, (slot, member) in enumerate(operand.places):
            target = back[slot]
            assert target is not None
            target[member] = value[g]


# ---- maxima --------------------------------------------------------------------------------------------------------


def most_probable_states(
    plan: EliminationPlan, weights: Mapping[str, FloatArray], batch: int
) -> tuple[dict[str, NDArray[np.int64]], FloatArray]:
    """Most probable full assignment of each row, by maximisation in the logarithm and traceback.

    Parameters
    ----------
    plan : EliminationPlan
        Compiled without targets and with every variable weighted or tracked, so that no sum is taken beforehand.
    weights : mapping from str to ndarray
        As in `log_partition`.
    batch : int
        Number of rows.

    Returns
    -------
    states : dict from str to ndarray of int64, shape (batch,)
        State numbers; among equally probable assignments, one of them.
    log_weight : ndarray, shape (batch,)
        Logarithm of the weight of that assignment; ``-inf`` if every assignment has weight zero.
    """
    slots = _log_start(plan, weights, batch)
    choices: list[NDArray[np.int64]] = []
    for step in plan.contractions:
        product = _log_product(step, slots)
        terms = _log_terms(step, product)
        shape = (product.shape[0], *step.out_shape, product.shape[-1])
        choices.append(terms.argmax(axis=3).reshape(shape))
        slots[step.slot] = terms.max(axis=3).reshape(shape)
    best = _log_result(plan, slots, batch) + plan.log_constant
    return _traced_back(plan, choices, batch), best


def _traced_back(plan: EliminationPlan, choices: list[NDArray[np.int64]], batch: int) -> dict[str, NDArray[np.int64]]:
    states: dict[str, NDArray[np.int64]] = {}
    rows = np.arange(batch)
    for step, choice in zip(reversed(plan.contractions), reversed(choices), strict=True):
        for g, (variable, scope) in enumerate(zip(step.variables, step.out_scopes, strict=True)):
            if variable:
                where = rows if choice.shape[-1] == batch else np.zeros(batch, dtype=np.int64)
                states[variable] = choice[(g, *(states[name] for name in scope), where)]
    return states
