import pytest

from pipeline.summarize.extractive.dialogue import is_decision, is_dialogue, is_outcome, speaker_of, tidy
from pipeline.summarize.extractive.excerpt import ExcerptKind, write_markdown
from pipeline.summarize.extractive.read_excerpts import read_excerpts
from pipeline.summarize.retention import find_stated
from tests.unit.pipeline.summarize.extractive.manual import count_tokens

MEETING = """\
Ann: Okay . Um , so uh the the remote control will be yellow . It is cheap .
Bob : Mm-hmm .
Ann: We decided on the rubber case {vocalsound} last week .
Bob : Uh I think that the chip costs too much for this product .
"""


@pytest.mark.parametrize(
    ("said", "tidied"),
    [
        ("Um , so uh the the remote is is yellow .", "So the remote is yellow."),
        ("{disfmarker} it 's it 's it 's another approach ,", "It's another approach,"),
        ("Mm-hmm .", ""),
        ("The hummer is 5 mm, er, 6 mm wide.", "The hummer is 5 mm, 6 mm wide."),
        ("It costs 12 12.50 euros at 5 mm.", "It costs 12 12.50 euros at 5 mm."),
    ],
)
def test_fillers_stutters_and_marks_go_and_values_stay(said: str, tidied: str) -> None:
    assert tidy(said) == tidied


def test_a_dialogue_has_people_who_answer_each_other() -> None:
    assert is_dialogue(MEETING.splitlines())
    assert not is_dialogue(["Note: see below.", "Tip: use a cloth.", "Warning: never open it.", "Hint: wait."])
    assert not is_dialogue(MEETING.splitlines()[:2])
    prose = [f"The pump number {number} moves water." for number in range(9)]
    assert not is_dialogue([*MEETING.splitlines(), *prose])


def test_a_speaker_is_named_with_a_colon() -> None:
    assert speaker_of("Project Manager : Yes .") == "Project Manager:"
    assert speaker_of("the pump: a machine") == ""


def test_every_sentence_of_a_turn_knows_who_says_it_and_is_read_back_the_same() -> None:
    excerpts = read_excerpts([MEETING], count_tokens)
    assert {excerpt.kind for excerpt in excerpts} == {ExcerptKind.TURN}
    assert [excerpt.text for excerpt in excerpts][1:3] == ["So the remote control will be yellow.", "It is cheap."]
    assert [excerpt.mark for excerpt in excerpts][1:3] == ["Ann:", "Ann:"]
    assert excerpts[2].needs == (1,)
    written = write_markdown(excerpts, [1, 2, 3, 4])
    assert written.splitlines() == [
        "Ann: So the remote control will be yellow. It is cheap.",
        "Ann: We decided on the rubber case last week.",
        "Bob: I think that the chip costs too much for this product.",
    ]
    again = read_excerpts([written], count_tokens)
    assert [excerpt.text for excerpt in again] == [excerpts[position].text for position in (1, 2, 3, 4)]


def test_what_carries_nothing_is_not_chosen_to_fill_space() -> None:
    short = [excerpt.text for excerpt in read_excerpts([MEETING], count_tokens) if excerpt.is_cut]
    assert short == ["Okay.", "It is cheap."]


def test_a_decision_is_told_by_its_words() -> None:
    assert is_decision("We decided on the rubber case.")
    assert not is_decision("The case feels spongy.")


@pytest.mark.parametrize(
    "text", ["Decision: maintenance checks them.", "**Action 3:** P. Sato orders.", "AGREED: yes."]
)
def test_minutes_name_their_outcomes(text: str) -> None:
    assert is_outcome(text)


@pytest.mark.parametrize("text", ["The decision: wait.", "Action is needed: now.", "Decisions take time."])
def test_other_sentences_are_no_outcomes(text: str) -> None:
    assert not is_outcome(text)


CHAT = """\
[09:02] Mara: um, the checkout errors are back
[09:03] Jonas: which ones are back?
[09:05] Mara: Decision: the pool stays at 20 connections.
09:06:10 - Jonas: I will write to them today.
"""


def test_a_turn_may_begin_with_its_time() -> None:
    excerpts = read_excerpts([CHAT], count_tokens)
    assert [(excerpt.kind, excerpt.mark) for excerpt in excerpts] == [
        (ExcerptKind.TURN, "[09:02] Mara:"),
        (ExcerptKind.TURN, "[09:03] Jonas:"),
        (ExcerptKind.TURN, "[09:05] Mara:"),
        (ExcerptKind.TURN, "09:06:10 - Jonas:"),
    ]
    assert excerpts[0].text == "The checkout errors are back"
    assert is_outcome(excerpts[2].text)
    written = write_markdown(excerpts, range(4))
    assert [each.text for each in read_excerpts([written], count_tokens)] == [each.text for each in excerpts]


def test_when_somebody_speaks_is_no_value_that_a_summary_could_lose() -> None:
    stated = [one.value.text for one in find_stated(CHAT.replace("09:06:10 -", "[09:06:10]"))]
    assert any("20" in value for value in stated)
    assert not any("09" in value for value in stated)
