"""The bounds of this paper and of its predecessor, one formula each.

Every formula takes a mathematics namespace ``m`` first (``numpy``, ``sympy``, ...), so that the same line is evaluated in
floats, in balls and in symbols.
"""

from typing import Any

__all__ = [
    "derived_complexity",
    "explored_gradient_bound",
    "explored_gradient_bound_sharp",
    "gaussian_second_moment_bound",
    "guided_complexity_reported",
    "guided_second_moment_bound",
    "isotropic_second_moment_bound",
    "noise_second_moment_bound",
    "one_point_second_moment_bound",
    "previous_bounded_complexity",
    "stationarity_bound",
    "two_point_complexity_previous",
]


def guided_second_moment_bound(m: Any, q: Any, mu: Any, H: Any, sigma2: Any, batch: Any) -> Any:
    """``E|g|^2 <= 6 q + (15/2) mu^2 H^2 + sigma^2 / (2 mu^2 m)`` with ``q = grad'Sigma grad``; needs A1 and A4."""
    return 6 * q + 15 * mu**2 * H**2 / 2 + sigma2 / (2 * mu**2 * batch)


def isotropic_second_moment_bound(m: Any, gradient2: Any, d: Any, mu: Any, H: Any, sigma2: Any, batch: Any) -> Any:
    """Isotropic case: ``2 (1 + 2/d) |grad|^2 / d + (mu^2 H^2 / 2)(1 + 6/d + 8/d^2) + sigma^2 / (2 mu^2 m)``."""
    smoothing = mu**2 * H**2 * (1 + 6 / d + 8 / d**2) / 2
    return 2 * (1 + 2 / d) * gradient2 / d + smoothing + sigma2 / (2 * mu**2 * batch)


def noise_second_moment_bound(m: Any, mu: Any, sigma2: Any, batch: Any) -> Any:
    """Noise part of ``E|g|^2``: ``sigma^2 / (2 mu^2 m)`` for directions of unit mean square."""
    return sigma2 / (2 * mu**2 * batch)


def gaussian_second_moment_bound(m: Any, gradient2: Any, d: Any, mu: Any, H: Any, sigma2: Any, batch: Any) -> Any:
    """Predecessor, Lemma 8, ``u ~ N(0, I)``: ``(3/2) mu^2 H^2 (d+6)^3 + 6 (d+4)|grad|^2 + 3 sigma^2 d / (2 mu^2 m)``."""
    return 3 * mu**2 * H**2 * (d + 6) ** 3 / 2 + 6 * (d + 4) * gradient2 + 3 * sigma2 * d / (2 * mu**2 * batch)


def one_point_second_moment_bound(
    m: Any, gradient2: Any, d: Any, mu: Any, H: Any, sigma2: Any, batch: Any, control2: Any
) -> Any:
    """Predecessor, Lemma 3, one-point with control ``c``, ``control2 = (F(x) - c)^2``."""
    noise = 3 * sigma2 * d / (mu**2 * batch)
    return 3 * mu**2 * H**2 * (d + 6) ** 3 / 2 + 6 * (d + 4) * gradient2 + noise + 3 * d * control2 / mu**2


def explored_gradient_bound(m: Any, gap: Any, beta: Any, steps: Any, H: Any, sigma2: Any, mu2: Any, noise: Any) -> Any:
    """``mean E q_k <= 4 (F_0 - F*) / (beta steps) + 3.25 H^2 mean mu_k^2 + H beta sigma^2 mean 1 / (mu_k^2 m_k)``.

    ``steps`` is ``T + 1``, ``mu2`` the mean of ``mu_k^2`` and ``noise`` the mean of ``1 / (mu_k^2 m_k)``; needs
    ``beta <= 1 / (12 H)``.
    """
    return 4 * gap / (beta * steps) + 13 * H**2 * mu2 / 4 + H * beta * sigma2 * noise


def explored_gradient_bound_sharp(
    m: Any, gap: Any, beta: Any, steps: Any, H: Any, sigma2: Any, lambda_mu2: Any, mu2: Any, noise: Any
) -> Any:
    """As `explored_gradient_bound`, keeping the largest eigenvalue: ``lambda_mu2`` is the mean of ``lambda_k mu_k^2``."""
    return 4 * gap / (beta * steps) + 2 * H**2 * lambda_mu2 + 15 * H**3 * beta * mu2 + H * beta * sigma2 * noise


def stationarity_bound(
    m: Any, gap: Any, beta: Any, steps: Any, H: Any, sigma2: Any, mu2: Any, noise: Any, d: Any, alpha: Any
) -> Any:
    """``E|grad F(x_hat)|^2 <= (d / alpha)`` times `explored_gradient_bound`; ``alpha`` is the mean isotropic share."""
    return d / alpha * explored_gradient_bound(m, gap, beta, steps, H, sigma2, mu2, noise)


def guided_complexity_reported(m: Any, d: Any, epsilon: Any) -> Any:
    """Order ``d^4 / epsilon^6`` of the guided methods, inferred from the abstract's comparison."""
    return d**4 / epsilon**6


def previous_bounded_complexity(m: Any, d: Any, epsilon: Any, G: Any) -> Any:
    """Order ``G^6 d^2 / epsilon^6`` of the earlier bound for losses bounded by ``G``."""
    return G**6 * d**2 / epsilon**6


def two_point_complexity_previous(m: Any, d: Any, epsilon: Any) -> Any:
    """Order ``d^{9/2} / epsilon^6`` of the predecessor's two-point method."""
    return m.sqrt(d) * d**4 / epsilon**6


def derived_complexity(m: Any, d: Any, epsilon: Any) -> Any:
    """Order ``d^2 / epsilon^6`` that the sharp bound yields with ``beta = Theta(1 / (d H))``."""
    return d**2 / epsilon**6
