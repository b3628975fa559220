"""Optimal design for ranking questions: the problem, a design, information matrices and leverages."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import ArrayLike, NDArray

from whp.theory.plackett_luce_design.validation import require, whole_number

Array = NDArray[np.float64]
IntArray = NDArray[np.int64]

__all__ = [
    "MAX_LISTED_SUBSETS",
    "Design",
    "DesignProblem",
    "SingularDesignError",
    "design_log_det",
    "enumerate_subsets",
    "information_matrix",
    "leverages",
    "ranking_loss",
    "span_information",
    "subset_factors",
    "subset_information",
]

MAX_LISTED_SUBSETS = 5_000_000
"""Subsets are listed in memory only up to this many."""


class SingularDesignError(ValueError):
    """The design's questions do not span the space in which the items differ."""


def _as_features(features: ArrayLike) -> Array:
    if np.iscomplexobj(features):
        raise TypeError("features must be real numbers, got complex ones")
    try:
        x = np.array(features, dtype=float)
    except (TypeError, ValueError) as error:
        raise TypeError("features must be a rectangular array of numbers") from error
    if x.ndim != 2:
        raise ValueError(f"features must have two dimensions (n_items, dim), got shape {x.shape}")
    if x.shape[0] < 2 or x.shape[1] < 1:
        raise ValueError(f"features must hold at least 2 items and 1 column, got shape {x.shape}")
    bad = np.argwhere(~np.isfinite(x))
    if len(bad):
        i, j = (int(v) for v in bad[0])
        raise ValueError(f"features must be finite, got features[{i}, {j}]={x[i, j]}")
    return x


def _as_subsets(subsets: ArrayLike, n_items: int, name: str) -> IntArray:
    raw = np.asarray(subsets)
    if raw.ndim != 2 or raw.shape[0] == 0:
        raise ValueError(f"{name} must have shape (n_subsets, subset_size) with at least one row, got {raw.shape}")
    if not np.issubdtype(raw.dtype, np.integer):
        raise TypeError(f"{name} must hold item numbers (integers), got dtype {raw.dtype}")
    rows = np.sort(raw.astype(np.int64), axis=1)
    if rows.min() < 0 or rows.max() >= n_items:
        raise ValueError(f"{name} must name items between 0 and {n_items - 1}, got {rows.min()}..{rows.max()}")
    repeated = np.flatnonzero((rows[:, 1:] == rows[:, :-1]).any(axis=1))
    if len(repeated):
        row = int(repeated[0])
        raise ValueError(f"{name} must not repeat an item within a subset, got {raw[row].tolist()} in row {row}")
    return rows


@dataclass(frozen=True, eq=False)
class DesignProblem:
    """Items with known features, of which ``subset_size`` at a time can be shown for ranking.

    Parameters
    ----------
    features : (n_items, dim) array_like
        Row ``i`` is the feature vector ``x_i``; only differences of rows matter.
    subset_size : int
        ``K``, number of items in a question, between 2 and ``n_items``.
    candidates : (n_candidates, K) array_like of int, optional
        The subsets that may be asked; all ``C(N, K)`` subsets when left out.

    Raises
    ------
    ValueError
        If the shapes, the subset size or the candidates do not fit, a feature is not finite, or no shown items differ.
    TypeError
        If the subset size or the candidates are not integers.

    Notes
    -----
    Items with equal features are allowed (their difference is zero); `duplicates` lists them. Rank-deficient features
    are handled in the span of the shown differences, see `rank` and `coordinates`.

    Examples
    --------
    >>> problem = DesignProblem([[0, 0], [1, 0], [0, 1], [1, 1]], subset_size=3)
    >>> problem.n_subsets, problem.rank
    (4, 2)
    """

    features: Array
    subset_size: int
    candidates: IntArray | None = None

    def __post_init__(self) -> None:
        """Check shapes and freeze the arrays."""
        x = _as_features(self.features)
        size = self.subset_size
        if isinstance(size, bool) or not isinstance(size, (int, np.integer)):
            raise TypeError(f"subset_size must be an integer, got {size!r}")
        if not 2 <= size <= len(x):
            raise ValueError(f"subset_size must be between 2 and n_items={len(x)}, got {size}")
        object.__setattr__(self, "subset_size", int(size))
        x.setflags(write=False)
        object.__setattr__(self, "features", x)
        if self.candidates is not None:
            rows = _as_subsets(self.candidates, len(x), "candidates")
            if rows.shape[1] != size:
                raise ValueError(f"candidates must have subset_size={size} columns, got {rows.shape[1]}")
            rows.setflags(write=False)
            object.__setattr__(self, "candidates", rows)
        if self.rank == 0:
            raise ValueError("features must differ between the items that can be shown together, got only equal ones")

    @property
    def n_items(self) -> int:
        """Number of items ``N``."""
        return len(self.features)

    @property
    def dim(self) -> int:
        """Number of feature columns ``d``."""
        return int(self.features.shape[1])

    @property
    def n_subsets(self) -> int:
        """Number of subsets that may be asked."""
        return comb(self.n_items, self.subset_size) if self.candidates is None else len(self.candidates)

    @cached_property
    def _span(self) -> tuple[Array, Array, Array]:
        """``(scale, transform, basis)``: coordinates are ``centred / scale @ transform``; ``@ basis`` maps back."""
        if self.candidates is None:
            differences = self.features - self.features.mean(axis=0)
        else:
            groups = self.features[self.candidates]
            differences = (groups - groups.mean(axis=1, keepdims=True)).reshape(-1, self.dim)
        # columns are brought to one scale first, so that units do not decide the rank; a column whose differences are
        # rounding of its own magnitude or of the largest column counts as constant
        size = max(self.n_items, self.dim) * np.finfo(float).eps
        own = np.abs(self.features).max(axis=0)
        scale = np.abs(differences).max(axis=0)
        kept = scale > size * np.maximum(own, scale.max())
        scaled = differences[:, kept] / scale[kept]
        if scaled.shape[1] == 0:
            return np.ones(self.dim), np.zeros((self.dim, 0)), np.zeros((0, self.dim))
        if len(scaled) > 4 * self.dim:  # the triangular factor has the same singular values and is small
            scaled = np.linalg.qr(scaled, mode="r")
        _, singular, rows = np.linalg.svd(scaled, full_matrices=False)
        noise = size * max(float(singular[0]), float((own[kept] / scale[kept]).max()))
        rank = int((singular > noise).sum())
        transform, basis = np.zeros((self.dim, rank)), np.zeros((rank, self.dim))
        transform[kept] = rows[:rank].T / singular[:rank]
        basis[:, kept] = singular[:rank, None] * rows[:rank] * scale[kept]
        return np.where(kept, scale, 1.0), transform, basis

    @property
    def rank(self) -> int:
        """Dimension of the space in which the shown items differ (``r <= d``)."""
        return len(self._span[2])

    @property
    def basis(self) -> Array:
        """Rows spanning the differences of shown items, shape ``(rank, dim)``: ``coordinates @ basis`` are features."""
        return self._span[2]

    @cached_property
    def coordinates(self) -> Array:
        """Centred features in well-conditioned coordinates of the span, shape ``(n_items, rank)``."""
        scale, transform, _ = self._span
        y = (self.features - self.features.mean(axis=0)) / scale @ transform
        y.setflags(write=False)
        return np.asarray(y)

    @cached_property
    def log_volume(self) -> float:
        """What ``log det`` in `coordinates` lacks to be ``log det`` in orthonormal coordinates of the span."""
        _, log_det = np.linalg.slogdet(self.basis) if self.rank == self.dim else (1.0, None)
        if log_det is None:
            log_det = np.log(np.linalg.svd(self.basis, compute_uv=False)).sum()
        return float(2.0 * log_det)

    @property
    def duplicates(self) -> list[tuple[int, ...]]:
        """Groups of items whose features are equal; no answer can order these."""
        groups: dict[bytes, list[int]] = {}
        for i, row in enumerate(self.features + 0.0):
            groups.setdefault(row.tobytes(), []).append(i)
        return [tuple(group) for group in groups.values() if len(group) > 1]

    def subsets(self) -> IntArray:
        """All subsets that may be asked, one a row, items ascending.

        Returns
        -------
        (n_subsets, subset_size) ndarray of int

        Raises
        ------
        ValueError
            If there are more than `MAX_LISTED_SUBSETS`.
        """
        if self.candidates is not None:
            return self.candidates
        return enumerate_subsets(self.n_items, self.subset_size)


def enumerate_subsets(n_items: int, subset_size: int) -> IntArray:
    """All ``C(n_items, subset_size)`` subsets in lexicographic order.

    Parameters
    ----------
    n_items, subset_size : int
        Sizes; at most `MAX_LISTED_SUBSETS` subsets.

    Returns
    -------
    (n_subsets, subset_size) ndarray of int

    Raises
    ------
    ValueError
        If there are more than `MAX_LISTED_SUBSETS` subsets.

    Examples
    --------
    >>> enumerate_subsets(3, 2).tolist()
    [[0, 1], [0, 2], [1, 2]]
    """
    n_items = whole_number("n_items", n_items, 2)
    subset_size = whole_number("subset_size", subset_size, 2, n_items)
    count = comb(n_items, subset_size)
    if count > MAX_LISTED_SUBSETS:
        raise ValueError(f"at most {MAX_LISTED_SUBSETS} subsets can be listed, got C({n_items}, {subset_size})={count}")
    flat = np.fromiter(
        (i for subset in combinations(range(n_items), subset_size) for i in subset), np.int64, count * subset_size
    )
    return flat.reshape(count, subset_size)


@dataclass(frozen=True, eq=False)
class Design:
    """A probability vector over a few subsets: how often to ask each question.

    Parameters
    ----------
    subsets : (n_atoms, K) array_like of int
        The questions, each a set of distinct items.
    weights : (n_atoms,) array_like
        Non-negative, summing to one up to ``1e-9``.

    Raises
    ------
    ValueError
        If the shapes differ, a weight is negative or the sum is not one.

    Examples
    --------
    >>> Design([[0, 3], [1, 2]], [0.5, 0.5]).as_dict()
    {(0, 3): 0.5, (1, 2): 0.5}
    """

    subsets: IntArray
    weights: Array

    def __post_init__(self) -> None:
        """Check that the weights are a probability vector over the subsets."""
        rows = _as_subsets(self.subsets, np.iinfo(np.int64).max, "subsets")
        w = np.array(self.weights, dtype=float)
        if w.shape != (len(rows),):
            raise ValueError(f"weights must have one entry per subset, got shape {w.shape} for {len(rows)} subsets")
        if not np.isfinite(w).all() or w.min() < 0:
            raise ValueError(f"weights must be finite and not negative, got smallest {w.min()}")
        if abs(w.sum() - 1.0) > 1e-9:
            raise ValueError(f"weights must sum to one, got {w.sum()!r}")
        rows.setflags(write=False)
        w.setflags(write=False)
        object.__setattr__(self, "subsets", rows)
        object.__setattr__(self, "weights", w)

    @classmethod
    def uniform(cls, subsets: ArrayLike) -> Design:
        """Return the design that gives each listed subset the same weight."""
        rows = np.asarray(subsets)
        return cls(rows, np.full(len(rows), 1.0 / max(len(rows), 1)))

    def as_dict(self) -> dict[tuple[int, ...], float]:
        """Subset to weight, repeated subsets added up."""
        table: dict[tuple[int, ...], float] = {}
        for subset, weight in zip(self.subsets.tolist(), self.weights.tolist(), strict=True):
            table[tuple(subset)] = table.get(tuple(subset), 0.0) + weight
        return table

    def item_shares(self, n_items: int) -> Array:
        """Probability that each item is shown in one question, shape ``(n_items,)``; sums to ``K``."""
        repeated = np.repeat(self.weights, self.subsets.shape[1])
        return np.asarray(np.bincount(self.subsets.ravel(), weights=repeated, minlength=n_items))

    def draw(self, n_questions: int, rng: np.random.Generator) -> IntArray:
        """Questions drawn independently from the design, shape ``(n_questions, K)``."""
        n_questions = whole_number("n_questions", n_questions, 1)
        require("rng", rng, np.random.Generator)
        return self.subsets[rng.choice(len(self.subsets), size=n_questions, p=self.weights / self.weights.sum())]


def subset_factors(features: ArrayLike, subsets: ArrayLike) -> Array:
    """Factors ``B_S = sqrt(K) (x_i - mean_S)`` with ``B_S' B_S = M_S``.

    Parameters
    ----------
    features : (n_items, d) array_like
        Item features.
    subsets : (n, K) array_like of int
        Subsets.

    Returns
    -------
    (n, K, d) ndarray
        One ``K x d`` factor a subset; its rank is at most ``min(K - 1, d)``.

    Examples
    --------
    >>> factor = subset_factors([[0.0], [1.0], [3.0]], [[0, 1, 2]])[0]
    >>> round(float((factor.T @ factor)[0, 0]), 9)  # 1 + 4 + 9, the squared differences
    14.0
    """
    x = _as_features(features)
    rows = _as_subsets(subsets, len(x), "subsets")
    groups = x[rows]
    return np.asarray(np.sqrt(rows.shape[1]) * (groups - groups.mean(axis=1, keepdims=True)))


def subset_information(features: ArrayLike, subsets: ArrayLike) -> Array:
    """Matrices ``M_S = sum_{i<j in S} (x_i - x_j)(x_i - x_j)'``.

    Parameters
    ----------
    features : (n_items, d) array_like
        Item features.
    subsets : (n, K) array_like of int
        Subsets.

    Returns
    -------
    (n, d, d) ndarray

    Examples
    --------
    >>> subset_information([[0.0], [1.0], [3.0]], [[0, 1], [0, 2]]).ravel()
    array([1., 9.])
    """
    x = _as_features(features)
    rows = _as_subsets(subsets, len(x), "subsets")
    _representable(np.ptp(x, axis=0))
    total = np.zeros((len(rows), x.shape[1], x.shape[1]))
    for a, b in combinations(range(rows.shape[1]), 2):
        z = x[rows[:, a]] - x[rows[:, b]]
        total += z[:, :, None] * z[:, None, :]
    return total


def _representable(points: Array) -> Array:
    """Refuse features whose squares leave the range of floats, in place of an infinite or vanished matrix."""
    largest = float(np.abs(points).max())
    if not 1e-145 < largest < 1e150 and largest > 0:
        raise ValueError(
            f"features must differ by between 1e-145 and 1e150 for their squares to be floats, got {largest:.3g}; "
            "rescale them, or use design_log_det and leverages, which need no squares"
        )
    return points


def _check_design(problem: DesignProblem, design: Design) -> None:
    require("problem", problem, DesignProblem)
    require("design", design, Design)
    if design.subsets.max() >= problem.n_items:
        raise ValueError(f"design must name items below n_items={problem.n_items}, got {design.subsets.max()}")
    if design.subsets.shape[1] != problem.subset_size:
        raise ValueError(
            f"design must ask subset_size={problem.subset_size} items a question, got {design.subsets.shape[1]}"
        )


def information_matrix(problem: DesignProblem, design: Design) -> Array:
    """``V = sum_S weight_S M_S`` in the feature coordinates.

    Parameters
    ----------
    problem : DesignProblem
        Items and subset size.
    design : Design
        Weights over subsets.

    Returns
    -------
    (d, d) ndarray
        Its rank is at most ``problem.rank``.

    Examples
    --------
    >>> square = DesignProblem([[0, 0], [1, 0], [0, 1], [1, 1]], subset_size=2)
    >>> v = information_matrix(square, Design([[0, 3], [1, 2]], [0.5, 0.5]))
    >>> bool(np.allclose(v, np.eye(2)))
    True
    """
    _check_design(problem, design)
    _representable(np.ptp(problem.features, axis=0))
    return _weighted_information(problem.features, design)


def span_information(problem: DesignProblem, design: Design) -> Array:
    """``V`` in the coordinates of the span, where it is invertible for a design that spans.

    Parameters
    ----------
    problem : DesignProblem
        Items and subset size.
    design : Design
        Weights over subsets.

    Returns
    -------
    (rank, rank) ndarray
        ``problem.basis.T @ span_information @ problem.basis`` is `information_matrix`.

    Examples
    --------
    >>> flat = DesignProblem([[0, 0], [1, 0], [2, 0]], subset_size=2)
    >>> span_information(flat, Design([[0, 2]], [1.0])).shape
    (1, 1)
    """
    _check_design(problem, design)
    return _weighted_information(problem.coordinates, design)


def _weighted_information(points: Array, design: Design) -> Array:
    groups = points[design.subsets]
    groups = groups - groups.mean(axis=1, keepdims=True)
    size = design.subsets.shape[1]
    flat = (groups * np.sqrt(size * design.weights)[:, None, None]).reshape(-1, points.shape[1])
    return np.asarray(flat.T @ flat)


def _inverse(problem: DesignProblem, matrix: Array) -> tuple[Array, float]:
    """Inverse and log-determinant by eigenvalues, refused when the design does not span."""
    values, vectors = np.linalg.eigh(matrix)
    threshold = problem.rank * np.finfo(float).eps * max(float(values[-1]), 0.0)
    rank = int((values > threshold).sum())
    if rank < problem.rank or not np.isfinite(values).all():
        raise SingularDesignError(
            f"design must span the {problem.rank} dimensions in which the items differ, got rank {rank}"
        )
    return (vectors / values) @ vectors.T, float(np.log(values).sum())


def design_log_det(problem: DesignProblem, design: Design) -> float:
    """``log det V`` on the span; the design objective is its negative.

    Parameters
    ----------
    problem : DesignProblem
        Items and subset size.
    design : Design
        Weights over subsets.

    Returns
    -------
    float
        In nats.

    Raises
    ------
    SingularDesignError
        If the design does not span; the message gives rank and dimension.

    Examples
    --------
    >>> square = DesignProblem([[0, 0], [1, 0], [0, 1], [1, 1]], subset_size=3)
    >>> round(design_log_det(square, Design.uniform(square.subsets())), 6)
    1.386294
    """
    return _inverse(problem, span_information(problem, design))[1] + problem.log_volume


def leverages(problem: DesignProblem, design: Design, subsets: ArrayLike | None = None) -> Array:
    """Leverage ``tr(M_S V^{-1})`` of each subset: how much the design gains by asking it.

    Parameters
    ----------
    problem : DesignProblem
        Items and subset size.
    design : Design
        Weights over subsets; must span.
    subsets : (n, K) array_like of int, optional
        Subsets to evaluate; all that may be asked when left out.

    Returns
    -------
    (n,) ndarray
        The weighted mean over the design's own subsets is the rank.

    Raises
    ------
    SingularDesignError
        If the design does not span.

    Examples
    --------
    >>> square = DesignProblem([[0, 0], [1, 0], [0, 1], [1, 1]], subset_size=2)
    >>> leverages(square, Design.uniform(square.subsets())).round(9).tolist()
    [1.5, 1.5, 3.0, 3.0, 1.5, 1.5]
    """
    inverse, _ = _inverse(problem, span_information(problem, design))
    rows = problem.subsets() if subsets is None else _as_subsets(subsets, problem.n_items, "subsets")
    whitened = problem.coordinates @ np.linalg.cholesky(inverse)
    values = np.empty(len(rows))
    chunk = max(1, 4_000_000 // (rows.shape[1] * problem.rank))
    for start in range(0, len(rows), chunk):
        groups = whitened[rows[start : start + chunk]]
        groups = groups - groups.mean(axis=1, keepdims=True)
        values[start : start + chunk] = rows.shape[1] * np.einsum("nkr,nkr->n", groups, groups)
    return values


def ranking_loss(true_utilities: ArrayLike, estimated_utilities: ArrayLike) -> float:
    """Share of item pairs whose predicted order is wrong.

    Pairs of equal true utility are not counted as wrong; a predicted tie of unequal items counts as one half.

    Parameters
    ----------
    true_utilities, estimated_utilities : (n_items,) array_like
        Utilities of the same items.

    Returns
    -------
    float
        Between 0 and 1.

    Examples
    --------
    >>> round(ranking_loss([3.0, 2.0, 1.0], [3.0, 1.0, 2.0]), 6)
    0.333333
    """
    truth = np.asarray(true_utilities, dtype=float)
    guess = np.asarray(estimated_utilities, dtype=float)
    if truth.ndim != 1 or truth.shape != guess.shape or len(truth) < 2:
        raise ValueError(
            f"true_utilities and estimated_utilities must be vectors of equal length >= 2, got {truth.shape} and "
            f"{guess.shape}"
        )
    if not (np.isfinite(truth).all() and np.isfinite(guess).all()):
        raise ValueError("true_utilities and estimated_utilities must be finite, got nan or infinity")
    wrong = 0.0
    for i in range(len(truth) - 1):
        product = np.sign(truth[i] - truth[i + 1 :]) * np.sign(guess[i] - guess[i + 1 :])
        wrong += float((product < 0).sum()) + 0.5 * float(
            ((guess[i] == guess[i + 1 :]) & (truth[i] != truth[i + 1 :])).sum()
        )
    return wrong / (len(truth) * (len(truth) - 1) / 2)
