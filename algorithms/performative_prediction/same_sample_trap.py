"""Detecting a sampler that hands out the same samples whatever the decision.

Same-sample ("common random numbers") two-point estimators are the default of ordinary zeroth-order libraries. With a
law that depends on the decision they estimate only the known part of the gradient and lead to a performatively stable
point.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .estimators import two_point_estimate
from .oracle import DecisionOracle

__all__ = ["SamplerReport", "inspect_sampler", "same_sample_estimate"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class SamplerReport:
    """What a few draws say about a sampler.

    Attributes
    ----------
    repeats : bool
        Two draws at one decision were identical although samples within a draw differ: the sampler ignores its
        generator.
    shared : bool
        Draws at two decisions from equally seeded generators were identical: the law does not respond to this change of
        decision.
    """

    repeats: bool
    shared: bool

    @property
    def independent(self) -> bool:
        """Whether nothing speaks against independent draws."""
        return not self.repeats


def inspect_sampler(
    oracle: DecisionOracle, x: ArrayLike, radius: float, seed: int = 0, count: int = 8
) -> SamplerReport:
    """Draw at two decisions and compare.

    Parameters
    ----------
    oracle : DecisionOracle
        Problem with a sampler, without replicates.
    x : array_like, shape (d,)
        Decision.
    radius : float
        Distance to the second decision, positive.
    seed : int, optional
        Seed of the probes.
    count : int, optional
        Samples a draw, at least two.

    Returns
    -------
    SamplerReport

    Raises
    ------
    ValueError
        If an argument is out of range.

    Examples
    --------
    >>> frozen = np.array([[0.1], [0.7], [0.4]])
    >>> oracle = DecisionOracle(1, lambda x, xi: xi[:, 0], lambda x, n, rng: frozen[:n])
    >>> inspect_sampler(oracle, [0.0], 1.0, count=3)
    SamplerReport(repeats=True, shared=True)
    """
    if oracle.replicates is not None:
        raise ValueError(f"oracle must have no replicates, got {oracle.replicates}")
    if not radius > 0.0 or count < 2:
        raise ValueError(f"radius must be positive and count at least 2, got {radius} and {count}")
    here = np.asarray(x, dtype=np.float64)
    rng = np.random.default_rng(seed)
    direction = rng.standard_normal(here.shape)
    there = here + radius * direction / np.linalg.norm(direction)
    one, two = (oracle.draw(here, count, rng) for _ in range(2))
    varied = bool((one != one[:1]).any())
    left, right = (oracle.draw(point, count, np.random.default_rng(seed + 1)) for point in (here, there))
    return SamplerReport(varied and np.array_equal(one, two), np.array_equal(left, right))


def same_sample_estimate(oracle: DecisionOracle, x: Array, radius: float, direction: Array, samples: Array) -> Array:
    """Two-point estimate on one set of samples drawn at ``x``: the biased estimator of the trap.

    Its mean is ``Sigma E grad_x f`` (plus smoothing), not ``Sigma grad F``. Shipped to show the drift, never used by
    the methods.

    Parameters
    ----------
    oracle : DecisionOracle
        Problem.
    x : numpy.ndarray, shape (d,) or (R, d)
        Decision at which the samples were drawn.
    radius : float
        ``mu``.
    direction : numpy.ndarray, shape (d,)
        ``u``.
    samples : numpy.ndarray, shape (n, ...)
        Samples from ``D(x)``.

    Returns
    -------
    numpy.ndarray, shape (d,)

    Examples
    --------
    >>> oracle = DecisionOracle(1, lambda x, xi: 0.5 * (x - xi[:, 0]) ** 2)
    >>> same_sample_estimate(oracle, np.array([3.0]), 0.5, np.array([1.0]), np.array([[1.0]]))
    array([2.])
    """
    n = samples.shape[len(oracle.batch)]
    shift = radius * direction
    above, below = oracle.mean_loss(x + shift, samples, n), oracle.mean_loss(x - shift, samples, n)
    return two_point_estimate(above, below, radius, direction)
