"""What `precis summarize` calls: a server, or (in `local_summaries`) the same service in this process."""

from collections.abc import AsyncIterable, AsyncIterator
from contextlib import asynccontextmanager
from typing import Protocol

from precis.v1 import summarize_pb2 as pb
from precis.v1.summarize_pb2_grpc import SummarizeServiceStub

from server.cli.connection import call_metadata, open_channel
from server.cli.options import DEFAULT_ADDRESS, Connection

Response = pb.SummarizeResponse | pb.ResumeSummaryResponse


class SummaryCalls(Protocol):
    """The calls of one command. Errors are CliErrors."""

    @property
    def flags(self) -> str:
        """What to add to a command so that it calls the same; begins with a space, or is empty."""

    def summarize(self, request: pb.SummarizeRequest) -> AsyncIterable[Response]:
        """Begins a summary."""

    def resume(self, request: pb.ResumeSummaryRequest) -> AsyncIterable[Response]:
        """Goes on with one."""

    async def plan(self, request: pb.PlanSummaryRequest) -> pb.PlanSummaryResponse:
        """Counts calls."""


class RemoteSummaries:
    """Calls a server."""

    def __init__(self, stub: SummarizeServiceStub, connection: Connection, timeout_s: float | None) -> None:
        self._stub = stub
        self._connection = connection
        self._timeout_s = timeout_s

    @property
    def flags(self) -> str:
        """See SummaryCalls."""
        address = self._connection.address
        return "" if address == DEFAULT_ADDRESS else f" --address {address}"

    def summarize(self, request: pb.SummarizeRequest) -> AsyncIterable[Response]:
        """See SummaryCalls."""
        return self._stub.Summarize(request, timeout=self._timeout_s, metadata=call_metadata(self._connection))

    def resume(self, request: pb.ResumeSummaryRequest) -> AsyncIterable[Response]:
        """See SummaryCalls."""
        return self._stub.ResumeSummary(request, timeout=self._timeout_s, metadata=call_metadata(self._connection))

    async def plan(self, request: pb.PlanSummaryRequest) -> pb.PlanSummaryResponse:
        """See SummaryCalls."""
        return await self._stub.PlanSummary(request, timeout=self._timeout_s, metadata=call_metadata(self._connection))


@asynccontextmanager
async def remote_summaries(connection: Connection, timeout_s: float | None) -> AsyncIterator[SummaryCalls]:
    """Opens a channel for one command."""
    async with open_channel(connection) as channel:
        yield RemoteSummaries(SummarizeServiceStub(channel), connection, timeout_s)
