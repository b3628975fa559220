"""Multiproduct pricing: buyers choose by a multinomial logit, so demand depends on the prices one sets."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .validation import Stored, finite_array, finite_number, positive_integer

__all__ = ["MultiproductPricing"]

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class MultiproductPricing:
    """Negative profit of selling ``n`` products to ``m`` buyers, each of whom buys one product or none.

    A buyer picks product ``i`` with probability ``p_i(x) = e^{g_i (theta_i - x_i)} / (a_0 + sum_j e^{g_j (theta_j -
    x_j)})`` where ``g_i = 2 pi / (sqrt(6) theta_i)``. With ``xi_i`` units sold, ``f(x, xi) = -sum x_i xi_i + sum
    c_i(xi_i)``; the cost ``c_i`` is piecewise linear with slope ``2 w_i`` up to ``l``, ``w_i`` up to ``u`` and ``3
    w_i`` beyond. The law of ``xi`` is multinomial with binomial marginals, so ``F``, its gradient and the variance of
    ``f`` are finite sums, computed here without Monte Carlo.

    Parameters
    ----------
    reference_prices : array_like, shape (n,)
        ``theta > 0``, recorded prices as shares of the largest.
    unit_costs : array_like, shape (n,)
        ``w >= 0``; the paper draws ``w_i = theta_i U[0.25, 0.5]``.
    buyers : int
        ``m``, 40 in the paper.
    outside_weight : float, optional
        ``a_0 > 0``; by default ``0.1 n`` as in the paper.
    low_volume, high_volume : float, optional
        ``l`` and ``u``; by default ``m / (2 n)`` and ``3 m / (2 n)`` as in the paper.

    Raises
    ------
    TypeError, ValueError
        If a field is malformed or out of range.

    Examples
    --------
    >>> shop = MultiproductPricing([0.5, 1.0], [0.1, 0.2], buyers=4)
    >>> shop.probabilities([0.5, 1.0]).round(4)
    array([0.4545, 0.4545])
    """

    reference_prices: Stored
    unit_costs: Stored
    buyers: int = 40
    outside_weight: float = 0.0
    low_volume: float = -1.0
    high_volume: float = -1.0

    def __post_init__(self) -> None:
        """Check ranges, fill the paper's defaults and freeze the arrays."""
        theta = finite_array("reference_prices", self.reference_prices, 1)
        costs = finite_array("unit_costs", self.unit_costs, 1, (theta.size,))
        if theta.min() <= 0:
            raise ValueError(f"reference_prices must be positive, got {theta.min():g}")
        if costs.min() < 0:
            raise ValueError(f"unit_costs must not be negative, got {costs.min():g}")
        buyers = positive_integer("buyers", self.buyers)
        outside = 0.1 * theta.size if self.outside_weight == 0.0 else self.outside_weight
        low = 0.5 * buyers / theta.size if self.low_volume == -1.0 else self.low_volume
        high = 1.5 * buyers / theta.size if self.high_volume == -1.0 else self.high_volume
        object.__setattr__(self, "reference_prices", theta)
        object.__setattr__(self, "unit_costs", costs)
        object.__setattr__(self, "buyers", buyers)
        object.__setattr__(self, "outside_weight", finite_number("outside_weight", outside, above=0.0))
        object.__setattr__(self, "low_volume", finite_number("low_volume", low, at_least=0.0))
        object.__setattr__(self, "high_volume", finite_number("high_volume", high, at_least=self.low_volume))

    @property
    def dimension(self) -> int:
        """Number ``n`` of products, the dimension of the decision."""
        return int(self.reference_prices.size)

    @property
    def price_sensitivity(self) -> Array:
        """The logit slopes ``g_i = 2 pi / (sqrt(6) theta_i)``; shape ``(n,)``."""
        return np.asarray(2.0 * math.pi / (math.sqrt(6.0) * self.reference_prices))

    def log_probabilities(self, x: Array) -> tuple[Array, Array]:
        """Logarithms of ``p_i`` and of ``1 - p_i``, safe for any prices; shapes ``(..., n) -> 2 x (..., n)``."""
        x = np.asarray(x, dtype=np.float64)
        if x.ndim == 0 or x.shape[-1] != self.dimension or not np.isfinite(x).all():
            raise ValueError(f"x must hold {self.dimension} finite prices, got {x}")
        exponent = self.price_sensitivity * (self.reference_prices - x)
        log_outside = math.log(self.outside_weight)
        top = np.maximum(exponent.max(axis=-1, keepdims=True), log_outside)
        weight = np.exp(exponent - top)
        total = weight.sum(axis=-1, keepdims=True) + np.exp(log_outside - top)
        log_p = exponent - top - np.log(total)
        rest = total - weight
        small = rest < 1e-8 * total  # cancellation: sum the other products directly
        if np.any(small):
            n = self.dimension
            others = np.where(np.eye(n, dtype=bool), 0.0, weight[..., None, :]).sum(axis=-1) + np.exp(log_outside - top)
            rest = np.where(small, others, rest)
        with np.errstate(divide="ignore"):
            log_q = np.log(rest / total)
        return log_p, log_q

    def probabilities(self, x: Array) -> Array:
        """Purchase probabilities ``p(x)``; shapes ``(..., n) -> (..., n)``."""
        return np.asarray(np.exp(self.log_probabilities(x)[0]))

    def cost(self, units: Array) -> Array:
        """Costs ``c_i(units_i)``, piecewise linear; shapes ``(..., n) -> (..., n)``."""
        y = np.asarray(units, dtype=np.float64)
        low, high = self.low_volume, self.high_volume
        steps = 2.0 * np.minimum(y, low) + np.clip(y - low, 0.0, high - low) + 3.0 * np.maximum(y - high, 0.0)
        return np.asarray(self.unit_costs * steps)

    def loss(self, x: Array, xi: Array) -> Array:
        """Negative profit; shapes ``(..., n), (..., samples, n) -> (..., samples)``."""
        x = np.asarray(x, dtype=np.float64)
        return np.asarray(self.cost(xi).sum(axis=-1) - np.einsum("...sn,...n->...s", xi, x))

    def loss_gradient(self, x: Array, xi: Array) -> Array:
        """Partial gradient ``-xi``; shapes ``(..., n), (..., samples, n) -> (..., samples, n)``."""
        return -np.asarray(xi, dtype=np.float64)

    def objective(self, x: Array) -> Array:
        """Objective ``F`` as binomial sums; shapes ``(..., n) -> (...)``."""
        x = np.asarray(x, dtype=np.float64)
        log_p, log_q = self.log_probabilities(x)
        units = np.arange(self.buyers + 1, dtype=np.float64)
        costs = self.cost(np.broadcast_to(units[:, None], (units.size, self.dimension)))  # (m + 1, n)
        mass = _binomial_mass(self.buyers, log_p, log_q)  # (..., n, m + 1)
        expected_cost = np.einsum("...ny,yn->...n", mass, costs)
        return np.asarray((expected_cost - self.buyers * np.exp(log_p) * x).sum(axis=-1))

    def gradient(self, x: Array) -> Array:
        """Gradient of ``F``: ``-m p_j + sum_i J_ij (-m x_i + m E[c_i(Y + 1) - c_i(Y)])``, ``Y ~ Bin(m - 1, p_i)``."""
        x = np.asarray(x, dtype=np.float64)
        log_p, log_q = self.log_probabilities(x)
        p = np.exp(log_p)
        units = np.arange(self.buyers + 1, dtype=np.float64)
        costs = self.cost(np.broadcast_to(units[:, None], (units.size, self.dimension)))
        marginal_cost = np.einsum(
            "...ny,yn->...n", _binomial_mass(self.buyers - 1, log_p, log_q), np.diff(costs, axis=0)
        )
        pull = self.buyers * (marginal_cost - x)  # derivative of F in each p_i
        drift = -self.price_sensitivity * p * (pull - (p * pull).sum(axis=-1, keepdims=True))
        return np.asarray(-self.buyers * p + drift)

    def known_gradient(self, x: Array) -> Array:
        """Mean ``-m p(x)`` of the known-function gradient; shapes ``(..., n) -> (..., n)``."""
        return -self.buyers * self.probabilities(x)

    def loss_variance(self, x: Array) -> float:
        """Variance of ``f(x, xi)`` at one decision, from the bivariate (trinomial) margins; shape ``(n,)``."""
        x = finite_array("x", x, 1, (self.dimension,))
        log_p, log_q = self.log_probabilities(x)
        p = np.exp(log_p)
        units = np.arange(self.buyers + 1, dtype=np.float64)
        profit = self.cost(np.broadcast_to(units[:, None], (units.size, self.dimension))) - units[:, None] * x
        mass = _binomial_mass(self.buyers, log_p, log_q)  # (n, m + 1)
        mean = np.einsum("ny,yn->n", mass, profit)
        centred = profit - mean
        variance = float(np.einsum("ny,yn,yn->", mass, centred, centred))
        for i in range(self.dimension):
            for j in range(i):
                joint = _trinomial_mass(self.buyers, p[i], p[j])
                variance += 2.0 * float(centred[:, i] @ joint @ centred[:, j])
        return variance

    def loss_bound(self, lower: float, upper: float) -> float:
        """Bound ``G`` on ``|f|`` for prices in ``[lower, upper]``: revenue up to ``m max|x|``, cost ``3 m max w``."""
        lowest = finite_number("lower", lower)
        highest = finite_number("upper", upper, at_least=lowest)
        return self.buyers * (max(abs(lowest), abs(highest)) + 3.0 * float(self.unit_costs.max()))


def _binomial_mass(trials: int, log_p: Array, log_q: Array) -> Array:
    """Binomial probabilities of ``0..trials`` from logarithms; shapes ``(..., n) -> (..., n, trials + 1)``."""
    y = np.arange(trials + 1, dtype=np.float64)
    log_choose = np.array([math.log(math.comb(trials, k)) for k in range(trials + 1)])
    with np.errstate(invalid="ignore"):  # 0 * -inf, replaced by its limit 0
        hits = np.where(y == 0, 0.0, y * log_p[..., None])
        misses = np.where(y == trials, 0.0, (trials - y) * log_q[..., None])
    return np.asarray(np.exp(log_choose + hits + misses))


def _trinomial_mass(trials: int, p: float, q: float) -> Array:
    """Joint probabilities of two cells of a multinomial; shape ``(trials + 1, trials + 1)``."""
    log_factorial = np.array([math.lgamma(k + 1) for k in range(trials + 1)])
    rest = max(1.0 - p - q, 0.0)
    y = np.arange(trials + 1)
    left = trials - y[:, None] - y[None, :]
    allowed = left >= 0
    left = np.where(allowed, left, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        log_mass = log_factorial[trials] - log_factorial[:, None] - log_factorial[None, :] - log_factorial[left]
        log_mass = (
            log_mass + np.where(y == 0, 0.0, y * np.log(p))[:, None] + np.where(y == 0, 0.0, y * np.log(q))[None, :]
        )
        log_mass = log_mass + np.where(left == 0, 0.0, left * np.log(rest))
    return np.where(allowed, np.exp(log_mass), 0.0)
