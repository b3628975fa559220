"""Finite contrastive problems: weighted views of labelled images, and the embeddings an encoder gives them."""

from __future__ import annotations

import math
import numbers
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["ContrastiveProblem"]

_LARGEST_NORM = 1e150  # squares must stay inside float64


@dataclass(frozen=True, eq=False)
class ContrastiveProblem:
    """Views, the images and classes they belong to, and an encoder's embedding of each view.

    A view belongs to one image; equal pixels in two images are two views at distance zero. Floats are stored as
    float64; integers and fractions are kept, so that every distance and every score is exact.

    Parameters
    ----------
    embeddings : array_like of shape (N, p)
        ``f(x)`` of every view; finite. Rows may be zero.
    images : sequence of int, length N
        Image of every view.
    classes : sequence of int, length N
        Class of every view. The theorems assume that views of one image share it; a problem that breaks this can
        still be built.
    weights : array_like of shape (N,), optional
        ``w(x) = P(i) q_i(x)``, positive, summing to one; uniform by default.
    temperature : float or Fraction
        ``t``, positive; every score is divided by it.
    negatives : int
        ``K``, at least 1.
    pixels : array_like of shape (N, q), optional
        The views themselves, for distances at pixel level.

    Raises
    ------
    ValueError
        If shapes do not agree, a number is not finite or out of range, or the weights do not sum to one (exactly for
        fractions, within ``8 N`` ulps for floats).
    TypeError
        If images, classes or negatives are not integers.

    Examples
    --------
    >>> problem = ContrastiveProblem([[1, 0], [1, 0], [0, 1]], images=[0, 0, 1], classes=[0, 0, 1])
    >>> problem.n_views, problem.n_classes, problem.weights
    (3, 2, array([Fraction(1, 3), Fraction(1, 3), Fraction(1, 3)], dtype=object))
    """

    embeddings: NDArray[Any]
    images: tuple[int, ...]
    classes: tuple[int, ...]
    weights: NDArray[Any]
    temperature: float | Fraction
    negatives: int
    pixels: NDArray[Any] | None

    def __init__(
        self,
        embeddings: ArrayLike,
        images: Sequence[int],
        classes: Sequence[int],
        weights: ArrayLike | None = None,
        temperature: float | Fraction = 1.0,
        negatives: int = 1,
        pixels: ArrayLike | None = None,
    ) -> None:
        table = _numbers("embeddings", embeddings, 2)
        n_views = len(table)
        if n_views == 0:
            raise ValueError("embeddings must hold at least one view, got none")
        exact = table.dtype == object
        uniform = np.full(n_views, Fraction(1, n_views), dtype=object) if exact else np.full(n_views, 1 / n_views)
        fields: dict[str, Any] = {
            "embeddings": table,
            "images": _integers("images", images, n_views),
            "classes": _integers("classes", classes, n_views),
            "weights": uniform if weights is None else _distribution(weights, n_views),
            "temperature": _temperature(temperature),
            "negatives": _negatives(negatives),
            "pixels": None if pixels is None else _numbers("pixels", pixels, 2),
        }
        if fields["pixels"] is not None and len(fields["pixels"]) != n_views:
            raise ValueError(f"pixels must have one row for each of {n_views} views, got {len(fields['pixels'])}")
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    @property
    def n_views(self) -> int:
        """Number of views ``N``."""
        return len(self.images)

    @property
    def is_exact(self) -> bool:
        """Whether embeddings, weights and temperature are all integers or fractions."""
        return (
            self.embeddings.dtype == object and self.weights.dtype == object and not isinstance(self.temperature, float)
        )

    @cached_property
    def class_names(self) -> tuple[int, ...]:
        """The classes that occur, in increasing order."""
        return tuple(sorted(set(self.classes)))

    @property
    def n_classes(self) -> int:
        """Number of classes that occur."""
        return len(self.class_names)

    @cached_property
    def views_of_images(self) -> tuple[tuple[int, ...], ...]:
        """Indices of the views of each image, images in increasing order."""
        groups: dict[int, list[int]] = {}
        for index, image in enumerate(self.images):
            groups.setdefault(image, []).append(index)
        return tuple(tuple(groups[image]) for image in sorted(groups))

    @cached_property
    def class_index(self) -> NDArray[np.intp]:
        """Position of each view's class in `class_names`."""
        return np.searchsorted(np.array(self.class_names), np.array(self.classes))

    @property
    def labels_are_constant(self) -> bool:
        """Whether all views of each image share one class."""
        return all(len({self.classes[view] for view in views}) == 1 for views in self.views_of_images)

    def with_embeddings(self, embeddings: ArrayLike) -> ContrastiveProblem:
        """The same views under another encoder."""
        return ContrastiveProblem(
            embeddings, self.images, self.classes, self.weights, self.temperature, self.negatives, self.pixels
        )

    def as_floats(self) -> ContrastiveProblem:
        """The same problem in float64, each number rounded once."""
        pixels = None if self.pixels is None else self.pixels.astype(np.float64)
        weights = self.weights.astype(np.float64)
        return ContrastiveProblem(
            self.embeddings.astype(np.float64),
            self.images,
            self.classes,
            weights,
            float(self.temperature),
            self.negatives,
            pixels,
        )


def _numbers(name: str, values: ArrayLike, dimensions: int) -> NDArray[Any]:
    """Copy of an array: float64 where a float occurs, else integers and fractions as objects."""
    try:
        raw = np.asarray(values)
    except ValueError:
        raise ValueError(f"{name} must be a rectangular array, got rows of different lengths") from None
    if raw.ndim != dimensions:
        raise ValueError(f"{name} must have {dimensions} dimension{'s' * (dimensions > 1)}, got shape {raw.shape}")
    if raw.dtype == object:
        if not all(isinstance(v, numbers.Rational) and not isinstance(v, bool) for v in raw.flat):
            raw = _as_float(name, raw)
    elif raw.dtype.kind in "iu":
        raw = raw.astype(object)
    elif raw.dtype.kind != "f":
        raise ValueError(f"{name} must be numbers, got dtype {raw.dtype}")
    if raw.dtype != object:
        raw = raw.astype(np.float64)
        bad = np.argwhere(~(np.abs(raw) <= _LARGEST_NORM))
        if len(bad):
            at = tuple(int(i) for i in bad[0])
            raise ValueError(f"{name} must be finite and at most {_LARGEST_NORM:g} in size, got {raw[at]} at {at}")
    result = raw.copy()
    result.flags.writeable = False
    return result


def _as_float(name: str, raw: NDArray[Any]) -> NDArray[np.float64]:
    try:
        return raw.astype(np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be numbers, got {next(iter(raw.flat))!r}") from None


def _integers(name: str, values: Sequence[int], length: int) -> tuple[int, ...]:
    listed = [v.item() if isinstance(v, np.generic) else v for v in values]
    wrong = [v for v in listed if isinstance(v, bool) or not isinstance(v, int)]
    if wrong:
        raise TypeError(f"{name} must be integers, got {wrong[0]!r}")
    if len(listed) != length:
        raise ValueError(f"{name} must name one integer for each of {length} views, got {len(listed)}")
    return tuple(listed)


def _distribution(values: ArrayLike, length: int) -> NDArray[Any]:
    weights = _numbers("weights", values, 1)
    if len(weights) != length:
        raise ValueError(f"weights must hold one number for each of {length} views, got {len(weights)}")
    for index, weight in enumerate(weights):
        if not weight > 0:
            raise ValueError(f"weights must be positive, got {weight} at {index}")
    total = sum(weights.tolist()) if weights.dtype == object else math.fsum(weights)
    tolerance = 0.0 if weights.dtype == object else 8 * length * 2.0**-53
    if abs(total - 1) > tolerance:
        raise ValueError(f"weights must sum to 1, got {total}")
    return weights


def _temperature(value: float | Fraction) -> float | Fraction:
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise TypeError(f"temperature must be a number, got {value!r}")
    if not 0 < value < math.inf:
        raise ValueError(f"temperature must be positive and finite, got {value}")
    return Fraction(value) if isinstance(value, numbers.Rational) else float(value)


def _negatives(value: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise TypeError(f"negatives must be an integer, got {value!r}")
    if value < 1:
        raise ValueError(f"negatives must be at least 1, got {value}")
    return int(value)
