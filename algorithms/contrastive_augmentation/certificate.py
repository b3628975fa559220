"""A certificate that prints each link of the chain from the unsupervised risk to the supervised one."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from whp.algorithms.contrastive_augmentation.augmentation_distances import augmentation_distances
from whp.algorithms.contrastive_augmentation.exact_risks import exact_risks
from whp.theory.contrastive_augmentation import ContrastiveProblem, bounds, first_moment_spread, norm_bound

__all__ = ["InconstantLabelError", "TransferCertificate", "certify"]

Link = Literal["spread", "representation", "pixels", "plain"]


class InconstantLabelError(ValueError):
    """Views of one image have different classes, so that the theorems say nothing."""


@dataclass(frozen=True)
class TransferCertificate:
    """The bounds of T1 and T2 on one problem, and the truth beside them.

    Attributes
    ----------
    unsupervised, mean_classifier : float
        ``R_un,K`` and ``R_mean,K``.
    supervised : float or None
        ``R_sup,K``; None with one class.
    norm, temperature : float
        ``B`` and ``t``.
    negatives : int
        ``K``.
    first_moment_spread : float
        ``sigma_1``.
    spread, gap : float
        ``D`` and ``d`` between embeddings.
    pixel_spread, pixel_gap, lipschitz : float or None
        ``D``, ``d`` and ``L``; None without pixels, or where equal pixels have different embeddings.
    collision_probability : float
        ``tau_K``.
    links : dict
        The bounds on ``R_mean,K`` by name: ``spread``, ``representation``, ``pixels`` and ``plain``, each at least the
        one before.
    link : str
        Which of them is the ``bound``: always the smallest, ``spread``.
    """

    unsupervised: float
    mean_classifier: float
    supervised: float | None
    norm: float
    temperature: float
    negatives: int
    first_moment_spread: float
    spread: float
    gap: float
    pixel_spread: float | None
    pixel_gap: float | None
    lipschitz: float | None
    collision_probability: float
    links: dict[Link, float]
    link: Link

    @property
    def bound(self) -> float:
        """The bound on ``R_mean,K`` that was used."""
        return self.links[self.link]

    @property
    def slack(self) -> float:
        """What the bound leaves: ``bound - R_mean,K``."""
        return self.bound - self.mean_classifier

    @property
    def supervised_bound(self) -> float | None:
        """Bound on ``R_sup,K``; None with one class."""
        if self.collision_probability >= 1:
            return None
        tau, count = self.collision_probability, self.negatives
        return float(bounds.SUPERVISED_BOUND(R_mean=self.bound, tau=tau, K=count))

    def __str__(self) -> str:
        """One line for each link of the chain."""
        lines = [f"R_un = {self.unsupervised:.6f}, K = {self.negatives}, t = {self.temperature:g}, B = {self.norm:.6g}"]
        lines += [f"R_mean = {self.mean_classifier:.6f} <= {value:.6f} ({name})" for name, value in self.links.items()]
        if self.supervised is not None and self.supervised_bound is not None:
            lines.append(f"R_sup = {self.supervised:.6f} <= {self.supervised_bound:.6f}")
        lines.append(
            f"sigma_1 = {self.first_moment_spread:.6f}, D = {self.spread:.6f}, d = {self.gap:.6f}; at a fixed encoder "
            "2 D + d is never smaller than without augmentation when the identity is one"
        )
        return "\n".join(lines)


def certify(problem: ContrastiveProblem) -> TransferCertificate:
    """Evaluate every link of T1 and T2.

    Parameters
    ----------
    problem : ContrastiveProblem
        With pixels, the links at pixel level are added.

    Returns
    -------
    TransferCertificate
        See there.

    Raises
    ------
    InconstantLabelError
        If views of one image have different classes; the message names the image.

    Examples
    --------
    >>> from whp.theory.contrastive_augmentation import circle_problem
    >>> for name, value in certify(circle_problem()).links.items():
    ...     print(name, round(value, 12))
    spread 0.81344770298
    representation 1.147512703123
    pixels 1.201991328101
    plain 1.450519465525
    """
    if not problem.labels_are_constant:
        image = next(v for v in problem.views_of_images if len({problem.classes[k] for k in v}) > 1)
        clash = sorted({problem.classes[k] for k in image})
        raise InconstantLabelError(
            f"views of image {problem.images[image[0]]} must have one class, got the classes {clash}"
        )
    problem = problem.as_floats()
    risks = exact_risks(problem)
    norm, sigma, t = norm_bound(problem), first_moment_spread(problem), float(problem.temperature)
    found = augmentation_distances(problem.embeddings, problem.images, problem.classes)
    given = {"R_un": risks.unsupervised, "B": norm, "t": t}
    links: dict[Link, float] = {
        "spread": bounds.TRANSFER_BOUND(sigma_1=sigma, **given),
        "representation": bounds.REPRESENTATION_BOUND(D=found.spread, d=found.gap, **given),
    }
    pixel_spread = pixel_gap = lipschitz = None
    if problem.pixels is not None:
        pixels = augmentation_distances(problem.pixels, problem.images, problem.classes)
        pixel_spread, pixel_gap, lipschitz = pixels.spread, pixels.gap, _lipschitz(problem)
        if lipschitz is not None:
            at_pixels = {"D": lipschitz * pixel_spread, "d": lipschitz * pixel_gap}
            links["pixels"] = bounds.REPRESENTATION_BOUND(**at_pixels, **given)
            links["plain"] = bounds.PLAIN_BOUND(**at_pixels, **given)
    if "plain" not in links:
        links["plain"] = bounds.PLAIN_BOUND(D=found.spread, d=found.gap, **given)
    return TransferCertificate(
        unsupervised=risks.unsupervised,
        mean_classifier=risks.mean_classifier,
        supervised=risks.supervised,
        norm=norm,
        temperature=t,
        negatives=problem.negatives,
        first_moment_spread=sigma,
        spread=found.spread,
        gap=found.gap,
        pixel_spread=pixel_spread,
        pixel_gap=pixel_gap,
        lipschitz=lipschitz,
        collision_probability=risks.collision_probability,
        links=links,
        link="spread",
    )


def _lipschitz(problem: ContrastiveProblem) -> float | None:
    """``L`` on the views, row by row; None where equal pixels have different embeddings."""
    assert problem.pixels is not None
    largest = 0.0
    for k in range(problem.n_views - 1):
        below = ((problem.pixels[k + 1 :] - problem.pixels[k]) ** 2).sum(axis=1)
        above = ((problem.embeddings[k + 1 :] - problem.embeddings[k]) ** 2).sum(axis=1)
        if bool((above[below == 0] > 0).any()):
            return None
        apart = below > 0
        if bool(apart.any()):
            largest = max(largest, float(np.max(above[apart] / below[apart])))
    return math.sqrt(largest)
