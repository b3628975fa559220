"""Sweeps of one augmentation's strength on one data set: encoder, distances, risks, bound and probe at each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from whp.algorithms.contrastive_augmentation import (
    AugmentationSetting,
    SingularViewsError,
    fit_linear_encoder,
    kendall_tau,
    measure_setting,
    probe_accuracy,
    square_crops,
)
from whp.experiments.contrastive_augmentation.data import LabelledImages

__all__ = ["AUGMENTATIONS", "ENCODERS", "Augmentation", "Sweep", "SweepSizes", "run_sweep"]

Floats = NDArray[np.float64]
Encoder = Callable[[Floats], Floats]


@dataclass(frozen=True)
class Augmentation:
    """Nested sets of views, one for each strength.

    Attributes
    ----------
    name, unit : str
        What is changed, and what the strength counts.
    strengths : tuple of float
        For an image of side 8, from the identity alone to the strongest.
    views : callable
        ``(image, strength) -> views``, the image first.
    """

    name: str
    unit: str
    strengths: tuple[float, ...]
    views: Callable[[Floats, float], Floats]


def _crops(image: Floats, strength: float) -> Floats:
    """Windows down to ``1 - strength`` of the side, an eighth apart."""
    side = len(image)
    step = max(1, side // 8)
    return square_crops(image, side - step * round(8 * strength), step=step)


def _gains(image: Floats, strength: float) -> Floats:
    """Five common gains from ``1 - s`` to ``1 + s``."""
    return np.stack([image, *(image * (1 + strength * g) for g in (-1.0, -0.5, 0.5, 1.0) if strength > 0)])


def _colours(image: Floats, strength: float) -> Floats:
    """Gains ``1 - s`` or ``1 + s`` for each channel by itself."""
    if image.ndim == 2:
        return _gains(image, strength)
    signs = np.array(np.meshgrid(*[(-1.0, 1.0)] * image.shape[2])).reshape(image.shape[2], -1).T
    return np.stack([image, *(image * (1 + strength * sign) for sign in signs if strength > 0)])


AUGMENTATIONS = {
    "crop": Augmentation("crop", "largest share of the side cut off", (0.0, 0.125, 0.25, 0.375, 0.5, 0.625), _crops),
    "gain": Augmentation("gain", "s of the gains 1 - s to 1 + s", (0.0, 0.1, 0.2, 0.4, 0.6, 0.8), _gains),
    "colour": Augmentation("colour", "s of each channel's gain", (0.0, 0.1, 0.2, 0.4, 0.6, 0.8), _colours),
}

ENCODERS = ("linear", "infonce", "centred")


@dataclass(frozen=True)
class SweepSizes:
    """How many images each part takes, and how much training.

    Attributes
    ----------
    trained, measured, labelled, tested : int
        Images for the encoder, for distances and risks, for the probe, and for its accuracy. Measured and labelled
        images are among the trained ones, whose labels the encoder does not see; tested images are apart.
    repeats : int
        Random splits.
    dimension : int
        Of the embeddings.
    temperature : float
        ``t``.
    epochs : int
        Of neural encoders.
    pairs : int
        Pairs of images of one class for the gap.
    """

    trained: int = 200
    measured: int = 12
    labelled: int = 200
    tested: int = 400
    repeats: int = 2
    dimension: int = 16
    temperature: float = 0.5
    epochs: int = 20
    pairs: int = 100


@dataclass(frozen=True)
class Sweep:
    """One sweep: the mean of each measured figure over random splits.

    Attributes
    ----------
    data, augmentation, encoder : str
        What was swept.
    settings : tuple of AugmentationSetting
        Means over the splits, one for each strength.
    deviations : tuple of float
        Standard deviation of the probe's accuracy over the splits.
    violations : int
        Settings and splits at which the mean classifier's risk exceeded the bound; zero unless something is broken.
    """

    data: str
    augmentation: str
    encoder: str
    settings: tuple[AugmentationSetting, ...]
    deviations: tuple[float, ...]
    violations: int

    @property
    def columns(self) -> dict[str, list[float]]:
        """Figures by which strengths can be ranked; smaller is better for all but the accuracy."""
        found = {f.name: [float(getattr(s, f.name)) for s in self.settings] for f in fields(AugmentationSetting)}
        found["D + d, pixels"] = [s.pixel_spread + s.pixel_gap for s in self.settings]
        found["2 D + d, pixels"] = [2 * s.pixel_spread + s.pixel_gap for s in self.settings]
        found["D + d, embeddings"] = [s.spread + s.gap for s in self.settings]
        found["2 D + d, embeddings"] = [2 * s.spread + s.gap for s in self.settings]
        return found

    @property
    def best(self) -> dict[str, float]:
        """Strength that each figure prefers."""
        return {
            name: self.settings[int(np.argmax(values) if name == "accuracy" else np.argmin(values))].strength
            for name, values in self.columns.items()
            if name != "strength"
        }

    @property
    def agreement(self) -> dict[str, float]:
        """Kendall's tau of each figure, its sign turned, with the accuracy: 1 when it ranks strengths alike."""
        turned = {name: [-v for v in values] for name, values in self.columns.items() if name != "accuracy"}
        return kendall_tau(turned, self.columns["accuracy"])


def run_sweep(data: LabelledImages, augmentation: Augmentation, encoder: str, sizes: SweepSizes, seed: int) -> Sweep:
    """Measure every strength on several random splits.

    Parameters
    ----------
    data : LabelledImages
        The images.
    augmentation : Augmentation
        The sweep.
    encoder : {"linear", "infonce", "centred"}
        Closed form, or a small convolutional network trained with the batch loss, plain or centred.
    sizes : SweepSizes
        Sizes.
    seed : int
        Splits and training.

    Returns
    -------
    Sweep
        See there.
    """
    if encoder not in ENCODERS:
        raise ValueError(f"encoder must be among {', '.join(ENCODERS)}, got {encoder!r}")
    table = [
        [_measured(data, augmentation, strength, encoder, sizes, [seed, repeat]) for repeat in range(sizes.repeats)]
        for strength in augmentation.strengths
    ]
    names = [f.name for f in fields(AugmentationSetting)]
    means = [AugmentationSetting(**{n: float(np.mean([getattr(s, n) for s in row])) for n in names}) for row in table]
    violations = sum(s.mean_classifier > s.sharp_bound + 1e-9 for row in table for s in row)
    deviations = tuple(float(np.std([s.accuracy for s in row])) for row in table)
    return Sweep(data.name, augmentation.name, encoder, tuple(means), deviations, violations)


def _measured(
    data: LabelledImages, augmentation: Augmentation, strength: float, encoder: str, sizes: SweepSizes, seed: list[int]
) -> AugmentationSetting:
    """One strength on one split; the split depends on the seed alone, so that strengths are compared on equal terms."""
    trained, tested = _split(data, sizes, np.random.default_rng(seed))
    sets = [augmentation.views(image, strength) for image in trained.images]
    encode = _fitted(encoder, sets, sizes, seed)
    measured = sets[: sizes.measured]
    rows, owners = _stacked(measured)
    labelled = encode(_flat(trained.images[: sizes.labelled]))
    accuracy = probe_accuracy(labelled, trained.labels[: sizes.labelled], encode(_flat(tested.images)), tested.labels)
    classes = trained.labels[owners]
    return measure_setting(
        strength, rows, owners, classes, encode, accuracy, temperature=sizes.temperature, pairs=sizes.pairs
    )


def _split(data: LabelledImages, sizes: SweepSizes, rng: np.random.Generator) -> tuple[LabelledImages, LabelledImages]:
    """Images to train on and images to test on; a small data set is shared two to one."""
    shuffled = data.sample(len(data.images), rng)
    count = min(sizes.trained, 2 * len(shuffled.images) // 3)
    parts = slice(0, count), slice(count, count + sizes.tested)
    first, second = (
        LabelledImages(data.name, shuffled.images[part], shuffled.labels[part], data.source) for part in parts
    )
    return first, second


def _fitted(encoder: str, sets: Sequence[Floats], sizes: SweepSizes, seed: list[int]) -> Encoder:
    """An encoder to the unit sphere, or, when centred, to the sphere moved so that its training views have mean 0."""
    if encoder == "linear":
        rows, owners = _stacked(sets)
        counts = np.bincount(owners)
        try:
            found = fit_linear_encoder(rows, owners, sizes.dimension, weights=1 / counts[owners])
        except SingularViewsError:
            found = fit_linear_encoder(rows, owners, 1, weights=1 / counts[owners])
        return lambda views: _unit(found(views))
    from whp.algorithms.contrastive_augmentation.neural_encoder import train_neural_encoder

    return train_neural_encoder(
        sets,
        dimension=sizes.dimension,
        temperature=sizes.temperature,
        epochs=sizes.epochs,
        centred=encoder == "centred",
        seed=1000 * seed[0] + seed[1],
    )


def _stacked(sets: Sequence[Floats]) -> tuple[Floats, NDArray[np.int64]]:
    """All views as rows, and the image of each."""
    owners = np.repeat(np.arange(len(sets)), [len(views) for views in sets])
    return np.concatenate([_flat(views) for views in sets]), owners


def _flat(images: Floats) -> Floats:
    return images.reshape(len(images), -1)


def _unit(rows: Floats) -> Floats:
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(norms > 0, norms, 1.0))
