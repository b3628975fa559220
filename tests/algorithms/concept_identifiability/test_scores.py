"""Agreement of codes: reference correlations, the pooling trap, information with its binning, bad input."""

import math

import numpy as np
import pytest

from whp.algorithms.concept_identifiability import (
    amari_distance,
    block_r_squared,
    matched_correlation,
    matched_correlation_of,
    mutual_information,
    mutual_information_gap,
)


def rotation(angle):
    return np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])


@pytest.mark.parametrize("angle", [0.0, 0.3, math.pi / 4, 1.2, math.pi / 2])
def test_a_rotated_isotropic_pair_scores_the_larger_of_cosine_and_sine(angle):
    larger = max(abs(math.cos(angle)), abs(math.sin(angle)))
    assert matched_correlation_of(rotation(angle)).mean == pytest.approx(larger)


def test_rotation_by_45_degrees_in_samples():
    rng = np.random.default_rng(0)
    z = rng.normal(size=(200_000, 2))
    assert matched_correlation_of(rotation(math.pi / 4)).mean == pytest.approx(0.7071067811865476, abs=1e-15)
    spearman = matched_correlation(z, z @ rotation(math.pi / 4).T, kind="spearman").mean
    assert spearman == pytest.approx(6 / math.pi * math.asin(1 / (2 * math.sqrt(2))), abs=3e-3)
    assert spearman == pytest.approx(0.6901603684878476, abs=3e-3)


def test_class_means_inflate_pooled_correlations_only():
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1], 100_000)
    shift = np.where(labels == 1, 5.0, -5.0)[:, None]
    z, z_hat = rng.normal(size=(200_000, 1)) + shift, rng.normal(size=(200_000, 1)) + shift
    assert matched_correlation(z, z_hat).mean == pytest.approx(25 / 26, abs=1e-3)
    assert matched_correlation(z, z_hat, labels).mean < 0.01


def test_a_twisted_pair_keeps_little_correlation_and_less_as_the_angle_spreads():
    rng = np.random.default_rng(0)
    for s, expected in ((1.0, 0.6065306597126334), (2.0, 0.1353352832366127)):
        angle, pair = s * rng.normal(size=1_000_000), rng.normal(size=(1_000_000, 2))
        turned = np.cos(angle) * pair[:, 0] - np.sin(angle) * pair[:, 1]
        assert np.corrcoef(turned, pair[:, 0])[0, 1] == pytest.approx(expected, abs=0.01)
        assert turned.var() == pytest.approx(1, abs=0.02)


def test_block_r_squared_tells_a_function_from_a_twisted_pair():
    rng = np.random.default_rng(0)
    angle, pair = rng.normal(size=6000), rng.normal(size=(6000, 2))
    twisted = np.stack([np.cos(angle) * pair[:, 0] - np.sin(angle) * pair[:, 1],
                        np.sin(angle) * pair[:, 0] + np.cos(angle) * pair[:, 1]], axis=1)  # fmt: skip
    assert block_r_squared(pair, np.tanh(pair) + pair[:, ::-1]) > 0.97
    assert block_r_squared(pair, twisted) == pytest.approx(0.36787944117144233, abs=0.05)
    assert block_r_squared(np.column_stack([angle, pair]), twisted) > 0.85
    with pytest.raises(ValueError, match="target must vary, coordinate 0 is constant"):
        block_r_squared(pair, np.ones((6000, 1)))
    with pytest.raises(ValueError, match="same number of rows"):
        block_r_squared(pair, twisted[:10])


def test_constant_codes_and_huge_values_give_numbers():
    z = np.random.default_rng(0).normal(size=(50, 2))
    assert matched_correlation(z, np.zeros((50, 2))).mean == 0
    assert matched_correlation(1e300 * z, 1e-300 * z).mean == pytest.approx(1)
    assert matched_correlation(z, z + 1e3).mean == pytest.approx(1)
    assert matched_correlation(z, np.exp(z), kind="spearman").mean == pytest.approx(1)
    assert matched_correlation(z[:, :1], z).assignment.tolist() == [0]


@pytest.mark.parametrize(
    ("z", "z_hat", "message"),
    [
        (np.zeros((3, 2)), np.zeros((4, 2)), "same number of rows"),
        (np.zeros((3, 2)), np.zeros((3, 1)), "as many estimated as true"),
        (np.zeros((3, 2)), np.full((3, 2), np.inf), "z_hat must be finite"),
        (np.zeros(3), np.zeros(3), "shape"),
    ],
)
def test_bad_codes_are_refused(z, z_hat, message):
    with pytest.raises(ValueError, match=message):
        matched_correlation(z, z_hat)


def test_amari_distance_is_zero_for_scaled_permutations_only():
    assert amari_distance(np.diag([3.0, -1.0])[::-1], np.eye(2)) == 0
    assert amari_distance(rotation(math.pi / 4), np.eye(2)) == pytest.approx(1)
    assert amari_distance([[2.0]], [[5.0]]) == 0
    with pytest.raises(ValueError, match="without zero rows"):
        amari_distance([[0.0, 0.0], [1.0, 1.0]], np.eye(2))


FACTOR, TIED, FREE = [0, 0, 1, 1], [0.1, 0.1, 0.9, 0.9], [0, 1, 0, 1]


def test_information_of_the_reference_codes():
    assert mutual_information(TIED, FACTOR).value == pytest.approx(math.log(2), abs=1e-15)
    assert mutual_information(FREE, FACTOR).value == 0
    gap = mutual_information_gap(np.column_stack([TIED, FREE]), np.array(FACTOR)[:, None])
    assert gap.value == pytest.approx(1, abs=1e-15)
    assert gap.information[0][0].binning == "2 values" and gap.informative


def test_constant_factors_are_refused_and_one_sample_a_bin_is_flagged():
    with pytest.raises(ValueError, match="factor must vary"):
        mutual_information(TIED, [1, 1, 1, 1])
    found = mutual_information([0.1, 0.2, 0.3, 0.4], FACTOR)
    assert not found.informative and found.binning == "4 values"
    assert found.value <= found.factor_entropy


def test_continuous_codes_are_not_cast_to_integers():
    rng = np.random.default_rng(0)
    code = rng.uniform(0, 1, 4000)
    found = mutual_information(code, (code > np.median(code)).astype(int))
    assert found.value == pytest.approx(math.log(2), abs=1e-3)
    assert found.binning == "10 bins of equal frequency"


def test_information_stays_between_zero_and_the_smaller_entropy():
    rng = np.random.default_rng(0)
    for _ in range(200):
        n = int(rng.integers(2, 60))
        code = rng.normal(size=n).round(int(rng.integers(0, 3)))
        factor = rng.integers(0, 4, n)
        if len(set(factor.tolist())) == 1:
            continue
        found = mutual_information(code, factor, bins=int(rng.integers(2, 12)))
        assert 0 <= found.value <= min(found.code_entropy, found.factor_entropy)


def test_factors_may_be_names_and_bad_bins_are_refused():
    assert mutual_information(TIED, ["a", "a", "b", "b"]).value == pytest.approx(math.log(2))
    with pytest.raises(ValueError, match="bins must be an integer of at least 2, got 1"):
        mutual_information(TIED, FACTOR, bins=1)
    with pytest.raises(ValueError, match="same length"):
        mutual_information(TIED, FACTOR[:2])
    with pytest.raises(ValueError, match="codes must have shape"):
        mutual_information_gap(np.zeros((4, 1)), np.array(FACTOR)[:, None])
