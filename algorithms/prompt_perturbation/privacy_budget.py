"""A privacy budget in exact decimal arithmetic: nothing legal refused, nothing too much allowed."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from numbers import Rational, Real
from typing import Any, TypeAlias

import numpy as np

__all__ = ["BudgetExceededError", "PrivacyBudget"]

Amount: TypeAlias = str | int | float | Decimal | Fraction | np.integer[Any] | np.floating[Any]


LARGEST_EXPONENT = 400  # beyond that of any float; "1e999999999" would be a number of a billion digits


class BudgetExceededError(ValueError):
    """A spend larger than what remains of the budget."""


@dataclass
class PrivacyBudget:
    """Total ``epsilon`` that may be spent by sequential composition.

    Amounts are the exact rationals of their decimal text: ``0.1`` and ``"0.1"`` both mean one tenth, so that three
    times 0.1 is 0.3 and ten times 0.1 is 1.

    Parameters
    ----------
    total : str, int, float, Decimal or Fraction
        Finite and non-negative.

    Examples
    --------
    >>> budget = PrivacyBudget("0.3")
    >>> budget.spend(0.1)
    Fraction(1, 5)
    >>> budget.spend(0.2)
    Fraction(0, 1)
    """

    total: Amount
    spent: Fraction = field(default=Fraction(0), init=False)

    def __post_init__(self) -> None:
        self.total = _exact_amount("total", self.total)

    @property
    def remaining(self) -> Fraction:
        """What is left, exactly."""
        return _exact_amount("total", self.total) - self.spent

    def can_spend(self, amount: Amount) -> bool:
        """Whether a spend would be accepted."""
        return _exact_amount("amount", amount) <= self.remaining

    def spend(self, amount: Amount) -> Fraction:
        """Spend and return what remains.

        Raises
        ------
        BudgetExceededError
            If the amount exceeds the remainder by however little; nothing is spent then.
        ValueError
            If the amount is negative or not finite.
        """
        exact = _exact_amount("amount", amount)
        if exact > self.remaining:
            raise BudgetExceededError(f"amount must be at most the remaining budget {self.remaining}, got {amount}")
        self.spent += exact
        return self.remaining


def _exact_amount(name: str, amount: Amount) -> Fraction:
    if isinstance(amount, bool) or not isinstance(amount, (str, Decimal, Real)):
        raise TypeError(f"{name} must be a number or its decimal text, got {amount!r}")
    if not isinstance(amount, Rational) and _exponent(str(amount)) > LARGEST_EXPONENT:
        raise ValueError(f"{name} must have an exponent of at most {LARGEST_EXPONENT} digits, got {amount}")
    try:
        exact = Fraction(amount) if isinstance(amount, (int, Fraction)) else Fraction(str(amount))
    except (ValueError, ZeroDivisionError):
        raise ValueError(f"{name} must be a finite number, got {amount!r}") from None
    if exact < 0:
        raise ValueError(f"{name} must be >= 0, got {amount}")
    return exact


def _exponent(text: str) -> int:
    digits = text.lower().partition("e")[2].lstrip("+-").replace("_", "")
    return int(digits) if digits.isdecimal() and len(digits) < 20 else LARGEST_EXPONENT + 1 if digits.isdecimal() else 0
