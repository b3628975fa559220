"""Sphinx configuration; `make docs` writes to site/."""

import re
import sys
from importlib.metadata import version as installed_version
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from pages import make
from sphinx.ext import autosummary

project = "whp"
author = "The whp authors"
project_copyright = author
release = version = installed_version("whp")

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx.ext.napoleon",
]
html_theme = "furo"
html_title = f"whp {release}"
exclude_patterns = ["_build", "findings/*"]  # notes that the findings page includes

suppress_warnings = ["ref.footnote"]  # numpydoc lists references that the text need not cite
autosummary_generate = True
autodoc_typehints = "description"
autodoc_member_order = "bysource"
napoleon_google_docstring = False
napoleon_use_rtype = False
myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 3


def first_paragraph(lines, document):
    """Summary of a docstring; Sphinx's own ends at the first full stop, also inside a formula."""
    text = "\n".join(lines).strip().partition("\n\n")[0]
    return without_substitutions(" ".join(text.split()))


def without_substitutions(text):
    """Keep absolute values such as |x| from being taken for substitutions, outside literals; idempotent."""
    parts = re.split(r"(``.*?``)", text)
    return "".join(p if p.startswith("``") else re.sub(r"(?<!\\)\|", r"\\|", p) for p in parts)


def process(app, what, name, obj, options, lines):
    """Prepare a docstring: code blocks stay as they are."""
    lines[:] = [x if x.startswith((" ", ">>>")) else without_substitutions(x) for x in lines]


autosummary.extract_summary = first_paragraph


def setup(app):
    app.connect("autodoc-process-docstring", process)
    app.connect("builder-inited", make, priority=100)  # before autosummary looks for pages
