"""Which sentences become key points, and what tells them."""

from collections.abc import Sequence

import pytest

from pipeline.judge.evidence.table import EvidenceTable, KeyPoint
from pipeline.reading.document import ReadText
from pipeline.reading.index import WordIndex
from pipeline.reading.salience import main_clause, predicate_stems, told_shares
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


def shares(*said: Sequence[str]) -> list[float]:
    """Told shares of all sentences about dogs."""
    stems = {at: (DOGS.content_stems(words), predicate_stems(DOGS, words)) for at, words in enumerate(DOGS.ranges)}
    return list(told_shares(WordIndex(DOGS), stems, said).values())


def test_a_statement_tells_a_key_point_from_half_of_its_words_on() -> None:
    assert shares(["met", "zebra", "yesterday"])[2] == pytest.approx(3 / 5)  # of ln 4 for dogs, and three times ln 2
    assert shares(["met"], ["zebra"], ["yesterday"]) == shares(["horse"], []) == shares() == [0, 0, 0]
    assert shares(["dog", "zebra"], ["met", "zebra", "yesterday"])[2] == pytest.approx(1)
    assert told_shares(WordIndex(DOGS), {}, [["dog"]]) == {}


def test_a_statement_tells_what_it_speaks_of_and_a_subject_with_a_verb_nothing() -> None:
    assert shares(["dog", "met"])[2] == 0 != shares(["dog", "met", "zebra"])[2] == pytest.approx(4 / 5)
    assert shares(["dog", "met", "zebra", "yesterday"]) == [0, 0, 1]  # dogs are .7 of its weight of 4.9: less than .3
    assert shares(["dog", "chase", "cat"])[0] == shares(["dog", "cat"])[0] > 0.7  # another way to say nearly the same


@pytest.mark.parametrize(
    ("sentence", "clause"),
    [
        ("Bob Blind, who came from Ajax, struggled in the 3-0 defeat.", "Bob Blind struggled in the 3-0 defeat"),
        ("After the vote, Ann Lee, 33, spent £7,500 on new boats.", "Ann Lee spent £7,500 on new boats"),
        (
            "A mayor said that the old stone bridge is closed, for now.",
            "A mayor said that the old stone bridge is closed",
        ),
        ("Viral: her picture of it was seen 3, 700 times.", "her picture of it was seen 3, 700 times"),
        ("It rained.", "It rained."),
        ("Those of the bees that watched pushed it, said Ann.",) * 2,
    ],
)
def test_a_key_point_is_the_main_clause_of_its_sentence(sentence: str, clause: str) -> None:
    read = ReadText.of("source", sentence, 700)
    found = main_clause(read, 0)
    assert found.passage.text == clause
    assert sentence[found.passage.start : found.passage.end] == found.passage.quote
    said = set(clause.replace("-", " ").replace(", ", " ").split()) | {"rained", "Ann"}
    assert {read.table.raw(at) for at in found.words} <= said


def test_a_text_that_says_only_who_did_something_covers_nothing() -> None:
    vague = "The council voted. Repairs cost. Owners fear. Cars cross. Mayor Holt said. Drivers will be sent."
    points = build(ARTICLE, vague, entailment=ScriptedEntailment(default=0.99)).judge_key_points
    assert {point.coverage.value for point in points} == {"not"}


@pytest.mark.parametrize(
    ("usd", "told", "label"), [("4.2", 0.1, "fully"), ("4.2", 0.01, "partial"), ("42", 0.1, "not")]
)
def test_words_tell_a_point_unless_the_model_or_a_value_denies_it(usd: str, told: float, label: str) -> None:
    summary = f"Repairs are expected to cost ${usd} million."
    points = build(ARTICLE, summary, entailment=ScriptedEntailment(default=told)).judge_key_points
    (point,) = [point for point in points if point.passage.quote.startswith("Repairs")]
    assert point.coverage.value == label


def test_a_supported_sentence_in_other_words_tells_what_it_entails() -> None:
    told, other = "Motorists will be rerouted by Hatton, some thirteen kilometres north.", "Nobody knew."
    for summary, sure, label in ((told, 0.75, "partial"), (told, 0.49, "not"), (other, 0.75, "not")):
        made = build(ARTICLE, summary, entailment=ScriptedEntailment(default=sure))
        assert {point.coverage.value for point in made.judge_key_points} == {label}
        assert not made.claims[0].may_raise


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
    short = "The council owns a bridge from 1931. Drivers must use a ferry in Brookfield, says the council."
    points = build(" ".join(sentences), short, entailment=nothing).judge_key_points
    assert [point.coverage.value for point in points] == ["not", "partial", "partial", "not", "not"]


def test_more_of_a_summary_covers_no_less() -> None:
    nothing, sentences = ScriptedEntailment(default=0.1), ARTICLE.split(". ")
    for count in range(1, len(sentences)):
        texts = (f"{'. '.join(sentences[:end])}." for end in (count, count + 1))
        less, more = (build(ARTICLE, text, entailment=nothing).judge_key_points for text in texts)
        assert all(one.covered_share <= other.covered_share for one, other in zip(less, more, strict=True))


def test_two_sentences_of_a_summary_tell_one_key_point_between_them() -> None:
    nothing, first = ScriptedEntailment(default=0.1), "12,000 cars cross the bridge every day."
    second = "Drivers will be sent over the motorway bridge at Hatton."
    made = (build(ARTICLE, told, entailment=nothing) for told in (first, second, f"{first} {second}"))
    points = [point for one in made for point in one.judge_key_points if point.passage.quote.startswith("About 12,000")]
    assert max(point.covered_share for point in points[:2]) < points[2].covered_share
