"""Hunting: moving the numbers of instances towards a violation, or towards the tightest instance there is."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whp.proofs_checks.engine.check import Check
from whp.proofs_checks.engine.evidence import Encoded, materialise
from whp.proofs_checks.engine.form import Form
from whp.proofs_checks.engine.observation import Entry
from whp.proofs_checks.engine.outcome import Outcome, run_once
from whp.proofs_checks.engine.parameters import rebuild, vector
from whp.proofs_checks.engine.registry import checks_of
from whp.proofs_checks.engine.streams import integer_seed, stream
from whp.proofs_checks.engine.structure import drawn
from whp.proofs_checks.engine.subjects import fill_slots
from whp.theory.core.registry import load_papers

_STARTS = 12  # instances from which a search starts, best first
_LARGEST = 400  # numbers in an instance beyond which moving them all at once is hopeless
_FULL = 40  # numbers up to which CMA-ES learns how they depend on one another
_SMALL = 8  # numbers up to which differential evolution is tried besides CMA-ES
_REFUSED = 1e3  # objective of an instance that cannot be built or misses an assumption


@dataclass(frozen=True)
class Step:
    """An improvement: after how many observations, how tight, from which start."""

    observations: int
    ratio: float
    source: str


@dataclass(frozen=True)
class Hunt:
    """What a hunt found for one check.

    Attributes
    ----------
    check : Check
        The check.
    instance : Encoded, optional
        The tightest instance met; a violation when ``violated``.
    ratio : float
        Its left over right side (identities: residual over size); above 1 is a violation of an inequality.
    violated : bool
        Whether the instance refutes the claim, re-decided exactly where the check says so.
    steps : tuple of Step
        Best ratio over observations.
    observations : int
        How many were made.
    """

    check: Check
    instance: Encoded | None
    ratio: float
    violated: bool
    steps: tuple[Step, ...]
    observations: int


def hunt(
    theorem_id: str,
    *,
    observations: int = 4000,
    seconds: float | None = None,
    seed: int = 0,
    modules: Sequence[str] = (),
    progress: Callable[[Check, Step], None] | None = None,
) -> list[Hunt]:
    """Search the parameters of the instances of every for-all check of a theorem.

    Starts are the named instances, seeded draws and hypothesis's; from the tightest of them CMA-ES (and, with few
    parameters, differential evolution) moves the numbers.

    Parameters
    ----------
    theorem_id : str
        Id of the theorem.
    observations : int
        How often each check may be observed.
    seconds : float, optional
        Stops earlier after this time (the result then depends on the machine's speed).
    seed : int
        Seed of the hunt.
    modules : sequence of str
        Outside modules that state theorems.
    progress : callable, optional
        Called with each improvement.

    Raises
    ------
    ValueError
        If the theorem has no for-all check, or observations is not positive.
    """
    if observations < 1:
        raise ValueError(f"observations must be at least 1, got {observations}")
    for name in modules:
        load_papers().add_module(name)
    theorem = load_papers().theorem(theorem_id)
    checks = [c for c in checks_of(theorem.id) if c.kind == "slack" and not (c.unavailable and c.unavailable())]
    if not checks:
        raise ValueError(f"{theorem_id} has no for-all check to hunt in; random claims are decided by `whp verify`")
    deadline = math.inf if seconds is None else time.monotonic() + seconds
    return [_Hunter(c, observations, deadline, seed, progress).go() for c in checks]


class _StopError(Exception):
    """The observations or the time are used up, or a violation was found."""


class _Hunter:
    def __init__(
        self,
        check: Check,
        observations: int,
        deadline: float,
        seed: int,
        progress: Callable[[Check, Step], None] | None,
    ) -> None:
        self.check, self.most, self.deadline, self.seed = check, observations, deadline, seed
        self.form, self.progress = Form.of(check), progress
        self.subjects = fill_slots(check, {})
        self.made, self.ratio, self.violated = 0, -math.inf, False
        self.best: Any = None
        self.steps: list[Step] = []

    def go(self) -> Hunt:
        with contextlib.suppress(_StopError):
            self._search()
        encoded = None if self.best is None else Encoded.of(self.best)
        return Hunt(self.check, encoded, self.ratio, self.violated, tuple(self.steps), self.made)

    def _search(self) -> None:
        starts: list[tuple[float, int, Any]] = []
        for i, (source, instance) in enumerate(self._starts()):
            ratio = self._observe(instance, source)
            if math.isfinite(ratio) and 0 < vector(materialise(instance)).size <= _LARGEST:
                starts.append((ratio, i, instance))
        starts.sort(key=lambda s: (-s[0], s[1]))
        for rank, (_, _, instance) in enumerate(starts[:_STARTS]):
            left = self.most - self.made  # the best start takes half of it: many dimensions need a long search
            self._move(materialise(instance), rank, left if rank + 1 == _STARTS else max(1, left // 2))

    def _starts(self) -> Iterator[tuple[str, Any]]:
        yield from ((f"named {name!r}", instance) for name, instance in self.form.examples.items())
        share = self.most // 4
        if self.form.instances.strategy is not None:
            seed = integer_seed(self.seed, self.check.id, "hunt", "structured")
            yield from (("hypothesis", x) for x in drawn(self.form.instances.strategy(), seed, min(share, 200)))
        rng = stream(self.seed, self.check.id, "hunt", "drawn")
        if self.form.vectorised is not None:
            batch = self.form.vectorised.draw(rng, share)
            yield from (("drawn", self.form.vectorised.pick(batch, i)) for i in range(share))
        elif self.form.instances.draw is not None:
            yield from (("drawn", x) for x in self.form.instances.draw(rng, share))

    def _move(self, instance: Any, rank: int, room: int) -> None:
        start = vector(instance)
        seed = integer_seed(self.seed, self.check.id, "hunt", "moves", rank) % 2**31

        def objective(values: NDArray[np.float64]) -> float:
            try:
                moved = rebuild(instance, np.asarray(values))
            except (ValueError, TypeError, OverflowError):
                self._count()
                return _REFUSED
            ratio = self._observe(moved, f"moved from start {rank}")
            return -ratio if math.isfinite(ratio) else _REFUSED

        if start.size <= _SMALL and rank == 0:
            _differential_evolution(objective, start, seed, room // 2)
            room -= room // 2
        _cma(objective, start, seed, room)

    def _count(self) -> None:
        if self.made >= self.most or time.monotonic() > self.deadline:
            raise _StopError
        self.made += 1

    def _observe(self, instance: Any, source: str) -> float:
        self._count()
        variant = self.form.variant
        rng = stream(self.seed, self.check.id, "hunt", self.made) if variant.wants_rng else None
        outcome = run_once(variant, materialise(instance), self.subjects, rng)
        ratio = _objective(outcome)
        if ratio > self.ratio or (outcome.status == "violated" and not self.violated):
            self.ratio, self.best, self.violated = ratio, instance, outcome.status == "violated"
            step = Step(self.made, ratio, source)
            self.steps.append(step)
            if self.progress is not None:
                self.progress(self.check, step)
        if self.violated:
            raise _StopError
        return ratio


def _objective(outcome: Outcome) -> float:
    """How close to a violation; minus infinity where the claim says nothing."""
    if outcome.status in ("vacuous", "error"):
        return -math.inf
    return max((_closeness(e) for e in outcome.entries), default=-math.inf)


def _closeness(entry: Entry) -> float:
    if math.isfinite(entry.ratio):
        return entry.ratio
    size = max(abs(float(entry.right)), 1.0) if entry.clause.relation == "==" else max(abs(entry.slack), 1e-300)
    return -entry.slack / size


def _cma(objective: Callable[[NDArray[np.float64]], float], start: NDArray[np.float64], seed: int, room: int) -> None:
    """Move all numbers at once, at first by a fifth of their size."""
    from cmaes import CMA, SepCMA

    scale = _scale(start)
    if start.size < 2:  # cmaes needs two dimensions; the second is idle
        _line(objective, start, scale, seed, room)
        return
    kind: Any = CMA if start.size <= _FULL else SepCMA
    optimiser = kind(mean=np.zeros(start.size), sigma=0.2, seed=seed)
    while room > 0 and not optimiser.should_stop():
        asked = [optimiser.ask() for _ in range(min(optimiser.population_size, room))]
        room -= len(asked)
        told = [(x, objective(start + scale * x)) for x in asked]
        if len(told) < optimiser.population_size:
            return
        optimiser.tell(told)


def _scale(start: NDArray[np.float64]) -> NDArray[np.float64]:
    """Size of each number; small ones count as a fifth of the typical one, whole ones as enough to move by one."""
    typical = float(np.sqrt(np.mean(start**2))) or 1.0
    scale = np.maximum(np.abs(start), 0.2 * typical)
    return np.maximum(scale, 5.0) if np.all(start == np.round(start)) else scale


def _line(
    objective: Callable[[NDArray[np.float64]], float],
    start: NDArray[np.float64],
    scale: NDArray[np.float64],
    seed: int,
    room: int,
) -> None:
    rng = np.random.default_rng(seed)
    best, width = (objective(start), start), 0.5
    for _ in range(max(0, room - 1)):
        tried = best[1] + scale * width * rng.standard_normal(start.size)
        value = objective(tried)
        width = min(2.0, width * 1.3) if value < best[0] else max(1e-9, width * 0.93)
        best = min(best, (value, tried), key=lambda pair: pair[0])


def _differential_evolution(
    objective: Callable[[NDArray[np.float64]], float], start: NDArray[np.float64], seed: int, room: int
) -> None:
    """Search a box around the start, for landscapes with several valleys."""
    from scipy.optimize import Bounds, differential_evolution

    reach = np.maximum(np.abs(start), 1.0)
    population = 10 * start.size
    if room < 2 * population:
        return
    differential_evolution(
        objective,
        Bounds(start - 2 * reach, start + 2 * reach),
        maxiter=max(1, room // population - 1),
        popsize=10,
        rng=np.random.default_rng(seed),
        polish=False,
        init="sobol" if population >= 8 else "latinhypercube",
    )
