"""Proofs with a printed scope: D2 over all supports, the predicates and Sperner's limits, the rotations of D7."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any

from whp.proofs_checks.engine import Proof, ProofResult, exhaustive, polynomial_identity
from whp.theory.concept_identifiability import (
    ClassConceptStructure,
    all_structures,
    differences_isolate_all,
    rows_are_distinct,
    rows_are_incomparable,
)

__all__ = ["PROOFS", "core_holds_for_support", "limits_hold_for_family"]


def _supports(n: int) -> Iterator[tuple[int, ...]]:
    """Supports that an invertible matrix can have, as one bit mask a row: those through which a permutation runs."""
    for masks in itertools.product(range(1, 2**n), repeat=n):
        if any(all(masks[r] >> i & 1 for i, r in enumerate(s)) for s in itertools.permutations(range(n))):
            yield masks


def core_holds_for_support(masks: tuple[int, ...], structure: tuple[int, ...], n_classes: int) -> bool:
    """D2 for all invertible matrices of one support; ``structure`` holds the classes of each concept as a bit mask.

    Examples
    --------
    >>> core_holds_for_support((0b01, 0b10), (0b1, 0b0), 1), core_holds_for_support((0b01, 0b01), (0b0, 0b1), 1)
    (True, False)
    """
    n = len(masks)
    own = [sum(1 << i for i in range(n) if structure[i] >> j & 1) for j in range(n_classes)]
    estimated = [sum(1 << j for j in range(n_classes) if mask & own[j]) for mask in masks]
    fewer = sum(row.bit_count() for row in structure) - sum(row.bit_count() for row in estimated)
    if fewer > 0:
        return False
    matches = [s for s in itertools.permutations(range(n)) if all(estimated[s[i]] == structure[i] for i in range(n))]
    if fewer < 0:
        return not matches
    return bool(matches) and all(
        structure[k] & ~structure[i] == 0 for s in matches for i in range(n) for k in range(n) if masks[s[i]] >> k & 1
    )


def _prove_core() -> ProofResult:
    cases = (
        (masks, structure, classes)
        for n, classes in ((1, 1), (1, 2), (2, 1), (2, 2), (2, 3), (3, 1), (3, 2), (3, 3))
        for masks in _supports(n)
        for structure in itertools.product(range(2**classes), repeat=n)
    )
    return exhaustive(cases, lambda case: core_holds_for_support(*case))


def _implications(structure: ClassConceptStructure) -> bool:
    differences = differences_isolate_all(structure)
    return (not rows_are_incomparable(structure) or differences) and (not differences or rows_are_distinct(structure))


def _prove_predicates() -> ProofResult:
    sizes = [(n, k) for n in range(1, 4) for k in range(1, 4)] + [(4, 2), (2, 4)]
    return exhaustive((s for n, k in sizes for s in all_structures(n, k)), _implications)


def limits_hold_for_family(family: int, n_classes: int) -> bool:
    """Sperner's limit for one family of sets of classes, each a bit of ``family``: if incomparable, it is small.

    Examples
    --------
    >>> limits_hold_for_family(0b0110, 2)
    True
    """
    sets = [s for s in range(1, 2**n_classes) if family >> s & 1]
    if any(a & ~b == 0 for a, b in itertools.permutations(sets, 2)):
        return True
    return len(sets) <= math.comb(n_classes, n_classes // 2)


def _prove_sperner() -> ProofResult:
    families = ((family, k) for k in range(1, 5) for family in range(0, 2 ** (2**k), 2))
    return exhaustive(families, lambda case: limits_hold_for_family(*case))


def _angles(sympy: Any, u: Any, a: Any, b: Any) -> dict[str, Any]:
    """Half tangents of the gadgets."""
    radius = a**2 + b**2
    return {"constant": sympy.Rational(1, 2), "radius": radius, "another concept": u, "both": u * radius}


def _prove_rotations() -> ProofResult:
    import sympy

    symbols = sympy.symbols("u a b")
    u, a, b = symbols
    for name, t in _angles(sympy, u, a, b).items():
        scale = 1 + t**2
        new_a, new_b = ((1 - t**2) * a - 2 * t * b) / scale, (2 * t * a + (1 - t**2) * b) / scale
        matrix = sympy.Matrix([[sympy.diff(f, x) for x in symbols] for f in (u, new_a, new_b)])
        # the product 1 + t^2 is never zero at real points
        claims = ((new_a**2 + new_b**2, a**2 + b**2), (matrix.det(method="berkowitz"), sympy.Integer(1)))
        for left, right in claims:
            result = polynomial_identity(left, right, symbols, nonzero=(sympy.Integer(1) * scale,))
            if result.outcome != "proved":
                return result
        moves = sympy.simplify(matrix[1, 0]) != 0
        if moves != (name in ("another concept", "both")):
            return ProofResult("refuted", f"dependence on u of the rotation by {name} is not as stated.")
    return ProofResult("proved", "density and volume of four rotations are kept identically in u, a, b.")


PROOFS = (
    Proof(
        "concept_identifiability.D2",
        "all_supports",
        "all invertible real T and all M with up to 3 concepts and 3 classes",
        _prove_core,
    ),
    Proof(
        "concept_identifiability.predicates",
        "all_structures",
        "all M with up to 3 concepts and 3 classes, 4 and 2, 2 and 4",
        _prove_predicates,
    ),
    Proof(
        "concept_identifiability.sperner",
        "all_families",
        "all families of sets of up to 4 classes",
        _prove_sperner,
    ),
    Proof(
        "concept_identifiability.D7_twisted",
        "rational_functions",
        "all real points; rotations by a constant, by the radius, by another concept, by both",
        _prove_rotations,
    ),
)
