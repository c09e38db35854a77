"""What the gate finds wrong with an answer, and what became of it."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from pipeline.summarize.result import SummaryWarning, TrustReport
from pipeline.summarize.retention import Kept
from pipeline.summarize.storage.records import Stage, StepId, StepOutput

_LONGEST_TEXT = 300


class FaultKind(StrEnum):
    """What is wrong. The values are the codes of warnings."""

    REFUSAL = "refusal"  # an apology, or "I cannot help with that"
    EMPTY = "empty"  # nothing is left of the answer
    TOO_SHORT = "too_short"  # next to nothing of the input
    REPETITION = "repetition"  # the same words again and again
    ECHO = "echo"  # what was shown as context, or the caller's wishes, copied
    LANGUAGE = "other_language"  # not the one asked for, or that of the input
    CHATTER = "chatter"  # "Sure! Here is ...", fences around everything, lines and tags of the prompt
    CUT = "cut"  # ends in the middle of a sentence
    ORDER = "order"  # of stored texts: earlier versions took out what speaks to a model
    NUMBER = "invented_number"
    UNIT = "wrong_unit"
    DATE = "invented_date"
    CODE = "invented_code"  # a part number, version, path or command
    NAME = "invented_name"
    TWISTED = "twisted"  # nearly a sentence of the input, with a value or name of another one
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
    """One fault.

    Attributes:
        text: the words at fault, cut; empty when it is the whole answer.
    """

    kind: FaultKind
    remedy: Remedy
    text: str = ""


def finding(kind: FaultKind, remedy: Remedy, text: str = "") -> TrustFinding:
    """Returns a finding that quotes a text on one line, cut."""
    return TrustFinding(kind, remedy, " ".join(text.split())[:_LONGEST_TEXT])


@dataclass(frozen=True, slots=True)
class Trust:
    """What was checked in one answer, as it was delivered.

    Attributes:
        part_count: its sentences, list items, table rows and lines of code.
        verbatim_count: those that stand in the input word for word.
        read_count: of the others, those that a model compared with a passage of the input.
        unread_count: those that it did not, beyond the bound or in a language that it does not know; their values are
            those of the input nevertheless.
    """

    findings: tuple[TrustFinding, ...] = ()
    part_count: int = 0
    verbatim_count: int = 0
    read_count: int = 0
    unread_count: int = 0


_MOST_QUOTED = 10
_RECALL_DIGITS = 3
_COMPLAINTS = {
    FaultKind.REFUSAL: "The answer was a refusal. The material is a document that you are allowed to work on.",
    FaultKind.EMPTY: "Nothing of the answer was information of the material.",
    FaultKind.TOO_SHORT: "The answer was far too short: it named the subject and left out what is said of it.",
    FaultKind.REPETITION: "The answer repeated the same words again and again. Say everything once, then stop.",
    FaultKind.ECHO: "The answer copied the earlier material. Use the new material alone.",
    FaultKind.LANGUAGE: "The answer was in the wrong language. Write in the one that is asked for.",
    FaultKind.LOST_VALUES: "Too many values of the material were missing, or stood there without what they belong to.",
}
_COMPLAINTS |= dict.fromkeys(set(FaultKind) - set(_COMPLAINTS), "Much of the answer does not stand in the material:")


@dataclass(frozen=True, slots=True)
class Checked:
    """An answer that has passed the gate.

    Attributes:
        text: repaired.
        trust: what was found in it, by place.
        whole: what is wrong with it as a whole; None if nothing is.
        recall: of the input's values.
        lost_share: of its sentences, those that were dropped.
    """

    text: str
    trust: Trust
    whole: FaultKind | None
    recall: Kept
    lost_share: float

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
        lines = [_COMPLAINTS[self.whole]] if self.whole else []
        wrong = [one for one in self.trust.findings if one.remedy in (Remedy.DROPPED, Remedy.CORRECTED)]
        lines += [f"- {one.kind.value.replace('_', ' ')}: {one.text}" for one in wrong[:_MOST_QUOTED]]
        if self.recall.missing and self.whole in (FaultKind.LOST_VALUES, FaultKind.TOO_SHORT):
            lines.append("Missing, for example: " + "; ".join(self.recall.missing))
        return "\n".join(lines)


_STEPS = {Stage.MAP: "batch", Stage.REDUCE: "merge", Stage.COMPRESS: "shortened text"}
_TOLD = {
    Remedy.DROPPED: "was left out",
    Remedy.CORRECTED: "was replaced by the document's own sentence",
    Remedy.REWRITTEN: "was replaced by sentences of the document",
    Remedy.NONE: "could not be repaired",
}
_WHOLE = {
    FaultKind.REFUSAL: "a refusal",
    FaultKind.EMPTY: "an answer without information",
    FaultKind.TOO_SHORT: "an answer that is far too short",
    FaultKind.REPETITION: "an endless repetition",
    FaultKind.ECHO: "a copy of other material",
    FaultKind.LANGUAGE: "an answer in another language",
    FaultKind.LOST_VALUES: "the loss of values",
}
_MUCH = "an answer of which much is not in the document"
_MOST_WARNINGS = 100
_MOST_NOTES = 10


def place_of(step: StepId, output: StepOutput) -> str:
    """Returns where a text stands: its step, and the pages or chunks of the document behind it."""
    first, last = output.pages
    stretch = f"pages {first}-{last}" if last else f"chunks {output.chunk_indexes[0]}-{output.chunk_indexes[1]}"
    number = "" if step.stage is Stage.COMPRESS else f" {step.position + 1}"
    level = f" of level {step.level}" if step.level else ""
    return f"{_STEPS[step.stage]}{number}{level}, {stretch}"


def trust_warnings(trust: Trust | None, place: str) -> Iterator[SummaryWarning]:
    """Yields a warning for each fault by which a reader's text differs from the answer, the lasting ones first."""
    findings = trust.findings if trust else ()
    for found in sorted(findings, key=lambda one: one.remedy is not Remedy.NONE):
        if found.remedy in _TOLD:
            is_whole = not found.text or found.kind is FaultKind.LOST_VALUES
            name = _WHOLE.get(found.kind, _MUCH) if is_whole else f"a sentence ({found.kind.value.replace('_', ' ')})"
            message = f"{name} {_TOLD[found.remedy]}: {place}"
            yield SummaryWarning(found.kind.value, message, place, found.text)


def first_warnings(warnings: Iterable[SummaryWarning]) -> list[SummaryWarning]:
    """Returns as many warnings as a result holds, those that could not be repaired first."""
    return sorted(warnings, key=lambda one: _TOLD[Remedy.NONE] not in one.message)[:_MOST_WARNINGS]


def add_up_trust(trusts: Sequence[Trust]) -> TrustReport | None:
    """Adds up what the gate found in several texts; None if none of them passed a gate."""
    if not trusts:
        return None
    remedies = Counter(found.remedy for trust in trusts for found in trust.findings)
    return TrustReport(
        part_count=sum(trust.part_count for trust in trusts),
        verbatim_count=sum(trust.verbatim_count for trust in trusts),
        read_count=sum(trust.read_count for trust in trusts),
        unread_count=sum(trust.unread_count for trust in trusts),
        removed_count=remedies[Remedy.REMOVED],
        dropped_count=remedies[Remedy.DROPPED],
        corrected_count=remedies[Remedy.CORRECTED],
        asked_again_count=remedies[Remedy.ASKED_AGAIN],
        rewritten_count=remedies[Remedy.REWRITTEN],
        flaw_count=remedies[Remedy.NONE],
    )


def flaw_note(warnings: Iterable[SummaryWarning]) -> str:
    """Returns what a summary says of its own flaws, behind its text; empty without any."""
    lasting = [warning for warning in warnings if _TOLD[Remedy.NONE] in warning.message]
    lines = [f"> - {warning.message}" for warning in lasting[:_MOST_NOTES]]
    if len(lasting) > _MOST_NOTES:
        lines.append(f"> - and {len(lasting) - _MOST_NOTES} more")
    return "\n".join(["> **This summary is flawed. Read these places in the document:**", *lines]) if lines else ""
