"""How answers are synthesized: every number that an operator may choose."""

from pydantic import Field

from pipeline.assess.images.image import ImageLimits
from pipeline.frozen import FrozenModel


class SynthesisLimits(FrozenModel):
    """How much one request may bring. More is an InvalidInputError, never a cut text."""

    max_question_chars: int = Field(default=4_000, ge=1, description="Characters of the question.")
    max_choices: int = Field(default=26, ge=2, le=26, description="Choices: one letter each.")
    max_choice_chars: int = Field(default=1_000, ge=1, description="Characters of a choice.")
    max_scope: int = Field(default=20, ge=1, description="Objects that a question is about.")
    max_name_chars: int = Field(default=200, ge=1, description="Characters of an object, a tool, an aspect or a kind.")
    max_findings: int = Field(default=200, ge=1, description="Findings of one request.")
    max_explanation_chars: int = Field(default=4_000, ge=1, description="Characters of a finding's explanation.")
    max_tool_scores: int = Field(default=200, ge=1, description="Tool scores of one request.")
    max_context_chars: int = Field(default=20_000, ge=1, description="Characters of the context.")
    images: ImageLimits = ImageLimits()


class SynthesisConfig(FrozenModel):
    """The settings of answers (README, Fusion, Replanning and Answers)."""

    limits: SynthesisLimits = SynthesisLimits()
    max_attempts: int = Field(default=3, ge=1, le=10, description="Answers asked for until one is valid.")
    answer_tokens: int = Field(default=512, ge=64, description="Longest answer of the language model.")
    top_logprobs: int = Field(default=20, ge=5, le=20, description="Alternatives asked for, to find all five letters.")
    least_letter_mass: float = Field(
        default=0.5,
        ge=0,
        le=1,
        description="Probability that the letters must have together among the alternatives; with less the model was "
        "thinking of other words, and its answer counts as a mere classification.",
    )
    contradiction_high: float = Field(default=4.0, description="A severe finding contradicts a score above this.")
    contradiction_low: float = Field(default=2.0, description="A finding of severity none contradicts one below this.")
    contradiction_levels: float = Field(
        default=2.0,
        ge=0,
        description="An answer about images contradicts a tools' mean that is further away than this.",
    )
    least_agreement: float = Field(
        default=0.2,
        ge=0,
        le=1,
        description="Less agreement of tools and level probabilities is as good as none: a certain model is three "
        "levels away from the tools.",
    )
    seed: int = Field(default=0, description="Sent to endpoints that take a seed.")
