"""Summaries against a real server whose language model is scripted."""

from collections.abc import AsyncIterable, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import grpc
from precis.v1 import summarize_pb2 as pb
from precis.v1.summarize_pb2_grpc import SummarizeServiceStub

from server.app import App
from tests.integration.conftest import Start
from tests.integration.support.shared_server import QUICK
from tests.scripted_endpoint.author import write
from tests.scripted_endpoint.endpoint import ScriptedEndpoint
from tests.scripted_endpoint.replies import Reply
from tests.scripted_endpoint.script import Script

PASS = Reply("PASS or FAIL|PASS|FAIL", "PASS: complete.")
"""Contents a critic; the other prompts do not hold these words."""

Call = (
    AsyncIterable[pb.SummarizeResponse]
    | AsyncIterable[pb.ResumeSummaryResponse]
    | AsyncIterable[pb.WatchSummaryResponse]
)
"""A stream of any RPC that follows a summary."""


@dataclass
class Bench:
    """Everything a test looks at."""

    app: App
    stub: SummarizeServiceStub
    endpoint: ScriptedEndpoint


@asynccontextmanager
async def bench(start: Start, script: Script | None = None, **sections: dict[str, object]) -> AsyncIterator[Bench]:
    """Starts a server whose summaries a scripted endpoint writes, in full detail: its texts have no length to hold."""
    async with ScriptedEndpoint(script or Script(replies=(PASS,), author=write)) as endpoint:
        llm = {"base_url": endpoint.base_url, "model": "scripted", **QUICK, **sections.pop("llm", {})}
        summarize = {"detail": "full", **sections.pop("summarize", {})}
        async with (
            start(llm=llm, summarize=summarize, **sections) as app,
            grpc.aio.insecure_channel(app.address) as channel,
        ):
            try:
                yield Bench(app, SummarizeServiceStub(channel), endpoint)
            finally:
                endpoint.gate.set()


def chunks(count: int) -> pb.Document:
    """A document of `count` chunks, seven on a page, each with a number of its own."""
    return pb.Document(
        document_id="manual-7",
        name="Pump manual",
        chunks=[
            pb.DocumentChunk(text=f"Torque bolt {index} to {index + 10} Nm before start.", page_number=index // 7 + 1)
            for index in range(count)
        ],
    )


@dataclass
class Followed:
    """The events of a stream, by kind."""

    events: list[pb.SummaryEvent] = field(default_factory=list)

    @property
    def kinds(self) -> list[str]:
        """Names in the order of arrival."""
        return [str(event.WhichOneof("event")) for event in self.events]

    @property
    def summary_id(self) -> str:
        """From the first event."""
        return self.events[0].accepted.summary_id

    @property
    def summary(self) -> pb.Summary:
        """From the last event."""
        return self.events[-1].summary


async def resume(stub: SummarizeServiceStub, summary_id: str) -> Followed:
    """Goes on with a summary whose reader has just left: at once, or as soon as its server has let go of it."""
    while True:
        try:
            return await follow(stub.ResumeSummary(pb.ResumeSummaryRequest(summary_id=summary_id)))
        except grpc.aio.AioRpcError as error:
            if error.code() is not grpc.StatusCode.ABORTED:
                raise


async def follow(call: Call) -> Followed:
    """Reads a stream to its end."""
    return Followed([response.event async for response in call])
