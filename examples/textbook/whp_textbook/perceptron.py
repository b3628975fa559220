"""The perceptron's mistake bound: at most (R / margin)^2 mistakes on any separable sequence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from whp.proofs_checks.engine import Check, Instances, Mutant, Slack, at_most
from whp.theory import Assumption, Bound, Claim, Domain, Paper, Slot, Symbol, Theorem

PAPER = Paper(
    "perceptron",
    "On convergence proofs for perceptrons",
    ("Albert B. J. Novikoff",),
    "Symposium on the Mathematical Theory of Automata 12 (1962)",
)

MISTAKES = Bound(
    "mistakes",
    lambda m, radius, margin: (radius / margin) ** 2,
    (
        Symbol("radius", Domain.reals(0, open="low"), "largest norm of an example", "increasing"),
        Symbol("margin", Domain.reals(0, open="low"), "margin of some unit separator", "decreasing"),
    ),
)


@dataclass(frozen=True)
class SeparableSequence:
    """Examples ``x`` of shape (n, d), labels ``y`` in {-1, 1} of shape (n,), and a unit separator of shape (d,)."""

    x: NDArray[np.float64]
    y: NDArray[np.float64]
    separator: NDArray[np.float64]

    @property
    def margin(self) -> float:
        """Least ``y_i <separator, x_i>``."""
        return float(np.min(self.y * (self.x @ self.separator)))

    @property
    def radius(self) -> float:
        """Largest norm of an example."""
        return float(np.max(np.linalg.norm(self.x, axis=1)))


class Learner(Protocol):
    """Predicts a label, then is told the right one."""

    def predict(self, x: NDArray[np.float64]) -> float:
        """Label in {-1, 1} for an example of shape (d,)."""

    def update(self, x: NDArray[np.float64], y: float) -> None:
        """Learn from the example's true label."""


class Perceptron:
    """Rosenblatt's rule: on a mistake, add ``y x`` to the weights."""

    step = 1.0

    def __init__(self, problem: SeparableSequence, rng: np.random.Generator) -> None:
        self.weights = np.zeros(problem.x.shape[1])

    def predict(self, x: NDArray[np.float64]) -> float:
        """Sign of the inner product; zero counts as +1."""
        return 1.0 if float(self.weights @ x) >= 0 else -1.0

    def update(self, x: NDArray[np.float64], y: float) -> None:
        """Correct a mistake."""
        if self.predict(x) != y:
            self.weights = self.weights + self.step * y * x


class WrongSign(Perceptron):
    """Subtracts instead of adding."""

    step = -1.0


class Forgetful(Perceptron):
    """Keeps only the last correction."""

    def update(self, x: NDArray[np.float64], y: float) -> None:
        """Overwrite the weights."""
        if self.predict(x) != y:
            self.weights = y * x


THEOREMS = (
    Theorem(
        id="perceptron.T1",
        paper=PAPER,
        title="Mistake bound",
        statement="On any sequence with max |x_i| <= R that a unit vector separates with margin g > 0, the perceptron "
        "makes at most (R/g)^2 mistakes, however often the sequence is repeated.",
        assumptions=(
            Assumption("separable", "y_i <u, x_i> >= g > 0 for a unit vector u", lambda i: i.margin > 1e-9),
            Assumption("unit", "|u| = 1", lambda i: abs(float(np.linalg.norm(i.separator)) - 1) < 1e-9),
        ),
        claim=Claim("mistakes", "<=", MISTAKES),
        provenance="prior",
    ),
)

LEARNER = Slot(
    "learner",
    "(problem, rng)",
    "problem: the sequence's shape (its labels are not to be looked at); rng: numpy generator",
    "a fresh learner with predict(x) -> -1 or 1 and update(x, y)",
    ("problem", "rng"),
    stateful=True,
)

_PASSES = 3


def mistakes_bounded(
    instance: SeparableSequence, *, learner: Callable[..., Learner], rng: np.random.Generator
) -> Slack:
    """Count mistakes over several passes of the sequence."""
    student, mistakes = learner(instance, rng), 0
    for _ in range(_PASSES):
        for x, y in zip(instance.x, instance.y, strict=True):
            mistakes += student.predict(x) != y
            student.update(x, float(y))
    bound = MISTAKES(radius=instance.radius, margin=instance.margin)
    return at_most("mistakes", mistakes, bound, rounding=1e-9 * bound, trivial=float(_PASSES * len(instance.y)))


def _sequence(rng: np.random.Generator, n: int, d: int, gap: float) -> SeparableSequence:
    separator = rng.standard_normal(d)
    separator /= np.linalg.norm(separator)
    x = rng.standard_normal((n, d))
    x /= np.maximum(1.0, np.linalg.norm(x, axis=1, keepdims=True))
    y = np.where(x @ separator >= 0, 1.0, -1.0)
    return SeparableSequence(x + gap * y[:, None] * separator, y, separator)


def _draw(rng: np.random.Generator, size: int) -> Sequence[SeparableSequence]:
    return [
        _sequence(rng, int(rng.integers(1, 200)), int(rng.integers(1, 12)), float(rng.uniform(0.05, 0.6)))
        for _ in range(size)
    ]


def _named() -> dict[str, Any]:
    line = SeparableSequence(np.ones((1, 1)), -np.ones(1), -np.ones(1))
    ring = np.eye(8)
    worst = SeparableSequence(ring, -np.ones(8), -np.ones(8) / np.sqrt(8.0))
    return {"one example, one mistake": line, "orthonormal: the bound is attained": worst}


CHECKS = (
    Check(
        theorem="perceptron.T1",
        name="mistakes",
        kind="slack",
        observe=mistakes_bounded,
        instances=Instances("separable sequences, n < 200, d < 12, three passes", examples=_named, draw=_draw),
        slots={LEARNER: Perceptron},
        mutants=(
            Mutant("wrong sign", "mistakes", {"learner": WrongSign}),
            Mutant("keeps only the last correction", "mistakes", {"learner": Forgetful}),
        ),
        cost=8.0,
    ),
)
