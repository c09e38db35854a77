"""Recognizes dialogues and transcripts: lines in which people answer each other, each behind a name."""

from collections.abc import Sequence

from pipeline.reading.sentences import FEWEST_TURNS, SPEAKER

_FEWEST_TURN_SHARE = 0.5  # of the lines; "Note: ..." and "Example: ..." stand in any text
_MOST_SPEAKER_SHARE = 0.5  # of the turns: people answer each other


def is_dialogue(lines: Sequence[str]) -> bool:
    """Tells whether lines are turns of people who answer each other, at least three."""
    said = [line for line in lines if line.strip()]
    speakers = [speaker.lstrip("[(0123456789:.,)] -") for line in said if (speaker := speaker_of(line))]
    is_talk = len(speakers) >= max(FEWEST_TURNS, _FEWEST_TURN_SHARE * len(said))
    return is_talk and len(set(speakers)) <= max(2, _MOST_SPEAKER_SHARE * len(speakers))


def speaker_of(line: str) -> str:
    """Returns when and who begins to speak in a line, with a colon; empty if it goes on with what is before it."""
    match = SPEAKER.match(line.lstrip())
    return f"{match.group().rstrip(' :')}:" if match else ""


def speech_of(line: str) -> int:
    """Returns where in a line stands what its speaker says."""
    match = SPEAKER.match(line, len(line) - len(line.lstrip()))
    return match.end() if match else 0
