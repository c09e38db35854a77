"""Which sentences become key points, and what tells them."""

import pytest

from pipeline.judge.evidence.table import EvidenceTable, KeyPoint
from pipeline.judge.evidence.text.closeness import WordIndex
from pipeline.judge.evidence.text.read import ReadText
from pipeline.judge.evidence.text.subject import told_share
from tests.fakes_pipeline import ScriptedEntailment
from tests.unit.pipeline.judge.evidence.tables_by_fakes import ARTICLE, build

LONG = (
    "The council of the town votes on the plan next week.",
    "The union of the farmers objects to it in court.",
)
SHORT = ("Fees rose sharply.", "It rained.", "Ann left.", "Bob came.")


def quotes(points: tuple[KeyPoint, ...]) -> list[str]:
    return [point.passage.quote for point in points]


def table(*sentences: str) -> EvidenceTable:
    return build(source=" ".join(sentences))


def test_key_points_of_judge_lock_have_six_tokens_and_are_rather_fewer() -> None:
    made = table(*SHORT, *LONG)
    assert quotes(made.judge_key_points) == list(LONG)
    assert len(made.twin_key_points) == 3  # its least number; it has no least length
    assert {*LONG} < {*quotes(made.twin_key_points)}


def test_key_points_are_shorter_only_where_no_sentence_is_long_enough() -> None:
    made = table(*SHORT)
    assert 0 < len(made.judge_key_points) <= 4
    assert all(point.token_count < 6 for point in made.judge_key_points)


@pytest.mark.parametrize(("sentences", "twin", "judge"), [(3, 3, 3), (8, 3, 5), (20, 4, 5), (41, 7, 6), (90, 7, 7)])
def test_longer_sources_have_more_key_points(sentences: int, twin: int, judge: int) -> None:
    words = [f"{chr(97 + index % 26) * 3}{chr(97 + index // 26) * 3}" for index in range(6 * sentences)]
    made = table(*(f"The {' '.join(words[6 * at : 6 * at + 6])} came." for at in range(sentences)))
    assert (len(made.twin_key_points), len(made.judge_key_points)) == (twin, judge)


def test_a_key_point_is_told_by_the_words_that_the_source_comes_back_to() -> None:
    source = ReadText.of("source", "Dogs bark at cats. Dogs chase cats. Dogs met a zebra yesterday.", 700)
    index, stems = WordIndex(source), ["dog", "met", "zebra", "yesterday"]
    weights = {stem: told_share(index, stems, {stem}) for stem in stems}
    assert weights["dog"] == pytest.approx(2 * weights["zebra"])  # ln(1 + 3) to ln(1 + 1)
    assert told_share(index, stems, {"dog"}) == pytest.approx(1)  # .4 of all are as many as there is room for
    assert (told_share(index, stems, set()), told_share(index, [], {"dog"})) == (0, 0)


def test_two_sentences_of_a_summary_tell_one_key_point_between_them() -> None:
    nothing = ScriptedEntailment(default=0.1)
    first, second = "The bridge is crossed every day by cars.", "Drivers will be sent over the motorway at Hatton."
    shares = []
    for summary in (first, second, f"{first} {second}"):
        made = build(ARTICLE, summary, entailment=nothing)
        shares += [
            point.covered_share for point in made.judge_key_points if point.passage.quote.startswith("About 12,000")
        ]
    assert max(shares[:2]) < shares[2]
