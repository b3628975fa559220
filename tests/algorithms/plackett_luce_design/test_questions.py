"""From designs to questions: rounding, caps, sparse support, new items."""

import numpy as np
import pytest

from whp.algorithms.plackett_luce_design import (
    column_generation_design,
    cvxpy_design,
    extend_problem,
    frank_wolfe,
    reduce_support,
    round_design,
    select_questions,
)
from whp.theory.plackett_luce_design import Design, DesignProblem, design_log_det, information_matrix


def problem_of(n_items, dim, size, seed=1):
    x = np.random.default_rng(seed).normal(size=(n_items, dim))
    return DesignProblem(x / np.linalg.norm(x, axis=1).max(), size)


@pytest.mark.parametrize("budget", [30, 57, 1000])
def test_rounding_keeps_its_guarantee(budget):
    problem = problem_of(12, 4, 3)
    design = column_generation_design(problem).design
    questions = round_design(problem, design, budget)
    m = len(questions.counts)
    assert questions.counts.sum() == budget and (questions.counts >= 1).all()
    assert questions.efficiency >= 1 - m / budget
    rounded = Design(questions.subsets, questions.counts / budget)
    excess = information_matrix(problem, rounded) - questions.efficiency * information_matrix(problem, design)
    assert np.linalg.eigvalsh(excess)[0] >= -1e-9
    assert questions.log_det == pytest.approx(design_log_det(problem, rounded))
    assert questions.listed().shape == (budget, 3)


def test_rounding_of_dyadic_weights_is_exact():
    problem = DesignProblem([[0, 0], [1, 0], [0, 1], [1, 1]], 2)
    questions = round_design(problem, Design([[0, 3], [1, 2]], [0.5, 0.5]), 10)
    assert questions.counts.tolist() == [5, 5] and questions.efficiency == 1.0


def test_reduced_support_keeps_the_information():
    problem = problem_of(14, 3, 3)
    design = Design.uniform(problem.subsets())
    reduced = reduce_support(problem, design)
    assert len(reduced.weights) <= 3 * 4 // 2 + 1
    assert np.allclose(information_matrix(problem, reduced), information_matrix(problem, design), atol=1e-12)


@pytest.mark.parametrize(("n", "size", "budget", "cap"), [(4, 3, 4, 3), (6, 2, 9, 3), (12, 4, 9, 3), (7, 5, 7, 5)])
def test_tight_caps_are_met_exactly(n, size, budget, cap):
    chosen = select_questions(problem_of(n, 2, size), budget, rng=np.random.default_rng(0), max_shows=cap)
    assert chosen.counts.sum() == budget
    assert chosen.item_counts(n).tolist() == [cap] * n


def test_selection_without_cap_is_nearly_optimal():
    problem = problem_of(20, 5, 3)
    optimum = column_generation_design(problem, tolerance=1e-8)
    chosen = select_questions(problem, 60, rng=np.random.default_rng(0))
    assert chosen.efficiency > 0.98
    assert chosen.log_det <= optimum.log_det + 1e-9
    assert np.exp((chosen.log_det - optimum.log_det) / 5) >= chosen.efficiency - 1e-9


def test_selection_from_astronomically_many_subsets():
    chosen = select_questions(problem_of(100, 6, 8), 20, rng=np.random.default_rng(0), n_sampled=300, max_shows=3)
    assert chosen.item_counts(100).max() <= 3 and chosen.counts.sum() == 20


def test_capped_design_respects_the_cap_and_certifies_itself():
    problem = problem_of(10, 3, 3)
    free = cvxpy_design(problem)
    capped = cvxpy_design(problem, max_share=0.35)
    assert capped.design.item_shares(10).max() <= 0.35 + 1e-6
    assert capped.log_det < free.log_det
    assert 0 <= capped.certified_gap < 1e-2


def test_new_items_start_from_the_old_design():
    problem = problem_of(15, 3, 3)
    old = frank_wolfe(problem, iterations=500).design
    fresh = np.random.default_rng(9).normal(size=(4, 3))
    bigger, start = extend_problem(problem, fresh, old)
    assert bigger.n_items == 19 and start is old
    warm = frank_wolfe(bigger, start=start, iterations=200)
    assert warm.log_det >= design_log_det(bigger, old)


def test_new_directions_are_spanned_at_once():
    flat = DesignProblem([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [2.0, 0.0, 0.0]], 2)
    bigger, start = extend_problem(flat, [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]], Design([[0, 2]], [1.0]))
    assert bigger.rank == 3 and np.isfinite(design_log_det(bigger, start))
    assert start.as_dict()[0, 2] >= 1 / 3


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda p, d: round_design(p, d, 0), "n_questions must be"),
        (lambda p, d: round_design(p, d, 2.0), "n_questions must be an integer"),
        (lambda p, d: round_design(p, d, 1), "at least 2 to span 4 dimensions with subsets of 3, got 1"),
        (lambda p, d: round_design(p, d, 3), "at least the .* questions of the design, got 3"),
        (lambda p, d: select_questions(p, 1, rng=np.random.default_rng(0)), "at least 2 to span"),
        (lambda p, d: select_questions(p, 9, rng=np.random.default_rng(0), max_shows=2), "max_shows must allow 27"),
        (lambda p, d: select_questions(p, 9, rng=np.random.default_rng(0), max_shows=0), "must be at least 1"),
        (lambda p, d: extend_problem(p, [[1.0]], d), "new_features must have 4 columns"),
        (lambda p, d: d.draw(0, np.random.default_rng(0)), "n_questions must be at least 1"),
        (
            lambda p, d: select_questions(p, 9, rng=np.random.default_rng(0), pool=[[0, 1, 2]]),
            "must leave questions that span|n_questions",
        ),
    ],
)
def test_bad_input_is_refused_by_name(call, message):
    problem = problem_of(12, 4, 3)
    with pytest.raises((TypeError, ValueError), match=message):
        call(problem, column_generation_design(problem).design)
