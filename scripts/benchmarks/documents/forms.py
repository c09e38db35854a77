"""One chat as twelve programs write it down, for the question what a summary keeps of it in each form."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from pathlib import Path

_START = datetime(2025, 3, 1, 10, 14)  # noqa: DTZ001 - what people see has no time zone
_SECONDS_PER_LINE = 7


@dataclass(frozen=True)
class Said:
    """A line of a chat.

    Attributes:
        is_kept: a summary must have it.
    """

    name: str
    text: str
    at: datetime
    is_kept: bool

    @property
    def address(self) -> str:
        """Of the speaker's mail."""
        return f"{self.name.lower()}@example.org"


def read_chat(path: Path) -> list[Said]:
    """Reads lines such as "Ann: Hello."; a star in front marks what a summary must keep, "#" a comment."""
    lines = [line for line in path.read_text("utf-8").splitlines() if line and not line.startswith("#")]
    said = []
    for number, line in enumerate(lines):
        name, text = line.lstrip("*").split(": ", 1)
        said.append(Said(name, text, _START + timedelta(seconds=_SECONDS_PER_LINE * number), line.startswith("*")))
    return said


def _subtitles(chat: Sequence[Said], head: str, mark: str, cue: Callable[[Said], str]) -> str:
    """Writes cues from the beginning of the talk, numbered."""
    cues = []
    for number, said in enumerate(chat, 1):
        start = datetime.combine(_START, time()) + (said.at - _START)
        end = start + timedelta(seconds=_SECONDS_PER_LINE - 1)
        times = [f"{each:%H:%M:%S}{mark}500" for each in (start, end)]
        cues.append(f"{number}\n{times[0]} --> {times[1]}\n{cue(said)}\n")
    return head + "\n".join(cues)


def _lines(line: Callable[[Said], str]) -> Callable[[Sequence[Said]], str]:
    return lambda chat: "\n".join(map(line, chat)) + "\n"


FORMS: Mapping[str, tuple[str, Callable[[Sequence[Said]], str]]] = {
    "dated": (".txt", _lines(lambda one: f"[{one.at:%Y-%m-%d %H:%M}] {one.name}: {one.text}")),
    "whatsapp-android": (".txt", _lines(lambda one: f"{one.at:%d/%m/%Y, %H:%M} - {one.name}: {one.text}")),
    "whatsapp-ios": (".txt", _lines(lambda one: f"[{one.at:%d.%m.%y, %H:%M:%S}] {one.name}: {one.text}")),
    "slack": (".txt", _lines(lambda one: f"{one.name}  {one.at:%-I:%M %p}\n{one.text}")),
    "teams": (".txt", _lines(lambda one: f"[{one.at:%-I:%M %p}] {one.name} Lee\n{one.text}\n")),
    "irc": (".txt", _lines(lambda one: f"{one.at:%H:%M} <{one.name.lower()}> {one.text}")),
    "discord": (".txt", _lines(lambda one: f"{one.name} — {one.at:%m/%d/%Y %-I:%M %p}\n{one.text}\n")),
    "mail": (
        ".txt",
        _lines(
            lambda one: (
                f"From: {one.name} Lee <{one.address}>\nSent: {one.at:%A, %d %B %Y %H:%M}\nTo: team@example.org\n"
                f"Subject: Re: today\n\n{one.text}\n"
            )
        ),
    ),
    "bold": (".md", _lines(lambda one: f"**{one.name}:** {one.text}\n")),
    "bracketed": (".txt", _lines(lambda one: f"[{one.name}] {one.text}")),
    "srt": (".srt", lambda chat: _subtitles(chat, "", ",", lambda one: f"{one.name}: {one.text}")),
    "vtt": (".vtt", lambda chat: _subtitles(chat, "WEBVTT\n\n", ".", lambda one: f"<v {one.name}>{one.text}</v>")),
}
"""Each form's suffix, and how it is written."""
