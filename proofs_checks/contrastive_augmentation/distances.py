"""Checks of T3, T4, T6 and T7: distances of views, decided in integers and fractions."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from whp.algorithms.contrastive_augmentation import AugmentationDistances, augmentation_distances, gain_gap
from whp.proofs_checks.contrastive_augmentation import instances as given
from whp.proofs_checks.contrastive_augmentation.slots import DISTANCES, GAIN_GAP
from whp.proofs_checks.engine import Check, Instances, Mutant, Slack, at_least, at_most, identity
from whp.theory.contrastive_augmentation import (
    AugmentedImages,
    GainPair,
    LineImages,
    crop_windows,
    gain_spread,
    gap_squared,
    spread_squared,
    square,
)
from whp.theory.contrastive_augmentation import gain_gap as gap_formula

__all__ = ["CHECKS", "crop_gaps", "root_at_least", "root_at_most"]

Views = tuple[tuple[int, ...], ...]
Subject = Callable[..., AugmentationDistances]
_SCALE = 2**64


def root_at_most(value: int) -> Fraction:
    """Fraction of at most ``sqrt(value)``, nearer than ``2^-64``.

    Examples
    --------
    >>> root_at_most(4)
    Fraction(2, 1)
    """
    return Fraction(math.isqrt(value * _SCALE**2), _SCALE)


def root_at_least(value: int) -> Fraction:
    """Fraction of at least ``sqrt(value)``, nearer than ``2^-64``."""
    return Fraction(math.isqrt(value * _SCALE**2 - 1) + 1, _SCALE) if value > 0 else Fraction(0)


# T3


def widest(sets: Sequence[Views]) -> int:
    """``D^2``."""
    return max(spread_squared(views) for views in sets)


def farthest(sets: Sequence[Views], pairs: Sequence[tuple[int, int]]) -> int:
    """``d^2``."""
    return max((gap_squared(sets[i], sets[j]) for i, j in pairs), default=0)


def stronger_is_wider_and_nearer(instance: AugmentedImages, *, distances: Subject) -> Slack:
    """``D_A <= D_A'`` and ``d_A >= d_A'`` in integers, and the subject's distances against them."""
    pairs = instance.same_class_pairs
    slack = at_most("spread grows", widest(instance.weaker), widest(instance.stronger))
    slack &= at_least("gap shrinks", farthest(instance.weaker, pairs), farthest(instance.stronger, pairs))
    rows = [(view, k) for k, views in enumerate(instance.stronger) for view in views]
    found = distances(
        np.array([view for view, _ in rows], dtype=np.float64),
        np.array([k for _, k in rows]),
        np.array([instance.classes[k] for _, k in rows]),
    )
    slack &= identity("D", found.spread, math.sqrt(widest(instance.stronger)), rounding=1e-9)
    return slack & identity("d", found.gap, math.sqrt(farthest(instance.stronger, pairs)), rounding=1e-9)


def extremes_exchanged(instance: AugmentedImages, *, distances: Subject) -> Slack:
    """Largest distance across images and smallest inside, in place of the reverse."""
    pairs = instance.same_class_pairs

    def across(sets: Sequence[Views]) -> int:
        return max((square(a, b) for i, j in pairs for a in sets[i] for b in sets[j]), default=0)

    return at_least("gap shrinks", across(instance.weaker), across(instance.stronger))


def distances_of_mean_views(views: Any, images: Any, classes: Any) -> AugmentationDistances:
    """The gap measured between mean views."""
    honest = augmentation_distances(views, images, classes)
    names = np.unique(images)
    means = np.array([views[images == name].mean(axis=0) for name in names])
    labels = np.array([classes[images == name][0] for name in names])
    return dataclasses.replace(honest, gap=augmentation_distances(means, names, labels).gap)


# T4


def dominated(coefficient: int) -> Callable[..., Slack]:
    """Check ``||i - j|| <= coefficient-weighted spreads + d(i, j)``, roots enclosed to ``2^-64``."""

    def observe(instance: AugmentedImages) -> Slack:
        slack = at_most("dominance", 0, 0)  # without a pair of one class there is nothing more to keep
        for i, j in instance.same_class_pairs:
            left = root_at_most(square(instance.images[i], instance.images[j]))
            spreads = [root_at_least(spread_squared(instance.stronger[k])) for k in (i, j)]
            gap = root_at_least(gap_squared(instance.stronger[i], instance.stronger[j]))
            own = sum(spreads) if coefficient == 2 else max(spreads)
            slack &= at_most("dominance", left, own + gap)
        return slack

    return observe


def sum_dominates(instance: AugmentedImages) -> Slack:
    """``max ||i - j|| <= D + d``."""
    return _largest_within(instance, spread_share=1, gap_share=1)


def spread_dominates(instance: AugmentedImages) -> Slack:
    """``max ||i - j|| <= D``."""
    return _largest_within(instance, spread_share=1, gap_share=0)


def gap_dominates(instance: AugmentedImages) -> Slack:
    """``max ||i - j|| <= d``."""
    return _largest_within(instance, spread_share=0, gap_share=1)


def _largest_within(instance: AugmentedImages, *, spread_share: int, gap_share: int) -> Slack:
    pairs = instance.same_class_pairs
    left = max((square(instance.images[i], instance.images[j]) for i, j in pairs), default=0)
    spread, gap = widest(instance.stronger), farthest(instance.stronger, pairs)
    right = spread_share * root_at_least(spread) + gap_share * root_at_least(gap)
    return at_most("dominance", root_at_most(left), right)


# T6


def crop_gaps(lines: LineImages) -> list[int]:
    """``d(m)^2`` for windows of 1 to n pixels."""
    widths = range(1, len(lines.first) + 1)
    return [gap_squared(crop_windows(lines.first, m), crop_windows(lines.second, m)) for m in widths]


def crops_around_a_block(instance: LineImages) -> Slack:
    """Gap zero up to the block's length, nondecreasing in the width, and the ends."""
    gaps, whole = crop_gaps(instance), square(instance.first, instance.second)
    slack = identity("meets", sum(gaps[: len(instance.block)]), 0)
    for narrower, wider in pairwise(gaps):
        slack &= at_most("nondecreasing", narrower, wider)
    spreads = [spread_squared(crop_windows(line, len(line))) for line in (instance.first, instance.second)]
    return slack & identity("whole lines", [gaps[-1], *spreads], [whole, 0, 0])


def gaps_for_each_pixel(instance: LineImages) -> Slack:
    """Distances divided by the width: no longer monotone."""
    gaps = crop_gaps(instance)
    slack = at_most("nondecreasing", 0, 0)
    for m, (narrower, wider) in enumerate(pairwise(gaps), start=1):
        slack &= at_most("nondecreasing", narrower * (m + 1) ** 2, wider * m**2)
    return slack


def spreads_grow_with_the_width(instance: LineImages) -> Slack:
    """Claim that the spread is monotone too."""
    spreads = [spread_squared(crop_windows(instance.first, m)) for m in range(1, len(instance.first) + 1)]
    slack = at_most("nondecreasing", 0, 0)
    for narrower, wider in pairwise(spreads):
        slack &= at_most("nondecreasing", narrower, wider)
    return slack


def draw_other_blocks(rng: np.random.Generator, size: int) -> list[LineImages]:
    """Lines whose blocks differ in one pixel."""
    found = []
    for lines in given.draw_lines(rng, size):
        second = list(lines.second)
        at = int(rng.integers(len(second)))
        second[at] += 10
        found.append(LineImages(lines.first, tuple(second), lines.block))
    return found


# T7


def gains_of_proportional_images(meets_at: Callable[[Fraction], Fraction], slope_sign: int = 1) -> Callable[..., Slack]:
    """Check the gap, the strength at which the pair meets, and the growth of the sum, in fractions."""

    def observe(instance: GainPair, *, gain_gap: Callable[..., float]) -> Slack:
        ratio, strength, gap = instance.ratio, instance.strength, gap_formula(instance)
        low, high = 1 - strength, 1 + strength
        nearest = max(
            Fraction(0), low * max(ratio, Fraction(1)) - high * min(ratio, Fraction(1))
        )  # by ends of intervals
        slack = identity("gap", gap, nearest)
        slack &= identity("meets", int(gap == 0), int(strength >= meets_at(ratio)))
        if ratio > 1 and gap > 0:
            grown = (ratio - 1) + slope_sign * (ratio - 1) * strength
            slack &= identity("sum", gain_spread(instance) + gap, grown)
        image = np.array([0.6, 0.8])
        found = gain_gap(image, float(ratio) * image, float(strength))
        return slack & identity("subject", found, float(gap), rounding=1e-12)

    return observe


def meeting_strength(ratio: Fraction) -> Fraction:
    """``|lambda - 1| / (lambda + 1)``."""
    return abs(ratio - 1) / (ratio + 1)


def half_the_difference(ratio: Fraction) -> Fraction:
    """``|lambda - 1| / 2``."""
    return abs(ratio - 1) / 2


def corners_only(first: Any, second: Any, strength: float) -> float:
    """Least distance over the four corners of the gains, where a crossing is missed."""
    gains = (1 - strength, 1 + strength)
    return float(min(np.linalg.norm(g * first - h * second) for g in gains for h in gains))


NESTED = Instances(
    "2 to 4 images of 1 to 3 integer pixels, the stronger views a superset of the weaker, decided in integers",
    examples=given.image_examples,
    draw=given.draw_augmented_images,
    strategy=given.augmented_images,
)
LOOSE = Instances("views drawn afresh", draw=given.draw_loosely_augmented)
LINES = Instances(
    "lines of up to 9 integer pixels with a planted block, all widths, decided in integers",
    examples=given.line_examples,
    draw=given.draw_lines,
    strategy=given.lines,
)
GAINS = Instances(
    "ratios from 1/5 to 5, strengths from 0 to 9/10, decided in fractions",
    examples=given.gain_examples,
    draw=given.draw_gains,
    strategy=given.gains,
)

CHECKS = (
    Check(
        theorem="contrastive_augmentation.T3",
        name="nested",
        kind="slack",
        observe=stronger_is_wider_and_nearer,
        instances=NESTED,
        slots={DISTANCES: augmentation_distances},
        mutants=(
            Mutant("smallest and largest exchanged", "gap shrinks", observe=extremes_exchanged),
            Mutant("fresh views", "spread grows", instances=LOOSE, ignoring=("nested",)),
            Mutant("gap between mean views", "d", {"distances": distances_of_mean_views}),
        ),
        cost=5,
    ),
    Check(
        theorem="contrastive_augmentation.T4",
        name="dominance",
        kind="slack",
        observe=dominated(2),
        instances=NESTED,
        mutants=(
            Mutant("identity removed", "dominance", instances=LOOSE, ignoring=("identity",)),
            Mutant("coefficient one", "dominance", observe=dominated(1)),
        ),
        cost=2,
    ),
    Check(
        theorem="contrastive_augmentation.T4_sum",
        name="plain_sum",
        kind="slack",
        observe=sum_dominates,
        instances=NESTED,
        mutants=(
            Mutant("spread alone", "dominance", observe=spread_dominates),
            Mutant("gap alone", "dominance", observe=gap_dominates),
        ),
        cost=2,
    ),
    Check(
        theorem="contrastive_augmentation.T6",
        name="crops",
        kind="slack",
        observe=crops_around_a_block,
        instances=LINES,
        mutants=(
            Mutant(
                "blocks that differ in one pixel",
                "meets",
                instances=Instances("blocks that differ", draw=draw_other_blocks),
                ignoring=("block",),
            ),
            Mutant("distances for each pixel", "nondecreasing", observe=gaps_for_each_pixel),
            Mutant("spread claimed monotone", "nondecreasing", observe=spreads_grow_with_the_width),
        ),
        cost=4,
    ),
    Check(
        theorem="contrastive_augmentation.T7",
        name="gains",
        kind="slack",
        observe=gains_of_proportional_images(meeting_strength),
        instances=GAINS,
        slots={GAIN_GAP: gain_gap},
        mutants=(
            Mutant("slope of the sum reversed", "sum", observe=gains_of_proportional_images(meeting_strength, -1)),
            Mutant(
                "meeting at half the difference", "meets", observe=gains_of_proportional_images(half_the_difference)
            ),
            Mutant("corners only", "subject", {"gain_gap": corners_only}),
        ),
        cost=2,
    ),
)
