"""The extractive writer on news: ROUGE at three lengths beside LEAD and LexRank of equal length, and what it repeats.

REALSumm and Newsroom are not part of the project; --data names the folder that holds them.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

import numpy as np

from pipeline.protocols import ENTAILMENT, Models
from pipeline.reading.sentences import split_sentences
from pipeline.summarize.document import SummaryType
from pipeline.summarize.extractive.config import ExtractiveConfig
from pipeline.summarize.extractive.writer import ExtractiveWriter
from pipeline.summarize.writer import Extraction, MergeStage, MergeTask
from scripts.benchmarks.summaries.lexrank import lexrank, within
from scripts.benchmarks.summaries.rouge import Rouge, rouge

SETS = ("realsumm", "newsroom_human")
LENGTHS = {"75": 75.0, "25%": 0.25, "50%": 0.5}
LEAD_SENTENCES = 3
REPEATED_COSINE = REPEATED_ENTAILMENT = 0.9
COMPARED_COSINE = 0.6  # pairs less close are not asked about
_LONGEST = 2_000


@dataclass(frozen=True)
class Article:
    """A document and what people wrote of it."""

    source: str
    references: tuple[str, ...]


def read_articles(data: Path, name: str) -> list[Article]:
    """Returns the documents of a set in their order, each once."""
    articles: dict[str, Article] = {}
    for line in (data / "summaries" / f"{name}.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        articles.setdefault(str(row["doc_id"]), Article(row["source"], tuple(row["references"])))
    return list(articles.values())


def sentences_of(text: str) -> list[str]:
    """Returns the sentences of a text."""
    return [text[one.start : one.end] for one in split_sentences(text, _LONGEST)]


async def shortened(writer: ExtractiveWriter, text: str, words: float) -> str:
    """Returns a text in about so many words, as the writer shortens it."""
    tokens = words * writer.count_tokens(text) / max(1, len(text.split()))
    task = MergeTask(
        SummaryType.TECHNICAL,
        "",
        MergeStage.FINAL,
        1,
        0,
        1,
        (Extraction(text, (0, 0), (0, 0)),),
        max(1, round(tokens)),
    )
    return (await writer.merge(task)).text


async def measure_rouge(models: Models, articles: Sequence[Article]) -> dict[tuple[str, str], Rouge]:
    """Returns the mean scores by system and length."""
    writer = ExtractiveWriter(ExtractiveConfig(), models)
    scores: dict[tuple[str, str], list[Rouge]] = {}
    for article in articles:
        sentences = sentences_of(article.source)
        references = [sentences_of(reference) for reference in article.references]
        ranked = {"lead": list(range(len(sentences))), "lexrank": lexrank(sentences)}
        for name, length in LENGTHS.items():
            words = length if length > 1 else length * len(article.source.split())
            text = await shortened(writer, article.source, words)
            told = {"precis": sentences_of(text)}
            told |= {system: within(sentences, order, len(text.split())) for system, order in ranked.items()}
            for system, each in told.items():
                scores.setdefault((system, name), []).append(rouge(each, references))
        scores.setdefault(("lead3", "75"), []).append(rouge(sentences[:LEAD_SENTENCES], references))
    return {key: Rouge(*map(fmean, zip(*each, strict=True))) for key, each in scores.items()}


async def count_repeats(models: Models, texts: Sequence[str]) -> int:
    """Returns the pairs of sentences in one text that say the same: close, or one entails the other."""
    total = 0
    for text in texts:
        sentences = sentences_of(text)
        if len(sentences) < 2:  # noqa: PLR2004 - a pair
            continue
        vectors = await models.embedder.embed(sentences)
        cosines = np.triu(vectors @ vectors.T, k=1)
        pairs = [(int(left), int(right)) for left, right in np.argwhere(cosines > COMPARED_COSINE)]
        asked = [(sentences[one], sentences[other]) for pair in pairs for one, other in (pair, pair[::-1])]
        entailed = (await models.entailment.entail(asked))[:, ENTAILMENT] if asked else np.zeros(0)
        for number, (left, right) in enumerate(pairs):
            says_same = entailed[2 * number : 2 * number + 2].max() > REPEATED_ENTAILMENT
            total += bool(cosines[left, right] > REPEATED_COSINE or says_same)
    return total
