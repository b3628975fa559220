"""Finding and running experiments through the entry-point group ``whp.experiments``.

The command line must not import experiments (they stand above it); installed entry points name them.
"""

from __future__ import annotations

import difflib
import inspect
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

ENTRY_POINT_GROUP = "whp.experiments"


def experiments() -> dict[str, EntryPoint]:
    """Return the installed experiments by name."""
    return {e.name: e for e in entry_points(group=ENTRY_POINT_GROUP)}


def run_experiment(slug: str, scale: str, seed: int, out: Path, options: list[str]) -> str:
    """Run one experiment and return its table as text.

    Raises
    ------
    ValueError
        If no experiment has this name, the scale is unknown, or an option is unknown or not ``name=value``.
    ImportError
        If the experiment needs data or a package that are not installed.
    """
    found = experiments()
    if slug not in found:
        near = difflib.get_close_matches(slug, found, 1)
        hint = f"; did you mean {near[0]}?" if near else f" (there are: {', '.join(sorted(found)) or 'none'})"
        raise ValueError(f"no experiment {slug!r}{hint}")
    if scale not in ("quick", "full"):
        raise ValueError(f"scale must be quick or full, got {scale!r}")
    named: dict[str, str] = {}
    for text in options:
        name, separator, value = text.partition("=")
        if not separator or not name.isidentifier():
            raise ValueError(f"an option is written name=value, got {text!r}")
        named[name] = value
    run = found[slug].load()
    known = inspect.signature(run).parameters
    options_there = sorted(set(known) - {"scale", "seed", "out"})
    for name in named:
        if name not in options_there and not any(p.kind is p.VAR_KEYWORD for p in known.values()):
            raise ValueError(f"experiment {slug} has no option {name!r} (it has {', '.join(options_there) or 'none'})")
    return str(run(scale=scale, seed=seed, out=out / slug, **named))
