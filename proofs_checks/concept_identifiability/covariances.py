"""Checks of joint diagonalisation: the exact criterion D6, its sampling rate, and the structure from samples."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from whp.algorithms.concept_identifiability import (
    covariance_unmixing,
    exact_unmixing,
)
from whp.proofs_checks.concept_identifiability import instances as given
from whp.proofs_checks.engine import (
    Check,
    ClaimedRate,
    Cost,
    Event,
    Instances,
    Mutant,
    Slack,
    event,
    identity,
    requires,
)
from whp.theory.concept_identifiability import (
    ClassConceptStructure,
    LinearGaussianModel,
    Matrix,
    covariances,
    determinant,
    product,
    proportional_partners,
    transpose,
)
from whp.theory.core import Slot

__all__ = ["CHECKS", "MixedModel"]

ExactUnmixer: TypeAlias = Callable[[Sequence[Matrix]], tuple[Matrix, Sequence[Sequence[int]]]]
Unmixer: TypeAlias = Callable[[NDArray[np.float64], NDArray[np.int64]], NDArray[np.float64]]
StructureEstimator: TypeAlias = Callable[[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]], NDArray[np.int64]]


@dataclass(frozen=True)
class MixedModel:
    """Concepts with class-dependent scales, mixed by an invertible integer matrix."""

    model: LinearGaussianModel
    mixing: tuple[tuple[int, ...], ...]

    @property
    def exact_mixing(self) -> Matrix:
        """A in fractions."""
        return tuple(tuple(Fraction(v) for v in row) for row in self.mixing)


# The exact criterion

EXACT_UNMIXER = Slot(
    "exact_unmixer",
    "(covariances)",
    "covariances: one symmetric matrix of fractions a context",
    "unmixing rows, and blocks of rows that are not told from one another (one row: identified up to scale)",
    ("covariances",),
)


def unmixed(matrices: Sequence[Matrix]) -> tuple[Matrix, Sequence[Sequence[int]]]:
    """Our exact unmixing in the shape of the slot."""
    found = exact_unmixing(matrices)
    return found.unmixing, found.blocks


def everything_told_apart(matrices: Sequence[Matrix]) -> tuple[Matrix, Sequence[Sequence[int]]]:
    """Call every eigenvector identified, whatever its multiplicity."""
    rows, _ = unmixed(matrices)
    return rows, [(i,) for i in range(len(rows))]


def first_pair_only(matrices: Sequence[Matrix]) -> tuple[Matrix, Sequence[Sequence[int]]]:
    """Look at the first two contexts."""
    return unmixed(matrices[:2])


def one_context_only(matrices: Sequence[Matrix]) -> tuple[Matrix, Sequence[Sequence[int]]]:
    """Diagonalise the first covariance alone and call the result identified."""
    n = len(matrices[0])
    return tuple(tuple(Fraction(i == k) for k in range(n)) for i in range(n)), [(i,) for i in range(n)]


def transposed_rows(matrices: Sequence[Matrix]) -> tuple[Matrix, Sequence[Sequence[int]]]:
    """Return eigenvectors as columns."""
    rows, blocks = unmixed(matrices)
    return transpose(rows), blocks


def blocks_are_the_proportional_ones(instance: MixedModel, *, exact_unmixer: ExactUnmixer) -> Slack:
    """Blocks must be the sets of proportional concepts, and each row a combination of its block's concepts."""
    model, mixing = instance.model, instance.exact_mixing
    rows, blocks = exact_unmixer(covariances(model, mixing))
    gain = product(rows, mixing)
    n = model.structure.n_concepts
    truth = {frozenset({i, *proportional_partners(model, i)}) for i in range(n)}
    reached = [frozenset(k for i in block for k, v in enumerate(gain[i]) if v != 0) for block in blocks]
    slack = identity("identified concepts", sum(len(b) == 1 for b in blocks), sum(len(b) == 1 for b in truth))
    slack &= requires("rows reach one block", sorted(map(sorted, reached)) == sorted(map(sorted, truth)))
    return slack & requires("rows are independent", determinant(gain) != 0)


def _mixed(model: LinearGaussianModel, rng: np.random.Generator) -> MixedModel:
    n = model.structure.n_concepts
    while True:
        mixing = tuple(tuple(int(v) for v in row) for row in rng.integers(-3, 4, (n, n)))
        if determinant([[Fraction(v) for v in row] for row in mixing]) != 0:
            return MixedModel(model, mixing)


def draw_mixed(rng: np.random.Generator, size: int) -> list[MixedModel]:
    """Models with their concepts mixed."""
    return [_mixed(model, rng) for model in given.draw_models(rng, size)]


def _two_contexts(variances: Sequence[int]) -> LinearGaussianModel:
    """First context standard, second with given standard deviations."""
    structure = ClassConceptStructure(tuple((1,) for _ in variances))
    ones = tuple(Fraction(1) for _ in variances)
    return LinearGaussianModel(structure, ((0,), (1,)), (ones, tuple(Fraction(v) for v in variances)))


def named_mixed() -> dict[str, MixedModel]:
    """Pair with ratios 4 and 9, triple with 1, 4 and 16, pair with equal ratios."""
    three = ((1, 2, 0), (0, 1, -1), (1, 0, 3))
    return {
        "ratios 4 and 9": MixedModel(_two_contexts((2, 3)), ((2, 1), (1, 1))),
        "ratios 1, 4, 16": MixedModel(_two_contexts((1, 2, 4)), three),
        "equal ratios": MixedModel(_two_contexts((2, 2)), ((2, 1), (1, 1))),
        "two of three equal": MixedModel(_two_contexts((2, 3, 2)), three),
        "one concept": MixedModel(_two_contexts((2,)), ((3,),)),
    }


# Sampling

UNMIXER = Slot(
    "unmixer",
    "(x, labels)",
    "x: array (n, m), mixtures; labels: integer array (n,), the class of each row",
    "unmixing array (m, m), one row a source",
    ("x", "labels"),
)
STRUCTURE_ESTIMATOR = Slot(
    "structure_estimator",
    "(x, labels, contexts)",
    "x: array (n, m); labels: integer array (n,), number of the context; contexts: integer array (n_contexts, K)",
    "structure, integer array (m, K), rows in any order",
    ("x", "labels", "contexts"),
)


def unmixing_of(x: NDArray[np.float64], labels: NDArray[np.int64]) -> NDArray[np.float64]:
    """Our estimator in the shape of the slot."""
    return covariance_unmixing(x, labels).unmixing


def pooled_principal_components(x: NDArray[np.float64], labels: NDArray[np.int64]) -> NDArray[np.float64]:
    """Ignore the classes."""
    return np.asarray(np.linalg.eigh(np.cov(x, rowvar=False))[1].T)


def first_hundred(x: NDArray[np.float64], labels: NDArray[np.int64]) -> NDArray[np.float64]:
    """Use a hundred rows of each class, whatever there is."""
    kept = np.concatenate([np.flatnonzero(labels == k)[:100] for k in np.unique(labels)])
    return unmixing_of(x[kept], labels[kept])


MIXING = np.array([[1.0, 2.0, 0.0], [0.0, 1.0, -1.0], [1.0, 0.0, 3.0]])
DEVIATIONS = np.sqrt(np.array([[1.0, 1.0, 1.0], [1.0, 2.0, 4.0]]))


def _amari(gain: NDArray[np.float64]) -> float:
    """Amari distance, written out for the check."""
    size, n = np.abs(gain), len(gain)
    rows = size.sum(axis=1) / size.max(axis=1) - 1
    columns = size.sum(axis=0) / size.max(axis=0) - 1
    return float((rows.sum() + columns.sum()) / (2 * n * (n - 1)))


def amari_at_size(instance: int, *, unmixer: Unmixer, rng: np.random.Generator) -> Cost:
    """Median Amari distance of 31 samples of so many rows a class."""
    labels = np.repeat([0, 1], instance)
    distances = []
    for _ in range(31):
        z = rng.normal(size=(2 * instance, 3)) * DEVIATIONS[labels]
        distances.append(_amari(unmixer(z @ MIXING.T, labels) @ MIXING))
    return Cost(instance, float(np.median(distances)), "median Amari distance")


ROWS_PER_CONTEXT = 50


def structure_missed_from(rows_per_context: int) -> Callable[..., Event]:
    """Check how often the estimate from so many rows a context is not M up to the order of its rows."""

    def observe(instance: MixedModel, *, structure_estimator: StructureEstimator, rng: np.random.Generator) -> Event:
        scales = np.array([[float(s) for s in row] for row in instance.model.scales])
        labels = np.repeat(np.arange(len(scales)), rows_per_context)
        z = rng.normal(size=(labels.size, scales.shape[1])) * scales[labels]
        mixing = np.array(instance.mixing, dtype=float)
        contexts = np.array(instance.model.contexts)
        found = structure_estimator(z @ mixing.T, labels, contexts)
        same = sorted(map(tuple, found.tolist())) == sorted(instance.model.structure.rows)
        return event(not same, probability=0.2, name="structure is missed")

    return observe


def fewer_rows(factor: float) -> Callable[..., Event]:
    """Make the same claim from a share of the rows."""
    return structure_missed_from(max(12, int(factor * ROWS_PER_CONTEXT)))


def structure_of(x: NDArray[np.float64], labels: NDArray[np.int64], contexts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Our estimator in the shape of the slot."""
    return covariance_unmixing(x, labels).structure(contexts)


def labels_shuffled(
    x: NDArray[np.float64], labels: NDArray[np.int64], contexts: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Lose the classes."""
    return structure_of(x, np.random.default_rng(0).permutation(labels), contexts)


def all_ones(x: NDArray[np.float64], labels: NDArray[np.int64], contexts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Fix the structure to ones."""
    return np.ones((x.shape[1], contexts.shape[1]), dtype=np.int64)


def of_raw_coordinates(
    x: NDArray[np.float64], labels: NDArray[np.int64], contexts: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Test the variances of the mixtures themselves."""
    found = covariance_unmixing(x, labels)
    variances = np.stack([x[labels == k].var(axis=0) for k in range(len(contexts))])
    return replace(found, variances=variances).structure(contexts)


def sampled_models() -> dict[str, MixedModel]:
    """Three concepts of two class variables with three levels each."""
    mixing = ((1, 2, 0), (0, 1, -1), (1, 0, 3))

    def scale(i: int, values: tuple[int, ...]) -> Any:
        return 1 + sum((Fraction((i + 2 * j + 1) * v, 2) for j, v in enumerate(values)), Fraction(0))

    texts = {"join": "10 01 11", "class-independent concept": "00 10 01"}
    return {name: MixedModel(given.model(text, 3, scale), mixing) for name, text in texts.items()}


ID = "concept_identifiability."

CHECKS: tuple[Check, ...] = (
    Check(
        theorem=ID + "D6",
        name="exact",
        kind="slack",
        observe=blocks_are_the_proportional_ones,
        instances=Instances(
            "linear Gaussian models of up to 4 concepts with integer mixing, proportional ones included, in fractions",
            examples=named_mixed,
            draw=draw_mixed,
        ),
        slots={EXACT_UNMIXER: unmixed},
        mutants=(
            Mutant("equal ratios called identified", "identified concepts", {"exact_unmixer": everything_told_apart}),
            Mutant("two contexts only", "", {"exact_unmixer": first_pair_only}),
            Mutant("one context only", "", {"exact_unmixer": one_context_only}),
            Mutant("eigenvectors as columns", "rows reach one block", {"exact_unmixer": transposed_rows}),
        ),
        cost=40.0,
    ),
    Check(
        theorem=ID + "D6_rate",
        name="amari",
        kind="rate",
        observe=amari_at_size,
        instances=Instances(
            "three concepts with variance ratios 1, 2, 4 between two classes, 250 to 16000 rows a class",
            examples=lambda: {f"N={n}": n for n in (250, 1000, 4000, 16000)},
        ),
        slots={UNMIXER: unmixing_of},
        rate=ClaimedRate(-0.5, relation="equal", tolerance=0.08),
        mutants=(
            Mutant("classes ignored", "", {"unmixer": pooled_principal_components}),
            Mutant("a hundred rows a class", "", {"unmixer": first_hundred}),
        ),
        cost=2000.0,
    ),
    Check(
        theorem=ID + "P2_sampled",
        name="structure",
        kind="event",
        observe=structure_missed_from(ROWS_PER_CONTEXT),
        instances=Instances(
            "two fixed models of three concepts and two class variables with three levels, 50 rows a context",
            examples=sampled_models,
        ),
        slots={STRUCTURE_ESTIMATOR: structure_of},
        mutants=(
            Mutant("labels shuffled", "structure is missed", {"structure_estimator": labels_shuffled}),
            Mutant("structure of ones", "structure is missed", {"structure_estimator": all_ones}),
            Mutant("mixtures not unmixed", "structure is missed", {"structure_estimator": of_raw_coordinates}),
        ),
        tighten=fewer_rows,
        cost=50.0,
    ),
)
