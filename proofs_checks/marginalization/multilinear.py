"""Checks of T2 (marginals as values of the multilinear extension) and T3 (interchangeable polynomials)."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from whp.algorithms import marginalization as solvers
from whp.proofs_checks.engine import Check, Instances, Mutant, Slack, identity
from whp.proofs_checks.marginalization.instances import (
    HALF,
    TableQuery,
    draw_table_queries,
    structured_table_queries,
    table_queries,
)
from whp.proofs_checks.marginalization.outputs import exact_number, exact_numbers
from whp.theory.core import Slot
from whp.theory.marginalization import (
    Pattern,
    Scalar,
    TruthTable,
    Weights,
    fourier_polynomial,
    generating_polynomial,
    hamming_marginals,
    marginal,
    multilinear_extension,
    network_polynomial,
)

TABLES = Instances(
    scope="integer tables on n <= 5 and rational ones on n <= 4 variables; weights with w + w̄ = 0 among them",
    examples=table_queries,
    draw=draw_table_queries,
    strategy=structured_table_queries,
)

EXTENSION = Slot(
    "multilinear_extension",
    "(table, u)",
    "table: TruthTable; u: n exact numbers",
    "p(u), exact",
    ("table", "u"),
    validate=exact_number,
)
VE_FROM_MULTILINEAR = Slot(
    "ve_from_multilinear",
    "(p, weights)",
    "p: callable of a point; weights: Weights",
    "N(w, w̄), exact",
    ("p", "weights"),
    validate=exact_number,
)
HM_FROM_MULTILINEAR = Slot(
    "hm_from_multilinear",
    "(p, q)",
    "p: callable of a point; q: Pattern",
    "HM for k = 0..n, exact",
    ("p", "q"),
    validate=exact_numbers,
)
VE_FROM_GENERATING = Slot(
    "ve_from_generating",
    "(g, weights)",
    "g: callable of a point; weights: Weights",
    "N(w, w̄), exact",
    ("g", "weights"),
    validate=exact_number,
)
VE_FROM_FOURIER = Slot(
    "ve_from_fourier",
    "(fourier, weights)",
    "fourier: callable of a point",
    "N(w, w̄), exact",
    ("fourier", "weights"),
    validate=exact_number,
)
LIKELIHOOD = Slot(
    "likelihood_coefficients", "(table)", "table: TruthTable", "coefficients of p as a TruthTable", ("table",)
)
FOURIER = Slot("fourier_coefficients", "(table)", "table: TruthTable", "coefficients of F as a TruthTable", ("table",))


def _grid_point(q: Pattern) -> list[Scalar]:
    return [HALF if letter == "*" else int(letter) for letter in q.letters]


def grid_identity(instance: TableQuery, *, multilinear_extension: Any) -> Slack:
    """``Σ_{x ⊨ q} f(x) = 2^{s(q)} p(u)``."""
    q = instance.pattern
    value = multilinear_extension(instance.table, _grid_point(q))
    return identity("grid", 2**q.s * value, marginal(instance.table, q))


def grid_identity_without_the_power_of_two(instance: TableQuery, *, multilinear_extension: Any) -> Slack:
    """Mean in place of sum."""
    value = multilinear_extension(instance.table, _grid_point(instance.pattern))
    return identity("grid", value, marginal(instance.table, instance.pattern))


def grid_identity_with_halves_at_evidence(instance: TableQuery, *, multilinear_extension: Any) -> Slack:
    """1/2 substituted everywhere."""
    q = instance.pattern
    value = multilinear_extension(instance.table, [HALF] * q.n)
    return identity("grid", 2**q.s * value, marginal(instance.table, q))


def virtual_evidence_anywhere(instance: TableQuery, *, ve_from_multilinear: Any) -> Slack:
    """``N(w, w̄)`` from values of ``p``, also where ``w_i + w̄_i = 0``."""
    table, weights = instance.table, instance.weights
    value = ve_from_multilinear(lambda u: multilinear_extension(table, u), weights)
    return identity("virtual evidence", value, network_polynomial(table, weights))


def hamming_marginals_along_lines(instance: TableQuery, *, hm_from_multilinear: Any) -> Slack:
    """HM from values of ``p`` on the line ``u = t/(1+t)``."""
    table, q = instance.table, instance.pattern
    answer = hm_from_multilinear(lambda u: multilinear_extension(table, u), q)
    expected = hamming_marginals(table, q)
    return identity("entries", len(answer), len(expected)) & identity("lines", list(answer), list(expected))


def network_polynomial_from_the_others(instance: TableQuery, *, ve_from_generating: Any, ve_from_fourier: Any) -> Slack:
    """``N`` from ``g`` and from ``F``."""
    table, weights = instance.table, instance.weights
    expected = network_polynomial(table, weights)
    from_g = ve_from_generating(lambda z: generating_polynomial(table, z), weights)
    from_fourier = ve_from_fourier(lambda s: fourier_polynomial(table, s), weights)
    return identity("N from g", from_g, expected) & identity("N from F", from_fourier, expected)


def three_valued_variable_by_the_binary_formula(
    instance: TableQuery, *, ve_from_generating: Any, ve_from_fourier: Any
) -> Slack:
    """One variable with three values, encoded as z^0, z^1, z^2, as if it were binary."""
    values = (1, 2, *(int(abs(v)) for v in instance.table.values[:1]))
    w = (Fraction(3), Fraction(5), Fraction(2))  # weights of the values 0, 1, 2
    expected = sum(f * weight for f, weight in zip(values, w, strict=True))
    answer = ve_from_generating(lambda z: sum(f * z[0] ** k for k, f in enumerate(values)), Weights(((w[1], w[0]),)))
    return identity("N from g", answer, expected)


def coefficient_tables(instance: TableQuery, *, likelihood_coefficients: Any, fourier_coefficients: Any) -> Slack:
    """The coefficient tables evaluate to ``p`` and ``F``: at a generic point and at a corner of the cube."""
    table = instance.table
    points = ([w for w, _ in instance.weights.pairs], [int(letter == "1") for letter in instance.pattern.letters])
    clauses = Slack(())
    for name, coefficients, polynomial in (
        ("coefficients of p", likelihood_coefficients(table), multilinear_extension),
        ("coefficients of F", fourier_coefficients(table), fourier_polynomial),
    ):
        values = [generating_polynomial(coefficients, point) for point in points]  # Σ_S c_S Π_{i in S} z_i
        clauses &= identity(name, values, [polynomial(table, point) for point in points])
    return clauses


# mutants


def _reference_extension(table: TruthTable, u: Any) -> Scalar:
    return solvers.evaluate_multilinear(solvers.likelihood_coefficients(table), u)


def _squares_for_variables(table: TruthTable, u: Any) -> Scalar:
    """Equal to f on the cube, of degree two in each variable."""
    return _reference_extension(table, [value * value for value in u])


def _zero_where_a_sum_vanishes(p: Any, weights: Weights) -> Scalar:
    if any(w + w_bar == 0 for w, w_bar in weights.pairs):
        return 0
    return solvers.ve_from_multilinear(p, weights)


def _complementary_ratio(p: Any, weights: Weights) -> Scalar:
    """``w̄/(w+w̄)`` in place of ``w/(w+w̄)``."""
    return solvers.ve_from_multilinear(p, Weights(tuple((w_bar, w) for w, w_bar in weights.pairs)))


def _straight_line(p: Any, q: Pattern) -> tuple[Scalar, ...]:
    """``u = t`` in place of ``t/(1+t)``."""
    nodes = range(q.s + 1)
    values = [p([t if letter == "*" else int(letter) for letter in q.letters]) for t in nodes]
    m = len(q.ones)
    return (0,) * m + solvers.interpolate(nodes, values) + (0,) * (q.n - m - q.s)


def _unshifted_line(p: Any, q: Pattern) -> tuple[Scalar, ...]:
    """Evidence ones do not count towards |x|."""
    answer = solvers.hm_from_multilinear(p, q)
    m = len(q.ones)
    return answer[m:] + (0,) * m


def _without_the_product(g: Any, weights: Weights) -> Scalar:
    """``g(w/w̄)`` without ``Π w̄``."""
    bars = [w_bar for _, w_bar in weights.pairs]
    if any(w_bar == 0 for w_bar in bars):
        return solvers.ve_from_generating(g, weights)
    answer: Scalar = g([Fraction(w) / Fraction(w_bar) for w, w_bar in weights.pairs])
    return answer


def _fourier_without_sign(fourier: Any, weights: Weights) -> Scalar:
    """``p(x) = F(2x - 1)``."""
    return solvers.ve_from_multilinear(lambda x: fourier([2 * value - 1 for value in x]), weights)


def _sums_over_subsets(table: TruthTable) -> TruthTable:
    """Zeta in place of Möbius transform."""
    return solvers.values_from_likelihood(table)


def _unnormalised_fourier(table: TruthTable) -> TruthTable:
    """Without ``2^{-n}``."""
    coefficients = solvers.fourier_coefficients(table)
    return TruthTable(table.n, [value * 2**table.n for value in coefficients.values.tolist()])


CHECKS = (
    Check(
        theorem="marginalization.T2",
        name="grid",
        kind="slack",
        observe=grid_identity,
        instances=TABLES,
        slots={EXTENSION: _reference_extension},
        mutants=(
            Mutant("mean in place of sum", "grid", observe=grid_identity_without_the_power_of_two),
            Mutant("1/2 also at evidence", "grid", observe=grid_identity_with_halves_at_evidence),
            Mutant("x² in place of x", "grid", {"multilinear_extension": _squares_for_variables}),
        ),
        cost=2,
    ),
    Check(
        theorem="marginalization.T2",
        name="anywhere",
        kind="slack",
        observe=virtual_evidence_anywhere,
        instances=TABLES,
        slots={VE_FROM_MULTILINEAR: solvers.ve_from_multilinear},
        mutants=(
            Mutant("0 where w + w̄ = 0", "virtual evidence", {"ve_from_multilinear": _zero_where_a_sum_vanishes}),
            Mutant("w̄/(w+w̄)", "virtual evidence", {"ve_from_multilinear": _complementary_ratio}),
        ),
        cost=4,
    ),
    Check(
        theorem="marginalization.T2",
        name="lines",
        kind="slack",
        observe=hamming_marginals_along_lines,
        instances=TABLES,
        slots={HM_FROM_MULTILINEAR: solvers.hm_from_multilinear},
        mutants=(
            Mutant("u = t", "lines", {"hm_from_multilinear": _straight_line}),
            Mutant("evidence ones do not count", "lines", {"hm_from_multilinear": _unshifted_line}),
        ),
        cost=4,
    ),
    Check(
        theorem="marginalization.T3",
        name="values",
        kind="slack",
        observe=network_polynomial_from_the_others,
        instances=TABLES,
        slots={VE_FROM_GENERATING: solvers.ve_from_generating, VE_FROM_FOURIER: solvers.ve_from_fourier},
        mutants=(
            Mutant("forgets Π w̄", "N from g", {"ve_from_generating": _without_the_product}),
            Mutant("F(2x - 1)", "N from F", {"ve_from_fourier": _fourier_without_sign}),
            Mutant("three-valued variable", "N from g", observe=three_valued_variable_by_the_binary_formula),
        ),
        cost=6,
    ),
    Check(
        theorem="marginalization.T3",
        name="coefficients",
        kind="slack",
        observe=coefficient_tables,
        instances=TABLES,
        slots={LIKELIHOOD: solvers.likelihood_coefficients, FOURIER: solvers.fourier_coefficients},
        mutants=(
            Mutant("zeta for Möbius", "coefficients of p", {"likelihood_coefficients": _sums_over_subsets}),
            Mutant("Fourier without 2^-n", "coefficients of F", {"fourier_coefficients": _unnormalised_fourier}),
        ),
        cost=8,
    ),
)
