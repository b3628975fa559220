"""Instances on which the privacy theorem, as reported, fails."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from whp.theory.prompt_perturbation.instances import TokenEmbedding, UtilityGridPair

__all__ = ["minimal_counterexample", "sphere_counterexample", "worst_pattern_of_five"]


def minimal_counterexample(base: Fraction) -> UtilityGridPair:
    """Five tokens, three buckets, ``epsilon = 4 ln base``: two non-empty buckets for one input, three for the other.

    The ratio ``3 g^2 (1 + g + g^2) / (1 + g^2)`` exceeds the claimed ``4 g^4`` for all ``epsilon < 0.2344``.

    Examples
    --------
    >>> from fractions import Fraction
    >>> minimal_counterexample(Fraction(1)).n_tokens
    5
    """
    return UtilityGridPair((2, 0, 0, 0, 0), (0, 0, 0, 1, 2), 3, base)


def worst_pattern_of_five(base: Fraction) -> UtilityGridPair:
    """Five tokens, four buckets, ``epsilon = 6 ln base``: the largest excess that five tokens allow at ``epsilon = 0``.

    Examples
    --------
    >>> from fractions import Fraction
    >>> worst_pattern_of_five(Fraction(1)).levels
    4
    """
    return UtilityGridPair((3, 0, 0, 1, 1), (0, 0, 1, 2, 3), 4, base)


def sphere_counterexample(n_ring: int = 1000, n_cap: int = 150) -> TokenEmbedding:
    """Return an embedding in R^3 that realises the failure with 50 buckets and distance-only utility.

    Token ``origin`` sits at the centre of the unit sphere, so that all other tokens share one bucket; token ``pole`` at
    ``(1, 0, 0)`` sees ``n_ring`` tokens at the same distance as ``origin`` and ``n_cap`` tokens whose closeness
    ``exp(-distance)`` is equally spaced.

    Parameters
    ----------
    n_ring : int, default 1000
        Tokens at 60 degrees from the pole, at distance one from both.
    n_cap : int, default 150
        Tokens nearer to the pole.

    Examples
    --------
    >>> sphere_counterexample().n_tokens
    1152
    """
    turn = 2.0 * np.pi * np.arange(n_ring) / n_ring
    ring = np.stack([np.full(n_ring, 0.5), np.sqrt(0.75) * np.cos(turn), np.sqrt(0.75) * np.sin(turn)], axis=1)
    lowest = np.exp(-1.0)
    distances = -np.log(lowest + (1.0 - lowest) * np.arange(1, n_cap + 1) / (n_cap + 1))
    angles = 2.0 * np.arcsin(distances / 2.0)
    cap = np.stack([np.cos(angles), np.sin(angles), np.zeros(n_cap)], axis=1)
    vectors = np.concatenate([np.zeros((1, 3)), [[1.0, 0.0, 0.0]], ring, cap])
    tokens = ("origin", "pole", *(f"ring{i}" for i in range(n_ring)), *(f"cap{i}" for i in range(n_cap)))
    return TokenEmbedding(tokens, vectors)
