"""Checks of T6 (pair lift), T6b (formula with its complement) and T6c (differences of counts)."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from whp.algorithms import marginalization as solvers
from whp.proofs_checks.engine import Check, Instances, Mutant, Slack, at_least, at_most, identity, requires
from whp.proofs_checks.marginalization.brute_force_oracle import BruteForceOracle
from whp.proofs_checks.marginalization.instances import TableQuery, structured_integer_tables, table_queries
from whp.proofs_checks.marginalization.outputs import exact_number
from whp.theory.core import Slot
from whp.theory.marginalization import (
    CNF,
    Pattern,
    Query,
    Scalar,
    TruthTable,
    Weights,
    formula_with_complement,
    hamming_marginal,
    network_polynomial,
    pair_lift,
    total,
)

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy


@dataclass(frozen=True)
class LiftedQuery:
    """A function, with a pattern over the doubled variables and weights over its own."""

    table: TruthTable
    lifted: Pattern
    weights: Weights


@dataclass(frozen=True)
class FormulaQuery:
    """A formula whose models are counted."""

    phi: CNF


def lifted_queries() -> Mapping[str, LiftedQuery]:
    """Reference functions with evidence that agrees, clashes, or is missing."""
    path = TruthTable.from_function(4, lambda x: 1 - 2 * ((x[0] * x[1] + x[1] * x[2] + x[2] * x[3]) % 2))
    ones = Weights.of([2, 3, -1, Fraction(1, 2)])
    return {
        "path on four, no evidence": LiftedQuery(path, Pattern("*" * 8), ones),
        "path on four, evidence": LiftedQuery(path, Pattern("1***" + "*0**"), ones),
        "path on four, clash": LiftedQuery(path, Pattern("1***" + "1***"), ones),
        "no variable": LiftedQuery(TruthTable(0, [3]), Pattern(""), Weights(())),
    }


def draw_lifted_queries(rng: np.random.Generator, size: int) -> list[LiftedQuery]:
    """Integer tables on 1 to 3 variables with random patterns over the doubled variables."""
    found = []
    for _ in range(size):
        n = int(rng.integers(1, 4))
        weights = Weights.of([Fraction(int(a), int(b)) for a, b in rng.integers([-4, 1], [5, 4], size=(n, 2))])
        pattern = Pattern("".join(rng.choice(list("01***"), size=2 * n)))
        found.append(LiftedQuery(TruthTable(n, rng.integers(-4, 5, size=2**n)), pattern, weights))
    return found


def structured_lifted_queries() -> SearchStrategy[LiftedQuery]:
    """Integer tables on 0 to 2 variables."""
    from hypothesis import strategies as st

    @st.composite
    def queries(draw: Any) -> LiftedQuery:
        n = draw(st.integers(0, 2))
        values = draw(st.lists(st.integers(-3, 3), min_size=2**n, max_size=2**n))
        letters = draw(st.lists(st.sampled_from("*01"), min_size=2 * n, max_size=2 * n))
        weights = draw(st.lists(st.integers(-3, 3), min_size=n, max_size=n))
        return LiftedQuery(TruthTable(n, values), Pattern("".join(letters)), Weights.of(weights))

    return queries()


PAIR_LIFT = Slot(
    "pair_lift",
    "(base)",
    "base: oracle for f that answers PM and VM",
    "oracle over 2n variables with hamming_marginal(q, k) and virtual_evidence(weights)",
    ("base",),
)
MODEL_COUNT = Slot(
    "model_count_from_pm",
    "(oracle)",
    "oracle: answers PM for f(x, s)",
    "number of models, int",
    ("oracle",),
    validate=exact_number,
)
COUNT_DIFFERENCE = Slot(
    "difference_of_counts",
    "(table, weights)",
    "table: integer TruthTable; weights: exact Weights",
    "object with positive, negative and denominator, ints",
    ("table", "weights"),
)


def slices_by_one_plain_query(instance: LiftedQuery, *, pair_lift: Any) -> Slack:
    """HM of the lift at every k, each by at most one PM query of f; VM of the lift as VM of f."""
    f, n = instance.table, instance.table.n
    lifted_table = _lift(f)
    clauses = Slack(())
    for k in range(2 * n + 1):
        base = BruteForceOracle(f)
        answer = pair_lift(base).hamming_marginal(instance.lifted, k)
        clauses &= identity("HM", answer, hamming_marginal(lifted_table, instance.lifted, k))
        clauses &= at_most("PM queries", base.calls[Query.PM], 1 if k == n else 0)
        clauses &= identity("other queries", base.calls.total() - base.calls[Query.PM], 0)
    doubled = Weights(instance.weights.pairs + ((1, 1),) * n)
    base = BruteForceOracle(f)
    answer = pair_lift(base).virtual_evidence(doubled)
    asked = at_most("VM queries", base.calls.total(), 1)
    return clauses & identity("VM", answer, network_polynomial(f, instance.weights)) & asked


_lift = pair_lift


def formula_counts(instance: FormulaQuery, *, model_count_from_pm: Any) -> Slack:
    """The full count is 2^n whatever the formula; the marginal at s = 0 counts its models."""
    phi = instance.phi
    table = TruthTable.from_function(phi.n + 1, lambda point: formula_with_complement(phi, point))
    return _formula_clauses(phi, table, model_count_from_pm)


def formula_without_complement(instance: FormulaQuery, *, model_count_from_pm: Any) -> Slack:
    """``f(x, s) = φ(x)`` for either s."""
    phi = instance.phi
    table = TruthTable.from_function(phi.n + 1, lambda point: phi(point[:-1]))
    return _formula_clauses(phi, table, model_count_from_pm)


def _formula_clauses(phi: CNF, table: TruthTable, model_count_from_pm: Any) -> Slack:
    oracle = BruteForceOracle(table)
    models = sum(phi(x) for x in itertools.product((0, 1), repeat=phi.n))
    return (
        identity("full count", total(table), 2**phi.n)
        & identity("models", model_count_from_pm(oracle), models)
        & at_most("PM queries", oracle.calls[Query.PM], 1)
        & identity("other queries", oracle.calls.total() - oracle.calls[Query.PM], 0)
    )


def named_formulas() -> Mapping[str, FormulaQuery]:
    """Contradiction, tautology, and small formulas."""
    formulas = {
        "no clause": CNF(2, ()),
        "empty clause": CNF(2, ((),)),
        "contradiction": CNF(1, ((1,), (-1,))),
        "implication chain": CNF(4, ((-1, 2), (-2, 3), (-3, 4))),
        "no variable": CNF(0, ()),
    }
    return {name: FormulaQuery(phi) for name, phi in formulas.items()}


def structured_formulas() -> SearchStrategy[FormulaQuery]:
    """Formulas over 0 to 4 variables with at most 5 clauses."""
    from hypothesis import strategies as st

    @st.composite
    def formulas(draw: Any) -> FormulaQuery:
        n = draw(st.integers(0, 4))
        literals = [k for v in range(1, n + 1) for k in (v, -v)]
        clause = st.lists(st.sampled_from(literals), max_size=3) if literals else st.just([])
        return FormulaQuery(CNF(n, tuple(tuple(c) for c in draw(st.lists(clause, max_size=5)))))

    return formulas()


def sums_are_differences_of_counts(instance: TableQuery, *, difference_of_counts: Any) -> Slack:
    """``N = (A - B)/D``, with A and B counted one choice at a time."""
    table, weights = instance.table, instance.weights
    split = difference_of_counts(table, weights)
    positive, negative, denominator = _choices(table, weights)
    return (
        at_least("A >= 0", split.positive, 0)
        & at_least("B >= 0", split.negative, 0)
        & requires(
            "whole numbers", all(isinstance(v, int) for v in (split.positive, split.negative, split.denominator))
        )
        & identity("N", split.positive - split.negative, network_polynomial(table, weights) * split.denominator)
        & identity("D", split.denominator, denominator)
        & identity("A", split.positive, positive)
        & identity("B", split.negative, negative)
    )


def _choices(table: TruthTable, weights: Weights) -> tuple[int, int, int]:
    """Count, by listing them, a point with one unit from each magnitude; positive and negative ones apart."""
    commons = [np.lcm(Fraction(w).denominator, Fraction(v).denominator) for w, v in weights.pairs]
    counts = [0, 0]
    for value, x in zip(table.values.tolist(), itertools.product((0, 1), repeat=table.n), strict=True):
        factors = [value]
        for (w, w_bar), bit, common in zip(weights.pairs, x, commons, strict=True):
            factors.append(int(Fraction(w if bit else w_bar) * int(common)))
        sign = sum(factor < 0 for factor in factors) % 2
        counts[sign] += sum(1 for _ in itertools.product(*(range(abs(factor)) for factor in factors)))
    denominator = 1
    for common in commons:
        denominator *= int(common)
    return counts[0], counts[1], denominator


def integer_tables() -> Mapping[str, TableQuery]:
    """Reference functions with small weights."""
    small = {"triangle form", "no variable", "zero function", "one point, contradicted"}
    return {name: query for name, query in table_queries().items() if name in small}


# mutants


def _lift_of_equals(base: Any) -> Any:
    """``y_i = x_i``: the weight is 2|x|, so HM takes Hamming sums of f."""
    n = base.n

    def slice_of(q: Pattern, k: int) -> Scalar:
        merged = Pattern(q.letters[:n]).merged(Pattern(q.letters[n:]))
        if merged is None or k % 2:
            return 0
        answer: Scalar = base.hamming_marginal(merged, k // 2)
        return answer

    def soft(weights: Weights) -> Scalar:
        pairs = zip(weights.pairs[:n], weights.pairs[n:], strict=True)
        answer: Scalar = base.virtual_evidence(Weights(tuple((w * v, wb * vb) for (w, wb), (v, vb) in pairs)))
        return answer

    return solvers.FunctionOracle(2 * n, hamming_marginal=slice_of, virtual_evidence=soft)


def _lift_at_every_weight(base: Any) -> Any:
    """The PM answer at every k."""
    lifted = solvers.PairLiftOracle(base)
    return solvers.FunctionOracle(
        2 * base.n, hamming_marginal=lambda q, k: lifted.marginal(q), virtual_evidence=lifted.virtual_evidence
    )


def _lift_ignoring_clashes(base: Any) -> Any:
    """Evidence on x alone."""
    n = base.n
    return solvers.FunctionOracle(
        2 * n,
        hamming_marginal=lambda q, k: base.marginal(q.letters[:n]) if k == n else 0,
        virtual_evidence=solvers.PairLiftOracle(base).virtual_evidence,
    )


def _lift_with_unit_weights(base: Any) -> Any:
    """VM without the weights."""
    lifted = solvers.PairLiftOracle(base)
    return solvers.FunctionOracle(
        2 * base.n,
        hamming_marginal=lifted.hamming_marginal,
        virtual_evidence=lambda weights: base.marginal("*" * base.n),
    )


def _count_at_one(oracle: Any) -> Scalar:
    """``s = 1``: the models of the negation."""
    answer: Scalar = oracle.marginal(Pattern("*" * (oracle.n - 1) + "1"))
    return answer


def _full_count(oracle: Any) -> Scalar:
    answer: Scalar = oracle.marginal(Pattern.free(oracle.n))
    return answer


def _without_denominators(table: TruthTable, weights: Weights) -> solvers.CountDifference:
    """Numerators only."""
    split = solvers.difference_of_counts(table, weights)
    return solvers.CountDifference(split.positive, split.negative, 1)


def _signs_of_values_only(table: TruthTable, weights: Weights) -> solvers.CountDifference:
    """The signs of the weights ignored."""
    unsigned = Weights(tuple((max(w, -w), max(w_bar, -w_bar)) for w, w_bar in weights.pairs))
    return solvers.difference_of_counts(table, unsigned)


CHECKS = (
    Check(
        theorem="marginalization.T6",
        name="slices",
        kind="slack",
        observe=slices_by_one_plain_query,
        instances=Instances(
            scope="integer tables on n <= 4 variables, patterns over the 2n variables of the lift",
            examples=lifted_queries,
            draw=draw_lifted_queries,
            strategy=structured_lifted_queries,
        ),
        slots={PAIR_LIFT: solvers.PairLiftOracle},
        mutants=(
            Mutant("y_i = x_i", "HM", {"pair_lift": _lift_of_equals}),
            Mutant("PM at every k", "HM", {"pair_lift": _lift_at_every_weight}),
            Mutant("evidence on y ignored", "HM", {"pair_lift": _lift_ignoring_clashes}),
            Mutant("VM without weights", "VM", {"pair_lift": _lift_with_unit_weights}),
        ),
        cost=4,
    ),
    Check(
        theorem="marginalization.T6b",
        name="counts",
        kind="slack",
        observe=formula_counts,
        instances=Instances(
            scope="formulas over n <= 4 variables with at most 5 clauses",
            examples=named_formulas,
            strategy=structured_formulas,
        ),
        slots={MODEL_COUNT: solvers.model_count_from_pm},
        mutants=(
            Mutant("s = 1", "models", {"model_count_from_pm": _count_at_one}),
            Mutant("full count", "models", {"model_count_from_pm": _full_count}),
            Mutant("no complement", "full count", observe=formula_without_complement),
        ),
        cost=2,
    ),
    Check(
        theorem="marginalization.T6c",
        name="counts",
        kind="slack",
        observe=sums_are_differences_of_counts,
        instances=Instances(
            scope="integer tables on n <= 2 variables, |f| <= 3, weights with denominators <= 3; reference functions",
            examples=integer_tables,
            strategy=structured_integer_tables,
        ),
        slots={COUNT_DIFFERENCE: solvers.difference_of_counts},
        mutants=(
            Mutant("denominators forgotten", "N", {"difference_of_counts": _without_denominators}),
            Mutant("signs of the weights ignored", "N", {"difference_of_counts": _signs_of_values_only}),
        ),
        cost=2,
    ),
)
