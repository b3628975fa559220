"""Gauss sums over GF(2) by elimination on word-packed rows, ``O(n^3 / 64)`` word operations."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from whp.theory.marginalization import QuadraticForm

__all__ = ["GaussSum", "gauss_sum"]

WORD = 64


@dataclass(frozen=True)
class GaussSum:
    """The value ``sign * 2^exponent``.

    Attributes
    ----------
    sign : int
        -1, 0 or 1.
    exponent : int
        Between ``n/2`` and ``n`` where the sign is not 0; 0 where it is.
    word_operations : int
        Words of 64 bits read or changed on the way; left out of comparisons.

    Examples
    --------
    >>> GaussSum(-1, 2).value
    -4
    """

    sign: int
    exponent: int
    word_operations: int = field(default=0, compare=False)

    @property
    def value(self) -> int:
        """The sum as an exact integer."""
        return self.sign << self.exponent if self.sign >= 0 else -(1 << self.exponent)


def _pack(bits: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """Rows of bits as little-endian 64-bit words."""
    rows, n = bits.shape
    words = -(-n // WORD)
    packed = np.zeros((rows, words * 8), dtype=np.uint8)
    packed[:, : -(-n // 8)] = np.packbits(bits, axis=1, bitorder="little")
    return packed.view("<u8").astype(np.uint64)


def _positions(words: NDArray[np.uint64]) -> NDArray[np.intp]:
    """Indices of the one bits."""
    return np.flatnonzero(np.unpackbits(words.astype("<u8").view(np.uint8), bitorder="little"))


def _bit(words: NDArray[np.uint64], index: int) -> int:
    return int(words[index // WORD]) >> (index % WORD) & 1


def gauss_sum(form: QuadraticForm) -> GaussSum:
    """``S(Q) = Σ_x (-1)^{Q(x)}``, which is 0 or ``±2^e`` with ``n/2 <= e <= n``.

    Take a variable ``v``. If no quadratic term holds it, it contributes a factor 2, or makes the sum 0 if its linear
    bit is 1. Otherwise ``Q = x_v ℓ + r`` with ``ℓ`` affine: summing ``x_v`` gives ``2 [ℓ = 0]``; solve ``ℓ = 0`` for
    one variable ``p`` and substitute it in ``r``, a symmetric rank-two update of the bit matrix.

    Parameters
    ----------
    form : QuadraticForm
        Any ``n``; ``n = 0`` gives ``(-1)^γ``.

    Returns
    -------
    GaussSum
        Sign and exponent, so that nothing overflows.

    References
    ----------
    .. [1] Ehrenfeucht and Karpinski (1990), *The computational complexity of (XOR, AND)-counting problems*.

    Examples
    --------
    >>> gauss_sum(QuadraticForm.from_terms(4, [(0, 1), (1, 2), (2, 3)])).value
    4
    >>> gauss_sum(QuadraticForm.from_terms(1, [(0,)])).value
    0
    """
    if not isinstance(form, QuadraticForm):
        raise TypeError(f"form must be a QuadraticForm, got {type(form).__name__}")
    n = form.n
    if n == 0:
        return GaussSum(1 - 2 * form.constant, 0)
    rows = _pack(form.quadratic | form.quadratic.T)  # symmetric: row i holds the partners of x_i; (n, words)
    linear = _pack(form.linear[np.newaxis, :])[0]
    active = _pack(np.ones((1, n), dtype=np.bool_))[0]
    unit = np.uint64(1)
    constant, exponent, updates = form.constant, 0, 0
    for v in range(n):
        if not _bit(active, v):
            continue
        active[v // WORD] &= ~(unit << np.uint64(v % WORD))
        partners = rows[v] & active
        positions = _positions(partners)
        exponent += 1
        updates += 1  # rows touched
        if positions.size == 0:
            if _bit(linear, v):
                return GaussSum(0, 0, updates * linear.size)
            continue
        # ℓ = 0 reads x_p = c + Σ_S x; r = x_p (d + Σ_T x) + r', with T the partners of p
        p = int(positions[0])
        c, d = _bit(linear, v), _bit(linear, p)
        active[p // WORD] &= ~(unit << np.uint64(p % WORD))
        solved = partners & active  # S
        multiplier = rows[p] & active  # T
        others = _positions(multiplier)
        rows[positions[1:]] ^= multiplier
        rows[others] ^= solved
        updates += positions.size + others.size
        linear ^= solved & multiplier  # x_i x_i = x_i
        if c:
            linear ^= multiplier
        if d:
            linear ^= solved
        constant ^= c & d
    return GaussSum(1 - 2 * constant, exponent, updates * linear.size)
