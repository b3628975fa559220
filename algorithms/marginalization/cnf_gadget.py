"""A function whose full count is free and whose plain marginal counts models (T6b)."""

from __future__ import annotations

from whp.algorithms.marginalization.oracle import Oracle
from whp.theory.marginalization import CNF, Pattern, Query, Scalar, TruthTable, formula_with_complement

__all__ = ["FormulaOracle", "formula_truth_table", "model_count_from_pm"]


class FormulaOracle(Oracle):
    """``f(x, s) = φ(x)`` if ``s = 0``, ``1 - φ(x)`` if ``s = 1``: EV and CNT in polynomial time, PM is #SAT.

    Parameters
    ----------
    phi : CNF

    Examples
    --------
    >>> oracle = FormulaOracle(CNF(3, ((1, 2), (-1, 3))))
    >>> oracle.count(), oracle.evaluate((0, 1, 0, 0))
    (8, 1)
    """

    answers = frozenset({Query.EV, Query.CNT})

    def __init__(self, phi: CNF) -> None:
        super().__init__(phi.n + 1)
        self.phi = phi

    @property
    def is_nonnegative(self) -> bool:
        """Always true."""
        return True

    def _evaluate(self, x: tuple[int, ...]) -> Scalar:
        return formula_with_complement(self.phi, x)

    def _count(self) -> Scalar:
        return 1 << self.phi.n


def formula_truth_table(phi: CNF) -> TruthTable:
    """Table of `FormulaOracle`'s function, for at most 23 formula variables.

    Examples
    --------
    >>> formula_truth_table(CNF(1, ((1,),))).values.tolist()
    [0, 1, 1, 0]
    """
    return TruthTable.from_function(phi.n + 1, lambda point: formula_with_complement(phi, point))


def model_count_from_pm(oracle: Oracle) -> Scalar:
    """Number of models of ``φ`` by one PM query, ``s = 0``, on the function of `FormulaOracle`.

    Examples
    --------
    >>> from whp.algorithms.marginalization import TruthTableOracle
    >>> model_count_from_pm(TruthTableOracle(formula_truth_table(CNF(3, ((1, 2), (-1, 3))))))
    4
    """
    return oracle.marginal(Pattern("*" * (oracle.n - 1) + "0"))
