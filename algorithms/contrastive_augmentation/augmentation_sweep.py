"""Ranking augmentation strengths before training: distances, risks, bound and probe for each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from whp.algorithms.contrastive_augmentation.augmentation_distances import augmentation_distances
from whp.algorithms.contrastive_augmentation.exact_risks import exact_risks
from whp.theory.contrastive_augmentation import ContrastiveProblem, bounds, first_moment_spread, norm_bound

__all__ = ["AugmentationSetting", "kendall_tau", "measure_setting", "probe_accuracy"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class AugmentationSetting:
    """What one strength of an augmentation gives.

    Attributes
    ----------
    strength : float
        The parameter of the sweep.
    pixel_spread, pixel_gap, spread, gap : float
        Means over images and over pairs of the two distances, of pixels and of embeddings.
    largest_spread, largest_gap : float
        Maxima of those of embeddings, which the bound takes.
    first_moment_spread, unsupervised, mean_classifier, error : float
        ``sigma_1``, ``R_un``, ``R_mean`` and the mean classifier's 0-1 error on the measured views.
    sharp_bound, distance_bound : float
        ``R_un + B sigma_1 / t`` and ``R_un + B (2 D + d) / (sqrt(2) t)``.
    accuracy : float
        Of the probe on untouched test images.
    """

    strength: float
    pixel_spread: float
    pixel_gap: float
    spread: float
    gap: float
    largest_spread: float
    largest_gap: float
    first_moment_spread: float
    unsupervised: float
    mean_classifier: float
    error: float
    sharp_bound: float
    distance_bound: float
    accuracy: float


def measure_setting(
    strength: float,
    views: ArrayLike,
    images: ArrayLike,
    classes: ArrayLike,
    encode: Callable[[Floats], Floats],
    accuracy: float,
    *,
    temperature: float = 0.5,
    pairs: int | None = None,
) -> AugmentationSetting:
    """Measure one augmentation under one encoder.

    Parameters
    ----------
    strength : float
        The parameter, for the table.
    views : array_like of shape (N, q)
        Pixels of all views of the measured images, each image's views equally likely.
    images, classes : array_like of int, shape (N,)
        Image and class of each view.
    encode : callable
        ``views -> embeddings``, measured as they are: scale them to norm one first where ``B = 1`` is meant.
    accuracy : float
        Of the probe, measured by the caller.
    temperature : float
        ``t``.
    pairs : int, optional
        At most so many pairs of images for the gap.

    Returns
    -------
    AugmentationSetting
        With one negative, exactly.
    """
    table, image_of = np.asarray(views, dtype=np.float64), np.asarray(images)
    embedded = encode(table)
    _, inverse, counts = np.unique(image_of, return_inverse=True, return_counts=True)
    weights = 1.0 / (len(counts) * counts[inverse])
    problem = ContrastiveProblem(
        embedded, image_of.tolist(), np.asarray(classes).tolist(), weights / weights.sum(), temperature
    )
    risks = exact_risks(problem)
    pixels = augmentation_distances(table, images, classes, pairs=pairs)
    found = augmentation_distances(embedded, images, classes, pairs=pairs)
    given = {"R_un": risks.unsupervised, "B": norm_bound(problem), "t": temperature}
    sigma = first_moment_spread(problem)
    return AugmentationSetting(
        strength,
        float(pixels.spreads.mean()),
        float(pixels.gaps.mean()) if pixels.gaps.size else 0.0,
        float(found.spreads.mean()),
        float(found.gaps.mean()) if found.gaps.size else 0.0,
        found.spread,
        found.gap,
        sigma,
        risks.unsupervised,
        risks.mean_classifier,
        risks.error,
        bounds.TRANSFER_BOUND(sigma_1=sigma, **given),
        bounds.REPRESENTATION_BOUND(D=found.spread, d=found.gap, **given),
        accuracy,
    )


def probe_accuracy(
    train: ArrayLike, labels: ArrayLike, test: ArrayLike, truth: ArrayLike, *, ridge: float = 1e-2
) -> float:
    """Accuracy of a linear probe: ridge regression on one-hot labels, features standardised on the training set.

    Parameters
    ----------
    train, test : array_like of shape (n, p)
        Embeddings.
    labels, truth : array_like of int, shape (n,)
        Classes.
    ridge : float
        Penalty on standardised features, per example.

    Returns
    -------
    float
        Share of the test examples whose highest output is their class.

    Raises
    ------
    ValueError
        If there are no examples or only one class.

    Examples
    --------
    >>> probe_accuracy([[0.0], [1.0]], [3, 5], [[0.1], [0.8]], [3, 5])
    1.0
    """
    features, others = np.asarray(train, dtype=np.float64), np.asarray(test, dtype=np.float64)
    names, target = np.unique(np.asarray(labels), return_inverse=True)
    if len(names) < 2 or len(others) == 0:
        raise ValueError(f"a probe needs two classes and a test example, got {len(names)} and {len(others)}")
    mean, scale = features.mean(axis=0), features.std(axis=0)
    scale = np.where(scale > 0, scale, 1.0)
    x, z = (features - mean) / scale, (others - mean) / scale
    outputs = np.eye(len(names))[target]
    centre = outputs.mean(axis=0)
    penalty = ridge * len(x) * np.eye(x.shape[1])
    coefficients = np.linalg.solve(x.T @ x + penalty, x.T @ (outputs - centre))
    return float((names[np.argmax(z @ coefficients + centre, axis=1)] == np.asarray(truth)).mean())


def kendall_tau(columns: Mapping[str, Sequence[float]], reference: Sequence[float]) -> dict[str, float]:
    """Kendall's tau-b of each column with a reference, zero where one of them is constant.

    Examples
    --------
    >>> kendall_tau({"same": [1, 2, 3], "reversed": [3, 2, 1], "constant": [1, 1, 1]}, [4, 5, 6])
    {'same': 1.0, 'reversed': -1.0, 'constant': 0.0}
    """
    return {name: _tau_b(values, reference) for name, values in columns.items()}


def _tau_b(first: Sequence[float], second: Sequence[float]) -> float:
    if len(first) != len(second):
        raise ValueError(f"columns must have one length, got {len(first)} and {len(second)}")
    rows, columns = np.triu_indices(len(first), 1)
    a = np.sign(np.asarray(first, dtype=np.float64)[rows] - np.asarray(first, dtype=np.float64)[columns])
    b = np.sign(np.asarray(second, dtype=np.float64)[rows] - np.asarray(second, dtype=np.float64)[columns])
    size = float(np.sqrt((a**2).sum() * (b**2).sum()))
    return float((a * b).sum() / size) if size > 0 else 0.0
