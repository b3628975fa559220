"""The statements about Plackett-Luce designs as data, in the order model, design, algorithm, estimation.

The paper's theorem pages were not available in full. What is known of it through its abstract, summaries and code is
marked ``reported``; the constants were worked out here and are marked ``derived``; textbook facts are ``prior``.
"""

from __future__ import annotations

from whp.theory.core import Assumption, Claim, Paper, Theorem
from whp.theory.plackett_luce_design import bounds

__all__ = ["PAPER", "THEOREMS"]

PAPER = Paper(
    "plackett_luce_design",
    "Comparing Few to Rank Many: Active Human Preference Learning Using Randomized Frank-Wolfe Method",
    (
        "Kiran Koshy Thekumparampil",
        "Gaurush Hiranandani",
        "Kousha Kalantari",
        "Shoham Sabach",
        "Branislav Kveton",
    ),
    "ICML 2025, PMLR 267:59355-59376",
    "2412.19396",
)

_POSITIVE = Assumption(
    "positive weights", "w_i > 0 for every item", lambda i: all(w > 0 for w in getattr(i, "weights", (1,)))
)
_BOX = Assumption(
    "bounded utilities",
    "|x_i' theta| <= B, that is w_i in [e^-B, e^B]",
    lambda i: all(1 / i.box <= w <= i.box for w in i.weights),
)
_SPANS = Assumption("spanning design", "V_pi is invertible on the span", lambda i: bool(getattr(i, "spans", True)))

_MODEL = (
    Theorem(
        id="plackett_luce_design.T1",
        paper=PAPER,
        title="Likelihood, gradient and Hessian of a ranking",
        statement="With w = exp(utilities): the probabilities prod_k w_s(k) / sum_{j>=k} w_s(j) sum to one over the K! "
        "rankings; minus the log-likelihood has gradient sum_k (E_{p_k}[x] - x_s(k)) and Hessian sum_k Cov_{p_k}(x); "
        "its gradient has mean zero and second moment equal to the expected Hessian.",
        assumptions=(_POSITIVE,),
        claim=Claim("derivatives of -log P(s | theta)", "=", "sum_k (E_{p_k}[x] - x_s(k)) and sum_k Cov_{p_k}(x)"),
        provenance="prior",
        expected="proved",
        not_claimed="Strict convexity: without spanning comparisons the maximum-likelihood estimate is not unique, "
        "and with separable data it is at infinity.",
    ),
    Theorem(
        id="plackett_luce_design.T1s",
        paper=PAPER,
        title="Sorting utilities plus Gumbel noise draws from the model",
        statement="Ranking the shown items by utility plus independent standard Gumbel noise gives ranking s with "
        "probability P(s | theta).",
        assumptions=(_POSITIVE,),
        claim=Claim("P(sorted order is s)", "=", "prod_k w_s(k) / sum_{j>=k} w_s(j)"),
        provenance="prior",
    ),
    Theorem(
        id="plackett_luce_design.T2a",
        paper=PAPER,
        title="Hessian of any ranking dominates kappa_K(B) M_S",
        statement="If all utilities lie in [-B, B], the Hessian of any ranking of S is at least kappa_K(B) M_S in "
        "the positive semidefinite order, kappa_K(B) = min{1/(2+(K-2)e^{2B})^2, 1/(e^{-B}+(K-1)e^B)^2}.",
        assumptions=(_POSITIVE, _BOX),
        claim=Claim("Hessian", ">=", bounds.HESSIAN_CONSTANT),
        provenance="derived",
        not_claimed="Sharpness beyond the first stage: later stages are dropped.",
    ),
    Theorem(
        id="plackett_luce_design.T2b",
        paper=PAPER,
        title="The usual constant e^{-4B}/K^2 is valid and never better than kappa_K(B)",
        statement="The Hessian of any ranking of S is at least e^{-4B}/K^2 M_S, and e^{-4B}/K^2 <= kappa_K(B).",
        assumptions=(_POSITIVE, _BOX),
        claim=Claim("Hessian", ">=", bounds.CRUDE_CONSTANT),
        provenance="reported",
        reading="Form usual in this line of work, recalled and not read; M_S is the sum over all pairs of S, the "
        "paper may normalise it differently.",
    ),
    Theorem(
        id="plackett_luce_design.T2c",
        paper=PAPER,
        title="Hessian of a realised ranking is at most (K-1)/4 M_S, in expectation 1/4 M_S",
        statement="For every realised ranking the Hessian is at most ((K-1)/4) M_S; over rankings drawn from the "
        "model its expectation is at most (1/4) M_S, whatever K.",
        assumptions=(_POSITIVE,),
        claim=Claim("Hessian; expected Hessian", "<=", "(K-1)/4 M_S; 1/4 M_S"),
        provenance="derived",
        not_claimed="That 1/4 M_S bounds the Hessian of a realised ranking: with three equal items the last pair has "
        "13/36.",
    ),
    Theorem(
        id="plackett_luce_design.T2d",
        paper=PAPER,
        title="At theta = 0 the Fisher information is c_K M_S",
        statement="At theta = 0 the expected Hessian of a full ranking of S is c_K M_S, c_K = (K - H_K)/(K(K-1)); so "
        "the design that maximises log det of sum pi_S M_S is then D-optimal for the true Fisher information.",
        claim=Claim("expected Hessian at 0", "=", "(K - H_K)/(K(K-1)) M_S"),
        provenance="derived",
        expected="proved",
        not_claimed="That it is Fisher-optimal at other theta; see T2x.",
    ),
    Theorem(
        id="plackett_luce_design.T2x",
        paper=PAPER,
        title="The surrogate design is Fisher-optimal at every theta (it is not)",
        statement="For every theta the design that maximises log det of sum pi_S M_S also maximises log det of the "
        "Fisher information at theta, up to 10^-3 nats.",
        claim=Claim("log det I(best design) - log det I(surrogate design)", "<=", "10^-3 nats"),
        provenance="derived",
        expected="refuted",
        not_claimed="This statement is false and kept for its counterexample; at theta = 0 it is true (T2d).",
    ),
)

_DESIGN = (
    Theorem(
        id="plackett_luce_design.T3a",
        paper=PAPER,
        title="Certified gap: delta <= d log(L/d) <= L - d",
        statement="For every spanning design pi with largest leverage L over all subsets, and every other design q: "
        "log det V_q - log det V_pi <= d log(L/d) <= L - d, and L >= d.",
        assumptions=(_SPANS,),
        claim=Claim("f(pi) - f*", "<=", bounds.CERTIFIED_GAP),
        provenance="derived",
        not_claimed="Uniqueness of the optimal design; only its information matrix is unique.",
    ),
    Theorem(
        id="plackett_luce_design.T3b",
        paper=PAPER,
        title="Equivalence of D-optimality, minimal largest leverage, and L = d",
        statement="A design minimises -log det V exactly when its largest leverage is d; then every subset with "
        "positive weight has leverage d.",
        claim=Claim("max_S tr(M_S V^-1)", "=", "d"),
        provenance="prior",
        not_claimed="That solvers reach it exactly: the check asks for a certified gap of 10^-6 nats.",
    ),
    Theorem(
        id="plackett_luce_design.T3c",
        paper=PAPER,
        title="An optimal design with at most d(d+1)/2 questions exists",
        statement="Any design has the information matrix of one with at most d(d+1)/2 + 1 questions; an optimal "
        "design has that of one with at most d(d+1)/2.",
        claim=Claim("number of questions", "<=", "d(d+1)/2 + 1, and d(d+1)/2 at an optimum"),
        provenance="prior",
    ),
    Theorem(
        id="plackett_luce_design.T3r",
        paper=PAPER,
        title="Certified gap with a ridge: d is replaced by t",
        statement="For log det(V_pi + gamma I) and t = sum pi_S lev_S < d: every other design gains at most "
        "d log(1 + (L - t)/d) <= L - t.",
        claim=Claim("gain of any other design", "<=", "d log(1 + (L - t)/d)"),
        provenance="derived",
    ),
    Theorem(
        id="plackett_luce_design.T4a",
        paper=PAPER,
        title="M_S is K times the scatter around the mean, of rank at most min(K-1, d)",
        statement="sum_{i<j in S} z_ij z_ij' = K sum_{i in S} (x_i - mean_S)(x_i - mean_S)', of rank at most "
        "min(K-1, d).",
        claim=Claim("M_S", "=", "K sum_i (x_i - mean)(x_i - mean)'"),
        provenance="derived",
        expected="proved",
    ),
    Theorem(
        id="plackett_luce_design.T4b",
        paper=PAPER,
        title="Leverage by look-up in the Gram memo",
        statement="With G = X V^-1 X': tr(M_S V^-1) = K sum_{i in S} G_ii - sum_{i,j in S} G_ij.",
        assumptions=(_SPANS,),
        claim=Claim("tr(M_S V^-1)", "=", "K sum G_ii - sum G_ij"),
        provenance="reported",
        reading="The paper's abstract promises memoisation and O(N^2 + K^2) iterations; the formula was worked out "
        "here.",
    ),
    Theorem(
        id="plackett_luce_design.T4c",
        paper=PAPER,
        title="Determinant along a step from K x K eigenvalues",
        statement="For V' = (1-g) V + g M_S: det V' / det V = (1-g)^d det(I + g/(1-g) B_S' V^-1 B_S), a product over "
        "the eigenvalues of a K x K matrix.",
        assumptions=(_SPANS,),
        claim=Claim("det V' / det V", "=", "(1-g)^d prod_i (1 + g lambda_i / (1-g))"),
        provenance="derived",
    ),
    Theorem(
        id="plackett_luce_design.T4d",
        paper=PAPER,
        title="Exact step for pairs",
        statement="For K = 2 and lambda = lev_S > d the step g = (lambda - d)/(d (lambda - 1)) maximises det((1-g) V "
        "+ g M_S); for lambda <= d the maximiser is g = 0.",
        assumptions=(_SPANS,),
        claim=Claim("argmax_g det((1-g) V + g M_S)", "=", "(lambda - d)/(d (lambda - 1))"),
        provenance="prior",
        expected="proved",
    ),
    Theorem(
        id="plackett_luce_design.T4e",
        paper=PAPER,
        title="Rank-K update of the Gram memo",
        statement="With W = sqrt(K) (G[:,S] - row mean) and C = ((1-g)/g) I + K * doubly centred G[S,S]: the memo "
        "after the step is (G - W C^-1 W') / (1-g).",
        assumptions=(_SPANS,),
        claim=Claim("X V'^-1 X'", "=", "(G - W C^-1 W') / (1-g)"),
        provenance="reported",
        reading="The paper's abstract promises sparse low-rank updates; the formula was worked out here. The "
        "released code holds no such routine.",
    ),
    Theorem(
        id="plackett_luce_design.T4f",
        paper=PAPER,
        title="Mean leverage by double counting",
        statement="The mean over all K-subsets of tr(M_S V^-1) is C(K,2)/C(N,2) times the sum over pairs of z' V^-1 z.",
        assumptions=(_SPANS,),
        claim=Claim("mean_S tr(M_S V^-1)", "=", "C(K,2)/C(N,2) sum_{i<j} z_ij' V^-1 z_ij"),
        provenance="derived",
    ),
)

_ALGORITHM = (
    Theorem(
        id="plackett_luce_design.T5",
        paper=PAPER,
        title="Progress of one exact Frank-Wolfe step",
        statement="If S maximises the leverage over all subsets and the step is an exact line search, then f "
        "decreases by at least omega(G/(G+d)), G = L - d, omega(s) = s - log(1+s).",
        assumptions=(_SPANS,),
        claim=Claim("f(pi_t) - f(pi_t+1)", ">=", bounds.PROGRESS),
        provenance="derived",
        not_claimed="A linear rate: plain Frank-Wolfe is of order 1/t here.",
    ),
    Theorem(
        id="plackett_luce_design.T5i",
        paper=PAPER,
        title="Iterations of the deterministic method from the uniform start",
        statement="The uniform design has gap at most d log(n_S min(K-1,d)/d); iterating delta <- delta - "
        "omega(delta/(delta+d)) from there bounds the number T_det of iterations after which the gap is at most "
        "epsilon.",
        claim=Claim("gap after T_det(epsilon) iterations", "<=", "epsilon"),
        provenance="derived",
    ),
    Theorem(
        id="plackett_luce_design.T6a",
        paper=PAPER,
        title="Expected progress of one randomised step",
        statement="With R distinct subsets drawn uniformly and a step that never increases f: "
        "E[f(pi_t) - f(pi_t+1)] >= (R/n_S) omega(G/(G+d)).",
        assumptions=(_SPANS,),
        claim=Claim("E[decrease]", ">=", "(R/n_S) omega(G/(G+d))"),
        provenance="reported",
        reading="The abstract and summaries report convergence of randomised Frank-Wolfe that generalises the "
        "deterministic analysis, and follow-up work the factor n_S/R; constants reconstructed here.",
    ),
    Theorem(
        id="plackett_luce_design.T6b",
        paper=PAPER,
        title="Iterations of the randomised method",
        statement="The number of iterations to gap epsilon exceeds t with probability at most P(Bin(t, R/n_S) < "
        "T_det(epsilon)); its mean is at most T_det n_S / R.",
        assumptions=(_SPANS,),
        claim=Claim("E[iterations to gap epsilon]", "<=", bounds.RANDOMISED_ITERATIONS),
        provenance="reported",
        reading="As T6a.",
        not_claimed="A rate independent of n_S/R.",
    ),
    Theorem(
        id="plackett_luce_design.T6c",
        paper=PAPER,
        title="Progress from the best sampled subset",
        statement="If the best sampled subset has leverage L^R >= d, the step decreases f by at least "
        "omega(G^R/(G^R+d)), G^R = L^R - d; otherwise the design is kept.",
        assumptions=(_SPANS,),
        claim=Claim("decrease", ">=", "omega(G^R / (G^R + d))"),
        provenance="derived",
    ),
    Theorem(
        id="plackett_luce_design.T6x",
        paper=PAPER,
        title="A sampled maximum certifies the gap (it does not)",
        statement="f(pi) - f* <= d log(L^R / d) for the largest leverage L^R among R = n_S/4 sampled subsets.",
        assumptions=(_SPANS,),
        claim=Claim("f(pi) - f*", "<=", "d log(L^R / d)"),
        provenance="derived",
        expected="refuted",
        not_claimed="This statement is false and kept for its counterexample: only the maximum over all subsets "
        "certifies.",
    ),
    Theorem(
        id="plackett_luce_design.T8",
        paper=PAPER,
        title="Work of one memoised iteration",
        statement="An iteration of the memoised method reads R K(K+1)/2 entries, solves a K x K eigenvalue problem, "
        "and updates the memo with O(N^2 K) multiply-adds; nothing grows with the feature dimension.",
        claim=Claim("multiply-adds of the memo", "~", "N^2 at fixed K, constant in d"),
        provenance="reported",
        expected="consistent",
        reading="The abstract says O(N^2 + K^2) per iteration; read as N^2 for the memo times the rank K-1 of an "
        "update, plus K^2 per sampled subset. Refreshes against drift are counted apart.",
    ),
    Theorem(
        id="plackett_luce_design.T9",
        paper=PAPER,
        title="Invariance under relabelling and affine maps of the features",
        statement="Permuting the items permutes the leverages; X -> X Q + 1 c' with Q invertible leaves all "
        "leverages unchanged and shifts log det V by 2 log |det Q|. With N = d + 1 simplex points and K = N the "
        "design is one question.",
        assumptions=(_SPANS,),
        claim=Claim("leverages after the map", "=", "leverages before"),
        provenance="derived",
    ),
)

_ESTIMATION = (
    Theorem(
        id="plackett_luce_design.T7a",
        paper=PAPER,
        title="Estimation error from the gradient at the truth",
        statement="For fixed questions with invertible mean information V and the likelihood minimiser over the unit "
        "ball: ||estimate - theta*||_{TV} <= (1/kappa_K(1)) ||gradient(theta*)||_{(TV)^-1}.",
        assumptions=(_SPANS,),
        claim=Claim("||estimate - theta*||_{TV}", "<=", "(1/kappa_K(1)) ||gradient(theta*)||_{(TV)^-1}"),
        provenance="derived",
        not_claimed="Anything for questions chosen from earlier answers.",
    ),
    Theorem(
        id="plackett_luce_design.T7b",
        paper=PAPER,
        title="The gradient at the truth has size at most sqrt(d)/2",
        statement="E ||gradient(theta*)||^2_{(TV)^-1} = tr((TV)^-1 I_T) <= d/4, with equality for pairs at theta* = 0.",
        assumptions=(_SPANS,),
        claim=Claim("E ||gradient(theta*)||^2_{(TV)^-1}", "<=", "d/4"),
        provenance="derived",
    ),
    Theorem(
        id="plackett_luce_design.T7m",
        paper=PAPER,
        title="Squared estimation error with probability 1 - delta",
        statement="||estimate - theta*||^2_V <= d/(4 kappa^2 T delta) with probability at least 1 - delta, and d/(4 "
        "kappa^2 T) in expectation.",
        assumptions=(_SPANS,),
        claim=Claim("||estimate - theta*||^2_V", "<=", bounds.ESTIMATION_ERROR),
        provenance="derived",
        not_claimed="A logarithm of 1/delta, which a vector Bernstein bound would give.",
    ),
    Theorem(
        id="plackett_luce_design.T7c",
        paper=PAPER,
        title="From the estimation error to every question",
        statement="max_S sum_{i<j in S} (z_ij'(estimate - theta*))^2 <= L(pi) ||estimate - theta*||^2_V.",
        assumptions=(_SPANS,),
        claim=Claim("max_S sum of squared pair errors", "<=", "L ||error||^2_V"),
        provenance="derived",
    ),
    Theorem(
        id="plackett_luce_design.T7d",
        paper=PAPER,
        title="Mean pair leverage at an optimal design",
        statement="At a D-optimal design over all subsets the mean over all pairs of z' V^-1 z is at most d / C(K,2).",
        claim=Claim("mean over pairs of z' V^-1 z", "<=", bounds.MEAN_PAIR_LEVERAGE),
        provenance="derived",
    ),
    Theorem(
        id="plackett_luce_design.T7e",
        paper=PAPER,
        title="Misordered pairs from squared errors",
        statement="The number of misordered pairs is at most sum_{i<j} (z_ij'(estimate - theta*))^2 / (z_ij' "
        "theta*)^2.",
        claim=Claim("misordered pairs", "<=", "sum_{i<j} (error_ij / difference_ij)^2"),
        provenance="derived",
    ),
    Theorem(
        id="plackett_luce_design.T7f",
        paper=PAPER,
        title="Expected ranking loss of the optimal design",
        statement="With the questions of a D-optimal design the expected share of misordered pairs is at most "
        "d^2 / (2K(K-1) kappa^2 T Delta^2), Delta the least utility difference.",
        claim=Claim("E[share of misordered pairs]", "<=", bounds.RANKING_LOSS),
        provenance="derived",
        not_claimed="Exponential decay in T, adaptive questions, or a misspecified model.",
    ),
    Theorem(
        id="plackett_luce_design.T7n",
        paper=PAPER,
        title="The squared error falls like 1/T",
        statement="E ||estimate - theta*||^2 is of order 1/T for the likelihood and for full rank breaking.",
        claim=Claim("E ||estimate - theta*||^2", "~", "1/T"),
        provenance="reported",
        reading="The paper and its ancestor state errors of shape d^2/T; here the order in T alone.",
        expected="consistent",
    ),
    Theorem(
        id="plackett_luce_design.T7g",
        paper=PAPER,
        title="The likelihood estimate is efficient",
        statement="T ||estimate - theta*||^2 in the norm of the Fisher information has mean about d for large T: at "
        "most 1.05 d at T = 80 full rankings of six good and six poor items, three apart in utility. Full rank "
        "breaking, though consistent, does not reach it.",
        claim=Claim("T E ||estimate - theta*||^2_I", "<=", "1.05 d"),
        provenance="prior",
    ),
    Theorem(
        id="plackett_luce_design.T10",
        paper=PAPER,
        title="The optimal design beats uniform questions",
        statement="On skewed features the mean squared error of pair differences after T questions of the D-optimal "
        "design is below that after T uniform questions.",
        claim=Claim("E[error of uniform - error of D-optimal]", ">=", "0"),
        provenance="reported",
        reading="The abstract and the released notebook report better ranking loss than uniform questions on "
        "synthetic and language data; read as mean squared pair error on features with a few outlying items.",
        not_claimed="That it wins on every data set: on features without outliers the two are close.",
    ),
)

THEOREMS = (*_MODEL, *_DESIGN, *_ALGORITHM, *_ESTIMATION)
