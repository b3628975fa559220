"""The quantities of the bounds: class means, spreads, gaps, the Lipschitz constant, collisions."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from whp.theory.contrastive_augmentation.problems import ContrastiveProblem

__all__ = [
    "class_means",
    "class_pair_moment",
    "class_priors",
    "class_variance",
    "collision_probability",
    "cover_probability",
    "first_moment_spread",
    "norm_bound",
    "same_class_gap_squared",
    "same_image_spread_squared",
    "squared_distances",
    "squared_lipschitz_constant",
]

Level = Literal["embeddings", "pixels"]


def class_priors(problem: ContrastiveProblem) -> NDArray[Any]:
    """``pi_c`` of the classes that occur, in increasing order.

    Examples
    --------
    >>> class_priors(ContrastiveProblem([[1], [2], [3]], [0, 1, 2], [0, 0, 1]))
    array([Fraction(2, 3), Fraction(1, 3)], dtype=object)
    """
    member = problem.class_index[:, None] == np.arange(problem.n_classes)
    return np.asarray((member * problem.weights[:, None]).sum(axis=0))


def class_means(problem: ContrastiveProblem) -> NDArray[Any]:
    """``mu_c = E[f(x) | y = c]``, one row for each class that occurs."""
    member = problem.class_index[:, None] == np.arange(problem.n_classes)
    mass = member * problem.weights[:, None]
    return np.asarray((mass.T @ problem.embeddings) / mass.sum(axis=0)[:, None])


def collision_probability(problem: ContrastiveProblem) -> Any:
    """``tau_K = sum_c pi_c^(K+1)``: all negatives share the anchor's class."""
    return sum((class_priors(problem) ** (problem.negatives + 1)).tolist())


def cover_probability(problem: ContrastiveProblem) -> Any:
    """``q_min``: smallest over the classes ``c`` of P(the K negatives contain every class other than ``c``).

    Inclusion and exclusion over the sets of missing classes, hence for few classes only.

    Raises
    ------
    ValueError
        If there are more than 16 classes.
    """
    priors = class_priors(problem).tolist()
    if len(priors) > 16:
        raise ValueError(f"the cover probability is summed over subsets of at most 16 classes, got {len(priors)}")
    return max(0, min(_covered(priors[:c] + priors[c + 1 :], problem.negatives) for c in range(len(priors))))


def _covered(others: list[Any], negatives: int) -> Any:
    total: Any = 0
    for missing in range(2 ** len(others)):
        mass = sum(p for bit, p in enumerate(others) if missing >> bit & 1)
        total += (-1) ** missing.bit_count() * (1 - mass) ** negatives
    return total


def squared_distances(rows: NDArray[Any]) -> NDArray[Any]:
    """``||a - b||^2`` of all pairs of rows, without cancellation; exact for integers and fractions."""
    result = np.zeros((len(rows), len(rows)), dtype=rows.dtype)
    for column in rows.T:
        result += (column[:, None] - column[None, :]) ** 2
    return result


def _table(problem: ContrastiveProblem, level: Level) -> NDArray[Any]:
    if level == "embeddings":
        return problem.embeddings
    if problem.pixels is None:
        raise ValueError("the problem has no pixels, so that distances exist between embeddings only")
    return problem.pixels


def same_image_spread_squared(problem: ContrastiveProblem, level: Level = "embeddings") -> Any:
    """Square of ``D``: largest distance of two views of one image.

    Examples
    --------
    >>> same_image_spread_squared(ContrastiveProblem([[0], [3], [9]], [0, 0, 1], [0, 0, 0]))
    9
    """
    squares = squared_distances(_table(problem, level))
    return max(squares[np.ix_(views, views)].max() for views in problem.views_of_images)


def same_class_gap_squared(problem: ContrastiveProblem, level: Level = "embeddings") -> Any:
    """Square of ``d``: over pairs of images of one class, the largest of the smallest distances of their views.

    Examples
    --------
    >>> same_class_gap_squared(ContrastiveProblem([[0], [3], [9]], [0, 0, 1], [0, 0, 0]))
    36
    """
    squares = squared_distances(_table(problem, level))
    groups = problem.views_of_images
    pairs = ((a, b) for k, a in enumerate(groups) for b in groups[k:] if problem.classes[a[0]] == problem.classes[b[0]])
    return max(squares[np.ix_(a, b)].min() for a, b in pairs)


def squared_lipschitz_constant(problem: ContrastiveProblem) -> Any:
    """Square of ``L``: largest ``||f(x) - f(x')||^2 / ||x - x'||^2`` over views with different pixels.

    Raises
    ------
    ValueError
        If the problem has no pixels, or two views of equal pixels have different embeddings.
    """
    below, above = squared_distances(_table(problem, "pixels")), squared_distances(problem.embeddings)
    if bool((above[below == 0] > 0).any()):
        raise ValueError("two views have equal pixels and different embeddings: no Lipschitz constant exists")
    apart = below > 0
    return (above[apart] / below[apart]).max() if bool(apart.any()) else above.dtype.type(0)


def norm_bound(problem: ContrastiveProblem) -> float:
    """``B = max ||f(x)||``, rounded up by at most a few ulps."""
    largest = max((problem.embeddings**2).sum(axis=1).tolist())
    return math.sqrt(float(largest))


def first_moment_spread(problem: ContrastiveProblem) -> float:
    """``sigma_1 = E ||f(x) - mu_y||``."""
    centred = problem.embeddings - class_means(problem)[problem.class_index]
    norms = np.sqrt((centred**2).sum(axis=1).astype(np.float64))
    return float(norms @ problem.weights.astype(np.float64))


def class_variance(problem: ContrastiveProblem) -> Any:
    """``E ||f(x) - mu_y||^2``, exact for fractions."""
    centred = problem.embeddings - class_means(problem)[problem.class_index]
    return ((centred**2).sum(axis=1) * problem.weights).sum()


def class_pair_moment(problem: ContrastiveProblem) -> Any:
    """``E ||f - f'||^2`` for two independent views of the anchor's class, exact for fractions."""
    same = problem.class_index[:, None] == problem.class_index[None, :]
    priors = class_priors(problem)[problem.class_index]
    mass = np.where(same, problem.weights[:, None] * problem.weights[None, :], 0) / priors[:, None]
    return (squared_distances(problem.embeddings) * mass).sum()
