"""Exact losses of the mechanisms on real words, beside the nominal and the claimed ones."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from whp.algorithms.prompt_perturbation import (
    BucketPartition,
    ChannelAudit,
    TokenDistances,
    audit_log_rows,
    bucketised_guarantee,
    calibrated_epsilon,
    coordinate_laplace_radius_survival,
    custext_groups,
    custext_mechanism,
    distance_utility,
    equal_frequency_buckets,
    equal_frequency_guarantee,
    equal_width_buckets,
    exponential_mechanism,
    mechanism_over_buckets,
    pairwise_losses,
    random_neighbour_list_mechanism,
    santext_mechanism,
)

__all__ = ["MECHANISMS", "ClaimViolations", "WordAudit", "WordChannels", "alphabetic_words"]

MECHANISMS = ("bucketised", "equal_frequency", "exponential", "santext", "custext", "inferdpt")
CUSTEXT_GROUP_SIZE = 20  # the list length K of CUSTEXT's paper


def alphabetic_words(tokens: Sequence[str]) -> list[str]:
    """Whole words of lower-case letters, three or more; no word pieces, no symbols, no placeholders.

    Examples
    --------
    >>> alphabetic_words(["[PAD]", "##ing", "good", "a", "naïve", "1990"])
    ['good']
    """
    return [token for token in tokens if len(token) > 2 and token.isascii() and token.isalpha() and token.islower()]


@dataclass(frozen=True)
class WordAudit:
    """One line of the table: a mechanism, its nominal level, what it claims and what is true.

    Attributes
    ----------
    mechanism : str
        One of `MECHANISMS`.
    n_buckets : int or None
        For the bucketised ones.
    epsilon : float
        Nominal privacy parameter.
    audit : ChannelAudit
        Exact loss over the words and all outputs, keep rate, Bayes recovery.
    reported : float or None
        ``eps + eps'`` as the paper is reported to claim.
    guaranteed : float or None
        What is known to hold on these words: T2 for equal widths, T3 for equal frequencies, eps for the exponential
        mechanism. None where the guarantee is of another kind (metric, inside groups, random lists).
    """

    mechanism: str
    n_buckets: int | None
    epsilon: float
    audit: ChannelAudit
    reported: float | None
    guaranteed: float | None


@dataclass(frozen=True)
class ClaimViolations:
    """How many pairs of words violate the reported claim for their own buckets."""

    n_buckets: int
    epsilon: float
    pairs: int
    violating: int
    worst_excess: float
    loss: float
    claim: float


class WordChannels:
    """Rows of every mechanism for a set of words over the whole vocabulary, with distance-only utility.

    Parameters
    ----------
    distances : TokenDistances
        Vocabulary.
    words : sequence of str
        Two or more different tokens of it.
    seed : int
        Order in which CUSTEXT's groups are founded.
    """

    def __init__(self, distances: TokenDistances, words: Sequence[str], seed: int = 0) -> None:
        if len(set(words)) != len(words) or len(words) < 2:
            raise ValueError(f"words must be at least two different tokens, got {list(words)}")
        self.words = tuple(words)
        self.tokens = distances.embedding.indices(words)
        self.distances = distances
        self._seed = seed
        self._lengths = [distances.row(token) for token in self.tokens]
        self._utilities = [distance_utility(row) for row in self._lengths]
        self._made: dict[tuple[str, int], list[BucketPartition]] = {}

    @property
    def n_outputs(self) -> int:
        """Vocabulary size."""
        return self.distances.embedding.n_tokens

    @cached_property
    def _groups(self) -> NDArray[np.int64]:
        order = np.random.default_rng(self._seed).permutation(self.n_outputs)
        return custext_groups(self.distances, CUSTEXT_GROUP_SIZE, order.tolist())

    def log_rows(self, mechanism: str, epsilon: float, n_buckets: int = 50) -> list[NDArray[np.float64]]:
        """Log probabilities of all outputs for every word."""
        builders: dict[str, Callable[[int], NDArray[np.float64]]] = {
            "bucketised": lambda i: self._over(equal_width_buckets, i, epsilon, n_buckets),
            "equal_frequency": lambda i: self._over(equal_frequency_buckets, i, epsilon, n_buckets),
            "exponential": lambda i: (
                exponential_mechanism(self._utilities[i], epsilon, sensitivity=1.0).log_probabilities
            ),
            "santext": lambda i: santext_mechanism(self._lengths[i], epsilon).log_probabilities,
            "custext": lambda i: (
                custext_mechanism(self._lengths[i], self._groups, self.tokens[i], epsilon).log_probabilities
            ),
            "inferdpt": lambda i: (
                random_neighbour_list_mechanism(
                    self._lengths[i], epsilon, radius_survival=self._radius(epsilon)
                ).log_probabilities
            ),
        }
        if mechanism not in builders:
            raise ValueError(f"mechanism must be one of {', '.join(MECHANISMS)}, got {mechanism!r}")
        return [builders[mechanism](i) for i in range(len(self.words))]

    def _over(
        self, buckets: Callable[..., BucketPartition], word: int, epsilon: float, n_buckets: int
    ) -> NDArray[np.float64]:
        partition = self._partitions(buckets, n_buckets)[word]
        return mechanism_over_buckets(partition, epsilon, sensitivity=1.0).log_probabilities

    def _partitions(self, buckets: Callable[..., BucketPartition], n_buckets: int) -> list[BucketPartition]:
        key = buckets.__name__, n_buckets
        if key not in self._made:
            self._made[key] = [buckets(utilities, n_buckets) for utilities in self._utilities]
        return self._made[key]

    def _radius(self, epsilon: float) -> Callable[[NDArray[np.float64]], NDArray[np.float64]]:
        """Norm of Laplace noise in each coordinate, its scale the mean range of a coordinate divided by epsilon."""
        return coordinate_laplace_radius_survival(
            self._coordinate_range / max(epsilon, 1e-9), self.distances.embedding.vectors.shape[1]
        )

    @cached_property
    def _coordinate_range(self) -> float:
        return float(np.ptp(self.distances.embedding.vectors, axis=0).mean())

    def audited(self, mechanism: str, epsilon: float, n_buckets: int = 50) -> WordAudit:
        """Audit one mechanism at one nominal level."""
        audit = audit_log_rows(self.log_rows(mechanism, epsilon, n_buckets), self.tokens)
        reported = guaranteed = None
        if mechanism == "bucketised":
            sizes = self.bucket_sizes(n_buckets)
            reported = epsilon + _log_spread(sizes)
            guaranteed = bucketised_guarantee(epsilon, [row.tolist() for row in sizes])
        elif mechanism == "equal_frequency":
            guaranteed = equal_frequency_guarantee(epsilon, n_tokens=self.n_outputs, n_buckets=n_buckets)
        elif mechanism == "exponential":
            guaranteed = epsilon
        used = n_buckets if mechanism in ("bucketised", "equal_frequency") else None
        return WordAudit(mechanism, used, epsilon, audit, reported, guaranteed)

    def audited_at_loss(self, mechanism: str, loss: float, n_buckets: int = 50) -> WordAudit | None:
        """Audit a mechanism where its exact loss is the given one; None when it loses more even at ``epsilon = 0``."""

        def loss_at(epsilon: float) -> float:
            return audit_log_rows(self.log_rows(mechanism, epsilon, n_buckets), self.tokens).loss

        if loss_at(0.0) > loss:
            return None
        epsilon = calibrated_epsilon(loss_at, loss, largest=256.0, tolerance=1e-3)
        return self.audited(mechanism, epsilon, n_buckets)

    def bucket_sizes(self, n_buckets: int) -> list[NDArray[np.int64]]:
        """Sizes of the non-empty equal-width buckets of every word."""
        return [partition.sizes for partition in self._partitions(equal_width_buckets, n_buckets)]

    def claim_violations(self, epsilon: float, n_buckets: int) -> ClaimViolations:
        """Compare the exact loss of every pair of words with ``eps + eps'`` from that pair's own buckets."""
        losses = pairwise_losses(np.array(self.log_rows("bucketised", epsilon, n_buckets)))
        sizes = self.bucket_sizes(n_buckets)
        first, second = np.triu_indices(len(self.words), 1)
        largest = np.array([row.max() for row in sizes])
        smallest = np.array([row.min() for row in sizes])
        spread = np.maximum(largest[first], largest[second]) / np.minimum(smallest[first], smallest[second])
        excess = np.maximum(losses[first, second], losses[second, first]) - epsilon - np.log(spread)
        return ClaimViolations(
            n_buckets=n_buckets,
            epsilon=epsilon,
            pairs=excess.size,
            violating=int(np.count_nonzero(excess > 1e-9)),
            worst_excess=float(excess.max()),
            loss=float(losses.max()),
            claim=epsilon + _log_spread(sizes),
        )


def _log_spread(sizes: Sequence[NDArray[np.int64]]) -> float:
    return math.log(max(int(row.max()) for row in sizes) / min(int(row.min()) for row in sizes))
