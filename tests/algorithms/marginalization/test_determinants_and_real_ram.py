"""Determinantal circuits, traced real-RAM programs and removal of divisions."""

import itertools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whp.algorithms.marginalization.circuit_evaluation import evaluate_batch, evaluate_exact
from whp.algorithms.marginalization.circuit_properties import certify_multilinear
from whp.algorithms.marginalization.determinant_circuits import dpp_circuit, gaussian_elimination_program
from whp.algorithms.marginalization.division_removal import strassen_divfree
from whp.algorithms.marginalization.real_ram import (
    NonGenericPathError,
    NotRealRamError,
    TraceOperation,
    generic_point,
    record_path,
    trace_real_ram,
)

F = Fraction
KERNEL = [[2, 1, 0], [1, 2, 1], [0, 1, 3]]
GRID = [F(0), F(1), F(1, 2), F(2, 7), F(-3)]


def minor_sum(kernel: Sequence[Sequence[int]], weights: Sequence[tuple[Fraction, Fraction]]) -> Fraction:
    """Sum over all principal minors, by Leibniz expansion: the definition of N."""
    n = len(kernel)
    total = F(0)
    for x in itertools.product((0, 1), repeat=n):
        chosen = [i for i in range(n) if x[i]]
        minor = F(0)
        for permutation in itertools.permutations(range(len(chosen))):
            inversions = sum(a > b for a, b in itertools.combinations(permutation, 2))
            minor += (-1) ** inversions * math.prod(F(kernel[chosen[i]][chosen[j]]) for i, j in enumerate(permutation))
        total += minor * math.prod((w if bit else wbar for bit, (w, wbar) in zip(x, weights, strict=True)), start=F(1))
    return total


def points(n: int, seed: int = 0) -> tuple[tuple[Fraction, ...], tuple[Fraction, ...]]:
    rng = np.random.default_rng(seed)
    return generic_point(n, rng), generic_point(n, rng)


# ---- determinantal point processes --------------------------------------------------------------------------------


def test_reference_numbers_of_the_three_item_process() -> None:
    circuit = dpp_circuit(KERNEL)
    values = [evaluate_exact(circuit, [*x, *(1 - b for b in x)]) for x in itertools.product((0, 1), repeat=3)]
    assert values == [1, 3, 2, 5, 2, 6, 3, 7]
    assert evaluate_exact(circuit, [1] * 6) == 29
    assert evaluate_exact(circuit, [F(1, 2), 3, F(-2, 5), 1, 2, F(1, 3)]) == F(-61, 6)
    assert 8 * evaluate_exact(circuit, [F(1, 2)] * 6) == 29
    assert evaluate_exact(circuit, [1, 1, 1, 1, 0, 1]) == 17
    x = [F(1, 3), F(3, 4), F(2, 5)]
    assert evaluate_exact(circuit, [*x, *(1 - v for v in x)]) == F(67, 20)
    assert certify_multilinear(circuit).multilinear


@given(
    st.integers(0, 4).flatmap(
        lambda n: st.lists(st.lists(st.integers(-3, 3), min_size=n, max_size=n), min_size=n, max_size=n)
    )
)
@settings(max_examples=60, deadline=None)
def test_circuit_equals_the_sum_over_minors_also_for_singular_and_unsymmetric_kernels(kernel: list[list[int]]) -> None:
    n = len(kernel)
    circuit = dpp_circuit(np.array(kernel, dtype=object).reshape(n, n))
    weights = [(F(2 * i - 3, 3), F(i - 1, 2)) for i in range(n)]
    assert evaluate_exact(circuit, [w for w, _ in weights] + [b for _, b in weights]) == minor_sum(kernel, weights)


def test_circuit_size_grows_like_the_fourth_power() -> None:
    sizes = [dpp_circuit(np.arange(1, n * n + 1).reshape(n, n)).size for n in (4, 8, 16)]
    assert sizes[2] < 16**4
    assert sizes[2] / sizes[1] < 2**4.2


def test_float_kernels_agree_with_numpy() -> None:
    rng = np.random.default_rng(2)
    kernel = rng.normal(size=(9, 9))
    rows = rng.normal(size=(5, 18))
    expected = [np.linalg.det(np.diag(row[9:]) + row[:9, None] * kernel) for row in rows]
    assert evaluate_batch(dpp_circuit(kernel), rows) == pytest.approx(expected, rel=1e-9)


def test_kernels_must_be_square_and_finite() -> None:
    with pytest.raises(ValueError, match="square"):
        dpp_circuit([[1, 2]])
    with pytest.raises(ValueError, match=r"L\[0, 0\] must be finite"):
        dpp_circuit([[math.nan]])


# ---- the worked example of division removal -----------------------------------------------------------------------


def test_worked_example_has_the_stated_counts() -> None:
    trace = trace_real_ram(gaussian_elimination_program(KERNEL), *points(3))
    assert trace.n_operations == 45
    assert trace.count(TraceOperation.DIVIDE) == 3
    assert len(trace.comparisons) == 4
    result = strassen_divfree(trace)
    assert result.unfolded_gates == 474
    assert result.gate_bound == 726
    assert result.simplified.size <= result.circuit.size <= result.unfolded_gates


def test_worked_example_equals_the_polynomial_on_the_grid() -> None:
    result = strassen_divfree(trace_real_ram(gaussian_elimination_program(KERNEL), *points(3)))
    for x in itertools.product(GRID, repeat=3):
        expected = minor_sum(KERNEL, [(v, 1 - v) for v in x])
        assert evaluate_exact(result.circuit, x) == evaluate_exact(result.simplified, x) == expected
    assert evaluate_exact(result.circuit, [F(1, 3), F(3, 4), F(2, 5)]) == F(67, 20)
    assert certify_multilinear(result.simplified).multilinear


def test_path_at_a_corner_is_the_lookup_branch_and_is_refused() -> None:
    program = gaussian_elimination_program(KERNEL)
    corner = record_path(program, (1, 1, 0))
    constant = strassen_divfree(corner).circuit
    assert evaluate_exact(constant, [F(1, 3), F(3, 4), F(2, 5)]) == 3
    with pytest.raises(NonGenericPathError, match="equality at xi but not at second_xi"):
        trace_real_ram(program, (1, 1, 0), points(3)[0])


def test_truncating_one_power_early_is_wrong() -> None:
    trace = trace_real_ram(gaussian_elimination_program(KERNEL), *points(3))
    short = strassen_divfree(trace, degree=2).circuit
    assert evaluate_exact(short, [F(1, 3), F(3, 4), F(2, 5)]) != F(67, 20)


@given(st.integers(0, 10**6), st.integers(1, 4))
@settings(max_examples=25, deadline=None)
def test_random_kernels_give_the_polynomial_within_the_bound(seed: int, n: int) -> None:
    kernel = np.random.default_rng(seed).integers(-3, 4, size=(n, n)).astype(object)
    trace = trace_real_ram(gaussian_elimination_program(kernel), *points(n, seed + 1))
    result = strassen_divfree(trace)
    assert (
        result.circuit.size <= result.unfolded_gates <= result.gate_bound == (n + 1) ** 2 * trace.n_operations + 2 * n
    )
    for x in itertools.product((F(0), F(1), F(2)), repeat=n):  # a degree <= 2 certificate in every variable
        assert evaluate_exact(result.circuit, x) == minor_sum(kernel.tolist(), [(v, 1 - v) for v in x])


# ---- the tracer ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("program", "what"),
    [
        (lambda w: w[0] // 1, "floor division"),
        (lambda w: 1 % w[0], "remainder"),
        (lambda w: math.floor(w[0]), "floor"),
        (lambda w: math.ceil(w[0]), "ceiling"),
        (lambda w: math.trunc(w[0]), "truncation"),
        (lambda w: round(w[0]), "rounding"),
        (lambda w: int(w[0]), "integer"),
        (lambda w: float(w[0]), "float"),
        (lambda w: [1, 2][w[0]], "index"),
        (lambda w: w[0] & 1, "bit"),
        (lambda w: 1 << w[0], "bit"),
        (lambda w: ~w[0], "bit"),
        (lambda w: divmod(w[0], 1), "division with remainder"),
        (lambda w: {w[0]: 1}[w[0]], "hashing"),
        (lambda w: w[0] ** 0.5, "power"),
        (lambda w: 2 ** w[0], "exponent"),
        (lambda w: math.sqrt(w[0]), "float"),
        (lambda w: complex(w[0]), "complex"),
        (lambda w: "text", "one number"),
        (lambda w: [w[0]], "one number"),
    ],
)
def test_programs_that_leave_the_real_ram_are_refused(program: Callable[[Sequence[Any]], Any], what: str) -> None:
    with pytest.raises(NotRealRamError, match=what):
        trace_real_ram(program, *points(1))


def test_all_permitted_operations_are_recorded_with_their_operands() -> None:
    def program(w: Sequence[Any]) -> Any:
        return (2 - w[0]) * w[1] ** 3 / np.float64(0.5) + abs(-w[0]) - (+w[1]) + np.int64(3) / w[0]

    trace = record_path(program, (F(1, 3), F(2, 7)))
    x, y = F(1, 3), F(2, 7)
    assert trace.value == (2 - x) * y**3 * 2 + x - y + 3 / x
    assert [c.operator for c in trace.comparisons] == ["<"]
    assert trace.replay(trace.xi) == trace.values


def test_truth_values_and_negative_powers_are_comparisons_and_divisions() -> None:
    trace = record_path(lambda w: w[0] ** -2 if w[0] else w[0] ** 0, (F(2),))
    assert trace.value == F(1, 4)
    assert trace.count(TraceOperation.DIVIDE) == 1
    assert [c.operator for c in trace.comparisons] == ["!="]
    assert record_path(lambda w: w[0] ** 0, (F(0),)).value == 1


def test_constant_programs_and_no_inputs() -> None:
    trace = trace_real_ram(lambda w: 7, (), ())
    assert evaluate_exact(strassen_divfree(trace).circuit, []) == 7
    assert evaluate_exact(strassen_divfree(trace_real_ram(lambda w: F(1, 3), *points(2))).circuit, [5, 6]) == F(1, 3)


def test_identically_zero_tests_are_accepted() -> None:
    trace = trace_real_ram(lambda w: w[0] if w[0] - w[0] == 0 else w[0] * 0, *points(1))
    assert evaluate_exact(strassen_divfree(trace).circuit, [F(5, 9)]) == F(5, 9)


def test_different_paths_at_the_two_points_are_refused() -> None:
    with pytest.raises(NonGenericPathError, match="different paths"):
        trace_real_ram(lambda w: w[0] + 0 if w[0] > F(1, 2) else w[0] * 1, (F(1, 3),), (F(2, 3),))


def test_a_vanishing_denominator_asks_for_another_point() -> None:
    with pytest.raises(NonGenericPathError, match="divides by a value that is 0"):
        trace_real_ram(lambda w: 1 / (w[0] - w[1]), (1, 1), (2, 3))


def test_numbers_of_two_runs_do_not_mix() -> None:
    kept: list[Any] = []

    def program(w: Sequence[Any]) -> Any:
        kept.append(w[0])
        return w[0] + kept[0]

    with pytest.raises(NotRealRamError, match="two runs"):
        trace_real_ram(program, *points(1))


def test_points_and_arguments_are_checked() -> None:
    with pytest.raises(ValueError, match="at least 40"):
        generic_point(2, np.random.default_rng(0), bits=8)
    with pytest.raises(ValueError, match="coordinates"):
        trace_real_ram(lambda w: w[0], (1,), (1, 2))
    with pytest.raises(ValueError, match="degree"):
        strassen_divfree(record_path(lambda w: w[0], (1,)), degree=-1)
    for x in generic_point(50, np.random.default_rng(0)):
        assert 0 < x < 1


def test_rational_interpolation_is_a_polynomial_after_all() -> None:
    """(x**2 - y**2) / (x - y) is x + y although the program divides."""
    trace = trace_real_ram(lambda w: (w[0] * w[0] - w[1] * w[1]) / (w[0] - w[1]), *points(2))
    result = strassen_divfree(trace)
    assert evaluate_exact(result.circuit, [F(3), F(3)]) == 6
    assert certify_multilinear(result.circuit).multilinear
