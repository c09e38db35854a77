"""What is evaluated: a golden reference and a generated summary; their texts are named by paths in the request."""

from typing import Annotated

from annotated_types import Len
from pydantic import Field, field_validator

from pipeline.frozen import FrozenModel

GENERATED = "generated.text"
SOURCE = "datum.entry.text"
GOLD = "datum.summary"
GOLD_SUMMARY = "datum.summary.summary"
MAIN_THEME = "datum.summary.main_theme"
KEY_FACTS = "datum.summary.key_facts"
OUTLINE = "datum.summary.logical_outline"
ENTITIES = "datum.summary.entity_list"

MIN_KEY_FACTS = 10
MAX_KEY_FACTS = 20

NonEmpty = Annotated[str, Len(min_length=1)]


class GoldStandardEntry(FrozenModel):
    """The document that was summarized."""

    category: str = Field(default="", description="Category of the text, for example GovReport, BillSum, WikiHow.")
    source_id: str = Field(default="", description="Unique identifier of the source document.")
    text: NonEmpty = Field(description="The original text.")
    token_count: int = Field(default=0, ge=0, description="Tokens of the text as the caller counted; informative.")


class GoldStandardSummary(FrozenModel):
    """The golden reference. An empty list means that the component built on it does not apply."""

    main_theme: str = Field(default="", description="One sentence: primary topic and scope of the document.")
    summary: NonEmpty = Field(description="A dense, coherent narrative summary without meta-commentary.")
    key_facts: tuple[NonEmpty, ...] = Field(default=(), description="10 to 20 atomic facts, or none.")
    logical_outline: tuple[NonEmpty, ...] = Field(default=(), description="The document's progression, in order.")
    entity_list: tuple[NonEmpty, ...] = Field(default=(), description="People, organizations, technologies, laws.")

    @field_validator("key_facts")
    @classmethod
    def _check_fact_count(cls, key_facts: tuple[str, ...]) -> tuple[str, ...]:
        if key_facts and not MIN_KEY_FACTS <= len(key_facts) <= MAX_KEY_FACTS:
            raise ValueError(f"expected {MIN_KEY_FACTS} to {MAX_KEY_FACTS} facts, or none, got {len(key_facts)} facts")
        return key_facts


class GoldStandardDatum(FrozenModel):
    """A source text with its golden summary."""

    entry: GoldStandardEntry
    summary: GoldStandardSummary


class GeneratedSummary(FrozenModel):
    """The summary to evaluate. Its text may be empty, which is a hard fail and not an error."""

    text: str = Field(description="The text as the model wrote it.")
    finish_reason: str = Field(default="", description="The model's finish reason, for example stop; empty: unknown.")
    structured_output: bool = Field(default=False, description="True when the model was asked for JSON.")
