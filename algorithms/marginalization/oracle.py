"""Oracles: objects that answer some of the five query types and count how often they were asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

from whp.theory.foundations.argument_checks import whole_number
from whp.theory.marginalization import Pattern, Query, Scalar, Weights, as_assignment, as_scalar

__all__ = ["FunctionOracle", "Oracle", "UnsupportedQueryError", "ZeroWeightError"]


class UnsupportedQueryError(TypeError):
    """The oracle does not answer queries of this type."""


class ZeroWeightError(ValueError):
    """The evidence, or the whole function, has total weight 0: nothing can be conditioned on it or drawn from it."""


class Oracle:
    """A function ``f : {0,1}^n -> Q`` that can only be seen through queries.

    Subclasses set ``answers`` and override the hooks ``_evaluate``, ``_count``, ``_marginal``, ``_hamming_marginal``,
    ``_hamming_marginals``, ``_virtual_evidence`` of the query types they answer. The public methods check the query,
    count it in ``calls`` and hand it to the hook.

    Attributes
    ----------
    n : int
        Number of variables.
    answers : frozenset of Query
        Query types answered.
    calls : Counter
        Queries asked so far, by type.
    """

    answers: frozenset[Query] = frozenset()

    def __init__(self, n: int) -> None:
        self.n = whole_number(n, "n", 0)
        self.calls: Counter[Query] = Counter()

    @property
    def is_nonnegative(self) -> bool | None:
        """Whether ``f(x) >= 0`` everywhere; None where the oracle cannot tell."""
        return None

    def evaluate(self, x: Iterable[int]) -> Scalar:
        """EV: the value ``f(x)``.

        Parameters
        ----------
        x : iterable of int, length n
            Zeros and ones.
        """
        point = as_assignment(x, self.n)
        self._register(Query.EV)
        return self._evaluate(point)

    def count(self) -> Scalar:
        """CNT: ``Σ_x f(x)``, without evidence."""
        self._register(Query.CNT)
        return self._count()

    def marginal(self, q: Pattern | str) -> Scalar:
        """PM: ``Σ_{x ⊨ q} f(x)``.

        Parameters
        ----------
        q : Pattern or str, length n
            Letters ``0``, ``1`` and ``*``.
        """
        pattern = self._checked_pattern(q)
        self._register(Query.PM)
        return self._marginal(pattern)

    def hamming_marginal(self, q: Pattern | str, k: int) -> Scalar:
        """HM: ``Σ_{x ⊨ q, |x| = k} f(x)``; evidence ones count towards ``|x|``.

        The sum is 0 unless ``0 <= k <= n``.

        Parameters
        ----------
        q : Pattern or str, length n
        k : int
            Hamming weight.
        """
        pattern, weight = self._checked_pattern(q), whole_number(k, "k")
        self._register(Query.HM)
        return self._hamming_marginal(pattern, weight) if 0 <= weight <= self.n else 0

    def hamming_marginals(self, q: Pattern | str) -> tuple[Scalar, ...]:
        """Answer HM for ``k = 0 .. n``, counted as ``n + 1`` queries."""
        pattern = self._checked_pattern(q)
        self._register(Query.HM, self.n + 1)
        return self._hamming_marginals(pattern)

    def virtual_evidence(self, weights: Weights) -> Scalar:
        """VM: the network polynomial ``N(w, w̄)``.

        Parameters
        ----------
        weights : Weights
            One pair ``(w_i, w̄_i)`` per variable.
        """
        if not isinstance(weights, Weights):
            raise TypeError(f"weights must be a Weights object, got {type(weights).__name__}")
        if weights.n != self.n:
            raise ValueError(f"weights must have one pair per variable, n={self.n}, got {weights.n}")
        self._register(Query.VM)
        return self._virtual_evidence(weights)

    def _register(self, query: Query, times: int = 1) -> None:
        if query not in self.answers:
            able = ", ".join(sorted(kind.name for kind in self.answers)) or "nothing"
            raise UnsupportedQueryError(f"{type(self).__name__} does not answer {query.name} queries, only {able}")
        self.calls[query] += times

    def _checked_pattern(self, q: Pattern | str) -> Pattern:
        pattern = Pattern.of(q)
        if pattern.n != self.n:
            raise ValueError(f"pattern must have length n={self.n}, got {pattern.n} ({pattern.letters!r})")
        return pattern

    def _evaluate(self, x: tuple[int, ...]) -> Scalar:
        raise NotImplementedError

    def _count(self) -> Scalar:
        raise NotImplementedError

    def _marginal(self, q: Pattern) -> Scalar:
        raise NotImplementedError

    def _hamming_marginal(self, q: Pattern, k: int) -> Scalar:
        return self._hamming_marginals(q)[k]

    def _hamming_marginals(self, q: Pattern) -> tuple[Scalar, ...]:
        return tuple(self._hamming_marginal(q, k) for k in range(self.n + 1))

    def _virtual_evidence(self, weights: Weights) -> Scalar:
        raise NotImplementedError


class FunctionOracle(Oracle):
    """Oracle made of plain functions, one per query type answered.

    Parameters
    ----------
    n : int
        Number of variables.
    evaluate, count, marginal, hamming_marginal, virtual_evidence : callable, optional
        Take a tuple of bits; nothing; a `Pattern`; a `Pattern` and an int; a `Weights` object. What is left out is
        not answered. Answers must be finite real numbers.

    Examples
    --------
    >>> product = FunctionOracle(2, virtual_evidence=lambda w: w.of_assignment((1, 1)))
    >>> product.virtual_evidence(Weights.of([2, 3]))
    6
    >>> product.marginal("**")
    Traceback (most recent call last):
    ...
    whp.algorithms.marginalization.oracle.UnsupportedQueryError: FunctionOracle does not answer PM queries, only VM
    """

    def __init__(
        self,
        n: int,
        *,
        evaluate: Callable[[tuple[int, ...]], Scalar] | None = None,
        count: Callable[[], Scalar] | None = None,
        marginal: Callable[[Pattern], Scalar] | None = None,
        hamming_marginal: Callable[[Pattern, int], Scalar] | None = None,
        virtual_evidence: Callable[[Weights], Scalar] | None = None,
    ) -> None:
        super().__init__(n)
        hooks = {
            Query.EV: ("_evaluate", evaluate),
            Query.CNT: ("_count", count),
            Query.PM: ("_marginal", marginal),
            Query.HM: ("_hamming_marginal", hamming_marginal),
            Query.VM: ("_virtual_evidence", virtual_evidence),
        }
        self.answers = frozenset(query for query, (_, function) in hooks.items() if function is not None)
        for query, (name, function) in hooks.items():
            if function is not None:
                setattr(self, name, _read_answers(query, function))


def _read_answers(query: Query, function: Callable[..., Scalar]) -> Callable[..., Scalar]:
    """The function with its answers read as exact numbers or finite floats (numpy's integers would overflow)."""
    if not callable(function):
        raise TypeError(f"the answer to {query.name} must be a function, got {function!r}")
    return lambda *asked: as_scalar(function(*asked), f"the answer to {query.name}")
