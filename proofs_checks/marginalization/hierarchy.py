"""Checks of T1: every reduction of the chain, with its query count."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from whp.algorithms import marginalization as solvers
from whp.proofs_checks.engine import Check, Instances, Mutant, Slack, at_most, identity
from whp.proofs_checks.marginalization.brute_force_oracle import BruteForceOracle
from whp.proofs_checks.marginalization.instances import (
    TableQuery,
    draw_table_queries,
    structured_table_queries,
    table_queries,
)
from whp.proofs_checks.marginalization.outputs import exact_number, exact_numbers
from whp.theory.core import Slot
from whp.theory.marginalization import Pattern, Query, Scalar, Weights, hamming_marginals, marginal
from whp.theory.marginalization.theorems import HAMMING_QUERIES

TABLES = Instances(
    scope="integer tables on n <= 5 and rational ones on n <= 4 variables, random patterns; Davis attendance counts",
    examples=table_queries,
    draw=draw_table_queries,
    strategy=structured_table_queries,
)

ORACLE_ARGUMENTS = "oracle: object with n and the query methods; q: Pattern"


def _slot(name: str, returns: str, validate: Callable[..., None]) -> Slot:
    return Slot(name, "(oracle, q)", ORACLE_ARGUMENTS, returns, ("oracle", "q"), validate=validate)


PM_FROM_VM = _slot("pm_from_vm", "the marginal, exact", exact_number)
PM_FROM_HM = _slot("pm_from_hm", "the marginal, exact", exact_number)
HM_FROM_VM = _slot("hm_from_vm", "HM answers for k = 0..n, exact", exact_numbers)
HM_FROM_VM_ON_STARS = _slot("hm_from_vm_on_stars", "HM answers for k = 0..n, exact", exact_numbers)
EV_FROM_PM = Slot(
    "ev_from_pm", "(oracle, x)", "oracle; x: tuple of bits", "f(x), exact", ("oracle", "x"), validate=exact_number
)


def _asked(oracle: BruteForceOracle, allowed: Query, limit: int) -> Slack:
    """At most so many queries of the allowed type, and none of another."""
    calls: Counter[Query] = oracle.calls
    others = calls.total() - calls[allowed]
    return at_most("queries", calls[allowed], limit) & identity("other queries", others, 0)


def plain_marginal_by_one_virtual_query(instance: TableQuery, *, pm_from_vm: Any) -> Slack:
    """PM from VM."""
    oracle = BruteForceOracle(instance.table)
    answer = pm_from_vm(oracle, instance.pattern)
    return identity("PM from VM", answer, marginal(instance.table, instance.pattern)) & _asked(oracle, Query.VM, 1)


def plain_marginal_by_hamming_queries(instance: TableQuery, *, pm_from_hm: Any) -> Slack:
    """PM from HM."""
    oracle = BruteForceOracle(instance.table)
    answer = pm_from_hm(oracle, instance.pattern)
    limit = instance.table.n + 1
    return identity("PM from HM", answer, marginal(instance.table, instance.pattern)) & _asked(oracle, Query.HM, limit)


def hamming_marginals_by_virtual_queries(instance: TableQuery, *, hm_from_vm: Any) -> Slack:
    """HM from VM by n + 1 queries."""
    oracle = BruteForceOracle(instance.table)
    answer = hm_from_vm(oracle, instance.pattern)
    limit = int(HAMMING_QUERIES(n=instance.table.n))
    return _same_vector(answer, hamming_marginals(instance.table, instance.pattern)) & _asked(oracle, Query.VM, limit)


def hamming_marginals_by_virtual_queries_on_stars(instance: TableQuery, *, hm_from_vm_on_stars: Any) -> Slack:
    """HM from VM by s(q) + 1 queries."""
    oracle = BruteForceOracle(instance.table)
    answer = hm_from_vm_on_stars(oracle, instance.pattern)
    expected = hamming_marginals(instance.table, instance.pattern)
    return _same_vector(answer, expected) & _asked(oracle, Query.VM, instance.pattern.s + 1)


def value_by_one_plain_query(instance: TableQuery, *, ev_from_pm: Any) -> Slack:
    """EV from PM."""
    oracle = BruteForceOracle(instance.table)
    x = next(instance.pattern.assignments())
    return identity("EV from PM", ev_from_pm(oracle, x), instance.table(*x)) & _asked(oracle, Query.PM, 1)


def _same_vector(answer: Any, expected: tuple[Scalar, ...]) -> Slack:
    length = identity("entries", len(answer), len(expected))
    return length & identity("HM from VM", list(answer)[: len(expected)], list(expected)[: len(answer)])


# mutants


def _ignoring_evidence(oracle: Any, q: Pattern) -> Scalar:
    """Weights (1,1) at evidence too."""
    answer: Scalar = oracle.virtual_evidence(Weights.of([1] * q.n))
    return answer


def _complemented_evidence(oracle: Any, q: Pattern) -> Scalar:
    """The weights of evidence 0 and 1 exchanged."""
    exchanged = Pattern(q.letters.translate(str.maketrans("01", "10")))
    return solvers.pm_from_vm(oracle, exchanged)


def _without_full_weight(oracle: Any, q: Pattern) -> Scalar:
    """Sum over k < n."""
    answers: list[Scalar] = [oracle.hamming_marginal(q, k) for k in range(q.n)]
    return sum(answers, 0)


def _only_star_weights(oracle: Any, q: Pattern) -> Scalar:
    """Sum over k <= s(q), as if evidence ones did not count."""
    answers: list[Scalar] = [oracle.hamming_marginal(q, k) for k in range(q.s + 1)]
    return sum(answers, 0)


def _line_values(oracle: Any, q: Pattern, nodes: range) -> list[Scalar]:
    table: dict[str, Any] = {"*": lambda t: (t, 1), "1": lambda t: (t, 0), "0": lambda t: (0, 1)}
    return [oracle.virtual_evidence(Weights(tuple(table[letter](t) for letter in q.letters))) for t in nodes]


def _with_one_node_less(oracle: Any, q: Pattern) -> tuple[Scalar, ...]:
    """Interpolation through n nodes in place of n + 1."""
    nodes = range(max(q.n, 1))
    answers: tuple[Scalar, ...] = solvers.interpolate(nodes, _line_values(oracle, q, nodes))
    return (*answers, 0)[: q.n + 1]


def _forgetting_evidence_ones(oracle: Any, q: Pattern) -> tuple[Scalar, ...]:
    """Weight (1,0) at evidence ones, so that they do not count towards the Hamming weight."""
    nodes = range(q.n + 1)
    table: dict[str, Any] = {"*": lambda t: (t, 1), "1": lambda t: (1, 0), "0": lambda t: (0, 1)}
    lines = [Weights(tuple(table[letter](t) for letter in q.letters)) for t in nodes]
    return solvers.interpolate(nodes, [oracle.virtual_evidence(line) for line in lines])


def _one_query_too_many(oracle: Any, q: Pattern) -> tuple[Scalar, ...]:
    """Right answers by n + 2 queries."""
    nodes = range(q.n + 2)
    return solvers.interpolate(nodes, _line_values(oracle, q, nodes))[: q.n + 1]


def _without_division(oracle: Any, q: Pattern) -> tuple[Scalar, ...]:
    """Through s(q) + 1 nodes without dividing by t^m."""
    nodes = range(1, q.s + 2)
    core = solvers.interpolate(nodes, _line_values(oracle, q, nodes))
    return core + (0,) * (q.n + 1 - len(core))


def _unshifted(oracle: Any, q: Pattern) -> tuple[Scalar, ...]:
    """Divided by t^m but not moved up by m places."""
    m = len(q.ones)
    nodes = range(1, q.s + 2)
    divided = [Fraction(v) / Fraction(t) ** m for v, t in zip(_line_values(oracle, q, nodes), nodes, strict=True)]
    core = solvers.interpolate(nodes, divided)
    return core + (0,) * (q.n + 1 - len(core))


def _value_of_the_complement(oracle: Any, x: tuple[int, ...]) -> Scalar:
    answer: Scalar = oracle.marginal(Pattern.of([1 - bit for bit in x]))
    return answer


def _value_with_a_star(oracle: Any, x: tuple[int, ...]) -> Scalar:
    """The last variable summed out."""
    answer: Scalar = oracle.marginal(Pattern.of([*x[:-1], "*"] if x else []))
    return answer


CHECKS = (
    Check(
        theorem="marginalization.T1",
        name="pm_from_vm",
        kind="slack",
        observe=plain_marginal_by_one_virtual_query,
        instances=TABLES,
        slots={PM_FROM_VM: solvers.pm_from_vm},
        mutants=(
            Mutant("weights (1,1) at evidence", "PM from VM", {"pm_from_vm": _ignoring_evidence}),
            Mutant("evidence complemented", "PM from VM", {"pm_from_vm": _complemented_evidence}),
        ),
        cost=2,
    ),
    Check(
        theorem="marginalization.T1",
        name="pm_from_hm",
        kind="slack",
        observe=plain_marginal_by_hamming_queries,
        instances=TABLES,
        slots={PM_FROM_HM: solvers.pm_from_hm},
        mutants=(
            Mutant("sum over k < n", "PM from HM", {"pm_from_hm": _without_full_weight}),
            Mutant("evidence ones do not count towards k", "PM from HM", {"pm_from_hm": _only_star_weights}),
        ),
        cost=2,
    ),
    Check(
        theorem="marginalization.T1",
        name="hm_from_vm",
        kind="slack",
        observe=hamming_marginals_by_virtual_queries,
        instances=TABLES,
        slots={HM_FROM_VM: solvers.hm_from_vm},
        mutants=(
            Mutant("n nodes in place of n+1", "HM from VM", {"hm_from_vm": _with_one_node_less}),
            Mutant("evidence ones do not count towards |x|", "HM from VM", {"hm_from_vm": _forgetting_evidence_ones}),
            Mutant("n+2 queries", "queries", {"hm_from_vm": _one_query_too_many}),
        ),
        cost=4,
    ),
    Check(
        theorem="marginalization.T1",
        name="hm_from_vm_on_stars",
        kind="slack",
        observe=hamming_marginals_by_virtual_queries_on_stars,
        instances=TABLES,
        slots={HM_FROM_VM_ON_STARS: solvers.hm_from_vm_on_stars},
        mutants=(
            Mutant("no division by t^m", "HM from VM", {"hm_from_vm_on_stars": _without_division}),
            Mutant("not moved up by m places", "HM from VM", {"hm_from_vm_on_stars": _unshifted}),
        ),
        cost=4,
    ),
    Check(
        theorem="marginalization.T1",
        name="ev_from_pm",
        kind="slack",
        observe=value_by_one_plain_query,
        instances=TABLES,
        slots={EV_FROM_PM: solvers.ev_from_pm},
        mutants=(
            Mutant("value of the complement", "EV from PM", {"ev_from_pm": _value_of_the_complement}),
            Mutant("a variable summed out", "EV from PM", {"ev_from_pm": _value_with_a_star}),
        ),
        cost=2,
    ),
)
