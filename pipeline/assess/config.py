"""How assessments and answers run: every number that an operator may choose."""

from pydantic import Field

from pipeline.frozen import FrozenModel


class ImageLimits(FrozenModel):
    """What images one request may bring. More is an InvalidInputError."""

    max_images: int = Field(default=4, ge=0, description="Images of one request.")
    max_bytes: int = Field(default=5 << 20, ge=1, description="Bytes of one file; endpoints take 5 to 20 MB.")
    max_pixels: int = Field(default=16_000_000, ge=1, description="Width times height; a small file may hold many.")


class SynthesisLimits(FrozenModel):
    """How much one request may bring. More is an InvalidInputError, never a cut text."""

    max_question_chars: int = Field(default=4_000, ge=1, description="Characters of the question.")
    max_choice_chars: int = Field(default=1_000, ge=1, description="Characters of a choice.")
    max_scope: int = Field(default=20, ge=1, description="Objects that a question is about.")
    max_name_chars: int = Field(default=200, ge=1, description="Characters of an object, a tool, an aspect or a kind.")
    max_findings: int = Field(default=200, ge=1, description="Findings of one request, and tool scores.")
    max_explanation_chars: int = Field(default=4_000, ge=1, description="Characters of a finding's explanation.")
    max_context_chars: int = Field(default=20_000, ge=1, description="Characters of the context.")
    images: ImageLimits = ImageLimits()


class SynthesisConfig(FrozenModel):
    """The settings of plans, looks at images, and answers."""

    limits: SynthesisLimits = SynthesisLimits()
    max_attempts: int = Field(default=3, ge=1, le=10, description="Replies asked for until one is valid.")
    answer_tokens: int = Field(default=512, ge=64, description="Longest plan, and longest answer.")
