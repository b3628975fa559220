"""Who imports whom, and what a person has to wait for."""

import subprocess
import sys
from functools import cache

import grimp
import pytest

# Each costs 0.1 to 1 s to import.
HEAVY = (
    "cvxpy",
    "dask",
    "distributed",
    "hypothesis",
    "matplotlib",
    "networkx",
    "scipy",
    "sklearn",
    "sympy",
    "torch",
    "z3",
)
WITHOUT_HEAVY_MODULES = {
    "theory": "import whp.theory",
    "every module of theory": (
        "import importlib, pkgutil, whp.theory\n"
        "for found in pkgutil.walk_packages(whp.theory.__path__, 'whp.theory.'): importlib.import_module(found.name)"
    ),
    "whp --help": (
        "from whp.proofs_checks.cli import main\n"
        "sys.argv = ['whp', '--help']\n"
        "try: main()\n"
        "except SystemExit as leaving: assert not leaving.code, leaving.code"
    ),
}


@cache
def import_graph() -> grimp.ImportGraph:
    return grimp.build_graph("whp", cache_dir=None)


def paper_of(module: str) -> str | None:
    """Slug of the paper that a module serves; every paper has a module of theory."""
    slugs = {name.split(".")[2] for name in import_graph().find_children("whp.theory")} - {"core", "foundations"}
    return next((part for part in module.split(".")[2:3] if part in slugs), None)


@pytest.mark.parametrize("statement", WITHOUT_HEAVY_MODULES.values(), ids=WITHOUT_HEAVY_MODULES.keys())
def test_it_loads_no_heavy_module(statement: str) -> None:
    program = f"import sys\n{statement}\nprint('loaded:', *sorted(sys.modules.keys() & set({HEAVY!r})))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1].split() == ["loaded:"]


def test_no_paper_imports_another_paper_from_any_folder() -> None:
    graph = import_graph()
    crossings = [
        f"{importer} imports {imported}"
        for importer in sorted(graph.modules)
        for imported in sorted(graph.find_modules_directly_imported_by(importer))
        if paper_of(importer) and paper_of(imported) and paper_of(importer) != paper_of(imported)
    ]
    assert crossings == []


def test_the_engine_and_the_core_import_no_paper() -> None:
    graph = import_graph()
    shared = [name for name in graph.modules if name.split(".")[2:3] in (["core"], ["engine"], ["foundations"])]
    assert {"whp.theory.core.theorem", "whp.proofs_checks.engine.check"} <= set(shared)
    crossings = [
        f"{importer} imports {imported}"
        for importer in shared
        for imported in graph.find_modules_directly_imported_by(importer)
        if paper_of(imported)
    ]
    assert crossings == []
