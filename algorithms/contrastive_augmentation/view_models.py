"""Augmentations as nested sets of views, and the exact distances of those that are continuous."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = [
    "channel_gain_gap",
    "channel_gain_spread",
    "flip_views",
    "gain_gap",
    "gain_spread",
    "noise_ball_gap",
    "noise_ball_spread",
    "square_crops",
]

Floats = NDArray[np.float64]


def square_crops(image: ArrayLike, smallest: int, *, step: int = 1) -> Floats:
    """All square windows of side ``smallest`` to the whole, resized bilinearly to the size of the image.

    The sets are nested in ``smallest``: a smaller one only adds windows. The whole image comes first.

    Parameters
    ----------
    image : array_like of shape (n, n) or (n, n, channels)
        Pixels.
    smallest : int
        Least side, between 1 and ``n``.
    step : int
        Distance of neighbouring windows, and of neighbouring sides.

    Returns
    -------
    ndarray of shape (views, n, n) or (views, n, n, channels)
        The views.

    Raises
    ------
    ValueError
        If the image is not square or a number is out of range.

    Examples
    --------
    >>> square_crops(np.eye(8), 7).shape  # the whole and four windows
    (5, 8, 8)
    """
    table = _finite("image", image)
    if table.ndim not in (2, 3) or table.shape[0] != table.shape[1] or table.size == 0:
        raise ValueError(f"image must have shape (n, n) or (n, n, channels), got {table.shape}")
    size = len(table)
    if not 1 <= smallest <= size:
        raise ValueError(f"smallest must be between 1 and {size}, got {smallest}")
    if step < 1:
        raise ValueError(f"step must be at least 1, got {step}")
    views = []
    for side in range(size, smallest - 1, -step):
        weights = _bilinear(side, size)
        for top, left in product(range(0, size - side + 1, step), repeat=2):
            window = table[top : top + side, left : left + side]
            views.append(np.moveaxis(np.tensordot(weights, np.tensordot(weights, window, (1, 0)), (1, 1)), 0, 1))
    return np.stack(views)


def _bilinear(source: int, target: int) -> Floats:
    """Weights of bilinear resizing along one axis, pixel centres aligned."""
    centres = np.clip((np.arange(target) + 0.5) * source / target - 0.5, 0, source - 1)
    low = np.minimum(centres.astype(int), max(source - 2, 0))
    weights = np.zeros((target, source))
    weights[np.arange(target), low] = 1 - (centres - low)
    weights[np.arange(target), np.minimum(low + 1, source - 1)] += centres - low
    return weights


def flip_views(image: ArrayLike) -> Floats:
    """The image and its mirror image, left and right exchanged.

    Examples
    --------
    >>> flip_views([[1, 2]]).tolist()
    [[[1.0, 2.0]], [[2.0, 1.0]]]
    """
    table = _finite("image", image)
    if table.ndim not in (2, 3):
        raise ValueError(f"image must have 2 or 3 dimensions, got shape {table.shape}")
    return np.stack([table, table[:, ::-1]])


def gain_spread(image: ArrayLike, strength: float) -> float:
    """``D = 2 s ||i||`` of the views ``g i`` with gains ``g`` in ``[1 - s, 1 + s]``.

    Examples
    --------
    >>> gain_spread([3.0, 4.0], 0.5)
    5.0
    """
    return 2 * _strength(strength) * float(np.linalg.norm(_finite("image", image)))


def gain_gap(first: ArrayLike, second: ArrayLike, strength: float) -> float:
    """Smallest ``||g i - h j||`` over gains in ``[1 - s, 1 + s]``, exact up to rounding.

    The objective is convex, so that without an interior solution other than zero its least value lies on one of the
    four edges of the square of gains, where it is a clipped projection.

    Parameters
    ----------
    first, second : array_like of one shape
        Pixels of the two images.
    strength : float
        ``s`` in ``[0, 1)``.

    Returns
    -------
    float
        The gap; zero exactly when a multiple of one image meets the other.

    Raises
    ------
    ValueError
        If shapes differ, a number is not finite, or the strength is out of range.

    Examples
    --------
    >>> round(gain_gap([1.0, 0.0], [2.0, 0.0], 0.2), 12), gain_gap([1.0, 0.0], [2.0, 0.0], 0.5)
    (0.4, 0.0)
    """
    one, two = _finite("first", first).ravel(), _finite("second", second).ravel()
    if one.shape != two.shape:
        raise ValueError(f"first and second must have one shape, got sizes {one.size} and {two.size}")
    low, high = 1 - _strength(strength), 1 + strength
    if _meet(one, two, low, high):
        return 0.0
    edges = [(one, two, gain) for gain in (low, high)] + [(two, one, gain) for gain in (low, high)]
    return min(_edge(fixed, moving, gain, low, high) for fixed, moving, gain in edges)


def _meet(one: Floats, two: Floats, low: float, high: float) -> bool:
    """Whether two proportional images have equal multiples; proportional up to rounding."""
    norms = float(np.linalg.norm(one)), float(np.linalg.norm(two))
    if max(norms) == 0:
        return True
    if min(norms) == 0 or np.linalg.norm(one / norms[0] - two / norms[1]) > 1e-15 * math.sqrt(one.size):
        return False
    return max(norms) * low <= min(norms) * high


def _edge(fixed: Floats, moving: Floats, gain: float, low: float, high: float) -> float:
    """Least ``||gain fixed - h moving||`` over ``h`` in ``[low, high]``."""
    square = float(moving @ moving)
    best = gain * float(fixed @ moving) / square if square > 0 else low
    return float(np.linalg.norm(gain * fixed - min(max(best, low), high) * moving))


def channel_gain_spread(image: ArrayLike, strength: float) -> float:
    """``D`` of a colour change: an independent gain in ``[1 - s, 1 + s]`` for each channel, the last axis.

    Equal to that of one common gain, since both reach ``(1 - s) i`` and ``(1 + s) i``.

    Examples
    --------
    >>> channel_gain_spread([[[3.0, 4.0]]], 0.5)
    5.0
    """
    return gain_spread(image, strength)


def channel_gain_gap(first: ArrayLike, second: ArrayLike, strength: float) -> float:
    """``d`` of a colour change: the gaps of the channels, squared, add up.

    Examples
    --------
    >>> round(channel_gain_gap([[[1.0, 1.0]]], [[[2.0, 1.0]]], 0.2), 12)
    0.4
    """
    one, two = _finite("first", first), _finite("second", second)
    if one.shape != two.shape or one.ndim == 0:
        raise ValueError(f"first and second must have one shape with channels last, got {one.shape} and {two.shape}")
    return math.hypot(*(gain_gap(one[..., c], two[..., c], strength) for c in range(one.shape[-1])))


def noise_ball_spread(radius: float) -> float:
    """``D = 2 r`` of additive noise of norm at most ``r``.

    Examples
    --------
    >>> noise_ball_spread(0.5)
    1.0
    """
    return 2 * _radius(radius)


def noise_ball_gap(first: ArrayLike, second: ArrayLike, radius: float) -> float:
    """``d = max(0, ||i - j|| - 2 r)`` of additive noise of norm at most ``r``.

    Examples
    --------
    >>> noise_ball_gap([0.0, 0.0], [3.0, 4.0], 1.0)
    3.0
    """
    difference = _finite("first", first) - _finite("second", second)
    return max(0.0, float(np.linalg.norm(difference)) - 2 * _radius(radius))


def _finite(name: str, values: ArrayLike) -> Floats:
    table = np.asarray(values, dtype=np.float64)
    if not np.isfinite(table).all():
        raise ValueError(f"{name} must be finite, got {table[~np.isfinite(table)][0]}")
    return table


def _strength(strength: float) -> float:
    if not 0 <= strength < 1:
        raise ValueError(f"strength must be in [0, 1), got {strength}")
    return strength


def _radius(radius: float) -> float:
    if not 0 <= radius < math.inf:
        raise ValueError(f"radius must be nonnegative and finite, got {radius}")
    return radius
