"""Small theorems of every kind, with subjects that behave in every way, for the tests of the engine."""

from __future__ import annotations

import os
import random
import time
from dataclasses import dataclass
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
    ProofResult,
    Vectorised,
    at_most,
    event,
    exhaustive,
    identity,
    recipe,
    sample,
)
from whp.proofs_checks.engine.evidence import Recipe
from whp.theory import Assumption, Bound, Claim, Domain, Paper, Slot, Symbol, Theorem

PAPER = Paper("tiny", "Small theorems", ("Nobody",), "Nowhere")


def _theorem(name: str, **given: Any) -> Theorem:
    stated = {"title": name, "statement": f"The statement {name}.", "claim": Claim("left", "<=", "right")}
    return Theorem(id=f"tiny.{name}", paper=PAPER, provenance="prior", **{**stated, **given})


SQUARE = Bound("square", lambda m, x: x * x, (Symbol("x", Domain.reals(0), "a number", "increasing"),))

THEOREMS = (
    _theorem(
        "sums",
        title="Left sum equals right sum",
        assumptions=(Assumption("short", "n < 40", lambda i: len(i.values) < 40),),
    ),
    _theorem("product", expected="refuted"),
    _theorem("doubted", expected="refuted"),
    _theorem("coin"),
    _theorem("learner"),
    _theorem("growth", expected="consistent"),
    _theorem("arrays", claim=Claim("x", "<=", SQUARE)),
    _theorem("proved", expected="proved"),
    _theorem("open"),
    _theorem("bare"),
    _theorem("extra"),
    _theorem("faulty"),
    _theorem("never", assumptions=(Assumption("never", "0 = 1", lambda i: False),), expected="vacuous"),
)


# A function on arrays and lists: the sum of numbers


@dataclass(frozen=True)
class Numbers:
    """Small whole numbers, as an array and as a list."""

    values: Any
    names: list[str]


TOTAL = Slot(
    "total",
    "(values, names)",
    "values: array (n,) of int64; names: list of n str",
    "their sum, an int",
    ("values", "names"),
    validate=lambda output, *_: _require_integer(output),
)


def _require_integer(output: Any) -> None:
    if np.shape(output) != ():
        raise TypeError(f"expected one number, got shape {np.shape(output)}")
    if not isinstance(output, int | np.integer):
        raise TypeError(f"expected an int, got {type(output).__name__}")


def right_total(values, names):
    return int(np.sum(values))


def wrong_total(values, names):
    return int(np.sum(values[:-1])) if len(values) > 2 else int(np.sum(values))


def nan_total(values, names):
    return float("nan")


def raising_total(values, names):
    raise KeyError("no total today")


def vector_total(values, names):
    return np.array([np.sum(values)])


def float_total(values, names):
    return float(np.sum(values))


def one_argument(values):
    return int(np.sum(values))


def sorting_total(values, names):
    values.sort()
    return int(values.sum())


def popping_total(values, names):
    if names:
        names.pop()
    return int(values.sum())


def global_total(values, names):
    np.random.seed(7)  # noqa: NPY002
    random.random()
    return int(values.sum())


def hanging_total(values, names):
    if len(values) > 2:
        time.sleep(3600)
    return int(values.sum())


def hungry_total(values, names):
    if len(values) > 2:
        np.ones(2**31)
    return int(values.sum())


def exiting_total(values, names):
    if len(values) == 3:
        os._exit(3)
    return int(values.sum())


def lying_total(values, names):
    return _Certified(int(np.sum(values)) + 1)


class _Certified(int):
    """A wrong number that calls itself right."""

    error_bound = 0


def sum_is_right(instance, *, total):
    before = [int(v) for v in instance.values]
    found = total(instance.values, instance.names)
    return identity("sum", int(found), sum(before)) & identity(
        "untouched", len(instance.names) + int(instance.values.sum()), len(before) + sum(before)
    )


def draw_numbers(rng, size):
    return [_numbers(rng.integers(-50, 50, int(rng.integers(1, 45)))) for _ in range(size)]


def _numbers(values):
    return Numbers(np.asarray(values, dtype=np.int64), [f"n{i}" for i in range(len(values))])


@recipe("tiny.ramp")
def ramp(rng, length):
    return _numbers(np.arange(length))


def number_lists():
    from hypothesis import strategies as st

    return st.lists(st.integers(-20, 20), min_size=1, max_size=6).map(_numbers)


def named_numbers():
    return {
        "one": _numbers([4]),
        "unsorted": _numbers([3, 1]),
        "ramp": Recipe("tiny.ramp", {"length": 6}),
        "three": _numbers([1, 1, 0]),
        "zeros": _numbers([0, 0]),
    }


# A false statement, with and without a slot that is to blame


MULTIPLY = Slot("multiply", "(x, y)", "x, y: ints", "their product", ("x", "y"))


def product_below_sum(instance, *, multiply):
    x, y = instance
    return at_most("xy", multiply(x, y), x + y)


def pairs():
    from hypothesis import strategies as st

    return st.tuples(st.integers(0, 50), st.integers(0, 50))


def draw_pairs(rng, size):
    return [tuple(int(v) for v in rng.integers(0, 3, 2)) for _ in range(size)]


def ones(rng, size):
    return [(1, int(v)) for v in rng.integers(0, 50, size)]


# Random claims


@dataclass(frozen=True)
class Coin:
    """Shows heads with chance ``p``; claimed to do so with at most ``claimed``."""

    p: float
    claimed: float


TOSS = Slot("toss", "(p, rng)", "p: chance; rng: generator", "whether it shows heads", ("p", "rng"))


def toss(p, rng):
    return bool(rng.random() < p)


def heads(p, rng):
    return True


def global_toss(p, rng):
    return bool(np.random.random() < p)  # noqa: NPY002


def shows_heads(instance, *, toss, rng):
    return event(toss(instance.p, rng), probability=instance.claimed, name="heads")


LEARNER = Slot(
    "learner",
    "(problem, rng)",
    "problem: array (k,) of means; rng: generator",
    "has play() -> float",
    ("problem", "rng"),
    stateful=True,
)


class Learner:
    """Plays once; remembers, if it is badly made, between plays."""

    memory: dict[str, int] = {}  # noqa: RUF012

    def __init__(self, problem, rng):
        self.problem, self.rng = problem, rng

    def play(self):
        return float(self.rng.random() * self.problem[0])


class Sharer(Learner):
    """Keeps count of the plays of all its objects, and plays better from play to play."""

    def play(self):
        self.memory["plays"] = self.memory.get("plays", 0) + 1
        return super().play() / self.memory["plays"]


class Vandal(Learner):
    """Sets the means to zero."""

    def play(self):
        self.problem[:] = 0
        return 0.0


_ONLY: list[Learner] = []


def recycled(problem, rng):
    if not _ONLY:
        _ONLY.append(Learner(problem, rng))
    _ONLY[0].rng = rng
    return _ONLY[0]


class Greedy(Learner):
    """Always gets everything."""

    def play(self):
        return 1.0


def plays_low(instance, *, learner, rng):
    return sample(learner(instance, rng).play(), low=0.0, high=1.0, mean_at_most=0.75, name="play")


# Rates


COUNT = Slot("count", "(n)", "n: int", "number of operations", ("n",))


def linear(n):
    return 3 * n


def quadratic(n):
    return n * n


def no_cost(n):
    return 0


def counted(instance, *, count):
    return Cost(instance, count(instance))


# Arrays, proofs, faults


def below_square(instance):
    return at_most("x", float(instance), float(instance) ** 2 + 1)


def below_square_in_arrays(batch):
    return at_most("x", batch, batch**2 + 1)


def square_without_one(instance):
    return at_most("x", float(instance), float(instance) ** 2)


def fails(instance):
    raise ZeroDivisionError("the check is broken")


def not_an_instance(rng, size):
    return [object()] * size


def _slack(theorem: str, name: str, observe: Any, instances: Instances, **given: Any) -> Check:
    return Check(theorem=f"tiny.{theorem}", name=name, kind="slack", observe=observe, instances=instances, **given)


_PAIRS = Instances("pairs of ints", examples=lambda: {"zeros": (0, 0)}, draw=draw_pairs, strategy=pairs)

CHECKS = (
    _slack(
        "sums",
        "sum",
        sum_is_right,
        Instances("ints in arrays of up to 44", examples=named_numbers, draw=draw_numbers, strategy=number_lists),
        slots={TOTAL: right_total},
        mutants=(
            Mutant("forgets the last", "sum", {"total": wrong_total}),
            Mutant("lying certificate", "sum", {"total": lying_total}),
        ),
        cost=2.0,
    ),
    _slack("product", "below_sum", product_below_sum, _PAIRS, slots={MULTIPLY: lambda x, y: x * y}),
    _slack(
        "doubted",
        "below_sum_plus",
        lambda instance, *, multiply: at_most("1 y", multiply(*instance), instance[0] * instance[1] + 1),
        Instances("x = 1", draw=ones),
        slots={MULTIPLY: lambda x, y: x * y},
        mutants=(
            Mutant("adds two", "1 y", {"multiply": lambda x, y: x * y + 2}),
            Mutant("squares", "1 y", {"multiply": lambda x, y: x * y * y}),
        ),
    ),
    Check(
        theorem="tiny.coin",
        name="heads",
        kind="event",
        observe=shows_heads,
        instances=Instances(
            "coins",
            examples=lambda: {"rare": Coin(0.05, 0.1)},
            draw=lambda rng, size: [Coin(float(rng.uniform(0.1, 0.2)), 0.25) for _ in range(size)],
            fixed=1,
        ),
        slots={TOSS: toss},
        mutants=(
            Mutant("always heads", "heads", {"toss": heads}),
            Mutant("twice as often", "heads", {"toss": lambda p, rng: bool(rng.random() < 4 * p)}),
        ),
    ),
    Check(
        theorem="tiny.learner",
        name="plays",
        kind="sample",
        observe=plays_low,
        instances=Instances("two problems", examples=lambda: {"full": np.array([1.0]), "half": np.array([0.5, 2.0])}),
        slots={LEARNER: Learner},
        mutants=(
            Mutant("greedy", "play", {"learner": Greedy}),
            Mutant(
                "wrong statement",
                "play",
                observe=lambda instance, *, learner, rng: sample(0.9, low=0, high=1, mean_at_most=0.75, name="play"),
            ),
        ),
    ),
    Check(
        theorem="tiny.growth",
        name="operations",
        kind="rate",
        observe=counted,
        instances=Instances("sizes 8 to 128", examples=lambda: {str(2**k): 2**k for k in range(3, 8)}),
        slots={COUNT: linear},
        rate=ClaimedRate(1.0),
        mutants=(Mutant("quadratic", "cost", {"count": quadratic}), Mutant("cubic", "cost", {"count": lambda n: n**3})),
    ),
    _slack(
        "arrays",
        "square",
        below_square,
        Instances("normal numbers", examples=lambda: {"half": 0.5}),
        vectorised=Vectorised(
            lambda rng, size: rng.normal(0, 1, size), below_square_in_arrays, lambda b, i: float(b[i])
        ),
        mutants=(
            Mutant("without one", "x", observe=square_without_one),
            Mutant("half", "x", observe=lambda instance: at_most("x", float(instance), float(instance) ** 2 + 0.1)),
        ),
    ),
    _slack(
        "proved",
        "again",
        lambda instance: at_most("n", instance, instance**2),
        Instances("1..9", examples=lambda: {str(n): n for n in range(1, 10)}),
    ),
    _slack(
        "open",
        "again",
        lambda instance: at_most("n", instance, instance**2),
        Instances("1..9", examples=lambda: {str(n): n for n in range(1, 10)}),
    ),
    _slack(
        "extra",
        "again",
        lambda instance: at_most("n", 0, 1),
        Instances("one", examples=lambda: {"one": 1}),
        unavailable=lambda: "the extra `nothing`",
    ),
    _slack("faulty", "raises", fails, Instances("one", examples=lambda: {"one": 1})),
    _slack("faulty", "no_data", lambda instance: at_most("n", 0, 1), Instances("objects", draw=not_an_instance)),
    _slack("never", "vacuous", lambda instance: at_most("n", 0, 1), Instances("one", examples=lambda: {"one": 1})),
)

PROOFS = (
    Proof("tiny.proved", "all", "1 <= n < 100", lambda: exhaustive(range(1, 100), lambda n: n <= n * n)),
    Proof("tiny.proved", "more", "all n", lambda: ProofResult("inconclusive", "out of resources")),
    Proof("tiny.open", "all", "all n", lambda: ProofResult("inconclusive", "out of resources")),
)

HALF = Fraction(1, 2)
