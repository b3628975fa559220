"""Finding checks and proofs beside the theorems they bind."""

from __future__ import annotations

import importlib
import importlib.util
from functools import cache

from whp.proofs_checks.engine.check import Check
from whp.proofs_checks.engine.evidence import allow_namespace
from whp.proofs_checks.engine.proofs import Proof
from whp.theory.core.registry import load_papers


@cache
def _bindings(slug: str) -> tuple[tuple[Check, ...], tuple[Proof, ...]]:
    source = load_papers().sources[slug]
    name = f"whp.proofs_checks.{slug}" if source.startswith("whp.theory.") else source.split(":")[0]
    if importlib.util.find_spec(name) is None:
        return (), ()
    if not name.startswith("whp."):
        allow_namespace(name.split(".")[0])
    module = importlib.import_module(name)
    checks, proofs = tuple(getattr(module, "CHECKS", ())), tuple(getattr(module, "PROOFS", ()))
    strange = [b for b in (*checks, *proofs) if not isinstance(b, Check | Proof)]
    if strange:
        raise TypeError(f"CHECKS and PROOFS of {name} must hold Check and Proof objects, got {strange[0]!r}")
    for bound in (*checks, *proofs):
        load_papers().theorem(bound.theorem)  # raises for a theorem that is not stated
    names = [c.id for c in checks] + [f"{p.theorem}/{p.name}" for p in proofs]
    twice = sorted({n for n in names if names.count(n) > 1})
    if twice:
        raise ValueError(f"{name} defines {twice} twice")
    return checks, proofs


def forget_checks() -> None:
    """Forget the checks found so far, so that changed modules are read again."""
    _bindings.cache_clear()


def leave_out_broken() -> dict[str, str]:
    """Drop the outside papers whose theorems or checks cannot be read; returns the reasons by source."""
    for slug, source in load_papers().sources.items():
        if source.startswith("whp.theory."):
            continue
        try:
            _bindings(slug)
        except Exception as error:
            load_papers().leave_out(slug, f"{type(error).__name__}: {error}")
    return dict(load_papers().broken)


def checks_of(theorem_id: str) -> tuple[Check, ...]:
    """Checks that bind a theorem, in their module's order."""
    return tuple(c for c in _bindings(theorem_id.split(".")[0])[0] if c.theorem == theorem_id)


def proofs_of(theorem_id: str) -> tuple[Proof, ...]:
    """Proofs of a theorem, in their module's order."""
    return tuple(p for p in _bindings(theorem_id.split(".")[0])[1] if p.theorem == theorem_id)


def find_check(check_id: str) -> Check:
    """Return a check by ``theorem/name``.

    Raises
    ------
    ValueError
        If there is no such check.
    """
    theorem_id, _, name = check_id.partition("/")
    for c in checks_of(load_papers().theorem(theorem_id).id):
        if c.name == name:
            return c
    known = ", ".join(c.name for c in checks_of(theorem_id)) or "none"
    raise ValueError(f"theorem {theorem_id} has no check {name!r} (it has {known})")
