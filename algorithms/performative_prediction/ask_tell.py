"""Ask-and-tell front end: decisions go out to whatever deploys them, samples come back when they are ready."""

import threading
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .budget import Budget
from .descent import Deployment, DescentResult, Method, Run, check_method
from .oracle import DecisionOracle, refuse_shared_samples
from .projections import DecisionSet

__all__ = ["AskTell", "Ticket"]

Array = NDArray[np.float64]


class Ticket(NamedTuple):
    """A request: draw so many ``samples`` at ``decision`` and hand them back under ``number``."""

    number: int
    decision: Array
    samples: int


class AskTell:
    """A method run from outside, with as many parallel workers as one likes.

    ``ask`` never waits: it returns a ticket, or ``None`` when everything of the current stage is out (or the run is
    over, see ``finished``). The samples of one stage may be split into tickets of any size and told in any order; the
    result depends on neither.

    Parameters
    ----------
    oracle : DecisionOracle
        Loss and gradient; its sampler is not used. Without replicates.
    start : array_like, shape (d,)
        First decision.
    method : Method
        Zeroth-order method.
    budget : Budget or int
        Samples.
    rng : numpy.random.Generator
        Source of randomness.
    decision_set : DecisionSet, optional
        Decisions are projected onto it.
    deploy : {"free", "feasible"}, optional
        As in `minimise`.

    Raises
    ------
    TypeError, ValueError
        If an argument is malformed.

    Examples
    --------
    >>> from whp.algorithms.performative_prediction import TwoPointDescent
    >>> oracle = DecisionOracle(1, lambda x, xi: (x - xi[:, 0]) ** 2)
    >>> run = AskTell(oracle, [1.0], TwoPointDescent(0.1, 0.1, 4), 80, np.random.default_rng(0))
    >>> while not run.finished:
    ...     ticket = run.ask(at_most=3)
    ...     run.tell(ticket.number, np.full((ticket.samples, 1), 0.5 * ticket.decision[0]))
    >>> run.result().samples
    80
    """

    def __init__(
        self,
        oracle: DecisionOracle,
        start: ArrayLike,
        method: Method,
        budget: Budget | int,
        rng: np.random.Generator,
        decision_set: DecisionSet | None = None,
        deploy: Literal["free", "feasible"] = "free",
    ) -> None:
        if not isinstance(oracle, DecisionOracle):
            raise TypeError(f"oracle must be a DecisionOracle, got {type(oracle).__name__}")
        check_method(method)
        if oracle.replicates is not None:
            raise ValueError(f"AskTell serves one run, got an oracle with {oracle.replicates} replicates")
        limit = budget if isinstance(budget, Budget) else Budget(budget)
        self._run = Run(oracle, start, limit, rng, decision_set, deploy)
        self._plan = method.iterate(self._run)
        self._lock = threading.Lock()
        self._number = 0
        self._inspected = False
        self._stage: tuple[Deployment, ...] = ()
        self.finished = False
        try:
            self._enter(next(self._plan))
        except StopIteration:
            raise ValueError(
                f"the budget of {limit.samples} samples does not pay one step of {type(method).__name__}"
            ) from None

    def _enter(self, stage: tuple[Deployment, ...]) -> None:
        """Start a stage: nothing handed out, nothing received."""
        self._stage = stage
        self._handed = [0] * len(stage)
        self._received: list[dict[int, Array]] = [{} for _ in stage]
        self._out: dict[int, tuple[int, int, int]] = {}  # number -> (deployment, first sample, count)

    def ask(self, at_most: int | None = None) -> Ticket | None:
        """Next request, of no more than ``at_most`` samples; ``None`` when there is nothing to hand out now.

        Raises
        ------
        ValueError
            If ``at_most`` is below one.
        """
        if at_most is not None and (isinstance(at_most, bool) or not isinstance(at_most, (int, np.integer))):
            raise TypeError(f"at_most must be an integer, got {at_most!r}")
        if at_most is not None and at_most < 1:
            raise ValueError(f"at_most must be at least 1, got {at_most}")
        with self._lock:
            if self.finished:
                return None
            for index, deployment in enumerate(self._stage):
                left = deployment.samples - self._handed[index]
                if left:
                    count = left if at_most is None else min(left, at_most)
                    self._out[self._number] = (index, self._handed[index], count)
                    self._handed[index] += count
                    self._number += 1
                    return Ticket(self._number - 1, deployment.decision.copy(), count)
            return None

    def tell(self, number: int, samples: Any) -> None:
        """Hand back the samples of a ticket.

        Raises
        ------
        KeyError
            If the ticket is unknown or was told before.
        OracleError
            If the samples have the wrong shape or are not finite (the ticket stays open), or the first two sides of a
            two-point estimate are the same samples.
        """
        with self._lock:
            if number not in self._out:
                raise KeyError(f"ticket {number} is not outstanding")
            index, first, count = self._out[number]
            checked = self._run.oracle.check_samples(samples, count)
            del self._out[number]
            self._received[index][first] = checked
            whole = all(
                sum(map(len, got.values())) == d.samples for got, d in zip(self._received, self._stage, strict=True)
            )
            if whole:
                self._advance()

    def _advance(self) -> None:
        """Give the completed stage to the method and enter the next one."""
        batches = tuple(np.concatenate([got[k] for k in sorted(got)]) for got in self._received)
        if len(batches) == 2 and not self._inspected:
            refuse_shared_samples(batches)
            self._inspected = True
        self._run.spent += sum(d.samples for d in self._stage)
        try:
            self._enter(self._plan.send(batches))
        except StopIteration:
            self.finished = True
            self._stage = ()

    def result(self) -> DescentResult:
        """The run so far.

        Raises
        ------
        ValueError
            If no iteration has been completed.
        """
        with self._lock:
            if self._run.iteration == 0:
                raise ValueError("no iteration has been completed yet")
            return self._run.result()
