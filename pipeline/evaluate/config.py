"""How to score: every number of the formulas that a caller or an operator may choose."""

from enum import StrEnum
from math import fsum
from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from pipeline.errors import parse
from pipeline.frozen import FrozenModel
from pipeline.rule_identity import ScoringSettings

WEIGHT_SUM_TOLERANCE = 1e-6

Weight = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]


class PrecisionSource(StrEnum):
    """What the claims of a generated summary are checked against."""

    GOLD = "gold"
    SOURCE_TEXT = "source_text"


class EvaluateWeights(FrozenModel):
    """Weights of the five components; together 1."""

    facts: Weight = Field(default=0.40, description="Weight of the facts that are told and supported.")
    entities: Weight = Field(default=0.20, description="Weight of the names that are there.")
    flow: Weight = Field(default=0.20, description="Weight of the outline that is followed.")
    semantic: Weight = Field(default=0.15, description="Weight of the nearness in meaning.")
    length: Weight = Field(default=0.05, description="Weight of the nearness to the target length.")

    @model_validator(mode="after")
    def _check_sum(self) -> Self:
        total = fsum((self.facts, self.entities, self.flow, self.semantic, self.length))
        if abs(total - 1) > WEIGHT_SUM_TOLERANCE:
            raise ValueError(f"expected weights that sum to 1, got a sum of {total:.6g}")
        return self


class EvaluateLimits(FrozenModel):
    """How much one request may ask for. More is an InvalidInputError, never a cut text."""

    max_source_chars: int = Field(default=2_000_000, ge=1, description="Characters of the source text.")
    max_summary_chars: int = Field(default=200_000, ge=1, description="Characters of either summary.")
    max_item_chars: int = Field(default=1_000, ge=1, description="Characters of a fact, outline point or main theme.")
    max_entity_chars: int = Field(default=200, ge=1, description="Characters of an entity.")
    max_list_items: int = Field(default=100, ge=1, description="Outline points, and entities.")
    max_nli_pairs: int = Field(default=10_000, ge=1, description="NLI pairs of one request.")
    max_embedding_texts: int = Field(default=5_000, ge=1, description="Texts to embed of one request.")


class EvaluateConfig(ScoringSettings):
    """The settings of the loss."""

    weights: EvaluateWeights = EvaluateWeights()
    hit_threshold: float = Field(default=0.5, gt=0, le=1, description="Probability from which a statement is hit.")
    precision_source: PrecisionSource = Field(
        default=PrecisionSource.GOLD, description="What generated claims are checked against."
    )
    entity_fuzzy_threshold: float = Field(default=0.9, ge=0, lt=1, description="Ratio a match must exceed.")
    entity_context_threshold: float = Field(default=0.5, ge=-1, le=1, description="Least cosine of the contexts.")
    entity_context_tokens: int = Field(default=12, ge=1, le=100, description="Words on either side of a match.")
    entity_max_matches: int = Field(default=4, ge=1, description="Matches per entity whose context is compared.")
    entity_max_mentions: int = Field(
        default=8, ge=1, description="Gold mentions per entity to compare with: gold summary first, then source."
    )
    chunk_tokens: int = Field(
        default=254, ge=8, le=256, description="Longest chunk to embed: 256 less the two special tokens of BERT."
    )
    max_sentence_chars: int = Field(default=700, ge=50, description="Longer sentences are cut, to fit the NLI model.")
    lists_may_end_open: Annotated[bool, Field(description="Exempt final bullets and table rows of plain text too.")] = (
        False
    )
    limits: EvaluateLimits = EvaluateLimits()

    def with_overrides(self, overrides: dict[str, Any]) -> "EvaluateConfig":
        """Returns a copy with some settings replaced, checked anew.

        Raises InvalidInputError: a value breaks its rule; the field starts with `options`.
        """
        return parse(EvaluateConfig, {**self.model_dump(), **overrides}, "options")
