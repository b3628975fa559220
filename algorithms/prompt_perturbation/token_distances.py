"""Euclidean distances from one token to the whole vocabulary, as one matrix-vector product."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from whp.algorithms.prompt_perturbation.validation import checked_instance, checked_integer
from whp.theory.prompt_perturbation import TokenEmbedding

__all__ = ["TokenDistances"]


class TokenDistances:
    """Distances within a vocabulary.

    Squared norms are kept, so that a row of distances costs one matrix-vector product. Where that formula cancels
    (candidates that nearly coincide with the token) the difference vector is used instead, so that duplicated tokens
    are at distance exactly zero.

    Parameters
    ----------
    embedding : TokenEmbedding
        Vocabulary and vectors; computed with in float64.
    remember : int, default 0
        How many rows to keep for tokens that are asked for again; each takes ``8 N`` bytes.

    Examples
    --------
    >>> distances = TokenDistances(TokenEmbedding(("a", "b", "c", "d"), [[0, 0], [1, 0], [0, 2], [3, 4]]))
    >>> distances.row(0)
    array([0., 1., 2., 5.])
    """

    def __init__(self, embedding: TokenEmbedding, remember: int = 0) -> None:
        self.embedding = checked_instance("embedding", embedding, TokenEmbedding)
        rows = checked_integer("remember", remember, 0, 2**31)
        self._row_of = lru_cache(maxsize=rows)(self._compute) if rows else self._compute
        vectors = np.asarray(embedding.vectors, dtype=np.float64)
        self._scale = _power_of_two_scale(float(np.abs(vectors).max()))
        self._vectors = vectors if self._scale == 1.0 else vectors / self._scale
        self._squared_norms = np.einsum("ij,ij->i", self._vectors, self._vectors)  # (N,)

    def row(self, token: int | str) -> NDArray[np.float64]:
        """Distances from one token to all ``N`` tokens.

        Parameters
        ----------
        token : int or str
            Row of the vocabulary, or the token itself.

        Returns
        -------
        ndarray of shape (N,)
            Zero at the token itself; read-only.
        """
        return self._row_of(self.index(token))

    def index(self, token: int | str) -> int:
        """Row of a token that is given as a row or as itself."""
        if isinstance(token, str):
            return self.embedding.index(token)
        return checked_integer("token", token, 0, self.embedding.n_tokens - 1)

    def _compute(self, index: int) -> NDArray[np.float64]:
        vector, own = self._vectors[index], self._squared_norms[index]
        sums = self._squared_norms + own
        squares = sums - 2.0 * (self._vectors @ vector)
        cancelled = np.flatnonzero(squares <= 1e-6 * sums)
        differences = self._vectors[cancelled] - vector
        squares[cancelled] = np.einsum("ij,ij->i", differences, differences)
        lengths = np.asarray(np.sqrt(squares) * self._scale)
        lengths.setflags(write=False)
        return lengths

    def nearest(self, token: int | str, k: int) -> NDArray[np.int64]:
        """Return the ``k`` nearest tokens, the token itself included, nearest first, ties by index.

        Parameters
        ----------
        token : int or str
            Row of the vocabulary, or the token itself.
        k : int
            Between 1 and ``N``.
        """
        k = checked_integer("k", k, 1, self.embedding.n_tokens)
        lengths = self.row(token)
        within = np.flatnonzero(lengths <= np.partition(lengths, k - 1)[k - 1])
        return within[np.argsort(lengths[within], kind="stable")][:k]


def _power_of_two_scale(largest: float) -> float:
    """Exact divisor that keeps squares of extreme vectors inside the float range; 1 for ordinary ones."""
    if largest == 0.0 or 1e-100 < largest < 1e100:
        return 1.0
    return float(np.ldexp(1.0, int(np.frexp(largest)[1]) - 1))
