"""The ledger: every block's evidence, committed as it arrives, so that a killed campaign resumes and repeats nothing.

One SQLite file in write-ahead mode, written by the parent process alone; several campaigns may share it.  Everything
stored is JSON text.  A block is known by what it is a function of: the sources of whp, the subject's sources, and the
block itself.  What cannot be fingerprinted is stored for the record but never answered from.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any

from whp.proofs_checks.engine.decide import ENDED
from whp.proofs_checks.engine.environment import fingerprint, subject_fingerprint
from whp.proofs_checks.engine.evidence import Evidence
from whp.proofs_checks.engine.plan import Block
from whp.proofs_checks.engine.subjects import name_of, reference_to, resolve

APPLICATION_ID = 0x77687031  # "whp1", in the file's header: a foreign database is told apart
SCHEMA = 1
_BUSY_SECONDS = 60.0


class LedgerError(OSError):
    """The ledger cannot be read or written; the message says what to do, and what was committed is safe."""


def _first_schema(connection: sqlite3.Connection) -> None:
    connection.execute(
        "CREATE TABLE campaigns (id INTEGER PRIMARY KEY, started REAL NOT NULL, finished REAL, request TEXT NOT NULL)"
    )
    connection.execute(
        "CREATE TABLE shards (key TEXT PRIMARY KEY, campaign INTEGER NOT NULL, block TEXT NOT NULL,"
        " subjects TEXT NOT NULL, answers INTEGER NOT NULL, evidence TEXT NOT NULL, stored REAL NOT NULL)"
    )
    connection.execute(
        "CREATE TABLE tightest (check_id TEXT PRIMARY KEY, ratio REAL NOT NULL, instance TEXT NOT NULL,"
        " stored REAL NOT NULL)"
    )


_MIGRATIONS: dict[int, Callable[[sqlite3.Connection], None]] = {0: _first_schema}
"""Step from each schema version to the next."""


@dataclass(frozen=True)
class CampaignRow:
    """One campaign as listed."""

    id: int
    started: float
    finished: float | None
    request: Mapping[str, Any]
    shards: int


class Ledger:
    """A ledger file, open; use it as a context manager.

    Parameters
    ----------
    path : Path
        The file; made, with its folder, when it does not exist.

    Raises
    ------
    LedgerError
        If the file is no ledger, is damaged, was written by a newer whp, or cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._campaign = 0
        self.reused = 0
        with self._translated():
            path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None)
            try:
                self._open()
            except BaseException:
                self._connection.close()
                raise

    def _open(self) -> None:
        self._connection.execute("PRAGMA busy_timeout = 60000")
        (tables,) = self._connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        (owner,) = self._connection.execute("PRAGMA application_id").fetchone()
        if tables and owner != APPLICATION_ID:
            raise LedgerError(f"{self.path} is a database of another program; choose another file for the ledger")
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = FULL")
        with self._transaction():
            (version,) = self._connection.execute("PRAGMA user_version").fetchone()
            if version > SCHEMA:
                raise LedgerError(f"{self.path} has schema {version}, this whp reads up to {SCHEMA}; upgrade whp")
            for step in range(version, SCHEMA):
                _MIGRATIONS[step](self._connection)
            self._connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            self._connection.execute(f"PRAGMA user_version = {SCHEMA}")

    def __enter__(self) -> Ledger:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def begin(self, request: Mapping[str, Any]) -> int:
        """Note a new campaign and what was asked; returns its number."""
        with self._translated(), self._transaction():
            cursor = self._connection.execute(
                "INSERT INTO campaigns (started, request) VALUES (?, ?)",
                (time.time(), json.dumps(request, sort_keys=True)),
            )
            self._campaign = int(cursor.lastrowid or 0)
        return self._campaign

    def finish(self) -> None:
        """Note that the present campaign came to its end."""
        with self._translated(), self._transaction():
            self._connection.execute("UPDATE campaigns SET finished = ? WHERE id = ?", (time.time(), self._campaign))

    def find(self, block: Block, subjects: Mapping[str, Any] | None) -> Evidence | None:
        """Evidence of a block, if it was stored by the same sources and subjects."""
        key, answers = block_key(block, subjects)
        if not answers:
            return None
        with self._translated():
            row = self._connection.execute(
                "SELECT evidence FROM shards WHERE key = ? AND answers = 1", (key,)
            ).fetchone()
        if row is None:
            return None
        self.reused += 1
        return self._decoded(row[0])

    def store(self, block: Block, subjects: Mapping[str, Any] | None, evidence: Evidence) -> None:
        """Commit the evidence of one block."""
        key, answers = block_key(block, subjects)
        answers = answers and not any(e.type in ENDED for e in evidence.errors)  # time and memory are the machine's
        if not self._campaign:
            self.begin({})
        row = (
            key if answers else f"{key}-{self._campaign}",
            self._campaign,
            json.dumps(_block_json(block), sort_keys=True),
            json.dumps(
                {k: v if isinstance(v, str) else name_of(v) for k, v in (subjects or {}).items()}, sort_keys=True
            ),
            int(answers),
            evidence.canonical_bytes().decode("ascii"),
            time.time(),
        )
        with self._translated(), self._transaction():
            self._connection.execute("INSERT OR REPLACE INTO shards VALUES (?, ?, ?, ?, ?, ?, ?)", row)

    def keep_tightest(self, check: str, ratio: float, instance: str) -> bool:
        """Keep the instance of a hunt if it is tighter than the one kept; says whether it was."""
        statement = (
            "INSERT INTO tightest VALUES (?, ?, ?, ?) ON CONFLICT (check_id) DO UPDATE SET ratio = excluded.ratio,"
            " instance = excluded.instance, stored = excluded.stored WHERE excluded.ratio > tightest.ratio"
        )
        with self._translated(), self._transaction():
            cursor = self._connection.execute(statement, (check, ratio, instance, time.time()))
        return cursor.rowcount > 0

    def tightest(self, check: str) -> str:
        """Encoded instance that a hunt left for a check; empty without one."""
        with self._translated():
            row = self._connection.execute("SELECT instance FROM tightest WHERE check_id = ?", (check,)).fetchone()
        return "" if row is None else str(row[0])

    def campaigns(self) -> list[CampaignRow]:
        """Every campaign, oldest first, with the number of blocks it stored."""
        with self._translated():
            rows = self._connection.execute(
                "SELECT id, started, finished, request, (SELECT count(*) FROM shards WHERE campaign = campaigns.id)"
                " FROM campaigns ORDER BY id"
            ).fetchall()
        return [CampaignRow(i, s, f, json.loads(r), n) for i, s, f, r, n in rows]

    def shards(self, campaign: int) -> Iterator[tuple[dict[str, Any], Evidence]]:
        """Blocks of a campaign with their evidence, one at a time."""
        with self._translated():
            rows = self._connection.execute(
                "SELECT block, evidence FROM shards WHERE campaign = ? ORDER BY stored", (campaign,)
            )
            for block, evidence in rows:
                found = self._decoded(evidence)
                yield json.loads(block), found

    def prune(self, keep: int) -> int:
        """Delete all but the newest campaigns and give the space back; returns how many blocks went.

        Raises
        ------
        ValueError
            If ``keep`` is negative.
        """
        if keep < 0:
            raise ValueError(f"keep must be at least 0, got {keep}")
        with self._translated():
            with self._transaction():
                kept = "SELECT id FROM campaigns ORDER BY id DESC LIMIT ?"
                gone = self._connection.execute(f"DELETE FROM shards WHERE campaign NOT IN ({kept})", (keep,)).rowcount
                self._connection.execute(f"DELETE FROM campaigns WHERE id NOT IN ({kept})", (keep,))
            self._connection.execute("VACUUM")
        return gone

    def _decoded(self, text: str) -> Evidence:
        try:
            return Evidence.from_bytes(text)
        except ValueError as error:
            raise LedgerError(f"ledger {self.path}: {_HINTS['malformed']} ({error})") from error

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.DatabaseError as error:
            raise LedgerError(f"ledger {self.path}: {_advice(error)}") from error
        except LedgerError:
            raise
        except OSError as error:
            raise LedgerError(f"ledger {self.path}: {error.strerror}") from error


_HINTS = {
    "not a database": "the file is no ledger, or damaged; move it away or choose another",
    "malformed": "the file is damaged; what `sqlite3 FILE .recover` saves can be used, or start another",
    "full": "the disk is full; what was committed is safe: make room and resume",
    "readonly": "the file or its folder is read-only",
    "unable to open": "the file cannot be opened or made in this folder",
    "locked": "another campaign holds the ledger for too long; try again",
    "disk I/O": "the disk failed to read or write; what was committed is safe",
}


def _advice(error: sqlite3.DatabaseError) -> str:
    text = str(error)
    for word, hint in _HINTS.items():
        if word in text:
            return f"{hint} ({text})"
    return text


def _block_json(block: Block) -> dict[str, Any]:
    return asdict(block)


def block_key(block: Block, subjects: Mapping[str, Any] | None) -> tuple[str, bool]:
    """What a block's evidence is a function of, hashed; and whether all of it could be fingerprinted."""
    prints = {name: _fingerprint(subject) for name, subject in (subjects or {}).items()}
    modules = [_module_fingerprint(name) for name in block.modules]
    text = json.dumps([_block_json(block), fingerprint(), prints, modules], sort_keys=True, default=str)
    known = all(v is not None for v in prints.values()) and all(m is not None for m in modules)
    return hashlib.sha256(text.encode()).hexdigest(), known


def _fingerprint(subject: Any) -> str | None:
    """Fingerprint of a subject; one that can be imported is read once a process."""
    reference = subject if isinstance(subject, str) else reference_to(subject)
    return _named_fingerprint(reference) if reference is not None else subject_fingerprint(subject)


@cache
def _named_fingerprint(reference: str) -> str | None:
    return subject_fingerprint(resolve(reference))


@cache
def _module_fingerprint(name: str) -> str | None:
    """Sources of an outside module that states theorems: its file, or every file of its package."""
    from whp.theory.core.registry import load_module

    file = getattr(load_module(name), "__file__", None)
    if file is None:
        return None
    path = Path(file)
    files = [path] if not (path.parent / "__init__.py").is_file() else sorted(path.parent.rglob("*.py"))
    digest = hashlib.sha256()
    for part in files:
        digest.update(part.name.encode() + b"\0" + part.read_bytes())
    return digest.hexdigest()
