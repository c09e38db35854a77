"""A summary through a real `precis serve`: what PlanSummary says, and what the server's process costs in all."""

import asyncio
from pathlib import Path
from tempfile import TemporaryDirectory

from precis.v1 import summarize_pb2 as pb

from scripts.benchmarks.shared.precis_server import PrecisServer
from scripts.benchmarks.shared.report import Figure
from scripts.benchmarks.summaries.bench import CONTEXT_TOKENS, Documents
from scripts.benchmarks.summaries.endpoint_process import Behaviour, EndpointProcess
from scripts.benchmarks.summaries.served_summary import ServedSummary, summarize

LATENCY_S = 0.2  # so that the server is idle between two waves, as it is with a real endpoint
ONE_MODEL = '["embedding"]'  # neither is used; the smaller one starts faster


def measure_served(models: Path, documents: Documents, chunks: int) -> dict[str, Figure]:
    """Plans and summarizes two documents with the default concurrency of 16; the figures are of the second."""
    with (
        EndpointProcess(Behaviour(LATENCY_S, is_honest=True)) as endpoint,
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
