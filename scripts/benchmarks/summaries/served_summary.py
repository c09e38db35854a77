"""Summaries through the gRPC of a real `precis serve`, and what they cost that process."""

from __future__ import annotations  # grpc's classes take type arguments in stubs only

import asyncio
import time
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import grpc
from precis.v1 import summarize_pb2 as pb
from precis.v1.summarize_pb2_grpc import SummarizeServiceStub

from scripts.benchmarks.shared.precis_server import PrecisServer
from scripts.benchmarks.shared.process_usage import read_usage
from scripts.benchmarks.shared.report import Figure
from scripts.benchmarks.summaries.bench import CONTEXT_TOKENS, Documents
from scripts.benchmarks.summaries.endpoint_process import EndpointProcess, scripted

LATENCY_S = 0.2  # so that the server is idle between two waves, as it is with a real endpoint
ONE_MODEL = '["embedding"]'  # neither is used; the smaller one starts faster
TIMEOUT_S = 1_800.0
CHANNEL_OPTIONS = (("grpc.max_receive_message_length", 64 << 20), ("grpc.max_send_message_length", 64 << 20))


@dataclass(frozen=True)
class ServedSummary:
    """One summary.

    Attributes:
        summary: complete.
        planned_calls: what PlanSummary said before.
        first_event_ms: from the request to the first event.
        wall_s: from the request to the last event.
        cpu_s: of the server process.
        added_mb: growth of its resident memory from before the request to its highest point at an event, in 10^6 bytes.
    """

    summary: pb.Summary
    planned_calls: int
    first_event_ms: float
    wall_s: float
    cpu_s: float
    added_mb: float


async def summarize(server: PrecisServer, document: pb.Document) -> ServedSummary:
    """Plans and summarizes a document in full detail. Raises RuntimeError unless the summary is complete."""
    options = pb.SummarizeOptions(detail=pb.SUMMARY_DETAIL_FULL)
    async with grpc.aio.insecure_channel(server.address, options=CHANNEL_OPTIONS) as channel:
        stub = SummarizeServiceStub(channel)
        planned = await stub.PlanSummary(pb.PlanSummaryRequest(document=document, options=options), timeout=TIMEOUT_S)
        before, started_s = read_usage(server.pid), time.perf_counter()
        times_s, resident_mb = [], [before.resident_mb]
        event = pb.SummaryEvent()
        request = pb.SummarizeRequest(document=document, options=options)
        async for response in stub.Summarize(request, timeout=TIMEOUT_S):
            event = response.event
            times_s.append(time.perf_counter() - started_s)
            resident_mb.append(read_usage(server.pid).resident_mb)
        cpu_s = read_usage(server.pid).cpu_s - before.cpu_s
    if event.summary.status != pb.SUMMARY_STATUS_DONE:
        raise RuntimeError(f"the summary is not complete: {event.summary.failure.message or 'the stream ended early'}")
    return ServedSummary(
        summary=event.summary,
        planned_calls=planned.plan.calls,
        first_event_ms=1000 * times_s[0],
        wall_s=times_s[-1],
        cpu_s=cpu_s,
        added_mb=max(resident_mb) - before.resident_mb,
    )


def measure_served(models: Path, documents: Documents, chunks: int) -> dict[str, Figure]:
    """Plans and summarizes two documents with the default concurrency of 16; the figures are of the second."""
    with (
        EndpointProcess(scripted(LATENCY_S, is_honest=True)) as endpoint,
        TemporaryDirectory(prefix="precis-bench-") as folder,
    ):
        settings = {
            "PRECIS_LLM__BASE_URL": endpoint.base_url,
            "PRECIS_LLM__MODEL": "scripted",
            "PRECIS_LLM__CONTEXT_TOKENS": str(CONTEXT_TOKENS),
            "PRECIS_INFERENCE__ROLES": ONE_MODEL,
            "PRECIS_SUMMARY_STORAGE__DIRECTORY": folder,
        }
        with PrecisServer(models, settings) as server:
            asyncio.run(summarize(server, _request(documents, chunks)))
            endpoint.seen()
            served = asyncio.run(summarize(server, _request(documents, chunks)))
        return _figures(served, endpoint.seen().requests)


def _request(documents: Documents, chunks: int) -> pb.Document:
    document = documents.next(chunks)
    return pb.Document(
        document_id=document.document_id,
        name=document.name,
        chunks=[pb.DocumentChunk(text=chunk.text, page_number=chunk.page_number) for chunk in document.chunks],
    )


def _figures(served: ServedSummary, requests: int) -> dict[str, Figure]:
    return {
        "served_calls": requests,
        "served_planned_calls": served.planned_calls,
        "served_first_event_ms": served.first_event_ms,
        "served_cpu_ms_per_call": 1000 * served.cpu_s / requests,
        "served_added_mb": served.added_mb,
    }
