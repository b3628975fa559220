"""Instances of the checks: random and planted contrastive problems, integer views, lines, gains, linear encoders."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whp.theory.contrastive_augmentation import (
    AugmentedImages,
    ContrastiveProblem,
    GainPair,
    LineImages,
    OrthonormalFamily,
    PairBatch,
    block_lines,
    circle_problem,
    crop_windows,
    meeting_problem,
    simplex_batch,
    uncentred_problem,
)

__all__ = [
    "LinearFit",
    "TwoPoints",
    "augmented_images",
    "batch_examples",
    "centred_examples",
    "draw_augmented_images",
    "draw_batches",
    "draw_centred",
    "draw_exact",
    "draw_families",
    "draw_gains",
    "draw_linear_fits",
    "draw_lines",
    "draw_loosely_augmented",
    "draw_problems",
    "draw_two_classes",
    "exact_examples",
    "exact_problems",
    "families",
    "family_examples",
    "gain_examples",
    "gains",
    "image_examples",
    "line_examples",
    "linear_examples",
    "lines",
    "problem_examples",
    "shifted_centre_examples",
    "two_class_examples",
    "two_point_examples",
    "uncentred_examples",
]

Floats = NDArray[np.float64]

# Contrastive problems


def problem_examples() -> dict[str, Any]:
    """Reference instances, the corner cases, and the planted families that random search does not find."""
    return {
        "rational circle": circle_problem(),
        "rational circle, t = 1/2, K = 2": circle_problem(2, Fraction(1, 2)),
        "zero encoder": ContrastiveProblem([[0.0], [0.0], [0.0]], (0, 0, 1), (0, 0, 1)),
        "one image for each class": ContrastiveProblem([[1.0, 0.0], [0.0, 1.0]], (0, 1), (0, 1)),
        "identical views": ContrastiveProblem([[1.0, 0.0]] * 2 + [[0.0, 1.0]] * 2, (0, 0, 1, 1), (0, 0, 1, 1)),
        "one view": ContrastiveProblem([[2.0]], (0,), (0,)),
        "large norm": ContrastiveProblem([[30.0], [-20.0], [25.0], [-30.0]], (0, 1, 2, 3), (0, 0, 1, 1)),
        "meeting half way": meeting_problem(),
        **family_examples(),
    }


def family_examples() -> dict[str, OrthonormalFamily]:
    """Orthonormal families, with and without midpoints."""
    midway = 2.0**-50
    return {
        "two orthonormal images": OrthonormalFamily(2, 2, 1),
        "4 x 50 orthonormal, K = 1000": OrthonormalFamily(4, 50, 1000),
        "50 x 1000 orthonormal, K = 20000": OrthonormalFamily(50, 1000, 20000),
        "4 x 50 orthonormal, t = 0.2": OrthonormalFamily(4, 50, 1000, 0.2),
        "4 x 50 orthonormal, t = 20": OrthonormalFamily(4, 50, 1000, 20.0),
        "4 x 50 with midpoints": OrthonormalFamily(4, 50, 1000, 1.0, midway),
        "7 x 2 with midpoints, K = 5, t = 100": OrthonormalFamily(7, 2, 5, 100.0, midway),
        "5 x 1 with midpoints, K = 8, t = 100": OrthonormalFamily(5, 1, 8, 100.0, midway),
        "single images": OrthonormalFamily(1, 3, 2),
    }


def draw_problems(rng: np.random.Generator, size: int) -> list[Any]:
    """Gaussian directions of norm 1, 2 or 4, views shared within classes; one in eight an orthonormal family."""
    return [_family(rng) if k % 8 == 0 else _problem(rng) for k in range(size)]


def draw_two_classes(rng: np.random.Generator, size: int) -> list[ContrastiveProblem]:
    """The random problems alone: all have two or three classes."""
    return [_problem(rng) for _ in range(size)]


def _problem(rng: np.random.Generator) -> ContrastiveProblem:
    dimension, norm = int(rng.integers(1, 6)), float(rng.choice((1.0, 2.0, 4.0)))
    embeddings: list[Floats] = []
    images, classes, names = [], [], count()
    for label in range(int(rng.integers(2, 4))):
        own: list[Floats] = []
        for _ in range(int(rng.integers(1, 5))):
            image = next(names)
            for _ in range(int(rng.integers(1, 4))):
                direction = rng.normal(size=dimension)
                fresh = norm * direction / np.linalg.norm(direction)
                own.append(own[int(rng.integers(len(own)))] if own and rng.random() < 0.3 else fresh)
                embeddings.append(own[-1])
                images.append(image)
                classes.append(label)
    weights = rng.dirichlet(np.full(len(images), 0.5)) + 1e-9
    negatives = int(rng.integers(1, 4)) if len(images) <= 10 else 1
    temperature = float(rng.choice((0.2, 0.5, 1.0, 2.0)))
    return ContrastiveProblem(np.array(embeddings), images, classes, weights / weights.sum(), temperature, negatives)


def two_class_examples() -> dict[str, ContrastiveProblem]:
    """Two classes or more: ties, collisions with probability near one, confident errors."""
    rare = np.array([1 - 1e-6, 1e-6])
    return {
        "rational circle": circle_problem(),
        "rational circle, K = 2": circle_problem(2),
        "rational circle, K = 3": circle_problem(3),
        "zero encoder: all ties": ContrastiveProblem([[0.0], [0.0]], (0, 1), (0, 1)),
        "equal means": ContrastiveProblem([[1.0], [-1.0], [2.0], [-2.0]], (0, 1, 2, 3), (0, 0, 1, 1)),
        "tau near one": ContrastiveProblem([[1.0], [-1.0]], (0, 1), (0, 1), rare, negatives=2),
        "confident errors": ContrastiveProblem([[9.0], [-3.0], [-9.0], [3.0]], (0, 1, 2, 3), (0, 0, 1, 1)),
        "three classes, two negatives": ContrastiveProblem(
            [[3.0, 0.0], [-1.0, 1.0], [0.0, 3.0], [1.0, -1.0], [-3.0, -3.0], [1.0, 1.0]],
            (0, 1, 2, 3, 4, 5),
            (0, 0, 1, 1, 2, 2),
            negatives=2,
        ),
    }


def exact_examples() -> dict[str, ContrastiveProblem]:
    """Problems in fractions."""
    return {
        "rational circle": circle_problem(),
        "rational circle, t = 1/2": circle_problem(1, Fraction(1, 2)),
        "meeting half way": meeting_problem(),
        "one view": ContrastiveProblem([[3]], (0,), (0,), pixels=[[1]]),
        "uncentred": uncentred_problem(),
    }


def draw_exact(rng: np.random.Generator, size: int) -> list[ContrastiveProblem]:
    """Integer embeddings of up to 8 views in up to 3 classes, rational weights, pixels that tell all views apart."""
    return [_exact(rng) for _ in range(size)]


def _exact(rng: np.random.Generator) -> ContrastiveProblem:
    n_views = int(rng.integers(2, 9))
    images = np.sort(rng.integers(0, max(1, n_views // 2) + 1, n_views))
    labels = rng.integers(0, 3, images.max() + 1)
    masses = [int(m) for m in rng.integers(1, 10, n_views)]
    weights = np.array([Fraction(m, sum(masses)) for m in masses], dtype=object)
    embeddings = rng.integers(-4, 5, (n_views, int(rng.integers(1, 4))))
    pixels = np.column_stack([rng.integers(-9, 10, n_views), np.arange(n_views)])
    return ContrastiveProblem(
        embeddings, images.tolist(), [int(labels[i]) for i in images], weights, Fraction(1), pixels=pixels
    )


def exact_problems() -> Any:
    """Strategy: small integer problems, which shrink to few views near zero."""
    from hypothesis import strategies as st

    @st.composite
    def problems(draw: Any) -> ContrastiveProblem:
        counts = draw(st.lists(st.integers(1, 3), min_size=1, max_size=3))  # views of each image
        labels = [draw(st.integers(0, 1)) for _ in counts]
        images = [i for i, n in enumerate(counts) for _ in range(n)]
        embeddings = [[draw(st.integers(-3, 3))] for _ in images]
        pixels = [[draw(st.integers(-3, 3)), k] for k in range(len(images))]
        return ContrastiveProblem(
            embeddings, images, [labels[i] for i in images], temperature=Fraction(1), pixels=pixels
        )

    return problems()


def draw_families(rng: np.random.Generator, size: int) -> list[OrthonormalFamily]:
    """Orthonormal families of up to 12 images in up to 30 classes, up to 200 negatives."""
    return [_family(rng, midpoints=False) for _ in range(size)]


def _family(rng: np.random.Generator, midpoints: bool = True) -> OrthonormalFamily:
    images, classes = int(rng.integers(1, 13)), int(rng.integers(1, 31))
    negatives, temperature = int(2 ** rng.uniform(0, 7.6)), float(rng.choice((0.2, 1.0, 5.0, 100.0)))
    mass = 2.0**-50 if midpoints and images > 1 and rng.random() < 0.5 else 0.0
    return OrthonormalFamily(images, classes, negatives, temperature, mass)


def families() -> Any:
    """Strategy: families with midpoints, which shrink to few images, classes and negatives."""
    from hypothesis import strategies as st

    return st.builds(
        OrthonormalFamily,
        st.integers(2, 12),
        st.integers(1, 5),
        st.integers(1, 40),
        st.sampled_from((1.0, 10.0, 100.0)),
        st.just(2.0**-50),
    )


# Centred problems


def _centre(problem: ContrastiveProblem, uniformly: bool = False) -> ContrastiveProblem:
    f = problem.embeddings
    return problem.with_embeddings(f - (f.mean(axis=0) if uniformly else problem.weights @ f))


def centred_examples() -> dict[str, ContrastiveProblem]:
    """Equality at the zero encoder, and the reference instance."""
    return {
        "zero encoder": ContrastiveProblem([[0.0], [0.0], [0.0]], (0, 0, 1), (0, 0, 1), negatives=2),
        "centred reference": uncentred_problem(centred=True),
        "nearly constant": _centre(ContrastiveProblem([[1e-3], [-1e-3], [2e-3]], (0, 1, 2), (0, 0, 1))),
        "two opposite points": ContrastiveProblem([[1.0], [-1.0]], (0, 1), (0, 1), negatives=3),
    }


def draw_centred(rng: np.random.Generator, size: int) -> list[ContrastiveProblem]:
    """Random problems whose weighted mean is subtracted."""
    return [_centre(_problem(rng)) for _ in range(size)]


def uncentred_examples() -> dict[str, ContrastiveProblem]:
    """The reference instance before centring."""
    return {"uncentred reference": uncentred_problem()}


def shifted_centre_examples() -> dict[str, ContrastiveProblem]:
    """Centred as if the weights were uniform."""
    weights = np.array([0.8, 0.199, 0.001])
    problem = ContrastiveProblem([[-0.2], [8.0], [-7.8]], (0, 1, 2), (0, 1, 1), weights)
    return {"a rare view keeps the plain mean at zero": _centre(problem, uniformly=True)}


# Sampling


@dataclass(frozen=True)
class TwoPoints:
    """Two images with the views 1 and -1 each: the loss takes values far apart, which makes coverage a sharp matter.

    Parameters
    ----------
    negatives : int
        ``K``.
    temperature : float
        ``t``.
    samples : int
        Tuples for each estimate.
    """

    negatives: int
    temperature: float
    samples: int

    def problem(self) -> ContrastiveProblem:
        """The finite problem."""
        views = [[1.0], [-1.0], [1.0], [-1.0]]
        return ContrastiveProblem(
            views, (0, 0, 1, 1), (0, 0, 1, 1), temperature=self.temperature, negatives=self.negatives
        )

    @property
    def risk(self) -> float:
        """``R_un,K`` as a binomial sum: each negative agrees with the anchor with probability one half."""
        total = 0.0
        for agreeing in range(self.negatives + 1):
            mass = math.comb(self.negatives, agreeing) / 2**self.negatives
            for positive in (1.0, -1.0):
                far = (self.negatives - agreeing) * math.exp((-1 - positive) / self.temperature)
                near = agreeing * math.exp((1 - positive) / self.temperature)
                total += mass / 2 * math.log1p(near + far)
        return total


def two_point_examples() -> dict[str, TwoPoints]:
    """One negative, and many, where the standard deviation of the loss is a quarter of its declared width."""
    return {"one negative": TwoPoints(1, 1.0, 400), "64 negatives": TwoPoints(64, 1.0, 50)}


# Views over the integers


def image_examples() -> dict[str, AugmentedImages]:
    """Meeting half way, the identity alone, one image."""
    return {
        "meeting half way": AugmentedImages(((0,), (4,)), (0, 0), (((0,),), ((4,),)), (((0,), (2,)), ((4,), (2,)))),
        "identity only": AugmentedImages(((0, 0), (3, 4)), (0, 0), (((0, 0),), ((3, 4),)), (((0, 0),), ((3, 4),))),
        "one image": AugmentedImages(((1,),), (0,), (((1,),),), (((1,), (5,)),)),
        "crossing over": AugmentedImages(
            ((0, 0), (10, 0)), (0, 0), (((0, 0),), ((10, 0),)), (((0, 0), (7, 1)), ((10, 0), (3, -1)))
        ),
    }


def draw_augmented_images(rng: np.random.Generator, size: int) -> list[AugmentedImages]:
    """Two to four images of one to three pixels in -9..9, the identity among the weaker views, more views added."""
    return [_augmented(rng, nested=True, identity=True) for _ in range(size)]


def draw_loosely_augmented(rng: np.random.Generator, size: int) -> list[AugmentedImages]:
    """Stronger views drawn afresh: neither a superset of the weaker ones nor with the identity."""
    return [_augmented(rng, nested=False, identity=False) for _ in range(size)]


def _augmented(rng: np.random.Generator, *, nested: bool, identity: bool) -> AugmentedImages:
    n_images, n_pixels = int(rng.integers(2, 5)), int(rng.integers(1, 4))
    images = tuple(_view(rng, n_pixels) for _ in range(n_images))
    weaker, stronger = [], []
    for image in images:
        few = tuple(_view(rng, n_pixels) for _ in range(int(rng.integers(0 if identity else 1, 4))))
        few = (image, *few) if identity else few
        more = tuple(_view(rng, n_pixels) for _ in range(int(rng.integers(0 if nested else 1, 4))))
        weaker.append(few)
        stronger.append(few + more if nested else more)
    labels = tuple(int(c) for c in rng.integers(0, 2, n_images))
    return AugmentedImages(images, labels, tuple(weaker), tuple(stronger))


def _view(rng: np.random.Generator, n_pixels: int) -> tuple[int, ...]:
    return tuple(int(v) for v in rng.integers(-9, 10, n_pixels))


def augmented_images() -> Any:
    """Strategy: two images of one class on the line, the identity among the views."""
    from hypothesis import strategies as st

    view = st.tuples(st.integers(0, 9))
    more = st.lists(view, max_size=2).map(tuple)
    return st.builds(
        lambda i, j, a, b, c, d: AugmentedImages((i, j), (0, 0), ((i, *a), (j, *b)), ((i, *a, *c), (j, *b, *d))),
        view,
        view,
        more,
        more,
        more,
        more,
    )


def line_examples() -> dict[str, LineImages]:
    """The reference lines; a block of one pixel; a block that is the whole line."""
    return {
        "block (5, 7)": block_lines(),
        "block of one pixel": LineImages((1, 2, 3), (3, 9, 9), (3,)),
        "the block is all": LineImages((4, 4), (4, 4), (4, 4)),
        "one pixel": LineImages((2,), (2,), (2,)),
    }


def draw_lines(rng: np.random.Generator, size: int) -> list[LineImages]:
    """Lines of 2 to 9 pixels in 0..9 with a planted block."""
    found = []
    for _ in range(size):
        length = int(rng.integers(2, 10))
        block = tuple(int(v) for v in rng.integers(0, 10, int(rng.integers(1, length + 1))))
        found.append(LineImages(_planted(rng, length, block), _planted(rng, length, block), block))
    return found


def _planted(rng: np.random.Generator, length: int, block: tuple[int, ...]) -> tuple[int, ...]:
    at = int(rng.integers(0, length - len(block) + 1))
    line = [int(v) for v in rng.integers(0, 10, length)]
    line[at : at + len(block)] = block
    return tuple(line)


def lines() -> Any:
    """Strategy: short lines, the block a window of the first and planted in the second."""
    from hypothesis import strategies as st

    @st.composite
    def pairs(draw: Any) -> LineImages:
        length = draw(st.integers(1, 5))
        line = st.lists(st.integers(0, 3), min_size=length, max_size=length)
        first, second = draw(line), draw(line)
        block = draw(st.sampled_from(crop_windows(first, draw(st.integers(1, length)))))
        at = draw(st.integers(0, length - len(block)))
        second[at : at + len(block)] = block
        return LineImages(tuple(first), tuple(second), block)

    return pairs()


def gain_examples() -> dict[str, GainPair]:
    """Equal images, the meeting point, darker and brighter."""
    return {
        "equal images": GainPair(Fraction(1), Fraction(1, 3)),
        "at the meeting point": GainPair(Fraction(2), Fraction(1, 3)),
        "beyond it": GainPair(Fraction(2), Fraction(2, 3)),
        "darker": GainPair(Fraction(1, 4), Fraction(1, 10)),
        "no gain": GainPair(Fraction(5), Fraction(0)),
    }


def draw_gains(rng: np.random.Generator, size: int) -> list[GainPair]:
    """Ratios in 1/5..5, strengths in 0..9/10."""
    ratios, strengths = rng.integers(20, 501, size), rng.integers(0, 91, size)
    return [GainPair(Fraction(int(r), 100), Fraction(int(s), 100)) for r, s in zip(ratios, strengths, strict=True)]


def gains() -> Any:
    """Strategy: small fractions."""
    from hypothesis import strategies as st

    ratio = st.fractions(Fraction(1, 5), 5, max_denominator=10)
    return st.builds(GainPair, ratio, st.fractions(0, Fraction(9, 10), max_denominator=10))


# Linear encoders


@dataclass(frozen=True, eq=False)
class LinearFit:
    """Views to fit a linear encoder to, and a direction in which to try to improve it.

    Parameters
    ----------
    views : ndarray of shape (N, q)
        Pixels.
    images : tuple of int
        Image of each view.
    weights : ndarray of shape (N,)
        Positive, summing to one.
    competitor : ndarray of shape (q, p)
        Another encoder of the same dimension.
    """

    views: Floats
    images: tuple[int, ...]
    weights: Floats
    competitor: Floats

    @property
    def dimension(self) -> int:
        """``p``."""
        return int(self.competitor.shape[1])


def draw_linear_fits(rng: np.random.Generator, size: int) -> list[LinearFit]:
    """Two to six pixels, 4 to 8 images of 2 or 3 views, unequal weights, one to all dimensions."""
    return [_linear_fit(rng) for _ in range(size)]


def _linear_fit(rng: np.random.Generator) -> LinearFit:
    n_pixels = int(rng.integers(2, 7))
    counts = rng.integers(2, 4, int(rng.integers(4, 9)))
    images = np.repeat(np.arange(len(counts)), counts)
    scales = 2.0 ** rng.integers(-2, 3, n_pixels)
    centres = rng.normal(size=(len(counts), n_pixels)) * scales
    views = centres[images] + rng.normal(size=(len(images), n_pixels)) * scales[::-1]
    weights = rng.dirichlet(np.full(len(images), 5.0)) + 1e-6
    competitor = rng.normal(size=(n_pixels, int(rng.integers(1, n_pixels + 1)))) / n_pixels
    return LinearFit(views, tuple(images.tolist()), weights / weights.sum(), competitor)


def linear_examples() -> dict[str, LinearFit]:
    """One direction that views share, beside a larger one that they do not."""
    views = np.array([[1.0, 9.0], [1.0, -9.0], [-1.0, 9.0], [-1.0, -9.0]])
    return {
        "shared against loud": LinearFit(views, (0, 0, 1, 1), np.full(4, 0.25), np.array([[0.5], [0.2]])),
    }


# Batches of pairs


def batch_examples() -> dict[str, PairBatch]:
    """The minimising simplex, a collapsed batch, low and high temperatures."""
    return {
        "simplex of 2": simplex_batch(2, 1.0),
        "simplex of 5, t = 0.1": simplex_batch(5, 0.1),
        "simplex of 20, t = 0.5": simplex_batch(20, 0.5),
        "collapsed": PairBatch(np.ones((6, 2)), 0.5),
        "orthogonal pairs, t = 0.01": PairBatch([[1, 0], [1, 0], [0, 1], [0, 1]], 0.01),
        "views apart": PairBatch([[1, 0], [-1, 0], [0, 1], [0, -1]], 1.0),
    }


def draw_batches(rng: np.random.Generator, size: int) -> list[PairBatch]:
    """Two to six images in one to six dimensions, views near one another, norms from 1e-3 to 1e3."""
    found = []
    for _ in range(size):
        pairs, dimension = int(rng.integers(2, 7)), int(rng.integers(1, 7))
        centres = np.repeat(rng.normal(size=(pairs, dimension)), 2, axis=0)
        rows = centres + rng.choice((0.01, 0.3, 2.0)) * rng.normal(size=centres.shape)
        scales = 10.0 ** rng.uniform(-3, 3, (2 * pairs, 1))
        found.append(PairBatch(rows * scales, float(rng.choice((0.07, 0.2, 0.5, 1.0)))))
    return found
