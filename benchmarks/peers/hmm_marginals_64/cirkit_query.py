"""libcirkit's HMM template with our parameters, queried with a mask per row."""

from collections.abc import Callable

import numpy as np
from inputs import LENGTH, STATES, observations, parameters


def prepare() -> Callable[[], np.ndarray]:
    """Compile the circuit and write the parameters into it."""
    import torch
    from cirkit.backend.torch.queries import IntegrateQuery
    from cirkit.pipeline import PipelineContext
    from cirkit.templates import pgms

    torch.set_num_threads(1)
    symbolic = pgms.hmm(
        list(range(LENGTH)), "categorical", num_latent_states=STATES, input_layer_kwargs={"num_categories": 2}
    )
    circuit = PipelineContext(backend="torch", semiring="lse-sum", fold=True, optimize=True).compile(symbolic)
    start, move, emit = parameters()
    first, *sums = list(circuit.layers)
    order = first.scope_idx.flatten().tolist()
    tables = [emit[order], *(table[None] for table in move[::-1]), start[None, None]]
    with torch.no_grad():
        for layer, table in zip((first, *sums), tables, strict=True):
            (parameter,) = layer.parameters()
            parameter.copy_(torch.tensor(np.log(table)).reshape(parameter.shape))
    query = IntegrateQuery(circuit)
    x, mask = (torch.tensor(array) for array in observations())

    def run() -> np.ndarray:
        with torch.no_grad():
            return query(x, integrate_vars=mask).flatten().numpy()

    return run
