"""Turns of speech in the forms that programs write, and texts that only look like speech."""

import pytest

from pipeline.reading.sentences import speech_cuts
from pipeline.reading.turns import read_talk

SAID = ("are we ready", "We ship on Friday.", "lol", "who tells them", "I do")
NAMES = ("Ann", "Bob", "Ann", "Bob", "Ann")

FORMS = [
    "{name}: {text}",
    "{name} : {text}",
    "> {name}: {text}",
    "#{name}#: {text}",
    "**{name}:** {text}",
    "**{name}**: {text}",
    "**{name}** (10:14): {text}",
    "[{name}] {text}",
    "[{name}]: {text}",
    "[{name}] [오전 10:14] {text}",
    "<{name}> {text}",
    "[10:14] < {name}> {text}",
    "[{name} Lee] 10:14:02\n{text}\n",
    "10:14 <@{name}> {text}",
    "(10:14) {name}: {text}",
    "{name} (10:14): {text}",
    "{name} (12 mei 2025 10:14): {text}",
    "[12 mei 2025 10:14] {name}: {text}",
    "[ Monday, May 12, 2025 ] 10:14:02 AM \u2068{name}\u2069: {text}",
    "x{name} — 12/05/2025 10:14\n{text}",
    "[00:00:14] {name}: {text}",
    "00:00:14 - {name}: {text}",
    "3/1/25, 10:14 AM - {name}: {text}",
    "\u200e[3/1/25, 10:14:02\u202fAM] {name}: {text}",
    "2025-03-01T10:14:02Z {name}: {text}",
    "01.03.2025, 10:14 - +49 151 {name}: {text}",
    "01.03.2025 um 10:14 Uhr - {name}: {text}",
    "1/3/25, 10:14 a. m. - {name}: {text}",
    "10:14:02\t{name} Lee\t: {text}",
    "10:14:02 From {name} Lee to Everyone: {text}",
    "{name} [guest]: {text}",
    "[10:14] {name} (pinned)\n{text}\n",
    "10:14\n\n{name}\n\n{text}\n",
    "{name}\n\n10:14\n\n{text}\n",
    "{name}  10:14 AM\n{text}",
    "{name} Lee\n  10:14 AM\n{text}\n",
    "{name} Lee 3/1/2025 10:14 AM\n{text}\n",
    "{name} — Today at 10:14 AM\n{text}\n",
    "{name}\n — \nToday at 10:14 AM\n{text}\n",
    "{name}, [01.03.2025 10:14]\n{text}\n",
    "2025-03-01 10:14:02\t{name}\t{text}",
    "10:14:02 From {name} Lee to Everyone:\n\t{text}",
    "{name} Lee:palm_tree:  10:14 AM\n{text}",
    "{name} said:\n{text}\n",
    "Saturday, March 1, 2025 10:14 AM {name} Lee\n{text}",
    "On Sat, Mar 1, 2025 at 10:14 AM {name} Lee <{name}@example.org> wrote:\n> {text}\n",
    "Le sam. 1 mars 2025 à 10:14, {name} Lee <{name}@example.org> a écrit :\n> {text}\n",
    "Am Sa., 1. März 2025 um 10:14 Uhr schrieb {name} Lee <{name}@example.org>:\n> {text}\n",
    "From: {name} Lee <{name}@example.org>\nDate: Sat, 1 Mar 2025\nSubject: Re: ramp\n\n{text}\n",
    "On Sat, Mar 1, 2025 at 10:14 AM {name} Lee <{name}@example.org>\nwrote:\n> {text}\n",
    "*Von:* {name} Lee\n*Gesendet:* 1. März 2025\n*An:* alle\n\n{text}\n",
    "De : {name} Lee\nEnvoyé : samedi 1 mars 2025\nÀ : tous\n\n{text}\n",
]


@pytest.mark.parametrize("form", FORMS)
def test_speakers_and_what_they_say_are_found_in_every_form(form: str) -> None:
    lines = [
        line.strip()
        for name, text in zip(NAMES, SAID, strict=True)
        for line in form.format(name=name, text=text).splitlines()
    ]
    turns, silent = read_talk(lines)
    assert tuple(lines[at][turn.start :].lstrip("> ") for at, turn in turns.items()) == SAID
    assert [name in turn.mark for name, turn in zip(NAMES, turns.values(), strict=True)] == [True] * len(NAMES)
    rest = [line for number, line in enumerate(lines) if line and number not in silent and number not in turns]
    assert rest == []


def test_times_without_names_are_turns_of_speech() -> None:
    for form in ("[00:00:{at}] {text}", "0:{at}\n{text}"):
        said = ["so we talk about the ramp", "and it is closed in the autumn", "that is what the board decided"]
        lines = "\n".join(form.format(at=10 + at, text=text) for at, text in enumerate(said)).split("\n")
        turns, _ = read_talk(lines)
        assert [lines[at][turn.start :] for at, turn in turns.items()] == said


@pytest.mark.parametrize(
    "text",
    [
        "Note: see below.\nTip: use a cloth.\nWarning: never open it.\nHint: wait.",
        "2025-03-01 10:14:02 INFO: started\n2025-03-01 10:14:03 ERROR: failed\n2025-03-01 10:14:04 INFO: stopped",
        "10:14:02 Server started\n10:14:03 Connection open\n10:14:05 Server stopped\n10:14:09 Server started",
        (
            "Mar  1 10:14:02 web1 sshd[811]: Accepted key for root from 10.0.0.7\n"
            "Mar  1 10:14:03 web1 kernel: eth0 is up\nMar  1 10:15:02 web1 sshd[811]: Closed by the user\n"
            "Mar  1 10:15:07 web1 kernel: eth0 is down"
        ),
        "[INFO] started\n[WARN] disk nearly full\n[INFO] stopped\n[WARN] disk full",
        "Opening 10:00\nBreak 11:00\nMinutes of the last meeting 11:30\nLunch 12:00",
        "- [x] Wash it\n- [ ] Dry it\n- [x] Pack it\n- [ ] Send it",
        "[Home](a.html) is here.\n[Help](b.html) is there.\n[Home](a.html) again.",
        "<li> apples\n<li> pears\n<li> plums",
        "Price: 4 euros\nWeight: 2 kg\nColour: red\nSize: 12 cm",
        "We meet at 10:14.\nThen we eat.\nAt 12:30 we go home.",
    ],
)
def test_what_only_looks_like_speech_is_none(text: str) -> None:
    assert not read_talk(text.split("\n"))[0]


def test_names_above_speak_though_more_lines_are_times_and_times_may_stand_below() -> None:
    lines = [line for name in NAMES for line in (name, "10:14 AM", "We ship.", "10:15", "On Friday.")]
    assert [turn.who for turn in read_talk(lines)[0].values()] == list(NAMES)
    lines = [line for at, name in enumerate(NAMES) for line in (f"## {name}", "We ship.", f"10:1{at} AM")]
    marks = [turn.mark for turn in read_talk(lines)[0].values()]
    assert marks == [f"10:1{at} AM {name}:" for at, name in enumerate(NAMES)]


def test_names_and_numbers_speak_in_one_talk() -> None:
    names = ["Ann", "+49 151 23 45", "ann", "Ann", "+49 151 23 45", "ann"]
    lines = [f"01/03/2025, 10:14 - {name}: we ship" for name in names]
    assert [turn.who for turn in read_talk(lines)[0].values()] == names


def test_a_message_of_several_lines_stays_with_its_speaker() -> None:
    lines = ["[10:14] Ann: one", "Decision: we ship", "[10:15] Bob: two", "[10:16] Ann: three", "more"]
    assert list(read_talk(lines)[0]) == [0, 2, 3]


def test_lines_of_the_program_are_no_part_of_what_is_said() -> None:
    lines = [f"12/05/2025, 10:1{at} - {name}: we ship" for at, name in enumerate(NAMES)]
    media = [f"12/05/2025, 10:20 - Ann: {words}" for words in ("<Media omitted>", "[Photos]", "\u200eimage omitted")]
    rules = ["--- Log closed 12/05/2025 11:00 ---", "=====", "00:05:00"]
    around = ["12/05/2025, 10:09 - Bob joined the group", *media, *rules]
    _, silent = read_talk([around[0], *lines, *around[1:]])
    assert silent == {0, *range(1 + len(NAMES), 7 + len(NAMES))}


def test_speech_without_stops_is_cut_and_prose_is_not() -> None:
    speech = "the board met and it agreed to close the ramp so we asked for an offer " * 10
    cuts = speech_cuts(speech)
    lengths = [len(speech[start:end].split()) for start, end in zip([0, *cuts], [*cuts, len(speech)], strict=True)]
    assert max(lengths) <= 24
    assert sum(lengths) == len(speech.split())
    assert speech_cuts(speech.replace("offer", "offer.")) == []
    assert speech_cuts("the board met " * 15) == []


def test_a_head_far_above_a_text_is_none_of_it() -> None:
    lines = ["From: Ann", "Sent: today", *[""] * 30, "Hello."] * 3
    assert not any(turn.form == "mail" for turn in read_talk(lines)[0].values())
    memo = ["Subject: ramp", "From: Ann <a@b.org>", "To: all", "", "Hello."]
    assert not read_talk(memo)[0]
    assert read_talk(["See below.", "", *memo])[1] == {2, 3, 4, 5}
