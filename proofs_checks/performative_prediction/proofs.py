"""Proofs: identities that hold for every value of their symbols, in a printed scope."""

import itertools
from collections.abc import Iterable
from typing import Any

from whp.proofs_checks.engine import Proof, ProofResult, polynomial_identity

from .directions import norm_moment_by_pairings, slope_moment_by_pairings

__all__ = ["PROOFS"]


def _all_proved(results: Iterable[ProofResult]) -> ProofResult:
    """First result that is not ``proved``, or the last one."""
    last = ProofResult("inconclusive", "nothing was decided")
    for last in results:
        if last.outcome != "proved":
            return last
    return last


def prove_covariance() -> ProofResult:
    """Trace and trace of the square for every guide on the circle and the sphere, rationally parametrised."""
    import sympy

    alpha, t, w = sympy.symbols("alpha t w")

    def decide(parameters: list[Any]) -> Iterable[ProofResult]:
        d = len(parameters) + 1
        square = sum((p**2 for p in parameters), start=sympy.Integer(0))
        guide = [2 * p / (1 + square) for p in parameters] + [(1 - square) / (1 + square)]
        sigma = [[alpha / d * int(i == j) + (1 - alpha) * guide[i] * guide[j] for j in range(d)] for i in range(d)]
        trace = sum(sigma[i][i] for i in range(d))
        trace2 = sum(sigma[i][j] ** 2 for i in range(d) for j in range(d))
        claimed = (1 - alpha) ** 2 + 2 * alpha * (1 - alpha) / d + alpha**2 / d
        symbols, nonzero = [alpha, *parameters], [1 + square]
        yield polynomial_identity(trace, sympy.Integer(1), symbols, nonzero)
        yield polynomial_identity(trace2, claimed, symbols, nonzero)

    return _all_proved(itertools.chain(decide([t]), decide([t, w])))


def prove_moments() -> ProofResult:
    """Isserlis sums against the closed forms, for a general symmetric matrix."""
    import sympy

    def decide(d: int) -> Iterable[ProofResult]:
        a = list(sympy.symbols(f"a0:{d}"))
        entries = {(i, j): sympy.Symbol(f"s{i}{j}") for i in range(d) for j in range(i, d)}
        sigma = [[entries[min(i, j), max(i, j)] for j in range(d)] for i in range(d)]
        once = [sum(sigma[i][j] * a[j] for j in range(d)) for i in range(d)]
        t1 = sum(sigma[i][i] for i in range(d))
        square = [[sum(sigma[i][k] * sigma[k][j] for k in range(d)) for j in range(d)] for i in range(d)]
        t2 = sum(square[i][i] for i in range(d))
        t3 = sum(square[i][k] * sigma[k][i] for i in range(d) for k in range(d))
        slope = t1 * sum(a[i] * once[i] for i in range(d)) + 2 * sum(v**2 for v in once)
        symbols = [*a, *entries.values()]
        yield polynomial_identity(slope_moment_by_pairings(a, sigma), slope, symbols)
        yield polynomial_identity(norm_moment_by_pairings(sigma), t1**3 + 6 * t1 * t2 + 8 * t3, symbols)

    return _all_proved(itertools.chain.from_iterable(decide(d) for d in (1, 2, 3)))


def prove_trap() -> ProofResult:
    """``r'grad F = (M x)'M'(M x)`` vanishes for skew ``M`` since ``M`` and ``M'`` differ in sign only."""
    import sympy

    def decide(d: int) -> ProofResult:
        x = list(sympy.symbols(f"x0:{d}"))
        entries = {(i, j): sympy.Symbol(f"m{i}{j}") for i in range(d) for j in range(i + 1, d)}
        m = [[0 if i == j else entries[i, j] if i < j else -entries[j, i] for j in range(d)] for i in range(d)]
        r = [sum(m[i][j] * x[j] for j in range(d)) for i in range(d)]
        gradient = [sum(m[i][j] * r[i] for i in range(d)) for j in range(d)]
        product = sum(a * b for a, b in zip(r, gradient, strict=True))
        return polynomial_identity(product, sympy.Integer(0), [*x, *entries.values()])

    return _all_proved(decide(d) for d in (2, 3, 4, 5))


def prove_difference_bias() -> ProofResult:
    """Average over all sign vectors of the difference quotient of a separable cubic."""
    import sympy

    def decide(d: int) -> Iterable[ProofResult]:
        x, a, b = (list(sympy.symbols(f"{letter}0:{d}")) for letter in "xab")
        h = sympy.Symbol("h")

        def value(point: list[Any]) -> Any:
            return sum(p * v**3 + q * v for p, q, v in zip(a, b, point, strict=True))

        for i in range(d):
            total = sympy.Integer(0)
            for signs in itertools.product((1, -1), repeat=d):
                plus = value([v + h * s for v, s in zip(x, signs, strict=True)])
                minus = value([v - h * s for v, s in zip(x, signs, strict=True)])
                total += (plus - minus) * signs[i]
            claimed = 3 * a[i] * x[i] ** 2 + b[i] + h**2 * a[i]
            yield polynomial_identity(total, 2 * h * 2**d * claimed, [*x, *a, *b, h])

    return _all_proved(itertools.chain.from_iterable(decide(d) for d in (1, 2, 3)))


def prove_regime() -> ProofResult:
    """The difference of the two orders factorises; the sign is that of ``d - G^3``."""
    return polynomial_identity(
        lambda d, g, e: (d**4 - g**6 * d**2) * e**-6,
        lambda d, g, e: d**2 * (d + g**3) * (d - g**3) * e**-6,
        ["d", "G", "epsilon"],
        [lambda d, g, e: e],
    )


def prove_two_point_complexity() -> ProofResult:
    """Iterations times samples an iteration, in ``s = sqrt(d)``: ``s^5/e^4 * s^4/e^2 = s * (s^2)^4 / e^6``."""
    return polynomial_identity(
        lambda s, e: s**5 * e**-4 * s**4 * e**-2, lambda s, e: s * s**8 * e**-6, ["s", "epsilon"], [lambda s, e: e]
    )


def prove_history_control() -> ProofResult:
    """Bound minus error is a sum of nonnegative terms: variance of the biases, their mean square, and the noise."""
    import sympy

    def decide(s: int) -> ProofResult:
        a, b, v = (list(sympy.symbols(f"{letter}0:{s}")) for letter in "abv")
        a[-1] = 1 - sum(a[:-1], start=sympy.Integer(0))
        error = sum(p * q for p, q in zip(a, b, strict=True)) ** 2 + sum(p**2 * w for p, w in zip(a, v, strict=True))
        bound = sum(2 * p * q**2 + 2 * p**2 * w for p, q, w in zip(a, b, v, strict=True))
        spread = sum(a[i] * a[j] * (b[i] - b[j]) ** 2 for i in range(s) for j in range(i))
        rest = sum(p * q**2 + p**2 * w for p, q, w in zip(a, b, v, strict=True))
        return polynomial_identity(bound - error, spread + rest, [*a[:-1], *b, *v])

    return _all_proved(decide(s) for s in range(1, 6))


PROOFS = (
    Proof(
        "performative_prediction.direction_covariance",
        "rational_guides",
        "all shares and all guides on the unit circle and sphere (d = 2, 3) but the pole of the parametrisation: "
        "trace and trace of the square",
        prove_covariance,
    ),
    Proof(
        "performative_prediction.direction_moments",
        "isserlis_symbolic",
        "all vectors and all symmetric matrices, d <= 3: the two identities",
        prove_moments,
    ),
    Proof(
        "performative_prediction.zero_share_trap",
        "skew",
        "all skew matrices I - A and all decisions, d <= 5: r'grad F = 0",
        prove_trap,
    ),
    Proof(
        "performative_prediction.difference_bias",
        "sign_average",
        "all separable cubics, points and steps, d <= 3",
        prove_difference_bias,
    ),
    Proof(
        "performative_prediction.regime",
        "factorisation",
        "all real G, d, epsilon > 0: the remaining factors d^2, d + G^3 and epsilon^-6 are positive",
        prove_regime,
    ),
    Proof(
        "performative_prediction.two_point_complexity",
        "product",
        "all d, epsilon > 0, with constants 1",
        prove_two_point_complexity,
    ),
    Proof(
        "performative_prediction.history_control",
        "sum_of_nonnegative_terms",
        "all weights on the simplex, all biases and variances, s <= 5",
        prove_history_control,
    ),
)
