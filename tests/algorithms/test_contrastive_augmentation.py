"""Exact risks, certificates, distances, view models, encoders: reference numbers, agreement, corner cases."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from whp.algorithms.contrastive_augmentation import (
    InconstantLabelError,
    SingularViewsError,
    ZeroNormError,
    augmentation_distances,
    certify,
    channel_gain_gap,
    channel_gain_spread,
    cosine_rows,
    count_vectors,
    exact_risks,
    fit_linear_encoder,
    flip_views,
    gain_gap,
    gain_spread,
    integrated_log_loss,
    kendall_tau,
    measure_setting,
    noise_ball_gap,
    noise_ball_spread,
    nt_xent,
    probe_accuracy,
    sampled_risk,
    spectral_loss,
    square_crops,
)
from whp.theory.contrastive_augmentation import (
    ContrastiveProblem,
    OrthonormalFamily,
    bounds,
    circle_problem,
    mean_classifier_risk,
    simplex_batch,
    supervised_cross_entropy,
    supervised_risk,
    unsupervised_risk,
    zero_one_error,
)


def random_problem(seed: int, n_views: int = 9, negatives: int = 1, norm: float = 1.0) -> ContrastiveProblem:
    rng = np.random.default_rng(seed)
    images = np.arange(n_views) // 2
    weights = rng.dirichlet(np.ones(n_views))
    embeddings = norm * rng.normal(size=(n_views, 3))
    return ContrastiveProblem(embeddings, images.tolist(), (images % 3).tolist(), weights, 0.5, negatives)


# Exact risks


@pytest.mark.parametrize(
    ("method", "negatives"), [("direct", 1), *((m, k) for m in ("counts", "integral") for k in (1, 2, 3))]
)
def test_every_method_agrees_with_the_definition(method: Any, negatives: int) -> None:
    for seed in range(3):
        problem = random_problem(seed, negatives=negatives)
        found = exact_risks(problem, method=method)
        assert found.method == method
        assert found.unsupervised == pytest.approx(float(unsupervised_risk(problem)), abs=1e-12)
        assert found.mean_classifier == pytest.approx(float(mean_classifier_risk(problem)), abs=1e-12)
        assert found.supervised == pytest.approx(float(supervised_risk(problem)), abs=1e-12)
        assert found.cross_entropy == pytest.approx(float(supervised_cross_entropy(problem)), abs=1e-12)
        assert found.error == pytest.approx(float(zero_one_error(problem)), abs=1e-12)


@pytest.mark.parametrize("size", [(4, 50, 1000), (4, 10, 255), (10, 5, 20000)])
@pytest.mark.parametrize("temperature", [0.07, 0.2, 1.0, 20.0])
def test_the_integral_is_the_binomial_sum_of_the_orthonormal_family(
    size: tuple[int, int, int], temperature: float
) -> None:
    family = OrthonormalFamily(*size, temperature)
    found = exact_risks(family.problem())
    assert found.unsupervised == pytest.approx(family.unsupervised_risk, rel=1e-11)
    assert found.mean_classifier == pytest.approx(family.mean_classifier_risk, rel=1e-11)


def test_tiny_risks_keep_their_relative_precision() -> None:
    loss = integrated_log_loss(np.array([0.0]), np.array([1.0]), np.array([100.0, 600.0]), 3)
    assert loss == pytest.approx([3 * math.exp(-100), 3 * math.exp(-600)], rel=1e-10)
    assert integrated_log_loss(np.array([-np.inf]), np.array([1.0]), np.array([0.0]), 3).tolist() == [0.0]


def test_risks_at_extreme_temperatures_are_numbers() -> None:
    for temperature in (1e-3, 1e3):
        for negatives in (1, 2, 50):
            problem = ContrastiveProblem(np.eye(4), range(4), (0, 0, 1, 1), None, temperature, negatives)
            found = exact_risks(problem)
            assert math.isfinite(found.unsupervised) and found.unsupervised >= 0
            assert found.unsupervised <= bounds.TRANSFER_BOUND(R_un=0, B=1, sigma_1=2, t=temperature) + 5


def test_scores_beyond_the_integral_are_refused() -> None:
    problem = ContrastiveProblem([[1e4], [-1e4]], (0, 0), (0, 0), None, 1e-3, 9)
    with pytest.raises(ValueError, match="raise the temperature"):
        exact_risks(problem, method="integral")


def test_methods_that_do_not_fit_are_refused() -> None:
    problem = random_problem(0, negatives=2)
    with pytest.raises(ValueError, match="one negative only, got 2"):
        exact_risks(problem, method="direct")
    with pytest.raises(ValueError, match="method must be direct, counts or integral"):
        exact_risks(problem, method="magic")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"would enumerate .* count vectors"):
        exact_risks(random_problem(0, n_views=60, negatives=5), method="counts")


def test_one_class_has_no_supervised_risk() -> None:
    found = exact_risks(ContrastiveProblem([[1.0], [2.0]], (0, 1), (0, 0)))
    assert found.supervised is None and found.cross_entropy == 0.0 and found.error == 0.0
    assert found.collision_probability == 1.0 and found.mean_classifier == pytest.approx(math.log(2))


def test_permuting_views_and_rotating_embeddings_changes_nothing() -> None:
    problem = random_problem(5, negatives=2)
    order = np.random.default_rng(0).permutation(problem.n_views)
    rotation = np.linalg.qr(np.random.default_rng(1).normal(size=(3, 3)))[0]
    moved = ContrastiveProblem(
        (problem.embeddings @ rotation)[order],
        [problem.images[k] for k in order],
        [problem.classes[k] for k in order],
        problem.weights[order],
        problem.temperature,
        problem.negatives,
    )
    assert exact_risks(moved).unsupervised == pytest.approx(exact_risks(problem).unsupervised, abs=1e-13)


def test_count_vectors_are_all_there() -> None:
    vectors = count_vectors(4, 3)
    assert len(vectors) == math.comb(6, 3) == len({tuple(v) for v in vectors.tolist()})
    assert (vectors.sum(axis=1) == 3).all()


# Certificates


def test_each_link_of_the_circle_is_its_reference_number() -> None:
    told = certify(circle_problem())
    assert told.links["spread"] == pytest.approx(0.813447702980423530, abs=1e-15)
    assert told.links["representation"] == pytest.approx(1.147512703122770407, abs=1e-15)
    assert told.links["pixels"] == pytest.approx(1.201991328100970623, abs=1e-15)
    assert told.links["plain"] == pytest.approx(1.450519465524827652, abs=1e-15)
    assert list(told.links.values()) == sorted(told.links.values()) and told.bound == told.links["spread"]
    assert told.supervised_bound == pytest.approx(0.933748225400901751, abs=1e-14)
    assert told.slack > 0 and told.lipschitz == pytest.approx(math.sqrt(2) / 5)
    assert "R_mean = 0.619572 <= 0.813448 (spread)" in str(told)


@pytest.mark.parametrize("family", [OrthonormalFamily(5, 1, 8, 100.0, 1e-9), OrthonormalFamily(4, 50, 1000, 1.0, 1e-9)])
def test_midpoints_written_out_refute_the_plain_sum(family: OrthonormalFamily) -> None:
    corners = np.eye(family.images * family.classes)
    embeddings, images, weights = [], [], []
    for image in range(len(corners)):
        first = image - image % family.images
        others = [k for k in range(first, first + family.images) if k != image]
        embeddings += [corners[image], *(0.5 * (corners[image] + corners[k]) for k in others)]
        images += [image] * family.images
        weights += [1 - family.midpoint_mass, *[family.midpoint_mass / len(others)] * len(others)]
    classes = [image // family.images for image in images]
    mass = np.array(weights) / sum(weights)
    problem = ContrastiveProblem(np.array(embeddings), images, classes, mass, family.temperature, family.negatives)
    told = certify(problem)
    assert told.gap == 0.0 and told.spread == pytest.approx(math.sqrt(0.5)) and told.norm == 1.0
    assert told.unsupervised <= family.unsupervised_risk + 1e-12
    assert told.mean_classifier >= family.mean_classifier_risk - 1e-12
    assert told.first_moment_spread == pytest.approx(family.first_moment_spread, abs=1e-12)
    assert told.mean_classifier > told.unsupervised + (told.spread + told.gap) / family.temperature
    assert told.mean_classifier <= told.bound


def test_labels_that_change_within_an_image_are_refused() -> None:
    problem = ContrastiveProblem([[1.0], [2.0]], (7, 7), (0, 1))
    with pytest.raises(InconstantLabelError, match=r"views of image 7 must have one class, got the classes \[0, 1\]"):
        certify(problem)


def test_certificates_without_pixels_or_without_a_lipschitz_constant() -> None:
    bare = certify(random_problem(1))
    assert bare.pixel_spread is None and list(bare.links) == ["spread", "representation", "plain"]
    equal = ContrastiveProblem([[1.0], [2.0]], (0, 1), (0, 1), pixels=[[0.0], [0.0]])
    assert certify(equal).lipschitz is None and "pixels" not in certify(equal).links
    alone = certify(ContrastiveProblem([[0.0]], (0,), (0,)))
    assert alone.supervised_bound is None and alone.slack == 0.0


def test_sampled_risks_are_within_their_radius() -> None:
    problem = random_problem(2, negatives=3)
    found = sampled_risk(problem, 20_000, np.random.default_rng(0))
    assert abs(found.estimate - float(unsupervised_risk(problem))) < 0.05 < found.radius
    with pytest.raises(ValueError, match="samples must be at least 1, got 0"):
        sampled_risk(problem, 0, np.random.default_rng(0))


# Distances


def test_distances_agree_with_all_pairs_and_name_their_witnesses() -> None:
    rng = np.random.default_rng(0)
    views, images = rng.normal(size=(40, 30)), np.repeat(np.arange(10), 4)
    classes = images % 2
    found = augmentation_distances(views, images, classes)
    apart = np.linalg.norm(views[:, None] - views[None], axis=2)
    same = images[:, None] == images
    assert found.spread == pytest.approx(apart[same].max(), abs=1e-12)
    gaps = [
        apart[np.ix_(images == a, images == b)].min() for a in range(10) for b in range(a + 1, 10) if (a + b) % 2 == 0
    ]
    assert found.gap == pytest.approx(max(gaps), abs=1e-12) and sorted(found.gaps) == pytest.approx(sorted(gaps))
    assert apart[found.spread_views] == pytest.approx(found.spread)
    assert apart[found.gap_views] == pytest.approx(found.gap)


def test_equal_views_far_from_zero_are_at_distance_zero() -> None:
    views = np.full((400, 300), 1e8)
    found = augmentation_distances(views, np.repeat([0, 1], 200), np.zeros(400, dtype=int))
    assert found.spread == 0.0 and found.gap == 0.0


def test_more_views_move_both_distances_the_right_way() -> None:
    rng = np.random.default_rng(3)
    every = rng.normal(size=(6, 12, 4))
    spreads, gaps = [], []
    for count in (1, 2, 4, 8, 12):
        views = every[:, :count].reshape(-1, 4)
        found = augmentation_distances(views, np.repeat(np.arange(6), count), np.zeros(6 * count, dtype=int))
        spreads.append(found.spread)
        gaps.append(found.gap)
    assert spreads == sorted(spreads) and gaps == sorted(gaps, reverse=True) and spreads[0] == 0


def test_distances_of_bad_input_are_refused() -> None:
    with pytest.raises(ValueError, match="one class, got several for image 0"):
        augmentation_distances([[0.0], [1.0]], [0, 0], [0, 1])
    with pytest.raises(ValueError, match="views must be finite, got nan"):
        augmentation_distances([[math.nan]], [0], [0])
    with pytest.raises(ValueError, match="N at least 1"):
        augmentation_distances(np.zeros((0, 2)), [], [])
    with pytest.raises(ValueError, match="images must have shape"):
        augmentation_distances([[0.0]], [0, 1], [0])
    with pytest.raises(ValueError, match="pairs must be at least 1"):
        augmentation_distances([[0.0], [1.0]], [0, 1], [0, 0], pairs=0)


# View models


def test_crops_of_a_square_are_nested_and_counted() -> None:
    image = np.arange(64.0).reshape(8, 8)
    counts = [len(square_crops(image, smallest)) for smallest in range(8, 2, -1)]
    assert counts == [1, 5, 14, 30, 55, 91]
    few, many = square_crops(image, 7), square_crops(image, 5)
    assert np.array_equal(many[: len(few)], few) and np.array_equal(few[0], image)
    colour = square_crops(np.stack([image, 2 * image], axis=2), 6)
    assert colour.shape == (14, 8, 8, 2) and np.allclose(colour[..., 1], 2 * colour[..., 0])


def test_bilinear_resizing_keeps_planes_inside() -> None:
    plane = np.add.outer(np.arange(8.0), 10 * np.arange(8.0))
    view = square_crops(plane, 4)[-1]  # the last window of four, at the lower right
    rows = np.clip((np.arange(8) + 0.5) / 2 - 0.5, 0, 3) + 4
    assert np.allclose(view, np.add.outer(rows, 10 * rows))
    assert np.allclose(square_crops(np.full((5, 5), 3.0), 1), 3.0)


def test_gain_gap_is_no_larger_than_on_a_fine_grid() -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        one, two, s = rng.normal(size=6), rng.normal(size=6), float(rng.uniform(0, 0.9))
        grid = np.linspace(1 - s, 1 + s, 101)
        norms = np.linalg.norm(grid[:, None, None] * one - grid[None, :, None] * two, axis=2)
        assert norms.min() - 0.05 <= gain_gap(one, two, s) <= norms.min() + 1e-12


def test_distances_of_continuous_augmentations() -> None:
    assert gain_spread([3.0, 4.0], 0.1) == pytest.approx(1.0)
    assert gain_gap([0.0, 0.0], [0.0, 0.0], 0.3) == 0.0
    assert gain_gap([0.0, 0.0], [3.0, 4.0], 0.5) == pytest.approx(2.5)
    assert gain_gap([1.0, 1.0], [-1.0, -1.0], 0.5) == pytest.approx(math.sqrt(2))
    assert noise_ball_spread(2.0) == 4.0 and noise_ball_gap([0.0], [3.0], 2.0) == 0.0
    assert channel_gain_spread(np.ones((2, 2, 3)), 0.5) == pytest.approx(math.sqrt(12))
    assert channel_gain_gap([[[1.0, 1.0]]], [[[4.0, 5.0]]], 0.0) == pytest.approx(5.0)
    assert flip_views(np.arange(6).reshape(2, 3))[1].tolist() == [[2, 1, 0], [5, 4, 3]]


def test_bad_view_models_are_refused() -> None:
    with pytest.raises(ValueError, match=r"image must have shape \(n, n\)"):
        square_crops(np.zeros((2, 3)), 1)
    with pytest.raises(ValueError, match="smallest must be between 1 and 2, got 3"):
        square_crops(np.zeros((2, 2)), 3)
    with pytest.raises(ValueError, match=r"strength must be in \[0, 1\), got 1.0"):
        gain_gap([1.0], [1.0], 1.0)
    with pytest.raises(ValueError, match="one shape"):
        gain_gap([1.0], [1.0, 2.0], 0.1)
    with pytest.raises(ValueError, match="radius must be nonnegative"):
        noise_ball_spread(-1.0)
    with pytest.raises(ValueError, match="first must be finite"):
        noise_ball_gap([math.nan], [0.0], 1.0)


# The linear encoder


def test_the_closed_form_is_not_improved_by_other_encoders() -> None:
    rng = np.random.default_rng(0)
    images = np.repeat(np.arange(30), 3)
    views = rng.normal(size=(30, 5))[images] + 0.5 * rng.normal(size=(90, 5))
    encoder = fit_linear_encoder(views, images, 2, ridge=0.0, centred=False)
    best = spectral_loss(encoder(views), images)
    assert best == pytest.approx(-(encoder.eigenvalues**2).sum(), abs=1e-12)
    for _ in range(50):
        assert best < spectral_loss(views @ (encoder.matrix + 0.1 * rng.normal(size=(5, 2))), images)
    assert np.all(np.diff(encoder.eigenvalues) <= 0) and encoder.eigenvalues[0] <= 1


def test_dead_pixels_are_left_out_and_a_lower_rank_is_told() -> None:
    rng = np.random.default_rng(0)
    views = np.column_stack([rng.normal(size=(20, 2)), np.zeros(20), np.full(20, 7.0)])
    images = np.repeat(np.arange(10), 2)
    for scale in (1e-8, 1.0, 1e8):
        encoder = fit_linear_encoder(views * scale, images, 2, ridge=0.0)
        assert np.isfinite(encoder.matrix).all() and np.abs(encoder(views * scale)).max() < 10
        with pytest.raises(SingularViewsError, match="at least dimension=3 directions, got rank 2"):
            fit_linear_encoder(views * scale, images, 3, ridge=0.0)


def test_constant_images_cannot_be_encoded() -> None:
    with pytest.raises(SingularViewsError, match="got rank 0"):
        fit_linear_encoder(np.ones((4, 3)), [0, 0, 1, 1], 1)


def test_bad_input_of_the_linear_encoder_is_named() -> None:
    views, images = np.eye(4), [0, 0, 1, 1]
    with pytest.raises(ValueError, match="dimension must be at least 1"):
        fit_linear_encoder(views, images, 0)
    with pytest.raises(ValueError, match="ridge must be nonnegative"):
        fit_linear_encoder(views, images, 1, ridge=-1.0)
    with pytest.raises(ValueError, match=r"images must have shape \(4,\)"):
        fit_linear_encoder(views, [0], 1)
    with pytest.raises(ValueError, match="positive finite"):
        fit_linear_encoder(views, images, 1, weights=[1.0, 0.0, 1.0, 1.0])
    with pytest.raises(ValueError, match="views must have shape"):
        fit_linear_encoder(views, images, 1)(np.zeros((2, 3)))


# The batch loss


def test_small_temperatures_do_not_overflow() -> None:
    pairs = [[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]]
    assert nt_xent(pairs, [0, 0, 1, 1], 0.01) == pytest.approx(2 * math.exp(-100), rel=1e-12)
    assert nt_xent(pairs, [0, 0, 1, 1], 0.001) == 0.0
    assert nt_xent(pairs, [0, 1, 1, 0], 0.001) == pytest.approx(1000.0, abs=1.0)


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.float16])
def test_zero_vectors_are_refused_or_have_cosine_zero(kind: Any) -> None:
    views = np.array([[0, 0], [0, 0], [1, 0], [1, 0]], dtype=kind)
    with pytest.raises(ZeroNormError, match="embedding 0 has norm zero"):
        nt_xent(views, [0, 0, 1, 1], 1.0)
    assert nt_xent(views, [0, 0, 1, 1], 1.0, zero_norm="cosine zero") == pytest.approx(0.825029, abs=5e-7)


def test_tiny_and_huge_embeddings_have_directions() -> None:
    assert cosine_rows([[3e-300, 4e-300], [3e300, 4e300]]).ravel() == pytest.approx([0.6, 0.8, 0.6, 0.8])


def test_the_simplex_attains_the_floor_of_batches() -> None:
    for pairs, temperature in ((2, 1.0), (5, 0.1), (40, 0.5)):
        batch = simplex_batch(pairs, temperature)
        floor = bounds.BATCH_FLOOR(M=pairs, t=temperature)
        assert nt_xent(batch.embeddings, batch.images, temperature) == pytest.approx(floor, rel=1e-12)


def test_bad_batches_are_named() -> None:
    with pytest.raises(ValueError, match="each image must have two views, got 1 of image 1"):
        nt_xent(np.eye(3), [0, 0, 1], 1.0)
    with pytest.raises(ValueError, match="temperature must be positive"):
        nt_xent(np.eye(2), [0, 0], 0.0)
    with pytest.raises(ValueError, match="embeddings must be finite"):
        nt_xent([[math.nan, 1.0], [0.0, 1.0]], [0, 0], 1.0)
    with pytest.raises(ValueError, match="zero_norm must be"):
        cosine_rows(np.eye(2), zero_norm="ignore")  # type: ignore[arg-type]


# The sweep


def test_a_setting_is_measured_exactly() -> None:
    rng = np.random.default_rng(0)
    images = np.repeat(np.arange(8), 3)
    views = rng.normal(size=(24, 4))
    setting = measure_setting(0.5, views, images, images % 2, lambda x: x, 0.75)
    assert setting.accuracy == 0.75 and setting.mean_classifier <= setting.sharp_bound <= setting.distance_bound
    assert setting.pixel_gap < setting.pixel_spread and 0 <= setting.error <= 1


def test_the_probe_separates_what_is_separable() -> None:
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1, 2], 20)
    points = np.eye(3)[labels] * 5 + 0.1 * rng.normal(size=(60, 3))
    assert probe_accuracy(points[::2], labels[::2], points[1::2], labels[1::2]) == 1.0
    with pytest.raises(ValueError, match="two classes"):
        probe_accuracy([[0.0]], [1], [[0.0]], [1])


def test_kendall_tau_agrees_with_scipy() -> None:
    from scipy.stats import kendalltau

    rng = np.random.default_rng(0)
    first, second = rng.integers(0, 4, 12).tolist(), rng.integers(0, 4, 12).tolist()
    assert kendall_tau({"x": first}, second)["x"] == pytest.approx(kendalltau(first, second).statistic, abs=1e-12)
    with pytest.raises(ValueError, match="one length"):
        kendall_tau({"x": [1.0]}, [1.0, 2.0])
