"""Numbers as people read them."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_LONGEST_FRACTION = 24


def number(value: Any, digits: int = 4) -> str:
    """Write a real number with few significant digits and a printed power of ten.

    Examples
    --------
    >>> number(3.2e-10), number(0.125), number(12345), number(float("inf")), number(Fraction(1, 3))
    ('3.2 × 10⁻¹⁰', '0.125', '12345', '∞', '1/3')
    """
    if value is None:
        return "–"
    if isinstance(value, Fraction) and len(str(value)) <= _LONGEST_FRACTION:
        return str(value).replace("-", "−")
    if isinstance(value, int) and abs(value) < 10**12:
        return str(value).replace("-", "−")
    try:
        real = float(value)
    except OverflowError:
        return "beyond 10³⁰⁸" if value > 0 else "below −10³⁰⁸"
    if math.isinf(real):
        return "∞" if real > 0 else "−∞"
    mantissa, _, exponent = f"{real:.{digits}g}".partition("e")
    mantissa = mantissa.replace("-", "−")
    if not exponent:
        return mantissa
    power = power_of_ten(int(exponent))
    return power if mantissa == "1" else f"{mantissa} × {power}"


def power_of_ten(exponent: int) -> str:
    """Write a power of ten.

    Examples
    --------
    >>> power_of_ten(-3)
    '10⁻³'
    """
    return "10" + str(exponent).translate(_SUPERSCRIPTS)


def plural(count: int, noun: str) -> str:
    """Count a noun.

    Examples
    --------
    >>> plural(1, "theorem"), plural(2, "theorem")
    ('1 theorem', '2 theorems')
    """
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def share(value: float) -> str:
    """Write a share of a bound so that nothing else is rounded to exactly 1.

    Examples
    --------
    >>> share(0.99999), share(1.0), share(0.0123), share(1 + 1e-9), share(3.0)
    ('> 0.999', '1', '0.0123', 'just over the bound', '3 × the bound')
    """
    if value <= 1:
        return "> 0.999" if 0.999 < value < 1 else number(value, 3)
    return "just over the bound" if value < 1.001 else f"{number(value, 3)} × the bound"


def side(value: Any) -> str:
    """Write one side of a clause: exactly where that is short, else with twelve digits.

    Examples
    --------
    >>> side(Fraction(7, 3)), side(0.1), side(2.0)
    ('7/3', '0.1', '2')
    """
    if type(value).__name__ == "arb":  # a ball: its middle, the radius is far below what is printed
        return number(float(value.mid()), 12)
    return number(value, 12)
