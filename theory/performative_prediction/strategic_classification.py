"""Strategic classification: applicants who are refused move to the boundary when it is close enough."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .validation import Stored, finite_array, finite_number

__all__ = ["StrategicClassification"]

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class StrategicClassification:
    """Logistic loss of a linear score when a refused applicant may change features to be accepted.

    An applicant with features ``a`` and score ``x'a < 0`` moves to the nearest point of score zero if the squared
    distance is below ``2 / cost``; the bias cannot be changed. The data are a finite population, so the objective is a
    finite sum. ``F`` jumps where an applicant becomes unable to afford the move: it is piecewise smooth and assumption
    A4 fails; ``gradient`` is the gradient away from those jumps.

    Parameters
    ----------
    features : array_like, shape (population, d)
        Features, the bias included as one column.
    labels : array_like, shape (population,)
        ``+1`` (deserves acceptance) or ``-1``.
    cost : float
        ``gamma > 0``; the paper's example uses 2.
    bias_column : int, optional
        Column that applicants cannot change, the last by default; ``None`` when there is none.

    Raises
    ------
    TypeError, ValueError
        If a field is malformed or a label is not ``-1`` or ``+1``.

    Examples
    --------
    >>> town = StrategicClassification([[-0.5, 1.0], [-3.0, 1.0]], [1, -1], cost=2.0)
    >>> town.response(np.array([1.0, 0.0]), town.features)
    array([[ 0.,  1.],
           [-3.,  1.]])
    """

    features: Stored
    labels: Stored
    cost: float = 2.0
    bias_column: int | None = -1

    def __post_init__(self) -> None:
        """Check shapes and freeze the arrays."""
        features = finite_array("features", self.features, 2)
        labels = finite_array("labels", self.labels, 1, (features.shape[0],))
        if not np.all(np.abs(labels) == 1.0):
            raise ValueError(f"labels must be -1 or +1, got {labels[np.abs(labels) != 1.0][0]:g}")
        column = self.bias_column
        if column is not None and not -features.shape[1] <= column < features.shape[1]:
            raise ValueError(f"bias_column must index one of {features.shape[1]} columns, got {column}")
        object.__setattr__(self, "features", features)
        object.__setattr__(self, "labels", labels)
        object.__setattr__(self, "cost", finite_number("cost", self.cost, above=0.0))

    @property
    def dimension(self) -> int:
        """Number of features, the dimension of the decision."""
        return int(self.features.shape[1])

    def changeable(self, x: Array) -> Array:
        """The part of ``x`` that multiplies changeable features; shapes ``(..., d) -> (..., d)``."""
        w = np.array(x, dtype=np.float64)
        if self.bias_column is not None:
            w[..., self.bias_column] = 0.0
        return w

    def moves(self, x: Array, rows: Array) -> Array:
        """Whether each applicant moves; shapes ``(..., d), (..., n, d) -> (..., n)``."""
        w = self.changeable(x)
        score = np.einsum("...nd,...d->...n", rows, np.asarray(x, dtype=np.float64))
        square = np.einsum("...d,...d->...", w, w)[..., None]
        return np.asarray((score < 0.0) & (score**2 * self.cost < 2.0 * square))

    def response(self, x: Array, rows: Array) -> Array:
        """Features after the best response; shapes ``(..., d), (..., n, d) -> (..., n, d)``."""
        w = self.changeable(x)
        score = np.einsum("...nd,...d->...n", rows, np.asarray(x, dtype=np.float64))
        square = np.einsum("...d,...d->...", w, w)[..., None]
        movers = (score < 0.0) & (score**2 * self.cost < 2.0 * square)
        length = np.where(movers, score, 0.0) / np.where(square > 0.0, square, 1.0)
        return np.asarray(rows - length[..., None] * w[..., None, :])

    def loss(self, x: Array, xi: Array) -> Array:
        """Logistic loss of rows ``(features after response, label)``; ``(..., d), (..., n, d + 1) -> (..., n)``."""
        xi = np.asarray(xi, dtype=np.float64)
        score = np.einsum("...nd,...d->...n", xi[..., :-1], np.asarray(x, dtype=np.float64))
        return np.asarray(np.logaddexp(0.0, -xi[..., -1] * score))

    def loss_gradient(self, x: Array, xi: Array) -> Array:
        """Partial gradient of the logistic loss; ``(..., d), (..., n, d + 1) -> (..., n, d)``."""
        xi = np.asarray(xi, dtype=np.float64)
        score = np.einsum("...nd,...d->...n", xi[..., :-1], np.asarray(x, dtype=np.float64))
        slope = -xi[..., -1] * np.exp(-np.logaddexp(0.0, xi[..., -1] * score))
        return np.asarray(slope[..., None] * xi[..., :-1])

    def population(self, x: Array) -> Array:
        """The whole population after its response to one decision; shape ``(population, d + 1)``."""
        x = finite_array("x", x, 1, (self.dimension,))
        return np.column_stack([self.response(x, self.features), self.labels])

    def objective(self, x: Array) -> Array:
        """Objective ``F`` as a finite sum; shapes ``(..., d) -> (...)``."""
        x = np.asarray(x, dtype=np.float64)
        if x.ndim > 1:
            return np.array([self.objective(row) for row in x])
        return np.asarray(self.loss(x, self.population(x)).mean())

    def gradient(self, x: Array) -> Array:
        """Gradient of ``F`` away from its jumps: movers sit at score zero, so only the others contribute; ``(d,)``."""
        stay = np.logical_not(self.moves(x, self.features))
        rows = np.column_stack([self.features, self.labels])
        return np.asarray((self.loss_gradient(x, rows) * stay[:, None]).mean(axis=0))

    def known_gradient(self, x: Array) -> Array:
        """Mean of the known-function gradient over the responded population; shapes ``(d,) -> (d,)``."""
        return np.asarray(self.loss_gradient(x, self.population(x)).mean(axis=0))

    def loss_variance(self, x: Array) -> float:
        """Variance of ``f`` over the population at one decision; shape ``(d,)``."""
        return float(self.loss(x, self.population(x)).var())
