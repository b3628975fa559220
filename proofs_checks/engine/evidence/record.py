"""The record of one check-run: counts, extremes, histograms and first violations, merged exactly."""

from __future__ import annotations

import json
import math
import re
import traceback
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import PurePath
from typing import Any, ClassVar, TypeAlias, TypeVar

from whp.proofs_checks.engine.evidence.codec import canonical_text, dumps, loads
from whp.proofs_checks.engine.evidence.slack_histogram import SlackHistogram

SCHEMA = 1
"""Version of the JSON form; raised whenever old evidence could not be read."""

PHASES = ("structured", "examples", "hunted", "sampled", "replicates", "sizes")
"""Order in which phases count as earlier (shrunk instances are kept first); other names follow alphabetically."""

KEPT_VIOLATIONS = 5
KEPT_ERRORS = 5

Number: TypeAlias = float | Fraction
_Value = TypeVar("_Value")


def canonical_number(value: Any, name: str) -> Number:
    """Write a real number as the float it is, or as a Fraction where no float is equal to it.

    Raises
    ------
    ValueError
        If the value is nan.
    """
    if isinstance(value, Fraction | int):
        exact = Fraction(value)
        try:
            nearest = float(exact)
        except OverflowError:
            return exact
        return nearest + 0.0 if Fraction(nearest) == exact else exact
    number = float(value)
    if math.isnan(number):
        raise ValueError(f"{name} must be a number, got nan.")
    return number + 0.0  # turns -0.0 into 0.0


@dataclass(frozen=True)
class Encoded:
    """An instance as canonical JSON text, so that equal instances are equal bytes.

    Parameters
    ----------
    text : str
        Made by :func:`whp.proofs_checks.engine.evidence.dumps`.
    """

    text: str

    @classmethod
    def of(cls, value: Any) -> Encoded:
        """Encode a value."""
        return cls(dumps(value))

    def decode(self) -> Any:
        """Rebuild the value."""
        return loads(self.text)


@dataclass(frozen=True)
class Location:
    """Where in a campaign an instance was met.

    Parameters
    ----------
    phase : str
        One of ``PHASES`` or a name of the check's own.
    block, index : int
        Number of the block in the phase, and of the instance in the block.
    """

    phase: str
    block: int
    index: int

    @property
    def order(self) -> tuple[int, str, int, int]:
        """Key that sorts locations from early to late."""
        rank = PHASES.index(self.phase) if self.phase in PHASES else len(PHASES)
        return rank, self.phase, self.block, self.index


@dataclass(frozen=True)
class PhaseCounts:
    """What was tried in one phase.

    Parameters
    ----------
    instances : int
        All instances tried, whatever came of them.
    vacuous : int
        Those that miss an assumption, or whose bound is no better than trivial.
    violations : int
        Those on which a clause was broken beyond rounding.
    inside_rounding : int
        Those on which a clause was broken within the rounding model.
    errors : int
        Those on which the subject raised, hung, crashed or exceeded its memory.
    replicates : int
        Runs of random claims.
    """

    instances: int = 0
    vacuous: int = 0
    violations: int = 0
    inside_rounding: int = 0
    errors: int = 0
    replicates: int = 0

    def __add__(self, other: PhaseCounts) -> PhaseCounts:
        """Add the counts of another shard."""
        return PhaseCounts(
            self.instances + other.instances,
            self.vacuous + other.vacuous,
            self.violations + other.violations,
            self.inside_rounding + other.inside_rounding,
            self.errors + other.errors,
            self.replicates + other.replicates,
        )


@dataclass(frozen=True)
class Extreme:
    """An extreme value with the place, and the instance, where it was met."""

    value: Number
    location: Location
    instance: Encoded | None = None

    def __post_init__(self) -> None:
        """Bring the value to its canonical form."""
        object.__setattr__(self, "value", canonical_number(self.value, "value of an Extreme"))

    @property
    def _tie_break(self) -> tuple[tuple[int, str, int, int], str]:
        return self.location.order, self.instance.text if self.instance else ""


@dataclass(frozen=True)
class ClauseRecord:
    """What is known of one clause of a claim.

    Parameters
    ----------
    worst_slack : Extreme, optional
        Smallest slack, with its instance.
    tightness : Extreme, optional
        Highest ratio of left to right side.
    relative_slack : SlackHistogram
        Slack over the larger side, in fixed bins.
    """

    worst_slack: Extreme | None = None
    tightness: Extreme | None = None
    relative_slack: SlackHistogram = field(default_factory=SlackHistogram)

    def __add__(self, other: ClauseRecord) -> ClauseRecord:
        """Merge with the record of another shard."""
        slacks = [extreme for extreme in (self.worst_slack, other.worst_slack) if extreme]
        ratios = [extreme for extreme in (self.tightness, other.tightness) if extreme]
        return ClauseRecord(
            min(slacks, key=lambda extreme: (extreme.value, extreme._tie_break), default=None),
            min(ratios, key=lambda extreme: (-extreme.value, extreme._tie_break), default=None),
            self.relative_slack + other.relative_slack,
        )


@dataclass(frozen=True)
class EventCounts:
    """How often the bad event of a random claim happened on one fixed instance.

    Parameters
    ----------
    instance : Encoded
        The fixed instance.
    delta : float or Fraction
        Claimed bound on the event's probability.
    replicates, events : int
        Runs, and how many showed the event.
    """

    instance: Encoded
    delta: Number
    replicates: int
    events: int

    def __post_init__(self) -> None:
        """Refuse impossible counts."""
        object.__setattr__(self, "delta", canonical_number(self.delta, "delta"))
        if not 0 <= self.events <= self.replicates:
            raise ValueError(f"events must be between 0 and replicates={self.replicates}, got {self.events}.")

    def __add__(self, other: EventCounts) -> EventCounts:
        """Add the counts of another shard on the same instance."""
        _require_same(self, other, "instance", "delta")
        return replace(self, replicates=self.replicates + other.replicates, events=self.events + other.events)


@dataclass(frozen=True)
class MeanCounts:
    """Samples of a bounded quantity on one fixed instance, counted in equal bins.

    Parameters
    ----------
    instance : Encoded
        The fixed instance.
    low, high : float or Fraction
        Declared range of the quantity.
    claimed : float or Fraction
        Claimed bound on its mean.
    counts : tuple of int
        Samples in each of the equal bins from low to high.
    relation : {"<=", ">=", "=="}
        How the mean is claimed to stand to ``claimed``.
    """

    instance: Encoded
    low: Number
    high: Number
    claimed: Number
    counts: tuple[int, ...]
    relation: str = "<="

    def __post_init__(self) -> None:
        """Refuse impossible counts and ranges."""
        if self.relation not in ("<=", ">=", "=="):
            raise ValueError(f"relation must be '<=', '>=' or '==', got {self.relation!r}.")
        for name in ("low", "high", "claimed"):
            object.__setattr__(self, name, canonical_number(getattr(self, name), name))
        object.__setattr__(self, "counts", tuple(int(count) for count in self.counts))
        if not self.low < self.high:
            raise ValueError(f"low must be below high, got {self.low} and {self.high}.")
        if not self.counts or min(self.counts) < 0:
            raise ValueError(f"counts must be nonnegative and not empty, got {self.counts!r}.")

    @property
    def replicates(self) -> int:
        """Number of samples."""
        return sum(self.counts)

    def __add__(self, other: MeanCounts) -> MeanCounts:
        """Add the counts of another shard on the same instance."""
        _require_same(self, other, "instance", "low", "high", "claimed", "relation")
        if len(self.counts) != len(other.counts):
            raise ValueError(f"cannot merge histograms of {len(self.counts)} and {len(other.counts)} bins.")
        return replace(self, counts=tuple(a + b for a, b in zip(self.counts, other.counts, strict=True)))


@dataclass(frozen=True)
class Violation:
    """An instance on which a clause was broken.

    Parameters
    ----------
    location : Location
        Where it was met.
    clause : str
        Name of the clause.
    slack : float or Fraction
        How far it was broken (negative).
    instance : Encoded
        The instance.
    detail : str
        How the violation was re-decided.
    """

    location: Location
    clause: str
    slack: Number
    instance: Encoded
    detail: str = ""

    def __post_init__(self) -> None:
        """Bring the slack to its canonical form."""
        object.__setattr__(self, "slack", canonical_number(self.slack, "slack"))

    @property
    def _order(self) -> tuple[Any, ...]:
        return self.location.order, self.clause, self.slack, self.instance.text, self.detail


@dataclass(frozen=True)
class ErrorRecord:
    """A failure of the subject; holds no file path and no memory address, so that it is the same on every machine.

    Parameters
    ----------
    location : Location
        Where it happened.
    type, message : str
        Class and text of the exception.
    traceback : str
        The innermost frames, files without their folders.
    instance : Encoded, optional
        The instance.
    """

    location: Location
    type: str
    message: str
    traceback: str = ""
    instance: Encoded | None = None

    KEPT_FRAMES: ClassVar[int] = 5
    KEPT_LETTERS: ClassVar[int] = 2000

    def __post_init__(self) -> None:
        """Strip what differs between machines and runs, and shorten."""
        object.__setattr__(self, "message", _portable(self.message)[: self.KEPT_LETTERS])
        object.__setattr__(self, "traceback", _portable(self.traceback)[-self.KEPT_LETTERS :])

    @classmethod
    def of(cls, location: Location, error: BaseException, instance: Encoded | None = None) -> ErrorRecord:
        """Describe an exception."""
        frames = traceback.extract_tb(error.__traceback__)[-cls.KEPT_FRAMES :]
        tail = "\n".join(f"{PurePath(frame.filename).name}:{frame.lineno} {frame.name}" for frame in frames)
        return cls(location, type(error).__name__, str(error), tail, instance)

    @property
    def _order(self) -> tuple[Any, ...]:
        instance = self.instance.text if self.instance else ""
        return self.location.order, self.type, self.message, self.traceback, instance


@dataclass(frozen=True)
class RateRow:
    """One measurement of a quantity whose growth with a size is reported."""

    size: int
    value: Number
    location: Location

    def __post_init__(self) -> None:
        """Bring the value to its canonical form."""
        object.__setattr__(self, "value", canonical_number(self.value, "value of a RateRow"))

    @property
    def _order(self) -> tuple[Any, ...]:
        return self.size, self.location.order, self.value


@dataclass(frozen=True)
class Evidence:
    """Everything one check-run established, as data.

    Two shards of the same run are joined by :func:`merge`, which is associative and commutative to the last bit; equal
    evidence has equal :meth:`canonical_bytes`.

    Parameters
    ----------
    theorem, check : str
        Id of the theorem and name of the check.
    campaign_seed : int
        Seed of the whole campaign.
    budget : str
        Name of the budget.
    phases : Mapping[str, PhaseCounts]
        Counts by phase.
    clauses : Mapping[str, ClauseRecord]
        Extremes and histogram by clause.
    events : Mapping[str, EventCounts]
        By name of fixed instance (and clause, where there are several).
    means : Mapping[str, MeanCounts]
        The same for means.
    violations : tuple of Violation
        The first few, in order of location.
    errors : tuple of ErrorRecord
        The first few, in order of location.
    rates : Mapping[str, tuple of RateRow]
        Measurements by name of the quantity, in order of size.
    schema : int
        Version of the JSON form.
    """

    theorem: str
    check: str
    campaign_seed: int
    budget: str
    phases: Mapping[str, PhaseCounts] = field(default_factory=dict)
    clauses: Mapping[str, ClauseRecord] = field(default_factory=dict)
    events: Mapping[str, EventCounts] = field(default_factory=dict)
    means: Mapping[str, MeanCounts] = field(default_factory=dict)
    violations: tuple[Violation, ...] = ()
    errors: tuple[ErrorRecord, ...] = ()
    rates: Mapping[str, tuple[RateRow, ...]] = field(default_factory=dict)
    schema: int = SCHEMA

    def __post_init__(self) -> None:
        """Refuse another schema; sort what is kept, and keep the first few."""
        _require_schema(self.schema)
        violations = sorted(self.violations, key=lambda violation: violation._order)[:KEPT_VIOLATIONS]
        errors = sorted(self.errors, key=lambda error: error._order)[:KEPT_ERRORS]
        rates = {name: tuple(sorted(rows, key=lambda row: row._order)) for name, rows in self.rates.items()}
        object.__setattr__(self, "violations", tuple(violations))
        object.__setattr__(self, "errors", tuple(errors))
        object.__setattr__(self, "rates", rates)

    @classmethod
    def empty(cls, theorem: str, check: str, campaign_seed: int, budget: str) -> Evidence:
        """Return the identity of :func:`merge`."""
        return cls(theorem, check, campaign_seed, budget)

    @property
    def total(self) -> PhaseCounts:
        """Counts over all phases."""
        return sum(self.phases.values(), PhaseCounts())

    def to_json(self) -> dict[str, Any]:
        """Return JSON-able data."""
        from whp.proofs_checks.engine.evidence.json_form import converter

        data: dict[str, Any] = converter().unstructure(self)
        return data

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Evidence:
        """Read the result of :meth:`to_json`.

        Raises
        ------
        ValueError
            If the data are not a record of this schema.
        """
        from whp.proofs_checks.engine.evidence.json_form import structure

        if isinstance(data, Mapping):
            _require_schema(data.get("schema"))
        return structure(data, cls)

    def canonical_bytes(self) -> bytes:
        """Return canonical JSON, the same bytes for equal evidence."""
        return canonical_text(self.to_json()).encode("ascii")

    @classmethod
    def from_bytes(cls, text: bytes | str) -> Evidence:
        """Read JSON text."""
        return cls.from_json(json.loads(text))


def _require_schema(schema: Any) -> None:
    if schema != SCHEMA:
        raise ValueError(f"evidence has schema {schema}; this version reads schema {SCHEMA} only.")


def merge(first: Evidence, second: Evidence) -> Evidence:
    """Join the evidence of two shards of one check-run.

    Raises
    ------
    ValueError
        If they belong to different check-runs, or disagree on what a fixed instance or a claimed value is.
    """
    _require_same(first, second, "theorem", "check", "campaign_seed", "budget")
    return replace(
        first,
        phases=_join(first.phases, second.phases, PhaseCounts.__add__),
        clauses=_join(first.clauses, second.clauses, ClauseRecord.__add__),
        events=_join(first.events, second.events, EventCounts.__add__),
        means=_join(first.means, second.means, MeanCounts.__add__),
        violations=first.violations + second.violations,
        errors=first.errors + second.errors,
        rates=_join(first.rates, second.rates, tuple.__add__),
    )


def merge_all(shards: Iterable[Evidence]) -> Evidence:
    """Join any number of shards, at least one."""
    iterator = iter(shards)
    joined = next(iterator, None)
    if joined is None:
        raise ValueError("shards must hold at least one Evidence, got none.")
    for shard in iterator:
        joined = merge(joined, shard)
    return joined


def _join(
    first: Mapping[str, _Value], second: Mapping[str, _Value], add: Callable[[Any, Any], _Value]
) -> dict[str, _Value]:
    """Add the values of common keys, keep the others."""
    joined = dict(first)
    for key, value in second.items():
        joined[key] = add(joined[key], value) if key in joined else value
    return joined


def _require_same(first: Any, second: Any, *names: str) -> None:
    """Refuse to merge records that differ in what identifies them."""
    for name in names:
        left, right = getattr(first, name), getattr(second, name)
        if left != right:
            raise ValueError(f"cannot merge evidence with {name} {_short(left)} and {_short(right)}.")


def _portable(text: str) -> str:
    """Text without memory addresses, and without the folders of the files that a traceback names."""
    text = re.sub(r"\b0x[0-9a-fA-F]{6,}", "0x...", text)
    return re.sub(r'File "[^"\n]*[/\\]([^"/\\\n]+)"', r'File "\1"', text)


def _short(value: Any) -> str:
    text = value.text if isinstance(value, Encoded) else repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
