"""Proofs on stated scopes: polynomial identities for all weights; all small functions, forms and graphs."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Any

from whp.algorithms import marginalization as solvers
from whp.proofs_checks.engine import Proof, ProofResult, exhaustive, polynomial_identity
from whp.proofs_checks.marginalization.brute_force_oracle import BruteForceOracle, WitnessOracle
from whp.theory.foundations.graphs import Graph, all_graphs, cut_distribution, weighted_cut_distribution
from whp.theory.marginalization import (
    CNF,
    CutWitness,
    Pattern,
    QuadraticForm,
    Query,
    TruthTable,
    Weights,
    formula_with_complement,
    gauss_sum_by_definition,
    hamming_congruence,
    hamming_cut_polynomial,
    hamming_marginals,
    marginal,
    network_polynomial,
    pair_lift,
    witness_hamming_polynomial,
)

MOST_VARIABLES = 4


def conjunction(parts: Iterable[tuple[str, ProofResult]]) -> ProofResult:
    """Proved when every part is; otherwise the first part that is not, with its name."""
    count = 0
    for name, result in parts:
        if result.outcome != "proved":
            return ProofResult(result.outcome, f"{name}: {result.detail}", "", result.counterexample)
        count += 1
    if count == 0:
        return ProofResult("inconclusive", "there are no parts, so nothing was decided.")
    return ProofResult("proved", f"all {count} identities hold.")


def _points(n: int) -> list[tuple[int, ...]]:
    return list(itertools.product((0, 1), repeat=n))


def _patterns(n: int) -> Iterator[Pattern]:
    return (Pattern("".join(letters)) for letters in itertools.product("01*", repeat=n))


class Symbols:
    """Function values, weights and kernel entries as symbols, and the sums of the setting over them."""

    def __init__(self, n: int) -> None:
        self.n = n
        self.values = [f"f{k}" for k in range(2**n)]
        self.w = [f"w{i}" for i in range(n)]
        self.w_bar = [f"v{i}" for i in range(n)]

    def network(self, f: Sequence[Any], w: Sequence[Any], w_bar: Sequence[Any]) -> Any:
        """``Σ_x f(x) Π w^x w̄^(1-x)`` for any kind of number."""
        result: Any = 0
        for value, x in zip(f, _points(self.n), strict=True):
            product = value
            for bit, a, b in zip(x, w, w_bar, strict=True):
                product = product * (a if bit else b)
            result = result + product
        return result

    def split(self, symbols: Sequence[Any]) -> tuple[Sequence[Any], Sequence[Any], Sequence[Any]]:
        """Function values, weights ``w`` and ``w̄`` in a list of all symbols."""
        size = 2**self.n
        return symbols[:size], symbols[size : size + self.n], symbols[size + self.n :]

    def decide(self, left: Callable[..., Any], right: Callable[..., Any], divisors: Callable[..., Any]) -> ProofResult:
        """Polynomial identity in all values and weights; both sides get ``(f, w, w̄)``."""
        import sympy

        symbols = [sympy.Symbol(name) for name in (*self.values, *self.w, *self.w_bar)]
        parts = self.split(symbols)
        return polynomial_identity(left(*parts), right(*parts), symbols, divisors(*parts))


def _no_divisors(f: Any, w: Any, w_bar: Any) -> list[Any]:
    return []


def _product(factors: Iterable[Any]) -> Any:
    result: Any = 1
    for factor in factors:
        result = result * factor
    return result


def grid_for_all_functions() -> ProofResult:
    """T2: every pattern, every f; and N from p wherever no sum vanishes."""
    return conjunction(_grid_identities())


def _grid_identities() -> Iterator[tuple[str, ProofResult]]:
    half = Fraction(1, 2)
    for n in range(MOST_VARIABLES + 1):
        system = Symbols(n)
        for q in _patterns(n):
            u = [half if letter == "*" else int(letter) for letter in q.letters]

            def left(f: Any, w: Any, w_bar: Any, q: Pattern = q) -> Any:
                return sum(value for value, x in zip(f, _points(q.n), strict=True) if q.admits(x))

            def right(f: Any, w: Any, w_bar: Any, q: Pattern = q, u: Any = u, system: Symbols = system) -> Any:
                return 2**q.s * system.network(f, u, [1 - value for value in u])

            yield f"pattern {q.letters!r}", system.decide(left, right, _no_divisors)

        def scaled(f: Any, w: Any, w_bar: Any, system: Symbols = system) -> Any:
            u = [a / (a + b) for a, b in zip(w, w_bar, strict=True)]
            complement = [1 - value for value in u]
            return _product(a + b for a, b in zip(w, w_bar, strict=True)) * system.network(f, u, complement)

        def sums(f: Any, w: Any, w_bar: Any) -> list[Any]:
            return [a + b for a, b in zip(w, w_bar, strict=True)]

        yield f"N from p, n = {n}", system.decide(system.network, scaled, sums)


def conversions_for_all_functions() -> ProofResult:
    """T3: N from g, g from N, and F from its Walsh–Hadamard coefficients."""
    return conjunction(_conversion_identities())


def _conversion_identities() -> Iterator[tuple[str, ProofResult]]:
    for n in range(MOST_VARIABLES + 1):
        system = Symbols(n)

        def from_generating(f: Any, w: Any, w_bar: Any, system: Symbols = system) -> Any:
            ratios = [a / b for a, b in zip(w, w_bar, strict=True)]
            return _product(w_bar) * system.network(f, ratios, [1] * system.n)

        def bars(f: Any, w: Any, w_bar: Any) -> list[Any]:
            return list(w_bar)

        def fourier(f: Any, w: Any, w_bar: Any, system: Symbols = system) -> Any:
            halves = [(1 - s) / 2 for s in w]
            return system.network(f, halves, [1 - value for value in halves])

        def walsh_hadamard(f: Any, w: Any, w_bar: Any, n: int = n) -> Any:
            result: Any = 0
            for subset in _points(n):
                signs = [(-1) ** sum(a * b for a, b in zip(subset, x, strict=True)) for x in _points(n)]
                coefficient = sum(sign * value for sign, value in zip(signs, f, strict=True)) / _exact(2**n)
                result = result + coefficient * _product(s for s, bit in zip(w, subset, strict=True) if bit)
            return result

        def likelihood(f: Any, w: Any, w_bar: Any, system: Symbols = system) -> Any:
            return system.network(f, w, [1 - value for value in w])

        def moebius(f: Any, w: Any, w_bar: Any, n: int = n) -> Any:
            result: Any = 0
            for subset in _points(n):
                below = [x for x in _points(n) if all(a <= b for a, b in zip(x, subset, strict=True))]
                terms = ((-1) ** (sum(subset) - sum(x)) * f[_index(x)] for x in below)
                result = result + sum(terms) * _product(s for s, bit in zip(w, subset, strict=True) if bit)
            return result

        yield f"N from g, n = {n}", system.decide(system.network, from_generating, bars)
        yield f"F by Walsh–Hadamard, n = {n}", system.decide(fourier, walsh_hadamard, _no_divisors)
        yield f"p by Möbius, n = {n}", system.decide(likelihood, moebius, _no_divisors)


def _exact(value: int) -> Any:
    import sympy

    return sympy.Integer(value)


def _index(x: Sequence[int]) -> int:
    return int("".join(map(str, x)) or "0", 2)


def determinants_for_all_kernels() -> ProofResult:
    """T4: all kernels and all weights."""
    return conjunction(_determinant_identities())


def _determinant_identities() -> Iterator[tuple[str, ProofResult]]:
    import sympy

    for n in range(1, MOST_VARIABLES + 1):
        kernel = [[sympy.Symbol(f"l{i}{j}") for j in range(n)] for i in range(n)]
        w = [sympy.Symbol(f"w{i}") for i in range(n)]
        w_bar = [sympy.Symbol(f"v{i}") for i in range(n)]
        minors = []
        for x in _points(n):
            ones = [i for i, bit in enumerate(x) if bit]
            minors.append(_leibniz([[kernel[i][j] for j in ones] for i in ones]))
        weighted = [[w[i] * kernel[i][j] + (w_bar[i] if i == j else 0) for j in range(n)] for i in range(n)]
        symbols = [entry for row in kernel for entry in row] + w + w_bar
        left = _leibniz(weighted)
        yield f"n = {n}", polynomial_identity(left, Symbols(n).network(minors, w, w_bar), symbols)


def _leibniz(matrix: Sequence[Sequence[Any]]) -> Any:
    result: Any = 0
    for permutation in itertools.permutations(range(len(matrix))):
        inversions = sum(a > b for a, b in itertools.combinations(permutation, 2))
        entries = (matrix[row][column] for row, column in enumerate(permutation))
        result = result + (-1) ** inversions * _product(entries)
    return result


def reductions_on_a_basis() -> ProofResult:
    """T1: one-hot functions span all functions, and every reduction is linear in the answers."""

    def holds(instance: tuple[TruthTable, Pattern]) -> bool:
        table, q = instance
        expected, vector = marginal(table, q), hamming_marginals(table, q)
        oracle = BruteForceOracle(table)
        answers: Any = solvers
        return bool(
            answers.pm_from_vm(oracle, q) == expected
            and answers.pm_from_hm(oracle, q) == expected
            and answers.hm_from_vm(oracle, q) == vector
            and answers.hm_from_vm_on_stars(oracle, q) == vector
            and all(answers.ev_from_pm(oracle, x) == table(*x) for x in q.assignments())
        )

    family = (
        (TruthTable(n, [int(k == hot) for k in range(2**n)]), q)
        for n in range(4)
        for hot in range(2**n)
        for q in _patterns(n)
    )
    return exhaustive(family, holds)


def all_forms(most: int) -> Iterator[QuadraticForm]:
    """Every quadratic form on at most so many variables, smallest first."""
    for n in range(most + 1):
        monomials = [*itertools.combinations(range(n), 2), *((i,) for i in range(n)), ()]
        for chosen in itertools.product((0, 1), repeat=len(monomials)):
            yield QuadraticForm.from_terms(n, [term for term, bit in zip(monomials, chosen, strict=True) if bit])


def gauss_sums_of_all_small_forms() -> ProofResult:
    """T5a: value and shape; with every pattern up to three variables."""

    def holds(form: QuadraticForm) -> bool:
        expected = gauss_sum_by_definition(form)
        size = abs(expected)
        shaped = size == 0 or (size & (size - 1) == 0 and 2**form.n <= size**2 <= 4**form.n)
        patterns = _patterns(form.n) if form.n <= 3 else ()
        return (
            shaped
            and solvers.gauss_sum(form).value == expected
            and all(solvers.pm_quadratic(form, q) == gauss_sum_by_definition(form, q) for q in patterns)
        )

    return exhaustive(all_forms(4), holds)


def congruence_of_all_small_forms() -> ProofResult:
    """T10: every form on at most four variables."""

    def holds(form: QuadraticForm) -> bool:
        sums = [0] * (form.n + 1)
        for x in _points(form.n):
            sums[sum(x)] += 1 - 2 * form(x)
        return tuple(value % 4 for value in sums) == hamming_congruence(form)

    return exhaustive(all_forms(4), holds)


def graphs_up_to_isomorphism(most: int) -> Iterator[Graph]:
    """One graph of each isomorphism class on at most so many vertices, fewest vertices first."""
    for n in range(most + 1):
        pairs = list(itertools.combinations(range(n), 2))
        rank = {pair: k for k, pair in enumerate(pairs)}
        images = [[rank[min(p[i], p[j]), max(p[i], p[j])] for i, j in pairs] for p in itertools.permutations(range(n))]
        seen: set[int] = set()
        for mask, graph in enumerate(all_graphs(n)):
            if mask in seen:
                continue
            bits = [k for k in range(len(pairs)) if mask >> k & 1]
            seen.update(sum(1 << image[k] for k in bits) for image in images)
            yield graph


def virtual_evidence_on_all_small_graphs() -> ProofResult:
    """T5b: N as a polynomial in w, read off all assignments of x and y; and the decoded cut numbers."""

    def holds(graph: Graph) -> bool:
        witness = CutWitness(graph.n_vertices, 1)
        decoded = solvers.cut_distribution_from_vm(_as_oracle(witness), witness, graph)
        return _coefficients_in_w(graph) == _closed_form_in_w(graph) and decoded == cut_distribution(graph)

    return exhaustive(graphs_up_to_isomorphism(5), holds)


def _as_oracle(witness: CutWitness) -> Any:
    return WitnessOracle(witness)


def _coefficients_in_w(graph: Graph) -> list[int]:
    """``Σ_{x,y} f(x,y) w^{|y|}`` with one free ``y`` an edge, by definition."""
    coefficients = [0] * (graph.n_edges + 1)
    for x in _points(graph.n_vertices):
        differs = [x[i] ^ x[j] for i, j in graph.edges]
        for y in _points(graph.n_edges):
            exponent = sum(a & b for a, b in zip(y, differs, strict=True))
            coefficients[sum(y)] += (-1) ** exponent
    return coefficients


def _closed_form_in_w(graph: Graph) -> list[int]:
    """``Σ_c D_c (1+w)^{|E|-c} (1-w)^c``."""
    coefficients = [0] * (graph.n_edges + 1)
    for c, count in enumerate(cut_distribution(graph)):
        factor = [1]
        for sign in [1] * (graph.n_edges - c) + [-1] * c:
            factor = [a + sign * b for a, b in zip([*factor, 0], [0, *factor], strict=True)]
        coefficients = [total + count * value for total, value in zip(coefficients, factor, strict=True)]
    return coefficients


def slices_on_all_small_graphs() -> ProofResult:
    """T5c: the slices for every number of copies, and the decoded numbers."""

    def holds(graph: Graph) -> bool:
        witness = CutWitness(graph.n_vertices, graph.n_edges + 1)
        for copies in range(1, graph.n_edges + 2):
            slices = witness_hamming_polynomial(witness, witness.edge_pattern(graph, copies))
            closed = hamming_cut_polynomial(graph, copies)
            if slices[: len(closed)] != closed or any(slices[len(closed) :]):
                return False
        decoded = solvers.cut_distribution_from_hm(_as_oracle(witness), witness, graph)
        return decoded == weighted_cut_distribution(graph)

    return exhaustive(graphs_up_to_isomorphism(5), holds)


def lifts_of_all_small_functions() -> ProofResult:
    """T6: one-hot functions on at most two variables under every pattern; forms of all small graphs."""

    def holds(instance: tuple[TruthTable, Pattern]) -> bool:
        table, q = instance
        lifted, n = pair_lift(table), table.n
        base: Any = BruteForceOracle(table)
        oracle = solvers.PairLiftOracle(base)
        answers = tuple(oracle.hamming_marginal(q, k) for k in range(2 * n + 1))
        asked_well = base.calls[Query.PM] <= 1 and set(base.calls) <= {Query.PM}
        return answers == hamming_marginals(lifted, q) and asked_well and _lift_keeps_virtual_evidence(table, oracle)

    basis = (
        (TruthTable(n, [int(k == hot) for k in range(2**n)]), q)
        for n in range(3)
        for hot in range(2**n)
        for q in _patterns(2 * n)
    )
    return exhaustive(itertools.chain(basis, _lifted_graph_forms()), holds)


def _lift_keeps_virtual_evidence(table: TruthTable, oracle: solvers.PairLiftOracle) -> bool:
    """VM of g with weight (1,1) on y against f; 0/1 weights suffice, as both sides are linear in each (w_i, w̄_i)."""
    corners = ((x, Weights.selecting(Pattern.of(x)).pairs + ((1, 1),) * table.n) for x in _points(table.n))
    lifted = pair_lift(table)
    return all(
        oracle.virtual_evidence(Weights(pairs)) == table(*x) == network_polynomial(lifted, Weights(pairs))
        for x, pairs in corners
    )


def _lifted_graph_forms() -> Iterator[tuple[TruthTable, Pattern]]:
    for graph in graphs_up_to_isomorphism(5):
        form = QuadraticForm.from_terms(graph.n_vertices, graph.edges)
        yield solvers.quadratic_truth_table(form), Pattern.free(2 * form.n)


def counts_of_all_small_formulas() -> ProofResult:
    """T6b: every Boolean function of at most three variables, as its canonical formula."""

    def holds(phi: CNF) -> bool:
        values = [formula_with_complement(phi, point) for point in _points(phi.n + 1)]
        models = sum(phi(x) for x in _points(phi.n))
        at_zero: Any = solvers.model_count_from_pm
        table = TruthTable(phi.n + 1, values)
        return bool(sum(values) == 2**phi.n and at_zero(BruteForceOracle(table)) == models)

    def canonical(n: int, falsified: Sequence[tuple[int, ...]]) -> CNF:
        return CNF(n, tuple(tuple(-(i + 1) if bit else i + 1 for i, bit in enumerate(x)) for x in falsified))

    family = (
        canonical(n, [x for x, bit in zip(_points(n), chosen, strict=True) if bit])
        for n in range(4)
        for chosen in itertools.product((0, 1), repeat=2**n)
    )
    return exhaustive(family, holds)


def sampling_from_all_small_tables() -> ProofResult:
    """T9: the product of conditionals is f(x)/Σf."""

    def holds(values: tuple[int, ...]) -> bool:
        n = len(values).bit_length() - 1
        table = TruthTable(n, values)
        conditionals: Any = solvers.ancestral_conditionals
        return all(
            _product(Fraction(c) for c in conditionals(BruteForceOracle(table), x)) == Fraction(value, sum(values))
            for value, x in zip(values, _points(n), strict=True)
        )

    family = (values for n in range(3) for values in itertools.product(range(4), repeat=2**n) if any(values))
    return exhaustive(family, holds)


def _proof(theorem: str, name: str, scope: str, decide: Callable[[], ProofResult]) -> Proof:
    return Proof(f"marginalization.{theorem}", name, scope, decide)


PROOFS = (
    _proof(
        "T1", "basis", "all functions over any field of characteristic 0, all patterns, n <= 3", reductions_on_a_basis
    ),
    _proof("T2", "symbolic", f"all functions and all weights, n <= {MOST_VARIABLES}", grid_for_all_functions),
    _proof("T3", "symbolic", f"all functions and all weights, n <= {MOST_VARIABLES}", conversions_for_all_functions),
    _proof("T4", "symbolic", f"all kernels and all weights, 1 <= n <= {MOST_VARIABLES}", determinants_for_all_kernels),
    _proof("T5a", "exhaustive", "all forms, n <= 4; all patterns, n <= 3", gauss_sums_of_all_small_forms),
    _proof(
        "T5b",
        "exhaustive",
        "all graphs on at most 5 vertices up to isomorphism, all w",
        virtual_evidence_on_all_small_graphs,
    ),
    _proof("T5c", "exhaustive", "all graphs on at most 5 vertices up to isomorphism", slices_on_all_small_graphs),
    _proof(
        "T6",
        "exhaustive",
        "all functions, patterns and weights, n <= 2; forms of all graphs on at most 5 vertices up to isomorphism",
        lifts_of_all_small_functions,
    ),
    _proof("T6b", "exhaustive", "all Boolean functions of at most 3 variables", counts_of_all_small_formulas),
    _proof("T9", "exhaustive", "all tables with values 0..3, n <= 2", sampling_from_all_small_tables),
    _proof("T10", "exhaustive", "all forms, n <= 4", congruence_of_all_small_forms),
)
