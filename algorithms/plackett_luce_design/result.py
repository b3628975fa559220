"""What a design solver returns: the design, its certificate, its history and its operation counts."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from whp.theory.plackett_luce_design import Design

Array = NDArray[np.float64]

__all__ = ["DesignResult", "DesignStatus", "History", "OperationCounts"]


class DesignStatus(Enum):
    """How a design solver ended."""

    OPTIMAL = "optimal to the tolerance, certified"
    ITERATION_LIMIT = "iteration limit"
    STALLED = "no progress over the patience window"


@dataclass
class OperationCounts:
    """Counted work, not time.

    Parameters
    ----------
    gathers : int
        Memo entries read to score subsets.
    memo_flops : int
        Multiply-adds spent on updating the memo.
    eigen_flops : int
        ``K^3`` per eigen-decomposition of a step.
    refresh_flops : int
        Multiply-adds spent on recomputing the memo from the atoms.
    scored_subsets : int
        Subsets whose leverage was computed.
    """

    gathers: int = 0
    memo_flops: int = 0
    eigen_flops: int = 0
    refresh_flops: int = 0
    scored_subsets: int = 0


@dataclass
class History:
    """One entry per iteration.

    Parameters
    ----------
    objective : list of float
        ``-log det V`` after the iteration.
    leverage : list of float
        Leverage of the subset that the oracle proposed.
    step : list of float
        Step taken: zero when the proposal was rejected, negative for an away step.
    seconds : list of float
        Time since the start.
    """

    objective: list[float] = field(default_factory=list)
    leverage: list[float] = field(default_factory=list)
    step: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)

    def add(self, objective: float, leverage: float, step: float, seconds: float) -> None:
        """Append one iteration."""
        self.objective.append(objective)
        self.leverage.append(leverage)
        self.step.append(step)
        self.seconds.append(seconds)


@dataclass(frozen=True, eq=False)
class DesignResult:
    """A design and what is known about it.

    Parameters
    ----------
    design : Design
        Sparse design: subsets with positive weight.
    log_det : float
        ``log det V`` on the span, recomputed from the design (of ``V + ridge I`` when a ridge was given).
    rank : int
        Dimension of the span; below the number of feature columns the features are rank deficient.
    max_leverage : float or None
        Largest leverage over *all* subsets, when affordable.
    certified_gap : float or None
        ``rank log(L / rank)``: the design is at most so many nats from optimal. ``None`` when the largest leverage is
        unaffordable; a sampled maximum certifies nothing.
    iterations : int
        Iterations done.
    rejected : int
        Iterations whose proposal was no descent direction.
    status : DesignStatus
        How the solver ended.
    history : History
        Objective, leverage, step and time per iteration.
    counts : OperationCounts
        Work done.
    """

    design: Design
    log_det: float
    rank: int
    max_leverage: float | None
    certified_gap: float | None
    iterations: int
    rejected: int
    status: DesignStatus
    history: History
    counts: OperationCounts

    @property
    def objective(self) -> float:
        """``-log det V``, the minimised function."""
        return -self.log_det

    @property
    def efficiency(self) -> float | None:
        """Certified lower bound ``exp(-gap / rank)`` on the D-efficiency, or ``None``."""
        return None if self.certified_gap is None else float(np.exp(-self.certified_gap / self.rank))
