"""What is left of a summary of the article about the bridge."""

from pipeline.reading.document import ReadText
from pipeline.reading.index import WordIndex
from pipeline.reading.summary_text import read_summary
from tests.unit.pipeline.judge.evidence.tables_by_fakes import ARTICLE

SOURCE = WordIndex(ReadText.of("source", ARTICLE, 700))


def read(summary: str) -> ReadText:
    return read_summary("summary", summary, 700, SOURCE)


def claims(summary: str) -> list[str]:
    told = read(summary)
    return [told.passages[at].quote for at in told.claims]
