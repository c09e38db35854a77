"""Masked questions and where their answers are found."""

import pytest

from pipeline.judge.evidence.questions import AnswerSpan, MaskedStatement, answer, find_spans, score_answer
from pipeline.reading.document import ReadText
from pipeline.reading.names import known_names
from pipeline.reading.values import Values


def spans(text: ReadText, words: range) -> list[AnswerSpan]:
    return find_spans(text, words, Values.of(text.text.text), known_names(text.table))


def ask(claim: str, masked: str, source: str) -> tuple[str | None, float]:
    """Masks a span of a claim and answers from a source of one sentence; returns the answer and its score."""
    asking, answering = ReadText.of("summary", claim, 700), ReadText.of("source", source, 700)
    (span,) = [span for span in spans(asking, asking.ranges[0]) if asking.words_passage(span.words).quote == masked]
    (words,) = answering.ranges
    given = answer(MaskedStatement(asking, asking.ranges[0], span), answering.table, words, spans(answering, words))
    if given is None:
        return None, 0.0
    return answering.words_passage(given.words).quote, score_answer(span, asking.table, given, answering.table)


@pytest.mark.parametrize(
    ("claim", "masked", "source", "given", "score"),
    [
        ("He was to be hanged on Wednesday.", "Wednesday",
         "He was to be hanged on Thursday, but on Wednesday it was put off.", "Thursday", 0),
        ("The bridge carries 76 million cars.", "76 million",
         "The bridge carries 67 million cars and 76 million people.", "67 million", 0),
        ("The bridge carries 67,000,000 cars.", "67,000,000",
         "The bridge carries 67 million cars and 5 boats.", "67 million", 1),
        ("On Monday Obama met the pope.", "Obama", "On Monday Barack Obama met the pope in Rome.", "Barack Obama", 1),
        ("The court convicted the banker.", "convicted", "The court acquitted the banker on Friday.", "acquitted", 0),
        ("The court convicted the banker.", "banker", "Rain fell.", None, 0),
    ],
)  # fmt: skip
def test_the_words_around_a_mask_find_its_answer(
    claim: str, masked: str, source: str, given: str | None, score: float
) -> None:
    assert ask(claim, masked, source) == (given, score)


def test_an_answer_of_another_kind_is_none() -> None:
    assert ask("The bridge was closed in 1931.", "1931", "The bridge was closed in Hatton by 12 men.") == (None, 0)
