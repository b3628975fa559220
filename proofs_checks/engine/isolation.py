"""Run a function in a child process, with limits on each call's time and memory.

A call that hangs, runs out of memory or kills its process becomes an exception in the parent; the next call gets a
fresh child. Needs a POSIX system; the memory limit needs Linux. Works inside the workers of process pools, which may
not start processes through ``multiprocessing``.
"""

from __future__ import annotations

import contextlib
import faulthandler
import importlib
import os
import pickle
import select
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import traceback
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Generic, Literal, ParamSpec, TypeVar, cast

from whp.proofs_checks.engine.ball_transport import enable_balls

_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")
StartMethod = Literal["fork", "spawn"]
_LENGTH = struct.Struct("<Q")
_READY = b"!"
_STARTUP_SECONDS = 120.0  # imports of a spawned child are not the subject's time
_TICK = 0.05  # seconds between looks at whether the child still lives
_FORKING = threading.Lock()  # no other child of ours may inherit a half-made connection


class SubjectFailure(RuntimeError):  # noqa: N818
    """The subject did not come to an answer within its limits, or ended its process."""


class SubjectHung(SubjectFailure):
    """The call did not end in time and its process was killed."""


class SubjectOutOfMemory(SubjectFailure):
    """The call asked for more memory than it may have."""


class SubjectCrashed(SubjectFailure):
    """The call ended its own process.

    Parameters
    ----------
    message : str
        What happened.
    signal : int, optional
        Number of the signal that ended the process.
    exit_status : int, optional
        Exit status, where the process ended without a signal.
    """

    def __init__(self, message: str, signal: int | None = None, exit_status: int | None = None) -> None:
        super().__init__(message)
        self.signal = signal
        self.exit_status = exit_status

    def __reduce__(self) -> tuple[type[SubjectCrashed], tuple[Any, ...]]:
        """Pickle with signal and exit status, for pools of processes."""
        return type(self), (self.args[0], self.signal, self.exit_status)


class SubjectRaised(SubjectFailure):
    """The call raised an exception, or returned a value, that cannot travel between processes."""


@dataclass(frozen=True)
class Limits:
    """What one call may use.

    Parameters
    ----------
    seconds : float, optional
        Wall-clock time of a call; None for no limit.
    memory_bytes : int, optional
        Address space beyond what the child holds when it starts; None for no limit. Counts what is reserved, used or
        not.
    """

    seconds: float | None = 60.0
    memory_bytes: int | None = 2 * 2**30

    def __post_init__(self) -> None:
        """Refuse limits that are not positive."""
        if self.seconds is not None and not 0 < self.seconds < float("inf"):
            raise ValueError(f"seconds must be positive and finite, or None, got {self.seconds!r}.")
        if self.memory_bytes is not None and (not isinstance(self.memory_bytes, int) or self.memory_bytes <= 0):
            raise ValueError(f"memory_bytes must be a positive int, or None, got {self.memory_bytes!r}.")


class Isolated(Generic[_Parameters, _Result]):
    """A function that runs in a child process of its own, kept from call to call.

    Parameters
    ----------
    fn : callable
        Under ``fork`` any callable, closures included. Under ``spawn`` a function that can be imported by its module
        and name. Arguments and results must be picklable (they travel between parent and child, nothing is stored).
    limits : Limits
        What each call may use.
    start_method : {"fork", "spawn"}
        ``fork`` starts in milliseconds and shares what is already imported. ``spawn`` starts a new interpreter.

    Raises
    ------
    ValueError
        If the start method is unknown, or ``spawn`` is asked for a function that cannot be imported.
    NotImplementedError
        If the system is not a POSIX one.

    Notes
    -----
    A call raises the subject's own exception where that is picklable, with the child's traceback as a note; otherwise
    :class:`SubjectRaised`. It raises :class:`SubjectHung`, :class:`SubjectOutOfMemory` or :class:`SubjectCrashed` when
    the limits or the process end it. Standard output of the subject goes to standard error. Arguments are copies: a
    generator passed to the subject does not advance in the parent.

    Examples
    --------
    >>> with Isolated(lambda x: 2 * x, Limits(seconds=5)) as double:
    ...     double(21)
    42
    """

    def __init__(
        self, fn: Callable[_Parameters, _Result], limits: Limits | None = None, start_method: StartMethod = "fork"
    ) -> None:
        if start_method not in ("fork", "spawn"):
            raise ValueError(f"start_method must be 'fork' or 'spawn', got {start_method!r}.")
        if os.name != "posix":
            raise NotImplementedError(f"limits on calls need a POSIX system, got {os.name!r}.")
        if start_method == "spawn":
            _importable_name(fn)
        self._fn = fn
        self._limits = Limits() if limits is None else limits
        self._start_method = start_method
        self._child: _Child | None = None
        self._lock = threading.Lock()

    def __call__(self, *args: _Parameters.args, **kwargs: _Parameters.kwargs) -> _Result:
        """Run the function on the arguments in the child."""
        enable_balls()
        request = pickle.dumps((args, kwargs), protocol=pickle.HIGHEST_PROTOCOL)
        with self._lock:
            child = self._ready_child()
            try:
                kind, payload = child.ask(request, self._limits.seconds)
            except BaseException:  # hung, crashed, or interrupted by the user: the child's state is unknown
                self._discard()
                raise
            if kind == "memory":
                self._discard()
                allowed = self._limits.memory_bytes
                raise SubjectOutOfMemory(f"the subject exceeded its memory ({allowed} bytes): {payload}")
            if kind == "raised":
                raise payload
            return cast(_Result, payload)

    def close(self) -> None:
        """End the child; a later call starts another."""
        with self._lock:
            self._discard()

    def __enter__(self) -> Isolated[_Parameters, _Result]:
        """Return itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the child."""
        self.close()

    def __getstate__(self) -> dict[str, Any]:
        """Pickle the function and limits; the copy starts a child of its own."""
        return {"fn": self._fn, "limits": self._limits, "start_method": self._start_method}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore without a child."""
        Isolated.__init__(self, **state)

    def _ready_child(self) -> _Child:
        """Return a living child of this process and thread; the kernel ends a child with the thread that made it."""
        if self._child is not None and not self._child.usable():
            self._discard()
        if self._child is None:
            self._child = _Child(self._fn, self._limits.memory_bytes, self._start_method)
        return self._child

    def _discard(self) -> None:
        if self._child is not None:
            self._child.end()
            self._child = None


class _Child:
    """The parent's side of one child process."""

    def __init__(self, fn: Callable[..., Any], memory_bytes: int | None, start_method: StartMethod) -> None:
        self._owner = (os.getpid(), threading.current_thread())
        start = _fork if start_method == "fork" else _spawn
        with _FORKING:
            self.pid, self._connection = start(fn, memory_bytes)
        self._finalizer = weakref.finalize(self, _end, os.getpid(), self.pid, self._connection)
        try:
            self._receive(len(_READY), time.monotonic() + _STARTUP_SECONDS)
        except (TimeoutError, EOFError, ConnectionError):
            self.end()
            raise SubjectCrashed(f"the child process for {fn!r} could not start; see standard error.") from None

    def usable(self) -> bool:
        """Whether the child is ours, of this thread, and alive."""
        if self._owner != (os.getpid(), threading.current_thread()):
            return False
        return _alive(self.pid)

    def ask(self, request: bytes, seconds: float | None) -> tuple[str, Any]:
        """Send a request and wait for the reply."""
        deadline = None if seconds is None else time.monotonic() + seconds
        try:
            self._transfer(_LENGTH.pack(len(request)) + request, deadline)
            (size,) = _LENGTH.unpack(self._receive(_LENGTH.size, deadline))
            reply = self._receive(size, deadline)
        except TimeoutError:
            raise SubjectHung(f"the subject did not return within {seconds} seconds and was killed.") from None
        except (EOFError, ConnectionError):
            raise self._obituary() from None
        try:
            kind, payload = pickle.loads(reply)
        except Exception as error:
            raise SubjectRaised(f"the subject's result cannot be unpickled: {type(error).__name__}: {error}") from None
        return kind, payload

    def end(self) -> None:
        """Kill the child and everything it started, and reap it."""
        self._finalizer()

    def _transfer(self, data: bytes, deadline: float | None) -> None:
        view = memoryview(data)
        while view:
            self._wait(select.POLLOUT, deadline)
            with contextlib.suppress(BlockingIOError):
                view = view[self._connection.send(view) :]

    def _receive(self, size: int, deadline: float | None) -> bytes:
        parts = bytearray()
        while len(parts) < size:
            self._wait(select.POLLIN, deadline)
            with contextlib.suppress(BlockingIOError):
                part = self._connection.recv(min(size - len(parts), 2**20))
                if not part:
                    raise EOFError
                parts += part
        return bytes(parts)

    def _wait(self, event: int, deadline: float | None) -> None:
        """Wait until the connection is ready; raise TimeoutError or EOFError when it will not be."""
        poll = select.poll()
        poll.register(self._connection, event)
        while True:
            remaining = _TICK if deadline is None else min(_TICK, deadline - time.monotonic())
            if remaining <= 0 and not poll.poll(0):
                raise TimeoutError
            if poll.poll(max(remaining, 0) * 1000):
                return
            if not _alive(self.pid) and not poll.poll(0):
                raise EOFError

    def _obituary(self) -> SubjectCrashed:
        """Describe how the child ended."""
        status = _end(os.getpid(), self.pid, self._connection, patience=2.0)
        if status is None:
            return SubjectCrashed("the subject closed its connection to the parent and was killed.")
        if os.WIFSIGNALED(status):
            number = os.WTERMSIG(status)
            cause = "; the system may be out of memory" if number == signal.SIGKILL else ""
            return SubjectCrashed(f"the subject was ended by {signal.Signals(number).name}{cause}.", signal=number)
        code = os.WEXITSTATUS(status)
        return SubjectCrashed(f"the subject ended its process with exit status {code}.", exit_status=code)


def _alive(pid: int) -> bool:
    """Whether a child of ours still runs (assumed where the system cannot say); it is not reaped by asking."""
    if not hasattr(os, "waitid"):
        return True
    try:
        return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None
    except ChildProcessError:
        return False


def _end(owner: int, pid: int, connection: socket.socket, patience: float = 0.0) -> int | None:
    """Kill a child with its process group and reap it, if we are its parent.

    ``patience`` is how many seconds it may take to end by itself, after it closed the connection; the wait status is
    returned if it does.
    """
    connection.close()
    if os.getpid() != owner:
        return None
    until = time.monotonic() + patience
    while _alive(pid) and time.monotonic() < until:
        time.sleep(0.005)
    by_itself = not _alive(pid)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
    try:
        status = os.waitpid(pid, 0)[1]
    except ChildProcessError:
        return None
    return status if by_itself else None


# Starting a child


def _fork(fn: Callable[..., Any], memory_bytes: int | None) -> tuple[int, socket.socket]:
    ours, theirs = socket.socketpair()
    _flush()
    parent = os.getpid()
    pid = os.fork()
    if pid == 0:
        try:
            ours.close()
            os.setpgid(0, 0)
            faulthandler.disable()  # a crash is reported by the parent
            for number in (signal.SIGINT, signal.SIGTERM):
                signal.signal(number, signal.SIG_DFL)
            _serve(fn, theirs, memory_bytes, parent)
        finally:
            os._exit(70)
    theirs.close()
    with contextlib.suppress(OSError):  # also done by the child; whoever comes first
        os.setpgid(pid, pid)
    ours.setblocking(False)
    return pid, ours


def _spawn(fn: Callable[..., Any], memory_bytes: int | None) -> tuple[int, socket.socket]:
    ours, theirs = socket.socketpair()
    module, qualname = _importable_name(fn)
    order = (module, qualname, theirs.fileno(), memory_bytes, os.getpid())
    program = f"import sys; sys.path[:] = {sys.path!r}; from {__name__} import _serve_spawned as s; s(*{order!r})"
    process = subprocess.Popen(
        [sys.executable, "-c", program], pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, process_group=0
    )
    theirs.close()
    ours.setblocking(False)
    process.returncode = 0  # reaped by _end, not by subprocess
    return process.pid, ours


def _importable_name(fn: Callable[..., Any]) -> tuple[str, str]:
    """Name a function so that a new interpreter finds it.

    Raises
    ------
    ValueError
        If a new interpreter would not find it.
    """
    module, qualname = getattr(fn, "__module__", None), getattr(fn, "__qualname__", None)
    if isinstance(module, str) and isinstance(qualname, str) and module != "__main__" and "<" not in qualname:
        found: Any = sys.modules.get(module)
        for part in qualname.split("."):
            found = getattr(found, part, None)
        if found is fn:
            return module, qualname
    raise ValueError(f"fn must be importable by module and name under start_method 'spawn', got {fn!r}; use 'fork'.")


def _flush() -> None:
    """Write out what is buffered, so that it is written once."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()


# The child's side


def _serve_spawned(module: str, qualname: str, descriptor: int, memory_bytes: int | None, parent: int) -> None:
    """Serve in a new interpreter."""
    fn: Any = importlib.import_module(module)
    for part in qualname.split("."):
        fn = getattr(fn, part)
    try:
        _serve(fn, socket.socket(fileno=descriptor), memory_bytes, parent)
    finally:
        os._exit(70)


def _serve(fn: Callable[..., Any], connection: socket.socket, memory_bytes: int | None, parent: int) -> None:
    """Answer requests until the parent closes the connection."""
    die_with(parent)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    memory = _MemoryLimit(memory_bytes)
    reader = connection.makefile("rb")
    connection.sendall(_READY)
    while header := reader.read(_LENGTH.size):
        if len(header) < _LENGTH.size:
            break
        request = reader.read(_LENGTH.unpack(header)[0])
        reply = _answer(fn, request, memory)
        _flush()
        connection.sendall(_LENGTH.pack(len(reply)))
        connection.sendall(reply)
    os._exit(0)


def _answer(fn: Callable[..., Any], request: bytes, memory: _MemoryLimit) -> bytes:
    """Run one call and pickle what came of it."""
    try:
        with memory:
            args, kwargs = pickle.loads(request)
            result = fn(*args, **kwargs)
            enable_balls()
            try:
                return pickle.dumps(("returned", result), protocol=pickle.HIGHEST_PROTOCOL)
            except MemoryError:
                raise
            except Exception as error:
                raise SubjectRaised(f"the subject returned a {type(result).__name__}, not picklable: {error}") from None
    except MemoryError as error:
        return pickle.dumps(("memory", str(error) or "MemoryError"))
    except Exception as error:
        return pickle.dumps(("raised", _portable(error)))
    except BaseException as error:  # SystemExit must not end the parent when it is raised there
        return pickle.dumps(("raised", SubjectCrashed(f"the subject raised {error!r}, which asks its process to end.")))


def _portable(error: Exception) -> Exception:
    """Return the exception with the child's traceback as a note, or a stand-in if it does not survive pickling."""
    trace = "".join(traceback.format_exception(error)[-20:])
    try:
        copy = pickle.loads(pickle.dumps(error))
        if type(copy) is not type(error):
            raise TypeError
    except Exception:
        copy = SubjectRaised(f"{type(error).__name__}: {error}")
    assert isinstance(copy, Exception)
    copy.add_note(f"In the child process:\n{trace}")
    return copy


class _MemoryLimit:
    """Cap on the address space during a call, counted from the child's size when it started."""

    def __init__(self, memory_bytes: int | None) -> None:
        self._cap: int | None = None
        if memory_bytes is not None and sys.platform == "linux":
            with open("/proc/self/statm", encoding="ascii") as status:
                pages = int(status.read().split()[0])
            self._cap = pages * os.sysconf("SC_PAGE_SIZE") + memory_bytes

    def __enter__(self) -> None:
        self._set(self._cap)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._set(None)

    def _set(self, cap: int | None) -> None:
        if self._cap is None:
            return
        import resource

        hard = resource.getrlimit(resource.RLIMIT_AS)[1]
        unlimited = hard if cap is None else cap
        soft = unlimited if hard == resource.RLIM_INFINITY or cap is None else min(cap, hard)
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def die_with(parent: int) -> None:
    """End this process with its parent, so that a killed campaign leaves nothing running."""
    if sys.platform != "linux":
        threading.Thread(target=_watch, args=(parent,), daemon=True).start()
        return
    import ctypes

    set_parent_death_signal = 1  # PR_SET_PDEATHSIG
    ctypes.CDLL(None).prctl(set_parent_death_signal, signal.SIGKILL)
    if os.getppid() != parent:  # it ended before we asked
        os._exit(0)


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_TICK)
    os._exit(0)
