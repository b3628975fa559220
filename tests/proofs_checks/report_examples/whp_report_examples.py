"""Theorems that come out in every possible way, with texts that try to break out of a page."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from whp.proofs_checks.engine import (
    Check,
    ClaimedRate,
    Cost,
    Instances,
    Mutant,
    Proof,
    at_most,
    event,
    exhaustive,
    identity,
    sample,
)
from whp.theory import Assumption, Bound, Claim, Domain, Paper, Slot, Symbol, Theorem

HOSTILE = "</style></script><script>alert(1)</script><img src=x onerror=alert(1)> & \"quoted\" 'too' \x07"

PAPER = Paper("report_examples", f"Every outcome {HOSTILE}", ("A. Author", "<b>B. Author</b>"), "Nowhere <i>1</i>", "x")

GROWTH = Bound(
    "growth",
    lambda m, n, epsilon: m.sqrt(m.log(1 + n) / epsilon) + m.comb(n, 2),
    (
        Symbol("n", Domain.integers(2), "size", "increasing"),
        Symbol("epsilon", Domain.reals(0, 1, open="both"), "accuracy", "decreasing", r"\varepsilon_0"),
    ),
)

SORTER = Slot("sorter", "(values)", "values: list of int", "the values in order", ("values",))


def _theorem(name: str, title: str, expected: Any, **fields: Any) -> Theorem:
    claim = fields.pop("claim", Claim("a_i", "<=", "delta^2"))
    provenance = fields.pop("provenance", "derived")
    statement = fields.pop("statement", f"{title}: a_i <= delta^2.")
    return Theorem(
        id=f"report_examples.{name}", paper=PAPER, title=title, statement=statement, claim=claim, expected=expected,
        provenance=provenance, **fields,
    )  # fmt: skip


THEOREMS = (
    _theorem("proved", "Squares are sums of odd numbers", "proved", claim=Claim("sum", "=", "n^2")),
    _theorem("refuted", f"Refuted {HOSTILE}", "refuted", statement=HOSTILE, provenance="reported", reading=HOSTILE),
    _theorem("corrected", "The repaired one", "holds", provenance="corrected", corrects="report_examples.refuted"),
    _theorem("consistent", "Sorting takes n log n comparisons", "consistent", claim=Claim("comparisons", "<=", GROWTH)),
    _theorem("inconsistent", "A quadratic cost called linear", "consistent"),
    _theorem("vacuous", "About no instance", "vacuous", assumptions=(Assumption("none", "1 < 0", lambda _: False),)),
    _theorem("rounding", "Off by less than rounding", "inconclusive"),
    _theorem("unavailable", "Needs what is not installed", "holds"),
    _theorem("error", "The subject raises", "holds"),
    _theorem("event", "A coin that lands heads too often", "refuted"),
    _theorem("mean", "A mean of one half", "holds", not_claimed="Anything about the variance."),
)


def _odd_sum(instance: int) -> Any:
    return identity("sum of odd numbers", sum(range(1, 2 * instance, 2)), instance**2) & at_most(
        "n below n^2 + 1", Fraction(instance), Fraction(instance**2) + 1
    )


def _short(instance: str) -> Any:
    return at_most(f"length {HOSTILE}", len(instance), 10)


def _sorted(instance: list[int], *, sorter: Any) -> Any:
    return at_most("disorder", sum(a > b for a, b in zip(sorter(instance), sorter(instance)[1:], strict=False)), 0.5)


def _raises(instance: list[int], *, sorter: Any) -> Any:
    raise RuntimeError(HOSTILE)


def _check(theorem: str, kind: Any, observe: Any, instances: Instances, **fields: Any) -> Check:
    name = f"report_examples.{theorem}"
    return Check(theorem=name, name="check", kind=kind, observe=observe, instances=instances, **fields)


def _integers(rng: np.random.Generator, size: int) -> list[int]:
    return [int(n) for n in rng.integers(0, 60, size)]


def _lists(rng: np.random.Generator, size: int) -> list[list[int]]:
    return [rng.integers(0, 9, 6).tolist() for _ in range(size)]


INTEGERS = Instances("integers from 0 to 59", draw=_integers)
LISTS = Instances("lists of six digits", examples=lambda: {"empty": []}, draw=_lists)
COINS = Instances("one coin", examples=lambda: {f"coin {HOSTILE}": 0.5})
SIZES = Instances("powers of two", examples=lambda: {f"2^{k}": 2**k for k in range(4, 10)})

CHECKS = (
    _check("proved", "slack", _odd_sum, INTEGERS, mutants=(
        Mutant("forgets the square", "sum of odd numbers", observe=lambda n: identity("sum of odd numbers", n, n**2)),
        Mutant("breaks nothing", "sum of odd numbers", observe=_odd_sum),
    )),
    _check("refuted", "slack", _short, Instances(f"texts {HOSTILE}", examples=lambda: {"hostile": HOSTILE})),
    _check("corrected", "slack", _sorted, LISTS, slots={SORTER: sorted}),
    _check("consistent", "rate", lambda n: Cost(n, n * math.log(n), "comparisons"), SIZES,
           rate=ClaimedRate(1.0, log_power=1.0, relation="equal")),
    _check("inconsistent", "rate", lambda n: Cost(n, n**2, "comparisons"), SIZES, rate=ClaimedRate(1.0)),
    _check("vacuous", "slack", _odd_sum, INTEGERS),
    _check("rounding", "slack", lambda n: at_most("close", 1.0 + 1e-12, 1.0, rounding=1e-9), INTEGERS),
    _check("unavailable", "slack", _odd_sum, INTEGERS, unavailable=lambda: "the extra 'missing'"),
    _check("error", "slack", _raises, LISTS, slots={SORTER: sorted}),
    _check("event", "event", lambda p, *, rng: event(rng.random() < p, probability=0.1, name="heads"), COINS),
    _check("mean", "sample", lambda p, *, rng: sample(rng.random() < p, low=0, high=1, mean=0.5, name="heads"), COINS),
)  # fmt: skip

PROOFS = (
    Proof(
        "report_examples.proved",
        "first thousand",
        "0 <= n < 1000",
        lambda: exhaustive(range(1000), lambda n: sum(range(1, 2 * n, 2)) == n**2),
    ),
)


def backwards(values: list[int]) -> list[int]:
    """Sort the wrong way round."""
    return sorted(values, reverse=True)
