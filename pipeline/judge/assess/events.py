"""What an assessment in progress tells: for each iteration a plan, its tools, the evidence and an answer."""

from dataclasses import dataclass

from pipeline.judge.assess.plan import AssessPlan
from pipeline.judge.synthesis.evidence import Evidence, ToolScore
from pipeline.judge.synthesis.result import Synthesis
from pipeline.llm.chat_model import LlmUsage


@dataclass(frozen=True, slots=True)
class Planned:
    """The planner has decided."""

    plan: AssessPlan


@dataclass(frozen=True, slots=True)
class ToolRun:
    """A tool has run.

    Attributes:
        iteration: from 0.
        tool: its name.
        score: in [1, 5]; None when it failed.
        raw: on its own scale: scores of texts are in [0, 10]; None when it failed.
        error: why it failed: a snake_case word, then what it means; None when it did not.
    """

    iteration: int
    tool: str
    score: ToolScore | None
    raw: float | None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class EvidenceGathered:
    """The executor has finished; the evidence holds everything found so far."""

    iteration: int
    evidence: Evidence


@dataclass(frozen=True, slots=True)
class Synthesized:
    """The summarizer has answered; `begins_again` tells whether another plan follows."""

    iteration: int
    synthesis: Synthesis
    begins_again: bool


@dataclass(frozen=True, slots=True)
class Assessment:
    """The outcome; the last event.

    Attributes:
        synthesis: the last answer.
        iteration_count: replannings that were made.
        replan_history: why, one entry for each.
        evidence: of the last iteration.
        usage: of the language model's plans, looks at images and answers, and of the judge's questions to it.
        notes: of request, plans and looks; those of the answer are in `synthesis`.
        elapsed_s: from the request to the answer.
    """

    synthesis: Synthesis
    iteration_count: int
    replan_history: tuple[str, ...]
    evidence: Evidence
    usage: LlmUsage
    notes: tuple[str, ...]
    elapsed_s: float


AssessEvent = Planned | ToolRun | EvidenceGathered | Synthesized | Assessment
