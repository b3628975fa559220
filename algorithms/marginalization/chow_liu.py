"""Fit small Bayesian networks to discrete data: the Chow-Liu tree and naive Bayes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from whp.theory.foundations.argument_checks import whole_number
from whp.theory.foundations.bayesian_networks import BayesianNetwork, DiscreteNode

__all__ = ["ChowLiuFit", "fit_chow_liu_tree", "fit_naive_bayes"]

IntArray = NDArray[np.int64]
#: Largest table of pair counts, in numbers (2 GiB).
MAX_PAIR_COUNTS = 2**28
FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ChowLiuFit:
    """A fitted tree.

    Attributes
    ----------
    network : BayesianNetwork
        The tree with smoothed conditional tables.
    mutual_information : ndarray, shape (variables, variables)
        Empirical mutual information of each pair, in nats; zero on the diagonal.
    edges : tuple of (int, int)
        Parent and child columns.
    """

    network: BayesianNetwork
    mutual_information: FloatArray
    edges: tuple[tuple[int, int], ...]


def fit_chow_liu_tree(
    data: ArrayLike,
    cardinalities: Sequence[int] | None = None,
    names: Sequence[str] | None = None,
    *,
    pseudocount: float = 1.0,
    root: int = 0,
) -> ChowLiuFit:
    """Maximum-likelihood tree (Chow and Liu 1968) with smoothed tables.

    Parameters
    ----------
    data : array_like of int, shape (observations, variables)
        State numbers from 0.
    cardinalities : sequence of int, optional
        Number of states per column; by default the largest observed plus one.
    names : sequence of str, optional
        Variable names; by default ``X0, X1, ...``.
    pseudocount : float, optional
        Added in total to every row of a table, spread evenly over its entries; non-negative.
    root : int, optional
        Column without parent.

    Returns
    -------
    ChowLiuFit
        The tree; ties in mutual information are broken by column number.

    Raises
    ------
    ValueError
        If the data are not a non-empty table of valid state numbers.

    References
    ----------
    .. [1] Chow, Liu (1968), Approximating discrete probability distributions with dependence trees.
    """
    table, sizes, labels = _checked(data, cardinalities, names, pseudocount)
    n = table.shape[1]
    if not 0 <= whole_number(root, "root") < n:
        raise ValueError(f"root must be a column between 0 and {n - 1}, got {root}")
    information = _mutual_information(table, sizes)
    edges = _maximum_spanning_tree(information, root)
    parent = {child: mother for mother, child in edges}
    nodes = []
    for child in range(n):
        mothers = [parent[child]] if child in parent else []
        nodes.append(_fitted_node(table, sizes, labels, child, mothers, pseudocount))
    return ChowLiuFit(BayesianNetwork(nodes), information, edges)


def fit_naive_bayes(
    data: ArrayLike,
    classes: ArrayLike,
    names: Sequence[str] | None = None,
    *,
    class_name: str = "class",
    pseudocount: float = 1.0,
) -> BayesianNetwork:
    """Naive Bayes network: the class is the only parent of every feature.

    Parameters
    ----------
    data : array_like of int, shape (observations, features)
        State numbers from 0.
    classes : array_like of int, shape (observations,)
        Class numbers from 0.
    names : sequence of str, optional
        Feature names; by default ``X0, X1, ...``.
    class_name : str, optional
        Name of the class variable, the first of the network.
    pseudocount : float, optional
        As in `fit_chow_liu_tree`.
    """
    features, sizes, labels = _checked(data, None, names, pseudocount)
    labelled = np.asarray(classes)
    if labelled.shape != (len(features),):
        raise ValueError(f"classes must have one entry for each of {len(features)} observations, got {labelled.shape}")
    if labelled.dtype.kind == "f" and not np.isfinite(labelled).all():
        raise ValueError("classes must hold class numbers 0, 1, ..., got a number that is not finite")
    table, sizes, labels = _checked(
        np.column_stack([labelled, features]), [int(labelled.max()) + 1, *sizes], [class_name, *labels], pseudocount
    )
    return BayesianNetwork(
        _fitted_node(table, sizes, labels, column, [0] if column else [], pseudocount)
        for column in range(table.shape[1])
    )


def _checked(
    data: ArrayLike, cardinalities: Sequence[int] | None, names: Sequence[str] | None, pseudocount: float
) -> tuple[IntArray, list[int], list[str]]:
    raw = np.asarray(data)
    if raw.ndim != 2 or raw.size == 0:
        raise ValueError(f"data must be a non-empty table of shape (observations, variables), got shape {raw.shape}")
    if raw.dtype.kind not in "biuf":
        raise TypeError(f"data must hold state numbers 0, 1, ..., got an array of {raw.dtype}")
    with np.errstate(invalid="ignore"):
        table = raw.astype(np.int64)
    if not np.array_equal(table, raw) or table.min() < 0:
        row, column = (int(i) for i in np.argwhere((table != raw) | (table < 0))[0])
        raise ValueError(
            f"data must hold state numbers 0, 1, ..., got {raw[row, column].item()!r} in row {row}, column {column}"
        )
    if not (isinstance(pseudocount, int | float | np.number) and np.isfinite(pseudocount) and pseudocount >= 0):
        raise ValueError(f"pseudocount must be finite and at least 0, got {pseudocount!r}")
    observed = table.max(axis=0) + 1
    sizes = [whole_number(k, "cardinalities", 1) for k in (observed if cardinalities is None else cardinalities)]
    labels = [f"X{i}" for i in range(table.shape[1])] if names is None else list(names)
    if len(sizes) != table.shape[1] or len(labels) != table.shape[1]:
        raise ValueError(f"cardinalities and names must have one entry for each of {table.shape[1]} columns")
    if sum(sizes) ** 2 > MAX_PAIR_COUNTS:
        raise ValueError(
            f"counting pairs of {sum(sizes)} states in all needs {sum(sizes)}^2 numbers, more than {MAX_PAIR_COUNTS}; "
            "number the states without gaps"
        )
    too_many = [labels[i] for i in range(len(sizes)) if observed[i] > sizes[i]]
    if too_many:
        raise ValueError(f"columns {too_many} hold states beyond their cardinalities")
    return table, sizes, labels


def _mutual_information(table: IntArray, sizes: Sequence[int]) -> FloatArray:
    """All pairs at once, from one product of one-hot matrices."""
    starts = np.concatenate([[0], np.cumsum(sizes)])
    hot = np.zeros((len(table), starts[-1]))
    hot[np.arange(len(table))[:, None], table + starts[:-1]] = 1.0
    joint = hot.T @ hot / len(table)  # exact counts below 2**53, then one division
    single = np.diag(joint)
    expected = np.outer(single, single)
    terms = np.where(
        joint > 0, joint * np.log(np.where(joint > 0, joint, 1.0) / np.where(joint > 0, expected, 1.0)), 0.0
    )
    information = np.add.reduceat(np.add.reduceat(terms, starts[:-1], axis=0), starts[:-1], axis=1)
    np.fill_diagonal(information, 0.0)
    return np.maximum((information + information.T) / 2, 0.0)


def _maximum_spanning_tree(weights: FloatArray, root: int) -> tuple[tuple[int, int], ...]:
    """Prim's algorithm on a dense matrix, from the root."""
    n = len(weights)
    best = weights[root].copy()
    origin = np.full(n, root)
    outside = np.ones(n, dtype=bool)
    outside[root] = False
    edges = []
    for _ in range(n - 1):
        child = int(np.argmax(np.where(outside, best, -np.inf)))
        edges.append((int(origin[child]), child))
        outside[child] = False
        closer = outside & (weights[child] > best)
        best[closer] = weights[child][closer]
        origin[closer] = child
    return tuple(edges)


def _fitted_node(
    table: IntArray, sizes: Sequence[int], labels: Sequence[str], child: int, parents: Sequence[int], pseudocount: float
) -> DiscreteNode:
    shape = (*(sizes[p] for p in parents), sizes[child])
    counts = np.zeros(shape)
    np.add.at(counts, tuple(table[:, column] for column in (*parents, child)), 1.0)
    counts += pseudocount / sizes[child]
    totals = counts.sum(axis=-1, keepdims=True)
    rows = np.where(totals > 0, counts / np.where(totals > 0, totals, 1.0), 1.0 / sizes[child])
    states = [str(k) for k in range(sizes[child])]
    return DiscreteNode(labels[child], states, [labels[p] for p in parents], rows)
