"""Running one block: its instances or replicates, watched, into evidence.

What a block gives is a function of names and a seed alone.
"""

from __future__ import annotations

import math
import random
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from whp.proofs_checks.engine.check import Vectorised, keyword_names
from whp.proofs_checks.engine.environment import single_thread
from whp.proofs_checks.engine.evidence import Encoded, Evidence, EvidenceBuilder, Location, materialise, merge
from whp.proofs_checks.engine.form import Form, build_example
from whp.proofs_checks.engine.isolation import Isolated, SubjectFailure
from whp.proofs_checks.engine.observation import Clause, Cost, Event, Sample
from whp.proofs_checks.engine.outcome import Failure, Outcome, describe, run_once
from whp.proofs_checks.engine.plan import Block
from whp.proofs_checks.engine.registry import find_check
from whp.proofs_checks.engine.snapshot import Snapshot
from whp.proofs_checks.engine.statistics import mean as mean_statistics
from whp.proofs_checks.engine.streams import integer_seed, stream
from whp.proofs_checks.engine.structure import search
from whp.proofs_checks.engine.subjects import fill_slots, resolve
from whp.theory.core.registry import load_papers

_ENDED_AT_MOST = 2  # observations ended by their limits before a block is given up
_EXACT = 2**53  # whole numbers up to here are floats
_ONE_BLOCK = threading.RLock()  # threads of BLAS, hypothesis, flint's precision, global generators: one per process


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
        A function of the block, the subjects and the sources alone; with an error in it when the check itself fails.

    Notes
    -----
    A process runs one block at a time, whatever the number of its threads.
    """
    for name in block.modules:
        if not any(source == name for source in load_papers().sources.values()):
            load_papers().add_module(name)
    check = find_check(block.check)
    form = Form.of(check, block.mutant)
    given = {k: resolve(v) if isinstance(v, str) else v for k, v in (subjects or {}).items()}
    filled = {**fill_slots(check, given), **form.subjects}
    with _ONE_BLOCK, single_thread():
        evidence, touched = _run_once(block, form, filled)
        if touched:  # once is forgiven: a module that was imported meanwhile may have drawn from the global generator
            evidence, touched = _run_once(block, form, filled)
        if not touched:
            return evidence
        report = EvidenceBuilder(check.theorem, check.name, block.seed, block.budget)
        message = "the run touched the global random state of numpy or random"
        report.failure(Location(block.phase, block.index, 0), "GlobalStateError", message, "", None)
        return merge(evidence, report.build())


def _run_once(block: Block, form: Form, subjects: Mapping[str, Any]) -> tuple[Evidence, bool]:
    """Run a block and put the global random state back; says whether it had to be."""
    before = _global_state()
    with _Run(block, form, subjects) as run:
        run.go()
    alone = threading.current_thread() is threading.main_thread()  # other threads may touch it meanwhile
    touched = alone and not _same_state(before, _global_state())
    if touched:
        _restore_state(before)
    return run.builder.build(), touched


class _Run:
    """The state of one block's run."""

    def __init__(self, block: Block, form: Form, subjects: Mapping[str, Any]) -> None:
        self.block, self.form, self.subjects = block, form, subjects
        check = form.variant.check
        self.builder = EvidenceBuilder(check.theorem, check.name, block.seed, block.budget)
        self._made: dict[str, Any] = {}
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
        """Run the block; a fault of the check itself, or of its instances, is an error like one of the subject."""
        try:
            self._run_phase()
        except Exception as error:
            self._fail(self._location(0), describe(error), None)

    def _run_phase(self) -> None:
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
        return run_once(self.form.variant, instance, self.subjects, self._rng(index), self._made)

    def _observe(self, instance: Any, index: int) -> Outcome:
        try:
            return (self._isolated or self._observe_here)(instance, index)
        except (SubjectFailure, MemoryError) as error:
            self._ended += 1
            return Outcome("error", failure=describe(error))

    @property
    def _hopeless(self) -> bool:
        """Whether to give the block up: each further hang would cost its whole time limit."""
        return self._ended >= _ENDED_AT_MOST

    # slack checks

    def _examples(self) -> None:
        names = list(self.form.examples)[self.block.first : self.block.first + self.block.size]
        for i, name in enumerate(names):
            recorded = self.form.examples[name]
            built = build_example(self.block.check, self.block.mutant, self.block.seed, name)
            self._record(recorded, i, self._observe(built, i))
            if self._hopeless:
                return

    def _hunted(self) -> None:
        instance = Encoded(self.block.hunted).decode()
        self._record(instance, 0, self._observe(materialise(instance), 0))

    def _sampled(self) -> None:
        rng = stream(self.block.seed, *self.block.stream_names)
        if self.form.vectorised is not None and self.form.in_arrays and self._isolated is None:
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
        takes = keyword_names(vectorised.observe)
        if not set(self.subjects) <= takes:
            raise ValueError(f"the vectorised observe must take the slots {list(self.subjects)}")
        size = self.block.size
        batch = vectorised.draw(rng, size)
        try:
            rows = self._rows(vectorised, batch)
            closer = np.any([r.fails for r in rows], axis=0)
        except Exception:  # one by one, so that the instance at fault is found and recorded
            rows, closer = [], np.ones(size, dtype=bool)
        good = np.flatnonzero(~closer)
        for r in rows:
            sides = (None, None) if r.clause.relation == "==" else (r.left[good], r.right[good])
            where = (r.clause.name, self.block.phase, self.block.index)
            self.builder.slacks(
                *where, r.slack[good], *sides, instance_at=lambda j: vectorised.pick(batch, int(good[j]))
            )
        vacuous = int(np.count_nonzero(np.all([r.says_nothing for r in rows], axis=0)[good])) if rows else 0
        self.builder.count(self.block.phase, instances=len(good), vacuous=vacuous)
        for i in np.flatnonzero(closer):
            instance = vectorised.pick(batch, int(i))
            self._record(instance, int(i), self._observe(instance, int(i)))
            if self._hopeless:
                return

    def _rows(self, vectorised: Vectorised, batch: Any) -> list[_Row]:
        """Observe a batch in arrays; raises where that says less than one by one would."""
        first = vectorised.pick(batch, 0)
        for assumption in self.form.variant.theorem.assumptions:
            if assumption.name not in self.form.variant.ignoring and not assumption.holds(first):
                raise ValueError(f"the batch may miss the assumption {assumption.name!r}")
        before = Snapshot(batch)
        try:
            clauses = vectorised.observe(batch, **self.subjects).clauses
        finally:
            changed = before.restore()
        if changed:
            raise ValueError("the batch was changed")
        return [_row(c, self.block.size) for c in clauses]

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
        vacuous = outcome.status == "vacuous" or (outcome.status == "kept" and _says_nothing(outcome))
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
        return name, fixed[name], build_example(self.block.check, self.block.mutant, self.block.seed, name)

    def _replicates(self) -> None:
        name, recorded, built = self._fixed()
        seen: list[Event | Sample] = []
        for i in range(self.block.size):
            outcome = self._observe(built, i)
            self.builder.count(self.block.phase, replicates=1, vacuous=int(outcome.status == "vacuous"))
            if outcome.status == "error":
                self._fail(self._location(i), outcome.failure, recorded)
                if self._hopeless:
                    break
            elif outcome.status != "vacuous":
                seen.extend(self._admitted(outcome.observation, i, recorded))
            if i == 0 and self._opens_instance:
                first = outcome
        if self._opens_instance:
            self.builder.count(self.block.phase, instances=1)
            if len(seen) == self.block.size:
                self._run_again(first, built, recorded)
        self._count(name, recorded, seen)

    @property
    def _opens_instance(self) -> bool:
        """Whether this is the first block of its fixed instance."""
        return self.block.index == self.block.first

    def _admitted(self, observation: Any, index: int, recorded: Any) -> tuple[Event | Sample, ...]:
        """The observation if it is of a random claim and inside its declared range."""
        if not isinstance(observation, Event | Sample):
            raise TypeError(f"a random claim must return an event or a sample, got {observation!r}")
        if isinstance(observation, Sample) and not observation.low <= observation.value <= observation.high:
            message = f"{observation.name}={observation.value!r} outside [{observation.low:g}, {observation.high:g}]"
            self._fail(self._location(index), Failure("OutOfRange", message, "", True), recorded)
            return ()
        return (observation,)

    def _run_again(self, first: Outcome, built: Any, recorded: Any) -> None:
        """Run the first replicate once more: with its own stream it must come out as before, whatever ran between."""
        again = self._observe(built, 0)
        if (again.status, again.observation) != (first.status, first.observation):
            message = (
                "the first replicate came out differently when it was run again: the subject keeps state between "
                "replicates, or draws from a generator that it was not passed"
            )
            self._fail(self._location(0), Failure("NotReproducible", message, "", True), recorded)

    def _count(self, name: str, recorded: Any, seen: Sequence[Event | Sample]) -> None:
        if not seen:
            return
        first = seen[0]
        if isinstance(first, Event):
            if any(not isinstance(o, Event) or o.probability != first.probability for o in seen):
                raise ValueError(f"the claimed probability differs between replicates of {name!r}")
            bad = sum(o.happened for o in seen if isinstance(o, Event))
            self.builder.event(f"{name}: {first.name}", recorded, first.probability, len(seen), bad)
            return
        claim = (first.low, first.high, first.mean, first.relation)
        samples = [o for o in seen if isinstance(o, Sample)]
        if len(samples) != len(seen) or any((o.low, o.high, o.mean, o.relation) != claim for o in samples):
            raise ValueError(f"range or claimed mean differs between replicates of {name!r}")
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
                raise TypeError(f"a rate check must return a Cost, got {outcome.observation!r}")


@dataclass(frozen=True)
class _Row:
    """Worst entry of each instance of a batch: both sides, slack, and whether it needs a closer look."""

    clause: Clause
    left: Any
    right: Any
    slack: Any
    fails: Any
    says_nothing: Any


def _row(clause: Clause, size: int) -> _Row:
    left, right = np.broadcast_arrays(_floats(clause.left), _floats(clause.right))
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
    nothing = np.all(right >= clause.trivial, axis=1) if clause.trivial is not None else np.zeros(size, dtype=bool)
    return _Row(clause, left[pick, at], right[pick, at], slack, fails, nothing)


def _floats(side: Any) -> Any:
    """Return a side as an array of floats that are equal to it."""
    array = np.asarray(side)
    whole = array.dtype.kind in "iu" and array.size and (array.max() > _EXACT or array.min() < -_EXACT)
    if array.dtype.kind not in "biuf" or whole:
        raise TypeError("these numbers are compared exactly, one by one")
    return array.astype(float)


def _number(value: Any) -> Any:
    return float(value.mid()) if type(value).__module__.startswith("flint") else value


def _says_nothing(outcome: Outcome) -> bool:
    """Whether no clause beats its trivial bound on this instance."""
    clauses = [e.clause for e in outcome.entries]
    return bool(clauses) and all(c.trivial is not None and np.all(np.asarray(c.right) >= c.trivial) for c in clauses)


def _global_state() -> tuple[Any, Any]:
    return random.getstate(), np.random.get_state(legacy=True)  # noqa: NPY002 - never drawn from


def _same_state(first: tuple[Any, Any], second: tuple[Any, Any]) -> bool:
    (ours, (name, key, *rest)), (theirs, (other, other_key, *other_rest)) = first, second
    return ours == theirs and (name, rest) == (other, other_rest) and np.array_equal(key, other_key)


def _restore_state(state: tuple[Any, Any]) -> None:
    random.setstate(state[0])
    np.random.set_state(state[1])  # noqa: NPY002
