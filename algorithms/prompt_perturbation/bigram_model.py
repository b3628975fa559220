"""A bigram language model with add-k smoothing: the exact, fast context model and attacker."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from whp.algorithms.prompt_perturbation.validation import checked_instance, checked_number, checked_positive
from whp.theory.prompt_perturbation import TokenEmbedding

__all__ = ["BigramModel"]


class BigramModel:
    """Log scores of a token between its neighbours, from bigram counts.

    ``score(r | left, right) = ln P(r | left) + ln P(right | r)`` with
    ``P(b | a) = (count(a, b) + k) / (count(a, .) + k N)``; a missing neighbour contributes nothing.

    Parameters
    ----------
    vocabulary : TokenEmbedding
        Tokens that can be scored; bigrams with other words are ignored.
    counts : mapping from (str, str) to float
        Non-negative finite bigram counts.
    smoothing : float, default 1
        Positive add-k constant.

    Examples
    --------
    >>> vocabulary = TokenEmbedding(("new", "york", "jersey"), np.eye(3))
    >>> model = BigramModel(vocabulary, {("new", "york"): 6, ("new", "jersey"): 3})
    >>> np.exp(model.scores(left="new", right=None)).round(6)
    array([0.083333, 0.583333, 0.333333])
    """

    def __init__(
        self,
        vocabulary: TokenEmbedding,
        counts: Mapping[tuple[str, str], float],
        smoothing: float = 1.0,
    ) -> None:
        self.vocabulary = checked_instance("vocabulary", vocabulary, TokenEmbedding)
        self.smoothing = checked_positive("smoothing", smoothing)
        known = vocabulary._positions
        pairs = []
        for pair, count in checked_instance("counts", counts, Mapping).items():  # type: ignore[type-abstract]
            if not isinstance(pair, tuple) or len(pair) != 2:
                raise TypeError(f"counts must have pairs of tokens as keys, got {pair!r}")
            weight = checked_number("counts", count)
            if not (math.isfinite(weight) and weight >= 0):
                raise ValueError(f"counts must be finite and >= 0, got {count} for {pair!r}")
            if pair[0] in known and pair[1] in known:
                pairs.append((known[pair[0]], known[pair[1]], weight))
        table = np.array(pairs, dtype=np.float64).reshape(-1, 3)
        firsts, seconds, weights = table[:, 0].astype(np.int64), table[:, 1].astype(np.int64), table[:, 2]
        size = vocabulary.n_tokens
        self._log_totals = np.log(np.bincount(firsts, weights=weights, minlength=size) + self.smoothing * size)  # (N,)
        self._after = _grouped(firsts, seconds, weights, size)
        self._before = _grouped(seconds, firsts, weights, size)

    def scores(self, left: str | None, right: str | None) -> NDArray[np.float64]:
        """Log score of every token between two neighbours.

        Parameters
        ----------
        left, right : str or None
            Neighbouring tokens; None, or a token outside the vocabulary, contributes nothing.

        Returns
        -------
        ndarray of shape (N,)
            Finite log scores; with only ``left`` they are normalised log probabilities.
        """
        total = np.zeros(self.vocabulary.n_tokens)
        known = self.vocabulary._positions
        if left in known:
            index = known[left]
            total += self._smoothed(self._after, index) - self._log_totals[index]
        if right in known:
            total += self._smoothed(self._before, known[right]) - self._log_totals
        return total

    def _smoothed(self, table: _Grouped, index: int) -> NDArray[np.float64]:
        starts, others, weights = table
        part = slice(starts[index], starts[index + 1])
        logs = np.full(self.vocabulary.n_tokens, math.log(self.smoothing))
        logs[others[part]] = np.log(weights[part] + self.smoothing)
        return logs


_Grouped = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]


def _grouped(keys: NDArray[np.int64], others: NDArray[np.int64], weights: NDArray[np.float64], size: int) -> _Grouped:
    """Entries sorted by key with the start of every key's block (compressed sparse rows)."""
    order = np.argsort(keys, kind="stable")
    starts = np.concatenate(([0], np.cumsum(np.bincount(keys, minlength=size)))).astype(np.int64)
    return starts, others[order], weights[order]
