"""The bounds that can be evaluated, enclosed, inverted and typeset."""

from __future__ import annotations

from whp.theory.contrastive_augmentation import formulas
from whp.theory.core import Bound, Domain, Symbol

__all__ = [
    "BATCH_FLOOR",
    "CENTRED_FLOOR",
    "ERROR_BOUND",
    "MEETING_STRENGTH",
    "ORTHONORMAL_GAP_AT_LEAST",
    "ORTHONORMAL_GAP_AT_MOST",
    "PLAIN_BOUND",
    "REPRESENTATION_BOUND",
    "SAMPLING_RADIUS",
    "SUPERVISED_BOUND",
    "TRANSFER_BOUND",
]

_RISK = Symbol("R_un", Domain.reals(0), "unsupervised risk in nats", "increasing", r"R_{\mathrm{un}}")
_NORM = Symbol("B", Domain.reals(0), "largest norm of an embedding", "increasing")
_SPREAD = Symbol("D", Domain.reals(0), "largest distance of two views of one image", "increasing")
_GAP = Symbol("d", Domain.reals(0), "largest gap between the views of two images of one class", "increasing")
_TEMPERATURE = Symbol("t", Domain.reals(0, open="low"), "temperature", "decreasing")
_NEGATIVES = Symbol("K", Domain.integers(1), "number of negatives", "increasing")

TRANSFER_BOUND = Bound(
    "R_un + B sigma_1 / t",
    formulas.transfer_bound,
    (
        _RISK,
        _NORM,
        Symbol("sigma_1", Domain.reals(0), "first-moment spread within classes", "increasing", r"\sigma_1"),
        _TEMPERATURE,
    ),
    "nats",
)
REPRESENTATION_BOUND = Bound(
    "R_un + B (2 D + d) / (sqrt(2) t)",
    formulas.representation_bound,
    (_RISK, _NORM, _SPREAD, _GAP, _TEMPERATURE),
    "nats",
)
PLAIN_BOUND = Bound("R_un + B (2 D + d) / t", formulas.plain_bound, (_RISK, _NORM, _SPREAD, _GAP, _TEMPERATURE), "nats")
SUPERVISED_BOUND = Bound(
    "(R_mean - tau log(K + 1)) / (1 - tau)",
    formulas.supervised_bound,
    (
        Symbol("R_mean", Domain.reals(0), "risk of the mean classifier on tuples", "increasing", r"R_{\mathrm{mean}}"),
        Symbol("tau", Domain.reals(0, 1, open="high"), "probability that all negatives collide", None, r"\tau_K"),
        Symbol("K", Domain.integers(1), "number of negatives"),
    ),
    "nats",
)
ERROR_BOUND = Bound(
    "R_sup / log 2",
    formulas.error_bound,
    (Symbol("R_sup", Domain.reals(0), "cross-entropy of the mean classifier", "increasing", r"R_{\mathrm{sup}}"),),
    "probability",
)
BATCH_FLOOR = Bound(
    "log(1 + (2 M - 2) exp(-M / ((M - 1) t)))",
    formulas.batch_floor,
    (
        Symbol("M", Domain.integers(2), "images in the batch, two views of each", "increasing"),
        Symbol("t", Domain.reals(0, open="low"), "temperature", "increasing"),
    ),
    "nats",
)
CENTRED_FLOOR = Bound(
    "log(1 + K exp(-B^2 / t))",
    formulas.centred_floor,
    (
        Symbol("B", Domain.reals(0), "largest norm of an embedding", "decreasing"),
        Symbol("t", Domain.reals(0, open="low"), "temperature", "increasing"),
        _NEGATIVES,
    ),
    "nats",
)
SAMPLING_RADIUS = Bound(
    "sampling radius",
    formulas.sampling_radius,
    (
        _NORM,
        _TEMPERATURE,
        Symbol("n", Domain.integers(1), "number of independent tuples", "decreasing"),
        Symbol("delta", Domain.reals(0, 1, open="both"), "failure probability", "decreasing", r"\delta"),
    ),
    "nats",
)
ORTHONORMAL_GAP_AT_LEAST = Bound(
    "log((1 + K exp(-1/(n t))) / (1 + K (exp(-1/t) + 1/(n C))))",
    formulas.orthonormal_gap_at_least,
    (
        Symbol("n", Domain.integers(1), "images of each class"),
        Symbol("C", Domain.integers(1), "classes", "increasing"),
        _NEGATIVES,
        Symbol("t", Domain.reals(0, open="low"), "temperature"),
    ),
    "nats",
)
ORTHONORMAL_GAP_AT_MOST = Bound(
    "(1 - 1/n) / t",
    formulas.orthonormal_gap_at_most,
    (Symbol("n", Domain.integers(1), "images of each class", "increasing"), _TEMPERATURE),
    "nats",
)
MEETING_STRENGTH = Bound(
    "|lambda - 1| / (lambda + 1)",
    formulas.meeting_strength,
    (Symbol("ratio", Domain.reals(0, open="low"), "ratio of the two images", None, r"\lambda"),),
    "strength",
)
