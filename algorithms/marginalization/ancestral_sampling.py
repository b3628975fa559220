"""Exact draws from ``f / Σf`` by marginals alone, one variable after the other (T9)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from whp.algorithms.marginalization.oracle import Oracle, ZeroWeightError
from whp.theory.foundations.argument_checks import require_generator, whole_number
from whp.theory.marginalization import Pattern, Scalar, Weights, as_assignment

__all__ = ["SignedFunctionError", "ancestral_conditionals", "draw", "draw_under_weights", "draw_with_hamming_weight"]

FLOAT_SLACK = 1e-9
CANCELLATION = 1e-3


class SignedFunctionError(ValueError):
    """The function takes negative values, so it is no distribution even where its total is positive."""


def draw(
    oracle: Oracle, rng: np.random.Generator, size: int = 1, evidence: Pattern | str | None = None
) -> NDArray[np.int8]:
    """Independent draws of ``x`` with probability exactly ``f(x) / Σ f``, given the evidence.

    One draw takes ``n + 1`` PM queries (fewer where evidence fixes variables); draws that share a prefix share its
    query. Probabilities are compared with random bits exactly, without rounding.

    Parameters
    ----------
    oracle : Oracle
        Answers PM for a non-negative function.
    rng : numpy.random.Generator
    size : int
        Number of draws.
    evidence : Pattern or str, optional
        Draw from ``f`` restricted to this pattern.

    Returns
    -------
    ndarray of int8, shape (size, n)

    Raises
    ------
    SignedFunctionError
        If the oracle knows that ``f`` is signed, or a negative weight turns up on the way.
    ZeroWeightError
        If ``f`` is zero on the evidence.

    Examples
    --------
    >>> from whp.algorithms.marginalization import TruthTableOracle
    >>> from whp.theory.marginalization import TruthTable
    >>> draw(TruthTableOracle(TruthTable(2, [0, 0, 5, 0])), np.random.default_rng(1), size=2).tolist()
    [[1, 0], [1, 0]]
    """
    pattern = Pattern.free(oracle.n) if evidence is None else Pattern.of(evidence)
    return _draw(oracle, oracle.marginal, pattern, rng, size)


def draw_with_hamming_weight(oracle: Oracle, k: int, rng: np.random.Generator, size: int = 1) -> NDArray[np.int8]:
    """Draws from ``f`` restricted to ``|x| = k``, by HM queries.

    Examples
    --------
    >>> from whp.algorithms.marginalization import DPPOracle
    >>> from whp.theory.marginalization import DPPKernel
    >>> oracle = DPPOracle(DPPKernel.of([[2, 1], [1, 2]]))
    >>> draw_with_hamming_weight(oracle, 1, np.random.default_rng(0), size=4).sum(axis=1).tolist()
    [1, 1, 1, 1]
    """
    return _draw(oracle, lambda q: oracle.hamming_marginal(q, k), Pattern.free(oracle.n), rng, size)


def draw_under_weights(oracle: Oracle, weights: Weights, rng: np.random.Generator, size: int = 1) -> NDArray[np.int8]:
    """Draws with probability proportional to ``f(x) Π w_i^{x_i} w̄_i^{1-x_i}``, by VM queries.

    Raises
    ------
    ValueError
        If a weight is negative.

    Examples
    --------
    >>> from whp.algorithms.marginalization import TruthTableOracle
    >>> from whp.theory.marginalization import TruthTable
    >>> oracle = TruthTableOracle(TruthTable(1, [1, 1]))
    >>> draw_under_weights(oracle, Weights(((1, 0),)), np.random.default_rng(0)).tolist()
    [[1]]
    """
    if not isinstance(weights, Weights):
        raise TypeError(f"weights must be a Weights object, got {type(weights).__name__}")
    for position, (w, w_bar) in enumerate(weights.pairs):
        if w < 0 or w_bar < 0:
            raise SignedFunctionError(f"weights must not be negative for sampling, got ({w}, {w_bar}) at {position}")

    def weight_of(q: Pattern) -> Scalar:
        choices = {"*": (1, 1), "1": (1, 0), "0": (0, 1)}
        kept = (choices[letter] for letter in q.letters)
        pairs = zip(weights.pairs, kept, strict=True)
        return oracle.virtual_evidence(Weights(tuple((w * a, w_bar * b) for (w, w_bar), (a, b) in pairs)))

    if weights.n != oracle.n:
        raise ValueError(f"weights must have one pair per variable, n={oracle.n}, got {weights.n}")
    return _draw(oracle, weight_of, Pattern.free(oracle.n), rng, size)


def ancestral_conditionals(oracle: Oracle, x: Iterable[int]) -> tuple[Scalar, ...]:
    """``PM(x_1 .. x_i) / PM(x_1 .. x_{i-1})`` for ``i = 1 .. n``; their product is ``f(x) / Σ f``.

    ``n + 1`` PM queries; the conditionals after a prefix of weight 0 are given as 0.

    Raises
    ------
    SignedFunctionError, ZeroWeightError
        As in `draw`.

    Examples
    --------
    >>> from whp.algorithms.marginalization import TruthTableOracle
    >>> from whp.theory.marginalization import TruthTable
    >>> ancestral_conditionals(TruthTableOracle(TruthTable(2, [1, 2, 3, 4])), (1, 0))
    (Fraction(7, 10), Fraction(3, 7))
    """
    point = as_assignment(x, oracle.n)
    _refuse_signed(oracle)
    weight = _positive_total(oracle.marginal(Pattern.free(oracle.n)), Pattern.free(oracle.n))
    conditionals: list[Scalar] = []
    for i in range(oracle.n):
        letters = "".join(map(str, point[: i + 1]))
        part = oracle.marginal(Pattern(letters + "*" * (oracle.n - i - 1))) if weight else 0
        conditionals.append(_probability(part, weight, letters) if weight else 0)
        weight = part
    return tuple(conditionals)


def _refuse_signed(oracle: Oracle) -> None:
    if oracle.is_nonnegative is False:
        raise SignedFunctionError(
            f"sampling needs f(x) >= 0 for all x, but this {type(oracle).__name__} stands for a signed function"
        )


def _positive_total(total: Scalar, pattern: Pattern) -> Scalar:
    if total == 0:
        raise ZeroWeightError(f"f has total weight 0 on {pattern.letters!r}, there is nothing to draw")
    if total < 0:
        raise SignedFunctionError(f"f has negative total weight {total} on {pattern.letters!r}")
    return total


def _probability(part: Scalar, whole: Scalar, letters: str) -> Scalar:
    """``part / whole``, refused outside [0, 1] (beyond rounding, for floats)."""
    inexact = isinstance(part, float) or isinstance(whole, float)
    ratio: Scalar = float(part) / float(whole) if inexact else Fraction(part) / Fraction(whole)
    slack = FLOAT_SLACK if inexact else 0
    if not -slack <= ratio <= 1 + slack:
        raise SignedFunctionError(
            f"f takes negative values: the conditional weight of {letters!r} is {float(ratio):g}, outside [0, 1]"
        )
    return min(max(ratio, 0), 1) if inexact else ratio


def _draw(
    oracle: Oracle,
    weight_of: Callable[[Pattern], Scalar],
    pattern: Pattern,
    rng: np.random.Generator,
    size: int,
) -> NDArray[np.int8]:
    size = whole_number(size, "size", 0)
    require_generator(rng)
    _refuse_signed(oracle)
    total = _positive_total(weight_of(pattern), pattern)
    drawn = np.zeros((size, oracle.n), dtype=np.int8)
    drawn[:, list(pattern.ones)] = 1
    groups: list[tuple[str, Scalar, NDArray[np.intp]]] = [(pattern.letters, total, np.arange(size))]
    for i in pattern.stars:
        split: list[tuple[str, Scalar, NDArray[np.intp]]] = []
        for letters, weight, members in groups:
            if members.size == 0:
                continue
            with_one = letters[:i] + "1" + letters[i + 1 :]
            part = weight_of(Pattern(with_one))
            probability = _probability(part, weight, with_one)
            hits = _bernoulli(Fraction(probability), len(members), rng)
            drawn[members[hits], i] = 1
            split.append((with_one, part, members[hits]))
            with_zero = letters[:i] + "0" + letters[i + 1 :]
            other = weight - part
            if isinstance(other, float) and other < CANCELLATION * float(weight):
                other = weight_of(Pattern(with_zero))  # the difference has lost its digits
            split.append((with_zero, other, members[~hits]))
        groups = split
    return drawn


def _bernoulli(probability: Fraction, size: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Exact coin flips: binary digits of ``probability`` against random ones, 62 at a time, until they differ."""
    hits = np.zeros(size, dtype=np.bool_)
    open_flips, rest = np.arange(size), probability
    if probability == 1:
        return ~hits
    while open_flips.size and rest:
        scaled = rest * 2**62
        digits, rest = scaled.numerator // scaled.denominator, scaled % 1
        words = rng.integers(0, 2**62, size=open_flips.size, dtype=np.int64)
        hits[open_flips[words < digits]] = True
        open_flips = open_flips[words == digits]
    return hits
