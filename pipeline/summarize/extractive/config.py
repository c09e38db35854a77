"""How the extractive writer works: every number that an operator may choose."""

from typing import ClassVar, Self

from pydantic import Field, model_validator

from pipeline.frozen import FrozenModel


class ExtractiveConfig(FrozenModel):
    """Settings of the extractive writer. All tokens are those of the embedding model."""

    prompt_budget_tokens: int = Field(default=8_000, ge=64, description="Most that a map call reads.")
    output_tokens: int = Field(default=12_000, ge=64, description="Longest text of one call, the summary too.")
    group_texts: ClassVar[int] = 4  # texts of full length that fit one merge; bounds its comparisons
    concurrency: int = Field(default=4, ge=1, description="Calls at once: one reads while the models serve another.")
    map_share: float = Field(
        default=0.35,
        gt=0,
        le=1,
        description="Share of a batch that is kept. Values, warnings, procedures and commands may take more.",
    )
    min_map_tokens: int = Field(
        default=300, ge=0, description="A batch of no more is kept whole: the shortest length of the schedule."
    )
    max_pairs: int = Field(default=128, ge=0, description="Sentence pairs of one text that the NLI model may compare.")
    topic_sentences: ClassVar[int] = 256  # most sentences that say what a summary is about
    embed_batch: ClassVar[int] = 128  # sentences submitted to the embedder at once

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.output_tokens < self.prompt_budget_tokens * self.map_share:
            raise ValueError(
                f"expected output_tokens of at least map_share x prompt_budget_tokens = "
                f"{self.prompt_budget_tokens * self.map_share:.0f}, got {self.output_tokens}"
            )
        return self
