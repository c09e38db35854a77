"""SummarizeService over the summarizer.

Requests become domain types; what a caller gets wrong becomes an InvalidInputError with the field's path. Events, plans
and results become messages.
"""

import asyncio
import math
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from concurrent.futures import Executor
from contextlib import aclosing, contextmanager
from functools import partial
from typing import Any

from precis.v1 import common_pb2
from precis.v1 import summarize_pb2 as pb
from precis.v1.summarize_pb2_grpc import SummarizeServiceServicer

from pipeline.errors import InvalidInputError, parse
from pipeline.llm.chat_model import NO_USAGE
from pipeline.llm.token_count import estimate_tokens
from pipeline.summarize import events
from pipeline.summarize.config import ALL, SummarizeLimits
from pipeline.summarize.document import Document, SourceChunk, SummarizeOptions, SummaryType, make_document
from pipeline.summarize.packing import split_by_tokens
from pipeline.summarize.plan import SummaryPlan
from pipeline.summarize.result import SummaryResult, SummaryView, SummaryWarning
from pipeline.summarize.steering.budget import SummaryBudget
from pipeline.summarize.steering.wishes import SummaryDetail, SummaryForm
from pipeline.summarize.storage.records import StoredSummary, SummaryPage
from pipeline.summarize.summarizer import JobPriority, Summarizer
from pipeline.summarize.writer import WriterLimits
from server.backends import ChosenWriter
from server.errors import NoWriterError
from server.rpc.admission import Context
from server.rpc.fields import EnumCodec, set_fields
from server.rpc.handlers import name_session
from server.rpc.record import current_caller, token_allowance
from server.services.reply import Exceptions, reply
from server.subtitles import is_subtitles, read_subtitles


class SummarizeServicer(SummarizeServiceServicer):
    """Summarizes documents. What a command does without a server needs no context of a call.

    Args:
        chosen: who writes; None refuses what needs a writer.
        chunk_tokens: see `parse_document`.
        cpu: threads for checking and cutting documents; owned by the app.
    """

    def __init__(
        self, summarizer: Summarizer, chosen: ChosenWriter | None, *, chunk_tokens: int, cpu: Executor
    ) -> None:
        self._summarizer = summarizer
        self._chosen = chosen
        self._chunk_tokens = chunk_tokens
        self._cpu = cpu

    async def Summarize(
        self, request: pb.SummarizeRequest, context: Context | None = None
    ) -> AsyncGenerator[pb.SummarizeResponse, None]:
        """Summarizes a document. Its reader leaving ends the run and keeps what is done."""
        chosen, options = self._writer(), parse_options(request.options)
        summarizer = self._summaries(parse_budget(request, chosen.writer.limits))
        going = summarizer.stream(
            await self._document(request),
            writer=chosen.writer,
            options=options,
            idempotency_key=request.idempotency_key or None,
            shown=events.Shown(request.include_text, request.include_draft),
        )
        async with aclosing(self._messages(going, chosen)) as messages:
            async for message in messages:
                yield pb.SummarizeResponse(event=message)

    async def ResumeSummary(
        self, request: pb.ResumeSummaryRequest, context: Context | None = None
    ) -> AsyncGenerator[pb.ResumeSummaryResponse, None]:
        """Goes on with a summary."""
        summary_id, chosen = parse_summary_id(request.summary_id), self._writer()
        summarizer = self._summaries(parse_budget(request, chosen.writer.limits))
        shown = events.Shown(request.include_text, request.include_draft)
        going = summarizer.resume(summary_id, writer=chosen.writer, shown=shown)
        async with aclosing(self._messages(going, chosen)) as messages:
            async for message in messages:
                yield pb.ResumeSummaryResponse(event=message)

    async def GetSummary(self, request: pb.GetSummaryRequest, context: Context | None = None) -> pb.GetSummaryResponse:
        """Tells where a summary stands."""
        summary_id, summarizer = parse_summary_id(request.summary_id), self._summaries()
        response = to_view(await summarizer.get(summary_id), self._chosen)
        if request.include_document:
            document = await summarizer.store.document_of(await summarizer.find(summary_id))
            response.document.CopyFrom(to_document(document))
        return response

    async def CancelSummary(self, request: pb.CancelSummaryRequest, context: Context) -> pb.CancelSummaryResponse:
        """Stops a summary."""
        await self._summaries().cancel(parse_summary_id(request.summary_id))
        return pb.CancelSummaryResponse()

    async def PlanSummary(
        self, request: pb.PlanSummaryRequest, context: Context | None = None
    ) -> pb.PlanSummaryResponse:
        """Counts calls without making them."""
        chosen, options = self._writer(), parse_options(request.options)
        document = await self._document(request)
        plan = await self._summaries().plan(document, writer=chosen.writer, options=options)
        return pb.PlanSummaryResponse(plan=to_plan(plan, chosen))

    async def SubmitSummary(self, request: pb.SubmitSummaryRequest, context: Context) -> pb.SubmitSummaryResponse:
        """Queues a summary."""
        chosen, priority = self._writer(), JobPriority.BULK
        if request.priority:
            priority = _ENUMS["priority"].parse(request.priority, "priority")
        if request.HasField("request") == bool(request.summary_id):
            raise InvalidInputError("request", "either a request or a summary_id", "both or neither")
        if request.HasField("request") and request.HasField("budget"):
            raise InvalidInputError("budget", "nothing beside a request, which has its own", "a budget")
        token_allowance()  # refused here while tokens are owed: the run itself asks when nobody waits for an answer
        if request.summary_id:
            summarizer = self._summaries(parse_budget(request, chosen.writer.limits))
            queued = await summarizer.submit_again(parse_summary_id(request.summary_id), priority=priority)
        else:
            with inside("request"):
                summarizer = self._summaries(parse_budget(request.request, chosen.writer.limits))
                queued = await summarizer.submit(
                    await self._document(request.request),
                    writer=chosen.writer,
                    options=parse_options(request.request.options),
                    idempotency_key=request.request.idempotency_key or None,
                    priority=priority,
                )
        name_session(queued.summary_id)
        return to_submitted(queued)

    async def WatchSummary(
        self, request: pb.WatchSummaryRequest, context: Context
    ) -> AsyncGenerator[pb.WatchSummaryResponse, None]:
        """Tells how far a summary is."""
        summary_id = parse_summary_id(request.summary_id)
        going = self._summaries().watch(summary_id, include_draft=request.include_draft)
        async with aclosing(self._messages(going, self._writer())) as messages:
            async for message in messages:
                yield pb.WatchSummaryResponse(event=message)

    async def ListSummaries(self, request: pb.ListSummariesRequest, context: Context) -> pb.ListSummariesResponse:
        """Lists the caller's summaries."""
        page_size = parse_page_size(request.page_size)
        return to_page(await self._summaries().page(page_size, request.page_token))

    async def DeleteSummary(self, request: pb.DeleteSummaryRequest, context: Context) -> pb.DeleteSummaryResponse:
        """Deletes a summary."""
        await self._summaries().delete(parse_summary_id(request.summary_id))
        return pb.DeleteSummaryResponse()

    async def _messages(
        self, going: AsyncGenerator[events.Event, None], chosen: ChosenWriter
    ) -> AsyncGenerator[pb.SummaryEvent, None]:
        async with aclosing(going):
            async for event in going:
                if isinstance(event, events.Accepted):
                    name_session(event.summary_id)
                yield to_event(event, chosen)

    def _summaries(self, budget: SummaryBudget | None = None) -> Summarizer:
        """Returns the caller's, which get the budget if there is one."""
        return self._summarizer.owned_by(current_caller().tenant, budget)

    def _writer(self) -> ChosenWriter:
        if self._chosen is None:
            raise NoWriterError
        return self._chosen

    async def _document(self, request: pb.SummarizeRequest | pb.PlanSummaryRequest) -> Document:
        if not request.HasField("document"):
            raise InvalidInputError("document", "a value", "nothing")
        work = partial(parse_document, request.document, self._summarizer.config.limits, self._chunk_tokens)
        return await asyncio.get_running_loop().run_in_executor(self._cpu, work)


PAGE_BREAK = "\f"
MAX_ID_CHARS = 100  # of ours have 32; a longer one is no id and need not be looked up

_MOST_OF_A_PAGE, _DEFAULT_PAGE = 1_000, 50
_ENUMS: Mapping[str, EnumCodec[Any]] = {
    "summary_type": EnumCodec(SummaryType, pb.SummaryType.DESCRIPTOR),
    "detail": EnumCodec(SummaryDetail, pb.SummaryDetail.DESCRIPTOR),
    "form": EnumCodec(SummaryForm, pb.SummaryForm.DESCRIPTOR),
    "priority": EnumCodec(JobPriority, common_pb2.Priority.DESCRIPTOR),
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
    if budget.max_cost and not limits.chooses and limits.prices.cost_if_priced(NO_USAGE) is None:
        expected = "0, for this server knows no prices (settings llm.prices)"
        raise InvalidInputError("budget.max_cost", expected, f"{budget.max_cost:g}")
    return SummaryBudget(budget.max_calls, budget.max_tokens, budget.max_cost)


def parse_document(document: pb.Document, limits: SummarizeLimits, chunk_tokens: int) -> Document:
    """Checks a document; cuts a text into chunks. CPU-heavy for a long one: run it off the loop.

    Args:
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
    if not summary_id or "\0" in summary_id:  # Postgres cannot look for a zero byte
        given = "a zero byte" if summary_id else "nothing"
        raise InvalidInputError("summary_id", "the id of an `accepted` event", given)
    if len(summary_id) > MAX_ID_CHARS:
        raise InvalidInputError("summary_id", f"at most {MAX_ID_CHARS} characters", str(len(summary_id)))
    return summary_id


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
    """Cuts each page where sentences end; a text without page breaks has no pages, and subtitles are read as speech.

    Joined, the chunks are what was read: what holds no word goes with the chunk before it, so that offsets hold.
    """
    if len(text) > max_chars:
        raise InvalidInputError("document.text", f"at most {max_chars} characters", str(len(text)))
    said = read_subtitles(text) if is_subtitles(text) else text
    if not said.strip():
        raise InvalidInputError("document.text", "a text", "subtitles without words" if text.strip() else "white space")
    # Estimated: a text gives the same chunks whoever writes, and a book is cut in 0.1 s where a tokenizer takes 3.
    pages = said.split(PAGE_BREAK)
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


def _span_of(chunks: str, pages: str = "") -> Callable[[Any], pb.DocumentSpan]:
    """Returns what makes a stretch of the document from the attributes with its chunks and its pages."""

    def span(one: object) -> pb.DocumentSpan:
        first_chunk, last_chunk = getattr(one, chunks)
        first_page, last_page = getattr(one, pages) if pages else (0, 0)
        return pb.DocumentSpan(
            first_chunk=first_chunk, last_chunk=last_chunk, first_page=first_page, last_page=last_page
        )

    return span


_EXCEPTIONS: Exceptions = {
    "SummaryPlan.writer": None,  # of the server
    "SummaryPlan.writer_kind": None,
    "SummaryPlan.calls": SummaryPlan.calls,
    "SummaryPlan.max_cost": SummaryPlan.cost,
    "SummaryPlan.rounds": SummaryPlan.rounds,
    "SummaryPlan.max_prompt_tokens": SummaryPlan.max_prompt_tokens,
    "SummaryPlan.max_completion_tokens": SummaryPlan.max_completion_tokens,
    "LlmUsage.identity": None,  # `writer` of the summary names it
    **dict.fromkeys(
        ("BatchDone.span", "GroupDone.span", "IntermediateSummary.span"), _span_of("chunk_indexes", "pages")
    ),
    "RemovedDuplicate.kept": _span_of("kept_chunks"),
    "RemovedDuplicate.dropped": _span_of("dropped_chunks"),
    "Summary.cost": None,  # at the prices of the server
    "Summary.total_cost": None,
    "Summary.citations": "citation.cited",
    "Summary.citable_count": "citation.citable_count",
    "Summary.citation_counts": "citation.counts",
    "Summary.overview": "layers.overview",
    "Summary.sections": "layers.sections",
    "SummaryFailure.retry_delay": "retry_after_s",
    "GetSummaryResponse.summary": "result",
    "GetSummaryResponse.document": None,  # only where it is asked for
    "Document.text": None,  # chunks say the same
    "Document.total_chunks": None,
}
_to_plan = reply(SummaryPlan, pb.SummaryPlan, _EXCEPTIONS)
to_progress = reply(events.SummaryProgress, pb.SummaryProgress, _EXCEPTIONS)
to_summary = reply(SummaryResult, pb.Summary, _EXCEPTIONS)
_STEPS: Mapping[type, tuple[str, Callable[[Any], Any]]] = {
    events.Accepted: ("accepted", reply(events.Accepted, pb.SummaryAccepted)),
    events.BatchDone: ("batch", reply(events.BatchDone, pb.BatchDone, _EXCEPTIONS)),
    events.GroupDone: ("group", reply(events.GroupDone, pb.GroupDone, _EXCEPTIONS)),
    events.Drafted: ("draft", reply(events.Drafted, pb.SummaryDraft)),
    events.LayersFound: ("layers", reply(events.LayersFound, pb.LayersFound, _EXCEPTIONS)),
    events.Reflected: ("reflect", reply(events.Reflected, pb.SummaryReflected, _EXCEPTIONS)),
    events.TopicsFound: ("topics", reply(events.TopicsFound, pb.TopicsFound, _EXCEPTIONS)),
    SummaryWarning: ("warning", reply(SummaryWarning, pb.SummaryWarning)),
}
to_document = reply(Document, pb.Document, _EXCEPTIONS)
to_submitted = reply(StoredSummary, pb.SubmitSummaryResponse)
to_page = reply(SummaryPage, pb.ListSummariesResponse)
_to_view = reply(SummaryView, pb.GetSummaryResponse, _EXCEPTIONS)


def to_event(event: events.Event, chosen: ChosenWriter) -> pb.SummaryEvent:
    """Gives one event of a running summary."""
    match event:
        case events.Planned(plan, progress):
            made = pb.PlanMade(plan=to_plan(plan, chosen), progress=to_progress(progress))
            return pb.SummaryEvent(plan=made)
        case events.Finished(result):
            return pb.SummaryEvent(summary=_priced(to_summary(result), result, chosen))
        case _:
            name, to_message = _STEPS[type(event)]
            return pb.SummaryEvent(**{name: to_message(event)})


def to_view(view: SummaryView, chosen: ChosenWriter | None) -> pb.GetSummaryResponse:
    """Gives where a summary stands."""
    response = _to_view(view)
    _priced(response.summary, view.result, chosen)
    return response


def _priced(summary: pb.Summary, result: SummaryResult, chosen: ChosenWriter | None) -> pb.Summary:
    """Adds what a summary cost, where the writer's prices are known."""
    if chosen is not None:
        prices = chosen.writer.limits.prices
        if (cost := prices.cost_if_priced(result.usage)) is not None:
            summary.cost, summary.total_cost = cost, prices.cost(result.total_usage)
    return summary


def to_plan(plan: SummaryPlan, chosen: ChosenWriter) -> pb.SummaryPlan:
    """Gives the calls of a summary, and who makes them."""
    message = _to_plan(plan)
    message.writer, message.writer_kind = chosen.writer.identity, chosen.kind
    return message
