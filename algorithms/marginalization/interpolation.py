"""Exact interpolation over the rationals: Newton differences and the transposed Vandermonde system."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from whp.theory.marginalization import Scalar, as_scalar

__all__ = ["interpolate", "interpolate_at_zero", "require_distinct_nodes", "solve_moments"]


def require_distinct_nodes(nodes: Sequence[Scalar], name: str = "nodes") -> None:
    """Refuse repeated interpolation nodes.

    Examples
    --------
    >>> require_distinct_nodes([1, 2, 1])
    Traceback (most recent call last):
    ...
    ValueError: nodes must be distinct, got 1 at positions 0 and 2
    """
    seen: dict[Scalar, int] = {}
    for position, node in enumerate(nodes):
        if node in seen:
            raise ValueError(f"{name} must be distinct, got {node} at positions {seen[node]} and {position}")
        seen[node] = position


def _exact(values: Sequence[Scalar], name: str) -> list[Fraction]:
    numbers = []
    for i, value in enumerate(values):
        number = value if isinstance(value, float) else as_scalar(value, f"{name}[{i}]")
        if isinstance(number, float):
            raise TypeError(
                f"{name} must be int or Fraction, got the float {value!r}:"
                " interpolation would amplify its rounding beyond use"
            )
        numbers.append(Fraction(number))
    return numbers


def interpolate(nodes: Sequence[Scalar], values: Sequence[Scalar]) -> tuple[Fraction, ...]:
    """Coefficients, lowest first, of the polynomial of degree below ``len(nodes)`` through the points.

    Newton's divided differences, then expansion; ``O(n^2)`` exact operations.

    Parameters
    ----------
    nodes, values : sequence of int or Fraction
        Equally many; nodes distinct.

    Raises
    ------
    ValueError
        If a node is repeated or the lengths differ.
    TypeError
        If a number is a float.

    Examples
    --------
    >>> [int(c) for c in interpolate([0, 1, 2], [1, 3, 9])]  # 1 + 2 t^2
    [1, 0, 2]
    """
    if len(nodes) != len(values):
        raise ValueError(f"nodes and values must be equally many, got {len(nodes)} and {len(values)}")
    points, differences = _exact(nodes, "nodes"), _exact(values, "values")
    require_distinct_nodes(points)
    size = len(points)
    for order in range(1, size):
        for k in range(size - 1, order - 1, -1):
            differences[k] = (differences[k] - differences[k - 1]) / (points[k] - points[k - order])
    coefficients = [Fraction(0)] * size
    for k in range(size - 1, -1, -1):  # coefficients <- coefficients * (t - points[k]) + differences[k]
        for power in range(size - 1, 0, -1):
            coefficients[power] = coefficients[power - 1] - points[k] * coefficients[power]
        if size:
            coefficients[0] = differences[k] - points[k] * coefficients[0]
    return tuple(coefficients)


def interpolate_at_zero(nodes: Sequence[Scalar], values: Sequence[Scalar]) -> Fraction:
    """Value at 0 of the polynomial through the points, by Lagrange's formula.

    Examples
    --------
    >>> interpolate_at_zero([1, 2], [3, 5])
    Fraction(1, 1)
    """
    points, heights = _exact(nodes, "nodes"), _exact(values, "values")
    require_distinct_nodes(points)
    result = Fraction(0)
    for k, (node, height) in enumerate(zip(points, heights, strict=True)):
        for other in points[:k] + points[k + 1 :]:
            height *= other / (other - node)
        result += height
    return result


def solve_moments(nodes: Sequence[Scalar], moments: Sequence[Scalar]) -> tuple[Fraction, ...]:
    """Weights ``a_c`` with ``Σ_c a_c nodes_c^d = moments_d`` for ``d = 0 .. len(nodes) - 1``.

    The transposed Vandermonde system, solved through the Lagrange basis polynomials of the nodes in ``O(n^2)``.

    Raises
    ------
    ValueError
        If a node is repeated (the system is singular) or the lengths differ.

    Examples
    --------
    >>> [int(a) for a in solve_moments([1, 3], [5, 11])]  # 2 * 1^d + 3 * 3^d
    [2, 3]
    """
    if len(nodes) != len(moments):
        raise ValueError(f"nodes and moments must be equally many, got {len(nodes)} and {len(moments)}")
    points, sums = _exact(nodes, "nodes"), _exact(moments, "moments")
    require_distinct_nodes(points)
    size = len(points)
    master = [Fraction(1)]  # Π_c (t - node_c), lowest power first
    for node in points:
        master = [low - node * high for low, high in zip([Fraction(0), *master], [*master, Fraction(0)], strict=True)]
    weights = []
    for node in points:
        quotient = [Fraction(0)] * size  # master / (t - node), by synthetic division
        carry = Fraction(0)
        for power in range(size, 0, -1):
            carry = master[power] + node * carry
            quotient[power - 1] = carry
        scale, power_of_node = Fraction(0), Fraction(1)
        for coefficient in quotient:
            scale += coefficient * power_of_node
            power_of_node *= node
        weights.append(sum((c * s for c, s in zip(quotient, sums, strict=True)), Fraction(0)) / scale)
    return tuple(weights)
