"""Solvers for optimal ranking questions under the Plackett-Luce model.

Designs
    `randomized_frank_wolfe` (the paper's method, memoised, over all subsets), `frank_wolfe`, `away_step_frank_wolfe`,
    `column_generation_design`, `multiplicative_design`, `interior_point_design`, `cvxpy_design`,
    `fisher_optimal_design`; certificates by `certified_gap`.
Questions
    `round_design`, `reduce_support`, `select_questions` (with a cap on showings), `extend_problem`.
Estimation
    `Rankings`, `sample_rankings`, `fit_strengths`, `mm_strengths`, `fit_features`, `identifiability`, rank breaking.
"""

from whp.algorithms.plackett_luce_design.certificate import (
    certified_gap,
    certify,
    largest_leverage,
    leverage_upper_bound,
    ridge_gap,
)
from whp.algorithms.plackett_luce_design.exact_algebra import (
    determinant_ratio,
    leverage_from_gram,
    luce_derivatives,
    mean_leverage,
    rational_step,
    scatter_matrix,
    solve_exactly,
    updated_gram,
)
from whp.algorithms.plackett_luce_design.explicit_designs import (
    capped_certificate,
    column_generation_design,
    cvxpy_design,
    fisher_factors,
    fisher_optimal_design,
    interior_point_design,
    multiplicative_design,
    span_factors,
)
from whp.algorithms.plackett_luce_design.factor_weights import (
    WeightsResult,
    interior_point_weights,
    multiplicative_weights,
)
from whp.algorithms.plackett_luce_design.feature_likelihood import (
    FeatureFit,
    fit_features,
)
from whp.algorithms.plackett_luce_design.frank_wolfe import (
    away_step_frank_wolfe,
    best_of_step,
    frank_wolfe,
    frank_wolfe_step,
    randomized_frank_wolfe,
    randomized_step,
)
from whp.algorithms.plackett_luce_design.identifiability import (
    Identifiability,
    NoFiniteMaximumError,
    identifiability,
    separating_direction,
)
from whp.algorithms.plackett_luce_design.likelihood import (
    LuceStages,
    log_likelihood,
)
from whp.algorithms.plackett_luce_design.maximum_likelihood import (
    FitStatus,
    StrengthFit,
    fit_strengths,
    mm_strengths,
    strengths_within_components,
)
from whp.algorithms.plackett_luce_design.memo import (
    MAX_GRAM_ITEMS,
    FactorMemo,
    GramMemo,
    Memo,
    make_memo,
)
from whp.algorithms.plackett_luce_design.oracles import (
    AllSubsets,
    BestPair,
    GreedySwap,
    LeverageOracle,
    UniformSample,
    draw_subsets,
    exact_oracle,
)
from whp.algorithms.plackett_luce_design.questions import (
    Questions,
    extend_problem,
    reduce_support,
    round_design,
    select_questions,
)
from whp.algorithms.plackett_luce_design.rank_breaking import (
    adjacent_breaking,
    full_breaking,
    top_breaking,
)
from whp.algorithms.plackett_luce_design.rankings import (
    Rankings,
    sample_rankings,
    win_rates,
)
from whp.algorithms.plackett_luce_design.result import (
    DesignResult,
    DesignStatus,
    History,
    OperationCounts,
)
from whp.algorithms.plackett_luce_design.spanning import (
    spanning_design,
)
from whp.algorithms.plackett_luce_design.step import (
    contrast_basis,
    exact_step,
    log_det_change,
    pair_step,
)

__all__ = [
    "MAX_GRAM_ITEMS",
    "AllSubsets",
    "BestPair",
    "DesignResult",
    "DesignStatus",
    "FactorMemo",
    "FeatureFit",
    "FitStatus",
    "GramMemo",
    "GreedySwap",
    "History",
    "Identifiability",
    "LeverageOracle",
    "LuceStages",
    "Memo",
    "NoFiniteMaximumError",
    "OperationCounts",
    "Questions",
    "Rankings",
    "StrengthFit",
    "UniformSample",
    "WeightsResult",
    "adjacent_breaking",
    "away_step_frank_wolfe",
    "best_of_step",
    "capped_certificate",
    "certified_gap",
    "certify",
    "column_generation_design",
    "contrast_basis",
    "cvxpy_design",
    "determinant_ratio",
    "draw_subsets",
    "exact_oracle",
    "exact_step",
    "extend_problem",
    "fisher_factors",
    "fisher_optimal_design",
    "fit_features",
    "fit_strengths",
    "frank_wolfe",
    "frank_wolfe_step",
    "full_breaking",
    "identifiability",
    "interior_point_design",
    "interior_point_weights",
    "largest_leverage",
    "leverage_from_gram",
    "leverage_upper_bound",
    "log_det_change",
    "log_likelihood",
    "luce_derivatives",
    "make_memo",
    "mean_leverage",
    "mm_strengths",
    "multiplicative_design",
    "multiplicative_weights",
    "pair_step",
    "randomized_frank_wolfe",
    "randomized_step",
    "rational_step",
    "reduce_support",
    "ridge_gap",
    "round_design",
    "sample_rankings",
    "scatter_matrix",
    "select_questions",
    "separating_direction",
    "solve_exactly",
    "span_factors",
    "spanning_design",
    "strengths_within_components",
    "top_breaking",
    "updated_gram",
    "win_rates",
]
