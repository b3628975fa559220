"""Ranking loss against the number of questions, for designs of the same items."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from whp.algorithms.plackett_luce_design import Rankings, fit_features, sample_rankings, select_questions
from whp.experiments.plackett_luce_design.data import ModeChoice
from whp.theory.plackett_luce_design import Design, DesignProblem

Array = NDArray[np.float64]
IntArray = NDArray[np.int64]

__all__ = ["LossCurve", "choice_curves", "loss_curves"]

RIDGE = 1e-3
"""Penalty on the mean log-likelihood, as in the released code."""


@dataclass(frozen=True, eq=False)
class LossCurve:
    """Loss of one method at several budgets.

    Parameters
    ----------
    method : str
        Name of the design.
    budgets : tuple of int
        Numbers of questions.
    losses : (n_repeats, n_budgets) ndarray
        One row a repeat.
    """

    method: str
    budgets: tuple[int, ...]
    losses: Array

    @property
    def mean(self) -> Array:
        """Mean loss at each budget."""
        return np.asarray(self.losses.mean(axis=0))

    @property
    def standard_error(self) -> Array:
        """Standard error of the mean at each budget."""
        return np.asarray(self.losses.std(axis=0, ddof=1) / np.sqrt(len(self.losses)))


def group_loss(problem: DesignProblem, groups: IntArray, theta: Array, estimate: Array) -> float:
    """Mean share of misordered pairs within the groups; pairs of equal true utility are left out."""
    truth, guess = problem.features @ theta, problem.features @ estimate
    wrong, counted = 0, 0
    for a, b in combinations(range(groups.shape[1]), 2):
        true_sign = np.sign(truth[groups[:, a]] - truth[groups[:, b]])
        predicted = np.sign(guess[groups[:, a]] - guess[groups[:, b]])
        real = true_sign != 0
        wrong += int((true_sign[real] != predicted[real]).sum())
        counted += int(real.sum())
    return wrong / max(counted, 1)


def _evaluation_groups(problem: DesignProblem) -> IntArray:
    if problem.candidates is not None:
        return problem.candidates
    return np.array(list(combinations(range(problem.n_items), 2)))


def loss_curves(
    problem: DesignProblem, designs: Mapping[str, Design], budgets: Sequence[int], repeats: int, seed: int
) -> list[LossCurve]:
    """Simulate answers to questions drawn from each design and measure the ranking loss.

    Each repeat draws a truth from ``N(0, I)``; all designs meet the same truths.

    Parameters
    ----------
    problem : DesignProblem
        Items and subset size.
    designs : mapping
        Name to design.
    budgets : sequence of int
        Numbers of questions.
    repeats : int
        Repetitions.
    seed : int
        Root of all streams.

    Returns
    -------
    list of LossCurve
    """
    groups = _evaluation_groups(problem)
    losses = {name: np.empty((repeats, len(budgets))) for name in designs}
    for repeat in range(repeats):
        truth = np.random.default_rng([seed, repeat]).normal(size=problem.dim)
        for m, (name, design) in enumerate(designs.items()):
            for b, budget in enumerate(budgets):
                rng = np.random.default_rng([seed, repeat, m, budget])
                subsets = design.draw(budget, rng)
                answers = Rankings.full(sample_rankings(problem.features @ truth, subsets, rng), problem.n_items)
                fit = fit_features(problem.features, answers, ridge=RIDGE * budget, tolerance=1e-6)
                losses[name][repeat, b] = group_loss(problem, groups, truth, fit.theta)
    return [LossCurve(name, tuple(budgets), values) for name, values in losses.items()]


def choice_curves(data: ModeChoice, budgets: Sequence[int], repeats: int, seed: int) -> list[LossCurve]:
    """Real choices: error on held-out travellers after asking some of the others.

    A third of the travellers is held out. A traveller answers once, so a design selects travellers without repetition;
    selection looks at the features only.

    Parameters
    ----------
    data : ModeChoice
        Travellers and their choices.
    budgets : sequence of int
        Travellers asked.
    repeats : int
        Random splits.
    seed : int
        Root of all streams.

    Returns
    -------
    list of LossCurve
        Share of held-out travellers whose mode is not predicted.
    """
    problem, n = data.problem, len(data.chosen)
    candidates = problem.subsets()
    selectors: dict[str, Callable[[DesignProblem, int, np.random.Generator], IntArray]] = {
        "uniform": lambda sub, budget, rng: rng.permutation(len(sub.subsets()))[:budget],
        "optimal": _selected,
    }
    losses = {name: np.empty((repeats, len(budgets))) for name in selectors}
    for repeat in range(repeats):
        order = np.random.default_rng([seed, repeat]).permutation(n)
        held, asked = order[: n // 3], np.sort(order[n // 3 :])
        sub = DesignProblem(problem.features, problem.subset_size, candidates[asked])
        for m, (name, select) in enumerate(selectors.items()):
            for b, budget in enumerate(budgets):
                rng = np.random.default_rng([seed, repeat, m, budget])
                rows = asked[select(sub, budget, rng)]
                answers = Rankings.top(
                    [[int(c)] for c in data.chosen[rows]], candidates[rows].tolist(), problem.n_items
                )
                fit = fit_features(problem.features, answers, ridge=1.0, tolerance=1e-6)
                utilities = (problem.features @ fit.theta)[candidates[held]]
                predicted = candidates[held, utilities.argmax(axis=1)]
                losses[name][repeat, b] = float((predicted != data.chosen[held]).mean())
    return [LossCurve(name, tuple(budgets), values) for name, values in losses.items()]


def _selected(sub: DesignProblem, budget: int, rng: np.random.Generator) -> IntArray:
    chosen = select_questions(sub, budget, rng=rng, max_shows=1, sweeps=1).subsets
    position = {tuple(row): i for i, row in enumerate(sub.subsets().tolist())}
    return np.array([position[tuple(row)] for row in chosen.tolist()])
