"""Text without the characters that no XML or HTML document can hold."""

from __future__ import annotations

import re

_UNPRINTABLE = re.compile("[^\t\n\r\u0020-\u007e\u00a0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def printable(text: str) -> str:
    r"""Replace control characters and lone surrogates.

    Examples
    --------
    >>> printable("a\x07b") == "a\N{REPLACEMENT CHARACTER}b"
    True
    """
    return _UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", text)


def shortened(text: str, longest: int) -> str:
    """Cut a text that is too long for its place.

    Examples
    --------
    >>> shortened("abcdef", 4)
    'abc…'
    """
    return text if len(text) <= longest else f"{text[: longest - 1]}…"
