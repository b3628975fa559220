"""The UCB1 regret bound of Auer, Cesa-Bianchi and Fischer, for Bernoulli arms."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from whp.proofs_checks.engine import Check, Instances, Mutant, Sample, sample
from whp.theory import Assumption, Claim, Paper, Slot, Theorem

PAPER = Paper(
    "ucb1",
    "Finite-time analysis of the multiarmed bandit problem",
    ("Peter Auer", "Nicolò Cesa-Bianchi", "Paul Fischer"),
    "Machine Learning 47 (2002)",
)


@dataclass(frozen=True)
class Bandit:
    """Bernoulli arms with these means, played for a number of rounds."""

    means: tuple[float, ...]
    horizon: int

    @property
    def gaps(self) -> tuple[float, ...]:
        """How far each mean is below the best."""
        return tuple(max(self.means) - m for m in self.means)

    @property
    def regret_bound(self) -> float:
        """``sum over bad arms of 8 ln(n) / gap, plus (1 + pi^2/3) times the sum of gaps``."""
        logs = sum(8 * math.log(self.horizon) / g for g in self.gaps if g > 0)
        return logs + (1 + math.pi**2 / 3) * sum(self.gaps)


class Learner(Protocol):
    """Chooses an arm, then is told its reward."""

    def choose(self) -> int:
        """Index of the arm to play."""

    def reward(self, arm: int, value: float) -> None:
        """Learn from the reward in [0, 1]."""


class UCB1:
    """Play the arm with the largest mean plus ``sqrt(2 ln t / plays)``."""

    width = 2.0

    def __init__(self, problem: Bandit, rng: np.random.Generator) -> None:
        self.plays, self.totals = [0] * len(problem.means), [0.0] * len(problem.means)

    def choose(self) -> int:
        """Largest index first played, ties to the lowest."""
        if 0 in self.plays:
            return self.plays.index(0)
        bonus = self.width * math.log(sum(self.plays))
        scores = [s / n + math.sqrt(bonus / n) for s, n in zip(self.totals, self.plays, strict=True)]
        return scores.index(max(scores))

    def reward(self, arm: int, value: float) -> None:
        """Count the play."""
        self.plays[arm] += 1
        self.totals[arm] += value


class Pessimist(UCB1):
    """Plays the arm with the smallest index."""

    def choose(self) -> int:
        """Smallest index first played."""
        bonus = self.width * math.log(max(1, sum(self.plays)))
        scores = [s / max(n, 1) + math.sqrt(bonus / max(n, 1)) for s, n in zip(self.totals, self.plays, strict=True)]
        return scores.index(min(scores))


class Uniform(UCB1):
    """Plays the arms in turn."""

    def choose(self) -> int:
        """Least played arm."""
        return self.plays.index(min(self.plays))


THEOREMS = (
    Theorem(
        id="ucb1.T1",
        paper=PAPER,
        title="Expected regret of UCB1",
        locator="Theorem 1",
        statement="For rewards in [0, 1] the expected regret of UCB1 after n plays is at most "
        "sum_i 8 ln(n) / gap_i + (1 + pi^2/3) sum_i gap_i.",
        assumptions=(Assumption("range", "rewards in [0, 1]", lambda i: all(0 <= m <= 1 for m in i.means)),),
        claim=Claim("E regret", "<=", "sum_i 8 ln(n)/gap_i + (1 + pi^2/3) sum_i gap_i"),
        provenance="paper",
    ),
)

LEARNER = Slot(
    "learner",
    "(problem, rng)",
    "problem: a Bandit (its means are not to be looked at); rng: numpy generator",
    "a fresh learner with choose() -> arm and reward(arm, value)",
    ("problem", "rng"),
    stateful=True,
)


def regret(instance: Bandit, *, learner: Callable[..., Learner], rng: np.random.Generator) -> Sample:
    """Pseudo-regret of one run: the sum of the gaps of the arms played."""
    player, total = learner(instance, rng), 0.0
    uniforms = rng.random(instance.horizon)
    for u in uniforms:
        arm = player.choose()
        total += instance.gaps[arm]
        player.reward(arm, float(u < instance.means[arm]))
    worst = instance.horizon * max(instance.gaps)
    return sample(total, low=0.0, high=worst, mean_at_most=instance.regret_bound, name="regret")


def _bandits() -> dict[str, Any]:
    return {"two arms, wide gap": Bandit((0.9, 0.1), 600), "four arms": Bandit((1.0, 0.0, 0.0, 0.0), 800)}


def _draw(rng: np.random.Generator, size: int) -> Sequence[Bandit]:
    return [Bandit((1.0, float(rng.uniform(0, 0.1))), 600) for _ in range(size)]


CHECKS = (
    Check(
        theorem="ucb1.T1",
        name="regret",
        kind="sample",
        observe=regret,
        instances=Instances(
            "Bernoulli bandits with 2 to 4 arms, 600 to 800 rounds", examples=_bandits, draw=_draw, fixed=1
        ),
        slots={LEARNER: UCB1},
        mutants=(
            Mutant("plays the smallest index", "regret", {"learner": Pessimist}),
            Mutant("plays in turn", "regret", {"learner": Uniform}),
        ),
        cost=16.0,
    ),
)
