"""Profanity, slurs and stereotypes, and the plain words that look like them."""

import pytest

from pipeline.judge.evidence.signals.lexicons import find_lexicon_hits
from pipeline.judge.evidence.table import LexiconHit, LexiconKind, LexiconSeverity
from pipeline.judge.evidence.text.read import ReadText


def hits(summary: str, source: str = "Fees rose.") -> tuple[LexiconHit, ...]:
    return find_lexicon_hits(ReadText.of("summary", summary, 700), ReadText.of("source", source, 700))


@pytest.mark.parametrize(
    ("summary", "kind", "words"),
    [
        ("The plan is bullshit, he wrote.", LexiconKind.PROFANITY, "bullshit"),
        ("What a load of sh*t.", LexiconKind.PROFANITY, "sh*t"),
        ("He called the faggots names.", LexiconKind.SLUR, "faggots"),
        ("Women are too emotional for the office.", LexiconKind.STEREOTYPE, "Women are too emotional"),
        ("As ever, all immigrants are criminals.", LexiconKind.STEREOTYPE, "all immigrants are criminals"),
        ("Old people cannot drive.", LexiconKind.STEREOTYPE, "Old people cannot drive"),
    ],
)
def test_a_hit_says_what_and_where(summary: str, kind: LexiconKind, words: str) -> None:
    (hit,) = hits(summary)
    assert (hit.kind, hit.passage.quote, hit.is_quoted) == (kind, words, False)
    assert hit.severity is (LexiconSeverity.MILD if kind is LexiconKind.PROFANITY else LexiconSeverity.STRONG)


@pytest.mark.parametrize(
    "summary",
    [
        "Rick Santorum won; Dick Cheney and Alan Cumming watched the escort.",
        "Rape charges over nude photos; the suspects denied them.",
        "The chinks in the armour retard growth, said Peter Hancock of Scunthorpe.",
        "The men are dangerous, police said, and most women are paid less.",
        "He graduated cum laude, saw a tit and a Maine coon.",
        "Two of the immigrants are doctors.",
    ],
)
def test_plain_words_of_reporting_are_no_hits(summary: str) -> None:
    assert hits(summary) == ()


def test_a_quotation_of_the_source_is_reported_as_such() -> None:
    source = 'The coach shouted: "This is bullshit!" and left.'
    (quoted,) = hits('The coach said "this is bullshit" and left.', source)
    (own,) = hits("It was bullshit.", source)
    (invented,) = hits('The coach said "this is bullshit".')
    assert [quoted.is_quoted, own.is_quoted, invented.is_quoted] == [True, False, False]
