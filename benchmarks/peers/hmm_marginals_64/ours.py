"""The hidden Markov model as a Bayesian network on the compiled engine."""

from collections.abc import Callable

import numpy as np
from inputs import LENGTH, STATES, parameters, weights

from whp.algorithms.marginalization.network_queries import NetworkEngine
from whp.theory.foundations.bayesian_networks import BayesianNetwork, DiscreteNode


def prepare() -> Callable[[], np.ndarray]:
    """Compile the network."""
    start, move, emit = parameters()
    hidden = [str(k) for k in range(STATES)]
    nodes = [DiscreteNode("z0", hidden, (), start)]
    nodes += [DiscreteNode(f"z{t}", hidden, (f"z{t - 1}",), move[t - 1]) for t in range(1, LENGTH)]
    nodes += [DiscreteNode(f"x{t}", ("0", "1"), (f"z{t}",), emit[t]) for t in range(LENGTH)]
    engine = NetworkEngine(BayesianNetwork(nodes))
    stacked = weights()
    given = {f"x{t}": stacked[:, t] for t in range(LENGTH)}
    return lambda: engine.log_evidence_batch(given)
