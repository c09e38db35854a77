"""How often a summary that is asked about something has the passage that answers: 80 questions, half kept for reports.

Chapters of the two manuals are read where --data has them; the other documents are bundled.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from precis.v1 import summarize_pb2 as pb

from scripts.benchmarks.documents.served import Summaries
from scripts.benchmarks.shared.corpus import ROOT
from scripts.benchmarks.summaries.manuals import read_chapters

_QUESTIONS = ROOT / "scripts" / "data" / "documents" / "questions.txt"
_BUNDLED = {"pump-skid.md": "scripts/data/manual/pump-skid.md", "LICENSE": "LICENSE"}
_CHAPTER = re.compile(r"(?:- )*## (?:Chapter )?([\d.]+)")
WORDS = 100


@dataclass(frozen=True)
class Question:
    """Something that a reader asks of a document.

    Attributes:
        answer: words of the passage that answers.
        is_held: kept for reports; rules are chosen on the others.
    """

    document: str
    subject: str
    answer: str
    is_held: bool


def read_questions() -> list[Question]:
    """Reads all questions."""
    lines = [line for line in _QUESTIONS.read_text("utf-8").splitlines() if not line.startswith("#")]
    parts = [[part.strip() for part in line.split(" | ")] for line in lines]
    return [Question(name, subject, answer, bool(at % 2)) for at, (name, subject, answer) in enumerate(parts)]


async def answered(summaries: Summaries, data: Path, questions: Iterable[Question]) -> dict[Question, str]:
    """Returns the summaries of what is there, by question."""
    chapters = dict(_chapters(data))
    found = {}
    for question in questions:
        name = question.document
        options = pb.SummarizeOptions(target_words=WORDS, focus=question.subject)
        if name in chapters:
            found[question] = await summaries.of_text(f"{name}md", chapters[name], options)
        elif not name.endswith("."):
            found[question] = await summaries.of_file(ROOT / _BUNDLED.get(name, f"scripts/data/kinds/{name}"), options)
    return found


def is_answered(question: Question, summary: str) -> bool:
    """Tells whether a summary has the passage."""
    return question.answer in " ".join(summary.replace("|", " ").split())


def _chapters(data: Path) -> Iterator[tuple[str, str]]:
    """Yields the chapters by their numbers, the later manual first: of two with one number the earlier one counts."""
    for chapter in reversed(list(read_chapters(data))):
        if match := _CHAPTER.match(chapter):
            yield match[1], chapter
