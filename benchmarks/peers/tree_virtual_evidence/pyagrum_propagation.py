"""Queries one by one on one compiled LazyPropagation whose likelihoods are changed."""

from collections.abc import Callable

import numpy as np
from inputs import ANSWERED, TARGET, likelihoods, tree

UNITS = 200


def prepare() -> Callable[[], list[np.ndarray]]:
    """Build the network and an engine that has seen evidence on the same variables."""
    import pyagrum as gum

    parents, tables = tree()
    network = gum.BayesNet("digits")
    for i in range(64):
        network.add(gum.LabelizedVariable(f"X{i}", f"X{i}", 2))
    for i, mother in enumerate(parents):
        if mother >= 0:
            network.addArc(f"X{mother}", f"X{i}")
    for i, (mother, table) in enumerate(zip(parents, tables, strict=True)):
        if mother < 0:
            network.cpt(f"X{i}").fillWith(table.tolist())
        else:
            for state in (0, 1):
                network.cpt(f"X{i}")[{f"X{mother}": state}] = table[state].tolist()
    stacked = likelihoods()[:UNITS]
    names = [f"X{i}" for i in range(64) if i != TARGET]
    rows = [[row[i].tolist() for i in range(64) if i != TARGET] for row in stacked]
    engine = gum.LazyPropagation(network)
    engine.setTargets({f"X{TARGET}"})
    engine.setEvidence(dict(zip(names, rows[0], strict=True)))
    engine.makeInference()

    def run() -> list[np.ndarray]:
        posteriors = []
        for row in rows:
            for name, weights in zip(names, row, strict=True):
                engine.chgEvidence(name, weights)
            engine.makeInference()
            posteriors.append(engine.posterior(f"X{TARGET}").toarray())
        return posteriors

    return run


def answer(result: list[np.ndarray]) -> list[np.ndarray]:
    """The first posteriors."""
    return result[:ANSWERED]
