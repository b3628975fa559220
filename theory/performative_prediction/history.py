"""The history-weighted control variate: the error it is claimed to have, and the error it has.

The control of the one-point method is ``c = sum_i a_i mean_j f(x, xi_ij)`` with samples ``xi_ij`` drawn at earlier
decisions at distance ``r_i``. Write ``b_i = L_xi alpha_W r_i`` for bounds on the biases and ``V_i = sigma^2 / m_i`` for
variances. Everything here is rational arithmetic: fractions in, fractions out.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from .validation import finite_number

__all__ = ["ControlHistory", "history_error_as_printed", "history_error_repaired", "worst_case_history_error"]

Number = Fraction | float


@dataclass(frozen=True)
class ControlHistory:
    """Weights and error sources of a control built from earlier samples.

    Parameters
    ----------
    weights : sequence of numbers
        ``a``, not negative, summing to one.
    biases : sequence of numbers
        ``b_i = L_xi alpha_W r_i >= 0``.
    variances : sequence of numbers
        ``V_i = sigma^2 / m_i >= 0``.

    Raises
    ------
    TypeError, ValueError
        If a field is malformed.

    Examples
    --------
    >>> ControlHistory((0.5, 0.5), (1.0, 1.0), (0.0, 0.0)).size
    2
    """

    weights: tuple[Number, ...]
    biases: tuple[Number, ...]
    variances: tuple[Number, ...]

    def __post_init__(self) -> None:
        """Check ranges and turn sequences into tuples."""
        for name in ("weights", "biases", "variances"):
            values = _numbers(name, getattr(self, name))
            if len(values) != len(self.weights):
                raise ValueError(f"{name} must hold {len(self.weights)} numbers as weights does, got {len(values)}")
            object.__setattr__(self, name, values)
        if abs(float(sum(self.weights)) - 1.0) > 1e-12 * self.size:
            raise ValueError(f"weights must sum to one, got sum {float(sum(self.weights)):g}")

    @property
    def size(self) -> int:
        """Number ``s`` of stored iterations."""
        return len(self.weights)


def worst_case_history_error(history: ControlHistory) -> Number:
    """Largest ``E (F - c)^2`` that the biases allow: ``(sum a_i b_i)^2 + sum a_i^2 V_i``.

    Biases of one sign attain it, for samples independent of the decision.

    Parameters
    ----------
    history : ControlHistory
        Weights, biases and variances.

    Returns
    -------
    Fraction or float

    Examples
    --------
    >>> worst_case_history_error(ControlHistory((0.5, 0.5), (1.0, 1.0), (0.0, 0.0)))
    1.0
    """
    bias = sum(a * b for a, b in zip(history.weights, history.biases, strict=True))
    return bias * bias + sum(a * a * v for a, v in zip(history.weights, history.variances, strict=True))


def history_error_as_printed(history: ControlHistory) -> Number:
    """Right side ``2 sum a_i^2 (b_i^2 + V_i)`` of the predecessor's Lemma 4; false for three or more equal weights.

    Kept so that its refutation can be run; use `history_error_repaired`.

    Parameters
    ----------
    history : ControlHistory
        Weights, biases and variances.

    Returns
    -------
    Fraction or float

    Examples
    --------
    >>> history_error_as_printed(ControlHistory((0.25,) * 4, (1.0,) * 4, (0.0,) * 4))
    0.5
    """
    rows = zip(history.weights, history.biases, history.variances, strict=True)
    return sum((2 * a * a * (b * b + v) for a, b, v in rows), start=Fraction(0))


def history_error_repaired(history: ControlHistory) -> Number:
    """Right side ``2 sum a_i b_i^2 + 2 sum a_i^2 V_i``, by Jensen's inequality.

    Parameters
    ----------
    history : ControlHistory
        Weights, biases and variances.

    Returns
    -------
    Fraction or float

    Examples
    --------
    >>> history_error_repaired(ControlHistory((0.25,) * 4, (1.0,) * 4, (0.0,) * 4))
    2.0
    """
    rows = zip(history.weights, history.biases, history.variances, strict=True)
    return sum((2 * a * b * b + 2 * a * a * v for a, b, v in rows), start=Fraction(0))


def _numbers(name: str, values: Sequence[Number]) -> tuple[Number, ...]:
    """Tuple of numbers that are finite and not negative; at least one."""
    numbers = tuple(values)
    if not numbers:
        raise ValueError(f"{name} must hold at least one number, got none")
    for value in numbers:
        finite_number(name, float(value), at_least=0.0)
    return numbers
