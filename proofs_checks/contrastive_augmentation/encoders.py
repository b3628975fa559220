"""Checks of T5, T8 and T9: floors of centred encoders and of batches, and the closed form of the linear encoder."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whp.algorithms.contrastive_augmentation import ExactRisks, cosine_rows, exact_risks, fit_linear_encoder, nt_xent
from whp.proofs_checks.contrastive_augmentation import instances as given
from whp.proofs_checks.contrastive_augmentation.instances import LinearFit
from whp.proofs_checks.contrastive_augmentation.slots import BATCH_LOSS, LINEAR_ENCODER, RISK_ENGINE
from whp.proofs_checks.contrastive_augmentation.transfer import rounding
from whp.proofs_checks.engine import Check, Instances, Mutant, Slack, at_least, at_most, identity
from whp.theory.contrastive_augmentation import (
    ContrastiveProblem,
    PairBatch,
    batch_loss,
    bounds,
    centred_floors,
    mean_classifier_risk,
    norm_bound,
    spectral_contrastive_loss,
    unsupervised_risk,
)

__all__ = ["CHECKS"]

Floats = NDArray[np.float64]


def risks_above_the_floor(
    instance: ContrastiveProblem, *, risk_engine: Callable[[ContrastiveProblem], ExactRisks]
) -> Slack:
    """``R_un >= sharp floor >= floor`` and the floor of ``R_mean``."""
    error, (sharp, of_mean) = rounding(instance), centred_floors(instance)
    risk, t = float(unsupervised_risk(instance)), float(instance.temperature)
    floor = bounds.CENTRED_FLOOR(B=norm_bound(instance), t=t, K=instance.negatives)
    slack = at_least("R_un", risk + error, sharp) & at_least("sharp floor", sharp + error, floor)
    slack &= at_least("R_mean", float(mean_classifier_risk(instance)) + error, of_mean)
    return slack & identity("engine", risk_engine(instance).unsupervised, risk, rounding=error)


def floor_at_half_the_norm(
    instance: ContrastiveProblem, *, risk_engine: Callable[[ContrastiveProblem], ExactRisks]
) -> Slack:
    """Claim the floor with half of ``B^2``."""
    t = float(instance.temperature)
    floor = bounds.CENTRED_FLOOR(B=norm_bound(instance) / 2**0.5, t=t, K=instance.negatives)
    return at_least("sharp floor", centred_floors(instance)[0] + rounding(instance), floor)


def _loss(fit: LinearFit, matrix: Floats) -> float:
    problem = ContrastiveProblem(fit.views @ matrix, fit.images, [0] * len(fit.images), fit.weights)
    return spectral_contrastive_loss(problem)


def no_linear_encoder_is_better(instance: LinearFit, *, linear_encoder: Callable[..., Floats]) -> Slack:
    """Loss of the subject against a competitor, and against steps from the subject towards it."""
    found = linear_encoder(instance.views, instance.images, instance.dimension, instance.weights)
    own = _loss(instance, found)
    slack = at_most("competitor", own, _loss(instance, instance.competitor) + 1e-9)
    for step in (-0.1, -0.01, 0.01, 0.1):
        moved = _loss(instance, found + step * instance.competitor)
        slack &= at_most("nearby", own, moved + 1e-9 * (1 + abs(moved)))
        slack &= at_most("scale", own, _loss(instance, (1 + step) * found) + 1e-9)
    return slack


def closed_form(views: Floats, images: Any, dimension: int, weights: Floats) -> Floats:
    """The reference: without ridge and without centring, as the theorem states it."""
    return fit_linear_encoder(views, images, dimension, weights=weights, ridge=0.0, centred=False).matrix


def principal_components(views: Floats, images: Any, dimension: int, weights: Floats) -> Floats:
    """Largest directions of the views, which need not be what the views of an image share."""
    variances, directions = np.linalg.eigh((views * weights[:, None]).T @ views)
    return np.asarray((directions / np.sqrt(variances))[:, ::-1][:, :dimension])


def whitened_only(views: Floats, images: Any, dimension: int, weights: Floats) -> Floats:
    """The right directions without the roots of their eigenvalues."""
    found = fit_linear_encoder(views, images, dimension, weights=weights, ridge=0.0, centred=False)
    return np.asarray(found.matrix / np.sqrt(np.maximum(found.eigenvalues, 1e-12)))


def weights_ignored(views: Floats, images: Any, dimension: int, weights: Floats) -> Floats:
    """All views counted alike."""
    return fit_linear_encoder(views, images, dimension, ridge=0.0, centred=False).matrix


def batch_above_the_floor(share: float = 1.0, *, single: bool = False) -> Callable[..., Slack]:
    """Check the loss against its definition and the floor; ``share`` multiplies the floor's exponent."""

    def observe(instance: PairBatch, *, batch_loss: Callable[..., float]) -> Slack:
        pairs, t = len(instance.embeddings) // 2, instance.temperature
        truth, error = definition(instance), 1e-12 * (1 + 1 / t)
        told = batch_loss(instance.embeddings, instance.images, t)
        floor = bounds.BATCH_FLOOR(M=pairs, t=t / share)
        slack = identity("loss", told, truth, rounding=1e-5 * (1 + 1 / t) if single else error)
        return slack & at_least("floor", truth + error, floor)

    return observe


definition = batch_loss  # the observation's keyword of the same name is the subject


def torch_loss(embeddings: Floats, images: Any, temperature: float) -> float:
    """The loss that the neural encoders are trained with, in single precision."""
    from whp.algorithms.contrastive_augmentation.neural_encoder import info_nce_of_arrays

    return info_nce_of_arrays(embeddings, images, temperature)


def torch_loss_without_temperature(embeddings: Floats, images: Any, temperature: float) -> float:
    """The temperature ignored."""
    return torch_loss(embeddings, images, 1.0)


def loss_of_raw_embeddings(embeddings: Floats, images: Any, temperature: float) -> float:
    """Scalar products in place of cosines."""
    order = np.argsort(images, kind="stable")
    return _mean_loss(embeddings[order], temperature, own_image=False)


def loss_with_the_anchor_itself(embeddings: Floats, images: Any, temperature: float) -> float:
    """The anchor among its own negatives."""
    order = np.argsort(images, kind="stable")
    return _mean_loss(cosine_rows(embeddings[order]), temperature, own_image=True)


def _mean_loss(rows: Floats, temperature: float, *, own_image: bool) -> float:
    scores = rows @ rows.T / temperature
    index = np.arange(len(rows))
    arguments = scores - scores[index, index ^ 1][:, None]
    if not own_image:
        arguments = np.where(index[:, None] // 2 == index // 2, -np.inf, arguments)
    return float(np.logaddexp(0.0, np.logaddexp.reduce(arguments, axis=1)).mean())


def torch_missing() -> str:
    """Name the missing extra, or nothing."""
    return "" if importlib.util.find_spec("torch") is not None else "torch (extra neural)"


BATCHES = Instances(
    "2 to 6 pairs of views in 1 to 6 dimensions, t from 0.07 to 1, norms from 1e-3 to 1e3; simplices of up to 20; "
    "the floor rounded outward by 1e-12 (1 + 1/t)",
    examples=given.batch_examples,
    draw=given.draw_batches,
)
CENTRED = Instances(
    "random problems of 2 or 3 classes, K from 1 to 3, their weighted mean subtracted; right sides rounded outward",
    examples=given.centred_examples,
    draw=given.draw_centred,
)
FITS = Instances(
    "4 to 8 images of 2 or 3 views of 2 to 6 pixels, unequal weights, 1 to all dimensions; steps towards a random "
    "encoder; sides rounded outward by 1e-9",
    examples=given.linear_examples,
    draw=given.draw_linear_fits,
)

CHECKS = (
    Check(
        theorem="contrastive_augmentation.T5",
        name="floors",
        kind="slack",
        observe=risks_above_the_floor,
        instances=CENTRED,
        slots={RISK_ENGINE: exact_risks},
        mutants=(
            Mutant(
                "not centred",
                "R_un",
                instances=Instances("not centred", examples=given.uncentred_examples),
                ignoring=("centred",),
            ),
            Mutant(
                "centred with uniform weights",
                "R_un",
                instances=Instances("plain mean zero", examples=given.shifted_centre_examples),
                ignoring=("centred",),
            ),
            Mutant("half of B squared", "sharp floor", observe=floor_at_half_the_norm),
        ),
        cost=10,
    ),
    Check(
        theorem="contrastive_augmentation.T8",
        name="closed_form",
        kind="slack",
        observe=no_linear_encoder_is_better,
        instances=FITS,
        slots={LINEAR_ENCODER: closed_form},
        mutants=(
            Mutant("principal components", "nearby", {"linear_encoder": principal_components}),
            Mutant("eigenvalues forgotten", "scale", {"linear_encoder": whitened_only}),
            Mutant("weights ignored", "nearby", {"linear_encoder": weights_ignored}),
        ),
        cost=12,
    ),
    Check(
        theorem="contrastive_augmentation.T9",
        name="numpy",
        kind="slack",
        observe=batch_above_the_floor(),
        instances=BATCHES,
        slots={BATCH_LOSS: nt_xent},
        mutants=(
            Mutant("a floor for cosines of zero", "floor", observe=batch_above_the_floor(0.5)),
            Mutant("scalar products in place of cosines", "loss", {"batch_loss": loss_of_raw_embeddings}),
            Mutant("the anchor among its negatives", "loss", {"batch_loss": loss_with_the_anchor_itself}),
        ),
        cost=4,
    ),
    Check(
        theorem="contrastive_augmentation.T9",
        name="torch",
        kind="slack",
        observe=batch_above_the_floor(single=True),
        instances=BATCHES,
        slots={BATCH_LOSS: torch_loss},
        mutants=(
            Mutant("a floor for cosines of zero", "floor", observe=batch_above_the_floor(0.5, single=True)),
            Mutant("temperature ignored", "loss", {"batch_loss": torch_loss_without_temperature}),
        ),
        unavailable=torch_missing,
        cost=8,
    ),
)
