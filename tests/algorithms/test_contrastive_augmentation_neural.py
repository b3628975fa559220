"""The batch loss in torch and the encoders trained with it."""

from __future__ import annotations

import math

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from whp.algorithms.contrastive_augmentation import ZeroNormError, nt_xent, square_crops  # noqa: E402
from whp.algorithms.contrastive_augmentation.neural_encoder import (  # noqa: E402
    info_nce,
    info_nce_of_arrays,
    train_neural_encoder,
)

PAIRS = [[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]]


@pytest.mark.parametrize("temperature", [0.01, 0.001])
@pytest.mark.parametrize("kind", [torch.float64, torch.float32, torch.float16])
def test_small_temperatures_have_finite_losses_and_gradients(temperature: float, kind: object) -> None:
    rows = torch.tensor(PAIRS, dtype=kind, requires_grad=True)
    loss = info_nce(rows, temperature)
    loss.backward()
    expected = math.log1p(2 * math.exp(-1 / temperature))
    assert loss.item() == pytest.approx(expected, rel=1e-9 if kind == torch.float64 else 1.0, abs=1e-43)
    assert bool(torch.isfinite(rows.grad).all())


@pytest.mark.parametrize("kind", [torch.float64, torch.float32, torch.float16])
def test_zero_vectors_have_cosine_zero_or_are_refused(kind: object) -> None:
    rows = torch.tensor([[0, 0], [0, 0], [1, 0], [1, 0]], dtype=kind, requires_grad=True)
    loss = info_nce(rows, 1.0)
    loss.backward()
    assert loss.item() == pytest.approx(0.825029, abs=1e-5)
    assert bool(torch.isfinite(rows.grad).all())
    with pytest.raises(ZeroNormError, match="embedding 0 has norm zero"):
        info_nce(rows, 1.0, zero_norm="refuse")


def test_torch_and_numpy_agree() -> None:
    rng = np.random.default_rng(0)
    rows, images = rng.normal(size=(12, 4)), rng.permutation(np.repeat(np.arange(6), 2))
    assert info_nce_of_arrays(rows, images, 0.2) == pytest.approx(nt_xent(rows, images, 0.2), rel=1e-5)


def test_bad_batches_are_named() -> None:
    with pytest.raises(ValueError, match="M at least 2"):
        info_nce(torch.ones(2, 3), 1.0)
    with pytest.raises(ValueError, match="temperature must be positive"):
        info_nce(torch.ones(4, 3), -1.0)


@pytest.fixture(scope="module")
def crosses() -> list[np.ndarray]:
    """Images of bars, upright or lying, with their crops."""
    rng, sets = np.random.default_rng(0), []
    for k in range(24):
        image = 0.1 * rng.random((8, 8))
        at = int(rng.integers(1, 7))
        image[(slice(None), at) if k % 2 else (at, slice(None))] += 1.0
        sets.append(square_crops(image, 7))
    return sets


@pytest.mark.parametrize("centred", [False, True])
def test_training_lowers_the_loss_and_repeats_itself(crosses: list[np.ndarray], centred: bool) -> None:
    before = torch.random.get_rng_state()
    first, second = (train_neural_encoder(crosses, epochs=4, dimension=4, centred=centred, seed=3) for _ in range(2))
    assert first.losses == second.losses and first.losses[-1] < first.losses[0]
    assert torch.equal(before, torch.random.get_rng_state())
    views = np.concatenate([s.reshape(len(s), -1) for s in crosses])
    found = first(views)
    np.testing.assert_array_equal(found, second(views))
    assert np.abs(found.mean(axis=0)).max() < (1e-6 if centred else 2)


def test_what_cannot_be_trained_is_named(crosses: list[np.ndarray]) -> None:
    with pytest.raises(ValueError, match="at least two images, got 1"):
        train_neural_encoder(crosses[:1])
    with pytest.raises(ValueError, match="one shape"):
        train_neural_encoder([np.zeros((1, 8, 8)), np.zeros((1, 7, 7))])
    with pytest.raises(ValueError, match="epochs must be at least 1"):
        train_neural_encoder(crosses, epochs=0)
    with pytest.raises(ValueError, match="finite"):
        train_neural_encoder([np.full((1, 8, 8), np.nan)] * 2)


@pytest.mark.parametrize(
    "rows, images, message",
    [
        ([[float("nan"), 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]], [0, 0, 1, 1], "embeddings must be finite"),
        ([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]], [0, 0, 0, 1], "two views, got 3 of image 0"),
    ],
)
def test_a_batch_without_sense_has_no_loss(rows, images, message):
    with pytest.raises(ValueError, match=message):
        info_nce_of_arrays(rows, images, 1.0)


def test_constant_images_train_nothing():
    with pytest.raises(ValueError, match="view_sets must vary"):
        train_neural_encoder([np.ones((2, 8, 8))] * 3, epochs=1)
