"""What the checks compare with in floats: a plain multiplicative optimum and the gradient of many rankings."""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whp.theory import plackett_luce_design as theory

Array = NDArray[Any]


def weighted_log_det(matrices: Array, weights: Array, ridge: float = 0.0) -> float:
    """``log det(sum_i w_i M_i + ridge I)``; minus infinity when singular."""
    v = np.einsum("n,nij->ij", weights, matrices) + ridge * np.eye(matrices.shape[1])
    sign, value = np.linalg.slogdet(v)
    return float(value) if sign > 0 else -np.inf


def multiplicative_optimum(matrices: Array, ridge: float = 0.0, steps: int = 4000) -> tuple[Array, float]:
    """Weights after many multiplicative updates and their log-determinant: a lower bound on the maximum."""
    d = matrices.shape[1]
    w = np.full(len(matrices), 1.0 / len(matrices))
    for _ in range(steps):
        v = np.einsum("n,nij->ij", w, matrices) + ridge * np.eye(d)
        lev = np.einsum("nij,ji->n", matrices, np.linalg.inv(v))
        trace = float(w @ lev)
        if d * np.log1p(max(lev.max() - trace, 0.0) / d) < 1e-9:
            break
        w = w * lev / trace
    return w, weighted_log_det(matrices, w, ridge)


def subset_matrices(features: Array, subset_size: int) -> Array:
    """All ``M_S`` in floats."""
    rows = np.array(list(combinations(range(len(features)), subset_size)))
    return theory.subset_information(features, rows)


def best_log_det(features: tuple[tuple[int, ...], ...], subset_size: int) -> float:
    """``log det`` of a nearly optimal design over all subsets, in the feature coordinates."""
    return _cached_log_det(features, subset_size)


@lru_cache(maxsize=4096)
def _cached_log_det(features: tuple[tuple[int, ...], ...], subset_size: int) -> float:
    return multiplicative_optimum(subset_matrices(np.array(features, dtype=float), subset_size))[1]


def design_matrix_log_det(problem: theory.DesignProblem, design: theory.Design) -> float:
    """``log det V`` in the feature coordinates, from the sum over pairs."""
    return weighted_log_det(theory.subset_information(problem.features, design.subsets), design.weights)


def all_leverages(problem: theory.DesignProblem, design: theory.Design) -> Array:
    """Leverages of all subsets from the matrices themselves, through ``V^{-1}``."""
    v = np.einsum("n,nij->ij", design.weights, theory.subset_information(problem.features, design.subsets))
    matrices = subset_matrices(problem.features, problem.subset_size)
    return np.asarray(np.einsum("nij,ji->n", matrices, np.linalg.inv(v)))


def rankings_gradient(features: Array, rankings: Array, theta: Array) -> Array:
    """Gradient of the summed negative log-likelihood of full rankings of equal size."""
    shown = features[rankings]  # (n, K, d), best first
    u = shown @ theta
    log_totals = np.logaddexp.accumulate(u[:, ::-1], axis=1)[:, ::-1]
    total = np.zeros(features.shape[1])
    for k in range(rankings.shape[1] - 1):
        p = np.exp(u[:, k:] - log_totals[:, k : k + 1])
        total += np.einsum("nj,njd->d", p, shown[:, k:]) - shown[:, k].sum(axis=0)
    return total
