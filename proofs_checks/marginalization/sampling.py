"""Checks of T9: the product of conditionals is exact, draws follow it, signed and zero functions are refused."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from whp.algorithms import marginalization as solvers
from whp.proofs_checks.engine import Check, Instances, Mutant, Sample, Slack, at_most, identity, requires, sample
from whp.proofs_checks.marginalization.brute_force_oracle import BruteForceOracle, refuses
from whp.proofs_checks.marginalization.instances import (
    TableQuery,
    davis_counts,
    draw_nonnegative_tables,
    structured_nonnegative_tables,
)
from whp.theory.core import Slot
from whp.theory.marginalization import (
    Pattern,
    Query,
    Scalar,
    TruthTable,
    Weights,
    as_assignment,
    network_polynomial,
    total,
)
from whp.theory.marginalization.theorems import SAMPLING_QUERIES


@dataclass(frozen=True)
class SamplingTarget:
    """A non-negative function and a point whose frequency is watched."""

    table: TruthTable
    point: tuple[int, ...]


DRAW_BY_WEIGHT = Slot(
    "draw_with_hamming_weight",
    "(oracle, k, rng)",
    "oracle: answers HM; k: int; rng: numpy Generator",
    "int array (1, n) of bits, k of them ones",
    ("oracle", "k", "rng"),
)
DRAW_BY_EVIDENCE = Slot(
    "draw_under_weights",
    "(oracle, weights, rng)",
    "oracle: answers VM; weights: non-negative Weights; rng: numpy Generator",
    "int array (1, n) of bits",
    ("oracle", "weights", "rng"),
)
CONDITIONALS = Slot(
    "ancestral_conditionals",
    "(oracle, x)",
    "oracle: answers PM; x: tuple of bits",
    "conditional probabilities of x_1..x_n, exact",
    ("oracle", "x"),
)
DRAW = Slot(
    "draw", "(oracle, rng)", "oracle: answers PM; rng: numpy Generator", "int array (1, n) of bits", ("oracle", "rng")
)


def nonnegative_tables() -> Mapping[str, TableQuery]:
    """A real table of counts, a one-point function, a constant, no variable."""
    tables = {
        "Davis attendance": davis_counts(4),
        "one point": TruthTable(3, [0, 0, 0, 0, 0, 4, 0, 0]),
        "constant": TruthTable(2, [1] * 4),
        "no variable": TruthTable(0, [2]),
    }
    return {name: TableQuery(f, Pattern.free(f.n), Weights.of([1] * f.n)) for name, f in tables.items()}


def _all_points(n: int) -> list[tuple[int, ...]]:
    return list(Pattern.free(n).assignments())


def conditionals_multiply_to_the_probability(instance: TableQuery, *, ancestral_conditionals: Any) -> Slack:
    """At every point: the product is f(x)/Σf, by at most n + 1 PM queries."""
    table = instance.table
    clauses = Slack(())
    for x in _all_points(table.n):
        oracle = BruteForceOracle(table)
        product = Fraction(1)
        for conditional in ancestral_conditionals(oracle, x):
            product *= Fraction(conditional)
        clauses &= identity("probability", product, Fraction(table(*x)) / Fraction(total(table)))
        clauses &= at_most("PM queries", oracle.calls[Query.PM], int(SAMPLING_QUERIES(n=table.n)))
        clauses &= identity("other queries", oracle.calls.total() - oracle.calls[Query.PM], 0)
    return clauses


def what_is_no_distribution_is_refused(instance: TableQuery, *, draw: Any) -> Slack:
    """A negated value makes f signed, a zero factor makes it vanish: both raise ValueError."""
    values = instance.table.values.tolist()
    largest = max(range(len(values)), key=lambda k: values[k])
    smallest = min(range(len(values)), key=lambda k: (values[k], -k))
    signed = list(values)
    signed[largest if len(values) == 1 else smallest] = -1
    zero = [0] * len(values)
    rng = np.random.default_rng(0)
    n = instance.table.n
    signed_refused = refuses(draw, BruteForceOracle(TruthTable(n, signed)), rng)
    zero_refused = refuses(draw, BruteForceOracle(TruthTable(n, zero)), rng)
    return requires("signed function refused", signed_refused) & requires("zero function refused", zero_refused)


def draws_by_few_queries(
    instance: TableQuery, *, draw: Any, draw_with_hamming_weight: Any, draw_under_weights: Any
) -> Slack:
    """One draw of each kind: a point of the support it is conditioned on, by at most n + 1 queries of its own type.

    The weights of the evidence are 0/1 on the first variable and halves elsewhere.
    """
    table, rng = instance.table, np.random.default_rng(0)
    support = [x for x in _all_points(table.n) if table(*x)]
    k, first = sum(support[-1]), support[0][:1]
    evidence = Weights(tuple((bit, 1 - bit) for bit in first) + ((Fraction(1, 2), 1),) * (table.n - len(first)))
    kinds: tuple[tuple[Query, Callable[[Any], Any], Callable[[tuple[int, ...]], bool]], ...] = (
        (Query.PM, lambda oracle: draw(oracle, rng), lambda x: True),
        (Query.HM, lambda oracle: draw_with_hamming_weight(oracle, k, rng), lambda x: sum(x) == k),
        (Query.VM, lambda oracle: draw_under_weights(oracle, evidence, rng), lambda x: x[:1] == first),
    )
    clauses = Slack(())
    for query, one, admitted in kinds:
        oracle = BruteForceOracle(table)
        x = as_assignment(np.asarray(one(oracle))[0], table.n)
        clauses &= requires(f"in the support by {query.name}", bool(table(*x)) and admitted(x))
        clauses &= at_most(f"{query.name} queries", oracle.calls[query], int(SAMPLING_QUERIES(n=table.n)))
        clauses &= identity("other queries", oracle.calls.total() - oracle.calls[query], 0)
    return clauses


def frequency_under_evidence(
    instance: SamplingTarget, *, draw_with_hamming_weight: Any, draw_under_weights: Any, rng: np.random.Generator
) -> Sample:
    """Whether draws given |x| = k and given soft evidence hit the watched point: the mean of the two chances."""
    table, point = instance.table, instance.point
    k, weights = sum(point), Weights.of([20] * table.n)
    slice_total = sum(Fraction(table(*x)) for x in _all_points(table.n) if sum(x) == k)
    chance_of_slice = Fraction(table(*point)) / slice_total
    chance_of_evidence = Fraction(table(*point)) * Fraction(weights.of_assignment(point))
    chance_of_evidence /= Fraction(network_polynomial(table, weights))
    drawn = (
        draw_with_hamming_weight(BruteForceOracle(table), k, rng),
        draw_under_weights(BruteForceOracle(table), weights, rng),
    )
    hits = sum(as_assignment(np.asarray(x)[0], table.n) == point for x in drawn)
    return sample(hits / 2, low=0, high=1, mean=float((chance_of_slice + chance_of_evidence) / 2), name="frequency")


def frequency_of_a_point(instance: SamplingTarget, *, draw: Any, rng: np.random.Generator) -> Sample:
    """Whether one draw hits the watched point; the mean is f(x)/Σf."""
    table = instance.table
    drawn = as_assignment(np.asarray(draw(BruteForceOracle(table), rng))[0], table.n)
    mean = float(Fraction(table(*instance.point)) / Fraction(total(table)))
    return sample(float(drawn == instance.point), low=0, high=1, mean=mean, name="frequency")


def with_mean_multiplied(factor: float) -> Callable[..., Sample]:
    """Return the check of a claimed mean that is too small by a factor."""

    def observe(instance: SamplingTarget, *, draw: Any, rng: np.random.Generator) -> Sample:
        right = frequency_of_a_point(instance, draw=draw, rng=rng)
        return replace(right, mean=right.mean * factor)

    return observe


def evidence_targets() -> Mapping[str, SamplingTarget]:
    """A point that is likely given its Hamming weight and given evidence for ones, and unlikely given nothing."""
    return {"two of three": SamplingTarget(TruthTable(3, [200, 0, 0, 1, 0, 18, 1, 0]), (1, 0, 1))}


def sampling_targets() -> Mapping[str, SamplingTarget]:
    """Points that tell ancestral draws from its common faults."""
    return {
        "two corners": SamplingTarget(TruthTable(4, [1, *[0] * 14, 1]), (1, 1, 1, 1)),
        "skewed": SamplingTarget(TruthTable(3, [1, 0, 0, 0, 0, 0, 1, 8]), (1, 1, 1)),
        "no mass": SamplingTarget(TruthTable(2, [3, 0, 2, 1]), (0, 1)),
        "four variables": SamplingTarget(davis_counts(4), (0, 1, 1, 1)),
    }


# reference subject and mutants


def _draw_one(oracle: Any, rng: np.random.Generator) -> Any:
    return solvers.draw(oracle, rng, 1)


def _draw_by_all_points(oracle: Any, rng: np.random.Generator) -> Any:
    """Right, by a query for every point of the cube."""
    points = _all_points(oracle.n)
    weights = np.array([float(oracle.marginal(Pattern.of(x))) for x in points])
    return np.array([points[rng.choice(len(points), p=weights / weights.sum())]])


def _draw_at_any_weight(oracle: Any, k: int, rng: np.random.Generator) -> Any:
    """Draws that ignore the Hamming weight."""
    whole = solvers.FunctionOracle(oracle.n, marginal=lambda q: sum(oracle.hamming_marginals(q)))
    return solvers.draw(whole, rng, 1)


def _draw_by_evidence_on_the_total(oracle: Any, weights: Weights, rng: np.random.Generator) -> Any:
    """The weights are taken as 1."""
    return solvers.draw_under_weights(oracle, Weights.of([1] * oracle.n), rng)


def _prefixes(oracle: Any, x: Any) -> list[Scalar]:
    point = as_assignment(x, oracle.n)
    words = ["".join(map(str, point[:i])) + "*" * (oracle.n - i) for i in range(oracle.n + 1)]
    return [oracle.marginal(Pattern(word)) for word in words]


def _joint_ratios(oracle: Any, x: Any) -> list[Fraction]:
    """``PM(prefix)/Σf`` in place of ``PM(prefix)/PM(shorter prefix)``."""
    weights = _prefixes(oracle, x)
    return [Fraction(weight) / Fraction(weights[0]) for weight in weights[1:]]


def _independent_marginals(oracle: Any, x: Any) -> list[Fraction]:
    """Each variable by its own marginal."""
    point = as_assignment(x, oracle.n)
    whole = Fraction(oracle.marginal(Pattern.free(oracle.n)))
    singles = (Pattern("*" * i + str(bit) + "*" * (oracle.n - i - 1)) for i, bit in enumerate(point))
    return [Fraction(oracle.marginal(q)) / whole for q in singles]


def _ancestral(oracle: Any, rng: np.random.Generator, ratio: Any) -> Any:
    """Draws with ``P(x_i = 1) = ratio(part, prefix, whole)``, clipped to [0, 1]."""
    whole = Fraction(oracle.marginal(Pattern.free(oracle.n)))
    letters, weight = "", whole
    for i in range(oracle.n):
        part = Fraction(oracle.marginal(Pattern(letters + "1" + "*" * (oracle.n - i - 1))))
        hit = rng.random() < float(min(max(ratio(part, weight, whole), Fraction(0)), Fraction(1)))
        letters, weight = (letters + "1", part) if hit else (letters + "0", weight - part)
    return np.array([[int(letter) for letter in letters]], dtype=np.int8).reshape(1, oracle.n)


def _draw_by_joint_ratios(oracle: Any, rng: np.random.Generator) -> Any:
    return _ancestral(oracle, rng, lambda part, prefix, whole: part / whole if whole else Fraction(0))


def _draw_of_anything(oracle: Any, rng: np.random.Generator) -> Any:
    """Right for non-negative f; signed and zero functions are accepted."""
    return _ancestral(oracle, rng, lambda part, prefix, whole: part / prefix if prefix else Fraction(0))


def _draw_uniformly(oracle: Any, rng: np.random.Generator) -> Any:
    return rng.integers(0, 2, size=(1, oracle.n))


def _draw_unless_the_total_is_zero(oracle: Any, rng: np.random.Generator) -> Any:
    """Refuses zero functions only."""
    if oracle.marginal(Pattern.free(oracle.n)) == 0:
        raise ValueError("f must not vanish")
    return _draw_of_anything(oracle, rng)


def _draw_unless_signed(oracle: Any, rng: np.random.Generator) -> Any:
    """Refuses signed functions only."""
    if not oracle.is_nonnegative:
        raise ValueError("f must not be negative")
    return _draw_of_anything(oracle, rng)


TABLES = Instances(
    scope="tables of counts on n <= 4 variables, zeros among them; Davis attendance counts",
    examples=nonnegative_tables,
    draw=draw_nonnegative_tables,
    strategy=structured_nonnegative_tables,
)

CHECKS = (
    Check(
        theorem="marginalization.T9",
        name="conditionals",
        kind="slack",
        observe=conditionals_multiply_to_the_probability,
        instances=TABLES,
        slots={CONDITIONALS: solvers.ancestral_conditionals},
        mutants=(
            Mutant("joint ratios", "probability", {"ancestral_conditionals": _joint_ratios}),
            Mutant("independent marginals", "probability", {"ancestral_conditionals": _independent_marginals}),
        ),
        cost=20,
    ),
    Check(
        theorem="marginalization.T9",
        name="refusals",
        kind="slack",
        observe=what_is_no_distribution_is_refused,
        instances=TABLES,
        slots={DRAW: _draw_one},
        mutants=(
            Mutant("signed functions accepted", "signed function refused", {"draw": _draw_unless_the_total_is_zero}),
            Mutant("zero functions accepted", "zero function refused", {"draw": _draw_unless_signed}),
        ),
        cost=2,
    ),
    Check(
        theorem="marginalization.T9",
        name="draws",
        kind="slack",
        observe=draws_by_few_queries,
        instances=TABLES,
        slots={
            DRAW: _draw_one,
            DRAW_BY_WEIGHT: solvers.draw_with_hamming_weight,
            DRAW_BY_EVIDENCE: solvers.draw_under_weights,
        },
        mutants=(
            Mutant("a query for every point", "PM queries", {"draw": _draw_by_all_points}),
            Mutant("weight ignored", "in the support by HM", {"draw_with_hamming_weight": _draw_at_any_weight}),
            Mutant("evidence ignored", "in the support by VM", {"draw_under_weights": _draw_by_evidence_on_the_total}),
        ),
        cost=20,
    ),
    Check(
        theorem="marginalization.T9",
        name="frequencies_under_evidence",
        kind="sample",
        observe=frequency_under_evidence,
        instances=Instances(scope="one fixed table on 3 variables, one point of it", examples=evidence_targets),
        slots={DRAW_BY_WEIGHT: solvers.draw_with_hamming_weight, DRAW_BY_EVIDENCE: solvers.draw_under_weights},
        mutants=(
            Mutant("weight ignored", "frequency", {"draw_with_hamming_weight": _draw_at_any_weight}),
            Mutant("evidence ignored", "frequency", {"draw_under_weights": _draw_by_evidence_on_the_total}),
        ),
        cost=5,
    ),
    Check(
        theorem="marginalization.T9",
        name="frequencies",
        kind="sample",
        observe=frequency_of_a_point,
        instances=Instances(
            scope="four fixed tables on 2 to 4 variables, one point of each", examples=sampling_targets
        ),
        slots={DRAW: _draw_one},
        mutants=(
            Mutant("joint ratios", "frequency", {"draw": _draw_by_joint_ratios}),
            Mutant("uniform draws", "frequency", {"draw": _draw_uniformly}),
        ),
        tighten=with_mean_multiplied,
        cost=3,
    ),
)
