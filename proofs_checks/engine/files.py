"""Evidence files: what a check-run established, with what is needed to run it again."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from whp.proofs_checks.engine.environment import Environment, subject_fingerprint
from whp.proofs_checks.engine.evidence import Evidence
from whp.proofs_checks.engine.isolation import Limits
from whp.proofs_checks.engine.report import Report
from whp.proofs_checks.engine.subjects import resolve

FORMAT = "whp evidence"


@dataclass(frozen=True)
class EvidenceFile:
    """One stored check-run.

    ``evidence`` is byte-equal for the same seed, lock file and processor type; ``environment`` is kept apart from it.
    """

    evidence: Evidence
    verdict: str
    mutant: str = ""
    subjects: Mapping[str, str] = field(default_factory=dict)
    fingerprints: Mapping[str, str | None] = field(default_factory=dict)
    modules: tuple[str, ...] = ()
    environment: Mapping[str, Any] = field(default_factory=dict)
    limits: Limits | None = None

    @property
    def check_id(self) -> str:
        """``theorem/check``."""
        return f"{self.evidence.theorem}/{self.evidence.check}"

    def to_json(self) -> dict[str, Any]:
        """Return JSON-able data."""
        return {
            "format": FORMAT,
            "evidence": self.evidence.to_json(),
            "verdict": self.verdict,
            "mutant": self.mutant,
            "subjects": dict(self.subjects),
            "fingerprints": dict(self.fingerprints),
            "modules": list(self.modules),
            "environment": dict(self.environment),
            "limits": None if self.limits is None else asdict(self.limits),
        }


def read(path: Path) -> EvidenceFile:
    """Read an evidence file.

    Raises
    ------
    ValueError
        If the file does not exist, is not JSON, or is not evidence of this schema.
    """
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ValueError(f"cannot read {path}: {error.strerror}") from error
    except ValueError as error:
        raise ValueError(f"{path} is not JSON (line {getattr(error, 'lineno', '?')}): truncated or foreign") from error
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise ValueError(f"{path} is not a whp evidence file")
    try:
        return EvidenceFile(
            Evidence.from_json(data["evidence"]),
            str(data["verdict"]),
            str(data["mutant"]),
            dict(data["subjects"]),
            dict(data["fingerprints"]),
            tuple(data["modules"]),
            dict(data["environment"]),
            Limits(**data["limits"]) if data.get("limits") else None,
        )
    except (KeyError, TypeError) as error:
        raise ValueError(f"{path} is not a whp evidence file: missing or malformed {error}") from error


def write(stored: EvidenceFile, folder: Path) -> Path:
    """Write an evidence file whole or not at all, and return its path.

    Raises
    ------
    OSError
        If the folder cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{_name(stored)}.json"
    partial = path.with_suffix(f".{os.getpid()}.partial")
    try:
        partial.write_text(json.dumps(stored.to_json(), indent=1), encoding="utf-8")
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)
    return path


def _name(stored: EvidenceFile) -> str:
    """Readable name of a file, with a few letters of a hash where readability would make two names one."""
    parts = [stored.check_id, *(f"{k}={v}" for k, v in sorted(stored.subjects.items()))]
    parts += [stored.mutant] if stored.mutant else []
    readable = re.sub(r"[^A-Za-z0-9_.]+", "-", "--".join(parts))[:150]
    if len(parts) > 1 or not re.fullmatch(r"[\w.]+/[\w.]+", stored.check_id, re.ASCII) or len(readable) == 150:
        readable += "--" + hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:8]
    return f"{readable}--seed{stored.evidence.campaign_seed}"


def write_all(report: Report, folder: Path) -> dict[str, Path]:
    """Write the evidence of every check that ran; paths by check id."""
    record = Environment.current().to_json()
    fingerprints = {k: fingerprint_of(v) for k, v in report.subjects.items()}
    paths: dict[str, Path] = {}
    for theorem in report.theorems:
        for c in theorem.checks:
            if c.evidence is not None:
                prints = {k: fingerprints[k] for k in c.subjects}
                verdict = c.verdict.kind.value
                stored = EvidenceFile(
                    c.evidence, verdict, "", dict(c.subjects), prints, report.modules, record, report.limits
                )
                paths[c.check.id] = write(stored, folder)
    return paths


def fingerprint_of(reference: str) -> str | None:
    """Fingerprint of a subject by reference; None when it cannot be found again."""
    try:
        return subject_fingerprint(resolve(reference))
    except ValueError:
        return None
