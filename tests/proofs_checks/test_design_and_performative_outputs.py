"""A subject whose output is not of the declared kind never passes, however one-sided the claim."""

import numpy as np
import pytest

from whp.algorithms.plackett_luce_design import sample_rankings
from whp.proofs_checks.engine import verify
from whp.theory.plackett_luce_design import leverages


def one_item_over_and_over(utilities, subsets, rng):
    return np.zeros_like(sample_rankings(utilities, subsets, rng))


def nothing(*arguments, **keywords):
    return None


def starts_at_the_optimum(problem, start, schedule, replicates, rng):
    return np.zeros((schedule.iterations + 1, replicates, start.size))


@pytest.mark.parametrize(
    ("claim", "slot", "subject"),
    [
        ("plackett_luce_design.T7b", "ranking_sampler", one_item_over_and_over),
        ("plackett_luce_design.T1s", "ranking_sampler", nothing),
        ("performative_prediction.constant_shift", "difference", nothing),
        ("performative_prediction.guided_wins", "guided_method", nothing),
        ("performative_prediction.convergence", "descent", starts_at_the_optimum),
        ("performative_prediction.convergence_sharp", "descent", starts_at_the_optimum),
    ],
)
def test_output_of_another_kind_is_an_error(claim, slot, subject):
    report = verify(claim, subject={slot: subject}, budget="quick")
    assert [theorem.subject.kind for theorem in report.theorems] == ["error"]


def invariant_zeros(problem, design, subsets):
    return np.zeros(len(subsets))


def scaled_leverages(problem, design, subsets):
    return 2.0 * leverages(problem, design, subsets)


@pytest.mark.parametrize("subject", [invariant_zeros, scaled_leverages])
def test_invariance_does_not_excuse_wrong_leverages(subject):
    report = verify("plackett_luce_design.T9", subject={"leverages": subject}, budget="quick")
    assert [theorem.subject.kind for theorem in report.theorems] == ["refuted"]
