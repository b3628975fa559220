"""The limits of tractable marginalization: setting, quantities, gadgets."""

from whp.theory.marginalization.functions import (
    CNF,
    MAX_TABLE_VARIABLES,
    DPPKernel,
    QuadraticForm,
    TruthTable,
    require_table_size,
)
from whp.theory.marginalization.gadgets import (
    CutWitness,
    formula_with_complement,
    hamming_cut_polynomial,
    pair_lift,
    virtual_cut_value,
)
from whp.theory.marginalization.quantities import (
    determinant,
    fourier_polynomial,
    gauss_sum_by_definition,
    generating_polynomial,
    hamming_congruence,
    hamming_marginal,
    hamming_marginals,
    marginal,
    multilinear_extension,
    network_polynomial,
    principal_minor,
    total,
)
from whp.theory.marginalization.queries import Pattern, Query, Scalar, Weights, as_assignment, as_scalar

__all__ = [
    "CNF",
    "MAX_TABLE_VARIABLES",
    "CutWitness",
    "DPPKernel",
    "Pattern",
    "QuadraticForm",
    "Query",
    "Scalar",
    "TruthTable",
    "Weights",
    "as_assignment",
    "as_scalar",
    "determinant",
    "formula_with_complement",
    "fourier_polynomial",
    "gauss_sum_by_definition",
    "generating_polynomial",
    "hamming_congruence",
    "hamming_cut_polynomial",
    "hamming_marginal",
    "hamming_marginals",
    "marginal",
    "multilinear_extension",
    "network_polynomial",
    "pair_lift",
    "principal_minor",
    "require_table_size",
    "total",
    "virtual_cut_value",
]
