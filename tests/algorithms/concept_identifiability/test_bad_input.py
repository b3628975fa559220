"""Input that has no answer is refused by name, and hard shapes get the right one."""

import numpy as np
import pytest

from whp.algorithms.concept_identifiability import (
    amari_distance,
    diagnose,
    exact_unmixing,
    mutual_information,
    span_check,
    whiten,
)
from whp.theory.concept_identifiability import ClassConceptStructure, LinearGaussianModel, pair_isolates


@pytest.mark.parametrize("share", [0.05, 0.3, 0.7])
def test_isolating_pairs_are_the_first_of_a_search(share):
    rows = (np.random.default_rng(1).random((12, 8)) < share).astype(int)
    structure = ClassConceptStructure(rows)
    assert [c.pair for c in diagnose(rows).concepts] == [pair_isolates(structure, i) for i in range(12)]


def test_a_concept_a_class_is_isolated_by_any_other_class():
    assert [c.pair for c in diagnose(np.eye(3, dtype=int)).concepts] == [(0, 1), (1, 0), (2, 0)]


@pytest.mark.parametrize(
    "matrices, message",
    [
        ([[[-1]]], "first covariance must be positive definite"),
        ([[[1, 2], [2, 1]]], "first covariance must be positive definite"),
        ([[[-1, 0], [0, -1]]], "first covariance must be positive definite"),
        ([[[1, 0], [0, 1]], [[-1, 0], [0, 2]]], "positive semidefinite, got a variance ratio of -1"),
    ],
)
def test_indefinite_covariances_are_no_covariances(matrices, message):
    with pytest.raises(ValueError, match=message):
        exact_unmixing(matrices)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_scores_that_are_not_finite_decide_nothing(value):
    with pytest.raises(ValueError, match="score_difference must be finite"):
        span_check(lambda z, j, c: np.array([value, 1.0]), [[0, 1]], [[1.0, 1.0]], [[0, 1]])


def test_a_span_is_not_claimed_without_points_levels_or_tolerance():
    def score(z, j, c):
        return np.zeros(2)

    with pytest.raises(ValueError, match="points must be finite and at least one"):
        span_check(score, [[0, 1]], np.zeros((0, 2)), [[0, 1]])
    with pytest.raises(ValueError, match="levels must be given for each of 2 classes"):
        span_check(score, [[0], [1]], [[1.0, 1.0]], [[0, 1]])
    with pytest.raises(ValueError, match="tolerance must be in"):
        span_check(score, [[0, 1]], [[1.0, 1.0]], [[0, 1]], tolerance=-1.0)


def test_codes_with_missing_or_complex_values_carry_no_information():
    for code in (np.array([float("nan"), 1.0], dtype=object), [None, 1], [1j, 2]):
        with pytest.raises(ValueError, match="code must"):
            mutual_information(code, [0, 1])


def test_samples_whose_squares_leave_the_floats_are_refused_by_value():
    with pytest.raises(ValueError, match="at most 1e\\+150 in size, got 1e\\+300 at row 0, column 0"):
        whiten([[1e300, 1.0], [-1e300, 2.0], [3.0, 4.0]])


@pytest.mark.parametrize(
    "left, right", [([1, 2], [1, 2]), (np.eye(2), np.eye(3)), (np.zeros((0, 0)), np.zeros((0, 0)))]
)
def test_amari_distance_names_shapes_that_do_not_fit(left, right):
    with pytest.raises(ValueError, match="must be square, got shapes"):
        amari_distance(left, right)


@pytest.mark.parametrize("scale", [float("nan"), float("inf")])
def test_models_have_finite_scales(scale):
    with pytest.raises(ValueError, match="scales must be finite"):
        LinearGaussianModel(ClassConceptStructure([[1]]), ((0,),), ((scale,),))
