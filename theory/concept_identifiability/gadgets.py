"""Maps that leave every class-conditional law as it is: what a certificate of identification must survive or refuse."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from whp.theory.concept_identifiability.duals import Dual, variables

__all__ = ["GADGETS", "Gadget", "GadgetPoint", "applied", "half_probability", "rotate"]


def rotate(half_tangent: Dual | Fraction, first: Dual, second: Dual) -> tuple[Dual, Dual]:
    """Rotate a pair by the angle whose half has the given tangent: rational for rational arguments."""
    t = half_tangent
    scale = 1 + t * t
    cosine, sine = (1 - t * t) / scale, 2 * t / scale
    return cosine * first - sine * second, sine * first + cosine * second


@dataclass(frozen=True)
class Gadget:
    """A map of three concepts ``(u, a, b)`` with ``(a, b)`` standard Gaussian given every class, u of any law.

    Parameters
    ----------
    name : str
        What is done to the pair.
    breaks : str
        The assumption that rules it out, empty for maps that identification allows.
    half_tangent : callable
        Tangent of half the angle as a function of ``u, a, b``; the angle may depend on u and on ``a^2 + b^2`` only.
    mixes_u : bool
        Whether the pair comes to depend on u.
    """

    name: str
    breaks: str
    half_tangent: Callable[[Dual, Dual, Dual], Dual | Fraction]
    mixes_u: bool = False


GADGETS = (
    Gadget("identity", "", lambda u, a, b: Fraction(0)),
    Gadget("rotation of an isotropic pair", "span", lambda u, a, b: Fraction(1, 2)),
    Gadget("rotation by the radius", "span", lambda u, a, b: a * a + b * b),
    Gadget("rotation by another concept", "matched laws do not determine it", lambda u, a, b: u, True),
    Gadget("rotation by both", "matched laws do not determine it", lambda u, a, b: u * (a * a + b * b), True),
)


@dataclass(frozen=True)
class GadgetPoint:
    """A gadget by its place in `GADGETS` and the point ``(u, a, b)`` where it is looked at."""

    gadget: int
    point: tuple[Fraction, Fraction, Fraction]

    def __post_init__(self) -> None:
        if not 0 <= self.gadget < len(GADGETS):
            raise ValueError(f"gadget must be below {len(GADGETS)}, got {self.gadget}")


def applied(where: GadgetPoint, pair: Sequence[int] = (1, 2)) -> tuple[Dual, ...]:
    """Image of the point with its derivatives; ``pair`` are the coordinates that are rotated."""
    z = list(variables(where.point))
    u, a, b = z
    i, k = pair
    z[i], z[k] = rotate(GADGETS[where.gadget].half_tangent(u, a, b), z[i], z[k])
    return tuple(z)


def half_probability(law_u: dict[Fraction, Fraction], law_b: dict[Fraction, Fraction]) -> Fraction:
    """``P(u b > 0)`` for independent finite laws.

    Examples
    --------
    >>> half = Fraction(1, 2)
    >>> half_probability({Fraction(1): half, Fraction(5): half}, {Fraction(-2): half, Fraction(2): half})
    Fraction(1, 2)
    """
    return sum((p * q for u, p in law_u.items() for b, q in law_b.items() if u * b > 0), Fraction(0))
