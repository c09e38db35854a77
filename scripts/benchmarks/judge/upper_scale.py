"""Judge-Lock's coverage above 7: can summaries get there that are faithful and complete, and do spoiled ones not?

Beside reference summaries stand those of the extractive writer, which are faithful; how complete they are depends on
their length. Each is spoiled in two ways: its end is left out, or one sentence is made false.
"""

import random
from collections.abc import Sequence
from dataclasses import replace

from pipeline.judge.judgement import Judgement
from pipeline.judge.result import Framework, MetricName
from pipeline.summarize.extractive.config import ExtractiveConfig
from pipeline.summarize.extractive.writer import ExtractiveWriter
from scripts.benchmarks.judge.adversarial import Corruption, edit_summary
from scripts.benchmarks.judge.data import HumanRow, first_of_each, sample_documents, sentences_of
from scripts.benchmarks.judge.results import Results
from scripts.benchmarks.judge.runner import JudgeRunner
from scripts.benchmarks.summaries.news import shortened

SHARES = {"quarter": 0.25, "half": 0.5}
"""Lengths of the writer's summaries, in words of their source."""

_SEED = 11
_UPPER = 7.0
_KEPT = 3  # of a truncated summary the first third


async def measure_upper_scale(runner: JudgeRunner, rows: Sequence[HumanRow], count: int, results: Results) -> None:
    """Shares of summaries whose coverage by Judge-Lock is above 7; without references nothing.

    Args:
        rows: of documents with reference summaries; others are left out.
        count: documents.
    """
    documents = first_of_each(sample_documents([row for row in rows if row.references], count), 1)
    if not documents:
        return
    writer = ExtractiveWriter(ExtractiveConfig(), runner.models)
    summaries = {"references": [replace(row, summary=row.references[0]) for row in documents]}
    for name, share in SHARES.items():
        texts = [await shortened(writer, row.source, share * len(row.source.split())) for row in documents]
        summaries[name] = [replace(row, summary=text) for row, text in zip(documents, texts, strict=True)]
    spoiled: list[HumanRow] = []
    for name, whole in summaries.items():
        share = await _above(runner, whole, name)
        results.add(f"Judge-Lock's coverage above 7, {name} ({len(whole)})", share)
        results.figures[f"judge_lock_above_7_{name}"] = share
        spoiled += [*map(truncated, whole), *corrupted(whole)]
    share = await _above(runner, spoiled, "spoiled")
    results.add(f"  the same cut to a third, and with one sentence made false ({len(spoiled)})", share)
    results.figures["judge_lock_above_7_spoiled"] = share


def truncated(row: HumanRow) -> HumanRow:
    """Returns it with the first third of its sentences, at least one."""
    sentences = sentences_of(row.summary)
    return replace(row, summary=" ".join(sentences[: max(1, len(sentences) // _KEPT)]))


def corrupted(rows: Sequence[HumanRow]) -> list[HumanRow]:
    """Returns those with one false sentence, by each kind of corruption in turn, as far as it applies.

    The same rows give the same.
    """
    rng = random.Random(_SEED)
    made: list[HumanRow] = []
    for number, row in enumerate(rows):
        foreign = rows[number - 1].source  # with one row alone it is its own, and does not apply
        text = edit_summary(tuple(Corruption)[number % len(Corruption)], row, foreign, rng)
        made += [replace(row, summary=text)] if text is not None else []
    return made


async def _above(runner: JudgeRunner, rows: Sequence[HumanRow], name: str) -> float:
    judgements = await runner.judge_all([(row.source, row.summary) for row in rows], f"upper scale, {name}")
    return sum(map(_is_above, judgements)) / len(rows)


def _is_above(judgement: Judgement) -> bool:
    score = judgement[Framework.JUDGE_LOCK][MetricName.COVERAGE].score
    return score is not None and score > _UPPER
