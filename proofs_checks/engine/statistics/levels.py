r"""Levels of checks and campaigns, and the prefix rule that makes the order of arrival irrelevant.

A check-run refutes when its e-process reaches ``1 / REFUTATION_LEVEL``. By Ville's inequality [1]_ that happens to
a true claim with probability at most ``REFUTATION_LEVEL``, whenever and however often one looks. By the union bound
a campaign of ``N`` check-runs, however they were selected and however dependent they are, raises a false alarm with
probability at most ``N * REFUTATION_LEVEL``: a re-run with a new seed is one more run and never resets what is
spent; a re-run with the same seed gives the same data and spends nothing.

References
----------
.. [1] J. Ville, Étude critique de la notion de collectif, Gauthier-Villars, 1939.
.. [2] V. Vovk, R. Wang, E-values: calibration, combination and applications, Ann. Statist. 49, 2021 (averages of
   e-values).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, Generic, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from whp.proofs_checks.engine.statistics.arguments import count, positive_count
from whp.proofs_checks.engine.statistics.arguments import level as checked_level

__all__ = [
    "HOLDS_LEVEL",
    "REFUTATION_LEVEL",
    "BlockPrefix",
    "PrefixDecision",
    "campaign_level",
    "false_alarm_chance",
    "log_mean_e_value",
    "per_check_level",
    "shortest_deciding_prefix",
    "split_level",
]

REFUTATION_LEVEL: Final = 1e-10
"""Level of one check-run: the chance that a true claim is ever refuted by it."""

HOLDS_LEVEL: Final = 1e-3
"""Level of the statements that accompany ``holds`` (confidence intervals): reports, not alarms, hence looser."""

Evidence = TypeVar("Evidence")
Decision = TypeVar("Decision")


def split_level(level: float, parts: int) -> float:
    """Level left for each of several instances of one claim (Bonferroni).

    Parameters
    ----------
    level : float
        Level of the whole claim, in ``(0, 1)``.
    parts : int
        Number of fixed instances, at least 1.

    Returns
    -------
    float
        ``level / parts``: the instance whose own e-value reaches ``parts / level`` is refuted by name. The claim as
        a whole may be refuted earlier, by `log_mean_e_value`.

    Examples
    --------
    >>> split_level(1e-10, 4)
    2.5e-11
    """
    return checked_level(level, "level") / positive_count(parts, "parts")


def per_check_level(campaign: float, checks: int) -> float:
    """Level for each check so that a whole campaign stays under a target.

    Parameters
    ----------
    campaign : float
        Target for the whole campaign, in ``(0, 1)``.
    checks : int
        Number of check-runs, at least 1.

    Returns
    -------
    float
        ``campaign / checks``.

    Examples
    --------
    >>> f"{per_check_level(1e-6, 2877):.2e}"
    '3.48e-10'
    """
    return checked_level(campaign, "campaign") / positive_count(checks, "checks")


def campaign_level(runs: int, level: float = REFUTATION_LEVEL) -> float:
    """Bound the chance that any of many check-runs, dependent or not, selected or not, refutes a true claim.

    Parameters
    ----------
    runs : int
        Check-runs so far, re-runs included.
    level : float
        Level of each.

    Returns
    -------
    float
        ``min(1, runs * level)``.

    Examples
    --------
    >>> campaign_level(10_000)
    1e-06
    """
    return min(1.0, count(runs, "runs") * checked_level(level, "level"))


def false_alarm_chance(runs: int, level: float) -> float:
    """Chance that at least one of many independent tests of true claims raises an alarm.

    Each does with chance exactly `level`: what happens when every check of a suite has its own level.

    Parameters
    ----------
    runs : int
        Number of tests.
    level : float
        Chance of an alarm in each.

    Returns
    -------
    float
        ``1 - (1 - level)**runs``, without cancellation.

    Examples
    --------
    >>> f"{false_alarm_chance(2877, 1e-4):.1%}"
    '25.0%'
    """
    return -math.expm1(count(runs, "runs") * math.log1p(-checked_level(level, "level")))


def log_mean_e_value(log_e_values: ArrayLike) -> float:
    """Log of the average of e-values: evidence against "every one of these claims is true".

    The average of e-processes is an e-process under any dependence [2]_, and it reaches ``1 / level`` whenever one
    member reaches ``members / level``: never weaker than splitting the level.

    Parameters
    ----------
    log_e_values : array_like
        Log e-values, one per fixed instance; infinities allowed, nan not.

    Returns
    -------
    float
        ``log(mean(exp(log_e_values)))``.

    Examples
    --------
    >>> log_mean_e_value([0.0, 0.0])
    0.0
    >>> round(log_mean_e_value([-math.inf, 1000.0]), 6)
    999.306853
    """
    values = np.asarray(log_e_values, dtype=np.float64).ravel()
    if values.size == 0 or np.isnan(values).any():
        raise ValueError(f"log_e_values must be a nonempty array without nan, got {log_e_values!r}")
    largest = float(values.max())
    if math.isinf(largest):
        return largest
    return largest + math.log(float(np.mean(np.exp(values - largest))))


@dataclass(frozen=True, slots=True)
class PrefixDecision(Generic[Evidence, Decision]):
    """What the shortest deciding prefix of blocks says.

    Attributes
    ----------
    blocks : int
        Number of leading blocks used; all contiguous ones when there is no decision.
    evidence : Evidence or None
        Their merged evidence, None when there is no block.
    decision : Decision or None
        None while undecided.
    """

    blocks: int
    evidence: Evidence | None
    decision: Decision | None


@dataclass(slots=True)
class BlockPrefix(Generic[Evidence, Decision]):
    """Folds blocks in the order of their index, in whatever order they arrive.

    Blocks that arrive early wait. The fold stops at the first prefix that decides, so that the result is a function
    of the blocks alone: neither the number of workers nor their speed can change it. Looking after each block only
    is looking at fewer times than an e-process allows.

    Parameters
    ----------
    decide : callable
        Merged evidence to decision, or None while undecided.
    merge : callable
        Merges two pieces of evidence, exactly associative.

    Examples
    --------
    >>> prefix = BlockPrefix(decide=lambda total: "enough" if total >= 5 else None, merge=lambda a, b: a + b)
    >>> prefix.add(2, 100).decision is None, prefix.add(0, 3).decision is None
    (True, True)
    >>> prefix.add(1, 2)
    PrefixDecision(blocks=2, evidence=5, decision='enough')
    """

    decide: Callable[[Evidence], Decision | None]
    merge: Callable[[Evidence, Evidence], Evidence]
    _waiting: dict[int, Evidence] = field(default_factory=dict, init=False)
    _state: PrefixDecision[Evidence, Decision] = field(
        default_factory=lambda: PrefixDecision(0, None, None), init=False
    )

    @property
    def state(self) -> PrefixDecision[Evidence, Decision]:
        """What is known so far."""
        return self._state

    def add(self, index: int, evidence: Evidence) -> PrefixDecision[Evidence, Decision]:
        """Take in one block.

        Parameters
        ----------
        index : int
            Index of the block, from 0; each may be given once.
        evidence : Evidence
            What the block found.

        Returns
        -------
        PrefixDecision
            What is known now; does not change any more once decided.

        Raises
        ------
        ValueError
            If the block was given before and is still of use.
        """
        index = count(index, "index")
        if index in self._waiting or (index < self._state.blocks and self._state.decision is None):
            raise ValueError(f"block {index} was given twice; a block may be merged once only")
        if self._state.decision is None:
            self._waiting[index] = evidence
            self._advance()
        return self._state

    def _advance(self) -> None:
        """Fold every waiting block that continues the prefix, up to the decision."""
        while self._state.decision is None and self._state.blocks in self._waiting:
            block = self._waiting.pop(self._state.blocks)
            merged = block if self._state.evidence is None else self.merge(self._state.evidence, block)
            self._state = PrefixDecision(self._state.blocks + 1, merged, self.decide(merged))
        if self._state.decision is not None:
            self._waiting.clear()


def shortest_deciding_prefix(
    blocks: Mapping[int, Evidence] | Iterable[Evidence],
    decide: Callable[[Evidence], Decision | None],
    merge: Callable[[Evidence, Evidence], Evidence],
) -> PrefixDecision[Evidence, Decision]:
    """Decide from the shortest prefix of block indices that suffices.

    Parameters
    ----------
    blocks : mapping from int, or iterable
        Evidence by block index (indices missing in between end the prefix), or in the order of the index. An
        iterable is read only as far as needed.
    decide : callable
        Merged evidence to decision, or None while undecided.
    merge : callable
        Merges two pieces of evidence, exactly associative.

    Returns
    -------
    PrefixDecision
        Blocks used, their merged evidence and the decision.

    Examples
    --------
    >>> shortest_deciding_prefix({1: 2, 0: 3, 3: 9}, lambda total: total >= 5 or None, lambda a, b: a + b)
    PrefixDecision(blocks=2, evidence=5, decision=True)
    """
    prefix = BlockPrefix(decide, merge)
    ordered = ((i, blocks[i]) for i in sorted(blocks)) if isinstance(blocks, Mapping) else enumerate(blocks)
    for index, evidence in ordered:
        prefix.add(index, evidence)
        if prefix.state.decision is not None:
            break
    return prefix.state
