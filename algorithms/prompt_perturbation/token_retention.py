"""Which tokens count as sensitive: stop words and punctuation are copied unchanged."""

from __future__ import annotations

import string
from collections.abc import Collection, Sequence

from whp.algorithms.prompt_perturbation.validation import checked_tokens

__all__ = ["FUNCTION_WORDS", "PUNCTUATION", "sensitive_positions"]

PUNCTUATION: frozenset[str] = frozenset(string.punctuation)
"""The 32 ASCII punctuation marks."""

_FUNCTION_WORDS_TEXT = """
a about above after again against all am an and any are as at be because been before being below between both but by
can could did do does doing down during each few for from further had has have having he her here hers herself him
himself his how i if in into is it its itself just me more most my myself no nor not now of off on once only or other
our ours ourselves out over own same shall she should so some such than that the their theirs them themselves then
there these they this those through to too under until up very was we were what when where which while who whom why
will with would you your yours yourself yourselves
"""

FUNCTION_WORDS: frozenset[str] = frozenset(_FUNCTION_WORDS_TEXT.split())
"""English function words. The paper's list of 179 stop words is not known to us; pass your own where it matters."""


def sensitive_positions(
    prompt: Sequence[str],
    retained: Collection[str] = FUNCTION_WORDS | PUNCTUATION,
) -> tuple[bool, ...]:
    """Return, for each token, whether it is perturbed (True) or copied (False).

    Position, number and identity of the copied tokens are released exactly: no privacy guarantee covers them. The
    comparison ignores case.

    Parameters
    ----------
    prompt : sequence of str
        Tokens of the prompt.
    retained : collection of str
        Lower-case tokens to copy.

    Examples
    --------
    >>> sensitive_positions(["The", "patient", "."])
    (False, True, False)
    """
    if isinstance(retained, str) or not isinstance(retained, Collection):
        raise TypeError(f"retained must be a collection of tokens, got {retained!r}")
    return tuple(token.lower() not in retained for token in checked_tokens("prompt", prompt))
