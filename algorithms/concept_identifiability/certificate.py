"""What a linear Gaussian model certifies of each concept, and why the rest is refused."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from whp.theory.concept_identifiability import (
    LinearGaussianModel,
    atoms,
    proportional_partners,
    row_is_distinct,
    scales_respect_structure,
    spans_every_class,
)

__all__ = ["Certificate", "SpanReport", "certify", "span_check"]


@dataclass(frozen=True)
class Certificate:
    """Verdict on each concept of a model.

    Attributes
    ----------
    verdicts : tuple of {"identified", "block", "refused"}
        By concept.
    reasons : tuple of str
        By concept, in words.
    span, faithful : bool
        Whether score differences span every class, and scales depend on exactly the classes of the structure.
    budget : int
        Ones in the structure.
    """

    verdicts: tuple[Literal["identified", "block", "refused"], ...]
    reasons: tuple[str, ...]
    span: bool
    faithful: bool
    budget: int

    def __str__(self) -> str:
        return "\n".join(f"{v}: {r}" for v, r in zip(self.verdicts, self.reasons, strict=True))


def certify(model: LinearGaussianModel) -> Certificate:
    """Certify concepts of a linear Gaussian model, exactly.

    By distinct rows where (span) holds (D5), else by the exact criterion of proportional variances (D6); as a block
    by equal rows (D4).  A model whose scales do not depend on the classes its structure names gets no certificate.

    Examples
    --------
    >>> from whp.theory.concept_identifiability import ClassConceptStructure
    >>> M = ClassConceptStructure([[1], [1]])
    >>> print(certify(LinearGaussianModel(M, ((0,), (1,)), ((1, 1), (2, 2)))))
    block: proportional to concept 2 in every context; identified with concept 2 only
    block: proportional to concept 1 in every context; identified with concept 1 only
    """
    structure = model.structure
    span, faithful = spans_every_class(model), scales_respect_structure(model)
    atom_of = {i: atom for atom in atoms(structure) for i in atom}
    verdicts: list[Literal["identified", "block", "refused"]] = []
    reasons = []
    for i in range(structure.n_concepts):
        partners = proportional_partners(model, i)
        if not faithful:
            verdicts.append("refused")
            reasons.append("scales do not depend on exactly the classes that the structure names")
        elif span and row_is_distinct(structure, i):
            verdicts.append("identified")
            reasons.append("distinct row, and score differences span every class")
        elif not partners:
            verdicts.append("identified")
            reasons.append("its variances are proportional to those of no other concept")
        elif any(structure.rows[i]):
            verdicts.append("block")
            names = ", ".join(structure.concepts[k] for k in partners)
            together = ", ".join(structure.concepts[k] for k in atom_of[i] if k != i)
            reasons.append(f"proportional to {names} in every context; identified with {together} only")
        else:
            verdicts.append("refused")
            reasons.append("no class depends on it, nor on " + ", ".join(structure.concepts[k] for k in partners))
    return Certificate(tuple(verdicts), tuple(reasons), span, faithful, structure.budget)


@dataclass(frozen=True)
class SpanReport:
    """How well score differences span the concepts of each class.

    Attributes
    ----------
    holds : bool
        Whether every class reaches full rank at all points.
    smallest_ratio : array (n_classes,)
        Smallest over largest singular value, the worst over the points; 0 for too few contexts, 1 for an empty class.
    """

    holds: bool
    smallest_ratio: NDArray[np.float64]


def span_check(
    score_difference: Callable[[NDArray[np.float64], int, Any], NDArray[np.float64]],
    concepts_of_class: Sequence[Sequence[int]],
    points: Any,
    levels: Sequence[Sequence[Any]],
    *,
    tolerance: float = 1e-9,
) -> SpanReport:
    """Check (span) numerically for any class law.

    Parameters
    ----------
    score_difference : callable
        ``(z, class, level) -> array (n,)``: ``G(z, c)[:, class]`` at that level of the class variable.
    concepts_of_class : sequence of sequence of int
        ``A_j`` for each class.
    points : array_like, shape (n_points, n)
        Where to check; random points do for laws with analytic densities.
    levels : sequence of sequences
        For each class the levels (or contexts) observed.
    tolerance : float
        Singular values below this share of the largest count as zero.

    Examples
    --------
    >>> G = lambda z, j, c: np.array([2 * z[0] * np.exp(-2 * c), 4 * z[1] * np.exp(-4 * c)])
    >>> span_check(G, [[0, 1]], [[1.0, 1.0]], [[0, 1]]).holds
    True
    """
    at = np.atleast_2d(np.asarray(points, dtype=np.float64))
    worst = np.ones(len(concepts_of_class))
    for j, own in enumerate(concepts_of_class):
        if not own:
            continue
        for z in at:
            rows = np.array([np.asarray(score_difference(z, j, c), dtype=np.float64)[list(own)] for c in levels[j]])
            values = np.linalg.svd(rows, compute_uv=False) if rows.size else np.zeros(1)
            full = len(values) >= len(own) and len(rows) >= len(own) and values[0] > 0
            worst[j] = min(worst[j], values[len(own) - 1] / values[0] if full else 0.0)
    return SpanReport(bool((worst > tolerance).all()), worst)
