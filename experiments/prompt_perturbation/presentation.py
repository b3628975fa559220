"""Tables and figures of the experiment."""

from __future__ import annotations

import csv
import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from whp.experiments.prompt_perturbation.text_attacks import TextAttacks
from whp.experiments.prompt_perturbation.word_audit import ClaimViolations, WordAudit

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ReferenceLine: TypeAlias = tuple[str, int | None, float, float | None, float, float]

__all__ = ["attack_table", "audit_table", "draw_losses", "reference_table", "save_csv", "violation_table"]


def _number(value: float | None) -> str:
    if value is None:
        return "-"
    if math.isinf(value):
        return "inf"
    return f"{value:.2e}" if 0 < abs(value) < 1e-3 else f"{value:.4f}"


def _table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    widths = [max(len(line[column]) for line in (headings, *rows)) for column in range(len(headings))]
    lines = [headings, ["-" * width for width in widths], *rows]
    return "\n".join(
        "  ".join([line[0].ljust(widths[0]), *(cell.rjust(w) for cell, w in zip(line[1:], widths[1:], strict=True))])
        for line in lines
    )


def audit_table(audits: Sequence[WordAudit]) -> str:
    """Nominal level, claims and exact figures, one line per mechanism and level.

    ``exact loss`` is to be compared with ``eps``, with ``eps+eps'`` (the reported claim) and with ``holds`` (what is
    guaranteed on these words); ``Bayes`` is the success of the best attack, against one over the number of words.
    """
    headings = ("mechanism", "N_b", "eps", "eps+eps'", "holds", "exact loss", "keep", "Bayes")
    rows = [
        (
            audit.mechanism,
            str(audit.n_buckets or "-"),
            f"{audit.epsilon:g}" if audit.epsilon == round(audit.epsilon, 3) else f"{audit.epsilon:.3f}",
            _number(audit.reported),
            _number(audit.guaranteed),
            _number(audit.audit.loss),
            _number(audit.audit.keep_rate),
            _number(audit.audit.bayes_recovery),
        )
        for audit in audits
    ]
    return _table(headings, rows)


def reference_table(audits: Sequence[WordAudit], reference: Sequence[ReferenceLine]) -> str:
    """Ours beside an independent measurement, where both have a line: loss, keep rate and Bayes recovery."""
    ours = {(a.mechanism, a.n_buckets, a.epsilon): a.audit for a in audits}
    headings = ("mechanism", "N_b", "eps", "loss", "theirs", "keep", "theirs", "Bayes", "theirs")
    rows = []
    for mechanism, n_buckets, epsilon, loss, keep, bayes in reference:
        audit = ours.get((mechanism, n_buckets, epsilon))
        if audit is not None:
            pairs = ((audit.loss, loss), (audit.keep_rate, keep), (audit.bayes_recovery, bayes))
            cells = [_number(value) for pair in pairs for value in pair]
            rows.append((mechanism, str(n_buckets or "-"), f"{epsilon:g}", *cells))
    return _table(headings, rows)


def violation_table(violations: Sequence[ClaimViolations]) -> str:
    """Pairs of words whose exact loss exceeds ``eps + eps'`` of their own buckets."""
    headings = ("N_b", "eps", "pairs", "violating", "worst excess", "loss", "claim on all")
    rows = [
        (
            str(v.n_buckets),
            f"{v.epsilon:g}",
            str(v.pairs),
            str(v.violating),
            _number(v.worst_excess),
            _number(v.loss),
            _number(v.claim),
        )
        for v in violations
    ]
    return _table(headings, rows)


def attack_table(attacks: Sequence[TextAttacks]) -> str:
    """Success of the attacks on perturbed sentences."""
    headings = ("context", "eps", "tokens", "kept", "10 nearest", "masked, 10 best")
    rows = [
        (a.context, f"{a.epsilon:g}", str(a.tokens), _number(a.kept), _number(a.nearest), _number(a.masked))
        for a in attacks
    ]
    return _table(headings, rows)


def save_csv(path: Path, audits: Sequence[WordAudit]) -> None:
    """Write the audit table with all digits."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(
            ["mechanism", "n_buckets", "epsilon", "reported", "guaranteed", "loss", "keep_rate", "bayes_recovery"]
        )
        for a in audits:
            exact = (a.audit.loss, a.audit.keep_rate, a.audit.bayes_recovery)
            writer.writerow([a.mechanism, a.n_buckets, a.epsilon, a.reported, a.guaranteed, *exact])


def draw_losses(audits: Sequence[WordAudit]) -> Figure:
    """Exact loss against nominal level, and keep rate against exact loss, one curve for each mechanism."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 4.8), layout="constrained")
    left, right = figure.subplots(1, 2)
    curves: dict[str, list[WordAudit]] = {}
    for audit in audits:
        if math.isfinite(audit.audit.loss):
            name = audit.mechanism if audit.n_buckets is None else f"{audit.mechanism}, N_b = {audit.n_buckets}"
            curves.setdefault(name, []).append(audit)
    for name, curve in curves.items():
        curve.sort(key=lambda a: a.epsilon)
        left.plot([a.epsilon for a in curve], [a.audit.loss for a in curve], marker="o", label=name)
        right.plot([a.audit.loss for a in curve], [a.audit.keep_rate for a in curve], marker="o", label=name)
    highest = max((a.epsilon for a in audits), default=1.0)
    left.plot([0, highest], [0, highest], color="black", linestyle=":", label="nominal")
    left.set(xlabel="nominal eps (nats)", ylabel="exact loss (nats)", yscale="symlog")
    right.set(xlabel="exact loss (nats)", ylabel="keep rate", xscale="symlog", yscale="log")
    figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=3, fontsize=8)
    return figure
