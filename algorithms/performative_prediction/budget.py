"""How many samples a run may draw, and how its last step is treated."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

__all__ = ["Budget"]


@dataclass(frozen=True)
class Budget:
    """How many samples (a replicate) may be drawn, and how the end is treated.

    Parameters
    ----------
    samples : int
        Number of samples.
    rule : {"exact", "after_step"}
        ``"exact"`` never exceeds the budget and uses it up: the last step takes what is left. ``"after_step"`` is the
        rule of the paper's scripts: stop once the budget is reached, so the last step may overshoot.
    iterations : int, optional
        Largest number of iterations.

    Raises
    ------
    TypeError
        If a number is not an integer.
    ValueError
        If it is below one, or the rule is unknown.

    Examples
    --------
    >>> Budget(1000).rule
    'exact'
    """

    samples: int
    rule: Literal["exact", "after_step"] = "exact"
    iterations: int | None = None

    def __post_init__(self) -> None:
        """Check the ranges."""
        for name in ("samples", "iterations"):
            value = getattr(self, name)
            if value is None and name == "iterations":
                continue
            if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
                raise TypeError(f"{name} must be an integer, got {type(value).__name__}")
            if value < 1:
                raise ValueError(f"{name} must be at least 1, got {value}")
        if self.rule not in ("exact", "after_step"):
            raise ValueError(f"rule must be 'exact' or 'after_step', got {self.rule!r}")

    def allot(self, wanted: tuple[int, ...], spent: int) -> tuple[int, ...] | None:
        """Samples for the parts of the next step, or ``None`` when it is time to stop.

        Parameters
        ----------
        wanted : tuple of int
            What the method would like to draw for every part.
        spent : int
            Samples drawn so far.

        Returns
        -------
        tuple of int or None
            Under ``"exact"`` every part gets at least one sample, and a rest too small for one more step is added here.

        Examples
        --------
        >>> Budget(10).allot((4, 4), spent=0), Budget(10).allot((4, 4), spent=8), Budget(10).allot((4, 4), spent=1)
        ((4, 4), (1, 1), (5, 4))
        """
        left = self.samples - spent
        least, total = len(wanted), sum(wanted)
        if total + least <= left:
            return wanted
        if self.rule == "after_step":
            return wanted if left > 0 else None
        if left < least:
            return None
        return wanted if total == left else _shares(wanted, left)


def _shares(wanted: tuple[int, ...], total: int) -> tuple[int, ...]:
    """Split ``total`` in proportion to ``wanted``, at least one each."""
    weights = np.asarray(wanted, dtype=np.float64)
    ideal = 1.0 + (total - len(wanted)) * weights / weights.sum()
    counts = np.floor(ideal).astype(int)
    order = np.argsort(counts - ideal, kind="stable")  # largest remainder first
    counts[order[: total - int(counts.sum())]] += 1
    return tuple(int(c) for c in counts)
