"""One check on one instance: run, watched, and re-decided exactly where floats cannot be trusted."""

from __future__ import annotations

import math
import re
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import PurePath
from typing import Any, Literal

import numpy as np

from whp.proofs_checks.engine.check import Check, OutputAsData, Rounded, keyword_names
from whp.proofs_checks.engine.exact import exactify
from whp.proofs_checks.engine.isolation import SubjectHung
from whp.proofs_checks.engine.observation import (
    Clause,
    Entry,
    Event,
    NotANumberError,
    Observation,
    Sample,
    Slack,
    worst_entry,
)
from whp.proofs_checks.engine.snapshot import Snapshot
from whp.proofs_checks.engine.subjects import Replayed, SubjectError, guard
from whp.theory.core import Theorem
from whp.theory.core.mathematics import FlintMathematics

_KEPT_FRAMES, _KEPT_LETTERS = 5, 2000

Status = Literal["kept", "violated", "inside rounding", "vacuous", "error"]


@dataclass(frozen=True)
class Failure:
    """Why an observation could not be made, and whose fault it is; free of paths and addresses."""

    kind: str
    message: str
    trace: str
    of_subject: bool


@dataclass(frozen=True)
class Outcome:
    """What one run of a check on one instance showed.

    ``entries`` holds the worst entry of each clause of a slack; empty for other observations.
    """

    status: Status
    observation: Observation | None = None
    entries: tuple[Entry, ...] = ()
    failure: Failure | None = None
    redecided: bool = False

    @property
    def worst(self) -> Entry | None:
        """The violated entry that fails by most, or else the one closest to failing."""
        return min(self.entries, key=lambda e: (not e.violated, not e.inside_rounding, e.slack), default=None)


@dataclass(frozen=True)
class Variant:
    """A check as it is run: with its own function and assumptions, or a mutant's."""

    check: Check
    theorem: Theorem
    observe: Callable[..., Any]
    ignoring: tuple[str, ...] = ()
    mutated: bool = False

    @classmethod
    def of(cls, check: Check, theorem: Theorem) -> Variant:
        """Return the check itself."""
        return cls(check, theorem, check.observe)

    def tightened(self, factor: float) -> Variant:
        """Return the claim with its bounds tightened by a factor below 1; without bounds, with perturbed identities."""
        if self.check.tighten is not None:
            return replace(self, observe=self.check.tighten(factor), mutated=True)
        inner, takes = self.observe, keyword_names(self.observe)

        def observe(instance: Any, **keywords: Any) -> Any:
            return _tighten(inner(instance, **{k: v for k, v in keywords.items() if k in takes}), Fraction(factor))

        return replace(self, observe=observe, mutated=True)

    @property
    def wants_rng(self) -> bool:
        """Whether the function takes a generator."""
        return self.check.random


def _tighten(observation: Any, factor: Fraction) -> Any:
    """Multiply the right side of every inequality, the claimed probability, or the room below the claimed mean."""
    if isinstance(observation, Slack):
        bounds = any(c.relation == "<=" for c in observation.clauses)  # else there are only identities to perturb
        return Slack(
            tuple(_tighten_clause(c, factor) if c.relation == "<=" or not bounds else c for c in observation.clauses)
        )
    if isinstance(observation, Event):
        return replace(observation, probability=observation.probability * float(factor))
    if isinstance(observation, Sample):
        low, high, mean = observation.low, observation.high, observation.mean
        moved = (
            high - (high - mean) * float(factor) if observation.relation == ">=" else low + (mean - low) * float(factor)
        )
        return replace(observation, mean=moved)
    return observation


def _tighten_clause(clause: Clause, factor: Fraction) -> Clause:
    """Move the right side against the claim by ``1 - factor`` of its size (of one, where it is zero)."""
    right = np.asarray(clause.right)
    if right.dtype == object or right.dtype.kind in "iub":  # stays exact
        moved = np.vectorize(lambda r: _move(r, factor, clause.relation), otypes=[object])(right)
    else:
        size = np.maximum(np.abs(right), 1.0) if clause.relation == "==" else np.where(right == 0, 1.0, np.abs(right))
        shift = np.where(np.isinf(right), 0.0, size) * float(1 - factor)
        moved = right + shift if clause.relation == "==" else right - shift
    return replace(clause, right=moved[()] if np.ndim(moved) == 0 else moved)


def _move(right: Any, factor: Fraction, relation: str) -> Any:
    shift: Any = 1 - factor
    if isinstance(right, float):
        shift = float(shift)
        if math.isinf(right):
            return right
    elif not isinstance(right, int | np.integer | Fraction):  # a ball
        shift = FlintMathematics().ball(shift)
    else:
        right = Fraction(int(right)) if not isinstance(right, Fraction) else right
    if relation == "==":
        return right + (abs(right) if abs(right) > 1 else 1) * shift
    return right - (abs(right) if right != 0 else 1) * shift


def run_once(
    variant: Variant,
    instance: Any,
    subjects: Mapping[str, Any],
    rng: np.random.Generator | None = None,
    made: dict[str, Any] | None = None,
) -> Outcome:
    """Run a check on one instance.

    Parameters
    ----------
    variant : Variant
        The check and which form of it.
    instance : object
        A built instance (recipes already materialised).
    subjects : mapping
        Subject by slot name, for every slot.
    rng : numpy.random.Generator, optional
        For checks that ask for one.
    made : dict, optional
        What each factory returned last, kept from replicate to replicate: it must make a new object each time.

    Returns
    -------
    Outcome
        ``vacuous`` when an assumption of the theorem does not hold of the instance; ``error`` when the subject or the
        check raised (a MemoryError or a hang is passed on); else kept, violated or inside rounding (always kept for
        events, samples and costs).
    """
    check = variant.check
    try:
        for assumption in variant.theorem.assumptions:
            if assumption.name not in variant.ignoring and not assumption.holds(instance):
                return Outcome("vacuous")
    except Exception as error:
        return _failed(error)
    record = isinstance(check.redecide, OutputAsData)
    guarded = guard(check, subjects, record=record, made=made)
    before = Snapshot(instance) if any(slot.stateful for slot in check.slots) else None  # its methods are not guarded
    keywords: dict[str, Any] = dict(guarded)
    if variant.wants_rng:
        keywords["rng"] = rng
    try:
        outcome = _judge(variant.observe(instance, **keywords))
    except (MemoryError, SubjectHung):
        raise
    except Exception as error:
        outcome = _failed(error)
    if before is not None and before.restore():
        return _failed(SubjectError("the subject changed the instance; it must work on a copy"))
    rounded = isinstance(check.redecide, Rounded) or variant.wants_rng
    if outcome.status == "violated" and not rounded and _has_floats(outcome):
        return _redecide(variant, instance, subjects, guarded, outcome)
    return outcome


def _judge(observation: Any) -> Outcome:
    if not isinstance(observation, Slack):
        return Outcome("kept", observation)
    if not observation.clauses:
        raise ValueError("a slack needs at least one clause")
    entries = tuple(worst_entry(c) for c in observation.clauses)
    if any(e.violated for e in entries):
        return Outcome("violated", observation, entries)
    if any(e.inside_rounding and e.clause.relation == "<=" for e in entries):
        return Outcome("inside rounding", observation, entries)
    return Outcome("kept", observation, entries)


def _has_floats(outcome: Outcome) -> bool:
    return any(e.violated and any(isinstance(v, float) for v in (e.left, e.right)) for e in outcome.entries)


def _redecide(
    variant: Variant, instance: Any, subjects: Mapping[str, Any], guarded: Mapping[str, Any], first: Outcome
) -> Outcome:
    """Decide a float violation again as the check declares; an undecidable one is never a refutation."""
    if any(e.violated and math.isinf(e.slack) for e in first.entries):
        return first  # no rounding is infinite
    try:
        exact = _judge(_exact_observation(variant, instance, subjects, guarded))
    except SubjectError as error:
        return replace(first, status="inside rounding", failure=describe(error))
    except Exception as error:
        return _failed(error)
    if exact.status == "violated" and not any(e.violated and _exact_enough(e) for e in exact.entries):
        exact = replace(exact, status="inside rounding")
    return replace(exact, redecided=True)


def _exact_enough(entry: Entry) -> bool:
    """Whether a violation stands: exact sides, or floats with a published rounding model."""
    return entry.clause.rounding > 0 or not any(isinstance(v, float) for v in (entry.left, entry.right))


def _exact_observation(
    variant: Variant, instance: Any, subjects: Mapping[str, Any], guarded: Mapping[str, Any]
) -> Observation:
    mode = variant.check.redecide
    observe = variant.observe
    exact_subjects: Mapping[str, Any] = guard(variant.check, subjects)
    if isinstance(mode, OutputAsData):
        observe = mode.observe if mode.observe is not None and not variant.mutated else variant.observe
        exact_subjects = {k: Replayed([exactify(output) for _, output in g.calls]) for k, g in guarded.items()}
    observation: Observation = observe(exactify(instance), **exact_subjects)
    return observation


def _failed(error: Exception) -> Outcome:
    return Outcome("error", failure=describe(error))


def describe(error: Exception) -> Failure:
    """Describe an exception without paths and addresses, so that the description is the same on every machine."""
    cause = error.__cause__ if isinstance(error, SubjectError) and error.__cause__ is not None else error
    frames = traceback.extract_tb(cause.__traceback__)[-_KEPT_FRAMES:]
    trace = "\n".join(f"{PurePath(f.filename).name}:{f.lineno} {f.name}" for f in frames)
    message = re.sub(r"\b0x[0-9a-fA-F]{6,}", "0x...", str(error))[:_KEPT_LETTERS]
    return Failure(type(cause).__name__, message, trace, isinstance(error, SubjectError | NotANumberError))
