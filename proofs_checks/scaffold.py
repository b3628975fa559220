"""The file that ``whp new`` writes: a small theorem, complete, to be replaced line by line."""

from __future__ import annotations

import re
from pathlib import Path

_TEMPLATE = '''"""{slug}: state what is claimed, and check it."""

from whp.proofs_checks.engine import Check, Instances, Mutant, at_most
from whp.theory import Claim, Paper, Slot, Theorem

PAPER = Paper("{slug}", "Title of the paper", ("Author",), "Venue")
MEAN = Slot("mean", "(values)", "values: list of floats, not empty", "their mean, a float", ("values",))

THEOREMS = (
    Theorem(
        id="{slug}.{name}",
        paper=PAPER,
        title="A mean is at most the maximum",
        statement="mean(x) <= max(x) for every non-empty list of reals.",
        claim=Claim("mean(x)", "<=", "max(x)"),
        provenance="prior",
    ),
)


def mean_below_maximum(instance, *, mean):
    """Both sides, on one instance."""
    return at_most("below the maximum", mean(instance), max(instance), rounding=1e-12 * max(map(abs, instance)))


CHECKS = (
    Check(
        theorem="{slug}.{name}",
        name="below_maximum",
        kind="slack",
        observe=mean_below_maximum,
        instances=Instances(
            "lists of 1 to 9 normal numbers",
            examples=lambda: {{"one number": [2.0], "equal numbers": [1.0, 1.0]}},
            draw=lambda rng, size: [rng.standard_normal(rng.integers(1, 10)).tolist() for _ in range(size)],
        ),
        slots={{MEAN: lambda values: sum(values) / len(values)}},
        mutants=(
            Mutant("forgets to divide", "below the maximum", {{"mean": sum}}),
            Mutant("divides by n - 1", "below the maximum", {{"mean": lambda v: sum(v) / max(1, len(v) - 1)}}),
        ),
    ),
)
'''


def write_scaffold(id: str, folder: Path) -> Path:
    """Write ``<slug>.py`` into a folder.

    Raises
    ------
    ValueError
        If the id is not ``slug.NAME``, or the file exists (nothing is overwritten).
    """
    match = re.fullmatch(r"([a-z][a-z0-9_]*)\.([A-Za-z0-9_\-]+)", id)
    if not match:
        raise ValueError(f"an id is written slug.NAME, such as my_paper.T1, got {id!r}")
    path = folder / f"{match[1]}.py"
    if path.exists():
        raise ValueError(f"{path} exists; choose another slug or folder")
    folder.mkdir(parents=True, exist_ok=True)
    path.write_text(_TEMPLATE.format(slug=match[1], name=match[2]), encoding="utf-8")
    return path
