"""The twenty lines of CONTRIBUTING.md are a theorem that verifies and whose mutants die."""

import re
from pathlib import Path

from whp.proofs_checks.engine import Kind, mutants, verify

_ROOT = Path(__file__).resolve().parents[1]


def _write_example(folder: Path) -> str:
    text = (_ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    lines = [line for line in code.splitlines() if line.strip()]
    assert len(lines) <= 24  # "twenty lines", wrapped ones included
    path = folder / "triangle.py"
    path.write_text(code, encoding="utf-8")
    return str(path)


def test_the_twenty_lines_verify_and_their_mutants_die(tmp_path: Path) -> None:
    path = _write_example(tmp_path)
    report = verify("triangle", modules=[path], budget="quick")
    assert report.theorems[0].statement.kind is Kind.HOLDS
    assert report.exit_status == 0
    killed = mutants("triangle", modules=[path], budget="quick")
    assert killed.exit_status == 0
    assert {m.mutant for m in killed.mutants} == {"forgets the root", "cubes", "bound tightened"}
