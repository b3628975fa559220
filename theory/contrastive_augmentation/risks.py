"""The risks, written as their definitions: sums over all tuples of anchor, positive and negatives.

Every function takes a mathematics ``m``: numpy's gives float64, flint's gives balls around the exact value of a
problem in fractions. Cost and memory grow as ``N**K``: these are for judging faster methods on small problems.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whp.theory.contrastive_augmentation.problems import ContrastiveProblem
from whp.theory.contrastive_augmentation.quantities import class_means, class_priors, collision_probability
from whp.theory.core.mathematics import Mathematics, NumpyMathematics

__all__ = [
    "centred_floors",
    "mean_classifier_risk",
    "spectral_contrastive_loss",
    "supervised_cross_entropy",
    "supervised_risk",
    "unsupervised_risk",
    "zero_one_error",
]


@dataclass(frozen=True)
class _Arithmetic:
    """Elementwise functions on arrays of floats or of balls."""

    m: Mathematics

    def number(self, values: Any) -> NDArray[Any]:
        array = np.asarray(values)
        if isinstance(self.m, NumpyMathematics):
            return array.astype(np.float64)
        return np.asarray(np.frompyfunc(self.m.number, 1, 1)(array))

    def exp(self, values: NDArray[Any]) -> NDArray[Any]:
        return self._apply(self.m.exp, values)

    def log1p(self, values: NDArray[Any]) -> NDArray[Any]:
        return self._apply(self.m.log1p, values)

    @staticmethod
    def _apply(function: Callable[[Any], Any], values: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(np.frompyfunc(function, 1, 1)(values) if values.dtype == object else function(values))


def _expected_loss(
    m: Mathematics,
    differences: NDArray[Any],
    anchor_weights: NDArray[Any],
    negative_weights: NDArray[Any],
    negatives: int,
    kept: NDArray[np.bool_] | None = None,
) -> Any:
    """``E log(1 + sum_k exp(-v_k))`` with ``v_k = differences[anchor, z_k]``; terms that are not kept are dropped.

    One axis per negative, so that the array read at ``[a, z_1, .., z_K]`` is the loss of that tuple.
    """
    arithmetic = _Arithmetic(m)
    with np.errstate(over="ignore"):
        terms = arithmetic.exp(-arithmetic.number(differences))  # (anchors, M)
    if kept is not None:
        terms = np.where(kept, terms, arithmetic.number(0)[()])
    weights = arithmetic.number(negative_weights)
    sums, mass = terms, weights
    for _ in range(negatives - 1):
        sums = sums[..., None] + terms.reshape(terms.shape[0], *(1,) * (sums.ndim - 1), terms.shape[1])
        mass = mass[..., None] * weights
    losses = arithmetic.log1p(sums)
    per_anchor = (losses * mass).reshape(len(terms), -1).sum(axis=1)
    return (per_anchor * arithmetic.number(anchor_weights)).sum()


def unsupervised_risk(problem: ContrastiveProblem, m: Mathematics | None = None) -> Any:
    """``R_un,K(f) = E log(1 + sum_k exp(-f(x).(f(x+) - f(x_k^-)) / t))``.

    Parameters
    ----------
    problem : ContrastiveProblem
        Small: the sum has ``sum_i n_i^2 N^K`` terms.
    m : Mathematics, optional
        Numpy's by default.

    Returns
    -------
    float or flint ball
        The risk in nats.

    Examples
    --------
    >>> problem = ContrastiveProblem([[1.0], [-1.0]], images=[0, 1], classes=[0, 1])
    >>> round(float(unsupervised_risk(problem)), 6)  # (log 2 + log(1 + exp(-2))) / 2
    0.410038
    """
    scores = problem.embeddings @ problem.embeddings.T / problem.temperature
    pairs = [(x, y) for views in problem.views_of_images for x in views for y in views]
    anchors, positives = (np.array(side) for side in zip(*pairs, strict=True))
    mass = {view: sum(problem.weights[list(views)]) for views in problem.views_of_images for view in views}
    anchor_weights = problem.weights[anchors] * problem.weights[positives] / np.array([mass[int(a)] for a in anchors])
    differences = scores[anchors, positives][:, None] - scores[anchors]
    return _expected_loss(m or NumpyMathematics(), differences, anchor_weights, problem.weights, problem.negatives)


def _class_differences(problem: ContrastiveProblem) -> NDArray[Any]:
    """``f(x).(mu_y - mu_c) / t`` for every view and class."""
    scores = problem.embeddings @ class_means(problem).T / problem.temperature  # (N, C)
    own = scores[np.arange(problem.n_views), problem.class_index]
    return np.asarray(own[:, None] - scores)


def mean_classifier_risk(problem: ContrastiveProblem, m: Mathematics | None = None) -> Any:
    """``R_mean,K``: the same loss with class means for positive and negatives, collisions kept."""
    return _expected_loss(
        m or NumpyMathematics(), _class_differences(problem), problem.weights, class_priors(problem), problem.negatives
    )


def supervised_risk(problem: ContrastiveProblem, m: Mathematics | None = None) -> Any:
    """``R_sup,K``: colliding classes dropped, conditioned on at least one that does not collide.

    Raises
    ------
    ValueError
        If the problem has one class only, where every negative collides.
    """
    if problem.n_classes < 2:
        raise ValueError("the supervised risk needs at least two classes, got one")
    m = m or NumpyMathematics()
    kept = problem.class_index[:, None] != np.arange(problem.n_classes)
    total = _expected_loss(
        m, _class_differences(problem), problem.weights, class_priors(problem), problem.negatives, kept
    )
    return total / (1 - _Arithmetic(m).number(collision_probability(problem))[()])


def supervised_cross_entropy(problem: ContrastiveProblem, m: Mathematics | None = None) -> Any:
    """``R_sup``: C-way cross-entropy ``E log sum_c exp(f(x).(mu_c - mu_y) / t)`` of the mean classifier."""
    m = m or NumpyMathematics()
    arithmetic = _Arithmetic(m)
    kept = problem.class_index[:, None] != np.arange(problem.n_classes)
    with np.errstate(over="ignore"):
        terms = arithmetic.exp(-arithmetic.number(_class_differences(problem)))
    others = np.where(kept, terms, arithmetic.number(0)[()]).sum(axis=1)
    return (arithmetic.log1p(np.asarray(others)) * arithmetic.number(problem.weights)).sum()


def zero_one_error(problem: ContrastiveProblem) -> Any:
    """Probability that some other class's mean scores at least as high as the own one; ties count as errors.

    Examples
    --------
    >>> problem = ContrastiveProblem([[0], [0]], images=[0, 1], classes=[0, 1])
    >>> zero_one_error(problem)
    Fraction(1, 1)
    """
    kept = problem.class_index[:, None] != np.arange(problem.n_classes)
    wrong = ((_class_differences(problem) <= 0) & kept).any(axis=1)
    return sum(problem.weights[wrong].tolist(), start=type(problem.weights[0])(0))


def centred_floors(problem: ContrastiveProblem) -> tuple[float, float]:
    """``E log(1 + K exp(-f(x).f(x+)/t))`` and ``E log(1 + K exp(-f(x).mu_y/t))``.

    Floors of ``R_un,K`` and ``R_mean,K`` when ``E_w f = 0``: all negatives are replaced by their mean score, zero.

    Examples
    --------
    >>> round(centred_floors(ContrastiveProblem([[0.0], [0.0]], images=[0, 1], classes=[0, 1]))[0], 6)
    0.693147
    """
    problem = problem.as_floats()
    t, f, weights = problem.temperature, problem.embeddings, problem.weights
    floor = 0.0
    for views in problem.views_of_images:
        members = list(views)
        mass = np.outer(weights[members], weights[members]) / weights[members].sum()
        scores = f[members] @ f[members].T / t
        floor += float((mass * np.logaddexp(0.0, np.log(problem.negatives) - scores)).sum())
    own = (f * class_means(problem)[problem.class_index]).sum(axis=1) / t
    return floor, float(weights @ np.logaddexp(0.0, np.log(problem.negatives) - own))


def spectral_contrastive_loss(problem: ContrastiveProblem) -> float:
    """``-2 E f(x).f(x+) + E (f(x).f(z))^2``, summed over all pairs.

    Examples
    --------
    >>> spectral_contrastive_loss(ContrastiveProblem([[1.0], [-1.0]], images=[0, 1], classes=[0, 1]))
    -1.0
    """
    problem = problem.as_floats()
    scores, weights = problem.embeddings @ problem.embeddings.T, problem.weights
    alike = 0.0
    for views in problem.views_of_images:
        members = list(views)
        mass = np.outer(weights[members], weights[members]) / weights[members].sum()
        alike += float((mass * scores[np.ix_(members, members)]).sum())
    return -2 * alike + float(weights @ scores**2 @ weights)
