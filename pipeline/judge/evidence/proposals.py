"""What an LLM may propose to the evidence table: sentences by id, questions, and quotes. Never a score.

The table checks everything: an id that does not exist or a quote that does not stand in its text is no evidence.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from pipeline.text.passage import Passage


@dataclass(frozen=True, slots=True)
class ProposedQag:
    """A question about one text, with the answers that the two texts give.

    Attributes:
        fact_id: index of the statement asked about, in the list that was offered.
        question: as a reader would ask it.
        answer: a quote of that statement: the expected answer.
        given: a quote of the other text that answers the question; None when that text does not say.
    """

    fact_id: int
    question: str
    answer: str
    given: str | None


@dataclass(frozen=True, slots=True)
class ProposalTask:
    """What the model gets to see.

    Attributes:
        source_sentences: statements of the source worth asking about, by position; ids are their indices here.
        claims: of the summary, by position; ids are their indices here.
        source_windows: for each claim, the passages of the source that are closest to it.
        summary: the whole summary.
        key_point_count: least and most key points wanted.
        qag_count: questions wanted from either side.
    """

    source_sentences: tuple[Passage, ...]
    claims: tuple[Passage, ...]
    source_windows: tuple[tuple[Passage, ...], ...]
    summary: Passage
    key_point_count: tuple[int, int]
    qag_count: int


@dataclass(frozen=True, slots=True)
class ProposalSet:
    """What the model proposes; any part may be empty, and the deterministic form takes its place.

    Attributes:
        key_point_ids: of `ProposalTask.source_sentences`.
        coverage_qags: fact ids of `source_sentences`; `given` quotes the summary.
        claim_qags: fact ids of `claims`; `given` quotes the source.
        author: identity of the chat model.
        notes: what went wrong on the way, in a few words each, without text of the caller.
    """

    key_point_ids: Sequence[int]
    coverage_qags: Sequence[ProposedQag]
    claim_qags: Sequence[ProposedQag]
    author: str
    notes: tuple[str, ...] = ()


class Proposals(Protocol):
    """Writes key points, questions and answers for one request."""

    async def propose(self, task: ProposalTask) -> ProposalSet:
        """Returns proposals. Failures of the endpoint end in empty parts with a note, never in an exception."""
