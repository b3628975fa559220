"""The sweeps on few small images, and the command on digits."""

from __future__ import annotations

import csv
import importlib.util
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from whp.experiments.contrastive_augmentation import PAPER_NOTE, ContrastiveAugmentationResult, run
from whp.experiments.contrastive_augmentation.data import DATA_SETS, LabelledImages, load_images
from whp.experiments.contrastive_augmentation.presentation import agreement_table, draw_sweeps, sweep_table
from whp.experiments.contrastive_augmentation.sweeps import AUGMENTATIONS, Sweep, SweepSizes, run_sweep

SMALL = SweepSizes(trained=24, measured=6, labelled=24, tested=12, repeats=2, dimension=3, epochs=2, pairs=10)


def bars(count: int = 36) -> LabelledImages:
    rng, images = np.random.default_rng(0), []
    for k in range(count):
        image = 0.2 * rng.random((8, 8))
        at = int(rng.integers(1, 7))
        image[(slice(None), at) if k % 2 else (at, slice(None))] += 0.8
        images.append(image)
    return LabelledImages("bars", np.array(images), np.arange(count) % 2, "made here")


@pytest.fixture(scope="module")
def crops() -> Sweep:
    return run_sweep(bars(), AUGMENTATIONS["crop"], "linear", SMALL, 0)


def test_stronger_crops_spread_images_and_close_gaps(crops: Sweep) -> None:
    spreads, gaps = crops.columns["pixel_spread"], crops.columns["pixel_gap"]
    assert spreads == sorted(spreads) and spreads[0] == 0.0
    assert gaps == sorted(gaps, reverse=True)


def test_two_spreads_and_a_gap_prefer_no_augmentation(crops: Sweep) -> None:
    assert crops.best["2 D + d, pixels"] == 0.0


def test_no_setting_violates_its_bound(crops: Sweep) -> None:
    assert crops.violations == 0
    assert all(s.mean_classifier <= s.sharp_bound <= s.distance_bound for s in crops.settings)


def test_sweeps_repeat_themselves(crops: Sweep) -> None:
    assert run_sweep(bars(), AUGMENTATIONS["crop"], "linear", SMALL, 0) == crops


@pytest.mark.parametrize("name", ["gain", "colour"])
def test_views_of_every_strength_start_with_the_image(name: str) -> None:
    augmentation = AUGMENTATIONS[name]
    for image in (np.random.default_rng(0).random((8, 8)), np.random.default_rng(0).random((8, 8, 3))):
        for strength in augmentation.strengths:
            views = augmentation.views(image, strength)
            assert np.array_equal(views[0], image) and (len(views) == 1) == (strength == 0)


def test_neural_encoders_are_swept() -> None:
    pytest.importorskip("torch")
    for encoder in ("infonce", "centred"):
        swept = run_sweep(bars(), AUGMENTATIONS["gain"], encoder, replace(SMALL, epochs=1, repeats=1), 1)
        assert swept.violations == 0 and swept.encoder == encoder


def test_tables_fit_eighty_columns_and_figures_are_drawn(crops: Sweep) -> None:
    for text in (sweep_table(crops), agreement_table([crops]), PAPER_NOTE):
        assert max(len(line) for line in text.splitlines()) <= 80
    assert len(draw_sweeps([crops]).axes) == 4
    assert "R_mean exceeds its bound: 0" in ContrastiveAugmentationResult((crops,)).table


def test_digits_come_out_as_measured_independently(tmp_path: Path) -> None:
    pytest.importorskip("sklearn")
    result = run("quick", 0, tmp_path, data="digits", augmentation="gain")
    (sweep,) = result.sweeps
    assert sweep.columns["pixel_spread"] == pytest.approx([0, 0.783, 1.567, 3.133, 4.700, 6.267], rel=0.05)
    assert sweep.columns["pixel_gap"] == pytest.approx([2.263, 2.034, 1.808, 1.356, 0.904, 0.452], rel=0.5)
    assert {path.name for path in result.figures} == {"sweeps.csv", "sweeps.svg"}
    with (tmp_path / "sweeps.csv").open(encoding="utf-8") as file:
        assert [float(row["strength"]) for row in csv.DictReader(file)] == list(AUGMENTATIONS["gain"].strengths)


def test_images_of_the_packages_are_squares_in_the_unit_interval() -> None:
    needed = {"digits": "sklearn", "faces": "skimage", "textures": "skimage", "photographs": "skimage"}
    assert set(needed) == set(DATA_SETS)
    for name, package in needed.items():
        if importlib.util.find_spec(package) is not None:
            found = load_images(name)
            assert found.images.shape[1:3] == (8, 8) and len(found.images) == len(found.labels) >= 200
            assert 0 <= found.images.min() < found.images.max() <= 1 and len(set(found.labels.tolist())) >= 2


def test_bad_requests_are_named() -> None:
    with pytest.raises(ValueError, match="scale must be quick or full, got 'huge'"):
        run("huge")
    with pytest.raises(ValueError, match=r"data must be among digits, .*, got 'cifar'"):
        run(data="cifar")
    with pytest.raises(ValueError, match="augmentation must be among crop, gain, colour, got 'blur'"):
        run(augmentation="blur")
    with pytest.raises(ValueError, match="encoder must be among"):
        run(encoder="resnet")
    with pytest.raises(ValueError, match="data must be among"):
        load_images("cifar")
