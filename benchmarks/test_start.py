"""How long a person waits for the command line to answer at all."""

import subprocess
import sys
import time

BARE = "import typer, rich.console, rich.table"
HELP = "import sys; sys.argv = ['whp', '--help']; from whp.proofs_checks.cli import main; main()"


def fastest(program: str, runs: int = 7) -> float:
    """Least seconds of a few runs of a program in a fresh interpreter."""
    durations = []
    for _ in range(runs):
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", program], stdout=subprocess.DEVNULL, check=True)
        durations.append(time.perf_counter() - start)
    return min(durations)


def test_help_takes_at_most_twice_the_import_of_typer_and_rich(benchmark) -> None:
    bare = fastest(BARE)
    benchmark.extra_info["typer and rich alone"] = bare
    benchmark.pedantic(lambda: fastest(HELP, 1), rounds=7)
    assert benchmark.stats.stats.min <= 2 * bare
