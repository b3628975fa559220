"""Arithmetic on circuit nodes and known rationals, which adds a gate only when it must."""

from __future__ import annotations

from fractions import Fraction

from whp.algorithms.marginalization.circuits import CircuitBuilder

__all__ = ["Entry", "FoldingArithmetic"]

#: A known rational, or the number of a circuit node.
Entry = Fraction | int


class FoldingArithmetic:
    """Add, subtract and multiply entries; results of constants are constants, and ``0`` and ``1`` cost nothing.

    Parameters
    ----------
    builder : CircuitBuilder
        Receives the gates.
    """

    def __init__(self, builder: CircuitBuilder) -> None:
        self.builder = builder

    def node(self, entry: Entry) -> int:
        """Node of an entry; a constant gets one."""
        return self.builder.constant(entry) if isinstance(entry, Fraction) else entry

    def add(self, a: Entry, b: Entry) -> Entry:
        """Entry of ``a + b``."""
        if isinstance(a, Fraction) and isinstance(b, Fraction):
            return a + b
        if isinstance(a, Fraction) and a == 0:
            return b
        if isinstance(b, Fraction) and b == 0:
            return a
        return self.builder.add(self.node(a), self.node(b))

    def subtract(self, a: Entry, b: Entry) -> Entry:
        """Entry of ``a - b``."""
        if isinstance(a, Fraction) and isinstance(b, Fraction):
            return a - b
        if isinstance(b, Fraction) and b == 0:
            return a
        return self.builder.subtract(self.node(a), self.node(b))

    def multiply(self, a: Entry, b: Entry) -> Entry:
        """Entry of ``a * b``."""
        for x, y in ((a, b), (b, a)):
            if isinstance(x, Fraction):
                if isinstance(y, Fraction):
                    return x * y
                if x == 0:
                    return Fraction(0)
                if x == 1:
                    return y
        return self.builder.multiply(self.node(a), self.node(b))

    def total(self, entries: list[Entry]) -> Entry:
        """Entry of the sum, from left to right."""
        result: Entry = Fraction(0)
        for entry in entries:
            result = self.add(result, entry)
        return result
