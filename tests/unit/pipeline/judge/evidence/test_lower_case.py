"""Names in claims without capitals: by the source's capitals, and by what stands in a name's place."""

import pytest

from pipeline.judge.evidence.labels import find_mismatches
from pipeline.judge.evidence.table import MismatchKind
from pipeline.reading.document import ReadText
from pipeline.reading.index import WordIndex
from pipeline.reading.names import SourceValues, find_names
from pipeline.reading.passages import PassageFinder, claim_weights

SOURCE = (
    "The council of Brookfield voted on Tuesday to close the bridge. Mayor Anna Holt said that the bridge had cracks. "
    "Reporters met Paul Nash, who has sold books in Springfield for years."
)
PASSAGE_CHARS = 700


def exchanged(claim: str, source: str) -> list[tuple[str, str | None]]:
    article, summary = ReadText.of("source", source, 700), ReadText.of("summary", claim, 700)
    words, index = summary.table.between(0, len(claim)), WordIndex(article)
    passage = PassageFinder(article, index, PASSAGE_CHARS).find(claim_weights(summary.table, words, index))
    values = SourceValues.of(article).with_names_of(summary.table)
    mismatches = find_mismatches(summary, words, values, passage)
    assert {mismatch.kind for mismatch in mismatches} <= {MismatchKind.NAME}
    return [(one.claim.quote, one.source.quote if one.source else None) for one in mismatches]


def test_words_that_the_source_capitalises_are_names_of_a_claim_in_lower_case() -> None:
    article = ReadText.of("source", SOURCE, 700)
    claim = ReadText.of("summary", "mayor anna holt said in brookfield that the council voted.", 700).table
    names = find_names(claim, range(len(claim)), SourceValues.of(article).known_names)
    assert [claim.words[name.first : name.last] for name in names] == [["anna", "holt"], ["brookfield"]]


@pytest.mark.parametrize(
    ("claim", "found"),
    [
        ("the council of riverton voted on tuesday to close the bridge.", ("riverton", "Brookfield")),
        ("reporters met jack moore, who has sold books in springfield.", ("jack moore", "Paul Nash")),
        ("mayor anna smith said that the bridge had cracks.", ("smith", "Holt")),
    ],
)
def test_a_word_in_the_place_of_a_name_is_a_mismatch(claim: str, found: tuple[str, str]) -> None:
    assert exchanged(claim, SOURCE) == [found]
    assert exchanged(claim, SOURCE.lower()) == [(found[0], found[1].lower())]


@pytest.mark.parametrize(
    "claim",
    [
        "the council of brookfield voted on tuesday to close the bridge.",
        "the council of brookfield decided on tuesday to close the bridge.",  # another verb
        "reporters met paul nash, who has sold novels in springfield for years.",
        "the council of brookfield voted on tuesday to shut the bridge.",
        "reporters met a man, who has sold books in springfield for years.",
        "the mayor said the bridge was damaged.",
    ],
)
@pytest.mark.parametrize("source", [SOURCE, SOURCE.lower()])
def test_other_words_in_place_of_common_ones_are_none(claim: str, source: str) -> None:
    assert exchanged(claim, source) == []
