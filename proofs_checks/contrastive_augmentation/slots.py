"""The places that an implementation can take in the checks."""

from __future__ import annotations

import math
import numbers
from typing import Any

import numpy as np

from whp.theory.core import Slot

__all__ = ["BATCH_LOSS", "CERTIFIER", "DISTANCES", "GAIN_GAP", "LINEAR_ENCODER", "RISK_ENGINE", "TUPLE_SAMPLER"]

_PROBLEM = "problem: ContrastiveProblem of whp.theory, embeddings (N, p), images, classes, weights, temperature, K"


def _has_numbers(output: object, *names: str) -> None:
    for name in names:
        value = getattr(output, name, None)
        if not isinstance(value, numbers.Real) or math.isnan(value):
            raise TypeError(f"expected a number in the attribute {name!r}, got {value!r}")


def _is_risks(output: object, *_: object) -> None:
    _has_numbers(output, "unsupervised", "mean_classifier", "cross_entropy", "error", "collision_probability")


def _is_certificate(output: object, *_: object) -> None:
    _has_numbers(output, "unsupervised", "mean_classifier", "first_moment_spread", "spread", "gap", "norm", "bound")


def _is_distances(output: object, *_: object) -> None:
    _has_numbers(output, "spread", "gap")


def _is_number(output: object, *_: object) -> None:
    if not isinstance(output, numbers.Real) or math.isnan(output):
        raise TypeError(f"expected a number, got {output!r}")


def _is_matrix(output: object, views: Any, images: object, dimension: int, *_: object) -> None:
    if not isinstance(output, np.ndarray) or output.shape != (views.shape[1], dimension):
        raise TypeError(f"expected an array of shape ({views.shape[1]}, {dimension}), got {type(output).__name__}")


RISK_ENGINE = Slot(
    "risk_engine",
    "(problem)",
    _PROBLEM,
    "object with the numbers unsupervised, mean_classifier, supervised (None with one class), cross_entropy, error, "
    "collision_probability, risks in nats",
    ("problem",),
    validate=_is_risks,
)
CERTIFIER = Slot(
    "certifier",
    "(problem)",
    _PROBLEM,
    "object with the numbers unsupervised, mean_classifier, first_moment_spread, spread, gap, norm and bound",
    ("problem",),
    validate=_is_certificate,
)
DISTANCES = Slot(
    "distances",
    "(views, images, classes)",
    "views: array (N, q); images, classes: integer arrays (N,)",
    "object with the numbers spread (D) and gap (d)",
    ("views", "images", "classes"),
    validate=_is_distances,
)
GAIN_GAP = Slot(
    "gain_gap",
    "(first, second, strength)",
    "first, second: arrays of one shape; strength: s in [0, 1)",
    "least distance of g first and h second over gains g, h in [1 - s, 1 + s]",
    ("first", "second", "strength"),
    validate=_is_number,
)
TUPLE_SAMPLER = Slot(
    "tuple_sampler",
    "(problem, samples, rng)",
    f"{_PROBLEM}; samples: number of independent tuples; rng: numpy Generator",
    "mean loss of the tuples in nats",
    ("problem", "samples", "rng"),
    validate=_is_number,
)
BATCH_LOSS = Slot(
    "batch_loss",
    "(embeddings, images, temperature)",
    "embeddings: array (2 M, p), two rows for each image; images: integers (2 M,); temperature: t",
    "mean loss over the 2 M anchors in nats",
    ("embeddings", "images", "temperature"),
    validate=_is_number,
)
LINEAR_ENCODER = Slot(
    "linear_encoder",
    "(views, images, dimension, weights)",
    "views: array (N, q); images: integers (N,); dimension: p; weights: array (N,), positive, summing to one",
    "array (q, p): the encoder maps a view x to x @ matrix",
    ("views", "images", "dimension", "weights"),
    validate=_is_matrix,
)
