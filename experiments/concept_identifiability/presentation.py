"""Tables and figures of the experiment."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from whp.experiments.concept_identifiability import Agreement

__all__ = ["agreement_table", "draw_agreements", "draw_traversals", "save_csv"]


def agreement_table(agreements: Sequence[Agreement]) -> str:
    """One line a setting and method: median, least and most over seeds of the correlation centred by class."""
    headings = ("setting", "method", "median", "least", "most", "pooled")
    rows = [
        (
            a.setting,
            a.method,
            *(f"{v:.3f}" for v in (a.median, min(a.values), max(a.values), float(np.median(a.pooled)))),
        )
        for a in agreements
    ]
    widths = [max(len(line[k]) for line in (headings, *rows)) for k in range(len(headings))]
    lines = [headings, tuple("-" * w for w in widths), *rows]
    return "\n".join(
        "  ".join(
            cell.ljust(w) if k < 2 else cell.rjust(w) for k, (cell, w) in enumerate(zip(line, widths, strict=True))
        )
        for line in lines
    )


def save_csv(path: Path, agreements: Sequence[Agreement]) -> None:
    """Write every seed of every setting."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(("setting", "method", "seed", "centred", "pooled"))
        for a in agreements:
            for seed, (value, pooled) in enumerate(zip(a.values, a.pooled, strict=True)):
                writer.writerow((a.setting, a.method, seed, f"{value:.6f}", f"{pooled:.6f}"))


def draw_agreements(agreements: Sequence[Agreement]) -> Figure:
    """Centred correlation of each setting and method: every seed a point, the range a line."""
    from matplotlib.figure import Figure

    settings = list(dict.fromkeys(a.setting for a in agreements))
    methods = list(dict.fromkeys(a.method for a in agreements))
    figure = Figure(figsize=(9, 4.5), layout="constrained")
    axes = figure.subplots()
    for offset, method in enumerate(methods):
        found = [(settings.index(a.setting), a) for a in agreements if a.method == method]
        places = [k + 0.12 * (offset - (len(methods) - 1) / 2) for k, _ in found]
        (line,) = axes.plot(places, [a.median for _, a in found], "_", markersize=9, label=method)
        for place, (_, a) in zip(places, found, strict=True):
            axes.vlines(place, min(a.values), max(a.values), color=line.get_color(), alpha=0.5)
            axes.plot([place] * len(a.values), a.values, ".", color=line.get_color(), markersize=3)
    axes.set_xticks(range(len(settings)), settings, fontsize=8)
    axes.set_ylabel("mean correlation, centred by class")
    axes.set_ylim(0, 1.02)
    axes.legend(fontsize=8, loc="lower left")
    return figure


def draw_traversals(pictures: NDArray[np.float64], names: Sequence[str]) -> Figure:
    """Pictures of shape (n_concepts, n_steps, height, width): one row a concept, moved from low to high."""
    from matplotlib.figure import Figure

    n_rows, n_steps = pictures.shape[:2]
    figure = Figure(figsize=(0.8 * n_steps + 1.2, 0.8 * n_rows), layout="constrained")
    grid = figure.subplots(n_rows, n_steps, squeeze=False)
    for row, name in enumerate(names):
        for column in range(n_steps):
            axes = grid[row][column]
            axes.imshow(pictures[row, column], cmap="gray", vmin=pictures.min(), vmax=pictures.max())
            axes.set_xticks([])
            axes.set_yticks([])
        grid[row][0].set_ylabel(name, rotation=0, ha="right", va="center", fontsize=8)
    return figure
