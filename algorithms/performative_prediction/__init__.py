"""Zeroth-order methods for problems whose data respond to the decision.

Bring a loss, its partial gradient and a sampler as a `DecisionOracle`, choose a method and call `minimise`; or drive
the method from outside with `AskTell`.
"""

from .ask_tell import AskTell, Ticket
from .budget import Budget
from .certificate import AccuracyPlan, StationarityCertificate, balanced_radius, certify, draw_output, plan_for_accuracy
from .descent import Deployment, DescentResult, DescentTrace, Method, Run, Step, best_observed, minimise
from .estimators import (
    guided_direction,
    one_point_estimate,
    rademacher_direction,
    residual_feedback_estimate,
    two_point_estimate,
    unit_guide,
)
from .exact_descent import ExactResult, exact_minimiser, gradient_descent, repeated_retraining
from .guide_diagnostics import AdaptiveShare, explained_share
from .guided_historical_samples import GuidedHistoricalSamples
from .guided_new_samples import GuidedNewSamples
from .history_control import HistoryControlDescent
from .history_weights import inverse_weights, water_filling_weights
from .oracle import DecisionOracle, OracleError
from .projections import Ball, Box, ConvexSet, DecisionSet, Simplex
from .same_sample_trap import SamplerReport, inspect_sampler, same_sample_estimate
from .sampled_estimators import (
    gaussian_one_point,
    gaussian_two_point,
    guided_two_point,
    mean_known_gradient,
    shared_sample_two_point,
)
from .sampling import oracle_for, pricing_oracle, sample_at
from .schedules import ApproachOne, Constant, Geometric, LinearCount
from .trajectories import guided_trajectories
from .unguided import OnePointDescent, ResidualFeedbackDescent, TwoPointDescent

__all__ = [
    "AccuracyPlan",
    "AdaptiveShare",
    "ApproachOne",
    "AskTell",
    "Ball",
    "Box",
    "Budget",
    "Constant",
    "ConvexSet",
    "DecisionOracle",
    "DecisionSet",
    "Deployment",
    "DescentResult",
    "DescentTrace",
    "ExactResult",
    "Geometric",
    "GuidedHistoricalSamples",
    "GuidedNewSamples",
    "HistoryControlDescent",
    "LinearCount",
    "Method",
    "OnePointDescent",
    "OracleError",
    "ResidualFeedbackDescent",
    "Run",
    "SamplerReport",
    "Simplex",
    "StationarityCertificate",
    "Step",
    "Ticket",
    "TwoPointDescent",
    "balanced_radius",
    "best_observed",
    "certify",
    "draw_output",
    "exact_minimiser",
    "explained_share",
    "gaussian_one_point",
    "gaussian_two_point",
    "gradient_descent",
    "guided_direction",
    "guided_trajectories",
    "guided_two_point",
    "inspect_sampler",
    "inverse_weights",
    "mean_known_gradient",
    "minimise",
    "one_point_estimate",
    "oracle_for",
    "plan_for_accuracy",
    "pricing_oracle",
    "rademacher_direction",
    "repeated_retraining",
    "residual_feedback_estimate",
    "same_sample_estimate",
    "sample_at",
    "shared_sample_two_point",
    "two_point_estimate",
    "unit_guide",
    "water_filling_weights",
]
