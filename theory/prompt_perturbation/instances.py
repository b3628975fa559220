"""Problem instances: pairs of inputs with their utilities, prompts with context, token embeddings."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from whp.theory.prompt_perturbation.arguments import checked_integer, checked_number, checked_rational, real_array

__all__ = ["Context", "ContextualPrompt", "TokenEmbedding", "UnknownTokenError", "UtilityGridPair", "UtilityPair"]

Context: TypeAlias = Literal["own_token", "original_neighbours", "perturbed_prefix"]


@dataclass(frozen=True)
class UtilityGridPair:
    """Two inputs whose utilities lie on the grid ``0, 1/(levels-1), .., 1``, with a rational privacy level.

    Because every weight ``exp(epsilon u / 2)`` is the integer power ``base ** level`` of a rational, all probabilities
    of the exponential and bucketised mechanisms (sensitivity 1) are fractions and claims are decided exactly.

    Parameters
    ----------
    first, second : tuple of int
        Level of every output token for the two inputs, each in ``0 .. levels - 1``; equal length, at least one.
    levels : int
        Number of grid points; also the number of equal-width buckets, which makes level and bucket the same thing
        whenever the lowest and highest level both occur.
    base : Fraction
        ``exp(epsilon / (2 (levels - 1)))``, at least one.

    Raises
    ------
    ValueError
        If the lengths differ, a level is out of range or ``base < 1``.

    Examples
    --------
    >>> from fractions import Fraction
    >>> pair = UtilityGridPair((2, 0, 0, 0, 0), (0, 0, 0, 1, 2), 3, Fraction(21, 20))
    >>> round(pair.epsilon, 6)
    0.195161
    """

    first: tuple[int, ...]
    second: tuple[int, ...]
    levels: int
    base: Fraction

    def __post_init__(self) -> None:
        if len(self.first) != len(self.second) or not self.first:
            raise ValueError(
                f"first and second must have one level per token, got {len(self.first)} and {len(self.second)}"
            )
        highest = checked_integer("levels", self.levels, 1) - 1
        for level in (*self.first, *self.second):
            checked_integer("levels of tokens", level, 0, highest)
        if checked_rational("base", self.base) < 1:
            raise ValueError(f"base must be at least 1 (epsilon >= 0), got {self.base}")

    @property
    def n_tokens(self) -> int:
        """Number of output tokens."""
        return len(self.first)

    @property
    def epsilon(self) -> float:
        """Nominal privacy parameter in nats, ``2 (levels - 1) ln base``."""
        return 2 * max(self.levels - 1, 1) * math.log(self.base)

    @property
    def exp_epsilon(self) -> Fraction:
        """``exp(epsilon)`` exactly."""
        return self.base ** (2 * max(self.levels - 1, 1))

    @property
    def occupies_end_points(self) -> bool:
        """Whether both inputs reach the lowest and the highest level (or have one level only)."""
        return all(
            len(set(row)) == 1 or (min(row) == 0 and max(row) == self.levels - 1) for row in (self.first, self.second)
        )


@dataclass(frozen=True, eq=False)
class UtilityPair:
    """Two inputs with real utilities for every output token.

    Parameters
    ----------
    first, second : ndarray of shape (n_tokens,)
        Finite utilities of the output tokens for the two inputs.
    epsilon : float
        Nominal privacy parameter in nats, finite and non-negative.
    n_buckets : int
        Number of buckets, at least one.
    sensitivity : float
        Bound on ``|first - second|`` that the mechanism divides by; positive.

    Raises
    ------
    ValueError
        If shapes differ, a number is not finite, or a parameter is out of range.

    Examples
    --------
    >>> UtilityPair((1.0, 0.0), (0.0, 1.0), epsilon=1.0, n_buckets=2).n_tokens
    2
    """

    first: NDArray[np.float64]
    second: NDArray[np.float64]
    epsilon: float
    n_buckets: int
    sensitivity: float = 1.0

    def __post_init__(self) -> None:
        for name in ("first", "second"):
            row = real_array(name, getattr(self, name))
            if row.ndim != 1 or row.size == 0 or not np.isfinite(row).all():
                raise ValueError(f"{name} must be a non-empty vector of finite utilities, got shape {row.shape}")
            object.__setattr__(self, name, np.frombuffer(row.tobytes()))  # memory that no subject can unlock
        if self.first.shape != self.second.shape:
            raise ValueError(f"first and second must have equal length, got {self.first.size} and {self.second.size}")
        if not (math.isfinite(checked_number("epsilon", self.epsilon)) and self.epsilon >= 0):
            raise ValueError(f"epsilon must be finite and >= 0, got {self.epsilon}")
        checked_integer("n_buckets", self.n_buckets, 1)
        if not (math.isfinite(checked_number("sensitivity", self.sensitivity)) and self.sensitivity > 0):
            raise ValueError(f"sensitivity must be finite and > 0, got {self.sensitivity}")

    @property
    def n_tokens(self) -> int:
        """Number of output tokens."""
        return int(self.first.size)

    def __eq__(self, other: object) -> bool:
        """Equal utilities and parameters."""
        if not isinstance(other, UtilityPair):
            return NotImplemented
        same = (self.epsilon, self.n_buckets, self.sensitivity) == (other.epsilon, other.n_buckets, other.sensitivity)
        return same and np.array_equal(self.first, other.first) and np.array_equal(self.second, other.second)

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True)
class ContextualPrompt:
    """A family of prompts whose utilities look at the neighbouring tokens.

    Parameters
    ----------
    length : int
        Number of positions ``n >= 1``.
    levels : nested tuple of shape (V + 1, V, V + 1, V)
        ``levels[left][own][right][r]``: integer level of output ``r`` at a position with that left neighbour, own
        token and right neighbour. Index ``V`` on ``left`` and ``right`` means "no neighbour".
    base : Fraction
        Weight of one level: outputs are drawn with probability proportional to ``base ** level``. At least one.
    context : {"own_token", "original_neighbours", "perturbed_prefix"}
        What the utility is fed: the own token alone, the user's neighbouring tokens, or the already released output
        on the left.

    Raises
    ------
    ValueError
        If the table is not of the shape above or a parameter is out of range.
    """

    length: int
    levels: tuple[tuple[tuple[tuple[int, ...], ...], ...], ...]
    base: Fraction
    context: Context

    def __post_init__(self) -> None:
        checked_integer("length", self.length, 1)
        if self.context not in get_args(Context):
            raise ValueError(f"context must be one of {get_args(Context)}, got {self.context!r}")
        if checked_rational("base", self.base) < 1:
            raise ValueError(f"base must be at least 1, got {self.base}")
        size = len(self.levels) - 1
        shape = np.array(self.levels, dtype=object).shape
        if size < 1 or shape != (size + 1, size, size + 1, size):
            raise ValueError(f"levels must have shape (V+1, V, V+1, V), got {shape}")

    @property
    def n_tokens(self) -> int:
        """Vocabulary size ``V``."""
        return len(self.levels) - 1


@dataclass(frozen=True, eq=False)
class TokenEmbedding:
    """A vocabulary with one embedding vector per token.

    Parameters
    ----------
    tokens : sequence of str
        Distinct token strings, length ``N >= 1``.
    vectors : ndarray of shape (N, m)
        Finite embedding vectors; kept in their own floating type.

    Raises
    ------
    ValueError
        If tokens repeat, lengths disagree, or a vector is not finite.

    Examples
    --------
    >>> embedding = TokenEmbedding(("yes", "no"), [[0.0, 1.0], [1.0, 0.0]])
    >>> embedding.index("no")
    1
    """

    tokens: tuple[str, ...]
    vectors: NDArray[np.floating[Any]]
    _positions: dict[str, int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        tokens = tuple(self.tokens)
        if not all(isinstance(token, str) for token in tokens):
            raise TypeError("tokens must be strings")
        single = isinstance(self.vectors, np.ndarray) and self.vectors.dtype == np.float32
        vectors = self.vectors if single else real_array("vectors", self.vectors)
        vectors = vectors.view()  # freezing a view leaves the caller's array writable
        if vectors.ndim != 2 or vectors.shape[0] != len(tokens) or vectors.shape[1] == 0 or not tokens:
            raise ValueError(f"vectors must have one row per token ({len(tokens)}), got shape {vectors.shape}")
        broken = ~np.isfinite(vectors).all(axis=1)
        if broken.any():
            first = int(np.argmax(broken))
            raise ValueError(f"vectors must be finite, token {tokens[first]!r} (row {first}) is not")
        positions = {token: row for row, token in enumerate(tokens)}
        if len(positions) != len(tokens):
            raise ValueError(f"tokens must be distinct, {len(tokens) - len(positions)} of {len(tokens)} repeat")
        vectors.setflags(write=False)
        object.__setattr__(self, "tokens", tokens)
        object.__setattr__(self, "vectors", vectors)
        object.__setattr__(self, "_positions", positions)

    @property
    def n_tokens(self) -> int:
        """Vocabulary size ``N``."""
        return len(self.tokens)

    def index(self, token: str) -> int:
        """Row of a token.

        Raises
        ------
        UnknownTokenError
            If the vocabulary does not contain it; the message names the nearest spelling.
        """
        try:
            return self._positions[token]
        except KeyError:
            raise UnknownTokenError(token, self.tokens) from None

    def indices(self, tokens: Sequence[str]) -> tuple[int, ...]:
        """Rows of several tokens, in order."""
        return tuple(self.index(token) for token in tokens)


class UnknownTokenError(ValueError):
    """A token that the vocabulary does not contain."""

    def __init__(self, token: str, vocabulary: Sequence[str]) -> None:
        import difflib

        near = difflib.get_close_matches(str(token), vocabulary, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        super().__init__(f"token {token!r} is not among the {len(vocabulary)} tokens of the vocabulary{hint}")
