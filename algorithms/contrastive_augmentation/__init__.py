"""Reference algorithms for contrastive learning under augmentation: exact risks, certificates, distances, encoders."""

from whp.algorithms.contrastive_augmentation.augmentation_distances import (
    AugmentationDistances,
    augmentation_distances,
)
from whp.algorithms.contrastive_augmentation.augmentation_sweep import (
    AugmentationSetting,
    kendall_tau,
    measure_setting,
    probe_accuracy,
)
from whp.algorithms.contrastive_augmentation.certificate import (
    InconstantLabelError,
    TransferCertificate,
    certify,
)
from whp.algorithms.contrastive_augmentation.exact_risks import (
    ExactRisks,
    exact_risks,
)
from whp.algorithms.contrastive_augmentation.linear_encoder import (
    LinearEncoder,
    SingularViewsError,
    fit_linear_encoder,
    spectral_loss,
)
from whp.algorithms.contrastive_augmentation.log_loss_expectation import (
    count_vectors,
    integrated_log_loss,
    softplus,
)
from whp.algorithms.contrastive_augmentation.nt_xent import (
    ZeroNormError,
    cosine_rows,
    nt_xent,
)
from whp.algorithms.contrastive_augmentation.sampled_risk import (
    SampledRisk,
    sampled_risk,
)
from whp.algorithms.contrastive_augmentation.view_models import (
    channel_gain_gap,
    channel_gain_spread,
    flip_views,
    gain_gap,
    gain_spread,
    noise_ball_gap,
    noise_ball_spread,
    square_crops,
)

__all__ = [
    "AugmentationDistances",
    "AugmentationSetting",
    "ExactRisks",
    "InconstantLabelError",
    "LinearEncoder",
    "SampledRisk",
    "SingularViewsError",
    "TransferCertificate",
    "ZeroNormError",
    "augmentation_distances",
    "certify",
    "channel_gain_gap",
    "channel_gain_spread",
    "cosine_rows",
    "count_vectors",
    "exact_risks",
    "fit_linear_encoder",
    "flip_views",
    "gain_gap",
    "gain_spread",
    "integrated_log_loss",
    "kendall_tau",
    "measure_setting",
    "noise_ball_gap",
    "noise_ball_spread",
    "nt_xent",
    "probe_accuracy",
    "sampled_risk",
    "softplus",
    "spectral_loss",
    "square_crops",
]
