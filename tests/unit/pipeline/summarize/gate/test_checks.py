"""What the gate compares without a model."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.reading.values import Values, find_values
from pipeline.summarize.gate.findings import FaultKind
from pipeline.summarize.gate.inspect import SourceText, inspect, is_refusal, repair, value_faults, with_lost_values
from pipeline.summarize.retention import find_stated, measure_recall

TEXT = (
    "# Pump P-4711/A\n\nThe pump delivers 1,403 litres at 2.5 bar. Tighten the bolts to 25 N·m on 1 May 2024. The seal "
    "lasts five years. Run `dpkg --configure -a` as Maria Keller said. The valve V7 opens at 6 bar. Do not open "
    "the valve V8 while the pump runs.\n\n| bolt | torque (N·m) |\n|---|---|\n| M8 | 17 |\n| M10 | 40 |"
)
SOURCE = SourceText([TEXT], name="Manual")


@pytest.mark.parametrize(
    "sentence",
    [
        "The pump delivers 1403 l at 2.50 bar.",
        "Bolts: 25Nm, done 2024-05-01.",
        "The seal holds for 5 years.",
        "Bolt M8 needs 17 N·m.",
        "The pump P-4711 has been described by Keller.",
        "Use dpkg --configure -a here.",
    ],
)
def test_the_same_value_in_another_form_is_known(sentence: str) -> None:
    assert SOURCE.value_faults(sentence, with_names=True) == []


@pytest.mark.parametrize(
    ("sentence", "kind"),
    [
        ("The pump delivers 1,404 litres.", FaultKind.NUMBER),
        ("The pump delivers 2 million litres.", FaultKind.NUMBER),
        ("It was cooled to -25 degrees.", FaultKind.NUMBER),
        ("The seal lasts nine years.", FaultKind.NUMBER),
        ("It runs at 2.5 psi.", FaultKind.UNIT),
        ("The seal lasts five months or 5 months.", FaultKind.UNIT),
        ("It was checked on 2 May 2024.", FaultKind.DATE),
        ("It was checked on 2024-04-01.", FaultKind.DATE),
        ("Order the part XQ-9981.", FaultKind.CODE),
        ("Run dpkg --purge now.", FaultKind.CODE),
        ("As the engineer Harald Quistorp said.", FaultKind.NAME),
    ],
)
def test_a_value_that_the_input_has_not_is_a_fault(sentence: str, kind: FaultKind) -> None:
    assert kind in SOURCE.value_faults(sentence, with_names=True)


def test_the_end_of_a_sentence_is_not_the_sentence() -> None:
    found = inspect("Open the valve V8 while the pump runs.", SOURCE)
    assert (found.verbatim_count, len(found.to_read)) == (0, 1)


@pytest.mark.parametrize(
    "answer",
    [
        "Sure! Here is the extracted information:\n\nThe valve V7 opens at 6 bar.\n\nLet me know if you need more!",
        "```markdown\nThe valve V7 opens at 6 bar.\n```",
        "```\nThe valve V7 opens at 6 bar.",
        "<data-4daf9280> The valve V7 opens at 6 bar.\n</data-4daf9280>",
        "The valve V7 opens at 6 bar.\nExtract ALL details of this part now.",
    ],
)
def test_what_stands_around_an_answer_is_removed(answer: str) -> None:
    found = inspect(answer, SOURCE)
    assert found.text.strip() == "The valve V7 opens at 6 bar."
    assert found.removed
    assert found.whole is None


@pytest.mark.parametrize(
    ("sentence", "is_one"),
    [
        ("I’m really sorry, but I can’t do that.", True),
        ("**Unfortunately, I cannot help.**", True),
        ("As an AI, I have no opinion.", True),
        ("Es tut mir leid, das geht nicht.", True),
        ("The seal cannot be repaired.", False),
        ("We cannot recommend the old seal.", False),
    ],
)
def test_a_refusal_is_told_by_how_it_begins(sentence: str, *, is_one: bool) -> None:
    assert is_refusal(sentence) == is_one


@pytest.mark.parametrize("heading", ["# Overview", "## Output and results"])
def test_a_heading_is_no_chat(heading: str) -> None:
    found = inspect(f"{heading}\n\nThe valve V7 opens at 6 bar.", SOURCE)
    assert (found.text.splitlines()[0], found.removed) == (heading, [])


@pytest.mark.parametrize(
    "answer", ["```\n$ make V7\n```\n\nThe valve V7 opens.", "The valve V7 opens:\n\n```\n$ make V7\n```"]
)
def test_code_at_an_edge_keeps_both_of_its_fences(answer: str) -> None:
    found = inspect(answer, SourceText(["$ make V7\n\nThe valve V7 opens:"], (), ""))
    assert (found.text, found.removed) == (answer, [])


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        ("I'm sorry, but I can't assist with that request.", FaultKind.REFUSAL),
        ("  \n***\n", FaultKind.EMPTY),
        ("The valve is good and it opens. " * 100, FaultKind.REPETITION),
        ("Die Pumpe ist vor dem Öffnen auszuschalten und das Ventil ist zu schließen.", FaultKind.LANGUAGE),
    ],
)
def test_an_answer_that_is_none_is_recognised(answer: str, kind: FaultKind) -> None:
    assert inspect(answer, SOURCE).whole is kind


def test_a_false_sentence_is_replaced_by_the_input_s_own_or_dropped() -> None:
    answer = "- The valve V7 opens at 777 bar.\n- Order 13 spare gaskets from Atlantis.\n\nThe seal lasts five years."
    found = inspect(answer, SOURCE)
    text, findings = repair(found, SOURCE)
    assert text == "- The valve V7 opens at 6 bar.\n\nThe seal lasts five years."
    assert [one.remedy.value for one in findings] == ["corrected", "dropped"]


def test_what_a_document_is_said_to_say_is_said_in_its_own_words_or_dropped() -> None:
    own = "The agreement between Harrow and Northline is about a plant."
    answer = (
        "The document outlines the agreement between Harrow and Northline about a plant. The text covers many things."
    )
    found = inspect(answer, SourceText([f"{own} The valve V7 opens at 6 bar."]))
    text, findings = repair(found, SourceText([own]))
    assert text == own
    assert [(one.kind, one.remedy.value) for one in findings] == [
        (FaultKind.CHATTER, "corrected"),
        (FaultKind.CHATTER, "dropped"),
    ]


def test_context_is_not_said_again() -> None:
    source = SourceText(["The pump runs at night."], ["The motor stands beside the frame."])
    found = inspect("The motor stands beside the frame.\n\nThe pump runs at night.", source)
    assert list(found.faults.values()) == [FaultKind.ECHO]
    assert repair(found, source)[0] == "The pump runs at night."


def test_the_caller_s_own_wishes_are_no_sentences_of_a_summary_unless_the_document_says_them_too() -> None:
    source = SourceText([TEXT], orders="Write for apprentices.\nSay what the seal costs")
    found = inspect("Write for apprentices.\n\nThe seal lasts five years.\n\n- Say what the seal costs", source)
    assert list(found.faults.values()) == [FaultKind.ECHO, FaultKind.ECHO]
    assert repair(found, source)[0] == "The seal lasts five years."
    source = SourceText([TEXT], orders="The seal lasts five years.")
    assert inspect("The seal lasts five years.", source).faults == {}


GERMAN_TEXT = "Die Pumpe ist vor dem Öffnen auszuschalten und das Ventil ist mit der Hand zu schließen, nicht später."
ENGLISH_TEXT = "The pump is to be switched off before it is opened, and the valve must be closed by hand, not later."


@pytest.mark.parametrize(
    ("text", "language", "answer", "is_wrong"),
    [
        (ENGLISH_TEXT, "German", ENGLISH_TEXT, True),
        (ENGLISH_TEXT, "German", GERMAN_TEXT, False),
        (
            ENGLISH_TEXT,
            "German",
            "- Pumpe P-4711: 2,5 bar\n- Ventil V7: 6 bar\n- Dichtung: 5 Jahre, Schrauben: 25 Nm",
            False,
        ),
        (GERMAN_TEXT, "English", GERMAN_TEXT, True),
        (GERMAN_TEXT, "British English", ENGLISH_TEXT, False),
        (GERMAN_TEXT, "German", GERMAN_TEXT, False),
        (ENGLISH_TEXT, "English", ENGLISH_TEXT, False),
    ],
)
def test_a_language_that_is_asked_for_is_told_from_english(
    *, text: str, language: str, answer: str, is_wrong: bool
) -> None:
    found = inspect(answer, SourceText([text], language=language))
    assert (found.whole is FaultKind.LANGUAGE) == is_wrong


def test_english_of_an_english_document_is_checked_as_without_a_language() -> None:
    false = "As the engineer Harald Quistorp said."
    assert SourceText([TEXT], language="English").value_faults(false, with_names=True)
    assert SourceText([TEXT], language="German").value_faults(false, with_names=True) == []


def test_a_value_without_its_subject_is_lost() -> None:
    text = "## effective_cache_size\n\nSets the cache of the planner.\n\nThe default is 4 GB. Bolts take 25 Nm."
    stated = find_stated(text)
    assert measure_recall(stated, [text]).share == 1
    alone = measure_recall(stated, ["The default is 4 GB."])
    assert (alone.input_count, alone.kept_count) == (2, 0)
    kept = measure_recall(stated, ["The cache of the planner is 4 GB by default."])
    assert kept.kept_count == 1
    assert kept.missing[0].startswith("25 Nm")


def test_a_heading_that_a_repair_leaves_empty_is_removed() -> None:
    answer = (
        "# Pump\n\n## Empty before\n\n## Valves\n\nThe valve V7 opens at 6 bar.\n\n"
        "### Ratings\n\nIt draws 17 MW.\n\n"
        "## Cells\n\n### Sizes\n\n- Each of the 96 cells has 4,444 Wh.\n\n"
        "## Ratings\n\nThe seal lasts five years."
        "\n\n## Weight\n\nAll of it weighs 987 kg."
    )
    text, findings = repair(inspect(answer, SOURCE), SOURCE)
    assert text == (
        "# Pump\n\n## Empty before\n\n## Valves\n\nThe valve V7 opens at 6 bar.\n\n"
        "## Ratings\n\nThe seal lasts five years."
    )
    assert len(findings) == 3


@pytest.mark.parametrize("number", ["2.", "12)", "2.1", "3.2.1."])
def test_a_heading_may_be_numbered_and_say_no_more_than_the_document(number: str) -> None:
    answer = f"# Pump\n\n## {number} Valves\n\nThe valve V7 opens at 6 bar."
    assert repair(inspect(answer, SOURCE), SOURCE) == (answer, [])
    invented = answer.replace("Valves", "Valves of 987 kg")
    text, findings = repair(inspect(invented, SOURCE), SOURCE)
    assert "987" not in text
    assert [one.kind for one in findings] == [FaultKind.NUMBER]


@pytest.mark.parametrize(
    ("line", "kinds"),
    [
        ("**Opening Pressure**: valve V7, 6 bar", []),
        ("**Maximum Opening Pressure:** valve V7, 6 bar", []),
        ("**Weight of 987 kg**: the valve V7", [FaultKind.NUMBER]),
        ("**Maker**: the engineer Harald Quistorp", [FaultKind.NAME]),
    ],
)
def test_a_label_in_bold_is_a_heading(line: str, kinds: list[FaultKind]) -> None:
    assert list(inspect(f"- {line}\n- The valve V7 opens at 6 bar.", SOURCE).faults.values()) == kinds


def test_a_number_that_counts_is_no_number_of_a_heading() -> None:
    _, findings = repair(inspect("# Pump\n\n## 14 Valves\n\nThe valve V7 opens at 6 bar.", SOURCE), SOURCE)
    assert [one.kind for one in findings] == [FaultKind.NUMBER]


@given(st.text("0123456789.,- kg°%()٣²", max_size=30) | st.text())
def test_any_text_can_be_read(text: str) -> None:
    values = find_values(text)
    assert [value.start for value in values] == sorted(value.start for value in values)
    assert list(value_faults(text, Values(text))) == []


@pytest.mark.parametrize(("stated", "written"), [("45 lb", "45 kg"), ("300 psi", "300 TB"), ("5 m", "5 mm")])
def test_another_unit_is_a_fault_however_it_is_spelled(stated: str, written: str) -> None:
    known = Values(f"It takes {stated}.")
    assert list(value_faults(f"It takes {written}.", known)) == [FaultKind.UNIT]
    assert list(value_faults(f"It takes {stated}.", known)) == []


MANUAL = """# Pump

The pump runs at 6 bar. It is a good pump. Its motor has 7.5 kW.

1. Open valve V7 for 10 minutes.
2. Close valve V2 after 30 seconds.
3. Wait.

| part | number |
|---|---|
| seal | 60-4471 |
| ring | 60-3351 |"""


@pytest.mark.parametrize(
    ("lost", "kept"),
    [
        ("", ""),
        ("It is a good pump. ", ""),  # no value
        ("\n2. Close valve V2 after 30 seconds.", "\n2. Close valve V2 after 30 seconds."),
        ("\n| ring | 60-3351 |", "\n| ring | 60-3351 |"),
        (" It is a good pump. Its motor has 7.5 kW.", "\n\nIts motor has 7.5 kW."),
    ],
)
def test_what_states_a_lost_value_is_added_at_its_place(lost: str, kept: str) -> None:
    assert with_lost_values(MANUAL.replace(lost, ""), SourceText([MANUAL])) == MANUAL.replace(lost, kept)


def test_a_line_goes_on_below_what_was_added_in_it() -> None:
    answer = with_lost_values(
        "**The pump runs at 6 bar.** It is new.", SourceText(["The pump runs at 6 bar.\n\n- Motor: 7 kW"])
    )
    assert answer == "**The pump runs at 6 bar.**\n\n- Motor: 7 kW\n\nIt is new."
