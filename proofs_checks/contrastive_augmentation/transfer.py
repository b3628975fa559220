"""Checks of T1: the transfer bound, its links, the refuted plain sum, sharpness, certificates, sampled risks.

Right sides that are floats are rounded outward by the published error ``1e-12 (1 + B^2/t)``, since several claims are
equalities on degenerate instances: a violation is one beyond it.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from whp.algorithms.contrastive_augmentation import (
    ExactRisks,
    TransferCertificate,
    certify,
    exact_risks,
    sampled_risk,
)
from whp.proofs_checks.contrastive_augmentation import instances as given
from whp.proofs_checks.contrastive_augmentation.instances import TwoPoints
from whp.proofs_checks.contrastive_augmentation.slots import CERTIFIER, RISK_ENGINE, TUPLE_SAMPLER
from whp.proofs_checks.engine import (
    Check,
    Event,
    Instances,
    Mutant,
    Slack,
    at_least,
    at_most,
    event,
    identity,
)
from whp.theory.contrastive_augmentation import (
    ContrastiveProblem,
    OrthonormalFamily,
    bounds,
    class_pair_moment,
    class_variance,
    first_moment_spread,
    mean_classifier_risk,
    norm_bound,
    same_class_gap_squared,
    same_image_spread_squared,
    squared_distances,
    squared_lipschitz_constant,
    unsupervised_risk,
)

__all__ = ["CHECKS", "rounding"]

Instance = ContrastiveProblem | OrthonormalFamily
Claim = Callable[["Quantities"], float]


@dataclass(frozen=True)
class Quantities:
    """What T1 speaks of, computed by definition or, for the planted families, by binomial sums."""

    unsupervised: float
    mean_classifier: float
    norm: float
    temperature: float
    sigma: float
    spread: float
    gap: float

    @property
    def scale(self) -> float:
        """``B / t``."""
        return self.norm / self.temperature

    @property
    def error(self) -> float:
        """Published rounding error of the two sides."""
        return 1e-12 * (1 + self.norm**2 / self.temperature)


def quantities(instance: Instance) -> Quantities:
    """Evaluate everything on one instance."""
    if isinstance(instance, OrthonormalFamily):
        return Quantities(
            instance.unsupervised_risk,
            instance.mean_classifier_risk,
            instance.norm_bound,
            instance.temperature,
            instance.first_moment_spread,
            instance.spread,
            instance.gap,
        )
    return Quantities(
        float(unsupervised_risk(instance)),
        float(mean_classifier_risk(instance)),
        norm_bound(instance),
        float(instance.temperature),
        first_moment_spread(instance),
        math.sqrt(same_image_spread_squared(instance)),
        math.sqrt(same_class_gap_squared(instance)),
    )


def rounding(problem: ContrastiveProblem) -> float:
    """Published rounding error of a risk."""
    return 1e-12 * (1 + norm_bound(problem) ** 2 / float(problem.temperature))


def bounded_by(claim: Claim, name: str) -> Callable[..., Slack]:
    """Check ``R_mean,K <= R_un,K + claim``."""

    def observe(instance: Instance) -> Slack:
        q = quantities(instance)
        return at_most(name, q.mean_classifier, q.unsupervised + claim(q) + q.error)

    return observe


# The claims: excesses over R_un


def by_spread(q: Quantities) -> float:
    """``B sigma_1 / t``."""
    right = bounds.TRANSFER_BOUND(R_un=q.unsupervised, B=q.norm, sigma_1=q.sigma, t=q.temperature)
    return float(right - q.unsupervised)


def by_distances(q: Quantities) -> float:
    """``B (2 D + d) / (sqrt(2) t)``."""
    right = bounds.REPRESENTATION_BOUND(R_un=q.unsupervised, B=q.norm, D=q.spread, d=q.gap, t=q.temperature)
    return float(right - q.unsupervised)


def by_half_the_spread(q: Quantities) -> float:
    """``B sigma_1 / (2 t)``."""
    return q.scale * q.sigma / 2


def without_temperature(q: Quantities) -> float:
    """``B sigma_1``."""
    return q.norm * q.sigma


def by_squared_spread(q: Quantities) -> float:
    """``B sigma_1^2 / (2 t)``."""
    return q.scale * q.sigma**2 / 2


def without_gap(q: Quantities) -> float:
    """``2 B D / t``."""
    return q.scale * 2 * q.spread


def without_spread(q: Quantities) -> float:
    """``B d / t``."""
    return q.scale * q.gap


def by_sum(q: Quantities) -> float:
    """``B (D + d) / t``."""
    return q.scale * (q.spread + q.gap)


def by_half_the_sum(q: Quantities) -> float:
    """``B (D + d) / (2 t)``."""
    return q.scale * (q.spread + q.gap) / 2


def by_smaller_constants(q: Quantities) -> float:
    """``0.95 B (2 D + d) / (sqrt(2) t)``."""
    return 0.95 * by_distances(q)


# The links between them


def chain_of_distances(instance: Instance) -> Slack:
    """``sigma_1^2 <= E||f - f'||^2 / 2 <= (2 D + d)^2 / 2``, and the risk within the last."""
    slack = bounded_by(by_distances, "representation")(instance)
    if isinstance(instance, OrthonormalFamily):
        return slack
    q = quantities(instance)
    squared_error = q.error * (1 + q.norm)
    slack &= at_most("Jensen", q.sigma**2, float(class_pair_moment(instance)) / 2 + squared_error)
    return slack & _within_two_spreads_and_a_gap(instance)


def _within_two_spreads_and_a_gap(problem: ContrastiveProblem) -> Slack:
    """``max ||f - f'|| <= 2 D + d`` inside classes: ``A - 4 D^2 - d^2 <= 4 D d`` with ``A`` the square of the left."""
    same = np.equal.outer(problem.class_index, problem.class_index)
    farthest = squared_distances(problem.embeddings)[same].max()
    spread, gap = same_image_spread_squared(problem), same_class_gap_squared(problem)
    excess = max(farthest - 4 * spread - gap, 0)
    if problem.embeddings.dtype == object:
        return at_most("triangle", excess**2, 16 * spread * gap)  # integers and fractions: decided exactly
    return at_most("triangle", math.sqrt(farthest), 2 * math.sqrt(spread) + math.sqrt(gap) + rounding(problem))


def variance_is_half_the_pair_moment(instance: ContrastiveProblem, share: Fraction = Fraction(1, 2)) -> Slack:
    """``E||f - mu||^2 = E||f - f'||^2 / 2`` in fractions."""
    return identity("variance", class_variance(instance), share * class_pair_moment(instance))


def variance_with_a_quarter(instance: ContrastiveProblem) -> Slack:
    """Claim a quarter in place of a half."""
    return variance_is_half_the_pair_moment(instance, Fraction(1, 4))


def variance_over_all_pairs(instance: ContrastiveProblem) -> Slack:
    """Forget that both views of a pair are of one class."""
    moment = instance.weights @ squared_distances(instance.embeddings) @ instance.weights
    return identity("variance", class_variance(instance), moment / 2)


def pixel_distances_with_constant(
    instance: ContrastiveProblem, constant: Callable[[ContrastiveProblem], Any] = squared_lipschitz_constant
) -> Slack:
    """``(D^f)^2 <= L^2 D^2`` and ``(d^f)^2 <= L^2 d^2`` in fractions."""
    square = constant(instance)
    spread = at_most(
        "spread", same_image_spread_squared(instance), square * same_image_spread_squared(instance, "pixels")
    )
    return spread & at_most(
        "gap", same_class_gap_squared(instance), square * same_class_gap_squared(instance, "pixels")
    )


def smallest_squared_ratio(problem: ContrastiveProblem) -> Any:
    """Smallest ratio in place of the largest."""
    assert problem.pixels is not None
    below, above = squared_distances(problem.pixels), squared_distances(problem.embeddings)
    ratios = [a / b for a, b in zip(above.flat, below.flat, strict=True) if b > 0]
    return min(ratios, default=Fraction(0))


def half_of_the_constant(instance: ContrastiveProblem) -> Slack:
    """``L^2 / 4`` in place of ``L^2``."""
    return pixel_distances_with_constant(instance, lambda problem: Fraction(squared_lipschitz_constant(problem)) / 4)


def smallest_ratio_as_constant(instance: ContrastiveProblem) -> Slack:
    """The smallest ratio in place of the largest."""
    return pixel_distances_with_constant(instance, smallest_squared_ratio)


# Sharpness


def gap_of_the_family(instance: OrthonormalFamily, *, risk_engine: Callable[[ContrastiveProblem], ExactRisks]) -> Slack:
    """Excess of the orthonormal family between its two limits; small members also through the engine."""
    return _gap_clauses(instance, 1.0, 1.0) & _same_as_engine(instance, risk_engine)


def _gap_clauses(family: OrthonormalFamily, share: float, collisions: float) -> Slack:
    excess, error = family.mean_classifier_risk - family.unsupervised_risk, 1e-11 * (1 + 1 / family.temperature)
    n, K, t = family.images, family.negatives, family.temperature
    lower = bounds.ORTHONORMAL_GAP_AT_LEAST(n=n, C=family.classes, K=K, t=t)
    if collisions != 1.0:
        lower = math.log((1 + K * math.exp(-1 / (n * t))) / (1 + K * math.exp(-1 / t)))
    upper = share * bounds.ORTHONORMAL_GAP_AT_MOST(n=n, t=t)
    return at_least("excess at least", excess + error, lower) & at_most("excess at most", excess, upper + error)


def _same_as_engine(family: OrthonormalFamily, engine: Callable[[ContrastiveProblem], ExactRisks]) -> Slack:
    if family.images * family.classes > 60 or family.temperature < 0.5:
        return Slack(())
    found = engine(family.problem())
    slack = identity("R_un", found.unsupervised, family.unsupervised_risk, rounding=1e-10)
    return slack & identity("R_mean", found.mean_classifier, family.mean_classifier_risk, rounding=1e-10)


def limit_halved(instance: OrthonormalFamily, *, risk_engine: Any) -> Slack:
    """Claim that the excess never passes half of its limit."""
    return _gap_clauses(instance, 0.5, 1.0)


def collisions_forgotten(instance: OrthonormalFamily, *, risk_engine: Any) -> Slack:
    """Claim the lower limit as if no negative shared the anchor's image."""
    return _gap_clauses(instance, 1.0, 0.0)


def one_negative_whatever_asked(problem: ContrastiveProblem) -> ExactRisks:
    """An engine that ignores ``K``."""
    return exact_risks(_with_negatives(problem, 1))


def _with_negatives(problem: ContrastiveProblem, negatives: int) -> ContrastiveProblem:
    return ContrastiveProblem(
        problem.embeddings,
        problem.images,
        problem.classes,
        problem.weights,
        problem.temperature,
        negatives,
        problem.pixels,
    )


# Certificates


def certificate_tells_the_truth(
    instance: ContrastiveProblem, *, certifier: Callable[[ContrastiveProblem], TransferCertificate]
) -> Slack:
    """Each number of the certificate recomputed, and its bound against the truth."""
    q, told = quantities(instance), certifier(instance)
    slack = identity("R_un", told.unsupervised, q.unsupervised, rounding=q.error)
    slack &= identity("R_mean", told.mean_classifier, q.mean_classifier, rounding=q.error)
    slack &= identity("sigma_1", told.first_moment_spread, q.sigma, rounding=1e-7 * q.norm)  # roots near zero
    slack &= identity("D", told.spread, q.spread, rounding=1e-7 * q.norm)
    slack &= identity("d", told.gap, q.gap, rounding=1e-7 * q.norm)
    slack &= identity("B", told.norm, q.norm, rounding=q.error)
    return slack & at_most("certified", q.mean_classifier, told.bound + q.error)


def certificate_with_half_the_spread(problem: ContrastiveProblem) -> TransferCertificate:
    """A certificate that lies about ``sigma_1``."""
    honest = certify(problem)
    return dataclasses.replace(honest, first_moment_spread=honest.first_moment_spread / 2)


def certificate_of_the_risk_alone(problem: ContrastiveProblem) -> TransferCertificate:
    """A certificate whose bound forgets what augmentation adds."""
    honest = certify(problem)
    return dataclasses.replace(honest, links={"spread": honest.unsupervised})


def certificate_with_distances_exchanged(problem: ContrastiveProblem) -> TransferCertificate:
    """``D`` and ``d`` exchanged."""
    honest = certify(problem)
    return dataclasses.replace(honest, spread=honest.gap, gap=honest.spread)


# Sampling

DELTA = 0.1


def estimate_misses(radius_share: float) -> Callable[..., Event]:
    """Check that an estimate misses the risk by more than the radius with probability 0.1 at most."""

    def observe(instance: TwoPoints, *, tuple_sampler: Callable[..., float], rng: np.random.Generator) -> Event:
        radius = bounds.SAMPLING_RADIUS(B=1.0, t=instance.temperature, n=instance.samples, delta=DELTA)
        estimate = tuple_sampler(instance.problem(), instance.samples, rng)
        missed = abs(estimate - instance.risk) > radius_share * radius
        return event(missed, probability=DELTA, name="estimate misses")

    return observe


def reference_sampler(problem: ContrastiveProblem, samples: int, rng: np.random.Generator) -> float:
    """Mean loss of independent tuples."""
    return sampled_risk(problem, samples, rng).estimate


def anchor_among_negatives(problem: ContrastiveProblem, samples: int, rng: np.random.Generator) -> float:
    """The anchor reused as its own first negative."""
    f = problem.embeddings[:, 0]
    anchors = rng.integers(0, len(f), samples)
    positives = f[anchors] * np.where(rng.random(samples) < 0.5, 1.0, -1.0)
    negatives = f[rng.integers(0, len(f), (samples, problem.negatives))]
    negatives[:, 0] = f[anchors]
    arguments = f[anchors, None] * (negatives - positives[:, None]) / problem.temperature
    return float(np.logaddexp(0.0, np.logaddexp.reduce(arguments, axis=1)).mean())


# The table

PROBLEMS = Instances(
    "2 or 3 classes of 1 to 4 images of 1 to 3 views, 1 to 5 dimensions, norms 1 to 4, K from 1 to 3, t from 0.2 to "
    "2; integer problems; orthonormal families with and without midpoints, K up to 20000; right sides rounded outward",
    examples=given.problem_examples,
    draw=given.draw_problems,
    strategy=given.exact_problems,
)
EXACT = Instances(
    "integer embeddings of up to 8 views in up to 3 classes, rational weights, decided in fractions",
    examples=given.exact_examples,
    draw=given.draw_exact,
    strategy=given.exact_problems,
)
WITH_PIXELS = Instances(
    "integer embeddings and pixels of up to 8 views in up to 3 classes, decided in fractions",
    draw=given.draw_exact,
    strategy=given.exact_problems,
)
WITH_FAMILIES = Instances(
    "orthonormal families with midpoints, found by search as well as given",
    examples=given.problem_examples,
    draw=given.draw_problems,
    strategy=given.families,
)
FAMILIES = Instances(
    "1 to 12 orthonormal images in each of 1 to 30 classes, K up to 200, t from 0.2 to 100, and the tabulated members",
    examples=lambda: {k: v for k, v in given.family_examples().items() if v.midpoint_mass == 0},
    draw=given.draw_families,
)
FINITE = Instances(
    "2 or 3 classes of 1 to 4 images of 1 to 3 views, 1 to 5 dimensions, norms 1 to 4, K from 1 to 3, t from 0.2 to 2",
    examples=given.two_class_examples,
    draw=given.draw_two_classes,
    strategy=given.exact_problems,
)


def _broken(name: str, claim: Claim, clause: str) -> Mutant:
    return Mutant(name, clause=clause, observe=bounded_by(claim, clause))


CHECKS = (
    Check(
        theorem="contrastive_augmentation.T1",
        name="transfer",
        kind="slack",
        observe=bounded_by(by_spread, "transfer"),
        instances=PROBLEMS,
        mutants=(
            _broken("half of sigma_1", by_half_the_spread, "transfer"),
            _broken("1/t forgotten", without_temperature, "transfer"),
            _broken("half of sigma_1 squared", by_squared_spread, "transfer"),
        ),
        cost=8,
    ),
    Check(
        theorem="contrastive_augmentation.T1",
        name="certificate",
        kind="slack",
        observe=certificate_tells_the_truth,
        instances=FINITE,
        slots={CERTIFIER: certify},
        mutants=(
            Mutant("half of sigma_1", "sigma_1", {"certifier": certificate_with_half_the_spread}),
            Mutant("bound without the spread", "certified", {"certifier": certificate_of_the_risk_alone}),
            Mutant("distances exchanged", "D", {"certifier": certificate_with_distances_exchanged}),
        ),
        cost=16,
    ),
    Check(
        theorem="contrastive_augmentation.T1_variance",
        name="in_fractions",
        kind="slack",
        observe=variance_is_half_the_pair_moment,
        instances=EXACT,
        mutants=(
            Mutant("a quarter", "variance", observe=variance_with_a_quarter),
            Mutant("pairs across classes", "variance", observe=variance_over_all_pairs),
        ),
        cost=4,
    ),
    Check(
        theorem="contrastive_augmentation.T1_distances",
        name="links",
        kind="slack",
        observe=chain_of_distances,
        instances=PROBLEMS,
        mutants=(
            _broken("d dropped", without_gap, "representation"),
            _broken("D dropped", without_spread, "representation"),
            _broken("coefficient one", by_sum, "representation"),
            _broken("constants five per cent smaller", by_smaller_constants, "representation"),
        ),
        cost=12,
    ),
    Check(
        theorem="contrastive_augmentation.T1_pixels",
        name="in_fractions",
        kind="slack",
        observe=pixel_distances_with_constant,
        instances=WITH_PIXELS,
        mutants=(
            Mutant("half of L", "spread", observe=half_of_the_constant),
            Mutant("smallest ratio as L", "spread", observe=smallest_ratio_as_constant),
        ),
        cost=6,
    ),
    Check(
        theorem="contrastive_augmentation.T1_sum",
        name="plain_sum",
        kind="slack",
        observe=bounded_by(by_sum, "plain sum"),
        instances=WITH_FAMILIES,
        mutants=(
            _broken("half of the sum", by_half_the_sum, "plain sum"),
            _broken("d dropped", without_gap, "plain sum"),
        ),
        cost=8,
    ),
    Check(
        theorem="contrastive_augmentation.T1_sharp",
        name="orthonormal",
        kind="slack",
        observe=gap_of_the_family,
        instances=FAMILIES,
        slots={RISK_ENGINE: exact_risks},
        mutants=(
            Mutant("half of the limit", "excess at most", observe=limit_halved),
            Mutant("collisions forgotten", "excess at least", observe=collisions_forgotten),
            Mutant("an engine that ignores K", "R_un", {"risk_engine": one_negative_whatever_asked}),
        ),
        cost=20,
    ),
    Check(
        theorem="contrastive_augmentation.T1_sampled",
        name="coverage",
        kind="event",
        observe=estimate_misses(1.0),
        instances=Instances("two images with views 1 and -1, K = 1 and K = 64", examples=given.two_point_examples),
        slots={TUPLE_SAMPLER: reference_sampler},
        mutants=(
            Mutant("a quarter of the radius", "estimate misses", observe=estimate_misses(0.25)),
            Mutant("anchor among its negatives", "estimate misses", {"tuple_sampler": anchor_among_negatives}),
        ),
        tighten=estimate_misses,
        cost=1,
    ),
)
