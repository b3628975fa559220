"""What may be asked of a function on ``{0,1}^n``: the five query types, patterns and weights."""

from __future__ import annotations

import enum
import itertools
import math
import numbers
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from whp.theory.foundations.argument_checks import whole_number

__all__ = ["Pattern", "Query", "Scalar", "Weights", "as_assignment", "as_scalar"]

Scalar: TypeAlias = int | Fraction | float
"""An exact number (``int``, ``Fraction``) or a float."""


class Query(enum.Enum):
    """The query types, from weakest to strongest.

    The short names are ours; the paper has its own class names.
    """

    EV = "evaluate"
    CNT = "count"
    PM = "marginal"
    HM = "hamming_marginal"
    VM = "virtual_evidence"


def as_scalar(value: object, name: str = "value") -> Scalar:
    """Read a number as ``int``, ``Fraction`` or ``float``.

    Raises
    ------
    TypeError
        If it is no real number.
    ValueError
        If it is infinite or not a number.

    Examples
    --------
    >>> as_scalar(Fraction(4, 2))
    Fraction(2, 1)
    >>> as_scalar(True)
    1
    """
    kind = type(value)
    if kind is int or kind is Fraction:
        return value  # type: ignore[return-value]
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, numbers.Rational):
        return Fraction(int(value.numerator), int(value.denominator))
    if isinstance(value, numbers.Real):
        number = float(value)
        if not math.isfinite(number):
            raise ValueError(f"{name} must be finite, got {number}")
        return number
    if kind.__name__ == "bool" and hasattr(value, "item"):  # numpy.bool is not registered as a number
        return int(value)  # type: ignore[call-overload, no-any-return]
    raise TypeError(f"{name} must be an int, Fraction or float, got {kind.__name__}")


def as_assignment(x: Iterable[int], n: int) -> tuple[int, ...]:
    """Read ``x`` as a point of ``{0,1}^n``.

    Raises
    ------
    ValueError
        If the length is not ``n`` or an entry is neither 0 nor 1.

    Examples
    --------
    >>> as_assignment([True, 0], 2)
    (1, 0)
    """
    if not isinstance(x, Iterable):
        raise TypeError(f"x must be a sequence of n={n} bits, got {x!r}")
    point = tuple(x)
    if len(point) != n:
        raise ValueError(f"x must have n={n} entries, got {len(point)}")
    for position, entry in enumerate(point):
        if isinstance(entry, str) or entry not in (0, 1):
            raise ValueError(f"x must hold only 0 and 1, got {entry!r} at position {position}")
    return tuple(int(entry) for entry in point)


def _bit(entry: object, position: int) -> str:
    if isinstance(entry, bool | np.bool_):
        return str(int(entry))
    return str(whole_number(entry, f"pattern entry {position}"))


@dataclass(frozen=True)
class Pattern:
    """Evidence on some variables: a word over ``0``, ``1`` and ``*`` (summed out).

    Parameters
    ----------
    letters : str
        One letter per variable, ``x_1`` first.

    Raises
    ------
    ValueError
        If a letter is none of ``0``, ``1``, ``*``.

    Examples
    --------
    >>> q = Pattern("1*0*")
    >>> q.n, q.s, q.stars, q.ones
    (4, 2, (1, 3), (0,))
    >>> [x for x in q.assignments()]
    [(1, 0, 0, 0), (1, 0, 0, 1), (1, 1, 0, 0), (1, 1, 0, 1)]
    """

    letters: str

    def __post_init__(self) -> None:
        """Check the letters."""
        if not isinstance(self.letters, str):
            raise TypeError(f"letters must be a str over '0', '1', '*', got {type(self.letters).__name__}")
        for position, letter in enumerate(self.letters):
            if letter not in "01*":
                raise ValueError(f"pattern letters must be '0', '1' or '*', got {letter!r} at position {position}")

    @classmethod
    def of(cls, entries: Pattern | str | Iterable[int | str | None]) -> Pattern:
        """Pattern from a word or from a sequence of 0, 1 and ``"*"`` (or None for a star).

        Examples
        --------
        >>> Pattern.of([0, None, 1, "*"])
        Pattern(letters='0*1*')
        """
        if isinstance(entries, Pattern):
            return entries
        if isinstance(entries, str):
            return cls(entries)
        if not isinstance(entries, Iterable):
            raise TypeError(f"a pattern must be a word or a sequence over 0, 1 and '*', got {entries!r}")
        letters = []
        for position, entry in enumerate(entries):
            letter = "*" if entry is None else entry if isinstance(entry, str) else _bit(entry, position)
            if len(letter) != 1:
                raise ValueError(f"pattern letters must be '0', '1' or '*', got {letter!r} at position {position}")
            letters.append(letter)
        return cls("".join(letters))

    @classmethod
    def free(cls, n: int) -> Pattern:
        """All stars."""
        return cls("*" * whole_number(n, "n", 0))

    @property
    def n(self) -> int:
        """Number of variables."""
        return len(self.letters)

    @property
    def s(self) -> int:
        """Number of stars, ``s(q)``."""
        return self.letters.count("*")

    @property
    def stars(self) -> tuple[int, ...]:
        """Positions summed out."""
        return tuple(i for i, letter in enumerate(self.letters) if letter == "*")

    @property
    def ones(self) -> tuple[int, ...]:
        """Positions with evidence 1."""
        return tuple(i for i, letter in enumerate(self.letters) if letter == "1")

    def admits(self, x: Sequence[int]) -> bool:
        """Whether ``x`` agrees with the evidence."""
        return len(x) == self.n and all(a == "*" or int(a) == b for a, b in zip(self.letters, x, strict=True))

    def assignments(self) -> Iterator[tuple[int, ...]]:
        """Every point that agrees with the evidence, in the order of truth tables."""
        return itertools.product(*((0, 1) if letter == "*" else (int(letter),) for letter in self.letters))

    def merged(self, other: Pattern) -> Pattern | None:
        """Both evidences at once; None where they contradict one another.

        Examples
        --------
        >>> Pattern("1**").merged(Pattern("*0*"))
        Pattern(letters='10*')
        >>> Pattern("1**").merged(Pattern("0**")) is None
        True
        """
        if other.n != self.n:
            raise ValueError(f"patterns must have equal length, got {self.n} and {other.n}")
        letters = []
        for a, b in zip(self.letters, other.letters, strict=True):
            if "*" not in (a, b) and a != b:
                return None
            letters.append(b if a == "*" else a)
        return Pattern("".join(letters))


@dataclass(frozen=True)
class Weights:
    """Virtual evidence: ``w_i`` multiplies when ``x_i = 1`` and ``w̄_i`` when ``x_i = 0``.

    Parameters
    ----------
    pairs : tuple of (Scalar, Scalar)
        ``(w_i, w̄_i)`` for each variable. Any finite numbers, negative ones included.

    Examples
    --------
    >>> Weights.of([2, Fraction(1, 3)], [1, 1]).pairs
    ((2, 1), (Fraction(1, 3), 1))
    >>> Weights.selecting(Pattern("1*0")).pairs
    ((1, 0), (1, 1), (0, 1))
    """

    pairs: tuple[tuple[Scalar, Scalar], ...]

    def __post_init__(self) -> None:
        """Check and normalise the numbers."""
        read = []
        for position, pair in enumerate(self.pairs):
            if isinstance(pair, str) or not isinstance(pair, Sequence | np.ndarray) or len(pair) != 2:
                raise ValueError(f"weights must be pairs (w, w_bar), got {pair!r} at position {position}")
            read.append((as_scalar(pair[0], f"w[{position}]"), as_scalar(pair[1], f"w_bar[{position}]")))
        object.__setattr__(self, "pairs", tuple(read))

    @classmethod
    def of(cls, w: Iterable[Scalar], w_bar: Iterable[Scalar] | None = None) -> Weights:
        """Weights from two lists; ``w̄ = 1`` throughout where the second is left out."""
        if isinstance(w, str) or not isinstance(w, Iterable):
            raise TypeError(f"w must be a sequence of numbers, got {w!r}")
        first = tuple(w)
        second = (1,) * len(first) if w_bar is None else tuple(w_bar)
        if len(first) != len(second):
            raise ValueError(f"w and w_bar must have equal length, got {len(first)} and {len(second)}")
        return cls(tuple(zip(first, second, strict=True)))

    @classmethod
    def selecting(cls, pattern: Pattern) -> Weights:
        """The weights whose network polynomial is the marginal of ``pattern`` (T1)."""
        table: dict[str, tuple[Scalar, Scalar]] = {"*": (1, 1), "1": (1, 0), "0": (0, 1)}
        return cls(tuple(table[letter] for letter in pattern.letters))

    @property
    def n(self) -> int:
        """Number of variables."""
        return len(self.pairs)

    @property
    def is_exact(self) -> bool:
        """Whether no weight is a float."""
        return not any(isinstance(value, float) for pair in self.pairs for value in pair)

    def of_assignment(self, x: Sequence[int]) -> Scalar:
        """Product of the weights that ``x`` selects; the empty product is 1."""
        product: Scalar = 1
        for (w, w_bar), bit in zip(self.pairs, x, strict=True):
            product = product * (w if bit else w_bar)
        return product
