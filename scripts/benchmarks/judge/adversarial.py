"""Generated edits of real summaries that make them say what their source does not say."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from pipeline.judge.judgement import Judgement
from pipeline.judge.result import Framework, MetricName
from scripts.benchmarks.judge.data import HumanRow, sentences_of
from scripts.benchmarks.judge.results import Results
from scripts.benchmarks.judge.runner import JudgeRunner
from scripts.claim_training.edits import Editor, negate

_SEED = 7
_FAITHFUL = 1.0  # every annotator found every sentence consistent


class Corruption(StrEnum):
    """What is done to a summary."""

    NUMBER_SWAP = "number_swap"
    NAME_SWAP = "name_swap"
    NEGATION = "negation"
    FOREIGN = "foreign_sentence"


@dataclass(frozen=True)
class EditedSummary:
    """A summary before and after."""

    corruption: Corruption
    source: str
    original: str
    edited: str


def make_edits(rows: Sequence[HumanRow], count: int) -> list[EditedSummary]:
    """Edits summaries in which people found no error, each kind as often as the others, if it applies.

    The same rows give the same edits.
    """
    rng = random.Random(_SEED)
    usable = [row for row in rows if row.scores["consistency"] == _FAITHFUL]
    rng.shuffle(usable)
    sources = list(dict.fromkeys(row.source for row in rows))
    edits: list[EditedSummary] = []
    for position in range(count * 3):  # some do not apply: there is no number in every summary
        corruption = tuple(Corruption)[position % len(Corruption)]
        row = usable[position // len(Corruption) % len(usable)]
        foreign = rng.choice([source for source in sources if source != row.source])
        edited = edit_summary(corruption, row, foreign, rng)
        if edited is not None and len(edits) < count:
            edits.append(EditedSummary(corruption, row.source, row.summary, edited))
    return edits


def noticed(before: Judgement, after: Judgement, framework: Framework) -> bool:
    """Tells whether hallucination, where more is better, fell."""
    old, new = (judgement[framework][MetricName.HALLUCINATION].score for judgement in (before, after))
    if old is None or new is None:
        raise RuntimeError(f"{framework} gave no score for hallucination")
    return new < old


async def measure_corruptions(runner: JudgeRunner, rows: Sequence[HumanRow], count: int, results: Results) -> None:
    """How many false edits lower the score of hallucination."""
    edits = make_edits(rows, count)
    before = await runner.judge_all([(edit.source, edit.original) for edit in edits], "summaries before edits")
    after = await runner.judge_all([(edit.source, edit.edited) for edit in edits], "edited summaries")
    cases = list(zip(edits, before, after, strict=True))
    detected = {
        framework.value: sum(noticed(old, new, framework) for _, old, new in cases) / len(cases)
        for framework in Framework
    }
    for name, share in detected.items():
        results.add(f"corruptions detected of {len(cases)}, {name}", share)
    for corruption in Corruption:
        found = [noticed(old, new, Framework.ULTRA) for edit, old, new in cases if edit.corruption is corruption]
        if found:
            results.add(f"  {corruption} ({len(found)}), ultra", sum(found) / len(found))
    results.figures |= {
        "corruptions_detected": detected["ultra"],
        "corruptions_detected_by": detected,
        "edits": len(edits),
    }


def edit_summary(corruption: Corruption, row: HumanRow, foreign: str, rng: random.Random) -> str | None:
    """Returns the edited summary; None where the corruption does not apply.

    Args:
        foreign: another source, that a sentence may be taken from.
    """
    sentences, told = sentences_of(row.summary), sentences_of(row.source)
    editor = Editor(row.source, told, sentences, rng)
    for place in rng.sample(range(len(sentences)), len(sentences)):
        changed = _change(corruption, sentences[place], editor, sentences_of(foreign), rng)
        if changed is not None and changed.lower() not in row.source.lower():
            kept = sentences[place : place + 1] if corruption is Corruption.FOREIGN else []
            return " ".join([*sentences[:place], *kept, changed, *sentences[place + 1 :]])
    return None


def _change(
    corruption: Corruption, sentence: str, editor: Editor, foreign: Sequence[str], rng: random.Random
) -> str | None:
    match corruption:
        case Corruption.NUMBER_SWAP:
            return editor.number(sentence)
        case Corruption.NAME_SWAP:
            return editor.name(sentence)
        case Corruption.NEGATION:
            return negate(sentence)
        case Corruption.FOREIGN:
            return rng.choice(foreign)
