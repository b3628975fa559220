"""Both sides of a claim on a recorded instance, computed again for the reader."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from whp.proofs_checks.engine.check import Check
from whp.proofs_checks.engine.environment import single_thread
from whp.proofs_checks.engine.evidence import Encoded, Location, materialise
from whp.proofs_checks.engine.form import Form
from whp.proofs_checks.engine.observation import Entry
from whp.proofs_checks.engine.outcome import run_once
from whp.proofs_checks.engine.streams import stream
from whp.proofs_checks.engine.subjects import fill_slots, resolve


def both_sides(
    check: Check, subjects: Mapping[str, str], instance: Encoded, where: Location, seed: int
) -> tuple[tuple[Entry, ...], str]:
    """Run a check again on one recorded instance, as ``whp replay`` does.

    Parameters
    ----------
    check : Check
        A check of kind ``slack``.
    subjects : mapping
        References of the user's subjects by slot; slots without one take the reference subject.
    instance : Encoded
        The recorded instance.
    where : Location
        Where it was met, which names its random stream.
    seed : int
        Campaign seed.

    Returns
    -------
    tuple of Entry, str
        The sides of every clause, or none and why.
    """
    try:
        form = Form.of(check)
        mine = {k: resolve(v) for k, v in subjects.items() if k in {s.name for s in check.slots}}
        rng = stream(seed, check.id, where.phase, where.block, where.index) if form.variant.wants_rng else None
        with single_thread():
            outcome = run_once(form.variant, materialise(instance.decode()), fill_slots(check, mine), rng)
    except Exception as error:  # the reader is told, the report is written all the same
        return (), f"both sides could not be computed again: {type(error).__name__}: {error}"
    if outcome.failure is not None:
        return (), f"both sides could not be computed again: {outcome.failure.message}"
    return outcome.entries, ""


def bound_at(bound: Any, instance: Any) -> float | None:
    """Value of a bound at an instance that names all of its symbols; None for any other.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> from whp.theory.core import Bound, Domain, Symbol
    >>> square = Bound("square", lambda m, n: n * n, (Symbol("n", Domain.integers(0), "size"),))
    >>> bound_at(square, SimpleNamespace(n=3)), bound_at(square, 3) is None
    (9.0, True)
    """
    if bound is None:
        return None
    try:
        values = {s.name: getattr(instance, s.name) for s in bound.symbols}
        value = bound(**values)
    except Exception:  # an instance outside the bound's domain, or one that means another thing by a name
        return None
    return value if isinstance(value, float) else None
