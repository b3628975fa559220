"""One row of a token channel: log probabilities and a sampler."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import overload

import numpy as np
from numpy.typing import NDArray

from whp.algorithms.prompt_perturbation.validation import checked_integer, checked_rng, real_array

__all__ = ["TokenDistribution", "log_normalised"]

NORMALISATION_TOLERANCE = 1e-9


@dataclass(frozen=True, eq=False)
class TokenDistribution:
    """Distribution over ``N`` output tokens, held as log probabilities.

    Sampling inverts a floating-point cumulative sum. It is fast and not hardened against attacks on floating-point
    arithmetic: for exact sampling of rational rows see `draw_exactly`.

    Parameters
    ----------
    log_probabilities : ndarray of shape (N,)
        Natural logarithms, ``-inf`` for impossible tokens; their exponentials sum to one within 1e-9.

    Raises
    ------
    ValueError
        If they do not.

    Examples
    --------
    >>> import numpy as np
    >>> fair = TokenDistribution(np.log([0.5, 0.5]))
    >>> fair.sample(np.random.default_rng(0), size=4)
    array([1, 0, 0, 0])
    """

    log_probabilities: NDArray[np.float64]

    def __post_init__(self) -> None:
        row = real_array("log_probabilities", self.log_probabilities)
        if row.ndim != 1 or row.size == 0:
            raise ValueError(f"log_probabilities must be a non-empty vector, got shape {row.shape}")
        object.__setattr__(self, "log_probabilities", row)
        with np.errstate(over="ignore"):
            total = float(self.probabilities.sum())
        if not abs(total - 1.0) <= NORMALISATION_TOLERANCE:
            raise ValueError(f"log_probabilities must have exponentials that sum to 1, got total {total}")

    @cached_property
    def probabilities(self) -> NDArray[np.float64]:
        """Probabilities; those below the smallest float are zero here but not in the logarithms."""
        return np.exp(self.log_probabilities)

    @cached_property
    def _cumulative(self) -> NDArray[np.float64]:
        return np.cumsum(self.probabilities)

    @cached_property
    def _last_possible(self) -> int:
        return int(np.flatnonzero(self.probabilities)[-1])

    @overload
    def sample(self, rng: np.random.Generator) -> int: ...
    @overload
    def sample(self, rng: np.random.Generator, size: int) -> NDArray[np.int64]: ...

    def sample(self, rng: np.random.Generator, size: int | None = None) -> int | NDArray[np.int64]:
        """Draw token indices.

        Parameters
        ----------
        rng : numpy.random.Generator
            Source of randomness.
        size : int, optional
            Number of independent draws; one index (a plain ``int``) when omitted.

        Returns
        -------
        int or ndarray of int64, shape (size,)
            Never a token of probability zero.
        """
        cumulative, rng = self._cumulative, checked_rng(rng)
        if size is None:
            position = int(cumulative.searchsorted(rng.random() * cumulative[-1], side="right"))
            return min(position, self._last_possible)
        positions = cumulative.searchsorted(rng.random(checked_integer("size", size, 0)) * cumulative[-1], side="right")
        return np.asarray(np.minimum(positions, self._last_possible), dtype=np.int64)


def log_normalised(log_weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Subtract the log of the total weight, shifting by the maximum first so that nothing overflows.

    Examples
    --------
    >>> log_normalised(np.array([-1000.0, -1000.0]))
    array([-0.69314718, -0.69314718])
    """
    shifted = log_weights - log_weights.max()
    return np.asarray(shifted - np.log(np.exp(shifted).sum()), dtype=np.float64)
