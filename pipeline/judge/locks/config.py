"""What an operator may choose about Twin-Lock and Judge-Lock: rules with two readings (README, Caps)."""

from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field


class RelevanceMode(StrEnum):
    """What of a segment is compared with the bands. Jaccard is reported either way.

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
        default=6,
        ge=0,
        le=13,
        description="Fewer right coverage questions cap Judge-Lock's Coverage at 7. Six or fewer, read literally, is 7,"
        " which caps everything.",
    )
    twin_safeguards: bool = Field(
        default=False,
        description="Apply to Twin-Lock too what Judge-Lock has (README, Caps): severe hallucination caps Alignment,"
        " and the perfect-10 guard.",
    )
