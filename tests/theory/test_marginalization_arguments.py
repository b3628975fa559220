"""Arguments of the setting are read whole or refused by name; sums of floats never come out infinite."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from whp.theory.foundations.graphs import complete_graph, path_graph
from whp.theory.marginalization import (
    CNF,
    CutWitness,
    DPPKernel,
    Pattern,
    QuadraticForm,
    TruthTable,
    Weights,
    determinant,
    fourier_polynomial,
    hamming_cut_polynomial,
    hamming_marginal,
    marginal,
    network_polynomial,
    total,
    virtual_cut_value,
)

TABLE = TruthTable(2, [1, 2, 3, 4])


@pytest.mark.parametrize(
    "call",
    [
        lambda: TruthTable(2.0, [1, 2, 3, 4]),  # type: ignore[arg-type]
        lambda: TruthTable(True, [1, 2]),
        lambda: QuadraticForm.from_terms(2, [(0.7, 1)]),  # type: ignore[list-item]
        lambda: QuadraticForm.from_terms(2, ["01"]),  # type: ignore[list-item]
        lambda: CNF(2, ((1.5,),)),  # type: ignore[arg-type]
        lambda: CNF(1.5, ((1,),)),  # type: ignore[arg-type]
        lambda: Pattern.of([0.5, 1]),  # type: ignore[list-item]
        lambda: Pattern.of([float("nan"), 1]),  # type: ignore[list-item]
        lambda: hamming_marginal(TABLE, "**", 1.5),  # type: ignore[arg-type]
        lambda: CutWitness(2.5, 1),  # type: ignore[arg-type]
        lambda: CutWitness(2, 1.5),  # type: ignore[arg-type]
        lambda: CutWitness.full(2.5),  # type: ignore[arg-type]
        lambda: CutWitness(3, 1).y(0, 1.5, 0),  # type: ignore[arg-type]
        lambda: hamming_cut_polynomial(path_graph(3), 1.5),  # type: ignore[arg-type]
    ],
)
def test_fractions_texts_and_truth_values_are_no_whole_numbers(call: Callable[[], Any]) -> None:
    with pytest.raises(TypeError, match="must be an integer"):
        call()


@pytest.mark.parametrize(
    "call",
    [
        lambda: TruthTable(0, 5),
        lambda: TruthTable(1, None),
        lambda: DPPKernel.of([1, 2]),
        lambda: DPPKernel.of("12"),  # type: ignore[arg-type]
        lambda: CNF(2, (1, 2)),  # type: ignore[arg-type]
        lambda: Weights.of(3),  # type: ignore[arg-type]
        lambda: Pattern.of(5),  # type: ignore[arg-type]
        lambda: QuadraticForm.from_terms(2, [0]),  # type: ignore[list-item]
    ],
)
def test_what_is_no_sequence_is_refused_in_one_sentence(call: Callable[[], Any]) -> None:
    with pytest.raises(TypeError, match=r"must be .*, got"):
        call()


def test_negative_numbers_of_copies_are_refused() -> None:
    with pytest.raises(ValueError, match="copies"):
        CutWitness(3, 1).edge_pattern(path_graph(3), -1)
    with pytest.raises(ValueError, match="copies"):
        hamming_cut_polynomial(complete_graph(3), -1)


def test_sums_beyond_floats_are_refused_and_never_infinite() -> None:
    for call in (
        lambda: total(TruthTable(1, [1e308, 1e308])),
        lambda: marginal(TruthTable(1, [1e308, 1e308]), "*"),
        lambda: network_polynomial(TruthTable(1, [-1e308, 1e308]), Weights.of([1e10], [1e10])),
        lambda: determinant([[1e200, 0.0], [0.0, 1e200]]),
    ):
        with pytest.raises(OverflowError, match="range of floats"):
            call()
    with pytest.raises(ValueError, match="finite"):
        virtual_cut_value(path_graph(3), float("nan"))


def test_a_table_with_a_float_must_fit_floats_as_a_whole() -> None:
    with pytest.raises(ValueError, match="range of float64"):
        TruthTable(1, [10**400, 0.5])
    with pytest.raises(ValueError, match="range of float64"):
        TruthTable(1, np.array([1, 1e300], dtype=np.longdouble) ** 2)
    assert TruthTable(1, [10**400, Fraction(1, 2)]).is_exact


def test_determinants_are_of_square_matrices() -> None:
    for matrix in ([[1, 2]], [[1, 2], [1]]):
        with pytest.raises(ValueError, match="square"):
            determinant(matrix)


def test_single_precision_points_are_read_as_floats() -> None:
    assert fourier_polynomial(TABLE, [np.float32(0.5), 1]) == 1.5
