"""Finding theorems: by scanning the paper modules, from installed packages, and from a user's own file."""

from __future__ import annotations

import difflib
import fnmatch
import importlib
import importlib.util
import pkgutil
import sys
import traceback
from collections.abc import Iterator
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType

from whp.theory.core.paper import Paper
from whp.theory.core.theorem import Theorem

ENTRY_POINT_GROUP = "whp.theorems"
_NOT_PAPERS = {"core", "foundations"}


class UnknownTheoremError(ValueError):
    """No theorem has this id or matches this pattern; the message suggests the nearest."""


class Registry:
    """Papers and theorems by id, filled lazily.

    Sources, in this order: the modules of ``whp.theory`` named after papers, the installed packages that declare an
    entry point in the group ``whp.theorems``, and modules given to `add_module`.  Each source is a module with
    ``PAPER`` and ``THEOREMS``.  A broken outside source is recorded in `broken` and left out.
    """

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Forget everything; the next question fills the registry again."""
        self._papers: dict[str, Paper] = {}
        self._theorems: dict[str, Theorem] = {}
        self._sources: dict[str, str] = {}
        self._loaded = False
        self._broken: dict[str, str] = {}

    @property
    def sources(self) -> dict[str, str]:
        """Name of the module that stated each paper, by slug; checks are looked for beside it."""
        self._load()
        return dict(self._sources)

    @property
    def broken(self) -> dict[str, str]:
        """Why each installed package that could not be read was left out, by module."""
        self._load()
        return dict(self._broken)

    def papers(self) -> tuple[Paper, ...]:
        """Every paper, by slug."""
        self._load()
        return tuple(self._papers[k] for k in sorted(self._papers))

    def theorem(self, id: str) -> Theorem:
        """Return the theorem with this id.

        Raises
        ------
        UnknownTheoremError
            If there is none; names the nearest ids.
        """
        slug = id.split(".")[0]
        if not self._loaded and slug not in self._papers:
            self._load_paper(slug)
        if id not in self._theorems:
            self._load()
        if id in self._papers:
            first = next((t for t in self._theorems if t.startswith(f"{id}.")), f"{id}.T1")
            raise UnknownTheoremError(f"{id} is a paper: name one of its theorems, such as {first} (`whp list {id}`)")
        if id not in self._theorems:
            raise UnknownTheoremError(f"no theorem {id!r}{self._suggest(id)}")
        return self._theorems[id]

    def theorems(self, *patterns: str) -> tuple[Theorem, ...]:
        """Theorems whose id matches any of the glob patterns (all, without patterns), in the papers' order.

        A pattern without a dot names a paper: ``"marginalization"`` is ``"marginalization.*"``.

        Raises
        ------
        UnknownTheoremError
            If a pattern matches nothing.
        """
        self._load()
        ordered = [t for slug in sorted(self._papers) for t in self._theorems.values() if t.paper.slug == slug]
        if not patterns:
            return tuple(ordered)
        chosen: dict[str, Theorem] = {}
        for pattern in patterns:
            full = pattern if "." in pattern else f"{pattern}.*"
            found = [t for t in ordered if fnmatch.fnmatchcase(t.id, full)]
            if not found:
                raise UnknownTheoremError(f"no theorem matches {pattern!r}{self._suggest(pattern)}")
            chosen.update((t.id, t) for t in found)
        return tuple(chosen.values())

    def add_module(self, module: ModuleType | str) -> tuple[Theorem, ...]:
        """State the theorems of a module (or of a ``.py`` file, or an importable name) and return them.

        Raises
        ------
        ValueError
            If the module lacks ``PAPER`` or ``THEOREMS``, or states an id that is taken.
        """
        self._load()  # so that nobody takes the name of a paper that is here
        loaded = load_module(module) if isinstance(module, str) else module
        return self._state(loaded, loaded.__name__)

    def leave_out(self, slug: str, reason: str) -> None:
        """Drop a paper of an outside source that turned out broken, and note why."""
        self._broken[self._sources.pop(slug)] = reason
        del self._papers[slug]
        self._theorems = {id: t for id, t in self._theorems.items() if t.paper.slug != slug}

    def _load(self) -> None:
        if self._loaded:
            return
        package = importlib.import_module("whp.theory")
        for found in pkgutil.iter_modules(package.__path__):
            if found.name not in _NOT_PAPERS and not found.name.startswith("_"):
                self._load_paper(found.name)
        self._loaded = True  # not before: a paper that cannot be imported is no reason to go on without the rest
        for entry in sorted(entry_points(group=ENTRY_POINT_GROUP), key=lambda e: e.name):
            try:
                self._state(entry.load(), entry.value)
            except Exception as error:
                self._broken[entry.value] = f"{type(error).__name__}: {error}"

    def _load_paper(self, slug: str) -> None:
        name = f"whp.theory.{slug}"
        if slug in self._papers or slug in _NOT_PAPERS or not slug.isidentifier():
            return
        if importlib.util.find_spec(name) is not None:
            self._state(importlib.import_module(name), name)

    def _state(self, module: ModuleType, source: str) -> tuple[Theorem, ...]:
        paper, stated = getattr(module, "PAPER", None), getattr(module, "THEOREMS", None)
        if not isinstance(paper, Paper) or stated is None:
            raise ValueError(f"module {source} must define PAPER (a Paper) and THEOREMS (a sequence of Theorem)")
        chosen = tuple(stated)
        if self._sources.get(paper.slug, source) != source:
            raise ValueError(f"{source} states paper {paper.slug!r}, which {self._sources[paper.slug]} already states")
        for t in chosen:
            if not isinstance(t, Theorem):
                raise TypeError(f"THEOREMS of {source} must hold Theorem objects, got {t!r}")
            if t.paper.slug != paper.slug:
                raise ValueError(f"{source} states {t.id}, which belongs to another paper than {paper.slug!r}")
        if len({t.id for t in chosen}) != len(chosen):
            raise ValueError(f"{source} states an id twice")
        taken = self._sources.get(paper.slug, source)
        if taken != source:
            raise ValueError(f"{source} states theorems of the paper {paper.slug!r}, which {taken} already states")
        self._papers[paper.slug] = paper
        self._sources[paper.slug] = source
        self._theorems.update((t.id, t) for t in chosen)
        return chosen

    def _suggest(self, wanted: str) -> str:
        known = [*self._theorems, *self._papers]
        near = difflib.get_close_matches(wanted, known, 3, 0.5)
        return f"; did you mean {' or '.join(near)}?" if near else "; see `whp list`"

    def __iter__(self) -> Iterator[Theorem]:
        return iter(self.theorems())


def load_module(name: str) -> ModuleType:
    """Import a module by dotted name, or a ``.py`` file by path under its stem.

    Raises
    ------
    ValueError
        If the file does not exist, or importing it fails: the message says where.
    """
    if not name.endswith(".py"):
        return _imported(name, name)
    path = Path(name).resolve()
    if not path.is_file():
        raise ValueError(f"no file {name!r}")
    module = sys.modules.get(path.stem)
    if module is None:
        if str(path.parent) not in sys.path:  # so that worker processes and replay find it under the same name
            sys.path.append(str(path.parent))  # last: nothing in the folder takes the place of another module
        importlib.invalidate_caches()
        module = _imported(path.stem, name)
    if Path(getattr(module, "__file__", None) or "").resolve() != path:
        raise ValueError(f"{name!r} is imported as {path.stem!r}, which is another module; rename the file")
    return module


def _imported(module: str, name: str) -> ModuleType:
    """Import a module; whatever goes wrong is told in one sentence, with the line of the user's file."""
    try:
        return importlib.import_module(module)
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        at = (error.filename, error.lineno) if isinstance(error, SyntaxError) else (last.filename, last.lineno)
        where = "" if str(at[0]).startswith("<") else f" ({Path(str(at[0])).name}, line {at[1]})"
        reason = error.msg if isinstance(error, SyntaxError) else str(error)
        raise ValueError(f"cannot import {name!r}: {type(error).__name__}: {reason}{where}") from error


_REGISTRY = Registry()


def load_papers() -> Registry:
    """Return the registry of this process."""
    return _REGISTRY


def papers() -> tuple[Paper, ...]:
    """Every paper that whp knows, by slug."""
    return _REGISTRY.papers()


def theorem(id: str) -> Theorem:
    """Return one theorem by id; see `Registry.theorem`."""
    return _REGISTRY.theorem(id)


def theorems(*patterns: str) -> tuple[Theorem, ...]:
    """Theorems by glob patterns; see `Registry.theorems`."""
    return _REGISTRY.theorems(*patterns)
