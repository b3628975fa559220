"""A check as it is run, itself or as one of its mutants, and its built instances."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import Any

from whp.proofs_checks.engine.check import Check, Mutant, Vectorised
from whp.proofs_checks.engine.evidence import materialise
from whp.proofs_checks.engine.outcome import Variant
from whp.proofs_checks.engine.registry import find_check, forget_checks
from whp.proofs_checks.engine.streams import stream
from whp.theory.core.registry import load_papers


@dataclass(frozen=True)
class Form:
    """A check as it is run, itself or as one of its mutants: function, instances, broken subjects.

    ``vectorised`` draws the breadth; its function stands for the variant's own only when ``in_arrays``.
    """

    variant: Variant
    instances: Any
    vectorised: Vectorised | None
    in_arrays: bool
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
            return cls(variant, check.instances, check.vectorised, True, {})
        if mutant.startswith("tightened "):
            return cls(variant.tightened(float(mutant.split()[1])), check.instances, check.vectorised, False, {})
        chosen = next((m for m in check.mutants if m.name == mutant), None)
        if chosen is None:
            raise ValueError(f"check {check.id} has no mutant {mutant!r} (it has {[m.name for m in check.mutants]})")
        return cls._mutated(variant, chosen)

    @classmethod
    def _mutated(cls, variant: Variant, mutant: Mutant) -> Form:
        check = variant.check
        vectorised = mutant.vectorised
        if vectorised is None and mutant.instances is None:
            vectorised = check.vectorised
        in_arrays = mutant.vectorised is not None or mutant.observe is None
        broken = replace(
            variant,
            observe=mutant.observe or check.observe,
            ignoring=mutant.ignoring,
            mutated=mutant.observe is not None,
        )
        return cls(broken, mutant.instances or check.instances, vectorised, in_arrays, mutant.subjects)

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


def forget_modules() -> None:
    """Forget every theorem, check and example, so that changed modules are imported again."""
    load_papers().clear()
    forget_checks()
    _examples.cache_clear()
    build_example.cache_clear()


@lru_cache(maxsize=16)
def build_example(check: str, mutant: str, seed: int, name: str) -> Any:
    """Built examples are kept for the next block of the same process: real ones can take seconds to build."""
    form = Form.of(find_check(check), mutant)
    return materialise(form.fixed(seed)[name] if form.variant.check.kind != "slack" else form.examples[name])
