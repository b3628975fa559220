"""Proofs with a printed scope: exhaustive over small integer views, polynomial identities over all reals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import chain, combinations, pairwise, product
from typing import Any

from whp.proofs_checks.contrastive_augmentation.distances import crop_gaps
from whp.proofs_checks.engine import Proof, ProofResult, exhaustive, polynomial_identity, z3_valid
from whp.theory.contrastive_augmentation import (
    AugmentedImages,
    LineImages,
    crop_windows,
    gap_squared,
    spread_squared,
)

__all__ = ["PROOFS", "dominance_on_the_line", "keeps_crop_claims", "nested_views_trade"]

Views = tuple[tuple[int, ...], ...]


# T1_variance and T2_one: identities between polynomials


def weighted_variance() -> ProofResult:
    """``W sum w (f - mu)^2 = sum w w' (f - f')^2 / 2`` with ``mu = sum w f / W``, for four points of one coordinate."""
    count = 4

    def left(*symbols: Any) -> Any:
        weights, points = symbols[:count], symbols[count:]
        total = sum(weights)
        mean = sum(w * f for w, f in zip(weights, points, strict=True)) / total
        return total * sum(w * (f - mean) ** 2 for w, f in zip(weights, points, strict=True))

    def right(*symbols: Any) -> Any:
        weights, points = symbols[:count], symbols[count:]
        pairs = combinations(range(count), 2)
        return sum(weights[a] * weights[b] * (points[a] - points[b]) ** 2 for a, b in pairs)

    names = [f"w{k}" for k in range(count)] + [f"f{k}" for k in range(count)]
    return polynomial_identity(left, right, names, nonzero=[lambda *s: sum(s[:count])])


def one_negative_split() -> ProofResult:
    """``sum pi pi' l = (1 - tau) R_sup + tau log 2`` for three classes, whatever losses ``l`` between them."""
    pairs = [(c, k) for c in range(3) for k in range(3) if c != k]

    def both(*symbols: Any) -> tuple[Any, Any]:
        priors, log_two, losses = symbols[:3], symbols[3], symbols[4:]
        unlike = sum(priors[c] * priors[k] * loss for (c, k), loss in zip(pairs, losses, strict=True))
        total = sum(priors)
        tau = sum(p**2 for p in priors) / total**2
        mean = (unlike + sum(p**2 for p in priors) * log_two) / total**2
        supervised = (unlike / total**2) / (1 - tau)
        return mean, (1 - tau) * supervised + tau * log_two

    names = ["p0", "p1", "p2", "L", *(f"l{c}{k}" for c, k in pairs)]
    nonzero = [lambda *s: sum(s[:3]), lambda *s: s[0] * s[1] + s[0] * s[2] + s[1] * s[2]]
    return polynomial_identity(lambda *s: both(*s)[0], lambda *s: both(*s)[1], names, nonzero=nonzero)


# T3 and T4: all small sets of views


def _sets(values: Sequence[int], containing: int | None = None) -> Iterator[Views]:
    """Nonempty sets of one-pixel views."""
    subsets = chain.from_iterable(combinations(values, k) for k in range(1, len(values) + 1))
    return (tuple((v,) for v in chosen) for chosen in subsets if containing is None or containing in chosen)


def nested_views_trade(sets: tuple[Views, Views, Views, Views]) -> bool:
    """T3 for two images: weaker and stronger views of the one, then of the other."""
    first, wider_first, second, wider_second = sets
    grows = max(map(spread_squared, (first, second))) <= max(map(spread_squared, (wider_first, wider_second)))
    return grows and gap_squared(first, second) >= gap_squared(wider_first, wider_second)


def _nested_families() -> Iterator[tuple[Views, Views, Views, Views]]:
    chains = [(a, b) for a, b in product(list(_sets(range(4))), repeat=2) if set(a) <= set(b)]
    return ((a, b, c, d) for (a, b), (c, d) in product(chains, repeat=2))


def dominance_on_the_line(images: AugmentedImages) -> bool:
    """T4 for two images of one pixel: distances are integers, so that nothing is rounded."""
    (i,), (j,) = images.images
    first, second = ([v for (v,) in views] for views in images.stronger)
    gap = min(abs(a - b) for a in first for b in second)
    return abs(i - j) <= max(first) - min(first) + gap + max(second) - min(second)


def _identity_families() -> Iterator[AugmentedImages]:
    values = range(6)
    for i, j in product(values, repeat=2):
        for first, second in product(list(_sets(values, i)), list(_sets(values, j))):
            yield AugmentedImages(((i,), (j,)), (0, 0), (((i,),), ((j,),)), (first, second))


# T6: all short lines


def keeps_crop_claims(lines: LineImages) -> bool:
    """T6 on one pair of lines."""
    gaps = crop_gaps(lines)
    meets = all(gap == 0 for gap in gaps[: len(lines.block)])
    return meets and all(a <= b for a, b in pairwise(gaps))


def _short_lines() -> Iterator[LineImages]:
    for length in range(1, 5):
        for first, second in product(product(range(3), repeat=length), repeat=2):
            for width in range(1, length + 1):
                shared = set(crop_windows(first, width)) & set(crop_windows(second, width))
                yield from (LineImages(first, second, block) for block in sorted(shared))


# T7: both sides as sums of terms that are plainly nonnegative


def gap_of_gains() -> ProofResult:
    """For gains ``g = 1 + s a`` and ``h = 1 + s b`` with ``|a|, |b| <= 1`` and ``lambda >= 1``.

    ``h lambda - g = (lambda - 1) - s (1 + lambda) + s lambda (1 + b) + s (1 - a)``, whose last two terms are
    nonnegative and vanish together; exchanging the images gives ``lambda <= 1``.
    """

    def distance(ratio: Any, s: Any, a: Any, b: Any) -> Any:
        return ratio * (1 + s * b) - (1 + s * a)

    def decomposed(ratio: Any, s: Any, a: Any, b: Any) -> Any:
        return (ratio - 1) - s * (1 + ratio) + s * ratio * (1 + b) + s * (1 - a)

    return polynomial_identity(distance, decomposed, ["ratio", "s", "a", "b"])


def least_over_gains() -> ProofResult:
    """No gains come nearer than the formula, and where it is zero the intervals of the two images meet."""

    def formula(z3: Any) -> Any:
        ratio, s, g, h = z3.Reals("ratio s g h")
        allowed = z3.And(ratio >= 1, s >= 0, s < 1)
        gains = z3.And(1 - s <= g, g <= 1 + s, 1 - s <= h, h <= 1 + s)
        gap = (ratio - 1) - s * (1 + ratio)  # reached at g = 1 + s, h = 1 - s
        meets = z3.And(ratio * (1 - s) <= 1 + s, 1 - s <= ratio * (1 + s))
        return z3.Implies(
            allowed,
            z3.And(z3.Implies(gains, h * ratio - g >= gap), z3.Implies(gap <= 0, meets)),
        )

    return z3_valid(formula)


def sum_of_gains() -> ProofResult:
    """``D + d = 2 s lambda + (lambda - 1) - s (1 + lambda) = (lambda - 1)(1 + s)``: the slope in s is lambda - 1."""
    return polynomial_identity(
        lambda ratio, s: 2 * s * ratio + (ratio - 1) - s * (1 + ratio),
        lambda ratio, s: (ratio - 1) * (1 + s),
        ["ratio", "s"],
    )


def meeting_of_gains() -> ProofResult:
    """At ``s = (lambda - 1) / (lambda + 1)`` the gap is zero."""
    return polynomial_identity(
        lambda ratio: (ratio - 1) - (ratio - 1) / (ratio + 1) * (1 + ratio),
        lambda ratio: Fraction(0) * ratio,
        ["ratio"],
        nonzero=[lambda ratio: ratio + 1],
    )


def _proof(theorem: str, name: str, scope: str, decide: Any) -> Proof:
    return Proof(f"contrastive_augmentation.{theorem}", name, scope, decide)


PROOFS = (
    _proof(
        "T1_variance",
        "weighted_variance",
        "all real points and weights of nonzero sum, 4 points, one coordinate at a time",
        weighted_variance,
    ),
    _proof("T2_one", "one_negative_split", "all priors and losses between 3 classes", one_negative_split),
    _proof(
        "T3",
        "small_nested_views",
        "two images of one class, one pixel in 0..3, all nested pairs of sets of views",
        lambda: exhaustive(_nested_families(), nested_views_trade),
    ),
    _proof(
        "T4",
        "small_views_with_identity",
        "two images of one pixel in 0..5, all sets of views with the identity",
        lambda: exhaustive(_identity_families(), dominance_on_the_line),
    ),
    _proof(
        "T6",
        "short_lines",
        "all pairs of lines of up to 4 pixels in 0..2 with every shared block",
        lambda: exhaustive(_short_lines(), keeps_crop_claims),
    ),
    _proof("T7", "gap_of_gains", "all real ratios, strengths and gains, the decomposition only", gap_of_gains),
    _proof("T7", "least_over_gains", "all real ratios of at least 1 and all strengths", least_over_gains),
    _proof("T7", "sum_of_gains", "all real ratios of at least 1 and strengths before the pair meets", sum_of_gains),
    _proof("T7", "meeting_of_gains", "all real ratios of at least 1", meeting_of_gains),
)
