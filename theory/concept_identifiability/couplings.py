"""Invertible rational maps and Gaussian class laws whose scores are fractions: the setting of the score identity."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from whp.theory.concept_identifiability.duals import Dual, jacobian, variables
from whp.theory.concept_identifiability.linear_gaussian import Matrix

__all__ = [
    "Coupling",
    "ReparametrisedModel",
    "estimated_score_differences",
    "map_jacobian",
    "mapped",
    "score_differences",
]


@dataclass(frozen=True)
class Coupling:
    """``z_target`` becomes ``z_target (1 + (stretch z_source)^2) + shift z_source^2 + shear z_source``.

    Invertible whatever the coefficients, with a Jacobian determinant that depends on the point unless ``stretch = 0``.
    """

    target: int
    source: int
    stretch: Fraction = Fraction(0)
    shift: Fraction = Fraction(0)
    shear: Fraction = Fraction(0)

    def factor(self, source: Dual) -> Dual:
        """Derivative of the new target with respect to the old one."""
        return 1 + self.stretch * self.stretch * source * source

    def forward(self, z: Sequence[Dual]) -> tuple[Dual, ...]:
        """Apply the map."""
        s = z[self.source]
        new = z[self.target] * self.factor(s) + self.shift * s * s + self.shear * s
        return tuple(new if i == self.target else v for i, v in enumerate(z))

    def backward(self, z: Sequence[Dual]) -> tuple[Dual, ...]:
        """Apply the inverse map."""
        s = z[self.source]
        old = (z[self.target] - self.shift * s * s - self.shear * s) / self.factor(s)
        return tuple(old if i == self.target else v for i, v in enumerate(z))


@dataclass(frozen=True)
class ReparametrisedModel:
    """Gaussian concepts given the context, a map h to other concepts, and a point.

    Parameters
    ----------
    couplings : tuple of Coupling
        The map h, first coupling first.
    means, precisions : tuple of tuple of Fraction, shape (n_contexts, n_concepts)
        Law of the concepts in each context; at least two contexts.
    point : tuple of Fraction
        Where scores are compared.

    Raises
    ------
    ValueError
        If the shapes disagree, a precision is not positive, or a coupling names a missing or the same coordinate twice.
    """

    couplings: tuple[Coupling, ...]
    means: tuple[tuple[Fraction, ...], ...]
    precisions: tuple[tuple[Fraction, ...], ...]
    point: tuple[Fraction, ...]

    def __post_init__(self) -> None:
        n = len(self.point)
        if len(self.means) < 2 or len(self.means) != len(self.precisions):
            raise ValueError(f"means and precisions must give two contexts or more, got {len(self.means)}")
        if any(len(row) != n for row in (*self.means, *self.precisions)):
            raise ValueError(f"means and precisions must have {n} entries a context")
        if min(min(row) for row in self.precisions) <= 0:
            raise ValueError("precisions must be positive")
        for c in self.couplings:
            if not (0 <= c.target < n and 0 <= c.source < n) or c.target == c.source:
                raise ValueError(f"coupling must name two different coordinates below {n}, got {c.target}, {c.source}")


def mapped(model: ReparametrisedModel) -> tuple[Dual, ...]:
    """``h(point)`` with the derivatives of h."""
    z = variables(model.point)
    for coupling in model.couplings:
        z = coupling.forward(z)
    return z


def map_jacobian(model: ReparametrisedModel) -> Matrix:
    """``J``, derivatives of h at the point."""
    return jacobian(mapped(model))


def score_differences(model: ReparametrisedModel) -> Matrix:
    """Gradient in z of ``log p(z|c) - log p(z|c_0)``, one row a context c after the first."""
    scores = [
        [-t * (z - m) for t, z, m in zip(taus, model.point, mus, strict=True)]
        for taus, mus in zip(model.precisions, model.means, strict=True)
    ]
    return tuple(tuple(a - b for a, b in zip(row, scores[0], strict=True)) for row in scores[1:])


def estimated_score_differences(model: ReparametrisedModel, *, log_determinant: Sequence[bool] = ()) -> Matrix:
    """Gradient in ``h(z)`` of the same difference for the density of ``h(z)``, through the inverse map.

    Parameters
    ----------
    model : ReparametrisedModel
        The density of ``h(z)`` given c is ``p(h^-1(.)|c) / |det J|``; it is differentiated as it stands.
    log_determinant : sequence of bool, optional
        For each context whether the determinant is included; in all of them by default.
    """
    included = list(log_determinant) or [True] * len(model.means)
    z = variables([coordinate.value for coordinate in mapped(model)])
    slope = [Fraction(0)] * len(model.point)  # gradient of log |det J|
    for coupling in reversed(model.couplings):
        z = coupling.backward(z)
        factor = coupling.factor(z[coupling.source])
        slope = [s + g / factor.value for s, g in zip(slope, factor.gradient, strict=True)]
    rows = []
    for taus, mus, include in zip(model.precisions, model.means, included, strict=True):
        log_density = Dual(Fraction(0), (Fraction(0),) * len(z))
        for t, v, m in zip(taus, z, mus, strict=True):
            log_density = log_density - t * (v - m) * (v - m) / 2
        rows.append([g - include * s for g, s in zip(log_density.gradient, slope, strict=True)])
    return tuple(tuple(a - b for a, b in zip(row, rows[0], strict=True)) for row in rows[1:])
