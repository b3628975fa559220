"""Oracles that answer from the definitions and count what they are asked: the other side of every reduction."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from whp.theory.marginalization import (
    CutWitness,
    Pattern,
    Query,
    Scalar,
    TruthTable,
    Weights,
    hamming_marginal,
    marginal,
    network_polynomial,
    total,
    witness_hamming_polynomial,
    witness_network_polynomial,
)


class CountingOracle:
    """Answers queries by the given functions and counts them where a subject cannot reach.

    ``calls`` is a fresh copy each time, the functions and the count are held in a closure, and attributes cannot be
    set: a subject that clears the count or looks for the function behind the oracle finds neither.
    """

    __slots__ = ("_ask", "_tally", "answers", "is_nonnegative", "n")
    n: int
    answers: frozenset[Query]
    is_nonnegative: bool | None
    _ask: Callable[..., Scalar]
    _tally: Callable[[], Counter[Query]]

    def __init__(self, n: int, is_nonnegative: bool | None, functions: Mapping[Query, Callable[..., Scalar]]) -> None:
        calls: Counter[Query] = Counter()

        def ask(query: Query, *arguments: Any) -> Scalar:
            calls[query] += 1
            return functions[query](*arguments)

        values = (ask, lambda: Counter(calls), frozenset(functions), is_nonnegative, n)
        for name, value in zip(CountingOracle.__slots__, values, strict=True):
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: object) -> None:
        """Refuse every change."""
        raise AttributeError(f"an oracle under test cannot be changed, got a new {name}")

    @property
    def calls(self) -> Counter[Query]:
        """Queries asked so far, by type."""
        return self._tally()

    def evaluate(self, x: Any) -> Scalar:
        """EV."""
        return self._ask(Query.EV, x)

    def count(self) -> Scalar:
        """CNT."""
        return self._ask(Query.CNT)

    def marginal(self, q: Pattern | str) -> Scalar:
        """PM."""
        return self._ask(Query.PM, Pattern.of(q))

    def hamming_marginal(self, q: Pattern | str, k: int) -> Scalar:
        """HM."""
        return self._ask(Query.HM, Pattern.of(q), k)

    def hamming_marginals(self, q: Pattern | str) -> tuple[Scalar, ...]:
        """HM for every weight, counted as so many queries."""
        return tuple(self.hamming_marginal(q, k) for k in range(self.n + 1))

    def virtual_evidence(self, weights: Weights) -> Scalar:
        """VM."""
        return self._ask(Query.VM, weights)


class BruteForceOracle(CountingOracle):
    """Answers every query about a table by its defining sum."""

    __slots__ = ()

    def __init__(self, table: TruthTable) -> None:
        functions: dict[Query, Callable[..., Scalar]] = {
            Query.EV: lambda x: table(*x),
            Query.CNT: lambda: total(table),
            Query.PM: lambda q: marginal(table, q),
            Query.HM: lambda q, k: hamming_marginal(table, q, k),
            Query.VM: lambda weights: network_polynomial(table, weights),
        }
        super().__init__(table.n, table.is_nonnegative, functions)


class WitnessOracle(CountingOracle):
    """Answers HM and VM on the edge-parity witness, its ``y`` summed in closed form."""

    __slots__ = ()

    def __init__(self, witness: CutWitness) -> None:
        @lru_cache(maxsize=2)
        def slices(q: Pattern) -> tuple[int, ...]:
            return witness_hamming_polynomial(witness, q)

        functions: dict[Query, Callable[..., Scalar]] = {
            Query.HM: lambda q, k: slices(q)[k] if 0 <= k <= witness.n else 0,
            Query.VM: lambda weights: witness_network_polynomial(witness, weights),
        }
        super().__init__(witness.n, None, functions)


def refuses(subject: Callable[..., Any], *arguments: Any, error: type[Exception] = ValueError) -> bool:
    """Whether the subject raises the given kind of error on these arguments."""
    try:
        subject(*arguments)
    except Exception as raised:
        return isinstance(raised.__cause__ or raised, error)
    return False
