"""Lipschitz and smoothness constants of the objective from those of the loss and the law."""

import numpy as np
from numpy.typing import ArrayLike

from .validation import finite_array, finite_number

__all__ = [
    "lipschitz_constant",
    "lipschitz_constant_as_printed",
    "smoothness_from_blocks",
    "smoothness_from_joint",
    "wasserstein_of_location_family",
]


def lipschitz_constant(decision_constant: float, sample_constant: float, wasserstein_constant: float) -> float:
    """Lipschitz constant ``L_x + alpha_W L_xi`` of ``F`` (Kantorovich-Rubinstein).

    Parameters
    ----------
    decision_constant, sample_constant : float
        ``L_x`` and ``L_xi``, Lipschitz constants of ``f`` in the decision and in the sample (A3).
    wasserstein_constant : float
        ``alpha_W`` of A2.

    Returns
    -------
    float

    Examples
    --------
    >>> lipschitz_constant(10.0, 0.0, 0.0)
    10.0
    """
    lx, lxi, a = _constants(decision_constant, sample_constant, wasserstein_constant)
    return lx + a * lxi


def lipschitz_constant_as_printed(
    decision_constant: float, sample_constant: float, wasserstein_constant: float
) -> float:
    """The constant ``L_xi + alpha_W L_x`` printed in the predecessor's full version, with the roles swapped.

    Kept so that its refutation can be run; use `lipschitz_constant`.

    Parameters
    ----------
    decision_constant, sample_constant, wasserstein_constant : float
        As in `lipschitz_constant`.

    Returns
    -------
    float

    Examples
    --------
    >>> lipschitz_constant_as_printed(10.0, 0.0, 0.0)
    0.0
    """
    lx, lxi, a = _constants(decision_constant, sample_constant, wasserstein_constant)
    return lxi + a * lx


def smoothness_from_joint(joint_smoothness: float, wasserstein_constant: float) -> float:
    """Smoothness ``rho (1 + |A|^2)`` of ``F`` when ``f`` is ``rho``-smooth in ``(x, xi)`` together, ``xi = nu + A x``.

    Parameters
    ----------
    joint_smoothness : float
        ``rho``.
    wasserstein_constant : float
        ``|A|_op``.

    Returns
    -------
    float

    Examples
    --------
    >>> smoothness_from_joint(1.0, 1.0)
    2.0
    """
    return finite_number("joint_smoothness", joint_smoothness, at_least=0.0) * (
        1.0 + finite_number("wasserstein_constant", wasserstein_constant, at_least=0.0) ** 2
    )


def smoothness_from_blocks(block_smoothness: float, wasserstein_constant: float) -> float:
    """Smoothness ``rho (1 + |A|)^2`` of ``F`` for convex ``f`` with both diagonal Hessian blocks bounded by ``rho``.

    Parameters
    ----------
    block_smoothness : float
        ``rho``.
    wasserstein_constant : float
        ``|A|_op``.

    Returns
    -------
    float

    Examples
    --------
    >>> smoothness_from_blocks(1.0, 1.0)
    4.0
    """
    return (
        finite_number("block_smoothness", block_smoothness, at_least=0.0)
        * (1.0 + finite_number("wasserstein_constant", wasserstein_constant, at_least=0.0)) ** 2
    )


def wasserstein_of_location_family(sensitivity: ArrayLike) -> float:
    """Wasserstein-1 Lipschitz constant ``|A|_op`` of the location family ``xi = nu + A x``, computed, not assumed.

    Parameters
    ----------
    sensitivity : array_like, shape (k, d)
        ``A``.

    Returns
    -------
    float

    Examples
    --------
    >>> wasserstein_of_location_family([[3.0, 0.0], [0.0, 4.0]])
    4.0
    """
    return float(np.linalg.norm(finite_array("sensitivity", sensitivity, 2), 2))


def _constants(*values: float) -> tuple[float, ...]:
    names = ("decision_constant", "sample_constant", "wasserstein_constant")
    return tuple(finite_number(name, value, at_least=0.0) for name, value in zip(names, values, strict=True))
