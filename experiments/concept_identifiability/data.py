"""Data of the experiment: synthetic mixtures, drawn sprites with known concepts, handwritten digits."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whp.theory.concept_identifiability import ClassConceptStructure

__all__ = ["DIGIT_CONCEPTS", "Dataset", "MissingDataError", "digits", "mixture", "sprites"]

Array = NDArray[np.float64]


class MissingDataError(ImportError):
    """A data package that is not installed."""


@dataclass(frozen=True)
class Dataset:
    """Observations with class values and, where they are known, their concepts.

    Attributes
    ----------
    x : array (n, m)
        Observations.
    contexts : array (n, n_class_variables)
        Values of the class variables.
    labels : array (n,)
        Number of the context.
    z : array (n, n_concepts) or None
        True concepts.
    structure : ClassConceptStructure
        Which concept depends on which class: drawn from it, or a hypothesis for real data.
    """

    x: Array
    contexts: Array
    labels: NDArray[np.int64]
    z: Array | None
    structure: ClassConceptStructure


def _grid(n_classes: int, levels: int, rows: int) -> tuple[Array, NDArray[np.int64]]:
    contexts = np.array(list(itertools.product(range(levels), repeat=n_classes)), dtype=float)
    return np.repeat(contexts, rows, axis=0), np.repeat(np.arange(len(contexts)), rows)


def mixture(
    structure: ClassConceptStructure, rng: np.random.Generator, *, rows: int = 300, levels: int = 3, bend: float = 0.4
) -> Dataset:
    """Gaussian concepts whose scales grow with their classes, through a bent invertible map.

    Concepts with equal rows get equal scales, and no class moves a mean: within such an atom nothing but a convention
    can tell rotations apart, which is the setting where identification fails.

    Parameters
    ----------
    structure : ClassConceptStructure
        Which concept depends on which class.
    rng : numpy.random.Generator
        Draws concepts and the map.
    rows : int
        Rows a context.
    levels : int
        Levels of each class variable.
    bend : float
        Size of the non-linear part; 0 gives a linear mixture.
    """
    c, labels = _grid(structure.n_classes, levels, rows)
    weights = np.array([[0.0, 0.35, 0.6, 0.85, 1.0][min(j + 1, 4)] for j in range(structure.n_classes)])
    slopes = structure.matrix * weights / np.maximum(structure.matrix.sum(axis=1, keepdims=True), 1) ** 0.5
    z = rng.normal(size=(len(c), structure.n_concepts)) * np.exp(c @ slopes.T)
    n = structure.n_concepts
    rotated = (z / z.std(axis=0)) @ np.linalg.qr(rng.normal(size=(n, n)))[0].T
    bent = rotated + bend * np.tanh(rotated @ rng.normal(size=(n, n)) / np.sqrt(n))
    return Dataset(bent @ np.linalg.qr(rng.normal(size=(n, n)))[0].T, c, labels, z, structure)


def sprites(rng: np.random.Generator, *, rows: int = 250) -> Dataset:
    """16 x 16 pictures of one soft disc on a background, 3 x 3 contexts of two class variables.

    Its column depends on the first class, its row on the second, its size on both, and the brightness of the
    background on none; columns and rows move by up to three pixels.  The disc is wide (a standard deviation of five
    pixels), so that four principal directions still determine the concepts: with narrow discs they do not, and no
    estimator on them can succeed.
    """
    structure = ClassConceptStructure(
        ((1, 0), (0, 1), (1, 1), (0, 0)), ("column", "row", "size", "background"), ("first", "second")
    )
    c, labels = _grid(2, 3, rows)
    slopes = np.array([[0.6, 0.0], [0.0, 0.6], [0.4, -0.4], [0.0, 0.0]])
    means = np.array([[0.6, 0.0], [0.0, 0.6], [0.5, 0.3], [0.0, 0.0]])
    z = 0.35 * rng.normal(size=(len(c), 4)) * np.exp(c @ slopes.T) + (c - 1) @ means.T
    z = np.clip(z, -3.0, 3.0)
    axis = np.arange(16) - 7.5
    distance = (axis[None, None, :] - z[:, 0, None, None]) ** 2 + (axis[None, :, None] - z[:, 1, None, None]) ** 2
    radius = 5.0 * np.exp(0.15 * z[:, 2])
    pictures = np.exp(-distance / (2 * radius[:, None, None] ** 2)) + 0.2 * z[:, 3, None, None]
    return Dataset(pictures.reshape(len(c), -1), c, labels, z, structure)


DIGIT_CONCEPTS = ClassConceptStructure(
    (
        (1, 0, 0, 0, 0, 0, 1, 0, 1, 1),
        (0, 0, 0, 0, 0, 0, 1, 0, 1, 0),
        (0, 0, 0, 0, 0, 0, 0, 0, 1, 1),
        (0, 1, 0, 0, 1, 0, 0, 1, 0, 1),
        (0, 0, 0, 0, 0, 1, 0, 1, 0, 0),
        (0, 0, 1, 0, 0, 0, 0, 0, 0, 0),
        (0, 0, 1, 1, 0, 1, 0, 0, 0, 0),
        (1, 1, 1, 1, 1, 1, 1, 1, 1, 1),
    ),
    (
        "closed loop",
        "loop below",
        "loop above",
        "vertical stroke",
        "straight top",
        "straight base",
        "open curve",
        "slant",
    ),
    tuple("0123456789"),
)
"""A hypothesis of ours on what the digits have in common, for diagnosis; not a ground truth."""


def digits() -> Dataset:
    """1797 handwritten digits of 8 x 8 pixels, from scikit-learn (extra ``data``), with one-hot classes.

    Raises
    ------
    MissingDataError
        If scikit-learn is not installed.
    """
    try:
        from sklearn.datasets import load_digits
    except ImportError:
        raise MissingDataError(
            "data package 'scikit-learn' is not installed; 'pip install scikit-learn' or whp[data] provides it"
        ) from None
    found = load_digits()
    labels = np.asarray(found.target, dtype=np.int64)
    return Dataset(np.asarray(found.data, dtype=float) / 16.0, np.eye(10)[labels], labels, None, DIGIT_CONCEPTS)
