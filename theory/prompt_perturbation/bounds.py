"""The guarantees as bounds that can be evaluated, enclosed, inverted and typeset."""

from __future__ import annotations

from whp.theory.core import Bound, Domain, Symbol
from whp.theory.prompt_perturbation import formulas

__all__ = [
    "AUDITED_LOSS",
    "BUCKET_LEAST_MASS",
    "BUCKET_TOP_MASS",
    "BUCKET_UTILITY_SHORTFALL",
    "CORRECTED_BUDGET",
    "CUSTEXT_BUDGET",
    "DATA_FREE_BUDGET",
    "EQUAL_FREQUENCY_BUDGET",
    "EXPONENTIAL_LOSS",
    "EXPONENTIAL_TOP_MASS",
    "EXPONENTIAL_UTILITY_SHORTFALL",
    "HYBRID_SENSITIVITY",
    "KEEP_RATE",
    "NOMINAL_BUDGET",
    "PROMPT_BUDGET",
    "REPORTED_BUDGET",
    "SANTEXT_BUDGET",
]

_EPSILON = Symbol("epsilon", Domain.reals(0), "nominal privacy parameter in nats", "increasing", r"\varepsilon")
_POSITIVE_EPSILON = Symbol(
    "epsilon", Domain.reals(0, open="low"), "nominal privacy parameter in nats", "decreasing", r"\varepsilon"
)
_DELTA = Symbol("Delta", Domain.reals(0, open="low"), "sensitivity of the utility", "increasing", r"\Delta")
_TOKENS = Symbol("N", Domain.integers(2), "number of tokens in the vocabulary")
_SIZE_RATIO = Symbol("size_ratio", Domain.reals(1), "largest over smallest bucket size", "increasing")
_COUNT_RATIO = Symbol("count_ratio", Domain.reals(1), "most over fewest non-empty buckets", "increasing")
_OCCUPIED = Symbol("B", Domain.integers(1), "number of non-empty buckets")
_TAIL = Symbol("s", Domain.reals(0), "minus the log of the failure probability", "increasing")

EXPONENTIAL_LOSS = Bound(
    "largest loss of the exponential mechanism",
    formulas.exponential_loss,
    (_EPSILON, Symbol("N", Domain.integers(2), "number of tokens in the vocabulary", "increasing")),
    "nats",
)
NOMINAL_BUDGET = Bound("epsilon", formulas.nominal_budget, (_EPSILON,), "nats")
EXPONENTIAL_UTILITY_SHORTFALL = Bound(
    "utility lost by the exponential mechanism",
    formulas.exponential_utility_shortfall,
    (_POSITIVE_EPSILON, _DELTA, _TOKENS, _TAIL),
    "units of utility",
)
REPORTED_BUDGET = Bound("reported budget", formulas.reported_budget, (_EPSILON, _SIZE_RATIO), "nats")
CORRECTED_BUDGET = Bound("corrected budget", formulas.corrected_budget, (_EPSILON, _SIZE_RATIO, _COUNT_RATIO), "nats")
DATA_FREE_BUDGET = Bound(
    "data-free budget",
    formulas.data_free_budget,
    (_EPSILON, _TOKENS, Symbol("N_b", Domain.integers(2), "number of equal-width buckets")),
    "nats",
)
EQUAL_FREQUENCY_BUDGET = Bound(
    "equal-frequency budget",
    formulas.equal_frequency_budget,
    (
        _EPSILON,
        Symbol("largest", Domain.integers(1), "ceil(N / N_b)", "increasing"),
        Symbol("smallest", Domain.integers(1), "floor(N / N_b)", "decreasing"),
    ),
    "nats",
)
EXPONENTIAL_TOP_MASS = Bound(
    "mass of the k best tokens",
    formulas.exponential_top_mass,
    (_EPSILON, _TOKENS, Symbol("k", Domain.integers(1), "how many of the best tokens", "increasing")),
)
BUCKET_LEAST_MASS = Bound("least mass of the best bucket", formulas.bucket_top_mass_at_least, (_OCCUPIED,))
BUCKET_TOP_MASS = Bound("mass of the best bucket", formulas.bucket_top_mass_at_most, (_EPSILON, _OCCUPIED))
BUCKET_UTILITY_SHORTFALL = Bound(
    "utility lost by the bucketised mechanism",
    formulas.bucket_utility_shortfall,
    (
        _POSITIVE_EPSILON,
        _DELTA,
        _OCCUPIED,
        Symbol("w", Domain.reals(0), "bucket width", "increasing"),
        _TAIL,
    ),
    "units of utility",
)
KEEP_RATE = Bound(
    "keep rate",
    formulas.keep_rate_at_most,
    (_EPSILON, Symbol("N", Domain.integers(1), "number of inputs", "decreasing")),
)
AUDITED_LOSS = Bound(
    "loss forced by a keep rate",
    formulas.audited_loss,
    (
        Symbol("p", Domain.reals(0, 1, open="both"), "average probability of leaving a token unchanged", "increasing"),
        Symbol("N", Domain.integers(2), "number of inputs the average is over", "increasing"),
    ),
    "nats",
)
PROMPT_BUDGET = Bound(
    "loss over n positions",
    formulas.prompt_budget,
    (_EPSILON, Symbol("n", Domain.integers(0), "positions that see a changed token", "increasing")),
    "nats",
)
HYBRID_SENSITIVITY = Bound(
    "sensitivity under a shared context",
    formulas.shared_context_sensitivity,
    (
        Symbol("L_max", Domain.reals(0), "largest scaled logit", "increasing"),
        Symbol("lam_L", Domain.reals(0), "exponent of the logit", None, r"\lambda_L"),
        Symbol("lam_D", Domain.reals(0), "exponent of the closeness", "increasing", r"\lambda_D"),
    ),
    "units of utility",
)
SANTEXT_BUDGET = Bound(
    "metric budget",
    formulas.santext_budget,
    (_EPSILON, Symbol("distance", Domain.reals(0), "embedding distance of the two inputs", "increasing")),
    "nats",
)
CUSTEXT_BUDGET = Bound("budget inside one group", formulas.nominal_budget, (_EPSILON,), "nats")
