"""Instances with a Gaussian location law, where every quantity of the paper is a closed form."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from .validation import Stored, finite_array, finite_number

__all__ = ["LinearNoise", "LocationQuadratic"]

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class LocationQuadratic:
    """Squared distance to a point that the decision pushes: ``f = |x - xi|^2 / 2 + c'x``, ``xi ~ N(A x + b, s^2 I)``.

    The objective is ``F(x) = |r|^2 / 2 + c'x + d s^2 / 2`` with residual ``r = (I - A) x - b``. The mean of the
    known-function gradient is ``r + c``, the true gradient is ``(I - A)'r + c``: the two agree only when ``A = 0``.

    Parameters
    ----------
    sensitivity : array_like, shape (d, d)
        ``A``, how the law moves with the decision; ``|A|_op`` is the Wasserstein-1 Lipschitz constant of A2.
    offset : array_like, shape (d,)
        ``b``.
    noise : float
        Standard deviation ``s >= 0`` of each coordinate of ``xi``.
    linear : array_like, shape (d,), optional
        ``c``, zero by default.

    Raises
    ------
    TypeError, ValueError
        If a field has the wrong shape, is not finite, or ``noise`` is negative.

    Examples
    --------
    >>> trap = LocationQuadratic([[1, 1], [-1, 1]], [0, 0], 0.5)
    >>> trap.known_gradient([1, 2]), trap.gradient([1, 2])
    (array([-2.,  1.]), array([1., 2.]))
    """

    sensitivity: Stored
    offset: Stored
    noise: float
    linear: Stored = field(default_factory=lambda: np.zeros(0))

    def __post_init__(self) -> None:
        """Check shapes and freeze the arrays."""
        offset = finite_array("offset", self.offset, 1)
        d = offset.size
        linear = np.zeros(d) if np.size(self.linear) == 0 else self.linear
        object.__setattr__(self, "offset", offset)
        object.__setattr__(self, "sensitivity", finite_array("sensitivity", self.sensitivity, 2, (d, d)))
        object.__setattr__(self, "linear", finite_array("linear", linear, 1, (d,)))
        object.__setattr__(self, "noise", finite_number("noise", self.noise, at_least=0.0))

    @property
    def dimension(self) -> int:
        """Dimension ``d`` of the decision."""
        return int(self.offset.size)

    def law_mean(self, x: Array) -> Array:
        """Mean ``A x + b`` of the law at ``x``; shapes ``(..., d) -> (..., d)``."""
        return np.asarray(np.asarray(x, dtype=np.float64) @ self.sensitivity.T + self.offset)

    def loss(self, x: Array, xi: Array) -> Array:
        """Loss ``f(x, xi)``; shapes ``(..., d), (..., n, d) -> (..., n)``."""
        x = np.asarray(x, dtype=np.float64)
        gap = x[..., None, :] - xi
        values: Array = 0.5 * np.einsum("...i,...i->...", gap, gap) + np.asarray(x @ self.linear)[..., None]
        return values

    def loss_gradient(self, x: Array, xi: Array) -> Array:
        """Partial gradient of ``f`` in ``x``; shapes ``(..., d), (..., n, d) -> (..., n, d)``."""
        return np.asarray((np.asarray(x, dtype=np.float64) + self.linear)[..., None, :] - xi)

    def residual(self, x: Array) -> Array:
        """Residual ``r = (I - A) x - b``; shapes ``(..., d) -> (..., d)``."""
        x = np.asarray(x, dtype=np.float64)
        return x - self.law_mean(x)

    def objective(self, x: Array) -> Array:
        """Objective ``F``, exactly; shapes ``(..., d) -> (...)``."""
        r = self.residual(x)
        quadratic = 0.5 * np.einsum("...i,...i->...", r, r)
        value: Array = quadratic + np.asarray(x) @ self.linear + 0.5 * self.dimension * self.noise**2
        return value

    def gradient(self, x: Array) -> Array:
        """Gradient of ``F``: ``(I - A)'r + c``; shapes ``(..., d) -> (..., d)``."""
        return np.asarray(self.residual(x) @ (np.eye(self.dimension) - self.sensitivity) + self.linear)

    def known_gradient(self, x: Array) -> Array:
        """Mean ``r + c`` of the known-function gradient; shapes ``(..., d) -> (..., d)``."""
        return np.asarray(self.residual(x) + self.linear)

    def loss_variance(self, x: Array) -> Array:
        """Variance of ``f(x, xi)`` under the law at ``x``: ``s^2 |r|^2 + d s^4 / 2``; unbounded in ``x``."""
        r = self.residual(x)
        return np.asarray(self.noise**2 * np.einsum("...i,...i->...", r, r) + 0.5 * self.dimension * self.noise**4)

    @property
    def smoothness(self) -> float:
        """Smoothness constant ``H = |I - A|_op^2`` of ``F``."""
        return float(np.linalg.norm(np.eye(self.dimension) - self.sensitivity, 2) ** 2)

    @property
    def wasserstein_constant(self) -> float:
        """Lipschitz constant ``|A|_op`` of the law in Wasserstein-1 distance (A2, exact)."""
        return float(np.linalg.norm(self.sensitivity, 2))

    def stationary_point(self) -> Array:
        """Zero of the gradient of ``F`` of least norm.

        Raises
        ------
        ValueError
            If ``F`` has no stationary point (``I - A`` singular and ``c`` outside its row space).
        """
        m = np.eye(self.dimension) - self.sensitivity
        right = m.T @ self.offset - self.linear
        return _consistent_solution(m.T @ m, right, "F has no stationary point: I - sensitivity is singular")

    def stable_point(self) -> Array:
        """Performatively stable point: zero of the mean known-function gradient, of least norm.

        Raises
        ------
        ValueError
            If there is none (``I - A`` singular and ``b - c`` outside its range).
        """
        m = np.eye(self.dimension) - self.sensitivity
        return _consistent_solution(
            m, self.offset - self.linear, "no performatively stable point: I - sensitivity is singular"
        )


@dataclass(frozen=True, eq=False)
class LinearNoise:
    """Quadratic decision cost and a linear price on the response: ``f = x'Px / 2 + w'xi``, ``xi ~ N(A x, s^2 I)``.

    ``F(x) = x'Px / 2 + w'Ax``; the variance of ``f`` is ``s^2 |w|^2`` everywhere, so A1 holds with equality, and
    ``H = |P|_op``. This is the family on which the convergence theorem is checked with every constant exact.

    Parameters
    ----------
    curvature : array_like, shape (d, d)
        ``P``, symmetric.
    weights : array_like, shape (k,)
        ``w``.
    sensitivity : array_like, shape (k, d)
        ``A``.
    noise : float
        Standard deviation ``s >= 0``.

    Raises
    ------
    TypeError, ValueError
        If a field has the wrong shape, is not finite, ``curvature`` is not symmetric, or ``noise`` is negative.

    Examples
    --------
    >>> family = LinearNoise(curvature=[[1.0]], weights=[2.0], sensitivity=[[0.5]], noise=1.0)
    >>> float(family.objective([3.0])), family.gradient([3.0]), family.variance_bound
    (7.5, array([4.]), 4.0)
    """

    curvature: Stored
    weights: Stored
    sensitivity: Stored
    noise: float

    def __post_init__(self) -> None:
        """Check shapes and freeze the arrays."""
        weights = finite_array("weights", self.weights, 1)
        sensitivity = finite_array("sensitivity", self.sensitivity, 2, (weights.size, None))
        d = sensitivity.shape[1]
        curvature = finite_array("curvature", self.curvature, 2, (d, d))
        if not np.array_equal(curvature, curvature.T):
            raise ValueError(
                f"curvature must be symmetric, got an asymmetry of {np.max(np.abs(curvature - curvature.T)):g}"
            )
        object.__setattr__(self, "weights", weights)
        object.__setattr__(self, "sensitivity", sensitivity)
        object.__setattr__(self, "curvature", curvature)
        object.__setattr__(self, "noise", finite_number("noise", self.noise, at_least=0.0))

    @property
    def dimension(self) -> int:
        """Dimension ``d`` of the decision."""
        return int(self.sensitivity.shape[1])

    def law_mean(self, x: Array) -> Array:
        """Mean ``A x`` of the law at ``x``; shapes ``(..., d) -> (..., k)``."""
        return np.asarray(np.asarray(x, dtype=np.float64) @ self.sensitivity.T)

    def loss(self, x: Array, xi: Array) -> Array:
        """Loss ``f(x, xi)``; shapes ``(..., d), (..., n, k) -> (..., n)``."""
        x = np.asarray(x, dtype=np.float64)
        quadratic = 0.5 * np.einsum("...i,...i->...", x @ self.curvature, x)
        return np.asarray(xi @ self.weights + quadratic[..., None])

    def loss_gradient(self, x: Array, xi: Array) -> Array:
        """Partial gradient ``P x``, the same for every sample; ``(..., d), (..., n, k) -> (..., n, d)``."""
        known = self.known_gradient(x)
        return np.broadcast_to(known[..., None, :], (*np.shape(xi)[:-1], self.dimension))

    def objective(self, x: Array) -> Array:
        """Objective ``F``, exactly; shapes ``(..., d) -> (...)``."""
        x = np.asarray(x, dtype=np.float64)
        quadratic = 0.5 * np.einsum("...i,...i->...", x @ self.curvature, x)
        return np.asarray(quadratic + x @ (self.sensitivity.T @ self.weights))

    def gradient(self, x: Array) -> Array:
        """Gradient ``P x + A'w`` of ``F``; shapes ``(..., d) -> (..., d)``."""
        return np.asarray(self.known_gradient(x) + self.sensitivity.T @ self.weights)

    def known_gradient(self, x: Array) -> Array:
        """Mean ``P x`` of the known-function gradient; shapes ``(..., d) -> (..., d)``."""
        return np.asarray(np.asarray(x, dtype=np.float64) @ self.curvature)

    def loss_variance(self, x: Array) -> Array:
        """Variance of ``f`` at ``x``, which is ``s^2 |w|^2`` for every ``x``; shapes ``(..., d) -> (...)``."""
        return np.full(np.shape(x)[:-1], self.variance_bound)

    @property
    def variance_bound(self) -> float:
        """The constant ``sigma^2 = s^2 |w|^2`` of A1."""
        return float(self.noise**2 * (self.weights @ self.weights))

    @property
    def smoothness(self) -> float:
        """Smoothness constant ``H = |P|_op`` of ``F``."""
        return float(np.linalg.norm(self.curvature, 2))

    @property
    def wasserstein_constant(self) -> float:
        """Lipschitz constant ``|A|_op`` of the law in Wasserstein-1 distance (A2, exact)."""
        return float(np.linalg.norm(self.sensitivity, 2))

    def stationary_point(self) -> Array:
        """Zero of the gradient of ``F`` of least norm.

        Raises
        ------
        ValueError
            If there is none (``P`` singular and ``A'w`` outside its range).
        """
        return _consistent_solution(
            self.curvature, -self.sensitivity.T @ self.weights, "F has no stationary point: curvature is singular"
        )

    def minimum(self) -> float:
        """Infimum ``F*`` of the objective.

        Raises
        ------
        ValueError
            If ``F`` is unbounded below.
        """
        if float(np.linalg.eigvalsh(self.curvature)[0]) < -1e-12 * max(1.0, self.smoothness):
            raise ValueError("F is unbounded below: curvature has a negative eigenvalue")
        return float(self.objective(self.stationary_point()))


def _consistent_solution(matrix: Array, right: Array, message: str) -> Array:
    """Least-norm solution of a square system, or ``ValueError`` when it has none."""
    solution: Array = np.asarray(np.linalg.lstsq(matrix, right, rcond=None)[0], dtype=np.float64)
    scale = float(np.linalg.norm(matrix, 2) * np.linalg.norm(solution) + np.linalg.norm(right))
    if float(np.linalg.norm(matrix @ solution - right)) > 1e-9 * max(scale, 1e-300):
        raise ValueError(message)
    return solution
