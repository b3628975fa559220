"""The named places in a check that an implementation can take."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Slot:
    """A place for an implementation, with what it is called with and what it must return.

    Parameters
    ----------
    name : str
        The keyword under which a check receives the subject, such as ``"design_solver"``.
    signature : str
        The call as a user would write it: argument names in order, e.g. ``"(problem, rng)"``.
    arguments : str
        Meaning, shapes and units of the arguments.
    returns : str
        Type, shape and unit of the result.
    parameters : tuple of str
        Positional argument names the subject is called with; the engine verifies that the subject accepts them.
    stateful : bool
        When true the subject is a factory: it is called afresh for each replicate and returns a new object.
    validate : callable, optional
        ``(output, *arguments) -> None``; raises ``TypeError`` or ``ValueError`` naming shape or dtype when the
        output is not of the declared kind.  Never judges whether the output is *right*.
    protocol : type, optional
        The `typing.Protocol` that a type checker can hold an implementation to.

    Examples
    --------
    >>> Slot("estimator", "(sample)", "sample: array (n,)", "float", ("sample",)).name
    'estimator'
    """

    name: str
    signature: str
    arguments: str
    returns: str
    parameters: tuple[str, ...]
    stateful: bool = False
    validate: Callable[..., None] | None = None
    protocol: type | None = None

    def __post_init__(self) -> None:
        if not self.name.isidentifier():
            raise ValueError(f"slot name must be an identifier, got {self.name!r}")
