"""Functions on ``{0,1}^n`` given as data: truth tables, quadratic forms, determinantal kernels, formulas."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from whp.theory.foundations.argument_checks import whole_number
from whp.theory.marginalization.queries import Scalar, as_assignment, as_scalar

__all__ = ["CNF", "MAX_TABLE_VARIABLES", "DPPKernel", "QuadraticForm", "TruthTable", "require_table_size"]

MAX_TABLE_VARIABLES = 24
"""Largest ``n`` for which a table of ``2^n`` values is built."""


def require_table_size(n: int) -> None:
    """Refuse to build a table of ``2^n`` values for ``n`` above 24.

    Examples
    --------
    >>> require_table_size(30)
    Traceback (most recent call last):
    ...
    ValueError: a truth table over n=30 variables has 2^30 values (8 GiB at 8 bytes each); the largest n is 24
    """
    n = whole_number(n, "n", 0)
    if n > MAX_TABLE_VARIABLES:
        size, unit = (2 ** (n - 27), "GiB") if n >= 27 else (2 ** (n - 17), "MiB")
        shown = f"{size} {unit}" if n < 60 else f"2^{n - 27} GiB"
        raise ValueError(
            f"a truth table over n={n} variables has 2^{n} values ({shown} at 8 bytes each);"
            f" the largest n is {MAX_TABLE_VARIABLES}"
        )


def _as_table_array(values: Any) -> NDArray[Any]:
    """Values as int64 or float64 where that is lossless, else as Python numbers; one float makes all floats."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise TypeError(f"values must be a sequence of 2^n numbers, got {values!r}")
    array = values if isinstance(values, np.ndarray) else None
    if array is not None and array.dtype.kind in "iub" and array.dtype != np.uint64:
        return array.astype(np.int64)
    if array is not None and array.dtype.kind == "f":
        if not np.all(np.isfinite(array)):
            raise ValueError(f"values must be finite, got {array[~np.isfinite(array)][0]}")
        return _as_floats(array)
    numbers = [as_scalar(value, f"values[{k}]") for k, value in enumerate(values)]
    if any(isinstance(value, float) for value in numbers):
        return _as_floats(numbers)
    if all(isinstance(value, int) and -(2**63) <= value < 2**63 for value in numbers):
        return np.array(numbers, dtype=np.int64)
    boxed = np.empty(len(numbers), dtype=object)
    boxed[:] = numbers
    return boxed


def _as_floats(numbers: Any) -> NDArray[np.float64]:
    with np.errstate(over="ignore"):
        array = np.array([_as_float(value) for value in numbers] if isinstance(numbers, list) else numbers, np.float64)
    if not np.all(np.isfinite(array)):
        raise ValueError("values must lie in the range of float64 where one of them is a float; give them exactly")
    return array


def _as_float(value: Scalar) -> float:
    try:
        return float(value)
    except OverflowError:
        return np.inf


@dataclass(frozen=True, eq=False)
class TruthTable:
    """A function ``f : {0,1}^n -> Q`` by its ``2^n`` values.

    Parameters
    ----------
    n : int
        Number of variables, 0 to 24.
    values : array_like, shape (2**n,)
        ``f(0..00), f(0..01), ..., f(1..11)``: ``x_1`` is the highest bit of the index. Integers and fractions are
        kept exactly; one float among them makes all of them float64.

    Raises
    ------
    ValueError
        If ``n`` is above 24 (the message gives the size), the number of values is not ``2^n``, or one is not finite.

    Examples
    --------
    >>> f = TruthTable(2, [1, 2, 3, Fraction(1, 2)])
    >>> f(1, 0), f(1, 1), f.is_exact
    (3, Fraction(1, 2), True)
    """

    n: int
    values: Any  # array_like in, read-only ndarray kept

    def __post_init__(self) -> None:
        """Check the size and freeze the array."""
        require_table_size(self.n)
        object.__setattr__(self, "n", int(self.n))
        array = _as_table_array(self.values)
        if array.shape != (2**self.n,):
            raise ValueError(f"values must have 2^n = {2**self.n} entries for n={self.n}, got shape {array.shape}")
        array.flags.writeable = False
        object.__setattr__(self, "values", array)

    @classmethod
    def from_function(cls, n: int, f: Callable[[tuple[int, ...]], Scalar]) -> TruthTable:
        """Tabulate ``f`` at all ``2^n`` points.

        Examples
        --------
        >>> TruthTable.from_function(2, sum).values.tolist()
        [0, 1, 1, 2]
        """
        require_table_size(n)
        return cls(n, [f(x) for x in itertools.product((0, 1), repeat=n)])

    def __call__(self, *x: int) -> Scalar:
        """Value at a point."""
        index = int("".join(map(str, as_assignment(x, self.n))) or "0", 2)
        return as_scalar(self.values[index])

    def __eq__(self, other: object) -> bool:
        """Equal values at every point."""
        if not isinstance(other, TruthTable):
            return NotImplemented
        return self.n == other.n and bool(np.array_equal(self.values, other.values))

    def __hash__(self) -> int:
        """Hash of the values."""
        return hash((self.n, tuple(self.values.tolist())))

    @property
    def is_exact(self) -> bool:
        """Whether the values are integers or fractions."""
        return bool(self.values.dtype != np.float64)

    @property
    def is_nonnegative(self) -> bool:
        """Whether ``f(x) >= 0`` everywhere."""
        return not bool(np.any(self.values < 0))


def _as_bits(values: Any, name: str, shape: tuple[int, ...]) -> NDArray[np.bool_]:
    array = np.asarray(values)
    if array.size == 0:
        array = array.reshape(shape) if int(np.prod(shape)) == 0 else array
    if array.shape != shape:
        raise ValueError(f"{name} must have shape {shape}, got {array.shape}")
    if array.dtype.kind not in "biu" and array.size:
        raise TypeError(f"{name} must hold bits 0 and 1, got dtype {array.dtype}")
    if array.size and (array.min() < 0 or array.max() > 1):
        raise ValueError(f"{name} must hold bits 0 and 1, got values from {array.min()} to {array.max()}")
    bits = array.astype(np.bool_)
    bits.flags.writeable = False
    return bits


def _as_constant(value: Any) -> int:
    if not isinstance(value, int | np.integer | np.bool_) or value not in (0, 1):
        raise ValueError(f"constant must be 0 or 1, got {value!r}")
    return int(value)


@dataclass(frozen=True, eq=False)
class QuadraticForm:
    """``Q(x) = Σ_{i<j} β_ij x_i x_j + Σ α_i x_i + γ`` over GF(2).

    Parameters
    ----------
    quadratic : array_like of bits, shape (n, n)
        ``β``, zero on and below the diagonal.
    linear : array_like of bits, shape (n,)
        ``α``.
    constant : int
        ``γ``, 0 or 1.

    Raises
    ------
    ValueError
        If shapes disagree, an entry is no bit, or ``quadratic`` has entries on or below the diagonal.

    Examples
    --------
    >>> triangle = QuadraticForm.from_terms(3, [(0, 1), (1, 2), (0, 2)])
    >>> triangle((1, 1, 0)), triangle((1, 1, 1))
    (1, 1)
    """

    quadratic: Any  # array_like in, read-only (n, n) array of bool kept
    linear: Any  # array_like in, read-only (n,) array of bool kept
    constant: int = 0

    def __post_init__(self) -> None:
        """Check shapes, bits and the triangle."""
        linear = np.asarray(self.linear)
        if linear.ndim != 1:
            raise ValueError(f"linear must be one-dimensional, got shape {linear.shape}")
        n = linear.shape[0]
        quadratic = _as_bits(self.quadratic, "quadratic", (n, n))
        if n and np.any(np.tril(quadratic)):
            i, j = (int(v) for v in np.argwhere(np.tril(quadratic))[0])
            raise ValueError(f"quadratic must be zero on and below the diagonal, got 1 at ({i}, {j})")
        object.__setattr__(self, "quadratic", quadratic)
        object.__setattr__(self, "linear", _as_bits(linear, "linear", (n,)))
        object.__setattr__(self, "constant", _as_constant(self.constant))

    @classmethod
    def from_terms(cls, n: int, terms: Iterable[Sequence[int]], constant: int = 0) -> QuadraticForm:
        """Sum of monomials, each a sequence of variables; equal monomials cancel and ``x_i x_i = x_i``.

        Raises
        ------
        ValueError
            If a monomial has degree above 2 or names a variable outside ``0 .. n-1``.

        Examples
        --------
        >>> QuadraticForm.from_terms(2, [(0, 0), (1, 0), ()]).constant
        1
        """
        n = whole_number(n, "n", 0)
        quadratic = np.zeros((n, n), dtype=np.bool_)
        linear = np.zeros(n, dtype=np.bool_)
        constant = _as_constant(constant)
        for term in terms:
            if not isinstance(term, Iterable):
                raise TypeError(f"monomials must be sequences of variables, got {term!r}")
            variables = sorted({whole_number(v, "monomial variables") for v in term})
            if len(variables) > 2:
                raise ValueError(f"a quadratic form has monomials of degree at most 2, got {tuple(term)}")
            if variables and (variables[0] < 0 or variables[-1] >= n):
                raise ValueError(f"monomial variables must lie in 0..{n - 1}, got {tuple(term)}")
            if len(variables) == 2:
                quadratic[variables[0], variables[1]] ^= True
            elif variables:
                linear[variables[0]] ^= True
            else:
                constant ^= 1
        return cls(quadratic, linear, constant)

    @property
    def n(self) -> int:
        """Number of variables."""
        return int(self.linear.shape[0])

    @property
    def terms(self) -> tuple[tuple[int, ...], ...]:
        """Monomials with coefficient 1, the constant left out."""
        pairs = tuple((int(i), int(j)) for i, j in np.argwhere(self.quadratic))
        return pairs + tuple((int(i),) for i in np.flatnonzero(self.linear))

    def __call__(self, x: Sequence[int]) -> int:
        """``Q(x)``, 0 or 1."""
        point = np.array(as_assignment(x, self.n), dtype=np.int64)
        return int(point @ self.quadratic @ point + self.linear @ point + self.constant) % 2

    def __eq__(self, other: object) -> bool:
        """Equal coefficients."""
        if not isinstance(other, QuadraticForm):
            return NotImplemented
        return (
            self.constant == other.constant
            and np.array_equal(self.linear, other.linear)
            and np.array_equal(self.quadratic, other.quadratic)
        )

    def __hash__(self) -> int:
        """Hash of the coefficients."""
        return hash((self.quadratic.tobytes(), self.linear.tobytes(), self.constant))


@dataclass(frozen=True)
class DPPKernel:
    """Kernel ``L`` of a determinantal function ``f(x) = det(L_S)``, ``S`` the ones of ``x``.

    No symmetry or positivity is asked: the identities hold for every square matrix. A positive semidefinite ``L``
    makes ``f`` non-negative.

    Parameters
    ----------
    matrix : tuple of tuples, shape (n, n)
        Integers, fractions or floats; any square array is accepted.

    Examples
    --------
    >>> kernel = DPPKernel.of([[2, 1], [1, 2]])
    >>> kernel.n, kernel.is_exact
    (2, True)
    """

    matrix: tuple[tuple[Scalar, ...], ...]

    def __post_init__(self) -> None:
        """Check that the matrix is square and finite."""
        if any(isinstance(row, str) or not isinstance(row, Iterable) for row in self.matrix):
            raise TypeError(f"matrix must be a sequence of rows of numbers, got {self.matrix!r}")
        rows = tuple(
            tuple(as_scalar(entry, f"matrix[{i}][{j}]") for j, entry in enumerate(row))
            for i, row in enumerate(self.matrix)
        )
        for i, row in enumerate(rows):
            if len(row) != len(rows):
                raise ValueError(f"matrix must be square, got {len(rows)} rows and row {i} of length {len(row)}")
        object.__setattr__(self, "matrix", rows)

    @classmethod
    def of(cls, matrix: ArrayLike | Sequence[Sequence[Scalar]]) -> DPPKernel:
        """Kernel from any square array or nested list."""
        return cls(tuple(matrix))  # type: ignore[arg-type]

    @property
    def n(self) -> int:
        """Number of variables."""
        return len(self.matrix)

    @property
    def is_exact(self) -> bool:
        """Whether no entry is a float."""
        return not any(isinstance(entry, float) for row in self.matrix for entry in row)


@dataclass(frozen=True)
class CNF:
    """A formula in conjunctive normal form.

    Parameters
    ----------
    n : int
        Number of variables.
    clauses : tuple of tuples of int
        Literals in the DIMACS manner: ``k`` for ``x_k``, ``-k`` for its negation, ``1 <= k <= n``. The empty clause is
        false and the empty formula true.

    Examples
    --------
    >>> phi = CNF(2, ((1, 2), (-1,)))
    >>> phi((0, 1)), phi((1, 1))
    (1, 0)
    """

    n: int
    clauses: tuple[tuple[int, ...], ...]

    def __post_init__(self) -> None:
        """Check the literals."""
        object.__setattr__(self, "n", whole_number(self.n, "n", 0))
        if any(isinstance(clause, str) or not isinstance(clause, Iterable) for clause in self.clauses):
            raise TypeError(f"clauses must be sequences of literals, got {self.clauses!r}")
        clauses = tuple(tuple(whole_number(k, "literals") for k in clause) for clause in self.clauses)
        for clause in clauses:
            for literal in clause:
                if not 1 <= abs(literal) <= self.n:
                    raise ValueError(f"literals must be ±1..±{self.n}, got {literal}")
        object.__setattr__(self, "clauses", clauses)

    def __call__(self, x: Sequence[int]) -> int:
        """1 if ``x`` satisfies every clause, else 0."""
        point = as_assignment(x, self.n)
        return int(all(any(point[abs(k) - 1] == (k > 0) for k in clause) for clause in self.clauses))


def fraction_rows(kernel: DPPKernel) -> list[list[Fraction]]:
    """Kernel entries as exact fractions (a float is the dyadic rational it stands for)."""
    return [[Fraction(entry) for entry in row] for row in kernel.matrix]
