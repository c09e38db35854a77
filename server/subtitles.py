"""SRT, SBV and WebVTT as lines of speech: "[00:01:31] Maria: We ship on Friday." Numbers, marks and sounds go.

A line is a sentence. Speech without full stops is cut where somebody pauses, else at a bound.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import reduce
from html import unescape
from itertools import pairwise

from pipeline.reading.blocks import is_sentence_end
from pipeline.reading.turns import read_talk, stamp_end

_ARROW, _VOICE = "-->", "<v"
_TAG = re.compile(r"<[^<>]*>|\{\\[^{}]*\}")
_NO_CUES = ("WEBVTT", "NOTE", "STYLE", "REGION", "X-TIMESTAMP")
_PAUSE_S, _MOST_WORDS, _HEAD_LINES, _MOST_CHARS = 1.5, 25, 3, 1_000


@dataclass(slots=True)
class _Cue:
    """What is shown at once, and when, in seconds; `start` as it is written. An answer begins with a dash."""

    start: str
    start_s: float
    end_s: float
    speaker: str = ""
    text: str = ""
    is_answer: bool = False


def is_subtitles(text: str) -> bool:
    """Tells subtitles by their first lines."""
    lines = [line for line in text[:2_000].splitlines() if line.strip()][:_HEAD_LINES]
    return any(map(_times, lines)) or (bool(lines) and lines[0].split()[0] == _NO_CUES[0])


def read_subtitles(text: str) -> str:
    """Returns what is said, a line for each sentence, with its time and speaker."""
    cues = [cue for cue in _cues(text) if any(map(str.isalnum, cue.text))]
    turns, _ = read_talk([cue.text for cue in cues])
    for number, turn in turns.items():
        cues[number].speaker, cues[number].text = turn.mark, cues[number].text[turn.start :]
    has_stops = sum(is_sentence_end(cue.text) for cue in cues) * _MOST_WORDS > len(cues)
    lines: list[str] = []
    before = _Cue("", 0.0, 0.0)
    for cue in cues:
        is_paused = cue.start_s - before.end_s >= (1 + 2 * has_stops) * _PAUSE_S or cue.is_answer
        is_full = len(lines[-1].split()) > (1 + has_stops) * _MOST_WORDS if lines else True
        cue.speaker = cue.speaker or before.speaker
        if is_full or is_paused or cue.speaker != before.speaker or is_sentence_end(before.text):
            lines.append(f"[{cue.start}] {cue.speaker}".rstrip())
        lines[-1] += f" {cue.text}"
        before = cue
    return "\n".join(lines)


def _times(line: str) -> list[str]:
    """Returns when a cue begins and ends, by an arrow or the comma of SBV; nothing of other lines."""
    times = line.split(_ARROW if _ARROW in line else ",")
    return times if len(times) > 1 and line[:1].isdigit() and all(stamp_end(time.strip()) for time in times) else []


def _cues(text: str) -> Iterator[_Cue]:
    """Yields cues, without their numbers, and without lines that the one before showed already."""
    cue, shown, is_note, named = _Cue("", 0.0, 0.0), "", True, ""
    for line, following in pairwise([*text.splitlines(), ""]):
        if times := _times(line):
            yield cue
            start, end = (part.split()[0].replace(",", ".") for part in times[:2])
            cue, is_note = _Cue(start.split(".")[0], _seconds(start), _seconds(end), named), False
        elif _times(following):
            name = line.partition('"')[2].partition('"')[0]  # 1 "Ann Lee" (2853231)
            named = f"{name}:" if name else ""
        elif line.startswith(_NO_CUES) and not cue.text:
            is_note = True
        elif not is_note and (words := _words(line)) and words != shown:
            is_answer = _TAG.sub("", line).startswith("-")
            if cue.text and (is_answer or len(cue.text) > _MOST_CHARS):
                yield cue
                cue = replace(cue, speaker="", text="")
            cue.is_answer |= is_answer
            if line.startswith(_VOICE):
                cue.speaker = f"{line.partition('>')[0].partition(' ')[2]}:"
            cue.text, shown = f"{cue.text} {words}".strip(), words
    yield cue


def _words(line: str) -> str:
    """Returns the words of a line; none of a sound: "[Music]", "(laughs)", "♪ ... ♪"."""
    words = unescape(_TAG.sub("", line)).strip().lstrip("->♪ ")
    is_sound = words[:1] + words[-1:] in ("[]", "()") or words.endswith("♪")
    return "" if is_sound else " ".join(words.split())


def _seconds(time: str) -> float:
    return reduce(lambda seconds, part: 60 * seconds + float(part), time.split(":"), 0.0)
