"""The statements about guided zeroth-order methods, as data.

The paper's own theorem pages were not available: what is known of them comes through its abstract, the authors'
released scripts and the predecessor (Hikima and Takeda, AAAI 2025). Everything else is marked as derived here.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from whp.theory.core import Assumption, Claim, Expected, Paper, Provenance, Theorem

from . import bounds

__all__ = ["PAPER", "THEOREMS"]

PAPER = Paper(
    slug="performative_prediction",
    title="Guided Zeroth-Order Methods for Stochastic Non-convex Problems with Decision-Dependent Distributions",
    authors=("Yuya Hikima", "Hiroshi Sawada", "Akinori Fujino"),
    venue="ICML 2025, PMLR 267:23235-23260",
)

_PREDECESSOR = (
    "Hikima and Takeda, Zeroth-order methods for nonconvex stochastic problems with decision-dependent distributions, "
    "AAAI 2025, full version"
)


def _assume(name: str, statement: str, holds: Callable[[Any], bool]) -> Assumption:
    return Assumption(name, statement, holds)


CONSTANT_VARIANCE = _assume(
    "A1",
    "the variance of f(x, xi) under D(x) is at most sigma^2 for every x",
    lambda case: hasattr(case.problem, "variance_bound"),
)
SMOOTH = _assume("A4", "F is H-smooth", lambda case: hasattr(case.problem, "smoothness"))
SMALL_STEP = _assume(
    "step", "beta <= 1 / (12 H)", lambda case: 12.0 * case.problem.smoothness * case.schedule.step <= 1.0 + 1e-12
)
BOUNDED_BELOW = _assume(
    "bounded below",
    "inf F > -infinity",
    lambda case: bool(np.linalg.eigvalsh(case.problem.curvature)[0] > 1e-12),
)
EXPLORES = _assume("share", "some alpha_k is positive", lambda case: bool(case.schedule.shares.max() > 0.0))
UNIT_GUIDE = _assume("guide", "the guide is a unit vector", lambda case: bool(np.any(case.guide)))
ISOTROPIC = _assume("alpha = 1", "directions are isotropic", lambda case: case.alpha == 1.0)
QUADRATIC = _assume(
    "quadratic", "the loss is quadratic in the decision", lambda case: hasattr(case.problem, "stationary_point")
)
SKEW = _assume(
    "skew",
    "f = |x - xi|^2 / 2 with xi ~ N(A x, s^2 I) and I - A skew-symmetric",
    lambda case: (
        not np.any(case.problem.offset)
        and not np.any(case.problem.linear)
        and np.array_equal(
            np.eye(case.problem.dimension) - case.problem.sensitivity,
            case.problem.sensitivity.T - np.eye(case.problem.dimension),
        )
    ),
)
STATIC = _assume("A = 0", "the law does not depend on the decision", lambda case: not np.any(case.problem.sensitivity))
CONVEX = _assume("convex", "f is convex in (x, xi)", lambda case: case.problem.convex)


def _theorem(
    name: str,
    title: str,
    statement: str,
    claim: Claim,
    provenance: Provenance,
    assumptions: tuple[Assumption, ...] = (),
    expected: Expected = "holds",
    **more: str,
) -> Theorem:
    return Theorem(
        id=f"performative_prediction.{name}",
        paper=PAPER,
        title=title,
        statement=statement,
        claim=claim,
        provenance=provenance,
        assumptions=assumptions,
        expected=expected,
        **more,
    )


_DIRECTIONS = (
    _theorem(
        "direction_covariance",
        "covariance of a guided direction",
        "u = sqrt(alpha/d) z + sqrt(1 - alpha) s g with z ~ N(0, I), s ~ N(0, 1) and |g| = 1 has covariance "
        "Sigma = (alpha/d) I + (1 - alpha) g g', trace 1, tr Sigma^2 = (1-alpha)^2 + 2 alpha (1-alpha)/d + alpha^2/d, "
        "largest eigenvalue 1 - alpha + alpha/d.",
        Claim("Cov u", "=", "(alpha/d) I + (1 - alpha) g g'"),
        "derived",
        (UNIT_GUIDE,),
        "proved",
    ),
    _theorem(
        "direction_moments",
        "fourth and sixth moments of a direction",
        "For u ~ N(0, Sigma) with tr Sigma = 1: E[(a'u)^2 |u|^2] = a'Sigma a + 2 a'Sigma^2 a <= 3 a'Sigma a and "
        "E|u|^6 = 1 + 6 tr Sigma^2 + 8 tr Sigma^3 <= 15, with 1 + 6/d + 8/d^2 in the isotropic case.",
        Claim("E[(a'u)^2 |u|^2]", "=", "a'Sigma a + 2 a'Sigma^2 a"),
        "derived",
        expected="proved",
    ),
)

_MEANS = (
    _theorem(
        "guided_mean",
        "mean of the guided estimator",
        "With a guide independent of the direction and of the samples, E[g | x, Sigma] = Sigma grad F_{mu,Sigma}(x), "
        "where F_{mu,Sigma}(x) = E F(x + mu u); for quadratic F this is Sigma grad F(x) for every mu. The sign of the "
        "guide does not matter.",
        Claim("E g", "=", "Sigma grad F_{mu,Sigma}(x)"),
        "derived",
        not_claimed="that the guide approximates grad F: a guide orthogonal to it adds nothing and takes 1 - alpha of "
        "the exploration",
    ),
    _theorem(
        "same_sample_mean",
        "what common random numbers estimate",
        "If both sides are evaluated on one sample drawn at x, the two-point estimate has mean Sigma E grad_x f for "
        "losses "
        "quadratic in x; it vanishes at the performatively stable point instead of at a stationary point of F.",
        Claim("E g", "=", "Sigma E_{D(x)} grad_x f(x, xi)"),
        "derived",
        (QUADRATIC,),
    ),
    _theorem(
        "zero_share_trap",
        "a guide alone can stall for ever",
        "f = |x - xi|^2 / 2, xi ~ N(A x, s^2 I) with I - A skew: the exact guide r = (I - A) x is orthogonal to "
        "grad F = (I - A)'r for every x, so with alpha = 0 the estimate has mean zero although grad F is not zero; "
        "with "
        "alpha > 0 its mean is (alpha/d) grad F.",
        Claim("r'grad F(x)", "=", "0"),
        "derived",
        (SKEW,),
        "proved",
    ),
    _theorem(
        "difference_bias",
        "bias of the symmetric difference",
        "For a separable cubic and random signs, the two-point estimate has mean f_i' + step^2 f_i''' / 6 in every "
        "coordinate; it is exact for linear and quadratic functions.",
        Claim("E g_i", "=", "f_i'(x) + step^2 f_i'''(x) / 6"),
        "derived",
        expected="proved",
        not_claimed="unbiasedness beyond quadratics",
    ),
    _theorem(
        "no_performativity",
        "without feedback the guide is the gradient",
        "If the law does not depend on the decision (A = 0), the mean known-function gradient is grad F, so the exact "
        "guide is "
        "grad F / |grad F|.",
        Claim("E grad_x f", "=", "grad F"),
        "derived",
        (STATIC,),
    ),
)

_SECOND_MOMENTS = (
    _theorem(
        "second_moment_split",
        "second moment, exactly",
        "E|g|^2 = E[((F(x+mu u) - F(x-mu u))/(2 mu))^2 |u|^2] + E[(s_+^2 + s_-^2)|u|^2] / (4 mu^2 m), where s_+^2, "
        "s_-^2 are "
        "the variances of f on the two sides; the noise part is at most sigma^2 / (2 mu^2 m).",
        Claim("E|g|^2", "=", "signal part + noise part"),
        "derived",
    ),
    _theorem(
        "second_moment_bound",
        "second moment of the guided estimator, bounded",
        "Under A1 and A4, E|g|^2 <= 6 grad F'Sigma grad F + (15/2) mu^2 H^2 + sigma^2 / (2 mu^2 m).",
        Claim("E|g|^2", "<=", bounds.GUIDED_SECOND_MOMENT),
        "derived",
        (CONSTANT_VARIANCE, SMOOTH),
    ),
    _theorem(
        "isotropic_second_moment",
        "second moment for isotropic directions",
        "Under A1 and A4 with alpha = 1, E|g|^2 <= 2 (1 + 2/d)|grad F|^2 / d + (mu^2 H^2/2)(1 + 6/d + 8/d^2) + "
        "sigma^2/(2 mu^2 m).",
        Claim("E|g|^2", "<=", bounds.ISOTROPIC_SECOND_MOMENT),
        "derived",
        (CONSTANT_VARIANCE, SMOOTH, ISOTROPIC),
    ),
    _theorem(
        "gaussian_second_moment",
        "second moment of the predecessor's two-point estimator",
        "Under A1 and A4, for u ~ N(0, I): E|g|^2 <= (3/2) mu^2 H^2 (d+6)^3 + 6 (d+4)|grad F|^2 + 3 sigma^2 d / (2 "
        "mu^2 m).",
        Claim("E|g|^2", "<=", bounds.GAUSSIAN_SECOND_MOMENT),
        "prior",
        (CONSTANT_VARIANCE, SMOOTH),
        locator="Lemma 8 of the predecessor",
        reading=_PREDECESSOR,
    ),
    _theorem(
        "one_point_second_moment",
        "second moment of the one-point estimator with a control",
        "Under A1 and A4, for u ~ N(0, I) and a control c: E|g|^2 <= (3/2) mu^2 H^2 (d+6)^3 + 6 (d+4)|grad F|^2 "
        "+ 3 sigma^2 d / (mu^2 m) + 3 d (F(x) - c)^2 / mu^2.",
        Claim("E|g|^2", "<=", bounds.ONE_POINT_SECOND_MOMENT),
        "prior",
        (CONSTANT_VARIANCE, SMOOTH),
        locator="Lemma 3 of the predecessor",
        reading=_PREDECESSOR,
    ),
    _theorem(
        "constant_shift",
        "adding a constant to the loss",
        "Adding a constant to f does not change two-point estimates; it adds ((F + c)^2 - F^2) d / mu^2 to the second "
        "moment "
        "of the uncontrolled one-point estimate of a constant objective F, u ~ N(0, I).",
        Claim("E|g_{f+c}|^2 - E|g_f|^2", "=", "((F + c)^2 - F^2) d / mu^2"),
        "derived",
    ),
)

_CONVERGENCE = (
    _theorem(
        "convergence",
        "what a guided run explores",
        "Under A1 and A4 with a constant step beta <= 1/(12 H), q_k = grad F(x_k)'Sigma_k grad F(x_k): (1/(T+1)) sum "
        "E q_k <= "
        "4 (F(x_0) - inf F)/(beta (T+1)) + 3.25 H^2 mean mu_k^2 + H beta sigma^2 mean 1/(mu_k^2 m_k). A2 and A3 are "
        "not needed.",
        Claim("mean E q_k", "<=", bounds.EXPLORED_GRADIENT),
        "derived",
        (CONSTANT_VARIANCE, SMOOTH, SMALL_STEP, BOUNDED_BELOW),
        not_claimed="global optimality; constraints; a variance that grows with x",
    ),
    _theorem(
        "convergence_sharp",
        "the same, keeping the largest eigenvalue",
        "As `convergence`, with mean(2 lambda_max(Sigma_k) H^2 mu_k^2 + 15 H^3 beta mu_k^2) in place of 3.25 H^2 mean "
        "mu_k^2.",
        Claim("mean E q_k", "<=", bounds.EXPLORED_GRADIENT_SHARP),
        "derived",
        (CONSTANT_VARIANCE, SMOOTH, SMALL_STEP, BOUNDED_BELOW),
    ),
    _theorem(
        "stationarity",
        "convergence to stationary points",
        "Since q_k >= (alpha_k/d)|grad F(x_k)|^2, an output drawn with probability proportional to alpha_k has "
        "E|grad F|^2 <= (d / mean alpha_k) times the bound of `convergence`.",
        Claim("E|grad F(x_hat)|^2", "<=", bounds.STATIONARITY),
        "derived",
        (CONSTANT_VARIANCE, SMOOTH, SMALL_STEP, BOUNDED_BELOW, EXPLORES),
        not_claimed="anything when every alpha_k is zero (see zero_share_trap)",
    ),
)

_COMPLEXITY = (
    _theorem(
        "guided_complexity",
        "worst-case sample complexity of the guided methods",
        "The guided methods reach E|grad F|^2 <= epsilon^2 with O(d^4 / epsilon^6) samples, whatever the largest loss.",
        Claim("samples", "~", bounds.GUIDED_COMPLEXITY),
        "reported",
        expected="consistent",
        reading="the abstract says that the bound beats the best earlier one when the largest objective value "
        "dominates d^(1/3); with "
        "the earlier O(G^6 d^2 / epsilon^6) this means O(d^4 / epsilon^6), which is inferred and was not read; "
        "measured on the samples "
        "that the explicit bound of `stationarity` asks for",
    ),
    _theorem(
        "constant_step_complexity",
        "complexity with step 1/(12 H)",
        "With beta = Theta(1/H), mu = Theta(epsilon d^(-1/2)) and m = Theta(d^2 / epsilon^4), `stationarity` gives "
        "O(d^3 / epsilon^6).",
        Claim("samples", "~", bounds.CONSTANT_STEP_COMPLEXITY),
        "derived",
        expected="consistent",
    ),
    _theorem(
        "small_step_complexity",
        "complexity with step 1/(12 d H)",
        "With beta = Theta(1/(d H)), mu = Theta(epsilon), m = Theta(1 / epsilon^4) and 1 - alpha_k decaying "
        "geometrically, "
        "`convergence_sharp` gives O(d^2 / epsilon^6).",
        Claim("samples", "~", bounds.SMALL_STEP_COMPLEXITY),
        "derived",
        expected="consistent",
    ),
    _theorem(
        "measured_rate",
        "squared gradient against samples",
        "On the schedules of `small_step_complexity` the squared gradient falls like N^(-1/3) in the number N of "
        "samples.",
        Claim("1 / E|grad F|^2", "~", "N^(1/3)"),
        "derived",
        expected="consistent",
    ),
    _theorem(
        "two_point_complexity",
        "complexity of the predecessor's two-point method",
        "O(d^(5/2) / epsilon^4) iterations with Theta(d^2 / epsilon^2) samples each: O(d^(9/2) / epsilon^6) samples.",
        Claim("samples", "=", bounds.TWO_POINT_COMPLEXITY),
        "prior",
        expected="proved",
        locator="Theorems 1 and 2 of the predecessor",
        reading=_PREDECESSOR,
    ),
    _theorem(
        "regime",
        "when the guided bound is the smaller one",
        "d^4 / epsilon^6 < G^6 d^2 / epsilon^6 exactly when G > d^(1/3), for G, d, epsilon > 0.",
        Claim("d^4 < G^6 d^2", "=", "G > d^(1/3)"),
        "reported",
        expected="proved",
        reading="the abstract's condition that the largest objective value dominates d^(1/3), with both orders taken "
        "with constant 1",
    ),
)

_REGULARITY = (
    _theorem(
        "lipschitz_as_printed",
        "Lipschitz constant of F, as printed",
        "Under A2 and A3, |F(x) - F(x')| <= (L_xi + alpha_W L_x)|x - x'|.",
        Claim("|F(x) - F(x')|", "<=", "(L_xi + alpha_W L_x)|x - x'|"),
        "reported",
        expected="refuted",
        reading=f"as extracted from the text of {_PREDECESSOR}; the roles of L_x and L_xi are swapped",
    ),
    _theorem(
        "lipschitz",
        "Lipschitz constant of F",
        "Under A2 and A3, |F(x) - F(x')| <= (L_x + alpha_W L_xi)|x - x'| (Kantorovich-Rubinstein).",
        Claim("|F(x) - F(x')|", "<=", "(L_x + alpha_W L_xi)|x - x'|"),
        "corrected",
        corrects="performative_prediction.lipschitz_as_printed",
    ),
    _theorem(
        "smoothness_joint",
        "smoothness of F for location families",
        "xi = nu + A x and f rho-smooth in (x, xi) together: F is rho (1 + |A|^2)-smooth.",
        Claim("|Hessian F|", "<=", "rho (1 + |A|^2)"),
        "derived",
    ),
    _theorem(
        "smoothness_blocks",
        "smoothness of F from the two blocks",
        "xi = nu + A x, f convex in (x, xi), both diagonal blocks of its Hessian bounded by rho: F is rho (1 + "
        "|A|)^2-smooth.",
        Claim("|Hessian F|", "<=", "rho (1 + |A|)^2"),
        "derived",
        (CONVEX,),
    ),
)

_HISTORY = (
    _theorem(
        "history_control_as_printed",
        "error of the history-weighted control, as printed",
        "(F(x) - c)^2 <= 2 sum a_i^2 (L_xi^2 alpha_W^2 r_i^2 + sigma^2/m_i) for c = sum a_i mean_j f(x, xi_ij), sum "
        "a_i = 1.",
        Claim("E(F - c)^2", "<=", "2 sum a_i^2 (b_i^2 + V_i)"),
        "reported",
        expected="refuted",
        reading=f"Lemma 4 as extracted from {_PREDECESSOR}, read in expectation and with samples independent of x; "
        "its proof uses (sum a_i y_i)^2 <= sum a_i^2 y_i^2",
    ),
    _theorem(
        "history_control",
        "error of the history-weighted control",
        "E(F(x) - c)^2 <= 2 sum a_i L_xi^2 alpha_W^2 r_i^2 + 2 sum a_i^2 sigma^2/m_i for samples independent of x.",
        Claim("E(F - c)^2", "<=", "2 sum a_i b_i^2 + 2 sum a_i^2 V_i"),
        "corrected",
        expected="proved",
        corrects="performative_prediction.history_control_as_printed",
        not_claimed="samples that depend on x, as those of earlier iterations do",
    ),
    _theorem(
        "inverse_weights",
        "weights that minimise a weighted sum of squares",
        "The minimiser of sum b_i a_i^2 over the simplex is a_i = (1/b_i) / sum_j (1/b_j), for b > 0.",
        Claim("argmin sum b_i a_i^2", "=", "(1/b_i) / sum_j (1/b_j)"),
        "prior",
        locator="Lemma 5 of the predecessor",
        reading=_PREDECESSOR,
    ),
    _theorem(
        "water_filling",
        "weights that minimise the repaired error bound",
        "The minimiser of sum a_i B_i + sum a_i^2 V_i over the simplex is a_i = max(0, (nu - B_i)/(2 V_i)), V > 0, "
        "with the level nu that "
        "makes the sum one.",
        Claim("argmin", "=", "max(0, (nu - B_i)/(2 V_i))"),
        "derived",
    ),
)

_METHODS = (
    _theorem(
        "sample_accounting",
        "samples of an iteration",
        "An iteration draws n_k + 2 m_k samples with new samples for the guide, 2 m_k with historical ones, 2 m_k "
        "two-point, m_k one-point; "
        "the budget is compared after the step.",
        Claim("samples", "=", "n_k + 2 m_k, 2 m_k, 2 m_k, m_k"),
        "reported",
        reading="the authors' released scripts, as described in words; no code was copied",
    ),
    _theorem(
        "isotropic_reduction",
        "a share of one gives the two-point method",
        "With alpha = 1, radius mu sqrt(d) and step beta d the guided step under z equals the step of two-point "
        "descent with u = z, "
        "radius mu and step beta.",
        Claim("guided step", "=", "two-point step"),
        "derived",
    ),
    _theorem(
        "rotation",
        "orthogonal change of variables",
        "A guided direction for the guide Q g under Q z is Q times the direction for g under z, for orthogonal Q; the "
        "sign of the guide and of "
        "s may be changed together.",
        Claim("u(Qg, Qz, s)", "=", "Q u(g, z, s)"),
        "derived",
    ),
    _theorem(
        "guided_wins",
        "guided methods end lower",
        "On multiproduct pricing at equal budgets of 5000 samples and steps tuned for each method, the guided method "
        "ends at a lower objective "
        "than two-point descent more often than not.",
        Claim("P(guided >= two-point)", "<=", "1/2"),
        "reported",
        reading="the abstract's headline, on synthetic pricing instances in the paper's shape with the objective "
        "evaluated exactly",
        not_claimed="that every instance is won, or that the whole gap at the published steps is due to the guide: "
        "part of it is tuning",
    ),
)

THEOREMS: tuple[Theorem, ...] = (
    *_DIRECTIONS,
    *_MEANS,
    *_SECOND_MOMENTS,
    *_CONVERGENCE,
    *_COMPLEXITY,
    *_REGULARITY,
    *_HISTORY,
    *_METHODS,
)
