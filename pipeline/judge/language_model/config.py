"""The settings of the judge's language model: every number that an operator may choose."""

from typing import ClassVar

from pydantic import Field

from pipeline.frozen import FrozenModel


class ProposalConfig(FrozenModel):
    """The settings of questions, answers and levels that a language model writes."""

    max_attempts: int = Field(
        default=2,
        ge=1,
        le=5,
        description="Answers asked for until one is valid, besides repairs of the JSON.",
    )
    question_tokens: int = Field(default=1_000, ge=128, description="Longest list of questions or answers.")
    level_tokens: int = Field(default=400, ge=32, description="Longest level with its reason and quotes.")
    top_logprobs: ClassVar[int] = 20  # alternatives asked for, to find all five letters
    least_letter_mass: ClassVar[float] = 0.5
    """Probability that the five letters must have together; with less the model was thinking of other words, and its
    answer counts as one sample."""
    sample_count: ClassVar[int] = 5  # answers of an endpoint without log-probabilities
    sample_temperature: ClassVar[float] = 0.7  # of the samples after the first two
    max_summary_chars: ClassVar[int] = 8_000  # characters of the summary that a prompt shows
    seed: ClassVar[int] = 0  # sent to endpoints that take a seed; samples count up from it
