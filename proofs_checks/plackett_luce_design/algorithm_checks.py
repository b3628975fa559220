"""T5, T6 and T8: progress of deterministic and randomised Frank-Wolfe, and the work of an iteration."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
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
    Sample,
    Slack,
    at_least,
    at_most,
    event,
    sample,
)
from whp.proofs_checks.plackett_luce_design.design_checks import SPANNING
from whp.proofs_checks.plackett_luce_design.instances import (
    DesignedItems,
    RandomisedRun,
    SampledStep,
    sampled_steps,
    uniform_start,
)
from whp.proofs_checks.plackett_luce_design.reference import all_leverages, best_log_det, design_matrix_log_det
from whp.theory import plackett_luce_design as theory
from whp.theory.core import Slot

Array = NDArray[Any]
_TOLERANCE = 1e-11  # nats, part of the claims as checked: two log-determinants are compared

STEP = Slot(
    "frank_wolfe_step",
    "(problem, design)",
    "problem: theory DesignProblem; design: theory Design that spans",
    "theory Design after one exact step",
    ("problem", "design"),
)


def _omega(gap: float, dim: int) -> float:
    return float(theory.PROGRESS(gap=max(gap, 0.0), dim=dim))


def _decrease(problem: theory.DesignProblem, before: theory.Design, after: theory.Design) -> float:
    return design_matrix_log_det(problem, after) - design_matrix_log_det(problem, before)


def step_makes_progress(instance: DesignedItems, *, frank_wolfe_step: Callable[..., theory.Design]) -> Slack:
    """Decrease over three successive steps against ``omega(G / (G + d))``."""
    problem, design = instance.problem, instance.design
    slack = at_least("progress", 0.0, 0.0)
    for _ in range(3):
        gap = float(all_leverages(problem, design).max()) - problem.dim
        after = frank_wolfe_step(problem, design)
        slack &= at_least("progress", _decrease(problem, design, after) + _TOLERANCE, _omega(gap, problem.dim))
        design = after
    return slack


def _towards(problem: theory.DesignProblem, design: theory.Design, rank: int, step: float | None) -> theory.Design:
    """Move towards the subset of given rank in leverage, by a fixed step or by exact line search capped at it."""
    order = np.argsort(-all_leverages(problem, design), kind="stable")
    rows = problem.subsets()
    subset = rows[order[min(rank, len(rows) - 1)]]
    if step is None:
        return algorithms.best_of_step(problem, design, subset[None])
    table = {s: (1 - step) * w for s, w in design.as_dict().items()}
    key = tuple(subset.tolist())
    table[key] = table.get(key, 0.0) + step
    return theory.Design(np.array(list(table)), np.array(list(table.values())))


def _second_best(problem: theory.DesignProblem, design: theory.Design) -> theory.Design:
    return _towards(problem, design, 2, None)


def _half_step(problem: theory.DesignProblem, design: theory.Design) -> theory.Design:
    return _towards(problem, design, 0, 0.6)


def _timid(problem: theory.DesignProblem, design: theory.Design) -> theory.Design:
    return _towards(problem, design, 0, 0.01)


T5 = Check(
    theorem="plackett_luce_design.T5",
    name="progress",
    kind="slack",
    observe=step_makes_progress,
    instances=SPANNING,
    slots={STEP: algorithms.frank_wolfe_step},
    mutants=(
        Mutant("moves towards the third best subset", "progress", {"frank_wolfe_step": _second_best}),
        Mutant("fixed step 0.6", "progress", {"frank_wolfe_step": _half_step}),
        Mutant("line search clipped to 0.01", "progress", {"frank_wolfe_step": _timid}),
    ),
    cost=30.0,
)

SOLVER = Slot(
    "frank_wolfe",
    "(problem, start, iterations)",
    "problem: theory DesignProblem; start: theory Design that spans; iterations: int",
    "theory Design after so many exact steps",
    ("problem", "start", "iterations"),
)


def enough_iterations(instance: tuple[DesignedItems, float], *, frank_wolfe: Callable[..., theory.Design]) -> Slack:
    """Gap of the uniform start, and gap after ``T_det`` iterations of the scalar recursion from its bound."""
    items, accuracy = instance
    problem, start = items.problem, items.design
    best = best_log_det(items.features, items.subset_size)
    bound = theory.initial_gap_bound(problem.n_subsets, problem.subset_size, problem.dim)
    slack = at_most("gap of the uniform start", best - design_matrix_log_det(problem, start), bound + 1e-9)
    steps = theory.frank_wolfe_iterations(bound, problem.dim, accuracy)
    after = frank_wolfe(problem, start, steps)
    return slack & at_most("gap after T_det steps", best - design_matrix_log_det(problem, after), accuracy)


def _solve(problem: theory.DesignProblem, start: theory.Design, iterations: int) -> theory.Design:
    return algorithms.frank_wolfe(problem, start=start, iterations=iterations, tolerance=0.0).design


def _stays(problem: theory.DesignProblem, start: theory.Design, iterations: int) -> theory.Design:
    return start


def _repeats_first(problem: theory.DesignProblem, start: theory.Design, iterations: int) -> theory.Design:
    """Chooses the subset once and keeps moving towards it."""
    subset = problem.subsets()[int(all_leverages(problem, start).argmax())]
    design = start
    for _ in range(min(iterations, 20)):
        design = algorithms.best_of_step(problem, design, subset[None])
    return design


def _uniform_starts() -> dict[str, Any]:
    kite, line = ((0, 0), (1, 0), (0, 2), (3, 1)), ((0,), (1,), (0,), (2,), (1,), (9,))
    spread = ((0, 0), (1, 0), (0, 1), (1, 1), (2, 1), (7, 5))
    return {
        "kite, pairs": (uniform_start(kite, 2), 0.05),
        "an outlier on a line": (uniform_start(line, 2), 0.3),
        "an outlier in the plane, pairs": (uniform_start(spread, 2), 0.2),
        "an outlier in the plane, triples": (uniform_start(spread, 3), 0.1),
    }


T5I = Check(
    theorem="plackett_luce_design.T5i",
    name="iterations",
    kind="slack",
    observe=enough_iterations,
    instances=Instances("four named item sets, accuracies 0.05 to 0.3 nats", examples=_uniform_starts),
    slots={SOLVER: _solve},
    mutants=(
        Mutant("does not move", "gap after T_det steps", {"frank_wolfe": _stays}),
        Mutant("keeps its first subset", "gap after T_det steps", {"frank_wolfe": _repeats_first}),
    ),
    cost=100.0,
)

# T6

RANDOM_STEP = Slot(
    "randomized_step",
    "(problem, design, n_sampled, rng)",
    "problem: theory DesignProblem; design: theory Design that spans; n_sampled: int; rng: numpy generator",
    "theory Design after one randomised step",
    ("problem", "design", "n_sampled", "rng"),
)
RANDOM_SOLVER = Slot(
    "randomized_solver",
    "(problem, start, n_sampled, iterations, rng)",
    "problem: theory DesignProblem; start: theory Design that spans; n_sampled, iterations: int; rng: numpy generator",
    "theory Design after so many randomised steps",
    ("problem", "start", "n_sampled", "iterations", "rng"),
)
BEST_OF = Slot(
    "best_of_step",
    "(problem, design, subsets)",
    "problem: theory DesignProblem; design: theory Design that spans; subsets: integer array (n, K), ascending",
    "theory Design after an exact step towards the best of the subsets, or the same design",
    ("problem", "design", "subsets"),
)


def mean_progress(
    instance: RandomisedRun, *, randomized_step: Callable[..., theory.Design], rng: np.random.Generator
) -> Sample:
    """Decrease of one randomised step, a rise counting as none; its mean is at least ``(R/n_S) omega(G/(G+d))``."""
    problem, design = instance.items.problem, instance.items.design
    largest = float(all_leverages(problem, design).max())
    most = problem.dim * float(np.log(largest / problem.dim))
    after = randomized_step(problem, design, instance.n_sampled, rng)
    share = instance.n_sampled / problem.n_subsets
    decrease = max(_decrease(problem, design, after), 0.0)
    least = share * _omega(largest - problem.dim, problem.dim)
    return sample(min(decrease, most), low=0.0, high=most, mean_at_least=least, name="decrease")


def _last_item_apart(n_sampled: int, iterations: int, accuracy: float, outlier: int = 20) -> RandomisedRun:
    """Items on a line whose last one is an outlier that the start never shows."""
    features = ((0,), (2,), (1,), (1,), (outlier,))
    items = DesignedItems(features, 2, ((0, 1),), (Fraction(1),), (0, 4), Fraction(1, 2))
    return RandomisedRun(items, n_sampled, iterations, accuracy)


def _plane(n_sampled: int, iterations: int, accuracy: float, outlier: tuple[int, int] = (9, 7)) -> RandomisedRun:
    """Five clustered items and an outlier, in the plane, three a question."""
    features = ((0, 0), (1, 0), (0, 1), (1, 1), (1, 2), outlier)
    start = ((0, 1, 2), (1, 2, 3), (2, 3, 4))
    items = DesignedItems(features, 3, start, (Fraction(1, 3),) * 3, (0, 1, 5), Fraction(1, 2))
    return RandomisedRun(items, n_sampled, iterations, accuracy)


def _without_last_item(
    problem: theory.DesignProblem, design: theory.Design, n_sampled: int, rng: np.random.Generator
) -> theory.Design:
    rows = problem.subsets()
    rows = rows[(rows < problem.n_items - 1).all(axis=1)]
    chosen = rng.choice(len(rows), min(n_sampled, len(rows)), replace=False)
    return algorithms.best_of_step(problem, design, rows[chosen])


def _takes_non_descent_steps(
    problem: theory.DesignProblem, design: theory.Design, n_sampled: int, rng: np.random.Generator
) -> theory.Design:
    """Always steps by 0.9 towards the worst sampled subset."""
    rows = algorithms.draw_subsets(problem, n_sampled, rng)
    values = algorithms.make_memo(problem, design).leverages(rows)
    subset = tuple(int(i) for i in rows[int(values.argmin())])
    table = {s: 0.1 * w for s, w in design.as_dict().items()}
    table[subset] = table.get(subset, 0.0) + 0.9
    return theory.Design(np.array(list(table)), np.array(list(table.values())))


T6A = Check(
    theorem="plackett_luce_design.T6a",
    name="mean_progress",
    kind="sample",
    observe=mean_progress,
    instances=Instances(
        "two named item sets with an outlier that the start never shows",
        examples=lambda: {"on a line": _last_item_apart(8, 1, 1.0, 3), "in the plane": _plane(18, 1, 1.0, (3, 3))},
    ),
    slots={RANDOM_STEP: algorithms.randomized_step},
    mutants=(
        Mutant("never samples the last item", "", {"randomized_step": _without_last_item}),
        Mutant("steps without descent", "", {"randomized_step": _takes_non_descent_steps}),
    ),
    cost=8.0,
)


def run_is_late(
    instance: RandomisedRun, *, randomized_solver: Callable[..., theory.Design], rng: np.random.Generator
) -> Event:
    """Whether the gap is still above the accuracy after ``t`` iterations."""
    return _late(instance, randomized_solver, rng, instance.iterations)


def _late(instance: RandomisedRun, solver: Callable[..., theory.Design], rng: Any, iterations: int) -> Event:
    problem, start = instance.items.problem, instance.items.design
    best = best_log_det(instance.items.features, instance.items.subset_size)
    gap = theory.certified_gap_bound(float(all_leverages(problem, start).max()), problem.dim)
    needed = theory.frank_wolfe_iterations(gap, problem.dim, instance.accuracy)
    bound = theory.hitting_time_tail(instance.iterations, needed, instance.n_sampled / problem.n_subsets)
    design = solver(problem, start, instance.n_sampled, iterations, rng)
    late = best - design_matrix_log_det(problem, design) > instance.accuracy
    return event(late, probability=bound, name="still above the accuracy")


def _in_fewer_iterations(factor: float) -> Callable[..., Event]:
    def observe(
        instance: RandomisedRun, *, randomized_solver: Callable[..., theory.Design], rng: np.random.Generator
    ) -> Event:
        return _late(instance, randomized_solver, rng, int(factor * instance.iterations))

    return observe


def _run(
    problem: theory.DesignProblem, start: theory.Design, n_sampled: int, iterations: int, rng: np.random.Generator
) -> theory.Design:
    return algorithms.randomized_frank_wolfe(
        problem, n_sampled=n_sampled, rng=rng, iterations=iterations, start=start, certificate=False
    ).design


def _samples_once(
    problem: theory.DesignProblem, start: theory.Design, n_sampled: int, iterations: int, rng: np.random.Generator
) -> theory.Design:
    rows, design = algorithms.draw_subsets(problem, n_sampled, rng), start
    for _ in range(min(iterations, 30)):
        design = algorithms.best_of_step(problem, design, rows)
    return design


def _run_without_last(
    problem: theory.DesignProblem, start: theory.Design, n_sampled: int, iterations: int, rng: np.random.Generator
) -> theory.Design:
    design = start
    for _ in range(min(iterations, 10)):
        design = _without_last_item(problem, design, n_sampled, rng)
    return design


def _run_with_non_descent(
    problem: theory.DesignProblem, start: theory.Design, n_sampled: int, iterations: int, rng: np.random.Generator
) -> theory.Design:
    design = start
    for _ in range(min(iterations, 10)):
        design = _takes_non_descent_steps(problem, design, n_sampled, rng)
    return design


def _late_runs() -> dict[str, RandomisedRun]:
    return {"on a line": _last_item_apart(1, 330, 1.0), "in the plane": _plane(3, 450, 1.0)}


T6B = Check(
    theorem="plackett_luce_design.T6b",
    name="hitting_time",
    kind="event",
    observe=run_is_late,
    instances=Instances("two named runs, all subsets enumerable", examples=_late_runs),
    slots={RANDOM_SOLVER: _run},
    tighten=_in_fewer_iterations,
    mutants=(
        Mutant("samples once and reuses", "", {"randomized_solver": _samples_once}),
        Mutant("never samples the last item", "", {"randomized_solver": _run_without_last}),
        Mutant("steps without descent", "", {"randomized_solver": _run_with_non_descent}),
    ),
    cost=60.0,
)


def sampled_step_makes_progress(instance: SampledStep, *, best_of_step: Callable[..., theory.Design]) -> Slack:
    """Decrease against the gap of the best sampled subset; without one the objective stays."""
    problem, design = instance.items.problem, instance.items.design
    rows = np.array(instance.sampled)
    inverse = np.linalg.inv(theory.information_matrix(problem, design))
    matrices = theory.subset_information(problem.features, rows)
    gap = float(np.einsum("nij,ji->n", matrices, inverse).max()) - problem.dim
    decrease = _decrease(problem, design, best_of_step(problem, design, rows))
    slack = at_least("never rises", decrease + _TOLERANCE, 0.0)
    return slack & at_least("progress from the sample", decrease + _TOLERANCE, _omega(gap, problem.dim))


def _worst_of(problem: theory.DesignProblem, design: theory.Design, subsets: Array) -> theory.Design:
    values = algorithms.make_memo(problem, design).leverages(subsets)
    return algorithms.best_of_step(problem, design, subsets[[int(values.argmin())]])


def _fixed_step_of(problem: theory.DesignProblem, design: theory.Design, subsets: Array) -> theory.Design:
    values = algorithms.make_memo(problem, design).leverages(subsets)
    subset = tuple(int(i) for i in subsets[int(values.argmax())])
    table = {s: 0.5 * w for s, w in design.as_dict().items()}
    table[subset] = table.get(subset, 0.0) + 0.5
    return theory.Design(np.array(list(table)), np.array(list(table.values())))


T6C = Check(
    theorem="plackett_luce_design.T6c",
    name="sampled_progress",
    kind="slack",
    observe=sampled_step_makes_progress,
    instances=Instances(
        "spanning designs on up to 7 integer items with a random quarter of all subsets", draw=sampled_steps
    ),
    slots={BEST_OF: algorithms.best_of_step},
    mutants=(
        Mutant("moves towards the worst sampled subset", "progress from the sample", {"best_of_step": _worst_of}),
        Mutant("fixed step 1/2", "never rises", {"best_of_step": _fixed_step_of}),
    ),
    cost=20.0,
)


def sample_certifies(instance: SampledStep) -> Slack:
    """Distance to the optimum against the gap computed from the sampled subsets alone."""
    return _sample_certifies(instance, len(instance.sampled))


def _sample_certifies(instance: SampledStep, count: int) -> Slack:
    problem, design = instance.items.problem, instance.items.design
    inverse = np.linalg.inv(theory.information_matrix(problem, design))
    matrices = theory.subset_information(problem.features, np.array(instance.sampled[:count]))
    largest = float(np.einsum("nij,ji->n", matrices, inverse).max())
    distance = best_log_det(instance.items.features, instance.items.subset_size) - design_matrix_log_det(
        problem, design
    )
    gap = problem.dim * float(np.log(max(largest / problem.dim, 1.0)))
    return at_most("sampled gap bounds the distance", distance, gap + 1e-6)


def _one_subset_certifies(instance: SampledStep) -> Slack:
    return _sample_certifies(instance, 1)


def _sampled_with_half_the_dimension(instance: SampledStep) -> Slack:
    slack = _sample_certifies(instance, len(instance.sampled))
    clause = slack.clauses[0]
    return at_most(clause.name, clause.left, clause.right / 2)


def _blind_samples() -> dict[str, SampledStep]:
    line = DesignedItems(((0,), (1,), (2,), (9,)), 2, ((0, 1),), (Fraction(1),), (0, 3), Fraction(1, 2))
    return {"the outlier is not in the sample": SampledStep(line, ((0, 1),))}


T6X = Check(
    theorem="plackett_luce_design.T6x",
    name="sampled_certificate",
    kind="slack",
    observe=sample_certifies,
    instances=Instances(
        "spanning designs on up to 7 integer items with a random quarter of all subsets",
        examples=_blind_samples,
        draw=sampled_steps,
    ),
    mutants=(
        Mutant("one sampled subset", "sampled gap bounds the distance", observe=_one_subset_certifies),
        Mutant("half of it", "sampled gap bounds the distance", observe=_sampled_with_half_the_dimension),
    ),
    cost=20.0,
)

# T8

WORK = Slot(
    "iteration_work",
    "(problem, rng)",
    "problem: theory DesignProblem; rng: numpy generator",
    "counted multiply-adds and look-ups of one accepted iteration, start and certificate excluded",
    ("problem", "rng"),
)


def _work(kind: Any, refresh_every: int, cubic: bool = False) -> Callable[..., float]:
    def iteration_work(problem: theory.DesignProblem, rng: np.random.Generator) -> float:
        memo = kind(problem, algorithms.spanning_design(problem), refresh_every)
        counts = memo.counts
        before = (counts.memo_flops, counts.refresh_flops, counts.gathers, counts.eigen_flops)
        sampled = problem.n_items**3 // 200 if cubic else 50
        rows = algorithms.draw_subsets(problem, sampled, rng)
        values = memo.leverages(rows)
        best = rows[int(values.argmax())]
        memo.take(best, 0.1)
        after = (counts.memo_flops, counts.refresh_flops, counts.gathers, counts.eigen_flops)
        return float(sum(b - a for a, b in zip(before, after, strict=True)))

    return iteration_work


def work_of_an_iteration(
    instance: tuple[int, int, str], *, iteration_work: Callable[..., float], rng: np.random.Generator
) -> Cost:
    """Counted work at one size; the last entry says which of N and d is the size."""
    n, d, size = instance
    problem = theory.DesignProblem(np.random.default_rng(n + 1000 * d).normal(size=(n, d)), 3)
    return Cost(float(n if size == "N" else d), iteration_work(problem, rng), f"work in {size}")


MEMO_WORK = _work(algorithms.GramMemo, 10**9)
RECOMPUTING_WORK = _work(algorithms.GramMemo, 1)
FACTOR_WORK = _work(algorithms.FactorMemo, 10**9)
CUBIC_WORK = _work(algorithms.GramMemo, 10**9, cubic=True)

T8N = Check(
    theorem="plackett_luce_design.T8",
    name="work_in_items",
    kind="rate",
    observe=work_of_an_iteration,
    instances=Instances(
        "N = 40 to 320 items, d = 4, K = 3, R = 50",
        examples=lambda: {f"N={n}": (n, 4, "N") for n in (40, 80, 160, 320)},
    ),
    slots={WORK: MEMO_WORK},
    rate=ClaimedRate(2.0, relation="equal", tolerance=0.15),
    mutants=(
        Mutant("samples in proportion to N^3", "", {"iteration_work": CUBIC_WORK}),
        Mutant("keeps no memo of the items", "", {"iteration_work": FACTOR_WORK}),
    ),
    cost=100.0,
)
T8D = Check(
    theorem="plackett_luce_design.T8",
    name="work_in_features",
    kind="rate",
    observe=work_of_an_iteration,
    instances=Instances(
        "d = 4 to 32 features, N = 60, K = 3, R = 50", examples=lambda: {f"d={d}": (60, d, "d") for d in (4, 8, 16, 32)}
    ),
    slots={WORK: MEMO_WORK},
    rate=ClaimedRate(0.0, relation="at most", tolerance=0.05),
    mutants=(
        Mutant("recomputes the memo at every step", "", {"iteration_work": RECOMPUTING_WORK}),
        Mutant("keeps the inverse in feature space", "", {"iteration_work": FACTOR_WORK}),
    ),
    cost=100.0,
)

CHECKS = (T5, T5I, T6A, T6B, T6C, T6X, T8N, T8D)

__all__ = ["CHECKS"]
