"""Oracles that answer from the definitions and count what they are asked: the other side of every reduction."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
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
    hamming_marginals,
    marginal,
    network_polynomial,
    total,
    witness_hamming_polynomial,
    witness_network_polynomial,
)


class BruteForceOracle:
    """Answers every query about a table by its defining sum."""

    def __init__(self, table: TruthTable) -> None:
        self.n = table.n
        self.table = table
        self.answers = frozenset(Query)
        self.calls: Counter[Query] = Counter()

    @property
    def is_nonnegative(self) -> bool:
        """Whether the table is."""
        return self.table.is_nonnegative

    def evaluate(self, x: Any) -> Scalar:
        """EV."""
        self.calls[Query.EV] += 1
        return self.table(*x)

    def count(self) -> Scalar:
        """CNT."""
        self.calls[Query.CNT] += 1
        return total(self.table)

    def marginal(self, q: Pattern | str) -> Scalar:
        """PM."""
        self.calls[Query.PM] += 1
        return marginal(self.table, Pattern.of(q))

    def hamming_marginal(self, q: Pattern | str, k: int) -> Scalar:
        """HM."""
        self.calls[Query.HM] += 1
        return hamming_marginal(self.table, Pattern.of(q), k)

    def hamming_marginals(self, q: Pattern | str) -> tuple[Scalar, ...]:
        """HM for every weight."""
        self.calls[Query.HM] += self.n + 1
        return hamming_marginals(self.table, Pattern.of(q))

    def virtual_evidence(self, weights: Weights) -> Scalar:
        """VM."""
        self.calls[Query.VM] += 1
        return network_polynomial(self.table, weights)


class WitnessOracle:
    """Answers HM and VM on the edge-parity witness, its ``y`` summed in closed form."""

    def __init__(self, witness: CutWitness) -> None:
        self.n = witness.n
        self.witness = witness
        self.answers = frozenset({Query.HM, Query.VM})
        self.calls: Counter[Query] = Counter()
        self._polynomial: Callable[[Pattern], tuple[int, ...]] = lru_cache(maxsize=2)(
            lambda q: witness_hamming_polynomial(witness, q)
        )

    def hamming_marginal(self, q: Pattern | str, k: int) -> Scalar:
        """HM."""
        self.calls[Query.HM] += 1
        return self._polynomial(Pattern.of(q))[k] if 0 <= k <= self.n else 0

    def virtual_evidence(self, weights: Weights) -> Scalar:
        """VM."""
        self.calls[Query.VM] += 1
        return witness_network_polynomial(self.witness, weights)


def refuses(subject: Callable[..., Any], *arguments: Any, error: type[Exception] = ValueError) -> bool:
    """Whether the subject raises the given kind of error on these arguments."""
    try:
        subject(*arguments)
    except Exception as raised:
        return isinstance(raised.__cause__ or raised, error)
    return False
