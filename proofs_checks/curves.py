"""A bound, or its inverse, over ranges of its symbols: numbers, a table's rows, a plot."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from whp.theory.core import Bound

_POINTS, _CURVES = 25, 5  # along the first range, and of the second
_FORMATS = (".svg", ".png", ".pdf")


@dataclass(frozen=True)
class Range:
    """Values of one symbol from one end to the other, spaced linearly or geometrically."""

    symbol: str
    values: tuple[Any, ...]
    logarithmic: bool


@dataclass(frozen=True)
class Curve:
    """Values of a bound, or of the symbol solved for, along the first range.

    ``at`` holds the symbols that stay the same; a value is None where nothing meets the target.
    """

    at: Mapping[str, Any]
    axis: Range
    values: tuple[float | int | None, ...]


def parse_range(bound: Bound, symbol: str, text: str, points: int) -> Range:
    """Read ``LOW:HIGH[:log|lin][:POINTS]``.

    Raises
    ------
    ValueError
        If it is not of this form, an end is not finite, or a logarithmic range does not start above zero.

    Examples
    --------
    >>> from whp.theory.core import Domain, Symbol
    >>> b = Bound("b", lambda m, n: 1 / n, (Symbol("n", Domain.integers(1), "size"),))
    >>> parse_range(b, "n", "1:1000:log:4", 25).values
    (1, 10, 100, 1000)
    """
    how, parts = "lin", text.split(":")
    for part in parts[2:]:
        if part in ("lin", "log"):
            how = part
        elif part.isdigit() and int(part) >= 2:
            points = int(part)
        else:
            raise ValueError(f"a range is written LOW:HIGH[:log|lin][:POINTS], got {symbol}={text!r}")
    try:
        low, high = float(parts[0]), float(parts[1])
    except (IndexError, ValueError):
        raise ValueError(f"a range is written LOW:HIGH[:log|lin][:POINTS], got {symbol}={text!r}") from None
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise ValueError(f"the ends of a range must be finite and in order, got {symbol}={text!r}")
    if how == "log" and low <= 0:
        raise ValueError(f"a logarithmic range must start above zero, got {symbol}={text!r}")
    grid = np.geomspace(low, high, points) if how == "log" else np.linspace(low, high, points)
    grid[0], grid[-1] = low, high
    values: Sequence[Any] = grid.tolist()
    if bound.symbol(symbol).domain.integer:
        values = sorted({round(v) for v in grid.tolist()})
    return Range(symbol, tuple(values), how == "log")


def curves(
    bound: Bound,
    fixed: Mapping[str, Any],
    ranges: Mapping[str, str],
    *,
    solve: str | None = None,
    at_most: float | None = None,
    at_least: float | None = None,
) -> list[Curve]:
    """Evaluate a bound, or solve it for a symbol, over one range, for a few values of a second one.

    Parameters
    ----------
    bound : Bound
        The bound.
    fixed : mapping
        Symbols that stay the same.
    ranges : mapping of str to str
        One or two ranges as text; the first is the axis.
    solve, at_most, at_least
        As in `Bound.solve`; without ``solve`` the bound itself is evaluated.

    Raises
    ------
    ValueError
        If a range is malformed, there are more than two, or a value lies outside its symbol's domain.
    """
    if not 1 <= len(ranges) <= 2:
        raise ValueError(f"one or two symbols can run over a range, got {', '.join(ranges) or 'none'}")
    (first, text), *others = ranges.items()
    axis = parse_range(bound, first, text, _POINTS)
    families = [parse_range(bound, name, text, _CURVES) for name, text in others]
    found = []
    for chosen in product(*(f.values for f in families)):
        at = {**fixed, **dict(zip((f.symbol for f in families), chosen, strict=True))}
        if solve is None:
            values = [bound(**at, **{first: x}) for x in axis.values]
        else:
            values = [_solved(bound, solve, at_most, at_least, {**at, first: x}) for x in axis.values]
        found.append(Curve(at, axis, tuple(values)))
    return found


def _solved(bound: Bound, unknown: str, at_most: float | None, at_least: float | None, at: Mapping[str, Any]) -> Any:
    try:
        return bound.solve(unknown, at_most=at_most, at_least=at_least, **at)
    except ValueError as error:
        if " is never " in str(error) or "whole domain" in str(error):
            return None
        raise


def plot(bound: Bound, found: Sequence[Curve], path: Path, solved: str | None = None, target: str = "") -> None:
    """Draw curves into an SVG, PNG or PDF file.

    Raises
    ------
    ValueError
        If the file's ending names another format, or no point has a value.
    """
    if path.suffix.lower() not in _FORMATS:
        raise ValueError(f"a plot is written to a file ending in {', '.join(_FORMATS)}, got {str(path)!r}")
    known = [v for c in found for v in c.values if v is not None and math.isfinite(v)]
    if not known:
        raise ValueError(f"nothing to draw: {solved or bound.name} has no finite value on the range")
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 4.0), layout="constrained")
    axes = figure.add_subplot()
    first = found[0]
    differing = [k for k in first.at if len({c.at[k] for c in found}) > 1]
    for curve, marker in zip(found, "osD^vP*X<>" * len(found), strict=False):
        values = [math.nan if v is None else v for v in curve.values]
        label = ", ".join(f"{k} = {curve.at[k]:.4g}" for k in differing)
        axes.plot(curve.axis.values, values, marker=marker, markersize=3.5, label=label)
    axis = bound.symbol(first.axis.symbol)
    axes.set_xlabel(f"{axis.name}: {axis.meaning}")
    unit = f" ({bound.unit})" if bound.unit else ""
    axes.set_ylabel(f"{solved}: {bound.symbol(solved).meaning}" if solved else f"{bound.name}{unit}")
    if first.axis.logarithmic:
        axes.set_xscale("log")
    if min(known) > 0 and max(known) > 30 * min(known):
        axes.set_yscale("log")
    same = ", ".join(f"{k} = {v}" for k, v in first.at.items() if k not in differing)
    axes.set_title(" ".join(filter(None, [f"{bound.name} {target}" if solved else "", f"({same})" if same else ""])))
    axes.grid(visible=True, alpha=0.3)
    if differing:
        axes.legend()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None} if path.suffix.lower() == ".svg" else None, dpi=160)
