"""Searching and shrinking structured instances with hypothesis, made a function of the seed alone.

hypothesis mines constants from whichever modules happen to be imported, and bounds its shrinking by seconds; both would
make the stream depend on more than the seed, so both are neutralised here.  The shim touches two private places of
hypothesis; it is guarded (an unknown version falls back to plain hypothesis, reported by `deterministic`) and tested
against the pinned version.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator
from typing import Any

MAX_SHRINKS = 400  # successful shrinks; each costs a handful of observations
MAX_SHRINK_CALLS = 3000  # observations made while shrinking; further ones are waved through


class _FoundError(Exception):
    """Raised inside hypothesis to mark an interesting example."""


@contextlib.contextmanager
def deterministic() -> Iterator[bool]:
    """Make hypothesis's stream a function of the seed; yields whether the shim took hold."""
    from hypothesis.internal.conjecture import engine
    from hypothesis.internal.conjecture import providers as hypothesis_providers

    providers: Any = hypothesis_providers  # private: not for the type checker

    try:
        empty = providers.Constants(integers=[], floats=[], bytes=[], strings=[])
        mined, shrinks, seconds = providers._get_local_constants, engine.MAX_SHRINKS, engine.MAX_SHRINKING_SECONDS
        cache = providers.CONSTANTS_CACHE.cache
    except (AttributeError, TypeError):
        yield False
        return
    providers._get_local_constants = lambda: empty
    engine.MAX_SHRINKS, engine.MAX_SHRINKING_SECONDS = MAX_SHRINKS, 10**9
    cache.clear()
    try:
        yield True
    finally:
        providers._get_local_constants = mined
        engine.MAX_SHRINKS, engine.MAX_SHRINKING_SECONDS = shrinks, seconds
        cache.clear()


def search(
    strategy: Any, observe: Callable[[Any], tuple[bool, float]], *, seed: int, examples: int
) -> tuple[Any, bool] | None:
    """Search a strategy for an instance that violates a claim, and shrink the first one found.

    Parameters
    ----------
    strategy : hypothesis strategy
        Draws instances.
    observe : callable
        ``instance -> (violated, slack)``; called once per example.  The slack guides the search where it is finite.
    seed : int
        The stream.
    examples : int
        How many examples are drawn.

    Returns
    -------
    tuple of instance and bool, or None
        The smallest violating instance in hypothesis's order, and whether shrinking ended by itself; None without
        a violation.
    """
    import hypothesis

    smallest: list[Any] = []
    calls = 0

    def run(instance: Any) -> None:
        nonlocal calls
        if smallest:
            calls += 1
            if calls > MAX_SHRINK_CALLS:
                return
        violated, slack = observe(instance)
        if violated:
            smallest[:] = [instance]  # hypothesis only tries smaller ones from now on
            raise _FoundError
        if math.isfinite(slack) and not smallest:
            hypothesis.target(-slack, label="slack")

    settings = _settings(examples, shrink=True)
    test = hypothesis.seed(seed)(settings(hypothesis.given(strategy)(run)))  # type: ignore[no-untyped-call]
    with deterministic():
        try:
            test()
        except _FoundError:
            pass
        except Exception as error:
            if not smallest or not _is_flaky(error):
                raise
    return (smallest[0], calls <= MAX_SHRINK_CALLS) if smallest else None


def drawn(strategy: Any, seed: int, examples: int) -> list[Any]:
    """Draw instances from a strategy, as a function of the seed."""
    import hypothesis

    kept: list[Any] = []

    def keep(instance: Any) -> None:
        kept.append(instance)

    settings = _settings(examples, shrink=False)
    test = hypothesis.seed(seed)(settings(hypothesis.given(strategy)(keep)))  # type: ignore[no-untyped-call]
    with deterministic():
        test()
    return kept


def _settings(examples: int, *, shrink: bool) -> Any:
    """Every field set, so that no profile of the user's changes the stream."""
    from hypothesis import HealthCheck, Phase, Verbosity, settings

    return settings(
        max_examples=examples,
        database=None,
        deadline=None,
        derandomize=False,
        print_blob=False,
        report_multiple_bugs=False,
        stateful_step_count=50,
        verbosity=Verbosity.quiet,
        phases=(Phase.generate, Phase.target, Phase.shrink) if shrink else (Phase.generate,),
        suppress_health_check=list(HealthCheck),
        backend="hypothesis",
    )


def _is_flaky(error: Exception) -> bool:
    """Whether hypothesis complains that an example stopped failing, which waving examples through makes it do."""
    import hypothesis.errors

    return isinstance(error, hypothesis.errors.Flaky) or "Flaky" in type(error).__name__
