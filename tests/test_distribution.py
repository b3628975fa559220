"""What a user installs: real files in place of the links, with types and templates."""

import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("theory", "algorithms", "proofs_checks", "experiments")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder with the source distribution and the wheel made from it, built from a copy: tests run side by side."""
    copy, out = tmp_path_factory.mktemp("whp") / "whp", tmp_path_factory.mktemp("dist")
    for folder in (*FOLDERS, "src"):
        shutil.copytree(ROOT / folder, copy / folder, symlinks=True, ignore=shutil.ignore_patterns("*.egg-info"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy / name)
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(out), str(copy)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return out


def source_files(*suffixes: str) -> set[str]:
    """Files of the four folders as they are named inside the package."""
    return {
        f"whp/{path.relative_to(ROOT)}"
        for folder in FOLDERS
        for path in (ROOT / folder).rglob("*")
        if path.suffix in suffixes or path.name == "py.typed"
    }


def test_the_wheel_holds_every_module_and_template_as_a_real_file(built: Path) -> None:
    with zipfile.ZipFile(next(built.glob("*.whl"))) as wheel:
        held = {name for name in wheel.namelist() if name.startswith("whp/")}
        modes = {wheel.getinfo(name).external_attr >> 28 for name in held}
    assert held == source_files(".py", ".html", ".css")
    assert modes == {0o10}  # regular files


def test_the_source_distribution_holds_real_files_too(built: Path) -> None:
    with tarfile.open(next(built.glob("*.tar.gz"))) as archive:
        members = [member for member in archive.getmembers() if "/src/whp/" in member.name and not member.isdir()]
    assert members
    assert all(member.isreg() for member in members)
    held = {member.name.split("/src/", 1)[1] for member in members}
    assert held == source_files(".py", ".html", ".css")
