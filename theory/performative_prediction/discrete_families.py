"""Instances with finitely many outcomes, and location families whose regularity constants are known."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .validation import Stored, finite_array, finite_number

__all__ = ["DiscreteSoftmax", "JointQuadratic", "LipschitzLocation"]

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class DiscreteSoftmax:
    """One of ``K`` outcomes with probabilities ``softmax(A x + b)`` and loss ``f(x, k) = v_k + c_k'x + q |x|^2 / 2``.

    With ``c = 0`` and ``q = 0`` the loss is bounded by ``G = max |v|`` whatever the decision, which is the setting of
    the complexity bounds that grow with ``G``.

    Parameters
    ----------
    logit_matrix : array_like, shape (K, d)
        ``A``.
    logit_offset : array_like, shape (K,)
        ``b``.
    values : array_like, shape (K,)
        ``v``.
    slopes : array_like, shape (K, d), optional
        ``c``, zero by default.
    curvature : float, optional
        ``q >= 0``.

    Raises
    ------
    TypeError, ValueError
        If a field is malformed.

    Examples
    --------
    >>> coin = DiscreteSoftmax([[1.0], [-1.0]], [0.0, 0.0], [0.0, 1.0])
    >>> float(coin.objective([0.0])), coin.gradient([0.0])
    (0.5, array([-0.5]))
    """

    logit_matrix: Stored
    logit_offset: Stored
    values: Stored
    slopes: Stored = None
    curvature: float = 0.0

    def __post_init__(self) -> None:
        """Check shapes and freeze the arrays."""
        matrix = finite_array("logit_matrix", self.logit_matrix, 2)
        k, d = matrix.shape
        slopes = np.zeros((k, d)) if self.slopes is None else self.slopes
        object.__setattr__(self, "logit_matrix", matrix)
        object.__setattr__(self, "logit_offset", finite_array("logit_offset", self.logit_offset, 1, (k,)))
        object.__setattr__(self, "values", finite_array("values", self.values, 1, (k,)))
        object.__setattr__(self, "slopes", finite_array("slopes", slopes, 2, (k, d)))
        object.__setattr__(self, "curvature", finite_number("curvature", self.curvature, at_least=0.0))

    @property
    def dimension(self) -> int:
        """Dimension ``d`` of the decision."""
        return int(self.logit_matrix.shape[1])

    @property
    def outcomes(self) -> int:
        """Number ``K`` of outcomes."""
        return int(self.logit_matrix.shape[0])

    def probabilities(self, x: Array) -> Array:
        """Outcome probabilities; shapes ``(..., d) -> (..., K)``."""
        logits = np.asarray(x, dtype=np.float64) @ self.logit_matrix.T + self.logit_offset
        weight = np.exp(logits - logits.max(axis=-1, keepdims=True))
        return np.asarray(weight / weight.sum(axis=-1, keepdims=True))

    def outcome_losses(self, x: Array) -> Array:
        """Loss of every outcome; shapes ``(..., d) -> (..., K)``."""
        x = np.asarray(x, dtype=np.float64)
        ridge = 0.5 * self.curvature * np.einsum("...i,...i->...", x, x)
        return np.asarray(self.values + x @ np.asarray(self.slopes).T + ridge[..., None])

    def loss(self, x: Array, xi: Array) -> Array:
        """Loss of outcomes given as integers; shapes ``(..., d), (..., n, 1) -> (..., n)``."""
        k = np.asarray(xi)[..., 0].astype(np.intp)
        return np.take_along_axis(self.outcome_losses(x), k, axis=-1)

    def loss_gradient(self, x: Array, xi: Array) -> Array:
        """Partial gradient ``c_k + q x``; shapes ``(..., d), (..., n, 1) -> (..., n, d)``."""
        k = np.asarray(xi)[..., 0].astype(np.intp)
        return np.asarray(np.asarray(self.slopes)[k] + self.curvature * np.asarray(x, dtype=np.float64)[..., None, :])

    def objective(self, x: Array) -> Array:
        """Objective ``F``; shapes ``(..., d) -> (...)``."""
        return np.asarray((self.probabilities(x) * self.outcome_losses(x)).sum(axis=-1))

    def known_gradient(self, x: Array) -> Array:
        """Mean of the known-function gradient; shapes ``(..., d) -> (..., d)``."""
        return np.asarray(
            self.probabilities(x) @ np.asarray(self.slopes) + self.curvature * np.asarray(x, dtype=np.float64)
        )

    def gradient(self, x: Array) -> Array:
        """Gradient of ``F``: known part plus ``A'(diag(p) - pp') f``; shapes ``(..., d) -> (..., d)``."""
        p, losses = self.probabilities(x), self.outcome_losses(x)
        centred = losses - (p * losses).sum(axis=-1, keepdims=True)
        return np.asarray(self.known_gradient(x) + (p * centred) @ self.logit_matrix)

    def loss_variance(self, x: Array) -> Array:
        """Variance of ``f`` under the law at ``x``; shapes ``(..., d) -> (...)``."""
        p, losses = self.probabilities(x), self.outcome_losses(x)
        centred = losses - (p * losses).sum(axis=-1, keepdims=True)
        return np.asarray((p * centred**2).sum(axis=-1))


@dataclass(frozen=True, eq=False)
class LipschitzLocation:
    """Location family ``xi = nu + A x`` with finitely many ``nu`` and ``f = L_x |x - a| + L_xi |xi - c|``.

    Both Lipschitz constants are attained, and ``A2`` holds with ``|A|_op``, so the Lipschitz bound of ``F`` can be
    compared with exact values.

    Parameters
    ----------
    atoms : array_like, shape (J, k)
        Values of ``nu``.
    weights : array_like, shape (J,)
        Their probabilities; not negative, summing to one.
    sensitivity : array_like, shape (k, d)
        ``A``.
    decision_constant, sample_constant : float
        ``L_x >= 0`` and ``L_xi >= 0``.
    decision_anchor : array_like, shape (d,)
        ``a``.
    sample_anchor : array_like, shape (k,)
        ``c``.

    Raises
    ------
    TypeError, ValueError
        If a field is malformed.

    Examples
    --------
    >>> ramp = LipschitzLocation([[0.0]], [1.0], [[0.0]], 10.0, 0.0, [0.0], [0.0])
    >>> float(ramp.objective([2.0]))
    20.0
    """

    atoms: Stored
    weights: Stored
    sensitivity: Stored
    decision_constant: float
    sample_constant: float
    decision_anchor: Stored
    sample_anchor: Stored

    def __post_init__(self) -> None:
        """Check shapes and freeze the arrays."""
        atoms = finite_array("atoms", self.atoms, 2)
        weights = finite_array("weights", self.weights, 1, (atoms.shape[0],))
        if weights.min() < 0 or abs(float(weights.sum()) - 1.0) > 1e-12 * weights.size:
            raise ValueError(f"weights must be probabilities summing to one, got sum {weights.sum():g}")
        sensitivity = finite_array("sensitivity", self.sensitivity, 2, (atoms.shape[1], None))
        d = sensitivity.shape[1]
        object.__setattr__(self, "atoms", atoms)
        object.__setattr__(self, "weights", weights)
        object.__setattr__(self, "sensitivity", sensitivity)
        object.__setattr__(self, "decision_anchor", finite_array("decision_anchor", self.decision_anchor, 1, (d,)))
        object.__setattr__(
            self, "sample_anchor", finite_array("sample_anchor", self.sample_anchor, 1, (atoms.shape[1],))
        )
        for name in ("decision_constant", "sample_constant"):
            object.__setattr__(self, name, finite_number(name, getattr(self, name), at_least=0.0))

    @property
    def dimension(self) -> int:
        """Dimension ``d`` of the decision."""
        return int(self.sensitivity.shape[1])

    @property
    def wasserstein_constant(self) -> float:
        """Lipschitz constant ``|A|_op`` of the law in Wasserstein-1 distance."""
        return float(np.linalg.norm(self.sensitivity, 2))

    def objective(self, x: Array) -> Array:
        """Objective ``F`` as a finite sum; shapes ``(..., d) -> (...)``."""
        x = np.asarray(x, dtype=np.float64)
        own = self.decision_constant * np.linalg.norm(x - self.decision_anchor, axis=-1)
        samples = self.atoms + (x @ self.sensitivity.T)[..., None, :]
        other = self.sample_constant * np.linalg.norm(samples - self.sample_anchor, axis=-1) @ self.weights
        return np.asarray(own + other)


@dataclass(frozen=True, eq=False)
class JointQuadratic:
    """Location family ``xi = nu + A x`` with zero-mean ``nu`` and ``f(x, xi) = (x, xi)'Q(x, xi) / 2``.

    The Hessian of ``F`` is ``[I; A]'Q[I; A]``, so smoothness statements about location families can be read off.

    Parameters
    ----------
    hessian : array_like, shape (d + k, d + k)
        ``Q``, symmetric.
    sensitivity : array_like, shape (k, d)
        ``A``.

    Raises
    ------
    TypeError, ValueError
        If a field is malformed or ``hessian`` is not symmetric.

    Examples
    --------
    >>> pair = JointQuadratic([[0.5, 0.5], [0.5, 0.5]], [[1.0]])
    >>> pair.joint_smoothness, pair.objective_hessian()
    (1.0, array([[2.]]))
    """

    hessian: Stored
    sensitivity: Stored

    def __post_init__(self) -> None:
        """Check shapes and freeze the arrays."""
        sensitivity = finite_array("sensitivity", self.sensitivity, 2)
        size = sum(sensitivity.shape)
        hessian = finite_array("hessian", self.hessian, 2, (size, size))
        if not np.array_equal(hessian, hessian.T):
            raise ValueError(f"hessian must be symmetric, got an asymmetry of {np.max(np.abs(hessian - hessian.T)):g}")
        object.__setattr__(self, "hessian", hessian)
        object.__setattr__(self, "sensitivity", sensitivity)

    @property
    def dimension(self) -> int:
        """Dimension ``d`` of the decision."""
        return int(self.sensitivity.shape[1])

    @property
    def wasserstein_constant(self) -> float:
        """Operator norm of ``A``."""
        return float(np.linalg.norm(self.sensitivity, 2))

    @property
    def joint_smoothness(self) -> float:
        """Smoothness ``rho = |Q|_op`` of ``f`` in ``(x, xi)`` together."""
        return float(np.linalg.norm(self.hessian, 2))

    @property
    def block_smoothness(self) -> float:
        """Largest operator norm of the two diagonal blocks of ``Q``."""
        d = self.dimension
        return float(max(np.linalg.norm(self.hessian[:d, :d], 2), np.linalg.norm(self.hessian[d:, d:], 2)))

    @property
    def convex(self) -> bool:
        """Whether ``f`` is convex in ``(x, xi)`` (up to rounding)."""
        return float(np.linalg.eigvalsh(self.hessian)[0]) >= -1e-12 * max(self.joint_smoothness, 1e-300)

    def objective_hessian(self) -> Array:
        """Hessian ``[I; A]'Q[I; A]`` of ``F``; shape ``(d, d)``."""
        stack = np.vstack([np.eye(self.dimension), self.sensitivity])
        return np.asarray(stack.T @ self.hessian @ stack)
