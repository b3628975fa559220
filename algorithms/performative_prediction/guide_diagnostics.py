"""How much of the observed slope the guide explains, and a share that reacts to it."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["AdaptiveShare", "GuideTracker", "explained_share"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class AdaptiveShare:
    """Isotropic share ``max(floor, r)``; ``r`` is the part of the observed slopes that the guide does not explain.

    The slope ``t`` along a direction ``u`` is predicted as ``b u'v`` from the mean known-function gradient ``v``, whose
    direction is the guide, with ``b`` regressed on the recent past, and ``r`` is the running mean of
    ``(t - b u'v)^2 / (t^2 + (b u'v)^2)``, at most one. A guide along the gradient keeps the share low; one that is
    orthogonal to it, as in the zero-share trap, leaves only noise along itself, and the share rises. The floor keeps
    every direction explored, as the convergence theorem needs; the theorem itself is about shares chosen beforehand.

    Parameters
    ----------
    start : float, optional
        First share in ``[0, 1]``.
    floor : float, optional
        Smallest share in ``(0, 1]``.
    memory : float, optional
        Weight of the past in the running means, in ``[0, 1)``.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> AdaptiveShare(start=0.3).tracker().share
    0.3
    """

    start: float = 0.1
    floor: float = 0.02
    memory: float = 0.8

    def __post_init__(self) -> None:
        """Check the ranges."""
        if not 0.0 <= self.start <= 1.0:
            raise ValueError(f"start must be in [0, 1], got {self.start}")
        if not 0.0 < self.floor <= 1.0:
            raise ValueError(f"floor must be in (0, 1], got {self.floor}")
        if not 0.0 <= self.memory < 1.0:
            raise ValueError(f"memory must be in [0, 1), got {self.memory}")

    def tracker(self) -> "GuideTracker":
        """State for one run."""
        return GuideTracker(self)


class GuideTracker:
    """Running means of one run; replicates are averaged, since they share their schedule.

    Parameters
    ----------
    rule : AdaptiveShare
        Floor and memory.
    """

    def __init__(self, rule: AdaptiveShare) -> None:
        self.rule = rule
        self.share = max(rule.start, rule.floor)
        self.products: Any = 0.0
        self.squares: Any = 0.0
        self.unexplained: float | None = None

    def update(self, slope: Any, along: Any) -> None:
        """Take in an observed slope and the product ``u'v`` of its direction with the mean known-function gradient."""
        keep, new = self.rule.memory, 1.0 - self.rule.memory
        if np.any(self.squares > 0.0):
            predicted = self.products / np.where(self.squares > 0.0, self.squares, 1.0) * along
            size = np.square(slope) + np.square(predicted)
            miss = np.square(slope - predicted) / np.where(size > 0.0, size, 1.0)
            part = float(np.minimum(np.where(size > 0.0, miss, 1.0), 1.0).mean())
            self.unexplained = part if self.unexplained is None else keep * self.unexplained + new * part
            self.share = max(self.rule.floor, self.unexplained)
        self.products = keep * self.products + new * slope * along
        self.squares = keep * self.squares + new * np.square(along)

    @property
    def explained(self) -> float:
        """Part of the slopes that the guide explains; zero before anything could be predicted."""
        return 0.0 if self.unexplained is None else 1.0 - self.unexplained


def explained_share(slopes: ArrayLike, along: ArrayLike, memory: float = 0.8) -> Array:
    """Part of the observed slopes that the guide explains, along a recorded run (see `AdaptiveShare`).

    Noise in the slopes counts as unexplained, so this is a lower estimate of how well the guide does.

    Parameters
    ----------
    slopes, along : array_like, shape (K,) or (K, R)
        Observed slopes, and products ``u'v`` of directions and mean known-function gradients (both in the trace).
    memory : float, optional
        Weight of the past, in ``[0, 1)``.

    Returns
    -------
    numpy.ndarray, shape (K,)
        The part after each iteration, between 0 (also before anything could be predicted) and 1.

    Raises
    ------
    ValueError
        If the shapes differ, nothing was recorded, or ``memory`` is out of range.

    Examples
    --------
    >>> explained_share([2.0, -4.0], [1.0, -2.0])
    array([0., 1.])
    """
    t, a = np.asarray(slopes, dtype=np.float64), np.asarray(along, dtype=np.float64)
    if t.shape != a.shape or t.ndim not in (1, 2) or t.size == 0:
        raise ValueError(f"slopes and along must share a shape (K,) or (K, R), got {t.shape} and {a.shape}")
    tracker = AdaptiveShare(memory=memory).tracker()
    shares = []
    for slope, component in zip(t, a, strict=True):
        tracker.update(slope, component)
        shares.append(tracker.explained)
    return np.array(shares)
