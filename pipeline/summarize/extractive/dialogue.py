"""Recognizes dialogues and transcripts, and tidies what is said there: who speaks, fillers, decisions.

Speech is full of what carries nothing: "Um , so uh the the remote is yellow ." becomes "So the remote is yellow.". This
is the only place where the extractive writer does not keep the document's characters.
"""

import re
from collections.abc import Sequence

from pipeline.reading.sentences import FEWEST_TURNS, SPEAKER, TIME_STAMP

_FEWEST_TURN_SHARE = 0.5  # of the lines; "Note: ..." and "Example: ..." stand in any text
_MOST_SPEAKER_SHARE = 0.5  # of the turns: people answer each other
_TIME_STAMP = re.compile(TIME_STAMP)
_MARKUP = re.compile(
    r"\{[a-z]+\}|[\[(](?:laugh(?:s|ter)?|inaudible|crosstalk|pause|applause|noise)[\])]", re.IGNORECASE
)
_FILLER = re.compile(r"(?:^|(?<=[\s,]))(?:u+[hm]+|e+r+m*|a+h+|h+m+|m+-?h+m+|uh-huh|huh)\s*[,.]?(?=\s|$)", re.IGNORECASE)
_STUTTER = re.compile(r"\b([^\W\d_][\w']{0,60}+(?:\s[^\W\d_][\w']{0,60}+)?)(?:(?:\s*+[,-])?\s++\1\b)+", re.IGNORECASE)
_SPACE_BEFORE = re.compile(r"(?<!\s)\s++([,.;:?!%])|(?<=\w)\s++(?='\w)")
_OPENING_COMMAS = re.compile(r"^[\s,;.:-]+|,(?=\s*[,.?!])")
_DECISION = re.compile(
    r"\b(?:agree[ds]?|decid(?:e|ed|es|ing)|decisions?|conclu(?:de|ded|sion)|action(?: item| point)?s?|resolv(?:e|ed)"
    r"|approv(?:e|ed|al)|recommend(?:ed|ation|ations)?|propos(?:e|ed|al)|motion|adopt(?:ed)?|assign(?:ed)?|deadline"
    r"|responsible|next (?:step|meeting|week)|we (?:will|should|need to|must))\b",
    re.IGNORECASE,
)

_OUTCOME = re.compile(
    r"\W*(?:decisions?|decided|actions?|resolved|resolutions?|agreed|motions?)(?: items?| points?| \d+)?\W*:",
    re.IGNORECASE,
)


def is_dialogue(lines: Sequence[str]) -> bool:
    """Tells whether lines are turns of people who answer each other, at least three."""
    said = [line.strip() for line in lines if line.strip()]
    speakers = [_TIME_STAMP.sub("", speaker, count=1) for line in said if (speaker := speaker_of(line))]
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


def tidy(text: str) -> str:
    """Returns what is said without fillers, stutters and marks of a transcript. Linear in its length."""
    plain = " ".join(_MARKUP.sub(" ", text).split())
    plain = " ".join(_FILLER.sub(" ", plain).split())
    plain = _STUTTER.sub(r"\1", _SPACE_BEFORE.sub(r"\1", plain))
    plain = _OPENING_COMMAS.sub("", plain).strip()
    return plain[:1].upper() + plain[1:]


def is_decision(text: str) -> bool:
    """Tells whether somebody decides, proposes or takes on something."""
    return bool(_DECISION.search(text))


def is_outcome(text: str) -> bool:
    """Tells whether minutes name a sentence as what was decided, or is to be done: "Decision: ...", "Action 3: ..."."""
    return bool(_OUTCOME.match(text))
