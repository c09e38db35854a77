"""Which sentences become key points, and what tells them."""

from collections.abc import Sequence

import pytest

from pipeline.judge.evidence.table import EvidenceTable, KeyPoint
from pipeline.reading.document import ReadText
from pipeline.reading.index import WordIndex
from pipeline.reading.salience import told_shares
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


DOGS = ReadText.of("source", "Dogs bark at cats. Dogs chase cats. Dogs met a zebra yesterday.", 700)


def shares(*told: Sequence[str]) -> dict[int, float]:
    """Told shares of all sentences about dogs."""
    stems = {at: DOGS.table.content_stems(words) for at, words in enumerate(DOGS.ranges)}
    return told_shares(WordIndex(DOGS), stems, told)


def test_a_key_point_is_told_by_the_words_that_the_source_comes_back_to() -> None:
    apart = [shares([word])[2] for word in ("dog", "zebra")]
    assert apart[0] == pytest.approx(2 * apart[1])  # ln(1 + 3) to ln(1 + 1)
    assert shares(["dog"], ["met", "zebra", "yesterday"])[2] == pytest.approx(1)
    assert shares() == {0: 0, 1: 0, 2: 0} == shares(["horse"], [])
    assert told_shares(WordIndex(DOGS), {}, [["dog"]]) == {}


def test_a_sentence_tells_what_it_speaks_of_and_not_what_merely_shares_a_word_with_it() -> None:
    met = ["dog", "met", "zebra", "yesterday"]
    assert shares(met) == {0: 0, 1: 0, 2: 1}  # dogs are .7 of its weight of 4.9: less than .3 of it
    assert shares(met, ["dog"])[0] == shares(["dog"])[0] > 0  # of all dogs alike
    assert shares(["dog", "chase", "cat"])[0] == shares(["dog", "cat"])[0] > 0.7  # another way to say nearly the same


def test_copied_sentences_about_the_subject_do_not_tell_a_key_point_that_is_left_out() -> None:
    nothing = ScriptedEntailment(default=0.1)
    sentences = (
        "Repairs to the bridge in Brookfield will cost the council four million dollars.",
        "The council of Brookfield owns a bridge from 1931 with cracked supports.",
        "Drivers who cross the bridge in Brookfield must use a ferry, says the council.",
        "Shops beside the bridge fear losses, but the council of Brookfield offers loans.",
        "Work on the bridge in Brookfield begins next March, the council announced.",
    )
    points = build(" ".join(sentences), " ".join(sentences[:4]), entailment=nothing).judge_key_points
    assert [point.coverage.value for point in points] == [*["fully"] * 4, "not"]
    short = "A bridge from 1931 has cracked supports. Drivers must use a ferry."
    points = build(" ".join(sentences), short, entailment=nothing).judge_key_points
    assert [point.coverage.value for point in points] == ["not", "fully", "partial", "not", "not"]


def test_a_detail_that_is_left_out_counts_in_the_share_of_words_and_not_in_what_is_covered() -> None:
    told = "Mayor Anna Holt said the bridge had become unsafe."
    points = build(ARTICLE, told, entailment=ScriptedEntailment(default=0.1)).judge_key_points
    (point,) = [point for point in points if point.passage.quote.startswith("Mayor")]
    assert 0.4 < point.content_share < 1 == point.covered_share


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
