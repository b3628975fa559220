"""Checks of the set algebra: diversity predicates, diagnosis, extra classes, Sperner, D2, D3 and P1."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from whp.algorithms.concept_identifiability import diagnose, match_structures
from whp.proofs_checks.concept_identifiability import instances as given
from whp.proofs_checks.engine import Check, Instances, Mutant, Slack, at_most, identity, requires
from whp.theory.concept_identifiability import (
    ClassConceptStructure,
    TransformedStructure,
    atoms,
    difference_isolates,
    differences_isolate_all,
    no_row_contains,
    pair_isolates,
    respects_preorder,
    row_is_distinct,
    rows_are_distinct,
    rows_are_incomparable,
    touched,
)
from whp.theory.core import Slot

__all__ = ["CHECKS"]

Rows: TypeAlias = tuple[tuple[int, ...], ...]
Diagnoser: TypeAlias = Callable[[Rows], Sequence[tuple[bool, bool, bool, bool]]]
Planner: TypeAlias = Callable[[Rows], Sequence[Sequence[int]]]
Matcher: TypeAlias = Callable[[Rows, Rows], Sequence[int] | None]


# diagnose(M)


def _is_diagnosis(output: object, rows: Rows) -> None:
    if not isinstance(output, Sequence) or len(output) != len(rows) or any(len(row) != 4 for row in output):
        raise TypeError(f"expected four truth values for each of {len(rows)} concepts, got {output!r}")


DIAGNOSER = Slot(
    "diagnoser",
    "(rows)",
    "rows: tuple of tuples of 0 and 1, shape (n_concepts, n_classes)",
    "for each concept: no other row contains its row; a set difference isolates it; its row is distinct and not zero; "
    "one pair of classes isolates it",
    ("rows",),
    validate=_is_diagnosis,
)


def diagnosis(rows: Rows) -> list[tuple[bool, bool, bool, bool]]:
    """Our diagnosis in the shape of the slot."""
    return [
        (c.no_row_contains, c.difference_isolates, c.row_is_distinct, c.pair is not None)
        for c in diagnose(rows).concepts
    ]


def duplicates_identified(rows: Rows) -> list[tuple[bool, bool, bool, bool]]:
    """Call every class-dependent concept identified."""
    return [(a, b, any(row), d) for (a, b, _, d), row in zip(diagnosis(rows), rows, strict=True)]


def incomparable_demanded(rows: Rows) -> list[tuple[bool, bool, bool, bool]]:
    """Reject nested rows."""
    return [(a, b, a, d) for a, b, _, d in diagnosis(rows)]


def zero_rows_kept(rows: Rows) -> list[tuple[bool, bool, bool, bool]]:
    """Take a single zero row for a class-dependent concept."""
    return [(a, b, rows.count(row) == 1, d) for (a, b, _, d), row in zip(diagnosis(rows), rows, strict=True)]


def diagnosis_is_that_of_sets(instance: ClassConceptStructure, *, diagnoser: Diagnoser) -> Slack:
    """Compare with searches through sets, concept by concept."""
    found = np.array([[int(v) for v in row] for row in diagnoser(instance.rows)])
    slack = Slack(())
    for column, (name, predicate) in enumerate(
        (
            ("no row contains", no_row_contains),
            ("difference isolates", difference_isolates),
            ("distinct row", row_is_distinct),
            ("pair isolates", lambda s, i: pair_isolates(s, i) is not None),
        )
    ):
        expected = [int(predicate(instance, i)) for i in range(instance.n_concepts)]
        slack &= identity(name, found[:, column], np.array(expected))
    return slack


# Implications and limits


def stronger_implies_weaker(instance: ClassConceptStructure) -> Slack:
    """``P_anti => P_diff => P_rows``."""
    anti, diff, rows = (f(instance) for f in (rows_are_incomparable, differences_isolate_all, rows_are_distinct))
    return requires("incomparable => differences", not anti or diff) & requires(
        "differences => distinct", not diff or rows
    )


def distinct_implies_differences(instance: ClassConceptStructure) -> Slack:
    """Claim the converse of the second implication."""
    return requires("differences => distinct", not rows_are_distinct(instance) or differences_isolate_all(instance))


def differences_imply_incomparable(instance: ClassConceptStructure) -> Slack:
    """Claim the converse of the first implication."""
    return requires(
        "incomparable => differences", not differences_isolate_all(instance) or rows_are_incomparable(instance)
    )


def limits(most_incomparable: Callable[[int], int], most_distinct: Callable[[int], int]) -> Callable[..., Slack]:
    """Check the numbers of maximal, minimal and distinct rows against limits."""

    def observe(instance: ClassConceptStructure) -> Slack:
        rows = {frozenset(instance.classes_of(i)) for i in range(instance.n_concepts)} - {frozenset()}
        maximal = sum(not any(row < other for other in rows) for row in rows)
        minimal = sum(not any(other < row for other in rows) for row in rows)
        most = most_incomparable(instance.n_classes)
        slack = at_most("incomparable rows", max(maximal, minimal), most)
        return slack & at_most("distinct rows", len(rows), most_distinct(instance.n_classes))

    return observe


def _layers() -> dict[str, ClassConceptStructure]:
    """All subsets of the middle size, and all subsets, for up to five classes."""
    found = {}
    for k in range(1, 6):
        subsets = [row for row in itertools.product((0, 1), repeat=k) if any(row)]
        middle = [row for row in subsets if sum(row) == max(1, k // 2)]
        found[f"middle layer of {k}"] = ClassConceptStructure(tuple(middle))
        found[f"all rows of {k}"] = ClassConceptStructure(tuple(subsets))
    return found


def half_of_two_to_the(k: int) -> int:
    """Half of the number of rows."""
    return int(2 ** (k - 1))


def sperner(k: int) -> int:
    """Middle binomial coefficient."""
    return math.comb(k, k // 2)


def all_rows(k: int) -> int:
    """Non-zero rows."""
    return int(2**k - 1)


def lower_layer(k: int) -> int:
    """Binomial coefficient below the middle."""
    return math.comb(k, max(0, k // 2 - 1))


# Extra classes

PLANNER = Slot(
    "planner",
    "(rows)",
    "rows: tuple of tuples of 0 and 1, shape (n_concepts, n_classes)",
    "classes to add, each a sequence of n_concepts zeros and ones, as few as split all atoms with a class",
    ("rows",),
)


def plan(rows: Rows) -> list[list[int]]:
    """Our plan in the shape of the slot."""
    return [[int(i in extra.having) for i in range(len(rows))] for extra in diagnose(rows).extra_classes]


def one_class_a_concept(rows: Rows) -> list[list[int]]:
    """Add a class for every member of an atom but one."""
    together = [i for atom in diagnose(rows).blocks for i in atom[1:]]
    return [[int(i == k) for i in range(len(rows))] for k in together]


def one_class_only(rows: Rows) -> list[list[int]]:
    """Halve every atom once."""
    return plan(rows)[:1]


def classes_split_all_atoms(instance: ClassConceptStructure, *, planner: Planner) -> Slack:
    """Add the classes; class-dependent rows must come apart, and no fewer classes could do it."""
    extra = [tuple(column) for column in planner(instance.rows)]
    rows = [(*row, *(column[i] for column in extra)) for i, row in enumerate(instance.rows) if any(row)]
    largest = max((len(a) for a in atoms(instance) if any(instance.rows[a[0]])), default=1)
    fewest = next(c for c in itertools.count() if len(list(itertools.product((0, 1), repeat=c))) >= largest)
    return requires("atoms are split", len(set(rows)) == len(rows)) & identity("number of classes", len(extra), fewest)


# D2, D3, P1

MATCHER = Slot(
    "matcher",
    "(rows, estimated)",
    "rows, estimated: tuples of tuples of 0 and 1, shape (n_concepts, n_classes)",
    "permutation s with estimated[s(i)] = rows[i] for all i, or None when there is none",
    ("rows", "estimated"),
)


def ones(rows: Sequence[Sequence[int]]) -> int:
    """Number of ones."""
    return sum(map(sum, rows))


def core_holds(estimate: Callable[[TransformedStructure], Rows], counted: slice = slice(None)) -> Callable[..., Slack]:
    """Check the inequality, and in case of equality the permutation and the pattern."""

    def observe(instance: TransformedStructure) -> Slack:
        estimated = estimate(instance)
        left = ones([row[counted] for row in instance.structure.rows])
        right = ones([row[counted] for row in estimated])
        slack = at_most("number of ones", left, right)
        if left != right:
            return slack
        permutations = [
            s
            for s in itertools.permutations(range(len(estimated)))
            if all(estimated[s[i]] == row for i, row in enumerate(instance.structure.rows))
        ]
        slack &= requires("a permutation exists", bool(permutations))
        return slack & requires("pattern of T", all(respects_preorder(instance, s) for s in permutations))

    return observe


def touched_by_columns(case: TransformedStructure) -> Rows:
    """Read T by columns."""
    return touched(TransformedStructure(case.structure, tuple(zip(*case.transform, strict=True))))


def structure_theorem(instance: TransformedStructure, *, matcher: Matcher) -> Slack:
    """With no more ones than M the estimate is M permuted, and J respects the order of rows; else it has more."""
    rows, estimated = instance.structure.rows, touched(instance)
    found = matcher(rows, estimated)
    sparse = ones(estimated) <= ones(rows)
    if found is None:
        return requires("matched when sparse", not sparse)
    slack = requires("matched when sparse", True)
    slack &= requires("rows agree", sorted(found) == list(range(len(rows))))
    slack &= requires("rows agree", all(estimated[s] == rows[i] for i, s in enumerate(found)))
    return slack & requires("pattern of J", _pattern_of_jacobian(instance, found, forward=True))


def reversed_order(instance: TransformedStructure, *, matcher: Matcher) -> Slack:
    """Claim the opposite inclusion for J."""
    found = matcher(instance.structure.rows, touched(instance))
    ok = found is None or _pattern_of_jacobian(instance, found, forward=False)
    return requires("pattern of J", ok)


def _pattern_of_jacobian(case: TransformedStructure, found: Sequence[int], *, forward: bool) -> bool:
    sets = [case.structure.classes_of(i) for i in range(case.structure.n_concepts)]
    jacobian = case.jacobian
    return all(
        jacobian[found[i]][k] == 0 or (sets[i] <= sets[k] if forward else sets[k] <= sets[i])
        for i, k in itertools.product(range(len(sets)), repeat=2)
    )


def any_permutation(rows: Rows, estimated: Rows) -> tuple[int, ...]:
    """Match whatever is given, in order."""
    return tuple(range(len(rows)))


def match_by_sizes(rows: Rows, estimated: Rows) -> tuple[int, ...] | None:
    """Match rows by how many classes they have."""
    one, other = (sorted(range(len(r)), key=lambda i: sum(r[i])) for r in (rows, estimated))
    if [sum(rows[i]) for i in one] != [sum(estimated[i]) for i in other]:
        return None
    found = dict(zip(one, other, strict=True))
    return tuple(found[i] for i in range(len(rows)))


def sparse_supports_identify(instance: TransformedStructure) -> Slack:
    """Observations that depend on no more coordinates in total leave only scaled permutations."""
    return _no_more_ones(instance, ones(instance.structure.rows))


def one_more_allowed(instance: TransformedStructure) -> Slack:
    """Allow one more dependence."""
    return _no_more_ones(instance, ones(instance.structure.rows) + 1)


def _no_more_ones(instance: TransformedStructure, budget: int) -> Slack:
    by_columns = TransformedStructure(instance.structure, _scaled_inverse_transpose(instance))
    estimated = touched(by_columns)
    monomial = all(sum(v != 0 for v in row) == 1 for row in instance.transform)
    return requires("component-wise", monomial or ones(estimated) > budget)


def _scaled_inverse_transpose(case: TransformedStructure) -> tuple[tuple[int, ...], ...]:
    """``T^-T`` times a common denominator: x depends on estimated concept i through column i of ``D T^-1``."""
    scale = math.lcm(*(Fraction(v).denominator for row in case.jacobian for v in row))
    return tuple(tuple(int(v * scale) for v in row) for row in case.jacobian)


def _singular() -> dict[str, TransformedStructure]:
    identity_structure = ClassConceptStructure(((1, 0), (0, 1)))
    return {
        "a zero row": TransformedStructure(identity_structure, ((1, 0), (0, 0))),
        "equal rows": TransformedStructure(ClassConceptStructure(((1,), (0,))), ((0, 1), (0, 1))),
    }


def _nested_supports(rng: np.random.Generator, size: int) -> list[TransformedStructure]:
    shear = ((1, 0), (1, 1)), ((1, 0), (-2, 1))
    nested = ClassConceptStructure(((1, 1), (0, 1)))
    return [TransformedStructure(nested, shear[i % 2]) for i in range(size)]


STRUCTURES = Instances(
    "binary matrices of up to 6 concepts and 5 classes, with duplicate, nested and zero rows",
    examples=given.named_structures,
    draw=given.draw_structures,
    strategy=given.structures,
)
MATRICES = Instances(
    "invertible integer matrices between up to 5 concepts of up to 4 classes, half in the sparse pattern",
    draw=given.draw_transformed,
    strategy=given.transformed,
)
ID = "concept_identifiability."

CHECKS: tuple[Check, ...] = (
    Check(
        theorem=ID + "diagnosis",
        name="sets",
        kind="slack",
        observe=diagnosis_is_that_of_sets,
        instances=STRUCTURES,
        slots={DIAGNOSER: diagnosis},
        mutants=(
            Mutant("calls duplicate rows identified", "distinct row", {"diagnoser": duplicates_identified}),
            Mutant("rejects nested rows", "distinct row", {"diagnoser": incomparable_demanded}),
            Mutant("takes zero rows for class-dependent", "distinct row", {"diagnoser": zero_rows_kept}),
        ),
        cost=6.0,
    ),
    Check(
        theorem=ID + "predicates",
        name="implications",
        kind="slack",
        observe=stronger_implies_weaker,
        instances=STRUCTURES,
        mutants=(
            Mutant("converse of the second", "differences => distinct", observe=distinct_implies_differences),
            Mutant("converse of the first", "incomparable => differences", observe=differences_imply_incomparable),
        ),
        cost=2.0,
    ),
    Check(
        theorem=ID + "sperner",
        name="limits",
        kind="slack",
        observe=limits(sperner, all_rows),
        instances=Instances(
            STRUCTURES.scope + "; the middle layers and all rows of up to 5 classes",
            examples=_layers,
            draw=given.draw_structures,
            strategy=given.structures,
        ),
        mutants=(
            Mutant("layer below the middle", "incomparable rows", observe=limits(lower_layer, all_rows)),
            Mutant("half of the rows", "distinct rows", observe=limits(sperner, half_of_two_to_the)),
        ),
        cost=3.0,
    ),
    Check(
        theorem=ID + "extra_classes",
        name="fewest",
        kind="slack",
        observe=classes_split_all_atoms,
        instances=STRUCTURES,
        slots={PLANNER: plan},
        mutants=(
            Mutant("one class a concept", "number of classes", {"planner": one_class_a_concept}),
            Mutant("one class only", "atoms are split", {"planner": one_class_only}),
        ),
        cost=5.0,
    ),
    Check(
        theorem=ID + "D2",
        name="ones",
        kind="slack",
        observe=core_holds(touched),
        instances=MATRICES,
        mutants=(
            Mutant(
                "singular T",
                "number of ones",
                instances=Instances("singular T", examples=_singular),
                ignoring=("invertible",),
            ),
            Mutant("one class not counted", observe=core_holds(touched, slice(1, None))),
            Mutant("T read by columns", "pattern of T", observe=core_holds(touched_by_columns)),
        ),
        cost=6.0,
    ),
    Check(
        theorem=ID + "D3",
        name="patterns",
        kind="slack",
        observe=structure_theorem,
        instances=MATRICES,
        slots={MATCHER: match_structures},
        mutants=(
            Mutant("matches anything", "rows agree", {"matcher": any_permutation}),
            Mutant("matches by number of classes", "rows agree", {"matcher": match_by_sizes}),
            Mutant("order reversed", "pattern of J", observe=reversed_order),
        ),
        cost=4.0,
    ),
    Check(
        theorem=ID + "P1",
        name="supports",
        kind="slack",
        observe=sparse_supports_identify,
        instances=Instances(
            "supports of up to 4 concepts in up to 6 observed coordinates, each concept alone in an intersection",
            draw=given.sparse_supports,
        ),
        mutants=(
            Mutant("one more dependence allowed", "component-wise", observe=one_more_allowed),
            Mutant(
                "nested supports",
                "component-wise",
                instances=Instances("nested supports", draw=_nested_supports),
                ignoring=("structural sparsity",),
            ),
        ),
        cost=4.0,
    ),
)
