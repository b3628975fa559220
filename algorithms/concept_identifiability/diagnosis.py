"""Which concepts a class-concept structure identifies, by which comparison, and which classes are missing."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from whp.algorithms.concept_identifiability.extra_classes import ExtraClass, split_atoms
from whp.theory.concept_identifiability import ClassConceptStructure

__all__ = ["ConceptDiagnosis", "Diagnosis", "diagnose"]

Status: TypeAlias = Literal["component", "block", "class-independent"]


@dataclass(frozen=True)
class ConceptDiagnosis:
    """What the structure says of one concept.

    Attributes
    ----------
    name : str
        The concept.
    status : {"component", "block", "class-independent"}
        Identified by itself; only together with the concepts of its atom; or not reached by any class.
    atom : tuple of int
        Concepts with the same classes.
    no_row_contains : bool
        The classes of the concept have no other concept in common.
    difference_isolates : bool
        Some class of it, less all classes without it, has the concept alone.
    row_is_distinct : bool
        It depends on a class and no other concept has the same classes.
    pair : tuple of int, optional
        Classes (j, l) whose comparison alone isolates it.
    reason : str
        In words.
    """

    name: str
    status: Status
    atom: tuple[int, ...]
    no_row_contains: bool
    difference_isolates: bool
    row_is_distinct: bool
    pair: tuple[int, int] | None
    reason: str


@dataclass(frozen=True)
class Diagnosis:
    """Diagnosis of a structure; print it.

    Attributes
    ----------
    structure : ClassConceptStructure
        What was diagnosed.
    concepts : tuple of ConceptDiagnosis
        In the order of the rows.
    atoms : tuple of tuple of int
        Concepts by equal rows, class-independent ones included, by first member.
    extra_classes : tuple of ExtraClass
        A smallest set of classes that would identify the rest.
    most_incomparable, most_distinct : int
        Largest numbers of concepts that so many classes can tell apart: with incomparable rows, with distinct rows.
    """

    structure: ClassConceptStructure
    concepts: tuple[ConceptDiagnosis, ...]
    atoms: tuple[tuple[int, ...], ...]
    extra_classes: tuple[ExtraClass, ...]
    most_incomparable: int
    most_distinct: int

    @property
    def identified(self) -> tuple[int, ...]:
        """Concepts identified component-wise."""
        return tuple(i for i, c in enumerate(self.concepts) if c.status == "component")

    @property
    def blocks(self) -> tuple[tuple[int, ...], ...]:
        """Sets of class-dependent concepts identified only together."""
        rows = self.structure.rows
        return tuple(atom for atom in self.atoms if len(atom) > 1 and any(rows[atom[0]]))

    @property
    def rows_are_incomparable(self) -> bool:
        """P_anti."""
        return all(c.no_row_contains and c.status != "class-independent" for c in self.concepts)

    @property
    def differences_isolate_all(self) -> bool:
        """P_diff."""
        return all(c.difference_isolates for c in self.concepts)

    @property
    def rows_are_distinct(self) -> bool:
        """P_rows."""
        return all(c.row_is_distinct for c in self.concepts)

    @property
    def table(self) -> str:
        """A line for each concept and for each class to add."""
        width = max(len(c.name) for c in self.concepts)
        lines = [f"{c.name.ljust(width)}  {c.status}: {c.reason}" for c in self.concepts]
        lines += [extra.text(self.structure) for extra in self.extra_classes]
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.table


def diagnose(structure: ClassConceptStructure | Any) -> Diagnosis:
    """Say which concepts are identified component-wise, which only in blocks, and which classes to add.

    Component-wise identification is that of theorem D5 of this module: a distinct, non-zero row suffices when classes
    vary enough (span) and concepts are independent given the class.  The stronger predicates are reported beside it.

    Parameters
    ----------
    structure : ClassConceptStructure or matrix of 0 and 1, shape (n_concepts, n_classes)
        Which concept depends on which class.

    Returns
    -------
    Diagnosis
        Exact; hundreds of concepts and classes take a fraction of a second.

    Raises
    ------
    ValueError
        If the matrix is empty or holds anything but 0 and 1.

    Examples
    --------
    >>> M = ClassConceptStructure(
    ...     [[1, 0], [1, 0], [0, 1], [1, 1]],
    ...     ("predator", "streamlined", "shell", "aquatic"), ("shark", "turtle"))
    >>> print(diagnose(M))
    predator     block: not told from streamlined by any class
    streamlined  block: not told from predator by any class
    shell        component: turtle without shark has it alone
    aquatic      component: shark and turtle have it alone in common
    add a class that has streamlined but not predator
    """
    M = structure if isinstance(structure, ClassConceptStructure) else ClassConceptStructure(structure)
    rows = M.matrix
    counts = rows.astype(np.float64)
    sizes = counts.sum(axis=1)
    contained = (counts @ counts.T) == sizes[:, None]  # [i, k]: C(i) is a subset of C(k)
    equal = contained & contained.T
    uncontained = contained.sum(axis=1) == 1
    distinct = (equal.sum(axis=1) == 1) & (sizes > 0)
    # A_k less the classes without i: concepts l with k in C(l) and C(l) a subset of C(i)
    below = contained.T.astype(np.float64) @ counts  # [i, k]: how many such l
    isolating = rows & (below == 1)  # i itself is among them for k in C(i)
    pairs = _isolating_pairs(counts)
    atoms = _atoms(equal)
    member_of = {i: atom for atom in atoms for i in atom}
    concepts = tuple(
        _concept(M, i, member_of[i], bool(uncontained[i]), isolating[i], bool(distinct[i]), pairs.get(i))
        for i in range(M.n_concepts)
    )
    k = M.n_classes
    blocks = [atom for atom in atoms if rows[atom[0]].any()]
    return Diagnosis(M, concepts, atoms, split_atoms(blocks), math.comb(k, k // 2), 2**k - 1)


def _atoms(equal: NDArray[np.bool_]) -> tuple[tuple[int, ...], ...]:
    """Classes of an equivalence relation, by first member."""
    first = equal.argmax(axis=1)
    return tuple(tuple(int(i) for i in np.flatnonzero(first == f)) for f in np.unique(first))


def _isolating_pairs(counts: NDArray[np.float64]) -> dict[int, tuple[int, int]]:
    """For each concept the first pair of classes (j, l) with ``A_j - A_l`` that concept alone."""
    single = counts.T @ (1 - counts) == 1  # [j, l]: A_j - A_l has one member
    found: dict[int, tuple[int, int]] = {}
    for j, other in np.argwhere(single):
        concept = int(np.argmax(counts[:, j] * (1 - counts[:, other])))
        found.setdefault(concept, (int(j), int(other)))
    return found


def _concept(
    M: ClassConceptStructure,
    i: int,
    atom: tuple[int, ...],
    uncontained: bool,
    isolating: NDArray[np.bool_],
    distinct: bool,
    pair: tuple[int, int] | None,
) -> ConceptDiagnosis:
    own = M.classes_of(i)
    status: Status = "component" if distinct else "block" if own else "class-independent"
    if status == "component":
        reason = _reason(M, i, uncontained, isolating, pair)
    elif own:
        reason = f"not told from {_listed([M.concepts[k] for k in atom if k != i])} by any class"
    elif len(atom) == 1:
        reason = "no class depends on it; alone, it is identified by independence"
    else:
        reason = "no class depends on it; matched laws do not identify such concepts, not even as a block"
    return ConceptDiagnosis(M.concepts[i], status, atom, uncontained, bool(isolating.any()), distinct, pair, reason)


def _reason(
    M: ClassConceptStructure, i: int, uncontained: bool, isolating: NDArray[np.bool_], pair: tuple[int, int] | None
) -> str:
    own = sorted(M.classes_of(i))
    if pair is not None:
        return f"{M.classes[pair[0]]} without {M.classes[pair[1]]} has it alone"
    if uncontained:
        verb = "have it alone in common" if len(own) > 1 else "has it alone"
        return f"{_listed([M.classes[j] for j in own])} {verb}"
    if isolating.any():
        without = [M.classes[j] for j in range(M.n_classes) if j not in own]
        rest = f" without {_listed(without)}" if without else ""
        return f"{M.classes[int(isolating.argmax())]}{rest} has it alone"
    return "no other concept has the same classes"


def _listed(names: list[str], most: int = 4) -> str:
    """Names joined for reading."""
    if len(names) > most:
        names = [*names[: most - 1], f"{len(names) - most + 1} others"]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
