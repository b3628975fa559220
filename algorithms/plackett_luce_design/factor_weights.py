"""D-optimal weights over an explicit family of information matrices, given by factors ``M_i = F_i' F_i``.

`multiplicative_weights` suits thousands of matrices at moderate accuracy, `interior_point_weights` hundreds at high
accuracy. Both serve design matrices and true Fisher informations alike.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from whp.theory.plackett_luce_design import SingularDesignError
from whp.theory.plackett_luce_design.validation import real_number, whole_number

Array = NDArray[np.float64]

__all__ = ["WeightsResult", "interior_point_weights", "multiplicative_weights"]


@dataclass(frozen=True, eq=False)
class WeightsResult:
    """Weights over a family of matrices, with their certificate.

    Parameters
    ----------
    weights : (n,) ndarray
        Probability vector.
    log_det : float
        ``log det(sum_i w_i M_i + ridge I)``.
    max_leverage : float
        Largest ``tr(M_i V^{-1})``.
    gap : float
        Certified distance from the optimum in nats: ``d log((L + d - t) / d)`` with ``t = sum_i w_i tr(M_i V^{-1})``,
        which is ``d log(L / d)`` without a ridge.
    iterations : int
        Iterations done.
    converged : bool
        Whether the gap met the tolerance.
    objectives : list of float
        ``-log det`` before each iteration.
    """

    weights: Array
    log_det: float
    max_leverage: float
    gap: float
    iterations: int
    converged: bool
    objectives: list[float]


def _check(factors: ArrayLike, ridge: float, tolerance: float, iterations: int) -> Array:
    f = np.asarray(factors, dtype=float)
    if f.ndim != 3 or 0 in f.shape:
        raise ValueError(f"factors must have shape (n, m, d) without empty axes, got {f.shape}")
    if not np.isfinite(f).all():
        raise ValueError("factors must be finite, got nan or infinity")
    if np.abs(f).max() > 1e150:
        raise ValueError(f"factors must be at most 1e150 for their squares to be floats, got {np.abs(f).max():.3g}")
    real_number("ridge", ridge, at_least=0)
    real_number("tolerance", tolerance, at_least=0)
    whole_number("iterations", iterations, 0)
    return f


class _Family:
    """Leverages and log-determinants of weighted sums of ``F_i' F_i``."""

    def __init__(self, factors: Array, ridge: float) -> None:
        self.n, self.m, self.d = factors.shape
        self.flat = np.ascontiguousarray(factors.reshape(-1, self.d))
        self.ridge = ridge

    def evaluate(self, weights: Array) -> tuple[Array, Array, float]:
        """Whitened factors (n * m, d), leverages (n,) and log-determinant."""
        scaled = np.sqrt(np.repeat(weights, self.m))[:, None] * self.flat
        matrix = scaled.T @ scaled
        matrix[np.diag_indices(self.d)] += self.ridge
        values, vectors = np.linalg.eigh(matrix)
        rank = int((values > self.d * np.finfo(float).eps * values[-1]).sum()) if values[-1] > 0 else 0
        if rank < self.d:
            raise SingularDesignError(f"factors must span {self.d} dimensions under the weights, got rank {rank}")
        whitened = self.flat @ (vectors / np.sqrt(values))
        squares = np.einsum("ij,ij->i", whitened, whitened)
        return whitened, squares.reshape(self.n, self.m).sum(axis=1), float(np.log(values).sum())

    def gap(self, weights: Array, leverages: Array) -> float:
        """Certified gap of the weights from the optimum."""
        trace = float(weights @ leverages)
        return float(self.d * np.log1p(max(float(leverages.max()) - trace, 0.0) / self.d))


def _start(start: ArrayLike | None, n: int) -> Array:
    if start is None:
        return np.full(n, 1.0 / n)
    w = np.array(start, dtype=float)
    if w.shape != (n,) or not np.isfinite(w).all() or (w < 0).any() or w.sum() <= 0:
        raise ValueError(f"start must hold {n} non-negative weights, got shape {w.shape}")
    return np.asarray(w / w.sum())


def multiplicative_weights(
    factors: ArrayLike,
    *,
    ridge: float = 0.0,
    tolerance: float = 1e-3,
    iterations: int = 100_000,
    start: ArrayLike | None = None,
) -> WeightsResult:
    """Multiply every weight by its leverage over the mean leverage; the log-determinant never falls.

    Parameters
    ----------
    factors : (n, m, d) array_like
        ``F_i`` with ``M_i = F_i' F_i``.
    ridge : float
        Added to ``V`` as a multiple of the identity.
    tolerance : float
        Stop when the certified gap, in nats, is at most this.
    iterations : int
        Largest number of iterations.
    start : (n,) array_like, optional
        First weights; uniform when left out. Zero weights stay zero.

    Returns
    -------
    WeightsResult

    Raises
    ------
    SingularDesignError
        If the matrices do not span and there is no ridge.

    References
    ----------
    .. [1] Silvey, Titterington and Torsney (1978).

    Examples
    --------
    >>> result = multiplicative_weights([[[1.0, 0.0]], [[0.0, 1.0]], [[0.5, 0.5]]], tolerance=1e-9)
    >>> result.weights.round(6).tolist()
    [0.5, 0.5, 0.0]
    """
    family = _Family(_check(factors, ridge, tolerance, iterations), ridge)
    w = _start(start, family.n)
    objectives: list[float] = []
    done = 0
    while True:
        _, leverages, log_det = family.evaluate(w)
        gap = family.gap(w, leverages)
        if gap <= tolerance or done >= iterations:
            return WeightsResult(w, log_det, float(leverages.max()), gap, done, gap <= tolerance, objectives)
        objectives.append(-log_det)
        moved = w * leverages
        moved /= moved.sum()
        done += 1
        if np.array_equal(moved, w) or (np.abs(moved - w).max() <= 1e-15 and not w.all()):
            # a fixed point: zero weights stay zero, however much they would help
            return WeightsResult(w, log_det, float(leverages.max()), gap, done, False, objectives)
        w = moved


def interior_point_weights(
    factors: ArrayLike, *, ridge: float = 0.0, tolerance: float = 1e-9, iterations: int = 100
) -> WeightsResult:
    """Primal-dual interior point method on ``max log det``, ``O(n^3)`` an iteration, for up to a few thousand matrices.

    Solves the optimality conditions ``lev_i + z_i = nu``, ``w_i z_i = mu``, ``sum w = 1`` by Newton steps for falling
    ``mu``.

    Parameters
    ----------
    factors : (n, m, d) array_like
        ``F_i`` with ``M_i = F_i' F_i``.
    ridge : float
        Added to ``V`` as a multiple of the identity.
    tolerance : float
        Stop when the certified gap, in nats, is at most this.
    iterations : int
        Largest number of iterations.

    Returns
    -------
    WeightsResult

    Raises
    ------
    SingularDesignError
        If the matrices do not span and there is no ridge.

    Examples
    --------
    >>> result = interior_point_weights([[[1.0, 0.0]], [[0.0, 1.0]], [[0.5, 0.5]]])
    >>> result.weights.round(6).tolist(), result.converged
    ([0.5, 0.5, 0.0], True)
    """
    family = _Family(_check(factors, ridge, tolerance, iterations), ridge)
    w = np.full(family.n, 1.0 / family.n)
    whitened, leverages, log_det = family.evaluate(w)
    # unscaled problems have flat directions at first: a few multiplicative steps centre the start
    for _ in range(5):
        w = w * (leverages + 1e-3 * leverages.max())
        w /= w.sum()
        whitened, leverages, log_det = family.evaluate(w)
    nu = 1.1 * float(leverages.max())
    z = nu - leverages
    best = WeightsResult(w, log_det, float(leverages.max()), family.gap(w, leverages), 0, False, [])
    objectives: list[float] = []
    step = 0.0
    for done in range(1, iterations + 1):
        objectives.append(-log_det)
        # after a long step the centre is near, and the target may fall faster
        mu = (0.02 if step > 0.9 else 0.2) * float(w @ z) / family.n
        dw, dnu = _newton(family, whitened, leverages, w, z, nu, mu)
        dz = mu / w - z - (z / w) * dw
        step = min(1.0, 0.99 * _to_boundary(w, dw), 0.99 * _to_boundary(z, dz))
        w = w + step * dw
        z = z + step * dz
        nu += step * dnu
        w = w / w.sum()
        whitened, leverages, log_det = family.evaluate(w)
        gap = family.gap(w, leverages)
        if gap < best.gap:
            best = WeightsResult(w, log_det, float(leverages.max()), gap, done, gap <= tolerance, objectives)
        if best.converged or float(w @ z) < 1e-15:
            break
    return best


def _newton(
    family: _Family, whitened: Array, leverages: Array, w: Array, z: Array, nu: float, mu: float
) -> tuple[Array, float]:
    from scipy.linalg import cho_factor, cho_solve

    gram = whitened @ whitened.T
    gram *= gram
    if family.m > 1:
        gram = gram.reshape(family.n, family.m, family.n, family.m).sum(axis=(1, 3))
    gram[np.diag_indices(family.n)] += z / w
    factor = cho_factor(gram, lower=True, overwrite_a=True, check_finite=False)
    right = np.stack([leverages - nu + mu / w, np.ones(family.n)], axis=1)
    solved = cho_solve(factor, right, check_finite=False)
    dnu = float((solved[:, 0].sum() - (1.0 - w.sum())) / solved[:, 1].sum())
    return np.asarray(solved[:, 0] - dnu * solved[:, 1]), dnu


def _to_boundary(value: Array, change: Array) -> float:
    falling = change < 0
    return float((-value[falling] / change[falling]).min()) if falling.any() else np.inf
