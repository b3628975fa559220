"""Oracles, reductions and solvers for marginalization."""

from whp.algorithms.marginalization.ancestral_sampling import (
    SignedFunctionError,
    ancestral_conditionals,
    draw,
    draw_under_weights,
    draw_with_hamming_weight,
)
from whp.algorithms.marginalization.boolean_variant import (
    BooleanVariantOracle,
    SignedVariantOracle,
)
from whp.algorithms.marginalization.cnf_gadget import (
    FormulaOracle,
    formula_truth_table,
    model_count_from_pm,
)
from whp.algorithms.marginalization.count_difference import (
    CountDifference,
    difference_of_counts,
)
from whp.algorithms.marginalization.cut_witness import (
    CutWitnessOracle,
)
from whp.algorithms.marginalization.determinantal import (
    DPPOracle,
    exact_determinant,
)
from whp.algorithms.marginalization.gauss_sum import (
    GaussSum,
    gauss_sum,
)
from whp.algorithms.marginalization.interpolation import (
    interpolate,
    interpolate_at_zero,
    require_distinct_nodes,
    solve_moments,
)
from whp.algorithms.marginalization.max_cut import (
    InconsistentOracleError,
    cut_distribution_from_hm,
    cut_distribution_from_vm,
)
from whp.algorithms.marginalization.multilinear_extension import (
    Polynomial,
    hm_from_multilinear,
    pm_from_multilinear,
    ve_from_fourier,
    ve_from_generating,
    ve_from_multilinear,
)
from whp.algorithms.marginalization.oracle import (
    FunctionOracle,
    Oracle,
    UnsupportedQueryError,
    ZeroWeightError,
)
from whp.algorithms.marginalization.pair_lift import (
    PairLiftOracle,
)
from whp.algorithms.marginalization.quadratic_form import (
    EvenParityOracle,
    QuadraticFormOracle,
    hamming_sums_by_enumeration,
    pm_even_parity,
    pm_quadratic,
    quadratic_truth_table,
    restrict_quadratic,
)
from whp.algorithms.marginalization.reductions import (
    conditional_marginal,
    count_from_pm,
    ev_from_pm,
    hm_from_vm,
    hm_from_vm_on_stars,
    pm_from_hm,
    pm_from_vm,
)
from whp.algorithms.marginalization.semantics import (
    Semantics,
    convert_coefficients,
    evaluate_multilinear,
    fourier_coefficients,
    generating_coefficients,
    likelihood_coefficients,
    values_from_fourier,
    values_from_likelihood,
)
from whp.algorithms.marginalization.truth_table import (
    TruthTableOracle,
)

__all__ = [
    "BooleanVariantOracle",
    "CountDifference",
    "CutWitnessOracle",
    "DPPOracle",
    "EvenParityOracle",
    "FormulaOracle",
    "FunctionOracle",
    "GaussSum",
    "InconsistentOracleError",
    "Oracle",
    "PairLiftOracle",
    "Polynomial",
    "QuadraticFormOracle",
    "Semantics",
    "SignedFunctionError",
    "SignedVariantOracle",
    "TruthTableOracle",
    "UnsupportedQueryError",
    "ZeroWeightError",
    "ancestral_conditionals",
    "conditional_marginal",
    "convert_coefficients",
    "count_from_pm",
    "cut_distribution_from_hm",
    "cut_distribution_from_vm",
    "difference_of_counts",
    "draw",
    "draw_under_weights",
    "draw_with_hamming_weight",
    "ev_from_pm",
    "evaluate_multilinear",
    "exact_determinant",
    "formula_truth_table",
    "fourier_coefficients",
    "gauss_sum",
    "generating_coefficients",
    "hamming_sums_by_enumeration",
    "hm_from_multilinear",
    "hm_from_vm",
    "hm_from_vm_on_stars",
    "interpolate",
    "interpolate_at_zero",
    "likelihood_coefficients",
    "model_count_from_pm",
    "pm_even_parity",
    "pm_from_hm",
    "pm_from_multilinear",
    "pm_from_vm",
    "pm_quadratic",
    "quadratic_truth_table",
    "require_distinct_nodes",
    "restrict_quadratic",
    "solve_moments",
    "values_from_fourier",
    "values_from_likelihood",
    "ve_from_fourier",
    "ve_from_generating",
    "ve_from_multilinear",
]
