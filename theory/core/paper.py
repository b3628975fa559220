"""A published paper, as far as whp needs to cite it."""

from __future__ import annotations

import re
from dataclasses import dataclass

_SLUG = re.compile(r"[a-z][a-z0-9_]*\Z")


@dataclass(frozen=True)
class Paper:
    """A paper whose theorems whp states.

    Parameters
    ----------
    slug : str
        The one name of the paper in every folder: lower case, digits and underscores.
    title, venue : str
        As printed.
    authors : tuple of str
        In the printed order.
    arxiv : str, optional
        Identifier such as ``"2506.12020"``; empty when there is none.

    Raises
    ------
    ValueError
        If the slug is not an identifier in lower case, or the title or authors are empty.

    Examples
    --------
    >>> Paper("perceptron", "The perceptron", ("A. Novikoff",), "1962").slug
    'perceptron'
    """

    slug: str
    title: str
    authors: tuple[str, ...]
    venue: str
    arxiv: str = ""

    def __post_init__(self) -> None:
        if not _SLUG.match(self.slug):
            raise ValueError(f"slug must be a lower-case identifier such as 'optimal_design', got {self.slug!r}")
        if not self.title or not self.authors:
            raise ValueError(f"paper {self.slug!r} needs a title and at least one author")
