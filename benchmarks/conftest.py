"""Every benchmark runs on one thread: a second one changes bits and, on small arrays, mostly waits."""

from collections.abc import Iterator

import pytest
from threadpoolctl import threadpool_limits

collect_ignore = ["peers", "overhead_theorems.py"]  # scripts for other environments


@pytest.fixture(autouse=True, scope="session")
def one_thread() -> Iterator[None]:
    """Limit the linear-algebra libraries loaded so far and later to one thread."""
    with threadpool_limits(limits=1):
        yield
