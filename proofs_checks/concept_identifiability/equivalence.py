"""Checks against equivalent models: T1, T2, P2, D4, D5 and D7 over all maps of a finite family that match the laws."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from whp.algorithms.concept_identifiability import diagnose
from whp.proofs_checks.concept_identifiability import instances as given
from whp.proofs_checks.engine import Check, Instances, Mutant, Slack, at_least, requires
from whp.theory.concept_identifiability import (
    LinearGaussianModel,
    Matrix,
    candidate_maps,
    estimated_structure,
    matches_all_laws,
    scales_respect_structure,
)
from whp.theory.core import Slot

__all__ = ["CHECKS"]

Rows: TypeAlias = tuple[tuple[int, ...], ...]
Guarantee: TypeAlias = Callable[[Rows], Sequence[Sequence[int]]]


def _is_partition(output: object, rows: Rows) -> None:
    if not isinstance(output, Sequence) or not all(isinstance(block, Sequence) for block in output):
        raise TypeError(f"expected a sequence of blocks of concepts, got {output!r}")
    members = [i for block in output for i in block]
    if len(set(members)) != len(members) or not set(members) <= set(range(len(rows))):
        raise ValueError(f"expected disjoint blocks of concepts below {len(rows)}, got {output!r}")


GUARANTEE = Slot(
    "guarantee",
    "(rows)",
    "rows: tuple of tuples of 0 and 1, shape (n_concepts, n_classes)",
    "blocks of concepts said to be identified, each an invertible function of its true concepts; one of one concept "
    "is identified component-wise",
    ("rows",),
    validate=_is_partition,
)


def equivalent_maps(model: LinearGaussianModel) -> Iterator[Matrix]:
    """Maps of the family that match every class law with a structure of no more ones than the true one."""
    for candidate in candidate_maps(model):
        if matches_all_laws(model, candidate):
            yield candidate


def sparsest_maps(model: LinearGaussianModel) -> list[Matrix]:
    """Equivalent maps within the budget."""
    budget = model.structure.budget
    return [m for m in equivalent_maps(model) if sum(map(sum, estimated_structure(model, m))) <= budget]


def keeps_block(transform: Matrix, block: Sequence[int]) -> bool:
    """Whether as many estimated concepts as the block has depend on it, and on nothing else."""
    rows = [row for row in transform if any(row[k] for k in block)]
    return len(rows) == len(block) and all(not v for row in rows for k, v in enumerate(row) if k not in block)


def blocks_survive(instance: LinearGaussianModel, *, guarantee: Guarantee) -> Slack:
    """Hold every block that is said to be identified against every equivalent map."""
    blocks = guarantee(instance.structure.rows)
    maps = sparsest_maps(instance)
    slack = at_least("the true model is among them", len(maps), 1)
    return slack & requires("blocks", all(keeps_block(m, block) for m in maps for block in blocks))


def diagnosed_blocks(rows: Rows) -> list[tuple[int, ...]]:
    """Atoms with a class."""
    found = diagnose(rows)
    return [atom for atom in found.atoms if any(rows[atom[0]])]


def all_components(rows: Rows) -> list[tuple[int, ...]]:
    """Every class-dependent concept by itself."""
    return [(i,) for i, row in enumerate(rows) if any(row)]


def every_concept(rows: Rows) -> list[tuple[int, ...]]:
    """Every concept by itself, class-independent ones included."""
    return [(i,) for i in range(len(rows))]


def first_two_together(rows: Rows) -> list[tuple[int, ...]]:
    """Leave one concept out of its atom."""
    return [atom[:-1] or atom for atom in diagnosed_blocks(rows)]


def single_independent(rows: Rows) -> list[tuple[int, ...]]:
    """Atoms with a class, and a class-independent concept that is alone."""
    zero = [i for i, row in enumerate(rows) if not any(row)]
    return [*diagnosed_blocks(rows), *([tuple(zero)] if len(zero) == 1 else [])]


def compared(sets: Callable[[int], Sequence[tuple[int, ...]]], *, inside: bool = False) -> Callable[..., Slack]:
    """Zero blocks of pairwise comparison, for single classes or sets of classes.

    With ``inside`` the wrong statement that concepts within ``A_I - A_J`` are separated as well.
    """

    def observe(instance: LinearGaussianModel) -> Slack:
        structure = instance.structure
        families = [structure.concepts_of(*chosen) for chosen in sets(structure.n_classes)]
        pairs = list(itertools.combinations(families, 2))
        maps = sparsest_maps(instance)
        ok = all(_separated(m, first, second, inside) for m in maps for first, second in pairs)
        return at_least("the true model is among them", len(maps), 1) & requires("zero blocks", ok)

    return observe


def _separated(transform: Matrix, first: frozenset[int], second: frozenset[int], inside: bool) -> bool:
    """Whether some permutation through nonzero entries has the zero blocks both ways."""
    n = len(transform)
    forbidden = [
        (second if i in first - second else first if i in second - first else frozenset())
        | ((first ^ second) - {i} if inside and i in first ^ second else frozenset())
        for i in range(n)
    ]
    return any(
        all(transform[s[i]][i] != 0 and not any(transform[s[i]][k] for k in forbidden[i]) for i in range(n))
        for s in itertools.permutations(range(n))
    )


def single_classes(n_classes: int) -> list[tuple[int, ...]]:
    """Classes one by one."""
    return [(j,) for j in range(n_classes)]


def sets_of_classes(n_classes: int) -> list[tuple[int, ...]]:
    """All non-empty sets of classes."""
    return [s for size in range(1, n_classes + 1) for s in itertools.combinations(range(n_classes), size)]


def structure_is_kept(instance: LinearGaussianModel) -> Slack:
    """Rows of the estimated structure are those of M in some order, for every equivalent map."""
    rows = sorted(instance.structure.rows)
    return requires(
        "rows of M", all(sorted(estimated_structure(instance, m)) == rows for m in equivalent_maps(instance))
    )


def order_is_kept(instance: LinearGaussianModel) -> Slack:
    """Claim the structure for maps that match the laws of the first two contexts only."""
    few = LinearGaussianModel(instance.structure, instance.contexts[:2], instance.scales[:2])
    rows = sorted(instance.structure.rows)
    kept = all(sorted(estimated_structure(instance, m)) == rows for m in equivalent_maps(few))
    return requires("rows of M", kept)


def whatever_matches(instance: LinearGaussianModel) -> Slack:
    """Claim the structure for all maps, matching or not."""
    rows = sorted(instance.structure.rows)
    kept = all(sorted(estimated_structure(instance, m)) == rows for m in candidate_maps(instance))
    return requires("rows of M", kept)


def _unfaithful() -> dict[str, LinearGaussianModel]:
    """Scales that do not depend on the classes they are said to depend on."""
    return {
        "constant scales": given.model("10 01", 2, lambda i, values: 1),
        "three constant scales": given.model("10 01 11", 2, lambda i, values: 1),
        "classes act on both": given.model("10 11", 2, lambda i, values: 1 + values[0]),
    }


def _isotropic() -> dict[str, LinearGaussianModel]:
    return {name: m for name, m in given.named_models().items() if name.startswith("isotropic")}


def _two_zero_rows() -> dict[str, LinearGaussianModel]:
    return {"two class-independent concepts": given.model("0 0 1", 2, lambda i, values: 1 + sum(values))}


def _named(keep: Callable[[LinearGaussianModel], bool]) -> Callable[[], dict[str, LinearGaussianModel]]:
    return lambda: {name: m for name, m in given.named_models().items() if keep(m) and scales_respect_structure(m)}


FAMILY = "against five rotations a pair, shears, and the identity, decided in fractions"
SPANNING = Instances(
    f"spanning linear Gaussian models, up to 4 concepts and 2 classes of up to 4 levels, {FAMILY}",
    examples=given.named_models,
    draw=given.spanning_models,
)
FAITHFUL = Instances(
    f"linear Gaussian models, up to 4 concepts and 2 classes of up to 4 levels, proportional ones included, {FAMILY}",
    examples=given.named_models,
    draw=given.draw_models,
)
UNFAITHFUL = Instances("models whose scales ignore their classes", examples=_unfaithful)
ISOTROPIC = Instances("models with proportional concepts inside atoms", examples=_isotropic)
ID = "concept_identifiability."
COST = 60.0


def _pairwise(name: str, check: str, sets: Callable[[int], Sequence[tuple[int, ...]]]) -> Check:
    return Check(
        theorem=ID + name,
        name=check,
        kind="slack",
        observe=compared(sets),
        instances=SPANNING,
        mutants=(
            Mutant("neither faithful nor spanning", "zero blocks", instances=UNFAITHFUL, ignoring=("faithful", "span")),
            Mutant(
                "separates inside the difference",
                "zero blocks",
                observe=compared(sets, inside=True),
                instances=ISOTROPIC,
                ignoring=("span",),
            ),
        ),
        cost=COST,
    )


def _component_wise(name: str, draw: Callable[..., list[LinearGaussianModel]], predicate: str) -> Check:
    return Check(
        theorem=ID + name,
        name="models",
        kind="slack",
        observe=blocks_survive,
        instances=Instances(f"{predicate}; {SPANNING.scope}", examples=given.named_models, draw=draw),
        slots={GUARANTEE: diagnosed_blocks},
        mutants=(
            Mutant(
                "rows equal and proportional",
                "blocks",
                {"guarantee": all_components},
                instances=ISOTROPIC,
                ignoring=("span", predicate),
            ),
            Mutant(
                "neither faithful nor spanning",
                "blocks",
                instances=UNFAITHFUL,
                ignoring=("faithful", "span", predicate),
            ),
        ),
        cost=COST,
    )


CHECKS: tuple[Check, ...] = (
    _pairwise("T1", "classes", single_classes),
    _pairwise("T1_subsets", "sets_of_classes", sets_of_classes),
    _component_wise("T2", given.incomparable_models, "incomparable rows"),
    _component_wise("D5", given.distinct_models, "distinct rows"),
    Check(
        theorem=ID + "P2",
        name="models",
        kind="slack",
        observe=structure_is_kept,
        instances=FAITHFUL,
        mutants=(
            Mutant("maps that match two contexts", "rows of M", observe=order_is_kept),
            Mutant("maps that match nothing", "rows of M", observe=whatever_matches),
        ),
        cost=COST,
    ),
    Check(
        theorem=ID + "D4",
        name="models",
        kind="slack",
        observe=blocks_survive,
        instances=FAITHFUL,
        slots={GUARANTEE: diagnosed_blocks},
        mutants=(
            Mutant("every concept by itself", "blocks", {"guarantee": all_components}),
            Mutant("a concept left out of its atom", "blocks", {"guarantee": first_two_together}),
            Mutant("scales that ignore the classes", "blocks", instances=UNFAITHFUL, ignoring=("faithful",)),
        ),
        cost=COST,
    ),
    Check(
        theorem=ID + "D7_single",
        name="models",
        kind="slack",
        observe=blocks_survive,
        instances=Instances(
            f"linear Gaussian models with one class-independent concept, {FAMILY}",
            examples=_named(lambda m: [any(row) for row in m.structure.rows].count(False) == 1),
            draw=given.models_with_one_zero_row,
        ),
        slots={GUARANTEE: single_independent},
        mutants=(
            Mutant(
                "two class-independent concepts",
                "blocks",
                {"guarantee": every_concept},
                instances=Instances("two zero rows", examples=_two_zero_rows),
                ignoring=("one class-independent concept",),
            ),
            Mutant("every concept by itself", "blocks", {"guarantee": every_concept}),
        ),
        cost=COST,
    ),
)
