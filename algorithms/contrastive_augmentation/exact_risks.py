"""Every risk of a finite contrastive problem, exactly up to rounding, for thousands of views and any K."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from whp.algorithms.contrastive_augmentation.log_loss_expectation import count_vectors, integrated_log_loss, softplus
from whp.theory.contrastive_augmentation import ContrastiveProblem, class_means, class_priors

__all__ = ["ExactRisks", "exact_risks"]

Method = Literal["direct", "counts", "integral"]
Floats = NDArray[np.float64]

_BLOCK = 2**20  # array entries worked on at once: what stays in cache
_MOST_COUNTS = 5_000
_MOST_DIRECT = 2**30  # triples summed directly before the integral is cheaper


@dataclass(frozen=True)
class ExactRisks:
    """The risks of one encoder, in nats.

    Attributes
    ----------
    unsupervised : float
        ``R_un,K``.
    mean_classifier : float
        ``R_mean,K``, collisions kept.
    supervised : float or None
        ``R_sup,K``, conditioned on a negative that does not collide; None when there is one class only.
    cross_entropy : float
        ``R_sup`` over all classes.
    error : float
        0-1 error of the mean classifier, ties counted as errors.
    collision_probability : float
        ``tau_K``.
    method : {"direct", "counts", "integral"}
        How the sum over negatives of ``R_un,K`` was done; an integral is exact to about twelve digits.
    """

    unsupervised: float
    mean_classifier: float
    supervised: float | None
    cross_entropy: float
    error: float
    collision_probability: float
    method: Method


def exact_risks(problem: ContrastiveProblem, *, method: Method | None = None) -> ExactRisks:
    """All risks of a problem.

    Parameters
    ----------
    problem : ContrastiveProblem
        ``N`` views of images with ``n_i`` views each, ``p`` dimensions. Fractions are rounded to float64 first.
    method : {"direct", "counts", "integral"}, optional
        How to sum over the negatives; by default the cheapest. ``direct`` takes ``K = 1`` only and costs
        ``O(N^2 p + sum_i n_i^2 N)``; ``counts`` enumerates the ``C(N + K - 1, K)`` count vectors; ``integral`` costs
        ``O(N^2 p + Q N^2)`` with some hundreds of nodes ``Q``, for any ``K``.

    Returns
    -------
    ExactRisks
        See there.

    Raises
    ------
    ValueError
        If the method does not fit the problem.

    References
    ----------
    .. [1] Arora et al., "A theoretical analysis of contrastive unsupervised representation learning" (2019), for the
       mean classifier and the collision probability.

    Examples
    --------
    >>> from whp.theory.contrastive_augmentation import circle_problem
    >>> risks = exact_risks(circle_problem(negatives=2))
    >>> round(risks.unsupervised, 12), round(risks.mean_classifier, 12), round(risks.supervised, 12)
    (0.976688898104, 1.00035131931, 0.662565611317)
    """
    problem = problem.as_floats()
    chosen = method or _cheapest(problem)
    _require_fit(problem, chosen)
    scores = problem.embeddings @ problem.embeddings.T / problem.temperature
    priors = class_priors(problem)
    tau = float((priors ** (problem.negatives + 1)).sum())
    class_scores = problem.embeddings @ class_means(problem).T / problem.temperature  # (N, C)
    own = class_scores[np.arange(problem.n_views), problem.class_index]
    others = problem.class_index[:, None] != np.arange(problem.n_classes)
    dropped = np.where(others, class_scores, -np.inf)
    unlike = _by_class(dropped, priors, own, problem)
    shifted = dropped - own[:, None]
    return ExactRisks(
        unsupervised=_unsupervised(problem, scores, chosen),
        mean_classifier=_by_class(class_scores, priors, own, problem),
        supervised=unlike / (1 - tau) if problem.n_classes > 1 else None,
        cross_entropy=float(problem.weights @ np.logaddexp.reduce(np.column_stack([shifted, 0 * own]), axis=1)),
        error=float(problem.weights @ ((class_scores >= own[:, None]) & others).any(axis=1)),
        collision_probability=tau,
        method=chosen,
    )


def _cheapest(problem: ContrastiveProblem) -> Method:
    triples = sum(len(views) ** 2 for views in problem.views_of_images) * problem.n_views
    if problem.negatives == 1 and triples <= _MOST_DIRECT:
        return "direct"
    if math.comb(problem.n_views + problem.negatives - 1, problem.negatives) <= _MOST_COUNTS // 10:
        return "counts"
    return "integral"


def _require_fit(problem: ContrastiveProblem, method: Method) -> None:
    if method not in ("direct", "counts", "integral"):
        raise ValueError(f"method must be direct, counts or integral, got {method!r}")
    if method == "direct" and problem.negatives != 1:
        raise ValueError(f"method 'direct' takes one negative only, got {problem.negatives}")
    vectors = math.comb(problem.n_views + problem.negatives - 1, problem.negatives)
    if method == "counts" and vectors > _MOST_COUNTS:
        raise ValueError(f"method 'counts' would enumerate {vectors} count vectors; take 'integral'")


def _unsupervised(problem: ContrastiveProblem, scores: Floats, method: Method) -> float:
    counts = _counts_and_mass(problem.weights, problem.negatives) if method == "counts" else None
    total = 0.0
    for views in problem.views_of_images:
        members = np.array(views)
        own = problem.weights[members] / problem.weights[members].sum()
        for x in views:
            positives = scores[x, members]
            if method == "direct":
                losses = _one_negative(positives, scores[x], problem.weights)
            elif counts is not None:
                losses = _over_counts(positives, scores[x], *counts)
            else:
                losses = integrated_log_loss(scores[x], problem.weights, positives, problem.negatives)
            total += float(problem.weights[x] * (losses @ own))
    return total


def _one_negative(positives: Floats, negatives: Floats, weights: Floats) -> Floats:
    """``E log(1 + exp(g - g+))`` for each positive."""
    step = max(1, _BLOCK // len(negatives))
    parts = [
        softplus(negatives - positives[start : start + step, None]) @ weights
        for start in range(0, len(positives), step)
    ]
    return np.concatenate(parts)


def _counts_and_mass(weights: Floats, negatives: int) -> tuple[Floats, Floats]:
    """Count vectors of the negatives and their multinomial probabilities."""
    counts = count_vectors(len(weights), negatives).astype(np.float64)
    factorials = np.array([math.lgamma(k + 1) for k in range(negatives + 1)])
    log_mass = factorials[-1] - factorials[counts.astype(int)].sum(axis=1) + counts @ np.log(weights)
    return counts, np.exp(log_mass)


def _over_counts(positives: Floats, negatives: Floats, counts: Floats, mass: Floats) -> Floats:
    top = max(float(negatives.max()), -700.0)  # all negatives dropped: any shift will do
    with np.errstate(divide="ignore"):
        totals = np.log(counts @ np.exp(negatives - top)) + top  # log of the sum of exponentials
    return np.asarray(softplus(totals - positives[:, None]) @ mass)


def _by_class(class_scores: Floats, priors: Floats, own: Floats, problem: ContrastiveProblem) -> float:
    """``E log(1 + sum_k exp(s_{c_k} - s_y))`` with classes drawn from the priors."""
    if problem.negatives == 1:
        return float(problem.weights @ (softplus(class_scores - own[:, None]) @ priors))
    if math.comb(len(priors) + problem.negatives - 1, problem.negatives) <= _MOST_COUNTS:
        counts = _counts_and_mass(priors, problem.negatives)
        losses = [_over_counts(s[None], row, *counts)[0] for s, row in zip(own, class_scores, strict=True)]
    else:
        losses = [
            integrated_log_loss(row, priors, s[None], problem.negatives)[0]
            for s, row in zip(own, class_scores, strict=True)
        ]
    return float(problem.weights @ np.array(losses))
