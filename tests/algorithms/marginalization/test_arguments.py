"""Bad input of the algorithms: refused by name before anything is computed, never answered with nan or infinity."""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from whp.algorithms import marginalization as solvers
from whp.theory.marginalization import DPPKernel, TruthTable, Weights

RNG = np.random.default_rng(0)
TABLE = TruthTable(2, [1, 2, 3, 4])
ORACLE = solvers.TruthTableOracle(TABLE)
HUGE = TruthTable(2, [1e308] * 4)


@pytest.mark.parametrize("answer", [math.nan, math.inf])
def test_an_oracle_of_functions_passes_on_finite_numbers_only(answer: float) -> None:
    with pytest.raises(ValueError, match="the answer to CNT must be finite"):
        solvers.FunctionOracle(1, count=lambda: answer).count()


def test_an_oracle_of_functions_reads_numpy_integers_as_exact() -> None:
    count = solvers.FunctionOracle(1, count=lambda: np.int64(2**62)).count()  # type: ignore[arg-type, return-value]
    assert 4 * count == 2**64
    with pytest.raises(TypeError, match="NoneType"):
        solvers.FunctionOracle(1, count=lambda: None).count()  # type: ignore[arg-type, return-value]
    with pytest.raises(TypeError, match="must be a function"):
        solvers.FunctionOracle(1, count=3)  # type: ignore[arg-type]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "call",
    [
        lambda: solvers.TruthTableOracle(HUGE).hamming_marginals("**"),
        lambda: solvers.TruthTableOracle(TruthTable(1, [10**400, 1])).virtual_evidence(Weights.of([0.5])),
        lambda: solvers.evaluate_multilinear(TruthTable(1, [1e308, 1e308]), [1e10]),
    ],
)
def test_sums_beyond_floats_are_refused_without_warnings(call: Callable[[], Any]) -> None:
    with pytest.raises(OverflowError, match="range of floats"):
        call()


@pytest.mark.filterwarnings("error")
def test_coefficients_beyond_floats_are_refused_without_warnings() -> None:
    for transform in (solvers.likelihood_coefficients, solvers.fourier_coefficients):
        with pytest.raises(ValueError, match=r"finite|float"):
            transform(TruthTable(1, [-1e308 if transform is solvers.likelihood_coefficients else 1e308, 1e308]))


@pytest.mark.parametrize(
    "call",
    [
        lambda: solvers.draw(ORACLE, 3),  # type: ignore[arg-type]
        lambda: solvers.generic_point(1, 3),  # type: ignore[arg-type]
    ],
)
def test_randomness_comes_from_a_generator(call: Callable[[], Any]) -> None:
    with pytest.raises(TypeError, match="Generator"):
        call()


@pytest.mark.parametrize(
    "call",
    [
        lambda: solvers.gauss_sum(3),  # type: ignore[arg-type]
        lambda: solvers.DPPOracle([[1]]),  # type: ignore[arg-type]
        lambda: solvers.TruthTableOracle([1, 2]),  # type: ignore[arg-type]
        lambda: solvers.network_circuit(3),  # type: ignore[arg-type]
        lambda: solvers.draw_under_weights(ORACLE, [(1, 1)] * 2, RNG),  # type: ignore[arg-type]
        lambda: solvers.SignedVariantOracle(ORACLE, "2"),  # type: ignore[arg-type]
        lambda: solvers.interpolate(["1", "2"], [1, 2]),  # type: ignore[list-item]
        lambda: solvers.convert_coefficients(TABLE, "p", solvers.Semantics.FOURIER),  # type: ignore[arg-type]
        lambda: solvers.CircuitBuilder("xy"),
        lambda: solvers.CircuitBuilder(["x"]).input(0.0),  # type: ignore[arg-type]
        lambda: solvers.CircuitBuilder(["x", "y"]).add(0, 1.0),  # type: ignore[arg-type]
        lambda: solvers.CircuitBuilder(["x"]).build(True),
        lambda: solvers.fit_chow_liu_tree([["a", "b"]]),
        lambda: solvers.fit_chow_liu_tree([[0, 1]], [2.7, 2.2]),  # type: ignore[list-item]
        lambda: solvers.fit_chow_liu_tree([[0, 1]], root=0.5),  # type: ignore[arg-type]
        lambda: solvers.parse_bif(None),  # type: ignore[arg-type]
    ],
)
def test_wrong_kinds_of_arguments_are_type_errors(call: Callable[[], Any]) -> None:
    with pytest.raises(TypeError, match=r"must (be|hold)"):
        call()


def test_a_normaliser_that_is_no_number_is_refused() -> None:
    with pytest.raises(ValueError, match="normaliser"):
        solvers.SignedVariantOracle(ORACLE, math.nan)


def test_the_boolean_variant_needs_signs() -> None:
    with pytest.raises(ValueError, match="1 and -1"):
        solvers.BooleanVariantOracle(ORACLE).count()


@pytest.mark.filterwarnings("error")
def test_data_that_are_no_state_numbers_are_refused_without_warnings() -> None:
    with pytest.raises(ValueError, match="nan in row 0, column 0"):
        solvers.fit_chow_liu_tree([[math.nan, 1.0]])
    with pytest.raises(ValueError, match="without gaps"):
        solvers.fit_chow_liu_tree([[2**40, 1]])
    with pytest.raises(ValueError, match="not finite"):
        solvers.fit_naive_bayes([[0, 1]], [math.nan])


VARIABLE = "variable a { type discrete [ 2 ] { x, y }; } "
TABLE_TEXT = "probability ( a ) { table 0.5, 0.5; } "
CHILD = "variable b { type discrete [ 2 ] { x, y }; } probability ( b | a ) { (x) 0.5, 0.5; (q) 1, 0; }"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (VARIABLE + TABLE_TEXT + TABLE_TEXT, "two probability tables"),
        (VARIABLE + VARIABLE + TABLE_TEXT, "declared twice"),
        (VARIABLE + "probability ( a ) { table 0.5, zz; }", "must be numbers"),
        (VARIABLE + TABLE_TEXT + CHILD, "'a' has no state 'q'"),
    ],
)
def test_contradictory_network_files_are_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        solvers.parse_bif(text)


def test_a_constant_beyond_floats_is_named_in_float_evaluation() -> None:
    builder = solvers.CircuitBuilder(["x"])
    circuit = builder.build(builder.multiply(0, builder.constant(10**400)))
    with pytest.raises(OverflowError, match="constant exceeds float64"):
        solvers.evaluate_batch(circuit, [[1.0]])
    assert solvers.evaluate_log_batch(circuit, [[1.0]])[1][0] == pytest.approx(400 * math.log(10))


def test_inputs_of_a_circuit_have_different_names_and_real_variables() -> None:
    with pytest.raises(ValueError, match="different"):
        solvers.CircuitBuilder(["x", "x"])
    with pytest.raises(ValueError, match="input_variables"):
        solvers.CircuitBuilder(["x"], [-1])
    with pytest.raises(TypeError, match="input_variables"):
        solvers.CircuitBuilder(["x"], [0.5])  # type: ignore[list-item]


def test_generic_points_of_many_bits_fill_the_unit_interval() -> None:
    (points,) = (solvers.generic_point(200, np.random.default_rng(1), bits=99),)
    assert min(points) < Fraction(6, 10)
    assert all(point.denominator.bit_length() > 80 for point in points)


def test_a_point_traced_against_itself_tests_nothing_and_is_refused() -> None:
    special = [Fraction(1, 3)]
    with pytest.raises(solvers.NonGenericPathError, match="differ in every coordinate"):
        solvers.trace_real_ram(lambda w: w[0] if w[0] != Fraction(1, 3) else 0, special, special)
    with pytest.raises(ValueError, match="coordinates"):
        solvers.record_path(lambda w: w[0] * w[1], [1, 2]).replay([1])


def test_a_circuit_of_a_kernel_object_is_that_of_its_matrix() -> None:
    kernel = DPPKernel.of([[2, 1], [1, 2]])
    assert solvers.evaluate_exact(solvers.dpp_circuit(kernel), [1] * 4) == 8
    assert solvers.evaluate_exact(solvers.dpp_circuit([]), []) == 1
