"""Summaries with human judgements, and fixed subsets of them."""

import json
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pipeline.reading.characters import nfkc
from pipeline.reading.sentences import split_sentences

FOLDER = "summaries"
_SEED = 2026
_MAX_SENTENCE_CHARS = 700


@dataclass(frozen=True)
class HumanRow:
    """A summary with what people said of it.

    Attributes:
        document: groups the summaries of one source.
        source: the whole source.
        summary: what is judged.
        references: golden summaries; may be empty.
        system: who wrote it.
        scores: mean human score of each dimension.
    """

    document: str
    source: str
    summary: str
    references: tuple[str, ...]
    system: str
    scores: dict[str, float]


def read_rows(data: Path, name: str) -> list[HumanRow]:
    """Reads a data set; empty where the file is missing."""
    path = data / FOLDER / f"{name}.jsonl"
    if not path.is_file():
        return []
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]
    return [
        HumanRow(
            row["doc_id"], row["source"], row["summary"], tuple(row["references"]), row["model"], dict(row["scores"])
        )
        for row in rows
    ]


def sample_rows(rows: Sequence[HumanRow], count: int) -> list[HumanRow]:
    """Returns a fixed random subset, in the order of the file."""
    chosen = random.Random(_SEED).sample(range(len(rows)), min(count, len(rows)))
    return [rows[index] for index in sorted(chosen)]


def sample_documents(rows: Sequence[HumanRow], count: int) -> list[HumanRow]:
    """Returns all rows of a fixed random subset of the documents."""
    documents = list(dict.fromkeys(row.document for row in rows))
    chosen = set(random.Random(_SEED).sample(documents, min(count, len(documents))))
    return [row for row in rows if row.document in chosen]


def first_of_each(rows: Sequence[HumanRow], count: int) -> list[HumanRow]:
    """Returns the first rows of each document, in the order of the file."""
    seen: Counter[str] = Counter()
    kept: list[HumanRow] = []
    for row in rows:
        seen[row.document] += 1
        if seen[row.document] <= count:
            kept.append(row)
    return kept


def sentences_of(original: str) -> list[str]:
    """Returns the sentences of a text, each on one line."""
    text, _ = nfkc(original)
    return [" ".join(text[span.start : span.end].split()) for span in split_sentences(text, _MAX_SENTENCE_CHARS)]
