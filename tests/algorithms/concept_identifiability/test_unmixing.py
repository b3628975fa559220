"""Exact and sampled unmixing, whitening, baselines: reference mixtures, ranks, scales, bad input."""

from fractions import Fraction

import numpy as np
import pytest

from whp.algorithms.concept_identifiability import (
    amari_distance,
    covariance_unmixing,
    discriminant_components,
    exact_unmixing,
    fast_ica,
    joint_diagonalisation,
    joint_diagonalisation_of_two,
    matched_correlation,
    sklearn_fast_ica,
    structural_distance,
    whiten,
)

SOURCES = np.array([[1.0, -1, 1, -1], [1, 1, -1, -1]]).T
MIXING = np.array([[2.0, 1], [1, 1]])
THREE = np.array([[1.0, 2, 0], [0, 1, -1], [1, 0, 3]])
C1 = [[5, 2, 1], [2, 2, -3], [1, -3, 10]]
C2 = [[9, 4, 1], [4, 6, -12], [1, -12, 37]]


def test_exact_unmixing_of_the_reference_pair_and_triple():
    pair = exact_unmixing([[[5, 3], [3, 2]], [[25, 17], [17, 13]]])
    assert pair.variance_ratios == ((4,), (9,)) or [row[-1] for row in pair.variance_ratios] == [4, 9]
    triple = exact_unmixing([C1, C2])
    assert [row[-1] for row in triple.variance_ratios] == [1, 2, 4] and triple.identified == (0, 1, 2)
    gain = np.array([[float(v) for v in row] for row in triple.unmixing]) @ THREE
    assert (np.count_nonzero(gain, axis=1) == 1).all()


def test_equal_ratios_are_one_block_until_a_third_class_tells_them_apart():
    one, four, other = (np.diag(d).tolist() for d in ([1, 1], [4, 4], [1, 9]))
    assert exact_unmixing([one, four]).blocks == ((0, 1),)
    assert exact_unmixing([one, four]).identified == ()
    assert exact_unmixing([one, four, other]).identified == (0, 1)
    assert exact_unmixing([one]).blocks == ((0, 1),)


@pytest.mark.parametrize(
    ("matrices", "message"),
    [
        ([], "at least one"),
        ([[[1, 2], [3, 4]]], "covariance 0 must be a symmetric"),
        ([[[1, 1], [1, 1]], [[1, 0], [0, 1]]], "first covariance must be invertible"),
        ([[[1, 0], [0, 1]], [[1, 1], [1, 2]]], "rational variance ratios"),
        ([[[1, 0], [0, 1]], [[1, 0], [0, 2]], [[2, 1], [1, 2]]], "jointly diagonalisable"),
    ],
)
def test_exact_unmixing_refuses_what_has_no_exact_answer(matrices, message):
    with pytest.raises(ValueError, match=message):
        exact_unmixing(matrices)


def test_generalised_eigenvectors_of_the_reference_mixtures():
    pair = joint_diagonalisation_of_two([[5, 3], [3, 2]], [[25, 17], [17, 13]])
    np.testing.assert_allclose(pair.variances[1] / pair.variances[0], [4, 9], rtol=1e-10)
    triple = joint_diagonalisation_of_two(C1, C2)
    np.testing.assert_allclose(triple.variances[1] / triple.variances[0], [1, 2, 4], rtol=1e-9)
    assert amari_distance(triple.unmixing, THREE) < 1e-9
    assert joint_diagonalisation_of_two(np.eye(2), 4 * np.eye(2)).closest_pair < 1e-12


def test_several_covariances_are_diagonalised_at_a_stationary_point():
    rng = np.random.default_rng(0)
    mixing, deviations = rng.normal(size=(5, 5)), rng.uniform(0.5, 3, size=(6, 5))
    samples = [rng.normal(size=(400, 5)) * d @ mixing.T for d in deviations]
    matrices = np.stack([np.cov(x, rowvar=False) for x in samples])
    found = joint_diagonalisation(matrices)
    assert found.converged and amari_distance(found.unmixing, mixing) < 0.05
    moved = found.unmixing @ matrices @ found.unmixing.T
    gradient = (moved / np.einsum("kii->ki", moved)[:, :, None]).mean(axis=0)
    np.testing.assert_allclose(gradient, np.eye(5), atol=1e-4)

    def criterion(w):
        d = w @ matrices @ w.T
        return sum(np.log(np.diag(m)).sum() - np.linalg.slogdet(m)[1] for m in d)

    best = criterion(found.unmixing)
    assert all(best <= criterion(found.unmixing + 0.02 * rng.normal(size=(5, 5))) for _ in range(50))


@pytest.mark.parametrize(
    ("matrices", "message"),
    [
        ([[[1, 0], [0, 0]]], "covariance 0 must be positive definite"),
        ([[[1, 2], [0, 1]]], "symmetric"),
        ([[[1, np.nan], [np.nan, 1]]], "finite"),
        (np.zeros((2, 0, 0)), "shape"),
        (np.eye(2), "shape"),
    ],
)
def test_singular_or_odd_covariances_are_refused(matrices, message):
    with pytest.raises(ValueError, match=message):
        joint_diagonalisation(matrices)


@pytest.mark.parametrize("scale", [1.0, 1e-8, 1e8])
def test_sources_have_variance_one_and_rebuild_the_data(scale):
    x = scale * SOURCES @ MIXING.T
    for found in (fast_ica(x, np.random.default_rng(0)), pytest.importorskip("sklearn") and sklearn_fast_ica(x, 0)):
        np.testing.assert_allclose(found.sources.var(axis=0), 1.0, rtol=0, atol=1e-14)
        np.testing.assert_allclose(found.mean + found.sources @ found.mixing.T, x, rtol=0, atol=1e-12 * scale)
        np.testing.assert_allclose((x - found.mean) @ found.unmixing.T, found.sources, atol=1e-12)
        assert found.rank == 2


@pytest.mark.parametrize("scale", [1.0, 1e-8, 1e8])
def test_a_dependent_row_is_found_whatever_the_scale(scale):
    x = SOURCES @ MIXING.T
    x = scale * np.column_stack([x, x.sum(axis=1)])
    white = whiten(x)
    assert white.rank == 2
    np.testing.assert_allclose(white.eigenvalues / scale**2, [19.848858, 0.151142, 0], atol=5e-7)
    found = fast_ica(x, np.random.default_rng(0))
    assert found.sources.shape == (4, 2) and found.rank == 2
    np.testing.assert_allclose(found.mean + found.sources @ found.mixing.T, x, rtol=0, atol=1e-12 * scale)


def test_a_large_offset_is_no_direction():
    x = np.array([[1.0, 1e6], [2.0, 1e6], [3.0, 1e6]])
    assert whiten(x).rank == 1
    with pytest.raises(ValueError, match="x must vary, got a constant sample"):
        whiten(np.full((5, 3), 0.1))
    with pytest.raises(ValueError, match="n_components must be between 1 and the rank 1, got 2"):
        whiten(x, 2)


def test_independent_components_of_uniform_sources():
    rng = np.random.default_rng(0)
    z = rng.uniform(-1, 1, size=(4000, 3))
    found = fast_ica(z @ THREE.T, rng)
    assert found.converged and amari_distance(found.unmixing, THREE) < 0.05


def levelled(rng, rows=600):
    levels = np.repeat(np.arange(3), rows)
    z = rng.normal(size=(levels.size, 3)) * np.stack([np.ones(3 * rows), 1 + levels, 1 + 0.4 * levels**2], axis=1)
    return z, levels


def test_concepts_are_recovered_from_class_covariances():
    rng = np.random.default_rng(0)
    z, levels = levelled(rng)
    x = z @ THREE.T + 5 * levels[:, None]
    found = covariance_unmixing(x, levels)
    assert matched_correlation(z, found.sources, levels).mean > 0.99
    assert found.closest_pair > 3.5 * found.noise
    np.testing.assert_allclose(found.mean + found.sources @ found.mixing.T, x, atol=1e-9)
    assert structural_distance([[0], [1], [1]], found.structure([[0], [1], [2]])) == 0


def test_proportional_concepts_show_in_the_closest_pair():
    rng = np.random.default_rng(0)
    labels = np.repeat(["a", "b"], 2000)
    z = rng.normal(size=(4000, 2)) * np.where(labels[:, None] == "b", 2.0, 1.0)
    found = covariance_unmixing(z @ MIXING.T, labels)
    assert found.closest_pair < 3 * found.noise and found.labels == ("a", "b")


def test_dependent_coordinates_are_left_out():
    rng = np.random.default_rng(0)
    z, levels = levelled(rng)
    x = np.column_stack([z @ THREE.T, z.sum(axis=1)])
    found = covariance_unmixing(1e-8 * x, levels)
    assert found.rank == 3 and found.sources.shape[1] == 3
    assert matched_correlation(z, found.sources, levels).mean > 0.98


@pytest.mark.parametrize(
    ("x", "labels", "message"),
    [
        (SOURCES, [0, 0, 0, 0], "two classes or more, got only 0"),
        (SOURCES, [0, 0, 0, 1], "two observations or more, got one of 1"),
        (SOURCES, [0, 1], "labels must be one for each of 4"),
        (np.zeros((6, 2)), [0, 0, 0, 1, 1, 1], "must vary"),
        (np.full((4, 2), np.nan), [0, 0, 1, 1], "x must be finite, got nan at row 0, column 0"),
        (SOURCES, [0, 1, 1, 0], "more observations than the rank"),
    ],
)
def test_too_few_classes_or_rows_are_refused(x, labels, message):
    with pytest.raises(ValueError, match=message):
        covariance_unmixing(x, labels)


def test_a_class_without_variation_in_some_direction_is_refused():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(40, 2))
    x[20:, 0] = 3.0
    with pytest.raises(ValueError, match="covariance 1 must be positive definite"):
        covariance_unmixing(x, np.repeat([0, 1], 20))


def test_discriminant_components_separate_means():
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1, 2], 200)
    x = rng.normal(size=(600, 3)) @ THREE.T + labels[:, None] * [3.0, 0, 0]
    found = discriminant_components(x, labels)
    means = np.stack([found[labels == k].mean(axis=0) for k in range(3)])
    assert np.ptp(means[:, 0]) > 1 and np.ptp(means[:, 1:], axis=0).max() < 0.5
    assert discriminant_components(x[::100], labels[::100]).shape[1] <= 3


def test_fractions_stay_fractions():
    found = exact_unmixing([[[1, 0], [0, 1]], [[Fraction(1, 2), 0], [0, Fraction(1, 3)]]])
    assert all(isinstance(v, Fraction) for row in (*found.unmixing, *found.variance_ratios) for v in row)
