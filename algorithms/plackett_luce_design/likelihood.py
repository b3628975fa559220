"""Plackett-Luce log-likelihood of packed rankings, with gradient and curvature, in utilities or in features."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from whp.algorithms.plackett_luce_design.rankings import Rankings
from whp.theory.plackett_luce_design.validation import require

Array = NDArray[np.float64]

__all__ = ["LuceStages", "log_likelihood"]

_SAFE_SPREAD = 300.0  # beyond this, sums of exponentials lose the small terms and logarithms are kept instead


class LuceStages:
    """Choice probabilities of every stage of every ranking at given utilities.

    Parameters
    ----------
    rankings : Rankings
        Observed answers.
    utilities : (n_items,) array_like
        Log-weights; only differences matter.

    Attributes
    ----------
    value : float
        Negative log-likelihood.
    """

    def __init__(self, rankings: Rankings, utilities: ArrayLike) -> None:
        require("rankings", rankings, Rankings)
        u = np.asarray(utilities, dtype=float)
        if u.shape != (rankings.n_items,):
            raise ValueError(f"utilities must have shape ({rankings.n_items},), got {u.shape}")
        if not np.isfinite(u).all():
            raise ValueError("utilities must be finite, got nan or infinity")
        if np.abs(u).max() > 1e300:
            raise ValueError(f"utilities must be at most 1e300, got {np.abs(u).max():.3g}")
        self.rankings = rankings
        items = rankings.items
        self._real = items >= 0
        self._padded = not bool(self._real.all())
        columns = np.arange(items.shape[1])
        # multiplicity of each stage; zero where nothing was chosen
        self._stage_weight = np.where(columns < rankings.n_stages[:, None], rankings.weights[:, None], 0.0)
        self._index = np.where(self._real, items, 0) if self._padded else items
        shown = u[self._index]
        if self._padded:
            shown = np.where(self._real, shown, -np.inf)
        shown = shown - shown.max(axis=1, keepdims=True)
        lowest = shown[self._real].min() if self._padded else shown.min()
        if lowest > -_SAFE_SPREAD:
            w = np.exp(shown)
            totals = w[:, ::-1].cumsum(axis=1)[:, ::-1]
            log_totals = np.log(totals, out=np.zeros_like(totals), where=totals > 0)
            self._inverse = np.divide(1.0, totals, out=np.zeros_like(totals), where=totals > 0)
            self._w: Array | None = w
        else:
            log_totals = np.logaddexp.accumulate(shown[:, ::-1], axis=1)[:, ::-1]
            self._w, self._inverse = None, np.zeros(0)
        self._shown: Array = shown
        self._log_totals: Array = np.asarray(log_totals)
        if self._padded:
            chosen = self._stage_weight > 0
            difference = np.zeros_like(shown)
            np.subtract(log_totals, shown, out=difference, where=chosen)
        else:
            difference = log_totals - shown
        self.value = float(max((self._stage_weight * difference).sum(), 0.0))

    def _prefix(self, stage_values: Array | None) -> Array:
        """``sum_{k <= position} stage_weight_k p_k(item) stage_value_k`` for every shown item."""
        scaled = self._stage_weight if stage_values is None else self._stage_weight * stage_values
        if self._w is not None:
            return np.asarray(self._w * (scaled * self._inverse).cumsum(axis=1))
        result: Array = np.zeros_like(self._shown)
        for k in range(int(self.rankings.n_stages.max())):
            gap = self._shown[:, k:] - self._log_totals[:, k : k + 1]
            result[:, k:] += scaled[:, k : k + 1] * np.exp(np.minimum(gap, 0.0))
        return result

    def _stage_means(self, shown_values: Array) -> Array:
        """``E_{p_k}[value]`` for every stage; zero where nothing remains."""
        if self._w is not None:
            sums = (self._w * shown_values)[:, ::-1].cumsum(axis=1)[:, ::-1]
            return np.asarray(sums * self._inverse)
        means: Array = np.zeros_like(self._shown)
        for k in range(int(self.rankings.n_stages.max())):
            gap = self._shown[:, k:] - self._log_totals[:, k : k + 1]
            means[:, k] = (np.exp(np.minimum(gap, 0.0)) * shown_values[:, k:]).sum(axis=1)
        return means

    def _scatter(self, per_shown: Array) -> Array:
        index, values = self._index, per_shown
        if self._padded:
            index, values = index[self._real], values[self._real]
        return np.asarray(
            np.bincount(index.ravel(), weights=values.ravel(), minlength=self.rankings.n_items), dtype=float
        )

    def gradient(self) -> Array:
        """Gradient of the negative log-likelihood in the utilities, shape ``(n_items,)``; sums to zero."""
        return self._scatter(self._prefix(None) - self._stage_weight)

    def curvature_diagonal(self) -> Array:
        """Diagonal of the Hessian in the utilities, shape ``(n_items,)``."""
        first = self._prefix(None)
        if self._w is not None:
            second = self._w**2 * (self._stage_weight * self._inverse**2).cumsum(axis=1)
        else:
            second = np.zeros_like(first)
            for k in range(int(self.rankings.n_stages.max())):
                p = np.exp(np.minimum(self._shown[:, k:] - self._log_totals[:, k : k + 1], 0.0))
                second[:, k:] += self._stage_weight[:, k : k + 1] * p * p
        return self._scatter(np.maximum(first - second, 0.0))

    def curvature_product(self, direction: Array) -> Array:
        """Hessian in the utilities times a vector, without forming the matrix."""
        v = direction[self._index]
        if self._padded:
            v = np.where(self._real, v, 0.0)
        v = v - v[:, :1]  # the Hessian ignores constants; this avoids cancellation
        means = self._stage_means(v)
        return self._scatter(v * self._prefix(None) - self._prefix(means))

    def item_hessian(self) -> Array:
        """Dense Hessian in the utilities, shape ``(n_items, n_items)``; a weighted graph Laplacian."""
        n, width = self.rankings.n_items, self._shown.shape[1]
        laplacian = np.zeros(n * n)
        pair_sums = np.zeros((len(self._shown), width, width))
        for k in range(int(self.rankings.n_stages.max())):
            p = np.exp(np.minimum(self._shown[:, k:] - self._log_totals[:, k : k + 1], 0.0))
            pair_sums[:, k:, k:] += self._stage_weight[:, k, None, None] * p[:, :, None] * p[:, None, :]
        for a in range(width):
            for b in range(a + 1, width):
                here = self._real[:, b]
                flat = self._index[here, a] * n + self._index[here, b]
                laplacian += np.bincount(flat, weights=pair_sums[here, a, b], minlength=n * n)
        table = laplacian.reshape(n, n)
        table = table + table.T
        return np.asarray(np.diag(table.sum(axis=1)) - table)

    def feature_hessian(self, features: Array) -> Array:
        """Hessian in a linear parameter, ``sum_k Cov_{p_k}(x)``, shape ``(d, d)``."""
        first = self._scatter(self._prefix(None))
        hessian = features.T @ (first[:, None] * features)
        chunk = max(1, 2_000_000 // (self._shown.shape[1] * features.shape[1]))
        for start in range(0, len(self._shown), chunk):
            rows = slice(start, start + chunk)
            if self._w is not None:
                weighted = self._w[rows, :, None] * features[self._index[rows]]
                sums = weighted[:, ::-1].cumsum(axis=1)[:, ::-1]
                scale = np.sqrt(self._stage_weight[rows]) * self._inverse[rows]
                means = (sums * scale[:, :, None]).reshape(-1, features.shape[1])
                hessian -= means.T @ means
                continue
            for k in range(int(self.rankings.n_stages[rows].max())):
                gap = self._shown[rows, k:] - self._log_totals[rows, k : k + 1]
                p = np.exp(np.minimum(gap, 0.0))
                means = np.einsum("nj,njd->nd", p, features[self._index[rows, k:]])
                hessian -= means.T @ (self._stage_weight[rows, k, None] * means)
        return np.asarray((hessian + hessian.T) / 2)


def log_likelihood(rankings: Rankings, utilities: ArrayLike) -> float:
    """Plackett-Luce log-likelihood of observed rankings.

    Parameters
    ----------
    rankings : Rankings
        Full, top-k or partial answers.
    utilities : (n_items,) array_like
        Log-weights.

    Returns
    -------
    float
        Never positive.

    Raises
    ------
    ValueError
        If a utility is not finite or the shape is wrong.

    Examples
    --------
    >>> round(log_likelihood(Rankings.full([(2, 1, 0)], 3), np.log([1.0, 2.0, 3.0])), 6)  # probability 1/3
    -1.098612
    """
    require("rankings", rankings, Rankings)
    return -LuceStages(rankings, utilities).value
