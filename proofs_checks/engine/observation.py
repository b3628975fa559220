"""What a check returns: slacks of named clauses, an event, a sample, or a cost at a size.

A check is one function with one observation; the engine decides everything else.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np

Relation = Literal["<=", "=="]


@dataclass(frozen=True)
class Clause:
    """One relation of a for-all claim on one instance: ``left <= right`` or ``left == right``.

    Parameters
    ----------
    name : str
        What the clause says; mutants name the clause they break.
    left, right : int, Fraction, float, numpy array or flint ball
        The two sides; arrays are compared entry by entry.  Integers and fractions are decided exactly.
    relation : {"<=", "=="}
        The claimed relation.
    rounding : float
        Published absolute error model of the two sides together; zero for exact sides.
    trivial : float, optional
        Value of ``right`` at which the clause says nothing (a probability bound of 1, say).
    """

    name: str
    left: Any
    right: Any
    relation: Relation = "<="
    rounding: float = 0.0
    trivial: float | None = None


@dataclass(frozen=True)
class Slack:
    """The clauses of a for-all claim on one instance; combine with ``&``.

    Examples
    --------
    >>> both = at_most("mass", 0.9, 1.0) & identity("sum", 3, 3)
    >>> [c.name for c in both.clauses]
    ['mass', 'sum']
    """

    clauses: tuple[Clause, ...]

    def __and__(self, other: Slack) -> Slack:
        return Slack(self.clauses + other.clauses)


@dataclass(frozen=True)
class Event:
    """One replicate of a claim ``P(bad) <= probability``, and whether the bad thing happened.

    ``probability`` is part of the claim, hence a function of the instance alone and the same in every replicate.
    """

    happened: bool
    probability: float
    name: str = "bad event"


@dataclass(frozen=True)
class Sample:
    """One replicate of a claim on an expectation: a value in the declared range ``[low, high]``.

    ``relation`` says whether the mean is claimed to be at most, at least, or equal to ``mean``.  Range and mean are
    functions of the instance alone.
    """

    value: float
    low: float
    high: float
    mean: float
    relation: Literal["<=", ">=", "=="] = "<="
    name: str = "mean"


@dataclass(frozen=True)
class Cost:
    """A counted cost (operations, calls, regret) at one size, for a rate report; never a time."""

    size: float
    cost: float
    name: str = "cost"


Observation = Slack | Event | Sample | Cost


def at_most(name: str, left: Any, right: Any, *, rounding: float = 0.0, trivial: float | None = None) -> Slack:
    """Claim ``left <= right``, entry by entry.

    Examples
    --------
    >>> at_most("loss", 1, 2).clauses[0].relation
    '<='
    """
    return Slack((Clause(name, left, right, "<=", rounding, trivial),))


def at_least(name: str, left: Any, right: Any, *, rounding: float = 0.0, trivial: float | None = None) -> Slack:
    """Claim ``left >= right``; stored with its sides exchanged."""
    return Slack((Clause(name, right, left, "<=", rounding, trivial),))


def identity(name: str, left: Any, right: Any, *, rounding: float = 0.0) -> Slack:
    """Claim ``left == right``, entry by entry, up to a published rounding error."""
    return Slack((Clause(name, left, right, "==", rounding),))


def requires(name: str, condition: bool) -> Slack:
    """Claim a plain fact, such as "the labels are a partition"."""
    return Slack((Clause(name, 0 if condition else 1, 0, "=="),))


def event(happened: bool, *, probability: float, name: str = "bad event") -> Event:
    """One replicate of ``P(bad) <= probability``."""
    return Event(bool(happened), float(probability), name)


def sample(
    value: float,
    *,
    low: float,
    high: float,
    mean_at_most: float | None = None,
    mean_at_least: float | None = None,
    mean: float | None = None,
    name: str = "mean",
) -> Sample:
    """One replicate of a claim on an expectation; give exactly one of the three means.

    Examples
    --------
    >>> sample(0.5, low=0, high=1, mean_at_most=0.6).relation
    '<='
    """
    given = [(m, r) for m, r in ((mean_at_most, "<="), (mean_at_least, ">="), (mean, "==")) if m is not None]
    if len(given) != 1:
        raise ValueError(f"give exactly one of mean_at_most, mean_at_least and mean, got {len(given)}")
    claimed, relation = given[0]
    return Sample(float(value), float(low), float(high), float(claimed), relation, name)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Entry:
    """The worst entry of one clause: both sides as scalars and where in the arrays they stand."""

    clause: Clause
    left: Any
    right: Any
    index: tuple[int, ...]
    slack: float
    """``right - left``, or minus the residual of an identity; negative when the clause fails as computed."""
    violated: bool
    """Beyond the rounding model."""
    inside_rounding: bool
    """Fails as computed, but within the rounding model."""

    @property
    def ratio(self) -> float:
        """Tightness ``left / right`` of an inequality with positive right side; nan where that has no meaning."""
        left, right = _float(self.left), _float(self.right)
        if self.clause.relation == "==" or not right > 0 or not math.isfinite(right):
            return math.nan
        return left / right


class NotANumberError(ValueError):
    """A side of a clause is nan, so the clause can be neither kept nor broken."""


def worst_entry(clause: Clause) -> Entry:
    """Find the entry of a clause that is closest to failing, exactly for integers and fractions.

    Raises
    ------
    NotANumberError
        If a side is nan, or an identity's balls say nothing.
    ValueError
        If the sides are arrays whose shapes do not broadcast.
    """
    if not (isinstance(clause.left, np.ndarray | list | tuple) or isinstance(clause.right, np.ndarray | list | tuple)):
        return _entry(clause, clause.left, clause.right, ())
    left, right = np.broadcast_arrays(np.asarray(clause.left), np.asarray(clause.right))
    if left.size == 0:
        return _entry(clause, 0, 0, ())
    if left.dtype == object or right.dtype == object:
        entries = (_entry(clause, left[i], right[i], i) for i in np.ndindex(left.shape))
        return min(entries, key=lambda e: e.slack)
    with np.errstate(invalid="ignore", over="ignore"):
        gap = _float_gap(left, right, clause.relation)
    if np.isnan(gap).any():
        at = tuple(int(i) for i in np.argwhere(np.isnan(gap))[0])
        raise NotANumberError(f"clause {clause.name!r}: left={left[at]!r}, right={right[at]!r} at index {at}")
    at = tuple(int(i) for i in np.unravel_index(int(np.argmin(gap)), gap.shape))
    return _entry(clause, left[at].item(), right[at].item(), at)


def _float_gap(left: Any, right: Any, relation: Relation) -> Any:
    if left.dtype.kind in "iub" and right.dtype.kind in "iub":
        left, right = left.astype(object), right.astype(object)  # no wrap-around
        gap = right - left if relation == "<=" else -np.abs(right - left)
        return gap.astype(float)
    equal = left == right  # equal infinities agree
    gap = right - left if relation == "<=" else -np.abs(right - left)
    return np.where(equal, 0.0, gap)


def _entry(clause: Clause, left: Any, right: Any, index: tuple[int, ...]) -> Entry:
    if _is_ball(left) or _is_ball(right):
        return _ball_entry(clause, left, right, index)
    left, right = _plain(left), _plain(right)
    if any(isinstance(v, float) and math.isnan(v) for v in (left, right)):
        raise NotANumberError(
            f"clause {clause.name!r}: left={left!r}, right={right!r}" + (f" at {index}" if index else "")
        )
    if left == right:
        return Entry(clause, left, right, index, 0.0, False, False)
    fails = left > right if clause.relation == "<=" else True
    gap = _difference(left, right)
    slack = gap if clause.relation == "<=" else -abs(gap)
    if fails and slack == 0:
        slack = -math.ulp(0.0)  # an exact difference below the range of float64 is still a difference
    inside = fails and -slack <= clause.rounding
    return Entry(clause, left, right, index, slack, fails and not inside, inside)


def _ball_entry(clause: Clause, left: Any, right: Any, index: tuple[int, ...]) -> Entry:
    """A ball clause is violated only when the balls surely violate it; overlap counts as inside rounding."""
    from whp.theory.core.mathematics import FlintMathematics

    m = FlintMathematics()
    if bool(m.ball(left) == m.ball(right)):  # exact and equal, infinities included
        return Entry(clause, left, right, index, 0.0, False, False)
    gap = m.ball(right) - m.ball(left)
    if gap.is_nan() or (clause.relation == "==" and not gap.is_finite()):
        raise NotANumberError(f"clause {clause.name!r}: left={left}, right={right}" + (f" at {index}" if index else ""))
    if clause.relation == "<=":
        violated, unsure = bool(gap < 0), not bool(gap >= 0)
    else:
        violated, unsure = bool(gap != 0), not gap.is_zero() and clause.rounding == 0
    middle = float(gap.mid())
    slack = middle if clause.relation == "<=" else -abs(middle)
    violated = violated and -slack > clause.rounding
    return Entry(clause, left, right, index, slack, violated, unsure and not violated)


def _is_ball(value: Any) -> bool:
    return type(value).__module__.startswith("flint") and type(value).__name__ == "arb"


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _float(value: Any) -> float:
    try:
        return float(value.mid()) if _is_ball(value) else float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _difference(left: Any, right: Any) -> float:
    """``right - left``, exact before it is rounded when both sides are finite."""
    values = [Fraction(v) if isinstance(v, float) and math.isfinite(v) else v for v in (left, right)]
    if any(isinstance(v, float) for v in values):  # an infinity
        return _float(right) - _float(left)
    return _float(values[1] - values[0])
