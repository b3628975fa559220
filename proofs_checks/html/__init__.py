"""Reports for people and for machines: one self-contained HTML file, Markdown, and JUnit XML.

Examples
--------
>>> from whp.proofs_checks.html import write_report  # write_report(result, paths, Path("report.html"))
"""

from whp.proofs_checks.html.junit import write_junit
from whp.proofs_checks.html.markdown import write_markdown
from whp.proofs_checks.html.page import write_report

__all__ = ["write_junit", "write_markdown", "write_report"]
