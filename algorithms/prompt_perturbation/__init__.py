"""Reference algorithms for Cape: mechanisms, utilities, audits, accountants, attacks."""

from whp.algorithms.prompt_perturbation.bigram_model import BigramModel
from whp.algorithms.prompt_perturbation.black_box_audit import (
    BlackBoxAudit,
    audit_black_box,
    binomial_lower,
    binomial_upper,
)
from whp.algorithms.prompt_perturbation.bucket_accountant import (
    bucketised_guarantee,
    data_free_guarantee,
    equal_frequency_guarantee,
)
from whp.algorithms.prompt_perturbation.bucket_partition import (
    BucketPartition,
    equal_frequency_buckets,
    equal_width_buckets,
)
from whp.algorithms.prompt_perturbation.bucketised_mechanism import (
    BucketisedDistribution,
    bucketised_mechanism,
    equal_frequency_mechanism,
    mechanism_over_buckets,
)
from whp.algorithms.prompt_perturbation.custext import custext_groups, custext_mechanism
from whp.algorithms.prompt_perturbation.exact_audit import (
    ChannelAudit,
    audit_channel,
    audit_log_rows,
    calibrated_epsilon,
    pairwise_losses,
)
from whp.algorithms.prompt_perturbation.exact_mechanisms import (
    exact_bucketised_row,
    exact_exponential_row,
    exact_redrawing_row,
)
from whp.algorithms.prompt_perturbation.exact_sampling import draw_exactly
from whp.algorithms.prompt_perturbation.exponential_mechanism import exponential_mechanism
from whp.algorithms.prompt_perturbation.hybrid_utility import (
    closeness,
    distance_utility,
    hybrid_utility,
    scaled_logits,
)
from whp.algorithms.prompt_perturbation.masked_token_attack import masked_token_attack
from whp.algorithms.prompt_perturbation.nearest_neighbour_attack import (
    AttackResult,
    nearest_neighbour_attack,
    nearest_neighbour_success,
)
from whp.algorithms.prompt_perturbation.perturb_prompt import (
    CapeParameters,
    PerturbedPrompt,
    cape_log_row,
    perturb_prompt,
)
from whp.algorithms.prompt_perturbation.privacy_budget import BudgetExceededError, PrivacyBudget
from whp.algorithms.prompt_perturbation.prompt_accountant import (
    ContextLeak,
    PromptLoss,
    account_prompt,
    enumerate_context_leak,
)
from whp.algorithms.prompt_perturbation.random_neighbour_list import (
    coordinate_laplace_radius_survival,
    laplace_radius_survival,
    random_neighbour_list_mechanism,
)
from whp.algorithms.prompt_perturbation.santext import santext_mechanism, santext_plus_mechanism
from whp.algorithms.prompt_perturbation.sensitivity import (
    FixedSizeBatches,
    PoissonBatches,
    amplified_epsilon,
    float_sum_sensitivity,
    hybrid_utility_sensitivity,
    mean_sensitivity,
    sum_sensitivity,
)
from whp.algorithms.prompt_perturbation.token_distances import TokenDistances
from whp.algorithms.prompt_perturbation.token_distribution import TokenDistribution
from whp.algorithms.prompt_perturbation.token_retention import FUNCTION_WORDS, PUNCTUATION, sensitive_positions
from whp.algorithms.prompt_perturbation.token_tables import (
    MissingDataError,
    load_bert_token_embeddings,
    load_english_bigrams,
    load_english_word_counts,
)

__all__ = [
    "FUNCTION_WORDS",
    "PUNCTUATION",
    "AttackResult",
    "BigramModel",
    "BlackBoxAudit",
    "BucketPartition",
    "BucketisedDistribution",
    "BudgetExceededError",
    "CapeParameters",
    "ChannelAudit",
    "ContextLeak",
    "FixedSizeBatches",
    "MissingDataError",
    "PerturbedPrompt",
    "PoissonBatches",
    "PrivacyBudget",
    "PromptLoss",
    "TokenDistances",
    "TokenDistribution",
    "account_prompt",
    "amplified_epsilon",
    "audit_black_box",
    "audit_channel",
    "audit_log_rows",
    "binomial_lower",
    "binomial_upper",
    "bucketised_guarantee",
    "bucketised_mechanism",
    "calibrated_epsilon",
    "cape_log_row",
    "closeness",
    "coordinate_laplace_radius_survival",
    "custext_groups",
    "custext_mechanism",
    "data_free_guarantee",
    "distance_utility",
    "draw_exactly",
    "enumerate_context_leak",
    "equal_frequency_buckets",
    "equal_frequency_guarantee",
    "equal_frequency_mechanism",
    "equal_width_buckets",
    "exact_bucketised_row",
    "exact_exponential_row",
    "exact_redrawing_row",
    "exponential_mechanism",
    "float_sum_sensitivity",
    "hybrid_utility",
    "hybrid_utility_sensitivity",
    "laplace_radius_survival",
    "load_bert_token_embeddings",
    "load_english_bigrams",
    "load_english_word_counts",
    "masked_token_attack",
    "mean_sensitivity",
    "mechanism_over_buckets",
    "nearest_neighbour_attack",
    "nearest_neighbour_success",
    "pairwise_losses",
    "perturb_prompt",
    "random_neighbour_list_mechanism",
    "santext_mechanism",
    "santext_plus_mechanism",
    "scaled_logits",
    "sensitive_positions",
    "sum_sensitivity",
]
