"""A Chow-Liu tree over 64 binary pixels as parents and tables, and random likelihoods: shared by all sides.

scikit-learn carries the digits; every environment of this comparison has it.
"""

import numpy as np
from sklearn.datasets import load_digits

TARGET = 27
BATCH = 10_000
ANSWERED = 20  # queries whose posteriors are compared


def binary_digits() -> np.ndarray:
    """One where a pixel is at least 8, shape (1797, 64)."""
    return (load_digits().data >= 8).astype(np.int64)


def tree() -> tuple[list[int], list[np.ndarray]]:
    """Parent of each pixel (-1 for the root) and its table, rows by the parent's state."""
    data = binary_digits()
    joint = np.stack([[(data == a).T @ (data == b) for b in (0, 1)] for a in (0, 1)]) / len(data)  # (a, b, i, j)
    single = np.stack([np.diag(joint[a, a]) for a in (0, 1)])
    expected = single[:, None, :, None] * single[None, :, None, :]
    positive = joint > 0
    information = np.where(positive, joint * np.log(np.where(positive, joint, 1) / np.where(positive, expected, 1)), 0)
    weight = information.sum(axis=(0, 1))
    parent, best, outside = [-1] * 64, weight[0].copy(), np.arange(64) > 0
    origin = np.zeros(64, dtype=int)
    for _ in range(63):
        child = int(np.argmax(np.where(outside, best, -np.inf)))
        parent[child], outside[child] = int(origin[child]), False
        closer = outside & (weight[child] > best)
        best[closer], origin[closer] = weight[child][closer], child
    tables = []
    for child, mother in enumerate(parent):
        counts = np.full((2, 2), 0.5)
        np.add.at(counts, (data[:, mother] if mother >= 0 else 0, data[:, child]), 1)
        rows = counts / counts.sum(axis=1, keepdims=True)
        tables.append(rows if mother >= 0 else rows[0])
    return parent, tables


def likelihoods() -> np.ndarray:
    """Random weights of every pixel but the target, shape (10000, 64, 2); the target's are ones."""
    weights = np.random.default_rng(0).uniform(0.05, 1.0, size=(BATCH, 64, 2))
    weights[:, TARGET] = 1.0
    return weights
