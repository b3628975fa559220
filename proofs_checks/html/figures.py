"""Figures of the report: slack histograms, intervals against the claim, fitted rates."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from markupsafe import Markup

from whp.proofs_checks.engine.check import ClaimedRate
from whp.proofs_checks.engine.evidence import RateRow, SlackHistogram
from whp.proofs_checks.engine.evidence.slack_histogram import EDGES
from whp.proofs_checks.engine.statistics.rate import fit_rate
from whp.proofs_checks.html.inline_svg import ALARM, CLAIM, DATA, INK, LINE, MUTED, inline_svg
from whp.proofs_checks.html.numbers import number, plural, power_of_ten
from whp.proofs_checks.html.printable import printable, shortened

_PIXEL = 1 / 72  # inches
_WIDTH = 360
_FONT = 11.0
_PER_DECADE = 3
_LONGEST_NAME = 50


@dataclass(frozen=True)
class IntervalRow:
    """One fixed instance of a random claim, as printed and as drawn.

    Attributes
    ----------
    name : str
        Of the instance.
    measured : str
        What was counted, in words.
    replicates : int
        Runs.
    relation : str
        ``"<="``, ``">="`` or ``"=="``.
    claimed, low, high, refutes : float
        Claimed value, ends of the confidence interval, and the nearest claim that these data would refute.
    origin : float
        Low (for ``>=`` high) end of the declared range, from which shares of the claim are measured.
    bound : float, optional
        Value of the theorem's bound at this instance.
    """

    name: str
    measured: str
    replicates: int
    relation: str
    claimed: float
    low: float
    high: float
    refutes: float
    origin: float
    bound: float | None = None

    def share(self, value: float) -> float:
        """Where a value lies between the end of the range (0) and the claim (1)."""
        room, distance = self.claimed - self.origin, value - self.origin
        if room == 0:
            return 1.0 if distance == 0 else math.copysign(math.inf, distance)
        return distance / room


def _canvas(height: float, left: float = 8, bottom: float = 34, top: float = 6) -> tuple[Any, Any]:
    """Figure and axes of fixed margins, in pixels."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(_WIDTH * _PIXEL, height * _PIXEL), dpi=72)
    box = (left / _WIDTH, bottom / height, (_WIDTH - left - 10) / _WIDTH, (height - bottom - top) / height)
    axes = figure.add_axes(box)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.spines["bottom"].set_color(MUTED)
    axes.tick_params(colors=MUTED, labelcolor=MUTED, labelsize=_FONT - 1, length=3, width=0.8)
    axes.minorticks_off()
    axes.set_axisbelow(True)
    return figure, axes


def slack_histogram(histogram: SlackHistogram, clause: str, violated: bool) -> Markup:
    """Draw how far below its bound a claim stayed, in bins of relative slack.

    What lies below zero is hatched where the check found violations; else it is within the rounding model, and grey.
    """
    bins = dict(histogram.counts)
    low, high = min(bins), max(bins)
    low, high = min(low, 0) if low <= 0 else low - 1, max(high, 0) if high >= 0 else high + 1
    low, high = low - 1, max(high, low + 8) + 1
    positions = np.arange(low, high + 1)
    counts = np.array([bins.get(int(i), 0) for i in positions], float)
    figure, axes = _canvas(132, left=40, top=14)
    edges = np.append(positions, high + 1) - 0.5
    axes.stairs(np.where(positions >= 0, counts, 0), edges, fill=True, color=DATA, linewidth=0)
    if low < 0:
        style = {"facecolor": "none", "edgecolor": ALARM, "hatch": "////"} if violated else {"color": MUTED, "lw": 0}
        axes.stairs(np.where(positions < 0, counts, 0), edges, fill=True, **style)
    if low <= 0 <= high:
        axes.axvline(-0.5, color=CLAIM, linewidth=1.2, linestyle=(0, (4, 3)))
    ticks, labels = _bin_ticks(low, high)
    axes.set_xticks(ticks, labels)
    axes.set_xlim(edges[0], edges[-1])
    top = counts.max()
    axes.set_ylim(0, top * 1.12)
    axes.set_yticks([0, top], ["0", number(int(top))])
    axes.set_xlabel("relative slack", color=MUTED, fontsize=_FONT - 1, labelpad=2)
    label = f"Histogram of the relative slack of {clause} over {plural(histogram.total, 'instance')}"
    broken = sum(c for i, c in histogram.counts if i < 0)
    return inline_svg(figure, f"{label}; {broken} below zero")


def _bin_ticks(low: int, high: int) -> tuple[list[float], list[str]]:
    """Ticks at powers of ten, at their negatives and at zero; powers are thinned until the labels have room."""
    room = (high - low) / 9
    ticks: dict[float, str] = {}
    for step in range(1, len(EDGES)):
        ticks = {0.0: "0"} if low <= 0 <= high else {}
        for i in range(2, len(EDGES) + 2, _PER_DECADE * step):
            label = power_of_ten(round(math.log10(EDGES[i - 2])))
            edges = {i - 0.5: label, 0.5 - i: f"−{label}"}
            ticks |= {at: text for at, text in edges.items() if low <= at <= high and (i > room or 0.0 not in ticks)}
        if all(after - before >= room for before, after in pairwise(sorted(ticks))):
            break
    return sorted(ticks), [ticks[at] for at in sorted(ticks)]


def intervals(rows: Sequence[IntervalRow]) -> Markup:
    """Draw the confidence interval of each fixed instance beside the claimed value."""
    step, pad = 36, 12
    height = step * len(rows) + pad + 40
    figure, axes = _canvas(height, left=10)
    ends = [row.share(v) for row in rows for v in (row.low, row.high)]
    finite = [e for e in ends if math.isfinite(e)]
    right = max(1.12, max(finite, default=1.0) * 1.06)
    left = min(0.0, min(finite, default=0.0))
    for i, row in enumerate(rows):
        y = -float(i)
        low, high = (float(np.clip(e, left, right)) for e in sorted((row.share(row.low), row.share(row.high))))
        broken = low > 1 if row.relation != "==" else not low <= 1 <= high
        colour = ALARM if broken else DATA
        axes.plot([low, high], [y, y], color=colour, linewidth=3, solid_capstyle="butt")
        axes.plot([low, high], [y, y], color=colour, linewidth=0, marker="|", markersize=9, markeredgewidth=1.6)
        axes.plot([1, 1], [y - 0.34, y + 0.24], color=CLAIM, linewidth=1.8, linestyle=(0, (2.4, 1.6)))
        refutes = row.share(row.refutes)
        if math.isfinite(refutes) and left < refutes <= right and row.relation != "==":
            axes.plot([refutes], [y - 0.2], color=INK, linewidth=0, marker="^", markersize=4.5, clip_on=False)
        name = shortened(printable(" ".join(row.name.split())), _LONGEST_NAME)
        axes.text(left, y + 0.26, name, color=INK, fontsize=_FONT, ha="left", va="bottom", parse_math=False)
    axes.set_xlim(left, right)
    axes.set_ylim(-len(rows) + 0.45, 0.85)
    axes.set_yticks([])
    ticks = [t for t in axes.get_xticks() if left <= t <= right and abs(t - 1) > 0.08 * (right - left)] + [1.0]
    axes.set_xticks(sorted(ticks), [f"{t:g}" if t != 1 else "1 = claim" for t in sorted(ticks)])
    axes.set_xlabel("measured, as a share of what is claimed", color=MUTED, fontsize=_FONT - 1, labelpad=2)
    words = "; ".join(
        f"{r.name}: between {number(r.low)} and {number(r.high)}, claimed {number(r.claimed)}" for r in rows
    )
    return inline_svg(figure, f"Confidence intervals against the claim. {words}")


def rate_fit(name: str, rows: Sequence[RateRow], claimed: ClaimedRate, fit: Mapping[str, Any]) -> Markup:
    """Draw a measured cost over its sizes in logarithmic axes, with the fitted and the claimed order."""
    sizes, values = np.array([r.size for r in rows], float), np.array([float(r.value) for r in rows])
    result = fit_rate(sizes, values, claimed.log_power)
    line = np.geomspace(sizes.min(), sizes.max(), 40)
    logs = np.log(line) ** claimed.log_power if claimed.log_power else np.ones_like(line)
    centre = np.exp(np.mean([np.log(values[sizes == s].mean()) - result.exponent * np.log(s) for s in result.sizes]))
    if claimed.log_power:
        centre /= np.exp(np.mean(claimed.log_power * np.log(np.log(result.sizes))))
    fitted = centre * line**result.exponent * logs
    order = fitted[0] * (line / line[0]) ** claimed.exponent * logs / logs[0]
    figure, axes = _canvas(210, left=52, top=10)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.grid(True, color=LINE, linewidth=0.7)
    axes.plot(line, fitted, color=DATA, linewidth=1.8)
    axes.plot(line, order, color=CLAIM, linewidth=1.6, linestyle=(0, (4, 3)))
    axes.plot(sizes, values, color=INK, linewidth=0, marker="o", markersize=4.5, fillstyle="none", markeredgewidth=1.2)
    everything = np.concatenate([values, fitted, order])
    _log_ticks(axes, "x", sizes)
    _log_ticks(axes, "y", everything)
    axes.tick_params(which="minor", length=0)
    axes.set_xlabel("size", color=MUTED, fontsize=_FONT - 1, labelpad=2)
    label = f"{name} over size, logarithmic axes: fitted exponent {result.exponent:.3f}"
    return inline_svg(figure, f"{label} [{fit['low']:.3f}, {fit['high']:.3f}], claimed {claimed.exponent:g}")


def _log_ticks(axes: Any, which: str, values: Any) -> None:
    """Few ticks on a logarithmic axis: powers of ten, or 1, 2, 5 times them where there are fewer than two."""
    axis = axes.xaxis if which == "x" else axes.yaxis
    low, high = float(values.min()), float(values.max())
    room = (high / low) ** 0.05 if high > low else 2.0
    low, high = low / room, high * room
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    ticks = [10.0**k for k in decades if low <= 10.0**k <= high]
    if len(ticks) < 3:
        ticks = [d * 10.0**k for k in decades for d in (1, 2, 5) if low <= d * 10.0**k <= high]
    ticks = ticks[:: max(1, math.ceil(len(ticks) / 7))]
    (axes.set_xlim if which == "x" else axes.set_ylim)(low, high)
    axis.set_ticks(ticks, [number(t) if 1e-3 <= t < 1e5 else power_of_ten(round(math.log10(t))) for t in ticks])
    axis.set_minor_locator(_none())


def _none() -> Any:
    from matplotlib.ticker import NullLocator

    return NullLocator()
