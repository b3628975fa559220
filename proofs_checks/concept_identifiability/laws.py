"""Checks of class laws: the score identity D1, the twisted rotations D7, and the trap of pooled correlations."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from whp.algorithms.concept_identifiability import matched_correlation, pull_back_scores
from whp.proofs_checks.engine import Check, Instances, Mutant, Sample, Slack, at_most, identity, requires, sample
from whp.theory.concept_identifiability import (
    GADGETS,
    Coupling,
    GadgetPoint,
    ReparametrisedModel,
    applied,
    bounds,
    determinant,
    estimated_score_differences,
    half_probability,
    jacobian,
    map_jacobian,
    score_differences,
    transpose,
)
from whp.theory.core import Slot

__all__ = ["CHECKS", "ClassSample", "FiniteLaws"]

PullBack: TypeAlias = Callable[[Sequence[Sequence[Any]], Sequence[Sequence[Any]]], Sequence[Sequence[Any]]]
Twister: TypeAlias = Callable[[float, NDArray[np.float64]], NDArray[np.float64]]
Correlation: TypeAlias = Callable[[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]], float]


# D1

PULL_BACK = Slot(
    "pull_back",
    "(jacobian, estimated)",
    "jacobian: matrix of fractions, derivatives of h, one row an estimated concept; estimated: score differences of "
    "the estimated model, one row a context",
    "score differences of the true model, one row a context",
    ("jacobian", "estimated"),
)


def identity_of_scores(determinants: Callable[[int], Sequence[bool]]) -> Callable[..., Slack]:
    """Compare scores differentiated directly with those differentiated through the inverse map and pulled back."""

    def observe(instance: ReparametrisedModel, *, pull_back: PullBack) -> Slack:
        estimated = estimated_score_differences(instance, log_determinant=determinants(len(instance.means)))
        found = pull_back(map_jacobian(instance), estimated)
        return identity("scores", np.array(found, dtype=object), np.array(score_differences(instance), dtype=object))

    return observe


def in_all_contexts(count: int) -> Sequence[bool]:
    """Include the determinant in every context."""
    return [True] * count


def in_the_first_context(count: int) -> Sequence[bool]:
    """Include the determinant in the first context only."""
    return [True] + [False] * (count - 1)


def not_transposed(jacobian: Sequence[Sequence[Any]], estimated: Sequence[Sequence[Any]]) -> Sequence[Sequence[Any]]:
    """Multiply by J instead of its transpose."""
    return pull_back_scores(transpose(jacobian), estimated)


def not_pulled_back(jacobian: Sequence[Sequence[Any]], estimated: Sequence[Sequence[Any]]) -> Sequence[Sequence[Any]]:
    """Forget the map."""
    return estimated


def draw_reparametrised(rng: np.random.Generator, size: int) -> list[ReparametrisedModel]:
    """1 to 4 concepts, 2 to 4 contexts, up to 4 couplings with rational coefficients."""
    drawn = []
    for _ in range(size):
        n, contexts = int(rng.integers(1, 5)), int(rng.integers(2, 5))

        def fractions(*shape: int, low: int = -6) -> Any:
            values = [Fraction(int(v), int(rng.integers(1, 4))) for v in rng.integers(low, 7, int(np.prod(shape)))]
            return tuple(values) if len(shape) == 1 else tuple(zip(*[iter(values)] * shape[1], strict=True))

        couplings = []
        for _ in range(int(rng.integers(1, 5)) if n > 1 else 0):
            target, source = (int(v) for v in rng.choice(n, 2, replace=False))
            couplings.append(Coupling(target, source, *fractions(3)))
        drawn.append(
            ReparametrisedModel(tuple(couplings), fractions(contexts, n), fractions(contexts, n, low=1), fractions(n))
        )
    return drawn


# D7


def laws_are_kept(pair: tuple[int, int] = (1, 2), *, unmoved: bool = False) -> Callable[..., Slack]:
    """Check that a gadget keeps density and volume, and depends on u exactly where it is said to.

    ``pair`` other than the isotropic one, or ``unmoved``, make the wrong statements of the mutants.
    """

    def observe(instance: GadgetPoint) -> Slack:
        image = applied(instance, pair)
        gadget, point = GADGETS[instance.gadget], instance.point
        slack = identity("density", sum(v.value * v.value for v in image[1:]), sum(v * v for v in point[1:]))
        slack &= identity("u", image[0].value, point[0])
        slack &= identity("volume", determinant(jacobian(image)), Fraction(1))
        moves = any(row.gradient[0] != 0 for row in image[1:])
        said = gadget.mixes_u and any(point[1:]) and not unmoved
        return slack & requires("dependence on u", moves == said)

    return observe


def named_points() -> dict[str, GadgetPoint]:
    """Each gadget at a plain point, and at the centre of its rotation."""
    plain, centre = (Fraction(1, 2), Fraction(2), Fraction(-3)), (Fraction(5), Fraction(0), Fraction(0))
    points = {f"{g.name}": GadgetPoint(i, plain) for i, g in enumerate(GADGETS)}
    return points | {f"{g.name}, centre": GadgetPoint(i, centre) for i, g in enumerate(GADGETS)}


def draw_points(rng: np.random.Generator, size: int) -> list[GadgetPoint]:
    """Random rational points of random gadgets."""
    return [
        GadgetPoint(
            int(rng.integers(len(GADGETS))),
            tuple(Fraction(int(v), int(rng.integers(1, 8))) for v in rng.integers(-9, 10, 3)),  # type: ignore[arg-type]
        )
        for _ in range(size)
    ]


TWISTER = Slot(
    "twister",
    "(angle, pair)",
    "angle: float in radians, the class-dependent concept; pair: array (2,), the class-independent ones",
    "estimated class-independent pair, array (2,), of the same law",
    ("angle", "pair"),
)


def twisted(angle: float, pair: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rotate the pair by the angle."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([c * pair[0] - s * pair[1], s * pair[0] + c * pair[1]])


def half_twisted(angle: float, pair: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rotate by half the angle."""
    return twisted(angle / 2, pair)


def untwisted(angle: float, pair: NDArray[np.float64]) -> NDArray[np.float64]:
    """Leave the pair as it is."""
    return pair


def cosine_left(instance: float, *, twister: Twister, rng: np.random.Generator) -> Sample:
    """Cosine of the angle between a class-independent pair and its estimate; ``instance`` is s."""
    pair = rng.normal(size=2)
    found = np.asarray(twister(float(instance * rng.normal()), pair), dtype=float)
    size = float(np.linalg.norm(pair) * np.linalg.norm(found))
    cosine = min(1.0, max(-1.0, float(pair @ found) / size)) if size > 0 else 0.0
    mean = float(bounds.TWISTED_CORRELATION(s=instance))
    return sample(cosine, low=-1.0, high=1.0, mean=mean, name="cosine")


@dataclass(frozen=True)
class FiniteLaws:
    """Laws of a class-dependent and a class-independent concept: values with weights that sum to one."""

    dependent: dict[Fraction, Fraction]
    independent: dict[Fraction, Fraction]


def half_in_every_class(instance: FiniteLaws) -> Slack:
    """``P(u b > 0) = 1/2``."""
    return identity("probability", half_probability(instance.dependent, instance.independent), Fraction(1, 2))


def _finite(rng: np.random.Generator, symmetric: bool) -> dict[Fraction, Fraction]:
    values = rng.choice(np.arange(1, 20), int(rng.integers(1, 5)), replace=False)
    signs = rng.choice([-1, 1], len(values))
    weights = [int(w) for w in rng.integers(1, 9, len(values))]
    if symmetric:
        total = 2 * sum(weights)
        return {Fraction(int(v) * s): Fraction(w, total) for v, w in zip(values, weights, strict=True) for s in (-1, 1)}
    return {Fraction(int(v * s)): Fraction(w, sum(weights)) for v, s, w in zip(values, signs, weights, strict=True)}


def draw_laws(rng: np.random.Generator, size: int) -> list[FiniteLaws]:
    """Any dependent law without mass at 0, a symmetric independent one."""
    return [FiniteLaws(_finite(rng, False), _finite(rng, True)) for _ in range(size)]


def _skewed() -> dict[str, FiniteLaws]:
    one = {Fraction(1): Fraction(1)}
    return {"skewed": FiniteLaws(one, {Fraction(1): Fraction(2, 3), Fraction(-1): Fraction(1, 3)})}


def _mass_at_zero() -> dict[str, FiniteLaws]:
    half = Fraction(1, 2)
    return {"at zero": FiniteLaws({Fraction(0): half, Fraction(1): half}, {Fraction(1): half, Fraction(-1): half})}


# Pooling

CORRELATION = Slot(
    "correlation",
    "(z, z_hat, labels)",
    "z, z_hat: arrays (n, k); labels: integer array (n,), classes",
    "mean absolute correlation within classes under the best assignment of coordinates",
    ("z", "z_hat", "labels"),
)


@dataclass(frozen=True)
class ClassSample:
    """Two integer codes of the same size with class labels, and shifts of their classes."""

    z: tuple[tuple[int, ...], ...]
    z_hat: tuple[tuple[int, ...], ...]
    labels: tuple[int, ...]
    shifts: tuple[tuple[int, ...], ...]


ROUNDING = 1e-9  # correlations of a few dozen integers below 1000


def centred_by_class(instance: ClassSample, *, correlation: Correlation) -> Slack:
    """Shifts change nothing, a scaled signed permutation is found, and no assignment is better."""
    z, z_hat = (np.array(code, dtype=float) for code in (instance.z, instance.z_hat))
    labels, shifts = np.array(instance.labels), np.array(instance.shifts, dtype=float)[list(instance.labels)]
    k = z.shape[1]
    plain = float(correlation(z, z_hat, labels))
    shifted = float(correlation(z + shifts, z_hat + 3 * shifts, labels))
    slack = identity("shifts of classes", shifted, plain, rounding=ROUNDING)
    code = -2.0 * np.roll(z, 1, axis=1) + shifts[:, :1]
    slack &= identity("signed permutation", float(correlation(z, code, labels)), 1.0, rounding=ROUNDING)
    best = max(np.mean([abs(_within(z[:, i], z_hat[:, s[i]], labels)) for i in range(k)]) for s in _permutations(k))
    return slack & at_most("best assignment", float(best) - ROUNDING, plain)


def _permutations(k: int) -> list[tuple[int, ...]]:
    return list(itertools.permutations(range(k)))


def _within(a: NDArray[np.float64], b: NDArray[np.float64], labels: NDArray[np.int64]) -> float:
    x, y = (v - np.array([v[labels == k].mean() for k in labels]) for v in (a, b))
    return float(x @ y / np.sqrt((x @ x) * (y @ y)))


def pooled_reaches(claim: Callable[[Fraction], Fraction]) -> Callable[..., Slack]:
    """Two codes independent inside each of two classes with means +-d: their pooled correlation, exactly."""

    def observe(instance: Fraction) -> Slack:
        rows = [(s * instance + a, s * instance + b) for s in (-1, 1) for a in (-1, 1) for b in (-1, 1)]
        cross, square = sum(x * y for x, y in rows), sum(x * x for x, _ in rows)
        return identity("pooled correlation", Fraction(cross) / square, claim(instance))

    return observe


def pooled_formula(d: Fraction) -> Fraction:
    """Return ``d^2 / (1 + d^2)``."""
    return d * d / (1 + d * d)


def distance_alone(d: Fraction) -> Fraction:
    """Forget the square."""
    return d / (1 + d)


def within_class(d: Fraction) -> Fraction:
    """Claim that pooling does no harm."""
    return Fraction(0)


def centred(z: NDArray[np.float64], z_hat: NDArray[np.float64], labels: NDArray[np.int64]) -> float:
    """Our score in the shape of the slot."""
    return matched_correlation(z, z_hat, labels).mean


def pooled(z: NDArray[np.float64], z_hat: NDArray[np.float64], labels: NDArray[np.int64]) -> float:
    """Ignore the classes."""
    return matched_correlation(z, z_hat).mean


def in_given_order(z: NDArray[np.float64], z_hat: NDArray[np.float64], labels: NDArray[np.int64]) -> float:
    """Search no permutation."""
    return float(np.mean([abs(_within(z[:, i], z_hat[:, i], labels)) for i in range(z.shape[1])]))


def signed(z: NDArray[np.float64], z_hat: NDArray[np.float64], labels: NDArray[np.int64]) -> float:
    """Keep the sign of correlations."""
    k = z.shape[1]
    return float(max(np.mean([_within(z[:, i], z_hat[:, s[i]], labels) for i in range(k)]) for s in _permutations(k)))


def draw_class_samples(rng: np.random.Generator, size: int) -> list[ClassSample]:
    """2 or 3 concepts, 2 or 3 classes of 4 to 8 rows, correlated codes, shifts up to 100."""
    drawn = []
    for _ in range(size):
        k, classes = int(rng.integers(2, 4)), int(rng.integers(2, 4))
        labels = np.repeat(np.arange(classes), int(rng.integers(4, 9)))
        z = rng.integers(-9, 10, (labels.size, k))
        z[:2] = [[-10] * k, [10] * k]  # no column is constant within the first class
        z_hat = z @ rng.integers(-2, 3, (k, k)) + rng.integers(-5, 6, z.shape)
        z_hat[:2] = [[-30] * k, [31] * k]
        shifts = rng.integers(-100, 101, (classes, k))
        tuples = [tuple(tuple(int(v) for v in row) for row in code) for code in (z, z_hat, shifts)]
        drawn.append(ClassSample(tuples[0], tuples[1], tuple(int(v) for v in labels), tuples[2]))
    return drawn


def _distances() -> dict[str, Fraction]:
    return {f"d = {d}": Fraction(d) for d in ("0", "1/3", "1", "2", "5", "100")}


def draw_distances(rng: np.random.Generator, size: int) -> list[Fraction]:
    """Fractions from 0 to 30."""
    return [Fraction(int(a), int(b)) for a, b in zip(rng.integers(0, 31, size), rng.integers(1, 9, size), strict=True)]


ID = "concept_identifiability."

CHECKS: tuple[Check, ...] = (
    Check(
        theorem=ID + "D1",
        name="couplings",
        kind="slack",
        observe=identity_of_scores(in_all_contexts),
        instances=Instances(
            "Gaussian concepts with rational means and precisions, up to 4 of them in up to 4 contexts, through up to "
            "4 rational couplings; derivatives in fractions",
            draw=draw_reparametrised,
        ),
        slots={PULL_BACK: pull_back_scores},
        mutants=(
            Mutant("J instead of its transpose", "scores", {"pull_back": not_transposed}),
            Mutant("the map forgotten", "scores", {"pull_back": not_pulled_back}),
            Mutant("determinant in one context only", "scores", observe=identity_of_scores(in_the_first_context)),
        ),
        cost=10.0,
    ),
    Check(
        theorem=ID + "D7_twisted",
        name="points",
        kind="slack",
        observe=laws_are_kept(),
        instances=Instances("five gadgets at rational points, in fractions", examples=named_points, draw=draw_points),
        mutants=(
            Mutant("rotates the dependent concept too", "density", observe=laws_are_kept((0, 1))),
            Mutant("block identification claimed", "dependence on u", observe=laws_are_kept(unmoved=True)),
        ),
        cost=8.0,
    ),
    Check(
        theorem=ID + "D7_correlation",
        name="cosine",
        kind="sample",
        observe=cosine_left,
        instances=Instances("s = 1/2, 1 and 2", examples=lambda: {"s = 1/2": 0.5, "s = 1": 1.0, "s = 2": 2.0}),
        slots={TWISTER: twisted},
        mutants=(
            Mutant("half the angle", "cosine", {"twister": half_twisted}),
            Mutant("no angle", "cosine", {"twister": untwisted}),
        ),
        cost=3.0,
    ),
    Check(
        theorem=ID + "D7_cylinder",
        name="finite_laws",
        kind="slack",
        observe=half_in_every_class,
        instances=Instances(
            "finite laws on up to 4 values, the independent one symmetric, in fractions", draw=draw_laws
        ),
        mutants=(
            Mutant("skewed", "probability", instances=Instances("skewed", examples=_skewed)),
            Mutant("mass at zero", "probability", instances=Instances("mass at zero", examples=_mass_at_zero)),
        ),
        cost=3.0,
    ),
    Check(
        theorem=ID + "pooling",
        name="centred",
        kind="slack",
        observe=centred_by_class,
        instances=Instances("integer codes of 2 or 3 concepts in 2 or 3 shifted classes", draw=draw_class_samples),
        slots={CORRELATION: centred},
        mutants=(
            Mutant("classes pooled", "shifts of classes", {"correlation": pooled}),
            Mutant("no search for a permutation", "signed permutation", {"correlation": in_given_order}),
            Mutant("sign kept", "signed permutation", {"correlation": signed}),
        ),
        cost=12.0,
    ),
    Check(
        theorem=ID + "pooling",
        name="formula",
        kind="slack",
        observe=pooled_reaches(pooled_formula),
        instances=Instances(
            "two classes of four rows with means +-d, d from 0 to 100, in fractions",
            examples=_distances,
            draw=draw_distances,
        ),
        mutants=(
            Mutant("square forgotten", "pooled correlation", observe=pooled_reaches(distance_alone)),
            Mutant("no harm claimed", "pooled correlation", observe=pooled_reaches(within_class)),
        ),
        cost=1.0,
    ),
)
