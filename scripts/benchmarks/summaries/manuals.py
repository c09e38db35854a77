"""The extractive writer on manuals at a tenth of their length: sentences that dangle, values beside LexRank.

The manuals are not part of the project; --data names the folder that holds them.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pipeline.protocols import Models
from pipeline.summarize.extractive.config import ExtractiveConfig
from pipeline.summarize.extractive.writer import ExtractiveWriter
from scripts.benchmarks.summaries.lexrank import lexrank
from scripts.benchmarks.summaries.news import shortened
from scripts.benchmarks.summaries.subjects import Manual

FILES = ("postgresql-15-server-administration.txt", "debian-administrators-handbook.txt")
SHARE = 0.1
FEWEST_WORDS, MOST_WORDS = 1_500, 20_000  # of a chapter: LexRank compares all sentences with each other
_CHAPTER = re.compile(r"(?m)^(?=(?:- )*## (?:Chapter )?\d+\.)")


@dataclass(frozen=True)
class Manuals:
    """Counts over all chapters.

    Attributes:
        dangling: sentences that were kept without what they point back to, of `sentences`.
        values: distinct values by chapter that were kept with their subject.
        lexrank_values: the same of LexRank's sentences, as many words of them.
    """

    sentences: int
    dangling: int
    values: int
    lexrank_values: int


def read_chapters(data: Path) -> Iterator[str]:
    """Yields the chapters of the manuals that are there."""
    for name in FILES:
        file = data / "docs" / name
        text = file.read_text(encoding="utf-8") if file.is_file() else ""
        yield from (part for part in _CHAPTER.split(text) if FEWEST_WORDS < len(part.split()) < MOST_WORDS)


async def measure_manuals(models: Models, chapters: Sequence[str]) -> Manuals:
    """Shortens each chapter and counts."""
    writer = ExtractiveWriter(ExtractiveConfig(), models)
    sentences = dangling = values = lexrank_values = 0
    for chapter in chapters:
        manual = Manual.read(chapter)
        text = await shortened(writer, chapter, SHARE * len(chapter.split()))
        kept = manual.locate(text)
        sentences += manual.sentence_count(kept)
        dangling += len(manual.dangling(kept))
        values += len(manual.values(kept))
        lexrank_values += len(manual.values(_lexrank(manual, len(text.split()))))
    return Manuals(sentences, dangling, values, lexrank_values)


def _lexrank(manual: Manual, words: int) -> list[int]:
    """Returns the positions of the best whole sentences that fit."""
    positions = manual.sentences()
    chosen: list[int] = []
    for row in lexrank([manual.excerpts[position].text for position in positions]):
        size = len(manual.excerpts[positions[row]].text.split())
        if size <= words:
            chosen.append(positions[row])
            words -= size
    return sorted(chosen)
