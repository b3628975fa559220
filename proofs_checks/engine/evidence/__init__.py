"""Evidence as data: values to canonical JSON and back, recipes, and the record of one check-run.

Nothing here uses pickle; what cannot be data is a :class:`Recipe` or a :class:`ContentHash`.
"""

from whp.proofs_checks.engine.evidence.accumulate import EvidenceBuilder
from whp.proofs_checks.engine.evidence.codec import (
    DecodeError,
    Json,
    allow_namespace,
    decode,
    dumps,
    encode,
    loads,
)
from whp.proofs_checks.engine.evidence.recipes import ContentHash, Recipe, content, materialise, recipe
from whp.proofs_checks.engine.evidence.record import (
    PHASES,
    ClauseRecord,
    Encoded,
    ErrorRecord,
    EventCounts,
    Evidence,
    Extreme,
    Location,
    MeanCounts,
    PhaseCounts,
    RateRow,
    Violation,
    merge,
)
from whp.proofs_checks.engine.evidence.slack_histogram import SlackHistogram

__all__ = [
    "PHASES",
    "ClauseRecord",
    "ContentHash",
    "DecodeError",
    "Encoded",
    "ErrorRecord",
    "EventCounts",
    "Evidence",
    "EvidenceBuilder",
    "Extreme",
    "Json",
    "Location",
    "MeanCounts",
    "PhaseCounts",
    "RateRow",
    "Recipe",
    "SlackHistogram",
    "Violation",
    "allow_namespace",
    "content",
    "decode",
    "dumps",
    "encode",
    "loads",
    "materialise",
    "merge",
    "recipe",
]
