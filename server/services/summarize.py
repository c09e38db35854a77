"""SummarizeService over the summarizer."""

import asyncio
from collections.abc import AsyncGenerator
from concurrent.futures import Executor
from contextlib import aclosing
from functools import partial

from precis.v1 import summarize_pb2 as pb
from precis.v1.summarize_pb2_grpc import SummarizeServiceServicer

from pipeline.errors import InvalidInputError
from pipeline.summarize.document import Document
from pipeline.summarize.events import Accepted, Event, Shown
from pipeline.summarize.steering.budget import SummaryBudget
from pipeline.summarize.summarizer import Summarizer
from server.backends import ChosenWriter
from server.errors import NoWriterError
from server.rpc.admission import Context
from server.rpc.handlers import name_session
from server.rpc.record import current_caller, token_allowance
from server.services.summarize_reply import to_document, to_event, to_page, to_plan, to_submitted, to_view
from server.services.summarize_request import (
    inside,
    parse_budget,
    parse_document,
    parse_job_priority,
    parse_options,
    parse_page_size,
    parse_summary_id,
)


class SummarizeServicer(SummarizeServiceServicer):
    """Summarizes documents. What a command does without a server needs no context of a call.

    Args:
        chosen: who writes; None refuses what needs a writer.
        chunk_tokens: see `parse_document`.
        cpu: threads for checking and cutting documents; owned by the app.
    """

    def __init__(
        self,
        summarizer: Summarizer,
        chosen: ChosenWriter | None,
        *,
        chunk_tokens: int,
        cpu: Executor,
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
        events = summarizer.stream(
            await self._document(request),
            writer=chosen.writer,
            options=options,
            idempotency_key=request.idempotency_key or None,
            shown=Shown(request.include_text, request.include_draft),
        )
        async with aclosing(self._messages(events, chosen)) as messages:
            async for message in messages:
                yield pb.SummarizeResponse(event=message)

    async def ResumeSummary(
        self, request: pb.ResumeSummaryRequest, context: Context | None = None
    ) -> AsyncGenerator[pb.ResumeSummaryResponse, None]:
        """Goes on with a summary."""
        summary_id, chosen = parse_summary_id(request.summary_id), self._writer()
        summarizer = self._summaries(parse_budget(request, chosen.writer.limits))
        shown = Shown(request.include_text, request.include_draft)
        events = summarizer.resume(summary_id, writer=chosen.writer, shown=shown)
        async with aclosing(self._messages(events, chosen)) as messages:
            async for message in messages:
                yield pb.ResumeSummaryResponse(event=message)

    async def GetSummary(self, request: pb.GetSummaryRequest, context: Context | None = None) -> pb.GetSummaryResponse:
        """Tells where a summary stands."""
        summary_id, summarizer = parse_summary_id(request.summary_id), self._summaries()
        response = to_view(await summarizer.get(summary_id), self._chosen)
        if request.include_document:
            document = await summarizer.store.documents.of(await summarizer.find(summary_id))
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
        chosen, priority = self._writer(), parse_job_priority(request.priority)
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
        events = self._summaries().watch(summary_id, include_draft=request.include_draft)
        async with aclosing(self._messages(events, self._writer())) as messages:
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
        self, events: AsyncGenerator[Event, None], chosen: ChosenWriter
    ) -> AsyncGenerator[pb.SummaryEvent, None]:
        async with aclosing(events) as going:
            async for event in going:
                if isinstance(event, Accepted):
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
