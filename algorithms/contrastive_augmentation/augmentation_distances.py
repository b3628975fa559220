"""The two augmentation distances, with the pairs of views that attain them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["AugmentationDistances", "augmentation_distances"]

Floats = NDArray[np.float64]
Pair = tuple[float, tuple[int, int]]


@dataclass(frozen=True)
class AugmentationDistances:
    """How far views of one image lie apart, and how near views of two images of one class come.

    Attributes
    ----------
    spread : float
        ``D``, the largest of ``spreads``.
    gap : float
        ``d``, the largest of ``gaps``; zero when no class has two images.
    spread_views, gap_views : tuple of int
        Indices of two views that attain them.
    spreads : ndarray of shape (n_images,)
        Largest distance of two views, for each image in increasing order.
    gaps : ndarray of shape (n_pairs,)
        Smallest distance of a view of one and a view of the other, for each pair of images of one class. Maxima are
        set by one outlier; the means of the two arrays are not.
    """

    spread: float
    gap: float
    spread_views: tuple[int, int]
    gap_views: tuple[int, int]
    spreads: Floats
    gaps: Floats


def augmentation_distances(
    views: ArrayLike, images: ArrayLike, classes: ArrayLike, *, pairs: int | None = None, seed: int = 0
) -> AugmentationDistances:
    """Distances of an augmentation, at the level of pixels or of embeddings.

    Parameters
    ----------
    views : array_like of shape (N, q)
        Pixels or embeddings of the views.
    images, classes : array_like of int, shape (N,)
        Image and class of each view.
    pairs : int, optional
        Use at most so many pairs of images of one class, drawn without repetition; all by default. ``gap`` is then
        that of the pairs used, hence a lower estimate.
    seed : int
        For the drawing of pairs.

    Returns
    -------
    AugmentationDistances
        Costs ``O(sum_i n_i^2 q)`` and ``O(n_i n_j q)`` for each pair.

    Raises
    ------
    ValueError
        If shapes do not agree, a number is not finite, there is no view, or an image has views of two classes.

    Examples
    --------
    >>> found = augmentation_distances([[0.0], [3.0], [5.0], [9.0]], [0, 0, 1, 1], [0, 0, 0, 0])
    >>> found.spread, found.spread_views, found.gap, found.gap_views
    (4.0, (2, 3), 2.0, (1, 2))
    """
    table, image_of, class_of = _checked(views, images, classes)
    groups = [np.flatnonzero(image_of == image) for image in np.unique(image_of)]
    labels = [class_of[members[0]] for members in groups]
    spreads = [_extreme(table, members, members, nearest=False) for members in groups]
    chosen = [(a, b) for a in range(len(groups)) for b in range(a + 1, len(groups)) if labels[a] == labels[b]]
    if pairs is not None and pairs < len(chosen):
        if pairs < 1:
            raise ValueError(f"pairs must be at least 1, got {pairs}")
        kept = np.sort(np.random.default_rng(seed).choice(len(chosen), size=pairs, replace=False))
        chosen = [chosen[k] for k in kept]
    gaps = [_extreme(table, groups[a], groups[b], nearest=True) for a, b in chosen]
    first = int(groups[0][0])
    widest = max(spreads, key=lambda found: found[0])
    farthest = max(gaps, key=lambda found: found[0], default=(0.0, (first, first)))
    return AugmentationDistances(
        widest[0],
        farthest[0],
        widest[1],
        farthest[1],
        np.array([value for value, _ in spreads]),
        np.array([value for value, _ in gaps]),
    )


def _extreme(table: Floats, rows: NDArray[np.intp], columns: NDArray[np.intp], *, nearest: bool) -> Pair:
    """Distance of the nearest or farthest pair; refined without cancellation once the pair is known."""
    left, right = table[rows], table[columns]
    if left.size * len(right) <= 2**16:
        squares = ((left[:, None, :] - right[None, :, :]) ** 2).sum(axis=2)
    else:
        squares = (left**2).sum(axis=1)[:, None] + (right**2).sum(axis=1) - 2 * (left @ right.T)
    at = int(np.argmin(squares) if nearest else np.argmax(squares))
    pair = int(rows[at // len(columns)]), int(columns[at % len(columns)])
    return float(np.linalg.norm(table[pair[0]] - table[pair[1]])), pair


def _checked(
    views: ArrayLike, images: ArrayLike, classes: ArrayLike
) -> tuple[Floats, NDArray[np.int64], NDArray[np.int64]]:
    table = np.asarray(views, dtype=np.float64)
    if table.ndim != 2 or len(table) == 0:
        raise ValueError(f"views must have shape (N, q) with N at least 1, got {table.shape}")
    if not np.isfinite(table).all():
        raise ValueError(f"views must be finite, got {table[~np.isfinite(table)][0]}")
    image_of, class_of = np.asarray(images), np.asarray(classes)
    for name, labels in (("images", image_of), ("classes", class_of)):
        if labels.shape != (len(table),):
            raise ValueError(f"{name} must have shape ({len(table)},), got {labels.shape}")
    order = np.lexsort((class_of, image_of))
    same = image_of[order][1:] == image_of[order][:-1]
    if bool((same & (class_of[order][1:] != class_of[order][:-1])).any()):
        clash = int(image_of[order][1:][same & (class_of[order][1:] != class_of[order][:-1])][0])
        raise ValueError(f"all views of an image must have one class, got several for image {clash}")
    return table, image_of, class_of
