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
from pipeline.summarize.events import Accepted, Event
from pipeline.summarize.summarizer import Summarizer
from server.backends import ChosenWriter
from server.errors import NoWriterError
from server.rpc.admission import Context
from server.rpc.calls import current_caller
from server.rpc.handlers import name_session
from server.services.summarize_reply import to_event, to_plan, to_view
from server.services.summarize_request import DocumentRules, parse_document, parse_options, parse_summary_id


class SummarizeServicer(SummarizeServiceServicer):
    """Summarizes documents. What a command does without a server needs no context of a call.

    Args:
        chosen: who writes; None refuses what needs a writer.
        cpu: threads for checking and cutting documents; owned by the app.
    """

    def __init__(
        self,
        summarizer: Summarizer,
        chosen: ChosenWriter | None,
        rules: DocumentRules,
        *,
        cpu: Executor,
    ) -> None:
        self._summarizer = summarizer
        self._chosen = chosen
        self._rules = rules
        self._cpu = cpu

    async def Summarize(
        self, request: pb.SummarizeRequest, context: Context | None = None
    ) -> AsyncGenerator[pb.SummarizeResponse, None]:
        """Summarizes a document. Its reader leaving ends the run and keeps what is done."""
        chosen, options = self._writer(), parse_options(request.options)
        events = self._summaries.stream(
            await self._document(request),
            writer=chosen.writer,
            options=options,
            idempotency_key=request.idempotency_key or None,
            include_text=request.include_text,
        )
        async with aclosing(self._messages(events, chosen)) as messages:
            async for message in messages:
                yield pb.SummarizeResponse(event=message)

    async def ResumeSummary(
        self, request: pb.ResumeSummaryRequest, context: Context | None = None
    ) -> AsyncGenerator[pb.ResumeSummaryResponse, None]:
        """Goes on with a summary."""
        summary_id, chosen = parse_summary_id(request.summary_id), self._writer()
        events = self._summaries.resume(summary_id, writer=chosen.writer, include_text=request.include_text)
        async with aclosing(self._messages(events, chosen)) as messages:
            async for message in messages:
                yield pb.ResumeSummaryResponse(event=message)

    async def GetSummary(self, request: pb.GetSummaryRequest, context: Context | None = None) -> pb.GetSummaryResponse:
        """Tells where a summary stands."""
        return to_view(await self._summaries.get(parse_summary_id(request.summary_id)))

    async def CancelSummary(self, request: pb.CancelSummaryRequest, context: Context) -> pb.CancelSummaryResponse:
        """Stops a summary."""
        await self._summaries.cancel(parse_summary_id(request.summary_id))
        return pb.CancelSummaryResponse()

    async def PlanSummary(
        self, request: pb.PlanSummaryRequest, context: Context | None = None
    ) -> pb.PlanSummaryResponse:
        """Counts calls without making them."""
        chosen, options = self._writer(), parse_options(request.options)
        document = await self._document(request)
        plan = await self._summarizer.plan(document, writer=chosen.writer, options=options)
        return pb.PlanSummaryResponse(plan=to_plan(plan, chosen))

    async def _messages(
        self, events: AsyncGenerator[Event, None], chosen: ChosenWriter
    ) -> AsyncGenerator[pb.SummaryEvent, None]:
        async with aclosing(events) as going:
            async for event in going:
                if isinstance(event, Accepted):
                    name_session(event.summary_id)
                yield to_event(event, chosen)

    @property
    def _summaries(self) -> Summarizer:
        """The caller's."""
        return self._summarizer.owned_by(current_caller().tenant)

    def _writer(self) -> ChosenWriter:
        if self._chosen is None:
            raise NoWriterError
        return self._chosen

    async def _document(self, request: pb.SummarizeRequest | pb.PlanSummaryRequest) -> Document:
        if not request.HasField("document"):
            raise InvalidInputError("document", "a value", "nothing")
        work = partial(parse_document, request.document, self._rules)
        return await asyncio.get_running_loop().run_in_executor(self._cpu, work)
