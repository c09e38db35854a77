"""Summarize requests as domain types. What a caller gets wrong becomes an InvalidInputError with the field's path."""

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from precis.v1 import common_pb2
from precis.v1 import summarize_pb2 as pb

from pipeline.errors import InvalidInputError, parse
from pipeline.llm.chat_model import NO_USAGE
from pipeline.llm.token_count import estimate_tokens
from pipeline.summarize.config import ALL, SummarizeLimits
from pipeline.summarize.document import Document, SourceChunk, SummarizeOptions, SummaryType, make_document
from pipeline.summarize.packing import split_by_tokens
from pipeline.summarize.steering.budget import SummaryBudget
from pipeline.summarize.steering.wishes import SummaryDetail, SummaryForm
from pipeline.summarize.summarizer import JobPriority
from pipeline.summarize.writer import WriterLimits
from server.rpc.fields import EnumCodec, set_fields

PAGE_BREAK = "\f"
MAX_ID_CHARS = 100  # of ours have 32; a longer one is no id and need not be looked up

_MOST_OF_A_PAGE, _DEFAULT_PAGE = 1_000, 50
_ENUMS: Mapping[str, EnumCodec[Any]] = {
    "summary_type": EnumCodec(SummaryType, pb.SummaryType.DESCRIPTOR),
    "detail": EnumCodec(SummaryDetail, pb.SummaryDetail.DESCRIPTOR),
    "form": EnumCodec(SummaryForm, pb.SummaryForm.DESCRIPTOR),
}


def parse_options(options: pb.SummarizeOptions) -> SummarizeOptions:
    """Takes what the caller set. Raises InvalidInputError."""
    fields = set_fields(options)
    batches, is_all = fields.pop("wave_batches", None), fields.pop("wave_all", False)
    if batches is not None and batches < 1:
        raise InvalidInputError("options.wave_batches", "1 or more", str(batches))
    fields["wave"] = ALL if is_all else batches
    if fields.get("detail") == pb.SUMMARY_DETAIL_UNSPECIFIED:  # of a oneof, and so set
        del fields["detail"]
    for name in fields.keys() & _ENUMS.keys():
        fields[name] = _ENUMS[name].parse(fields[name], f"options.{name}")
    return parse(SummarizeOptions, fields, "options")


def parse_budget(
    request: pb.SummarizeRequest | pb.ResumeSummaryRequest | pb.SubmitSummaryRequest, limits: WriterLimits
) -> SummaryBudget | None:
    """Returns the budget of a request; None where it has none. Raises InvalidInputError."""
    if not request.HasField("budget"):
        return None
    budget = request.budget
    for name, value in set_fields(budget).items():
        if not 0 <= value < math.inf:
            raise InvalidInputError(f"budget.{name}", "0 or more, 0 for no bound", f"{value:g}")
    if budget.max_cost and limits.shapes_merges and limits.prices.cost_if_priced(NO_USAGE) is None:
        expected = "0, for this server knows no prices (settings llm.prices)"
        raise InvalidInputError("budget.max_cost", expected, f"{budget.max_cost:g}")
    return SummaryBudget(budget.max_calls, budget.max_tokens, budget.max_cost)


def parse_document(document: pb.Document, limits: SummarizeLimits, chunk_tokens: int) -> Document:
    """Checks a document; cuts a text into chunks. CPU-heavy for a long one: run it off the loop.

    Args:
        limits: of what a document may hold.
        chunk_tokens: most estimated tokens of a chunk of a text.

    Raises:
        InvalidInputError: the first field that breaks its rule.
    """
    if document.text and document.chunks:
        raise InvalidInputError("document.text", "either chunks or a text", "both")
    if document.total_chunks not in (0, len(document.chunks)):  # a cut upload would be summarized as if it were all
        expected = f"{len(document.chunks)}, the chunks that came" if document.chunks else "0 with a text"
        raise InvalidInputError("document.total_chunks", expected, str(document.total_chunks))
    # Counted before anything is built from them: a request may hold millions.
    if len(document.chunks) > limits.max_chunks:
        raise InvalidInputError("document.chunks", f"at most {limits.max_chunks} chunks", str(len(document.chunks)))
    return make_document(
        document.document_id,
        document.name,
        _text_chunks(document.text, limits.max_document_chars, chunk_tokens) if document.text else _chunks(document),
        limits=limits,
        total_pages=document.total_pages,
    )


@contextmanager
def inside(field: str) -> Iterator[None]:
    """Lets the fields of errors begin with that of the message which they belong to."""
    try:
        yield
    except InvalidInputError as error:
        raise InvalidInputError(f"{field}.{error.field}", error.expected, error.got) from error


def parse_summary_id(summary_id: str) -> str:
    """Refuses what cannot be an id. Raises InvalidInputError."""
    if not summary_id:
        raise InvalidInputError("summary_id", "the id of an `accepted` event", "nothing")
    if len(summary_id) > MAX_ID_CHARS:
        raise InvalidInputError("summary_id", f"at most {MAX_ID_CHARS} characters", str(len(summary_id)))
    return summary_id


def parse_job_priority(number: int) -> JobPriority:
    """Returns the priority of a job; bulk by default. Raises InvalidInputError."""
    priorities = {
        common_pb2.PRIORITY_UNSPECIFIED: JobPriority.BULK,
        common_pb2.PRIORITY_INTERACTIVE: JobPriority.INTERACTIVE,
        common_pb2.PRIORITY_BULK: JobPriority.BULK,
    }
    if number not in priorities:
        raise InvalidInputError("priority", "a value of Priority", str(number))
    return priorities[common_pb2.Priority.ValueType(number)]


def parse_page_size(page_size: int) -> int:
    """Returns the size of a page of summaries; 50 by default. Raises InvalidInputError."""
    if not 0 <= page_size <= _MOST_OF_A_PAGE:
        raise InvalidInputError("page_size", f"0 to {_MOST_OF_A_PAGE}", str(page_size))
    return page_size or _DEFAULT_PAGE


def _chunks(document: pb.Document) -> list[SourceChunk]:
    return [
        SourceChunk(chunk.chunk_index if chunk.HasField("chunk_index") else position, chunk.page_number, chunk.text)
        for position, chunk in enumerate(document.chunks)
    ]


def _text_chunks(text: str, max_chars: int, chunk_tokens: int) -> list[SourceChunk]:
    """Cuts each page where sentences end; a text without page breaks has no pages.

    Joined, the chunks are the text: what holds no word goes with the chunk before it, so that offsets hold.
    """
    if len(text) > max_chars:
        raise InvalidInputError("document.text", f"at most {max_chars} characters", str(len(text)))
    if not text.strip():
        raise InvalidInputError("document.text", "a text", "white space")
    # Estimated: a text gives the same chunks whoever writes, and a book is cut in 0.1 s where a tokenizer takes 3.
    pages = text.split(PAGE_BREAK)
    first_page = 1 if len(pages) > 1 else 0
    found: list[tuple[int, list[str]]] = []
    blank: list[str] = []
    for number, page in enumerate(pages, first_page):
        ended = page if number == first_page + len(pages) - 1 else page + PAGE_BREAK
        for part in split_by_tokens(ended, chunk_tokens, estimate_tokens):
            if part.strip():
                found.append((number, [*blank, part]))
                blank = []
            else:
                (found[-1][1] if found else blank).append(part)
    return [SourceChunk(index, number, "".join(parts)) for index, (number, parts) in enumerate(found)]
