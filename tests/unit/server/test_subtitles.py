"""Subtitles as speech."""

from pathlib import Path

import pytest

from server.cli.documents.read import read_document_text
from server.subtitles import read_subtitles

SBV = "0:00:01.000,0:00:02.500\nMaria: Who pays?\n\n0:00:02.600,0:00:04.500\nIt is 106 euros.\n"

SRT = """\ufeff1
00:00:01,000 --> 00:00:02,500
The board met on <i>Tuesday</i>

2
00:00:02,600 --> 00:00:04,500 X1:10
and agreed to close the ramp.

3
00:00:05,000 --> 00:00:06,000
[Music]

4
00:00:06,000 --> 00:00:07,000
{\\an8}- MARIA: Who pays?
- It is 106 euros.
"""
VTT = """WEBVTT - Talk
Kind: captions

NOTE this is
of two lines

STYLE
::cue { color: red }

opening
00:01.000 --> 00:02.500 align:start
<v.loud Maria Lopez>Today<00:00:01.5><c> we</c></v>

00:02.500 --> 00:03.500
Today we
talk &amp; vote.

00:09.500 --> 00:13.500
<v Tom>No.
"""


def test_srt_is_read_as_sentences_with_their_times() -> None:
    assert read_subtitles(SRT.lstrip("\ufeff")).split("\n") == [
        "[00:00:01] The board met on Tuesday and agreed to close the ramp.",
        "[00:00:06] MARIA: Who pays?",
        "[00:00:06] It is 106 euros.",
    ]
    answers = SRT.lstrip("\ufeff").replace("[Music]", "<i>- no</i>").split("\n{", 1)[0] + "\n- yes"
    assert read_subtitles(answers).split("\n")[1:] == ["[00:00:05] no", "[00:00:06] yes"]


def test_vtt_is_read_without_notes_styles_and_lines_shown_twice() -> None:
    assert read_subtitles(VTT).split("\n") == ["[00:01] Maria Lopez: Today we talk & vote.", "[00:09] Tom: No."]


def test_speech_without_stops_is_cut_where_somebody_pauses_else_at_a_bound() -> None:
    cues = [f"{at}\n00:00:{2 * at:02},000 --> 00:00:{2 * at + 2:02},000\nthe ramp {at} is closed" for at in range(20)]
    lines = read_subtitles("\n\n".join(cues)).split("\n")
    assert 1 < len(lines) < len(cues)
    paused = "\n\n".join(cues[:5] + cues[6:10])
    assert read_subtitles(paused).split("\n")[1].startswith("[00:00:12]")


@pytest.mark.parametrize(("name", "text"), [("a.srt", SRT), ("a.vtt", VTT), ("talk", VTT), ("talk.txt", SRT)])
def test_subtitles_are_known_by_their_content(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text, "utf-8")
    read = read_document_text(tmp_path / name)
    assert "-->" not in read
    assert read.startswith("[00:")


def test_a_text_with_an_arrow_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("Open --> close.\n\nAt 10:00 --> 11:00 it rains.", "utf-8")
    assert read_document_text(tmp_path / "a.md").startswith("Open --> close.")


def test_a_name_beside_the_number_of_a_cue_speaks() -> None:
    cues = SRT.lstrip("\ufeff").replace("\n2\n", '\n2 "Ann Lee" (285323)\n').split("\n3\n")[0]
    assert read_subtitles(cues).split("\n")[1] == "[00:00:02] Ann Lee: and agreed to close the ramp."


def test_subtitles_without_an_arrow_are_read(tmp_path: Path) -> None:
    (tmp_path / "a.sbv").write_text(SBV, "utf-8")
    assert read_document_text(tmp_path / "a.sbv").endswith("Who pays?\n[0:00:02] It is 106 euros.")
