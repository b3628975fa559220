"""Tables, figures and files of the experiment."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING

from whp.algorithms.contrastive_augmentation import AugmentationSetting
from whp.experiments.contrastive_augmentation.sweeps import AUGMENTATIONS, Sweep

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["agreement_table", "draw_sweeps", "reference_table", "save_csv", "sweep_table"]

RANKED = (
    ("D + d, pixels", "D+d px"),
    ("2 D + d, pixels", "2D+d px"),
    ("D + d, embeddings", "D+d emb"),
    ("unsupervised", "R_un"),
    ("sharp_bound", "bound"),
)


def _table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    widths = [max(len(line[column]) for line in (headings, *rows)) for column in range(len(headings))]
    lines = [headings, ["-" * width for width in widths], *rows]
    return "\n".join(" ".join(cell.rjust(w) for cell, w in zip(line, widths, strict=True)) for line in lines)


def sweep_table(sweep: Sweep) -> str:
    """One line for each strength.

    ``D`` and ``d`` are means over images and pairs, of pixels and (with ``f``) of embeddings; ``bound`` is
    ``R_un + B sigma_1 / t``, ``worst`` the one with the largest distances; ``probe`` is on untouched test images.
    """
    headings = ("s", "D", "d", "D+d", "Df", "df", "R_un", "R_mean", "bound", "worst", "error", "probe", "+-")
    rows = [
        (
            f"{s.strength:g}",
            f"{s.pixel_spread:.2f}",
            f"{s.pixel_gap:.2f}",
            f"{s.pixel_spread + s.pixel_gap:.2f}",
            f"{s.spread:.3f}",
            f"{s.gap:.3f}",
            f"{s.unsupervised:.3f}",
            f"{s.mean_classifier:.3f}",
            f"{s.sharp_bound:.3f}",
            f"{s.distance_bound:.2f}",
            f"{s.error:.3f}",
            f"{s.accuracy:.3f}",
            f"{deviation:.3f}",
        )
        for s, deviation in zip(sweep.settings, sweep.deviations, strict=True)
    ]
    return _table(headings, rows)


def agreement_table(sweeps: Sequence[Sweep]) -> str:
    """Strength that each figure prefers, with Kendall's tau of its ranking with that by accuracy."""
    headings = ("sweep", "probe", *(short for _, short in RANKED))
    rows = []
    for sweep in sweeps:
        best, agreement = sweep.best, sweep.agreement
        cells = [f"{best[name]:g} {agreement[name]:+.1f}" for name, _ in RANKED]
        rows.append((f"{sweep.data[:6]} {sweep.augmentation[:5]} {sweep.encoder[:3]}", f"{best['accuracy']:g}", *cells))
    return _table(headings, rows)


def reference_table(sweep: Sweep, reference: Sequence[tuple[float, float, float, float]]) -> str:
    """Ours beside an independent measurement: spread, gap and accuracy."""
    ours = {s.strength: s for s in sweep.settings}
    rows = []
    for strength, spread, gap, accuracy in reference:
        if strength in ours:
            s = ours[strength]
            pairs = ((s.pixel_spread, spread), (s.pixel_gap, gap), (s.accuracy, accuracy))
            rows.append((f"{strength:g}", *(f"{value:.3f}" for pair in pairs for value in pair)))
    return _table(("s", "D", "theirs", "d", "theirs", "probe", "theirs"), rows)


def save_csv(path: Path, sweeps: Sequence[Sweep]) -> None:
    """Every figure of every sweep."""
    names = [f.name for f in fields(AugmentationSetting)]
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["data", "augmentation", "encoder", *names, "accuracy_deviation"])
        for sweep in sweeps:
            for setting, deviation in zip(sweep.settings, sweep.deviations, strict=True):
                values = [repr(float(getattr(setting, name))) for name in names]
                writer.writerow([sweep.data, sweep.augmentation, sweep.encoder, *values, repr(deviation)])


def draw_sweeps(sweeps: Sequence[Sweep]) -> Figure:
    """One column for each sweep: distances of pixels, of embeddings, the bound with the truth, and the probe."""
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "whp"
    from matplotlib.figure import Figure

    figure = Figure(figsize=(3.1 * len(sweeps), 9.5), layout="constrained")
    axes = figure.subplots(4, len(sweeps), squeeze=False, sharex="col")
    for column, sweep in zip(axes.T, sweeps, strict=True):
        x = [s.strength for s in sweep.settings]
        column[0].set_title(f"{sweep.data}, {sweep.augmentation}\n{sweep.encoder} encoder", fontsize=9)
        _lines(
            column[0],
            x,
            {
                "D": [s.pixel_spread for s in sweep.settings],
                "d": [s.pixel_gap for s in sweep.settings],
                "D + d": sweep.columns["D + d, pixels"],
            },
        )
        _lines(
            column[1],
            x,
            {
                "D": [s.spread for s in sweep.settings],
                "d": [s.gap for s in sweep.settings],
                "D + d": sweep.columns["D + d, embeddings"],
            },
        )
        _lines(
            column[2],
            x,
            {
                "bound": [s.sharp_bound for s in sweep.settings],
                "R_mean": [s.mean_classifier for s in sweep.settings],
                "R_un": [s.unsupervised for s in sweep.settings],
            },
        )
        column[3].errorbar(x, [s.accuracy for s in sweep.settings], yerr=sweep.deviations, marker="o", capsize=2)
        column[3].set_xlabel(AUGMENTATIONS[sweep.augmentation].unit, fontsize=8)
    labels = ("distance of pixels", "distance of embeddings", "risk in nats", "accuracy of the probe")
    for row, label in zip(axes, labels, strict=True):
        row[0].set_ylabel(label)
    for axis in axes[:3, 0]:
        axis.legend(fontsize=8, frameon=False)
    return figure


def _lines(axis: object, x: Sequence[float], curves: dict[str, list[float]]) -> None:
    for (name, values), style in zip(curves.items(), ("o-", "s--", "^:"), strict=True):
        axis.plot(x, values, style, label=name, markersize=4)  # type: ignore[attr-defined]
