"""Exact risks of thousands of views, distances, and encoders for digits."""

import numpy as np
import pytest

from whp.algorithms.contrastive_augmentation import (
    augmentation_distances,
    exact_risks,
    fit_linear_encoder,
    square_crops,
)
from whp.theory.contrastive_augmentation import ContrastiveProblem


def problem(views: int, per_image: int, negatives: int = 1) -> ContrastiveProblem:
    """Random directions in 16 dimensions, ten images of each class at least."""
    embeddings = np.random.default_rng(0).normal(size=(views, 16))
    embeddings /= np.linalg.norm(embeddings, axis=1, keepdims=True)
    images = np.arange(views) // per_image
    return ContrastiveProblem(embeddings, images.tolist(), (images % 10).tolist(), None, 0.5, negatives)


def test_exact_risks_of_2000_views_under_2_s(benchmark) -> None:
    given = problem(2000, 10)
    benchmark.pedantic(lambda: exact_risks(given), rounds=3)
    assert benchmark.stats.stats.min < 2.0


def test_exact_risks_of_500_views_with_255_negatives(benchmark) -> None:
    given = problem(500, 5, negatives=255)
    benchmark.pedantic(lambda: exact_risks(given), rounds=3)


def test_distances_of_2000_views(benchmark) -> None:
    given = problem(2000, 10)
    benchmark.pedantic(lambda: augmentation_distances(given.embeddings, given.images, given.classes), rounds=3)


def test_linear_encoder_of_300_digits_under_14_crops(benchmark) -> None:
    images = pytest.importorskip("sklearn.datasets").load_digits().images[:300] / 16.0
    views = np.concatenate([square_crops(image, 6).reshape(-1, 64) for image in images])
    owners = np.repeat(np.arange(300), 14)
    benchmark.pedantic(lambda: fit_linear_encoder(views, owners, 16), rounds=3)


def test_neural_encoder_of_digits_under_2_minutes(benchmark) -> None:
    pytest.importorskip("torch")
    from whp.algorithms.contrastive_augmentation.neural_encoder import train_neural_encoder

    images = pytest.importorskip("sklearn.datasets").load_digits().images[:1000] / 16.0
    sets = [square_crops(image, 7) for image in images]
    benchmark.pedantic(lambda: train_neural_encoder(sets, epochs=20), rounds=1)
    assert benchmark.stats.stats.min < 120.0
