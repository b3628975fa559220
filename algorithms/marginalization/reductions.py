"""The inclusion chain as programs: weaker queries answered by an oracle for stronger ones (T1).

Each reduction asks the oracle queries of one type only, as often as its docstring says; ``oracle.calls`` shows it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

from whp.algorithms.marginalization.interpolation import interpolate, require_distinct_nodes
from whp.algorithms.marginalization.oracle import Oracle, ZeroWeightError
from whp.theory.marginalization import Pattern, Scalar, Weights, as_assignment

__all__ = [
    "conditional_marginal",
    "count_from_pm",
    "ev_from_pm",
    "hm_from_vm",
    "hm_from_vm_on_stars",
    "pm_from_hm",
    "pm_from_vm",
]


def _pattern(oracle: Oracle, q: Pattern | str) -> Pattern:
    pattern = Pattern.of(q)
    if pattern.n != oracle.n:
        raise ValueError(f"pattern must have length n={oracle.n}, got {pattern.n} ({pattern.letters!r})")
    return pattern


def ev_from_pm(oracle: Oracle, x: Iterable[int]) -> Scalar:
    """``f(x)`` by one PM query without stars.

    Examples
    --------
    >>> from whp.algorithms.marginalization import TruthTableOracle
    >>> from whp.theory.marginalization import TruthTable
    >>> ev_from_pm(TruthTableOracle(TruthTable(1, [2, 3])), (1,))
    3
    """
    return oracle.marginal(Pattern.of(as_assignment(x, oracle.n)))


def count_from_pm(oracle: Oracle) -> Scalar:
    """``Σ_x f(x)`` by one PM query with stars only."""
    return oracle.marginal(Pattern.free(oracle.n))


def pm_from_vm(oracle: Oracle, q: Pattern | str) -> Scalar:
    """Answer PM by one VM query: weights ``(1,1)`` at stars, ``(1,0)`` at evidence 1, ``(0,1)`` at evidence 0.

    Examples
    --------
    >>> from whp.algorithms.marginalization import TruthTableOracle
    >>> from whp.theory.marginalization import TruthTable
    >>> oracle = TruthTableOracle(TruthTable(2, [1, 2, 3, 4]))
    >>> pm_from_vm(oracle, "1*"), sum(oracle.calls.values())
    (7, 1)
    """
    return oracle.virtual_evidence(Weights.selecting(_pattern(oracle, q)))


def pm_from_hm(oracle: Oracle, q: Pattern | str) -> Scalar:
    """Answer PM by ``n + 1`` HM queries, summed over ``k``.

    Examples
    --------
    >>> from whp.algorithms.marginalization import TruthTableOracle
    >>> from whp.theory.marginalization import TruthTable
    >>> oracle = TruthTableOracle(TruthTable(2, [1, 2, 3, 4]))
    >>> pm_from_hm(oracle, "1*"), sum(oracle.calls.values())
    (7, 3)
    """
    pattern = _pattern(oracle, q)
    return sum((oracle.hamming_marginal(pattern, k) for k in range(oracle.n + 1)), 0)


def _on_line(oracle: Oracle, pattern: Pattern, t: Scalar) -> Scalar:
    """``N`` with weights ``(t,1)`` at stars, ``(t,0)`` at evidence 1 and ``(0,1)`` at evidence 0."""
    table: dict[str, tuple[Scalar, Scalar]] = {"*": (t, 1), "1": (t, 0), "0": (0, 1)}
    return oracle.virtual_evidence(Weights(tuple(table[letter] for letter in pattern.letters)))


def _reduced(values: Sequence[Fraction]) -> tuple[Scalar, ...]:
    return tuple(value.numerator if value.denominator == 1 else value for value in values)


def hm_from_vm(oracle: Oracle, q: Pattern | str, nodes: Sequence[Scalar] | None = None) -> tuple[Scalar, ...]:
    """All HM answers for ``q``, ``k = 0 .. n``, by ``n + 1`` VM queries and exact interpolation.

    Parameters
    ----------
    oracle : Oracle
        Answers VM with integers or fractions.
    q : Pattern or str
    nodes : sequence of int or Fraction, optional
        ``n + 1`` distinct values of ``t``; ``0 .. n`` by default.

    Returns
    -------
    tuple of Scalar, length n + 1

    Raises
    ------
    ValueError
        If nodes are repeated or not ``n + 1`` in number.
    TypeError
        If the oracle answers in floats, whose rounding the interpolation would amplify.

    Examples
    --------
    >>> from whp.algorithms.marginalization import TruthTableOracle
    >>> from whp.theory.marginalization import TruthTable
    >>> hm_from_vm(TruthTableOracle(TruthTable(2, [1, 2, 3, 4])), "**")
    (1, 5, 4)
    """
    pattern = _pattern(oracle, q)
    points = range(oracle.n + 1) if nodes is None else nodes
    if len(points) != oracle.n + 1:
        raise ValueError(f"nodes must be n+1 = {oracle.n + 1} in number, got {len(points)}")
    require_distinct_nodes(points)
    return _reduced(interpolate(points, [_on_line(oracle, pattern, t) for t in points]))


def hm_from_vm_on_stars(oracle: Oracle, q: Pattern | str, nodes: Sequence[Scalar] | None = None) -> tuple[Scalar, ...]:
    """All HM answers for ``q`` by only ``s(q) + 1`` VM queries.

    With ``m`` ones in the evidence every weight is at least ``m``, so ``N(t)/t^m`` has degree at most ``s(q)``.

    Parameters
    ----------
    oracle : Oracle
    q : Pattern or str
    nodes : sequence of int or Fraction, optional
        ``s(q) + 1`` distinct nonzero values of ``t``; ``1 .. s(q) + 1`` by default.

    Returns
    -------
    tuple of Scalar, length n + 1

    Raises
    ------
    ValueError
        If a node is 0 or repeated, or the nodes are not ``s(q) + 1`` in number.

    Examples
    --------
    >>> from whp.algorithms.marginalization import TruthTableOracle
    >>> from whp.theory.marginalization import TruthTable
    >>> oracle = TruthTableOracle(TruthTable(2, [1, 2, 3, 4]))
    >>> hm_from_vm_on_stars(oracle, "1*"), sum(oracle.calls.values())
    ((0, 3, 4), 2)
    """
    pattern = _pattern(oracle, q)
    points = range(1, pattern.s + 2) if nodes is None else nodes
    if len(points) != pattern.s + 1:
        raise ValueError(f"nodes must be s(q)+1 = {pattern.s + 1} in number, got {len(points)}")
    if any(t == 0 for t in points):
        raise ValueError("nodes must be nonzero (the values are divided by t^m), got 0")
    require_distinct_nodes(points)
    m = len(pattern.ones)
    values = [_on_line(oracle, pattern, t) for t in points]
    divided = [
        v if isinstance(v, float) else Fraction(v) / Fraction(t) ** m for v, t in zip(values, points, strict=True)
    ]
    core = _reduced(interpolate(points, divided))
    return (0,) * m + core + (0,) * (oracle.n + 1 - m - len(core))


def conditional_marginal(oracle: Oracle, query: Pattern | str, evidence: Pattern | str) -> Scalar:
    """``PM(query and evidence) / PM(evidence)`` by two PM queries (one where they contradict one another).

    Raises
    ------
    ZeroWeightError
        If the evidence has total weight 0.

    Examples
    --------
    >>> from whp.algorithms.marginalization import TruthTableOracle
    >>> from whp.theory.marginalization import TruthTable
    >>> conditional_marginal(TruthTableOracle(TruthTable(2, [1, 2, 3, 4])), "*1", "1*")
    Fraction(4, 7)
    """
    asked, given = _pattern(oracle, query), _pattern(oracle, evidence)
    weight = oracle.marginal(given)
    if weight == 0:
        raise ZeroWeightError(f"evidence {given.letters!r} has total weight 0, nothing can be conditioned on it")
    both = asked.merged(given)
    joint: Scalar = 0 if both is None else oracle.marginal(both)
    if isinstance(joint, float) or isinstance(weight, float):
        return float(joint) / float(weight)
    return Fraction(joint) / Fraction(weight)
