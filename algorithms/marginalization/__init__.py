"""Oracles, reductions and solvers for marginalization."""

from whp.algorithms.marginalization.ancestral_sampling import (
    SignedFunctionError,
    ancestral_conditionals,
    draw,
    draw_under_weights,
    draw_with_hamming_weight,
)
from whp.algorithms.marginalization.batched_elimination import (
    LogForward,
    log_partition,
    most_probable_states,
    single_marginals,
    target_tables,
)
from whp.algorithms.marginalization.bif import (
    parse_bif,
)
from whp.algorithms.marginalization.boolean_variant import (
    BooleanVariantOracle,
    SignedVariantOracle,
)
from whp.algorithms.marginalization.chow_liu import (
    ChowLiuFit,
    fit_chow_liu_tree,
    fit_naive_bayes,
)
from whp.algorithms.marginalization.circuit_derivatives import (
    SingleMarginals,
    derivative_circuit,
    gradient_batch,
    gradient_exact,
    marginals_exact,
)
from whp.algorithms.marginalization.circuit_evaluation import (
    evaluate_batch,
    evaluate_exact,
    evaluate_log_batch,
    node_values_exact,
)
from whp.algorithms.marginalization.circuit_oracle import (
    CircuitOracle,
    network_oracle,
)
from whp.algorithms.marginalization.circuit_properties import (
    MultilinearityCertificate,
    certify_multilinear,
    expand_polynomial,
    formal_degrees,
    is_decomposable,
    is_smooth,
    scopes,
)
from whp.algorithms.marginalization.circuit_semantics import (
    CircuitConversion,
    NotMultilinearError,
    extension_to_fourier,
    extension_to_network,
    fourier_to_extension,
    generating_to_network,
    network_to_extension,
    network_to_generating,
)
from whp.algorithms.marginalization.circuit_simplification import (
    eliminate_dead_gates,
    fold_constants,
    share_equal_gates,
    simplify,
)
from whp.algorithms.marginalization.circuits import (
    ArithmeticCircuit,
    CircuitBuilder,
    GateCounts,
    NodeKind,
    as_fraction,
    network_inputs,
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
from whp.algorithms.marginalization.determinant_circuits import (
    dpp_circuit,
    gaussian_elimination_program,
    samuelson_berkowitz,
)
from whp.algorithms.marginalization.determinantal import (
    DPPOracle,
    exact_determinant,
)
from whp.algorithms.marginalization.division_removal import (
    DivisionFreeCircuit,
    division_free_gate_bound,
    strassen_divfree,
)
from whp.algorithms.marginalization.elimination_orders import (
    EliminationOrder,
    TreewidthError,
    elimination_order,
)
from whp.algorithms.marginalization.elimination_plans import (
    Contraction,
    EliminationPlan,
    Operand,
    WeightSlot,
    compile_elimination,
    conditioned,
)
from whp.algorithms.marginalization.factored_posteriors import (
    ConditionalTable,
    FactoredPosterior,
    factorise,
)
from whp.algorithms.marginalization.folding_arithmetic import (
    Entry,
    FoldingArithmetic,
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
from whp.algorithms.marginalization.network_circuits import (
    binary_network_circuit,
    network_circuit,
)
from whp.algorithms.marginalization.network_data import (
    BinaryTable,
    load_binarised_breast_cancer,
    load_binarised_digits,
    load_pgmpy_example,
)
from whp.algorithms.marginalization.network_queries import (
    Explanation,
    ImpossibleEvidenceError,
    JointTooLargeError,
    NetworkEngine,
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
from whp.algorithms.marginalization.real_ram import (
    Comparison,
    NonGenericPathError,
    NotRealRamError,
    RealRamTrace,
    TracedReal,
    TraceNode,
    TraceOperation,
    generic_point,
    record_path,
    trace_real_ram,
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
    "ArithmeticCircuit",
    "BinaryTable",
    "BooleanVariantOracle",
    "ChowLiuFit",
    "CircuitBuilder",
    "CircuitConversion",
    "CircuitOracle",
    "Comparison",
    "ConditionalTable",
    "Contraction",
    "CountDifference",
    "CutWitnessOracle",
    "DPPOracle",
    "DivisionFreeCircuit",
    "EliminationOrder",
    "EliminationPlan",
    "Entry",
    "EvenParityOracle",
    "Explanation",
    "FactoredPosterior",
    "FoldingArithmetic",
    "FormulaOracle",
    "FunctionOracle",
    "GateCounts",
    "GaussSum",
    "ImpossibleEvidenceError",
    "InconsistentOracleError",
    "JointTooLargeError",
    "LogForward",
    "MultilinearityCertificate",
    "NetworkEngine",
    "NodeKind",
    "NonGenericPathError",
    "NotMultilinearError",
    "NotRealRamError",
    "Operand",
    "Oracle",
    "PairLiftOracle",
    "Polynomial",
    "QuadraticFormOracle",
    "RealRamTrace",
    "Semantics",
    "SignedFunctionError",
    "SignedVariantOracle",
    "SingleMarginals",
    "TraceNode",
    "TraceOperation",
    "TracedReal",
    "TreewidthError",
    "TruthTableOracle",
    "UnsupportedQueryError",
    "WeightSlot",
    "ZeroWeightError",
    "ancestral_conditionals",
    "as_fraction",
    "binary_network_circuit",
    "certify_multilinear",
    "compile_elimination",
    "conditional_marginal",
    "conditioned",
    "convert_coefficients",
    "count_from_pm",
    "cut_distribution_from_hm",
    "cut_distribution_from_vm",
    "derivative_circuit",
    "difference_of_counts",
    "division_free_gate_bound",
    "dpp_circuit",
    "draw",
    "draw_under_weights",
    "draw_with_hamming_weight",
    "eliminate_dead_gates",
    "elimination_order",
    "ev_from_pm",
    "evaluate_batch",
    "evaluate_exact",
    "evaluate_log_batch",
    "evaluate_multilinear",
    "exact_determinant",
    "expand_polynomial",
    "extension_to_fourier",
    "extension_to_network",
    "factorise",
    "fit_chow_liu_tree",
    "fit_naive_bayes",
    "fold_constants",
    "formal_degrees",
    "formula_truth_table",
    "fourier_coefficients",
    "fourier_to_extension",
    "gauss_sum",
    "gaussian_elimination_program",
    "generating_coefficients",
    "generating_to_network",
    "generic_point",
    "gradient_batch",
    "gradient_exact",
    "hamming_sums_by_enumeration",
    "hm_from_multilinear",
    "hm_from_vm",
    "hm_from_vm_on_stars",
    "interpolate",
    "interpolate_at_zero",
    "is_decomposable",
    "is_smooth",
    "likelihood_coefficients",
    "load_binarised_breast_cancer",
    "load_binarised_digits",
    "load_pgmpy_example",
    "log_partition",
    "marginals_exact",
    "model_count_from_pm",
    "most_probable_states",
    "network_circuit",
    "network_inputs",
    "network_oracle",
    "network_to_extension",
    "network_to_generating",
    "node_values_exact",
    "parse_bif",
    "pm_even_parity",
    "pm_from_hm",
    "pm_from_multilinear",
    "pm_from_vm",
    "pm_quadratic",
    "quadratic_truth_table",
    "record_path",
    "require_distinct_nodes",
    "restrict_quadratic",
    "samuelson_berkowitz",
    "scopes",
    "share_equal_gates",
    "simplify",
    "single_marginals",
    "solve_moments",
    "strassen_divfree",
    "target_tables",
    "trace_real_ram",
    "values_from_fourier",
    "values_from_likelihood",
    "ve_from_fourier",
    "ve_from_generating",
    "ve_from_multilinear",
]
