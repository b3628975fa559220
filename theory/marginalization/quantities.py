"""The quantities of the setting, by their defining sums: marginals, the four polynomials, Gauss sums, minors.

Everything here is a direct transcription of a definition, exponential in ``n`` and exact on exact input: the ground
truth against which algorithms are judged.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction

from whp.theory.foundations.argument_checks import whole_number
from whp.theory.marginalization.functions import DPPKernel, QuadraticForm, TruthTable
from whp.theory.marginalization.queries import Pattern, Scalar, Weights, as_assignment, as_scalar

__all__ = [
    "determinant",
    "fourier_polynomial",
    "gauss_sum_by_definition",
    "generating_polynomial",
    "hamming_congruence",
    "hamming_marginal",
    "hamming_marginals",
    "marginal",
    "multilinear_extension",
    "network_polynomial",
    "principal_minor",
    "total",
]


def _require_length(name: str, length: int, n: int) -> None:
    if length != n:
        raise ValueError(f"{name} must have length n={n}, got {length}")


def _finite(value: Scalar) -> Scalar:
    """A sum of floats may overflow; exact numbers never do."""
    if isinstance(value, float) and not math.isfinite(value):
        raise OverflowError("the sum exceeds the range of floats; give exact values and weights")
    return value


def total(f: TruthTable) -> Scalar:
    """``Σ_x f(x)``, the answer to CNT.

    Examples
    --------
    >>> total(TruthTable(1, [2, 3]))
    5
    """
    return _finite(sum(f.values.tolist()))


def marginal(f: TruthTable, q: Pattern | str) -> Scalar:
    """``Σ_{x ⊨ q} f(x)``, the answer to PM.

    Examples
    --------
    >>> marginal(TruthTable(2, [1, 2, 3, 4]), Pattern("1*"))
    7
    """
    pattern = Pattern.of(q)
    _require_length("pattern", pattern.n, f.n)
    return _finite(sum((f(*x) for x in pattern.assignments()), 0))


def hamming_marginal(f: TruthTable, q: Pattern | str, k: int) -> Scalar:
    """``Σ_{x ⊨ q, |x| = k} f(x)``, the answer to HM; zero outside ``0 <= k <= n``.

    Examples
    --------
    >>> hamming_marginal(TruthTable(2, [1, 2, 3, 4]), Pattern("**"), 1)
    5
    """
    pattern, weight = Pattern.of(q), whole_number(k, "k")
    _require_length("pattern", pattern.n, f.n)
    return _finite(sum((f(*x) for x in pattern.assignments() if sum(x) == weight), 0))


def hamming_marginals(f: TruthTable, q: Pattern | str) -> tuple[Scalar, ...]:
    """The answers to HM for ``k = 0 .. n``."""
    return tuple(hamming_marginal(f, q, k) for k in range(f.n + 1))


def network_polynomial(f: TruthTable, weights: Weights) -> Scalar:
    """``N(w, w̄) = Σ_x f(x) Π_i w_i^{x_i} w̄_i^{1-x_i}``, the answer to VM.

    Examples
    --------
    >>> network_polynomial(TruthTable(1, [2, 3]), Weights(((5, 7),)))
    29
    """
    _require_length("weights", weights.n, f.n)
    points = itertools.product((0, 1), repeat=f.n)
    values: list[Scalar] = f.values.tolist()
    return _finite(sum((value * weights.of_assignment(x) for value, x in zip(values, points, strict=True)), 0))


def multilinear_extension(f: TruthTable, u: Sequence[Scalar]) -> Scalar:
    """``p(u) = N(u, 1 - u)``, the one multilinear polynomial equal to ``f`` on ``{0,1}^n``.

    Examples
    --------
    >>> multilinear_extension(TruthTable(1, [2, 4]), [Fraction(1, 2)])
    Fraction(3, 1)
    """
    return network_polynomial(f, Weights.of(u, [1 - value for value in u]))


def generating_polynomial(f: TruthTable, z: Sequence[Scalar]) -> Scalar:
    """``g(z) = Σ_a f(a) Π_i z_i^{a_i} = N(z, 1)``.

    Examples
    --------
    >>> generating_polynomial(TruthTable(1, [2, 4]), [3])
    14
    """
    return network_polynomial(f, Weights.of(z))


def fourier_polynomial(f: TruthTable, s: Sequence[Scalar]) -> Scalar:
    """``F(s) = p((1 - s)/2)``, so that ``F`` at ``s_i = (-1)^{x_i}`` is ``f(x)``.

    Examples
    --------
    >>> fourier_polynomial(TruthTable(1, [2, 4]), [-1])
    Fraction(4, 1)
    """
    numbers = [as_scalar(value, f"s[{i}]") for i, value in enumerate(s)]
    halves = [(1 - value) / 2 if isinstance(value, float) else Fraction(1 - value, 2) for value in numbers]
    return multilinear_extension(f, halves)


def gauss_sum_by_definition(form: QuadraticForm, q: Pattern | None = None) -> int:
    """``S(Q) = Σ_x (-1)^{Q(x)}``, over the assignments that ``q`` admits.

    Examples
    --------
    >>> gauss_sum_by_definition(QuadraticForm.from_terms(4, [(0, 1), (1, 2), (2, 3)]))
    4
    """
    pattern = Pattern.free(form.n) if q is None else q
    _require_length("pattern", pattern.n, form.n)
    return sum(1 - 2 * form(x) for x in pattern.assignments())


def hamming_congruence(form: QuadraticForm) -> tuple[int, ...]:
    """Residues mod 4 that the Hamming sums ``C_a = Σ_{|x|=a} (-1)^{Q(x)}`` must have, ``a = 0 .. n`` (T10).

    ``C(n,a) + 2 C(n-1,a-1) Σα_i + 2 C(n-2,a-2) Σβ_ij``, negated where the constant is 1.

    Examples
    --------
    >>> hamming_congruence(QuadraticForm.from_terms(3, [(0, 1), (1, 2), (0, 2)]))  # C = 1, 3, -3, -1
    (1, 3, 1, 3)
    """
    n, linear, quadratic = form.n, int(form.linear.sum()), int(form.quadratic.sum())
    sign = 1 - 2 * form.constant

    def choose(m: int, k: int) -> int:
        return math.comb(m, k) if m >= 0 and k >= 0 else 0

    return tuple(
        sign * (choose(n, a) + 2 * choose(n - 1, a - 1) * linear + 2 * choose(n - 2, a - 2) * quadratic) % 4
        for a in range(n + 1)
    )


def determinant(matrix: Sequence[Sequence[Scalar]]) -> Scalar:
    """Determinant by Leibniz' sum over permutations; 1 for the empty matrix.

    Examples
    --------
    >>> determinant([[2, 1], [1, 2]])
    3
    """
    n = len(matrix)
    for i, entries in enumerate(matrix):
        if len(entries) != n:
            raise ValueError(f"matrix must be square, got {n} rows and row {i} of length {len(entries)}")
    result: Scalar = 0
    for permutation in itertools.permutations(range(n)):
        inversions = sum(a > b for a, b in itertools.combinations(permutation, 2))
        product: Scalar = -1 if inversions % 2 else 1
        for row, column in enumerate(permutation):
            product = product * matrix[row][column]
        result = result + product
    return _finite(result)


def principal_minor(kernel: DPPKernel, x: Sequence[int]) -> Scalar:
    """``f(x) = det(L_S)`` with ``S`` the ones of ``x``.

    Examples
    --------
    >>> principal_minor(DPPKernel.of([[2, 1, 0], [1, 2, 1], [0, 1, 3]]), (1, 0, 1))
    6
    """
    chosen = [i for i, bit in enumerate(as_assignment(x, kernel.n)) if bit]
    return determinant([[kernel.matrix[i][j] for j in chosen] for i in chosen])
