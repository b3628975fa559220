"""Read discrete Bayesian networks in the Interchange Format (BIF), as published networks are distributed."""

from __future__ import annotations

import re
from itertools import product
from math import prod

import numpy as np
from numpy.typing import NDArray

from whp.theory.foundations.bayesian_networks import BayesianNetwork, DiscreteNode, state_number

__all__ = ["parse_bif"]

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_VARIABLE = re.compile(
    r'variable\s+"?([^\s"{]+)"?\s*\{[^{}]*?discrete\s*\[\s*(\d+)\s*\]\s*\{([^}]*)\}[^{}]*\}', re.DOTALL
)
_PROBABILITY = re.compile(r"probability\s*\(([^)]*)\)\s*\{(.*?)\}", re.DOTALL)
_ROW = re.compile(r"\(([^)]*)\)\s*([^;]*);")
_TABLE = re.compile(r"\btable\b([^;]*);")
_DEFAULT = re.compile(r"\bdefault\b([^;]*);")


def parse_bif(text: str, *, row_tolerance: float = 1e-4) -> BayesianNetwork:
    """Parse a discrete network.

    Parameters
    ----------
    text : str
        Contents of a ``.bif`` file.
    row_tolerance : float, optional
        Published tables are printed with few digits; rows whose sum is within this of one are rescaled to one,
        others refused.

    Returns
    -------
    BayesianNetwork
        Variables and states in file order.

    Raises
    ------
    ValueError
        If a table is missing, has the wrong number of entries, occurs twice, or a row's sum is off by more than
        ``row_tolerance``.

    Examples
    --------
    >>> network = parse_bif('''
    ... variable rain { type discrete [ 2 ] { no, yes }; }
    ... probability ( rain ) { table 0.8, 0.2; }
    ... ''')
    >>> network["rain"].table.tolist()
    [0.8, 0.2]
    """
    if not isinstance(text, str):
        raise TypeError(f"text must be the contents of a file, got {type(text).__name__}")
    clean = _COMMENT.sub(" ", text)
    states: dict[str, tuple[str, ...]] = {}
    for name, size, listed in _VARIABLE.findall(clean):
        if name in states:
            raise ValueError(f"variable {name!r} is declared twice")
        states[name] = _words(listed)
        if len(states[name]) != int(size):
            raise ValueError(f"variable {name!r} declares {size} states but lists {len(states[name])}")
    if not states:
        raise ValueError("the text declares no discrete variable")
    nodes: dict[str, DiscreteNode] = {}
    for heading, body in _PROBABILITY.findall(clean):
        node = _parse_table(heading, body, states, row_tolerance)
        if node.name in nodes:
            raise ValueError(f"variable {node.name!r} has two probability tables")
        nodes[node.name] = node
    missing = [name for name in states if name not in nodes]
    if missing:
        raise ValueError(f"variables {missing} have no probability table")
    return BayesianNetwork(nodes[name] for name in states)


def _words(text: str) -> tuple[str, ...]:
    return tuple(part.strip().strip('"') for part in text.split(",") if part.strip())


def _numbers(text: str) -> list[float]:
    parts = [part for part in re.split(r"[,\s]+", text.strip()) if part]
    try:
        return [float(part) for part in parts]
    except ValueError:
        raise ValueError(f"probabilities must be numbers, got {text.strip()!r}") from None


def _parse_table(heading: str, body: str, states: dict[str, tuple[str, ...]], row_tolerance: float) -> DiscreteNode:
    child, _, given = heading.partition("|")
    name, parents = child.strip().strip('"'), _words(given)
    unknown = [variable for variable in (name, *parents) if variable not in states]
    if unknown:
        raise ValueError(f"the table of {name!r} mentions undeclared variables {unknown}")
    shape = (*(len(states[parent]) for parent in parents), len(states[name]))
    values = np.full(shape, np.nan)
    if default := _DEFAULT.search(body):
        values[...] = _row(_numbers(default[1]), shape[-1], name)
    if table := _TABLE.search(body):
        entries = _numbers(table[1])
        if len(entries) != prod(shape):
            raise ValueError(f"the table of {name!r} needs {prod(shape)} entries, got {len(entries)}")
        # BIF lists the child's states as the slowest axis.
        values = np.moveaxis(np.array(entries).reshape(shape[-1], *shape[:-1]), 0, -1)
    for labels, numbers in _ROW.findall(body):
        chosen = _words(labels)
        if len(chosen) != len(parents):
            raise ValueError(f"row ({labels.strip()}) of {name!r} must give a state to each of {parents}")
        index = tuple(state_number(p, states[p], state) for p, state in zip(parents, chosen, strict=True))
        values[index] = _row(_numbers(numbers), shape[-1], name)
    return DiscreteNode(name, states[name], parents, _rescaled(values, name, row_tolerance))


def _row(numbers: list[float], size: int, name: str) -> list[float]:
    if len(numbers) != size:
        raise ValueError(f"a row of {name!r} needs {size} entries, got {len(numbers)}")
    return numbers


def _rescaled(values: NDArray[np.float64], name: str, row_tolerance: float) -> NDArray[np.float64]:
    for index in product(*map(range, values.shape[:-1])):
        total = float(values[index].sum())
        if not abs(total - 1.0) <= row_tolerance:
            problem = "is missing" if np.isnan(total) else f"sums to {total:.9g}"
            raise ValueError(
                f"row {index} of the table of {name!r} {problem}; rows must sum to 1 within {row_tolerance:g}"
            )
    return np.asarray(values / values.sum(axis=-1, keepdims=True))
