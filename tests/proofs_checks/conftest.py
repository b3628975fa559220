"""The small theorems of `tiny_theorems`, known to the registry of every test here."""

import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent
sys.path.insert(0, str(FOLDER))


@pytest.fixture(scope="session")
def tiny() -> str:
    """File that states them, as a user would name it."""
    from whp.theory.core import load_papers

    path = str(FOLDER / "tiny_theorems.py")
    load_papers().add_module(path)
    return path


@pytest.fixture
def whp(tmp_path):
    """Run the command line in a process of its own, in a folder of its own."""
    paths = [str(Path(p).resolve()) for p in sys.path]
    program = f"import sys; sys.path[:0] = {paths!r}; from whp.proofs_checks.cli import main; main(sys.argv[1:])"

    def call(*arguments):
        command = [sys.executable, "-c", program, *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)

    return call


@pytest.fixture
def run(tiny):
    """Verify small theorems at a small budget."""
    from whp.proofs_checks.engine import verify

    def verify_tiny(*names, **given):
        return verify(*(f"tiny.{n}" for n in names), **{"budget": "x1", "modules": [tiny], **given})

    return verify_tiny
