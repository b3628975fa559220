"""Limits and rates as bounds that can be evaluated, inverted and typeset."""

from __future__ import annotations

from typing import Any

from whp.theory.core import Bound, Domain, Symbol

__all__ = ["DISTINCT_LIMIT", "POOLED_CORRELATION", "SPERNER_LIMIT", "TWISTED_CORRELATION"]

_CLASSES = Symbol("K", Domain.integers(1), "number of class variables", "increasing")


def _sperner(m: Any, K: Any) -> Any:
    return m.comb(K, m.floor(K / m.number(2)))


def _distinct(m: Any, K: Any) -> Any:
    return m.number(2) ** K - 1


def _pooled(m: Any, d: Any) -> Any:
    return d * d / (1 + d * d)


def _twisted(m: Any, s: Any) -> Any:
    return m.exp(-s * s / m.number(2))


SPERNER_LIMIT = Bound("most concepts with incomparable rows", _sperner, (_CLASSES,), "concepts")
DISTINCT_LIMIT = Bound("most concepts with distinct non-zero rows", _distinct, (_CLASSES,), "concepts")
POOLED_CORRELATION = Bound(
    "correlation of pooled data without any within a class",
    _pooled,
    (Symbol("d", Domain.reals(0), "distance of both class means from 0 in standard deviations", "increasing"),),
)
TWISTED_CORRELATION = Bound(
    "correlation left by a rotation whose angle is a Gaussian concept",
    _twisted,
    (Symbol("s", Domain.reals(0), "standard deviation of the angle in radians", "decreasing"),),
)
