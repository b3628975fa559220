"""Maximum likelihood for item strengths: Newton with matrix-free conjugate gradients, and the MM iteration."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import ArrayLike, NDArray

from whp.algorithms.plackett_luce_design.identifiability import (
    Identifiability,
    NoFiniteMaximumError,
    identifiability,
)
from whp.algorithms.plackett_luce_design.likelihood import LuceStages
from whp.algorithms.plackett_luce_design.rankings import Rankings
from whp.theory.plackett_luce_design.validation import real_number, require, whole_number

Array = NDArray[np.float64]

__all__ = ["FitStatus", "StrengthFit", "fit_strengths", "mm_strengths", "strengths_within_components"]

_DENSE_LIMIT = 4000  # items up to which a dense Hessian is formed when conjugate gradients are slow


class FitStatus(Enum):
    """How a fit ended."""

    CONVERGED = "converged"
    ITERATION_LIMIT = "iteration limit"
    ROUNDING_LIMIT = "rounding limit"


@dataclass(frozen=True, eq=False)
class StrengthFit:
    """Fitted item strengths.

    Parameters
    ----------
    strengths : (n_items,) ndarray
        Log-weights, centred to sum zero.
    log_likelihood : float
        At the fit, without penalty.
    gradient_norm : float
        Euclidean norm of the gradient of the penalised negative log-likelihood, recomputed at the fit.
    iterations : int
        Newton or MM iterations.
    status : FitStatus
        ``CONVERGED`` when the gradient norm met the tolerance.
    identifiability : Identifiability
        Parts connected by the answers; with a ridge, differences across parts come from the penalty alone.
    """

    strengths: Array
    log_likelihood: float
    gradient_norm: float
    iterations: int
    status: FitStatus
    identifiability: Identifiability

    @property
    def not_identified(self) -> tuple[int, ...]:
        """Items about which the answers say nothing; their strength is an artefact of the penalty."""
        return self.identifiability.never_compared

    def order(self) -> NDArray[np.int64]:
        """Items from strongest to weakest, those never compared left out."""
        order = np.argsort(-self.strengths, kind="stable")
        return np.asarray(order[~np.isin(order, self.not_identified)])


def _check_options(rankings: Rankings, ridge: float, tolerance: float, max_iterations: int) -> None:
    require("rankings", rankings, Rankings)
    real_number("ridge", ridge, at_least=0)
    real_number("tolerance", tolerance, above=0)
    whole_number("max_iterations", max_iterations, 1)


def _conjugate_gradient(
    product: Callable[[Array], Array], right: Array, diagonal: Array, tolerance: float, limit: int
) -> tuple[Array, bool]:
    """Solve ``product(x) = right`` for a positive semidefinite operator, Jacobi preconditioned."""
    x = np.zeros_like(right)
    residual = right.copy()
    preconditioned = residual / diagonal
    direction = preconditioned.copy()
    inner = float(residual @ preconditioned)
    target = tolerance * float(np.linalg.norm(right))
    for _ in range(limit):
        image = product(direction)
        curvature = float(direction @ image)
        if curvature <= 0:
            return x, False
        step = inner / curvature
        x += step * direction
        residual -= step * image
        if float(np.linalg.norm(residual)) <= target:
            return x, True
        preconditioned = residual / diagonal
        following = float(residual @ preconditioned)
        direction = preconditioned + (following / inner) * direction
        inner = following
    return x, False


def _newton_direction(stages: LuceStages, gradient: Array, ridge: float, accuracy: float) -> Array:
    diagonal = stages.curvature_diagonal() + ridge
    floor = float(diagonal.max()) * 1e-14 + 1e-300
    diagonal = np.maximum(diagonal, floor)
    direction, solved = _conjugate_gradient(
        lambda v: stages.curvature_product(v) + ridge * v, -gradient, diagonal, accuracy, limit=150
    )
    if solved or len(gradient) > _DENSE_LIMIT:
        return direction
    hessian = stages.item_hessian()
    n = len(gradient)
    hessian[np.diag_indices(n)] += ridge
    if ridge == 0:
        hessian += float(np.trace(hessian)) / n**2  # constants are free: fix them without touching differences
    values, vectors = np.linalg.eigh(hessian)
    keep = values > values[-1] * 1e-15
    return np.asarray(-(vectors[:, keep] / values[keep]) @ (vectors[:, keep].T @ gradient))


def fit_strengths(
    rankings: Rankings,
    *,
    ridge: float = 0.0,
    tolerance: float = 1e-8,
    max_iterations: int = 100,
    start: ArrayLike | None = None,
) -> StrengthFit:
    """Maximise ``log likelihood - ridge / 2 * ||strengths||^2`` by Newton's method.

    Each Newton system is solved by conjugate gradients with Hessian products in time linear in the data; a dense
    factorisation takes over when the comparison graph is badly connected.

    Parameters
    ----------
    rankings : Rankings
        Observed answers.
    ridge : float
        Penalty on the *summed* log-likelihood (multiply by the number of rankings for a penalty on the mean).
    tolerance : float
        Stop at this Euclidean norm of the penalised gradient, times the total weight where that is below one.
    max_iterations : int
        Newton steps.
    start : (n_items,) array_like, optional
        First guess; zeros when left out.

    Returns
    -------
    StrengthFit

    Raises
    ------
    NoFiniteMaximumError
        If ``ridge`` is zero and the answers do not connect all items in both directions; ``error.report`` lists the
        parts, and `strengths_within_components` still fits each of them.

    Examples
    --------
    >>> fit = fit_strengths(Rankings.full([(0, 1), (0, 1), (1, 0)], n_items=2))
    >>> round(float(fit.strengths[0] - fit.strengths[1]), 6)  # log 2
    0.693147
    """
    _check_options(rankings, ridge, tolerance, max_iterations)
    report = identifiability(rankings)
    if ridge == 0 and not report.finite:
        raise NoFiniteMaximumError(
            f"rankings must connect all items for a finite maximum, got parts: {report.describe()}; pass ridge > 0 or "
            "fit within the parts",
            report=report,
        )
    u = _first_strengths(rankings, ridge, start)
    stages = LuceStages(rankings, u)
    gradient = stages.gradient() + ridge * u
    norm = first_norm = float(np.linalg.norm(gradient))
    total = float(rankings.weights.sum())
    tolerance *= min(1.0, total)
    floor = 16 * np.finfo(float).eps * total * np.sqrt(len(u))  # the gradient is a sum of terms of this size
    status = FitStatus.CONVERGED if norm <= tolerance else FitStatus.ITERATION_LIMIT
    iterations = 0
    while status is FitStatus.ITERATION_LIMIT and iterations < max_iterations:
        iterations += 1
        accuracy = min(0.1, max(norm / max(first_norm, 1e-300), 0.3 * tolerance / norm, 1e-10))
        direction = _newton_direction(stages, gradient, ridge, accuracy)
        direction = direction - direction.mean()
        accepted = _line_search(rankings, u, direction, stages, gradient, ridge)
        if accepted is None:
            status = FitStatus.ROUNDING_LIMIT
            break
        u, stages, gradient = accepted
        norm = float(np.linalg.norm(gradient))
        if norm <= tolerance:
            status = FitStatus.CONVERGED
        elif norm <= floor:
            status = FitStatus.ROUNDING_LIMIT
    return StrengthFit(u, -stages.value, norm, iterations, status, report)


def _first_strengths(rankings: Rankings, ridge: float, start: ArrayLike | None) -> Array:
    """Centred start, or equal strengths where those are likelier: far out the curvature vanishes and Newton stalls."""
    equal = np.zeros(rankings.n_items)
    if start is None:
        return equal
    u = np.array(start, dtype=float)
    if u.shape != equal.shape or not np.isfinite(u).all():
        raise ValueError(f"start must be a finite vector of length {rankings.n_items}, got shape {u.shape}")
    if np.abs(u).max() > 1e100:
        return equal
    u = u - u.mean()
    value = LuceStages(rankings, u).value + ridge / 2 * float(u @ u)
    return u if value <= LuceStages(rankings, equal).value else equal


def _line_search(
    rankings: Rankings, u: Array, direction: Array, stages: LuceStages, gradient: Array, ridge: float
) -> tuple[Array, LuceStages, Array] | None:
    slope = float(gradient @ direction)
    value = stages.value + ridge / 2 * float(u @ u)
    norm = float(np.linalg.norm(gradient))
    step = 1.0
    for _ in range(60):
        candidate = u + step * direction
        trial = LuceStages(rankings, candidate)
        trial_gradient = trial.gradient() + ridge * candidate
        trial_value = trial.value + ridge / 2 * float(candidate @ candidate)
        # near the optimum values agree to rounding; a clearly smaller gradient is then the better witness
        nearly_equal = trial_value <= value + 1e-12 * (1 + abs(value))
        if trial_value <= value + 1e-4 * step * slope or (
            nearly_equal and float(np.linalg.norm(trial_gradient)) < 0.9 * norm
        ):
            return candidate, trial, trial_gradient
        step /= 2
    return None


def strengths_within_components(rankings: Rankings, *, tolerance: float = 1e-8) -> dict[tuple[int, ...], Array]:
    """Fit each connected part on its own, for answers that have no finite overall maximum.

    Parameters
    ----------
    rankings : Rankings
        Observed answers.
    tolerance : float
        Gradient norm for each part.

    Returns
    -------
    dict
        Part (tuple of items) to centred strengths; parts of one item have the single strength 0, which means nothing.

    Notes
    -----
    The items of a shown set that are chosen after or never chosen against an item of another part only add factors
    that tend to one, so the limit of the likelihood is the product of these parts.

    Examples
    --------
    >>> data = Rankings.full([(0, 1), (1, 2), (1, 2), (2, 1)], n_items=3)
    >>> parts = strengths_within_components(data)
    >>> round(float(parts[(1, 2)][0] - parts[(1, 2)][1]), 6)
    0.693147
    """
    require("rankings", rankings, Rankings)
    real_number("tolerance", tolerance, above=0)
    fits: dict[tuple[int, ...], Array] = {}
    for part in identifiability(rankings).components:
        local = {item: i for i, item in enumerate(part)}
        best, shown, weights = [], [], []
        for row, n_stages, weight in zip(rankings.items, rankings.n_stages, rankings.weights, strict=True):
            ranked = [local[i] for i in row[:n_stages].tolist() if i in local]
            kept = [local[i] for i in row.tolist() if i in local]
            if ranked and len(kept) >= 2:
                best.append(ranked)
                shown.append(kept)
                weights.append(float(weight))
        fits[part] = (
            fit_strengths(Rankings.top(best, shown, len(part), weights), tolerance=tolerance).strengths
            if len(part) > 1
            else np.zeros(1)
        )
    return fits


def mm_strengths(rankings: Rankings, *, tolerance: float = 1e-8, max_iterations: int = 10_000) -> StrengthFit:
    """Maximise the likelihood by Hunter's minorise-maximise iteration; every iteration increases it.

    Parameters
    ----------
    rankings : Rankings
        Observed answers that connect all items.
    tolerance : float
        Stop at this Euclidean norm of the gradient in the strengths.
    max_iterations : int
        Iterations; the method converges linearly.

    Returns
    -------
    StrengthFit

    Raises
    ------
    NoFiniteMaximumError
        If the answers do not connect all items.

    References
    ----------
    .. [1] Hunter (2004), MM algorithms for generalized Bradley-Terry models, Annals of Statistics 32.

    Examples
    --------
    >>> fit = mm_strengths(Rankings.full([(0, 1), (0, 1), (1, 0)], n_items=2))
    >>> round(float(fit.strengths[0] - fit.strengths[1]), 6)
    0.693147
    """
    _check_options(rankings, 0.0, tolerance, max_iterations)
    report = identifiability(rankings)
    if not report.finite:
        raise NoFiniteMaximumError(
            f"rankings must connect all items for a finite maximum, got parts: {report.describe()}", report=report
        )
    u = np.zeros(rankings.n_items)
    stages = LuceStages(rankings, u)
    wins = _stage_wins(rankings)
    gradient = stages.gradient()
    iterations = 0
    while float(np.linalg.norm(gradient)) > tolerance and iterations < max_iterations:
        # wins_i / (sum of p_k(i) / w_i) is the MM update; gradient + wins is the expected number of wins
        u = u + np.log(wins) - np.log(gradient + wins)
        u -= u.mean()
        stages = LuceStages(rankings, u)
        gradient = stages.gradient()
        iterations += 1
    norm = float(np.linalg.norm(gradient))
    status = FitStatus.CONVERGED if norm <= tolerance else FitStatus.ITERATION_LIMIT
    return StrengthFit(u, -stages.value, norm, iterations, status, report)


def _stage_wins(rankings: Rankings) -> Array:
    columns = np.arange(rankings.items.shape[1])
    chosen = columns < rankings.n_stages[:, None]
    weights = np.broadcast_to(rankings.weights[:, None], chosen.shape)[chosen]
    wins = np.bincount(rankings.items[chosen], weights=weights, minlength=rankings.n_items)
    return np.asarray(wins, dtype=float)
