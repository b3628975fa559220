"""What a theorem assumes of an instance, as a predicate that can be evaluated."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Assumption:
    """A named hypothesis of a theorem.

    Instances that break it can still be built: the constructor of a problem checks only that the problem is
    well formed.  The engine evaluates ``holds`` on each instance and counts the instances it sets aside.

    Parameters
    ----------
    name : str
        Short name, unique within the theorem.
    statement : str
        What is assumed, in the paper's notation.
    holds : callable
        ``instance -> bool``.

    Examples
    --------
    >>> positive = Assumption("positive", "x > 0", lambda x: x > 0)
    >>> positive.holds(3), positive.holds(-1)
    (True, False)
    """

    name: str
    statement: str
    holds: Callable[[Any], bool]
