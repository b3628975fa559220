"""Pricing and strategic classification: objective against samples for every method, at published and at tuned steps.

Run it with ``whp experiment performative_prediction``; ``--set part=pricing`` or ``part=classification`` runs one half.
"""

import functools
import math
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from whp.algorithms.performative_prediction import (
    Budget,
    DecisionOracle,
    DescentResult,
    Geometric,
    LinearCount,
    exact_minimiser,
    minimise,
    oracle_for,
    pricing_oracle,
)
from whp.theory.performative_prediction import MultiproductPricing, StrategicClassification

from .data import Applicants, Market, load_applicants, load_markets
from .methods import BASELINE, Contender, contenders
from .report import Curve, ExperimentResult, Row, draw_curves

__all__ = ["run"]

Array = NDArray[np.float64]
Objective = Callable[[Array], Array]  # decisions (R, d), one a replicate, to values (R,)

_PREDECESSOR = (
    "the predecessor's table on recorded prices, 8 weeks, 20 instances, 5000 samples: two-point -7.26 -7.78 -6.38 "
    "-5.54 -4.10 -7.01 -3.88 -4.88; "
    "one-point with control -7.39 -7.61 -5.28 -5.58 -3.52 -6.40 -3.21 -4.61; plain one-point 1.83 2.41 0.21 7.04 "
    "10.39 -1.05 10.38 7.66 "
    "(other price data, hence another scale; the paper's own table was not available)"
)


def run(
    scale: Literal["quick", "full"] = "quick",
    seed: int = 0,
    out: str | Path = "performative_prediction",
    part: str = "all",
) -> ExperimentResult:
    """Compare all methods on pricing and on strategic classification.

    Parameters
    ----------
    scale : {"quick", "full"}
        ``full``: 20 instances a market and 20 classification runs, as in the paper. ``quick``: 6 of each, one market
        beside the synthetic one, and at most 3000 applicants.
    seed : int
        Campaign seed; instances for tuning and for the comparison come from separate streams.
    out : path
        Folder for the table and the figure; made if missing.
    part : {"all", "pricing", "classification"}
        Which half to run.

    Returns
    -------
    ExperimentResult

    Raises
    ------
    ValueError
        If ``scale`` or ``part`` is unknown.
    """
    if scale not in ("quick", "full"):
        raise ValueError(f"scale must be 'quick' or 'full', got {scale!r}")
    if part not in ("all", "pricing", "classification"):
        raise ValueError(f"part must be 'all', 'pricing' or 'classification', got {part!r}")
    runs = 20 if scale == "full" else 6
    rows: list[Row] = []
    curves: list[Curve] = []
    notes = [
        f"{runs} instances (runs) each; mean (sd) of the exact final objective; 95% bands in the figure",
        "wins: instances that end lower than tuned two-point descent, and the sign test's p-value",
    ]
    if part != "classification":
        markets = load_markets() if scale == "full" else load_markets()[:2]
        for index, market in enumerate(markets):
            _pricing(market, runs, np.random.SeedSequence([seed, 0, index]), rows, curves)
            notes.append(f"{market.name}: {market.source}")
        notes.append(_PREDECESSOR)
    if part != "pricing":
        applicants = load_applicants(seed, None if scale == "full" else 4000)
        _classification(applicants, runs, np.random.SeedSequence([seed, 1]), rows, curves)
        notes.append(f"{applicants.name}: {applicants.source}; {len(applicants.train[1])} rows for training")
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    result = ExperimentResult(rows, curves, notes, [folder / "table.csv", folder / "objective.svg"])
    result.write_table(result.files[0])
    draw_curves(curves, result.files[1])
    return result


def _compare(
    name: str,
    methods: list[Contender],
    oracles: tuple[DecisionOracle, DecisionOracle],
    objectives: tuple[Objective, Objective],
    start: Array,
    budget: Budget,
    seed: np.random.SeedSequence,
    extra: Callable[[Array], dict[str, float]],
) -> tuple[list[Row], list[Curve]]:
    """Tune each method on the first oracle, then run it at both steps on the second."""
    rows: list[Row] = []
    curves: list[Curve] = []
    finals: dict[str, Array] = {}

    def final(method: Contender, step: float, which: int) -> tuple[Array, DescentResult]:
        generator = np.random.default_rng(np.random.SeedSequence([*_words(seed), which]))
        result = minimise(oracles[which], start, method.build(step), budget, generator)
        return objectives[which](result.decision), result

    def score(method: Contender, step: float) -> float:
        return float(final(method, step, 0)[0].mean())

    for method in methods:
        step = _tuned(method.grid, functools.partial(score, method))
        values, result = final(method, step, 1)
        finals[method.name] = values
        published = (
            (math.nan, math.nan) if method.published is None else _summary(final(method, method.published, 1)[0])
        )
        rows.append(Row(name, method.name, published, _summary(values), step, "", extra(result.decision)))
        curves.append(_curve(name, method.name, result, objectives[1]))
    base = finals[BASELINE]
    rows = [
        Row(r.data, r.method, r.published, r.tuned, r.step, _sign_test(finals[r.method], base), r.extra) for r in rows
    ]
    return rows, curves


def _tuned(grid: tuple[float, ...], score: Callable[[float], float], extensions: int = 6) -> float:
    """Step with the lowest score; the grid is extended, at its own ratio, while the best step is at an end."""
    scores = {step: score(step) for step in grid}
    for _ in range(extensions):
        steps = sorted(scores)
        best = min(steps, key=lambda step: scores[step])
        if best == steps[0]:
            further = steps[0] ** 2 / steps[1]
        elif best == steps[-1]:
            further = steps[-1] ** 2 / steps[-2]
        else:
            break
        value = score(further)
        scores[further] = value if math.isfinite(value) else math.inf
    return min(scores, key=lambda step: scores[step])


def _words(seed: np.random.SeedSequence) -> list[int]:
    return [int(w) for w in seed.generate_state(4)]


def _summary(values: Array) -> tuple[float, float]:
    return float(values.mean()), float(values.std(ddof=1))


def _sign_test(values: Array, base: Array) -> str:
    """Wins against the baseline and the one-sided p-value of the paired sign test; ties are left out."""
    if values is base:
        return ""
    wins, losses = int((values < base).sum()), int((values > base).sum())
    n = wins + losses
    p = sum(math.comb(n, k) for k in range(wins, n + 1)) / 2**n
    return f"{wins}/{n} p={p:.1g}"


def _curve(data: str, name: str, result: DescentResult, objective: Objective) -> Curve:
    """Exact objective along the recorded decisions."""
    values = np.array([objective(x) for x in result.trace.decisions])  # (K + 1, R)
    samples = np.concatenate([[0], result.trace.samples]).astype(float)
    band = 1.96 * values.std(axis=1, ddof=1) / math.sqrt(values.shape[1])
    return Curve(data, name, samples, values.mean(axis=1), band)


def _pricing(market: Market, runs: int, seed: np.random.SeedSequence, rows: list[Row], curves: list[Curve]) -> None:
    """One market: unit costs ``theta U[0.25, 0.5]``, the start 0.5, 5000 samples."""
    theta = market.reference_prices
    rng = np.random.default_rng(seed)
    groups = [
        [MultiproductPricing(theta, theta * rng.uniform(0.25, 0.5, theta.size)) for _ in range(runs)] for _ in range(2)
    ]

    def objective_of(shops: list[MultiproductPricing]) -> Objective:
        return lambda x: np.array([float(s.objective(row)) for s, row in zip(shops, x, strict=True)])

    start = np.full(theta.size, 0.5)
    methods = contenders(theta.size, Geometric(0.2, 0.95, floor=1e-4), LinearCount(30, 2), 0.01, (0.001, 1e-5))
    oracles = (pricing_oracle(groups[0]), pricing_oracle(groups[1]))
    objectives = (objective_of(groups[0]), objective_of(groups[1]))
    found = _compare(market.name, methods, oracles, objectives, start, Budget(5000, "after_step"), seed, lambda x: {})
    rows.extend(found[0])
    curves.extend(found[1])
    best = np.array([float(s.objective(exact_minimiser(s, [start, theta]))) for s in groups[1]])
    rows.append(Row(market.name, "exact optimum (BFGS)", (math.nan, math.nan), _summary(best), math.nan, ""))
    first = objectives[1](np.tile(start, (runs, 1)))
    rows.append(Row(market.name, "start", (math.nan, math.nan), _summary(first), math.nan, ""))


def _classification(
    applicants: Applicants, runs: int, seed: np.random.SeedSequence, rows: list[Row], curves: list[Curve]
) -> None:
    """Strategic applicants: the start 1, 10000 samples, exact population loss on the training rows."""
    train, test = (StrategicClassification(*part, cost=2.0) for part in (applicants.train, applicants.test))
    oracle = oracle_for(train, runs)

    def objective(x: Array) -> Array:
        return np.asarray(train.objective(x))

    def extra(x: Array) -> dict[str, float]:
        figures = np.array([_test_figures(test, row) for row in x]).mean(axis=0)
        return dict(zip(("test loss", "accuracy", "AUC"), figures.tolist(), strict=True))

    d = train.dimension
    methods = contenders(d, Geometric(10.0, 0.95, floor=0.1), LinearCount(100, 2), 1.0, (0.1, 0.05))
    budget = Budget(10_000, "after_step")
    found = _compare(
        applicants.name, methods, (oracle, oracle), (objective, objective), np.ones(d), budget, seed, extra
    )
    rows.extend(found[0])
    curves.extend(found[1])
    first = _test_figures(test, np.ones(d))
    start = float(train.objective(np.ones(d)))
    figures = dict(zip(("test loss", "accuracy", "AUC"), first, strict=True))
    rows.append(Row(applicants.name, "start", (math.nan, math.nan), (start, 0.0), math.nan, "", figures))


def _test_figures(test: StrategicClassification, x: Array) -> tuple[float, float, float]:
    """Loss, accuracy and area under the curve on the test rows after their response."""
    population = test.population(x)
    score, label = population[:, :-1] @ x, population[:, -1]
    score = np.where(np.abs(score) < 1e-9, 0.0, score)  # those who moved sit on the boundary, up to rounding
    accuracy = float(((score >= 0.0) == (label > 0.0)).mean())
    order = np.argsort(score, kind="stable")
    _, inverse, counts = np.unique(score[order], return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - 0.5 * (counts - 1.0))[inverse]  # mean ranks of ties
    positive = label[order] > 0.0
    p, n = int(positive.sum()), int((~positive).sum())
    auc = float((ranks[positive].sum() - p * (p + 1) / 2) / (p * n))
    return float(test.objective(x)), accuracy, auc
