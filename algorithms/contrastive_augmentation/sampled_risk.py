"""The unsupervised risk from independent tuples, with its Hoeffding radius."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whp.theory.contrastive_augmentation import ContrastiveProblem, bounds, norm_bound

__all__ = ["SampledRisk", "sampled_risk"]


@dataclass(frozen=True)
class SampledRisk:
    """Mean loss of sampled tuples.

    Attributes
    ----------
    estimate : float
        Mean loss in nats, an unbiased estimate of ``R_un,K``.
    radius : float
        The risk is within it of the estimate with probability at least ``1 - delta``.
    samples : int
        Number of tuples.
    """

    estimate: float
    radius: float
    samples: int


def sampled_risk(
    problem: ContrastiveProblem, samples: int, rng: np.random.Generator, *, delta: float = 0.05
) -> SampledRisk:
    """Estimate ``R_un,K`` from independent tuples of anchor, positive and ``K`` negatives.

    Parameters
    ----------
    problem : ContrastiveProblem
        The population.
    samples : int
        Number of tuples, at least 1.
    rng : numpy.random.Generator
        The only source of randomness.
    delta : float
        Failure probability of the radius.

    Returns
    -------
    SampledRisk
        Costs ``O(samples K p)``.

    Raises
    ------
    ValueError
        If samples or delta are out of range.

    Examples
    --------
    >>> from whp.theory.contrastive_augmentation import circle_problem
    >>> found = sampled_risk(circle_problem(), 10_000, np.random.default_rng(0))
    >>> abs(found.estimate - 0.6019913) < found.radius
    True
    """
    if samples < 1:
        raise ValueError(f"samples must be at least 1, got {samples}")
    problem = problem.as_floats()
    radius = bounds.SAMPLING_RADIUS(B=norm_bound(problem), t=float(problem.temperature), n=samples, delta=delta)
    weights = problem.weights / problem.weights.sum()
    anchors = rng.choice(problem.n_views, size=samples, p=weights)
    positives = _positives(problem, weights, anchors, rng)
    negatives = rng.choice(problem.n_views, size=(samples, problem.negatives), p=weights)
    f = problem.embeddings
    own = (f[anchors] * f[positives]).sum(axis=1)
    others = np.einsum("sp,skp->sk", f[anchors], f[negatives])
    arguments = (others - own[:, None]) / problem.temperature
    losses = np.logaddexp(0.0, np.logaddexp.reduce(arguments, axis=1))
    return SampledRisk(float(losses.mean()), float(radius), samples)


def _positives(
    problem: ContrastiveProblem, weights: NDArray[np.float64], anchors: NDArray[np.int64], rng: np.random.Generator
) -> NDArray[np.int64]:
    """An independent view of each anchor's image."""
    chosen = np.empty_like(anchors)
    image_of = np.array(problem.images)
    for views in problem.views_of_images:
        asked = np.flatnonzero(image_of[anchors] == problem.images[views[0]])
        mass = weights[list(views)]
        chosen[asked] = rng.choice(np.array(views), size=len(asked), p=mass / mass.sum())
    return chosen
