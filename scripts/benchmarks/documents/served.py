"""What a real server answers for files, read as `precis summarize` reads them."""

from __future__ import annotations  # grpc's classes take type arguments in stubs only

from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import grpc
from precis.v1 import summarize_pb2 as pb
from precis.v1.summarize_pb2_grpc import SummarizeServiceStub

from scripts.benchmarks.shared.precis_server import PrecisServer
from server.cli.summarize.source import read_document

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

_TIMEOUT_S = 600.0


@dataclass(frozen=True)
class Summaries:
    """A server, and a folder for files that are written to be summarized."""

    stub: SummarizeServiceStub
    folder: Path

    async def of_text(self, name: str, text: str, options: pb.SummarizeOptions) -> str:
        """Writes a file of that name and returns its summary."""
        path = self.folder / name
        path.write_text(text, "utf-8")
        return await self.of_file(path, options)

    async def of_file(self, path: Path, options: pb.SummarizeOptions) -> str:
        """Returns a file's summary. Raises RuntimeError if it is not complete."""
        request = pb.SummarizeRequest(document=read_document([path]), options=options)
        event = pb.SummaryEvent()
        async for response in self.stub.Summarize(request, timeout=_TIMEOUT_S):
            event = response.event
        if event.summary.status != pb.SUMMARY_STATUS_DONE:
            raise RuntimeError(f"no summary of {path.name}: {event.summary.failure.message}")
        return event.summary.text


@asynccontextmanager
async def open_summaries(models: Path) -> AsyncIterator[Summaries]:
    """Starts a server with its default settings."""
    with TemporaryDirectory(prefix="precis-bench-") as folder:
        settings = {"PRECIS_SUMMARY_STORAGE__DIRECTORY": f"{folder}/summaries"}
        with PrecisServer(models, settings) as server:
            async with grpc.aio.insecure_channel(server.address) as channel:
                yield Summaries(SummarizeServiceStub(channel), Path(folder))
