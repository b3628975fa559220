"""The methods compared, with the published first steps and the grids on which steps are tuned."""

from collections.abc import Callable
from dataclasses import dataclass

from whp.algorithms.performative_prediction import (
    Geometric,
    GuidedHistoricalSamples,
    GuidedNewSamples,
    HistoryControlDescent,
    LinearCount,
    Method,
    OnePointDescent,
    ResidualFeedbackDescent,
    TwoPointDescent,
)

__all__ = ["BASELINE", "Contender", "contenders"]

BASELINE = "two-point (ZO-TG)"


@dataclass(frozen=True)
class Contender:
    """A method as a function of its first step.

    Parameters
    ----------
    name : str
        Name in tables.
    build : callable
        First step to method.
    published : float or None
        Published first step, if there is one.
    grid : tuple of float
        Steps tried when tuning.
    """

    name: str
    build: Callable[[float], Method]
    published: float | None
    grid: tuple[float, ...]


def contenders(
    dimension: int, radius: Geometric, batch: LinearCount, scale: float, one_point: tuple[float, float]
) -> list[Contender]:
    """All methods, for one application.

    Parameters
    ----------
    dimension : int
        ``d``; two-point descent along ``N(0, I)`` gets the published step divided by ``sqrt(d)``.
    radius, batch : schedule
        Smoothing radius and samples a side, common to all but plain one-point descent.
    scale : float
        Published first step of the guided methods.
    one_point : tuple of float
        Radius and published step of plain one-point descent.
    """
    root = dimension**0.5

    def decaying(step: float) -> Geometric:
        return Geometric(step, 0.95)

    around = tuple(scale * f for f in (0.25, 0.5, 1.0, 2.0, 4.0))
    lower = tuple(scale * f for f in (0.01, 0.03, 0.1, 0.3))
    single_radius, single_step = one_point
    return [
        Contender("guided, new (GZO-NS)", lambda b: GuidedNewSamples(decaying(b), radius, batch), scale, around),
        Contender(
            "guided, history (GZO-HS)", lambda b: GuidedHistoricalSamples(decaying(b), radius, batch), scale, around
        ),
        Contender(
            BASELINE,
            lambda b: TwoPointDescent(decaying(b), radius, batch),
            scale / root,
            tuple(b / root for b in around),
        ),
        Contender(
            "history control (OGVR)",
            lambda b: HistoryControlDescent(decaying(b), radius, batch),
            0.1 * scale,
            lower,
        ),
        Contender(
            "repaired history control",
            lambda b: HistoryControlDescent(decaying(b), radius, batch, weighting="water_filling"),
            None,
            lower,
        ),
        Contender("residual feedback", lambda b: ResidualFeedbackDescent(decaying(b), radius, batch), None, lower),
        Contender(
            "one-point (ZO-OG)",
            lambda b: OnePointDescent(decaying(b), single_radius, batch),
            single_step,
            tuple(single_step * f for f in (0.01, 0.1, 1.0)),
        ),
    ]
