"""Cape: context-aware prompt perturbation with differential privacy (Wu, Dai, Wang, Yan; ICML 2025)."""

from whp.theory.prompt_perturbation.buckets import (
    bucket_means,
    bucket_sizes,
    count_ratio,
    equal_frequency_labels,
    equal_width_labels,
    own_size_ratio,
    pooled_size_ratio,
)
from whp.theory.prompt_perturbation.channel import (
    Channel,
    bayes_recovery,
    keep_rate,
    likelihood_ratio,
    pairwise_ratio,
    privacy_loss,
)
from whp.theory.prompt_perturbation.counterexamples import (
    minimal_counterexample,
    sphere_counterexample,
    worst_pattern_of_five,
)
from whp.theory.prompt_perturbation.instances import (
    ContextualPrompt,
    TokenEmbedding,
    UnknownTokenError,
    UtilityGridPair,
    UtilityPair,
)
from whp.theory.prompt_perturbation.mechanisms import (
    bucketised_grid_channel,
    bucketised_log_row,
    bucketised_row,
    contextual_prompt_channel,
    exponential_grid_channel,
    exponential_log_row,
    exponential_row,
    position_row,
    prompts,
)
from whp.theory.prompt_perturbation.theorems import PAPER, THEOREMS, width_labels

__all__ = [
    "PAPER",
    "THEOREMS",
    "Channel",
    "ContextualPrompt",
    "TokenEmbedding",
    "UnknownTokenError",
    "UtilityGridPair",
    "UtilityPair",
    "bayes_recovery",
    "bucket_means",
    "bucket_sizes",
    "bucketised_grid_channel",
    "bucketised_log_row",
    "bucketised_row",
    "contextual_prompt_channel",
    "count_ratio",
    "equal_frequency_labels",
    "equal_width_labels",
    "exponential_grid_channel",
    "exponential_log_row",
    "exponential_row",
    "keep_rate",
    "likelihood_ratio",
    "minimal_counterexample",
    "own_size_ratio",
    "pairwise_ratio",
    "pooled_size_ratio",
    "position_row",
    "privacy_loss",
    "prompts",
    "sphere_counterexample",
    "width_labels",
    "worst_pattern_of_five",
]
