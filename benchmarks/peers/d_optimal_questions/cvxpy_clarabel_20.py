"""Log-determinant model solved by Clarabel."""

import cvxpy as cp
import numpy as np
from inputs import features, subset_matrices


def prepare():
    """Compute the matrices; the timed run builds the model and solves it."""
    matrices = subset_matrices(features(20, 5), 3)
    dim = matrices.shape[1]
    flat = matrices.reshape(len(matrices), -1).T

    def solve():
        weights = cp.Variable(len(matrices), nonneg=True)
        information = cp.reshape(flat @ weights, (dim, dim), order="C")
        symmetric = (information + information.T) / 2
        cp.Problem(cp.Maximize(cp.log_det(symmetric)), [cp.sum(weights) == 1]).solve(solver="CLARABEL")
        return weights.value, matrices

    return solve


def answer(result):
    """Objective of the returned weights."""
    weights, matrices = result
    w = np.maximum(weights, 0)
    return [-np.linalg.slogdet(np.einsum("n,nij->ij", w / w.sum(), matrices))[1]]
