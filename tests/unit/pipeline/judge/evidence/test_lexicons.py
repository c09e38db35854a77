"""Profanity, slurs, stereotypes and loaded words, and the plain words that look like them."""

import pytest

from pipeline.judge.evidence.table import LexiconHit, LexiconKind, LexiconSeverity
from pipeline.judge.evidence.tone import find_lexicon_hits, without_heat
from pipeline.reading.document import ReadText
from pipeline.reading.index import WordIndex


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
    ("summary", "words"),
    [
        ("The damn plan can go to hell.", ["damn", "go to hell"]),
        ("The damned thing is a hell of a mess.", ["damned", "hell"]),
        ("It is a load of crap, and he fell on his arse.", ["crap", "arse"]),
        ("Bloody well done, said the wankers.", ["Bloody", "wankers"]),
        ('"Piss off," he told them, and "screw you".', ["Piss off", "screw you"]),
        ("He was told to bugger off.", ["bugger"]),
    ],
)
def test_mild_profanity_is_found_as_mild(summary: str, words: list[str]) -> None:
    found = hits(summary)
    assert [hit.passage.quote for hit in found] == words
    assert {(hit.kind, hit.severity) for hit in found} == {(LexiconKind.PROFANITY, LexiconSeverity.MILD)}


@pytest.mark.parametrize("word", ["fuck", "f*ck", "f***", "fucking", "motherfucker", "cunt", "c*nt"])
def test_strong_profanity_is_found_as_strong(word: str) -> None:
    (found,) = hits(f"He wrote {word} there.")
    assert (found.kind, found.severity) == (LexiconKind.PROFANITY, LexiconSeverity.STRONG)


@pytest.mark.parametrize(
    ("summary", "words"),
    [
        ("They are helped by a cripple.", "a cripple"),
        ("The illegals came by boat.", "illegals"),
        ("He is an illegal who works here.", "an illegal"),
        ("Those poor cripples came.", "Those poor cripples"),
    ],
)
def test_nouns_that_make_of_people_what_is_said_of_them_are_mild_slurs(summary: str, words: str) -> None:
    (found,) = hits(summary)
    assert (found.kind, found.severity, found.passage.quote) == (LexiconKind.SLUR, LexiconSeverity.MILD, words)


@pytest.mark.parametrize(
    ("summary", "words"),
    [
        (
            "The disgraceful council shamefully approved the outrageous budget.",
            ["disgraceful", "shamefully", "outrageous"],
        ),
        ("A council of idiots met.", ["idiots"]),
        ("They are a bunch of clowns and rats, a gang of pigs.", ["clowns", "pigs"]),
    ],
)
def test_biased_wordings_are_found_with_their_places(summary: str, words: list[str]) -> None:
    found = hits(summary)
    assert [hit.passage.quote for hit in found] == words
    assert {hit.kind for hit in found} == {LexiconKind.LOADED}
    assert all(summary[hit.passage.start : hit.passage.end] == hit.passage.quote for hit in found)


def test_no_word_is_named_by_two_lists() -> None:
    assert [hit.kind for hit in hits("All women are stupid.")] == [LexiconKind.STEREOTYPE]


@pytest.mark.parametrize(
    "summary",
    [
        "Hell's Kitchen and the town of Hell, Michigan, froze; Hell, Norway, did not.",
        "Dante speaks of heaven and hell and of the souls in hell; they went through hell and back.",
        "His nose was bloody after the bloody coup of Bloody Sunday.",
        "The strike cripples the economy; the crippled ship and its crippling debt may cripple exports.",
        "An illegal weapon was found, and the illegals programme of the spies ended.",
        "Fukushima, Mr Bich and Scunthorpe; a craps table, a crap game and a finger prick test.",
        "Screw the lid on, then screw them into the wall; damned if they do, the report was damning.",
        "Pigs, rats and other animals left the zoo; the garbage was collected, the trash can was not.",
        "An outstanding debt, reckless driving and a tunnel boring machine were clearly visible.",
        "Resident Evil, Tom Savage, the Perfect Storm and the hate crime trial; so-called Islamic State.",
        "The midget submarine and the MG Midget.",
        "Rick Santorum won; Dick Cheney and Alan Cumming watched the escort.",
        "Rape charges over nude photos; the suspects denied them.",
        "The chinks in the armour retard growth, said Peter Hancock of Scunthorpe.",
        "The men are dangerous, police said, and most women are paid less.",
        "He graduated cum laude, saw a tit and a Maine coon.",
        "Two of the immigrants are doctors.",
    ],
)
def test_names_literal_uses_and_plain_words_of_reporting_are_no_hits(summary: str) -> None:
    assert hits(summary) == ()


def test_a_quotation_of_the_source_is_reported_as_such() -> None:
    source = 'The coach shouted: "This is bullshit!" and left.'
    (quoted,) = hits('The coach said "this is bullshit" and left.', source)
    (own,) = hits("It was bullshit.", source)
    (invented,) = hits('The coach said "this is bullshit".')
    assert [quoted.is_quoted, own.is_quoted, invented.is_quoted] == [True, False, False]


@pytest.mark.parametrize(
    ("heated", "said"),
    [
        ("The damned council shamefully voted for it.", "The council voted for it."),
        ("The stupid mayor resigned.", "The mayor resigned."),
        ("A council of idiots resigned.", "A council of idiots resigned."),  # whom it speaks of
        ("The idiots resigned.", "The idiots resigned."),
        ("The shameful and cruel plan failed.", "The shameful and cruel plan failed."),
        ("The plan is disgraceful.", "The plan is disgraceful."),  # what it says
        ("The brilliant bridge closed.", "The brilliant bridge closed."),  # the source says so
    ],
)
def test_heat_is_taken_out_of_a_statement_where_it_colours_a_word(heated: str, said: str) -> None:
    assert without_heat(heated, WordIndex(ReadText.of("source", "The brilliant bridge closed.", 700))) == said
