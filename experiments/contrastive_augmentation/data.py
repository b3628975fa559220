"""Labelled images that packages ship: digits, faces, textures, photographs' patches."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["DATA_SETS", "LabelledImages", "MissingDataError", "load_images"]

Floats = NDArray[np.float64]


class MissingDataError(ImportError):
    """A package that ships the images is not installed."""


@dataclass(frozen=True, eq=False)
class LabelledImages:
    """Square images of one size with their classes.

    Attributes
    ----------
    name : str
        Data set.
    images : ndarray of shape (n, side, side) or (n, side, side, channels)
        Pixels in ``[0, 1]``.
    labels : ndarray of shape (n,)
        Classes.
    source : str
        Package and images that they come from.
    """

    name: str
    images: Floats
    labels: NDArray[np.int64]
    source: str

    def sample(self, size: int, rng: np.random.Generator) -> LabelledImages:
        """Return that many images at random, or all when there are fewer, in random order."""
        kept = rng.permutation(len(self.images))[:size]
        return LabelledImages(self.name, self.images[kept], self.labels[kept], self.source)


def load_images(name: str) -> LabelledImages:
    """Load a data set.

    Parameters
    ----------
    name : {"digits", "faces", "textures", "photographs"}
        ``digits`` from scikit-learn (1797); from scikit-image ``faces`` (100 faces and 100 other patches, means of
        3 x 3 pixels), ``textures`` (tiles of brick, grass and gravel) and ``photographs`` (colour tiles of four
        photographs, the photograph being the class). Tiles are means of 4 x 4 pixels and do not overlap. All are 8 x 8.

    Returns
    -------
    LabelledImages
        The same for every call.

    Raises
    ------
    MissingDataError
        If the package is not installed; the message names it.
    ValueError
        If there is no such data set.
    """
    if name not in DATA_SETS:
        raise ValueError(f"data must be among {', '.join(DATA_SETS)}, got {name!r}")
    try:
        return DATA_SETS[name]()
    except ImportError as error:
        raise MissingDataError(f"data set {name!r} needs {error.name} (extra data)") from error


def _digits() -> LabelledImages:
    from sklearn.datasets import load_digits

    found = load_digits()
    return LabelledImages("digits", found.images / 16.0, found.target.astype(np.int64), "scikit-learn load_digits")


def _faces() -> LabelledImages:
    data: Any = importlib.import_module("skimage.data")
    faces = np.asarray(data.lfw_subset(), dtype=np.float64)[:, :24, :24]
    means = faces.reshape(-1, 8, 3, 8, 3).mean(axis=(2, 4))
    labels = np.repeat([1, 0], 100)
    return LabelledImages("faces", means, labels, "scikit-image lfw_subset: faces against other patches")


def _textures() -> LabelledImages:
    data: Any = importlib.import_module("skimage.data")
    return _tiled("textures", [data.brick(), data.grass(), data.gravel()], "scikit-image brick, grass, gravel")


def _photographs() -> LabelledImages:
    data: Any = importlib.import_module("skimage.data")
    shown = [data.astronaut(), data.coffee(), data.chelsea(), data.rocket()]
    return _tiled("photographs", shown, "scikit-image astronaut, coffee, chelsea, rocket")


def _tiled(name: str, shown: list[Any], source: str, side: int = 8, coarse: int = 4) -> LabelledImages:
    """Tiles that do not overlap, of means of ``coarse`` by ``coarse`` pixels."""
    tiles, labels = [], []
    for label, image in enumerate(shown):
        table = np.asarray(image, dtype=np.float64) / 255.0
        table = table[..., None] if table.ndim == 2 else table
        down, across = (n // (side * coarse) for n in table.shape[:2])
        cut = table[: down * side * coarse, : across * side * coarse]
        means = cut.reshape(down, side, coarse, across, side, coarse, -1).mean(axis=(2, 5))
        tiles.append(np.moveaxis(means, 2, 1).reshape(down * across, side, side, -1))
        labels.append(np.full(down * across, label))
    images = np.concatenate(tiles)
    return LabelledImages(name, images[..., 0] if images.shape[-1] == 1 else images, np.concatenate(labels), source)


DATA_SETS: dict[str, Callable[[], LabelledImages]] = {
    "digits": _digits,
    "faces": _faces,
    "textures": _textures,
    "photographs": _photographs,
}
