"""Every block of the tutorials is run: files are saved under the name in their first line, commands say as shown."""

import os
import re
import shlex
import subprocess
import sys
from glob import glob
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TUTORIALS = sorted((ROOT / "docs").glob("tutorial_*.md"))
BLOCK = re.compile(r"^```(python|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
STATUS = re.compile(r"\s+# exit status (\d)$")


def commands(text):
    """Yield each command of a console block with its exit status and the lines that it must print."""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, *shown = part.splitlines()
        status = STATUS.search(command)
        yield STATUS.sub("", command), int(status[1]) if status else 0, [line for line in shown if line.strip()]


def run(command, folder):
    modules = {"whp": ["-m", "whp.proofs_checks.cli"], "pytest": ["-m", "pytest"], "python": []}
    words = [found for word in shlex.split(command) for found in (sorted(glob(word, root_dir=folder)) or [word])]
    path = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    extra = ["-p", "whp.proofs_checks.pytest_plugin"] if words[0] == "pytest" and not plugin_installed() else []
    return subprocess.run(
        [sys.executable, *modules[words[0]], *extra, *words[1:]],
        cwd=folder, capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": path, "COLUMNS": "80", "OMP_NUM_THREADS": "1"},
    )  # fmt: skip


def plugin_installed():
    from importlib.metadata import entry_points

    return any(e.value == "whp.proofs_checks.pytest_plugin" for e in entry_points(group="pytest11"))


@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_the_tutorial_does_what_it_says(page, tmp_path):
    ran = 0
    for kind, text in BLOCK.findall(page.read_text()):
        if kind == "python":
            name = re.match(r"# (\S+\.py)\n", text)
            assert name, f"a python block of {page.name} must name its file in the first line"
            (tmp_path / name[1]).write_text(text)
            continue
        for command, status, shown in commands(text):
            done = run(command, tmp_path)
            ran += 1
            said = " ".join((done.stdout + done.stderr).replace("│", " ").split())
            assert done.returncode == status, f"{command}\n{done.stdout}{done.stderr}"
            for line in shown:
                assert " ".join(line.split()) in said, f"{command} does not print {line!r}:\n{done.stdout}"
    assert ran
