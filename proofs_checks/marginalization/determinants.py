"""Checks of T4: determinantal functions answer every query by determinants."""

from __future__ import annotations

from typing import Any

from whp.algorithms import marginalization as solvers
from whp.proofs_checks.engine import Check, Instances, Mutant, Slack, identity
from whp.proofs_checks.marginalization.instances import (
    KernelQuery,
    draw_kernel_queries,
    kernel_queries,
    structured_kernel_queries,
)
from whp.proofs_checks.marginalization.outputs import exact_number, exact_numbers
from whp.theory.core import Slot
from whp.theory.marginalization import (
    DPPKernel,
    Pattern,
    Scalar,
    TruthTable,
    Weights,
    determinant,
    hamming_marginals,
    marginal,
    network_polynomial,
    principal_minor,
)

KERNELS = Instances(
    scope="integer kernels on n <= 4 items, non-symmetric and singular ones among them; Davis co-attendance, 5 events",
    examples=kernel_queries,
    draw=draw_kernel_queries,
    strategy=structured_kernel_queries,
)

DPP_VIRTUAL_EVIDENCE = Slot(
    "dpp_virtual_evidence",
    "(kernel, weights)",
    "kernel: DPPKernel; weights",
    "N(w, w̄), exact",
    ("kernel", "weights"),
    validate=exact_number,
)
DPP_MARGINAL = Slot(
    "dpp_marginal",
    "(kernel, q)",
    "kernel: DPPKernel; q: Pattern",
    "marginal, exact",
    ("kernel", "q"),
    validate=exact_number,
)
DPP_HAMMING = Slot(
    "dpp_hamming_marginals",
    "(kernel, q)",
    "kernel; q: Pattern",
    "HM for k = 0..n, exact",
    ("kernel", "q"),
    validate=exact_numbers,
)


def _minors(kernel: DPPKernel) -> TruthTable:
    return TruthTable.from_function(kernel.n, lambda x: principal_minor(kernel, x))


def queries_are_sums_of_minors(
    instance: KernelQuery, *, dpp_virtual_evidence: Any, dpp_marginal: Any, dpp_hamming_marginals: Any
) -> Slack:
    """VM, PM and HM against the sums over principal minors."""
    kernel, q, table = instance.kernel, instance.pattern, _minors(instance.kernel)
    answer = dpp_hamming_marginals(kernel, q)
    expected = hamming_marginals(table, q)
    return (
        identity("VM", dpp_virtual_evidence(kernel, instance.weights), network_polynomial(table, instance.weights))
        & identity("PM", dpp_marginal(kernel, q), marginal(table, q))
        & identity("entries", len(answer), len(expected))
        & identity("HM", list(answer), list(expected))
    )


def _weighted_determinant(kernel: DPPKernel, weights: Weights) -> Scalar:
    """``det(diag(w̄) + diag(w) L)`` by Leibniz' sum."""
    return determinant(
        [
            [w * entry + (w_bar if i == j else 0) for j, entry in enumerate(row)]
            for i, (row, (w, w_bar)) in enumerate(zip(kernel.matrix, weights.pairs, strict=True))
        ]
    )


def determinant_identity(instance: KernelQuery) -> Slack:
    """The determinant by Leibniz' sum against the sum over minors; no solver involved."""
    kernel, weights, table = instance.kernel, instance.weights, _minors(instance.kernel)
    ones = Weights.of([1] * kernel.n)
    return identity("N", _weighted_determinant(kernel, weights), network_polynomial(table, weights)) & identity(
        "Z = det(I+L)", _weighted_determinant(kernel, ones), network_polynomial(table, ones)
    )


def determinant_without_weights(instance: KernelQuery) -> Slack:
    """``det(I + L)`` whatever the weights."""
    kernel, weights = instance.kernel, instance.weights
    left = _weighted_determinant(kernel, Weights.of([1] * kernel.n))
    return identity("N", left, network_polynomial(_minors(kernel), weights))


def determinant_with_roots_of_weights(instance: KernelQuery) -> Slack:
    """``det(diag(w̄) + √|w| L √|w|) = det(diag(w̄) + diag(|w|) L)``: the sign of w is lost."""
    kernel, weights = instance.kernel, instance.weights
    unsigned = Weights(tuple((max(w, -w), w_bar) for w, w_bar in weights.pairs))
    return identity("N", _weighted_determinant(kernel, unsigned), network_polynomial(_minors(kernel), weights))


def determinant_of_leading_minors(instance: KernelQuery) -> Slack:
    """Leading in place of principal minors."""
    kernel, weights = instance.kernel, instance.weights

    def leading(x: tuple[int, ...]) -> Scalar:
        size = sum(x)
        return determinant([row[:size] for row in kernel.matrix[:size]])

    table = TruthTable.from_function(kernel.n, leading)
    return identity("N", _weighted_determinant(kernel, weights), network_polynomial(table, weights))


# reference subjects and mutants


def _virtual_evidence(kernel: DPPKernel, weights: Weights) -> Scalar:
    return solvers.DPPOracle(kernel).virtual_evidence(weights)


def _marginal(kernel: DPPKernel, q: Pattern) -> Scalar:
    return solvers.DPPOracle(kernel).marginal(q)


def _hamming_marginals(kernel: DPPKernel, q: Pattern) -> tuple[Scalar, ...]:
    return solvers.DPPOracle(kernel).hamming_marginals(q)


def _total_whatever_the_weights(kernel: DPPKernel, weights: Weights) -> Scalar:
    return solvers.DPPOracle(kernel).count()


def _minor_of_the_evidence(kernel: DPPKernel, q: Pattern) -> Scalar:
    """``det(L_ones)``, the stars set to 0 in place of summed out."""
    return solvers.DPPOracle(kernel).marginal(Pattern(q.letters.replace("*", "0")))


def _inclusion_in_place_of_evidence(kernel: DPPKernel, q: Pattern) -> Scalar:
    """Evidence 0 treated as a star."""
    return solvers.DPPOracle(kernel).marginal(Pattern(q.letters.replace("0", "*")))


def _leading_minors_by_size(kernel: DPPKernel, q: Pattern) -> tuple[Scalar, ...]:
    counts = [0] * (kernel.n + 1)
    for x in q.assignments():
        counts[sum(x)] += 1
    rows = kernel.matrix
    return tuple(
        count * solvers.exact_determinant([row[:size] for row in rows[:size]]) for size, count in enumerate(counts)
    )


CHECKS = (
    Check(
        theorem="marginalization.T4",
        name="queries",
        kind="slack",
        observe=queries_are_sums_of_minors,
        instances=KERNELS,
        slots={DPP_VIRTUAL_EVIDENCE: _virtual_evidence, DPP_MARGINAL: _marginal, DPP_HAMMING: _hamming_marginals},
        mutants=(
            Mutant("det(I+L) without weights", "VM", {"dpp_virtual_evidence": _total_whatever_the_weights}),
            Mutant("stars set to 0", "PM", {"dpp_marginal": _minor_of_the_evidence}),
            Mutant("evidence 0 summed out", "PM", {"dpp_marginal": _inclusion_in_place_of_evidence}),
            Mutant("leading minors", "HM", {"dpp_hamming_marginals": _leading_minors_by_size}),
        ),
        cost=14,
    ),
    Check(
        theorem="marginalization.T4",
        name="identity",
        kind="slack",
        observe=determinant_identity,
        instances=KERNELS,
        mutants=(
            Mutant("weights left out", "N", observe=determinant_without_weights),
            Mutant("√|w| on both sides", "N", observe=determinant_with_roots_of_weights),
            Mutant("leading minors", "N", observe=determinant_of_leading_minors),
        ),
        cost=2,
    ),
)
