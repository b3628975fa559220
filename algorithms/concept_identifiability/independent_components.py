"""Linear independent component analysis: a single-domain baseline that sees no classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whp.algorithms.concept_identifiability.whitening import Whitening, whiten

__all__ = ["LinearUnmixing", "fast_ica", "sklearn_fast_ica"]


@dataclass(frozen=True)
class LinearUnmixing:
    """Sources of a linear mixture.

    Attributes
    ----------
    sources : array (n, rank)
        Mean zero and variance exactly one over the sample.
    mixing : array (m, rank)
        ``x = mean + sources @ mixing.T`` up to directions in which x does not vary.
    unmixing : array (rank, m)
        ``sources = (x - mean) @ unmixing.T``.
    mean : array (m,)
        Sample mean.
    rank : int
        Number of sources: the rank of the sample unless fewer were asked for.
    converged : bool
        Whether the iteration settled; it need not when sources are Gaussian.
    iterations : int
        Steps taken.
    """

    sources: NDArray[np.float64]
    mixing: NDArray[np.float64]
    unmixing: NDArray[np.float64]
    mean: NDArray[np.float64]
    rank: int
    converged: bool
    iterations: int


def fast_ica(
    x: Any, rng: np.random.Generator, n_components: int | None = None, *, tolerance: float = 1e-8, max_steps: int = 400
) -> LinearUnmixing:
    """Fixed-point ICA with symmetric orthogonalisation and the ``log cosh`` contrast.

    Parameters
    ----------
    x : array_like, shape (n, m)
        Observations in rows.
    rng : numpy.random.Generator
        Draws the starting rotation.
    n_components : int, optional
        Number of sources; the rank by default.
    tolerance : float
        Largest change of a direction's cosine at which the iteration stops.
    max_steps : int
        Give up after so many steps; ``converged`` tells.

    References
    ----------
    .. [1] A. Hyvarinen, Fast and robust fixed-point algorithms for independent component analysis, IEEE TNN 10, 1999.

    Examples
    --------
    >>> s = np.array([[1, -1, 1, -1], [1, 1, -1, -1]]).T
    >>> found = fast_ica(s @ np.array([[2, 1], [1, 1]]).T, np.random.default_rng(0))
    >>> found.rank, bool(np.allclose(found.sources.var(axis=0), 1))
    (2, True)
    """
    white = whiten(x, n_components)
    rotation = np.linalg.qr(rng.normal(size=(white.rank, white.rank)))[0]
    converged, step = False, 0
    while not converged and step < max_steps:
        step += 1
        projected = np.tanh(white.white @ rotation.T)
        new = projected.T @ white.white / len(white.white) - (1 - projected**2).mean(axis=0)[:, None] * rotation
        new = _orthogonalised(new)
        change = float(np.abs(np.abs(np.einsum("ij,ij->i", new, rotation)) - 1).max())
        rotation = new
        converged = change < tolerance
    return _unmixed(white, rotation, converged, step)


def _orthogonalised(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """Nearest orthogonal matrix."""
    left, _, right = np.linalg.svd(matrix)
    return np.asarray(left @ right)


def _unmixed(white: Whitening, rotation: NDArray[np.float64], converged: bool, steps: int) -> LinearUnmixing:
    return LinearUnmixing(
        white.white @ rotation.T,
        white.dewhitener @ rotation.T,
        rotation @ white.whitener,
        white.mean,
        white.rank,
        converged,
        steps,
    )


def sklearn_fast_ica(x: Any, seed: int, n_components: int | None = None) -> LinearUnmixing:
    """The same by scikit-learn (extra ``data``) on our white coordinates, as a peer.

    Raises
    ------
    ImportError
        If scikit-learn is not installed.
    """
    import warnings

    from sklearn.decomposition import FastICA

    white = whiten(x, n_components)
    model = FastICA(whiten=False, random_state=seed, max_iter=1000, tol=1e-6)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # told by `converged`
        model.fit(white.white)
    rotation = _orthogonalised(np.asarray(model.components_, dtype=np.float64))
    return _unmixed(white, rotation, bool(model.n_iter_ < 1000), int(model.n_iter_))
