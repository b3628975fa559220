"""The functions that separate the query classes: edge-parity witness, pair lift, formula with its complement.

All three are worked out here; the paper's own witness functions were not seen.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from whp.theory.foundations.argument_checks import whole_number
from whp.theory.foundations.graphs import Graph, cut_distribution, weighted_cut_distribution
from whp.theory.marginalization.functions import CNF, QuadraticForm, TruthTable
from whp.theory.marginalization.queries import Pattern, Scalar, Weights, as_assignment, as_scalar

__all__ = [
    "CutWitness",
    "formula_with_complement",
    "hamming_cut_polynomial",
    "pair_lift",
    "virtual_cut_value",
    "witness_hamming_polynomial",
    "witness_network_polynomial",
]


@dataclass(frozen=True)
class CutWitness:
    """The function ``f(x, y) = (-1)^{Σ y_{ij,r} (x_i + x_j)}`` of T5.

    Variables ``x_0 .. x_{m-1}`` come first, then ``y_{ij,r}`` pair by pair in lexicographic order, the copies
    ``r`` of a pair side by side.

    Parameters
    ----------
    m : int
        Number of ``x`` variables (vertices).
    copies : int
        Copies ``R`` of each pair. ``C(m,2) + 1`` copies (see `full`) serve every graph on ``m`` vertices.

    Examples
    --------
    >>> witness = CutWitness.full(3)
    >>> witness.copies, witness.n, witness.y(0, 2, 1)
    (4, 15, 8)
    """

    m: int
    copies: int

    def __post_init__(self) -> None:
        """Check the sizes."""
        object.__setattr__(self, "m", whole_number(self.m, "m", 0))
        object.__setattr__(self, "copies", whole_number(self.copies, "copies", 1))

    @classmethod
    def full(cls, m: int) -> CutWitness:
        """The witness with ``R = C(m,2) + 1`` copies."""
        vertices = whole_number(m, "m", 0)
        return cls(vertices, vertices * (vertices - 1) // 2 + 1)

    @property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """Vertex pairs ``i < j`` in the order of the ``y`` variables."""
        return tuple(itertools.combinations(range(self.m), 2))

    @property
    def n(self) -> int:
        """Number of variables, ``m + R C(m,2)``."""
        return self.m + self.copies * (self.m * (self.m - 1) // 2)

    def y(self, i: int, j: int, r: int) -> int:
        """Position of ``y_{ij,r}`` among the variables, ``0 <= r < copies``."""
        i, j, r = whole_number(i, "i"), whole_number(j, "j"), whole_number(r, "r")
        if not 0 <= i < j < self.m:
            raise ValueError(f"vertices must satisfy 0 <= i < j < m={self.m}, got ({i}, {j})")
        if not 0 <= r < self.copies:
            raise ValueError(f"copy must lie in 0..{self.copies - 1}, got {r}")
        rank = i * self.m - i * (i + 1) // 2 + (j - i - 1)
        return self.m + rank * self.copies + r

    def form(self) -> QuadraticForm:
        """The exponent as a quadratic form over GF(2)."""
        terms = [(vertex, self.y(i, j, r)) for i, j in self.pairs for r in range(self.copies) for vertex in (i, j)]
        return QuadraticForm.from_terms(self.n, terms)

    def edge_weights(self, graph: Graph, w: Scalar) -> Weights:
        """The weights of T5b: ``(1,1)`` on ``x``, ``(w,1)`` on one copy of each edge, ``(0,1)`` on the other ``y``.

        Parallel edges of the graph take further copies.
        """
        one, off = (1, 1), (0, 1)
        pairs: list[tuple[Scalar, Scalar]] = [one if position < self.m else off for position in range(self.n)]
        for position in self._edge_positions(graph, 1):
            pairs[position] = (w, 1)
        return Weights(tuple(pairs))

    def edge_pattern(self, graph: Graph, copies: int) -> Pattern:
        """The pattern of T5c: stars on ``x`` and on ``copies`` copies of each edge, 0 elsewhere."""
        letters = ["*"] * self.m + ["0"] * (self.n - self.m)
        for position in self._edge_positions(graph, copies):
            letters[position] = "*"
        return Pattern("".join(letters))

    def _edge_positions(self, graph: Graph, copies: int) -> list[int]:
        copies = whole_number(copies, "copies", 0)
        if graph.n_vertices != self.m:
            raise ValueError(f"graph must have m={self.m} vertices, got {graph.n_vertices}")
        used: dict[tuple[int, int], int] = {}
        positions = []
        for i, j in graph.edges:
            first = used.get((i, j), 0)
            used[i, j] = first + copies
            if first + copies > self.copies:
                raise ValueError(
                    f"the witness has {self.copies} copies of each pair, the graph needs {first + copies} of ({i}, {j})"
                )
            positions += [self.y(i, j, r) for r in range(first, first + copies)]
        return positions


def witness_network_polynomial(witness: CutWitness, weights: Weights) -> Scalar:
    """``N`` of the witness with the ``y`` summed in closed form: ``Σ_x Π ω_i(x_i) Π (w̄_y + w_y (-1)^{x_i+x_j})``.

    Examples
    --------
    >>> witness_network_polynomial(CutWitness(2, 1), Weights.of([1, 1, 3]))  # 2 (1 + 3) + 2 (1 - 3)
    4
    """
    if weights.n != witness.n:
        raise ValueError(f"weights must have one pair per variable, n={witness.n}, got {weights.n}")
    active = [
        (i, j, w_bar + w, w_bar - w)
        for i, j in witness.pairs
        for w, w_bar in (weights.pairs[witness.y(i, j, r)] for r in range(witness.copies))
        if (w, w_bar) != (0, 1)
    ]
    first = Weights(weights.pairs[: witness.m])
    result: Scalar = 0
    for x in itertools.product((0, 1), repeat=witness.m):
        product = first.of_assignment(x)
        for i, j, agree, differ in active:
            product = product * (agree if x[i] == x[j] else differ)
        result = result + product
    return result


def witness_hamming_polynomial(witness: CutWitness, q: Pattern) -> tuple[int, ...]:
    """Coefficients, ``k = 0 .. n``, of the Hamming generating function of the witness under ``q``.

    ``Σ_x t^{|x|} Π`` over the ``y`` of ``1 + t χ`` at stars, ``t χ`` at ones and 1 at zeros, ``χ = (-1)^{x_i + x_j}``.

    Examples
    --------
    >>> witness_hamming_polynomial(CutWitness(2, 1), Pattern("***"))
    (1, 3, -1, 1)
    """
    if q.n != witness.n:
        raise ValueError(f"pattern must have length n={witness.n}, got {q.n}")
    touched = [
        (i, j, q.letters[witness.y(i, j, r)])
        for i, j in witness.pairs
        for r in range(witness.copies)
        if q.letters[witness.y(i, j, r)] != "0"
    ]
    tally: dict[tuple[int, int, int], int] = {}
    for x in Pattern(q.letters[: witness.m]).assignments():
        odd_stars = sum(x[i] != x[j] for i, j, letter in touched if letter == "*")
        odd_ones = sum(x[i] != x[j] for i, j, letter in touched if letter == "1")
        key = (sum(x), odd_stars, odd_ones % 2)
        tally[key] = tally.get(key, 0) + 1
    stars = sum(letter == "*" for _, _, letter in touched)
    coefficients = [0] * (witness.n + 1)
    for (weight, odd, flip), count in tally.items():
        for power, value in enumerate(_signed_binomials(stars - odd, odd)):
            coefficients[weight + len(touched) - stars + power] += (-1) ** flip * count * value
    return tuple(coefficients)


def _signed_binomials(even: int, odd: int) -> list[int]:
    """Coefficients of ``(1+t)^even (1-t)^odd``."""
    factor = [1]
    for sign in [1] * even + [-1] * odd:
        factor = [a + sign * b for a, b in zip([*factor, 0], [0, *factor], strict=True)]
    return factor


def virtual_cut_value(graph: Graph, w: Scalar) -> Scalar:
    """``Σ_x (1+w)^{|E|-cut(x)} (1-w)^{cut(x)}``, what VM on the witness answers in T5b.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from whp.theory.foundations.graphs import complete_graph
    >>> virtual_cut_value(complete_graph(3), Fraction(1, 3))
    Fraction(224, 27)
    """
    w = as_scalar(w, "w")
    terms = enumerate(cut_distribution(graph))
    return sum((count * (1 + w) ** (graph.n_edges - c) * (1 - w) ** c for c, count in terms if count), 0)


def hamming_cut_polynomial(graph: Graph, copies: int) -> tuple[int, ...]:
    """Coefficients of ``H_d(t) = Σ_x t^{|x|} [(1+t)^{|E|-cut(x)} (1-t)^{cut(x)}]^d``, ``d = copies`` (T5c).

    Examples
    --------
    >>> from whp.theory.foundations.graphs import complete_graph
    >>> hamming_cut_polynomial(complete_graph(3), 1)
    (1, 6, 3, -4, 3, 6, 1)
    """
    copies = whole_number(copies, "copies", 0)
    size = copies * graph.n_edges
    coefficients = [0] * (graph.n_vertices + size + 1)
    for (ones, cut), count in weighted_cut_distribution(graph).items():
        for power, value in enumerate(_signed_binomials(size - copies * cut, copies * cut)):
            coefficients[ones + power] += count * value
    return tuple(coefficients)


def pair_lift(f: TruthTable) -> TruthTable:
    """``g(x, y) = f(x) [y_i = 1 - x_i for all i]`` over ``2n`` variables, ``x`` first (T6).

    Examples
    --------
    >>> pair_lift(TruthTable(1, [5, 7])).values.tolist()  # 00, 01, 10, 11
    [0, 5, 7, 0]
    """

    def lifted(z: Sequence[int]) -> Scalar:
        x, y = z[: f.n], z[f.n :]
        return f(*x) if all(a + b == 1 for a, b in zip(x, y, strict=True)) else 0

    return TruthTable.from_function(2 * f.n, lifted)


def formula_with_complement(phi: CNF, point: Sequence[int]) -> int:
    """``f(x, s)``: ``φ(x)`` where ``s = 0`` and ``1 - φ(x)`` where ``s = 1``; ``s`` is the last variable (T6b).

    Examples
    --------
    >>> formula_with_complement(CNF(1, ((1,),)), (0, 1))
    1
    """
    *x, s = as_assignment(point, phi.n + 1)
    return 1 - phi(x) if s else phi(x)
