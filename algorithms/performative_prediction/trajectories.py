"""Replicated runs of guided descent under the schedule of the convergence theorem."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from whp.theory.performative_prediction import GuidedSchedule

from .budget import Budget
from .descent import minimise
from .guided_new_samples import GuidedNewSamples
from .sampling import oracle_for
from .schedules import ApproachOne

__all__ = ["guided_trajectories"]

Array = NDArray[np.float64]


def guided_trajectories(
    problem: Any, start: ArrayLike, schedule: GuidedSchedule, replicates: int, rng: np.random.Generator
) -> Array:
    """Decisions of independent runs of guided descent with new samples.

    Parameters
    ----------
    problem : instance of a family
        Problem with a sampler.
    start : array_like, shape (d,)
        First decision of every run.
    schedule : GuidedSchedule
        Step, radius, batch, shares and number of iterations.
    replicates : int
        Number of runs ``R``.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    numpy.ndarray, shape (iterations + 1, R, d)
        Fewer rows when the runs diverge.

    Examples
    --------
    >>> from whp.theory.performative_prediction import LinearNoise
    >>> problem = LinearNoise([[1.0]], [1.0], [[0.5]], noise=0.1)
    >>> schedule = GuidedSchedule(step=0.08, radius=0.1, batch=2, iterations=5)
    >>> guided_trajectories(problem, [1.0], schedule, 3, np.random.default_rng(0)).shape
    (6, 3, 1)
    """
    method = GuidedNewSamples(
        step=schedule.step,
        radius=schedule.radius,
        side_samples=schedule.batch,
        guide_samples=1,
        isotropic_share=ApproachOne(schedule.initial_share, schedule.decay),
        without_guide="shrink",
    )
    budget = Budget(np.iinfo(np.int64).max, "after_step", schedule.iterations)
    return minimise(oracle_for(problem, replicates), start, method, budget, rng).trace.decisions
