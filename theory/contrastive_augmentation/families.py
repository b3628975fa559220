"""Planted instances: small exact references, and the family on which the constants of T1 are sharp."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from whp.theory.contrastive_augmentation.problems import ContrastiveProblem
from whp.theory.contrastive_augmentation.views import LineImages

__all__ = ["OrthonormalFamily", "block_lines", "circle_problem", "meeting_problem", "uncentred_problem"]


def circle_problem(negatives: int = 1, temperature: Fraction | int = 1) -> ContrastiveProblem:
    """Eight rational points of the unit circle: two classes of two images of two views, scalar pixels.

    Examples
    --------
    >>> circle_problem().embeddings[1]
    array([Fraction(24, 25), Fraction(7, 25)], dtype=object)
    """
    quarter = [(1, 0, 1), (24, 7, 25), (15, 8, 17), (4, 3, 5)]
    points = [(Fraction(a, c), Fraction(b, c)) for a, b, c in quarter]
    points += [(b, a) for a, b in reversed(points)]
    return ContrastiveProblem(
        np.array(points, dtype=object),
        images=(0, 0, 1, 1, 2, 2, 3, 3),
        classes=(0, 0, 0, 0, 1, 1, 1, 1),
        temperature=Fraction(temperature),
        negatives=negatives,
        pixels=[[0], [1], [2], [3], [6], [7], [8], [9]],
    )


def uncentred_problem(centred: bool = False) -> ContrastiveProblem:
    """Two scalar images whose unsupervised risk lies below the floor that T5 gives to centred encoders.

    Examples
    --------
    >>> uncentred_problem().embeddings.ravel()
    array([Fraction(-1, 5), Fraction(8, 1)], dtype=object)
    """
    shift = Fraction(36, 25) if centred else Fraction(0)
    embeddings = np.array([[Fraction(-1, 5) - shift], [Fraction(8) - shift]], dtype=object)
    weights = np.array([Fraction(4, 5), Fraction(1, 5)], dtype=object)
    return ContrastiveProblem(embeddings, (0, 1), (0, 1), weights, Fraction(1))


def meeting_problem() -> ContrastiveProblem:
    """Two images of one class that meet half way: ``d = 0`` and ``D = 1`` on the line."""
    return ContrastiveProblem([[0], [1], [2], [1]], (0, 0, 1, 1), (0, 0, 0, 0), pixels=[[0], [1], [2], [1]])


def block_lines() -> LineImages:
    """Two lines of six pixels that both show the block ``(5, 7)``."""
    return LineImages((0, 1, 5, 7, 2, 0), (3, 3, 0, 5, 7, 1), (5, 7))


@dataclass(frozen=True)
class OrthonormalFamily:
    """``C`` classes of ``n`` images with orthonormal embeddings, whose risks are binomial sums for any ``K``.

    Parameters
    ----------
    images : int
        ``n``, images of each class.
    classes : int
        ``C``.
    negatives : int
        ``K``.
    temperature : float
        ``t``.
    midpoint_mass : float
        Probability that a view is one of the midpoints ``(u_i + u_j) / 2`` between its image and the others of the
        class, which then make ``d = 0`` and ``D = 1/sqrt(2)``; without them ``D = 0`` and ``d = sqrt(2)``.

    Examples
    --------
    >>> family = OrthonormalFamily(2, 2, 1)
    >>> round(family.unsupervised_risk, 9), round(family.mean_classifier_risk, 9)
    (0.408233061, 0.583612082)
    """

    images: int
    classes: int
    negatives: int
    temperature: float = 1.0
    midpoint_mass: float = 0.0

    def __post_init__(self) -> None:
        for name, least in (("images", 1), ("classes", 1), ("negatives", 1)):
            if getattr(self, name) < least:
                raise ValueError(f"{name} must be at least {least}, got {getattr(self, name)}")
        if not 0 < self.temperature < math.inf:
            raise ValueError(f"temperature must be positive and finite, got {self.temperature}")
        if not 0 <= self.midpoint_mass < 1 or (self.midpoint_mass > 0 and self.images < 2):
            raise ValueError(f"midpoint_mass must be in [0, 1), 0 for single images, got {self.midpoint_mass}")

    @property
    def norm_bound(self) -> float:
        """``B = 1``."""
        return 1.0

    @property
    def spread(self) -> float:
        """``D`` between embeddings."""
        return math.sqrt(0.5) if self.midpoint_mass > 0 else 0.0

    @property
    def gap(self) -> float:
        """``d`` between embeddings."""
        return 0.0 if self.midpoint_mass > 0 or self.images == 1 else math.sqrt(2)

    @property
    def first_moment_spread(self) -> float:
        """``sigma_1``, at most ``sqrt(1 - 1/n)``: midpoints lie nearer to the mean."""
        n = self.images
        alone = math.sqrt(1 - 1 / n)
        midway = math.sqrt(max(0.0, 0.5 - 1 / n))
        return (1 - self.midpoint_mass) * alone + self.midpoint_mass * midway

    @cached_property
    def unsupervised_risk(self) -> float:
        """``R_un,K``, or with midpoints an upper bound on it that exceeds it by their share of the largest loss."""
        agreeing = _binomial(self.negatives, 1 / (self.images * self.classes))
        counts = np.arange(self.negatives + 1)
        losses = np.log1p(counts + (self.negatives - counts) * math.exp(-1 / self.temperature))
        base = float(agreeing @ losses)
        touched = -math.expm1((self.negatives + 2) * math.log1p(-self.midpoint_mass))
        largest = float(np.logaddexp(0.0, math.log(self.negatives) + 1 / self.temperature))  # scores in [0, 1]
        return (1 - touched) * base + touched * largest

    @cached_property
    def mean_classifier_risk(self) -> float:
        """``R_mean,K``, or with midpoints, which leave the class means where they are, a lower bound on it."""
        colliding = _binomial(self.negatives, 1 / self.classes)
        counts = np.arange(self.negatives + 1)
        decay = math.exp(-1 / (self.images * self.temperature))
        return (1 - self.midpoint_mass) * float(colliding @ np.log1p(counts + (self.negatives - counts) * decay))

    def problem(self) -> ContrastiveProblem:
        """The member without midpoints as a finite problem of ``n C`` views."""
        size = self.images * self.classes
        classes = [k // self.images for k in range(size)]
        return ContrastiveProblem(
            np.eye(size), range(size), classes, temperature=self.temperature, negatives=self.negatives
        )


def _binomial(trials: int, probability: float) -> NDArray[np.float64]:
    """Probabilities of 0..trials successes."""
    if probability >= 1.0:
        return np.append(np.zeros(trials), 1.0)
    k = np.arange(trials + 1)
    logs = np.array([math.lgamma(i + 1) for i in range(trials + 1)])
    log_mass = logs[-1] - logs - logs[::-1] + k * math.log(probability) + (trials - k) * math.log1p(-probability)
    mass = np.exp(log_mass)
    return np.asarray(mass / mass.sum())
