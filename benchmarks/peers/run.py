"""Time whp and its peers on the same inputs, in alternating processes, one thread each.

See README.md in this folder for how a comparison is written down. A peer that cannot be installed or run is reported
and the others go on; the exit status is 1 when our own side fails or the two sides answer differently.
"""

import argparse
import hashlib
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
ENVIRONMENTS = ROOT / ".venv-peers"
PROJECT = "project"  # the environment that runs whp itself; peers that live beside it name it as theirs
TIE = 1.5  # a ratio below this is within what a shared machine moves by itself
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS", "RAYON_NUM_THREADS")


class SideFailedError(Exception):
    """One side of a comparison could not be installed, run or read."""


@dataclass(frozen=True)
class Comparison:
    """Our script and a peer's for the same work, and what makes their answers equal."""

    name: str
    work: str
    folder: Path
    ours: str
    theirs: str
    package: str
    environment: str
    tolerance: float
    goal: float | None
    note: str


@dataclass(frozen=True)
class Timing:
    """Seconds a unit of work and their ratio, medians over the rounds, with the range of the ratio."""

    ours: float
    theirs: float
    ratio: float
    lowest: float
    highest: float
    difference: float


@dataclass(frozen=True)
class Outcome:
    """What one comparison came to; without a timing, `reason` says why."""

    comparison: Comparison
    version: str
    status: str
    reason: str = ""
    timing: Timing | None = None

    @property
    def failed(self) -> bool:
        """Whether we, rather than the peer or the machine, are to blame."""
        return self.status in {"ours failed", "unequal answers"}

    def record(self) -> dict[str, Any]:
        """Plain data for JSON."""
        case = self.comparison
        described = {"name": case.name, "package": case.package, "version": self.version, "work": case.work}
        timing = asdict(self.timing) if self.timing else {}
        return {**described, "goal": case.goal, "status": self.status, "reason": self.reason, **timing}


def comparisons(only: str) -> Iterator[Comparison]:
    """Read the comparisons whose `name/peer` contains a text, in order of their names."""
    for path in sorted(HERE.glob("*/pair.toml")):
        pair = tomllib.loads(path.read_text(encoding="utf-8"))
        for peer in pair["peers"]:
            if only in f"{path.parent.name}/{peer['package']}":
                yield Comparison(
                    name=path.parent.name,
                    work=peer.get("work", pair["work"]),
                    folder=path.parent,
                    ours=peer.get("ours", pair.get("ours", "ours.py")),
                    theirs=peer["theirs"],
                    package=peer["package"],
                    environment=peer["environment"],
                    tolerance=float(peer["tolerance"]),
                    goal=peer.get("goal"),
                    note=peer.get("note", ""),
                )


def last_line(text: str) -> str:
    """Last line that says something, which is where Python and pip put the reason."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:200] if lines else "no message"


def interpreter(environment: str, console: Console) -> Path:
    """Python of a peer's environment, built on first use and again when its requirements change."""
    if environment == PROJECT:
        return Path(sys.executable)
    requirements = HERE / "environments" / f"{environment}.txt"
    if not requirements.is_file():
        raise SideFailedError(f"there is no {requirements.relative_to(ROOT)}")
    folder = ENVIRONMENTS / environment
    python, stamp = folder / "bin" / "python", folder / ".requirements"
    wanted = hashlib.sha256(requirements.read_bytes()).hexdigest()
    if python.exists() and stamp.exists() and stamp.read_text() == wanted:
        return python
    console.print(f"Installing the environment {environment}")
    for command in (
        [sys.executable, "-m", "venv", "--clear", str(folder)],
        [str(python), "-m", "pip", "install", "-q", "-r", str(requirements)],
    ):
        done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
        if done.returncode:
            raise SideFailedError(f"not installed: {last_line(done.stderr)}")
    stamp.write_text(wanted)
    return python


def measure(python: Path, script: Path, package: str, options: argparse.Namespace) -> dict[str, Any]:
    """Run a script in a process of its own and return what its worker measured."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "measured.json"
        command = [str(python), str(HERE / "worker.py"), str(script), "--package", package, "--out", str(out)]
        command += ["--seconds", str(options.seconds), "--repeats", str(options.repeats)]
        environment = {**os.environ, **dict.fromkeys(THREADS, "1")}
        try:
            done = subprocess.run(
                command,
                env=environment,
                capture_output=True,
                text=True,
                stdin=subprocess.DEVNULL,
                timeout=options.timeout,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise SideFailedError(f"no result within {options.timeout:g} s") from None
        if done.returncode or not out.exists():
            raise SideFailedError(last_line(done.stderr))
        measured: dict[str, Any] = json.loads(out.read_text(encoding="utf-8"))
        return measured


def largest_difference(ours: list[float], theirs: list[float]) -> float:
    """Greatest absolute difference of the answers; infinite when they have different lengths or hold NaN."""
    if len(ours) != len(theirs):
        return math.inf
    differences = [0.0 if a == b else abs(a - b) for a, b in zip(ours, theirs, strict=True)]
    return math.inf if any(map(math.isnan, differences)) else max(differences, default=0.0)


def compare(case: Comparison, options: argparse.Namespace, console: Console) -> Outcome:
    """Time both sides in alternating processes, the first to go changing from round to round."""
    rounds: dict[str, list[dict[str, Any]]] = {"ours": [], "theirs": []}
    side = "theirs"
    try:
        scripts = {
            "theirs": (interpreter(case.environment, console), case.folder / case.theirs, case.package),
            "ours": (Path(sys.executable), case.folder / case.ours, "whp"),
        }
        for number in range(options.rounds):
            for side in ("theirs", "ours") if number % 2 else ("ours", "theirs"):
                rounds[side].append(measure(*scripts[side], options))
    except SideFailedError as error:
        return Outcome(case, "", "ours failed" if side == "ours" else "peer missing", str(error))

    version = rounds["theirs"][0]["version"] or ""
    difference = largest_difference(rounds["ours"][0]["answer"], rounds["theirs"][0]["answer"])
    if difference > case.tolerance:
        reason = f"the answers differ by {difference:.3g}, accepted is {case.tolerance:.3g}"
        return Outcome(case, version, "unequal answers", reason)
    ours, theirs = ([one["seconds"] for one in rounds[side]] for side in ("ours", "theirs"))
    ratios = [b / a for a, b in zip(ours, theirs, strict=True)]
    ratio = statistics.median(ratios)
    medians = statistics.median(ours), statistics.median(theirs)
    timing = Timing(*medians, ratio, min(ratios), max(ratios), difference)
    return Outcome(case, version, judgement(ratio, case.goal), timing=timing)


def judgement(ratio: float, goal: float | None) -> str:
    """Say in a word or two what a ratio (their time over ours) means."""
    if goal is not None:
        return "goal met" if ratio >= goal else "below goal"
    if 1 / TIE < ratio < TIE:
        return "tie"
    return "faster" if ratio > 1 else "slower"


def duration(seconds: float) -> str:
    """Three significant digits in the unit that fits."""
    for scale, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "us")):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


def plain(ratio: float) -> str:
    """Three significant digits or more, never with an exponent."""
    return f"{ratio:.0f}" if ratio >= 100 else f"{ratio:.3g}"


def table(outcomes: list[Outcome]) -> Table:
    """Ratios first, then what they are made of."""
    result = Table(title="Their time over ours at equal answers, one thread", padding=(0, 0), pad_edge=False)
    for column in ("comparison", "peer", "ours", "theirs", "ratio", "range", "goal", "outcome"):
        result.add_column(column, overflow="fold")
    for row in outcomes:
        case, timed = row.comparison, row.timing
        measured = ["", "", "", ""]
        if timed:
            measured = [duration(timed.ours), duration(timed.theirs), plain(timed.ratio)]
            measured.append(f"{plain(timed.lowest)}-{plain(timed.highest)}")
        goal = "" if case.goal is None else f"{case.goal:g}"
        result.add_row(case.name, f"{case.package} {row.version}", *measured, goal, row.status)
    return result


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", metavar="TEXT", help="comparisons whose name/peer contains TEXT")
    parser.add_argument("--list", action="store_true", help="name the comparisons and stop")
    parser.add_argument("--rounds", type=int, default=3, help="processes for each side (default 3)")
    parser.add_argument("--repeats", type=int, default=5, help="timed blocks in a process (default 5)")
    parser.add_argument("--seconds", type=float, default=0.2, help="least duration of a block (default 0.2)")
    parser.add_argument("--timeout", type=float, default=600.0, help="seconds a process may take (default 600)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the outcomes to FILE as well")
    options = parser.parse_args()
    if options.rounds < 1 or options.repeats < 1 or options.seconds <= 0:
        parser.error("--rounds and --repeats must be at least 1 and --seconds above 0")
    return options


def main() -> int:
    """Run the comparisons asked for and print the table."""
    options, console = arguments(), Console()
    chosen = list(comparisons(options.only))
    if not chosen:
        console.print(f"No comparison has a name that contains {options.only!r}; --list names them all")
        return 2
    if options.list:
        for case in chosen:
            console.print(f"{case.name}/{case.package}: {case.work}", highlight=False)
        return 0
    outcomes = []
    for case in chosen:
        console.print(f"{case.name}: whp and {case.package}", highlight=False)
        outcomes.append(compare(case, options, console))
    console.print(table(outcomes))
    for outcome in outcomes:
        case = outcome.comparison
        parts = [f"{case.name}, {case.package}: {case.work}", case.note, outcome.reason]
        console.print(". ".join(part.rstrip(".") for part in parts if part), highlight=False, markup=False)
    if options.json:
        options.json.write_text(json.dumps([outcome.record() for outcome in outcomes], indent=1), encoding="utf-8")
    return int(any(outcome.failed for outcome in outcomes))


if __name__ == "__main__":
    sys.exit(main())
