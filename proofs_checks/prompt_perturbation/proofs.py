"""Proofs for all real utilities and every epsilon at once, by enumeration of vertices.

Write ``G = exp(eps / 2)``, ``w_i`` for the weights of one input's candidates (tokens or buckets) and ``v_j`` for
those of the other; utilities in an interval of length Delta put all of them in ``[1, G]`` after scaling. Every claim
here has the form ``c v_0 sum(w) - d w_0 sum(v) >= 0`` with ``c, d`` free of the weights: it is affine in each weight,
so that it holds on the whole box as soon as it holds at the vertices, where each weight is 1 or G. There it is a
polynomial in G, and one whose coefficients in ``G - 1`` are all non-negative is non-negative for every ``G >= 1``,
that is for every ``eps >= 0``.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence

from whp.proofs_checks.engine import Proof, ProofResult, exhaustive
from whp.theory.prompt_perturbation import bucket_sizes, equal_frequency_labels

__all__ = ["PROOFS"]

Polynomial = tuple[int, ...]  # coefficients in G, lowest power first

LARGEST_COUNT = 50  # the paper's number of buckets
LARGEST_VOCABULARY = 50


def _product(left: Sequence[int], right: Sequence[int]) -> Polynomial:
    coefficients = [0] * (len(left) + len(right) - 1)
    for (i, a), (j, b) in itertools.product(enumerate(left), enumerate(right)):
        coefficients[i + j] += a * b
    return tuple(coefficients)


def _difference(left: Sequence[int], right: Sequence[int]) -> Polynomial:
    return tuple(a - b for a, b in itertools.zip_longest(left, right, fillvalue=0))


def non_negative_from_one(polynomial: Sequence[int]) -> bool:
    """Whether all coefficients in powers of ``G - 1`` are non-negative, which makes the polynomial so for ``G >= 1``.

    Examples
    --------
    >>> non_negative_from_one((-1, 1)), non_negative_from_one((1, -1))
    (True, False)
    """
    remaining, shifted = list(polynomial), []
    while remaining:  # repeated synthetic division by G - 1; the remainders are the coefficients sought
        quotient = [0] * len(remaining)
        carry = 0
        for power in range(len(remaining) - 1, -1, -1):
            carry += remaining[power]
            quotient[power] = carry
        shifted.append(quotient[0])
        remaining = quotient[1:]
    return min(shifted) >= 0


def _vertices(count: int) -> Iterator[tuple[int, Polynomial]]:
    """Power of the distinguished weight and the sum of all ``count`` weights, over the vertices of the box."""
    for own in (0, 1):
        for raised in range(count):
            total = [count - 1 - raised, raised]
            total[own] += 1
            yield own, tuple(total)


def holds_at_all_vertices(counts: tuple[int, int], left: Sequence[int], right: Sequence[int]) -> bool:
    """Whether ``left v_0 sum(w) >= right w_0 sum(v)`` for all weights in ``[1, G]`` and all ``G >= 1``.

    Parameters
    ----------
    counts : tuple of int
        How many weights ``w`` and ``v`` there are.
    left, right : sequence of int
        Polynomials in G that multiply the two sides.
    """
    for (own, total), (other, other_total) in itertools.product(_vertices(counts[0]), _vertices(counts[1])):
        one = _product(_product(left, (0,) * other + (1,)), total)
        two = _product(_product(right, (0,) * own + (1,)), other_total)
        if not non_negative_from_one(_difference(one, two)):
            return False
    return True


def corrected_bound_holds(counts: tuple[int, int]) -> bool:
    """T2 for one pair of counts ``B, B'``: ``B w_0 sum(v) <= B' G^2 v_0 sum(w)``; bucket sizes cancel.

    Raising a ``v_j`` or lowering a ``w_i`` other than ``v_0`` and ``w_0`` only makes the claim harder, so that of their
    vertices the extreme ones suffice, and large counts cost no more than small ones.

    Examples
    --------
    >>> corrected_bound_holds((2, 3))
    True
    """
    count, other = counts
    hardest = itertools.product((0, 1), (0, 1))
    for own, power in hardest:
        total = [count - 1, 0]  # the other w at 1
        total[own] += 1
        other_total = [0, other - 1]  # the other v at G
        other_total[power] += 1
        left = _product((0, 0, other), _product((0,) * power + (1,), total))
        right = _product((count,), _product((0,) * own + (1,), other_total))
        if not non_negative_from_one(_difference(left, right)):
            return False
    return True


def sharp_loss_holds(n_tokens: int) -> bool:
    """T0_sharp for one vocabulary size: ``(G + N - 1) w_0 sum(v) <= G (1 + (N - 1) G) v_0 sum(w)``, and attained.

    The swap pair attains it: one token useful for ``t`` alone, all others useful for the other input alone.

    Examples
    --------
    >>> sharp_loss_holds(3)
    True
    """
    left, right = (0, 1, n_tokens - 1), (n_tokens - 1, 1)
    swapped_left = _product(left, (n_tokens - 1, 1))  # v_0 = 1; w_0 = G and the other w at 1
    swapped_right = _product(_product(right, (0, 1)), (1, n_tokens - 1))  # w_0 = G; the other v at G
    attained = not any(_difference(swapped_left, swapped_right))
    return attained and holds_at_all_vertices((n_tokens, n_tokens), left, right)


def bounded_change_suffices(case: tuple[int, int]) -> bool:
    """T0, any number of tokens: ``sum(c_i w_i) <= h^2 c_0 sum(w_i)`` for ``c`` in ``[1/h, h]``, term by term.

    With ``v_i = c_i w_i`` the claim is linear in each ``w_i >= 0`` with coefficient ``h^2 c_0 - c_i``; at the vertices
    ``c_0 = h^a, c_i = h^b`` with ``a, b`` in ``{-1, 1}`` it is a difference of two powers of ``h >= 1``.

    Examples
    --------
    >>> bounded_change_suffices((-1, 1))
    True
    """
    a, b = case
    lowest = min(2 + a, b)
    return non_negative_from_one(_difference((0,) * (2 + a - lowest) + (1,), (0,) * (b - lowest) + (1,)))


def small_vocabulary_keeps_the_claim(sizes: tuple[tuple[int, ...], tuple[int, ...]]) -> bool:
    """T1 for two lists of bucket sizes: ``min|b| w_0 sum(v) |b'_0| <= max|b| G^2 v_0 sum(w) |b_0|``, any common token.

    Examples
    --------
    >>> small_vocabulary_keeps_the_claim(((1, 3), (1, 1, 2)))
    True
    >>> small_vocabulary_keeps_the_claim(((1, 4), (1, 1, 3)))
    False
    """
    own, other = sizes
    largest, smallest = max(own + other), min(own + other)
    return all(
        holds_at_all_vertices((len(own), len(other)), (0, 0, largest * here), (smallest * there,))
        for here, there in itertools.product(set(own), set(other))
    )


def equal_frequency_sizes_agree(case: tuple[int, int]) -> bool:
    """T3: ``min(N_b, N)`` groups of ``floor`` or ``ceil`` of ``N / N_b`` tokens, whatever the utilities.

    Tried on rising, falling and equal utilities. Labels are a function of the rank alone, so that what holds for one
    order holds for all.

    Examples
    --------
    >>> equal_frequency_sizes_agree((7, 3))
    True
    """
    n_tokens, n_buckets = case
    groups = min(n_buckets, n_tokens)
    rising, falling, equal = tuple(range(n_tokens)), tuple(range(n_tokens, 0, -1)), (0,) * n_tokens
    sizes = [bucket_sizes(equal_frequency_labels(utilities, n_buckets)) for utilities in (rising, falling, equal)]
    allowed = {n_tokens // groups, -(-n_tokens // groups)}
    return sizes[0] == sizes[1] == sizes[2] and len(sizes[0]) == groups and set(sizes[0].values()) <= allowed


def _size_lists(n_tokens: int) -> Iterable[tuple[int, ...]]:
    """Multisets of bucket sizes with a given total, sorted."""
    for parts in range(1, n_tokens + 1):
        for sizes in itertools.combinations_with_replacement(range(1, n_tokens + 1), parts):
            if sum(sizes) == n_tokens:
                yield sizes


def _prove_corrected_bound() -> ProofResult:
    counts = range(1, LARGEST_COUNT + 1)
    return exhaustive(itertools.product(counts, counts), corrected_bound_holds)


def _prove_all_vertices() -> ProofResult:
    def predicate(counts: tuple[int, int]) -> bool:
        return holds_at_all_vertices(counts, (0, 0, counts[1]), (counts[0],))

    return exhaustive(itertools.product(range(1, 9), repeat=2), predicate)


def _prove_equal_counts() -> ProofResult:
    return exhaustive(((count, count) for count in range(1, LARGEST_COUNT + 1)), corrected_bound_holds)


def _prove_equal_frequency() -> ProofResult:
    sizes = exhaustive(itertools.product(range(1, 41), range(1, 51)), equal_frequency_sizes_agree)
    return sizes if sizes.outcome != "proved" else _prove_equal_counts()


def _prove_small_vocabularies() -> ProofResult:
    pairs = (pair for n in range(1, 5) for pair in itertools.product(tuple(_size_lists(n)), repeat=2))
    return exhaustive(pairs, small_vocabulary_keeps_the_claim)


PROOFS = (
    Proof(
        "prompt_perturbation.T0",
        "bounded_change",
        "all real utilities, every eps >= 0, any number of tokens",
        lambda: exhaustive(itertools.product((-1, 1), repeat=2), bounded_change_suffices),
    ),
    Proof(
        "prompt_perturbation.T0_sharp",
        "vertices",
        f"all real utilities, every eps >= 0, N <= {LARGEST_VOCABULARY // 2}",
        lambda: exhaustive(range(1, LARGEST_VOCABULARY // 2 + 1), sharp_loss_holds),
    ),
    Proof(
        "prompt_perturbation.T1_full",
        "equal_counts",
        f"all real utilities, every eps >= 0, any N, N_b <= {LARGEST_COUNT}",
        _prove_equal_counts,
    ),
    Proof(
        "prompt_perturbation.T1r",
        "equal_counts",
        f"all real utilities, every eps >= 0, any N, at most {LARGEST_COUNT} non-empty buckets",
        _prove_equal_counts,
    ),
    Proof(
        "prompt_perturbation.T1_small",
        "size_patterns",
        "all real utilities, every eps >= 0, N <= 4, any N_b",
        _prove_small_vocabularies,
    ),
    Proof(
        "prompt_perturbation.T2",
        "hardest_vertices",
        f"all real utilities, every eps >= 0, any N and sizes, at most {LARGEST_COUNT} non-empty buckets",
        _prove_corrected_bound,
    ),
    Proof(
        "prompt_perturbation.T2",
        "all_vertices",
        "all real utilities, every eps >= 0, any N and sizes, at most 8 non-empty buckets",
        _prove_all_vertices,
    ),
    Proof(
        "prompt_perturbation.T3",
        "sizes_and_counts",
        "all real utilities, every eps >= 0, N <= 40, N_b <= 50",
        _prove_equal_frequency,
    ),
)
