"""The memo of one design: leverages by look-up and rank-``(K-1)`` updates instead of fresh inverses.

`GramMemo` keeps the ``N x N`` Gram matrix ``X V^{-1} X'`` of the paper: scoring a subset reads ``O(K^2)`` entries, a
step costs ``O(N^2 K)``. `FactorMemo` keeps only ``V^{-1}``: scoring costs ``O(K r^2)``, a step ``O(r^2 K)``, so it
serves many items of moderate dimension.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from whp.algorithms.plackett_luce_design.result import OperationCounts
from whp.algorithms.plackett_luce_design.step import contrast_basis, log_det_change
from whp.theory.plackett_luce_design import Design, DesignProblem, SingularDesignError, span_information
from whp.theory.plackett_luce_design.validation import require, whole_number

Array = NDArray[np.float64]
IntArray = NDArray[np.int64]

__all__ = ["MAX_GRAM_ITEMS", "FactorMemo", "GramMemo", "Memo", "make_memo"]

MAX_GRAM_ITEMS = 20_000
"""Beyond this many items an ``N x N`` memo would take more than 3 GB."""


class Memo:
    """Sparse design with lazily scaled weights; subclasses keep ``V^{-1}`` in one form or the other.

    Parameters
    ----------
    problem : DesignProblem
        Items and subset size.
    design : Design
        Start; must span.
    refresh_every : int
        Recompute from the atoms after so many steps, against drift.
    """

    def __init__(self, problem: DesignProblem, design: Design, refresh_every: int = 50) -> None:
        whole_number("refresh_every", refresh_every, 1)
        span_information(problem, design)  # refuses a design of other items or sizes
        self.problem = problem
        self.size, self.dim = problem.subset_size, problem.rank
        self.points = np.ascontiguousarray(problem.coordinates)
        self.contrasts = contrast_basis(self.size)
        self.counts = OperationCounts()
        self.refresh_every = refresh_every
        self._raw = {s: w for s, w in design.as_dict().items() if w > 0}
        self._weight_scale = 1.0
        self._steps = 0
        self.log_det = 0.0
        self.refresh()

    def weight(self, subset: IntArray) -> float:
        """Weight of one subset."""
        return self._raw.get(tuple(subset.tolist()), 0.0) * self._weight_scale

    def atoms(self) -> tuple[IntArray, Array]:
        """Subsets of positive weight and their weights."""
        rows = np.array(list(self._raw), dtype=np.int64).reshape(-1, self.size)
        return rows, np.fromiter(self._raw.values(), float, len(self._raw)) * self._weight_scale

    def design(self) -> Design:
        """Current design, renormalised."""
        rows, weights = self.atoms()
        return Design(rows, weights / weights.sum())

    def spectrum(self, subset: IntArray) -> tuple[Array, Array]:
        """Eigenvalues and vectors of the ``(K-1) x (K-1)`` matrix ``B_S' V^{-1} B_S``."""
        block = self.contrasts.T @ self.block(subset) @ self.contrasts
        self.counts.eigen_flops += self.size**3
        values, vectors = np.linalg.eigh(block)
        return values, vectors

    def take(self, subset: IntArray, step: float) -> None:
        """Take a step of given size towards a subset (away from it when negative)."""
        self.move(subset, step, *self.spectrum(subset))

    def move(self, subset: IntArray, step: float, values: Array, vectors: Array) -> None:
        """Replace ``V`` by ``(1 - step) V + step M_S``; weights are scaled by one global multiplier."""
        if step == 0.0:
            return
        key = tuple(subset.tolist())
        if step >= 1.0:
            self._raw, self._weight_scale = {key: 1.0}, 1.0
            self.refresh()
            return
        self.log_det += log_det_change(values.tolist(), self.dim, step)
        self._weight_scale *= 1.0 - step
        raw = self._raw.get(key, 0.0) + step / self._weight_scale
        if raw * self._weight_scale <= 1e-15:
            self._raw.pop(key, None)
        else:
            self._raw[key] = raw
        self._steps += 1
        if self._steps % self.refresh_every == 0 or self._weight_scale < 1e-100:
            self.refresh()
        else:
            self._update(subset, step, values, vectors)

    def refresh(self) -> None:
        """Recompute everything from the atoms."""
        rows, weights = self.atoms()
        weights = weights / weights.sum()
        self._raw = {tuple(s): w for s, w in zip(rows.tolist(), weights.tolist(), strict=True)}
        self._weight_scale = 1.0
        factors = np.einsum("nkr,kc->ncr", self.points[rows], self.contrasts)
        flat = (np.sqrt(weights)[:, None, None] * factors).reshape(-1, self.dim)
        # the singular values of the factor, not of V: half the digits are lost by squaring
        _, singular, vectors = np.linalg.svd(flat, full_matrices=False)
        rank = int((singular > singular[0] * max(flat.shape) * np.finfo(float).eps).sum())
        if rank < self.dim:
            raise SingularDesignError(
                f"design must span the {self.dim} dimensions in which the items differ, got rank {rank}"
            )
        self.log_det = float(2.0 * np.log(singular).sum()) + self.problem.log_volume
        self.counts.refresh_flops += flat.shape[0] * self.dim**2 + self.dim**3
        self._rebuild(vectors.T / singular)

    def _rebuild(self, root: Array) -> None:
        """Take over ``root`` with ``root root' = V^{-1}``."""
        raise NotImplementedError

    def _update(self, subset: IntArray, step: float, values: Array, vectors: Array) -> None:
        """Rank-``(K-1)`` update of the memo."""
        raise NotImplementedError

    def block(self, subset: IntArray) -> Array:
        """``K x K`` block of the Gram matrix."""
        raise NotImplementedError

    def leverages(self, subsets: IntArray) -> Array:
        """Leverages of many subsets (rows ascending)."""
        raise NotImplementedError

    def distances(self, item: int) -> Array:
        """``z' V^{-1} z`` between one item and every item, shape ``(N,)``."""
        raise NotImplementedError

    def farthest_pair(self) -> tuple[IntArray, float]:
        """Pair with the largest ``z' V^{-1} z``, exactly."""
        best, pair = -1.0, (0, 1)
        for i in range(self.problem.n_items - 1):
            d = self.distances(i)[i + 1 :]
            j = int(d.argmax())
            if d[j] > best:
                best, pair = float(d[j]), (i, i + 1 + j)
        return np.array(pair), best

    @staticmethod
    def _gains(step: float, values: Array) -> Array:
        """Coefficients ``g / (1 - g + g lambda)`` of the Woodbury correction in the eigenbasis."""
        return np.asarray(step / (1.0 - step + step * np.maximum(values, 0.0)))


class GramMemo(Memo):
    """Memoised Gram matrix ``X V^{-1} X'``; only its upper triangle is kept up to date, with a lazy global scale."""

    def __init__(self, problem: DesignProblem, design: Design, refresh_every: int = 50) -> None:
        require("problem", problem, DesignProblem)
        if problem.n_items > MAX_GRAM_ITEMS:
            raise ValueError(f"a Gram memo takes at most {MAX_GRAM_ITEMS} items, got {problem.n_items}; use FactorMemo")
        from scipy.linalg.blas import dsyrk

        self._rank_update: Any = dsyrk
        super().__init__(problem, design, refresh_every)

    def _rebuild(self, root: Array) -> None:
        whitened = self.points @ root
        n = self.problem.n_items
        self._gram = np.asfortranarray(self._rank_update(1.0, whitened))
        self._flat = self._gram.T.reshape(-1)  # entry (i, j) of the upper triangle at j * N + i
        self._diagonal_at = np.arange(n) * (n + 1)
        self._diagonal = self._flat[self._diagonal_at]
        self._scale = 1.0
        self.counts.refresh_flops += n * self.dim**2 + n * n * self.dim // 2

    def _column(self, item: int) -> Array:
        return np.concatenate([self._gram[:item, item], self._gram[item, item:]])

    def block(self, subset: IntArray) -> Array:
        """``K x K`` block of the Gram matrix."""
        upper = np.triu(self._gram[np.ix_(subset, subset)])
        return np.asarray(self._scale * (upper + np.triu(upper, 1).T))

    def leverages(self, subsets: IntArray) -> Array:
        """``(K - 1) sum_i G_ii - 2 sum_{i<j} G_ij`` for every row, by look-up."""
        n = self.problem.n_items
        total = np.zeros(len(subsets))
        scaled = subsets * n
        for a in range(self.size):
            for b in range(a + 1, self.size):
                total += self._flat[scaled[:, b] + subsets[:, a]]
        own = self._diagonal[subsets].sum(axis=1)
        self.counts.gathers += len(subsets) * self.size * (self.size + 1) // 2
        self.counts.scored_subsets += len(subsets)
        return np.asarray(self._scale * ((self.size - 1) * own - 2.0 * total))

    def distances(self, item: int) -> Array:
        """``z' V^{-1} z`` between one item and every item."""
        self.counts.gathers += 2 * self.problem.n_items
        d = self._diagonal + self._diagonal[item] - 2.0 * self._column(item)
        return np.asarray(self._scale * np.maximum(d, 0.0))

    def farthest_pair(self) -> tuple[IntArray, float]:
        """Pair with the largest ``z' V^{-1} z``, exactly."""
        n = self.problem.n_items
        self.counts.gathers += n * (n + 1) // 2
        best, pair = -np.inf, (0, 1)
        for j in range(1, n):
            d = self._diagonal[:j] - 2.0 * self._gram[:j, j]
            i = int(d.argmax())
            if d[i] + self._diagonal[j] > best:
                best, pair = float(d[i] + self._diagonal[j]), (i, j)
        return np.array(pair), float(self._scale * best)

    def _update(self, subset: IntArray, step: float, values: Array, vectors: Array) -> None:
        columns = np.stack([self._column(int(i)) for i in subset], axis=1)  # (N, K), unscaled
        rotated = columns @ (self.contrasts @ vectors)
        # G' = (G - W C^{-1} W') / (1 - g); in unscaled form G = scale * gram one factor of the scale stays
        gains = self._gains(step, values) * self._scale
        sign = 1.0 if step > 0 else -1.0
        scaled = rotated * np.sqrt(np.abs(gains))
        self._rank_update(-sign, scaled, beta=1.0, c=self._gram, overwrite_c=1)
        self._diagonal = self._flat[self._diagonal_at]
        self._scale /= 1.0 - step
        n = self.problem.n_items
        self.counts.memo_flops += n * (n + 1) // 2 * (self.size - 1) + n * self.size * (self.size - 1)


class FactorMemo(Memo):
    """Only ``V^{-1}`` in the span, with a lazy scale; for many items."""

    def _rebuild(self, root: Array) -> None:
        self._inverse = root @ root.T
        self._scale = 1.0
        self.counts.refresh_flops += self.dim**3

    def block(self, subset: IntArray) -> Array:
        """``K x K`` block of the Gram matrix of centred rows."""
        rows = self.points[subset]
        rows = rows - rows.mean(axis=0)
        return np.asarray(self._scale * (rows @ self._inverse @ rows.T))

    def leverages(self, subsets: IntArray) -> Array:
        """``K sum ||x_i - mean||^2`` in the norm of ``V^{-1}``, chunk by chunk."""
        values = np.empty(len(subsets))
        chunk = max(1, 2_000_000 // (self.size * self.dim))
        for start in range(0, len(subsets), chunk):
            groups = self.points[subsets[start : start + chunk]]
            groups = groups - groups.mean(axis=1, keepdims=True)
            flat = groups.reshape(-1, self.dim)
            squares = np.einsum("ij,ij->i", flat @ self._inverse, flat).reshape(-1, self.size)
            values[start : start + chunk] = squares.sum(axis=1)
        self.counts.gathers += len(subsets) * self.size * self.dim
        self.counts.scored_subsets += len(subsets)
        return np.asarray(self._scale * self.size * values)

    def distances(self, item: int) -> Array:
        """``z' V^{-1} z`` between one item and every item."""
        z = self.points - self.points[item]
        self.counts.gathers += self.problem.n_items * self.dim
        return np.asarray(self._scale * np.maximum(np.einsum("ij,ij->i", z @ self._inverse, z), 0.0))

    def _update(self, subset: IntArray, step: float, values: Array, vectors: Array) -> None:
        rows = self.points[subset]
        factor = self._inverse @ ((rows - rows.mean(axis=0)).T @ (self.contrasts @ vectors))  # (r, K-1)
        gains = self._gains(step, values) * self._scale
        self._inverse -= (factor * gains) @ factor.T
        self._inverse = (self._inverse + self._inverse.T) / 2
        self._scale /= 1.0 - step
        self.counts.memo_flops += self.dim**2 * 2 * (self.size - 1)


def make_memo(problem: DesignProblem, design: Design, refresh_every: int = 50) -> Memo:
    """Choose the memo whose step is cheaper for this many items and dimensions.

    Parameters
    ----------
    problem : DesignProblem
        Items and subset size.
    design : Design
        Start; must span.
    refresh_every : int
        Steps between recomputations.

    Returns
    -------
    Memo

    Raises
    ------
    SingularDesignError
        If the start does not span.
    """
    require("problem", problem, DesignProblem)
    if problem.n_items <= min(MAX_GRAM_ITEMS, max(300, 20 * problem.rank)):
        return GramMemo(problem, design, refresh_every)
    return FactorMemo(problem, design, refresh_every)
