"""The 0/1-valued and the normalised variants of a ±1-valued function, at one query for one (T5)."""

from __future__ import annotations

import math
from fractions import Fraction

from whp.algorithms.marginalization.oracle import Oracle
from whp.theory.marginalization import Pattern, Scalar, Weights, as_scalar

__all__ = ["BooleanVariantOracle", "SignedVariantOracle"]


def _ones(q: Pattern, k: int) -> int:
    """``Σ_{x ⊨ q, |x|=k} 1``."""
    rest = k - len(q.ones)
    return math.comb(q.s, rest) if rest >= 0 else 0


def _weight_of_everything(weights: Weights) -> Scalar:
    """``Π (w_i + w̄_i)``, the network polynomial of the constant 1."""
    product: Scalar = 1
    for w, w_bar in weights.pairs:
        product = product * (w + w_bar)
    return product


def _half(points: int, signed: Scalar) -> Scalar:
    """``(points + signed) / 2``, where ``signed`` is a sum of so many signs."""
    if not -points <= signed <= points:
        raise ValueError(f"base must take the values 1 and -1 only, but {points} values add to {signed}")
    return _halved(points + signed)


def _halved(value: Scalar) -> Scalar:
    if isinstance(value, float):
        return value / 2
    halved = Fraction(value) / 2
    return halved.numerator if halved.denominator == 1 else halved


class BooleanVariantOracle(Oracle):
    """``b = (1 + f)/2`` for an oracle of a function ``f`` with values ±1; each query is one query of the base.

    Parameters
    ----------
    base : Oracle
        Oracle for ``f``.

    Examples
    --------
    >>> from whp.algorithms.marginalization import CutWitnessOracle
    >>> from whp.theory.marginalization import CutWitness
    >>> BooleanVariantOracle(CutWitnessOracle(CutWitness(2, 1))).hamming_marginals("***")
    (1, 3, 1, 1)
    """

    def __init__(self, base: Oracle) -> None:
        super().__init__(base.n)
        self.base = base
        self.answers = base.answers

    @property
    def is_nonnegative(self) -> bool:
        """Always true."""
        return True

    def _evaluate(self, x: tuple[int, ...]) -> Scalar:
        return _half(1, self.base.evaluate(x))

    def _count(self) -> Scalar:
        return _half(2**self.n, self.base.count())

    def _marginal(self, q: Pattern) -> Scalar:
        return _half(2**q.s, self.base.marginal(q))

    def _hamming_marginal(self, q: Pattern, k: int) -> Scalar:
        return _half(_ones(q, k), self.base.hamming_marginal(q, k))

    def _virtual_evidence(self, weights: Weights) -> Scalar:
        return _halved(_weight_of_everything(weights) + self.base.virtual_evidence(weights))


class SignedVariantOracle(Oracle):
    """``f = 2 Z b - 1`` from an oracle of ``b / Z``: the way back, for Boolean functions and distributions alike.

    So whatever HM or VM on ``f`` would solve, HM or VM on the 0/1-valued ``b``, or on the uniform distribution over its
    ones, solves as well.

    Parameters
    ----------
    base : Oracle
        Oracle for ``b`` (normaliser 1) or for the distribution ``b / Z``.
    normaliser : int or Fraction
        ``Z``.

    Examples
    --------
    >>> from whp.algorithms.marginalization import CutWitnessOracle
    >>> from whp.theory.marginalization import CutWitness
    >>> boolean = BooleanVariantOracle(CutWitnessOracle(CutWitness(2, 1)))
    >>> SignedVariantOracle(boolean).hamming_marginals("***")
    (1, 3, -1, 1)
    """

    def __init__(self, base: Oracle, normaliser: Scalar = 1) -> None:
        super().__init__(base.n)
        normaliser = as_scalar(normaliser, "normaliser")
        if normaliser <= 0:
            raise ValueError(f"normaliser must be positive, got {normaliser}")
        self.base = base
        self.normaliser = normaliser
        self.answers = base.answers

    def _scaled(self, value: Scalar, everything: Scalar) -> Scalar:
        result = 2 * self.normaliser * value - everything
        return result.numerator if isinstance(result, Fraction) and result.denominator == 1 else result

    def _evaluate(self, x: tuple[int, ...]) -> Scalar:
        return self._scaled(self.base.evaluate(x), 1)

    def _count(self) -> Scalar:
        return self._scaled(self.base.count(), 2**self.n)

    def _marginal(self, q: Pattern) -> Scalar:
        return self._scaled(self.base.marginal(q), 2**q.s)

    def _hamming_marginal(self, q: Pattern, k: int) -> Scalar:
        return self._scaled(self.base.hamming_marginal(q, k), _ones(q, k))

    def _virtual_evidence(self, weights: Weights) -> Scalar:
        return self._scaled(self.base.virtual_evidence(weights), _weight_of_everything(weights))
