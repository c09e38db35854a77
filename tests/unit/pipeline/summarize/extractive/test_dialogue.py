from pipeline.summarize.extractive.dialogue import is_dialogue, speaker_of
from pipeline.summarize.extractive.excerpt import ExcerptKind, write_markdown
from pipeline.summarize.extractive.read_excerpts import read_excerpts
from pipeline.summarize.retention import find_stated
from tests.unit.pipeline.summarize.extractive.manual import count_tokens

MEETING = """\
Ann: Okay. So the remote control will be yellow. It is cheap.
Bob : Yes.
Ann: We decided on the rubber case last week.
Bob : I think that the chip costs too much for this product.
"""


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
    written = write_markdown(excerpts, [1, 2, 4, 5])
    assert written.splitlines() == [
        "Ann: So the remote control will be yellow. It is cheap.",
        "Ann: We decided on the rubber case last week.",
        "Bob: I think that the chip costs too much for this product.",
    ]
    again = read_excerpts([written], count_tokens)
    assert [excerpt.text for excerpt in again] == [excerpts[position].text for position in (1, 2, 4, 5)]


def test_what_carries_nothing_is_not_chosen_to_fill_space() -> None:
    short = [excerpt.text for excerpt in read_excerpts([MEETING], count_tokens) if excerpt.is_cut]
    assert short == ["Okay.", "It is cheap.", "Yes."]


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
    assert excerpts[0].text == "um, the checkout errors are back"
    written = write_markdown(excerpts, range(4))
    assert [each.text for each in read_excerpts([written], count_tokens)] == [each.text for each in excerpts]


def test_when_somebody_speaks_is_no_value_that_a_summary_could_lose() -> None:
    stated = [one.value.text for one in find_stated(CHAT.replace("09:06:10 -", "[09:06:10]"))]
    assert any("20" in value for value in stated)
    assert not any("09" in value for value in stated)
