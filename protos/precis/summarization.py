"""Summarizes a document in one call that takes plain values and returns a dictionary."""

from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from google.protobuf.json_format import MessageToDict

from precis.calls import number_of
from precis.errors import SummaryIncomplete, invalid_argument
from precis.summary_stream import SummaryStream
from precis.v1 import summarize_pb2 as pb

DEFAULT_ADDRESS = "127.0.0.1:50051"
_TYPES = {"technical": pb.SUMMARY_TYPE_TECHNICAL, "operator": pb.SUMMARY_TYPE_OPERATOR}
_WORDS = {"detail": pb.SummaryDetail, "form": pb.SummaryForm}
_TARGETS = {"words", "tokens", "share"}


class Summarizes(Protocol):
    """What a `Client` does for `run_summarization`."""

    def summarize(self, document: pb.Document, *, options: pb.SummarizeOptions | None = None) -> SummaryStream:
        """Begins to summarize a document."""


def run_summarization(  # noqa: PLR0917 - a public interface of its own
    pdf_id: str,
    pdf_name: str,
    chunks: Iterable[Mapping[str, Any]],
    summary_type: str = "technical",
    total_pages: int = 0,
    total_chunks: int = 0,
    *,
    client: Summarizes | None = None,
    **options: Any,  # noqa: ANN401 - the contract's
) -> dict[str, Any]:
    """Summarizes the chunks of a document on a Precis server, and waits for the end.

    Args:
        pdf_id: the caller's identifier of the document.
        pdf_name: its title.
        chunks: each with `text`, and if known `page_number`, from 1, and `chunk_index`, from 0.
        summary_type: "technical" or "operator".
        total_pages: of the document; 0 takes the highest page of a chunk.
        total_chunks: how many chunks there must be; another number is refused. 0: not checked.
        client: a `Client` of the server; by default one on this machine, 127.0.0.1:50051, for this call alone.
        options: what else a `SummarizeOptions` holds. The length is one of `words`, `tokens`, `share` and `detail`
            ("schedule", "full"). Others are `form` ("markdown", "prose", "bullets"), `focus`, `language`,
            `instructions`, `json_schema`, `batch_size`, ... None: the server's default.

    Returns:
        `final_summary`, `key_topics`, `processing_time` (seconds of all runs), `current_batch`, `iteration`, and
        `error_message` (None if the summary is done). `summary` is all that the server sent, as protobuf's JSON.

    Raises:
        PrecisError: the request is refused or the server cannot be reached. A summary that was begun and not finished
            is no error: `error_message` says why it is partial.
    """
    from precis.client import Client  # noqa: PLC0415 - only for a call without a client

    wishes = summarize_options(summary_type, **options)
    request = pb.Document(
        document_id=pdf_id,
        name=pdf_name,
        chunks=[_to_chunk(position, chunk) for position, chunk in enumerate(chunks)],
        total_pages=total_pages,
        total_chunks=total_chunks,
    )
    if client is not None:
        return _run(client, request, wishes)
    with Client(DEFAULT_ADDRESS) as local:
        return _run(local, request, wishes)


def summarize_options(summary_type: str, **options: Any) -> pb.SummarizeOptions:  # noqa: ANN401 - the contract's
    """Returns options of `run_summarization` as a message. Raises InvalidArgument."""
    given = {name: value for name, value in options.items() if value is not None}
    if summary_type not in _TYPES:
        raise invalid_argument("summary_type", f"{' or '.join(_TYPES)}, got {summary_type!r}")
    lengths = [name for name in ("words", "tokens", "share", "detail") if name in given]
    if len(lengths) > 1:
        raise invalid_argument(lengths[1], f"one length, and there is {lengths[0]}")
    fields = {f"target_{name}" if name in _TARGETS else name: value for name, value in given.items()}
    fields |= {name: number_of(enum, given[name], name) for name, enum in _WORDS.items() if name in given}
    try:
        return pb.SummarizeOptions(summary_type=_TYPES[summary_type], **fields)
    except (TypeError, ValueError) as error:
        raise invalid_argument("options", f"fields of SummarizeOptions: {error}") from error


def _to_chunk(position: int, chunk: Mapping[str, Any]) -> pb.DocumentChunk:
    try:
        return pb.DocumentChunk(**chunk)
    except (TypeError, ValueError) as error:
        expected = "a text, and if known a page_number and a chunk_index"
        raise invalid_argument(f"chunks[{position}]", expected) from error


def _run(client: Summarizes, document: pb.Document, options: pb.SummarizeOptions) -> dict[str, Any]:
    try:
        summary = client.summarize(document, options=options).result()
    except SummaryIncomplete as error:
        summary = error.summary
    return {
        "final_summary": summary.text,
        "key_topics": list(summary.topics),
        "processing_time": summary.total_elapsed.ToTimedelta().total_seconds(),
        "current_batch": summary.current_batch,
        "iteration": summary.iteration,
        "error_message": summary.failure.message if summary.HasField("failure") else None,
        "summary": MessageToDict(summary, preserving_proto_field_name=True),
    }
