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


def compare(claim: str, source: str = SOURCE) -> tuple[ClaimMismatch, ...]:
    """Compares a claim with the sentence that has most of its words, as the plan does, and with all others."""
    article, summary = ReadText.of("source", source, 700), ReadText.of("summary", claim, 700)
    words = summary.table.between(0, len(claim))
    asked = set(summary.table.content_stems(words))
    shared = [len(asked & set(article.table.content_stems(said))) for said in article.ranges]
    passage = Passage(article.text.whole(), tuple(range(len(article.sentences))), (shared.index(max(shared)),))
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
        ("Work does begin before March.", MismatchKind.NEGATION, "begin", "not"),
    ],
)
def test_a_swapped_value_is_found_with_what_stands_in_its_place(
    claim: str, kind: MismatchKind, wrong: str, right: str | None
) -> None:
    assert found(claim) == [(kind, wrong, right)]


def test_a_value_of_elsewhere_in_the_source_is_no_mismatch() -> None:
    assert found("The vet saw 15 dogs.", "Ann has 12 dogs. Bob has 15 dogs. The vet came in June.") == []


def test_a_name_that_the_source_does_not_have_is_found_inside_a_sentence() -> None:
    source = "The BBC met Mikhail Gorbachev in France."
    assert found("At last the BBC's man spoke to Gorbachev.", source) == []
    assert found("At last the CNN spoke to Mikhail Gorbachev.", source) == [(MismatchKind.NAME, "CNN", None)]
    assert found("Police met Mikhail Gorbachev.", source) == []


def test_words_that_the_source_capitalises_are_names_of_a_claim_in_lower_case() -> None:
    article = ReadText.of("source", SOURCE, 700)
    claim = ReadText.of("summary", "mayor anna holt said in brookfield that the council voted.", 700).table
    names = find_names(claim, range(len(claim)), SourceValues.of(article).known_names)
    assert [claim.words[name[0] : name[-1] + 1] for name in names] == [["anna", "holt"], ["brookfield"]]
