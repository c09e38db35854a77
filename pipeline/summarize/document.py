"""The document to summarize: its chunks in order, and what the caller chooses, checked once at the door."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import Enum
from typing import Self

from pydantic import Field, field_validator, model_validator

from pipeline.errors import InvalidInputError
from pipeline.frozen import FrozenModel
from pipeline.summarize.config import SummarizeLimits, Wave
from pipeline.summarize.steering.json_form import MAX_SCHEMA_CHARS, parse_schema
from pipeline.summarize.steering.wishes import SummaryDetail, SummaryForm, Wishes

_HASH_VERSION = b"document-1"


class SummaryType(Enum):
    """Whom the summary is for. The values are the words of settings, prompts and cache keys."""

    TECHNICAL = "technical"
    OPERATOR = "operator"


@dataclass(frozen=True, slots=True)
class SourceChunk:
    """A chunk of the document, or a part of one that was too long for a prompt."""

    chunk_index: int  # the caller's number of the chunk; parts of one chunk share it
    page_number: int  # from 1; 0 when the document has no pages
    text: str  # not empty


@dataclass(frozen=True, slots=True)
class Document:
    """A document that keeps the rules of `make_document`."""

    document_id: str
    name: str
    chunks: tuple[SourceChunk, ...]  # by rising `chunk_index`; none is empty
    total_pages: int
    empty_chunk_count: int  # chunks of the caller that held no text and were left out
    sha256: str  # of the chunks, so that equal documents are stored once


def make_document(
    document_id: str,
    name: str,
    chunks: Iterable[SourceChunk],
    *,
    limits: SummarizeLimits,
    total_pages: int = 0,
) -> Document:
    """Checks a document, sorts its chunks and leaves out empty ones.

    Args:
        name: for people and prompts; the id if empty.
        chunks: in any order; indexes from 0 without repeats, pages from 0.
        total_pages: 0 takes the highest page of a chunk.

    Raises InvalidInputError: a rule is broken, or no chunk holds text.
    """
    given = list(chunks)
    _check_text("document.document_id", document_id, limits.max_name_chars)
    _check_text("document.name", name, limits.max_name_chars)
    _check_chunks(given, limits)
    clean = (replace(chunk, text=storable(chunk.text)) for chunk in given if chunk.text.strip())
    full = tuple(sorted(clean, key=lambda chunk: chunk.chunk_index))
    if not full:
        raise InvalidInputError("document.chunks", "a chunk with text", f"{len(given)} chunks without any")
    last_page = max(chunk.page_number for chunk in full)
    if total_pages and total_pages < last_page:
        raise InvalidInputError("document.total_pages", f"at least the last page, {last_page}", str(total_pages))
    return Document(
        storable(document_id),
        storable(name or document_id),
        full,
        total_pages or last_page,
        len(given) - len(full),
        hash_chunks(full),
    )


def storable(text: str) -> str:
    """Replaces what UTF-8 or Postgres cannot hold, lone surrogates and NUL, so that a resumed run reads the same."""
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode("utf-8")


def hash_chunks(chunks: Iterable[SourceChunk]) -> str:
    """Returns the SHA-256 of chunks in hexadecimal digits; no two lists of chunks run together to the same bytes."""
    digest = hashlib.sha256(_HASH_VERSION)
    for chunk in chunks:
        body = chunk.text.encode()
        digest.update(b"%d %d %d\n" % (chunk.chunk_index, chunk.page_number, len(body)))
        digest.update(body)
    return digest.hexdigest()


def _check_text(field: str, text: str, max_chars: int) -> None:
    if len(text) > max_chars:
        raise InvalidInputError(field, f"at most {max_chars} characters", str(len(text)))


def _check_chunks(chunks: list[SourceChunk], limits: SummarizeLimits) -> None:
    if not chunks:
        raise InvalidInputError("document.chunks", "at least one chunk", "none")
    if len(chunks) > limits.max_chunks:
        raise InvalidInputError("document.chunks", f"at most {limits.max_chunks} chunks", str(len(chunks)))
    seen: set[int] = set()
    for position, chunk in enumerate(chunks):
        field = f"document.chunks[{position}]"
        if chunk.page_number < 0:
            raise InvalidInputError(f"{field}.page_number", "0 or more", str(chunk.page_number))
        if chunk.chunk_index < 0:
            raise InvalidInputError(f"{field}.chunk_index", "0 or more", str(chunk.chunk_index))
        if chunk.chunk_index in seen:
            raise InvalidInputError(f"{field}.chunk_index", "an index of its own", f"{chunk.chunk_index} again")
        seen.add(chunk.chunk_index)
    char_count = sum(len(chunk.text) for chunk in chunks)
    if char_count > limits.max_document_chars:
        raise InvalidInputError(
            "document.chunks", f"at most {limits.max_document_chars} characters together", str(char_count)
        )


class SummarizeOptions(FrozenModel):
    """One summary's choices; None takes the default of `SummarizeConfig`. They are part of the request's identity."""

    summary_type: SummaryType = Field(default=SummaryType.TECHNICAL, description="Whom the summary is for.")
    batch_size: int | None = Field(default=None, ge=1, le=1_000, description="Most chunks of a map batch.")
    reduce_group_size: int | None = Field(default=None, ge=2, le=64, description="Most texts of one reduce call.")
    max_iterations: int | None = Field(default=None, ge=1, le=5, description="Runs before a FAIL is accepted.")
    wave: Wave | None = Field(default=None, description="Batches that run at once.")
    target_tokens: int | None = Field(default=None, ge=1, le=1_000_000, description="Length in tokens.")
    target_words: int | None = Field(default=None, ge=1, le=1_000_000, description="Length in words.")
    target_share: float | None = Field(
        default=None, gt=0, le=1, allow_inf_nan=False, description="Length as a share of the document's tokens."
    )
    detail: SummaryDetail | None = Field(default=None, description="How much to say where no length is set.")
    focus: str = Field(default="", max_length=500, description="Subject or question that comes first.")
    form: SummaryForm = Field(default=SummaryForm.MARKDOWN, description="How the summary is written.")

    language: str = Field(
        default="",
        max_length=40,
        pattern=r"^(?:[^\W\d_][\w ()-]*)?$",
        description="Language of the summary; needs a language model.",
    )
    instructions: str = Field(
        default="", max_length=2_000, description="The caller's own wishes; needs a language model."
    )

    json_schema: str = Field(
        default="",
        max_length=MAX_SCHEMA_CHARS,
        description="JSON Schema of a form that the summary is given in too; needs a language model.",
    )

    @field_validator("json_schema")
    @classmethod
    def _check_schema(cls, text: str) -> str:
        if text:
            parse_schema(text)
        return text

    @model_validator(mode="after")
    def _check(self) -> Self:
        lengths = [self.target_tokens, self.target_words, self.target_share, self.detail]
        count = sum(length is not None for length in lengths)
        if count > 1:
            raise ValueError(f"expected one of target_tokens, target_words, target_share and detail, got {count}")
        return self

    @property
    def needs_check(self) -> bool:
        """Whether the caller asks for something that the writer may not be able to do."""
        length = self.target_tokens or self.target_words or self.target_share
        return bool(length or self.language or self.instructions or self.json_schema)

    @property
    def wishes(self) -> Wishes:
        """What every text of the summary is written for."""
        return Wishes(" ".join(storable(self.focus).split()), storable(self.instructions).strip())
