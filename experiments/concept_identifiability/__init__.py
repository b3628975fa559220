"""Identification of concepts measured: identifiable against other settings, drawn sprites, handwritten digits.

``run(scale, seed, out, **options)``, or ``whp experiment concept_identifiability --set parts=synthetic``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from whp.algorithms.concept_identifiability import (
    covariance_unmixing,
    diagnose,
    matched_correlation,
    structural_distance,
    whiten,
)
from whp.experiments.concept_identifiability.data import DIGIT_CONCEPTS, Dataset, digits, mixture, sprites
from whp.experiments.concept_identifiability.methods import METHODS, available_methods
from whp.experiments.concept_identifiability.presentation import (
    agreement_table,
    draw_agreements,
    draw_traversals,
    save_csv,
)
from whp.theory.concept_identifiability import ClassConceptStructure

__all__ = ["SETTINGS", "Agreement", "ConceptIdentifiabilityResult", "run"]

PARTS = ("synthetic", "sprites", "digits")

SETTINGS = {
    "distinct, 2 classes": ClassConceptStructure(((1, 0), (0, 1), (1, 1))),
    "one pair equal": ClassConceptStructure(((1, 0), (1, 0), (1, 1))),
    "all equal": ClassConceptStructure(((1, 1), (1, 1), (1, 1))),
    "1 class": ClassConceptStructure(((1,), (1,), (1,))),
}
"""Three concepts whose rows are distinct, two equal, all equal, and what one class alone allows."""

PAPER = """\
The paper reports high correlations with little spread where its structural
condition holds, and low ones with much spread where it does not; its numbers
are plotted only, and its code and its larger picture sets were not found."""


@dataclass(frozen=True)
class Agreement:
    """Correlations of true and estimated concepts over seeds.

    Attributes
    ----------
    setting, method : str
        What was measured.
    values : tuple of float
        Spearman correlation centred by class under the best assignment, one value a seed.
    pooled : tuple of float
        The same without regard to classes, which is no evidence where class means differ.
    """

    setting: str
    method: str
    values: tuple[float, ...]
    pooled: tuple[float, ...]

    @property
    def median(self) -> float:
        """Median over seeds."""
        return float(np.median(self.values))


@dataclass(frozen=True)
class ConceptIdentifiabilityResult:
    """What the experiment found; ``table`` is the text, ``figures`` the files."""

    agreements: tuple[Agreement, ...] = ()
    notes: tuple[str, ...] = ()
    figures: tuple[Path, ...] = ()

    @property
    def table(self) -> str:
        """All tables as text."""
        parts = [agreement_table(self.agreements)] if self.agreements else []
        return "\n\n".join([*parts, *self.notes, PAPER])

    def __str__(self) -> str:
        return "\n".join([self.table, *(f"written: {path}" for path in self.figures)])


def run(
    scale: str = "quick", seed: int = 0, out: str | Path | None = None, *, parts: str | Sequence[str] = PARTS
) -> ConceptIdentifiabilityResult:
    """Run the experiment, or some of its parts.

    Parameters
    ----------
    scale : {"quick", "full"}
        ``quick``: 2 seeds a setting and short training, about a minute.  ``full``: 8 seeds.
    seed : int
        First seed.
    out : path, optional
        Folder for ``agreement.csv``, ``agreement.svg`` and the pictures of traversals.
    parts : comma-separated text or sequence of str
        Among ``synthetic``, ``sprites``, ``digits``.

    Raises
    ------
    MissingDataError
        If the digits are asked for and scikit-learn is not installed.
    """
    if scale not in ("quick", "full"):
        raise ValueError(f"scale must be quick or full, got {scale!r}")
    chosen = [part.strip() for part in parts.split(",")] if isinstance(parts, str) else list(parts)
    unknown = [part for part in chosen if part not in PARTS]
    if unknown or not chosen:
        raise ValueError(f"parts must be among {', '.join(PARTS)}, got {', '.join(unknown) or 'none'}")
    folder = Path(out) if out is not None else None
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
    seeds, steps = (range(seed, seed + 2), 200) if scale == "quick" else (range(seed, seed + 8), 600)
    result = ConceptIdentifiabilityResult()
    for part in chosen:
        step: Callable[[Sequence[int], int, Path | None], ConceptIdentifiabilityResult] = _STEPS[part]
        more = step(seeds, steps, folder)
        result = ConceptIdentifiabilityResult(
            result.agreements + more.agreements, result.notes + more.notes, result.figures + more.figures
        )
    if folder is None or not result.agreements:
        return result
    table, figure = folder / "agreement.csv", folder / "agreement.svg"
    save_csv(table, result.agreements)
    draw_agreements(result.agreements).savefig(figure)
    return replace(result, figures=(table, figure, *result.figures))


def _measured(
    setting: str, draw: Callable[[np.random.Generator], Dataset], names: list[str], seeds: Sequence[int], steps: int
) -> tuple[Agreement, ...]:
    """Every method on the same draws."""
    data = [draw(np.random.default_rng(s)) for s in seeds]
    found = []
    for name in available_methods(names):
        centred, pooled = [], []
        for s, sample in zip(seeds, data, strict=True):
            estimate = METHODS[name](sample, s, steps)
            assert sample.z is not None
            centred.append(matched_correlation(sample.z, estimate, sample.labels, kind="spearman").mean)
            pooled.append(matched_correlation(sample.z, estimate, kind="spearman").mean)
        found.append(Agreement(setting, name, tuple(centred), tuple(pooled)))
    return tuple(found)


def _synthetic(seeds: Sequence[int], steps: int, folder: Path | None) -> ConceptIdentifiabilityResult:
    agreements: tuple[Agreement, ...] = ()
    for setting, structure in SETTINGS.items():
        names = ["flow", "covariances", "FastICA"] + (["flow, classes shuffled"] if setting.startswith("dist") else [])
        agreements += _measured(setting, lambda rng, s=structure: mixture(s, rng), names, seeds, steps)  # type: ignore[misc]
    return ConceptIdentifiabilityResult(agreements)


def _reduced(data: Dataset, n_components: int) -> tuple[Dataset, Callable[[NDArray[np.float64]], NDArray[np.float64]]]:
    """Data set in its leading principal directions, and the map back to pictures."""
    white = whiten(data.x, n_components)
    return replace(data, x=white.white), lambda w: white.mean + w @ white.dewhitener.T


def _sprites(seeds: Sequence[int], steps: int, folder: Path | None) -> ConceptIdentifiabilityResult:
    names = ["flow", "covariances", "FastICA", "discriminant", "principal"]
    agreements = _measured("sprites", lambda rng: _reduced(sprites(rng), 4)[0], names, seeds, steps)
    data, back = _reduced(sprites(np.random.default_rng(seeds[0])), 4)
    notes = [f"Structure of the sprites\n{diagnose(data.structure).table}"]
    if not available_methods(["flow"]):
        return ConceptIdentifiabilityResult(agreements, tuple(notes))
    figure, structure = _traversed(data, back, 16, seeds[0], steps, folder, "sprites")
    distance = structural_distance(data.structure, structure)
    notes.append(f"gates of the flow on sprites: {distance} of {structure.size} entries of M differ")
    return ConceptIdentifiabilityResult(agreements, tuple(notes), figure)


def _digits(seeds: Sequence[int], steps: int, folder: Path | None) -> ConceptIdentifiabilityResult:
    data, back = _reduced(digits(), 8)
    rng = np.random.default_rng(seeds[0])
    half = rng.permutation(len(data.x)) % 2 == 0
    unmixings = [covariance_unmixing(data.x[part], data.labels[part]) for part in (half, ~half)]
    codes = [(data.x - u.mean) @ u.unmixing.T for u in unmixings]
    agreement = matched_correlation(codes[0], codes[1], data.labels)
    whole = covariance_unmixing(data.x, data.labels)
    notes = [
        "Digits, under our own table of concepts\n" + diagnose(DIGIT_CONCEPTS).table,
        "Digits, 8 principal directions, no ground truth: covariances of two halves agree with correlation "
        f"{agreement.mean:.3f}\n(by concept {', '.join(f'{v:.2f}' for v in np.sort(agreement.per_concept)[::-1])}); "
        f"closest pair of sources {whole.closest_pair:.2f}, sampling noise {whole.noise:.2f}",
    ]
    if not available_methods(["flow"]):
        return ConceptIdentifiabilityResult((), tuple(notes))
    runs = [METHODS["flow"](data, s, steps) for s in seeds[:2]]
    between = matched_correlation(runs[0], runs[1], data.labels, kind="spearman").mean
    notes.append(f"two seeds of the flow on digits agree with correlation {between:.3f}; they share their linear start")
    figure, _ = _traversed(data, back, 8, seeds[0], steps, folder, "digits")
    return ConceptIdentifiabilityResult((), tuple(notes), figure)


def _traversed(
    data: Dataset,
    back: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    size: int,
    seed: int,
    steps: int,
    folder: Path | None,
    name: str,
) -> tuple[tuple[Path, ...], NDArray[np.int64]]:
    """Fit the flow, draw each estimated concept moved through its central range, and return the structure found."""
    from whp.algorithms.concept_identifiability.flow_estimator import flow_estimator

    start = covariance_unmixing(data.x, data.labels).unmixing
    found = flow_estimator(data.x, data.contexts, seed, unmixing=start, steps=steps)
    if folder is None:
        return (), found.structure
    centre = np.median(found.sources, axis=0)
    moved = np.tile(centre, (found.sources.shape[1], 7, 1))
    for k in range(len(moved)):
        moved[k, :, k] = np.quantile(found.sources[:, k], np.linspace(0.02, 0.98, 7))
    pictures = back(found.decode(moved.reshape(-1, moved.shape[2]))).reshape(len(moved), 7, size, size)
    path = folder / f"{name}_traversals.svg"
    draw_traversals(pictures, [f"concept {k + 1}" for k in range(len(moved))]).savefig(path)
    return (path,), found.structure


_STEPS = {"synthetic": _synthetic, "sprites": _sprites, "digits": _digits}
