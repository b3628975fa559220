"""Determinantal functions: the determinant identities, exact and in floats."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whp.algorithms.marginalization import DPPOracle, exact_determinant, hm_from_vm, pm_from_vm
from whp.theory.marginalization import (
    DPPKernel,
    Pattern,
    TruthTable,
    Weights,
    determinant,
    hamming_marginals,
    marginal,
    network_polynomial,
    principal_minor,
)

REFERENCE = DPPKernel.of([[2, 1, 0], [1, 2, 1], [0, 1, 3]])


def table_of(kernel: DPPKernel) -> TruthTable:
    return TruthTable.from_function(kernel.n, lambda x: principal_minor(kernel, x))


@st.composite
def kernels(draw: st.DrawFn) -> DPPKernel:
    """Small integer matrices: any, non-symmetric and singular ones among them."""
    n = draw(st.integers(0, 4))
    row = st.lists(st.integers(-2, 2), min_size=n, max_size=n)
    return DPPKernel.of(draw(st.lists(row, min_size=n, max_size=n)))


def test_the_reference_kernel() -> None:
    oracle = DPPOracle(REFERENCE)
    assert [oracle.evaluate(x) for x in itertools.product((0, 1), repeat=3)] == [1, 3, 2, 5, 2, 6, 3, 7]
    assert oracle.count() == 29
    assert oracle.hamming_marginals("***") == (1, 7, 14, 7)
    assert oracle.marginal("*1*") == 17
    weights = Weights.of([Fraction(1, 2), 3, Fraction(-2, 5)], [1, 2, Fraction(1, 3)])
    assert oracle.virtual_evidence(weights) == Fraction(-61, 6)
    assert oracle.is_nonnegative


@given(kernels(), st.data())
def test_all_queries_agree_with_sums_of_minors(kernel: DPPKernel, data: st.DataObject) -> None:
    table, oracle, n = table_of(kernel), DPPOracle(kernel), kernel.n
    q = Pattern("".join(data.draw(st.lists(st.sampled_from("01*"), min_size=n, max_size=n))))
    value = st.fractions(-3, 3, max_denominator=4)
    weights = Weights(tuple(data.draw(st.lists(st.tuples(value, value), min_size=n, max_size=n))))
    assert oracle.virtual_evidence(weights) == network_polynomial(table, weights)
    assert oracle.marginal(q) == marginal(table, q) == pm_from_vm(oracle, q)
    assert oracle.hamming_marginals(q) == hamming_marginals(table, q) == hm_from_vm(oracle, q)
    assert exact_determinant(kernel.matrix) == determinant(kernel.matrix)
    if oracle.is_nonnegative:
        assert table.is_nonnegative


def test_a_singular_evidence_block_still_has_its_hamming_marginals() -> None:
    kernel = DPPKernel.of([[0, 1, 2], [3, 0, 1], [1, 1, 0]])  # det L_{1} = 0
    oracle = DPPOracle(kernel)
    assert oracle.hamming_marginals("1**") == hamming_marginals(table_of(kernel), Pattern("1**"))
    floats = DPPOracle(DPPKernel.of(np.array(kernel.matrix, dtype=float)))
    assert floats.hamming_marginals("1**") == pytest.approx(oracle.hamming_marginals("1**"))


def test_float_kernels_agree_with_exact_ones() -> None:
    rng = np.random.default_rng(3)
    factor = rng.standard_normal((6, 6))
    for matrix in (factor @ factor.T, factor, np.outer(factor[0], factor[0])):
        floats = DPPOracle(DPPKernel.of(matrix))
        exact = DPPOracle(DPPKernel.of([[Fraction(entry) for entry in row] for row in matrix.tolist()]))
        for q in ("******", "1*0*1*", "111111", "11****"):
            scale = max(1.0, float(exact.count()))
            assert floats.marginal(q) == pytest.approx(float(exact.marginal(q)), abs=1e-9 * scale)
            expected = [float(value) for value in exact.hamming_marginals(q)]
            assert floats.hamming_marginals(q) == pytest.approx(expected, abs=1e-9 * scale)
        weights = Weights.of([0.5, -1.5, 2.0, 1.0, 0.0, 3.0], [1.0, 0.5, 0.0, -1.0, 2.0, 1.0])
        assert floats.virtual_evidence(weights) == pytest.approx(float(exact.virtual_evidence(_exactly(weights))))


def _exactly(weights: Weights) -> Weights:
    return Weights(tuple((Fraction(w), Fraction(w_bar)) for w, w_bar in weights.pairs))


def test_determinants_beyond_floats_are_refused_or_given_as_logarithms() -> None:
    oracle = DPPOracle(DPPKernel.of(np.eye(40) * 1e30))
    with pytest.raises(OverflowError, match=r"10\^1200"):
        oracle.count()
    sign, log = oracle.log_virtual_evidence(Weights.of([1] * 40))
    assert sign == 1
    assert log == pytest.approx(40 * math.log(1e30 + 1))
    with pytest.raises(OverflowError, match="Hamming"):
        oracle.hamming_marginals("*" * 40)
    assert DPPOracle(DPPKernel.of([[10**30 if i == j else 0 for j in range(40)] for i in range(40)])).count() == (
        (10**30 + 1) ** 40
    )


def test_signs_are_told_where_they_can_be() -> None:
    assert DPPOracle(DPPKernel.of([[1, 2], [2, 1]])).is_nonnegative is False
    assert DPPOracle(DPPKernel.of([[1, 2], [0, 1]])).is_nonnegative is None
    assert DPPOracle(DPPKernel.of([[1, 1], [1, 1]])).is_nonnegative is True
    assert DPPOracle(DPPKernel.of(np.ones((3, 3)))).is_nonnegative is True
    assert DPPOracle(DPPKernel.of(-np.eye(2))).is_nonnegative is False
    assert DPPOracle(DPPKernel(())).is_nonnegative is True
    assert DPPOracle(DPPKernel(())).count() == 1


def test_a_hundred_items_take_exact_and_float_queries() -> None:
    rng = np.random.default_rng(0)
    factor = rng.integers(-1, 2, size=(100, 5))
    exact = DPPOracle(DPPKernel.of((factor @ factor.T).tolist()))
    vector = exact.hamming_marginals("*" * 100)
    assert sum(vector) == exact.count()
    assert vector[6:] == (0,) * 95  # rank 5
    floats = DPPOracle(DPPKernel.of((factor @ factor.T).astype(float)))
    assert floats.count() == pytest.approx(exact.count())
    assert floats.hamming_marginals("*" * 100)[:6] == pytest.approx(vector[:6])
