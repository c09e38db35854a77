"""The settings of the two locks: rules with two readings."""

from dataclasses import replace
from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field

from pipeline.judge.locks.caps import JUDGE_LOCK, TWIN_LOCK, LockRules
from pipeline.judge.result import Framework


class RelevanceMode(StrEnum):
    """Which overlap of a segment with the article is compared with the bands. Jaccard is reported either way.

    CONTAINMENT: shared / distinct content words of the segment.
    JACCARD: shared / distinct content words of either: the rule read literally. A segment is so much shorter than
        an article that none of 952 real ones reached 0.3.
    """

    CONTAINMENT = "containment"
    JACCARD = "jaccard"


class LockConfig(BaseModel):
    """The settings of the two locks (README, Twin-Lock and Judge-Lock, Caps)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    relevance_mode: RelevanceMode = Field(default=RelevanceMode.CONTAINMENT, description="What the bands are of.")
    correct_questions_needed: int = Field(
        default=JUDGE_LOCK.correct_questions or 0,
        ge=0,
        le=13,
        description=f"Fewer right coverage questions cap Judge-Lock's Coverage at {JUDGE_LOCK.weak_coverage}."
        " Six or fewer, read literally, is 7, which caps everything.",
    )
    twin_safeguards: bool = Field(
        default=False,
        description="Apply to Twin-Lock too what Judge-Lock has (README, Caps): severe hallucination caps Alignment,"
        " and the perfect-10 guard.",
    )

    def rules_of(self, framework: Framework) -> LockRules:
        """Returns the rules of a lock as these settings change them."""
        if framework is Framework.JUDGE_LOCK:
            return replace(JUDGE_LOCK, correct_questions=self.correct_questions_needed)
        if not self.twin_safeguards:
            return TWIN_LOCK
        return replace(
            TWIN_LOCK,
            severe_alignment=JUDGE_LOCK.severe_alignment,
            perfect_score=JUDGE_LOCK.perfect_score,
            perfect_spans=JUDGE_LOCK.perfect_spans,
            perfect_guard=JUDGE_LOCK.perfect_guard,
        )
