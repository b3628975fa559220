"""Data tables and published networks that installed packages carry; nothing is downloaded."""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from whp.algorithms.marginalization.bif import parse_bif
from whp.theory.foundations.bayesian_networks import BayesianNetwork

__all__ = ["BinaryTable", "load_binarised_breast_cancer", "load_binarised_digits", "load_pgmpy_example"]


@dataclass(frozen=True, eq=False)
class BinaryTable:
    """Binary features with class labels.

    Attributes
    ----------
    features : ndarray of int64, shape (observations, features)
        Zeros and ones.
    classes : ndarray of int64, shape (observations,)
        Class numbers.
    names : tuple of str
        Feature names.
    source : str
        The package and function the data come from.
    """

    features: NDArray[np.int64]
    classes: NDArray[np.int64]
    names: tuple[str, ...]
    source: str


def load_binarised_digits(threshold: float = 8.0) -> BinaryTable:
    """Digit images of scikit-learn (1797 images of 8 x 8 pixels with values 0 to 16), one where ``pixel >= threshold``.

    Raises
    ------
    ImportError
        If scikit-learn is not installed.
    """
    bunch = _sklearn("load_digits")
    names = tuple(f"pixel_{i // 8}_{i % 8}" for i in range(64))
    features = (np.asarray(bunch.data) >= threshold).astype(np.int64)
    return BinaryTable(
        features, np.asarray(bunch.target, dtype=np.int64), names, "scikit-learn, sklearn.datasets.load_digits"
    )


def load_binarised_breast_cancer() -> BinaryTable:
    """Wisconsin breast-cancer features of scikit-learn (569 x 30), one where above the feature's median.

    Raises
    ------
    ImportError
        If scikit-learn is not installed.
    """
    bunch = _sklearn("load_breast_cancer")
    data = np.asarray(bunch.data)
    names = tuple(str(name).replace(" ", "_") for name in bunch.feature_names)
    features = (data > np.median(data, axis=0)).astype(np.int64)
    return BinaryTable(
        features, np.asarray(bunch.target, dtype=np.int64), names, "scikit-learn, sklearn.datasets.load_breast_cancer"
    )


def _sklearn(loader: str):  # type: ignore[no-untyped-def]  # scikit-learn has no types
    if find_spec("sklearn") is None:
        raise ImportError("these data are part of the package scikit-learn, which is not installed (extra 'data')")
    import sklearn.datasets

    return getattr(sklearn.datasets, loader)()


def load_pgmpy_example(name: str) -> BayesianNetwork:
    """Published network that the wheel of pgmpy ships, such as ``asia`` or ``alarm``.

    Parameters
    ----------
    name : str
        File name without ``.bif.gz``.

    Raises
    ------
    ImportError
        If pgmpy is not installed.
    ValueError
        If it ships no such network; the message lists those it ships.
    """
    spec = find_spec("pgmpy")
    if spec is None or spec.origin is None:
        raise ImportError("published networks are read from the package pgmpy, which is not installed (extra 'dev')")
    folder = Path(spec.origin).parent / "utils" / "example_models"
    file = folder / f"{name}.bif.gz"
    if not file.is_file():
        known = sorted(path.name.removesuffix(".bif.gz") for path in folder.glob("*.bif.gz"))
        raise ValueError(f"pgmpy ships no network {name!r}; it ships {', '.join(known)}")
    return parse_bif(gzip.decompress(file.read_bytes()).decode("utf-8", errors="replace"))
