"""The theorems of the paper and around it, as data."""

from __future__ import annotations

from typing import Any

import numpy as np

from whp.theory.core import Assumption, Claim, Paper, Theorem
from whp.theory.prompt_perturbation import bounds
from whp.theory.prompt_perturbation.buckets import equal_width_labels
from whp.theory.prompt_perturbation.instances import UtilityGridPair, UtilityPair

__all__ = ["PAPER", "THEOREMS", "width_labels"]

PAPER = Paper(
    "prompt_perturbation",
    "Cape: Context-Aware Prompt Perturbation Mechanism with Differential Privacy",
    ("Haoqi Wu", "Wei Dai", "Li Wang", "Qiang Yan"),
    "ICML 2025 (PMLR 267)",
    "2505.05922",
)

_SOURCE = (
    "The paper's proof was not read: the statement is that of summaries of the paper and of an independent "
    "re-implementation citing Theorem 4.1. "
)
_POOLED = (
    "Buckets are the non-empty ones of equal-width bucketing, empty ones are dropped, and the maximum in eps' runs "
    "over all bucket sizes of all inputs."
)


def width_labels(pair: UtilityGridPair | UtilityPair) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Equal-width bucket of every token, for both inputs of an instance.

    Examples
    --------
    >>> width_labels(UtilityPair((0.0, 1.0), (0.5, 0.5), epsilon=1.0, n_buckets=2))
    ((0, 1), (0, 0))
    """
    if isinstance(pair, UtilityGridPair):
        return equal_width_labels(pair.first, pair.levels), equal_width_labels(pair.second, pair.levels)
    return (
        equal_width_labels(pair.first.tolist(), pair.n_buckets),
        equal_width_labels(pair.second.tolist(), pair.n_buckets),
    )


def _spans_sensitivity(pair: Any) -> bool:
    """All utilities of both inputs lie within one interval of length Delta."""
    if not isinstance(pair, UtilityPair):
        return True
    both = np.concatenate([pair.first, pair.second])
    return bool(both.max() - both.min() <= pair.sensitivity)


def _differ_at_most_sensitivity(pair: Any) -> bool:
    return not isinstance(pair, UtilityPair) or bool(np.abs(pair.first - pair.second).max() <= pair.sensitivity)


def _grid_is_occupied(pair: Any) -> bool:
    return not isinstance(pair, UtilityGridPair) or pair.occupies_end_points


def _all_buckets_occupied(pair: Any) -> bool:
    n_buckets = pair.levels if isinstance(pair, UtilityGridPair) else pair.n_buckets
    return all(len(set(labels)) == n_buckets for labels in width_labels(pair))


def _equal_counts(pair: Any) -> bool:
    first, second = width_labels(pair)
    return len(set(first)) == len(set(second))


def _positive_epsilon(pair: Any) -> bool:
    return bool(pair.epsilon > 0)


def _two_buckets_or_more(pair: Any) -> bool:
    n_buckets = pair.levels if isinstance(pair, UtilityGridPair) else pair.n_buckets
    return bool(n_buckets >= 2 and pair.n_tokens >= 2)


BOUNDED_CHANGE = Assumption("bounded change", "|u(t, r) - u(t', r)| <= Delta", _differ_at_most_sensitivity)
BOUNDED_RANGE = Assumption("bounded range", "all utilities lie in an interval of length Delta", _spans_sensitivity)
GRID = Assumption("grid", "grid utilities reach both ends of the grid, so that levels are buckets", _grid_is_occupied)
FULL = Assumption("no empty bucket", "each of the N_b buckets holds a token, for every input", _all_buckets_occupied)
EQUAL_COUNTS = Assumption("equal counts", "both inputs have the same number of non-empty buckets", _equal_counts)
POSITIVE = Assumption("positive epsilon", "epsilon > 0", _positive_epsilon)
SEVERAL = Assumption("several buckets", "N_b >= 2 and N >= 2", _two_buckets_or_more)

EXPONENTIAL = (
    Theorem(
        id="prompt_perturbation.T0",
        paper=PAPER,
        title="Exponential mechanism",
        statement="If |u(t,r) - u(t',r)| <= Delta then P[r|t] ~ exp(eps u(t,r) / (2 Delta)) is eps-LDP.",
        assumptions=(BOUNDED_CHANGE,),
        claim=Claim("ln(P[r|t] / P[r|t'])", "<=", bounds.NOMINAL_BUDGET),
        provenance="prior",
        expected="proved",
        not_claimed="Nothing for utilities whose sensitivity is understated, or for base measures that depend on t.",
    ),
    Theorem(
        id="prompt_perturbation.T0_sharp",
        paper=PAPER,
        title="Sharp loss of the exponential mechanism",
        statement=(
            "For utilities in [0, Delta] over N outputs the loss is at most eps/2 + ln((1 + (N-1) g) / (g + N - 1)), "
            "g = exp(eps/2), and some pair attains it."
        ),
        assumptions=(BOUNDED_RANGE,),
        claim=Claim("ln(P[r|t] / P[r|t'])", "<=", bounds.EXPONENTIAL_LOSS),
        provenance="derived",
        expected="proved",
    ),
    Theorem(
        id="prompt_perturbation.T0_utility",
        paper=PAPER,
        title="Utility of the exponential mechanism",
        statement="P(u(r) <= max u - (2 Delta / eps)(ln N + s)) <= exp(-s) for every s >= 0.",
        assumptions=(POSITIVE,),
        claim=Claim("max u - u(r), except with probability exp(-s)", "<=", bounds.EXPONENTIAL_UTILITY_SHORTFALL),
        provenance="prior",
    ),
)

PRIVACY = (
    Theorem(
        id="prompt_perturbation.T1",
        paper=PAPER,
        title="Privacy of the bucketised mechanism",
        locator="Theorem 4.1",
        statement=(
            "With equal-width buckets, P[r|t] = exp(eps mean(b(r)) / (2 Delta)) / sum_b exp(..) / |b(r)| is "
            "(eps + eps')-LDP with eps' = ln max_ij |b_i| / |b_j|."
        ),
        assumptions=(BOUNDED_RANGE, GRID),
        claim=Claim("ln(P[r|t] / P[r|t'])", "<=", bounds.REPORTED_BUDGET),
        provenance="reported",
        reading=_SOURCE + _POOLED,
        expected="refuted",
        not_claimed="That more useful tokens are more likely: inside the mechanism they need not be.",
    ),
    Theorem(
        id="prompt_perturbation.T1_redraw",
        paper=PAPER,
        title="The same, empty buckets drawn again",
        locator="Theorem 4.1",
        statement="As T1, all N_b buckets being candidates and a bucket drawn again whenever it is empty.",
        assumptions=(BOUNDED_RANGE, GRID),
        claim=Claim("ln(P[r|t] / P[r|t'])", "<=", bounds.REPORTED_BUDGET),
        provenance="reported",
        reading=_SOURCE + "Empty buckets stay candidates and are drawn again; the law is that of dropping them.",
        expected="refuted",
    ),
    Theorem(
        id="prompt_perturbation.T1_own_sizes",
        paper=PAPER,
        title="The same, size ratios within one input",
        locator="Theorem 4.1",
        statement="As T1 with eps' the largest log ratio of two bucket sizes of the same input.",
        assumptions=(BOUNDED_RANGE, GRID),
        claim=Claim("ln(P[r|t] / P[r|t'])", "<=", bounds.REPORTED_BUDGET),
        provenance="reported",
        reading=_SOURCE + "The maximum in eps' runs over pairs of buckets of one input, then over inputs.",
        expected="refuted",
    ),
    Theorem(
        id="prompt_perturbation.T1_one_prompt",
        paper=PAPER,
        title="The same, eps' observed on one prompt",
        locator="Theorem 4.1",
        statement="As T1 with eps' computed from the bucket sizes of the input t alone.",
        assumptions=(BOUNDED_RANGE, GRID),
        claim=Claim("ln(P[r|t] / P[r|t'])", "<=", bounds.REPORTED_BUDGET),
        provenance="reported",
        reading=_SOURCE + "eps' is the value observed on the user's own input rather than a maximum over inputs.",
        expected="refuted",
    ),
    Theorem(
        id="prompt_perturbation.T1_full",
        paper=PAPER,
        title="The same, no bucket empty",
        locator="Theorem 4.1",
        statement="As T1 when each of the N_b buckets holds a token for every input.",
        assumptions=(BOUNDED_RANGE, GRID, FULL),
        claim=Claim("ln(P[r|t] / P[r|t'])", "<=", bounds.REPORTED_BUDGET),
        provenance="reported",
        reading=_SOURCE + "It is understood that no bucket is empty, which embeddings do not provide.",
        expected="proved",
    ),
    Theorem(
        id="prompt_perturbation.T1r",
        paper=PAPER,
        title="Equal numbers of non-empty buckets",
        statement="The bound eps + eps' of T1 holds whenever all inputs have equally many non-empty buckets.",
        assumptions=(BOUNDED_RANGE, GRID, EQUAL_COUNTS),
        claim=Claim("ln(P[r|t] / P[r|t'])", "<=", bounds.REPORTED_BUDGET),
        provenance="derived",
        expected="proved",
    ),
    Theorem(
        id="prompt_perturbation.T1_small",
        paper=PAPER,
        title="Vocabularies too small to refute T1",
        statement="The bound eps + eps' of T1 holds for at most four tokens, so five are needed to refute it.",
        assumptions=(
            BOUNDED_RANGE,
            GRID,
            Assumption("four tokens", "N <= 4", lambda pair: bool(pair.n_tokens <= 4)),
        ),
        claim=Claim("ln(P[r|t] / P[r|t'])", "<=", bounds.REPORTED_BUDGET),
        provenance="derived",
        expected="proved",
    ),
    Theorem(
        id="prompt_perturbation.T2",
        paper=PAPER,
        title="Corrected privacy of the bucketised mechanism",
        statement=(
            "ln(P[r|t] / P[r|t']) <= eps + ln(|b_t'(r)| / |b_t(r)|) + ln(B_t' / B_t), B the number of non-empty "
            "buckets; hence the mechanism is (eps + eps' + ln(Bmax / Bmin))-LDP."
        ),
        assumptions=(BOUNDED_RANGE, GRID),
        claim=Claim("ln(P[r|t] / P[r|t'])", "<=", bounds.CORRECTED_BUDGET),
        provenance="corrected",
        corrects="prompt_perturbation.T1",
        expected="proved",
        not_claimed="A guarantee from the sizes of one prompt: both ratios are maxima over inputs and contexts.",
    ),
    Theorem(
        id="prompt_perturbation.T2_data_free",
        paper=PAPER,
        title="Data-free privacy of the bucketised mechanism",
        statement=(
            "For N_b >= 2 the mechanism of T1 is (eps + ln(k (N - k + 1) / 2))-LDP, "
            "k the smaller of N_b and floor((N + 1) / 2)."
        ),
        assumptions=(BOUNDED_RANGE, GRID, SEVERAL),
        claim=Claim("ln(P[r|t] / P[r|t'])", "<=", bounds.DATA_FREE_BUDGET),
        provenance="derived",
    ),
    Theorem(
        id="prompt_perturbation.T3",
        paper=PAPER,
        title="Equal-frequency repair",
        statement=(
            "With min(N_b, N) groups of sizes floor(N/N_b) and ceil(N/N_b), ties broken by index, the mechanism is "
            "(eps + ln(ceil/floor))-LDP, and eps-LDP when N_b >= N."
        ),
        assumptions=(BOUNDED_RANGE,),
        claim=Claim("ln(P[r|t] / P[r|t'])", "<=", bounds.EQUAL_FREQUENCY_BUDGET),
        provenance="derived",
        expected="proved",
        not_claimed="That exact tokens survive: the best group holds N / N_b tokens.",
    ),
)

LONG_TAIL = (
    Theorem(
        id="prompt_perturbation.T4_tokens",
        paper=PAPER,
        title="Long tail of the exponential mechanism",
        statement=(
            "With utilities in an interval of length Delta, the k best of N tokens have cumulative probability at most "
            "k g / (k g + N - k), g = exp(eps/2): 0.4 % for k = 10, N = 50000, eps = 6."
        ),
        reading="The paper is reported to say 'below 1 %' for these numbers; the formula is ours.",
        assumptions=(BOUNDED_RANGE,),
        claim=Claim("P(k best)", "<=", bounds.EXPONENTIAL_TOP_MASS),
        provenance="derived",
    ),
    Theorem(
        id="prompt_perturbation.T4_buckets",
        paper=PAPER,
        title="The best bucket is drawn often",
        statement=(
            "The best of B non-empty buckets has probability at least 1/B for every eps >= 0 and N, and at most "
            "g / (g + B - 1)."
        ),
        assumptions=(BOUNDED_RANGE,),
        claim=Claim("P(best bucket)", "<=", bounds.BUCKET_TOP_MASS),
        provenance="derived",
        not_claimed="Monotonicity: a less useful token can be more likely than a more useful one.",
    ),
    Theorem(
        id="prompt_perturbation.T4_utility",
        paper=PAPER,
        title="Utility of the bucketised mechanism",
        statement=(
            "P(u(r) <= max u - 2w - (2 Delta / eps)(ln B + s)) <= exp(-s), w = (max u - min u) / N_b: ln N of the "
            "exponential mechanism becomes ln B at the cost of two bucket widths."
        ),
        assumptions=(POSITIVE,),
        claim=Claim("max u - u(r), except with probability exp(-s)", "<=", bounds.BUCKET_UTILITY_SHORTFALL),
        provenance="derived",
    ),
)

AUDIT = (
    Theorem(
        id="prompt_perturbation.T5",
        paper=PAPER,
        title="Accuracy audits privacy",
        statement=(
            "An eps-LDP channel over N inputs that are outputs keeps tokens with average probability at most "
            "exp(eps) / (exp(eps) + N - 1); a keep rate p forces a loss of at least ln(p (N-1) / (1-p))."
        ),
        claim=Claim("mean_t P[t|t]", "<=", bounds.KEEP_RATE),
        provenance="derived",
        not_claimed="A bound for a whole vocabulary from the keep rate of a sample: N counts the averaged inputs.",
    ),
    Theorem(
        id="prompt_perturbation.S_row",
        paper=PAPER,
        title="The sampler follows the row",
        statement="Draws of the mechanism are independent and equal token r with probability P[r|t].",
        claim=Claim("P(draw = r)", "=", "P[r|t]"),
        provenance="derived",
    ),
    Theorem(
        id="prompt_perturbation.S_audit",
        paper=PAPER,
        title="The black-box audit never exceeds the loss",
        statement=(
            "The lower bound on the loss from samples (event chosen on one half, Clopper-Pearson limits on the other) "
            "exceeds the exact loss with probability at most 1 - confidence."
        ),
        claim=Claim("P(audited loss > loss)", "<=", "1 - confidence"),
        provenance="derived",
    ),
)

PROMPTS = (
    Theorem(
        id="prompt_perturbation.T6",
        paper=PAPER,
        title="A changed token costs every position that sees it",
        statement=(
            "Between prompts that differ in one token the joint loss is at most the sum of the losses of the positions "
            "that see it: its own for utilities of the own token or of the released prefix, and its neighbours' too "
            "when they are fed the original context."
        ),
        claim=Claim("ln(P[y|x] / P[y|x'])", "<=", bounds.PROMPT_BUDGET),
        provenance="derived",
        not_claimed="Anything about copied stop words: their places, number and identity are released.",
    ),
    Theorem(
        id="prompt_perturbation.T6_sensitivity",
        paper=PAPER,
        title="Sensitivity of the hybrid utility",
        statement=(
            "u = L^lamL D^lamD with L in [0, 1] and D in [1/e, 1] changes by at most 1 under any change of token and "
            "context, and by at most 1 - exp(-lamD) when the context is the same."
        ),
        claim=Claim("|u(t, r) - u(t', r)| in a shared context", "<=", bounds.HYBRID_SENSITIVITY),
        provenance="derived",
        not_claimed="The smaller sensitivity for models fed private neighbouring tokens.",
    ),
)

BASELINES = (
    Theorem(
        id="prompt_perturbation.T7_santext",
        paper=PAPER,
        title="SANTEXT's metric guarantee",
        statement="P[y|x] ~ exp(-eps d(x,y) / 2) has loss at most eps d(x,x') between inputs x and x'.",
        claim=Claim("ln(P[y|x] / P[y|x'])", "<=", bounds.SANTEXT_BUDGET),
        provenance="prior",
        not_claimed="eps-LDP: inputs far apart may lose far more than eps.",
    ),
    Theorem(
        id="prompt_perturbation.T7_custext",
        paper=PAPER,
        title="CUSTEXT's guarantee inside one group",
        statement=(
            "The exponential mechanism over groups that partition the vocabulary loses at most eps between inputs of "
            "one group, and everything between groups."
        ),
        claim=Claim("ln(P[y|x] / P[y|x']) inside a group", "<=", bounds.CUSTEXT_BUDGET),
        provenance="prior",
        not_claimed="eps-LDP over the whole vocabulary.",
    ),
    Theorem(
        id="prompt_perturbation.T7_list",
        paper=PAPER,
        title="A random neighbour list integrates out",
        statement=(
            "With candidates sorted by distance and P[list = first k] = p_k, P[r] = w_r sum_{k >= rank(r)} p_k / "
            "(w_1 + .. + w_k)."
        ),
        claim=Claim("P[r|t]", "=", "mean over lists of the exponential mechanism on the list"),
        provenance="derived",
        not_claimed="eps-LDP of the whole mechanism: the list depends on the input.",
    ),
)

THEOREMS = (*EXPONENTIAL, *PRIVACY, *LONG_TAIL, *AUDIT, *PROMPTS, *BASELINES)
