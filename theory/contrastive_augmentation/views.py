"""Augmented images over the integers: exact squared distances of views, windows of lines, gains of two images."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product

__all__ = [
    "AugmentedImages",
    "GainPair",
    "LineImages",
    "crop_windows",
    "gain_gap",
    "gain_spread",
    "gap_squared",
    "spread_squared",
    "square",
]

View = tuple[int, ...]


def square(first: Sequence[int], second: Sequence[int]) -> int:
    """``||first - second||^2``.

    Examples
    --------
    >>> square((0, 3), (4, 0))
    25
    """
    return sum((a - b) ** 2 for a, b in zip(first, second, strict=True))


def spread_squared(views: Iterable[View]) -> int:
    """Square of the largest distance of two views.

    Examples
    --------
    >>> spread_squared([(0,), (3,), (1,)])
    9
    """
    return max((square(a, b) for a, b in combinations(tuple(views), 2)), default=0)


def gap_squared(first: Iterable[View], second: Iterable[View]) -> int:
    """Square of the smallest distance of a view of one image and a view of another.

    Examples
    --------
    >>> gap_squared([(0,), (3,)], [(5,), (9,)])
    4
    """
    return min(square(a, b) for a, b in product(tuple(first), tuple(second)))


@dataclass(frozen=True)
class AugmentedImages:
    """Images with integer pixels, their classes, and two augmentations of each.

    Parameters
    ----------
    images : tuple of tuple of int
        The natural images, all of one length.
    classes : tuple of int
        Class of each.
    weaker, stronger : tuple of tuple of tuple of int
        Views of each image under two augmentations; neither need contain the other or the image itself.

    Examples
    --------
    >>> meeting = AugmentedImages(((0,), (4,)), (0, 0), (((0,),), ((4,),)), (((0,), (2,)), ((4,), (2,))))
    >>> meeting.is_nested, meeting.contains_identity
    (True, True)
    """

    images: tuple[View, ...]
    classes: tuple[int, ...]
    weaker: tuple[tuple[View, ...], ...]
    stronger: tuple[tuple[View, ...], ...]

    def __post_init__(self) -> None:
        if not len(self.images) == len(self.classes) == len(self.weaker) == len(self.stronger) >= 1:
            raise ValueError(f"each of {len(self.images)} images needs a class and two sets of views")
        every = [*self.images, *(view for sets in (self.weaker, self.stronger) for views in sets for view in views)]
        if any(not views for sets in (self.weaker, self.stronger) for views in sets):
            raise ValueError("each image needs at least one view")
        if len({len(view) for view in every}) != 1:
            raise ValueError("all images and views must have the same number of pixels")

    @property
    def is_nested(self) -> bool:
        """Whether every weaker view of an image is among its stronger ones."""
        return all(set(a) <= set(b) for a, b in zip(self.weaker, self.stronger, strict=True))

    @property
    def contains_identity(self) -> bool:
        """Whether every image is one of its own stronger views."""
        return all(image in views for image, views in zip(self.images, self.stronger, strict=True))

    @property
    def same_class_pairs(self) -> tuple[tuple[int, int], ...]:
        """Pairs of different images of one class."""
        count = range(len(self.images))
        return tuple((i, j) for i, j in combinations(count, 2) if self.classes[i] == self.classes[j])


def crop_windows(line: Sequence[int], width: int) -> tuple[View, ...]:
    """All windows of ``width`` neighbouring pixels.

    Examples
    --------
    >>> crop_windows((1, 2, 3), 2)
    ((1, 2), (2, 3))
    """
    if not 1 <= width <= len(line):
        raise ValueError(f"width must be between 1 and {len(line)}, got {width}")
    return tuple(tuple(line[k : k + width]) for k in range(len(line) - width + 1))


@dataclass(frozen=True)
class LineImages:
    """Two images of one class: lines of integer pixels, and the block that the class shows somewhere in each.

    Parameters
    ----------
    first, second : tuple of int
        Lines of equal length.
    block : tuple of int
        What the class looks like; whether each line contains it is an assumption, not a requirement.
    """

    first: View
    second: View
    block: View

    def __post_init__(self) -> None:
        if not 1 <= len(self.block) <= len(self.first) or len(self.first) != len(self.second):
            raise ValueError(
                f"lines of equal length with a block no longer than they are, got lengths {len(self.first)}, "
                f"{len(self.second)} and {len(self.block)}"
            )

    @property
    def both_show_the_block(self) -> bool:
        """Whether the block is a window of both lines."""
        return all(self.block in crop_windows(line, len(self.block)) for line in (self.first, self.second))


@dataclass(frozen=True)
class GainPair:
    """An image of norm one, its multiple by ``ratio``, and gains between ``1 - strength`` and ``1 + strength``.

    Examples
    --------
    >>> gain_gap(GainPair(Fraction(2), Fraction(1, 5))), gain_spread(GainPair(Fraction(2), Fraction(1, 5)))
    (Fraction(2, 5), Fraction(4, 5))
    """

    ratio: Fraction
    strength: Fraction

    def __post_init__(self) -> None:
        if not self.ratio > 0:
            raise ValueError(f"ratio must be positive, got {self.ratio}")
        if not 0 <= self.strength < 1:
            raise ValueError(f"strength must be in [0, 1), got {self.strength}")


def gain_gap(pair: GainPair) -> Fraction:
    """``d = max(0, |lambda - 1| - s (1 + lambda))``, in units of the first image's norm."""
    return max(Fraction(0), abs(pair.ratio - 1) - pair.strength * (1 + pair.ratio))


def gain_spread(pair: GainPair) -> Fraction:
    """``D = 2 s max(1, lambda)``, in units of the first image's norm."""
    return 2 * pair.strength * max(Fraction(1), pair.ratio)
