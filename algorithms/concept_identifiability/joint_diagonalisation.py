"""Joint diagonalisation of class covariances: generalised eigenvectors for two, Pham's iteration for more."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whp.algorithms.concept_identifiability.validation import checked_matrices

__all__ = ["JointDiagonalisation", "joint_diagonalisation", "joint_diagonalisation_of_two"]


@dataclass(frozen=True)
class JointDiagonalisation:
    """A matrix that makes all covariances nearly diagonal.

    Attributes
    ----------
    unmixing : array (n, n)
        ``unmixing @ C_k @ unmixing.T`` is nearly diagonal for all k; rows scaled to a mean variance of one.
    variances : array (n_matrices, n)
        The diagonals.
    closest_pair : float
        Smallest distance, over pairs of sources, of log variances up to a constant (root mean square over classes):
        zero when two sources are proportional and hence not told apart.
    converged : bool
        Whether the iteration settled.
    sweeps : int
        Sweeps over all pairs; zero where eigenvectors are computed directly.
    """

    unmixing: NDArray[np.float64]
    variances: NDArray[np.float64]
    closest_pair: float
    converged: bool
    sweeps: int


def joint_diagonalisation_of_two(first: Any, second: Any) -> JointDiagonalisation:
    """Diagonalise two covariances by generalised eigenvectors of (second, first), ratios increasing.

    Parameters
    ----------
    first, second : array_like, shape (n, n)
        Symmetric positive definite.

    Raises
    ------
    ValueError
        If a matrix is not symmetric positive definite.

    Examples
    --------
    >>> found = joint_diagonalisation_of_two([[5, 3], [3, 2]], [[25, 17], [17, 13]])
    >>> (found.variances[1] / found.variances[0]).round(9).tolist()
    [4.0, 9.0]
    """
    from scipy.linalg import eigh

    matrices = checked_matrices([first, second])
    _, vectors = eigh(matrices[1], matrices[0])
    return _scaled(vectors.T, matrices, True, 0)


def joint_diagonalisation(covariances: Any, *, tolerance: float = 1e-10, max_sweeps: int = 200) -> JointDiagonalisation:
    """Diagonalise several covariances approximately, minimising the sum of ``log det diag - log det``.

    Parameters
    ----------
    covariances : array_like, shape (n_matrices, n, n)
        Symmetric positive definite.
    tolerance : float
        Decrease of the criterion per sweep at which to stop.
    max_sweeps : int
        Give up after so many; ``converged`` tells.

    References
    ----------
    .. [1] D.-T. Pham, Joint approximate diagonalization of positive definite Hermitian matrices, SIAM J. Matrix Anal.
       Appl. 22, 2001.
    """
    matrices = checked_matrices(covariances)
    if len(matrices) <= 2:
        return joint_diagonalisation_of_two(matrices[0], matrices[-1])
    n = matrices.shape[1]
    start = joint_diagonalisation_of_two(matrices[0], matrices[1:].mean(axis=0)).unmixing
    unmixing, work = start, start @ matrices @ start.T
    converged, sweep = n == 1, 0
    while not converged and sweep < max_sweeps:
        sweep += 1
        decrease = 0.0
        for i in range(n):
            for k in range(i):
                decrease += _rotate_pair(unmixing, work, i, k)
        converged = decrease < tolerance
    return _scaled(unmixing, matrices, converged, sweep)


def _rotate_pair(unmixing: NDArray[np.float64], work: NDArray[np.float64], i: int, k: int) -> float:
    """One step of [1] on a pair, in place; returns how far it was from stationary."""
    vi, vk, cross = work[:, i, i], work[:, k, k], work[:, i, k]
    gi, gk = float((cross / vi).mean()), float((cross / vk).mean())
    wi, wk = float((vk / vi).mean()), float((vi / vk).mean())
    gap = wi * wk - 1.0
    if gap < 1e-12:  # proportional: any rotation is stationary
        return 0.0
    hi, hk = (wk * gi - gk) / gap, (wi * gk - gi) / gap
    decrease = abs(gi * hi + gk * hk) / 2
    factor = 2.0 / (1.0 + np.sqrt(max(1.0 - 4.0 * hi * hk, 0.0)))
    step = np.array([[1.0, -factor * hi], [-factor * hk, 1.0]])
    # row i of the step multiplies (i, k): the coefficient of k in the new i is that of cross / v_k
    pair = np.array([i, k])
    unmixing[pair] = step @ unmixing[pair]
    work[:, pair, :] = step @ work[:, pair, :]
    work[:, :, pair] = work[:, :, pair] @ step.T
    return decrease


def _scaled(
    unmixing: NDArray[np.float64], matrices: NDArray[np.float64], converged: bool, sweeps: int
) -> JointDiagonalisation:
    variances = np.einsum("ij,kjl,il->ki", unmixing, matrices, unmixing)
    size = np.sqrt(variances.mean(axis=0))
    variances = variances / size**2
    logs = np.log(variances)
    gaps = logs[:, :, None] - logs[:, None, :]  # (n_matrices, n, n)
    distances = gaps.std(axis=0) + np.where(np.eye(len(unmixing), dtype=bool), np.inf, 0.0)
    return JointDiagonalisation(unmixing / size[:, None], variances, float(distances.min()), converged, sweeps)
