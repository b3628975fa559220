"""Putting an implementation into a slot: finding it, checking its signature and outputs, recording its calls."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import sys
import types
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from whp.proofs_checks.engine.check import Check
from whp.proofs_checks.engine.isolation import SubjectHung
from whp.proofs_checks.engine.programs import PREFIX, Program, program
from whp.proofs_checks.engine.snapshot import Snapshot
from whp.theory.core import Slot
from whp.theory.core.registry import load_module


class SubjectError(Exception):
    """The subject raised, or does not have the declared signature or output; the message names which."""


class SubjectOutputError(SubjectError):
    """The subject returned something that is not of the slot's kind."""


class SubjectCallError(SubjectError):
    """The subject raised; the original exception is the cause."""


def resolve(reference: str) -> Any:
    """Find ``module:attribute``, ``file.py:attribute``, or ``exec:command`` for a program in any language.

    Raises
    ------
    ValueError
        If the module or the attribute does not exist.
    """
    if reference.startswith(PREFIX):
        return program(reference.removeprefix(PREFIX))
    module_name, _, attribute = reference.rpartition(":")
    if not module_name or not attribute:
        raise ValueError(f"a subject is written module:function, file.py:function or exec:program, got {reference!r}")
    found: Any = load_module(module_name)
    for part in attribute.split("."):
        if not hasattr(found, part):
            raise ValueError(f"module {module_name!r} has no {attribute!r}")
        found = getattr(found, part)
    return found


def reference_to(subject: Any) -> str | None:
    """``module:qualname`` when that finds the very same object again, else None."""
    if isinstance(subject, Program):
        return PREFIX + subject.command
    module, name = getattr(subject, "__module__", None), getattr(subject, "__qualname__", None)
    if not module or not name or "<" in name or module == "__main__":
        return None
    try:
        found: Any = sys.modules.get(module) or importlib.import_module(module)
    except ImportError:
        return None
    for part in name.split("."):
        found = getattr(found, part, None)
    return f"{module}:{name}" if found is subject else None


def name_of(subject: Any) -> str:
    """Return the reference to a subject, or its name in round brackets when it cannot be imported again."""
    kind = subject if hasattr(subject, "__qualname__") else type(subject)
    return reference_to(subject) or f"({kind.__module__}:{kind.__qualname__})"


def check_signature(slot: Slot, subject: Any) -> None:
    """Refuse a subject that cannot be called with the slot's arguments.

    Raises
    ------
    SubjectError
        If it is not callable, or its signature does not accept the arguments in order.
    """
    if isinstance(subject, Program) and slot.stateful:
        raise SubjectError(f"slot {slot.name} takes a factory of learners, which a program cannot serve")
    if not callable(subject):
        raise SubjectError(f"slot {slot.name} takes a callable {slot.signature}, got {type(subject).__name__}")
    try:
        signature = inspect.signature(subject)
    except (TypeError, ValueError):  # built-ins without a signature are tried at the first call
        return
    try:
        signature.bind(*slot.parameters)
    except TypeError as error:
        raise SubjectError(
            f"slot {slot.name} is called as {slot.signature}; the subject is {signature}: {error}"
        ) from None


@dataclass
class Guarded:
    """A subject that is watched: its exceptions are told apart from the check's, its outputs are validated.

    ``calls`` records arguments and outputs when it is a list; ``made`` holds what each factory returned last.
    """

    slot: Slot
    subject: Any
    calls: list[tuple[tuple[Any, ...], Any]] | None = None
    made: dict[str, Any] | None = None

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        """Call the subject and look at what it returns."""
        before = Snapshot((arguments, keywords))
        try:
            output = self.subject(*arguments, **keywords)
        except (MemoryError, SubjectHung):  # whoever set the limit knows what it means
            raise
        except Exception as error:
            raise SubjectCallError(f"slot {self.slot.name}: {type(error).__name__}: {error}") from error
        finally:
            changed = before.restore()
        if changed:
            raise SubjectCallError(f"slot {self.slot.name} changed its arguments; it must work on a copy")
        if self.slot.stateful and self.made is not None:
            if output is self.made.get(self.slot.name) and _has_state(output):
                raise SubjectOutputError(f"slot {self.slot.name} is a factory but returned the same object twice")
            self.made[self.slot.name] = output
        if not self.slot.stateful and _holds_nan(output):
            raise SubjectOutputError(f"slot {self.slot.name} returned {_brief(output)}: not a number")
        if self.slot.validate is not None:
            try:
                self.slot.validate(output, *arguments, **keywords)
            except (TypeError, ValueError) as error:
                raise SubjectOutputError(f"slot {self.slot.name} returned {_brief(output)}: {error}") from error
        if self.calls is not None:
            self.calls.append((arguments, output))
        return output

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name in ("slot", "subject", "calls", "made"):
            raise AttributeError(name)
        return getattr(self.subject, name)


@dataclass
class Replayed:
    """Outputs recorded earlier, given back in the same order."""

    outputs: list[Any]
    position: int = field(default=0)

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        """Give back the next output."""
        if self.position >= len(self.outputs):
            raise SubjectError("the exact re-decision calls the subject more often than the check did")
        self.position += 1
        return self.outputs[self.position - 1]


def _holds_nan(value: Any, depth: int = 3) -> bool:
    """Whether a number, array, container or dataclass holds nan; a nan compares false and would pass unseen."""
    if isinstance(value, float | np.floating):
        return bool(value != value)
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "fc" and bool(np.isnan(value).any())
    if depth == 0:
        return False
    if isinstance(value, list | tuple):
        return any(_holds_nan(v, depth - 1) for v in value)
    if isinstance(value, dict):
        return any(_holds_nan(v, depth - 1) for v in value.values())
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return any(_holds_nan(getattr(value, f.name, None), depth - 1) for f in dataclasses.fields(value))
    return False


def _has_state(value: Any) -> bool:
    """Whether an object may remember something; functions and classes returned by a factory are taken as they are."""
    return not isinstance(value, types.FunctionType | types.BuiltinFunctionType | type) and bool(
        getattr(value, "__dict__", None)
    )


def _brief(value: Any, limit: int = 120) -> str:
    text = repr(value)
    return text if len(text) <= limit else f"{text[:limit]}... ({type(value).__name__})"


def fill_slots(check: Check, subjects: Mapping[str, Any]) -> dict[str, Any]:
    """Subjects by slot name, the reference where none is given.

    Raises
    ------
    ValueError
        If a name is no slot of the check.
    """
    for name in subjects:
        check.slot(name)
    return {slot.name: subjects.get(slot.name, default) for slot, default in check.slots.items()}


def guard(
    check: Check, subjects: Mapping[str, Any], *, record: bool = False, made: dict[str, Any] | None = None
) -> dict[str, Guarded]:
    """Wrap the subjects of a check for one run on one instance."""
    return {
        name: Guarded(check.slot(name), subject, [] if record else None, made) for name, subject in subjects.items()
    }
