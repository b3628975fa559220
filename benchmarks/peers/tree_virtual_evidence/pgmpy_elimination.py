"""Queries one by one with pgmpy's VariableElimination and its virtual_evidence argument."""

from collections.abc import Callable

import numpy as np
from inputs import ANSWERED, TARGET, likelihoods, tree

UNITS = ANSWERED


def prepare() -> Callable[[], list[np.ndarray]]:
    """Build the network and the evidence factors."""
    from pgmpy.factors.discrete import TabularCPD
    from pgmpy.inference import VariableElimination
    from pgmpy.models import DiscreteBayesianNetwork

    parents, tables = tree()
    model = DiscreteBayesianNetwork([(f"X{mother}", f"X{i}") for i, mother in enumerate(parents) if mother >= 0])
    for i, (mother, table) in enumerate(zip(parents, tables, strict=True)):
        given = {"evidence": [f"X{mother}"], "evidence_card": [2]} if mother >= 0 else {}
        model.add_cpds(TabularCPD(f"X{i}", 2, table.T if mother >= 0 else table[:, None], **given))
    engine = VariableElimination(model)
    soft = [
        [TabularCPD(f"X{i}", 2, row[i][:, None]) for i in range(64) if i != TARGET] for row in likelihoods()[:ANSWERED]
    ]
    return lambda: [engine.query([f"X{TARGET}"], virtual_evidence=one, show_progress=False).values for one in soft]
