"""Queries on ``(-1)^{Q(x)}`` and on ``[Q(x) = 0]`` for a quadratic form ``Q`` over GF(2)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from whp.algorithms.marginalization.gauss_sum import gauss_sum
from whp.algorithms.marginalization.oracle import Oracle
from whp.algorithms.marginalization.truth_table import TruthTableOracle
from whp.theory.marginalization import Pattern, QuadraticForm, Query, Scalar, TruthTable, require_table_size

__all__ = [
    "EvenParityOracle",
    "QuadraticFormOracle",
    "hamming_sums_by_enumeration",
    "pm_even_parity",
    "pm_quadratic",
    "quadratic_truth_table",
    "restrict_quadratic",
]


def restrict_quadratic(form: QuadraticForm, q: Pattern | str) -> QuadraticForm:
    """Put the evidence in: a form over the stars of ``q``, in their order.

    Examples
    --------
    >>> restrict_quadratic(QuadraticForm.from_terms(3, [(0, 1), (1, 2)]), "1**").terms
    ((0, 1), (0,))
    """
    pattern = Pattern.of(q)
    if pattern.n != form.n:
        raise ValueError(f"pattern must have length n={form.n}, got {pattern.n} ({pattern.letters!r})")
    stars, ones = list(pattern.stars), list(pattern.ones)
    symmetric_rows = form.quadratic[ones] ^ form.quadratic[:, ones].T  # (ones, n)
    linear = form.linear ^ np.logical_xor.reduce(symmetric_rows, axis=0)
    constant = form.constant + int(form.linear[ones].sum()) + int(form.quadratic[np.ix_(ones, ones)].sum())
    return QuadraticForm(form.quadratic[np.ix_(stars, stars)], linear[stars], constant % 2)


def pm_quadratic(form: QuadraticForm, q: Pattern | str) -> int:
    """``Σ_{x ⊨ q} (-1)^{Q(x)}`` in ``O(n^3 / 64)`` word operations.

    Examples
    --------
    >>> pm_quadratic(QuadraticForm.from_terms(3, [(0, 1), (1, 2), (0, 2)]), "0**")
    2
    """
    return gauss_sum(restrict_quadratic(form, q)).value


def pm_even_parity(form: QuadraticForm, q: Pattern | str) -> int:
    """Number of ``x ⊨ q`` with ``Q(x) = 0``, namely ``(2^{s(q)} + S) / 2``.

    Examples
    --------
    >>> pm_even_parity(QuadraticForm.from_terms(3, [(0, 1), (1, 2), (0, 2)]), "***")
    4
    """
    pattern = Pattern.of(q)
    return ((1 << pattern.s) + pm_quadratic(form, pattern)) // 2


def _phases(form: QuadraticForm) -> NDArray[np.bool_]:
    """``Q(x)`` at all ``2^n`` points, by doubling one variable at a time."""
    require_table_size(form.n)
    n = form.n
    values = np.array([form.constant], dtype=np.bool_)
    for k in range(n - 1, -1, -1):  # values: Q on the variables after k, those before set to 0
        slope = np.array([form.linear[k]], dtype=np.bool_)
        for j in range(n - 1, k, -1):
            slope = np.concatenate([slope, slope ^ form.quadratic[k, j]])
        values = np.concatenate([values, values ^ slope])
    return values


def quadratic_truth_table(form: QuadraticForm) -> TruthTable:
    """Table of ``(-1)^{Q(x)}``, at most 24 variables.

    Examples
    --------
    >>> quadratic_truth_table(QuadraticForm.from_terms(2, [(0, 1)])).values.tolist()
    [1, 1, 1, -1]
    """
    return TruthTable(form.n, 1 - 2 * _phases(form).astype(np.int64))


def hamming_sums_by_enumeration(form: QuadraticForm, q: Pattern | str | None = None) -> tuple[int, ...]:
    """``C_a = Σ_{x ⊨ q, |x|=a} (-1)^{Q(x)}`` for ``a = 0 .. n``, exponential in ``n``; at most 24 variables.

    Examples
    --------
    >>> hamming_sums_by_enumeration(QuadraticForm.from_terms(3, [(0, 1), (1, 2), (0, 2)]))
    (1, 3, -3, -1)
    """
    pattern = Pattern.free(form.n) if q is None else Pattern.of(q)
    sums = TruthTableOracle(quadratic_truth_table(form)).hamming_marginals(pattern)
    return tuple(int(value) for value in sums)


class QuadraticFormOracle(Oracle):
    """``f(x) = (-1)^{Q(x)}``: EV, CNT and PM in polynomial time, nothing beyond.

    HM and VM of such functions would decide maximum cuts (T5), so they are not offered here.

    Parameters
    ----------
    form : QuadraticForm

    Examples
    --------
    >>> oracle = QuadraticFormOracle(QuadraticForm.from_terms(4, [(0, 1), (1, 2), (2, 3)]))
    >>> oracle.count(), oracle.marginal("**1*"), oracle.evaluate((1, 1, 0, 0))
    (4, 0, -1)
    """

    answers = frozenset({Query.EV, Query.CNT, Query.PM})

    def __init__(self, form: QuadraticForm) -> None:
        super().__init__(form.n)
        self.form = form

    @property
    def is_nonnegative(self) -> bool:
        """True only for ``Q = 0``: any other form, and the constant 1, takes the value -1 somewhere."""
        return not (self.form.quadratic.any() or self.form.linear.any() or self.form.constant)

    def _evaluate(self, x: tuple[int, ...]) -> Scalar:
        return 1 - 2 * self.form(x)

    def _count(self) -> Scalar:
        return gauss_sum(self.form).value

    def _marginal(self, q: Pattern) -> Scalar:
        return pm_quadratic(self.form, q)


class EvenParityOracle(Oracle):
    """``b(x) = [Q(x) = 0] = (1 + (-1)^{Q(x)}) / 2``, the Boolean variant: EV, CNT and PM.

    Parameters
    ----------
    form : QuadraticForm

    Examples
    --------
    >>> EvenParityOracle(QuadraticForm.from_terms(2, [(0, 1)])).count()
    3
    """

    answers = frozenset({Query.EV, Query.CNT, Query.PM})

    def __init__(self, form: QuadraticForm) -> None:
        super().__init__(form.n)
        self.form = form

    @property
    def is_nonnegative(self) -> bool:
        """Always true."""
        return True

    def _evaluate(self, x: tuple[int, ...]) -> Scalar:
        return 1 - self.form(x)

    def _count(self) -> Scalar:
        return pm_even_parity(self.form, Pattern.free(self.n))

    def _marginal(self, q: Pattern) -> Scalar:
        return pm_even_parity(self.form, q)
