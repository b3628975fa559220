"""What the bytes of evidence may depend on: the environment, the sources, and the number of threads."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib
import importlib.metadata
import importlib.util
import inspect
import os
import platform
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

PACKAGES = (
    "numpy",
    "scipy",
    "sympy",
    "cvxpy",
    "networkx",
    "hypothesis",
    "python-flint",
    "cattrs",
    "threadpoolctl",
    "torch",
    "z3-solver",
    "scikit-learn",
)
"""Distributions whose version may change a number."""

SOURCES = ("whp.theory", "whp.algorithms", "whp.proofs_checks", "whp.experiments")
_THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")


@dataclass(frozen=True)
class Environment:
    """Where evidence was made; stored beside it, never inside the part that is compared byte for byte.

    Parameters
    ----------
    python, implementation : str
        Version and name of the interpreter.
    system, machine, processor : str
        Operating system, architecture, and type of processor.
    cpu_count : int
        Processors of the machine.
    packages : dict of str to str
        Versions of the installed ones among ``PACKAGES``.
    threads : dict of str to str
        Environment variables that limit threads, and the threads of each numerical library loaded.
    fingerprint : str
        Of the whp sources.
    """

    python: str
    implementation: str
    system: str
    machine: str
    processor: str
    cpu_count: int
    packages: dict[str, str]
    threads: dict[str, str]
    fingerprint: str

    @classmethod
    def current(cls) -> Environment:
        """Describe this process."""
        return cls(
            python=platform.python_version(),
            implementation=platform.python_implementation(),
            system=f"{platform.system()} {platform.release()}",
            machine=platform.machine(),
            processor=_processor(),
            cpu_count=os.cpu_count() or 1,
            packages=_versions(PACKAGES),
            threads=_threads(),
            fingerprint=fingerprint(),
        )

    def to_json(self) -> dict[str, Any]:
        """Return JSON-able data."""
        return asdict(self)


@functools.cache
def fingerprint() -> str:
    """Hash all installed whp sources.

    Returns
    -------
    str
        SHA-256 over path and content of every Python file of the four packages, in sorted order. Computed once a
        process.
    """
    digest = hashlib.sha256()
    for package in SOURCES:
        spec = importlib.util.find_spec(package)
        for folder in sorted((spec.submodule_search_locations if spec else None) or ()):
            _hash_tree(digest, package, Path(folder))
    return digest.hexdigest()


def subject_fingerprint(subject: Any) -> str | None:
    """Hash what a subject is made of, if that can be known.

    Parameters
    ----------
    subject : object
        A function or class of a module, or anything with an attribute ``whp_version`` (str) by which its author
        declares when it changed.

    Returns
    -------
    str or None
        SHA-256 over the subject's name and either its declared version, or the version of its installed distribution,
        or the sources of its top-level package (its module's file, for a module outside packages). None for closures,
        lambdas, instances, bound methods, partials and built-ins, whose state is in no file: evidence on them is never
        reused.
    """
    declared = inspect.getattr_static(subject, "whp_version", None)
    kind = subject if inspect.isroutine(subject) or isinstance(subject, type) else type(subject)
    module, name = getattr(kind, "__module__", None), getattr(kind, "__qualname__", None)
    if not isinstance(module, str) or not isinstance(name, str):
        return None
    digest = hashlib.sha256(f"{module}:{name}".encode())
    if isinstance(declared, str):
        digest.update(f"@{declared}".encode())
        return digest.hexdigest()
    if kind is not subject or "<" in name or not _names(module, name, subject):
        return None
    return digest.hexdigest() if _hash_module(digest, module) else None


@contextlib.contextmanager
def single_thread() -> Iterator[None]:
    """Run numerical libraries on one thread: the number of threads changes the last bits.

    Covers the BLAS and OpenMP libraries loaded so far, and torch where it is imported already.
    """
    threadpoolctl: Any = importlib.import_module("threadpoolctl")
    torch = sys.modules.get("torch")
    before = torch.get_num_threads() if torch else None
    with threadpoolctl.threadpool_limits(limits=1):
        if torch:
            torch.set_num_threads(1)
        try:
            yield
        finally:
            if torch:
                torch.set_num_threads(before)


def _hash_tree(digest: Any, package: str, folder: Path) -> None:
    """Add path and content of every Python file below a folder; lengths keep the parts apart."""
    for path in sorted(folder.rglob("*.py"), key=lambda file: file.relative_to(folder).as_posix()):
        _hash_file(digest, f"{package}/{path.relative_to(folder).as_posix()}", path)


def _hash_file(digest: Any, name: str, path: Path) -> None:
    content = path.read_bytes()
    digest.update(f"{name}\0{len(content)}\0".encode())
    digest.update(content)


def _hash_module(digest: Any, module: str) -> bool:
    """Add the sources that a module belongs to; False if they are not to be found."""
    if any(module == package or module.startswith(f"{package}.") for package in SOURCES):
        digest.update(fingerprint().encode())
        return True
    top = module.split(".")[0]
    distributions = sorted(set(_distributions().get(top, ())))
    for distribution in distributions:
        digest.update(f"{distribution}=={importlib.metadata.version(distribution)}".encode())
    file = getattr(sys.modules.get(module), "__file__", None)
    if file is None or not Path(file).is_file():
        return False
    if distributions and _installed(Path(file)):
        return True
    folders = list(getattr(sys.modules.get(top), "__path__", ())) if top != "__main__" else []
    for folder in sorted(folders):
        _hash_tree(digest, top, Path(folder))
    _hash_file(digest, module, Path(file))
    return True


@functools.cache
def _distributions() -> Mapping[str, list[str]]:
    """Distributions by top-level module; reading them takes a fraction of a second."""
    return importlib.metadata.packages_distributions()


def _installed(file: Path) -> bool:
    """Whether a file lies among the installed packages, where only a change of version changes it."""
    return any(file.is_relative_to(sysconfig.get_path(kind)) for kind in ("purelib", "platlib"))


def _names(module: str, name: str, subject: Any) -> bool:
    """Whether the name leads to this very subject."""
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    return found is subject


def _versions(names: Iterable[str]) -> dict[str, str]:
    versions = {}
    for name in names:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            versions[name] = importlib.metadata.version(name)
    return versions


def _threads() -> dict[str, str]:
    threadpoolctl: Any = importlib.import_module("threadpoolctl")
    threads = {name: os.environ[name] for name in _THREAD_VARIABLES if name in os.environ}
    for pool in threadpoolctl.threadpool_info():
        threads[f"{pool['user_api']} {pool['internal_api']}"] = f"{pool['num_threads']} (version {pool['version']})"
    return threads


def _processor() -> str:
    """Type of processor, from the system's own table where there is one."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()
