"""Parameters and observations of an inhomogeneous hidden Markov model."""

import numpy as np

LENGTH, STATES, BATCH = 784, 16, 256


def parameters() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Start (states,), transitions (length - 1, states, states) and emissions (length, states, 2)."""
    rng = np.random.default_rng(0)
    start = rng.dirichlet(np.ones(STATES))
    move = rng.dirichlet(np.ones(STATES), size=(LENGTH - 1, STATES))
    emit = rng.dirichlet(np.ones(2), size=(LENGTH, STATES))
    return start, move, emit


def observations() -> tuple[np.ndarray, np.ndarray]:
    """Zeros and ones (256, length), and a mask of what is summed out."""
    rng = np.random.default_rng(1)
    return rng.integers(0, 2, size=(BATCH, LENGTH)), rng.random((BATCH, LENGTH)) < 0.5


def weights() -> np.ndarray:
    """The same as virtual-evidence weights, shape (256, length, 2)."""
    x, mask = observations()
    result = np.ones((BATCH, LENGTH, 2))
    result[~mask & (x == 0), 1] = 0.0
    result[~mask & (x == 1), 0] = 0.0
    return result
