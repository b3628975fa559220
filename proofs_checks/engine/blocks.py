"""The unit of work: a block of instances or replicates, a function of names and a seed alone.

A block carries no code: a worker finds the check by its id, so blocks can be run by any executor, on any machine that
has the same sources, and give the same evidence wherever they run.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import Any

import numpy as np

from whp.proofs_checks.engine.budget import BLOCK, Budget
from whp.proofs_checks.engine.check import Check, Mutant, Vectorised, keyword_names
from whp.proofs_checks.engine.environment import single_thread
from whp.proofs_checks.engine.evidence import Encoded, Evidence, EvidenceBuilder, Location, materialise
from whp.proofs_checks.engine.isolation import Isolated, Limits, SubjectFailure
from whp.proofs_checks.engine.observation import Clause, Cost, Event, Sample
from whp.proofs_checks.engine.outcome import Failure, Outcome, Variant, run_once
from whp.proofs_checks.engine.registry import find_check
from whp.proofs_checks.engine.statistics import mean as mean_statistics
from whp.proofs_checks.engine.streams import integer_seed, stream
from whp.proofs_checks.engine.structure import search
from whp.proofs_checks.engine.subjects import fill_slots, resolve
from whp.theory.core.registry import load_papers

_STRUCTURED_BLOCK = 120
_EXAMPLES_BLOCK = 4
_SHRINKING = 1_000_000  # index of the block that is run after a refutation, beyond those of any budget
_RATE_REPLICATES = 3
_ENDED_AT_MOST = 2  # observations ended by their limits before a block is given up


@dataclass(frozen=True)
class Block:
    """One piece of a check-run.

    Parameters
    ----------
    check : str
        Id of the check.
    phase : str
        ``examples``, ``hunted``, ``sampled``, ``structured``, ``replicates`` or ``sizes``.
    index : int
        Number within the phase.
    first, size : int
        First instance (or the one fixed instance) and how many instances, examples or replicates.
    seed : int
        Campaign seed.
    budget : str
        Name of the budget, for the record.
    mutant : str
        Name of the mutant that is run in place of the check; ``tightened FACTOR`` for the automatic one.
    modules : tuple of str
        Outside modules that state the theorem, to be imported by a worker.
    limits : Limits, optional
        Per-observation limits in a child process.
    hunted : str
        The instance of a block of phase ``hunted``, encoded: the tightest that a hunt has met.
    """

    check: str
    phase: str
    index: int
    first: int
    size: int
    seed: int
    budget: str
    mutant: str = ""
    modules: tuple[str, ...] = ()
    limits: Limits | None = None
    hunted: str = ""

    @property
    def stream_names(self) -> tuple[str | int, ...]:
        """What the block's random stream is named after; mutants share the streams of their check."""
        return (self.check, self.phase, self.index)


def plan(
    check: Check,
    budget: Budget,
    seed: int,
    *,
    mutant: str = "",
    modules: tuple[str, ...] = (),
    limits: Limits | None = None,
    hunted: str = "",
) -> list[Block]:
    """Blocks of a check-run in the order in which they count.

    Examples come first, then one block of structured search (so that a refutation has a shrunk instance), then breadth,
    then the rest of the structured search.  Random claims take their fixed instances in turn.
    """
    form = Form.of(check, mutant)

    def block(phase: str, index: int, first: int, size: int) -> Block:
        return Block(check.id, phase, index, first, size, seed, budget.name, mutant, modules, limits)

    if check.kind == "slack":
        named = len(form.examples)
        examples = [
            block("examples", i, k, min(_EXAMPLES_BLOCK, named - k))
            for i, k in enumerate(range(0, named, _EXAMPLES_BLOCK))
        ]
        structured: list[Block] = []
        if form.instances.strategy is not None:
            sizes = _pieces(budget.count("structure", check), _STRUCTURED_BLOCK)
            structured = [block("structured", i, 0, n) for i, n in enumerate(sizes)]
        sampled: list[Block] = []
        if form.vectorised is not None or form.instances.draw is not None:
            sizes = _pieces(budget.count("breadth", check), max(8, round(BLOCK / check.cost)))
            sampled = [block("sampled", i, 0, n) for i, n in enumerate(sizes)]
        tightest = [replace(block("hunted", 0, 0, 1), hunted=hunted)] if hunted else []
        return [*examples, *tightest, *structured[:1], *sampled, *structured[1:]]
    fixed = len(form.fixed(seed))
    if check.kind == "rate":
        return [block("sizes", i, i, _RATE_REPLICATES if check.random else 1) for i in range(fixed)]
    sizes = _pieces(budget.count("replicates", check), max(8, round(BLOCK / check.cost)))
    return [block("replicates", c * fixed + i, i, n) for c, n in enumerate(sizes) for i in range(fixed)]


def shrinking_block(block: Block) -> Block | None:
    """One block of structured search after a refutation by a named or drawn instance; None without a strategy."""
    if Form.of(find_check(block.check), block.mutant).instances.strategy is None:
        return None
    return replace(block, phase="structured", index=_SHRINKING, first=0, size=4 * _STRUCTURED_BLOCK)


def _pieces(total: int, size: int) -> list[int]:
    return [min(size, total - k) for k in range(0, total, size)]


@dataclass(frozen=True)
class Form:
    """A check as it is run, itself or as one of its mutants: function, instances, broken subjects."""

    variant: Variant
    instances: Any
    vectorised: Vectorised | None
    subjects: Mapping[str, Any]

    @classmethod
    def of(cls, check: Check, mutant: str = "") -> Form:
        """Find the form by the mutant's name; empty for the check itself.

        Raises
        ------
        ValueError
            If the check has no such mutant.
        """
        variant = Variant.of(check, load_papers().theorem(check.theorem))
        if not mutant:
            return cls(variant, check.instances, check.vectorised, {})
        if mutant.startswith("tightened "):
            return cls(variant.tightened(float(mutant.split()[1])), check.instances, None, {})
        chosen = next((m for m in check.mutants if m.name == mutant), None)
        if chosen is None:
            raise ValueError(f"check {check.id} has no mutant {mutant!r} (it has {[m.name for m in check.mutants]})")
        return cls._mutated(variant, chosen)

    @classmethod
    def _mutated(cls, variant: Variant, mutant: Mutant) -> Form:
        check = variant.check
        vectorised = mutant.vectorised
        if vectorised is None and mutant.observe is None and mutant.instances is None:
            vectorised = check.vectorised
        broken = replace(
            variant,
            observe=mutant.observe or check.observe,
            ignoring=mutant.ignoring,
            mutated=mutant.observe is not None,
        )
        return cls(broken, mutant.instances or check.instances, vectorised, mutant.subjects)

    @property
    def examples(self) -> dict[str, Any]:
        """Named instances, recipes not yet built."""
        make = self.instances.examples
        return {} if make is None else dict(_examples(make))

    def fixed(self, seed: int) -> dict[str, Any]:
        """Instances of a random claim or a rate: the named ones and those drawn before any replicate."""
        chosen = self.examples
        if self.instances.fixed and self.instances.draw is not None:
            rng = stream(seed, self.variant.check.id, "fixed")
            drawn = list(self.instances.draw(rng, self.instances.fixed))[: self.instances.fixed]
            chosen.update((f"drawn {i}", instance) for i, instance in enumerate(drawn))
        return chosen


@cache
def _examples(make: Any) -> dict[str, Any]:
    return dict(make())


@lru_cache(maxsize=16)
def _built(check: str, mutant: str, seed: int, name: str) -> Any:
    """Built examples are kept for the next block of the same process: real ones can take seconds to build."""
    form = Form.of(find_check(check), mutant)
    return materialise(form.fixed(seed)[name] if form.variant.check.kind != "slack" else form.examples[name])


def run_block(block: Block, subjects: Mapping[str, Any] | None = None) -> Evidence:
    """Run one block and return its evidence.

    Parameters
    ----------
    block : Block
        What to run.
    subjects : mapping, optional
        Subject by slot name: an object, or a reference ``module:attribute`` that is imported here.

    Returns
    -------
    Evidence
        A function of the block, the subjects and the sources alone.
    """
    for name in block.modules:
        if not any(source == name for source in load_papers().sources.values()):
            load_papers().add_module(name)
    check = find_check(block.check)
    form = Form.of(check, block.mutant)
    given = {k: resolve(v) if isinstance(v, str) else v for k, v in (subjects or {}).items()}
    filled = {**fill_slots(check, given), **form.subjects}
    with single_thread(), _Run(block, form, filled) as run:
        run.go()
        return run.builder.build()


class _Run:
    """The state of one block's run."""

    def __init__(self, block: Block, form: Form, subjects: Mapping[str, Any]) -> None:
        self.block, self.form, self.subjects = block, form, subjects
        check = form.variant.check
        self.builder = EvidenceBuilder(check.theorem, check.name, block.seed, block.budget)
        self._ended = 0  # observations that hung, ran out of memory or crashed
        self._isolated: Isolated[[Any, int], Outcome] | None = None
        if block.limits is not None:
            self._isolated = Isolated(self._observe_here, block.limits)

    def __enter__(self) -> _Run:
        return self

    def __exit__(self, *_: object) -> None:
        if self._isolated is not None:
            self._isolated.close()

    def go(self) -> None:
        {
            "examples": self._examples,
            "hunted": self._hunted,
            "sampled": self._sampled,
            "structured": self._structured,
            "replicates": self._replicates,
            "sizes": self._sizes,
        }[self.block.phase]()

    def _location(self, index: int) -> Location:
        return Location(self.block.phase, self.block.index, index)

    def _rng(self, index: int) -> np.random.Generator | None:
        if not self.form.variant.wants_rng:
            return None
        return stream(self.block.seed, *self.block.stream_names, index)

    def _observe_here(self, instance: Any, index: int) -> Outcome:
        return run_once(self.form.variant, instance, self.subjects, self._rng(index))

    def _observe(self, instance: Any, index: int) -> Outcome:
        if self._isolated is None:
            return self._observe_here(instance, index)
        try:
            return self._isolated(instance, index)
        except SubjectFailure as error:
            self._ended += 1
            return Outcome("error", failure=Failure(type(error).__name__, str(error), "", True))

    @property
    def _hopeless(self) -> bool:
        """Whether to give the block up: each further hang would cost its whole time limit."""
        return self._ended >= _ENDED_AT_MOST

    # slack checks

    def _examples(self) -> None:
        names = list(self.form.examples)[self.block.first : self.block.first + self.block.size]
        for i, name in enumerate(names):
            recorded = self.form.examples[name]
            built = _built(self.block.check, self.block.mutant, self.block.seed, name)
            self._record(recorded, i, self._observe(built, i))
            if self._hopeless:
                return

    def _hunted(self) -> None:
        instance = Encoded(self.block.hunted).decode()
        self._record(instance, 0, self._observe(materialise(instance), 0))

    def _sampled(self) -> None:
        rng = stream(self.block.seed, *self.block.stream_names)
        if self.form.vectorised is not None and self._isolated is None:
            self._vectorised(self.form.vectorised, rng)
            return
        for i, instance in enumerate(self._drawn(rng)):
            self._record(instance, i, self._observe(materialise(instance), i))
            if self._hopeless:
                return

    def _drawn(self, rng: np.random.Generator) -> Iterator[Any]:
        if self.form.vectorised is None:
            yield from list(self.form.instances.draw(rng, self.block.size))[: self.block.size]
            return
        batch = self.form.vectorised.draw(rng, self.block.size)
        for i in range(self.block.size):
            yield self.form.vectorised.pick(batch, i)

    def _vectorised(self, vectorised: Vectorised, rng: np.random.Generator) -> None:
        batch = vectorised.draw(rng, self.block.size)
        takes = keyword_names(vectorised.observe)
        slots = {k: v for k, v in self.subjects.items() if k in takes}
        if set(slots) != set(self.subjects):
            raise ValueError(f"{self.block.check}: the vectorised observe must take the slots {list(self.subjects)}")
        try:
            clauses = vectorised.observe(batch, **slots).clauses
            rows = [_rows(c, self.block.size) for c in clauses]
        except Exception:  # one by one, so that the instance at fault is found and recorded
            for i in range(self.block.size):
                instance = vectorised.pick(batch, i)
                self._record(instance, i, self._observe(instance, i))
            return
        suspicious: set[int] = set()
        for clause, (left, right, slack, bad) in zip(clauses, rows, strict=True):
            suspicious.update(int(i) for i in np.flatnonzero(bad))
            good = np.flatnonzero(~bad)

            def instance_at(j: int, good: Any = good) -> Any:
                return vectorised.pick(batch, int(good[j]))

            both = (None, None) if clause.relation == "==" else (left[good], right[good])
            self.builder.slacks(
                clause.name,
                self.block.phase,
                self.block.index,
                slack[good],
                *both,
                instance_at=instance_at,
            )
        self.builder.count(self.block.phase, instances=self.block.size - len(suspicious))
        for i in sorted(suspicious):
            instance = vectorised.pick(batch, i)
            self._record(instance, i, self._observe(instance, i))

    def _structured(self) -> None:
        found: list[tuple[Any, int, Outcome]] = []
        position = 0

        def observe(instance: Any) -> tuple[bool, float]:
            nonlocal position
            if self._hopeless:
                return False, math.nan
            index, position = position, position + 1
            outcome = self._observe(materialise(instance), index)
            if outcome.status == "violated":
                found[:] = [(instance, index, outcome)]
            elif not found:
                self._record(instance, index, outcome)
            worst = outcome.worst
            return outcome.status == "violated", math.nan if worst is None else worst.slack

        seed = integer_seed(self.block.seed, *self.block.stream_names)
        search(self.form.instances.strategy(), observe, seed=seed, examples=self.block.size)
        for instance, index, outcome in found:
            self._record(instance, index, outcome)

    def _record(self, instance: Any, index: int, outcome: Outcome) -> None:
        where, phase = self._location(index), self.block.phase
        if outcome.status == "error":
            self.builder.count(phase, instances=1)
            self._fail(where, outcome.failure, instance)
            return
        vacuous = outcome.status == "vacuous" or _says_nothing(outcome)
        inside = outcome.status == "inside rounding"
        self.builder.count(phase, instances=1, vacuous=int(vacuous), inside_rounding=int(inside))
        for e in outcome.entries:
            left, right = (None, None) if e.clause.relation == "==" else (_number(e.left), _number(e.right))
            self.builder.slack(e.clause.name, where, e.slack, left, right, instance=instance)
        worst = outcome.worst
        if outcome.status == "violated" and worst is not None:
            detail = "re-decided exactly" if outcome.redecided else ""
            self.builder.violation(where, worst.clause.name, worst.slack, instance, detail)

    def _fail(self, where: Location, failure: Failure | None, instance: Any) -> None:
        if failure is not None:
            self.builder.failure(where, failure.kind, failure.message, failure.trace, instance)

    # random claims and rates

    def _fixed(self) -> tuple[str, Any, Any]:
        fixed = self.form.fixed(self.block.seed)
        name = list(fixed)[self.block.first]
        return name, fixed[name], _built(self.block.check, self.block.mutant, self.block.seed, name)

    def _replicates(self) -> None:
        name, recorded, built = self._fixed()
        seen: list[Event | Sample] = []
        before = _global_state()
        for i in range(self.block.size):
            outcome = self._observe(built, i)
            self.builder.count(
                self.block.phase, instances=int(self.block.index < len(self.form.fixed(self.block.seed)) and i == 0)
            )
            if outcome.status == "vacuous":
                self.builder.count(self.block.phase, replicates=1, vacuous=1)
                continue
            if outcome.status == "error":
                self.builder.count(self.block.phase, replicates=1)
                self._fail(self._location(i), outcome.failure, recorded)
                if self._hopeless:
                    break
                continue
            observation = outcome.observation
            self.builder.count(self.block.phase, replicates=1)
            if not isinstance(observation, Event | Sample):
                raise TypeError(
                    f"{self.block.check}: a random claim must return an event or a sample, got {observation!r}"
                )
            if isinstance(observation, Sample) and not observation.low <= observation.value <= observation.high:
                message = (
                    f"{observation.name}={observation.value!r} outside [{observation.low:g}, {observation.high:g}]"
                )
                self._fail(self._location(i), Failure("OutOfRange", message, "", True), recorded)
                continue
            seen.append(observation)
        alone = threading.current_thread() is threading.main_thread()  # other threads may touch it meanwhile
        if alone and _global_state() != before:
            self._fail(
                self._location(0),
                Failure("GlobalStateError", "the run touched the global random state of numpy or random", "", True),
                recorded,
            )
        self._count(name, recorded, seen)

    def _count(self, name: str, recorded: Any, seen: Sequence[Event | Sample]) -> None:
        if not seen:
            return
        first = seen[0]
        if isinstance(first, Event):
            if any(not isinstance(o, Event) or o.probability != first.probability for o in seen):
                raise ValueError(f"{self.block.check}: the claimed probability differs between replicates of {name!r}")
            bad = sum(o.happened for o in seen if isinstance(o, Event))
            self.builder.event(f"{name}: {first.name}", recorded, first.probability, len(seen), bad)
            return
        claim = (first.low, first.high, first.mean, first.relation)
        samples = [o for o in seen if isinstance(o, Sample)]
        if len(samples) != len(seen) or any((o.low, o.high, o.mean, o.relation) != claim for o in samples):
            raise ValueError(f"{self.block.check}: range or claimed mean differs between replicates of {name!r}")
        counts = mean_statistics.bin_samples([o.value for o in samples], first.low, first.high)
        key = f"{name}: {first.name}"
        self.builder.mean(
            key, recorded, first.low, first.high, first.mean, tuple(int(c) for c in counts), relation=first.relation
        )

    def _sizes(self) -> None:
        _, recorded, built = self._fixed()
        for i in range(self.block.size):
            outcome = self._observe(built, i)
            self.builder.count(self.block.phase, instances=int(i == 0), replicates=1)
            if outcome.status == "error":
                self._fail(self._location(i), outcome.failure, recorded)
            elif isinstance(outcome.observation, Cost):
                cost = outcome.observation
                self.builder.rate(cost.name, int(cost.size), cost.cost, self._location(i))
            elif outcome.status == "vacuous":
                self.builder.count(self.block.phase, vacuous=1)
            else:
                raise TypeError(f"{self.block.check}: a rate check must return a Cost, got {outcome.observation!r}")


def _rows(clause: Clause, size: int) -> tuple[Any, Any, Any, Any]:
    """Worst entry of each instance: left, right, slack and whether it needs a closer look."""
    left, right = np.broadcast_arrays(np.asarray(clause.left, dtype=float), np.asarray(clause.right, dtype=float))
    if left.shape[:1] != (size,):
        raise ValueError(f"clause {clause.name!r}: the first axis must be the instance, got shape {left.shape}")
    left, right = left.reshape(size, -1), right.reshape(size, -1)
    with np.errstate(invalid="ignore"):
        gap = right - left if clause.relation == "<=" else -np.abs(right - left)
    gap = np.where(left == right, 0.0, gap)
    gap = np.where(np.isnan(gap), -np.inf, gap)
    at = np.argmin(gap, axis=1)
    pick = np.arange(size)
    slack = gap[pick, at]
    fails = slack < 0 if clause.relation == "<=" else -slack > clause.rounding
    return left[pick, at], right[pick, at], slack, fails


def _number(value: Any) -> Any:
    return float(value.mid()) if type(value).__module__.startswith("flint") else value


def _says_nothing(outcome: Outcome) -> bool:
    """Whether no clause beats its trivial bound on this instance."""
    clauses = [e.clause for e in outcome.entries]
    return bool(clauses) and all(c.trivial is not None and np.all(np.asarray(c.right) >= c.trivial) for c in clauses)


def _global_state() -> tuple[Any, ...]:
    import random

    state = np.random.get_state(legacy=True)  # noqa: NPY002 - looked at, never used
    return (random.getstate(), state[0], state[1].tobytes(), *state[2:])  # type: ignore[index]
