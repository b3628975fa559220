"""Concepts of a linear mixture from the covariances of its classes, and the class-concept structure they show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whp.algorithms.concept_identifiability.joint_diagonalisation import joint_diagonalisation
from whp.algorithms.concept_identifiability.validation import checked_labels, checked_sample
from whp.algorithms.concept_identifiability.whitening import whiten

__all__ = ["CovarianceUnmixing", "class_covariances", "covariance_unmixing", "discriminant_components"]


@dataclass(frozen=True)
class CovarianceUnmixing:
    """Sources found from class covariances.

    Attributes
    ----------
    sources : array (n, rank)
        Centred over the whole sample; mean variance within classes one.
    unmixing : array (rank, m)
        ``sources = (x - mean) @ unmixing.T``.
    mixing : array (m, rank)
        ``x = mean + sources @ mixing.T`` up to directions without variation.
    mean : array (m,)
        Sample mean.
    labels : tuple
        The classes, in the order of `variances`.
    variances : array (n_classes, rank)
        Variance of each source within each class.
    counts : array (n_classes,)
        Observations a class.
    rank : int
        Directions in which classes vary.
    closest_pair : float
        Distance of the two sources most nearly proportional; compare with ``noise``.
    noise : float
        What `closest_pair` would be about for truly proportional sources, from sampling alone.
    converged : bool
        Whether the diagonalisation settled.
    """

    sources: NDArray[np.float64]
    unmixing: NDArray[np.float64]
    mixing: NDArray[np.float64]
    mean: NDArray[np.float64]
    labels: tuple[Any, ...]
    variances: NDArray[np.float64]
    counts: NDArray[np.int64]
    rank: int
    closest_pair: float
    noise: float
    converged: bool

    def structure(self, contexts: Any, level: float = 1e-3) -> NDArray[np.int64]:
        """Which source changes its variance with which class variable alone.

        Parameters
        ----------
        contexts : array_like of int, shape (n_classes, n_class_variables)
            Values of the class variables for each label, in the order of ``labels``.
        level : float
            Chance of a false one anywhere, by F tests of Gaussian variances with Bonferroni's correction.

        Returns
        -------
        array (rank, n_class_variables)
            Estimated structure, row i that of source i; a class variable no two contexts differ in alone gives zeros.
        """
        from scipy.special import fdtr, fdtrc

        values = np.asarray(contexts)
        if values.ndim != 2 or values.shape[0] != len(self.labels):
            raise ValueError(f"contexts must give one row for each of {len(self.labels)} labels, got {values.shape}")
        if not 0 < level < 1:
            raise ValueError(f"level must lie in (0, 1), got {level}")
        pairs = [(a, b) for a in range(len(values)) for b in range(a) if (values[a] != values[b]).sum() == 1]
        found = np.zeros((self.rank, values.shape[1]), dtype=np.int64)
        share = level / max(1, len(pairs) * self.rank)
        for a, b in pairs:
            ratio = self.variances[a] / self.variances[b]
            freedom = self.counts[a] - 1, self.counts[b] - 1
            changed = (fdtrc(*freedom, ratio) < share / 2) | (fdtr(*freedom, ratio) < share / 2)
            found[changed, int(np.flatnonzero(values[a] != values[b])[0])] = 1
        return found


def class_covariances(x: Any, labels: Any) -> tuple[NDArray[np.float64], NDArray[np.int64], tuple[Any, ...]]:
    """Covariance within each class, its number of observations, and the labels in sorted order.

    Raises
    ------
    ValueError
        If there is a class of fewer than two observations.
    """
    sample = checked_sample("x", x)
    numbers, names = checked_labels(labels, len(sample))
    counts = np.bincount(numbers)
    if counts.min() < 2:
        raise ValueError(f"every class must have two observations or more, got one of {names[int(counts.argmin())]!r}")
    found = np.stack(
        [np.cov(sample[numbers == k], rowvar=False, ddof=1).reshape(sample.shape[1], -1) for k in range(len(names))]
    )
    return found, counts, names


def covariance_unmixing(x: Any, labels: Any) -> CovarianceUnmixing:
    """Find the sources that are uncorrelated within every class, by joint diagonalisation.

    Identified up to sign, scale and order iff no two sources have proportional variances over the classes (D6).
    Class means are not used and may be anything.

    Parameters
    ----------
    x : array_like, shape (n, m)
        Observations in rows; rank-deficient samples are reduced to their rank.
    labels : array_like, shape (n,)
        Class of each observation; two classes or more, each with more observations than the rank.

    Raises
    ------
    ValueError
        If there is one class only, a class is too small or does not vary in some direction, or x is constant.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> labels = np.repeat([0, 1], 500)
    >>> z = rng.normal(size=(1000, 2)) * np.where(labels[:, None] == 1, [2.0, 3.0], 1.0)
    >>> covariance_unmixing(z @ np.array([[2.0, 1.0], [1.0, 1.0]]).T, labels).rank
    2
    """
    sample = checked_sample("x", x)
    numbers, names = checked_labels(labels, len(sample))
    if len(names) < 2:
        raise ValueError(f"labels must name two classes or more, got only {names[0]!r}: one class identifies nothing")
    within = sample - np.stack([sample[numbers == k].mean(axis=0) for k in range(len(names))])[numbers]
    white = whiten(within)
    covariances, counts, _ = class_covariances(white.white, numbers)
    if counts.min() <= white.rank:
        raise ValueError(
            f"every class must have more observations than the rank {white.rank}, got {counts.min()} of "
            f"{names[int(counts.argmin())]!r}"
        )
    solved = joint_diagonalisation(covariances)
    unmixing = solved.unmixing @ white.whitener
    mixing = white.dewhitener @ np.linalg.inv(solved.unmixing)
    mean = sample.mean(axis=0)
    noise = float(np.sqrt(4.0 * (1.0 / counts).mean()))  # difference of two log variances, each of variance 2/n
    return CovarianceUnmixing(
        (sample - mean) @ unmixing.T,
        unmixing,
        mixing,
        mean,
        names,
        solved.variances,
        counts,
        white.rank,
        solved.closest_pair,
        noise,
        solved.converged,
    )


def discriminant_components(x: Any, labels: Any) -> NDArray[np.float64]:
    """Class-conditional baseline: directions that separate class means most, then within-class principal directions.

    Returns
    -------
    array (n, rank)
        Coordinates with unit variance within classes, the most separated first; the rest of them, where the means do
        not vary, are arbitrary rotations, which is what this baseline cannot resolve.
    """
    sample = checked_sample("x", x)
    numbers, names = checked_labels(labels, len(sample))
    means = np.stack([sample[numbers == k].mean(axis=0) for k in range(len(names))])
    white = whiten(sample - means[numbers])
    between = (means[numbers] - sample.mean(axis=0)) @ white.whitener.T
    _, _, directions = np.linalg.svd(between, full_matrices=True) if len(between) < white.rank else _gram(between)
    return np.asarray((sample - sample.mean(axis=0)) @ white.whitener.T @ directions.T)


def _gram(rows: NDArray[np.float64]) -> tuple[None, NDArray[np.float64], NDArray[np.float64]]:
    values, vectors = np.linalg.eigh(rows.T @ rows)
    return None, values[::-1], vectors[:, ::-1].T
