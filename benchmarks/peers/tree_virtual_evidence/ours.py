"""10,000 queries as one batch on a compiled engine."""

from collections.abc import Callable

import numpy as np
from inputs import ANSWERED, BATCH, TARGET, likelihoods, tree

from whp.algorithms.marginalization.network_queries import NetworkEngine
from whp.theory.foundations.bayesian_networks import BayesianNetwork, DiscreteNode

UNITS = BATCH


def prepare() -> Callable[[], np.ndarray]:
    """Compile the tree."""
    parents, tables = tree()
    nodes = [
        DiscreteNode(f"X{i}", ("0", "1"), (f"X{mother}",) if mother >= 0 else (), table)
        for i, (mother, table) in enumerate(zip(parents, tables, strict=True))
    ]
    engine = NetworkEngine(BayesianNetwork(nodes))
    stacked = likelihoods()
    weights = {f"X{i}": stacked[:, i] for i in range(64) if i != TARGET}
    return lambda: engine.posterior_batch(f"X{TARGET}", weights)


def answer(result: np.ndarray) -> np.ndarray:
    """The first posteriors."""
    return result[:ANSWERED]
