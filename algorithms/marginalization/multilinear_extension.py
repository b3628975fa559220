"""Queries from values of one polynomial: the hierarchy as points, lines and everywhere (T2), conversions (T3)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TypeAlias

from whp.algorithms.marginalization.interpolation import interpolate, interpolate_at_zero
from whp.theory.marginalization import Pattern, Scalar, Weights

__all__ = [
    "Polynomial",
    "hm_from_multilinear",
    "pm_from_multilinear",
    "ve_from_fourier",
    "ve_from_generating",
    "ve_from_multilinear",
]

Polynomial: TypeAlias = Callable[[Sequence[Scalar]], Scalar]
"""A polynomial as a function of one point."""


def pm_from_multilinear(p: Polynomial, q: Pattern | str) -> Scalar:
    """``Σ_{x ⊨ q} f(x) = 2^{s(q)} p(u)``, ``u_i = 1/2`` at stars and ``u_i = q_i`` elsewhere; one evaluation.

    Parameters
    ----------
    p : callable
        The multilinear extension of ``f``. A polynomial that merely agrees with ``f`` on the cube will not do.
    q : Pattern or str

    Examples
    --------
    >>> pm_from_multilinear(lambda u: 2 + 3 * u[0], "*")  # f(0) + f(1) = 2 + 5
    Fraction(7, 1)
    """
    pattern = Pattern.of(q)
    half = Fraction(1, 2)
    scale: int = 2**pattern.s
    return scale * p([half if letter == "*" else int(letter) for letter in pattern.letters])


def hm_from_multilinear(p: Polynomial, q: Pattern | str) -> tuple[Scalar, ...]:
    """All HM answers from values of ``p`` along the line ``u_i = t/(1+t)`` at the stars; ``s(q) + 1`` evaluations.

    ``Σ_k HM(q, k) t^k = t^m (1+t)^{s(q)} p(u(t))`` with ``m`` ones in the evidence.

    Examples
    --------
    >>> [int(v) for v in hm_from_multilinear(lambda u: 2 + 3 * u[0], "*")]
    [2, 5]
    """
    pattern = Pattern.of(q)
    nodes = range(pattern.s + 1)
    values = []
    for t in nodes:
        value = p([Fraction(t, 1 + t) if letter == "*" else int(letter) for letter in pattern.letters])
        values.append((1 + t) ** pattern.s * value)
    core = interpolate(nodes, values)
    m = len(pattern.ones)
    return (0,) * m + core + (0,) * (pattern.n - m - pattern.s)


def _with_nonzero_divisors(
    weights: Weights, divisors: Sequence[Scalar], value_at: Callable[[Scalar], Scalar]
) -> Scalar:
    """``value_at(0)``, where ``value_at(ε)`` adds ``ε`` to every vanishing divisor and is a polynomial in ``ε``.

    The degree is at most the number ``z`` of vanishing divisors, so ``z + 1`` evaluations at ``ε != 0`` give the value
    at 0 exactly, where a direct formula would divide by 0 (and taking differences would cost ``2^z`` evaluations).
    """
    vanishing = sum(divisor == 0 for divisor in divisors)
    if vanishing == 0:
        return value_at(0)
    if not weights.is_exact:
        raise TypeError(
            f"weights must be int or Fraction where a divisor vanishes ({vanishing} do here), got floats among them"
        )
    nodes = range(1, vanishing + 2)
    return interpolate_at_zero(nodes, [value_at(epsilon) for epsilon in nodes])


def _quotient(a: Scalar, b: Scalar) -> Scalar:
    return a / b if isinstance(a, float) or isinstance(b, float) else Fraction(a) / Fraction(b)


def ve_from_multilinear(p: Polynomial, weights: Weights) -> Scalar:
    """``N(w, w̄) = Π (w_i + w̄_i) · p(w_1/(w_1+w̄_1), …)``, also where some ``w_i + w̄_i = 0``.

    One evaluation of ``p`` if no sum vanishes, else ``z + 1`` for ``z`` vanishing sums.

    Parameters
    ----------
    p : callable
        The multilinear extension of ``f``.
    weights : Weights
        Exact where a sum vanishes.

    Examples
    --------
    >>> ve_from_multilinear(lambda u: 2 + 3 * u[0], Weights(((5, 7),)))  # 2 * 7 + 5 * 5
    Fraction(39, 1)
    >>> ve_from_multilinear(lambda u: 2 + 3 * u[0], Weights(((1, -1),)))
    Fraction(3, 1)
    """
    sums = [w + w_bar for w, w_bar in weights.pairs]

    def value_at(epsilon: Scalar) -> Scalar:
        product: Scalar = 1
        point = []
        for (w, _), total in zip(weights.pairs, sums, strict=True):
            divisor = epsilon if total == 0 else total
            product = product * divisor
            point.append(_quotient(w, divisor))
        return product * p(point)

    return _with_nonzero_divisors(weights, sums, value_at)


def ve_from_generating(g: Polynomial, weights: Weights) -> Scalar:
    """``N(w, w̄) = Π w̄_i · g(w_1/w̄_1, …)``, also where some ``w̄_i = 0``.

    One evaluation of ``g`` if no ``w̄_i`` vanishes, else ``z + 1`` for ``z`` vanishing ones. Binary variables only:
    with three or more values encoded as powers of one variable there is no such formula.

    Examples
    --------
    >>> ve_from_generating(lambda z: 2 + 5 * z[0], Weights(((5, 7),)))
    Fraction(39, 1)
    """
    bars = [w_bar for _, w_bar in weights.pairs]

    def value_at(epsilon: Scalar) -> Scalar:
        product: Scalar = 1
        point = []
        for w, w_bar in weights.pairs:
            divisor = epsilon if w_bar == 0 else w_bar
            product = product * divisor
            point.append(_quotient(w, divisor))
        return product * g(point)

    return _with_nonzero_divisors(weights, bars, value_at)


def ve_from_fourier(fourier: Polynomial, weights: Weights) -> Scalar:
    """``N(w, w̄)`` from the Fourier polynomial, through ``p(x) = F(1 - 2x)``.

    Examples
    --------
    >>> ve_from_fourier(lambda s: 3 - s[0], Weights(((5, 7),)))  # f = (2, 4)
    Fraction(34, 1)
    """
    return ve_from_multilinear(lambda x: fourier([1 - 2 * value for value in x]), weights)
