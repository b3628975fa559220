"""What slots of this paper declare of outputs: exact numbers, so that a float that happens to fit is no pass."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from whp.theory.marginalization import as_scalar

__all__ = ["exact_number", "exact_numbers"]


def exact_number(output: Any, *arguments: Any) -> None:
    """Refuse anything but an int or Fraction.

    Examples
    --------
    >>> exact_number(0.5)
    Traceback (most recent call last):
    ...
    TypeError: an int or Fraction is declared, got the float 0.5
    """
    if isinstance(as_scalar(output, "the answer"), float):
        raise TypeError(f"an int or Fraction is declared, got the float {output!r}")


def exact_numbers(output: Any, *arguments: Any) -> None:
    """Refuse anything but a sequence of exact numbers, or a mapping to them."""
    if not isinstance(output, Iterable) or isinstance(output, str):
        raise TypeError(f"a sequence of exact numbers is declared, got {type(output).__name__}")
    for number in output.values() if isinstance(output, Mapping) else output:
        exact_number(number)
