"""Tone, sentiment and drift; profanity, slurs, stereotypes and loaded words, and plain words that look like them."""

from collections.abc import Sequence

import pytest

from pipeline.judge.evidence.table import LexiconHit, LexiconKind, LexiconSeverity, Tone
from pipeline.judge.evidence.tone import find_lexicon_hits, score_tone
from pipeline.protocols import Float32
from pipeline.reading.document import ReadText
from tests.fakes_pipeline import ScriptedEntailment
from tests.unit.pipeline.judge.evidence.tables_by_fakes import ARTICLE, SUMMARY, build

FAITHFUL = SUMMARY.replace("$42", "$4.2")


@pytest.mark.parametrize(
    ("text", "tone"),
    [
        ("Three people were killed when the bridge fell, police said on Monday.", Tone.NEUTRAL),
        ("The mayor made a disgraceful and frankly ridiculous choice on Monday.", Tone.SUBJECTIVE),
        ("I think that we should all be happy about the new bridge.", Tone.SUBJECTIVE),
        ("The mayor is an idiot and his friends are scum.", Tone.HOSTILE),
        ('"You are an idiot and a clown," a resident said to the mayor on Monday.', Tone.NEUTRAL),
        ("費用が上がりました。", Tone.UNCLEAR),
        ("Yes.", Tone.UNCLEAR),
    ],
)
def test_tone_is_the_writers_own(text: str, tone: Tone) -> None:
    assert score_tone([text]).tone is tone


def test_a_faithful_summary_does_not_drift() -> None:
    assert build(summary=FAITHFUL).tone.drift == 0


def test_contempt_drifts_and_says_why() -> None:
    tone = build(summary=f"{FAITHFUL} The mayor is an idiot and her council are clowns.").tone
    assert (tone.source_tone, tone.summary_tone, tone.tone_distance) == (Tone.NEUTRAL, Tone.HOSTILE, 1)
    assert tone.drift >= 0.6


def test_joy_about_bad_news_drifts() -> None:
    happy = "Wonderful news: the lovely bridge is closed, and everyone is delighted, happy and full of joy and love."
    calm = build(summary="The bridge is closed for two years.").tone
    assert build(summary=happy).tone.stance_distance > calm.stance_distance
    assert build(summary=happy).tone.drift > calm.drift


def test_contradicted_claims_drift_by_their_length() -> None:
    class Opposed(ScriptedEntailment):
        async def entail(self, pairs: Sequence[tuple[str, str]]) -> Float32:
            probabilities = await super().entail(pairs)
            for row, (_, hypothesis) in enumerate(pairs):
                if "reject" in hypothesis:
                    probabilities[row] = (0.05, 0.05, 0.9)
            return probabilities

    table = build(ARTICLE, "The council rejected the closure. Repairs cost $4.2 million.", entailment=Opposed())
    assert 0 < table.tone.meaning_distance < 1
    assert table.tone.drift > 0


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
    ],
)
def test_names_and_literal_uses_are_no_hits(summary: str) -> None:
    assert hits(summary) == ()


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
