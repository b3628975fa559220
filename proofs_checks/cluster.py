"""Running a campaign on a Dask cluster, through the executor that ``distributed`` offers.

What this adds to that executor: theorems and subjects that live in files of yours travel with the shards, workers with
other sources of whp are refused, and a lost worker, scheduler or cluster ends in one clear sentence instead of a hang.
"""

from __future__ import annotations

import hashlib
import importlib
import io
import logging
import os
import sys
import sysconfig
import tempfile
import threading
import time
import zipfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any

from whp.proofs_checks.engine.environment import fingerprint
from whp.proofs_checks.engine.form import forget_modules
from whp.proofs_checks.engine.plan import Block
from whp.proofs_checks.engine.programs import PREFIX
from whp.proofs_checks.engine.scheduling import Result, WorkerKilledError, run_shard
from whp.theory.core.registry import load_module

SHARD_SECONDS = 2.0
"""A task costs Dask about 10 ms, so that shards of this length waste half a percent."""

_CONNECT_SECONDS = 10.0
_JOIN_SECONDS = 60.0  # how long the cluster may be without any worker before the campaign is given up
_WATCH_SECONDS = 1.0
_LARGEST_LUGGAGE = 2**20


class ClusterError(OSError):
    """The cluster cannot be reached or used; the message says what to do."""


class ClusterLostError(BrokenExecutor):
    """The cluster went away during a campaign; what arrived is in the ledger."""


@dataclass(frozen=True)
class Luggage:
    """Sources that travel with a shard: a zip of a user's modules, told apart by their hash."""

    names: tuple[str, ...] = ()
    archive: bytes = b""

    @property
    def sha256(self) -> str:
        """Hash of the archive."""
        return hashlib.sha256(self.archive).hexdigest()


def run_remote(
    blocks: Sequence[Block], subjects: Mapping[str, Any] | None, luggage: Luggage, expected: str
) -> tuple[Result | None, str]:
    """Run a shard on a worker; returns its result, or else why this worker is of no use."""
    if fingerprint() != expected:
        return None, "the workers have other sources of whp than this process; install the same version on both"
    with _UNPACKING:
        if luggage.archive:
            _unpack(luggage)
    return run_shard(blocks, subjects), ""


_UNPACKING = threading.Lock()
_UNPACKED: dict[str, str] = {}  # hash of the luggage by the name of a module, on a worker


def _unpack(luggage: Luggage) -> None:
    """Make a campaign's modules importable; those of an earlier campaign under the same names are forgotten."""
    if all(_UNPACKED.get(name) == luggage.sha256 for name in luggage.names):
        return
    folder = Path(tempfile.gettempdir()) / f"whp-{os.getuid()}-{luggage.sha256}-{os.getpid()}"
    with zipfile.ZipFile(io.BytesIO(luggage.archive)) as archive:
        archive.extractall(folder)
    for loaded in [m for m in sys.modules if m.split(".")[0] in luggage.names]:
        del sys.modules[loaded]
    sys.path[:] = [str(folder), *(p for p in sys.path if p != str(folder))]
    importlib.invalidate_caches()
    forget_modules()
    _UNPACKED.update(dict.fromkeys(luggage.names, luggage.sha256))


class ClusterExecutor(Executor):
    """An executor on a Dask cluster; a context manager.

    Parameters
    ----------
    address : str
        Address of the scheduler, such as ``tcp://10.0.0.1:8786``, or the path of a scheduler file (``*.json``).
    modules : sequence of str
        Modules or ``.py`` files that state theorems.
    subjects : mapping of str to str
        Subjects by slot, as ``module:function`` or ``file.py:function``.
    patience : float
        Seconds that the cluster may be unreachable or without a worker before the campaign is given up.

    Raises
    ------
    ClusterError
        If ``distributed`` is not installed, the scheduler does not answer, no worker joins, or a module of yours is too
        large to travel.
    """

    shard_seconds = SHARD_SECONDS

    def __init__(
        self,
        address: str,
        *,
        modules: Sequence[str] = (),
        subjects: Mapping[str, str] | None = None,
        patience: float = _JOIN_SECONDS,
    ) -> None:
        self.address, self._patience = address, patience
        self._luggage = pack([*modules, *_subject_modules(subjects or {})])
        self._client = _connect(address)
        self._executor = self._client.get_executor(pure=False, retries=0)
        self._pending: set[Future[Result]] = set()
        self._lock, self._stopped = threading.Lock(), threading.Event()
        self._last_seen = time.monotonic()
        try:
            self._workers = self._await_workers()
        except BaseException:
            self._client.close(timeout=1)
            raise
        self._watcher = threading.Thread(target=self._watch, daemon=True, name="whp cluster")
        self._watcher.start()

    @property
    def in_flight(self) -> int:
        """Two shards for each worker, so that none waits for the next."""
        return 2 * max(1, self._workers)

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Send a shard; only ``run_shard`` can be sent."""
        if fn is not run_shard:
            raise ValueError(f"a ClusterExecutor runs shards of blocks only, got {fn!r}")
        if self._stopped.is_set():
            raise self._lost()
        blocks, subjects = args
        local = [replace(b, modules=tuple(map(_module_name, b.modules))) for b in blocks]
        names = None if subjects is None else {k: _subject_name(v) for k, v in subjects.items()}
        inner = self._executor.submit(run_remote, local, names, self._luggage, fingerprint())
        outer: Future[Result] = Future()
        with self._lock:
            self._pending.add(outer)
        inner.add_done_callback(lambda done: self._settle(outer, done))
        outer.add_done_callback(lambda done: inner.cancel() if done.cancelled() else None)
        return outer

    def _settle(self, outer: Future[Result], inner: Future[Any]) -> None:
        with self._lock:
            if outer not in self._pending:  # given up already
                return
            self._pending.discard(outer)
        if not outer.set_running_or_notify_cancel():
            return
        if inner.cancelled():
            outer.set_exception(self._lost())
            return
        error = inner.exception()
        if error is not None:
            outer.set_exception(_translated(error))
            return
        result, complaint = inner.result()
        if result is None:
            outer.set_exception(ClusterError(f"cluster {self.address}: {complaint}"))
        else:
            outer.set_result(result)

    def _lost(self) -> ClusterLostError:
        return ClusterLostError(
            f"lost the cluster at {self.address} (scheduler unreachable, or no worker for {self._patience:g} s); "
            "what arrived is in the ledger: run the same command with --resume"
        )

    def _watch(self) -> None:
        """Give up when scheduler or workers stay away, since Dask itself would wait for ever."""
        while not self._stopped.wait(_WATCH_SECONDS):
            seen = _workers(self._client)
            if seen:
                self._workers, self._last_seen = seen, time.monotonic()
            elif time.monotonic() - self._last_seen > self._patience:
                self._stopped.set()
                with self._lock:
                    pending = list(self._pending)
                    self._pending.clear()
                for future in pending:
                    if future.set_running_or_notify_cancel():
                        future.set_exception(self._lost())

    def _await_workers(self) -> int:
        until = time.monotonic() + self._patience
        while time.monotonic() < until:
            found = _workers(self._client)
            if found:
                return found
            time.sleep(0.1)
        raise ClusterError(f"cluster {self.address} has had no worker for {self._patience:g} s; start some first")

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Leave the cluster; it goes on for others."""
        self._stopped.set()
        with self._lock:
            pending = list(self._pending)
        for future in pending if cancel_futures else ():
            future.cancel()
        self._client.close(timeout=2)

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.shutdown(cancel_futures=True)


def _connect(address: str) -> Any:
    try:
        distributed: Any = importlib.import_module("distributed")
    except ImportError as error:
        raise ClusterError("--cluster needs the extra `cluster`: pip install 'whp[cluster]'") from error
    for name in ("distributed", "distributed.client", "distributed.core", "distributed.batched", "tornado.application"):
        logging.getLogger(name).setLevel(logging.CRITICAL)  # what matters is said by the errors here
    where = {"scheduler_file": address} if address.endswith(".json") else {"address": address}
    try:
        return distributed.Client(**where, timeout=_CONNECT_SECONDS, set_as_default=False, name="whp")
    except (OSError, ValueError, TypeError) as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise ClusterError(f"no Dask scheduler answers at {address}: {reason}") from error


def _workers(client: Any) -> int:
    """Count workers; zero as well while the scheduler is unreachable."""
    if client.status != "running":
        return 0
    try:
        return len(client.sync(client.scheduler.identity, callback_timeout=5)["workers"])
    except Exception:  # whatever Dask raises when its connection is gone
        return 0


def _translated(error: BaseException) -> BaseException:
    if type(error).__name__ == "KilledWorker":
        return WorkerKilledError(str(error))
    if isinstance(error, ImportError):
        return ClusterError(f"the workers cannot import {error.name or 'a module'}: install it there ({error})")
    return error


def _module_name(reference: str) -> str:
    return Path(reference).stem if reference.endswith(".py") else reference


def _subject_modules(subjects: Mapping[str, str]) -> list[str]:
    """Modules of subjects; programs are for the workers to have."""
    return [r.rpartition(":")[0] for r in subjects.values() if not r.startswith(PREFIX)]


def _subject_name(reference: Any) -> Any:
    if not isinstance(reference, str):
        raise ValueError(f"a subject must be importable as module:function to run on a cluster, got {reference!r}")
    if reference.startswith(PREFIX):
        return reference
    module, _, attribute = reference.rpartition(":")
    return f"{_module_name(module)}:{attribute}"


def pack(references: Iterable[str]) -> Luggage:
    """Zip the sources of modules that are not installed, so that workers can import them.

    Raises
    ------
    ClusterError
        If they are larger than a mebibyte: then they are better installed on the workers.
    """
    buffer, names = io.BytesIO(), set[str]()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for reference in sorted(set(references)):
            load_module(reference)
            top = _module_name(reference).split(".")[0]
            if top in names or top == "whp":
                continue
            files = _files(top)
            names.update({top} if files else ())
            for name, path in files:
                archive.writestr(zipfile.ZipInfo(name), path.read_bytes())  # no date: the same sources, the same hash
    if not names:
        return Luggage()
    if len(buffer.getvalue()) > _LARGEST_LUGGAGE:
        raise ClusterError(f"the modules {sorted(names)} are too large to travel; install them on the workers")
    return Luggage(tuple(sorted(names)), buffer.getvalue())


@cache
def _files(top: str) -> tuple[tuple[str, Path], ...]:
    """Source files of a top-level module by their name in the archive; none for one that is installed."""
    module = sys.modules[top]
    file = getattr(module, "__file__", None)
    folders = [Path(p) for p in getattr(module, "__path__", ())]
    if file is None and not folders:
        return ()
    anchor = folders[0] if folders else Path(str(file))
    if any(anchor.is_relative_to(sysconfig.get_path(kind)) for kind in ("purelib", "platlib", "stdlib")):
        return ()
    if not folders:
        return ((anchor.name, anchor),)
    return tuple(
        (f"{top}/{path.relative_to(folder).as_posix()}", path)
        for folder in folders
        for path in sorted(folder.rglob("*.py"))
    )
