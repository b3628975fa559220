"""Instances of the checks: structures with what makes them special, models with levels, matrices between concepts."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import numpy as np

from whp.theory.concept_identifiability import (
    ClassConceptStructure,
    LinearGaussianModel,
    TransformedStructure,
    determinant,
    rows_are_distinct,
    rows_are_incomparable,
    scales_respect_structure,
    spans_every_class,
)

__all__ = [
    "distinct_models",
    "draw_models",
    "draw_structures",
    "draw_transformed",
    "incomparable_models",
    "model",
    "models_with_one_zero_row",
    "named_models",
    "named_structures",
    "sparse_supports",
    "structures",
    "transformed",
]


def named_structures() -> dict[str, ClassConceptStructure]:
    """Structures of the textbook kind and the corner cases."""
    texts = {
        "identity": "100 010 001",
        "cyclic pairs": "110 011 101",
        "nested": "10 11",
        "join": "10 01 11",
        "duplicate": "101 101 010",
        "mixed": "111 100 011",
        "chain": "1000 1100 1110 1111",
        "zero row": "00 10 01",
        "shark and turtle": "10 10 01 11",
        "one class": "1 1 0",
        "one concept": "101",
        "class without concept": "100 010",
        "identical classes": "11 00 11",
        "only zero rows": "00 00",
    }
    return {name: ClassConceptStructure(_rows(text)) for name, text in texts.items()}


def _rows(text: str) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(int(c) for c in row) for row in text.split())


def _of(matrix: Any) -> ClassConceptStructure:
    return ClassConceptStructure(tuple(tuple(int(v) for v in row) for row in matrix))


def draw_structures(rng: np.random.Generator, size: int) -> list[ClassConceptStructure]:
    """Up to 6 concepts and 5 classes, with duplicate, zero and nested rows."""
    drawn = []
    for _ in range(size):
        n, k = int(rng.integers(1, 7)), int(rng.integers(1, 6))
        rows = (rng.random((n, k)) < rng.choice([0.2, 0.5, 0.8])).astype(int)
        if n > 1 and rng.random() < 0.3:
            rows[rng.integers(n)] = rows[rng.integers(n)]
        if n > 1 and rng.random() < 0.2:
            i, other = rng.integers(n, size=2)
            rows[i] |= rows[other]
        drawn.append(_of(rows))
    return drawn


def structures(n_concepts: int = 5, n_classes: int = 4) -> Any:
    """Strategy: binary matrices."""
    from hypothesis import strategies as st

    def of_width(k: int) -> Any:
        row = st.tuples(*[st.integers(0, 1)] * k)
        return st.lists(row, min_size=1, max_size=n_concepts).map(lambda rows: ClassConceptStructure(tuple(rows)))

    return st.integers(1, n_classes).flatmap(of_width)


# Matrices between concepts


def draw_transformed(rng: np.random.Generator, size: int) -> list[TransformedStructure]:
    """Invertible integer matrices, half of them in the pattern that keeps the number of ones."""
    return [_transformed(rng, _structure(rng), bool(rng.random() < 0.5)) for _ in range(size)]


def _structure(rng: np.random.Generator) -> ClassConceptStructure:
    n, k = int(rng.integers(1, 6)), int(rng.integers(1, 5))
    return _of(rng.random((n, k)) < 0.6)


def _transformed(rng: np.random.Generator, structure: ClassConceptStructure, allowed: bool) -> TransformedStructure:
    n = structure.n_concepts
    sets = [structure.classes_of(i) for i in range(n)]
    mask = np.array([[not allowed or sets[k] <= sets[i] for k in range(n)] for i in range(n)])
    while True:
        entries = np.where(mask & (rng.random((n, n)) < 0.7), rng.integers(-3, 4, (n, n)), 0)
        entries += np.diag(rng.choice([-2, -1, 1, 2], n)) * (np.diag(entries) == 0)
        matrix = tuple(tuple(int(v) for v in row) for row in entries[rng.permutation(n)])
        if determinant([[Fraction(v) for v in row] for row in matrix]) != 0:
            return TransformedStructure(structure, matrix)


def transformed(n_concepts: int = 4) -> Any:
    """Strategy: a structure and an integer matrix."""
    from hypothesis import strategies as st

    def with_matrix(structure: ClassConceptStructure) -> Any:
        n = structure.n_concepts
        matrix = st.tuples(*[st.tuples(*[st.integers(-2, 2)] * n)] * n)
        return matrix.map(lambda rows: TransformedStructure(structure, rows))

    return structures(n_concepts, 3).flatmap(with_matrix)


def sparse_supports(rng: np.random.Generator, size: int) -> list[TransformedStructure]:
    """Supports in which each concept is alone in some intersection, with scaled permutations and near misses."""
    drawn: list[TransformedStructure] = []
    while len(drawn) < size:
        n, k = int(rng.integers(1, 5)), int(rng.integers(2, 7))
        structure = _of(rng.random((n, k)) < 0.5)
        if not rows_are_incomparable(structure):
            continue
        if rng.random() < 0.5:
            drawn.append(_transformed(rng, structure, allowed=False))
            continue
        entries = np.diag(rng.choice([-3, -1, 1, 2], n))[rng.permutation(n)]
        drawn.append(TransformedStructure(structure, tuple(tuple(int(v) for v in row) for row in entries)))
    return drawn


# Linear Gaussian models


def model(text: str, levels: int, scale: Any) -> LinearGaussianModel:
    """Model with all contexts of some levels; ``scale(concept, own class values)`` is a standard deviation."""
    structure = ClassConceptStructure(_rows(text))
    contexts = tuple(itertools.product(range(levels), repeat=structure.n_classes))
    own = [sorted(structure.classes_of(i)) for i in range(structure.n_concepts)]
    scales = tuple(
        tuple(Fraction(scale(i, tuple(context[j] for j in own[i]))) for i in range(structure.n_concepts))
        for context in contexts
    )
    return LinearGaussianModel(structure, contexts, scales)


def _weighted(i: int, values: tuple[int, ...]) -> Fraction:
    """A scale that no other concept shares."""
    return 1 + sum((Fraction((i + 2) * v * v + v, j + 1) for j, v in enumerate(values)), Fraction(0))


def _same_for_all(i: int, values: tuple[int, ...]) -> Fraction:
    """A scale that concepts with the same classes share."""
    return Fraction(1 + sum((j + 1) * v for j, v in enumerate(values)))


def named_models() -> dict[str, LinearGaussianModel]:
    """Models with levelled classes; those named isotropic have proportional concepts inside atoms."""
    return {
        "one concept": model("1", 3, _weighted),
        "cyclic pairs": model("110 011 101", 2, _weighted),
        "nested": model("10 11", 3, _weighted),
        "join": model("10 01 11", 3, _weighted),
        "duplicate": model("10 10 01", 4, _weighted),
        "zero row": model("00 10 01", 3, _weighted),
        "isotropic duplicate": model("10 10 01", 3, _same_for_all),
        "isotropic shark and turtle": model("10 10 01 11", 2, _same_for_all),
        "isotropic zero rows": model("0 0 1", 2, _same_for_all),
    }


def draw_models(rng: np.random.Generator, size: int) -> list[LinearGaussianModel]:
    """Up to 4 concepts and 2 classes of 2 to 4 levels, half with proportional concepts inside atoms; all faithful."""
    return _drawn(rng, size, lambda found: True)


def distinct_models(rng: np.random.Generator, size: int) -> list[LinearGaussianModel]:
    """Models with distinct non-zero rows that span every class."""
    return _drawn(rng, size, lambda found: rows_are_distinct(found.structure) and spans_every_class(found))


def incomparable_models(rng: np.random.Generator, size: int) -> list[LinearGaussianModel]:
    """Models with incomparable rows that span every class."""
    return _drawn(rng, size, lambda found: rows_are_incomparable(found.structure) and spans_every_class(found))


def spanning_models(rng: np.random.Generator, size: int) -> list[LinearGaussianModel]:
    """Models that span every class."""
    return _drawn(rng, size, spans_every_class)


def models_with_one_zero_row(rng: np.random.Generator, size: int) -> list[LinearGaussianModel]:
    """Models with exactly one class-independent concept."""
    return _drawn(rng, size, lambda found: sum(not any(row) for row in found.structure.rows) == 1)


def _drawn(rng: np.random.Generator, size: int, keep: Any) -> list[LinearGaussianModel]:
    drawn: list[LinearGaussianModel] = []
    while len(drawn) < size:
        found = _model(rng)
        if scales_respect_structure(found) and keep(found):
            drawn.append(found)
    return drawn


def _model(rng: np.random.Generator) -> LinearGaussianModel:
    n, k = int(rng.integers(1, 5)), int(rng.integers(1, 3))
    levels = int(rng.integers(2, 5)) if k == 1 else int(rng.integers(2, 4))
    text = " ".join("".join(str(int(v)) for v in rng.random(k) < 0.6) for _ in range(n))
    if rng.random() < 0.4:
        return model(text, levels, _same_for_all)
    table: dict[tuple[int, tuple[int, ...]], Fraction] = {}

    def scale(i: int, values: tuple[int, ...]) -> Fraction:
        return table.setdefault((i, values), Fraction(int(rng.integers(1, 10)), int(rng.integers(1, 4))))

    return model(text, levels, scale)
