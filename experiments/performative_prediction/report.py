"""Rows, tables and figures of the experiments."""

import csv
import textwrap
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

__all__ = ["Curve", "ExperimentResult", "Row", "draw_curves"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Row:
    """One method on one data set.

    Parameters
    ----------
    data, method : str
        Where and who.
    published, tuned : tuple of float
        Mean and standard deviation of the final objective at the published and at the tuned step.
    step : float
        The tuned first step.
    wins : str
        Instances on which the tuned method ends lower than tuned two-point descent, and the sign test's p-value.
    extra : dict
        Further figures, such as test accuracy.
    """

    data: str
    method: str
    published: tuple[float, float]
    tuned: tuple[float, float]
    step: float
    wins: str
    extra: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Curve:
    """Objective against samples of one method: mean and half-width of a 95% band over the runs.

    Parameters
    ----------
    data, method : str
        Where and who.
    samples, mean, band : numpy.ndarray, shape (K,)
        Points of the curve.
    """

    data: str
    method: str
    samples: Array
    mean: Array
    band: Array


@dataclass(frozen=True, eq=False)
class ExperimentResult:
    """Table, curves and notes of a run.

    Parameters
    ----------
    rows : list of Row
        The table.
    curves : list of Curve
        The figure.
    notes : list of str
        Sources, scale, and the paper's numbers.
    files : list of pathlib.Path
        What was written.
    """

    rows: list[Row]
    curves: list[Curve]
    notes: list[str]
    files: list[Path]

    def __str__(self) -> str:
        """The table as text, at most 80 columns wide."""
        lines = [f"{'data':<14}{'method':<25}{'published step':>15}{'tuned step':>14}  wins"]
        last = ""
        for row in self.rows:
            name = "" if row.data == last else row.data
            last = row.data
            published, tuned = (f"{m:.2f} ({s:.2f})" if np.isfinite(m) else "-" for m, s in (row.published, row.tuned))
            lines.append(f"{name:<14}{row.method:<25}{published:>15}{tuned:>14}  {row.wins}")
        extras = [row for row in self.rows if row.extra]
        for row in extras:
            lines.append(f"{row.data}, {row.method}: " + ", ".join(f"{k} {v:.3f}" for k, v in row.extra.items()))
        notes = [textwrap.fill(note, 80, subsequent_indent="  ") for note in self.notes]
        return "\n".join([*lines, "", *notes, *(f"wrote {path}" for path in self.files)])

    def write_table(self, path: Path) -> None:
        """Write the rows as comma-separated values."""
        with path.open("w", newline="") as stream:
            writer = csv.writer(stream)
            extras = sorted({key for row in self.rows for key in row.extra})
            writer.writerow(
                ["data", "method", "published_mean", "published_sd", "tuned_mean", "tuned_sd", "step", "wins", *extras]
            )
            for r in self.rows:
                writer.writerow(
                    [r.data, r.method, *r.published, *r.tuned, r.step, r.wins, *(r.extra.get(k, "") for k in extras)]
                )


def draw_curves(curves: list[Curve], path: Path) -> None:
    """Draw one panel a data set: objective against samples with 95% bands."""
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    names = list(dict.fromkeys(c.data for c in curves))
    columns = min(3, len(names))
    rows = -(-len(names) // columns)
    figure = Figure(figsize=(4.2 * columns, 3.2 * rows), layout="constrained")
    FigureCanvasSVG(figure)
    panels = figure.subplots(rows, columns, squeeze=False)
    methods = list(dict.fromkeys(c.method for c in curves))
    for panel, name in zip(panels.ravel(), names, strict=False):
        shown = [c for c in curves if c.data == name]
        for curve in shown:
            colour = f"C{methods.index(curve.method)}"
            panel.plot(curve.samples, curve.mean, label=curve.method, color=colour, linewidth=1.4)
            panel.fill_between(
                curve.samples, curve.mean - curve.band, curve.mean + curve.band, color=colour, alpha=0.18, linewidth=0
            )
        lowest = min(float((c.mean - c.band).min()) for c in shown)
        highest = max(float(c.mean[0]) for c in shown)
        margin = 0.15 * (highest - lowest)
        panel.set(title=name, xlabel="samples", ylabel="objective", ylim=(lowest - margin, highest + 2.0 * margin))
    for panel in panels.ravel()[len(names) :]:
        panel.set_visible(False)
    panels[0, 0].legend(fontsize=7)
    figure.savefig(path, metadata={"Date": None})
