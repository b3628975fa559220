"""Claims as presentation MathML, which browsers typeset by themselves."""

from __future__ import annotations

import re
from html import escape
from typing import Any

from markupsafe import Markup

from whp.theory.core import Bound, Claim

_RELATIONS = {"<=": "≤", ">=": "≥", "=": "=", "~": "∼", "=>": "⇒"}
_PLAIN_LATEX = re.compile(r"\\?([A-Za-z]+)(?:_\{?(\w+)\}?)?\Z")
_LETTERS = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "eps": "ε", "zeta": "ζ", "eta": "η",
    "theta": "θ", "kappa": "κ", "lambda": "λ", "mu": "μ", "nu": "ν", "xi": "ξ", "rho": "ρ", "sigma": "σ", "tau": "τ",
    "phi": "φ", "chi": "χ", "psi": "ψ", "omega": "ω", "Gamma": "Γ", "Delta": "Δ", "Theta": "Θ", "Lambda": "Λ",
    "Sigma": "Σ", "Phi": "Φ", "Psi": "Ψ", "Omega": "Ω",
}  # fmt: skip
_GREEK = re.compile(rf"(?<![^\W_])({'|'.join(_LETTERS)})(?![^\W_])")
# an index is braced, |x|, one letter or number that ends there, or two letters on a single one (y_ij); what applies a
# function, as 2^s(q), is left alone
_INDEX = re.compile(
    r"(?<=[^\s_^])([_^])(?:\{([^{}]{1,60})\}|(\|\w\||-?(?:[^\W\d_]|\d+|(?<=\b\w_)[^\W\d_]{2})(?![\w(])))"
)
_CODE = re.compile(r"`([^`<>]+)`")
_VARIABLE = re.compile(r"<[^>]*>|&\w+;| a |(?<!\w)(?P<letter>[^\W\d_])(?!\w)")
_GAP = '<mspace width="0.32em"></mspace>'  # text counts as space, so that the relation beside it would lose its own
# what sympy prints, and what a reader expects: two letters that few fonts hold, and a true minus
_REPLACED = {"&ExponentialE;": "e", "&ImaginaryI;": "i", "<mo>-</mo>": "<mo>−</mo>"}


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
    >>> "≤</mo>" in claim_markup(Claim("mistakes", "<=", "(R / margin)**2"))
    True
    """
    right = _words(claim.right) if isinstance(claim.right, str) else _formula(claim.right)
    relation = f'{_GAP}<mo lspace="0" rspace="0">{_RELATIONS[claim.relation]}</mo>{_GAP}'
    return Markup(f'<math display="block"><mrow>{_words(claim.left)}{relation}{right}</mrow></math>')


def _words(text: str) -> str:
    """Text inside a formula; letters that stand alone are variables."""
    return f"<mtext><span>{_VARIABLE.sub(_slanted, mathematical(text))}</span></mtext>"


def _slanted(found: re.Match[str]) -> str:
    return f"<i>{found['letter']}</i>" if found["letter"] else found[0]


def mathematical(text: str) -> Markup:
    """Write a statement in plain text as it is printed: Greek letters, indices, exponents, code between backticks.

    Examples
    --------
    >>> str(mathematical("|x_i| <= delta^2"))
    '|x<sub>i</sub>| ≤ δ<sup>2</sup>'
    >>> str(mathematical("(-1)^{y_ij + 1} t^|x|, 2^s(q), n_items"))
    '(-1)<sup>y<sub>ij</sub> + 1</sup> t<sup>|x|</sup>, 2^s(q), n_items'
    """
    text = _GREEK.sub(lambda found: _LETTERS[found[0]], typographic(text)).replace(" - ", " − ")
    text = text.replace("sqrt(", "√(")
    marked = _INDEX.sub(_shifted, escape(text, quote=False))
    return Markup(_CODE.sub(r"<code>\1</code>", marked))


def _shifted(found: re.Match[str]) -> str:
    tag = "sub" if found[1] == "_" else "sup"
    return f"<{tag}>{_INDEX.sub(_shifted, found[2] or found[3])}</{tag}>"


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
    """Typeset a bound as it was written or as sympy orders it, whichever is shorter; else its name."""
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
    changed = {v: sympy.Symbol(spelling[v.name]) for v in expression.free_symbols if v.name in spelling}
    with sympy.evaluate(False):
        return expression.xreplace(changed)


def _spelling(name: str, latex: str) -> str:
    """Name under which sympy typesets a symbol: Greek letters and one subscript, else the name itself."""
    found = _PLAIN_LATEX.match(latex)
    if found is None:
        return name
    letter, below = found.groups()
    letter = letter.removeprefix("var") if letter.removeprefix("var") in _LETTERS else letter
    return letter if below is None else f"{letter}_{below}"


def _mathml(expression: Any) -> str:
    from sympy.printing.mathml import mathml

    text = str(mathml(expression, printer="presentation"))
    for sign, printed in _REPLACED.items():
        text = text.replace(sign, printed)
    return text
