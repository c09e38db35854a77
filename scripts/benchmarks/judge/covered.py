"""Coverage that means covered: key points called fully told that no sentence entails, and vague texts that win."""

from collections.abc import Sequence

from pipeline.judge.evidence.table import EvidenceTable, KeyPoint, KeyPointCoverage
from pipeline.judge.judgement import Judgement
from pipeline.judge.result import Framework, MetricName
from pipeline.reading.word_lists import is_verb
from scripts.benchmarks.judge.data import HumanRow, first_of_each, sentences_of
from scripts.benchmarks.judge.results import Results
from scripts.benchmarks.judge.runner import JudgeRunner

_ENTAILED = 0.5
_VAGUE_SENTENCES = 10
_SUBJECT_WORDS = 8  # of a sentence, among which its verb is looked for


async def measure_covered(
    runner: JudgeRunner, real: Sequence[HumanRow], articles: Sequence[HumanRow], results: Results
) -> None:
    """Measures what *Fully* stands for, and whether a text that says nothing has the better coverage.

    Args:
        runner: judges.
        real: summaries.
        articles: with reference summaries; the first row of each counts.
        results: what is added to.
    """
    judged = await runner.judge_all([(row.source, row.summary) for row in real], "key points")
    fully = [point for judgement in judged for point in _fully(judgement.evidence)]
    not_entailed = sum(point.entailment < _ENTAILED for point in fully) / len(fully) if fully else 0.0
    results.add(f"key points fully told, but not entailed ({len(fully)})", not_entailed)
    results.figures["fully_not_entailed"] = not_entailed
    rows = first_of_each([row for row in articles if row.references], 1)
    pairs = [(row.source, text) for row in rows for text in (row.references[0], vague(row.source))]
    judged = await runner.judge_all(pairs, "vague texts")
    wins = 0
    for framework in Framework:
        scores = [_coverage(judgement, framework) for judgement in judged]
        won = sum(told < untold for told, untold in zip(scores[::2], scores[1::2], strict=True))
        results.add(f"a vague text has more coverage than a reference ({len(rows)}), {framework.value}", str(won))
        wins += won
    results.figures["vague_wins"] = wins


def vague(source: str) -> str:
    """Returns a text that says of ten sentences no more than that somebody did something: subject and verb."""
    begun = []
    for sentence in sentences_of(source):
        words = sentence.split()
        at = next((at for at, word in enumerate(words[1:_SUBJECT_WORDS], 1) if is_verb(word.casefold())), None)
        if at is not None:
            begun.append(f"{' '.join(words[: at + 1])}.")
    return " ".join(begun[:_VAGUE_SENTENCES])


def _fully(table: EvidenceTable | None) -> list[KeyPoint]:
    if table is None:
        return []
    points = dict.fromkeys((*table.twin_key_points, *table.judge_key_points))
    return [point for point in points if point.coverage is KeyPointCoverage.FULLY]


def _coverage(judgement: Judgement, framework: Framework) -> float:
    return judgement[framework][MetricName.COVERAGE].score or 0.0
