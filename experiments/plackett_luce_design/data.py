"""Item sets of the experiment: each loader names the package or file that its data come from."""

from __future__ import annotations

import os
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whp.theory.plackett_luce_design import DesignProblem

Array = NDArray[np.float64]
IntArray = NDArray[np.int64]

__all__ = [
    "DATA_VARIABLE",
    "ModeChoice",
    "digit_questions",
    "feature_array",
    "load_mode_choice",
    "outlier_items",
    "shared_file",
    "synthetic_items",
]

DATA_VARIABLE = "WHP_SHARED_DATA"
"""Environment variable naming the folder with ``anthropic_features.npy`` and ``nectar_features.npy``."""


def shared_file(name: str) -> Path | None:
    """Path of a feature file that is not part of the package, or ``None`` when it is absent.

    Looked for in the folder named by the environment variable `DATA_VARIABLE`, else in ``../shared/data`` beside the
    repository.

    Parameters
    ----------
    name : str
        File name.

    Returns
    -------
    pathlib.Path or None
    """
    folder = os.environ.get(DATA_VARIABLE)
    root = Path(__file__).resolve().parents[2]
    candidates = [Path(folder)] if folder else [root.parent / "shared" / "data", root / ".." / "shared" / "data"]
    for candidate in candidates:
        if (candidate / name).is_file():
            return candidate / name
    return None


def feature_array(name: str) -> DesignProblem | None:
    """Answers to questions as candidate subsets: ``n x K x d`` features of the released code (MIT licence).

    Parameters
    ----------
    name : str
        ``"anthropic"`` (2000 questions, 2 answers, 36 features) or ``"nectar"`` (500, 4, 16).

    Returns
    -------
    DesignProblem or None
        ``None`` when the file is absent.
    """
    path = shared_file(f"{name}_features.npy")
    if path is None:
        return None
    array = np.load(path, allow_pickle=False)
    n, size, dim = array.shape
    return DesignProblem(array.reshape(n * size, dim), size, np.arange(n * size).reshape(n, size))


def digit_questions(n_questions: int, subset_size: int, dim: int) -> DesignProblem:
    """Handwritten digits of scikit-learn, principal components as features, in fixed groups.

    Parameters
    ----------
    n_questions, subset_size : int
        ``n_questions * subset_size`` images of the 1797 are used, in the order of the data set.
    dim : int
        Principal components kept; rows are scaled to norm at most one.

    Returns
    -------
    DesignProblem
        With the groups as candidates.
    """
    from sklearn.datasets import load_digits

    raw = load_digits().data[: n_questions * subset_size]
    if len(raw) < n_questions * subset_size:
        raise ValueError(f"n_questions * subset_size must be at most 1797 images, got {n_questions * subset_size}")
    centred = raw - raw.mean(axis=0)
    x = centred @ np.linalg.svd(centred, full_matrices=False)[2][:dim].T
    x /= np.linalg.norm(x, axis=1).max()
    return DesignProblem(x, subset_size, np.arange(len(x)).reshape(n_questions, subset_size))


def synthetic_items(n_items: int, subset_size: int, dim: int) -> DesignProblem:
    """Normal items scaled to norm at most one, all subsets allowed; generator seed 1 as in the measured references."""
    x = np.random.default_rng(1).normal(size=(n_items, dim))
    return DesignProblem(x / np.linalg.norm(x, axis=1).max(), subset_size)


def outlier_items(n_items: int, subset_size: int, dim: int) -> DesignProblem:
    """Items most of which are alike, with ``dim`` that stand out: where the choice of questions matters most."""
    x = 0.1 * np.random.default_rng(2).normal(size=(n_items, dim))
    x[:dim] = np.eye(dim)
    return DesignProblem(x / np.linalg.norm(x, axis=1).max(), subset_size)


@dataclass(frozen=True, eq=False)
class ModeChoice:
    """Real choices: 210 travellers between Sydney, Canberra and Melbourne, each one of four modes.

    Parameters
    ----------
    problem : DesignProblem
        840 items (traveller and mode), candidates the four of each traveller; features are mode constants, terminal
        waiting time, vehicle cost, vehicle time and generalised cost, the latter four standardised.
    chosen : (210,) ndarray of int
        Item that the traveller took.
    """

    problem: DesignProblem
    chosen: IntArray


def load_mode_choice() -> ModeChoice:
    """Travel mode choice data of Greene and Hensher, shipped with statsmodels.

    Returns
    -------
    ModeChoice
    """
    modechoice: Any = import_module("statsmodels.datasets.modechoice")
    table = modechoice.load_pandas().data
    n = table["individual"].nunique()
    order = table.sort_values(["individual", "mode"])
    costs = order[["ttme", "invc", "invt", "gc"]].to_numpy(dtype=float)
    costs = (costs - costs.mean(axis=0)) / costs.std(axis=0)
    constants = np.tile(np.eye(4)[:, :3], (n, 1))
    candidates = np.arange(4 * n).reshape(n, 4)
    picked = order["choice"].to_numpy().reshape(n, 4).argmax(axis=1)
    problem = DesignProblem(np.concatenate([constants, costs], axis=1), 4, candidates)
    return ModeChoice(problem, candidates[np.arange(n), picked])
