"""Random streams as a function of the campaign's seed and of names, never of order or of workers."""

from __future__ import annotations

import hashlib

import numpy as np


def words(*names: str | int) -> tuple[int, ...]:
    """Eight 32-bit words that identify a tuple of names."""
    digest = hashlib.sha256("\x1f".join(map(str, names)).encode()).digest()
    return tuple(int.from_bytes(digest[i : i + 4], "little") for i in range(0, 32, 4))


def stream(seed: int, *names: str | int) -> np.random.Generator:
    """Generator for one named piece of work of a campaign.

    Examples
    --------
    >>> a, b = stream(0, "T1/x", "breadth", 3), stream(0, "T1/x", "breadth", 3)
    >>> bool(a.random() == b.random())
    True
    """
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=words(*names))))


def integer_seed(seed: int, *names: str | int) -> int:
    """A 64-bit seed for a library that takes an integer."""
    return int(np.random.SeedSequence(seed, spawn_key=words(*names)).generate_state(1, np.uint64)[0])
