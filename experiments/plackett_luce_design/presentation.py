"""Table and figures of the experiment."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from whp.algorithms.plackett_luce_design import DesignResult
from whp.experiments.plackett_luce_design.budgets import LossCurve

__all__ = ["ItemSetResult", "TimedDesign", "draw_losses", "draw_objectives", "loss_table", "save_csv", "solver_table"]


@dataclass(frozen=True, eq=False)
class TimedDesign:
    """A design with the time it took."""

    method: str
    result: DesignResult
    seconds: float


@dataclass(frozen=True, eq=False)
class ItemSetResult:
    """Everything measured on one item set.

    Parameters
    ----------
    name, source : str
        What the items are and which package or file they come from.
    designs : tuple of TimedDesign
        Solvers compared; empty where only real answers are used.
    curves : tuple of LossCurve
        Loss against budget.
    loss : str
        What the loss is.
    """

    name: str
    source: str
    designs: tuple[TimedDesign, ...]
    curves: tuple[LossCurve, ...]
    loss: str


def _table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    widths = [max(len(line[c]) for line in (headings, *rows)) for c in range(len(headings))]
    lines = [headings, ["-" * width for width in widths], *rows]
    return "\n".join(
        "  ".join([line[0].ljust(widths[0]), *(cell.rjust(w) for cell, w in zip(line[1:], widths[1:], strict=True))])
        for line in lines
    )


def solver_table(item_sets: Sequence[ItemSetResult]) -> str:
    """Objective, certified gap, questions and seconds of every solver."""
    rows = []
    for item_set in item_sets:
        for i, timed in enumerate(item_set.designs):
            gap = timed.result.certified_gap
            rows.append(
                [
                    item_set.name if i == 0 else "",
                    timed.method,
                    f"{timed.result.objective:.4f}",
                    "-" if gap is None else f"{gap:.1e}",
                    str(len(timed.result.design.weights)),
                    f"{timed.seconds:.3f}",
                ]
            )
    return _table(("items", "solver", "-log det V", "gap <=", "questions", "seconds"), rows)


def loss_table(item_sets: Sequence[ItemSetResult]) -> str:
    """Mean loss and standard error at the first, a middle and the last budget."""
    rows = []
    for item_set in item_sets:
        for i, curve in enumerate(item_set.curves):
            places = sorted({0, len(curve.budgets) // 2, len(curve.budgets) - 1})
            cells = [f"{curve.budgets[p]}: {curve.mean[p]:.3f}±{curve.standard_error[p]:.3f}" for p in places]
            cells += [""] * (3 - len(cells))
            rows.append([item_set.name if i == 0 else "", curve.method, *cells])
    return _table(("items", "design", "T: loss", "T: loss", "T: loss"), rows)


def save_csv(path: Path, item_sets: Sequence[ItemSetResult]) -> Path:
    """Write every mean and standard error, one line a point."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["items", "loss", "design", "budget", "mean", "standard_error", "repeats"])
        for item_set in item_sets:
            for curve in item_set.curves:
                for i, budget in enumerate(curve.budgets):
                    writer.writerow(
                        [
                            item_set.name,
                            item_set.loss,
                            curve.method,
                            budget,
                            repr(float(curve.mean[i])),
                            repr(float(curve.standard_error[i])),
                            len(curve.losses),
                        ]
                    )
    return path


def draw_losses(path: Path, item_sets: Sequence[ItemSetResult]) -> Path:
    """Loss against budget, with bands of 1.96 standard errors, one panel an item set."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4.2 * len(item_sets), 3.4), layout="constrained")
    panels = figure.subplots(1, len(item_sets), squeeze=False)[0]
    for panel, item_set in zip(panels, item_sets, strict=True):
        for curve in item_set.curves:
            band = 1.96 * curve.standard_error
            (line,) = panel.plot(curve.budgets, curve.mean, marker="o", markersize=3, label=curve.method)
            panel.fill_between(curve.budgets, curve.mean - band, curve.mean + band, alpha=0.2, color=line.get_color())
        panel.set(title=item_set.name, xlabel="questions asked", ylabel=item_set.loss)
        panel.legend(fontsize=8)
    figure.savefig(path, metadata={"Date": None})
    return path


def draw_objectives(path: Path, item_sets: Sequence[ItemSetResult]) -> Path:
    """Distance from the best objective found against time, for solvers that keep their history."""
    from matplotlib.figure import Figure

    shown = [s for s in item_sets if any(t.result.history.seconds for t in s.designs)]
    figure = Figure(figsize=(4.2 * max(len(shown), 1), 3.4), layout="constrained")
    panels = figure.subplots(1, max(len(shown), 1), squeeze=False)[0]
    for panel, item_set in zip(panels, shown, strict=False):
        best = min(t.result.objective for t in item_set.designs)
        for timed in item_set.designs:
            history = timed.result.history
            if history.seconds:
                distance = [max(value - best, 1e-12) for value in history.objective]
                panel.plot(history.seconds, distance, label=timed.method)
        panel.set(title=item_set.name, xlabel="seconds", ylabel="nats above the best", xscale="log", yscale="log")
        panel.legend(fontsize=8)
    figure.savefig(path, metadata={"Date": None})
    return path
