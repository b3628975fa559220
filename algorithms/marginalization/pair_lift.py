"""The pair lift: Hamming-weight queries answered by plain marginals (T6)."""

from __future__ import annotations

from whp.algorithms.marginalization.oracle import Oracle
from whp.theory.marginalization import Pattern, Query, Scalar, Weights

__all__ = ["PairLiftOracle"]


class PairLiftOracle(Oracle):
    """``g(x, y) = f(x) [y_i = 1 - x_i for all i]`` over ``2n`` variables, ``x`` first.

    Every point of the support has weight exactly ``n``. So an HM query with ``k = n`` is one PM query of ``f`` (none
    where the evidence on ``x_i`` and ``y_i`` clashes) and every other ``k`` gives 0; a VM query is one VM query of
    ``f``, answered only where the base answers VM.

    Parameters
    ----------
    base : Oracle
        Oracle for ``f``; its own ``calls`` keep counting.

    Examples
    --------
    >>> from whp.algorithms.marginalization import TruthTableOracle
    >>> from whp.theory.marginalization import TruthTable
    >>> base = TruthTableOracle(TruthTable(2, [1, 2, 3, 4]))
    >>> PairLiftOracle(base).hamming_marginal("1*" + "**", 2), base.calls[Query.PM]
    (7, 1)
    """

    def __init__(self, base: Oracle) -> None:
        super().__init__(2 * base.n)
        self.base = base
        able = set(base.answers & {Query.EV, Query.CNT, Query.PM, Query.VM})
        if Query.PM in base.answers:
            able.add(Query.HM)
        self.answers = frozenset(able)

    @property
    def is_nonnegative(self) -> bool | None:
        """As the base."""
        return self.base.is_nonnegative

    def _evaluate(self, x: tuple[int, ...]) -> Scalar:
        first, second = x[: self.base.n], x[self.base.n :]
        if any(a == b for a, b in zip(first, second, strict=True)):
            return 0
        return self.base.evaluate(first)

    def _count(self) -> Scalar:
        return self.base.count()

    def _marginal(self, q: Pattern) -> Scalar:
        merged = self._merged(q)
        return 0 if merged is None else self.base.marginal(merged)

    def _hamming_marginal(self, q: Pattern, k: int) -> Scalar:
        return self._marginal(q) if k == self.base.n else 0

    def _virtual_evidence(self, weights: Weights) -> Scalar:
        n = self.base.n
        pairs = zip(weights.pairs[:n], weights.pairs[n:], strict=True)
        return self.base.virtual_evidence(Weights(tuple((w * v_bar, w_bar * v) for (w, w_bar), (v, v_bar) in pairs)))

    def _merged(self, q: Pattern) -> Pattern | None:
        """Evidence on ``x_i`` and, complemented, on ``y_i``; None where they clash."""
        complement = q.letters[self.base.n :].translate(str.maketrans("01", "10"))
        return Pattern(q.letters[: self.base.n]).merged(Pattern(complement))
