"""Time one script of a comparison in this interpreter and write what was measured as JSON.

Runs inside a peer's own environment, where neither whp nor rich is installed: standard library and numpy only.
"""

import argparse
import gc
import importlib.util
import json
import statistics
import sys
import time
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np


def load(script: Path) -> ModuleType:
    """Import a script by path, with its folder importable for the inputs that both sides share."""
    sys.path.insert(0, str(script.parent))
    spec = importlib.util.spec_from_file_location(script.stem, script)
    if spec is None or spec.loader is None:
        raise ImportError(f"{script} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def seconds_per_run(run: Callable[[], Any], at_least: float, repeats: int) -> tuple[Any, list[float]]:
    """Result of a warm-up run, and the mean time of a run in each of `repeats` blocks lasting `at_least` seconds."""
    start = time.perf_counter()
    result = run()
    once = max(time.perf_counter() - start, 1e-9)
    if once < at_least:  # the first run also pays for caches and lazy imports
        start = time.perf_counter()
        run()
        once = max(time.perf_counter() - start, 1e-9)
    loops = max(1, round(at_least / once))
    blocks = []
    gc.collect()
    for _ in range(repeats):
        start = time.perf_counter()
        for _ in range(loops):
            run()
        blocks.append((time.perf_counter() - start) / loops)
    return result, blocks


def installed(package: str) -> str | None:
    """Version of a distribution, or None where it is not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def main() -> None:
    """Time the script named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("script", type=Path)
    parser.add_argument("--package", required=True)
    parser.add_argument("--seconds", type=float, required=True)
    parser.add_argument("--repeats", type=int, required=True)
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()

    module = load(arguments.script.resolve())
    units = getattr(module, "UNITS", 1)
    result, blocks = seconds_per_run(module.prepare(), arguments.seconds, arguments.repeats)
    answer = module.answer(result) if hasattr(module, "answer") else result
    measured = {
        "seconds": statistics.median(blocks) / units,
        "answer": np.asarray(answer, dtype=np.float64).ravel().tolist(),
        "version": installed(arguments.package),
    }
    arguments.out.write_text(json.dumps(measured), encoding="utf-8")


if __name__ == "__main__":
    main()
