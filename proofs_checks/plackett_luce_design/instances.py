"""Instances of the checks on Plackett-Luce designs, and how they are drawn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from importlib.util import find_spec
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whp.proofs_checks.engine import Recipe, recipe
from whp.proofs_checks.plackett_luce_design.fractions_algebra import gram_matrix, pair_sum, rank
from whp.theory import plackett_luce_design as theory

Array = NDArray[Any]


@dataclass(frozen=True)
class WeightedRanking:
    """Positive weights of the shown items and a ranking of them, with integer values attached to the items."""

    weights: tuple[Fraction, ...]
    ranking: tuple[int, ...]
    values: tuple[int, ...]
    box: Fraction = Fraction(1)


@dataclass(frozen=True)
class DesignedItems:
    """Integer features, a design with rational weights, one more subset, and a step towards it."""

    features: tuple[tuple[int, ...], ...]
    subset_size: int
    subsets: tuple[tuple[int, ...], ...]
    weights: tuple[Fraction, ...]
    subset: tuple[int, ...]
    step: Fraction

    @property
    def spans(self) -> bool:
        """Whether the information matrix is invertible, decided exactly."""
        return rank(self.information) == len(self.features[0])

    @property
    def exact_features(self) -> Array:
        """Features as fractions."""
        return np.array([[Fraction(v) for v in row] for row in self.features], dtype=object)

    @property
    def information(self) -> Array:
        """``V``, exactly, as the sum over pairs."""
        x = self.exact_features
        total = np.array([[Fraction(0)] * x.shape[1]] * x.shape[1], dtype=object)
        for subset, weight in zip(self.subsets, self.weights, strict=True):
            total = total + weight * pair_sum(x, subset)
        return total

    @property
    def gram(self) -> Array:
        """``X V^{-1} X'``, exactly."""
        return gram_matrix(self.exact_features, self.information)

    @property
    def problem(self) -> theory.DesignProblem:
        """The same items in floats."""
        return theory.DesignProblem(np.array(self.features, dtype=float), self.subset_size)

    @property
    def design(self) -> theory.Design:
        """The same design in floats."""
        w = np.array([float(v) for v in self.weights])
        return theory.Design(np.array(self.subsets), w / w.sum())


@dataclass(frozen=True)
class SampledStep:
    """A design problem, a design, and the subsets that one iteration looked at."""

    items: DesignedItems
    sampled: tuple[tuple[int, ...], ...]

    @property
    def spans(self) -> bool:
        """Whether the design spans."""
        return self.items.spans


@dataclass(frozen=True)
class RandomisedRun:
    """A randomised run: start, subsets per iteration, iterations, accuracy."""

    items: DesignedItems
    n_sampled: int
    iterations: int
    accuracy: float

    @property
    def spans(self) -> bool:
        """Whether the start spans."""
        return self.items.spans


@dataclass(frozen=True)
class EstimationTask:
    """Fixed questions, a true parameter in the unit ball, and a failure probability."""

    features: Array
    subsets: Array
    theta: Array
    failure: float = 1.0

    @property
    def spans(self) -> bool:
        """Whether the questions span all feature columns."""
        groups = self.features[self.subsets]
        flat = (groups - groups.mean(axis=1, keepdims=True)).reshape(-1, self.features.shape[1])
        return bool(np.linalg.matrix_rank(flat) == self.features.shape[1])

    @property
    def utilities(self) -> Array:
        """True utilities."""
        return np.asarray(self.features @ self.theta)

    @property
    def mean_information(self) -> Array:
        """``V``, mean of ``M_S`` over the questions, shape (d, d)."""
        groups = self.features[self.subsets]
        centred = groups - groups.mean(axis=1, keepdims=True)
        size = self.subsets.shape[1]
        return np.asarray(size * np.einsum("nkr,nks->rs", centred, centred) / len(self.subsets))


def fractions_simplex(rng: np.random.Generator, n: int) -> tuple[Fraction, ...]:
    """Random positive rational weights that sum to one."""
    raw = [Fraction(int(v)) for v in rng.integers(1, 12, n)]
    return tuple(v / sum(raw) for v in raw)


def draw_rankings(
    largest: int, *, boxed: bool = False
) -> Callable[[np.random.Generator, int], Sequence[WeightedRanking]]:
    """Draw rankings of 2 to ``largest`` items with small rational weights."""

    def draw(rng: np.random.Generator, size: int) -> list[WeightedRanking]:
        return [_ranking(rng, int(rng.integers(2, largest + 1)), boxed) for _ in range(size)]

    return draw


def _ranking(rng: np.random.Generator, k: int, boxed: bool) -> WeightedRanking:
    box = Fraction(int(rng.integers(4, 12)), 4)
    if boxed:  # vertices of the box are where the constants are sharp
        choices = [1 / box, box, Fraction(1)]
        weights = tuple(choices[int(rng.integers(3))] for _ in range(k))
    else:
        weights = tuple(Fraction(int(rng.integers(1, 31))) for _ in range(k))
    values = tuple(int(v) for v in rng.integers(-5, 6, k))
    return WeightedRanking(weights, tuple(int(i) for i in rng.permutation(k)), values, box)


def draw_designs(largest: int = 6) -> Callable[[np.random.Generator, int], Sequence[DesignedItems]]:
    """Draw integer items in 1 to 3 dimensions with a random design, duplicates and small ranks included."""

    def draw(rng: np.random.Generator, size: int) -> list[DesignedItems]:
        return [_designed(rng, largest) for _ in range(size)]

    return draw


def _designed(rng: np.random.Generator, largest: int) -> DesignedItems:
    n = int(rng.integers(3, largest + 1))
    d = int(rng.integers(1, min(3, n - 1) + 1))
    k = int(rng.integers(2, min(4, n) + 1))
    x = rng.integers(-4, 5, (n, d))
    if n > 3 and rng.random() < 0.15:
        x[1] = x[0]
    everything = list(combinations(range(n), k))
    count = min(len(everything), int(rng.integers(1, d + 4)))
    chosen = [everything[i] for i in rng.choice(len(everything), count, replace=False)]
    subset = everything[int(rng.integers(len(everything)))]
    step = Fraction(int(rng.integers(1, 20)), 20)
    features = tuple(tuple(int(v) for v in row) for row in x)
    return DesignedItems(features, k, tuple(chosen), fractions_simplex(rng, count), subset, step)


def spanning_designs(largest: int = 7) -> Callable[[np.random.Generator, int], Sequence[DesignedItems]]:
    """Draw designs that span, by drawing again; the scope says so."""

    def draw(rng: np.random.Generator, size: int) -> list[DesignedItems]:
        found: list[DesignedItems] = []
        while len(found) < size:
            candidate = _designed(rng, largest)
            if candidate.spans:
                found.append(candidate)
        return found

    return draw


def sampled_steps(rng: np.random.Generator, size: int) -> list[SampledStep]:
    """Spanning designs with a random quarter (at least one) of all subsets."""
    steps = []
    for items in spanning_designs()(rng, size):
        everything = list(combinations(range(len(items.features)), items.subset_size))
        count = max(1, len(everything) // 4)
        chosen = rng.choice(len(everything), count, replace=False)
        steps.append(SampledStep(items, tuple(everything[i] for i in chosen)))
    return steps


def uniform_start(features: Sequence[Sequence[int]], subset_size: int) -> DesignedItems:
    """Items with the uniform design over all subsets."""
    everything = tuple(combinations(range(len(features)), subset_size))
    weight = Fraction(1, len(everything))
    rows = tuple(tuple(row) for row in features)
    return DesignedItems(rows, subset_size, everything, (weight,) * len(everything), everything[0], Fraction(1, 2))


def named_designs() -> dict[str, Any]:
    """Textbook designs: unit square, kite, a line, one question showing everything, a repeated item."""
    square, kite = ((0, 0), (1, 0), (0, 1), (1, 1)), ((0, 0), (1, 0), (0, 2), (3, 1))
    return {
        "unit square, uniform over pairs": uniform_start(square, 2),
        "unit square, uniform over triples": uniform_start(square, 3),
        "kite, uniform over pairs": uniform_start(kite, 2),
        "kite, uniform over triples": uniform_start(kite, 3),
        "four items on a line": uniform_start(((0,), (1,), (3,), (7,)), 2),
        "every item shown": uniform_start(((0, 0), (1, 0), (0, 1)), 3),
        "a repeated item": uniform_start(((0, 0), (0, 0), (1, 0), (0, 1)), 2),
        "six handwritten digits, three pixels": Recipe(
            "plackett_luce_design.digits", {"images": 6, "pixels": [26, 36, 42], "subset_size": 3}
        ),
    }


@recipe("plackett_luce_design.digits")
def digits_items(rng: np.random.Generator, images: int, pixels: list[int], subset_size: int) -> DesignedItems:
    """First images of scikit-learn's digits, described by a few pixels (integers 0 to 16), uniform design."""
    return uniform_start(digits_table(images)[:, pixels].astype(int).tolist(), subset_size)


def digits_table(images: int) -> Array:
    """First rows of the table of digits that scikit-learn ships, 64 pixels each.

    The file is read without importing scikit-learn, whose import takes a second and touches global random states.
    """
    spec = find_spec("sklearn")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError("scikit-learn must be installed for its table of digits", name="sklearn")
    path = Path(spec.origin).parent / "datasets" / "data" / "digits.csv.gz"
    return np.loadtxt(path, delimiter=",", max_rows=images)[:, :64]


def design_strategy() -> Any:
    """Hypothesis strategy for designs on up to five items, for structure and shrinking."""
    from hypothesis import strategies as st

    @st.composite
    def designs(draw: Any) -> DesignedItems:
        n = draw(st.integers(2, 5))
        d = draw(st.integers(1, min(2, n - 1)))
        k = draw(st.integers(2, min(3, n)))
        row = st.tuples(*[st.integers(-3, 3)] * d)
        features = draw(st.lists(row, min_size=n, max_size=n))
        everything = list(combinations(range(n), k))
        chosen = draw(st.lists(st.sampled_from(everything), min_size=1, max_size=4, unique=True))
        raw = draw(st.lists(st.integers(1, 6), min_size=len(chosen), max_size=len(chosen)))
        weights = tuple(Fraction(v, sum(raw)) for v in raw)
        subset = draw(st.sampled_from(everything))
        step = Fraction(draw(st.integers(1, 9)), 10)
        return DesignedItems(tuple(features), k, tuple(chosen), weights, subset, step)

    return designs()


def ranking_strategy() -> Any:
    """Hypothesis strategy for rankings of up to four items."""
    from hypothesis import strategies as st

    @st.composite
    def rankings(draw: Any) -> WeightedRanking:
        k = draw(st.integers(2, 4))
        weights = tuple(Fraction(draw(st.integers(1, 9))) for _ in range(k))
        values = tuple(draw(st.integers(-3, 3)) for _ in range(k))
        return WeightedRanking(weights, tuple(draw(st.permutations(range(k)))), values)

    return rankings()
