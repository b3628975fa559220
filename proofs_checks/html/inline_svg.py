"""A matplotlib figure as SVG that can stand inside a page: themed by the page, without identifiers that clash."""

from __future__ import annotations

import io
import itertools
import re
import warnings
import xml.etree.ElementTree as ElementTree
from html import escape
from typing import Any

from markupsafe import Markup

INK, MUTED, LINE, DATA, CLAIM, ALARM = "#010101", "#020202", "#030303", "#040404", "#050505", "#060606"
"""Colours of a figure, turned into the page's own, so that figures follow the light or dark theme."""

_THEME = {
    INK: "currentColor",
    MUTED: "var(--muted)",
    LINE: "var(--line)",
    DATA: "var(--data)",
    CLAIM: "var(--claim)",
    ALARM: "var(--alarm)",
}
_SVG, _LINK = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xlink}href"
_DECIMALS = re.compile(r"(-?\d+\.\d)\d+")
_DEFAULT_STYLE = re.compile(r";?\s*stroke-(?:linejoin: (?:round|miter)|linecap: (?:square|butt))(?=;|$)")
_FAMILY = re.compile(r"font-family:[^;]*;?|font: ?(?P<size>[\d.]+)px[^;]*;?")
_UNTURNED = re.compile(r"rotate\(-?0 [^)]*\)")
_CLASSES = {
    "fill:var(--muted);stroke:var(--muted);stroke-width:0.8": "t",
    "stroke:var(--muted);stroke-width:0.8": "t",
    "font-size:10px;text-anchor:middle;fill:var(--muted)": "m",
    "font-size:10px;text-anchor:end;fill:var(--muted)": "e",
    "fill:none;stroke:var(--line);stroke-width:0.7": "g",
}
"""Styles that recur in every figure, as classes of the page's style sheet."""

_REPEATED = re.compile(r"( L \S+ \S+)\1+(?!\S)")
_LEVEL = re.compile(r"( L \S+ (\S+))(?: L \S+ \2)+( L \S+ \2)(?!\S)")
_REFERENCE = re.compile(r"url\(#([\w.-]+)\)")
_numbers = itertools.count()


def inline_svg(figure: Any, label: str) -> Markup:
    """Turn a figure into an ``<svg>`` element.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        Drawn in the colours of this module.
    label : str
        What the figure shows, for those who cannot see it.

    Returns
    -------
    Markup
        Without namespaces, metadata, fonts or colours of its own; its identifiers are unique in the process.
    """
    import matplotlib

    buffer = io.BytesIO()
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "whp"}), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # letters that matplotlib's own font lacks; the page has others
        figure.savefig(buffer, format="svg", transparent=True)
    root = ElementTree.fromstring(buffer.getvalue())
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag.endswith("metadata") or child.tag == f"{_SVG}style":
                parent.remove(child)
    _rename(root, f"f{next(_numbers)}-")
    for element in root.iter():
        _restyle(element)
    box = root.get("viewBox", "0 0 100 100")
    inside = "".join(_text(child) for child in root)
    name = escape(label)
    return Markup(f'<svg class="figure" viewBox="{box}" role="img" aria-label="{name}">{inside}</svg>')


def _rename(root: ElementTree.Element, prefix: str) -> None:
    """Drop identifiers that nothing refers to; make the others unique on the page."""
    used = set()
    for element in root.iter():
        for value in element.attrib.values():
            used.update(re.findall(r"#([\w.-]+)", value))
    names = {name: f"{prefix}{i}" for i, name in enumerate(sorted(used))}
    for element in root.iter():
        own = element.attrib.pop("id", None)
        if own in names:
            element.set("id", names[own])
        link = element.attrib.pop(_LINK, None)
        if link is not None:
            element.set("href", f"#{names[link[1:]]}")
        for attribute in ("clip-path", "style"):
            if "url(#" in element.get(attribute, ""):
                element.set(attribute, _REFERENCE.sub(lambda m: f"url(#{names[m[1]]})", element.attrib[attribute]))


def _restyle(element: ElementTree.Element) -> None:
    style = element.get("style")
    if style is not None:
        style = _DEFAULT_STYLE.sub("", _FAMILY.sub(_size_only, style))
        for colour, theme in _THEME.items():
            style = style.replace(colour, theme)
        style = re.sub(r"\s*([:;])\s*", r"\1", style).strip("; ")
        if style in _CLASSES:
            del element.attrib["style"]
            element.set("class", _CLASSES[style])
        else:
            element.set("style", style)
    for name in ("d", "x", "y", "width", "height", "transform", "points"):
        value = element.get(name)
        if value is not None:
            value = _DECIMALS.sub(r"\1", " ".join(value.split()))
            element.set(name, _LEVEL.sub(r"\1\3", _REPEATED.sub(r"\1", value)) if name == "d" else value)
    if _UNTURNED.fullmatch(element.get("transform", "")):
        del element.attrib["transform"]


def _size_only(found: re.Match[str]) -> str:
    """Leave the typeface to the page."""
    return f"font-size: {found['size']}px;" if found["size"] else ""


def _text(element: ElementTree.Element) -> str:
    """Serialise without namespaces and without the groups that carry nothing."""
    inside = "".join(_text(child) for child in element)
    tag = element.tag.removeprefix(_SVG)
    if tag == "path" and element.get("style") == "fill:none" and "id" not in element.attrib:
        return ""  # an empty background
    if tag in ("g", "defs") and (not inside or (tag == "g" and not element.attrib)):
        return inside
    attributes = "".join(f' {k}="{escape(v)}"' for k, v in element.attrib.items())
    return f"<{tag}{attributes}>{escape((element.text or '').strip())}{inside}</{tag}>"
