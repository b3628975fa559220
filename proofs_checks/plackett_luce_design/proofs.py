"""Proofs with their scope: the likelihood, the scatter identity, the exact pair step, the information at zero."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from itertools import combinations, permutations
from typing import Any

from whp.proofs_checks.engine import Proof, ProofResult, exhaustive, polynomial_identity
from whp.theory import plackett_luce_design as theory


def _all_of(results: Iterable[ProofResult]) -> ProofResult:
    """First result that is no proof, else the last with the number of parts."""
    count, result = 0, ProofResult("inconclusive", "nothing was decided.")
    for result in results:
        count += 1
        if result.outcome != "proved":
            return result
    return ProofResult("proved", f"{count} rational identities hold identically.") if count else result


def _moments(n: int) -> tuple[Any, list[Any], list[Any], list[Any]]:
    """Sum of probabilities, mean score, and the entries of second moment and expected Hessian, symbolically."""
    import sympy

    w = sympy.symbols(f"w0:{n}", positive=True)
    total, score = sympy.Integer(0), [sympy.Integer(0)] * n
    second, expected = [sympy.Integer(0)] * (n * n), [sympy.Integer(0)] * (n * n)
    for order in permutations(range(n)):
        p = theory_probability(w, order)
        gradient = [-w[i] * sympy.diff(p, w[i]) / p for i in range(n)]
        total += p
        for i in range(n):
            score[i] += p * gradient[i]
            for j in range(n):
                second[i * n + j] += p * gradient[i] * gradient[j]
                expected[i * n + j] += p * w[j] * sympy.diff(gradient[i], w[j])
    return total, score, second, expected


def theory_probability(weights: Any, order: tuple[int, ...]) -> Any:
    """Defining product of the model, for symbols."""
    p: Any = 1
    for k, i in enumerate(order):
        p = p * weights[i] / sum(weights[j] for j in order[k:])
    return p


def _denominators(symbols: Any) -> list[Any]:
    """Sums of weights, which are positive for positive weights."""
    n = len(symbols)
    return [sum(symbols[i] for i in group) for size in range(1, n + 1) for group in combinations(range(n), size)]


def likelihood_moments() -> ProofResult:
    """Mass one, mean score zero, second moment of the score equal to the expected Hessian, for 2 and 3 items."""
    import sympy

    def decide() -> Iterable[ProofResult]:
        for n in (2, 3):
            symbols = sympy.symbols(f"w0:{n}", positive=True)
            total, score, second, expected = _moments(n)
            sides = [(total, sympy.Integer(1)), *((s, sympy.Integer(0)) for s in score)]
            sides += list(zip(second, expected, strict=True))
            for left, right in sides:
                yield polynomial_identity(
                    sympy.cancel(sympy.together(left)),
                    sympy.cancel(sympy.together(right)),
                    symbols,
                    _denominators(symbols),
                )

    return _all_of(decide())


def scatter_identity() -> ProofResult:
    """``sum_{i<j} z z' = K sum (x - mean)(x - mean)'`` entry by entry, for K = 2..5."""
    import sympy

    def decide() -> Iterable[ProofResult]:
        for k in range(2, 6):
            a, b = sympy.symbols(f"a0:{k}"), sympy.symbols(f"b0:{k}")
            pairs = sum((a[i] - a[j]) * (b[i] - b[j]) for i, j in combinations(range(k), 2))
            mean_a, mean_b = sum(a) / sympy.Integer(k), sum(b) / sympy.Integer(k)
            scatter = k * sum((a[i] - mean_a) * (b[i] - mean_b) for i in range(k))
            yield polynomial_identity(sympy.expand(pairs), sympy.expand(scatter), (*a, *b))

    return _all_of(decide())


def pair_step_is_stationary() -> ProofResult:
    """The derivative of ``(1-g)^{d-1} (1-g+g lambda)`` vanishes at the step; the logarithm is concave in ``g``."""
    import sympy

    leverage, g = sympy.symbols("lambda g")

    def decide() -> Iterable[ProofResult]:
        for d in range(2, 9):
            curve = (1 - g) ** (d - 1) * (1 - g + g * leverage)
            step = (leverage - d) / (d * (leverage - 1))
            slope = sympy.cancel(sympy.together(sympy.diff(curve, g).subs(g, step)))
            yield polynomial_identity(slope, sympy.Integer(0), (leverage,), (leverage - 1,))

    return _all_of(decide())


def information_at_zero() -> ProofResult:
    """Expected pair coefficients of ``K`` equal items, enumerated over the sets that can remain."""

    def holds(k: int) -> bool:
        table = theory.pair_information([Fraction(1)] * k)
        return all(table[i][j] == theory.fisher_constant_at_zero(k) for i, j in combinations(range(k), 2))

    return exhaustive(range(2, 11), holds)


PROOFS = (
    Proof("plackett_luce_design.T1", "moments", "all positive weights, 2 and 3 items", likelihood_moments),
    Proof("plackett_luce_design.T2d", "constants", "2 to 10 equal items, all features", information_at_zero),
    Proof(
        "plackett_luce_design.T4a", "scatter_identity", "all real features, 2 to 5 items a question", scatter_identity
    ),
    Proof(
        "plackett_luce_design.T4d",
        "stationary",
        "2 to 8 dimensions, all leverages above the dimension (log-concavity makes a stationary step the maximum)",
        pair_step_is_stationary,
    ),
)
