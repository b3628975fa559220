"""Augmentation-aware contrastive learning (Cui, Wen, Wang; ICML 2025)."""

from whp.theory.contrastive_augmentation.batches import (
    PairBatch,
    batch_loss,
    simplex_batch,
)
from whp.theory.contrastive_augmentation.families import (
    OrthonormalFamily,
    block_lines,
    circle_problem,
    meeting_problem,
    uncentred_problem,
)
from whp.theory.contrastive_augmentation.problems import (
    ContrastiveProblem,
)
from whp.theory.contrastive_augmentation.quantities import (
    class_means,
    class_pair_moment,
    class_priors,
    class_variance,
    collision_probability,
    cover_probability,
    first_moment_spread,
    norm_bound,
    same_class_gap_squared,
    same_image_spread_squared,
    squared_distances,
    squared_lipschitz_constant,
)
from whp.theory.contrastive_augmentation.risks import (
    centred_floors,
    mean_classifier_risk,
    spectral_contrastive_loss,
    supervised_cross_entropy,
    supervised_risk,
    unsupervised_risk,
    zero_one_error,
)
from whp.theory.contrastive_augmentation.theorems import (
    PAPER,
    THEOREMS,
    is_centred,
)
from whp.theory.contrastive_augmentation.views import (
    AugmentedImages,
    GainPair,
    LineImages,
    crop_windows,
    gain_gap,
    gain_spread,
    gap_squared,
    spread_squared,
    square,
)

__all__ = [
    "PAPER",
    "THEOREMS",
    "AugmentedImages",
    "ContrastiveProblem",
    "GainPair",
    "LineImages",
    "OrthonormalFamily",
    "PairBatch",
    "batch_loss",
    "block_lines",
    "centred_floors",
    "circle_problem",
    "class_means",
    "class_pair_moment",
    "class_priors",
    "class_variance",
    "collision_probability",
    "cover_probability",
    "crop_windows",
    "first_moment_spread",
    "gain_gap",
    "gain_spread",
    "gap_squared",
    "is_centred",
    "mean_classifier_risk",
    "meeting_problem",
    "norm_bound",
    "same_class_gap_squared",
    "same_image_spread_squared",
    "simplex_batch",
    "spectral_contrastive_loss",
    "spread_squared",
    "square",
    "squared_distances",
    "squared_lipschitz_constant",
    "supervised_cross_entropy",
    "supervised_risk",
    "uncentred_problem",
    "unsupervised_risk",
    "zero_one_error",
]
