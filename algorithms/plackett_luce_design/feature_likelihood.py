"""Maximum likelihood for a linear utility ``x_i' theta``: Newton, with ridge or a bounded ball."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from whp.algorithms.plackett_luce_design.identifiability import NoFiniteMaximumError, separating_direction
from whp.algorithms.plackett_luce_design.likelihood import LuceStages
from whp.algorithms.plackett_luce_design.maximum_likelihood import FitStatus, _check_options
from whp.algorithms.plackett_luce_design.rankings import Rankings
from whp.theory.plackett_luce_design.validation import real_number

Array = NDArray[np.float64]

__all__ = ["FeatureFit", "fit_features"]


@dataclass(frozen=True, eq=False)
class FeatureFit:
    """Fitted linear utility.

    Parameters
    ----------
    theta : (d,) ndarray
        Parameter; zero in the directions in which no two items shown together differ.
    log_likelihood : float
        At the fit, without penalty.
    gradient_norm : float
        Norm of the gradient of the Lagrangian (negative log-likelihood plus penalty plus multiplier term), in features
        scaled to largest difference one.
    iterations : int
        Newton steps in all.
    status : FitStatus
        How the iteration ended.
    rank : int
        Dimension of the space that the answers speak about; below ``d`` the rest of ``theta`` is not identified.
    information : (d, d) ndarray
        Hessian of the negative log-likelihood at the fit.
    multiplier : float
        Lagrange multiplier of the ball; zero when the ball does not bind.
    """

    theta: Array
    log_likelihood: float
    gradient_norm: float
    iterations: int
    status: FitStatus
    rank: int
    information: Array
    multiplier: float

    def utilities(self, features: ArrayLike) -> Array:
        """Predicted utilities ``features @ theta``."""
        return np.asarray(np.asarray(features, dtype=float) @ self.theta)

    def standard_errors(self, differences: ArrayLike) -> Array:
        """Asymptotic standard errors of ``differences @ theta``; infinite where the answers say nothing.

        Parameters
        ----------
        differences : (m, d) array_like
            Feature differences.

        Returns
        -------
        (m,) ndarray
        """
        z = np.atleast_2d(np.asarray(differences, dtype=float))
        values, vectors = np.linalg.eigh(self.information)
        keep = np.arange(len(values)) >= len(values) - self.rank
        parts = z @ vectors
        variance = (parts[:, keep] ** 2 / np.maximum(values[keep], 1e-300)).sum(axis=1)
        outside = np.linalg.norm(parts[:, ~keep], axis=1) > 1e-9 * np.maximum(np.linalg.norm(z, axis=1), 1e-300)
        return np.asarray(np.where(outside, np.inf, np.sqrt(variance)))


def _shown_span(features: Array, rankings: Rankings) -> Array:
    """Orthonormal rows spanning the differences between items shown together."""
    real = rankings.items >= 0
    first = np.broadcast_to(rankings.items[:, :1], rankings.items.shape)
    pairs = np.unique(np.stack([rankings.items[real], first[real]], axis=1), axis=0)
    differences = features[pairs[:, 0]] - features[pairs[:, 1]]
    if len(differences) > 4 * features.shape[1]:
        differences = np.linalg.qr(differences, mode="r")
    _, singular, rows = np.linalg.svd(differences, full_matrices=False)
    magnitude = max(float(singular[0]), float(np.abs(features).max()))
    return np.asarray(rows[singular > max(features.shape) * np.finfo(float).eps * magnitude])


class _Objective:
    """Penalised negative log-likelihood in the coordinates of the span."""

    def __init__(self, x: Array, rankings: Rankings) -> None:
        self.x, self.rankings = x, rankings

    def at(self, phi: Array, penalty: float) -> tuple[LuceStages, float, Array]:
        stages = LuceStages(self.rankings, self.x @ phi)
        value = stages.value + penalty / 2 * float(phi @ phi)
        return stages, value, self.x.T @ stages.gradient() + penalty * phi

    def minimise(self, phi: Array, penalty: float, tolerance: float, limit: int) -> tuple[Array, int, float]:
        stages, value, gradient = self.at(phi, penalty)
        steps = 0
        while steps < limit and float(np.linalg.norm(gradient)) > tolerance:
            hessian = stages.feature_hessian(self.x)
            hessian[np.diag_indices(len(phi))] += penalty
            direction = -_solve_psd(hessian, gradient)
            found = self._search(phi, direction, value, gradient, penalty)
            if found is None:
                break
            phi, (stages, value, gradient) = found
            steps += 1
        return phi, steps, float(np.linalg.norm(gradient))

    def _search(
        self, phi: Array, direction: Array, value: float, gradient: Array, penalty: float
    ) -> tuple[Array, tuple[LuceStages, float, Array]] | None:
        slope, norm, step = float(gradient @ direction), float(np.linalg.norm(gradient)), 1.0
        for _ in range(60):
            trial = phi + step * direction
            evaluated = self.at(trial, penalty)
            nearly_equal = evaluated[1] <= value + 1e-12 * (1 + abs(value))
            if evaluated[1] <= value + 1e-4 * step * slope or (
                nearly_equal and float(np.linalg.norm(evaluated[2])) < 0.9 * norm
            ):
                return trial, evaluated
            step /= 2
        return None


def _solve_psd(matrix: Array, right: Array) -> Array:
    values, vectors = np.linalg.eigh(matrix)
    floor = max(float(values[-1]) * 1e-14, 1e-300)
    return np.asarray(vectors @ ((vectors.T @ right) / np.maximum(values, floor)))


def _stays_finite(x: Array, rankings: Rankings, phi: Array) -> bool:
    """Whether positive multipliers of all answered pairs cancel, which excludes a separating direction.

    At the fit ``sum_pairs p_pair z_pair`` equals minus the residual gradient; a least-squares correction makes it
    exactly zero, and the multipliers stay positive if the correction is small (Stiemke's lemma).
    """
    stages = LuceStages(rankings, x @ phi)
    gradient = x.T @ stages.gradient()
    items, shown = rankings.items, stages._shown
    rows, multipliers = [], []
    for k in range(int(rankings.n_stages.max())):
        for j in range(k + 1, items.shape[1]):
            here = (rankings.n_stages > k) & (items[:, j] >= 0)
            rows.append(x[items[here, k]] - x[items[here, j]])
            gap = shown[here, j] - stages._log_totals[here, k]
            multipliers.append(rankings.weights[here] * np.exp(np.minimum(gap, 0.0)))
    z, p = np.concatenate(rows), np.concatenate(multipliers)
    if not (p > 0).all():
        return False
    # weighted least squares keeps the correction proportional to the multipliers
    gram = z.T @ (p[:, None] ** 2 * z)
    try:
        correction = p * (z @ np.linalg.solve(gram, gradient))
    except np.linalg.LinAlgError:
        return False
    return bool(np.abs(correction).max() < 0.5)


def fit_features(
    features: ArrayLike,
    rankings: Rankings,
    *,
    ridge: float = 0.0,
    radius: float | None = None,
    tolerance: float = 1e-8,
    max_iterations: int = 100,
) -> FeatureFit:
    """Maximise ``log likelihood - ridge / 2 * ||theta||^2`` over all ``theta`` or over a ball.

    Parameters
    ----------
    features : (n_items, d) array_like
        Item features.
    rankings : Rankings
        Observed answers.
    ridge : float
        Penalty on the *summed* log-likelihood.
    radius : float, optional
        Keep ``||theta|| <= radius``; the Lagrange multiplier is found by a safeguarded root search.
    tolerance : float
        Stop at this norm of the gradient (of the Lagrangian when the ball binds), taken in features scaled to largest
        difference one, times the total weight where that is below one.
    max_iterations : int
        Newton steps per value of the multiplier.

    Returns
    -------
    FeatureFit

    Raises
    ------
    NoFiniteMaximumError
        If neither ridge nor radius is given and some direction separates all answers; ``error.direction`` is one.
    ValueError
        If shapes or options are wrong.

    Examples
    --------
    >>> x = [[0.0], [1.0]]
    >>> fit = fit_features(x, Rankings.full([(1, 0), (1, 0), (0, 1)], n_items=2))
    >>> round(float(fit.theta[0]), 6)
    0.693147
    """
    x = np.array(features, dtype=float)
    _check_options(rankings, ridge, tolerance, max_iterations)
    if x.ndim != 2 or len(x) != rankings.n_items or x.shape[1] == 0:
        raise ValueError(f"features must have shape ({rankings.n_items}, d), got {x.shape}")
    if not np.isfinite(x).all():
        raise ValueError("features must be finite, got nan or infinity")
    if radius is not None:
        real_number("radius", radius, above=0)
    x = x - x.mean(axis=0)
    rankings = rankings.merged()  # a design repeats few questions many times
    scale = float(np.abs(x).max())
    if scale == 0.0:
        return _nothing_to_learn(rankings, x.shape[1])
    if not 1e-145 < scale < 1e150:
        raise ValueError(f"features must differ by between 1e-145 and 1e150 to be squared, got {scale:.3g}")
    if radius is not None and radius * scale < 1e-90:
        raise ValueError(f"radius must allow utilities to differ by at least 1e-90, got {radius!r}")
    # in features of size one the tolerance means the same at every scale; theta, ridge and ball are scaled along
    x, ridge, radius = x / scale, ridge / scale**2, None if radius is None else radius * scale
    tolerance *= min(1.0, float(rankings.weights.sum()))
    basis = _shown_span(x, rankings)
    if len(basis) == 0:
        return _nothing_to_learn(rankings, x.shape[1])
    objective = _Objective(x @ basis.T, rankings)
    phi, steps, norm = _minimise_or_refuse(objective, basis, ridge, radius, tolerance, max_iterations)
    multiplier = 0.0
    if radius is not None and float(np.linalg.norm(phi)) > radius:
        phi, extra, norm, multiplier = _on_the_sphere(objective, ridge, radius, tolerance, max_iterations)
        steps += extra
    stages = LuceStages(rankings, objective.x @ phi)
    information = scale**2 * (basis.T @ stages.feature_hessian(objective.x) @ basis)
    status = FitStatus.CONVERGED if norm <= tolerance else FitStatus.ITERATION_LIMIT
    if status is FitStatus.ITERATION_LIMIT and steps < max_iterations:
        status = FitStatus.ROUNDING_LIMIT
    theta, multiplier = basis.T @ phi / scale, multiplier * scale**2
    return FeatureFit(theta, -stages.value, norm, steps, status, len(basis), information, multiplier)


def _nothing_to_learn(rankings: Rankings, dim: int) -> FeatureFit:
    """No two items shown together differ: every ranking is equally likely whatever the parameter."""
    value = -LuceStages(rankings, np.zeros(rankings.n_items)).value
    return FeatureFit(np.zeros(dim), value, 0.0, 0, FitStatus.CONVERGED, 0, np.zeros((dim, dim)), 0.0)


def _minimise_or_refuse(
    objective: _Objective, basis: Array, ridge: float, radius: float | None, tolerance: float, limit: int
) -> tuple[Array, int, float]:
    phi, steps, norm = objective.minimise(np.zeros(len(basis)), ridge, tolerance, limit)
    if ridge == 0 and radius is None and not _stays_finite(objective.x, objective.rankings, phi):
        direction = separating_direction(objective.x, objective.rankings)
        if direction is not None:
            raise NoFiniteMaximumError(
                "rankings must not be separable by the features for a finite maximum; pass ridge > 0 or a radius",
                direction=basis.T @ direction,
            )
    return phi, steps, norm


def _on_the_sphere(
    objective: _Objective, ridge: float, radius: float, tolerance: float, limit: int
) -> tuple[Array, int, float, float]:
    """Find the multiplier at which the penalised minimiser has norm `radius`; the norm decreases in it."""
    gradient = objective.at(np.zeros(objective.x.shape[1]), 0.0)[2]
    low, high = 0.0, float(np.linalg.norm(gradient)) / radius  # the norm at `high` is at most `radius`
    phi, steps, multiplier = np.zeros(len(gradient)), 0, high
    inner = tolerance / 10
    for _ in range(200):
        phi, used, _ = objective.minimise(phi, ridge + multiplier, inner, limit)
        steps += used
        length = float(np.linalg.norm(phi))
        if abs(length - radius) <= 1e-13 * radius or high - low <= 1e-15 * high:
            break
        low, high = (multiplier, high) if length > radius else (low, multiplier)
        hessian = objective.at(phi, 0.0)[0].feature_hessian(objective.x)
        hessian[np.diag_indices(len(phi))] += ridge + multiplier
        # Newton on 1/radius - 1/length, nearly linear in the multiplier
        slope = float(phi @ _solve_psd(hessian, phi)) / max(length, 1e-300) ** 3
        proposal = multiplier + (1 / radius - 1 / max(length, 1e-300)) / max(slope, 1e-300)
        multiplier = proposal if low < proposal < high else (low + high) / 2
    phi = phi * min(1.0, radius / max(float(np.linalg.norm(phi)), 1e-300))
    norm = float(np.linalg.norm(objective.at(phi, ridge + multiplier)[2]))
    return phi, steps, norm, multiplier
