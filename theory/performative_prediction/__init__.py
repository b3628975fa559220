"""Guided zeroth-order methods for decision-dependent distributions (Hikima, Sawada, Fujino, ICML 2025).

Minimise ``F(x) = E f(x, xi)`` with ``xi ~ D(x)``, where ``f`` is known and ``D`` can only be sampled.
"""

from .bounds import (
    CONSTANT_STEP_COMPLEXITY,
    EXPLORED_GRADIENT,
    EXPLORED_GRADIENT_SHARP,
    GAUSSIAN_SECOND_MOMENT,
    GUIDED_COMPLEXITY,
    GUIDED_SECOND_MOMENT,
    ISOTROPIC_SECOND_MOMENT,
    NOISE_SECOND_MOMENT,
    ONE_POINT_SECOND_MOMENT,
    PREVIOUS_BOUNDED_COMPLEXITY,
    SMALL_STEP_COMPLEXITY,
    STATIONARITY,
    TWO_POINT_COMPLEXITY,
)
from .cases import CubicCase, CurvatureCase, EstimateCase, MomentCase, PairCase, RunCase
from .directions import (
    direction_covariance,
    explored_gradient,
    isotropic_share,
    largest_eigenvalue,
    sixth_norm_moment,
    sixth_norm_moment_isotropic,
    slope_energy,
)
from .discrete_families import DiscreteSoftmax, JointQuadratic, LipschitzLocation
from .estimates import (
    central_difference_bias,
    guided_mean_on_quadratic,
    guided_second_moment_on_quadratic,
    one_point_second_moment_shift,
    same_sample_mean,
)
from .gaussian_families import LinearNoise, LocationQuadratic
from .history import ControlHistory, history_error_as_printed, history_error_repaired, worst_case_history_error
from .pricing import MultiproductPricing
from .regularity import (
    lipschitz_constant,
    lipschitz_constant_as_printed,
    smoothness_from_blocks,
    smoothness_from_joint,
    wasserstein_of_location_family,
)
from .schedule import GuidedSchedule
from .strategic_classification import StrategicClassification
from .theorems import PAPER, THEOREMS

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
    "PAPER",
    "PREVIOUS_BOUNDED_COMPLEXITY",
    "SMALL_STEP_COMPLEXITY",
    "STATIONARITY",
    "THEOREMS",
    "TWO_POINT_COMPLEXITY",
    "ControlHistory",
    "CubicCase",
    "CurvatureCase",
    "DiscreteSoftmax",
    "EstimateCase",
    "GuidedSchedule",
    "JointQuadratic",
    "LinearNoise",
    "LipschitzLocation",
    "LocationQuadratic",
    "MomentCase",
    "MultiproductPricing",
    "PairCase",
    "RunCase",
    "StrategicClassification",
    "central_difference_bias",
    "direction_covariance",
    "explored_gradient",
    "guided_mean_on_quadratic",
    "guided_second_moment_on_quadratic",
    "history_error_as_printed",
    "history_error_repaired",
    "isotropic_share",
    "largest_eigenvalue",
    "lipschitz_constant",
    "lipschitz_constant_as_printed",
    "one_point_second_moment_shift",
    "same_sample_mean",
    "sixth_norm_moment",
    "sixth_norm_moment_isotropic",
    "slope_energy",
    "smoothness_from_blocks",
    "smoothness_from_joint",
    "wasserstein_of_location_family",
    "worst_case_history_error",
]
