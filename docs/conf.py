"""Sphinx configuration; `make docs` writes to site/."""

from importlib.metadata import version as installed_version

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
exclude_patterns = ["_build"]

suppress_warnings = ["ref.footnote"]  # numpydoc lists references that the text need not cite
autosummary_generate = True
autodoc_typehints = "description"
autodoc_member_order = "bysource"
napoleon_google_docstring = False
napoleon_use_rtype = False
myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 3
