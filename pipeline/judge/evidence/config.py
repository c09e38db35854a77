"""The settings of the evidence table: every number that an operator may choose."""

from typing import ClassVar

from pydantic import Field

from pipeline.support.claim_support import SupportConfig


class EvidenceConfig(SupportConfig):
    """The settings of the evidence table (docs/concepts/evidence.md)."""

    max_claims: int = Field(
        default=1_000, ge=1, le=5_000, description="Claims that are checked; of more, the most consequential."
    )
    max_embedded_sentences: ClassVar[int] = 300  # sentences of either text that the embedder reads, at most
    fully_covered: ClassVar[float] = 0.75  # covered share above which a key point is fully covered
    partly_covered: ClassVar[float] = 0.25  # covered share below which a key point is not covered
    min_segment_tokens: ClassVar[int] = 6  # shorter segments and Judge key points are ignored
    theme_tokens: ClassVar[int] = 20  # longest theme
    intent_tokens: ClassVar[int] = 35  # longest description of intent, stance and tone
    question_count: ClassVar[int] = 6  # questions from either side
