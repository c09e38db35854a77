"""What a claim says otherwise than its evidence: values, names in any writing, negations."""

import pytest

from pipeline.judge.evidence.labels import find_mismatches
from pipeline.judge.evidence.table import ClaimMismatch, MismatchKind
from pipeline.reading.document import ReadText
from pipeline.reading.names import SourceValues, find_names
from pipeline.reading.passages import Passage

SOURCE = (
    "The council of Brookfield voted on Tuesday to close the bridge for two years. Mayor Anna Holt said the bridge, "
    "built in 1931, had cracks. Repairs are expected to cost $4.2 million. The bridge carries 67 million cars, she "
    "said. Tom Reed, 61, has sold books there for five years. Work does not begin before March."
)
SENTENCES = 6


def compare(claim: str, source: str = SOURCE, near: tuple[int, ...] | None = None) -> tuple[ClaimMismatch, ...]:
    """Compares a claim with the sentence that has most of its words, as the plan does, and with all others."""
    article, summary = ReadText.of("source", source, 700), ReadText.of("summary", claim, 700)
    words = summary.table.between(0, len(claim))
    asked = set(summary.table.content_stems(words))
    shared = [len(asked & set(article.table.content_stems(said))) for said in article.ranges]
    near = near or tuple(range(len(article.sentences)))
    passage = Passage(article.text.whole(), near, (shared.index(max(shared)),))
    return find_mismatches(summary, words, SourceValues.of(article).with_names_of(summary.table), [passage])


def found(claim: str, source: str = SOURCE) -> list[tuple[MismatchKind, str, str | None]]:
    mismatches = compare(claim, source)
    return [(m.kind, m.claim.quote, m.source.quote if m.source else None) for m in mismatches]


@pytest.mark.parametrize(
    "claim",
    [
        "The council voted on Tuesday to close the bridge for 2 years.",
        "The bridge carries 67,000,000 cars.",
        "The bridge carries almost 70 million cars.",
        "Repairs are expected to cost $4.2m.",
        "Repairs are expected to cost USD 4,200,000.",
        "Reed, 61, has sold books there for 5 years.",
        "Two people spoke about the bridge.",
        "The bridge of 1931 had cracks.",
        "Brookfield's council closes the bridge.",
        "Work does not begin before March.",
    ],
)
def test_a_faithful_claim_has_no_mismatch(claim: str) -> None:
    assert found(claim) == []


@pytest.mark.parametrize(
    ("claim", "kind", "wrong", "right"),
    [
        ("The bridge carries 76 million cars.", MismatchKind.NUMBER, "76 million", "67 million"),
        ("Repairs are expected to cost $42 million.", MismatchKind.NUMBER, "$42 million", "$4.2 million"),
        ("Tom Reed has sold books there for six years.", MismatchKind.NUMBER, "six years", "five years"),
        ("The council voted on Friday to close the bridge.", MismatchKind.DATE, "Friday", "Tuesday"),
        ("The bridge, built in 1913, had cracks.", MismatchKind.DATE, "1913", "1931"),
        ("Mayor Peter Falk said the bridge had cracks.", MismatchKind.NAME, "Peter Falk", None),
        ("The council of Brookfield did not vote to close the bridge.", MismatchKind.NEGATION, "not", None),
        ("Work does begin before March.", MismatchKind.NEGATION, "does", "not"),
    ],
)
def test_a_swapped_value_is_found_with_what_stands_in_its_place(
    claim: str, kind: MismatchKind, wrong: str, right: str | None
) -> None:
    assert found(claim) == [(kind, wrong, right)]


def test_a_value_of_elsewhere_in_the_source_is_no_mismatch_unless_another_stands_in_its_place() -> None:
    source = "Ann has 12 dogs. Bob has 15 dogs. The vet came in June."
    assert found("Ann has 15 dogs.", source) == [(MismatchKind.NUMBER, "15", "12")]
    assert found("The vet saw 15 dogs.", source) == []


def test_names_are_found_in_other_spellings() -> None:
    source = "The British Broadcasting Corporation met Mikhail Gorbachev in France."
    assert found("At last the BBC spoke to Mikhail Gorbachov.", source) == []
    assert found("At last the CNN spoke to Mikhail Gorbachev.", source) == [(MismatchKind.NAME, "CNN", None)]


def test_another_name_in_the_same_place_is_a_mismatch() -> None:
    source = "On Monday Ann Lee told the court that she had paid. " + "It rained. " * 9 + "Later Bob Ray left."
    mismatches = compare("On Monday Bob Ray told the court.", source, near=(0, 1))
    assert [(m.kind, m.claim.quote, m.source and m.source.quote) for m in mismatches] == [
        (MismatchKind.NAME, "Bob Ray", "Ann Lee")
    ]


def test_a_name_without_an_article_is_a_name_at_the_start_of_a_sentence_too() -> None:
    assert found("Springfield's council closes the bridge.") == [(MismatchKind.NAME, "Springfield", None)]
    assert found("Springfield will close the bridge.") == [(MismatchKind.NAME, "Springfield", None)]
    for common in ("Police said that the bridge had cracks.", "Almost 67 million cars cross.", "Engineers will come."):
        assert found(common) == []


def test_words_that_the_source_capitalises_are_names_of_a_claim_in_lower_case() -> None:
    article = ReadText.of("source", SOURCE, 700)
    claim = ReadText.of("summary", "mayor anna holt said in brookfield that the council voted.", 700).table
    names = find_names(claim, range(len(claim)), SourceValues.of(article).known_names)
    assert [claim.words[name[0] : name[-1] + 1] for name in names] == [["anna", "holt"], ["brookfield"]]
