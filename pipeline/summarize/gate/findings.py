"""What the gate finds wrong with an answer, and what became of it; `trust_report` tells people."""

from dataclasses import dataclass, replace
from enum import StrEnum

from pipeline.prompts.prompts import built_in
from pipeline.summarize.retention import Kept

_LONGEST_TEXT = 300


class FaultKind(StrEnum):
    """What is wrong. The values are the codes of warnings."""

    REFUSAL = "refusal"  # an apology, or "I cannot help with that"
    EMPTY = "empty"  # nothing is left of the answer
    TOO_SHORT = "too_short"  # next to nothing of the input
    REPETITION = "repetition"  # the same words again and again
    ECHO = "echo"  # what was shown as context, or the caller's wishes, copied
    LANGUAGE = "other_language"  # not the one asked for, or that of the input
    CHATTER = "chatter"  # "Sure! Here is ...", "The document covers ...", fences around everything, tags of the prompt
    CUT = "cut"  # ends in the middle of a sentence
    ORDER = "order"  # of stored texts: earlier versions took out what speaks to a model
    NUMBER = "invented_number"
    UNIT = "wrong_unit"
    DATE = "invented_date"
    CODE = "invented_code"  # a part number, version, path or command
    NAME = "invented_name"
    TWISTED = "twisted"  # of stored texts: earlier versions compared a sentence with the one most like it
    UNSUPPORTED = "unsupported"  # the passage that speaks of it does not say so
    LOST_VALUES = "lost_values"  # too few values of the input with what they are the values of


class Remedy(StrEnum):
    """What became of a fault."""

    REMOVED = "removed"  # what states nothing, from the edges of an answer or between its sentences
    DROPPED = "dropped"  # a sentence
    CORRECTED = "corrected"  # the input's own sentence stands in its place
    ASKED_AGAIN = "asked_again"  # and the second answer has it no more
    REWRITTEN = "rewritten"  # sentences of the input were chosen instead of the answer
    NONE = "none"  # it is still there, or what it should have said is not


@dataclass(frozen=True, slots=True)
class TrustFinding:
    """One fault."""

    kind: FaultKind
    remedy: Remedy
    text: str = ""  # the words at fault, cut; empty when it is the whole answer


def finding(kind: FaultKind, remedy: Remedy, text: str = "") -> TrustFinding:
    """Returns a finding that quotes a text on one line, cut."""
    return TrustFinding(kind, remedy, " ".join(text.split())[:_LONGEST_TEXT])


@dataclass(frozen=True, slots=True)
class Trust:
    """What was checked in one answer, as it was delivered."""

    findings: tuple[TrustFinding, ...] = ()
    part_count: int = 0  # its sentences, list items, table rows and lines of code
    verbatim_count: int = 0  # those that stand in the input word for word
    read_count: int = 0  # of the others, those that a model compared with a passage of the input
    # those that it did not, beyond the bound or in a language that it does not know; their values are those of the
    # input nevertheless
    unread_count: int = 0


_MOST_QUOTED = 10
_RECALL_DIGITS = 3


@dataclass(frozen=True, slots=True)
class Checked:
    """An answer that has passed the gate."""

    text: str  # repaired
    trust: Trust  # what was found in it, by place
    whole: FaultKind | None  # what is wrong with it as a whole; None if nothing is
    recall: Kept  # of the input's values
    lost_share: float  # of its sentences, those that were dropped

    @property
    def is_usable(self) -> bool:
        """Whether it can stand for its input, if need be with a warning."""
        return self.whole in (None, FaultKind.LOST_VALUES)

    @property
    def rank(self) -> tuple[bool, float, float]:
        """Greater for the better of two answers to one task."""
        return self.is_usable, round(self.recall.share, _RECALL_DIGITS), -self.lost_share

    def with_finding(self, found: TrustFinding) -> "Checked":
        """Returns the same with a finding in front: one about the answer as a whole."""
        return replace(self, trust=replace(self.trust, findings=(found, *self.trust.findings)))

    def complaint(self) -> str:
        """Returns what a writer who is asked again must know: what was wrong, and what was missing."""
        words = built_in()["complaints"]
        lines = [words.fill(self.whole if self.whole in words.sections else "other")] if self.whole else []
        wrong = [one for one in self.trust.findings if one.remedy in (Remedy.DROPPED, Remedy.CORRECTED)]
        lines += [f"- {one.kind.value.replace('_', ' ')}: {one.text}" for one in wrong[:_MOST_QUOTED]]
        if self.recall.missing and self.whole in (FaultKind.LOST_VALUES, FaultKind.TOO_SHORT):
            lines.append(words.fill("missing", values="; ".join(self.recall.missing)))
        return "\n".join(lines)
