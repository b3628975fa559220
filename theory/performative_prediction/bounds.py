"""The bounds of this paper and of its predecessor, one formula each.

Every formula takes a mathematics namespace ``m`` first, so that the same line is read in floats, in balls and in
symbols.
"""

from typing import Any

from whp.theory.core import Bound, Domain, Symbol

__all__ = [
    "CONSTANT_STEP_COMPLEXITY",
    "EXPLORED_GRADIENT",
    "EXPLORED_GRADIENT_SHARP",
    "GAUSSIAN_SECOND_MOMENT",
    "GUIDED_COMPLEXITY",
    "GUIDED_SECOND_MOMENT",
    "ISOTROPIC_SECOND_MOMENT",
    "NOISE_SECOND_MOMENT",
    "ONE_POINT_SECOND_MOMENT",
    "PREVIOUS_BOUNDED_COMPLEXITY",
    "SMALL_STEP_COMPLEXITY",
    "STATIONARITY",
    "TWO_POINT_COMPLEXITY",
]

_DIMENSION = Symbol("d", Domain.integers(1), "dimension of the decision")
_SMOOTHNESS = Symbol("H", Domain.reals(0), "smoothness constant of F (A4)", "increasing")
_VARIANCE = Symbol("sigma2", Domain.reals(0), "variance bound of the loss (A1)", "increasing", r"\sigma^2")
_RADIUS = Symbol("mu", Domain.reals(0, open="low"), "smoothing radius", latex=r"\mu")
_BATCH = Symbol("batch", Domain.integers(1), "samples a side", "decreasing", "m")
_STEP = Symbol("beta", Domain.reals(0, open="low"), "step size", latex=r"\beta")
_STEPS = Symbol("steps", Domain.integers(1), "number of iterations T + 1", "decreasing", "(T+1)")
_GAP = Symbol("gap", Domain.reals(0), "F(x_0) - inf F", "increasing", r"\Delta")
_EXPLORED = Symbol("q", Domain.reals(0), "grad'Sigma grad at the decision", "increasing")
_GRADIENT2 = Symbol("gradient2", Domain.reals(0), "squared length of the gradient", "increasing", r"\|\nabla F\|^2")
_MU2 = Symbol("mu2", Domain.reals(0), "mean of mu_k^2", "increasing", r"\overline{\mu^2}")
_NOISE = Symbol("noise", Domain.reals(0), "mean of 1 / (mu_k^2 m_k)", "increasing", r"\overline{1/(\mu^2 m)}")
_ACCURACY = Symbol(
    "epsilon", Domain.reals(0, open="low"), "wanted root mean square gradient", "decreasing", r"\varepsilon"
)


def _guided_second_moment(m: Any, q: Any, mu: Any, H: Any, sigma2: Any, batch: Any) -> Any:
    return 6 * q + 15 * mu**2 * H**2 / 2 + sigma2 / (2 * mu**2 * batch)


def _isotropic_second_moment(m: Any, gradient2: Any, d: Any, mu: Any, H: Any, sigma2: Any, batch: Any) -> Any:
    smoothing = mu**2 * H**2 * (1 + 6 / d + 8 / d**2) / 2
    return 2 * (1 + 2 / d) * gradient2 / d + smoothing + sigma2 / (2 * mu**2 * batch)


def _noise_second_moment(m: Any, mu: Any, sigma2: Any, batch: Any) -> Any:
    return sigma2 / (2 * mu**2 * batch)


def _gaussian_second_moment(m: Any, gradient2: Any, d: Any, mu: Any, H: Any, sigma2: Any, batch: Any) -> Any:
    return 3 * mu**2 * H**2 * (d + 6) ** 3 / 2 + 6 * (d + 4) * gradient2 + 3 * sigma2 * d / (2 * mu**2 * batch)


def _one_point_second_moment(
    m: Any, gradient2: Any, d: Any, mu: Any, H: Any, sigma2: Any, batch: Any, control2: Any
) -> Any:
    smooth = 3 * mu**2 * H**2 * (d + 6) ** 3 / 2 + 6 * (d + 4) * gradient2
    return smooth + 3 * sigma2 * d / (mu**2 * batch) + 3 * d * control2 / mu**2


def _explored_gradient(m: Any, gap: Any, beta: Any, steps: Any, H: Any, sigma2: Any, mu2: Any, noise: Any) -> Any:
    return 4 * gap / (beta * steps) + 13 * H**2 * mu2 / 4 + H * beta * sigma2 * noise


def _explored_gradient_sharp(
    m: Any, gap: Any, beta: Any, steps: Any, H: Any, sigma2: Any, lambda_mu2: Any, mu2: Any, noise: Any
) -> Any:
    return 4 * gap / (beta * steps) + 2 * H**2 * lambda_mu2 + 15 * H**3 * beta * mu2 + H * beta * sigma2 * noise


def _stationarity(
    m: Any, gap: Any, beta: Any, steps: Any, H: Any, sigma2: Any, mu2: Any, noise: Any, d: Any, alpha: Any
) -> Any:
    return d / alpha * _explored_gradient(m, gap, beta, steps, H, sigma2, mu2, noise)


GUIDED_SECOND_MOMENT = Bound(
    "6 q + (15/2) mu^2 H^2 + sigma^2 / (2 mu^2 m)",
    _guided_second_moment,
    (_EXPLORED, _RADIUS, _SMOOTHNESS, _VARIANCE, _BATCH),
)
"""Second moment of the guided two-point estimator under A1 and A4."""

ISOTROPIC_SECOND_MOMENT = Bound(
    "2 (1 + 2/d) |grad F|^2 / d + (mu^2 H^2 / 2)(1 + 6/d + 8/d^2) + sigma^2 / (2 mu^2 m)",
    _isotropic_second_moment,
    (_GRADIENT2, _DIMENSION, _RADIUS, _SMOOTHNESS, _VARIANCE, _BATCH),
)
"""The same for isotropic directions of trace one."""

NOISE_SECOND_MOMENT = Bound("sigma^2 / (2 mu^2 m)", _noise_second_moment, (_RADIUS, _VARIANCE, _BATCH))
"""Noise part of the second moment, for directions of mean square one."""

GAUSSIAN_SECOND_MOMENT = Bound(
    "(3/2) mu^2 H^2 (d+6)^3 + 6 (d+4) |grad F|^2 + 3 sigma^2 d / (2 mu^2 m)",
    _gaussian_second_moment,
    (_GRADIENT2, _DIMENSION, _RADIUS, _SMOOTHNESS, _VARIANCE, _BATCH),
)
"""The predecessor's Lemma 8: two-point, ``u ~ N(0, I)``."""

ONE_POINT_SECOND_MOMENT = Bound(
    "(3/2) mu^2 H^2 (d+6)^3 + 6 (d+4) |grad F|^2 + 3 sigma^2 d / (mu^2 m) + 3 d (F - c)^2 / mu^2",
    _one_point_second_moment,
    (
        _GRADIENT2,
        _DIMENSION,
        _RADIUS,
        _SMOOTHNESS,
        _VARIANCE,
        _BATCH,
        Symbol("control2", Domain.reals(0), "(F(x) - c)^2", "increasing", "(F-c)^2"),
    ),
)
"""The predecessor's Lemma 3: one-point with control ``c``, ``u ~ N(0, I)``."""

EXPLORED_GRADIENT = Bound(
    "4 gap / (beta (T+1)) + 3.25 H^2 mean mu_k^2 + H beta sigma^2 mean 1/(mu_k^2 m_k)",
    _explored_gradient,
    (_GAP, _STEP, _STEPS, _SMOOTHNESS, _VARIANCE, _MU2, _NOISE),
)
"""Mean of ``E grad'Sigma_k grad`` over a run with constant step ``beta <= 1 / (12 H)``."""

EXPLORED_GRADIENT_SHARP = Bound(
    "4 gap / (beta (T+1)) + 2 H^2 mean lambda_k mu_k^2 + 15 H^3 beta mean mu_k^2 + H beta sigma^2 mean 1/(mu_k^2 m_k)",
    _explored_gradient_sharp,
    (
        _GAP,
        _STEP,
        _STEPS,
        _SMOOTHNESS,
        _VARIANCE,
        Symbol(
            "lambda_mu2",
            Domain.reals(0),
            "mean of lambda_max(Sigma_k) mu_k^2",
            "increasing",
            r"\overline{\lambda\mu^2}",
        ),
        _MU2,
        _NOISE,
    ),
)
"""As `EXPLORED_GRADIENT`, keeping the largest eigenvalue of the direction covariance."""

STATIONARITY = Bound(
    "(d / mean alpha_k) (4 gap / (beta (T+1)) + 3.25 H^2 mean mu_k^2 + H beta sigma^2 mean 1/(mu_k^2 m_k))",
    _stationarity,
    (
        _GAP,
        _STEP,
        _STEPS,
        _SMOOTHNESS,
        _VARIANCE,
        _MU2,
        _NOISE,
        _DIMENSION,
        Symbol("alpha", Domain.reals(0, 1, open="low"), "mean isotropic share", "decreasing", r"\bar\alpha"),
    ),
)
"""``E |grad F(x_hat)|^2`` for an output drawn with probability proportional to the isotropic share."""

GUIDED_COMPLEXITY = Bound(
    "d^4 / epsilon^6", lambda m, d, epsilon: d**4 / epsilon**6, (_DIMENSION, _ACCURACY), "samples"
)
"""Order of the guided methods' complexity, inferred from the abstract's comparison."""

PREVIOUS_BOUNDED_COMPLEXITY = Bound(
    "G^6 d^2 / epsilon^6",
    lambda m, d, epsilon, G: G**6 * d**2 / epsilon**6,
    (_DIMENSION, _ACCURACY, Symbol("G", Domain.reals(0, open="low"), "largest absolute loss", "increasing")),
    "samples",
)
"""Order of the earlier complexity for losses bounded by ``G``."""

TWO_POINT_COMPLEXITY = Bound(
    "d^(9/2) / epsilon^6", lambda m, d, epsilon: m.sqrt(d) * d**4 / epsilon**6, (_DIMENSION, _ACCURACY), "samples"
)
"""Order of the predecessor's two-point method."""

CONSTANT_STEP_COMPLEXITY = Bound(
    "d^3 / epsilon^6", lambda m, d, epsilon: d**3 / epsilon**6, (_DIMENSION, _ACCURACY), "samples"
)
"""Order that `EXPLORED_GRADIENT` yields with a constant step ``1 / (12 H)``."""

SMALL_STEP_COMPLEXITY = Bound(
    "d^2 / epsilon^6", lambda m, d, epsilon: d**2 / epsilon**6, (_DIMENSION, _ACCURACY), "samples"
)
"""Order that `EXPLORED_GRADIENT_SHARP` yields with the step ``1 / (12 d H)``."""
