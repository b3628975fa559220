"""Gather the observations of one shard; instances are encoded only when they are kept."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from whp.proofs_checks.engine.evidence.record import (
    KEPT_ERRORS,
    KEPT_VIOLATIONS,
    ClauseRecord,
    Encoded,
    ErrorRecord,
    EventCounts,
    Evidence,
    Extreme,
    Location,
    MeanCounts,
    PhaseCounts,
    RateRow,
    Violation,
    canonical_number,
)
from whp.proofs_checks.engine.evidence.slack_histogram import SlackHistogram, slack_bin


@dataclass
class _ClauseState:
    """What is known of one clause so far."""

    worst_slack: Extreme | None = None
    tightness: Extreme | None = None
    bins: Counter[int] = field(default_factory=Counter)

    def record(self) -> ClauseRecord:
        return ClauseRecord(self.worst_slack, self.tightness, SlackHistogram(tuple(self.bins.items())))


class EvidenceBuilder:
    """Mutable collector behind :class:`Evidence`: building it shard by shard and merging gives the same bytes.

    Parameters
    ----------
    theorem, check : str
        Id of the theorem and name of the check.
    campaign_seed : int
        Seed of the whole campaign.
    budget : str
        Name of the budget.

    Examples
    --------
    >>> builder = EvidenceBuilder("doctest.triangle", "inequality", 0, "quick")
    >>> builder.count("sampled", instances=2)
    >>> builder.slacks("triangle", "sampled", 0, [0.5, 0.0], [1.5, 2.0], [2.0, 2.0], instance_at=[(1, 1), (2, 0)])
    >>> builder.build().clauses["triangle"].worst_slack.instance.decode()
    (2, 0)
    """

    def __init__(self, theorem: str, check: str, campaign_seed: int, budget: str) -> None:
        self._header = (theorem, check, campaign_seed, budget)
        self._phases: defaultdict[str, PhaseCounts] = defaultdict(PhaseCounts)
        self._clauses: defaultdict[str, _ClauseState] = defaultdict(_ClauseState)
        self._events: dict[str, EventCounts] = {}
        self._means: dict[str, MeanCounts] = {}
        self._violations: list[Violation] = []
        self._errors: list[ErrorRecord] = []
        self._rates: defaultdict[str, list[RateRow]] = defaultdict(list)

    def count(
        self,
        phase: str,
        *,
        instances: int = 0,
        vacuous: int = 0,
        violations: int = 0,
        inside_rounding: int = 0,
        errors: int = 0,
        replicates: int = 0,
    ) -> None:
        """Add to the counts of a phase."""
        self._phases[phase] += PhaseCounts(instances, vacuous, violations, inside_rounding, errors, replicates)

    def slack(
        self,
        clause: str,
        location: Location,
        slack: Any,
        left: Any = None,
        right: Any = None,
        *,
        instance: Any,
        scale: Any = None,
    ) -> None:
        """Record the slack of one instance; numbers may be floats, ints or Fractions.

        Parameters
        ----------
        clause : str
            Name of the clause.
        location : Location
            Where the instance was met.
        slack : float, int or Fraction
            Right side minus left side, or the allowed residual minus the residual.
        left, right : float, int or Fraction, optional
            The two sides, for the tightness ratio.
        instance : object
            Encoded only if this slack is the worst so far.
        scale : float, int or Fraction, optional
            Divisor of the relative slack; by default the larger of the two sides in absolute value, else one.
        """
        value = canonical_number(slack, "slack")
        state = self._clauses[clause]
        state.bins[slack_bin(_relative(value, left, right, scale))] += 1
        state.worst_slack = _extreme(state.worst_slack, value, location, lambda: instance, sign=1)
        ratio = _ratio(left, right)
        if ratio is not None:
            state.tightness = _extreme(state.tightness, ratio, location, lambda: instance, sign=-1)

    def slacks(
        self,
        clause: str,
        phase: str,
        block: int,
        slack: Any,
        left: Any = None,
        right: Any = None,
        *,
        instance_at: Callable[[int], Any] | Sequence[Any],
        scale: Any = None,
        first_index: int = 0,
    ) -> None:
        """Record a batch of float slacks; only the extremes are looked at one by one.

        Parameters
        ----------
        clause, phase : str
            Names of clause and phase.
        block : int
            Number of the block.
        slack, left, right, scale : array-like, shape (n,)
            As in :meth:`slack`.
        instance_at : callable or sequence
            Gives instance ``i`` of the batch, asked for the extremes only.
        first_index : int
            Index in the block of the batch's first instance.

        Raises
        ------
        ValueError
            If a slack is nan.
        """
        values = np.asarray(slack, dtype=np.float64)
        if values.ndim != 1:
            raise ValueError(f"slack must be one-dimensional, got shape {values.shape}.")
        if np.isnan(values).any():
            raise ValueError(f"slack must not hold nan, got one at index {int(np.flatnonzero(np.isnan(values))[0])}.")
        if values.size == 0:
            return
        look_up = instance_at if callable(instance_at) else instance_at.__getitem__
        state = self._clauses[clause]

        def extreme(among: Any, current: Extreme | None, sign: int) -> Extreme | None:
            index = int(np.argmin(sign * among))
            where = Location(phase, block, first_index + index)
            return _extreme(current, canonical_number(among[index], clause), where, lambda: look_up(index), sign=sign)

        state.worst_slack = extreme(values, state.worst_slack, 1)
        if left is not None and right is not None:
            ratios = _ratios(np.broadcast_to(np.asarray(left, float), values.shape), np.asarray(right, float))
            if np.isfinite(ratios).any():
                state.tightness = extreme(ratios, state.tightness, -1)
        state.bins.update(dict(SlackHistogram.of(_relatives(values, left, right, scale)).counts))

    def event(self, key: str, instance: Any, delta: Any, replicates: int, events: int) -> None:
        """Add replicates of an event claim on a fixed instance."""
        new = EventCounts(Encoded.of(instance), delta, replicates, events)
        self._events[key] = self._events[key] + new if key in self._events else new

    def mean(
        self, key: str, instance: Any, low: Any, high: Any, claimed: Any, counts: Sequence[int], *, relation: str = "<="
    ) -> None:
        """Add samples of a mean claim on a fixed instance, as counts in equal bins."""
        new = MeanCounts(Encoded.of(instance), low, high, claimed, tuple(counts), relation)
        self._means[key] = self._means[key] + new if key in self._means else new

    def violation(self, location: Location, clause: str, slack: Any, instance: Any, detail: str = "") -> None:
        """Count a violation, and keep it if it is among the first."""
        self.count(location.phase, violations=1)
        if _among_first(location, self._violations, KEPT_VIOLATIONS):
            self._violations.append(Violation(location, clause, slack, Encoded.of(instance), detail))
            self._violations = sorted(self._violations, key=lambda kept: kept._order)[:KEPT_VIOLATIONS]

    def failure(self, location: Location, type: str, message: str, trace: str, instance: Any) -> None:
        """Count a failure of the subject, and keep it if it is among the first."""
        self.count(location.phase, errors=1)
        if _among_first(location, self._errors, KEPT_ERRORS):
            encoded = None if instance is None else Encoded.of(instance)
            self._errors.append(ErrorRecord(location, type, message, trace, encoded))
            self._errors = sorted(self._errors, key=lambda kept: kept._order)[:KEPT_ERRORS]

    def rate(self, name: str, size: int, value: Any, location: Location) -> None:
        """Record one measurement of a quantity at a size."""
        self._rates[name].append(RateRow(size, value, location))

    def build(self) -> Evidence:
        """Return the evidence gathered so far."""
        return Evidence(
            *self._header,
            phases=dict(self._phases),
            clauses={name: state.record() for name, state in self._clauses.items()},
            events=dict(self._events),
            means=dict(self._means),
            violations=tuple(self._violations),
            errors=tuple(self._errors),
            rates={name: tuple(rows) for name, rows in self._rates.items()},
        )


def _extreme(
    current: Extreme | None, value: float | Fraction, location: Location, instance: Callable[[], Any], *, sign: int
) -> Extreme:
    """Return the better of the present extreme and a new value; the instance is encoded only if the new one may win."""
    if current is None:
        return Extreme(value, location, Encoded.of(instance()))
    if sign * value > sign * current.value or (value == current.value and location.order > current.location.order):
        return current
    new = Extreme(value, location, Encoded.of(instance()))
    return min(current, new, key=lambda extreme: (sign * extreme.value, extreme._tie_break))


def _among_first(location: Location, kept: Sequence[Violation] | Sequence[ErrorRecord], most: int) -> bool:
    return len(kept) < most or location.order <= kept[-1].location.order


def _relative(slack: float | Fraction, left: Any, right: Any, scale: Any) -> float:
    """Slack over scale; infinite where the scale is zero."""
    if scale is None:
        scale = 1 if left is None or right is None else max(abs(left), abs(right))
    if isinstance(slack, Fraction) and scale != 0:
        return _nearest(slack / Fraction(scale)) if not isinstance(scale, float) or math.isfinite(scale) else 0.0
    top, bottom = _nearest(slack), _nearest(scale)
    if top == 0:
        return 0.0
    if bottom == 0 or (math.isinf(top) and math.isinf(bottom)):
        return math.copysign(math.inf if bottom == 0 else 1.0, top)
    return top / bottom


def _nearest(number: Any) -> float:
    """Nearest float; infinite beyond the range."""
    try:
        return float(number)
    except OverflowError:
        return float("inf") if number > 0 else float("-inf")


def _relatives(slack: Any, left: Any, right: Any, scale: Any) -> Any:
    if scale is None:
        one_sided = left is None or right is None
        scale = 1.0 if one_sided else np.maximum(np.abs(np.asarray(left, float)), np.abs(np.asarray(right, float)))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore"):
        ratio = slack / np.broadcast_to(np.asarray(scale, float), slack.shape)
    both = (slack == 0) | np.isnan(ratio)  # 0 / 0 and inf / inf
    return np.where(both, np.where(slack == 0, 0.0, np.copysign(1.0, slack)), ratio)


def _ratio(left: Any, right: Any) -> float | Fraction | None:
    """Left over right where right is positive and the ratio finite."""
    if left is None or right is None or not right > 0:
        return None
    if isinstance(left, Fraction | int) and isinstance(right, Fraction | int):
        return canonical_number(Fraction(left) / right, "ratio")
    top, bottom = _nearest(left), _nearest(right)
    ratio = top / bottom if bottom > 0 and not (math.isinf(top) and math.isinf(bottom)) else math.nan
    return ratio + 0.0 if math.isfinite(ratio) else None


def _ratios(left: Any, right: Any) -> Any:
    """Left over right where right is positive, else minus infinity."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore"):
        ratios = np.where(right > 0, left / right, -np.inf)
    return np.where(np.isfinite(ratios), ratios, -np.inf)
