"""Verdicts: what exactly was established, in two columns that are never mixed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Kind(StrEnum):
    """The words a verdict is made of; the order is the order of alarm, least first."""

    NOT_APPLICABLE = "not applicable"
    PROVED = "proved"
    HOLDS = "holds"
    CONSISTENT = "consistent"
    UNAVAILABLE = "unavailable"
    VACUOUS = "vacuous"
    INCONCLUSIVE = "inconclusive"
    INCONSISTENT = "inconsistent"
    REFUTED = "refuted"
    ERROR = "error"

    @property
    def alarm(self) -> int:
        """Position in the order of alarm."""
        return list(Kind).index(self)


PASSES = frozenset({Kind.PROVED, Kind.HOLDS, Kind.CONSISTENT})
"""Verdicts that establish something in favour of a claim."""


@dataclass(frozen=True)
class Verdict:
    """One verdict with its scope.

    Parameters
    ----------
    kind : Kind
        The word.
    text : str
        One sentence: what was established, on which instances, at which level.
    scope : str
        The instances, in words.
    details : mapping
        Numbers behind the sentence (counts, worst slack, tightness, margin, levels).
    """

    kind: Kind
    text: str
    scope: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)

    @property
    def passed(self) -> bool:
        """Whether it establishes something in favour of the claim."""
        return self.kind in PASSES


def worst(verdicts: Iterable[Verdict], nothing: str) -> Verdict:
    """Combine verdicts of several checks into that of the theorem: the most alarming one speaks.

    Parameters
    ----------
    verdicts : iterable of Verdict
        One per check.
    nothing : str
        Why there is none, for the case that there is none.

    Examples
    --------
    >>> worst([Verdict(Kind.HOLDS, "a"), Verdict(Kind.REFUTED, "b")], "no check").text
    'b'
    """
    chosen = list(verdicts)
    if not chosen:
        return Verdict(Kind.NOT_APPLICABLE, nothing)
    alarming = max(chosen, key=lambda v: v.kind.alarm)
    if len(chosen) == 1 or alarming.kind not in PASSES:
        return alarming
    passed = [v for v in chosen if v.passed]
    scope = "; ".join(dict.fromkeys(v.scope for v in passed if v.scope))
    texts = [_together([v for v in passed if v.kind is kind]) for kind in Kind if any(v.kind is kind for v in passed)]
    return Verdict(alarming.kind, "; ".join(texts), scope, alarming.details)


def _together(verdicts: list[Verdict]) -> str:
    """One sentence for several passes: instances and replicates added up, the tightest ratio of all."""
    if len(verdicts) == 1:
        return verdicts[0].text
    numbers = [v.details for v in verdicts]
    instances = sum(d["instances"] - d["vacuous"] for d in numbers if isinstance(d.get("instances"), int))
    replicates = sum(d["replicates"] for d in numbers if isinstance(d.get("replicates"), int))
    ratios = [d["tightness"] for d in numbers if d.get("tightness") is not None]
    parts = [f"no violation in {instances} instances"] if instances else []
    parts += [f"not refuted in {replicates} replicates"] if replicates else []
    parts += [f"tightest {max(ratios):.6g} of the bound"] if ratios else []
    if not parts:
        return "; ".join(dict.fromkeys(v.text for v in verdicts))
    return f"{len(verdicts)} checks: {'; '.join(parts)}"
