"""Which questions to ask: ranking loss against budget, and objective against time, on real and synthetic items.

``run(scale, seed, out, **options)``, or ``whp experiment plackett_luce_design --set items=digits,synthetic``.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import numpy as np

from whp.algorithms.plackett_luce_design import (
    DesignResult,
    DesignStatus,
    History,
    OperationCounts,
    certify,
    column_generation_design,
    frank_wolfe,
    randomized_frank_wolfe,
)
from whp.experiments.plackett_luce_design.budgets import choice_curves, loss_curves
from whp.experiments.plackett_luce_design.data import (
    DATA_VARIABLE,
    digit_questions,
    feature_array,
    load_mode_choice,
    outlier_items,
    synthetic_items,
)
from whp.experiments.plackett_luce_design.presentation import (
    ItemSetResult,
    TimedDesign,
    draw_losses,
    draw_objectives,
    loss_table,
    save_csv,
    solver_table,
)
from whp.theory.plackett_luce_design import Design, DesignProblem, design_log_det

__all__ = ["ITEM_SETS", "PAPER_TABLE", "PlackettLuceDesignResult", "run"]

SOLVERS = """\
full        Frank-Wolfe over all questions, a fixed number of steps
randomised  the paper's method: a tenth of the questions sampled in each step
optimal     column generation to a certified gap of 1e-6 nats
All-subset problems start from a few spanning questions, fixed groups from the
uniform design as in the released code."""

PAPER_TABLE = """\
For orientation, seconds to compute a design as stored in the authors' released
notebook (64 processors; it stops after at most 100 iterations):
  Anthropic   Dope 20.147   DopeWolfe 6.184
  Nectar      Dope  0.960   DopeWolfe 0.411
Its ranking losses are in a figure only. The same code on two processors ends
on the Anthropic features at -log det V = 204.13 (all groups) and 204.41
(sampled), with a ridge of 1e-6; the optimum is 198.44 with that ridge and
198.47 without."""


@dataclass(frozen=True, eq=False)
class PlackettLuceDesignResult:
    """What the experiment found.

    Attributes
    ----------
    item_sets : tuple of ItemSetResult
        One for each item set that was found.
    missing : dict
        Item sets that were not run, with the reason.
    figures : tuple of Path
        Files written.
    scale : str
        ``"quick"`` or ``"full"``.
    """

    item_sets: tuple[ItemSetResult, ...]
    missing: dict[str, str]
    figures: tuple[Path, ...]
    scale: str

    @property
    def table(self) -> str:
        """Solvers, losses and sources as text."""
        solved = [s for s in self.item_sets if s.designs]
        parts = ["Designs (nats; gap certified over all questions)", solver_table(solved)] if solved else []
        parts += ["\nLoss by number of questions, mean ± standard error", loss_table(self.item_sets), ""]
        notes = [f"{s.name}: {s.source}; loss: {s.loss}" for s in self.item_sets]
        notes += [f"{name}: not run, {reason}" for name, reason in self.missing.items()]
        parts += [textwrap.fill(note, 80, subsequent_indent="  ") for note in notes]
        parts += ["", SOLVERS] if solved else []
        if any(s.name in ("anthropic", "nectar") for s in self.item_sets):
            parts += ["", PAPER_TABLE]
        if self.scale == "quick":
            parts += ["", "Quick scale: fewer repeats and budgets than the paper's 50 and 10."]
        return "\n".join(parts)

    def __str__(self) -> str:
        """Return the table and where the figures are."""
        return "\n".join([self.table, *(f"written: {path}" for path in self.figures)])


def _timed(method: str, solve: Callable[[], DesignResult]) -> TimedDesign:
    begun = perf_counter()
    result = solve()
    return TimedDesign(method, result, perf_counter() - begun)


def _uniform(problem: DesignProblem) -> DesignResult:
    """Every question equally likely."""
    design = Design.uniform(problem.subsets())
    largest, gap = certify(problem, design)
    log_det = design_log_det(problem, design)
    status, history, counts = DesignStatus.ITERATION_LIMIT, History(), OperationCounts()
    return DesignResult(design, log_det, problem.rank, largest, gap, 0, 0, status, history, counts)


def _compare(
    name: str, source: str, problem: DesignProblem, scale: str, seed: int, start_uniform: bool
) -> ItemSetResult:
    """Designs by four solvers and the ranking loss of three of them."""
    iterations, repeats = (100, 50) if scale == "full" else (60, 8)
    budgets = tuple(range(100, 1001, 100)) if scale == "full" else (100, 400, 1000)
    n_sampled = max(1, problem.n_subsets // 10)
    uniform = _timed("uniform", lambda: _uniform(problem))
    start = uniform.result.design if start_uniform else None
    full = _timed("full", lambda: frank_wolfe(problem, iterations=iterations, start=start))
    sampled = _timed(
        "randomised",
        lambda: randomized_frank_wolfe(
            problem, n_sampled=n_sampled, rng=np.random.default_rng([seed, 1]), iterations=iterations, start=start
        ),
    )
    best = _timed("optimal", lambda: column_generation_design(problem, tolerance=1e-6))
    designs = {t.method: t.result.design for t in (uniform, full, sampled, best)}
    curves = loss_curves(problem, designs, budgets, repeats, seed)
    loss = "misordered pairs within groups" if problem.candidates is not None else "misordered pairs"
    return ItemSetResult(name, source, (uniform, full, sampled, best), tuple(curves), loss)


def _digits(scale: str, seed: int) -> ItemSetResult:
    source = "scikit-learn load_digits, 16 principal components, 400 fixed groups of 4, simulated truth"
    return _compare("digits", source, digit_questions(400, 4, 16), scale, seed, start_uniform=True)


def _digit_pairs(scale: str, seed: int) -> ItemSetResult:
    source = "scikit-learn load_digits, 36 principal components, 890 fixed pairs, simulated truth"
    return _compare("digit pairs", source, digit_questions(890, 2, 36), scale, seed, start_uniform=True)


def _synthetic(scale: str, seed: int) -> ItemSetResult:
    source = "normal features, 50 items, all 19600 triples, simulated truth"
    return _compare("synthetic", source, synthetic_items(50, 3, 10), scale, seed, start_uniform=False)


def _outliers(scale: str, seed: int) -> ItemSetResult:
    source = "40 items, 34 of them alike, all 9880 triples, simulated truth"
    return _compare("outliers", source, outlier_items(40, 3, 6), scale, seed, start_uniform=False)


def _released(name: str) -> Callable[[str, int], ItemSetResult | None]:
    def measure(scale: str, seed: int) -> ItemSetResult | None:
        problem = feature_array(name)
        if problem is None:
            return None
        source = "features released with the paper's code (MIT), simulated truth"
        return _compare(name, source, problem, scale, seed, start_uniform=True)

    return measure


def _travel(scale: str, seed: int) -> ItemSetResult:
    budgets, repeats = ((10, 20, 30, 50, 80, 120), 50) if scale == "full" else ((10, 30, 80), 8)
    curves = choice_curves(load_mode_choice(), budgets, repeats, seed)
    source = "statsmodels modechoice (Greene and Hensher), 210 real choices among 4 modes"
    return ItemSetResult("travel mode", source, (), tuple(curves), "held-out choices missed")


ITEM_SETS: dict[str, Callable[[str, int], ItemSetResult | None]] = {
    "digits": _digits,
    "digit_pairs": _digit_pairs,
    "synthetic": _synthetic,
    "outliers": _outliers,
    "travel": _travel,
    "anthropic": _released("anthropic"),
    "nectar": _released("nectar"),
}
"""Item sets by name, in the order in which they are run."""


def run(scale: str = "quick", seed: int = 0, out: Path | str = "out", items: str = "") -> PlackettLuceDesignResult:
    """Compare uniform, full, randomised and optimal designs.

    Parameters
    ----------
    scale : {"quick", "full"}
        ``"full"`` has the paper's budgets 100 to 1000 and 50 repeats.
    seed : int
        Root of all random streams.
    out : path
        Folder for the figures and the table, created when absent.
    items : str
        Names of `ITEM_SETS`, separated by commas; all of them when empty.

    Returns
    -------
    PlackettLuceDesignResult

    Raises
    ------
    ValueError
        If the scale or an item set is unknown.
    """
    if scale not in ("quick", "full"):
        raise ValueError(f"scale must be quick or full, got {scale!r}")
    names: Sequence[str] = [n.strip() for n in items.split(",") if n.strip()] or list(ITEM_SETS)
    for name in names:
        if name not in ITEM_SETS:
            raise ValueError(f"items must be among {', '.join(ITEM_SETS)}, got {name!r}")
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    found: list[ItemSetResult] = []
    missing: dict[str, str] = {}
    for name in names:
        try:
            measured = ITEM_SETS[name](scale, seed)
        except ImportError as error:
            missing[name] = f"the package {error.name} is not installed"
            continue
        if measured is None:
            missing[name] = f"its feature file is not in the folder {DATA_VARIABLE}"
        else:
            found.append(measured)
    figures: tuple[Path, ...] = ()
    if found:
        figures = (
            draw_losses(folder / "loss.svg", found),
            draw_objectives(folder / "objective.svg", found),
            save_csv(folder / "loss.csv", found),
        )
    result = PlackettLuceDesignResult(tuple(found), missing, figures, scale)
    if found:
        (folder / "table.txt").write_text(result.table + "\n", encoding="utf-8")
    return result
