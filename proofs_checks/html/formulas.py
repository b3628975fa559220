"""Claims as presentation MathML, which browsers typeset by themselves."""

from __future__ import annotations

import re
from html import escape
from typing import Any

from markupsafe import Markup

from whp.theory.core import Bound, Claim

_RELATIONS = {"<=": "≤", ">=": "≥", "=": "=", "~": "∼", "=>": "⇒"}
_PLAIN_LATEX = re.compile(r"\\?([A-Za-z]+)(?:_\{?(\w+)\}?)?\Z")
_DOUBLE_STRUCK = {"&ExponentialE;": "e", "&ImaginaryI;": "i"}  # sympy's letters, which few fonts hold


def claim_markup(claim: Claim) -> Markup:
    """Typeset a claim; a right side that cannot be evaluated stays text.

    Parameters
    ----------
    claim : Claim
        The relation of a theorem.

    Returns
    -------
    Markup
        A block ``<math>`` element; safe to insert as it is.

    Examples
    --------
    >>> "<mo>≤</mo>" in claim_markup(Claim("mistakes", "<=", "(R / margin)**2"))
    True
    """
    right = f"<mtext>{escape(typographic(claim.right))}</mtext>" if isinstance(claim.right, str) else _formula(claim.right)
    left = f"<mtext>{escape(typographic(claim.left))}</mtext>"
    relation = _RELATIONS[claim.relation]
    return Markup(f'<math display="block"><mrow>{left}<mo>{relation}</mo>{right}</mrow></math>')


def typographic(text: str) -> str:
    """Write ASCII relations and signs of a formula as they are printed.

    Examples
    --------
    >>> typographic("a <= b, c >= -1")
    'a ≤ b, c ≥ -1'
    """
    for plain, printed in (("<=>", "⇔"), ("<=", "≤"), (">=", "≥"), ("=>", "⇒"), ("->", "→"), ("!=", "≠")):
        text = text.replace(plain, printed)
    return text


def symbol_markup(bound: Bound, name: str) -> Markup:
    """Typeset one symbol of a bound."""
    import sympy

    symbol = bound.symbol(name)
    return Markup(f"<math>{_mathml(sympy.Symbol(_spelling(symbol.name, symbol.latex)))}</math>")


def _formula(bound: Bound) -> str:
    """Typeset a bound as it was written, or as sympy orders it, whichever is shorter; its name where neither is possible."""
    import sympy

    forms = []
    for evaluate in (False, True):
        try:
            with sympy.evaluate(evaluate):
                expression = bound.symbolic()
            forms.append(_mathml(_respelled(bound, expression)))
        except Exception:  # a formula that sympy cannot read, or print, is named only
            continue
    return min(forms, key=len, default=f"<mtext>{escape(bound.name)}</mtext>")


def _respelled(bound: Bound, expression: Any) -> Any:
    import sympy

    spelling = {s.name: _spelling(s.name, s.latex) for s in bound.symbols}
    changed = {v: sympy.Symbol(spelling[v.name]) for v in expression.free_symbols if spelling.get(v.name, v.name) != v.name}
    with sympy.evaluate(False):
        return expression.xreplace(changed)


def _spelling(name: str, latex: str) -> str:
    """Name under which sympy typesets a symbol: Greek letters and one subscript, else the name itself."""
    found = _PLAIN_LATEX.match(latex)
    if found is None:
        return name
    letter, below = found.groups()
    return letter if below is None else f"{letter}_{below}"


def _mathml(expression: Any) -> str:
    from sympy.printing.mathml import mathml

    text = str(mathml(expression, printer="presentation"))
    for entity, letter in _DOUBLE_STRUCK.items():
        text = text.replace(entity, letter)
    return text
