"""What the repository promises about its own files."""

import re
import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("theory", "algorithms", "proofs_checks", "experiments")
FILE_LIMIT = 2 * 1024 * 1024
# Written apart so that this file does not hold the paths it looks for.
MACHINE_PATH = re.compile("/" + "(?:work|farm|root|home/[a-z]+|tmp/bash_jobs)" + "/")


@cache
def tracked_files() -> tuple[Path, ...]:
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("the tracked files are known only in a git checkout")
    listing = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return tuple(path for name in listing.split("\0") if name and (path := ROOT / name).exists())


@pytest.mark.parametrize("folder", FOLDERS)
def test_the_package_folder_is_a_relative_link_to_the_top_folder(folder: str) -> None:
    link = ROOT / "src" / "whp" / folder
    assert link.is_symlink()
    assert str(link.readlink()) == f"../../{folder}"


def test_the_namespace_holds_nothing_but_the_four_links() -> None:
    found = {path.name for path in (ROOT / "src" / "whp").iterdir() if path.name != "__pycache__"}
    assert found == set(FOLDERS)


@pytest.mark.parametrize("folder", FOLDERS)
def test_each_folder_declares_its_types(folder: str) -> None:
    assert (ROOT / folder / "py.typed").is_file()


def test_no_tracked_file_is_larger_than_two_mebibytes() -> None:
    assert [path.name for path in tracked_files() if path.lstat().st_size > FILE_LIMIT] == []


def test_no_tracked_file_names_a_path_of_one_machine() -> None:
    found = []
    for path in tracked_files():
        if path.is_symlink() or not path.is_file():
            continue
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        found += [f"{path.relative_to(ROOT)}: {match.group()}" for match in MACHINE_PATH.finditer(text)]
    assert found == []


def test_no_file_has_a_name_that_says_nothing() -> None:
    empty_names = {"utils", "common", "helpers", "misc"}
    assert [path for path in tracked_files() if path.suffix == ".py" and path.stem in empty_names] == []
