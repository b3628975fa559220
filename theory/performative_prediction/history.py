"""The history-weighted control variate: the error it is claimed to have, and the error it has.

The control of the one-point method is ``c = sum_i a_i mean_j f(x, xi_ij)`` with samples ``xi_ij`` drawn at earlier
decisions at distance ``r_i``. Write ``B_i = (L_xi alpha_W r_i)^2`` for squared biases and ``V_i = sigma^2 / m_i`` for
variances.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .validation import finite_array

__all__ = ["ControlHistory", "history_error_as_printed", "history_error_repaired", "worst_case_history_error"]

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ControlHistory:
    """Weights and error sources of a control built from earlier samples.

    Parameters
    ----------
    weights : array_like, shape (s,)
        ``a``, not negative, summing to one.
    square_biases : array_like, shape (s,)
        ``B_i = (L_xi alpha_W r_i)^2 >= 0``.
    variances : array_like, shape (s,)
        ``V_i = sigma^2 / m_i >= 0``.

    Raises
    ------
    TypeError, ValueError
        If a field is malformed.

    Examples
    --------
    >>> ControlHistory([0.5, 0.5], [1.0, 1.0], [0.0, 0.0]).size
    2
    """

    weights: Array
    square_biases: Array
    variances: Array

    def __post_init__(self) -> None:
        """Check ranges and freeze the arrays."""
        weights = finite_array("weights", self.weights, 1)
        if weights.min() < 0.0 or abs(float(weights.sum()) - 1.0) > 1e-12 * weights.size:
            raise ValueError(f"weights must be probabilities summing to one, got sum {weights.sum():g}")
        object.__setattr__(self, "weights", weights)
        for name in ("square_biases", "variances"):
            values = finite_array(name, getattr(self, name), 1, weights.shape)
            if values.min() < 0.0:
                raise ValueError(f"{name} must not be negative, got {values.min():g}")
            object.__setattr__(self, name, values)

    @property
    def size(self) -> int:
        """Number ``s`` of stored iterations."""
        return int(self.weights.size)


def worst_case_history_error(history: ControlHistory) -> float:
    """Largest ``E (F - c)^2`` that biases of size ``sqrt(B_i)`` allow: ``(sum a_i sqrt(B_i))^2 + sum a_i^2 V_i``.

    All biases of one sign attain it, for samples independent of the decision.

    Parameters
    ----------
    history : ControlHistory
        Weights, squared biases and variances.

    Returns
    -------
    float

    Examples
    --------
    >>> worst_case_history_error(ControlHistory([0.5, 0.5], [1.0, 1.0], [0.0, 0.0]))
    1.0
    """
    bias = float(history.weights @ np.sqrt(history.square_biases))
    return bias**2 + float(history.weights**2 @ history.variances)


def history_error_as_printed(history: ControlHistory) -> float:
    """Right side ``2 sum a_i^2 (B_i + V_i)`` of the predecessor's Lemma 4; false for three or more equal weights.

    Kept so that its refutation can be run; use `history_error_repaired`.

    Parameters
    ----------
    history : ControlHistory
        Weights, squared biases and variances.

    Returns
    -------
    float

    Examples
    --------
    >>> history_error_as_printed(ControlHistory([0.25] * 4, [1.0] * 4, [0.0] * 4))
    0.5
    """
    return 2.0 * float(history.weights**2 @ (history.square_biases + history.variances))


def history_error_repaired(history: ControlHistory) -> float:
    """Right side ``2 sum a_i B_i + 2 sum a_i^2 V_i``, by Jensen's inequality.

    Parameters
    ----------
    history : ControlHistory
        Weights, squared biases and variances.

    Returns
    -------
    float

    Examples
    --------
    >>> history_error_repaired(ControlHistory([0.25] * 4, [1.0] * 4, [0.0] * 4))
    2.0
    """
    return 2.0 * float(history.weights @ history.square_biases + history.weights**2 @ history.variances)
