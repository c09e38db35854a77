"""Tells people what the gate found: warnings with their places, counts, and the note behind a text."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from pipeline.summarize.gate.findings import FaultKind, Remedy, Trust
from pipeline.summarize.result import SummaryWarning, TrustReport
from pipeline.summarize.storage.records import Stage, StepId, StepOutput

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
