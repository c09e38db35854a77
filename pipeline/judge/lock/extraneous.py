"""What of a summary its source does not back, as Coverage and Relevance read it."""

from collections.abc import Sequence
from fractions import Fraction

from pipeline.judge.evidence.table import Claim, EvidenceTable, Label
from pipeline.judge.lock.citation import cite_first, count
from pipeline.judge.lock.draft import Limit
from pipeline.text.passage import Passage


def unsupported_passages(claims: Sequence[Claim]) -> tuple[Passage, ...]:
    """Returns where the unsupported claims stand in the summary."""
    return tuple(claim.passage for claim in claims if claim.label is Label.UNSUPPORTED)


def extraneous_limit(claims: Sequence[Claim], highest: int) -> tuple[Limit, ...]:
    """Returns the cap of a summary that makes an unsupported claim; empty for one that makes none."""
    passages = unsupported_passages(claims)
    if not passages:
        return ()
    reason = f"{count(len(passages), 'claim')} not backed by the source: {cite_first(passages)}."
    return (Limit("extraneous_claim", highest, reason),)


def precision_of(table: EvidenceTable) -> Fraction:
    """Returns 1 - extraneous / all content tokens of the summary, in [0, 1]; 1 for a summary without any."""
    if not table.summary_token_count:
        return Fraction(1)
    return 1 - Fraction(table.extraneous_token_count, table.summary_token_count)
