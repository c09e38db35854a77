"""The settings of the judge's language model: every number that an operator may choose."""

from pydantic import Field

from pipeline.frozen import FrozenModel


class ProposalConfig(FrozenModel):
    """The settings of questions, answers and levels that a language model writes (README, Limits)."""

    max_attempts: int = Field(
        default=2,
        ge=1,
        le=5,
        description="Answers asked for until one is valid, besides repairs of the JSON.",
    )
    question_tokens: int = Field(default=1_000, ge=128, description="Longest list of questions or answers.")
    level_tokens: int = Field(default=400, ge=32, description="Longest level with its reason and quotes.")
    top_logprobs: int = Field(default=20, ge=5, le=20, description="Alternatives asked for, to find all five letters.")
    least_letter_mass: float = Field(
        default=0.5,
        ge=0,
        le=1,
        description="Probability that the five letters must have together; with less the model was thinking of other "
        "words, and its answer counts as one sample.",
    )
    sample_count: int = Field(default=5, ge=2, le=20, description="Answers of an endpoint without log-probabilities.")
    sample_temperature: float = Field(default=0.7, gt=0, le=2, description="Of the samples after the first two.")
    max_summary_chars: int = Field(default=8_000, ge=200, description="Characters of the summary that a prompt shows.")
    seed: int = Field(default=0, description="Sent to endpoints that take a seed; samples count up from it.")
