"""Summaries through the gRPC of a real `precis serve`, and what they cost that process."""

from __future__ import annotations  # grpc's classes take type arguments in stubs only

import time
from dataclasses import dataclass

import grpc
from precis.v1 import summarize_pb2 as pb
from precis.v1.summarize_pb2_grpc import SummarizeServiceStub

from scripts.benchmarks.shared.precis_server import PrecisServer
from scripts.benchmarks.shared.process_usage import read_usage

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
