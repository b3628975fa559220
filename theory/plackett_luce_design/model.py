"""The Plackett-Luce model of rankings: probabilities, likelihood derivatives and Fisher information.

The weight functions take any exact or floating numbers (``Fraction``, ``int``, ``float``, sympy), so one formula serves
both exact checks and ordinary use.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

__all__ = [
    "fisher_information",
    "luce_gradient",
    "luce_hessian",
    "luce_negative_log_likelihood",
    "pair_information",
    "ranking_distribution",
    "ranking_pair_coefficients",
    "ranking_probability",
]


def _check_ranking(ranking: Sequence[int], n_items: int) -> list[int]:
    order = [int(i) for i in ranking if isinstance(i, (int, np.integer)) and not isinstance(i, bool)]
    if len(order) != len(ranking):
        raise TypeError(f"ranking must hold item numbers (integers), got {list(ranking)}")
    if len(order) < 2:
        raise ValueError(f"ranking must order at least 2 items, got {order}")
    if len(set(order)) != len(order):
        raise ValueError(f"ranking must not repeat an item, got {order}")
    if min(order) < 0 or max(order) >= n_items:
        raise ValueError(f"ranking must name items between 0 and {n_items - 1}, got {order}")
    return order


def _check_weights(weights: Sequence[Any]) -> None:
    if len(weights) < 2:
        raise ValueError(f"weights must be given for at least 2 items, got {len(weights)}")
    for i, weight in enumerate(weights):
        if not weight > 0 or weight == float("inf"):
            raise ValueError(f"weights must be positive and finite, got weights[{i}]={weight}")


def ranking_probability(weights: Sequence[Any], ranking: Sequence[int]) -> Any:
    """Probability that the shown items are ranked in exactly this order.

    Parameters
    ----------
    weights : sequence of positive numbers
        ``w_i = exp(utility of item i)``.
    ranking : sequence of int
        Items, best first; a subset of the items may be ranked.

    Returns
    -------
    number
        ``prod_k w_{s(k)} / sum_{j >= k} w_{s(j)}``, in the arithmetic of the weights.

    Raises
    ------
    ValueError
        If a weight is not positive and finite or the ranking repeats or misnames an item.

    Examples
    --------
    >>> from fractions import Fraction
    >>> ranking_probability([Fraction(1), Fraction(2), Fraction(3)], [2, 1, 0])
    Fraction(1, 3)
    """
    _check_weights(weights)
    order = _check_ranking(ranking, len(weights))
    probability = 1
    for k, item in enumerate(order):
        probability = probability * weights[item] / sum(weights[j] for j in order[k:])
    return probability


def ranking_distribution(weights: Sequence[Any]) -> dict[tuple[int, ...], Any]:
    """Probability of each of the ``K!`` full rankings of the items.

    Parameters
    ----------
    weights : sequence of positive numbers
        One weight per item; at most 9 items, since ``K!`` rankings are listed.

    Returns
    -------
    dict
        Ranking, best first, to probability; the probabilities sum to one.

    Raises
    ------
    ValueError
        If more than 9 items are given or a weight is not positive.

    Examples
    --------
    >>> from fractions import Fraction
    >>> sum(ranking_distribution([Fraction(1), Fraction(2), Fraction(3)]).values())
    Fraction(1, 1)
    """
    if len(weights) > 9:
        raise ValueError(f"weights must be given for at most 9 items to list all rankings, got {len(weights)}")
    return {order: ranking_probability(weights, order) for order in permutations(range(len(weights)))}


def ranking_pair_coefficients(weights: Sequence[Any], ranking: Sequence[int]) -> dict[tuple[int, int], Any]:
    """Coefficients ``sum_k p_k(j) p_k(j')`` of the pairs in the Hessian of one ranking.

    Parameters
    ----------
    weights : sequence of positive numbers
        One weight per item.
    ranking : sequence of int
        Items, best first.

    Returns
    -------
    dict
        ``(j, j')`` with ``j < j'`` to the sum over the stages at which both items remain.

    Examples
    --------
    >>> from fractions import Fraction
    >>> ranking_pair_coefficients([Fraction(1), Fraction(1), Fraction(1)], [0, 1, 2])[(1, 2)]
    Fraction(13, 36)
    """
    _check_weights(weights)
    order = _check_ranking(ranking, len(weights))
    coefficients: dict[tuple[int, int], Any] = {}
    for k in range(len(order) - 1):
        remaining = order[k:]
        total = sum(weights[j] for j in remaining)
        for a, j in enumerate(remaining):
            for other in remaining[a + 1 :]:
                pair = (min(j, other), max(j, other))
                coefficients[pair] = coefficients.get(pair, 0) + (weights[j] / total) * (weights[other] / total)
    return coefficients


def pair_information(weights: Sequence[Any]) -> list[list[Any]]:
    """Pair coefficients in expectation, ``E sum_k p_k(j) p_k(j') 1{both remain}`` of one full ranking.

    Runs over the ``2^K`` sets of items that can remain, not over the ``K!`` rankings.

    Parameters
    ----------
    weights : sequence of positive numbers
        One weight per shown item; at most 16 items.

    Returns
    -------
    list of list
        Symmetric ``K x K`` table with zero diagonal, in the arithmetic of the weights.

    Raises
    ------
    ValueError
        If more than 16 items are given or a weight is not positive.

    Examples
    --------
    >>> from fractions import Fraction
    >>> pair_information([Fraction(1), Fraction(2), Fraction(3)])[0][1]
    Fraction(1, 6)
    """
    _check_weights(weights)
    n = len(weights)
    if n > 16:
        raise ValueError(f"weights must be given for at most 16 items, since 2^K sets are visited, got {n}")
    table: list[list[Any]] = [[0] * n for _ in range(n)]
    reach: dict[int, Any] = {(1 << n) - 1: 1}
    for _ in range(n - 1):
        smaller: dict[int, Any] = {}
        for mask, probability in reach.items():
            members = [i for i in range(n) if mask >> i & 1]
            total = sum(weights[i] for i in members)
            for a, i in enumerate(members):
                left = mask ^ (1 << i)
                smaller[left] = smaller.get(left, 0) + probability * weights[i] / total
                for j in members[a + 1 :]:
                    term = probability * (weights[i] / total) * (weights[j] / total)
                    table[i][j] = table[i][j] + term
                    table[j][i] = table[i][j]
        reach = smaller
    return table


def _stage_terms(theta: ArrayLike, features: ArrayLike, ranking: Sequence[int]) -> tuple[Array, Array, Array]:
    x = np.asarray(features, dtype=float)
    parameter = np.asarray(theta, dtype=float)
    if x.ndim != 2 or parameter.shape != (x.shape[1],):
        raise ValueError(
            f"theta must have one entry per feature column, got shapes theta {parameter.shape} and features {x.shape}"
        )
    if not np.isfinite(x).all() or not np.isfinite(parameter).all():
        raise ValueError("theta and features must be finite, got nan or infinity")
    order = _check_ranking(ranking, len(x))
    ranked = x[order]  # (K, d), best first
    utilities = ranked @ parameter
    log_totals = np.logaddexp.accumulate(utilities[::-1])[::-1]  # log sum_{j >= k} w_j
    # probabilities[k, j] = p_k(j) for j >= k, zero before
    probabilities = np.triu(np.exp(np.minimum(utilities[None, :] - log_totals[:, None], 0.0)))
    return ranked, utilities - log_totals, probabilities


def luce_negative_log_likelihood(theta: ArrayLike, features: ArrayLike, ranking: Sequence[int]) -> float:
    """Negative log-likelihood of one ranking under utilities ``features @ theta``.

    Parameters
    ----------
    theta : (d,) array_like
        Parameter.
    features : (n_items, d) array_like
        Item features.
    ranking : sequence of int
        Items, best first.

    Returns
    -------
    float
        ``-sum_k log p_k(s(k))``; never negative.

    Examples
    --------
    >>> round(luce_negative_log_likelihood([0.0], [[0.0], [1.0], [2.0]], [2, 1, 0]), 6)
    1.791759
    """
    return float(max(-_stage_terms(theta, features, ranking)[1].sum(), 0.0))


def luce_gradient(theta: ArrayLike, features: ArrayLike, ranking: Sequence[int]) -> Array:
    """Gradient ``sum_k (E_{p_k}[x] - x_{s(k)})`` of the negative log-likelihood of one ranking.

    Parameters
    ----------
    theta, features, ranking
        As in `luce_negative_log_likelihood`.

    Returns
    -------
    (d,) ndarray
        The gradient.

    Examples
    --------
    >>> import math
    >>> round(float(luce_gradient([math.log(2)], [[0.0], [1.0], [2.0]], [2, 1, 0])[0]) * 21, 9)
    -19.0
    """
    ranked, _, probabilities = _stage_terms(theta, features, ranking)
    return np.asarray((probabilities @ ranked - ranked).sum(axis=0))


def luce_hessian(theta: ArrayLike, features: ArrayLike, ranking: Sequence[int]) -> Array:
    """Hessian ``sum_k Cov_{p_k}(x)`` of the negative log-likelihood of one ranking.

    Parameters
    ----------
    theta, features, ranking
        As in `luce_negative_log_likelihood`.

    Returns
    -------
    (d, d) ndarray
        Symmetric positive semidefinite.

    Examples
    --------
    >>> import math
    >>> round(float(luce_hessian([math.log(2)], [[0.0], [1.0], [2.0]], [2, 1, 0])[0, 0]) * 441, 9)
    332.0
    """
    ranked, _, probabilities = _stage_terms(theta, features, ranking)
    hessian = np.zeros((ranked.shape[1],) * 2)
    for k in range(len(ranked) - 1):
        centred = ranked[k:] - probabilities[k, k:] @ ranked[k:]
        hessian += centred.T @ (probabilities[k, k:, None] * centred)
    return hessian


def fisher_information(theta: ArrayLike, features: ArrayLike) -> Array:
    """Fisher information of one full ranking of all given items.

    Parameters
    ----------
    theta : (d,) array_like
        Parameter.
    features : (K, d) array_like
        Features of the shown items only; at most 16.

    Returns
    -------
    (d, d) ndarray
        ``E sum_k Cov_{p_k}(x)`` over rankings drawn from the model.

    Examples
    --------
    >>> fisher_information([0.0], [[0.0], [1.0]])
    array([[0.25]])
    """
    x = np.asarray(features, dtype=float)
    parameter = np.asarray(theta, dtype=float)
    if x.ndim != 2 or parameter.shape != (x.shape[1],):
        raise ValueError(
            f"theta must have one entry per feature column, got shapes theta {parameter.shape} and features {x.shape}"
        )
    utilities = x @ parameter
    spread = float(np.ptp(utilities)) if len(x) else 0.0
    if not np.isfinite(spread) or spread > 700.0:
        raise ValueError(f"theta must give finite utilities that differ by at most 700, got a spread of {spread}")
    coefficients = np.array(pair_information(list(np.exp(utilities - utilities.max()))), dtype=float)
    laplacian = np.diag(coefficients.sum(axis=1)) - coefficients
    return np.asarray(x.T @ laplacian @ x)
