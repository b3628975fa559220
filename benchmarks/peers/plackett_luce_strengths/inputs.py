"""Rankings of random subsets drawn from the model: utilities N(0, 1) plus Gumbel noise, sorted."""

import numpy as np


def rankings(n_items: int, n_rankings: int, size: int, seed: int = 0) -> list[tuple[int, ...]]:
    """Rankings, best first; with these sizes and seed all items are connected, so the maximum is finite."""
    rng = np.random.default_rng(seed)
    theta = rng.normal(size=n_items)
    data = []
    for _ in range(n_rankings):
        items = rng.choice(n_items, size=size, replace=False)
        data.append(tuple(int(i) for i in items[np.argsort(-(theta[items] + rng.gumbel(size=size)))]))
    return data


def centred(strengths: object) -> np.ndarray:
    """Strengths with sum zero."""
    values = np.asarray(strengths, dtype=float)
    return values - values.mean()
