"""A check: the function that binds a theorem to an algorithm, its instances, its slots and its mutants."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal, get_args

from whp.theory.core import Slot

Kind = Literal["slack", "event", "sample", "rate"]


@dataclass(frozen=True)
class Instances:
    """Where the instances of a check come from, and in words which they are.

    Parameters
    ----------
    scope : str
        Which instances exactly; printed in every verdict.
    examples : callable, optional
        ``() -> {name: instance}``: named real, extreme and textbook instances, always run first.  A value may be a
        `Recipe`, built when it is needed.
    draw : callable, optional
        ``(rng, size) -> sequence of instances``: seeded sampling for breadth.
    strategy : callable, optional
        ``() -> hypothesis strategy``: structure and shrinking, for slack checks only.
    fixed : int
        For random claims and rates: how many instances are drawn, before any replicate, besides the examples.
    """

    scope: str
    examples: Callable[[], Mapping[str, Any]] | None = None
    draw: Callable[[Any, int], Sequence[Any]] | None = None
    strategy: Callable[[], Any] | None = None
    fixed: int = 0

    def __post_init__(self) -> None:
        if not self.scope:
            raise ValueError("instances need a scope in words")
        if self.examples is None and self.draw is None and self.strategy is None:
            raise ValueError("instances need at least one of examples, draw and strategy")


@dataclass(frozen=True)
class Vectorised:
    """Breadth in arrays: many instances observed by one call.

    Parameters
    ----------
    draw : callable
        ``(rng, size) -> batch``, of instances that meet the theorem's assumptions: only the first of each batch is
        asked.
    observe : callable
        ``(batch, **subjects) -> Slack`` whose clauses hold arrays with the instance on the first axis.
    pick : callable
        ``(batch, index) -> instance``, the same kind of instance as elsewhere in the check.
    """

    draw: Callable[[Any, int], Any]
    observe: Callable[..., Any]
    pick: Callable[[Any, int], Any]


@dataclass(frozen=True)
class OutputAsData:
    """Re-decide a float violation with the subject's floats taken as the dyadic rationals they are.

    The subject's calls on the instance are recorded; ``observe`` is called again with the instance and the recorded
    outputs turned into fractions.  ``observe`` defaults to the check's own function.
    """

    observe: Callable[..., Any] | None = None


@dataclass(frozen=True)
class Generic:
    """Re-decide a float violation by running the subject itself on fractions."""


@dataclass(frozen=True)
class Rounded:
    """Decide floats by the published rounding model that each clause carries."""


Redecision = OutputAsData | Generic | Rounded


@dataclass(frozen=True)
class Mutant:
    """A broken subject, statement or assumption that the check must refute.

    Parameters
    ----------
    name : str
        What is broken.
    clause : str
        The clause (or event, mean, cost name) that must fail; any when empty.
    subjects : mapping
        Broken subjects by slot.
    observe : callable, optional
        A check of a wrong statement (a wrong constant, say), in place of the check's own function.
    instances : Instances, optional
        Instances in place of the check's own, for broken assumptions.
    ignoring : tuple of str
        Names of assumptions that are dropped.
    """

    name: str
    clause: str = ""
    subjects: Mapping[str, Any] = field(default_factory=dict)
    observe: Callable[..., Any] | None = None
    instances: Instances | None = None
    ignoring: tuple[str, ...] = ()
    vectorised: Vectorised | None = None


@dataclass(frozen=True)
class ClaimedRate:
    """The order that a rate report is compared with.

    ``cost ~ size**exponent * log(size)**log_power``; ``at_most`` compares one side only.
    """

    exponent: float
    log_power: float = 0.0
    relation: Literal["at most", "equal"] = "at most"
    tolerance: float = 0.1


@dataclass(frozen=True, kw_only=True)
class Check:
    """One function, one observation, and what the engine needs to decide it.

    Parameters
    ----------
    theorem : str
        Id of the theorem it binds.
    name : str
        Name within the theorem.
    kind : {"slack", "event", "sample", "rate"}
        Which observation ``observe`` returns.
    observe : callable
        ``observe(instance, *, <slot>=subject, ..., rng=generator)``: both sides recomputed from theory.  ``rng`` is
        passed when the function asks for it; claims with an event or a sample must.
    instances : Instances
        What it is run on.
    slots : mapping
        Default (reference) subject by `Slot`.
    redecide : Redecision
        How a violation in floats is decided.
    mutants : tuple of Mutant
        At least two; ``whp mutants`` must see each refuted.
    vectorised : Vectorised, optional
        A faster form of ``observe`` for breadth.
    rate : ClaimedRate, optional
        For rate checks.
    tighten : callable, optional
        ``factor -> observe``: the claim with its bound multiplied by a factor below 1, where the engine cannot do it
        itself (an event whose radius shrinks).  Slacks and samples are tightened by the engine.
    unavailable : callable, optional
        ``() -> str``: the missing extra, or an empty string.
    control : str, optional
        What the reference run on the same instance stands for, when there is no slot.
    cost : float
        Relative cost of one observation; 1 is about a tenth of a millisecond.  Budgets divide by it.

    Raises
    ------
    ValueError
        If kind and signature do not fit.
    """

    theorem: str
    name: str
    kind: Kind
    observe: Callable[..., Any]
    instances: Instances
    slots: Mapping[Slot, Any] = field(default_factory=dict)
    redecide: Redecision = field(default_factory=Rounded)
    mutants: tuple[Mutant, ...] = ()
    vectorised: Vectorised | None = None
    rate: ClaimedRate | None = None
    tighten: Callable[[float], Callable[..., Any]] | None = None
    unavailable: Callable[[], str] | None = None
    cost: float = 1.0

    def __post_init__(self) -> None:
        if self.kind not in get_args(Kind):
            raise ValueError(f"{self.id}: kind must be one of {', '.join(get_args(Kind))}, got {self.kind!r}")
        if not 0 < self.cost < float("inf"):
            raise ValueError(f"{self.id}: cost must be positive and finite, got {self.cost!r}")
        keywords = keyword_names(self.observe)
        missing = [s.name for s in self.slots if s.name not in keywords]
        if missing:
            raise ValueError(f"{self.id}: observe must take the slots {missing} as keywords")
        if self.kind in ("event", "sample") and "rng" not in keywords:
            raise ValueError(f"{self.id}: a random claim's observe must take rng")
        if self.kind == "rate" and self.rate is None:
            raise ValueError(f"{self.id}: a rate check needs the claimed rate")
        if self.kind != "slack" and self.instances.examples is None and self.instances.fixed < 1:
            raise ValueError(f"{self.id}: a random claim needs examples or a number of fixed instances")

    @property
    def id(self) -> str:
        """``theorem/name``."""
        return f"{self.theorem}/{self.name}"

    @property
    def random(self) -> bool:
        """Whether ``observe`` takes a generator."""
        return "rng" in keyword_names(self.observe)

    def slot(self, name: str) -> Slot:
        """Return the slot of that name.

        Raises
        ------
        ValueError
            If the check has no such slot.
        """
        for s in self.slots:
            if s.name == name:
                return s
        raise ValueError(f"check {self.id} has no slot {name!r} (it has {[s.name for s in self.slots]})")


@lru_cache(maxsize=1024)
def keyword_names(function: Callable[..., Any]) -> frozenset[str]:
    """Names that a function accepts as keywords."""
    return frozenset(
        p.name
        for p in inspect.signature(function).parameters.values()
        if p.kind in (p.KEYWORD_ONLY, p.POSITIONAL_OR_KEYWORD)
    )
