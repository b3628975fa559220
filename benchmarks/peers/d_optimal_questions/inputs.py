"""Normal items scaled to norm at most one, and the matrices of all K-subsets."""

import itertools

import numpy as np


def features(n_items: int, dim: int) -> np.ndarray:
    """Items."""
    x = np.random.default_rng(1).normal(size=(n_items, dim))
    return x / np.linalg.norm(x, axis=1).max()


def subset_matrices(x: np.ndarray, size: int) -> np.ndarray:
    """``M_S`` for every subset, as sums over pairs."""
    out = []
    for subset in itertools.combinations(range(len(x)), size):
        z = np.array([x[i] - x[j] for i, j in itertools.combinations(subset, 2)])
        out.append(z.T @ z)
    return np.array(out)
