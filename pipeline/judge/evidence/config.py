"""The settings of the evidence table: every number that an operator may choose."""

from enum import StrEnum
from typing import Annotated

from annotated_types import Interval
from pydantic import Field, field_validator

from pipeline.frozen import FrozenModel

WindowSize = Annotated[int, Interval(ge=1, le=5)]
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]


class QuestionMode(StrEnum):
    """When a masked question about a fact of the source is answered right.

    ENTAILED: the summary entails the fact, or has the masked words and two others of it.
    LITERAL: the words around the mask find the masked words. A summary that words it otherwise has no answer: none of
        66 real ones had more than four of six.
    """

    ENTAILED = "entailed"
    LITERAL = "literal"


class EvidenceConfig(FrozenModel):
    """The settings of the evidence table (README, Evidence, Claim labels and Questions)."""

    window_sentences: tuple[WindowSize, ...] = Field(
        default=(1, 2), min_length=1, description="Sizes, in sentences, of the sliding windows that serve as premises."
    )
    max_sentence_chars: int = Field(default=700, ge=50, description="Longer sentences are cut, to fit the NLI model.")
    max_claims: int = Field(default=10, ge=1, le=50, description="Most consequential claims of the summary.")
    max_embedded_sentences: int = Field(
        default=300,
        ge=10,
        description="Sentences of either text that the embedder reads, at most.",
    )
    windows_per_claim: int = Field(
        default=4, ge=1, description="Windows of each size asked about for each claim: the closest by cosine and words."
    )
    windows_per_key_point: int = Field(default=2, ge=1, description="Likewise, windows of the summary.")
    supported_entailment: Share = Field(default=0.6, description="Least entailment of a supported claim.")
    supported_contradiction: Share = Field(default=0.5, description="A supported claim is contradicted less than this.")
    partial_entailment: Share = Field(default=0.3, description="Least entailment of a partly supported claim.")
    contradicted: Share = Field(default=0.7, description="Contradiction that refutes, when above the entailment.")
    copied_trigram_share: Share = Field(
        default=1.0,
        description="A claim of which this share of all runs of three words stands in the source is a copy: supported.",
    )
    fully_covered: Share = Field(default=0.75, description="Covered share above which a key point is fully covered.")
    partly_covered: Share = Field(default=0.25, description="Covered share below which a key point is not covered.")
    min_segment_tokens: int = Field(default=6, ge=1, description="Shorter segments and Judge key points are ignored.")
    theme_tokens: int = Field(default=20, ge=5, le=25, description="Longest theme.")
    intent_tokens: int = Field(default=35, ge=20, le=40, description="Longest description of intent, stance and tone.")
    question_count: int = Field(default=6, ge=1, le=12, description="Questions from either side.")
    question_mode: QuestionMode = Field(
        default=QuestionMode.ENTAILED,
        description="When a question about a fact of the source is answered right: `literal` reads its words alone.",
    )

    @field_validator("window_sentences")
    @classmethod
    def _check_no_repeats(cls, sizes: tuple[int, ...]) -> tuple[int, ...]:
        if len(set(sizes)) != len(sizes):
            raise ValueError("expected sizes without repeats, got a repeated size")
        return sizes
