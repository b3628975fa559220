"""How much a check is run: named budgets, multiples of the quick one, or seconds resolved to such a multiple."""

from __future__ import annotations

import re
from dataclasses import dataclass

from whp.proofs_checks.engine.check import Check

BLOCK = 256  # instances of unit cost in one block of breadth: some tens of milliseconds
_MINIMUM = {"breadth": 24, "structure": 20, "replicates": 64}


@dataclass(frozen=True)
class Budget:
    """Instances of unit cost for each phase of one check.

    Parameters
    ----------
    name : str
        ``quick``, ``standard``, ``thorough`` or ``xK`` for K times quick.
    breadth, structure, replicates : int
        Instances drawn for breadth, hypothesis examples, and replicates per fixed instance.
    """

    name: str
    breadth: int
    structure: int
    replicates: int

    @classmethod
    def parse(cls, text: str) -> Budget:
        """Read a budget's name.

        Raises
        ------
        ValueError
            If it is neither a known name nor ``xK``.

        Examples
        --------
        >>> Budget.parse("x3").replicates == 3 * Budget.parse("quick").replicates
        True
        """
        if text in _NAMED:
            return _NAMED[text]
        match = re.fullmatch(r"x([1-9]\d{0,8})", text)
        if not match:
            raise ValueError(f"budget must be one of {', '.join(_NAMED)}, xK or seconds such as 30s, got {text!r}")
        k, quick = int(match[1]), _NAMED["quick"]
        return cls(text, k * quick.breadth, k * quick.structure, k * quick.replicates)

    def count(self, phase: str, check: Check) -> int:
        """Number of instances, examples or replicates of a phase for a check of this cost."""
        return max(_MINIMUM[phase], round(int(getattr(self, phase)) / check.cost))


def seconds(text: str) -> float | None:
    """Seconds when the text is of the form ``30s`` or ``5m``, else None."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)(s|m|h)", text)
    return None if not match else float(match[1]) * {"s": 1, "m": 60, "h": 3600}[match[2]]


_NAMED = {
    "quick": Budget("quick", 512, 60, 512),
    "standard": Budget("standard", 4096, 240, 4096),
    "thorough": Budget("thorough", 131_072, 2400, 65_536),
}
