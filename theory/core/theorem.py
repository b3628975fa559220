"""A theorem as data: what is claimed, under which assumptions, by whom, and which verdict whp stands for."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, get_args

from whp.theory.core.assumption import Assumption
from whp.theory.core.bound import Bound
from whp.theory.core.paper import Paper

Provenance = Literal["paper", "reported", "corrected", "derived", "prior"]
"""``paper``: its own words were read.  ``reported``: known through abstracts, code or summaries.  ``corrected``:
repairs a refuted statement.  ``derived``: worked out here.  ``prior``: a known result that the paper rests on."""

Expected = Literal["proved", "holds", "refuted", "consistent", "inconsistent", "inconclusive", "vacuous"]
"""The verdict that whp stands for."""

_ID = re.compile(r"[a-z][a-z0-9_]*\.[A-Za-z0-9_\-]+\Z")


@dataclass(frozen=True)
class Claim:
    """One relation between two sides, for display and for evaluation.

    ``left`` and ``relation`` are text; ``right`` is text or a `Bound` that can be evaluated and inverted.

    Examples
    --------
    >>> Claim("mistakes", "<=", "(R / margin)**2").text
    'mistakes <= (R / margin)**2'
    """

    left: str
    relation: Literal["<=", ">=", "=", "~", "=>"]
    right: Bound | str

    @property
    def text(self) -> str:
        """The relation in one line."""
        right = self.right if isinstance(self.right, str) else self.right.name
        return f"{self.left} {self.relation} {right}"


@dataclass(frozen=True, kw_only=True)
class Theorem:
    """A statement that checks and proofs can be bound to.

    Parameters
    ----------
    id : str
        ``slug.name``; the slug is the paper's.
    paper : Paper
        Where the statement comes from or which it serves.
    title : str
        A few words for tables.
    locator : str
        Where in the paper: ``"Theorem 4.1"``; empty for derived statements, which never carry the paper's numbers.
    statement : str
        The whole statement in words and formulas.
    assumptions : tuple of Assumption
        Hypotheses, evaluated on each instance.
    claim : Claim
        The relation that is decided.
    provenance : Provenance
        Whose statement it is.
    reading : str
        For reported statements: the source and the reading chosen for unclear points.  Required there.
    expected : Expected
        The verdict whp stands for.
    not_claimed : str
        What the statement does not say, so that it is not read into it.
    corrects : str
        For corrected statements: the id of the refuted one.

    Raises
    ------
    ValueError
        If the id does not start with the paper's slug, a reported statement has no reading, a derived one carries a
        locator, or provenance and expected are not among the declared words.
    """

    id: str
    paper: Paper
    title: str
    statement: str
    claim: Claim
    provenance: Provenance
    locator: str = ""
    assumptions: tuple[Assumption, ...] = ()
    reading: str = ""
    expected: Expected = "holds"
    not_claimed: str = ""
    corrects: str = ""

    def __post_init__(self) -> None:
        if not _ID.match(self.id) or self.id.split(".")[0] != self.paper.slug:
            raise ValueError(f"id must be '{self.paper.slug}.NAME', got {self.id!r}")
        if self.provenance not in get_args(Provenance):
            raise ValueError(f"provenance of {self.id} must be one of {get_args(Provenance)}, got {self.provenance!r}")
        if self.expected not in get_args(Expected):
            raise ValueError(f"expected of {self.id} must be one of {get_args(Expected)}, got {self.expected!r}")
        if self.provenance == "reported" and not self.reading:
            raise ValueError(f"{self.id} is reported: say from which source and under which reading")
        if self.provenance == "derived" and self.locator:
            raise ValueError(f"{self.id} is derived here and must not carry the paper's locator {self.locator!r}")
        if (self.provenance == "corrected") != bool(self.corrects):
            raise ValueError(f"{self.id}: provenance 'corrected' and the field corrects go together")

    @property
    def bound(self) -> Bound | None:
        """The evaluable right-hand side, when the claim has one."""
        return self.claim.right if isinstance(self.claim.right, Bound) else None

    @property
    def announcement(self) -> str:
        """The statement as a verdict on it is announced: a reported one as reported, under the reading chosen."""
        if self.provenance != "reported":
            return self.statement
        where = f" ({self.locator})" if self.locator else ""
        return f"As reported{where}: {self.statement} Under the reading: {self.reading}"

    def _repr_html_(self) -> str:
        from html import escape

        rows = [("statement", self.statement), ("claim", self.claim.text), ("provenance", self.provenance)]
        rows += [(f"assumes {a.name}", a.statement) for a in self.assumptions]
        rows += [(k, v) for k, v in (("reading", self.reading), ("not claimed", self.not_claimed)) if v]
        body = "".join(f"<tr><th>{escape(k)}</th><td>{escape(v)}</td></tr>" for k, v in rows)
        return f"<table><caption>{escape(self.id)}: {escape(self.title)}</caption>{body}</table>"
