"""Views far from the origin, constant images, and numbers that are not finite."""

import numpy as np
import pytest

from whp.algorithms.contrastive_augmentation import (
    SingularViewsError,
    augmentation_distances,
    count_vectors,
    fit_linear_encoder,
    gain_gap,
    integrated_log_loss,
    kendall_tau,
    nt_xent,
    probe_accuracy,
)


@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_distances_do_not_depend_on_where_the_origin_is(offset):
    views = np.random.default_rng(0).integers(-99, 100, (300, 20)) * 2.0**-10
    images = np.repeat([0, 1], 150)
    found = augmentation_distances(views + offset, images, np.zeros(300, dtype=int))
    lengths = np.linalg.norm(views[:, None] - views[None], axis=2)
    same = images[:, None] == images
    assert found.spread == lengths[same].max() and found.gap == lengths[~same].min()


def test_the_nearest_pair_is_found_among_clusters_that_lie_far_apart():
    rng = np.random.default_rng(0)
    clusters = np.repeat([[0.0], [1e7]], 150, axis=0) + rng.integers(1, 2000, (300, 400)) * 2.0**-20
    views = np.vstack([clusters, clusters + rng.integers(1, 2000, (300, 400)) * 2.0**-20])
    images = np.repeat([0, 1], 300)
    found = augmentation_distances(views, images, [0] * 600)
    assert found.gap == min(np.linalg.norm(views[300:] - v, axis=1).min() for v in views[:300])


def test_distances_refuse_labels_and_views_without_meaning():
    with pytest.raises(ValueError, match="images must not be nan"):
        augmentation_distances([[0.0], [1.0]], [float("nan")] * 2, [0, 0])
    with pytest.raises(ValueError, match="at most 1e\\+150 in size"):
        augmentation_distances([[1e200], [1.0]], [0, 1], [0, 0])
    with pytest.raises(ValueError, match="got several for image b"):
        augmentation_distances([[0.0], [1.0]], ["b", "b"], ["x", "y"])


@pytest.mark.parametrize("value", [0.1, 1e6 + 0.1, 255.0])
@pytest.mark.parametrize("ridge", [0.0, 1e-3])
def test_constant_images_have_no_linear_encoder(value, ridge):
    with pytest.raises(SingularViewsError, match="got rank 0"):
        fit_linear_encoder(np.full((7, 3), value), range(7), 1, ridge=ridge)


def test_a_linear_encoder_needs_a_whole_dimension_and_squares_that_fit():
    with pytest.raises(TypeError, match="dimension must be an integer"):
        fit_linear_encoder(np.eye(3), [0, 1, 2], 1.5)
    with pytest.raises(ValueError, match="small enough for their squares"):
        fit_linear_encoder(np.eye(3) * 1e200, [0, 1, 2], 1)


@pytest.mark.parametrize(
    "change, message",
    [
        ({"train": [[float("nan")], [0.0]]}, "train must be finite"),
        ({"truth": [0, 1, 1]}, "test must have a class for each of 1 rows"),
        ({"test": [[0.0, 1.0]]}, "one width"),
        ({"train": [1.0, 0.0]}, "shape"),
        ({"ridge": 0.0}, "ridge must be positive"),
        ({"ridge": float("nan")}, "ridge must be positive"),
    ],
)
def test_a_probe_scores_nothing_without_sense(change, message):
    given = {"train": [[0.0], [1.0]], "labels": [0, 1], "test": [[0.2]], "truth": [0], **change}
    with pytest.raises(ValueError, match=message):
        probe_accuracy(**given)


def test_ranks_of_nan_are_refused_and_of_infinity_kept():
    with pytest.raises(ValueError, match="nan"):
        kendall_tau({"a": [float("nan"), 1.0]}, [1.0, 2.0])
    assert kendall_tau({"a": [1.0, float("inf")]}, [1.0, 2.0]) == {"a": 1.0}


@pytest.mark.parametrize("score", [float("nan"), float("inf")])
def test_an_undefined_negative_is_not_a_dropped_one(score):
    with pytest.raises(ValueError, match="negatives must be finite"):
        integrated_log_loss(np.array([score]), np.ones(1), np.zeros(1), 1)
    with pytest.raises(ValueError, match="count must be at least 1"):
        integrated_log_loss(np.zeros(1), np.ones(1), np.zeros(1), 0)


def test_small_and_large_extremes_are_answered_or_named():
    assert gain_gap([1e-200, 0.0], [2e-200, 0.0], 0.1) == pytest.approx(7e-201, rel=1e-12, abs=0.0)
    with pytest.raises(ValueError, match="at most 1e\\+150"):
        gain_gap([1e200, 0.0], [1.0, 0.0], 0.1)
    with pytest.raises(ValueError, match="temperature must be at least 1e-300"):
        nt_xent([[1.0, 0.0], [0.0, 1.0]], [0, 0], 1e-320)
    with pytest.raises(ValueError, match="total at least 0"):
        count_vectors(2, -1)


@pytest.mark.parametrize("spread", [1.0, 250.0, 900.0])
@pytest.mark.parametrize("shift", [0.0, 600.0])
def test_the_integral_is_that_of_the_counts_at_every_spread_of_the_scores(spread, shift):
    scores, weights = np.array([0.0, 0.3, 1.0]) * spread + shift, np.array([0.2, 0.5, 0.3])
    positives = np.array([0.1, 0.8]) * spread + shift
    exact = np.zeros(2)
    for a in range(3):
        for b in range(3):
            pair = np.logaddexp(scores[a], scores[b]) - positives
            exact += weights[a] * weights[b] * np.logaddexp(0.0, pair)
    assert integrated_log_loss(scores, weights, positives, 2) == pytest.approx(exact, rel=1e-12)
