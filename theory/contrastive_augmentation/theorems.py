"""The theorems around augmentation and contrastive learning, as data.

Of the paper only the abstract, the opening and summaries were read. Every statement here is worked out for whp or is
a known result; none carries the paper's numbers or constants.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from whp.theory.contrastive_augmentation import bounds
from whp.theory.contrastive_augmentation.problems import ContrastiveProblem
from whp.theory.contrastive_augmentation.quantities import cover_probability
from whp.theory.contrastive_augmentation.views import AugmentedImages, LineImages
from whp.theory.core import Assumption, Claim, Paper, Theorem

__all__ = ["PAPER", "THEOREMS", "is_centred"]

PAPER = Paper(
    "contrastive_augmentation",
    "An Augmentation-Aware Theory for Self-Supervised Contrastive Learning",
    ("Jingyi Cui", "Hongwei Wen", "Yisen Wang"),
    "ICML 2025",
    "2505.22196",
)

_NOT_THE_PAPERS = "Derived here; the paper's theorem, whose statement could not be read, may have other constants. "


def _labelled(instance: Any) -> bool:
    return not isinstance(instance, ContrastiveProblem) or instance.labels_are_constant


def _two_classes(instance: Any) -> bool:
    return not isinstance(instance, ContrastiveProblem) or instance.n_classes >= 2


def _covers(instance: Any) -> bool:
    return isinstance(instance, ContrastiveProblem) and cover_probability(instance) > 0


def is_centred(problem: Any) -> bool:
    """Whether ``E_w f = 0``: exactly for fractions, within ``1e-12 B`` for floats."""
    mean = problem.weights @ problem.embeddings
    scale = 0 if problem.is_exact else 1e-12 * np.abs(problem.embeddings).max()
    return bool((np.abs(mean) <= scale).all())


def _nested(images: Any) -> bool:
    return not isinstance(images, AugmentedImages) or images.is_nested


def _identity(images: Any) -> bool:
    return not isinstance(images, AugmentedImages) or images.contains_identity


def _block(lines: Any) -> bool:
    return not isinstance(lines, LineImages) or lines.both_show_the_block


LABELLED = Assumption("constant labels", "all views of an image have one class", _labelled)
TWO_CLASSES = Assumption("two classes", "tau_K < 1: two classes have positive mass", _two_classes)
COVERED = Assumption("cover", "q_min > 0: K negatives can contain all other classes", _covers)
CENTRED = Assumption("centred", "E_w f = 0", is_centred)
NESTED = Assumption("nested", "A(i) is a subset of A'(i) for every image", _nested)
IDENTITY = Assumption("identity", "every image is one of its own views", _identity)
BLOCK = Assumption("block", "both lines show the block of their class", _block)

TRANSFER = (
    Theorem(
        id="contrastive_augmentation.T1",
        paper=PAPER,
        title="Transfer to the mean classifier",
        statement=(
            "For every encoder, K and t, x and x+ independent views of one image and negatives independent of both: "
            "R_mean,K <= R_un,K + (B/t) E||f(x) - mu_y||."
        ),
        assumptions=(LABELLED,),
        claim=Claim("R_mean,K", "<=", bounds.TRANSFER_BOUND),
        provenance="derived",
        not_claimed=(
            _NOT_THE_PAPERS + "Nothing on finite samples, optimisation, a trained linear probe, or positives that come "
            "from another image."
        ),
    ),
    Theorem(
        id="contrastive_augmentation.T1_variance",
        paper=PAPER,
        title="Spread within classes as pairs",
        statement="E||f - mu_y||^2 = E||f - f'||^2 / 2 for f, f' independent in one class.",
        claim=Claim("E||f - mu_y||^2", "=", "E||f - f'||^2 / 2"),
        provenance="prior",
        expected="proved",
    ),
    Theorem(
        id="contrastive_augmentation.T1_distances",
        paper=PAPER,
        title="The two augmentation distances",
        statement=(
            "sigma_1^2 <= E||f - f'||^2 / 2, any two views of one class are within 2 D + d, hence "
            "sigma_1 <= (2 D + d) / sqrt(2) and R_mean,K <= R_un,K + B (2 D + d) / (sqrt(2) t)."
        ),
        assumptions=(LABELLED,),
        claim=Claim("R_mean,K", "<=", bounds.REPRESENTATION_BOUND),
        provenance="derived",
        not_claimed=_NOT_THE_PAPERS,
    ),
    Theorem(
        id="contrastive_augmentation.T1_pixels",
        paper=PAPER,
        title="Distances of pixels and of embeddings",
        statement="With L the Lipschitz constant of f on the views, D^f <= L D and d^f <= L d.",
        claim=Claim("(D^f, d^f)", "<=", "(L D, L d)"),
        provenance="derived",
        not_claimed="That L is small for encoders in use.",
    ),
    Theorem(
        id="contrastive_augmentation.T1_sum",
        paper=PAPER,
        title="The plain sum of the distances",
        statement="R_mean,K <= R_un,K + (B/t)(D + d) for every encoder of norm at most B.",
        assumptions=(LABELLED,),
        claim=Claim("R_mean,K", "<=", "R_un,K + (B/t)(D + d)"),
        provenance="derived",
        expected="refuted",
        not_claimed=(
            "That the paper states it: its figures show that the sum and the accuracy of the probe are best at the "
            "same parameter, which is another matter than a bound with coefficient one."
        ),
    ),
    Theorem(
        id="contrastive_augmentation.T1_sharp",
        paper=PAPER,
        title="Sharp constants",
        statement=(
            "On n C orthonormal embeddings the excess R_mean,K - R_un,K lies between "
            "log((1 + K exp(-1/(n t))) / (1 + K (exp(-1/t) + 1/(n C)))) and (1 - 1/n)/t, so that it approaches 1/t and "
            "no bound alpha D + beta d with alpha < sqrt(2) or beta < 1/sqrt(2) holds for all encoders of norm one."
        ),
        claim=Claim("R_mean,K - R_un,K", ">=", bounds.ORTHONORMAL_GAP_AT_LEAST),
        provenance="derived",
    ),
    Theorem(
        id="contrastive_augmentation.T1_sampled",
        paper=PAPER,
        title="Unsupervised risk from sampled tuples",
        statement=(
            "The mean loss of n independent tuples is within (4 B^2/t) sqrt(log(2/delta)/(2 n)) of R_un,K with "
            "probability at least 1 - delta."
        ),
        claim=Claim("|mean loss - R_un,K|, except with probability delta", "<=", bounds.SAMPLING_RADIUS),
        provenance="prior",
        not_claimed="Anything for batches, whose tuples share views and are not independent.",
    ),
)

SUPERVISED = (
    Theorem(
        id="contrastive_augmentation.T2_one",
        paper=PAPER,
        title="One negative: tuples and classes",
        statement="R_mean,1 = (1 - tau_1) R_sup,1 + tau_1 log 2.",
        assumptions=(TWO_CLASSES,),
        claim=Claim("R_mean,1", "=", "(1 - tau_1) R_sup,1 + tau_1 log 2"),
        provenance="derived",
        expected="proved",
    ),
    Theorem(
        id="contrastive_augmentation.T2",
        paper=PAPER,
        title="From tuples to the supervised risk",
        statement="R_sup,K <= (R_mean,K - tau_K log(K+1)) / (1 - tau_K).",
        assumptions=(TWO_CLASSES,),
        claim=Claim("R_sup,K", "<=", bounds.SUPERVISED_BOUND),
        provenance="derived",
        not_claimed="That R_un can be small while collisions are frequent: the bound says nothing for tau_K near 1.",
    ),
    Theorem(
        id="contrastive_augmentation.T2_all_classes",
        paper=PAPER,
        title="Cross-entropy over all classes",
        statement="R_sup <= R_mean,K / q_min, q_min the least probability that the negatives hold every other class.",
        assumptions=(TWO_CLASSES, COVERED),
        claim=Claim("R_sup", "<=", "R_mean,K / q_min"),
        provenance="derived",
    ),
    Theorem(
        id="contrastive_augmentation.T2_error",
        paper=PAPER,
        title="Error of the mean classifier",
        statement="P(some other class scores at least as high) <= R_sup / log 2; ties are errors.",
        assumptions=(TWO_CLASSES,),
        claim=Claim("0-1 error", "<=", bounds.ERROR_BOUND),
        provenance="derived",
    ),
)

DISTANCES = (
    Theorem(
        id="contrastive_augmentation.T3",
        paper=PAPER,
        title="Stronger augmentation trades the distances",
        statement="If A(i) is a subset of A'(i) for every image then D_A <= D_A' and d_A >= d_A'.",
        assumptions=(NESTED,),
        claim=Claim("(D_A, d_A')", "<=", "(D_A', d_A)"),
        provenance="derived",
        expected="proved",
        not_claimed="Anything for families that are not nested, such as crops of one size, or for unlike samples.",
    ),
    Theorem(
        id="contrastive_augmentation.T4",
        paper=PAPER,
        title="Identity dominance",
        statement=(
            "If the identity is an augmentation then ||i - j|| <= D(i) + d(i, j) + D(j) for images of one class: at a "
            "fixed encoder 2 D + d is least without augmentation."
        ),
        assumptions=(IDENTITY,),
        claim=Claim("||i - j||", "<=", "D(i) + d(i, j) + D(j)"),
        provenance="derived",
        expected="proved",
        not_claimed="Anything when the identity is not an augmentation, or about an encoder that is learned.",
    ),
    Theorem(
        id="contrastive_augmentation.T4_sum",
        paper=PAPER,
        title="Identity dominance of the plain sum",
        statement="If the identity is an augmentation then max ||i - j|| <= D + d for images of one class.",
        assumptions=(IDENTITY,),
        claim=Claim("max ||i - j||", "<=", "D + d"),
        provenance="derived",
        expected="refuted",
        not_claimed="That D + d bounds a risk: see T1_sum.",
    ),
    Theorem(
        id="contrastive_augmentation.T5",
        paper=PAPER,
        title="Floor of centred encoders",
        statement=(
            "If E_w f = 0 then R_un,K >= E log(1 + K exp(-f(x).f(x+)/t)) >= log(1 + K exp(-B^2/t)) and "
            "R_mean,K >= E log(1 + K exp(-f(x).mu_y/t))."
        ),
        assumptions=(CENTRED, LABELLED),
        claim=Claim("R_un,K", ">=", bounds.CENTRED_FLOOR),
        provenance="derived",
        not_claimed="That this is the paper's theorem on centred representations, which could not be read.",
    ),
    Theorem(
        id="contrastive_augmentation.T6",
        paper=PAPER,
        title="Crops around a semantic block",
        statement=(
            "For windows of m of n pixels of two lines that show one block of length b: d(m) = 0 for m <= b, d(m) is "
            "nondecreasing in m, D(n) = 0 and d(n) = ||i - j||."
        ),
        assumptions=(BLOCK,),
        claim=Claim("d(m)", "<=", "d(m + 1)"),
        provenance="derived",
        expected="proved",
        not_claimed="That this is the paper's assumption on semantic labels; D(m) is not monotone.",
    ),
    Theorem(
        id="contrastive_augmentation.T7",
        paper=PAPER,
        title="Gains of two proportional images",
        statement=(
            "For i and lambda i with gains in [1-s, 1+s]: D(i) = 2 s ||i||, "
            "d = ||i|| max(0, |lambda-1| - s(1+lambda)), and for lambda > 1 "
            "the sum D + d grows with slope lambda - 1 until the pair meets: its least value is "
            "that without augmentation."
        ),
        claim=Claim("strength at which the pair meets", "=", bounds.MEETING_STRENGTH),
        provenance="derived",
        expected="proved",
    ),
)

ENCODERS = (
    Theorem(
        id="contrastive_augmentation.T8",
        paper=PAPER,
        title="Closed form of the linear contrastive encoder",
        statement=(
            "Among linear encoders of p dimensions the top p generalised eigenvectors of the second moment of the "
            "images' mean views against that of the views, scaled by the roots of their eigenvalues, minimise the "
            "spectral contrastive loss -2 E f(x).f(x+) + E (f(x).f(z))^2."
        ),
        claim=Claim("spectral loss of the closed form", "<=", "spectral loss of any linear encoder of p dimensions"),
        provenance="prior",
        not_claimed="Anything about InfoNCE, or about encoders that are not linear.",
    ),
    Theorem(
        id="contrastive_augmentation.T9",
        paper=PAPER,
        title="Floor of the batch loss",
        statement=(
            "For two views of each of M images, scores the cosines over t and negatives the 2 M - 2 views of other "
            "images, the mean loss is at least log(1 + (2 M - 2) exp(-M / ((M - 1) t))), attained when the views of "
            "each image coincide at a corner of a regular simplex around zero."
        ),
        claim=Claim("NT-Xent", ">=", bounds.BATCH_FLOOR),
        provenance="derived",
        not_claimed="Anything on the risk with independent negatives, which collide: that is T5's.",
    ),
)

THEOREMS = TRANSFER + SUPERVISED + DISTANCES + ENCODERS
