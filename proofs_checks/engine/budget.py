"""How much a check is run: named budgets, multiples of the quick one, or seconds resolved to such a multiple."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from whp.proofs_checks.engine.check import Check

_BLOCK = {"breadth": 256, "structure": 60, "replicates": 256}  # of unit cost: some tens of milliseconds
_SMALLEST_BLOCK = {"breadth": 8, "structure": 20, "replicates": 8}
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
        if seconds(text) is not None:
            raise ValueError(f"a budget in seconds is for verifying; give {', '.join(_NAMED)} or xK here, got {text!r}")
        if not match:
            raise ValueError(f"budget must be one of {', '.join(_NAMED)}, xK or seconds such as 30s, got {text!r}")
        k, quick = int(match[1]), _NAMED["quick"]
        return cls(text, k * quick.breadth, k * quick.structure, k * quick.replicates)

    def blocks(self, phase: str, check: Check) -> tuple[int, int]:
        """Size and number of the blocks of a phase: a larger budget adds whole blocks and changes none."""
        size = max(_SMALLEST_BLOCK[phase], round(_BLOCK[phase] / check.cost))
        asked = max(_MINIMUM[phase], int(getattr(self, phase)) / check.cost)
        return size, max(1, math.ceil(_MINIMUM[phase] / size), round(asked / size))


def seconds(text: str) -> float | None:
    """Seconds when the text is of the form ``30s`` or ``5m``, else None."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)(s|m|h)", text)
    return None if not match else float(match[1]) * {"s": 1, "m": 60, "h": 3600}[match[2]]


_NAMED = {
    "quick": Budget("quick", 512, 60, 512),
    "standard": Budget("standard", 4096, 240, 4096),
    "thorough": Budget("thorough", 131_072, 2400, 65_536),
}
