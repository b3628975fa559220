"""T7 and T10: from the gradient at the truth to the estimate, to every pair, to the ranking."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whp.algorithms import plackett_luce_design as algorithms
from whp.proofs_checks.engine import (
    Check,
    ClaimedRate,
    Cost,
    Event,
    Instances,
    Mutant,
    Recipe,
    Sample,
    Slack,
    at_most,
    event,
    recipe,
    sample,
)
from whp.proofs_checks.plackett_luce_design.design_checks import SPANNING
from whp.proofs_checks.plackett_luce_design.instances import DesignedItems, EstimationTask, digits_table
from whp.proofs_checks.plackett_luce_design.model_checks import DESIGN_SOLVER, SAMPLER, interior_point
from whp.proofs_checks.plackett_luce_design.reference import all_leverages, rankings_gradient
from whp.theory import plackett_luce_design as theory
from whp.theory.core import Slot

Array = NDArray[Any]
Estimator = Callable[[Array, Array], Array]

BALL_ESTIMATOR = Slot(
    "estimator",
    "(features, rankings)",
    "features: array (n_items, d); rankings: integer array (T, K), best first",
    "array (d,): likelihood maximiser over the unit ball",
    ("features", "rankings"),
)
FREE_ESTIMATOR = Slot(
    "estimator",
    "(features, rankings)",
    "features: array (n_items, d); rankings: integer array (T, K), best first",
    "array (d,): estimate of the parameter",
    ("features", "rankings"),
)


def ball_fit(features: Array, rankings: Array) -> Array:
    """Likelihood maximiser over the unit ball."""
    data = algorithms.Rankings.full(rankings, len(features))
    return algorithms.fit_features(features, data, radius=1.0).theta


def free_fit(features: Array, rankings: Array) -> Array:
    """Likelihood maximiser over a ball far larger than any truth of these checks."""
    data = algorithms.Rankings.full(rankings, len(features))
    return algorithms.fit_features(features, data, radius=50.0, tolerance=1e-6).theta


def _broken_fit(breaking: Callable[[algorithms.Rankings], algorithms.Rankings]) -> Estimator:
    def fit(features: Array, rankings: Array) -> Array:
        pairs = breaking(algorithms.Rankings.full(rankings, len(features)))
        items, counts = np.unique(pairs.items, axis=0, return_counts=True)
        merged = algorithms.Rankings(items, np.ones(len(items), dtype=int), counts.astype(float), len(features))
        return algorithms.fit_features(features, merged, radius=50.0, tolerance=1e-6).theta

    return fit


full_breaking_fit = _broken_fit(algorithms.full_breaking)
adjacent_breaking_fit = _broken_fit(algorithms.adjacent_breaking)


def _opposite(features: Array, rankings: Array) -> Array:
    return -ball_fit(features, rankings)


def _zero(features: Array, rankings: Array) -> Array:
    return np.zeros(features.shape[1])


def _unbounded(features: Array, rankings: Array) -> Array:
    """Forget the ball: a hundred times the direction of the estimate."""
    return 100.0 * ball_fit(features, rankings)


# T7a: one data set


@dataclass(frozen=True)
class AnsweredTask:
    """A task with its answers."""

    task: EstimationTask
    rankings: Array

    @property
    def spans(self) -> bool:
        """Whether the questions span."""
        return self.task.spans


def _norm(vector: Array, matrix: Array) -> float:
    return float(np.sqrt(max(float(vector @ matrix @ vector), 0.0)))


def error_follows_gradient(instance: AnsweredTask, *, estimator: Estimator) -> Slack:
    """Error in the norm of ``T V`` against the gradient at the truth in the dual norm, over kappa."""
    task, rankings = instance.task, instance.rankings
    information = len(rankings) * task.mean_information
    theta = np.asarray(estimator(task.features, rankings))
    gradient = rankings_gradient(task.features, rankings, task.theta)
    kappa = theory.hessian_lower_constant(rankings.shape[1], 1.0)
    right = _norm(gradient, np.linalg.inv(information)) / kappa
    slack = at_most("inside the ball", float(np.linalg.norm(theta)), 1.0 + 1e-9)
    return slack & at_most("error", _norm(theta - task.theta, information), right * (1 + 1e-9) + 1e-6)


def make_task(rng: np.random.Generator, n: int, d: int, k: int, questions: int, length: float = 1.0) -> EstimationTask:
    """Random items in the unit ball, random questions, and a truth of given length."""
    x = rng.normal(size=(n, d))
    x /= np.linalg.norm(x, axis=1).max()
    subsets = np.array([np.sort(rng.choice(n, k, replace=False)) for _ in range(questions)])
    theta = rng.normal(size=d)
    return EstimationTask(x, subsets, length * theta / np.linalg.norm(theta))


def _answered(rng: np.random.Generator, n: int, d: int, k: int, questions: int) -> AnsweredTask:
    task = make_task(rng, n, d, k, questions)
    return AnsweredTask(task, algorithms.sample_rankings(task.utilities, task.subsets, rng))


def _draw_answered(rng: np.random.Generator, size: int) -> list[AnsweredTask]:
    return [
        _answered(
            rng, int(rng.integers(5, 12)), int(rng.integers(1, 4)), int(rng.integers(2, 5)), int(rng.integers(20, 200))
        )
        for _ in range(size)
    ]


@recipe("plackett_luce_design.answered")
def answered_task(rng: np.random.Generator, n: int, d: int, k: int, questions: int) -> AnsweredTask:
    """Random task with answers drawn from the model."""
    return _answered(rng, n, d, k, questions)


@recipe("plackett_luce_design.digits_task")
def digits_task(rng: np.random.Generator, n: int, d: int, k: int, questions: int) -> AnsweredTask:
    """Principal components of scikit-learn's digits as features, simulated truth and answers."""
    raw = digits_table(n)
    centred = raw - raw.mean(axis=0)
    x = centred @ np.linalg.svd(centred, full_matrices=False)[2][:d].T
    x /= np.linalg.norm(x, axis=1).max()
    subsets = np.array([np.sort(rng.choice(n, k, replace=False)) for _ in range(questions)])
    theta = rng.normal(size=d)
    task = EstimationTask(x, subsets, theta / np.linalg.norm(theta))
    return AnsweredTask(task, algorithms.sample_rankings(task.utilities, task.subsets, rng))


T7A = Check(
    theorem="plackett_luce_design.T7a",
    name="error",
    kind="slack",
    observe=error_follows_gradient,
    instances=Instances(
        "random items in the unit ball, 1 to 4 dimensions, 2 to 4 a question, 20 to 4000 questions; digits",
        examples=lambda: {
            "4000 pairs of 6 items": Recipe(
                "plackett_luce_design.answered", {"n": 6, "d": 2, "k": 2, "questions": 4000}
            ),
            "digits, 4 components": Recipe(
                "plackett_luce_design.digits_task", {"n": 100, "d": 4, "k": 4, "questions": 300}
            ),
        },
        draw=_draw_answered,
    ),
    slots={BALL_ESTIMATOR: ball_fit},
    mutants=(
        Mutant("the opposite estimate", "error", {"estimator": _opposite}),
        Mutant("forgets the ball", "error", {"estimator": _unbounded}),
        Mutant("always zero", "error", {"estimator": _zero}),
    ),
    cost=60.0,
)

# T7b, T7m: in expectation and with probability


def gradient_is_small(instance: EstimationTask, *, ranking_sampler: Any, rng: np.random.Generator) -> Sample:
    """Squared gradient norm at the truth; it lies in ``[0, T K(K-1)/2]`` and has mean at most ``d/4``."""
    rankings = np.asarray(ranking_sampler(instance.utilities, instance.subsets, rng))
    gradient = rankings_gradient(instance.features, rankings, instance.theta)
    t, k = instance.subsets.shape
    value = _norm(gradient, np.linalg.inv(t * instance.mean_information)) ** 2
    most = t * k * (k - 1) / 2
    dim = instance.features.shape[1]
    return sample(min(value, most), low=0.0, high=most, mean_at_most=dim / 4, name="squared gradient")


def _worst_first(utilities: Array, subsets: Array, rng: np.random.Generator) -> Array:
    return np.asarray(algorithms.sample_rankings(-np.asarray(utilities), subsets, rng))


def _in_order_shown(utilities: Array, subsets: Array, rng: np.random.Generator) -> Array:
    """No noise at all and no attention to the utilities."""
    return np.asarray(subsets)


def _gradient_tasks() -> dict[str, EstimationTask]:
    triangle = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    line = np.array([[-1.0], [0.0], [1.0]])
    return {
        "pairs at theta = 0, the bound is attained": EstimationTask(
            triangle, np.array([[0, 1], [0, 2], [1, 2]]), np.zeros(2)
        ),
        "a triple on a line": EstimationTask(line, np.array([[0, 1, 2]] * 3), np.array([1.0])),
        "pairs on a line": EstimationTask(line, np.array([[0, 2], [0, 1], [1, 2], [0, 2]]), np.array([1.0])),
    }


T7B = Check(
    theorem="plackett_luce_design.T7b",
    name="gradient",
    kind="sample",
    observe=gradient_is_small,
    instances=Instances("three named tasks with 3 or 4 questions", examples=_gradient_tasks),
    slots={SAMPLER: algorithms.sample_rankings},
    mutants=(
        Mutant("prefers the worse item", "", {"ranking_sampler": _worst_first}),
        Mutant("answers in the order shown", "", {"ranking_sampler": _in_order_shown}),
    ),
    cost=3.0,
)


def estimate_is_far(
    instance: EstimationTask, *, estimator: Estimator, ranking_sampler: Any, rng: np.random.Generator
) -> Event:
    """Whether the squared error exceeds the bound with probability ``1 - delta``."""
    return _far(instance, estimator, ranking_sampler, rng, 1.0)


def _far(task: EstimationTask, estimator: Estimator, sampler: Any, rng: np.random.Generator, factor: float) -> Event:
    rankings = np.asarray(sampler(task.utilities, task.subsets, rng))
    error = np.asarray(estimator(task.features, rankings)) - task.theta
    t, k = task.subsets.shape
    radius = theory.estimation_error_bound(task.features.shape[1], t, k, task.failure, 1.0)
    far = float(error @ task.mean_information @ error) > factor * radius
    return event(far, probability=task.failure, name="error beyond the bound")


def _with_smaller_radius(factor: float) -> Callable[..., Event]:
    def observe(
        instance: EstimationTask, *, estimator: Estimator, ranking_sampler: Any, rng: np.random.Generator
    ) -> Event:
        return _far(instance, estimator, ranking_sampler, rng, factor**2)

    return observe


def _many_pairs() -> dict[str, EstimationTask]:
    rng = np.random.default_rng(3)
    return {
        "3000 pairs of 6 items in the plane": replace(make_task(rng, 6, 2, 2, 3000), failure=0.5),
        "4000 pairs of 4 items on a line": replace(make_task(rng, 4, 1, 2, 4000), failure=0.2),
    }


T7M = Check(
    theorem="plackett_luce_design.T7m",
    name="squared_error",
    kind="event",
    observe=estimate_is_far,
    instances=Instances("two named tasks with pairs of items", examples=_many_pairs),
    slots={BALL_ESTIMATOR: ball_fit, SAMPLER: algorithms.sample_rankings},
    tighten=_with_smaller_radius,
    mutants=(
        Mutant("the opposite estimate", "", {"estimator": _opposite}),
        Mutant("always zero", "", {"estimator": _zero}),
        Mutant("prefers the worse item", "", {"ranking_sampler": _worst_first}),
    ),
    cost=60.0,
)

# T7c, T7d, T7e: from the error to questions, pairs and ranks

LARGEST = Slot(
    "largest_leverage",
    "(problem, design)",
    "problem: theory DesignProblem; design: theory Design that spans",
    "largest leverage over all subsets, a float",
    ("problem", "design"),
)


def question_errors_are_bounded(instance: DesignedItems, *, largest_leverage: Callable[..., float]) -> Slack:
    """Squared pair errors within every question, for a few integer error vectors."""
    x = np.array(instance.features, dtype=float)
    problem, design = instance.problem, instance.design
    information = theory.information_matrix(problem, design)
    largest = float(largest_leverage(problem, design))
    slack = at_most("errors within a question", 0.0, 0.0)
    for e in _directions(x.shape[1], information):
        values = x @ e
        worst = max(
            sum((values[i] - values[j]) ** 2 for i, j in combinations(subset, 2))
            for subset in combinations(range(len(x)), instance.subset_size)
        )
        slack &= at_most("errors within a question", worst, largest * float(e @ information @ e) * (1 + 1e-9))
    return slack


def _directions(dim: int, information: Array) -> list[Array]:
    eye = [row for row in np.eye(dim)]
    return [*eye, np.arange(1.0, dim + 1), *np.linalg.eigh(information)[1].T]


def _largest_pair(problem: theory.DesignProblem, design: theory.Design) -> float:
    v = np.linalg.inv(theory.information_matrix(problem, design))
    x = problem.features
    return max(float((x[i] - x[j]) @ v @ (x[i] - x[j])) for i, j in combinations(range(len(x)), 2)) / 2


def _dimension_only(problem: theory.DesignProblem, design: theory.Design) -> float:
    return float(problem.dim)


def _every_third(problem: theory.DesignProblem, design: theory.Design) -> float:
    return float(all_leverages(problem, design)[::3].max())


def _largest(problem: theory.DesignProblem, design: theory.Design) -> float:
    value = algorithms.largest_leverage(problem, design)
    if value is None:
        raise ValueError("problem has too many subsets for an exact maximum")
    return value


T7C = Check(
    theorem="plackett_luce_design.T7c",
    name="questions",
    kind="slack",
    observe=question_errors_are_bounded,
    instances=SPANNING,
    slots={LARGEST: _largest},
    mutants=(
        Mutant("half the largest pair", "errors within a question", {"largest_leverage": _largest_pair}),
        Mutant("d at every design", "errors within a question", {"largest_leverage": _dimension_only}),
        Mutant("every third subset", "errors within a question", {"largest_leverage": _every_third}),
    ),
    cost=30.0,
)


def mean_pair_leverage_is_small(instance: DesignedItems, *, design_solver: Callable[..., theory.Design]) -> Slack:
    """Mean over all pairs of ``z' V^{-1} z`` at the solver's design, up to its accuracy of 10^-6."""
    problem = instance.problem
    inverse = np.linalg.inv(theory.information_matrix(problem, design_solver(problem)))
    x = problem.features
    values = [float((x[i] - x[j]) @ inverse @ (x[i] - x[j])) for i, j in combinations(range(len(x)), 2)]
    bound = theory.mean_pair_leverage_bound(problem.dim, problem.subset_size)
    return at_most("mean pair leverage", float(np.mean(values)), bound * (1 + 1e-6))


def _lopsided(problem: theory.DesignProblem) -> theory.Design:
    """Nearly all weight on one question."""
    rows = problem.subsets()
    raw = np.full(len(rows), 0.01)
    raw[0] = 1.0
    return theory.Design(rows, raw / raw.sum())


def _worst_directions(problem: theory.DesignProblem) -> theory.Design:
    """Optimise for the opposite: least leverage."""
    values = all_leverages(problem, theory.Design.uniform(problem.subsets()))
    raw = np.exp(-4.0 * values / problem.dim)
    return theory.Design(problem.subsets(), raw / raw.sum())


T7D = Check(
    theorem="plackett_luce_design.T7d",
    name="pairs",
    kind="slack",
    observe=mean_pair_leverage_is_small,
    instances=SPANNING,
    slots={DESIGN_SOLVER: interior_point},
    mutants=(
        Mutant("lopsided design", "mean pair leverage", {"design_solver": _lopsided}),
        Mutant("asks where least is learnt", "mean pair leverage", {"design_solver": _worst_directions}),
    ),
    cost=60.0,
)


@dataclass(frozen=True)
class TwoUtilities:
    """True and estimated utilities of the same items, as integers over 1000."""

    truth: tuple[int, ...]
    estimate: tuple[int, ...]


COUNTER = Slot(
    "count_misordered",
    "(truth, estimate)",
    "truth, estimate: integer tuples of equal length",
    "number of misordered pairs, a predicted tie counting one half",
    ("truth", "estimate"),
)


def misordered_pairs_are_bounded(instance: TwoUtilities, *, count_misordered: Callable[..., Any]) -> Slack:
    """Misordered pairs against the squared relative errors of the differences, exactly."""
    truth, estimate = instance.truth, instance.estimate
    count = Fraction(count_misordered(truth, estimate))
    total, wrong = Fraction(0), 0
    for i, j in combinations(range(len(truth)), 2):
        difference = truth[i] - truth[j]
        predicted = estimate[i] - estimate[j]
        total += Fraction(predicted - difference, difference) ** 2
        wrong += difference * predicted < 0
    return at_most("misordered pairs", count, total) & at_most("counts every misordered pair", wrong, count)


def _count(truth: Sequence[int], estimate: Sequence[int]) -> Fraction:
    pairs = len(truth) * (len(truth) - 1) // 2
    loss = theory.ranking_loss(np.array(truth, dtype=float), np.array(estimate, dtype=float))
    return Fraction(round(2 * loss * pairs), 2)


def _count_right(truth: Sequence[int], estimate: Sequence[int]) -> Fraction:
    pairs = len(truth) * (len(truth) - 1) // 2
    return pairs - _count(truth, estimate)


def _count_twice(truth: Sequence[int], estimate: Sequence[int]) -> Fraction:
    return 2 * _count(truth, estimate)


def _count_none(truth: Sequence[int], estimate: Sequence[int]) -> Fraction:
    return Fraction(0)


def _draw_utilities(rng: np.random.Generator, size: int) -> list[TwoUtilities]:
    found = []
    for _ in range(size):
        n = int(rng.integers(2, 8))
        truth = rng.choice(4000, n, replace=False) - 2000
        noise = rng.integers(-1, 2, n) * int(rng.integers(0, 3000))
        found.append(TwoUtilities(tuple(int(v) for v in truth), tuple(int(v) for v in truth + noise)))
    return found


T7E = Check(
    theorem="plackett_luce_design.T7e",
    name="misordered",
    kind="slack",
    observe=misordered_pairs_are_bounded,
    instances=Instances(
        "2 to 7 items of distinct integer utilities and integer estimates, predicted ties included",
        examples=lambda: {
            "an order just missed": TwoUtilities((0, 1000), (0, -1)),
            "a predicted tie": TwoUtilities((0, 1000), (0, 0)),
            "the right order": TwoUtilities((0, 1000, 3000), (0, 1000, 3000)),
        },
        draw=_draw_utilities,
    ),
    slots={COUNTER: _count},
    mutants=(
        Mutant("counts ordered pairs", "misordered pairs", {"count_misordered": _count_right}),
        Mutant("counts every pair twice", "misordered pairs", {"count_misordered": _count_twice}),
        Mutant("counts nothing", "counts every misordered pair", {"count_misordered": _count_none}),
    ),
)


def loss_is_small(
    instance: EstimationTask, *, estimator: Estimator, ranking_sampler: Any, rng: np.random.Generator
) -> Sample:
    """Share of misordered pairs after the questions of an optimal design."""
    rankings = np.asarray(ranking_sampler(instance.utilities, instance.subsets, rng))
    guess = instance.features @ np.asarray(estimator(instance.features, rankings))
    differences = [abs(a - b) for a, b in combinations(instance.utilities, 2)]
    t, k = instance.subsets.shape
    bound = theory.ranking_loss_bound(instance.features.shape[1], t, k, min(differences))
    loss = theory.ranking_loss(instance.utilities, guess)
    return sample(loss, low=0.0, high=1.0, mean_at_most=bound, name="ranking loss")


def _optimal_questions() -> dict[str, EstimationTask]:
    """Designs known in closed form: the ends of a line; the sides of an equilateral triangle."""
    line = np.array([[-1.0], [0.0], [1.0]])
    angles = 2 * np.pi * np.arange(3) / 3
    triangle = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    sides = np.array([[0, 1], [0, 2], [1, 2]])
    return {
        "both ends of a line, 600 questions": EstimationTask(line, np.array([[0, 2]] * 600), np.array([0.6])),
        "sides of a triangle, 900 questions": EstimationTask(triangle, np.tile(sides, (300, 1)), np.array([0.3, 0.6])),
    }


T7F = Check(
    theorem="plackett_luce_design.T7f",
    name="ranking_loss",
    kind="sample",
    observe=loss_is_small,
    instances=Instances("two named tasks whose optimal design is known", examples=_optimal_questions),
    slots={BALL_ESTIMATOR: ball_fit, SAMPLER: algorithms.sample_rankings},
    mutants=(
        Mutant("the opposite estimate", "", {"estimator": _opposite}),
        Mutant("prefers the worse item", "", {"ranking_sampler": _worst_first}),
        Mutant("always zero", "", {"estimator": _zero}),
    ),
    cost=20.0,
)

# T7n, T7g: order in T, efficiency


def error_at_size(instance: tuple[int, int], *, estimator: Estimator, rng: np.random.Generator) -> Cost:
    """Mean squared error over repeated data sets of ``T`` questions about fixed items."""
    questions, repeats = instance
    task = _rate_task()
    total = 0.0
    for _ in range(repeats):
        subsets = task.subsets[rng.integers(0, len(task.subsets), questions)]
        rankings = algorithms.sample_rankings(task.utilities, subsets, rng)
        total += float(((np.asarray(estimator(task.features, rankings)) - task.theta) ** 2).sum())
    return Cost(float(questions), total / repeats, "mean squared error")


@lru_cache(maxsize=1)
def _rate_task() -> EstimationTask:
    return make_task(np.random.default_rng(11), 8, 2, 4, 60, length=3.0)


def _heavy_ridge(features: Array, rankings: Array) -> Array:
    """A ridge that grows with the data, so that the bias stays."""
    data = algorithms.Rankings.full(rankings, len(features))
    return algorithms.fit_features(features, data, ridge=0.2 * len(rankings), tolerance=1e-6).theta


RATE_SIZES = Instances(
    "8 items in the plane, 4 a question, T = 100 to 1600 questions drawn at random, 40 data sets a size",
    examples=lambda: {f"T={t}": (t, 40) for t in (100, 200, 400, 800, 1600)},
)


def _rate_check(name: str, reference: Estimator) -> Check:
    return Check(
        theorem="plackett_luce_design.T7n",
        name=name,
        kind="rate",
        observe=error_at_size,
        instances=RATE_SIZES,
        slots={FREE_ESTIMATOR: reference},
        rate=ClaimedRate(-1.0, relation="equal", tolerance=0.15),
        mutants=(
            Mutant("breaks into adjacent pairs", "", {"estimator": adjacent_breaking_fit}),
            Mutant("ridge that grows with the data", "", {"estimator": _heavy_ridge}),
        ),
        cost=2000.0,
    )


T7N = _rate_check("likelihood", free_fit)
T7N_BROKEN = _rate_check("full_breaking", full_breaking_fit)


@dataclass(frozen=True)
class EfficiencyTask:
    """Questions that show all items, and how many data sets one replicate averages."""

    features: Array
    theta: Array
    questions: int
    repeats: int


def error_is_efficient(instance: EfficiencyTask, *, estimator: Estimator, rng: np.random.Generator) -> Sample:
    """Squared error in the norm of the Fisher information of all questions, averaged over data sets, at most 8 d."""
    x, dim = instance.features, instance.features.shape[1]
    information = instance.questions * _fisher_of(tuple(map(tuple, x.tolist())), tuple(instance.theta.tolist()))
    shown = np.tile(np.arange(len(x)), (instance.questions, 1))
    values = []
    for _ in range(instance.repeats):
        rankings = algorithms.sample_rankings(x @ instance.theta, shown, rng)
        error = np.asarray(estimator(x, rankings)) - instance.theta
        values.append(min(float(error @ information @ error), 8.0 * dim))
    return sample(float(np.mean(values)), low=0.0, high=8.0 * dim, mean_at_most=1.05 * dim, name="efficiency")


@lru_cache(maxsize=8)
def _fisher_of(features: tuple[tuple[float, ...], ...], theta: tuple[float, ...]) -> Array:
    return theory.fisher_information(theta, features)


def top_breaking_fit(features: Array, rankings: Array) -> Array:
    """The best item against the rest, as independent pairs."""
    return _broken_fit(algorithms.top_breaking)(features, rankings)


def _efficiency_task() -> dict[str, EfficiencyTask]:
    x = np.repeat([0.0, 1.0], 6)[:, None]
    return {"six good and six poor items, 80 full rankings": EfficiencyTask(x, np.array([-3.0]), 80, 10)}


T7G = Check(
    theorem="plackett_luce_design.T7g",
    name="efficiency",
    kind="sample",
    observe=error_is_efficient,
    instances=Instances("one named task", examples=_efficiency_task),
    slots={FREE_ESTIMATOR: free_fit},
    mutants=(
        Mutant("full rank breaking", "", {"estimator": full_breaking_fit}),
        Mutant("top breaking", "", {"estimator": top_breaking_fit}),
    ),
    cost=14.0,
)

# T10


@dataclass(frozen=True)
class SkewedItems:
    """Items most of which are alike, a truth, a budget."""

    features: Array
    theta: Array
    subset_size: int
    questions: int


def design_beats_uniform(
    instance: SkewedItems, *, design_solver: Callable[..., theory.Design], rng: np.random.Generator
) -> Sample:
    """Mean squared pair error of uniform questions minus that of the design, clipped to one."""
    problem = theory.DesignProblem(instance.features, instance.subset_size)
    design = design_solver(problem)
    rows = problem.subsets()
    uniform = rows[rng.integers(0, len(rows), instance.questions)]
    errors = [_pair_error(instance, subsets, rng) for subsets in (uniform, design.draw(instance.questions, rng))]
    gain = float(np.clip(errors[0] - errors[1], -1.0, 1.0))
    return sample(gain, low=-1.0, high=1.0, mean_at_least=0.0, name="gain over uniform")


def _pair_error(instance: SkewedItems, subsets: Array, rng: np.random.Generator) -> float:
    x = instance.features
    rankings = algorithms.sample_rankings(x @ instance.theta, subsets, rng)
    data = algorithms.Rankings.full(rankings, len(x))
    fit = algorithms.fit_features(x, data, ridge=1e-3 * len(rankings), tolerance=1e-6)
    u = (x - x.mean(axis=0)) @ (fit.theta - instance.theta)
    return 2.0 * float(u @ u) / (len(x) - 1)


def _solve_all(problem: theory.DesignProblem) -> theory.Design:
    return _solved(problem.features.tobytes(), problem.features.shape, problem.subset_size)


@lru_cache(maxsize=16)
def _solved(content: bytes, shape: tuple[int, ...], size: int) -> theory.Design:
    features = np.frombuffer(content).reshape(shape)
    return algorithms.column_generation_design(theory.DesignProblem(features, size), tolerance=1e-4).design


def _asks_the_dullest(problem: theory.DesignProblem) -> theory.Design:
    """The questions of least leverage under the optimal design, and a few that span."""
    optimum = _solve_all(problem)
    rows = problem.subsets()
    dull = rows[np.argsort(theory.leverages(problem, optimum, rows))[:10]]
    spanning = algorithms.spanning_design(problem).subsets
    weights = [0.99 / len(dull)] * len(dull) + [0.01 / len(spanning)] * len(spanning)
    return theory.Design(np.concatenate([dull, spanning]), np.array(weights))


def _avoids_outliers(problem: theory.DesignProblem) -> theory.Design:
    """Uniform over the questions without any of the three longest feature vectors."""
    apart = np.argsort(-np.linalg.norm(problem.features, axis=1))[:3]
    rows = problem.subsets()
    return theory.Design.uniform(rows[~np.isin(rows, apart).any(axis=1)])


def _skewed() -> dict[str, SkewedItems]:
    rng = np.random.default_rng(5)
    x = 0.1 * rng.normal(size=(24, 3))
    x[:3] = np.eye(3)
    x /= np.linalg.norm(x, axis=1).max()
    return {"21 alike, 3 outliers, 40 triples": SkewedItems(x, np.array([1.0, -0.5, 0.3]), 3, 40)}


T10 = Check(
    theorem="plackett_luce_design.T10",
    name="design_helps",
    kind="sample",
    observe=design_beats_uniform,
    instances=Instances("one named set of 24 items, 3 of them outliers", examples=_skewed),
    slots={DESIGN_SOLVER: _solve_all},
    mutants=(
        Mutant("asks the least informative questions", "", {"design_solver": _asks_the_dullest}),
        Mutant("never shows an outlier", "", {"design_solver": _avoids_outliers}),
    ),
    cost=40.0,
)

CHECKS = (T7A, T7B, T7M, T7C, T7D, T7E, T7F, T7N, T7N_BROKEN, T7G, T10)
