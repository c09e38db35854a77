"""How a language model is asked for summaries."""

from typing import ClassVar, Self

from pydantic import Field, model_validator

from pipeline.frozen import FrozenModel


class LlmWriterConfig(FrozenModel):
    """Settings of the LLM writer."""

    prompt_budget_tokens: int = Field(default=8_000, ge=64, description="Context, critique and chunks of a map call.")
    context_limit_tokens: int = Field(default=4_000, ge=0, description="Part of it that context may take.")
    extraction_temperature: ClassVar[float] = 0.1  # of map, reduce and topics
    extraction_tokens: int = Field(default=4_000, ge=64, description="Longest answer of map and reduce.")
    critique_temperature: ClassVar[float] = 0.05  # of reflect
    critique_tokens: ClassVar[int] = 2_000  # longest answer of reflect
    topics_tokens: ClassVar[int] = 500  # longest answer of topics
    max_continuations: int = Field(default=3, ge=0, description="Further calls for an answer that was cut.")

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.context_limit_tokens * 2 > self.prompt_budget_tokens:
            raise ValueError(
                f"expected context_limit_tokens up to half of the budget, {self.prompt_budget_tokens // 2}, "
                f"got {self.context_limit_tokens}"
            )
        return self
