"""Checks of T2: from tuples to the supervised risk, to all classes, to the error of the mean classifier."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from whp.algorithms.contrastive_augmentation import ExactRisks, exact_risks
from whp.proofs_checks.contrastive_augmentation import instances as given
from whp.proofs_checks.contrastive_augmentation.slots import RISK_ENGINE
from whp.proofs_checks.contrastive_augmentation.transfer import rounding
from whp.proofs_checks.engine import Check, Instances, Mutant, Slack, at_most, identity
from whp.theory.contrastive_augmentation import (
    ContrastiveProblem,
    bounds,
    class_priors,
    collision_probability,
    cover_probability,
    mean_classifier_risk,
    supervised_cross_entropy,
    supervised_risk,
    unsupervised_risk,
    zero_one_error,
)

__all__ = ["CHECKS"]

Engine = Callable[[ContrastiveProblem], ExactRisks]


def _one(problem: ContrastiveProblem) -> ContrastiveProblem:
    """The problem with one negative."""
    return ContrastiveProblem(
        problem.embeddings, problem.images, problem.classes, problem.weights, problem.temperature, 1, problem.pixels
    )


def one_negative_splits(instance: ContrastiveProblem, *, risk_engine: Engine) -> Slack:
    """``R_mean,1 = (1 - tau) R_sup,1 + tau log 2``, and the engine's risks against their definitions."""
    problem = _one(instance)
    found, error = risk_engine(problem), rounding(problem)
    slack = identity("R_un", found.unsupervised, float(unsupervised_risk(problem)), rounding=error)
    slack &= identity("R_mean", found.mean_classifier, float(mean_classifier_risk(problem)), rounding=error)
    return slack & _split(problem, float(mean_classifier_risk(problem)), float(supervised_risk(problem)), error)


def _split(
    problem: ContrastiveProblem, mean: Any, supervised: Any, error: float, log_two: float = math.log(2)
) -> Slack:
    tau = float(collision_probability(problem))
    return identity("split", mean, (1 - tau) * supervised + tau * log_two, rounding=error)


def split_without_collisions(instance: ContrastiveProblem, *, risk_engine: Engine) -> Slack:
    """Claim that collisions cost nothing."""
    problem = _one(instance)
    mean, supervised = float(mean_classifier_risk(problem)), float(supervised_risk(problem))
    return _split(problem, mean, supervised, rounding(problem), log_two=0.0)


def split_by_images(instance: ContrastiveProblem, *, risk_engine: Engine) -> Slack:
    """Collision probability of images in place of classes."""
    problem = _one(instance)
    masses = [sum(problem.weights[list(views)]) for views in problem.views_of_images]
    tau = float(sum(m**2 for m in masses))
    right = (1 - tau) * float(supervised_risk(problem)) + tau * math.log(2)
    return identity("split", float(mean_classifier_risk(problem)), right, rounding=rounding(problem))


def one_negative_splits_in_balls(instance: ContrastiveProblem) -> Slack:
    """The same at 40 digits, on problems in fractions."""
    return _ball_split(instance, collision_probability(_one(instance)))


def _ball_split(instance: ContrastiveProblem, tau: Any) -> Slack:
    import flint

    from whp.theory.core.mathematics import FlintMathematics

    problem = _one(instance)
    with flint.ctx.workprec(160):
        m = FlintMathematics()
        share = m.number(Fraction(tau))
        right = (1 - share) * supervised_risk(problem, m) + share * m.log(2)
        return identity("split", mean_classifier_risk(problem, m), right, rounding=1e-40)


def ball_split_by_images(instance: ContrastiveProblem) -> Slack:
    """Collision probability of images in place of classes, at 40 digits."""
    masses = [sum(instance.weights[list(views)]) for views in instance.views_of_images]
    return _ball_split(instance, sum(m**2 for m in masses))


def ball_split_without_collisions(instance: ContrastiveProblem) -> Slack:
    """No collisions at all, at 40 digits."""
    return _ball_split(instance, Fraction(0))


def supervised_within(weighting: Callable[[float], float]) -> Callable[..., Slack]:
    """Check ``R_sup,K <= (R_mean,K - tau log(K+1)) / weighting(tau)`` and the engine's ``R_sup,K``."""

    def observe(instance: ContrastiveProblem, *, risk_engine: Engine) -> Slack:
        tau, supervised = float(collision_probability(instance)), float(supervised_risk(instance))
        found, error = risk_engine(instance), rounding(instance) / (1 - tau)
        mean = float(mean_classifier_risk(instance))
        right = bounds.SUPERVISED_BOUND(R_mean=mean, tau=tau, K=instance.negatives)
        right = right * (1 - tau) / weighting(tau)
        told = math.inf if found.supervised is None else found.supervised
        slack = identity("R_sup", told, supervised, rounding=10 * error)
        return slack & at_most("supervised", supervised, right + error)

    return observe


def not_colliding(tau: float) -> float:
    """``1 - tau``."""
    return 1 - tau


def colliding(tau: float) -> float:
    """``tau`` in place of ``1 - tau``."""
    return tau


def engine_that_keeps_collisions(problem: ContrastiveProblem) -> ExactRisks:
    """Colliding terms kept in ``R_sup,K``."""
    honest = exact_risks(problem)
    tau = honest.collision_probability
    kept = (honest.mean_classifier - tau * math.log(problem.negatives + 1)) / (1 - tau)
    return dataclasses.replace(honest, supervised=kept)


def engine_without_condition(problem: ContrastiveProblem) -> ExactRisks:
    """``R_sup,K`` not conditioned on a negative of another class."""
    honest = exact_risks(problem)
    assert honest.supervised is not None
    return dataclasses.replace(honest, supervised=honest.supervised * (1 - honest.collision_probability))


def all_classes_within(probability: Callable[[ContrastiveProblem], float]) -> Callable[..., Slack]:
    """Check ``R_sup <= R_mean,K / probability`` and the engine's ``R_sup``."""

    def observe(instance: ContrastiveProblem, *, risk_engine: Engine) -> Slack:
        truth, share = float(supervised_cross_entropy(instance)), probability(instance)
        error = rounding(instance) / share
        slack = identity("cross-entropy", risk_engine(instance).cross_entropy, truth, rounding=10 * error)
        return slack & at_most("all classes", truth, float(mean_classifier_risk(instance)) / share + error)

    return observe


def cover(problem: ContrastiveProblem) -> float:
    """``q_min``."""
    return float(cover_probability(problem))


def certain(problem: ContrastiveProblem) -> float:
    """One: as if the negatives always contained every class."""
    return 1.0


def some_other_class(problem: ContrastiveProblem) -> float:
    """Probability that some negative is of another class than the rarest."""
    return float(1 - class_priors(problem).min() ** problem.negatives)


def engine_of_one_other_class(problem: ContrastiveProblem) -> ExactRisks:
    """Cross-entropy against the nearest other class only: wrong for three classes or more."""
    honest = exact_risks(problem)
    largest = honest.cross_entropy - 1e-3 if problem.n_classes > 2 else honest.cross_entropy
    return dataclasses.replace(honest, cross_entropy=largest)


def error_within(unit: float) -> Callable[..., Slack]:
    """Check ``0-1 error <= R_sup / unit`` and the engine's rule for ties."""

    def observe(instance: ContrastiveProblem, *, risk_engine: Engine) -> Slack:
        truth, error = float(zero_one_error(instance)), rounding(instance)
        slack = identity("tie rule", risk_engine(instance).error, truth, rounding=error)
        right = bounds.ERROR_BOUND(R_sup=float(supervised_cross_entropy(instance))) * math.log(2) / unit
        return slack & at_most("error", truth, right + error)

    return observe


def engine_that_forgives_ties(problem: ContrastiveProblem) -> ExactRisks:
    """Ties counted as correct."""
    honest, scores = exact_risks(problem), _margins(problem.as_floats())
    wrong = (scores < 0).any(axis=1)
    return dataclasses.replace(honest, error=float(problem.as_floats().weights @ wrong))


def _margins(problem: ContrastiveProblem) -> np.ndarray[Any, np.dtype[np.float64]]:
    from whp.theory.contrastive_augmentation import class_means

    scores = problem.embeddings @ class_means(problem).T
    return np.asarray(scores[np.arange(problem.n_views), problem.class_index][:, None] - scores)


LABELLED = Instances(
    "2 or 3 classes of 1 to 4 images of 1 to 3 views, 1 to 5 dimensions, norms 1 to 4, K from 1 to 3, t from 0.2 to "
    "2; ties, collisions of probability near one, confident errors; right sides rounded outward by 1e-12 (1 + B^2/t)",
    examples=given.two_class_examples,
    draw=given.draw_two_classes,
    strategy=given.exact_problems,
)
IN_FRACTIONS = Instances(
    "integer embeddings of up to 8 views in 2 or 3 classes, rational weights, at 40 digits",
    examples=given.exact_examples,
    draw=given.draw_exact,
)

CHECKS = (
    Check(
        theorem="contrastive_augmentation.T2_one",
        name="split",
        kind="slack",
        observe=one_negative_splits,
        instances=LABELLED,
        slots={RISK_ENGINE: exact_risks},
        mutants=(
            Mutant("collisions cost nothing", "split", observe=split_without_collisions),
            Mutant("collisions of images", "split", observe=split_by_images),
        ),
        cost=10,
    ),
    Check(
        theorem="contrastive_augmentation.T2_one",
        name="split_at_40_digits",
        kind="slack",
        observe=one_negative_splits_in_balls,
        instances=IN_FRACTIONS,
        mutants=(
            Mutant("collisions of images", "split", observe=ball_split_by_images),
            Mutant("no collisions", "split", observe=ball_split_without_collisions),
        ),
        cost=20,
    ),
    Check(
        theorem="contrastive_augmentation.T2",
        name="supervised",
        kind="slack",
        observe=supervised_within(not_colliding),
        instances=LABELLED,
        slots={RISK_ENGINE: exact_risks},
        mutants=(
            Mutant("divided by tau", "supervised", observe=supervised_within(colliding)),
            Mutant("colliding terms kept", "R_sup", {"risk_engine": engine_that_keeps_collisions}),
            Mutant("not conditioned", "R_sup", {"risk_engine": engine_without_condition}),
        ),
        cost=10,
    ),
    Check(
        theorem="contrastive_augmentation.T2_all_classes",
        name="cross_entropy",
        kind="slack",
        observe=all_classes_within(cover),
        instances=LABELLED,
        slots={RISK_ENGINE: exact_risks},
        mutants=(
            Mutant("q_min forgotten", "all classes", observe=all_classes_within(certain)),
            Mutant("some other class in place of all", "all classes", observe=all_classes_within(some_other_class)),
            Mutant("cross-entropy too small", "cross-entropy", {"risk_engine": engine_of_one_other_class}),
        ),
        cost=10,
    ),
    Check(
        theorem="contrastive_augmentation.T2_error",
        name="zero_one",
        kind="slack",
        observe=error_within(math.log(2)),
        instances=LABELLED,
        slots={RISK_ENGINE: exact_risks},
        mutants=(
            Mutant("log 3 in place of log 2", "error", observe=error_within(math.log(3))),
            Mutant("ties forgiven", "tie rule", {"risk_engine": engine_that_forgives_ties}),
        ),
        cost=10,
    ),
)
