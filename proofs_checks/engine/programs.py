"""Subjects in any language: a program that answers one line of JSON for each line of JSON it is sent.

A call writes ``{"call": [argument, ...]}`` on the program's standard input; the program answers ``{"value": result}``
or ``{"error": "why not"}`` on its standard output.  Numbers, texts, truth values and lists are plain JSON; everything
else is an object whose key ``"!"`` names its type, as in evidence files.  A generator is sent as a seed drawn from it.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import shlex
import shutil
import subprocess
import tempfile
import threading
import time
from functools import cache
from typing import IO, Any

import numpy as np

from whp.proofs_checks.engine.evidence.codec import canonical_text, decode, encode
from whp.proofs_checks.engine.isolation import SubjectCrashed, SubjectHung

PREFIX = "exec:"
SECONDS = 60.0
"""How long a program may take to answer a call; ``whp verify --timeout`` can be shorter."""

_LAST_WORDS = 300  # characters of standard error that are shown when a program ends


@cache
def program(command: str) -> Program:
    """Return the program of this command line; one process serves all calls of this process."""
    return Program(command)


class Program:
    """A program that serves a slot; started at the first call, and again after it ended.

    Parameters
    ----------
    command : str
        Command line, split as a shell would; no shell is used.

    Raises
    ------
    ValueError
        If the command is empty or not to be found.
    """

    def __init__(self, command: str, seconds: float = SECONDS) -> None:
        self.command, self.seconds = command, seconds
        self._words = shlex.split(command)
        if not self._words:
            raise ValueError("exec: needs a program, such as exec:./program")
        if shutil.which(self._words[0]) is None:
            raise ValueError(f"no program {self._words[0]!r} that can be run (is it executable?)")
        self._process: subprocess.Popen[bytes] | None = None
        self._errors: IO[bytes] | None = None
        self._owner, self._received, self._lock = 0, b"", threading.Lock()

    def __call__(self, *arguments: Any) -> Any:
        """Send the arguments and wait for the answer.

        Raises
        ------
        SubjectHung
            If it does not answer in time; the program is ended.
        SubjectCrashed
            If it ends, or its answer is not of the protocol.
        RuntimeError
            If it answers with an error.
        """
        line = canonical_text({"call": [_argument(a) for a in arguments]}).encode() + b"\n"
        with self._lock:
            answer = self._ask(line)
        if "error" in answer:
            raise RuntimeError(str(answer["error"]))
        return decode(answer["value"])

    def close(self) -> None:
        """End the program."""
        process, self._process = self._process, None
        if process is None or self._owner != os.getpid():
            return
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout, self._errors):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()

    def _ask(self, line: bytes) -> dict[str, Any]:
        process = self._running()
        assert process.stdin is not None
        try:
            process.stdin.write(line)
            process.stdin.flush()
            answer = self._line(process)
        except (BrokenPipeError, EOFError):
            raise SubjectCrashed(self._last_words(process)) from None
        except TimeoutError:
            self.close()
            raise SubjectHung(f"{self.command!r} did not answer within {self.seconds:g} seconds") from None
        try:
            data = json.loads(answer)
        except ValueError:
            data = None
        if not isinstance(data, dict) or not {"value", "error"} & set(data):
            self.close()
            shown = answer[:80].decode(errors="replace").strip()
            raise SubjectCrashed(f'{self.command!r} must answer {{"value": ...}} or {{"error": ...}}, got {shown!r}')
        return data

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is not None and self._owner == os.getpid() and self._process.poll() is None:
            return self._process
        self.close()
        self._owner, self._received, self._errors = os.getpid(), b"", tempfile.TemporaryFile()  # noqa: SIM115 - closed in close()
        pipes: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": self._errors}
        try:
            self._process = subprocess.Popen(self._words, **pipes)
        except OSError as error:
            raise ValueError(f"cannot start the program {self.command!r}: {error.strerror}") from error
        return self._process

    def _line(self, process: subprocess.Popen[bytes]) -> bytes:
        assert process.stdout is not None
        until = time.monotonic() + self.seconds
        while b"\n" not in self._received:
            if not select.select([process.stdout], [], [], max(0.0, until - time.monotonic()))[0]:
                raise TimeoutError
            part = os.read(process.stdout.fileno(), 2**16)
            if not part:
                raise EOFError
            self._received += part
        answer, _, self._received = self._received.partition(b"\n")
        return answer

    def _last_words(self, process: subprocess.Popen[bytes]) -> str:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=2)
        said = ""
        if self._errors is not None:
            self._errors.seek(0)
            said = " ".join(self._errors.read().decode(errors="replace").split())[-_LAST_WORDS:]
        status = process.returncode
        self.close()
        return f"{self.command!r} ended with status {status}" + (f": {said}" if said else "")


def _argument(value: Any) -> Any:
    if isinstance(value, np.random.Generator):
        return {"!": "seed", "value": int(value.integers(2**53))}
    return encode(value)
