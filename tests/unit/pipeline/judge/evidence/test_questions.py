"""Which questions are asked, and when a question counts as answered."""

import pytest

from pipeline.judge.evidence.questions import AnswerSpan, MaskedStatement, answer, find_spans, score_answer
from pipeline.judge.evidence.table import EvidenceTable, Question
from pipeline.judge.exact import duplicate_span_count
from pipeline.reading.document import ReadText
from pipeline.reading.names import known_names
from pipeline.reading.values import Values
from tests.fakes_pipeline import ScriptedEntailment
from tests.unit.pipeline.judge.evidence.tables_by_fakes import ARTICLE, build

OTHER_WORDS = "Officials shut a crossing, which shop owners fear."


def entailing(summary: str, probability: float) -> EvidenceTable:
    return build(ARTICLE, summary, entailment=ScriptedEntailment(default=probability))


def scores(asked: tuple[Question, ...]) -> list[float]:
    return [question.score for question in asked]


@pytest.mark.parametrize(("probability", "score"), [(0.5, 1), (0.49, 0)])
def test_a_question_is_answered_when_the_summary_entails_its_fact(probability: float, score: float) -> None:
    assert scores(entailing(OTHER_WORDS, probability).coverage_questions) == [score] * 6


def test_a_question_is_answered_by_its_answer_and_two_more_words_of_its_fact_wherever_they_stand() -> None:
    source = "The council closed the bridge over cracks. Bob met Ann on costs."
    told, untold = ("The bridge over cracks closed.", "The bridge fell.")
    for first, score in ((told, 1), (untold, 0)):
        summary = f"{first} The council met Bob on costs."
        made = build(source, summary, entailment=ScriptedEntailment(default=0.1))
        (question,) = [question for question in made.coverage_questions if question.answer == "council"]
        assert (question.score, question.given) == (score, "council" if score else None)


def test_questions_ask_for_distinct_places_of_distinct_statements() -> None:
    made = build(
        ARTICLE, "The council voted to close the bridge. Repairs cost $42 million. Owners of shops fear losses."
    )
    for asked, statements in ((made.coverage_questions, 6), (made.claim_questions, 3)):
        assert len(asked) == 6
        assert len({question.fact for question in asked}) == statements
        assert duplicate_span_count([question.answer_span for question in asked]) == 0
    assert len({question.answer.casefold() for question in made.coverage_questions}) == 6


def test_facts_are_asked_for_what_the_source_comes_back_to_and_not_for_its_subject() -> None:
    source = (
        "Divers of the navy saw barrels of acme near the shore. The shore of the lake was closed by acme guards. "
        "Fish died at the shore while acme denied it. A lawyer of acme sold paint to a school in Norway."
    )
    asked = build(source, "The shore was closed.").coverage_questions
    by_fact = [question.answer for question in sorted(asked[:4], key=lambda question: question.fact.start)]
    assert "shore" not in by_fact  # in 3 of 4 sentences
    assert "acme" not in by_fact
    rare = build(
        source.replace("The shore of the lake", "The barrels of the lake"), "Barrels floated."
    ).coverage_questions
    assert rare[0].answer == "barrels"


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
